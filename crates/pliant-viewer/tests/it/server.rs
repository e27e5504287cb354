//! Access control and robustness of the server.

use std::time::Duration;

use crate::common::{self, BEAM, BLOCK, Client, LONG, connect, hear, live, token};
use futures_util::SinkExt;
use pliant_viewer::Viewer;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::{Error, Message};

/// Sends a plain HTTP request and returns the response as text.
async fn get(viewer: &Viewer, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(viewer.local_address()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    timeout(LONG, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(error: &Error) -> u16 {
    match error {
        Error::Http(response) => response.status().as_u16(),
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_for_those_who_know_the_token() {
    let viewer = live(BEAM, true);
    let host = viewer.local_address().to_string();
    let page = get(&viewer, &format!("/?token={}", token(&viewer)), &host).await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Pliant"), "{page}");
    assert!(page.to_lowercase().contains("content-security-policy: default-src 'none'"), "{page}");
    for path in ["/", "/?token=", "/?token=0123", &format!("/?token={}0", token(&viewer)), "/index.html?token=0"] {
        let refused = get(&viewer, path, &host).await;
        let is_page = path.starts_with("/index.html");
        // The files of the page are public; its data is not.
        assert!(refused.starts_with(if is_page { "HTTP/1.1 200" } else { "HTTP/1.1 403" }), "{path}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leaves_the_page() {
    let viewer = live(BEAM, true);
    let host = viewer.local_address().to_string();
    assert!(get(&viewer, "/assets/a.js", &host).await.contains("text/javascript"));
    for path in [
        "/assets/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/assets//etc/passwd",
        "/%2e%2e/Cargo.toml",
        "/assets/a.js/",
        "/assets",
        "/.gitignore",
    ] {
        let answer = get(&viewer, path, &host).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
        assert!(!answer.contains("root:"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_a_foreign_origin_and_a_foreign_host_are_refused() {
    let viewer = live(BEAM, true);
    let own = viewer.local_address().to_string();
    let token = token(&viewer);
    for wrong in ["", "x", &token[1..]] {
        assert_eq!(status(&connect(&viewer, wrong, None, None).await.unwrap_err()), 403);
    }
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", &format!("http://{own}.evil.example")] {
        assert_eq!(status(&connect(&viewer, token, Some(origin), None).await.unwrap_err()), 403, "{origin}");
    }
    for host in ["evil.example", "evil.example:80"] {
        let origin = format!("http://{host}");
        assert_eq!(status(&connect(&viewer, token, Some(&origin), Some(host)).await.unwrap_err()), 403, "{host}");
        assert!(get(&viewer, &format!("/?token={token}"), host).await.starts_with("HTTP/1.1 403"));
    }
    // An ssh tunnel has another port, which is then part of the origin of the page.
    connect(&viewer, token, Some("http://localhost:9000"), Some("localhost:9000")).await.unwrap();
    connect(&viewer, token, None, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_is_answered_in_words() {
    let viewer = live(BEAM, true);
    let mut client = Client::new(&viewer).await;
    for garbage in [
        "",
        "{",
        "[]",
        "null",
        "{\"do\":\"explode\"}",
        "{\"do\":\"seek\"}",
        "{\"do\":\"seek\",\"time\":1e999}",
        "\u{0}\u{1}",
    ] {
        client.stream.send(Message::text(garbage)).await.unwrap();
        client.notice("invalid message").await;
    }
    client.stream.send(Message::binary(vec![0; 1000])).await.unwrap();
    client.notice("expected JSON").await;
    let deep = "[".repeat(60_000);
    client.stream.send(Message::text(deep)).await.unwrap();
    client.notice("invalid message").await;
    for (wrong, word) in [
        (
            json!({ "do": "grab", "pull": 0, "triangle": 4_000_000_000_u32, "weights": [1, 0, 0], "target": [0, 0, 0], "stiffness": 1 }),
            "triangle 4000000000 does not exist",
        ),
        (
            json!({ "do": "grab", "pull": 0, "triangle": 0, "weights": [0, 0, 0], "target": [0, 0, 0], "stiffness": 1 }),
            "weights",
        ),
        (
            json!({ "do": "grab", "pull": 0, "triangle": 0, "weights": [1, 0, 0], "target": [0, 0, 0], "stiffness": -1 }),
            "stiffness",
        ),
        (json!({ "do": "ball", "center": [0, 0, 0], "radius": 0 }), "radius"),
        (json!({ "do": "throw", "triangle": 0, "velocity": [1, 0, 0] }), "is fixed"),
        (json!({ "do": "set-material", "index": 7, "young": 1 }), "material 7 does not exist"),
        (json!({ "do": "set-material", "index": 0, "young": -1 }), "Young"),
        (json!({ "do": "set-material", "index": 0, "poisson": 0.7 }), "Poisson"),
        (json!({ "do": "set-material", "index": 0, "law": "rubber" }), "rubber"),
        (json!({ "do": "set", "integrator": "verlet" }), "integrator"),
        (json!({ "do": "set", "integrator": "exact-modes" }), "reduced"),
        (json!({ "do": "set", "step": 0 }), "time step"),
        (json!({ "do": "set", "step": 1e-300 }), "steps"),
        (json!({ "do": "speed", "factor": 0 }), "real time"),
        (json!({ "do": "view", "color": "pink", "slice": null }), "color"),
        (
            json!({ "do": "view", "color": "none", "slice": { "point": [0, 0, 0], "normal": [0, 0, 0] } }),
            "nonzero vector",
        ),
    ] {
        client.say(wrong.clone()).await;
        client.notice(word).await;
    }
    // Commands still take effect.
    client.say(json!({ "do": "step" })).await;
    client.frame("a step", |frame| frame.number("/step") == 1.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_too_long_ends_only_its_connection() {
    let viewer = live(BEAM, true);
    let mut other = Client::new(&viewer).await;
    let mut client = Client::new(&viewer).await;
    let long = format!("{{\"do\":\"{}\"}}", "x".repeat(100_000));
    // It may be cut off before all of it is sent.
    drop(client.stream.send(Message::text(long)).await);
    while hear(&mut client.stream).await.is_some() {}
    other.say(json!({ "do": "step" })).await;
    other.frame("a step", |frame| frame.number("/step") == 1.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_vanish_let_go_of_what_they_have_in_hand() {
    let viewer = live(BLOCK, true);
    let mut watching = Client::new(&viewer).await;
    for end in 0..3 {
        let mut client = Client::new(&viewer).await;
        let grab = json!({ "do": "grab", "pull": 1, "triangle": 0, "weights": [1, 0, 0], "target": [0, 1, 0], "stiffness": 10 });
        client.say(grab).await;
        client.say(json!({ "do": "ball", "center": [1, 1, 1], "radius": 0.1 })).await;
        let fixed = |frame: &common::Heard| {
            frame.header["pulls"].as_array().unwrap().len() == 1 && frame.header["balls"].as_array().unwrap().len() == 1
        };
        watching.frame("a pull and a ball", fixed).await;
        match end {
            0 => drop(client),
            1 => client.stream.close(None).await.unwrap(),
            // In the middle of a message.
            _ => {
                let inner = client.stream.get_mut();
                inner.write_all(&[0x81, 0xFE, 0x10]).await.unwrap();
                inner.shutdown().await.unwrap();
                drop(client);
            }
        }
        let none = |frame: &common::Heard| frame.header["pulls"] == json!([]) && frame.header["balls"] == json!([]);
        watching.frame("nothing in hand", none).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_never_says_that_it_has_seen_gets_two_frames_and_stalls_nobody() {
    let viewer = live(BEAM, false);
    let mut slow = Client::new(&viewer).await;
    let mut quick = Client::new(&viewer).await;
    quick.frame("a second of simulation", |frame| frame.number("/time") > 1.0).await;
    let mut frames = 0;
    while let Ok(heard) = timeout(Duration::from_millis(300), hear(&mut slow.stream)).await {
        frames += usize::from(heard.unwrap().kind() == "frame");
    }
    assert_eq!(frames, 2);
    // When it has, it gets the latest and not the next.
    let before = quick.frame("a frame", |_| true).await.number("/time");
    slow.say(json!({ "do": "seen", "number": 2 })).await;
    let after = slow.frame("a frame", |_| true).await.number("/time");
    assert!(after >= before, "{after} and {before}");
    // Numbers of frames that were never sent count as the last that was.
    slow.say(json!({ "do": "seen", "number": u64::MAX })).await;
    slow.frame("a frame", |frame| frame.number("/time") > after).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_floods_is_slowed_and_others_are_heard() {
    let viewer = live(BEAM, false);
    let mut flooding = Client::new(&viewer).await;
    let mut other = Client::new(&viewer).await;
    let grab =
        json!({ "do": "grab", "pull": 0, "triangle": 0, "weights": [1, 0, 0], "target": [0, 0, 0], "stiffness": 10 });
    flooding.say(grab).await;
    let flood = tokio::spawn(async move {
        for input in 0..20_000_u64 {
            let drag = json!({ "do": "drag", "pull": 0, "target": [0, 0.1, 0], "input": input });
            if flooding.stream.send(Message::text(drag.to_string())).await.is_err() {
                break;
            }
        }
        flooding
    });
    other.say(json!({ "do": "pause" })).await;
    other.frame("a pause", |frame| frame.header["playing"] == json!(false)).await;
    drop(timeout(LONG, flood).await.unwrap().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn while_nobody_looks_nothing_moves() {
    let viewer = live(BEAM, false);
    let mut client = Client::new(&viewer).await;
    client.frame("a step", |frame| frame.number("/step") > 0.0).await;
    let last = client.frame("a frame", |_| true).await.number("/time");
    drop(client);
    sleep(Duration::from_millis(1500)).await;
    let mut client = Client::new(&viewer).await;
    let now = client.frame("a frame", |_| true).await.number("/time");
    assert!(now < last + 1.0, "{last} and {now}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_told_when_the_viewer_ends() {
    let viewer = live(BEAM, false);
    let mut client = Client::new(&viewer).await;
    client.frame("a frame", |_| true).await;
    tokio::task::spawn_blocking(|| drop(viewer)).await.unwrap();
    timeout(LONG, async { while hear(&mut client.stream).await.is_some() {} }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn more_pages_than_there_are_places_are_turned_away() {
    let viewer = live(BEAM, true);
    let mut clients = Vec::new();
    for _ in 0..64 {
        clients.push(connect(&viewer, token(&viewer), None, None).await.unwrap());
    }
    assert_eq!(status(&connect(&viewer, token(&viewer), None, None).await.unwrap_err()), 503);
    clients.pop();
    for attempt in 0.. {
        match connect(&viewer, token(&viewer), None, None).await {
            Ok(_) => break,
            Err(error) => assert!(status(&error) == 503 && attempt < 100),
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_asks_for_steps_all_the_time_keeps_nobody_from_seeing_or_ending() {
    let viewer = live(BEAM, true);
    let mut flooding = Client::new(&viewer).await;
    let mut other = Client::new(&viewer).await;
    let flood =
        tokio::spawn(async move { while flooding.stream.send(Message::text("{\"do\":\"step\"}")).await.is_ok() {} });
    other.frame("steps", |frame| frame.number("/step") > 50.0).await;
    let began = std::time::Instant::now();
    timeout(LONG, tokio::task::spawn_blocking(|| drop(viewer))).await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "it took {:?} to end", began.elapsed());
    flood.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_come_before_the_first_frame() {
    let viewer = live(BEAM, false);
    for _ in 0..20 {
        let mut client = Client::new(&viewer).await;
        assert_eq!(client.hear().await.kind(), "settings");
    }
}
