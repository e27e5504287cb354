//! The command as a user runs it.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::command::{Finished, ok, pliant};

fn json(run: &Finished) -> serde_json::Value {
    serde_json::from_str(&run.out).unwrap()
}

/// Two tetrahedra, the second flat.
const FLAT: &str =
    "*VERTICES\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 .5 .5 0\n*ELEMENTS\nTET\n2 4 0\n1 1 2 3 4\n2 1 2 3 5\n";

#[test]
fn every_body_is_generated_and_can_be_simulated() {
    let folder = TempDir::new().unwrap();
    for body in ["box", "beam", "cylinder", "ball", "torus"] {
        for elements in ["hex", "tet5", "tet6"] {
            let file = format!("{body}-{elements}.veg");
            let run = ok(folder.path(), &["mesh", "generate", body, "--elements", elements, "-o", &file]);
            assert!(run.out.starts_with(&format!("wrote {file}: ")), "{}", run.out);
            let check = ok(folder.path(), &["mesh", "check", &file]);
            assert_eq!(check.out, format!("{file}  can be simulated\n"));
        }
    }
}

/// Options and commands of earlier versions: a command line, and the new name.
const RENAMED: [(&[&str], &str); 3] = [
    (&["render", "out", "--colour", "speed"], "'--color'"),
    (&["mesh", "tetrahedralise", "a.obj", "-o", "a.veg"], "'tetrahedralize'"),
    (&["mesh", "voxelise", "a.obj", "-o", "a.veg"], "'voxelize'"),
];

#[test]
fn every_name_of_an_earlier_version_gives_an_error_with_the_new_one() {
    let folder = TempDir::new().unwrap();
    for (args, new) in RENAMED {
        let run = pliant(folder.path(), args);
        assert!(run.status == 2 && run.err.contains(new), "{args:?}: {}", run.err);
    }
}

#[test]
fn info_is_a_table_with_mass_quality_regions_and_sets() {
    let folder = TempDir::new().unwrap();
    let material = ["--density", "1000", "--young", "1e6", "--poisson", "0.45"];
    let mut args = vec!["mesh", "generate", "beam", "-o", "bar.inp"];
    args.extend(material);
    ok(folder.path(), &args);
    let run = ok(folder.path(), &["mesh", "info", "bar.inp"]);
    for words in [
        "bar.inp  Abaqus",
        "vertices          525",
        "1600 tetrahedra",
        "size              1 × 0.2 × 0.2 m, from (0, -0.1, -0.1) to (1, 0.1, 0.1)",
        "volume            0.04 m³",
        "mass              40 kg",
        "center of mass    (0.5, 0, 0) m",
        "1 connected body",
        "closed",
        "dihedral angle    54.736° to 90°",
        "material, 1000 kg/m³, E 1e6 Pa, ν 0.45",
        "start            25",
        "end              25",
    ] {
        assert!(run.out.contains(words), "{words:?} is missing in:\n{}", run.out);
    }
    assert!(!run.out.contains('\u{1b}'), "colors in a pipe");
}

#[test]
fn info_as_json_has_the_same_numbers() {
    let folder = TempDir::new().unwrap();
    ok(
        folder.path(),
        &[
            "mesh",
            "generate",
            "box",
            "--size",
            "1",
            "2",
            "3",
            "--cells",
            "1",
            "2",
            "3",
            "--elements",
            "hex",
            "-o",
            "b.vtu",
        ],
    );
    let info = json(&ok(folder.path(), &["mesh", "info", "--json", "--density", "10", "b.vtu"]));
    assert_eq!(info["content"], "volume");
    assert_eq!((&info["vertices"], &info["elements"], &info["kind"]), (&24.into(), &6.into(), &"hex8".into()));
    assert!((info["volume"].as_f64().unwrap() - 6.0).abs() < 1e-12);
    assert!((info["mass"].as_f64().unwrap() - 60.0).abs() < 1e-12);
    assert_eq!(info["quality"]["histogram"][9], 6);
    let unknown = json(&ok(folder.path(), &["mesh", "info", "--json", "b.vtu"]));
    assert!(unknown.get("mass").is_none(), "a mass without a density");
}

#[test]
fn check_says_which_element_is_bad_and_exits_with_1() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("flat.veg"), FLAT).unwrap();
    let run = pliant(folder.path(), &["mesh", "check", "flat.veg"]);
    assert_eq!(run.status, 1);
    assert!(run.out.starts_with("flat.veg  cannot be simulated\n"), "{}", run.out);
    assert!(run.out.contains("element 1 has no volume: 0.000e0 m³ with a longest edge of 1.414e0 m"), "{}", run.out);
    let verdict = pliant(folder.path(), &["mesh", "check", "--json", "flat.veg"]);
    assert_eq!((verdict.status, &json(&verdict)["simulable"]), (1, &false.into()));

    ok(folder.path(), &["mesh", "generate", "ball", "-o", "skin.stl"]);
    let surface = pliant(folder.path(), &["mesh", "check", "skin.stl"]);
    assert_eq!(surface.status, 1);
    assert!(surface.out.contains("it is a surface: `pliant mesh tetrahedralize` fills it"));
}

#[test]
fn a_repaired_mesh_is_simulable_with_a_remark() {
    let folder = TempDir::new().unwrap();
    let turned = FLAT.replace("2 1 2 3 5\n", "2 4 2 3 1\n").replace("2 4 0\n1 1 2 3 4", "2 4 0\n1 2 1 3 4");
    std::fs::write(folder.path().join("turned.veg"), turned).unwrap();
    let run = ok(folder.path(), &["mesh", "check", "turned.veg"]);
    assert!(
        run.out.contains("wrong winding") && run.out.contains("listed twice") && run.out.contains("used by no element"),
        "{}",
        run.out
    );
}

#[test]
fn errors_name_the_file_the_line_and_the_remedy_and_exit_with_1() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("cut.veg"), &FLAT[..40]).unwrap();
    for (args, message) in [
        (vec!["mesh", "info", "cut.veg"], "error: cut.veg, line "),
        (vec!["mesh", "info", "none.veg"], "error: none.veg: No such file or directory (os error 2)\n"),
        (vec!["mesh", "info", "."], "error: .: expected a file that ends in one of .veg, "),
        (vec!["mesh", "info", "mesh.docx"], "error: mesh.docx: expected a file that ends in one of .veg, "),
        (
            vec!["mesh", "generate", "torus", "--sectors", "7", "-o", "t.veg"],
            "error: the number of sectors is 7, expected an even one for tet5",
        ),
        (
            vec!["mesh", "generate", "ball", "--radius", "-1", "-o", "t.veg"],
            "error: the radius is -1, expected a positive length",
        ),
        (vec!["mesh", "generate", "ball", "-o", "none/t.veg"], "error: none/t.veg: there is no folder `none`\n"),
        (
            vec!["mesh", "generate", "torus", "--tube-radius", "0", "-o", "t.veg"],
            "error: the tube radius is 0, expected a positive",
        ),
        (
            vec!["mesh", "info", "--density", "-5", "cut.veg"],
            "error: --density: the density is -5.0, expected a positive number",
        ),
        (
            vec!["mesh", "embed", "cut.veg", "cut.veg", "-o", "cut.veg"],
            "error: cut.veg: expected a name ending in .interp",
        ),
        (
            vec!["mesh", "generate", "ball", "--elements", "hex", "-o", "t.node"],
            "error: t.node: TetGen cannot store hexahedra; split them",
        ),
    ] {
        let run = pliant(folder.path(), &args);
        assert_eq!((run.status, run.out.as_str()), (1, ""), "{args:?}");
        assert!(run.err.starts_with(message), "{args:?}: {}", run.err);
    }
}

#[test]
fn a_wrong_command_line_exits_with_2_and_help_with_0() {
    let folder = TempDir::new().unwrap();
    for args in [&["mush"][..], &["mesh", "info"], &["mesh", "generate", "ball"], &["mesh", "info", "--jason", "x.veg"]]
    {
        let run = pliant(folder.path(), args);
        assert_eq!(run.status, 2, "{args:?}");
        assert!(run.err.contains("Usage"), "{}", run.err);
    }
    for args in
        [&["--help"][..], &["mesh", "--help"], &["mesh", "convert", "--help"], &["mesh", "generate", "torus", "--help"]]
    {
        assert!(ok(folder.path(), args).out.contains("Usage"), "{args:?}");
    }
    assert!(ok(folder.path(), &["--help"]).out.contains("Exit status: 0 success; 1 failure"));
    assert!(ok(folder.path(), &["--version"]).out.starts_with("pliant "));
}

#[test]
fn convert_changes_the_mesh_and_says_what_was_lost() {
    let folder = TempDir::new().unwrap();
    ok(folder.path(), &["mesh", "generate", "box", "--cells", "2", "2", "2", "--elements", "hex", "-o", "box.msh"]);
    std::fs::write(folder.path().join("clamp.bou"), "1,2,3\n").unwrap();
    let args = [
        "mesh",
        "convert",
        "box.msh",
        "box.inp",
        "--fixed",
        "clamp.bou",
        "--scale",
        "0.001",
        "--split",
        "6",
        "--refine",
        "1",
        "--renumber",
    ];
    let run = ok(folder.path(), &args);
    assert_eq!(run.out, "wrote box.inp: 125 vertices, 384 tetrahedra\n");
    let info = json(&ok(folder.path(), &["mesh", "info", "--json", "box.inp"]));
    assert!((info["volume"].as_f64().unwrap() - 1e-9).abs() < 1e-22);
    let sets: Vec<&str> =
        info["vertex_sets"].as_array().unwrap().iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert!(sets.contains(&"fixed") && sets.contains(&"x-max"), "{sets:?}");

    let lossy = ok(folder.path(), &["mesh", "convert", "box.inp", "box.mesh"]);
    assert!(lossy.err.contains("note: Medit does not store vertex sets"), "{}", lossy.err);
    let gone = pliant(folder.path(), &["mesh", "convert", "box.msh", "part.msh", "--region", "head"]);
    assert!(gone.err.contains("there is no region `head`; there are `body`"), "{}", gone.err);
    ok(folder.path(), &["mesh", "convert", "box.inp", "skin.stl"]);
    ok(folder.path(), &["mesh", "convert", "skin.stl", "skin.obj", "--scale", "1000"]);
    let skin = json(&ok(folder.path(), &["mesh", "info", "--json", "skin.obj"]));
    assert!((skin["enclosed_volume"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    let refined = pliant(folder.path(), &["mesh", "convert", "skin.stl", "skin.obj", "--refine", "1"]);
    assert!(
        refined.err.contains("--refine: applies only to volume meshes, but skin.stl is a surface"),
        "{}",
        refined.err
    );
    let wrong = pliant(folder.path(), &["mesh", "convert", "box.inp", "again.inp", "--split", "5"]);
    assert!(wrong.err.contains("only hexahedra can be split"), "{}", wrong.err);
}

#[test]
fn convert_turns_millimeters_tonnes_and_seconds_into_si_with_densities_and_moduli() {
    let folder = TempDir::new().unwrap();
    let steel = "*NODE\n1, 0, 0, 0\n2, 60, 0, 0\n3, 0, 60, 0\n4, 0, 0, 60\n*ELEMENT, TYPE=C3D4, ELSET=e\n1, 1, 2, 3, 4\n\
                 *SOLID SECTION, ELSET=e, MATERIAL=steel\n,\n*MATERIAL, NAME=steel\n*DENSITY\n7.85e-9,\n*ELASTIC\n210000., 0.3\n";
    std::fs::write(folder.path().join("steel.inp"), steel).unwrap();
    let hint = "in mm-t-s it is 7850 kg/m³; `pliant mesh convert` converts";
    for args in [&["mesh", "info", "steel.inp"][..], &["mesh", "check", "steel.inp"]] {
        let run = ok(folder.path(), args);
        assert!(run.out.contains(hint) || run.err.contains(hint), "{args:?}: {}{}", run.out, run.err);
    }
    let run = ok(folder.path(), &["mesh", "convert", "steel.inp", "si.inp", "--units", "mm-t-s"]);
    assert_eq!(run.err, "");
    let info = json(&ok(folder.path(), &["mesh", "info", "--json", "si.inp"]));
    assert!((info["volume"].as_f64().unwrap() / 3.6e-5 - 1.0).abs() < 1e-12);
    assert!((info["mass"].as_f64().unwrap() / (7850.0 * 3.6e-5) - 1.0).abs() < 1e-12);
    let text = std::fs::read_to_string(folder.path().join("si.inp")).unwrap();
    assert!(text.contains("*ELASTIC\n210000000000.0, 0.3\n"), "{text}");
    let lengths = ok(folder.path(), &["mesh", "convert", "steel.inp", "m.inp", "--units", "mm"]);
    assert!(lengths.err.contains("--units converts only lengths"), "{}", lengths.err);
    let wrong = pliant(folder.path(), &["mesh", "convert", "steel.inp", "m.inp", "--units", "mm-t"]);
    assert!(wrong.err.contains("expected LENGTH-MASS-TIME such as mm-t-s"), "{}", wrong.err);
}

#[test]
fn gmsh_versions_and_encodings_can_be_chosen() {
    let folder = TempDir::new().unwrap();
    ok(folder.path(), &["mesh", "generate", "ball", "-o", "ball.msh"]);
    let whole = json(&ok(folder.path(), &["mesh", "info", "--json", "ball.msh"]));
    for version in ["2.2", "4.1"] {
        for encoding in ["text", "binary"] {
            let args = ["mesh", "convert", "ball.msh", "other.msh", "--gmsh", version, "--encoding", encoding];
            ok(folder.path(), &args);
            let bytes = std::fs::read(folder.path().join("other.msh")).unwrap();
            let head = format!("$MeshFormat\n{version} {} 8\n", u8::from(encoding == "binary"));
            assert!(bytes.starts_with(head.as_bytes()));
            let info = json(&ok(folder.path(), &["mesh", "info", "--json", "other.msh"]));
            assert_eq!((&info["volume"], &info["elements"]), (&whole["volume"], &whole["elements"]));
        }
    }
}

#[test]
fn a_detailed_surface_is_embedded_and_saved() {
    let folder = TempDir::new().unwrap();
    ok(folder.path(), &["mesh", "generate", "ball", "--across", "5", "-o", "cage.veg"]);
    ok(folder.path(), &["mesh", "generate", "ball", "--across", "12", "-o", "detail.ply"]);
    let run = ok(folder.path(), &["mesh", "embed", "cage.veg", "detail.ply", "-o", "detail.interp"]);
    assert!(run.out.starts_with("wrote detail.interp: ") && run.out.contains("of them outside"), "{}", run.out);
    let cage = pliant::io::read_volume(folder.path().join("cage.veg")).unwrap().mesh;
    let detail = pliant::io::read_surface(folder.path().join("detail.ply")).unwrap().mesh;
    let embedding = pliant::io::read_interp(folder.path().join("detail.interp"), &cage).unwrap();
    assert_eq!(embedding.len(), detail.vertices().len());
}

#[test]
fn every_law_is_listed_with_formula_coefficients_and_options() {
    let list = ok(TempDir::new().unwrap().path(), &["laws"]).out;
    for law in pliant::material::AnyLaw::ALL {
        assert!(list.contains(law.name) && list.contains(law.energy) && list.contains(&law.coefficients.join(", ")));
        for option in law.options {
            assert!(list.contains(option.name) && list.contains(option.about), "{}", option.name);
        }
    }
    for words in ["kg/m³", "compression-resistance", "threshold               1      0.1", "exact (default), warped"] {
        assert!(list.contains(words), "{words:?} is missing in:\n{list}");
    }
}

/// Writes a bar of five cells with a material in its file.
fn bar(folder: &Path) {
    let size = ["--size", "5", "1", "1", "--cells", "5", "1", "1"];
    let material = ["--density", "1000", "--young", "1e6", "--poisson", "0.45"];
    let args = [&["mesh", "generate", "box", "-o", "bar.veg"][..], &size, &material].concat();
    ok(folder, &args);
}

fn csr_product(matrix: &pliant::sparse::Triplets, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; matrix.row_count];
    for &(row, column, value) in &matrix.entries {
        y[row as usize] += value * x[column as usize];
    }
    y
}

#[test]
fn matrices_of_a_body_are_written_and_have_its_physics() {
    let folder = TempDir::new().unwrap();
    bar(folder.path());
    let run = ok(
        folder.path(),
        &["matrices", "bar.veg", "--law", "neo-hookean", "--alpha", "0.1", "--beta", "0.01", "-o", "new/out"],
    );
    for words in ["new/out  matrices of bar.veg", "mass              5000 kg", "energy            0 J", "yes"] {
        assert!(run.out.contains(words), "{words:?} is missing in:\n{}", run.out);
    }
    let out = folder.path().join("new/out");
    let read = |name: &str| pliant::matrix_io::read_matrix(out.join(name)).unwrap();
    let (k, m, d) = (read("K.mtx"), read("M.mtx"), read("D.mtx"));
    let n = k.row_count / 3;
    assert_eq!(n, 24);
    k.to_symmetric(n).unwrap();
    let translation: Vec<f64> = (0..n).flat_map(|_| [1.0, -2.0, 0.5]).collect();
    let largest = k.entries.iter().fold(0.0, |most, entry| f64::max(most, entry.2.abs()));
    assert!(csr_product(&k, &translation).iter().all(|force| force.abs() < 1e-13 * largest), "a free body resists");
    let momentum = csr_product(&m, &translation);
    for axis in 0..3 {
        let sum: f64 = momentum.iter().skip(axis).step_by(3).sum();
        assert!((sum - 5000.0 * translation[axis]).abs() < 1e-9, "{sum}");
    }
    let x: Vec<f64> = (0..3 * n).map(|i| (i as f64).sin()).collect();
    let (kx, mx, dx) = (csr_product(&k, &x), csr_product(&m, &x), csr_product(&d, &x));
    for i in 0..3 * n {
        assert!((dx[i] - 0.1 * mx[i] - 0.01 * kx[i]).abs() < 1e-13 * largest);
    }
    for name in ["K.npz", "M.npz", "D.npz"] {
        assert!(std::fs::read(out.join(name)).unwrap().starts_with(b"PK\x03\x04"));
    }
    let force = pliant::matrix_io::read_array(out.join("force.npy")).unwrap();
    assert_eq!(force, pliant::matrix_io::read_array(out.join("force.mtx")).unwrap());
    assert_eq!((force.row_count(), force.column_count()), (3 * n, 1));
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 9, "nothing but the files that were promised");
}

#[test]
fn matrices_at_a_displacement_have_energy_and_force_in_every_format_of_it() {
    let folder = TempDir::new().unwrap();
    bar(folder.path());
    let mesh = pliant::io::read_volume(folder.path().join("bar.veg")).unwrap().mesh;
    // Stretched by a hundredth along x.
    let u: Vec<f64> = mesh.vertices().iter().flat_map(|x| [0.01 * x.x, 0.0, 0.0]).collect();
    for name in ["u.npy", "u.mtx", "u.txt"] {
        for columns in [1, 3] {
            let array = pliant::matrix_io::Array::from_rows(columns, u.clone()).unwrap();
            pliant::matrix_io::write_array(folder.path().join(name), &array).unwrap();
            let args = ["matrices", "bar.veg", "--law", "linear", "-u", name, "--json", "--lumped", "-o", "out"];
            let summary = json(&ok(folder.path(), &args));
            // ½(λ + 2μ) ε² V
            let (lambda, mu) = (0.45e6 / (1.45 * 0.1), 1e6 / 2.9);
            let exact = 0.5 * (lambda + 2.0 * mu) * 1e-4 * 5.0;
            assert!((summary["energy"].as_f64().unwrap() - exact).abs() < 1e-12 * exact, "{name}");
            assert!(summary["max_force"]["size"].as_f64().unwrap() > 0.0);
            assert_eq!((&summary["vertices"], &summary["files"][2]["file"]), (&24.into(), &"M.mtx".into()));
            assert_eq!((&summary["files"][2]["entries"], &summary["files"][4]["entries"]), (&72.into(), &0.into()));
            let stored = std::fs::read_to_string(folder.path().join("out/summary.json")).unwrap();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&stored).unwrap(), summary);
        }
    }
}

#[test]
fn every_law_and_every_choice_gives_matrices_also_inside_out() {
    let folder = TempDir::new().unwrap();
    bar(folder.path());
    // Turned through itself.
    let mesh = pliant::io::read_volume(folder.path().join("bar.veg")).unwrap().mesh;
    let u: Vec<f64> = mesh.vertices().iter().flat_map(|x| [-1.5 * x.x, 0.1 * x.x * x.y, 0.0]).collect();
    pliant::matrix_io::write_array(folder.path().join("u.npy"), &pliant::matrix_io::Array::vector(u)).unwrap();
    let run = |more: &[&str]| pliant(folder.path(), &[&["matrices", "bar.veg", "-o", "out"][..], more].concat());
    for law in pliant::material::AnyLaw::ALL {
        let at_rest = run(&["--law", law.name]);
        assert_eq!(at_rest.status, 0, "{}: {}", law.name, at_rest.err);
        let coefficients: Vec<String> = law.coefficients.iter().map(|name| format!("--param={name}=1e5")).collect();
        let literal: Vec<&str> = coefficients.iter().map(String::as_str).chain(["--law", law.name]).collect();
        assert_eq!(run(&literal).status, 0, "{}", law.name);
        if law.name != "linear" {
            for more in
                [&["--inversion", "clamp", "--threshold", "0.2"][..], &["--inversion", "extrapolate", "--project"]]
            {
                let args = [&["--law", law.name, "-u", "u.npy", "--compression-resistance", "500"][..], more].concat();
                let handled = run(&args);
                assert_eq!(handled.status, 0, "{}: {}", law.name, handled.err);
            }
        }
    }
    assert_eq!(run(&["--law", "corotational", "--tangent", "warped", "--frame", "qr", "-u", "u.npy"]).status, 0);
    let bare = run(&["--law", "neo-hookean", "-u", "u.npy"]);
    assert_eq!(bare.status, 1);
    assert!(
        bare.err.contains("the law `neo-hookean` is not defined (--inversion clamp or extrapolate helps)"),
        "{}",
        bare.err
    );
}

#[test]
fn a_damping_matrix_may_couple_any_two_vertices() {
    let folder = TempDir::new().unwrap();
    bar(folder.path());
    let entry = |text: &str| format!("%%MatrixMarket matrix coordinate real general\n72 72 4\n{text}");
    let write = |text: String| std::fs::write(folder.path().join("own.mtx"), text).unwrap();
    write(entry("1 1 5\n72 72 5\n1 72 -5\n72 1 -5\n"));
    let args = ["matrices", "bar.veg", "--law", "stvk", "--damping-matrix", "own.mtx", "-o", "out"];
    ok(folder.path(), &args);
    let mut entries = pliant::matrix_io::read_matrix(folder.path().join("out/D.mtx")).unwrap().entries;
    entries.sort_by_key(|entry| (entry.0, entry.1));
    assert_eq!(entries, [(0, 0, 5.0), (0, 71, -5.0), (71, 0, -5.0), (71, 71, 5.0)]);
    write(entry("1 1 5\n72 72 5\n1 72 -5\n72 1 -4\n"));
    let run = pliant(folder.path(), &args);
    let message = "error: own.mtx: the damping matrix: expected a symmetric matrix, but entry (0, 71) is -5 and entry (71, 0) is -4;";
    assert!(run.status == 1 && run.err.starts_with(message), "{}", run.err);
}

#[test]
fn the_coefficients_of_mooney_rivlin_come_from_the_mesh_file() {
    let folder = TempDir::new().unwrap();
    let mesh = FLAT.replace("2 4 0", "1 4 0").replace("2 1 2 3 5\n", "");
    let file = mesh + "*MATERIAL rubber\nMOONEYRIVLIN, 1000, 1e5, 2e5, 3e6\n*REGION\nallElements, rubber\n";
    std::fs::write(folder.path().join("rubber.veg"), file).unwrap();
    ok(folder.path(), &["matrices", "rubber.veg", "--law", "mooney-rivlin", "-o", "from-file"]);
    let given = ["--param", "mu01=1e5", "--param", "mu10=2e5", "--param", "v1=3e6", "-o", "given"];
    ok(folder.path(), &[&["matrices", "rubber.veg", "--law", "mooney-rivlin"][..], &given].concat());
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("from-file/K.mtx") == read("given/K.mtx") && read("from-file/K.npz") == read("given/K.npz"));
    let other = pliant(folder.path(), &["matrices", "rubber.veg", "--law", "stvk", "-o", "out"]);
    assert!(other.err.contains("use --law mooney-rivlin, or give --young and --poisson"), "{}", other.err);
}

#[test]
fn matrices_without_material_or_with_a_wrong_one_are_errors_with_the_remedy() {
    let folder = TempDir::new().unwrap();
    bar(folder.path());
    ok(folder.path(), &["mesh", "generate", "box", "--cells", "1", "1", "1", "-o", "bare.veg"]);
    ok(folder.path(), &["mesh", "convert", "bare.veg", "bare.msh"]);
    std::fs::write(folder.path().join("short.txt"), "0 0 0\n0 0 0\n").unwrap();
    std::fs::write(folder.path().join("nan.txt"), "0 0 0\n0 nan 0\n").unwrap();
    std::fs::write(folder.path().join("u.xyz"), "1 2 3\n").unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let moduli = ["--young", "1e6", "--poisson", "0.4"];
    for (args, message) in [
        (
            vec!["bare.msh", "--law", "stvk"],
            "error: bare.msh, region `body`: the file gives no moduli; give --young and --poisson",
        ),
        (
            vec!["bare.msh", "--law", "stvk", "--young", "1e6"],
            "error: bare.msh, region `body`: the file gives no moduli; give --poisson",
        ),
        (
            [&["bare.msh", "--law", "stvk"][..], &moduli].concat(),
            "error: bare.msh: give --density, as: region `body` has no density",
        ),
        (
            vec!["bar.veg", "--law", "stvk", "--param", "mu=1e5"],
            "error: --param: the law `stvk` needs its coefficient lambda",
        ),
        (
            vec!["bar.veg", "--law", "stvk", "--young", "-1", "--poisson", "0.3"],
            "error: Young's modulus is -1, expected",
        ),
        (vec!["bar.veg", "--law", "stvk", "--density", "-1"], "error: the density of region `"),
        (vec!["bar.veg", "--law", "stvk", "--alpha", "-1"], "error: the mass damping α is -1, expected"),
        (
            vec!["bar.veg", "--law", "stvk", "--tangent", "warped"],
            "error: --tangent: applies only to the law corotational, not to `stvk`",
        ),
        (
            vec!["bar.veg", "--law", "stvk", "--threshold", "0.2"],
            "error: --threshold: has no effect without --inversion clamp or extrapolate",
        ),
        (
            vec!["bar.veg", "--law", "stvk", "--inversion", "clamp", "--threshold", "2"],
            "error: --inversion: the inversion threshold is 2, expected a stretch above 0 and below 1",
        ),
        (
            vec!["bar.veg", "--law", "linear", "--inversion", "clamp"],
            "error: --inversion: the law `linear` is not a function of the principal stretches",
        ),
        (
            vec!["bar.veg", "--law", "stvk", "--compression-resistance", "-5"],
            "error: --compression-resistance: the compression resistance is -5",
        ),
        (
            vec!["bar.veg", "--law", "stvk", "-u", "short.txt"],
            "error: short.txt: expected 24 × 3 or 72 numbers for 24 vertices, found 2 × 3",
        ),
        (
            vec!["bar.veg", "--law", "stvk", "-u", "nan.txt"],
            "error: nan.txt, line 2: expected a number, a finite number, found `nan`",
        ),
        (
            vec!["bar.veg", "--law", "stvk", "-u", "u.xyz"],
            "error: u.xyz: expected a file that ends in one of .npy, .mtx",
        ),
        (vec!["bar.veg", "--law", "stvk", "-u", "none.npy"], "error: none.npy: No such file"),
    ] {
        let run = pliant(folder.path(), &[&["matrices", "-o", "out"][..], &args].concat());
        assert_eq!((run.status, run.out.as_str()), (1, ""), "{args:?}");
        assert!(run.err.starts_with(message), "{args:?}: {}", run.err);
        assert!(!folder.path().join("out").exists(), "{args:?} left files");
    }
    let onto_a_file = pliant(folder.path(), &["matrices", "bar.veg", "--law", "stvk", "-o", "file"]);
    assert!(onto_a_file.status == 1 && onto_a_file.err.starts_with("error: file: "), "{}", onto_a_file.err);
    for args in [
        &["matrices", "bar.veg", "--law", "jelly", "-o", "out"][..],
        &["matrices", "bar.veg", "--law", "stvk", "--param", "mu", "-o", "out"],
        &["matrices", "bar.veg", "--law", "stvk"],
    ] {
        assert_eq!(pliant(folder.path(), args).status, 2, "{args:?}");
    }
}

#[test]
fn completions_exist_for_every_shell() {
    let folder = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(ok(folder.path(), &["completions", shell]).out.contains("convert"), "{shell}");
    }
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let folder = TempDir::new().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["completions", "zsh"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn every_format_is_listed_and_stands_in_the_readme() {
    let folder = TempDir::new().unwrap();
    let list = ok(folder.path(), &["mesh", "formats"]).out;
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    for format in pliant::io::FORMATS {
        assert!(list.contains(format.name) && list.contains(format.about), "{}", format.name);
        for extension in format.extensions {
            assert!(readme.contains(&format!("`.{extension}`")), "README.md does not name .{extension}");
        }
    }
}

#[test]
fn each_modulus_of_static_and_matrices_defaults_to_that_of_the_mesh_file() {
    let folder = TempDir::new().unwrap();
    let size = ["--size", "2", "0.1", "0.1", "--cells", "8", "2", "2"];
    let steel = ["--young", "2 MPa", "--poisson", "0", "--density", "7800"];
    ok(folder.path(), &[&["mesh", "generate", "box", "-o", "bar.veg"][..], &size, &steel].concat());
    ok(folder.path(), &[&["mesh", "generate", "box", "-o", "bare.msh"][..], &size].concat());
    let pull = ["--fix", "x<0", "--force", "x>2", "100", "0", "0", "--json", "--law", "linear"];
    // F L / (E A).
    for (option, value, expected) in [("--poisson", "0", 0.01), ("--young", "1 MPa", 0.02)] {
        let args = [&["static", "bar.veg"][..], &pull, &[option, value]].concat();
        let answer: serde_json::Value = serde_json::from_str(&ok(folder.path(), &args).out).unwrap();
        assert!((answer["displacement"][0].as_f64().unwrap() - expected).abs() < 1e-9, "{option}: {answer}");
        let matrices = ["matrices", "bar.veg", "--law", "linear", "-o", "k", option, value];
        ok(folder.path(), &matrices);
    }
    for (option, missing) in [("--poisson", "--young"), ("--young", "--poisson")] {
        let wrong = pliant(folder.path(), &[&["static", "bare.msh"][..], &pull, &[option, "0.3"]].concat());
        let expected =
            format!("bare.msh, region `body`: the file gives no Young's modulus and Poisson's ratio; give {missing}");
        assert!(wrong.status == 1 && wrong.err.contains(&expected), "{}", wrong.err);
    }
}

#[test]
fn errors_of_static_name_options_and_no_scene() {
    let folder = TempDir::new().unwrap();
    ok(
        folder.path(),
        &["mesh", "generate", "box", "-o", "bar.msh", "--size", "1", "0.1", "0.1", "--cells", "8", "2", "2"],
    );
    let error = |args: &[&str]| {
        let run = pliant(folder.path(), &[&["static", "bar.msh"][..], args].concat());
        assert_eq!(run.status, 1, "{}", run.out);
        for scene in ["vertices =", "[object", "law =", "scene", "projected", "in the step from"] {
            assert!(!run.err.contains(scene), "{scene}: {}", run.err);
        }
        run.err
    };
    let soft = ["--young", "1e6", "--poisson", "0.3"];
    for (args, expected) in [
        (&["--fix", "x<-5"][..], "bar.msh: --fix x<-5: no vertex is selected by this"),
        (&["--fix", "x-min", "--law", "nope"], "bar.msh: --law: unknown law `nope`"),
        (
            &["--fix", "x-min", "--gravity", "0", "0", "1"],
            "bar.msh, region `body`: the file gives no density, which --gravity needs; give --density",
        ),
        (&["--fix", "x-min", "--traction", "0", "0", "0", "1"], "bar.msh: --traction 0 0 0 1: none of the 144 faces"),
        (
            &["--fix", "0,1", "--force", "x-max", "0", "1", "0"],
            "fix the body so that it can neither move nor turn, or else reduce loads",
        ),
    ] {
        let found = error(&[&soft, args].concat());
        assert!(found.contains(expected), "{found}");
    }
    let found = error(&["--fix", "x-min"]);
    assert!(found.contains("bar.msh, region `body`: the file gives no moduli; give --young and --poisson"), "{found}");
}

/// Two cubes side by side, each a region and a set, with the face between them in a set as a side of the second.
const TWO_REGIONS: &str = "*NODE, NSET=all
1, 0, 0, 0
2, 1, 0, 0
3, 1, 1, 0
4, 0, 1, 0
5, 0, 0, 1
6, 1, 0, 1
7, 1, 1, 1
8, 0, 1, 1
9, 2, 0, 0
10, 2, 1, 0
11, 2, 0, 1
12, 2, 1, 1
*ELEMENT, TYPE=C3D8, ELSET=left
1, 1, 2, 3, 4, 5, 6, 7, 8
*ELEMENT, TYPE=C3D8, ELSET=right
2, 2, 9, 10, 3, 6, 11, 12, 7
*SOLID SECTION, ELSET=left
*SOLID SECTION, ELSET=right
*NSET, NSET=end
9, 10, 11, 12
*SURFACE, NAME=IFR
2, S6
*SURFACE, NAME=TIP
2, S4
";

#[test]
fn an_extracted_region_reports_sets_that_are_lost_and_faces_that_change_sides() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("two.inp"), TWO_REGIONS).unwrap();
    let left = ok(folder.path(), &["mesh", "convert", "two.inp", "left.inp", "--region", "left"]);
    assert_eq!(
        left.err,
        "note: vertex set `end` has no vertices in this part: dropped\n\
         note: face set `TIP` has no faces in this part: dropped\n\
         note: 1 face of `IFR` is a side of elements that were left out: that of the neighbors that are kept is taken, with the opposite normal\n"
    );
    let right = ok(folder.path(), &["mesh", "convert", "two.inp", "right.inp", "--region", "right"]);
    assert_eq!(right.err, "");
}

#[test]
fn reproduce_names_the_command_that_runs_the_experiments() {
    let folder = TempDir::new().unwrap();
    for args in [&["reproduce"][..], &["reproduce", "servin-twist", "--fast"], &["reproduce", "--help"]] {
        let run = pliant(folder.path(), args);
        assert_eq!((run.status, run.out.as_str()), (1, ""));
        assert!(run.err.contains("`cargo run --release -p pliant-reproduce -- NAME`"), "{}", run.err);
    }
}
