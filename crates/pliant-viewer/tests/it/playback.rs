//! Playback of recorded runs.

use std::ops::ControlFlow;

use crate::common::{BEAM, Client, scene, show};
use pliant_scene::run::{self, Run};
use pliant_viewer::Playback;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_played_back_frame_by_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut made = Run::create(scene(BEAM), &path).unwrap();
    made.go(&run::RunParams::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let last = made.frame(made.frames_done() - 1, false).unwrap();
    let viewer = show(Playback::new(Run::open(&path).unwrap()).unwrap().paused());
    let mut client = Client::new(&viewer).await;
    assert_eq!(
        (&client.display.header["mode"], client.display.number("/timeline/frames") as usize),
        (&json!("playback"), made.frames_done())
    );
    client.say(json!({ "do": "seek", "time": 1.0 })).await;
    let end = client.frame("the end", |frame| frame.number("/time") > 0.99).await;
    let expected = made.geometry().bodies()[0].surface_positions(&last.u);
    let origin: Vec<f64> = serde_json::from_value(client.display.header["origin"].clone()).unwrap();
    for (shown, expected) in end.places("positions").iter().zip(expected) {
        for axis in 0..3 {
            assert!((f64::from(shown[axis]) + origin[axis] - expected[axis]).abs() < 1e-6);
        }
    }
    assert!(end.header["energies"]["total"].is_number());
    client.say(json!({ "do": "view", "color": "energy", "slice": null })).await;
    client.frame("energies", |frame| frame.header["color"] == "energy" && frame.number("/range/1") > 0.0).await;
    // At the end, playback starts again from the first frame.
    client.say(json!({ "do": "speed", "factor": null })).await;
    client.say(json!({ "do": "play" })).await;
    client.frame("the start", |frame| frame.number("/time") < 0.9).await;
    client.frame("the end", |frame| frame.header["playing"] == json!(false) && frame.number("/time") > 0.99).await;
    client.say(json!({ "do": "set", "step": 1 })).await;
    client.notice("a recorded run").await;
    client.say(json!({ "do": "grab", "pull": 0, "triangle": 0, "weights": [1, 0, 0], "target": [0, 0, 0], "stiffness": 1 })).await;
    client.notice("a recorded run").await;
    // A missing frame is reported, and the others can still be shown.
    std::fs::write(path.join("frames/000002.npy"), b"nonsense").unwrap();
    client.say(json!({ "do": "seek", "time": made.frame_time(2) })).await;
    let broken = client.frame("a failure", |frame| !frame.header["failure"].is_null()).await;
    assert!(broken.header["failure"]["message"].as_str().unwrap().contains("000002.npy"));
    assert!(broken.floats("positions") != client.display.floats("rest"), "the last good frame is shown");
    client.say(json!({ "do": "speed", "factor": 1 })).await;
    client.say(json!({ "do": "play" })).await;
    client.frame("playback continues", |frame| frame.number("/time") > made.frame_time(4)).await;
    client.say(json!({ "do": "seek", "time": 0.0 })).await;
    client.frame("the start", |frame| frame.header["failure"].is_null() && frame.number("/time") == 0.0).await;
}

#[test]
fn a_folder_without_frames_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    drop(Run::create(scene(BEAM), &path).unwrap());
    let error = Playback::new(Run::open(&path).unwrap()).unwrap_err();
    assert!(error.to_string().contains("000000.npy"), "{error}");
}
