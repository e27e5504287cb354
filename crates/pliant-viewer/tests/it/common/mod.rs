//! Viewers and simulated pages for tests.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use pliant::files::Disk;
use pliant_scene::scene::{SceneFile, Source};
use pliant_viewer::{Live, Page, ServerParams, Show, Viewer};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Timeout, longer than any test takes on the slowest machine.
pub const LONG: Duration = Duration::from_secs(40);

/// A beam that is fixed at one end.
pub const BEAM: &str = r#"
title = "A beam"
[[object]]
name = "beam"
mesh = { beam = { length = 1, height = 0.1, width = 0.1, across = 2 } }
material = { law = "neo-hookean", young = 1e6, poisson = 0.4, density = 1000 }
[[fixed]]
vertices = "start"
[damping]
mass = 1
stiffness = 0.002
[simulation]
step = 0.01
duration = 1
"#;

/// A block in the air above the ground.
pub const BLOCK: &str = r"
[[object]]
mesh = { box = { size = [0.2, 0.2, 0.2], cells = [3, 3, 3] } }
material = { young = 1e5, poisson = 0.4, density = 1000 }
[[obstacle]]
shape.plane = { point = [0, -0.1, 0] }
[simulation]
step = 0.01
duration = 1
";

pub fn scene(text: &str) -> SceneFile {
    SceneFile::parse(Source::new("test.toml", text)).unwrap()
}

pub fn page() -> Page {
    Page::of([("index.html".into(), b"<title>Pliant</title>".to_vec()), ("assets/a.js".into(), b"1".to_vec())])
}

pub fn show(show: impl Show) -> Viewer {
    let params = ServerParams::default();
    Viewer::start(Viewer::listen(&params).unwrap(), &params, page(), show).unwrap()
}

/// Starts a viewer of a scene, playing or paused.
pub fn live(text: &str, paused: bool) -> Viewer {
    let live = Live::new(scene(text)).unwrap();
    show(if paused { live.paused() } else { live })
}

pub fn scene_of(text: &str) -> pliant_scene::scene::Built {
    scene(text).build(&Disk).unwrap()
}

pub fn token(viewer: &Viewer) -> &str {
    viewer.address().split_once("token=").unwrap().1
}

/// Message from the server.
#[derive(Debug, Clone)]
pub struct Heard {
    pub header: Value,
    arrays: BTreeMap<String, Vec<[u8; 4]>>,
}

impl Heard {
    fn read(bytes: &[u8]) -> Self {
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let (mut rest, _) = bytes[4 + length..].as_chunks::<4>();
        let mut arrays = BTreeMap::new();
        for array in header["arrays"].as_array().unwrap() {
            let count = array["count"].as_u64().unwrap() as usize;
            arrays.insert(array["name"].as_str().unwrap().to_owned(), rest[..count].to_vec());
            rest = &rest[count..];
        }
        assert!(rest.is_empty(), "no more than the header says");
        Self { header, arrays }
    }

    pub fn kind(&self) -> &str {
        self.header["type"].as_str().unwrap()
    }

    pub fn number(&self, key: &str) -> f64 {
        self.header.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key} in {}", self.header))
    }

    /// Returns a number, or `None` if it is absent.
    pub fn maybe(&self, key: &str) -> Option<f64> {
        self.header.pointer(key).and_then(Value::as_f64)
    }

    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    pub fn floats(&self, name: &str) -> Vec<f32> {
        self.arrays[name].iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    pub fn indices(&self, name: &str) -> Vec<u32> {
        self.arrays[name].iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    pub fn places(&self, name: &str) -> Vec<[f32; 3]> {
        self.floats(name).as_chunks::<3>().0.to_vec()
    }
}

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Simulated page.
pub struct Client {
    pub stream: Stream,
    pub display: Heard,
    /// Last message of each type.
    pub last_settings: Option<Heard>,
    pub frame: Option<Heard>,
    pub notices: Vec<String>,
}

/// Connects with a token and an origin.
pub async fn connect(viewer: &Viewer, token: &str, origin: Option<&str>, host: Option<&str>) -> Result<Stream, Error> {
    let address = format!("ws://{}/socket?token={token}", viewer.local_address());
    let mut request = address.into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("Origin", origin.parse().unwrap());
    }
    if let Some(host) = host {
        request.headers_mut().insert("Host", host.parse().unwrap());
    }
    Ok(connect_async(request).await?.0)
}

impl Client {
    pub async fn new(viewer: &Viewer) -> Self {
        let origin = format!("http://{}", viewer.local_address());
        let mut stream = connect(viewer, token(viewer), Some(&origin), None).await.unwrap();
        let display = hear(&mut stream).await.expect("a display");
        assert_eq!(display.kind(), "display");
        Self { stream, display, last_settings: None, frame: None, notices: Vec::new() }
    }

    pub async fn say(&mut self, command: Value) {
        self.stream.send(Message::text(command.to_string())).await.unwrap();
    }

    /// Receives and records the next message.
    pub async fn hear(&mut self) -> Heard {
        let heard = hear(&mut self.stream).await.expect("a message");
        match heard.kind() {
            "frame" => {
                self.frame = Some(heard.clone());
                self.say(json!({ "do": "seen", "number": heard.header["number"] })).await;
            }
            "settings" => self.last_settings = Some(heard.clone()),
            "notice" => self.notices.push(heard.header["text"].as_str().unwrap().to_owned()),
            _ => {}
        }
        heard
    }

    /// Returns the next message that `is_it` accepts.
    pub async fn until(&mut self, what: &str, mut is_it: impl FnMut(&Heard) -> bool) -> Heard {
        let began = Instant::now();
        loop {
            let heard = self.hear().await;
            if is_it(&heard) {
                return heard;
            }
            assert!(began.elapsed() < LONG, "waited for {what}; the last was {}", heard.header);
        }
    }

    /// Returns the next frame that `is_it` accepts. A paused scene sends one frame per command, so wait for the frame
    /// before the settings that come with it, in either order.
    pub async fn frame(&mut self, what: &str, mut is_it: impl FnMut(&Heard) -> bool) -> Heard {
        self.until(what, |heard| heard.kind() == "frame" && is_it(heard)).await
    }

    /// Returns the settings once `is_it` accepts them, which may already have arrived.
    pub async fn settings(&mut self, what: &str, is_it: impl Fn(&Heard) -> bool) -> Heard {
        if let Some(settings) = self.last_settings.clone().filter(&is_it) {
            return settings;
        }
        self.until(what, |heard| heard.kind() == "settings" && is_it(heard)).await
    }

    /// Returns the next notice that contains a text.
    pub async fn notice(&mut self, text: &str) -> String {
        let is_it = |heard: &Heard| heard.kind() == "notice" && heard.header.to_string().contains(text);
        let heard = self.until(text, is_it).await;
        heard.header["text"].as_str().unwrap().to_owned()
    }

    /// Returns the triangle whose center at rest is nearest to a position relative to the origin.
    pub fn triangle_near(&self, place: [f32; 3]) -> u32 {
        let (rest, triangles) = (self.display.places("rest"), self.display.indices("triangles"));
        let (triangles, _) = triangles.as_chunks::<3>();
        let distance = |corners: &[u32; 3]| {
            let middle = |axis: usize| corners.iter().map(|&c| rest[c as usize][axis]).sum::<f32>() / 3.0;
            (0..3).map(|axis| (middle(axis) - place[axis]).powi(2)).sum::<f32>()
        };
        (0..triangles.len()).min_by(|&a, &b| distance(&triangles[a]).total_cmp(&distance(&triangles[b]))).unwrap()
            as u32
    }

    /// Returns the surface vertex nearest to a position at rest.
    pub fn vertex_near(&self, place: [f32; 3]) -> usize {
        let rest = self.display.places("rest");
        let distance = |at: &[f32; 3]| (0..3).map(|axis| (at[axis] - place[axis]).powi(2)).sum::<f32>();
        (0..rest.len()).min_by(|&a, &b| distance(&rest[a]).total_cmp(&distance(&rest[b]))).unwrap()
    }
}

/// Receives the next message. Returns `None` if the server has closed the connection.
pub async fn hear(stream: &mut Stream) -> Option<Heard> {
    let next = async {
        loop {
            match stream.next().await {
                Some(Ok(Message::Binary(bytes))) => return Some(Heard::read(&bytes)),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    };
    timeout(LONG, next).await.expect("the server says nothing more")
}
