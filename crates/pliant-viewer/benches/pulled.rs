//! Step rate and latency while a user pulls on bodies: the part of the server, without a browser.

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use common::{Client, live};
use serde_json::json;
use tokio::time::sleep;

/// Returns a bar fixed at one end, with `x`, `y` and `z` cells of five tetrahedra along the axes.
fn bar([x, y, z]: [u32; 3], young: f64, more: &str) -> String {
    let size = [x, y, z].map(|cells| 0.02 * f64::from(cells));
    format!(
        r#"
{more}
[[object]]
mesh = {{ box = {{ size = {size:?}, cells = [{x}, {y}, {z}], elements = "tet5" }} }}
material = {{ law = "neo-hookean", young = {young}, poisson = 0.45, density = 1000 }}
[[fixed]]
vertices = "x-min"
[damping]
mass = 0.5
[simulation]
step = 0.01
duration = 1
"#
    )
}

/// Duration of each case.
const PULLED: Duration = Duration::from_secs(4);

/// Interval between mouse moves.
const MOVE: Duration = Duration::from_millis(16);

struct Measured {
    steps_per_second: f64,
    latencies: Vec<f64>,
    frames_per_second: f64,
    frame_bytes: usize,
}

/// Pulls in circles for a while, in real time or as fast as possible.
async fn pull(text: &str, speed: Option<f64>) -> (Client, Measured) {
    let viewer = live(text, false);
    let mut client = Client::new(&viewer).await;
    let size = client.display.number("/size");
    let place = [size as f32, 0.0, 0.0];
    let (triangle, tip) = (client.triangle_near(place), client.vertex_near(place));
    let rest = client.display.places("rest")[tip];
    let stiffness = client.display.number("/pull/stiffness");
    client.say(json!({ "do": "speed", "factor": speed })).await;
    client
        .say(json!({ "do": "grab", "pull": 0, "triangle": triangle, "weights": [1, 0, 0], "target": rest, "stiffness": stiffness }))
        .await;
    client.frame("the first steps", |frame| frame.number("/step") > 20.0).await;
    let (began, first) = (Instant::now(), client.frame.as_ref().unwrap().number("/step"));
    let (mut input, mut next, mut frames) = (0, Instant::now(), 0);
    let (mut waiting, mut latencies) = (Vec::<(u64, Instant)>::new(), Vec::new());
    while began.elapsed() < PULLED {
        if next <= Instant::now() {
            input += 1;
            next += MOVE;
            let angle = 3.0 * began.elapsed().as_secs_f64();
            let target = [
                f64::from(rest[0]) - 0.05 * size,
                f64::from(rest[1]) + 0.2 * size * angle.sin(),
                f64::from(rest[2]) + 0.2 * size * angle.cos(),
            ];
            waiting.push((input, Instant::now()));
            client.say(json!({ "do": "drag", "pull": 0, "target": target, "input": input })).await;
        }
        // Receives the pending messages.
        tokio::select! {
            heard = client.hear() => if heard.kind() == "frame" {
                frames += 1;
                let applied = heard.number("/input") as u64;
                let seen = |entry: &&(u64, Instant)| entry.0 <= applied;
                latencies.extend(waiting.iter().filter(seen).map(|(_, sent)| sent.elapsed().as_secs_f64() * 1e3));
                waiting.retain(|(number, _)| *number > applied);
            },
            () = sleep(next.saturating_duration_since(Instant::now())) => {}
        }
    }
    let elapsed = began.elapsed().as_secs_f64();
    let last = client.frame.clone().unwrap();
    latencies.sort_by(f64::total_cmp);
    let measured = Measured {
        steps_per_second: (last.number("/step") - first) / elapsed,
        latencies,
        frames_per_second: f64::from(frames) / elapsed,
        frame_bytes: 4 * last.floats("positions").len(),
    };
    assert!(last.header["failure"].is_null(), "{}", last.header["failure"]);
    (client, measured)
}

#[tokio::main]
async fn main() {
    // `cargo test --all-targets` only checks that this compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!(
        "pulled for {} s with a target that moves every {} ms; latency: from sending a move to receiving the first frame that shows it",
        PULLED.as_secs(),
        MOVE.as_millis()
    );
    println!(
        "{:44} {:>9} {:>9} {:>9} {:>11} {:>11} {:>10} {:>9}",
        "", "vertices", "elements", "steps/s", "median, ms", "95 %, ms", "frames/s", "kB/frame"
    );
    for (name, text) in [
        ("bar, default integrator", bar([26, 10, 10], 1e6, "")),
        ("plate, default integrator", bar([52, 25, 2], 1e7, "")),
        ("block, default integrator", bar([15, 15, 15], 1e5, "")),
        ("bar, reduced to 20 directions", bar([26, 10, 10], 1e6, "reduced = { size = 20 }")),
    ] {
        let (client, fast) = pull(&text, None).await;
        let (_, real_time) = pull(&text, Some(1.0)).await;
        let of = |part: f64| real_time.latencies[((real_time.latencies.len() - 1) as f64 * part) as usize];
        println!(
            "{name:44} {:>9} {:>9} {:>9.0} {:>11.1} {:>11.1} {:>10.0} {:>9.0}",
            client.display.number("/vertices"),
            client.display.number("/elements"),
            fast.steps_per_second,
            of(0.5),
            of(0.95),
            real_time.frames_per_second,
            real_time.frame_bytes as f64 / 1e3,
        );
    }
}
