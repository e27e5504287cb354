//! Scene files: their meaning, and errors of invalid ones.

use std::path::Path;

use pliant::files::Memory;
use pliant::io::{Mesh, WriteOptions, write_to};
use pliant::math::Vec3;
use pliant::mesh::{Cells, Faces, MaterialData, SurfaceMesh, VolumeMesh, generate};
use pliant_scene::scene::load::Steps;
use pliant_scene::scene::{SceneFile, Source};

fn parse(text: &str) -> Result<SceneFile, String> {
    SceneFile::parse(Source::new("a.toml", text)).map_err(|error| error.to_string())
}

fn build(text: &str) -> Result<pliant_scene::scene::Built, String> {
    parse(text)?.build(&Memory::default()).map_err(|error| error.to_string())
}

const BLOCK: &str = r#"
[[object]]
mesh = { box = { size = [1, 1, 1], cells = [2, 2, 2] } }
material = { young = "1 MPa", poisson = 0.3, density = 1000 }
"#;

const TIME: &str = "\n[simulation]\nstep = \"10 ms\"\nduration = 0.1\n";

#[test]
fn a_small_scene_is_what_it_says() {
    let built = build(&format!("{BLOCK}{TIME}")).unwrap();
    assert_eq!(built.steps, 10);
    assert_eq!(built.frame_every, 1, "what is short has as many frames as a second");
    let long = build(&format!("{BLOCK}\n[simulation]\nstep = \"10 ms\"\nduration = 3\n")).unwrap();
    assert_eq!(long.frame_every, 4, "25 frames per second are a whole number of steps, 30 are not");
    let model = built.simulation.model();
    assert_eq!(model.node_count(), 27);
    assert_eq!(model.gravity(), Vec3::new(0.0, -9.81, 0.0));
    assert_eq!(model.bodies()[0].name(), "object");
    assert_eq!(model.bodies()[0].densities(), [1000.0]);
    let up = build(&format!("up = \"z\"\n{BLOCK}{TIME}")).unwrap();
    assert_eq!(up.simulation.model().gravity(), Vec3::new(0.0, 0.0, -9.81));
}

#[test]
fn statics_without_gravity_need_no_density() {
    let light = BLOCK.replace(", density = 1000", "");
    let statics = format!("{light}{TIME}integrator = \"static\"\n");
    let built = build(&format!("gravity = [0, 0, 0]\n{statics}")).unwrap();
    assert_eq!(
        built.notes,
        [
            "the density of `object` is not given and is set to 1 kg/m³: equilibrium without gravity does not depend on it"
        ]
    );
    let load = "[[load]]\nvertices = \"x-max\"\n";
    for needs_mass in [
        statics.clone(),
        format!("gravity = [0, 0, 0]\n{light}{TIME}"),
        format!("gravity = [0, 0, 0]\n{statics}{load}kind.impulse = [1, 0, 0]\n"),
        format!("gravity = [0, 0, 0]\n{}", statics.replace("[[object]]", "[[object]]\nvelocity = [1, 0, 0]")),
    ] {
        let error = build(&needs_mass).map(|_| ()).unwrap_err();
        assert!(error.contains("the density of `object` is missing"), "{error}");
    }
    let file = parse(&format!("gravity = [0, 0, 0]\n{statics}")).unwrap();
    let model = file.model(&Memory::default()).map(|_| ()).unwrap_err().to_string();
    assert!(model.contains("the density of `object` is missing"), "modes depend on it: {model}");
}

#[test]
fn each_modulus_that_is_not_given_is_that_of_the_mesh_file() {
    let mut data = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap().into_data();
    data.regions[0].material = Some(MaterialData::isotropic("steel", 7800.0, 2e11, 0.3));
    let files = Memory::default();
    let mesh = Mesh::Volume(VolumeMesh::check(data).unwrap().mesh);
    write_to(&files, Path::new("a.veg"), &mesh, &WriteOptions::default()).unwrap();
    let moduli = |material: &str| {
        let text = format!("[[object]]\nmesh = \"a.veg\"\nmaterial = {{ {material} }}\n{TIME}");
        let moduli = parse(&text).unwrap().build(&files).unwrap().made_of[0].moduli.unwrap();
        (moduli.young, moduli.poisson)
    };
    assert_eq!(moduli(""), (2e11, 0.3));
    assert_eq!(moduli("young = 7e10"), (7e10, 0.3));
    assert_eq!(moduli("poisson = 0.25"), (2e11, 0.25));
}

#[test]
fn a_body_in_free_fall_falls() {
    let mut built = build(&format!("{BLOCK}velocity = [1, 0, 0]\nspin = [0, 0, 2]\n{TIME}")).unwrap();
    let before = built.simulation.observe();
    assert!((before.momentum - Vec3::new(1000.0, 0.0, 0.0)).length() < 1e-9, "{}", before.momentum);
    assert!((before.spin().z - 2.0 * 1000.0 / 6.0).abs() / before.spin().z < 0.2, "{}", before.spin());
    for _ in 0..built.steps {
        built.simulation.step().unwrap();
    }
    let after = built.simulation.observe();
    assert!((after.momentum - Vec3::new(1000.0, -981.0, 0.0)).length() < 1e-3, "{}", after.momentum);
    assert!((after.center_of_mass.x - before.center_of_mass.x - 0.1).abs() < 1e-6);
}

/// Checks the axial reaction of a cantilever bent by a pressure on its upper side: a follower load rotates with it.
#[test]
fn pressure_pushes_onto_faces_and_is_a_follower_load_unless_it_is_dead() {
    let reaction = |load: &str| {
        let mut built = build(&format!(
            "gravity = [0, 0, 0]\n[[object]]\nmesh = {{ box = {{ size = [1, 0.1, 0.1], cells = [10, 1, 1], elements = \"hex\" }} }}\n\
             material = {{ law = \"stvk\", young = \"1 MPa\", poisson = 0.3, density = 1000 }}\n\
             [simulation]\nintegrator = \"static\"\nstep = 1\nduration = 1\n[[fixed]]\nvertices = \"x-min\"\n\
             [[load]]\nvertices = \"y-max\"\n{load}"
        ))?;
        built.simulation.step().map_err(|error| error.to_string())?;
        let end = built.simulation.model().node_count() - 1;
        let sinks = built.simulation.state().q[3 * end + 1];
        let reactions = built.simulation.model().reactions(built.simulation.state());
        Ok::<_, String>((sinks, reactions.chunks_exact(3).map(Vec3::from_slice).sum::<Vec3>()))
    };
    let (sinks, usual) = reaction("kind.pressure = 100\n").unwrap();
    let (_, follower) = reaction("kind = { pressure = { value = 100, follower = true } }\n").unwrap();
    let (sinks_dead, dead) = reaction("kind = { pressure = { value = 100, follower = false } }\n").unwrap();
    assert!(sinks < -0.05 && sinks_dead < -0.05, "{sinks} {sinks_dead}");
    assert_eq!(usual, follower);
    // 100 Pa on 0.1 m².
    assert!((dead - Vec3::new(0.0, 10.0, 0.0)).length() < 1e-6, "{dead}");
    assert!(follower.x > 0.5 && follower.y < 10.0, "{follower}");
    let wrong = reaction("kind = { force = { value = [0, -1, 0], follower = true } }\n").unwrap_err();
    assert!(wrong.contains("there is no key `follower` here"), "{wrong}");
}

#[test]
fn objects_are_scaled_turned_and_moved_in_this_order() {
    let built = build(&format!(
        "{BLOCK}scale = [2, 1, 1]\nrotate = {{ axis = [0, 0, 3], angle = \"90 deg\" }}\ntranslate = [\"5 m\", 0, 0]\n{TIME}"
    ))
    .unwrap();
    let [low, high] = built.simulation.model().bodies()[0].mesh().bounding_box();
    assert!((low - Vec3::new(4.0, 0.0, 0.0)).length() < 1e-12, "{low}");
    assert!((high - Vec3::new(5.0, 2.0, 1.0)).length() < 1e-12, "{high}");
}

#[test]
fn errors_point_at_what_is_wrong_and_say_what_would_be_right() {
    let cases = [
        (
            "[simulation]\nstep = 0.01\nduraton = 1\n",
            "a.toml:3:1: there is no key `duraton` here; did you mean `duration`?",
        ),
        ("[simulation]\nstep = \"1 kg\"\nduration = 1\n", "a.toml:2:8: `kg` does not measure a time"),
        ("[simulation]\nstep = [1]\nduration = 1\n", "a.toml:2:8: invalid type: sequence, expected a time in s"),
        (
            "[simulation]\nstep = 1\nduration = 1\nintegrator = \"newmrk\"\n",
            "a.toml:4:14: there is no value `newmrk` here; did you mean `newmark`?",
        ),
        ("x = = 1", "a.toml:1:5:"),
        ("[simulation]\nstep = 1\nduration = nan\n", "a.toml:3:12: invalid value"),
    ];
    for (text, expected) in cases {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}\nexpected {expected}");
    }
    assert!(parse("[simulation]\nstep = 1\n").unwrap_err().contains("the key `duration` is missing"));
    let cases = [
        ("[[fixed]]\nvertices = \"x-mim\"\n", "there is no vertex set `x-mim`; did you mean `x-min`?"),
        ("[[fixed]]\nobject = \"objet\"\nvertices = \"x-min\"\n", "there is no object `objet`; did you mean `object`?"),
        ("[[fixed]]\nvertices = { indices = [99] }\n", "there is no vertex 99, expected numbers from 0 to 26"),
        ("[[fixed]]\nvertices = \"all\"\naxes = \"xq\"\n", "the axes are \"xq\""),
        (
            "[[fixed]]\nvertices = \"all\"\nmotion = { keyframes = [{ time = 1 }, { time = 0 }] }\n",
            "keyframe 1 is at 0 s",
        ),
        ("[[load]]\nvertices = \"x-max\"\n", "the key `kind` is missing"),
        ("[[load]]\nkind = \"force\"\n", "the key `value` is missing"),
        ("[[load]]\nkind = { push = 1 }\n", "there is no value `push` here. Expected one of force, traction, pressure"),
        ("[[load]]\nkind = { force = [0, nan, 0] }\n", "invalid value"),
        ("[[load]]\nkind = { force = 3 }\n", "invalid type: integer `3`"),
        ("[[load]]\nkind = { impulse = [1, 0, 0] }\nschedule = [[0, 1]]\n", "cannot have a `schedule`"),
        ("[[obstacle]]\nfriction = 0.5\n", "the key `shape` is missing"),
        ("[[obstacle]]\nshape = \"ball\"\n", "the key `center` is missing"),
        ("[[obstacle]]\nshape.plane = { normal = [0, 0, 0] }\n", "which has no direction"),
        ("[[probe]]\nname = \"total_energy\"\n", "invalid probe name \"total_energy\""),
        (
            "[[expect]]\nquantity = \"total_enrgy\"\nmax = 1\n",
            "there is no column `total_enrgy`; did you mean `total_energy`?",
        ),
        ("[[expect]]\nquantity = \"volume\"\nvalue = 1\n", "give one of `tolerance` and `relative`"),
        ("[[spring]]\nfrom = \"x-min\"\nto = { nearest = [0, 0, 0] }\nstiffness = 1\n", "9 vertices, expected one"),
        ("[damping]\nmass = -1\n", "the mass damping α is -1"),
        ("[[fixed]]\nvertices = { nearest = [0, 0, 0], set = \"x-min\" }\n", "unexpected key `set`"),
        ("[[fixed]]\nvertices = \"all\"\naxes = \"\"\n", "no axis, expected some of"),
        ("[[fixed]]\nvertices = { every = [] }\n", "an empty list, expected selections"),
        (
            "[[fixed]]\nvertices = \"x-min\"\n[[fixed]]\nvertices = \"y-min\"\n\
             motion = { keyframes = [{ time = 1, translate = [1, 0, 0] }] }\n",
            "is fixed here and by `[[fixed]]` 1 of 2, which has another motion",
        ),
        ("[[probe]]\nname = \"center_of_mass\"\n", "there would be two columns `center_of_mass.x`"),
        ("[output]\npicture = { size = [0, 0] }\n", "a picture of 0 × 0 pixels"),
        ("[output]\nrecord_every = -1\n", "expected a non-negative integer"),
    ];
    for (text, expected) in cases {
        let error = build(&format!("{BLOCK}{TIME}{text}")).unwrap_err();
        assert!(error.contains(expected), "{text}{error}");
        assert!(error.starts_with("a.toml:") && error.contains('^'), "no place: {error}");
    }
}

#[test]
fn wrong_materials_and_meshes_are_named_where_they_are() {
    let object =
        |lines: &str| build(&format!("[[object]]\nmesh = {{ ball = {{ radius = 1, across = 4 }} }}\n{lines}\n{TIME}"));
    let cases = [
        ("", "a.toml:2:8: the density of `object` is missing"),
        ("material = \"rubber\"", "a.toml:3:12: there is no material `rubber`"),
        ("material = { young = 1, poisson = 0.5, density = 1 }", "a.toml:3:35: Poisson's ratio is 0.5"),
        ("material = { young = -1, poisson = 0.4, density = 1 }", "a.toml:3:22: Young's modulus is -1"),
        ("material = { law = \"neohookean\", young = 1, poisson = 0.4, density = 1 }", "did you mean `neo-hookean`?"),
        (
            "material = { young = 1, density = 1 }",
            "`poisson` is missing: neither the material nor the mesh file gives it",
        ),
        ("material = { young = 1, poisson = 0.4, density = 0 }", "the density is 0 kg/m³"),
        (
            "material = { young = 1, poisson = 0.4, density = 1, tangent = \"warped\" }",
            "applies only to the law `corotational`",
        ),
        ("material = { young = 1, poisson = 0.4, density = 1, inversion_threshold = 0.1 }", "has no effect"),
        ("material = { formula = \"mu/2*(I1-3\", density = 1 }", "a.toml:3:24:"),
        (
            "material = { formula = \"I1\", young = 1, density = 1 }",
            "`young` has no effect: the formula defines the law",
        ),
        (
            "network = { stiffness = 1 }\nmaterial = { law = \"stvk\", density = 1 }",
            "`law` has no effect: this object has no elastic law",
        ),
        ("material = { youngs = 1 }", "there is no key `youngs` here; did you mean `young`?"),
    ];
    for (text, expected) in cases {
        let error = object(text).unwrap_err();
        assert!(error.contains(expected), "{error}\nexpected {expected}");
    }
    let mesh = |mesh: &str| build(&format!("[[object]]\nmesh = {mesh}\n{TIME}")).unwrap_err();
    assert!(mesh("\"nothing.veg\"").contains("nothing.veg"));
    assert!(mesh("{ box = { size = [1, 1, 1], cells = [100000, 100000, 100000] } }").contains("at most"));
    assert!(mesh("{ box = { size = [1, 1, 1], cells = [0, 1, 1] } }").contains("expected at least 1"));
    assert!(mesh("{ bax = 1 }").contains("did you mean `box`?"));
}

#[test]
fn a_scene_that_is_written_is_the_same_scene() {
    let text = format!(
        "title = \"All\"\ngravity = [0, 0, 0]\n[material.soft]\nyoung = 1e5\npoisson = 0.4\ndensity = 900\n{BLOCK}\
         start = {{ stretch = [1.5, 1, 1] }}\n\
         [[object]]\nname = \"ball\"\nmesh = {{ ball = {{ radius = \"20 cm\", across = 4, elements = \"tet6\" }} }}\nmaterial = \"soft\"\n\
         translate = [3, 0, 0]\n[[object.region]]\nname = \"core\"\nelements = {{ sphere = {{ center = [3, 0, 0], radius = 0.1 }} }}\n\
         material = {{ young = 1e6, poisson = 0.3, density = 2000 }}\n{TIME}\
         [[fixed]]\nobject = \"object-1\"\nvertices = \"x-min\"\naxes = \"x\"\n[[handle]]\nvertices = {{ nearest = [1, 1, 1] }}\nstiffness = 10\n\
         [[load]]\nobject = \"object-1\"\nvertices = \"x-max\"\nkind.traction = [\"1 kPa\", 0, 0]\nschedule = [[0, 0], [\"1 s\", 1]]\n\
         [[obstacle]]\nshape.plane = {{ point = [0, -1, 0] }}\n[[probe]]\nname = \"tip\"\nvertices = {{ nearest = [1, 1, 1] }}\n\
         [[expect]]\nquantity = \"tip.x\"\nmin = 0\n[output]\nformats = [\"vtu\", \"glb\"]\n"
    );
    let first = parse(&text).unwrap();
    let second = parse(&first.scene.to_toml()).unwrap_or_else(|error| panic!("{error}\n{}", first.scene.to_toml()));
    assert_eq!(first.scene, second.scene);
    let built = second.build(&Memory::default()).unwrap();
    let bodies = built.simulation.model().bodies();
    assert_eq!(bodies.iter().map(pliant::model::ModelBody::name).collect::<Vec<_>>(), ["object-1", "ball"]);
    assert_eq!(bodies[1].densities(), [900.0, 2000.0]);
    assert!(built.recorder.columns().ends_with(&["tip.x".into(), "tip.y".into(), "tip.z".into()]));
}

#[test]
fn the_page_about_the_format_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene-format.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page == pliant_scene::scene::reference(), "run `pliant scene reference > docs/scene-format.md`");
}

#[test]
fn cut_and_mutated_scenes_are_errors_and_never_panics() {
    let text =
        format!("{BLOCK}{TIME}[[fixed]]\nvertices = {{ box = {{ from = [0, 0, 0], to = [1, \"50 cm\", 1] }} }}\n");
    for end in 0..text.len() {
        if let Ok(file) = parse(&text[..end]) {
            drop(file.build(&Memory::default()));
        }
    }
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..3000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            bytes[at] = *random.choice(b"0123456789.-e\"[]{}=,\n xyzN/").unwrap();
        }
        if let Ok(file) = parse(&String::from_utf8(bytes).unwrap()) {
            // Very large scenes are rejected, but a large number is not always an error.
            drop(file.build(&Memory::default()));
        }
    }
}

#[test]
fn the_surface_of_all_objects_is_that_of_each_whether_it_has_a_name_or_not() {
    let ball = "[[object]]\nmesh = { ball = { radius = 0.5, across = 4 } }\ntranslate = [3, 0, 0]\n\
                material = { young = 1e6, poisson = 0.3, density = 1000 }\n";
    let fixed = "[[fixed]]\nvertices = \"surface\"\n";
    let built = build(&format!("{BLOCK}{ball}{TIME}{fixed}")).unwrap();
    let model = built.simulation.model();
    let boundaries: usize = model.bodies().iter().map(|body| body.mesh().boundary().vertices.len()).sum();
    assert_eq!(model.fixed()[0].vertices.len(), boundaries);
}

#[test]
fn an_impulse_on_a_free_body_moves_it_as_a_whole() {
    let kick = "[[load]]\nkind.impulse = [100, 0, 0]\n";
    let mut built = build(&format!("gravity = [0, 0, 0]\n{BLOCK}{TIME}{kick}")).unwrap();
    let seen = built.simulation.observe();
    // p² / 2m with 1000 kg.
    assert!((seen.momentum.x - 100.0).abs() < 1e-9 && (seen.kinetic_energy - 5.0).abs() < 1e-9, "{seen:?}");
}

#[test]
fn a_list_that_is_too_long_is_named() {
    let scene = |gravity: &str, translate: &str| {
        let object = "mesh = { ball = { radius = 1 } }\nmaterial = { young = 1e5, poisson = 0.3, density = 1000 }\n";
        let simulation = "[simulation]\nstep = 0.01\nduration = 0.1\n";
        parse(&format!(
            "gravity = {gravity}\n{simulation}[[object]]\n{object}[[object]]\n{object}translate = {translate}\n"
        ))
    };
    assert!(scene("[0, -9.81, 0]", "[0, \"5 cm\", 0]").is_ok());
    let error = scene("[0, -9.81, 0, 5]", "[0, 0, 0]").unwrap_err();
    assert!(error.contains("`gravity` has 4 entries, expected 3"), "{error}");
    let error = scene("[0, -9.81, 0]", "[0, 0, 0, \"x\", 1]").unwrap_err();
    assert!(error.contains("`object[1].translate` has 5 entries, expected 3"), "{error}");
    for (text, message) in [
        (
            "[[load]]\nkind = { force = { value = [1, 0, 0, 7] } }\n",
            "`load[0].kind.force.value` has 4 entries, expected 3",
        ),
        ("[[load]]\nkind = { force = [1, 0, 0, 7] }\n", "invalid length 4"),
        (
            "[[obstacle]]\nshape = { plane = { point = [0, 0, 0, 7] } }\n",
            "`obstacle[0].shape.plane.point` has 4 entries, expected 3",
        ),
    ] {
        let error = parse(&format!("{BLOCK}{TIME}{text}")).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn loads_that_go_by_steps_keep_their_times_at_another_step() {
    let text = format!(
        "{BLOCK}{TIME}[[load]]\nkind.steps = \"forces.npy\"\n[[load]]\nkind.steps = {{ file = \"forces.npy\", interval = 0.5 }}\n"
    );
    let mut scene = parse(&text).unwrap().scene;
    let step = scene.simulation.step.si;
    scene.set_step(0.1 * step);
    let intervals: Vec<f64> =
        scene.loads.iter().map(|load| load.kind.options::<Steps>().unwrap().interval.unwrap().si).collect();
    assert_eq!((scene.simulation.step.si, intervals), (0.1 * step, vec![step, 0.5]));
}

#[test]
fn a_scene_that_asks_for_a_reduced_model_gets_one_whoever_makes_it() {
    let fixed = "[[fixed]]\nvertices = \"x-min\"\n";
    let scene = parse(&format!("reduced = {{ size = 5 }}\n{BLOCK}{TIME}{fixed}")).unwrap();
    let files = Memory::default();
    let before = scene.reduction(&files).unwrap();
    assert!(before.is_some());
    for reduction in [None, before] {
        let simulation = scene.build_with(&files, reduction).unwrap().simulation;
        assert_eq!(simulation.reduced_model().map(|reduced| reduced.basis().size()), Some(5));
    }
    assert!(parse(&format!("{BLOCK}{TIME}{fixed}")).unwrap().reduction(&files).unwrap().is_none());
}

/// Checks a load on top and bottom of a plate one element thick, which contain all its vertices: 0.4 m² of 0.52 m².
#[test]
fn a_load_on_a_face_set_acts_on_exactly_its_faces() {
    for (cells, file) in [(Cells::Tet5, "plate.msh"), (Cells::Hex, "plate.inp"), (Cells::Tet6, "plate.vtu")] {
        let mut data = generate::block([1.0, 0.2, 0.05], [10, 2, 1], cells).unwrap().into_data();
        let sides = ["z-min", "z-max"].map(|name| data.face_sets[name].clone());
        data.face_sets = [("both".into(), sides.concat()), ("top".into(), sides[1].clone())].into();
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let files = Memory::default();
        write_to(&files, Path::new(file), &mesh, &WriteOptions::default()).unwrap();
        // A free body gains the momentum F Δt.
        let force = |load: &str| -> Result<Vec3, String> {
            let text = format!(
                "gravity = [0, 0, 0]\n[[object]]\nmesh = \"{file}\"\nmaterial = {{ young = \"1 MPa\", poisson = 0.3, density = 1000 }}\n\
                 [[load]]\n{load}\n{TIME}"
            );
            let mut built = parse(&text)?.build(&files).map_err(|error| error.to_string())?;
            built.simulation.step().map_err(|error| error.to_string())?;
            Ok(built.simulation.observe().momentum / 0.01)
        };
        let along_y = |load: &str, expected: f64| {
            let found = force(load).unwrap();
            assert!((found - expected * Vec3::Y).length() < 1e-4, "{file}, {load}: {found}, expected {expected}");
        };
        along_y("vertices = \"both\"\nkind.traction = [0, 1, 0]", 0.4);
        along_y("faces = \"both\"\nkind.traction = [0, 1, 0]", 0.4);
        along_y("faces = \"top\"\nkind.traction = [0, 1, 0]", 0.2);
        along_y("vertices = { set = \"both\" }\nkind.traction = [0, 1, 0]", 0.4);
        along_y("vertices = { not = \"both\" }\nkind.traction = [0, 1, 0]", 0.12);
        along_y("vertices = { every = [\"both\", \"top\"] }\nkind.traction = [0, 1, 0]", 0.2);
        along_y("vertices = { any = [\"top\", \"z-min\"] }\nkind.traction = [0, 1, 0]", 0.4);
        along_y("vertices = \"surface\"\nkind.traction = [0, 1, 0]", 0.52);
        along_y("vertices = \"x-min\"\nkind.traction = [0, 1, 0]", 0.01);
        along_y("faces = \"top\"\nkind.force = [0, 3, 0]", 3.0);
        assert!(force("faces = \"both\"\nkind.pressure = 1").unwrap().length() < 1e-4, "top and bottom cancel");
        assert!((force("faces = \"top\"\nkind.pressure = 1").unwrap().z.abs() - 0.2).abs() < 1e-4);
        let both = force("faces = \"top\"\nvertices = \"top\"\nkind.pressure = 1").unwrap_err();
        assert!(both.contains("both `vertices` and `faces`, expected one of them"), "{both}");
        let none = force("faces = { indices = [0] }\nkind.pressure = 1").unwrap_err();
        assert!(none.contains("none of the") && none.contains("among the 1 given"), "{none}");
    }
}

/// Returns true if a value conforms to a JSON schema, restricted to the keywords that ours uses.
fn is_valid(schema: &serde_json::Value, root: &serde_json::Value, value: &serde_json::Value) -> bool {
    use serde_json::Value;
    if let Some(name) = schema["$ref"].as_str() {
        return is_valid(root.pointer(&name[1..]).unwrap(), root, value);
    }
    let list = |key: &str| schema[key].as_array().map(Vec::as_slice);
    let matches = |one: &Value| is_valid(one, root, value);
    let has_type = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    let types = match &schema["type"] {
        Value::String(one) => has_type(one),
        Value::Array(several) => several.iter().any(|one| has_type(one.as_str().unwrap())),
        _ => true,
    };
    let bound = |key: &str, holds: fn(f64, f64) -> bool| match (value.as_f64(), schema[key].as_f64()) {
        (Some(value), Some(bound)) => holds(value, bound),
        _ => true,
    };
    let numbers = bound("minimum", |x, low| x >= low)
        && bound("maximum", |x, high| x <= high)
        && bound("exclusiveMinimum", |x, low| x > low)
        && bound("exclusiveMaximum", |x, high| x < high);
    let texts = value.as_str().is_none_or(|text| {
        let pattern = schema["pattern"].as_str();
        pattern.is_none_or(|pattern| regex_lite::Regex::new(pattern).unwrap().is_match(text))
            && schema["minLength"].as_u64().is_none_or(|least| text.len() as u64 >= least)
    });
    let lists = value.as_array().is_none_or(|items| {
        let count = items.len() as u64;
        let first = list("prefixItems").unwrap_or_default();
        schema["minItems"].as_u64().is_none_or(|least| count >= least)
            && schema["maxItems"].as_u64().is_none_or(|most| count <= most)
            && first.iter().zip(items).all(|(schema, item)| is_valid(schema, root, item))
            && (!schema["items"].is_object() || items.iter().all(|item| is_valid(&schema["items"], root, item)))
    });
    let tables = value.as_object().is_none_or(|map| {
        let known = |key: &str| schema["properties"].get(key);
        let others = &schema["additionalProperties"];
        list("required").unwrap_or_default().iter().all(|key| map.contains_key(key.as_str().unwrap()))
            && map.iter().all(|(key, value)| match known(key) {
                Some(schema) => is_valid(schema, root, value),
                None if others.is_object() => is_valid(others, root, value),
                None => *others != Value::Bool(false),
            })
    });
    types
        && numbers
        && texts
        && lists
        && tables
        && list("enum").is_none_or(|values| values.contains(value))
        && schema.get("const").is_none_or(|one| one == value)
        && list("anyOf").is_none_or(|several| several.iter().any(matches))
        && list("allOf").is_none_or(|several| several.iter().all(matches))
        && list("oneOf").is_none_or(|several| several.iter().filter(|one| matches(one)).count() == 1)
}

fn fits_schema(text: &str) -> bool {
    let schema = pliant_scene::scene::schema();
    is_valid(&schema, &schema, &toml::from_str(text).unwrap())
}

#[test]
fn the_schema_accepts_every_scene_of_the_repository() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    for entry in
        folder.read_dir().unwrap().flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "toml"))
    {
        assert!(fits_schema(&std::fs::read_to_string(entry.path()).unwrap()), "{}", entry.path().display());
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn the_bounds_of_the_schema_are_those_of_the_parser() {
    let base = format!("{BLOCK}{TIME}[output]\nframe_rate = 10\n");
    let spring = "[[spring]]\nfrom = { indices = [0] }\nto = { indices = [26] }\n";
    let handle = "[[handle]]\nvertices = \"x-min\"\n";
    let solid = |solid: &str| format!("{{ filled = {{ cells = 4, of = {{ {solid} }} }} }}");
    let cube = "{ box = { size = [1, 1, 1], cells = [2, 2, 2] } }";
    let lengths: &[&str] = &["1", "0", "-1", "\"1 cm\"", "\"0 m\"", "\"-1 cm\"", "\"1/2 m\""];
    let not_negative: &[&str] = &["0", "1", "-1", "-0.5"];
    let fractions: &[&str] = &["0.5", "0", "1", "1.5", "-0.1", "1e-9"];
    let counts: &[&str] = &["1", "0", "-1", "1.5", "2"];
    // Old text, new text, and the values for `?`.
    let cases: Vec<(&str, String, &[&str])> = vec![
        (
            "\"10 ms\"",
            "?".into(),
            &[
                "0.01",
                "0",
                "-1",
                "\"1/60 s\"",
                "\"0 s\"",
                "\"-1 ms\"",
                "\"-1/-60 s\"",
                "\"5 cm\"",
                "\"5\"",
                "\"1 Ms\"",
                "true",
            ],
        ),
        ("duration = 0.1", "duration = ?".into(), &["0", "0.1", "-0.1", "\"0 s\"", "\"-1 s\"", "\"-0 s\"", "\"0.1s\""]),
        ("duration = 0.1", "duration = 0.1\nsolver = { stale-factor = { tolerance = ? } }".into(), fractions),
        ("duration = 0.1", "duration = 0.1\nsolver = { block-jacobi = { iterations = ? } }".into(), counts),
        ("duration = 0.1", "duration = 0.1\nrestart_every = ?".into(), counts),
        (
            "duration = 0.1",
            "duration = 0.1\nintegrator = { backward-euler = { newton = { iterations = ? } } }".into(),
            counts,
        ),
        (
            "duration = 0.1",
            "duration = 0.1\nintegrator = { backward-euler = { newton = { tolerance = ? } } }".into(),
            fractions,
        ),
        ("duration = 0.1", "duration = 0.1\nintegrator = { newmark = { beta = ? } }".into(), &["0.25", "0", "-0.1"]),
        ("duration = 0.1", "duration = 0.1\nintegrator = { newmark = { gamma = ? } }".into(), not_negative),
        ("duration = 0.1", "duration = 0.1\nintegrator = { regularized = { damping_time = ? } }".into(), not_negative),
        (
            "\"1 MPa\"",
            "?".into(),
            &["1e6", "0", "-1", "\"1 kPa\"", "\"-1 kPa\"", "\"2 N/mm^2\"", "\"1 Mpa\"", "\"1 m\""],
        ),
        ("0.3", "?".into(), &["0.3", "0.5", "0.499", "-1", "-0.9", "0", "0.6"]),
        ("1000", "?".into(), &["1000", "0", "-1", "\"1 g/cm^3\"", "\"0 g/cm^3\"", "\"1 g\""]),
        ("1000", "1000, compression_resistance = ?".into(), &["0", "500", "-1", "1e9", "1.001e9", "1e308"]),
        ("1000", "1000, inversion = \"clamp\", inversion_threshold = ?".into(), fractions),
        ("[1, 1, 1]", "[?, 1, 1]".into(), lengths),
        ("[2, 2, 2]", "[?, 2, 2]".into(), counts),
        (cube, "{ beam = { length = ?, height = 1, width = 1 } }".into(), lengths),
        (cube, "{ beam = { length = 1, height = 1, width = 1, across = ? } }".into(), counts),
        (cube, "{ ball = { radius = ? } }".into(), lengths),
        (cube, "{ ball = { radius = 1, across = ? } }".into(), &["2", "3", "4", "0"]),
        (cube, "{ cylinder = { radius = 1, height = 1, across = ?, layers = 2 } }".into(), &["2", "3", "4", "0"]),
        (cube, "{ cylinder = { radius = 1, height = 1, layers = ? } }".into(), counts),
        (
            cube,
            "{ torus = { ring_radius = 1, tube_radius = 0.3, sectors = ?, elements = \"hex\" } }".into(),
            &["2", "3", "12"],
        ),
        (cube, "{ filled = { of = { ball = { radius = 1 } }, cells = ? } }".into(), &["1", "2", "8", "0"]),
        (cube, solid("ball = { radius = ? }"), lengths),
        (cube, solid("capsule = { start = [0, 0, 0], end = [0.01, 0, 0], radius = ? }"), lengths),
        (cube, solid("rounded-box = { size = [1, 1, 1], radius = ? }"), &["0", "0.1", "-0.1"]),
        (
            "frame_rate = 10",
            "frame_rate = ?".into(),
            &["10", "0", "-1", "\"30 Hz\"", "\"0 Hz\"", "\"-2/s\"", "\"24/s\""],
        ),
        ("frame_rate = 10", "record_every = ?".into(), counts),
        ("frame_rate = 10", "directory = ?".into(), &["\"out/x\"", "\"\""]),
        ("frame_rate = 10", "picture = { size = [?, 600] }".into(), &["1", "0", "5000", "5001"]),
        ("frame_rate = 10", "picture = { play_rate = ? }".into(), &["10", "0", "-1"]),
        ("frame_rate = 10", "picture = { view = { distance = ? } }".into(), lengths),
        (
            "[output]",
            "[[fixed]]\nvertices = \"x-min\"\naxes = ?\n[output]".into(),
            &["\"x\"", "\"zyx\"", "\"\"", "\"a\"", "\"xx\""],
        ),
        ("[output]", format!("{handle}stiffness = ?\n[output]"), not_negative),
        ("[output]", format!("{handle}stiffness = 1\ndamping = ?\n[output]"), not_negative),
        ("[output]", format!("{spring}stiffness = ?\n[output]"), not_negative),
        ("[output]", format!("{spring}stiffness = 1\ndamping = ?\n[output]"), not_negative),
        ("[output]", format!("{spring}stiffness = 1\nlength = ?\n[output]"), not_negative),
        ("[output]", "[[obstacle]]\nshape.plane = {}\nstiffness = ?\n[output]".into(), not_negative),
        ("[output]", "[[obstacle]]\nshape.plane = {}\ndamping = ?\n[output]".into(), not_negative),
        ("[output]", "[[obstacle]]\nshape.plane = {}\nfriction = ?\n[output]".into(), not_negative),
        ("[output]", "[[obstacle]]\nshape.plane = {}\nfriction_speed = ?\n[output]".into(), &["1", "0", "-1"]),
        ("[output]", "[[obstacle]]\nshape.ball = { center = [0, -9, 0], radius = ? }\n[output]".into(), lengths),
        ("[output]", "[damping]\nmass = ?\n[output]".into(), not_negative),
        ("[output]", "[damping]\nstiffness = ?\n[output]".into(), not_negative),
        ("[output]", "[[probe]]\nname = ?\n[output]".into(), &["\"tip\"", "\"a b\"", "\"\"", "\"é.1-_\""]),
        (
            "[output]",
            "[[probe]]\nname = \"p\"\nvertices = { sphere = { center = [0, 0, 0], radius = ? } }\n[output]".into(),
            &["1", "0", "-1"],
        ),
        ("density = 1000 }", "density = 1000 }\nrefine = ?".into(), &["0", "1", "9", "-1"]),
        ("density = 1000 }", "density = 1000 }\nnetwork = { stiffness = ? }".into(), &["-1"]),
    ];
    assert!(fits_schema(&base) && build(&base).is_ok());
    for (old, new, values) in cases {
        assert!(base.contains(old), "{old}");
        for value in values {
            let text = base.replacen(old, &new.replace('?', value), 1);
            let built = build(&text);
            assert_eq!(fits_schema(&text), built.is_ok(), "{new} with {value}: {:?}", built.err());
        }
    }
}

/// Writes flat letters next to each other, each a separate box, 0.2 m thick, with their lowest points at height 0.1.
fn letters(files: &Memory) {
    let (mut places, mut faces) = (Vec::new(), Faces::default());
    for x in [0.0, 1.1, 2.2] {
        let first = places.len() as u32;
        for corner in 0..8 {
            let [i, j, k] = [corner & 1, corner >> 1 & 1, corner >> 2].map(f64::from);
            places.push(Vec3::new(x + 0.8 * i, 0.1 + 0.2 * j, 0.6 * k));
        }
        for face in [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]] {
            faces.push(&face.map(|corner: u32| first + corner));
        }
    }
    let surface = SurfaceMesh::new(places, faces).unwrap();
    assert!((surface.enclosed_volume() - 3.0 * 0.8 * 0.2 * 0.6).abs() < 1e-12);
    write_to(files, Path::new("letters.obj"), &surface, &WriteOptions::default()).unwrap();
}

#[test]
fn letters_in_a_cage_come_to_rest_on_the_ground_and_do_not_hover() {
    let files = Memory::default();
    letters(&files);
    for mesh in
        ["cage = { surface = \"letters.obj\", cells = 10 }", "voxels = { surface = \"letters.obj\", cells = 10 }"]
    {
        let text = format!(
            r#"
[[object]]
mesh = {{ {mesh} }}
material = {{ young = "1 MPa", poisson = 0.3, density = 1000 }}
[[obstacle]]
shape.plane = {{}}
friction = 0.3
[damping]
mass = 4
stiffness = 0.02
[simulation]
integrator = "backward-euler"
step = 0.02
duration = 1.6
"#
        );
        let mut built = parse(&text).unwrap().build(&files).unwrap();
        for _ in 0..built.steps {
            built.simulation.step().unwrap();
        }
        let (surface, embedding) = built.skins[0].as_ref().unwrap();
        let at_rest = built.simulation.model().positions(built.simulation.state());
        let mut places = surface.vertices().to_vec();
        embedding.interpolate(&at_rest, &mut places);
        let lowest = places.iter().map(|place| place.y).fold(f64::INFINITY, f64::min);
        let speed = built.simulation.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        assert!(speed < 0.02, "it still moves at {speed} m/s");
        // They penetrate only as far as their weight requires: a hundredth of their thickness.
        assert!((-0.002..0.001).contains(&lowest), "the lowest point is at {lowest} m");
        // The cage itself is below the ground.
        assert!(mesh.starts_with("voxels") || at_rest.iter().any(|place| place.y < -0.01));
    }
}

#[test]
fn a_cage_reports_fused_pieces_and_triangles_too_large_to_bend() {
    let files = Memory::default();
    letters(&files);
    let notes = |cells: u32| {
        let text = format!(
            "{BLOCK}{TIME}",
            BLOCK = BLOCK.replace(
                "box = { size = [1, 1, 1], cells = [2, 2, 2] }",
                &format!("cage = {{ surface = \"letters.obj\", cells = {cells} }}")
            )
        );
        parse(&text).unwrap().build(&files).unwrap().notes.join("\n")
    };
    let coarse = notes(7);
    for part in [
        "3 separate pieces of the surface are joined into 1 body",
        "% of the surface is around features thinner than a cell of",
        "about 0.2 m: they bend and stretch with whole cells",
    ] {
        assert!(coarse.contains(part), "{part}: {coarse}");
    }
    let fine = notes(40);
    assert!(!fine.contains("are joined into") && !fine.contains("thinner than a cell"), "{fine}");
    for part in [
        "the surface is too coarse to show bending: its triangles are up to 1 m long",
        "bodies do not collide with each other without `[contact]`: the 3 separate pieces of `object`",
    ] {
        assert!(fine.contains(part), "{part}: {fine}");
    }
}

#[test]
fn a_skin_of_a_part_of_its_mesh_leaves_contact_to_the_mesh_and_the_gap_is_reported() {
    let skinned = |height: f64| {
        let skin = format!("skin = {{ mesh = {{ box = {{ size = [1, {height}, 1], cells = [4, 4, 4] }} }} }}\n");
        let block = BLOCK.replace("cells = [2, 2, 2]", "cells = [8, 8, 8]");
        build(&format!("{block}{skin}[[obstacle]]\nshape.plane = {{}}\n{TIME}")).unwrap().notes
    };
    assert_eq!(skinned(0.9), Vec::<String>::new());
    let notes = skinned(0.4);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("contact acts on the mesh of `object` and not on its skin"), "{notes:?}");
    assert!(notes[0].contains("ends up to 0.6 m inside it"), "{notes:?}");
}

#[test]
fn balls_smaller_than_the_gaps_between_vertices_are_reported_before_the_run() {
    let notes = |cells: u32, radius: f64| {
        let block = BLOCK.replace("[2, 2, 2]", &format!("[{cells}, {cells}, {cells}], elements = \"hex\""));
        build(&format!("{block}[[obstacle]]\nshape.ball = {{ center = [0.5, -0.5, 0.5], radius = {radius} }}\n{TIME}"))
            .unwrap()
            .notes
    };
    let small = notes(4, 0.08);
    assert_eq!(small.len(), 1, "{small:?}");
    let said = "obstacle 1 of 1: a ball of radius 0.08 m passes between points up to 0.25 m apart: contact acts on \
                points of `object`, not on its faces; make its cells 4 times smaller, or the ball larger";
    assert_eq!(small[0], said);
    let larger = notes(4, 0.2);
    assert!(larger[0].contains("sinks in by up to 0.1065 m between points up to 0.25 m apart"), "{larger:?}");
    assert_eq!((notes(4, 0.3), notes(16, 0.08)), (vec![], vec![]));
}

#[test]
fn bodies_that_could_meet_each_other_or_themselves_are_reported() {
    let two = build(&format!("{BLOCK}{BLOCK}translate = [0, 2, 0]\n{TIME}")).unwrap().notes;
    assert_eq!(
        two,
        ["bodies do not collide with each other without `[contact]`: `object-1`, `object-2` pass through one another"]
    );
    let rod = BLOCK.replace("size = [1, 1, 1], cells = [2, 2, 2]", "size = [2, 0.1, 0.1], cells = [8, 1, 1]");
    let floor = "[[obstacle]]\nshape.plane = { point = [0, -1, 0] }\n";
    let folding = build(&format!("{rod}{floor}{TIME}")).unwrap().notes;
    let expected = "nor with themselves: `object` is slender, with a bounding box 2 m long, and if it folds";
    assert!(folding[0].contains(expected), "{folding:?}");
    let bar = rod.replace("[2, 0.1, 0.1]", "[1, 0.1, 0.1]");
    assert_eq!(build(&format!("{bar}{floor}{TIME}")).unwrap().notes, Vec::<String>::new(), "a beam is not slender");
    let still = format!("{rod}{floor}{TIME}integrator = \"static\"\n");
    assert_eq!(build(&still).unwrap().notes, Vec::<String>::new(), "nothing folds in statics");
    assert_eq!(build(&format!("{rod}{TIME}")).unwrap().notes, Vec::<String>::new(), "nothing would fold it");
    assert_eq!(build(&format!("{BLOCK}{floor}{TIME}")).unwrap().notes, Vec::<String>::new(), "a cube does not fold");
}

#[test]
fn a_law_with_a_second_minimum_is_reported() {
    let notes = |poisson: f64, law: &str| {
        let material = format!("material = {{ law = \"{law}\", young = 1e6, poisson = {poisson}, density = 1000 }}\n");
        let object = "[[object]]\nmesh = { box = { size = [1, 1, 1], cells = [2, 2, 2] } }\n";
        parse(&format!("{object}{material}{TIME}")).unwrap().build(&Memory::default()).unwrap().notes.join("\n")
    };
    assert!(notes(-0.9, "stable-neo-hookean").contains("has a second minimum"));
    for (poisson, law) in [(-0.2, "stable-neo-hookean"), (-0.9, "corotational")] {
        assert_eq!(notes(poisson, law), "");
    }
}
