//! Manipulation and settings of a simulation.

use crate::common::{self, BEAM, BLOCK, Client, Heard, live, scene, scene_of};
use pliant::files::Disk;
use pliant_scene::output::{COLOR_FIELDS, ColorField};
use pliant_scene::registry::Entry;
use pliant_scene::scene::integrator::BackwardEuler;
use pliant_scene::scene::solver::Direct;
use pliant_scene::scene::{INTEGRATORS, SOLVERS, SceneFile, Source};
use serde_json::{Value, json};

fn tip_height(frame: &Heard, tip: usize) -> f32 {
    frame.places("positions")[tip][1]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stage_is_the_surface_of_the_scene() {
    let viewer = live(BEAM, true);
    let client = Client::new(&viewer).await;
    let display = &client.display;
    let mesh = scene_of(BEAM).simulation.model().bodies()[0].mesh().clone();
    let surface = mesh.boundary().surface;
    assert_eq!(display.header["title"], "A beam");
    assert_eq!(display.number("/vertices") as usize, mesh.vertex_count());
    assert_eq!(display.places("rest").len(), surface.vertices().len());
    assert_eq!(display.indices("triangles").len(), 3 * surface.triangles().count());
    assert_eq!(display.indices("triangle_regions").len(), surface.triangles().count());
    let origin: Vec<f64> = serde_json::from_value(display.header["origin"].clone()).unwrap();
    for (shown, vertex) in display.places("rest").iter().zip(surface.vertices()) {
        for axis in 0..3 {
            assert!((f64::from(shown[axis]) + origin[axis] - vertex[axis]).abs() < 1e-6);
        }
    }
    let names = |key: &str| -> Vec<String> {
        display.header[key].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names("laws").contains(&"stvk".into()) && names("integrators").contains(&"newmark".into()));
    assert!(names("solvers").contains(&"auto".into()) && names("colors").contains(&"von-mises".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_that_a_program_adds_are_in_the_lists_of_the_page_with_their_options() {
    INTEGRATORS.add(Entry::new::<BackwardEuler>("own-integrator")).unwrap();
    SOLVERS.add(Entry::new::<Direct>("own-solver")).unwrap();
    COLOR_FIELDS.add(ColorField::of_vectors("own-color", "Own vectors", "own", "m", |frame| &frame.u)).unwrap();
    let client = Client::new(&live(BEAM, true)).await;
    for (key, name, option) in [
        ("integrators", "own-integrator", Some("newton")),
        ("solvers", "own-solver", None),
        ("colors", "own-color", None),
        ("inversions", "clamp", None),
    ] {
        let list = client.display.header[key].as_array().unwrap();
        let own = list.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{key}: {list:?}"));
        let mut options = own["options"].as_array().into_iter().flatten();
        assert_eq!(options.any(|own| Some(own["name"].as_str().unwrap()) == option), option.is_some(), "{own}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scene_far_from_the_origin_is_shown_as_exactly() {
    let far = BEAM.replace("[[fixed]]", "translate = [1e7, 0, 0]\n[[fixed]]");
    let (near, far) = (live(BEAM, true), live(&far, true));
    let (near, far) = (Client::new(&near).await, Client::new(&far).await);
    for (near, far) in near.display.floats("rest").iter().zip(far.display.floats("rest")) {
        assert!((near - far).abs() < 1e-6, "{near} and {far}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pulled_goes_to_the_target_and_swings_back() {
    let viewer = live(BEAM, false);
    let mut client = Client::new(&viewer).await;
    client.say(json!({ "do": "set", "gravity": [0, 0, 0] })).await;
    let (tip, triangle) = (client.vertex_near([0.5, 0.0, 0.0]), client.triangle_near([0.5, 0.0, 0.0]));
    let target = [0.4, 0.3, 0.0];
    let stiffness = 20.0 * client.display.number("/pull/stiffness");
    client
        .say(json!({ "do": "grab", "pull": 3, "triangle": triangle, "weights": [0.3, 0.3, 0.4], "target": [0.5, 0, 0],
            "stiffness": stiffness, "input": 1 }))
        .await;
    client.say(json!({ "do": "drag", "pull": 3, "target": target, "input": 2 })).await;
    let pulled = client.frame("the tip at the target", |frame| tip_height(frame, tip) > 0.2).await;
    assert_eq!(pulled.number("/input"), 2.0);
    let pull = &pulled.header["pulls"][0];
    assert_eq!(pull["mine"], true);
    // The force is that of the spring.
    for axis in 0..3 {
        let part = |key: &str| pull[key][axis].as_f64().unwrap();
        assert!((part("force") - stiffness * (part("target") - part("point"))).abs() < 1e-6 * stiffness);
        assert!((part("target") - target[axis]).abs() < 1e-9);
    }
    client.say(json!({ "do": "release", "pull": 3 })).await;
    let back = client.frame("the tip back", |frame| tip_height(frame, tip) < 0.02).await;
    assert_eq!(back.header["pulls"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_softer_material_sags_more_and_takes_effect_at_once() {
    let viewer = live(BEAM, false);
    let mut client = Client::new(&viewer).await;
    let tip = client.vertex_near([0.5, 0.0, 0.0]);
    client.frame("some sag", |frame| frame.number("/time") > 0.3).await;
    let before = client.frame("a frame", |_| true).await;
    client.say(json!({ "do": "set-material", "index": 0, "young": 1e5, "law": "stvk" })).await;
    let settings = client.settings("settings", |heard| heard.header["changed"] == true).await;
    assert_eq!((&settings.header["materials"][0]["law"], settings.number("/materials/0/young")), (&json!("stvk"), 1e5));
    let sagged = client.frame("more sag", |frame| tip_height(frame, tip) < tip_height(&before, tip) - 0.2).await;
    // The time continues; the simulation was not restarted.
    assert!(sagged.number("/time") > before.number("/time"));
    client.say(json!({ "do": "undo-changes" })).await;
    let settings = client.settings("settings", |heard| heard.header["changed"] == false).await;
    assert_eq!(
        (&settings.header["materials"][0]["law"], settings.number("/materials/0/young")),
        (&json!("neo-hookean"), 1e6)
    );
    client.frame("less sag", |frame| tip_height(frame, tip) > tip_height(&sagged, tip) + 0.1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_integrator_and_solver_can_be_chosen_while_it_runs() {
    let viewer = live(BEAM, true);
    let mut client = Client::new(&viewer).await;
    let names = |client: &Client, key: &str| -> Vec<Value> {
        client.display.header[key].as_array().unwrap().iter().map(|one| one["name"].clone()).collect()
    };
    let mut steps = 0.0;
    for (key, all) in [("integrator", names(&client, "integrators")), ("solver", names(&client, "solvers"))] {
        for name in all {
            client.say(json!({ "do": "set", key: name, "step": 1e-4 })).await;
            client.say(json!({ "do": "step" })).await;
            let frame = client.frame("a step", |frame| frame.number("/step") > steps).await;
            assert_eq!(frame.header["failure"], Value::Null, "{name}");
            assert_eq!(client.notices, Vec::<String>::new(), "{name}");
            // Settings and frames are sent one after the other.
            while client.last_settings.as_ref().is_none_or(|settings| settings.header[key] != name) {
                client.hear().await;
            }
            steps = frame.number("/step");
            assert!((frame.number("/time") - 1e-4 * steps).abs() < 1e-9, "time continues: {}", frame.number("/time"));
        }
        client.say(json!({ "do": "undo-changes" })).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_can_pause_step_reset_and_go_back() {
    let viewer = live(BEAM, true);
    let mut client = Client::new(&viewer).await;
    let start = client.frame("the start", |frame| frame.number("/step") == 0.0).await;
    let mut third = None;
    for step in 1..=30 {
        client.say(json!({ "do": "step" })).await;
        let frame = client.frame("a step", |frame| frame.number("/step") == f64::from(step)).await;
        if step == 3 {
            third = Some(frame);
        }
    }
    let third = third.unwrap();
    client.say(json!({ "do": "seek", "time": 0.0 })).await;
    let first = client.frame("the start", |frame| frame.number("/time") == 0.0).await;
    assert_eq!(first.floats("positions"), start.floats("positions"));
    // Later states remain available until the simulation continues.
    assert!(first.number("/span/1") > 0.25);
    for step in 1..=3 {
        client.say(json!({ "do": "step" })).await;
        client.frame("a step", |frame| frame.number("/step") == f64::from(step)).await;
    }
    let again = client.frame.clone().unwrap();
    for (a, b) in again.floats("positions").iter().zip(third.floats("positions")) {
        assert!((a - b).abs() < 1e-5, "the same way again: {a} and {b}");
    }
    assert!(again.number("/span/1") < 0.05);
    client.say(json!({ "do": "reset" })).await;
    let reset = client.frame("the start", |frame| frame.number("/step") == 0.0).await;
    assert_eq!((reset.number("/time"), reset.floats("positions")), (0.0, start.floats("positions")));
}

#[tokio::test(flavor = "multi_thread")]
async fn pins_hold_until_they_are_taken_out() {
    let viewer = live(BLOCK, true);
    let mut client = Client::new(&viewer).await;
    let top = client.triangle_near([0.0, 0.1, 0.0]);
    let corner = client.vertex_near([0.1, -0.1, 0.1]);
    client.say(json!({ "do": "pin", "triangle": top, "weights": [0.3, 0.3, 0.4], "radius": 0.06 })).await;
    let start = client.frame("pins", |frame| !frame.floats("pinned").is_empty()).await;
    let settings = client.settings("pins", |heard| heard.number("/pins") > 0.0).await;
    assert_eq!(start.places("pinned").len() as f64, settings.number("/pins"));
    assert!(start.places("pinned").len() >= 3);
    client.say(json!({ "do": "play" })).await;
    let hanging = client.frame("half a second", |frame| frame.number("/time") > 0.5).await;
    assert_eq!(hanging.places("pinned"), start.places("pinned"));
    assert!((hanging.places("positions")[corner][1] - start.places("positions")[corner][1]).abs() < 0.1);
    client.say(json!({ "do": "throw", "triangle": top, "velocity": [1, 0, 0] })).await;
    client.notice("is fixed").await;
    client.say(json!({ "do": "unpin", "triangle": top, "weights": [0.3, 0.3, 0.4], "radius": 0 })).await;
    let fewer = client.settings("fewer pins", |heard| heard.number("/pins") < settings.number("/pins")).await;
    assert_eq!(fewer.number("/pins"), settings.number("/pins") - 1.0);
    client.say(json!({ "do": "unpin-all" })).await;
    client.frame("it has fallen", |frame| frame.places("positions").iter().all(|place| place[1] < 0.09)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_free_body_can_be_thrown_and_pushed() {
    let viewer = live(&BLOCK.replace("point = [0, -0.1, 0]", "point = [0, -9, 0]"), true);
    let mut client = Client::new(&viewer).await;
    client.say(json!({ "do": "set", "gravity": [0, 0, 0] })).await;
    client.say(json!({ "do": "throw", "triangle": 0, "velocity": [2, 0, 0] })).await;
    client.say(json!({ "do": "step" })).await;
    let thrown = client.frame("a step", |frame| frame.number("/step") == 1.0).await;
    for (now, rest) in thrown.places("positions").iter().zip(client.display.places("rest")) {
        assert!((now[0] - rest[0] - 0.02).abs() < 1e-5, "{now:?} and {rest:?}");
    }
    client.say(json!({ "do": "reset" })).await;
    client.frame("the start", |frame| frame.number("/step") == 0.0).await;
    // A ball that comes from the left and stops where the middle was pushes it to the right.
    client.say(json!({ "do": "ball", "center": [-0.2, 0, 0], "radius": 0.08 })).await;
    client.say(json!({ "do": "play" })).await;
    client.frame("the ball", |frame| frame.maybe("/balls/0/radius") == Some(0.08)).await;
    client.say(json!({ "do": "ball", "center": [0.0, 0, 0], "radius": 0.08 })).await;
    let is_pushed = |frame: &Heard| frame.places("positions").iter().all(|place| place[0] > 0.0);
    let pushed = client.frame("it is pushed", |frame| is_pushed(frame) || !frame.header["failure"].is_null()).await;
    assert_eq!(pushed.header["failure"], Value::Null);
    client.say(json!({ "do": "no-ball" })).await;
    client.frame("no ball", |frame| frame.header["balls"] == json!([])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_fails_is_explained_and_what_is_offered_helps() {
    // Explicit, and unstable at this step but not at a fraction of it.
    let integrator = "integrator = \"symplectic-euler\"\nhalvings = 0\nmass = \"lumped\"";
    let text = BEAM
        .replace("step = 0.01", &format!("step = 0.01\n{integrator}"))
        .replace("stiffness = 0.002", "stiffness = 0");
    let viewer = live(&text, false);
    let mut client = Client::new(&viewer).await;
    client.say(json!({ "do": "speed", "factor": null })).await;
    let failed = client.frame("a failure", |frame| !frame.header["failure"].is_null()).await;
    assert_eq!((&failed.header["playing"], failed.number("/failure/step")), (&json!(false), 0.01));
    assert!(failed.header["failure"]["message"].as_str().unwrap().len() > 20);
    assert!(failed.floats("positions").iter().all(|x| x.is_finite()), "the last good state is shown");
    let choices = choices(&mut client).await;
    let integrator = choices.iter().find(|choice| choice["command"]["integrator"] == "backward-euler").unwrap();
    assert!(integrator["label"].as_str().unwrap().contains("backward-euler"), "{integrator}");
    client.say(integrator["command"].clone()).await;
    let failures = failed.number("/step");
    let well = client.frame("more steps", |frame| frame.number("/step") > failures + 50.0).await;
    assert_eq!((&well.header["failure"], &well.header["playing"]), (&Value::Null, &json!(true)));
    client.settings("the integrator", |heard| heard.header["integrator"] == "backward-euler").await;
}

/// Returns the choices after a failure, once all have been tried.
async fn choices(client: &mut Client) -> Vec<Value> {
    let is_done = |frame: &Heard| frame.header["failure"]["is_trying"] == false;
    let frame = match client.frame.clone().filter(is_done) {
        Some(frame) => frame,
        None => client.frame("all choices", is_done).await,
    };
    frame.header["failure"]["choices"].as_array().unwrap().clone()
}

/// A cube of 20 kPa that falls 2 m, of a law that is not defined for inverted elements.
const DROPPED: &str = r#"
[[object]]
name = "cube"
mesh = { box = { size = [0.2, 0.2, 0.2], cells = [4, 4, 4] } }
translate = [0, 2, 0]
material = { law = "neo-hookean", young = 2e4, poisson = 0.4, density = 1000 }
[[obstacle]]
shape.plane = {}
[simulation]
step = "1/60 s"
duration = 1
integrator = "linearized-backward-euler"
halvings = 0
"#;

#[tokio::test(flavor = "multi_thread")]
async fn after_an_inversion_the_choices_that_work_are_offered_can_be_undone_and_are_saved() {
    let viewer = live(DROPPED, false);
    let mut client = Client::new(&viewer).await;
    client.say(json!({ "do": "speed", "factor": null })).await;
    let failed = client.frame("a failure", |frame| !frame.header["failure"].is_null()).await;
    assert_eq!(failed.number("/failure/number"), 1.0);
    let choices = choices(&mut client).await;
    let of = |key: &str| choices.iter().find(|choice| !choice["command"][key].is_null());
    assert_eq!(of("law").unwrap()["command"]["law"], "stable-neo-hookean");
    assert!(of("inversion").is_some() && of("integrator").is_some(), "{choices:?}");
    for key in ["law", "inversion", "integrator"] {
        let choice = of(key).unwrap();
        client.say(choice["command"].clone()).await;
        let well = client.frame("a second", |frame| frame.number("/time") > failed.number("/time") + 0.5).await;
        assert_eq!(well.header["failure"], Value::Null, "{key}");
        client.settings("the change", |heard| heard.header["changed"] == true).await;
        client.say(json!({ "do": "save" })).await;
        let saved = client.until("a scene", |heard| heard.kind() == "scene").await;
        let value = choice["command"][key].as_str().unwrap();
        assert!(saved.header["text"].as_str().unwrap().contains(&format!("{key} = \"{value}\"")), "{key} is saved");
        // Undone, it fails as before: the failure is another one, with its own number.
        client.say(json!({ "do": "pause" })).await;
        client.say(json!({ "do": "undo-changes" })).await;
        client.say(json!({ "do": "reset" })).await;
        client.frame("the start", |frame| frame.number("/step") == 0.0 && frame.header["failure"].is_null()).await;
        client.settings("no change", |heard| heard.header["changed"] == false).await;
        client.say(json!({ "do": "play" })).await;
        let again = client.frame("a failure", |frame| !frame.header["failure"].is_null()).await;
        assert!(again.number("/failure/number") > 1.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn energy_that_appears_pauses_the_simulation_and_what_is_offered_prevents_it() {
    // The linearized integrator overshoots where the ground is hit.
    let text = DROPPED
        .replace("neo-hookean", "stable-neo-hookean")
        .replace("2e4", "1e6")
        .replace("translate = [0, 2, 0]", "translate = [0, 0.15, 0]\nvelocity = [0, -20, 0]");
    let viewer = live(&text, false);
    let mut client = Client::new(&viewer).await;
    client.say(json!({ "do": "speed", "factor": null })).await;
    let gained = client.frame("a gain", |frame| !frame.header["failure"].is_null()).await;
    assert_eq!((&gained.header["failure"]["is_gain"], &gained.header["playing"]), (&json!(true), &json!(false)));
    let message = gained.header["failure"]["message"].as_str().unwrap();
    assert!(message.contains("energy appeared") && message.contains("`backward-euler`"), "{message}");
    let choices = choices(&mut client).await;
    let integrator = choices.iter().find(|choice| choice["command"]["integrator"] == "backward-euler").unwrap();
    client.say(integrator["command"].clone()).await;
    let well = client.frame("a second", |frame| frame.number("/time") > gained.number("/time") + 0.5).await;
    assert_eq!((&well.header["failure"], &well.header["playing"]), (&Value::Null, &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_failure_outlives_its_cause() {
    let viewer = live(DROPPED, false);
    let mut client = Client::new(&viewer).await;
    client.say(json!({ "do": "speed", "factor": null })).await;
    for (number, end) in [
        json!({ "do": "reset" }),
        json!({ "do": "seek", "time": 0 }),
        json!({ "do": "set-material", "index": 0, "young": 21e3 }),
        json!({ "do": "undo-changes" }),
    ]
    .into_iter()
    .enumerate()
    {
        client.say(json!({ "do": "play" })).await;
        client.frame("a failure", |frame| frame.maybe("/failure/number") == Some(number as f64 + 1.0)).await;
        client.say(end).await;
        client.frame("no failure", |frame| frame.header["failure"].is_null()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_field_refuses_is_answered_with_the_reason_and_units_are_as_in_scenes() {
    let viewer = live(BEAM, true);
    let mut client = Client::new(&viewer).await;
    let wrong = [
        (json!({ "do": "set-material", "index": 0, "young": "1 Mpa" }), "there is no unit `Mpa`; expected a pressure"),
        (json!({ "do": "set-material", "index": 0, "young": "5 cm" }), "`cm` does not measure a pressure"),
        (json!({ "do": "set-material", "index": 0, "young": "-5 kPa" }), "Young's modulus"),
        (
            json!({ "do": "set-material", "index": 0, "poisson": "half" }),
            "expected a number without a unit, found \"half\"",
        ),
        (json!({ "do": "set-material", "index": 0, "poisson": "0.5" }), "Poisson's ratio"),
        (json!({ "do": "set", "step": "0 s" }), "time step: expected more than 0"),
        (json!({ "do": "set", "step": "soon" }), "expected a time such as \"10 ms\""),
        (json!({ "do": "set", "stiffness_damping": "-1 ms" }), "0 or more"),
        (json!({ "do": "set", "gravity": [0, "9.81 m/s", 0] }), "does not measure an acceleration"),
        (json!({ "do": "set", "integrator": "exact-modes" }), "reduced"),
        (json!({ "do": "read", "length": "1 kg" }), "does not measure a length"),
    ];
    for (ask, (mut command, reason)) in wrong.into_iter().enumerate() {
        command["ask"] = ask.into();
        client.say(command).await;
        let answer = client.until("an answer", |heard| heard.kind() == "answer").await;
        assert_eq!(answer.number("/ask"), ask as f64);
        let error = answer.header["error"].as_str().unwrap();
        assert!(error.contains(reason) && !error.contains("column"), "{error}");
    }
    for (command, value) in [
        (json!({ "do": "set-material", "index": 0, "young": "0.25 MPa", "ask": 100 }), None),
        (json!({ "do": "set", "step": "1/250 s", "gravity": [0, "-981 cm/s^2", 0], "ask": 100 }), None),
        (json!({ "do": "read", "length": "10 cm", "ask": 100 }), Some(0.1)),
    ] {
        client.say(command).await;
        let answer = client.until("an answer", |heard| heard.kind() == "answer").await;
        assert_eq!((&answer.header["error"], answer.maybe("/value")), (&Value::Null, value));
    }
    let settings = client.settings("settings", |heard| heard.number("/step") == 0.004).await;
    assert_eq!((settings.number("/materials/0/young"), settings.number("/gravity/1")), (250e3, -9.81));
    assert_eq!(client.notices, Vec::<String>::new(), "answers are not sent twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_of_the_scene_are_part_of_the_settings() {
    let mut file = scene(BEAM);
    file.notes.push("the density was guessed".into());
    let viewer = common::show(pliant_viewer::Live::new(file).unwrap().paused());
    let mut client = Client::new(&viewer).await;
    let notes = client.settings("settings", |_| true).await.header["notes"].clone();
    assert!(notes.as_array().unwrap().contains(&json!("the density was guessed")), "{notes}");
    // They stay when the simulation is built again.
    client.say(json!({ "do": "set", "integrator": "newmark" })).await;
    let after = client.settings("settings", |heard| heard.header["integrator"] == "newmark").await;
    assert_eq!(after.header["notes"], notes);
    // And warnings follow the material, from the slider on.
    client.say(json!({ "do": "set-material", "index": 0, "poisson": 0.49 })).await;
    let locks = |heard: &Heard| heard.header["notes"].to_string().contains("lock");
    client.settings("a warning of locking", locks).await;
    client.say(json!({ "do": "set-material", "index": 0, "poisson": 0.3 })).await;
    let without = client.settings("no warning", |heard| !locks(heard)).await;
    assert_eq!(without.header["notes"], notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_have_the_colors_of_pictures_and_the_first_view_has_the_ground() {
    let two = format!(
        "{}\n[[object]]\nname = \"b\"\nmesh = {{ box = {{ size = [0.2, 0.2, 0.2], cells = [1, 1, 1] }} }}\n\
        translate = [0.5, 0.7, 0]\nmaterial = {{ young = 1e5, poisson = 0.4, density = 1000 }}\n",
        BLOCK.replace("[[object]]", "[[object]]\nname = \"a\"")
    );
    let viewer = live(&two, true);
    let client = Client::new(&viewer).await;
    for (number, body) in client.display.header["bodies"].as_array().unwrap().iter().enumerate() {
        let [red, green, blue] = pliant_scene::output::body_color(number);
        assert_eq!(body["color"], format!("#{red:02x}{green:02x}{blue:02x}"));
        assert_eq!(client.display.header["regions"][number]["color"], body["color"]);
    }
    // A cube that hangs two meters above the ground is shown with the place where it lands.
    let viewer = live(DROPPED, true);
    let client = Client::new(&viewer).await;
    let (low, high) = (client.display.number("/view/0/1"), client.display.number("/view/1/1"));
    assert!((low + 2.1).abs() < 1e-9 && (high - 0.1).abs() < 1e-9, "{low} to {high}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_saved_is_a_scene_with_the_changes_that_runs_from_any_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = scene_of(BLOCK).simulation.model().bodies()[0].mesh().clone();
    pliant::io::write(folder.path().join("block.veg"), &mesh, &pliant::io::WriteOptions::default()).unwrap();
    let text = BLOCK.replace("{ box = { size = [0.2, 0.2, 0.2], cells = [3, 3, 3] } }", "\"block.veg\"");
    let path = folder.path().join("own.toml");
    std::fs::write(&path, text).unwrap();
    let file = SceneFile::read(&Disk, &path).unwrap();
    let viewer = common::show(pliant_viewer::Live::new(file).unwrap().paused());
    let mut client = Client::new(&viewer).await;
    client.say(json!({ "do": "set-material", "index": 0, "young": 5e4, "law": "stvk" })).await;
    client.say(json!({ "do": "set", "step": 0.005, "integrator": "backward-euler", "solver": "direct", "mass_damping": 0.5, "gravity": [0, -1, 0] })).await;
    let top = client.triangle_near([0.0, 0.1, 0.0]);
    client.say(json!({ "do": "pin", "triangle": top, "weights": [1, 0, 0], "radius": 0 })).await;
    client.say(json!({ "do": "save" })).await;
    let saved = client.until("a scene", |heard| heard.kind() == "scene").await;
    assert_eq!(saved.header["name"], "own-changed.toml");
    let elsewhere = tempfile::tempdir().unwrap();
    let saved_path = elsewhere.path().join("saved.toml");
    std::fs::write(&saved_path, saved.header["text"].as_str().unwrap()).unwrap();
    let again = SceneFile::read(&Disk, &saved_path).unwrap();
    let built = again.build(&Disk).unwrap();
    let (region, model) = (&built.made_of[0], built.simulation.model());
    assert_eq!((region.law, region.moduli.unwrap().young.round()), (Some("stvk"), 5e4));
    assert_eq!((built.simulation.dt(), model.gravity().y, model.fixed().len()), (0.005, -1.0, 1));
    assert_eq!(SceneFile::parse(Source::new("a.toml", again.scene.to_toml())).unwrap().scene, again.scene);
}

#[tokio::test(flavor = "multi_thread")]
async fn colors_and_slices_are_each_pages_own() {
    let viewer = live(BEAM, true);
    let (mut one, mut two) = (Client::new(&viewer).await, Client::new(&viewer).await);
    for _ in 0..5 {
        one.say(json!({ "do": "step" })).await;
    }
    one.say(json!({ "do": "view", "color": "von-mises", "slice": { "point": [0.1, 0, 0], "normal": [2, 0, 0] } }))
        .await;
    two.say(json!({ "do": "view", "color": "displacement", "slice": null })).await;
    let stressed =
        one.frame("stresses", |frame| frame.header["color"] == "von-mises" && frame.number("/step") == 5.0).await;
    let count = one.display.places("rest").len();
    assert_eq!(stressed.floats("values").len(), count);
    assert!(stressed.number("/range/1") > stressed.number("/range/0"));
    assert!(stressed.floats("values").iter().all(|value| f64::from(*value) <= stressed.number("/range/1") * 1.000001));
    // The section of the beam is a centimeter squared a hundred times.
    let (places, triangles) = (stressed.places("slice_positions"), stressed.indices("slice_triangles"));
    assert!(places.iter().all(|place| (place[0] - 0.1).abs() < 1e-5));
    let area: f32 = triangles
        .as_chunks::<3>()
        .0
        .iter()
        .map(|corners| {
            let [a, b, c] = corners.map(|corner| places[corner as usize]);
            0.5 * ((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])).abs()
        })
        .sum();
    assert!((area - 0.01).abs() < 1e-3, "{area}");
    assert_eq!(stressed.floats("slice_values").len(), places.len());
    assert_eq!(stressed.indices("slice_regions").len(), triangles.len() / 3);
    let moved = two
        .frame("displacements", |frame| frame.header["color"] == "displacement" && frame.number("/step") == 5.0)
        .await;
    assert!(!moved.has("slice_positions"));
    let tip = two.vertex_near([0.5, 0.0, 0.0]);
    let (now, rest) = (moved.places("positions")[tip], two.display.places("rest")[tip]);
    let length = (0..3).map(|axis| (now[axis] - rest[axis]).powi(2)).sum::<f32>().sqrt();
    assert!((moved.floats("values")[tip] / length - 1.0).abs() < 1e-3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_page_follows_the_first() {
    let viewer = live(BEAM, true);
    let (mut one, mut two) = (Client::new(&viewer).await, Client::new(&viewer).await);
    let triangle = one.triangle_near([0.5, 0.0, 0.0]);
    one.say(json!({ "do": "grab", "pull": 0, "triangle": triangle, "weights": [1, 0, 0], "target": [0.6, 0, 0], "stiffness": 10 })).await;
    one.say(json!({ "do": "step" })).await;
    let a = one.frame("a step", |frame| frame.number("/step") == 1.0).await;
    let b = two.frame("a step", |frame| frame.number("/step") == 1.0).await;
    assert_eq!(a.floats("positions"), b.floats("positions"));
    assert_eq!((&a.header["pulls"][0]["mine"], &b.header["pulls"][0]["mine"]), (&json!(true), &json!(false)));
    assert_eq!(b.number("/viewers"), 2.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reduced_model_is_pulled_pushed_and_steered_like_any_other() {
    let viewer = live(&format!("reduced = {{ size = 12 }}\n{BEAM}"), false);
    let mut client = Client::new(&viewer).await;
    assert_eq!(client.display.number("/reduced"), 12.0);
    let (tip, triangle) = (client.vertex_near([0.5, 0.0, 0.0]), client.triangle_near([0.5, 0.0, 0.0]));
    let stiffness = 20.0 * client.display.number("/pull/stiffness");
    client.say(json!({ "do": "grab", "pull": 0, "triangle": triangle, "weights": [1, 0, 0], "target": [0.45, 0.25, 0], "stiffness": stiffness })).await;
    client.frame("the tip near the target", |frame| tip_height(frame, tip) > 0.15).await;
    client.say(json!({ "do": "set", "gravity": [0, 0, 0], "step": 0.005, "integrator": "newmark" })).await;
    client.settings("settings", |heard| heard.header["integrator"] == "newmark").await;
    client.say(json!({ "do": "release", "pull": 0 })).await;
    client.frame("the tip back", |frame| tip_height(frame, tip) < 0.05).await;
    client.say(json!({ "do": "ball", "center": [0.45, 0.15, 0], "radius": 0.05 })).await;
    client.frame("a ball", |frame| frame.maybe("/balls/0/radius") > Some(0.049)).await;
    client.say(json!({ "do": "ball", "center": [0.45, 0.0, 0], "radius": 0.05 })).await;
    client.frame("the tip is pushed down", |frame| tip_height(frame, tip) < -0.02).await;
    client.say(json!({ "do": "pin", "triangle": 0, "weights": [1, 0, 0] })).await;
    client.notice("keeps the fixed vertices").await;
    client.say(json!({ "do": "set-material", "index": 0, "young": 1 })).await;
    client.notice("reduced model").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_timed_and_energies_add_up() {
    let viewer = live(BEAM, false);
    let mut client = Client::new(&viewer).await;
    let frame = client.frame("a second", |frame| frame.number("/time") > 1.0).await;
    let part = |key: &str| frame.number(&format!("/stats/{key}"));
    assert!(part("assembling_ms") > 0.0 && part("solving_ms") > 0.0);
    assert!(part("assembling_ms") + part("solving_ms") <= part("step_ms"));
    assert!(part("step_ms") > 0.0 && part("newton") >= 1.0 && part("steps_per_second") > 1.0);
    let energy = |key: &str| frame.number(&format!("/energies/{key}"));
    let sum = energy("kinetic") + energy("elastic") + energy("gravitational") + energy("other");
    assert!((sum - energy("total")).abs() < 1e-9 * sum.abs().max(1.0));
    assert!((frame.number("/volume") / frame.number("/rest_volume") - 1.0).abs() < 0.1);
    // Simulated time keeps to the clock, if the machine is fast enough.
    assert!(part("real_time") < 1.3, "{}", part("real_time"));
}

#[tokio::test(flavor = "multi_thread")]
async fn detailed_surfaces_are_shown_and_pulled() {
    let skin = "skin = { mesh = { ball = { radius = 0.09, across = 8 } } }\n";
    let text = BLOCK.replace("[[obstacle]]", &format!("{skin}translate = [-0.1, -0.1, -0.1]\n[[obstacle]]"));
    // The surface follows the object and is in the corner; it only matters that it is embedded.
    let viewer =
        live(&text.replace("shape.plane = { point = [0, -0.1, 0] }", "shape.plane = { point = [0, -2, 0] }"), true);
    let mut client = Client::new(&viewer).await;
    assert_eq!(client.display.header["bodies"][0]["has_visual"], true);
    client.say(json!({ "do": "set", "gravity": [0, 0, 0] })).await;
    client.say(json!({ "do": "grab", "pull": 0, "triangle": 5, "weights": [0.2, 0.2, 0.6], "target": [0, 1, 0], "stiffness": 100 })).await;
    client.say(json!({ "do": "step" })).await;
    let frame = client.frame("a step", |frame| frame.number("/step") == 1.0).await;
    assert_eq!(frame.places("positions").len(), client.display.places("rest").len());
    let corner = client.display.indices("triangles")[17] as usize;
    assert!(frame.places("positions")[corner][1] > client.display.places("rest")[corner][1]);
}

#[test]
fn a_scene_that_cannot_be_built_is_an_error() {
    let error = pliant_viewer::Live::new(scene(&BEAM.replace("young = 1e6", "young = -1"))).unwrap_err();
    assert!(error.to_string().contains("Young"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn taking_changes_back_restores_any_material_while_it_runs() {
    for material in [
        "law = \"neo-hookean\", young = 1e6, poisson = 0.4, density = 1000",
        "law = \"corotational\", tangent = \"warped\", young = 1e6, poisson = 0.4, density = 1000",
        "law = \"mooney-rivlin\", coefficients = { mu01 = 1e4, mu10 = 2e4, v1 = 1e5 }, density = 1000",
        "formula = \"mu / 2 * (I1 - 3) - mu * ln(J) + k / 2 * (J - 1)^2\", parameters = { mu = 2e5, k = 1e6 }, density = 1000",
    ] {
        let own = "law = \"neo-hookean\", young = 1e6, poisson = 0.4, density = 1000";
        let viewer = live(&BEAM.replace(own, material), true);
        let mut client = Client::new(&viewer).await;
        for _ in 0..5 {
            client.say(json!({ "do": "step" })).await;
        }
        let energy = |frame: &Heard| frame.number("/energies/elastic");
        let before = energy(&client.frame("five steps", |frame| frame.number("/step") == 5.0).await);
        // A change of nothing changes nothing.
        client.say(json!({ "do": "set-material", "index": 0 })).await;
        client.say(json!({ "do": "set-material", "index": 0, "law": "stvk", "young": 5e6, "poisson": 0.1 })).await;
        client.frame("another energy", |frame| (energy(frame) / before - 1.0).abs() > 0.1).await;
        client.say(json!({ "do": "undo-changes" })).await;
        let is_back = |frame: &Heard| (energy(frame) / before - 1.0).abs() < 1e-12;
        client.frame("the same energy", is_back).await;
        client.settings("settings", |heard| heard.header["changed"] == false).await;
        assert!(client.notices.iter().all(|notice| notice.contains("formula")), "{:?}", client.notices);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_in_time_takes_pins_along() {
    let viewer = live(&BEAM.replace("young = 1e6", "young = 1e5"), false);
    let mut client = Client::new(&viewer).await;
    let tip = client.triangle_near([0.5, 0.0, 0.0]);
    client.frame("some sag", |frame| frame.number("/time") > 0.3).await;
    client.say(json!({ "do": "pin", "triangle": tip, "weights": [1, 0, 0], "radius": 0 })).await;
    client.frame("a pin", |frame| !frame.floats("pinned").is_empty()).await;
    client.say(json!({ "do": "seek", "time": 0 })).await;
    client.frame("the start", |frame| frame.number("/time") == 0.0).await;
    client.say(json!({ "do": "step" })).await;
    let frame = client.frame("a step", |frame| frame.number("/step") == 1.0).await;
    // A pin that had stayed behind would have thrown the body at tens of joules.
    assert!(frame.number("/energies/kinetic") < 0.5, "{}", frame.number("/energies/kinetic"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_in_one_change_does_not_undo_another() {
    let viewer = live(BEAM, true);
    let mut client = Client::new(&viewer).await;
    client.say(json!({ "do": "set", "step": 0.002 })).await;
    client.say(json!({ "do": "set-material", "index": 0, "poisson": 0.7 })).await;
    client.notice("Poisson").await;
    client.say(json!({ "do": "step" })).await;
    let frame = client.frame("a step", |frame| frame.number("/step") == 1.0).await;
    assert_eq!(frame.number("/time"), 0.002);
}

#[tokio::test(flavor = "multi_thread")]
async fn obstacles_are_the_same_whether_it_was_made_anew_or_not() {
    // The springs of a network are stiffer than the soft block.
    let network = "[[object]]\nname = \"net\"\nmesh = { box = { size = [0.2, 0.2, 0.2], cells = [1, 1, 1] } }\ntranslate = [1, 0, 0]\n\
        network = { stiffness = 5e5 }\nmaterial = { density = 1000 }\n[[obstacle]]";
    let text = BLOCK.replace("[[object]]", "[[object]]\nname = \"block\"").replacen("[[obstacle]]", network, 1);
    let mut lowest = Vec::new();
    for step in [0.01, 0.010001] {
        let viewer = live(&text.replace("mesh =", "velocity = [0, -2, 0]\nmesh ="), true);
        let mut client = Client::new(&viewer).await;
        client.say(json!({ "do": "set-material", "index": 0, "young": 2e4 })).await;
        client.say(json!({ "do": "set", "step": step })).await;
        for _ in 0..30 {
            client.say(json!({ "do": "step" })).await;
        }
        let frame = client.frame("thirty steps", |frame| frame.number("/step") == 30.0).await;
        lowest.push(frame.places("positions").iter().map(|place| place[1]).fold(f32::INFINITY, f32::min));
    }
    assert!((lowest[0] - lowest[1]).abs() < 2e-3, "{lowest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hard_pulls_gain_no_energy_with_any_law() {
    let text = BLOCK.replace("step = 0.01", "step = \"1/60 s\"");
    let laws = Client::new(&live(&text, true)).await.display.header["laws"].clone();
    for law in laws.as_array().unwrap().iter().map(|law| law["name"].as_str().unwrap()) {
        let viewer = live(&text.replace("{ young = 1e5", &format!("{{ law = \"{law}\", young = 1e5")), true);
        let mut client = Client::new(&viewer).await;
        let triangle = client.triangle_near([0.1, 0.1, 0.1]);
        // A hundred times as stiff as what suits the body, to ten times its size away.
        let stiffness = 100.0 * client.display.number("/pull/stiffness");
        client.say(json!({ "do": "grab", "pull": 0, "triangle": triangle, "weights": [1, 0, 0], "target": [2, 1, 0.5], "stiffness": stiffness })).await;
        let mut last =
            client.frame("the pull", |frame| frame.header["pulls"] != json!([])).await.number("/energies/total");
        let scale = last.abs();
        for step in 1..=40 {
            if step == 20 {
                client.say(json!({ "do": "release", "pull": 0 })).await;
                last =
                    client.frame("no pull", |frame| frame.header["pulls"] == json!([])).await.number("/energies/total");
            }
            client.say(json!({ "do": "step" })).await;
            let is_next =
                |frame: &Heard| frame.number("/step") == f64::from(step) || !frame.header["failure"].is_null();
            let frame = client.frame("a step", is_next).await;
            assert_eq!(frame.header["failure"], Value::Null, "{law}, step {step}");
            let energy = frame.number("/energies/total");
            // Where an energy is not convex, a step may raise it by a fraction of a percent.
            let tolerance = 1e-6 * scale + 0.01 * last.abs();
            assert!(energy <= last + tolerance, "{law}, step {step}: from {last} to {energy} J");
            last = energy;
        }
    }
}
