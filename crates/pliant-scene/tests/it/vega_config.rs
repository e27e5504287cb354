//! VegaFEM's `.config` files: their meaning, and errors of invalid ones.

use std::path::Path;

use super::support::{assert_close, section, sections};
use pliant::files::Memory;
use pliant::io::{WriteOptions, write_to};
use pliant::math::Vec3;
use pliant::mesh::{Cells, ElementKind, MaterialData, Moduli, Region, VolumeMesh, generate};
use pliant::system::State;
use pliant_scene::scene::integrator::{BackwardEuler, Newmark, NewtonTangent};
use pliant_scene::scene::{Built, Inverted, MaterialChoice, MaterialTangent, SceneFile, Source, Start, vega};

const YOUNG: f64 = 1e6;
const POISSON: f64 = 0.45;

/// Required keys of every file.
const STEPS: &str =
    "*timestep\n0.01\n*dampingMassCoef\n0.0\n*dampingStiffnessCoef\n0.01\n*syncTimestepWithGraphics\n0\n";
const BODY: &str = "*volumetricMeshFilename\nbody.veg\n";

fn with_material(mesh: VolumeMesh, material: MaterialData) -> VolumeMesh {
    let mut data = mesh.into_data();
    data.regions = vec![Region::of("rubber", material)];
    VolumeMesh::check(data).unwrap().mesh
}

fn rubber() -> MaterialData {
    MaterialData::isotropic("rubber", 1000.0, YOUNG, POISSON)
}

/// Returns files with a block of tetrahedra, one of hexahedra, and one of another law.
fn files() -> Memory {
    let files = Memory::default();
    let put = |name: &str, cells: Cells, material: MaterialData| {
        let mesh = with_material(generate::block([1.0, 1.0, 1.0], [2, 2, 2], cells).unwrap(), material);
        write_to(&files, Path::new(name), &mesh, &WriteOptions::default()).unwrap();
    };
    put("body.veg", Cells::Tet5, rubber());
    put("cubes.veg", Cells::Hex, rubber());
    let moduli = Some(Moduli::MooneyRivlin { mu01: 5e4, mu10: 6e4, v1: 1e6 });
    put("rivlin.veg", Cells::Tet5, MaterialData { name: "rivlin".into(), density: Some(1000.0), moduli });
    let surface = generate::block([1.0, 1.0, 1.0], [1, 1, 1], Cells::Tet5).unwrap();
    write_to(&files, Path::new("skin.obj"), &surface, &WriteOptions::default()).unwrap();
    files.and("fixed.bou", "1,2,3,\n4,5,6,7,8,9,\n").and("empty.bou", "\n").and("commented.bou", "# none\n ,\n")
}

fn read_with(files: Memory, text: &str) -> Result<SceneFile, String> {
    SceneFile::read(&files.and("a.config", text), Path::new("a.config")).map_err(|error| error.to_string())
}

/// Reads a file with the required keys and `text`.
fn read(text: &str) -> SceneFile {
    read_with(files(), &format!("{BODY}{STEPS}{text}")).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    read_with(files(), text).unwrap_err()
}

fn build(text: &str) -> Built {
    read(text).build(&files()).unwrap_or_else(|error| panic!("{error}"))
}

fn advance(built: &mut Built, steps: usize) {
    for _ in 0..steps {
        built.simulation.step().unwrap();
        assert!(built.simulation.state().q.iter().all(|x| x.is_finite()));
    }
}

fn material(file: &SceneFile) -> &pliant_scene::scene::MaterialSettings {
    match &file.scene.objects[0].material.as_ref().unwrap().value {
        MaterialChoice::Here(material) => material,
        MaterialChoice::Named(name) => panic!("named {name}"),
    }
}

#[test]
fn every_solver_of_vegafem_is_an_integrator_here_and_makes_steps() {
    for (solver, integrator) in [
        ("implicitNewmark", "newmark"),
        ("implicitBackwardEuler", "linearized-backward-euler"),
        ("Euler", "explicit-euler"),
        ("symplecticEuler", "symplectic-euler"),
        ("centralDifferences", "central-differences"),
    ] {
        let text = format!("*solver\n{solver}\n*timestep\n0.0001\n*addGravity\n1\n*fixedVerticesFilename\nfixed.bou\n");
        assert_eq!(read(&text).scene.simulation.integrator.name(), integrator, "{solver}");
        let mut built = build(&text);
        advance(&mut built, 20);
        assert!(built.simulation.state().q[3 * 26 + 1] < 0.0, "{solver} does not let the body sag");
    }
    assert_eq!(read("").scene.simulation.integrator.name(), "newmark");
    assert_eq!(
        read("*implicitSolverMethod\nimplicitBackwardEuler\n").scene.simulation.integrator.name(),
        "linearized-backward-euler"
    );
}

#[test]
fn one_iteration_is_the_default_and_more_are_newtons_method() {
    let once = read("*solver\nimplicitNewmark\n");
    let newmark = once.scene.simulation.integrator.options::<Newmark>().unwrap();
    let newton = newmark.newton.as_ref().unwrap();
    assert_eq!(
        (newton.iterations, newton.must_converge, newton.tangent),
        (1, Some(false), Some(NewtonTangent::ExactFirst))
    );
    let often = read("*solver\nimplicitBackwardEuler\n*maxIterations\n7\n*epsilon\n1e-5\n");
    assert_eq!(often.scene.simulation.integrator.name(), "backward-euler");
    let euler = often.scene.simulation.integrator.options::<BackwardEuler>().unwrap();
    let newton = euler.newton.as_ref().unwrap();
    assert_eq!((newton.iterations, newton.must_converge, newton.tolerance), (7, Some(false), Some(1e-5)));
    advance(&mut build("*solver\nimplicitBackwardEuler\n*maxIterations\n7\n*addGravity\n1\n"), 3);
}

#[test]
fn newmarks_coefficients_are_those_that_vegafem_runs_with() {
    let plain = read("*newmarkBeta\n0.25\n*newmarkGamma\n0.5\n");
    let newmark = |file: &SceneFile| file.scene.simulation.integrator.options::<Newmark>().unwrap().clone();
    assert_eq!((newmark(&plain).beta, newmark(&plain).gamma), (0.25, 0.5));
    assert!(!plain.notes.iter().any(|note| note.contains("newmark")));
    let linked = read("*newmarkBeta\n0.36\n*newmarkGamma\n0.5\n");
    assert!((newmark(&linked).gamma - 0.7).abs() < 1e-12);
    assert!(linked.notes.iter().any(|note| note.contains("γ = 0.7")), "{:?}", linked.notes);
}

#[test]
fn every_method_of_vegafem_is_a_law_here() {
    let law = |text: &str| material(&read(text)).law.as_ref().unwrap().value.clone();
    assert_eq!(law(""), "stvk");
    assert_eq!(law("*deformableObjectMethod\nStVK\n"), "stvk");
    assert_eq!(law("*deformableObjectMethod\nLinearFEM\n"), "linear");
    let corotational = |warp: &str| {
        let file = read(&format!("*deformableObjectMethod\nCLFEM\n{warp}"));
        let material = material(&file);
        (material.law.as_ref().unwrap().value.clone(), material.tangent.as_ref().map(|tangent| tangent.value))
    };
    assert_eq!(corotational(""), ("corotational".into(), Some(MaterialTangent::Warped)));
    assert_eq!(corotational("*corotationalLinearFEM_warp\n2\n"), ("corotational".into(), Some(MaterialTangent::Exact)));
    assert_eq!(corotational("*corotationalLinearFEM_warp\n0\n"), ("linear".into(), None));
    for (name, expected) in [("StVK", "stvk"), ("neoHookean", "neo-hookean"), ("MooneyRivlin", "mooney-rivlin")] {
        let text = format!("*deformableObjectMethod\nInvertibleFEM\n*invertibleMaterial\n{name}\n");
        assert_eq!(law(&text), expected);
        let mesh = if name == "MooneyRivlin" { "*volumetricMeshFilename\nrivlin.veg\n" } else { "" };
        advance(&mut build(&format!("{text}{mesh}*addGravity\n1\n")), 3);
    }
    for method in ["StVK", "CLFEM", "LinearFEM"] {
        advance(
            &mut build(&format!(
                "*deformableObjectMethod\n{method}\n*volumetricMeshFilename\ncubes.veg\n*addGravity\n1\n"
            )),
            3,
        );
    }
}

#[test]
fn inversion_and_compression_are_handled_as_vegafem_does_by_default() {
    let with = |text: &str| {
        let file = read(&format!("*deformableObjectMethod\nInvertibleFEM\n*invertibleMaterial\nStVK\n{text}"));
        let material = material(&file);
        let inversion = material.inversion.as_ref().map(|own| own.value);
        let threshold = material.inversion_threshold.as_ref().map(|own| own.value);
        (inversion, threshold, material.compression_resistance.as_ref().map(|own| own.value))
    };
    assert_eq!(with(""), (None, None, Some(500.0)));
    assert_eq!(with("*inversionThreshold\n0.2\n"), (Some(Inverted::Clamp), Some(0.2), Some(500.0)));
    assert_eq!(with("*principalStretchThreshold\n0.3\n"), (Some(Inverted::Clamp), Some(0.3), Some(500.0)));
    assert_eq!(with("*inversionThreshold\n-1\n*enableCompressionResistance\n0\n"), (None, None, None));
    assert_eq!(with("*compressionResistance\n100\n"), (None, None, Some(100.0)));
    // The other methods ignore both.
    let plain = read("*inversionThreshold\n0.2\n*compressionResistance\n100\n");
    assert!(material(&plain).inversion.is_none() && material(&plain).compression_resistance.is_none());
}

#[test]
fn gravity_is_off_unless_it_is_added_and_pulls_down() {
    let gravity = |text: &str| build(text).simulation.model().gravity();
    assert_eq!(gravity(""), Vec3::ZERO);
    assert_eq!(gravity("*g\n5\n"), Vec3::ZERO);
    assert_eq!(gravity("*addGravity\n1\n"), Vec3::new(0.0, -9.81, 0.0));
    assert_eq!(gravity("*addGravity\n1\n*g\n-100 # up\n"), Vec3::new(0.0, 100.0, 0.0));
    let forgotten = read("*addGravity\n1\n*deformableObjectMethod\nCLFEM\n");
    assert!(forgotten.notes.iter().any(|note| note.contains("VegaFEM ignores gravity")));
    assert_eq!(forgotten.scene.gravity(), Vec3::new(0.0, -9.81, 0.0));
}

#[test]
fn frequencies_are_scaled_by_the_root_of_the_stiffness() {
    let energy = |text: &str| {
        let mut built = build(text);
        let q: Vec<f64> = (0..81).map(|i| 0.01 * f64::from(i % 7)).collect();
        let state = State { q, ..built.simulation.state().clone() };
        built.simulation.set_state(state);
        built.simulation.observe().elastic_energy
    };
    let rivlin = "*volumetricMeshFilename\nrivlin.veg\n*deformableObjectMethod\nInvertibleFEM\n*invertibleMaterial\nMooneyRivlin\n";
    for method in ["", "*deformableObjectMethod\nCLFEM\n", rivlin] {
        let ratio = energy(&format!("{method}*frequencyScaling\n2\n")) / energy(method);
        assert!((ratio - 4.0).abs() < 1e-9, "{method}{ratio}");
    }
    let built = build("*frequencyScaling\n2\n*addGravity\n1\n*g\n1\n");
    assert_eq!(built.simulation.model().bodies()[0].densities(), [1000.0]);
    assert_eq!(built.simulation.model().gravity(), Vec3::new(0.0, -4.0, 0.0));
}

#[test]
fn fixed_vertices_count_from_one_and_a_list_of_none_fixes_none() {
    let built = build("*fixedVerticesFilename\nfixed.bou\n");
    assert_eq!(built.simulation.model().fixed()[0].vertices, (0..9).collect::<Vec<_>>());
    for name in ["empty.bou", "commented.bou"] {
        assert!(build(&format!("*fixedVerticesFilename\n{name}\n")).simulation.model().fixed().is_empty(), "{name}");
    }
    let lost = read("*fixedVerticesFilename\nlost.bou\n").build(&files()).unwrap_err().to_string();
    assert!(lost.starts_with("a.config:12:1: ") && lost.contains("lost.bou"), "{lost}");
}

/// Returns a matrix in VegaFEM's binary format.
fn matrix(rows: usize, columns: &[Vec<f64>]) -> Vec<u8> {
    let counts = [rows as i32, columns.len() as i32].into_iter().flat_map(i32::to_le_bytes);
    counts.chain(columns.iter().flatten().flat_map(|number| number.to_le_bytes())).collect()
}

/// Returns an equal force along x on every vertex.
fn push(newton: f64) -> Vec<f64> {
    [newton, 0.0, 0.0].repeat(27)
}

#[test]
fn a_column_of_force_loads_acts_for_one_time_step_and_all_its_substeps() {
    for (solver, substeps) in
        [("symplecticEuler", 1), ("symplecticEuler", 5), ("implicitBackwardEuler", 1), ("Euler", 4)]
    {
        let files = || files().and("loads", matrix(81, &[push(10.0), push(0.0), push(-4.0)]));
        let text = format!(
            "{BODY}{STEPS}*timestep\n0.001\n*solver\n{solver}\n*forceLoadsFilename\nloads\n*substepsPerTimeStep\n{substeps}\n"
        );
        let mut built = read_with(files(), &text).unwrap().build(&files()).unwrap();
        assert!((built.simulation.dt() - 0.001 / f64::from(substeps)).abs() < 1e-15);
        for expected in [0.27, 0.27, 0.162, 0.162] {
            advance(&mut built, substeps as usize);
            let momentum = built.simulation.observe().momentum;
            let off = (momentum - Vec3::new(expected, 0.0, 0.0)).length();
            assert!(off < 1e-5, "{solver}, {substeps} substeps: {momentum}, expected {expected}");
        }
    }
}

#[test]
fn a_body_begins_where_and_as_fast_as_the_files_say() {
    let shift: Vec<f64> = [0.5, 0.0, 0.25].repeat(27);
    let files = || {
        files()
            .and("u", matrix(81, std::slice::from_ref(&shift)))
            .and("v", matrix(81, &[push(3.0)]))
            .and("short", matrix(3, &[vec![0.0; 3]]))
    };
    let text = format!("{BODY}{STEPS}*initialPositionFilename\nu\n*initialVelocityFilename\nv\n");
    let file = read_with(files(), &text).unwrap();
    assert_eq!(file.scene.objects[0].start.as_ref().unwrap().value, Start::Displacements("u".into()));
    let built = file.build(&files()).unwrap();
    assert_eq!(built.simulation.state().q, shift);
    assert_eq!(built.simulation.state().v, push(3.0));
    let fixed = format!("{text}*fixedVerticesFilename\nfixed.bou\n");
    let built = read_with(files(), &fixed).unwrap().build(&files()).unwrap();
    assert_eq!(built.simulation.state().v[..27], [0.0; 27]);
    let short = text.replace("\nv\n", "\nshort\n");
    let error = read_with(files(), &short).unwrap().build(&files()).unwrap_err().to_string();
    assert!(error.starts_with("a.config:14:1: short: expected 27 × 3 or 81 numbers"), "{error}");
}

#[test]
fn a_secondary_mesh_follows_the_body_if_it_is_there() {
    let built =
        build("*secondaryRenderingMeshFilename\nskin.obj\n*secondaryRenderingMeshInterpolationFilename\nlost.interp\n");
    assert_eq!(built.skins[0].as_ref().unwrap().0.vertices().len(), 8);
    assert!(built.notes.iter().any(|note| note.contains("there is no file `lost.interp`")), "{:?}", built.notes);
    let without =
        build("*secondaryRenderingMeshFilename\nlost.obj\n*secondaryRenderingMeshInterpolationFilename\nlost.interp\n");
    assert!(without.skins[0].is_none());
    assert!(without.notes.iter().any(|note| note.contains("there is no file `lost.obj`")), "{:?}", without.notes);
}

#[test]
fn springs_have_the_stiffness_of_their_file_and_the_masses_of_vegafem() {
    for (kind, key, mesh) in [("Tet", "tetMesh", "body.veg"), ("Cubic", "cubicMesh", "cubes.veg")] {
        let springs =
            format!("*{key}Filename\n{mesh}\n*density\n1000\n*tensileStiffness\n50\n*damping\n3\n*addGravity\n1\n");
        let files = || files().and("a.massspring", springs.clone());
        let text = format!(
            "*massSpringSystem{kind}MeshConfigFilename\na.massspring\n{STEPS}*frequencyScaling\n2\n*solver\nimplicitBackwardEuler\n"
        );
        let file = read_with(files(), &text).unwrap();
        let network = file.scene.objects[0].network.as_ref().unwrap();
        assert_eq!((network.stiffness.si, network.damping.si), (200.0, 0.0));
        assert_eq!(file.notes.iter().filter(|note| note.contains("of springs")).count(), 2, "{:?}", file.notes);
        let mut built = file.build(&files()).unwrap();
        assert!((built.simulation.model().bodies()[0].densities()[0] - 1.0).abs() < 1e-15);
        advance(&mut built, 10);
        let fallen = built.simulation.observe().momentum.y;
        assert!((fallen + 4.0 * 9.81 * 0.1).abs() < 1e-3, "{fallen}");
    }
}

#[test]
fn a_cube_moves_as_in_vegafem_from_its_config_file() {
    let cube = super::support::mesh(&sections("vegafem_cube5_elastic.txt"), "", ElementKind::Tet4);
    let force: Vec<f64> = cube.lumped_masses(&[1000.0]).iter().flat_map(|m| [80.0 * m, -200.0 * m, 40.0 * m]).collect();
    let cube = with_material(cube, rubber());
    let trajectories = sections("vegafem_cube5_trajectories.txt");
    let invertible = "*deformableObjectMethod\nInvertibleFEM\n*inversionThreshold\n0.1\n*enableCompressionResistance\n0\n*invertibleMaterial\nneoHookean";
    for (law, method) in [
        ("linear", "*deformableObjectMethod\nLinearFEM"),
        ("corot", "*deformableObjectMethod\nCLFEM"),
        ("stvk", "*deformableObjectMethod\nStVK"),
        ("inv-nh", invertible),
    ] {
        // Damping uses the stiffness of each iterate: with the stiffness at the start of the step, motion differs by up
        // to a tenth.
        for (run, solver) in [
            ("be", "implicitBackwardEuler"),
            ("newmark", "implicitNewmark"),
            ("be-newton20", "implicitBackwardEuler\n*maxIterations\n20\n*epsilon\n1e-8"),
            ("newmark-newton20", "implicitNewmark\n*maxIterations\n20\n*epsilon\n1e-8"),
        ] {
            let files = || {
                let files = Memory::with("fixed.bou", "1,2,3,4\n").and("loads", matrix(24, &vec![force.clone(); 50]));
                write_to(&files, Path::new("body.veg"), &cube, &WriteOptions::default()).unwrap();
                files
            };
            let steps = STEPS.replace("*dampingMassCoef\n0.0", "*dampingMassCoef\n0.1");
            let text = format!(
                "{BODY}{steps}{method}\n*solver\n{solver}\n*fixedVerticesFilename\nfixed.bou\n*forceLoadsFilename\nloads\n"
            );
            let mut built = read_with(files(), &text).unwrap().build(&files()).unwrap();
            let mut found = Vec::new();
            for _ in 0..5 {
                advance(&mut built, 10);
                let q = &built.simulation.state().q;
                found.extend([4, 5, 7].iter().flat_map(|vertex| &q[3 * vertex..3 * vertex + 3]));
            }
            let expected = section(&trajectories, &format!("{law} {run}")).flat();
            assert_close(&format!("{law}, {run}"), &found, &expected, 1e-5);
        }
    }
}

#[test]
fn keys_are_known_in_any_case_and_comments_and_ends_are_passed_over() {
    let text = format!(
        "\u{feff}# all\r\n\r\n*VOLUMETRICmeshFilename\r\n#other.veg\r\n  body.veg  \r\n{STEPS}*solver\nEuler\nsymplecticEuler\n**EOF\n*nonsense\n"
    );
    let file = read_with(files(), &text).unwrap();
    assert_eq!(file.scene.simulation.integrator.name(), "symplectic-euler");
    assert!(file.notes.iter().any(|note| note.starts_with("`solver` has several values")), "{:?}", file.notes);
    file.build(&files()).unwrap();
}

#[test]
fn keys_that_change_nothing_are_named_in_one_note_each() {
    let text = "*cameraRadius\n1\n*lightingConfigFilename\nlost.lighting\n*numSolverThreads\n4\n*YoungModulus\n1e7\n*renderingMeshFilename\nlost.obj\n";
    let notes = read(text).notes;
    assert!(
        notes
            .iter()
            .any(|note| note.ends_with("have no effect: renderingMeshFilename, cameraRadius, lightingConfigFilename")),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note.ends_with(": numSolverThreads")));
    assert!(notes.iter().any(|note| note.ends_with(": YoungModulus")));
    assert!(notes.last().unwrap().contains("ends after 5 s"));
    assert_eq!(notes.len(), 4, "{notes:?}");
    // All keys together form a valid file, except for those that exclude each other.
    assert!(vega::keys().count() > 55 && vega::spring_keys().count() == 7);
}

#[test]
fn errors_point_at_the_line_and_say_what_would_be_right() {
    let cases = [
        ("*timestp\n0.1\n", "a.config:1:1: there is no key `timestp`; did you mean `timestep`?"),
        ("*timestep\n*g\n1\n", "a.config:1:1: `*timestep` has no value"),
        ("*timestep\n# 0.1\n", "a.config:1:1: `*timestep` has no value"),
        ("0.1\n", "a.config:1:1: a value without a key"),
        ("\n*\n1\n", "a.config:2:1: a `*` without a key"),
        ("*timestep\n  1o\n", "a.config:2:3: `timestep` is `1o`, expected a number"),
        ("*timestep\nnan\n", "a.config:2:1: `timestep` is `nan`, expected a number"),
        ("*timestep\n0.1 0.2\n", "a.config:2:1: `timestep` is `0.1 0.2`, expected a number"),
    ];
    for (text, expected) in cases {
        let error = refused(text);
        assert!(error.starts_with(expected), "{error}\nexpected {expected}");
    }
    let cases = [
        ("*solver\nimplicitNewmrk\n", "did you mean `implicitNewmark`?"),
        ("*deformableObjectMethod\nCFEM\n", "expected one of StVK, CLFEM, LinearFEM, InvertibleFEM"),
        ("*deformableObjectMethod\nInvertibleFEM\n", "InvertibleFEM needs `*invertibleMaterial`"),
        ("*corotationalLinearFEM_warp\n3\n*deformableObjectMethod\nCLFEM\n", "expected 0, 1 or 2"),
        ("*maxIterations\n1.5\n", "expected a whole number"),
        ("*addGravity\nmaybe\n", "expected 0 or 1"),
        ("*frequencyScaling\n0\n", "expected a positive number"),
        ("*dampingLaplacianCoef\n0.1\n", "damping by the Laplacian"),
        ("*massSpringSystemObjConfigFilename\na.massspring\n", "cloth and chains of springs are not supported yet"),
        ("*customMassSpringSystem\nchain,5,10\n", "cloth and chains of springs are not supported yet"),
        ("*massSpringSystemTetMeshConfigFilename\nlost.massspring\n", "lost.massspring"),
    ];
    for (text, expected) in cases {
        let error = refused(&format!("{BODY}{STEPS}{text}"));
        assert!(error.contains(expected), "{error}\nexpected {expected}");
        assert!(error.starts_with("a.config:1") && error.contains('^'), "no place: {error}");
    }
    assert_eq!(refused(STEPS), "a.config: the key `*volumetricMeshFilename` is missing");
    assert_eq!(refused(BODY), "a.config: the key `*timestep` is missing");
    let springs = files().and("a.massspring", "*tetMeshFilename\nbody.veg\n*tensileStiffness\n-1\n");
    let error =
        read_with(springs, &format!("{STEPS}*massSpringSystemTetMeshConfigFilename\na.massspring\n")).unwrap_err();
    assert!(error.starts_with("a.massspring:4:1: the stiffness is -1 N/m"), "{error}");
}

#[test]
fn errors_of_the_build_point_into_the_config_file() {
    let cases = [
        (format!("{STEPS}*volumetricMeshFilename\nlost.veg\n"), "a.config:10:1: ", "lost.veg"),
        (format!("{BODY}{STEPS}*timestep\n0\n"), "a.config:12:1: ", "the time step is 0 s"),
        (format!("{BODY}{STEPS}*timestep\n1e-300\n"), "a.config:12:1: ", "expected at most"),
        (format!("{BODY}{STEPS}*dampingMassCoef\n-1\n"), "a.config:12:1: ", "the mass damping"),
        (
            format!(
                "{BODY}{STEPS}*deformableObjectMethod\nInvertibleFEM\n*invertibleMaterial\nStVK\n*inversionThreshold\n2\n"
            ),
            "a.config:16:1: ",
            "threshold",
        ),
        (
            format!("{BODY}{STEPS}*deformableObjectMethod\nStVK\n*volumetricMeshFilename\nrivlin.veg\n"),
            "a.config:12:1: ",
            "Mooney",
        ),
        (format!("{BODY}{STEPS}*forceLoadsFilename\nfixed.bou\n"), "a.config:12:1: ", "a matrix of VegaFEM"),
        (format!("{BODY}{STEPS}*maxIterations\n3\n*epsilon\n0\n"), "a.config:14:1: ", "the tolerance is 0"),
    ];
    for (text, place, expected) in cases {
        let error = read_with(files(), &text).unwrap().build(&files()).unwrap_err().to_string();
        assert!(error.starts_with(place) && error.contains(expected), "{error}\nexpected {place}{expected}");
    }
}

#[test]
fn a_config_file_becomes_a_toml_file_of_the_same_scene() {
    let springs = || files().and("a.massspring", "*tetMeshFilename\nbody.veg\n*tensileStiffness\n50\n");
    let texts = [
        format!("{BODY}{STEPS}*addGravity\n1\n*fixedVerticesFilename\nfixed.bou\n*frequencyScaling\n1.1\n"),
        format!(
            "{BODY}{STEPS}*deformableObjectMethod\nInvertibleFEM\n*invertibleMaterial\nneoHookean\n*inversionThreshold\n0.1\n*newmarkBeta\n0.3\n"
        ),
        format!(
            "{BODY}{STEPS}*solver\nimplicitBackwardEuler\n*maxIterations\n4\n*secondaryRenderingMeshFilename\nskin.obj\n*substepsPerTimeStep\n3\n*forceLoadsFilename\nloads\n"
        ),
        format!(
            "{BODY}{STEPS}*deformableObjectMethod\nCLFEM\n*initialPositionFilename\nu\n*initialVelocityFilename\nv\n"
        ),
        format!("{STEPS}*massSpringSystemTetMeshConfigFilename\na.massspring\n"),
    ];
    for text in texts {
        let first = read_with(springs(), &text).unwrap();
        let written = first.scene.to_toml();
        let second = SceneFile::parse(Source::new("a.toml", written.clone()))
            .unwrap_or_else(|error| panic!("{error}\n{written}"));
        assert_eq!(first.scene, second.scene, "{written}");
    }
}

#[test]
fn cut_and_mutated_files_are_errors_and_never_panics() {
    let files = files().and("a.massspring", "*tetMeshFilename\nbody.veg\n*tensileStiffness\n50\n*addGravity\n1\n");
    let text = format!(
        "{BODY}{STEPS}*solver\nimplicitNewmark\n*fixedVerticesFilename\nfixed.bou\n*deformableObjectMethod\nCLFEM\n\
         *frequencyScaling\n1.5\n*secondaryRenderingMeshFilename\nskin.obj\n*forceLoadsFilename\nfixed.bou\n*newmarkBeta\n0.3\n**EOF\n"
    );
    let files = std::cell::RefCell::new(files);
    let attempt = |name: &str, bytes: &[u8]| {
        let all = files.take().and(name, bytes);
        match SceneFile::read(&all, Path::new("a.config")) {
            Ok(file) => drop(file.build(&all)),
            Err(error) => assert!(error.to_string().starts_with("a.")),
        }
        files.replace(all);
    };
    for end in 0..text.len() {
        attempt("a.config", &text.as_bytes()[..end]);
    }
    let mut random = fastrand::Rng::with_seed(7);
    let mut mutated = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            bytes[at] = *random.choice(b"0123456789.-e*#\n\r \xff\x00\xc3zN_").unwrap();
        }
        bytes
    };
    for _ in 0..2000 {
        attempt("a.config", &mutated(&text));
    }
    attempt("a.config", format!("{STEPS}*massSpringSystemTetMeshConfigFilename\na.massspring\n").as_bytes());
    for _ in 0..500 {
        attempt(
            "a.massspring",
            &mutated("*tetMeshFilename\nbody.veg\n*tensileStiffness\n50\n*density\n1\n*addGravity\n1\n"),
        );
    }
}

#[test]
fn the_page_for_users_of_vegafem_lists_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/migrating-from-vegafem.md");
    let page = std::fs::read_to_string(path).unwrap();
    for key in vega::keys().chain(vega::spring_keys()) {
        assert!(page.lines().any(|line| line.starts_with(&format!("| `{key}`"))), "the page does not list `{key}`");
    }
}
