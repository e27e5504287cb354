//! Results of barrier contact: fields of frames, and probes.

use std::sync::Arc;

use pliant::files::Memory;
use pliant::io::encode::data_array;
use pliant::math::Vec3;
use pliant_scene::output::{self, ColorField, Frame, SceneGeometry};
use pliant_scene::scene::{Built, SceneFile, Source};

/// Weight of a cube of 1 kg \[N\].
const WEIGHT: f64 = 9.81;

/// Time steps of 50 ms, in which backward Euler damps bouncing.
const STEPS: &str = "[simulation]\nstep = \"50 ms\"\nduration = 3\n";

/// Returns a cube of 1 kg whose lower side is at a height \[m\].
fn cube(name: &str, height: f64, more: &str) -> String {
    format!(
        "[[object]]\nname = \"{name}\"\nmesh = {{ box = {{ size = [0.1, 0.1, 0.1], cells = [2, 2, 2] }} }}\n\
         material = {{ young = \"100 kPa\", poisson = 0.3, density = 1000 }}\ntranslate = [-0.06, {height}, 0.01]\n{more}\n"
    )
}

fn plane(name: &str) -> String {
    format!("[contact]\nfriction = 0.5\n[[obstacle]]\n{name}\nshape = {{ plane = {{}} }}\n")
}

fn build(text: &str) -> Result<Built, String> {
    let file = SceneFile::parse(Source::new("test.toml", text)).map_err(|error| error.to_string())?;
    file.build(&Memory::default()).map_err(|error| error.to_string())
}

/// Simulates a scene to its end.
fn at_end(text: &str) -> Built {
    let mut built = build(text).unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..built.steps {
        built.simulation.step().unwrap();
    }
    built
}

#[test]
fn tractions_times_areas_are_the_weight_of_a_cube_that_rests_on_a_plane() {
    for skin in ["", "skin = { mesh = { box = { size = [0.1, 0.1, 0.1], cells = [3, 3, 3] } } }"] {
        let built = at_end(&format!("{}{}{STEPS}", cube("cube", 0.001, skin), plane("")));
        let state = built.simulation.state().clone();
        let model = built.simulation.model();
        let contact = model.vertex_contact(&state).unwrap();
        assert!((contact.area.iter().sum::<f64>() - 0.06).abs() < 1e-12);
        let force: Vec3 = contact.traction.iter().zip(&contact.area).map(|(traction, area)| *area * *traction).sum();
        assert!((force - WEIGHT * Vec3::Y).length() < 1e-4 * WEIGHT, "{force}");
        let points = model.point_contacts(&state).unwrap();
        let sum: Vec3 = points.iter().map(|contact| contact.force).sum();
        assert!((sum - force).length() < 1e-12 && points.iter().all(|contact| contact.bodies == [0, 1]), "{sum}");
        assert!(points.iter().all(|contact| contact.normal == Vec3::Y && contact.point.y == contact.gap));

        let geometry = Arc::new(SceneGeometry::new(model));
        let frame = Frame::new(model, &state, 0, true);
        let folder = tempfile::tempdir().unwrap();
        let mut writer = output::start(&folder.path().join("a.vtu"), &geometry, &output::Options::default()).unwrap();
        writer.write(&frame).unwrap();
        let bytes = std::fs::read(&writer.finish().unwrap()[1]).unwrap();
        let array = |name: &str| data_array(&bytes, name).unwrap();
        let (pressure, gap, traction) = (array("contact_pressure"), array("contact_gap"), array("contact_traction"));
        for (vertex, x) in model.rest().iter().enumerate() {
            let is_below = x.y < 0.01;
            assert_eq!(pressure[vertex] > 100.0, is_below, "{x}: {}", pressure[vertex]);
            assert_eq!(gap[vertex].is_nan(), !is_below, "{x}: {}", gap[vertex]);
            assert_eq!(traction[3 * vertex + 1], f64::from(contact.traction[vertex].y as f32));
        }
        let shown = ColorField::named("contact-pressure").unwrap();
        assert_eq!(geometry.bodies()[0].vertex_values(shown, &frame).unwrap(), pressure);
    }
}

#[test]
fn frames_without_barrier_contact_have_no_contact_and_zero_pressure() {
    let built = build(&format!("{}{STEPS}", cube("cube", 0.0, ""))).unwrap();
    let state = built.simulation.state().clone();
    let frame = Frame::new(built.simulation.model(), &state, 0, true);
    assert_eq!(frame.contact, None);
    let geometry = SceneGeometry::new(built.simulation.model());
    let shown = ColorField::named("contact-pressure").unwrap();
    assert_eq!(geometry.bodies()[0].vertex_values(shown, &frame), Some(vec![0.0; 27]));
}

/// Returns a table of a probe.
fn probe(name: &str, keys: &str) -> String {
    format!("[[probe]]\nname = \"{name}\"\n{keys}\n")
}

#[test]
fn the_ground_bears_the_weight_of_a_stack_and_the_lower_cube_that_of_the_upper() {
    let stack = cube("lower", 0.001, "") + &cube("upper", 0.1015, "") + &plane("");
    let probes = probe("ground", "measure = \"contact-force\"\nobject = \"lower\"\nwith = \"obstacle-1\"")
        + &probe("floor", "measure = \"contact-force\"\nobject = \"obstacle-1\"")
        + &probe("between", "measure = \"contact-force\"\nobject = \"upper\"\nwith = \"lower\"")
        + &probe("lower", "measure = \"contact-force\"\nobject = \"lower\"")
        + &probe("count", "measure = \"contact-count\"")
        + &probe("own", "measure = \"contact-count\"\nobject = \"upper\"\nwith = \"upper\"")
        + &probe("upper", "measure = \"contact-count\"\nobject = \"upper\"")
        + &probe("gap", "measure = \"contact-gap\"")
        + &probe("far", "measure = \"contact-gap\"\nobject = \"upper\"\nwith = \"obstacle-1\"")
        + &probe("slip", "measure = \"friction-power\"");
    let mut built = at_end(&format!("{stack}{probes}{STEPS}"));
    let row = built.simulation.record(&mut built.recorder);
    let columns = built.recorder.columns();
    let value = |name: &str| row[columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("{name}"))];
    for (name, expected) in [("ground", 2.0), ("floor", -2.0), ("between", 1.0), ("lower", 1.0)] {
        let force = ["x", "y", "z"].map(|axis| value(&format!("{name}.{axis}")));
        let error = (Vec3::from_array(force) - expected * WEIGHT * Vec3::Y).length();
        assert!(error < 1e-3 * WEIGHT, "{name}: {force:?}");
    }
    assert!(value("count") > value("upper") && value("upper") > 0.0 && value("own") == 0.0);
    assert!(value("gap") > 0.0 && value("gap") < 2e-4 && value("far") == f64::INFINITY);
    assert!((0.0..1e-4).contains(&value("slip")), "{}", value("slip"));
}

#[test]
fn probes_of_contact_that_cannot_be_measured_are_errors_that_name_what_exists() {
    let scene = cube("a", 0.001, "") + &cube("b", 0.2, "") + &plane("name = \"floor\"") + STEPS;
    let error = |scene: &str, keys: &str| build(&format!("{scene}{}", probe("p", keys))).map(drop).unwrap_err();
    for (keys, expected) in [
        (
            "measure = \"contact-force\"\nobject = \"flour\"",
            "there is no object or obstacle `flour` in contact; did you mean `floor`? There are a, b, floor",
        ),
        ("measure = \"contact-force\"", "a contact force requires `object`"),
        ("measure = \"contact-gap\"\nwith = \"a\"", "`with` requires `object`"),
        ("measure = \"volume\"\nobject = \"a\"\nwith = \"b\"", "only quantities of contact have `with`"),
        ("measure = \"friction-power\"\nobject = \"a\"", "the power of friction is that of all contacts"),
        ("measure = \"contact-count\"\nvertices = \"surface\"", "measured for whole objects"),
    ] {
        let found = error(&scene, keys);
        assert!(found.contains(expected), "{found}");
    }
    let alone = cube("a", 0.0, "") + STEPS;
    let found = error(&alone, "measure = \"contact-count\"");
    assert!(found.contains("quantities of contact require barrier contact"), "{found}");
}
