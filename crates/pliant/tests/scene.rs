//! Scene files: what they mean, and what is said of those that mean nothing.

use std::path::Path;

use pliant::io::Memory;
use pliant::math::Vec3;
use pliant::scene::{SceneFile, Source};

fn parse(text: &str) -> Result<SceneFile, String> {
    SceneFile::parse(Source::new("a.toml", text)).map_err(|error| error.to_string())
}

fn build(text: &str) -> Result<pliant::scene::Built, String> {
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
    assert_eq!(long.frame_every, 3);
    let model = built.simulation.model();
    assert_eq!(model.vertex_count(), 27);
    assert_eq!(model.gravity(), Vec3::new(0.0, -9.81, 0.0));
    assert_eq!(model.bodies()[0].name(), "object");
    assert_eq!(model.bodies()[0].densities(), [1000.0]);
    let up = build(&format!("up = \"z\"\n{BLOCK}{TIME}")).unwrap();
    assert_eq!(up.simulation.model().gravity(), Vec3::new(0.0, 0.0, -9.81));
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
    assert!((after.centre_of_mass.x - before.centre_of_mass.x - 0.1).abs() < 1e-6);
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
            "[simulation]\nstep = 1\nduration = 1\nscheme = \"newmrk\"\n",
            "a.toml:4:10: there is no value `newmrk` here; did you mean `newmark`?",
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
        ("[[hold]]\nvertices = \"x-mim\"\n", "there is no vertex set `x-mim`; did you mean `x-min`?"),
        ("[[hold]]\nobject = \"objet\"\nvertices = \"x-min\"\n", "there is no object `objet`; did you mean `object`?"),
        ("[[hold]]\nvertices = { indices = [99] }\n", "there is no vertex 99, expected numbers from 0 to 26"),
        ("[[hold]]\nvertices = \"all\"\naxes = \"xq\"\n", "the axes are \"xq\""),
        (
            "[[hold]]\nvertices = \"all\"\nmotion = { keyframes = [{ time = 1 }, { time = 0 }] }\n",
            "keyframe 1 is at 0 s",
        ),
        ("[[load]]\nvertices = \"x-max\"\n", "0 of force, traction, pressure, impulse and steps"),
        ("[[obstacle]]\nfriction = 0.5\n", "expected one of plane, ball and hollow_ball"),
        ("[[obstacle]]\nplane = { normal = [0, 0, 0] }\n", "which has no direction"),
        ("[[probe]]\nname = \"total_energy\"\n", "a probe cannot be called \"total_energy\""),
        (
            "[[expect]]\nquantity = \"total_enrgy\"\nmost = 1\n",
            "there is no column `total_enrgy`; did you mean `total_energy`?",
        ),
        ("[[expect]]\nquantity = \"volume\"\nvalue = 1\n", "give one of `tolerance` and `relative`"),
        ("[[spring]]\nfrom = \"x-min\"\nto = { nearest = [0, 0, 0] }\nstiffness = 1\n", "9 vertices, expected one"),
        ("[damping]\nmass = -1\n", "the mass damping α is -1"),
        ("[[hold]]\nvertices = { nearest = [0, 0, 0], set = \"x-min\" }\n", "the key `set` is one too many here"),
        ("[[hold]]\nvertices = \"all\"\naxes = \"\"\n", "no axis, expected some of"),
        ("[[hold]]\nvertices = { every = [] }\n", "an empty list, expected selections"),
        (
            "[[hold]]\nvertices = \"x-min\"\n[[hold]]\nvertices = \"y-min\"\n\
             motion = { keyframes = [{ time = 1, translate = [1, 0, 0] }] }\n",
            "is held here, and by hold 1 (from 1), which moves it otherwise",
        ),
        ("[[probe]]\nname = \"centre_of_mass\"\n", "there would be two columns `centre_of_mass.x`"),
        ("[output]\npicture = { size = [0, 0] }\n", "a picture of 0 × 0 pixels"),
        ("[output]\nrecord_every = -1\n", "expected a whole number that is not negative"),
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
        ("material = { young = 1, density = 1 }", "beside `young`, `poisson` is needed"),
        ("material = { young = 1, poisson = 0.4, density = 0 }", "the density is 0 kg/m³"),
        ("material = { young = 1, poisson = 0.4, density = 1, tangent = \"warped\" }", "only corotational has"),
        ("material = { young = 1, poisson = 0.4, density = 1, inversion_threshold = 0.1 }", "does nothing"),
        ("material = { formula = \"mu/2*(I1-3\", density = 1 }", "a.toml:3:24:"),
        ("material = { formula = \"I1\", young = 1, density = 1 }", "`young` would do nothing: the formula is the law"),
        (
            "network = { stiffness = 1 }\nmaterial = { law = \"stvk\", density = 1 }",
            "`law` would do nothing: an elastic law does not hold this object together",
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
         translate = [3, 0, 0]\n[[object.region]]\nname = \"core\"\nelements = {{ sphere = {{ centre = [3, 0, 0], radius = 0.1 }} }}\n\
         material = {{ young = 1e6, poisson = 0.3, density = 2000 }}\n{TIME}\
         [[hold]]\nobject = \"object-1\"\nvertices = \"x-min\"\naxes = \"x\"\n[[handle]]\nvertices = {{ nearest = [1, 1, 1] }}\nstiffness = 10\n\
         [[load]]\nobject = \"object-1\"\nvertices = \"x-max\"\ntraction = [\"1 kPa\", 0, 0]\nschedule = [[0, 0], [\"1 s\", 1]]\n\
         [[obstacle]]\nplane = {{ point = [0, -1, 0] }}\n[[probe]]\nname = \"tip\"\nvertices = {{ nearest = [1, 1, 1] }}\n\
         [[expect]]\nquantity = \"tip.x\"\nleast = 0\n[output]\nformats = [\"vtu\", \"glb\"]\n"
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
    assert!(page == pliant::scene::reference(), "run `pliant scene reference > docs/scene-format.md`");
}

#[test]
fn cut_and_mutated_scenes_are_errors_and_never_panics() {
    let text =
        format!("{BLOCK}{TIME}[[hold]]\nvertices = {{ box = {{ from = [0, 0, 0], to = [1, \"50 cm\", 1] }} }}\n");
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
            // What is large is refused, but not everything that is large is wrong.
            drop(file.build(&Memory::default()));
        }
    }
}

#[test]
fn the_surface_of_all_objects_is_that_of_each_whether_it_has_a_name_or_not() {
    let ball = "[[object]]\nmesh = { ball = { radius = 0.5, across = 4 } }\ntranslate = [3, 0, 0]\n\
                material = { young = 1e6, poisson = 0.3, density = 1000 }\n";
    let hold = "[[hold]]\nvertices = \"surface\"\n";
    let built = build(&format!("{BLOCK}{ball}{TIME}{hold}")).unwrap();
    let model = built.simulation.model();
    let boundaries: usize = model.bodies().iter().map(|body| body.mesh().boundary().vertices.len()).sum();
    assert_eq!(model.holds()[0].vertices.len(), boundaries);
}

#[test]
fn an_impulse_on_a_free_body_moves_it_as_a_whole() {
    let kick = "[[load]]\nimpulse = [100, 0, 0]\n";
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
}

#[test]
fn loads_that_go_by_steps_keep_their_times_at_another_step() {
    let text =
        format!("{BLOCK}{TIME}[[load]]\nsteps = \"forces.npy\"\n[[load]]\nsteps = \"forces.npy\"\ninterval = 0.5\n");
    let mut scene = parse(&text).unwrap().scene;
    let step = scene.simulation.step.si;
    scene.set_step(0.1 * step);
    let intervals: Vec<f64> = scene.loads.iter().map(|load| load.interval.as_ref().unwrap().si).collect();
    assert_eq!((scene.simulation.step.si, intervals), (0.1 * step, vec![step, 0.5]));
}

#[test]
fn a_scene_that_asks_for_a_reduced_model_gets_one_whoever_makes_it() {
    let hold = "[[hold]]\nvertices = \"x-min\"\n";
    let scene = parse(&format!("reduced = {{ size = 5 }}\n{BLOCK}{TIME}{hold}")).unwrap();
    let files = Memory::default();
    let before = scene.reduction(&files).unwrap();
    assert!(before.is_some());
    for reduction in [None, before] {
        let simulation = scene.build_with(&files, reduction).unwrap().simulation;
        assert_eq!(simulation.reduced_model().map(|reduced| reduced.basis().size()), Some(5));
    }
    assert!(parse(&format!("{BLOCK}{TIME}{hold}")).unwrap().reduction(&files).unwrap().is_none());
}
