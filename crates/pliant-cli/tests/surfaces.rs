//! Surfaces brought by users: filled, caged, put into voxels, and simulated as they are.

use std::path::Path;
use std::process::Command;

use pliant::geometry::Form;
use pliant::io::{self, Mesh, WriteOptions};
use pliant::math::Vec3;
use pliant::mesh::{Faces, Moduli, Region, SurfaceMesh};
use pliant::meshing::{Params, tetrahedralize};
use tempfile::TempDir;

struct Run {
    status: i32,
    out: String,
    err: String,
}

fn pliant(folder: &Path, args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_pliant")).args(args).current_dir(folder).output().unwrap();
    Run {
        status: output.status.code().expect("the command ended by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn ok(folder: &Path, args: &[&str]) -> Run {
    let run = pliant(folder, args);
    assert_eq!(run.status, 0, "{args:?}: {}", run.err);
    run
}

/// A folder with a ring, as `ring.obj`, and the same with a hole and triangles that face the wrong way, as `broken.stl`.
fn folder() -> (TempDir, f64) {
    let folder = TempDir::new().unwrap();
    let ring = Form::Torus { ring_radius: 1.0, tube_radius: 0.3 };
    let ring = tetrahedralize(&ring, &Params { cells: 30, ..Params::default() }).unwrap().mesh.boundary().surface;
    io::write(folder.path().join("ring.obj"), &ring, &WriteOptions::default()).unwrap();
    let mut triangles: Vec<[u32; 3]> = ring.triangles().skip(10).collect();
    triangles.iter_mut().step_by(7).for_each(|t| t.swap(1, 2));
    let broken = SurfaceMesh::new(ring.vertices().to_vec(), Faces::uniform(3, triangles.concat())).unwrap();
    io::write(folder.path().join("broken.stl"), &broken, &WriteOptions::default()).unwrap();
    let volume = ring.enclosed_volume();
    (folder, volume)
}

/// The mass that `mesh info` tells.
fn mass(folder: &Path, file: &str) -> f64 {
    let told = ok(folder, &["mesh", "info", file, "--json"]).out;
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    told["mass"].as_f64().unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn a_surface_is_filled_with_tetrahedra_whose_angles_are_told() {
    let (folder, volume) = folder();
    let run = ok(folder.path(), &["mesh", "tetrahedralize", "ring.obj", "--cells", "24", "-o", "ring.veg"]);
    for part in ["closed, and nothing is wrong with it", "within the bounds of 10.7° and 164.8°", "wrote ring.veg: "]
    {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let body = io::read_volume(folder.path().join("ring.veg")).unwrap().mesh;
    assert!((body.volume() / volume - 1.0).abs() < 0.02);

    let run = ok(folder.path(), &["mesh", "tetrahedralize", "broken.stl", "--cells", "24", "-o", "broken.vtk"]);
    for part in ["edges are open", "triangles faced the wrong way and were turned"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let body = io::read_volume(folder.path().join("broken.vtk")).unwrap().mesh;
    assert!((body.volume() / volume - 1.0).abs() < 0.03);
    let graded =
        ok(folder.path(), &["mesh", "tetrahedralize", "ring.obj", "--cells", "60", "--grading", "2", "-o", "g.msh"]);
    assert!(graded.out.contains("wrote g.msh"), "{}", graded.out);
}

#[test]
fn cages_and_voxels_weigh_what_the_surface_encloses_and_carry_it() {
    let (folder, volume) = folder();
    let rubber = ["--density", "1000", "--young", "1e5", "--poisson", "0.4"];
    let cage =
        [&["mesh", "tetrahedralize", "ring.obj", "--cage", "--cells", "10", "-o", "cage.veg"], &rubber[..]].concat();
    let voxels = [&["mesh", "voxelize", "ring.obj", "--cells", "12", "-o", "cubes.veg"], &rubber[..]].concat();
    for (args, name) in [(cage, "cage"), (voxels, "cubes")] {
        let run = ok(folder.path(), &args);
        assert!(run.out.contains(&format!("wrote {name}.interp")) && run.out.contains("filled with"), "{}", run.out);
        let mass = mass(folder.path(), &format!("{name}.veg"));
        assert!((mass / (1000.0 * volume) - 1.0).abs() < 0.005, "{name}: {mass} kg, {volume} m³");
        let mesh = io::read_volume(folder.path().join(format!("{name}.veg"))).unwrap().mesh;
        let tie = io::read_interp(folder.path().join(format!("{name}.interp")), &mesh).unwrap();
        assert!(tie.outside().is_empty());
    }
    // Without a material there is one, or light elements would be as heavy as full ones.
    let run = ok(folder.path(), &["mesh", "voxelize", "ring.obj", "--cells", "12", "-o", "plain.veg"]);
    assert!(run.err.contains("no --density was given"), "{}", run.err);
    assert!((mass(folder.path(), "plain.veg") / (1000.0 * volume) - 1.0).abs() < 0.005);
    let plain = io::read_volume(folder.path().join("plain.veg")).unwrap().mesh;
    let young = |region: &Region| match region.material.as_ref().unwrap().moduli {
        Some(Moduli::Isotropic { young, .. }) => young,
        ref other => panic!("{other:?}"),
    };
    let youngs: Vec<f64> = plain.regions().iter().map(young).collect();
    assert!(youngs.len() > 4 && youngs.iter().all(|young| *young <= youngs[0]) && youngs.contains(&youngs[0]));
    assert!(youngs.iter().any(|young| *young < 0.5 * youngs[0]), "{youngs:?}");
    // A file that cannot hold it says so, and nothing to the contrary.
    let run = ok(folder.path(), &["mesh", "voxelize", "ring.obj", "--cells", "12", "-o", "plain.vtk"]);
    assert!(run.err.contains("all elements are full") && !run.err.contains("kg/m³"), "{}", run.err);
}

#[test]
fn a_surface_is_simulated_as_it_is() {
    let (folder, _) = folder();
    let run = ok(folder.path(), &["run", "broken.stl", "--duration", "0.1", "--obj"]);
    assert!(run.err.contains("carried by a cage of tetrahedra"), "{}", run.err);
    assert!(run.err.contains("edges are open"), "{}", run.err);
    // What is shown is the surface, with all of its detail.
    let scene = std::fs::read_to_string(folder.path().join("out/broken/scene.toml")).unwrap();
    assert!(scene.contains("cage"), "{scene}");
}

#[test]
fn scenes_fill_surfaces_and_solids() {
    let (folder, volume) = folder();
    let scene = r#"
[[object]]
name = "caged"
mesh = { cage = { surface = "ring.obj", cells = 10 } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[[object.region]]
name = "left"
elements = { box = { from = [-9, -9, -9], to = [0, 9, 9] } }
material = { young = 2e5, poisson = 0.3, density = 1000 }
[[object]]
name = "cubes"
translate = [4, 0, 0]
mesh = { voxels = { surface = "ring.obj", cells = 10 } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[[object]]
name = "filled"
translate = [8, 0, 0]
mesh = { filled = { of = "broken.stl", cells = 20, grading = 1 } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[[object]]
name = "drilled"
translate = [12, 0, 0]
mesh = { filled = { of = { difference = { of = { ball = { radius = 1 } }, without = [{ moved = { solid = { capsule = { start = [0, -2, 0], end = [0, 2, 0], radius = 0.5 } }, rotate = { axis = [0, 0, 1], angle = "1 turn" } } }] } }, cells = 16 } }
material = { young = 1e5, poisson = 0.3, density = 1000 }
[simulation]
step = 0.01
duration = 0.02
"#;
    std::fs::write(folder.path().join("s.toml"), scene).unwrap();
    let file = pliant::scene::SceneFile::read(&io::Disk, &folder.path().join("s.toml")).unwrap();
    let built = file.build(&io::Disk).unwrap();
    let bodies = built.simulation.model().bodies();
    for body in &bodies[..3] {
        let mass = body.mesh().mass_properties(body.densities()).mass;
        assert!((mass / (1000.0 * volume) - 1.0).abs() < 0.04, "{mass} kg, {volume} m³");
    }
    let drilled = bodies[3].mesh().volume();
    assert!((drilled / (4.0 / 3.0 * std::f64::consts::PI * 0.75_f64.powf(1.5)) - 1.0).abs() < 0.04, "{drilled}");
    // Refused with the place and the reason.
    for (mesh, why) in [
        ("{ filled = { of = { gyroid = { period = 1, thickness = 0.1 } } } }", "the form has no end"),
        ("{ filled = { of = { ball = { radius = -1 } } } }", "expected a positive length"),
        ("{ filled = { of = { union = [] } } }", "a union of no forms"),
        ("{ cage = { surface = \"missing.obj\" } }", "missing.obj"),
        ("{ cage = { surface = \"ring.obj\", cells = 1 } }", "expected at least 2"),
        ("\"ring.obj\"", "makes some around it"),
    ] {
        let text = format!(
            "[[object]]\nmesh = {mesh}\nmaterial = {{ young = 1, poisson = 0, density = 1 }}\n[simulation]\nstep = 1\nduration = 1\n"
        );
        std::fs::write(folder.path().join("wrong.toml"), text).unwrap();
        let run = pliant(folder.path(), &["run", "wrong.toml"]);
        assert!(run.status == 1 && run.err.contains(why), "{mesh}: {}", run.err);
    }
}

#[test]
fn solids_are_generated_from_a_line() {
    let (folder, _) = folder();
    let capsule = "{ capsule = { start = [0, 0, 0], end = ['10 cm', 0, 0], radius = '2 cm' } }";
    let run = ok(folder.path(), &["mesh", "generate", "solid", capsule, "--cells", "20", "-o", "c.vtk"]);
    assert!(run.out.starts_with("wrote c.vtk"), "{}", run.out);
    let body = io::read_volume(folder.path().join("c.vtk")).unwrap().mesh;
    let exact = std::f64::consts::PI * 4e-4 * (0.1 + 4.0 / 3.0 * 0.02);
    assert!((body.volume() / exact - 1.0).abs() < 0.03, "{} and {exact}", body.volume());
    let thin = "{ rounded_box = { size = [4, 0.1, 1] } }";
    let run = ok(folder.path(), &["mesh", "generate", "solid", thin, "--cells", "30", "-o", "t.vtk"]);
    assert!(run.err.contains("it may be lost"), "{}", run.err);
    let run = pliant(folder.path(), &["mesh", "generate", "solid", "{ bal = 1 }", "-o", "c.vtk"]);
    assert!(run.status == 2 && run.err.contains("unknown variant `bal`"), "{}", run.err);
}

#[test]
fn what_cannot_be_filled_is_refused_before_the_work_is_done() {
    let (folder, _) = folder();
    let refused = |args: &[&str], why: &str| {
        let run = pliant(folder.path(), args);
        assert!(run.status == 1 && run.err.contains(why), "{args:?}: {}", run.err);
    };
    refused(&["mesh", "tetrahedralize", "ring.obj", "-o", "a.xyz"], "none of a mesh format");
    refused(&["mesh", "tetrahedralize", "ring.obj", "-o", "nowhere/a.veg"], "no such folder");
    refused(&["mesh", "tetrahedralize", "ring.obj", "-o", "ring.obj"], "would overwrite the surface");
    refused(&["mesh", "voxelize", "./broken.stl", "-o", "broken.stl"], "no elements that the surface could be tied to");
    refused(&["mesh", "tetrahedralize", "ring.obj", "--cage", "-o", "a.obj"], "take .veg, .msh or .vtu");
    refused(&["mesh", "tetrahedralize", "ring.obj", "--cells", "99999", "-o", "a.veg"], "take fewer");
    refused(&["mesh", "voxelize", "ring.obj", "--cells", "99999", "-o", "a.veg"], "take fewer");
    refused(&["mesh", "tetrahedralize", "ring.obj", "--cells", "0", "-o", "a.veg"], "expected at least 2");
    let sheet = SurfaceMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], Faces::uniform(3, vec![0, 1, 2])).unwrap();
    io::write(folder.path().join("sheet.obj"), &Mesh::Surface(sheet), &WriteOptions::default()).unwrap();
    refused(
        &["mesh", "tetrahedralize", "sheet.obj", "-o", "a.veg"],
        "sheet.obj: nothing is inside: the surface is open, with 3 open edges, and encloses nothing; a cage contains it",
    );
    let run = ok(folder.path(), &["mesh", "tetrahedralize", "sheet.obj", "--cage", "-o", "a.veg"]);
    assert!(run.out.contains("every point of the surface is inside"), "{}", run.out);
    assert!(run.err.contains("the surface encloses nothing"), "{}", run.err);
}

#[test]
fn polygons_with_corners_that_point_inward_are_what_they_enclose() {
    let folder = TempDir::new().unwrap();
    // A channel: the same U twice, and a wall along each of its edges.
    let u = [[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]];
    let mut text = String::new();
    for z in [0, 1] {
        u.iter().for_each(|[x, y]| text += &format!("v {x} {y} {z}\n"));
    }
    text += "f 8 7 6 5 4 3 2 1\nf 9 10 11 12 13 14 15 16\n";
    (1..=8).for_each(|i| text += &format!("f {i} {} {} {}\n", i % 8 + 1, i % 8 + 9, i + 8));
    std::fs::write(folder.path().join("u.obj"), text).unwrap();
    ok(folder.path(), &["mesh", "convert", "u.obj", "u.stl"]);
    let area = io::read_surface(folder.path().join("u.stl")).unwrap().mesh.area();
    assert!((area - 30.0).abs() < 1e-5, "{area}");
    let run = ok(folder.path(), &["mesh", "voxelize", "u.obj", "--cells", "3", "-o", "u.veg"]);
    assert!(run.out.contains("closed, and nothing is wrong with it"), "{}", run.out);
    assert!((mass(folder.path(), "u.veg") - 7000.0).abs() < 1e-6);
    let body = io::read_volume(folder.path().join("u.veg")).unwrap().mesh;
    assert!((body.volume() - 7.0).abs() < 1e-9, "the notch is empty: {}", body.volume());
}
