//! Animations as binary glTF 2.0, `.glb`, for Blender, three.js and most viewers.
//!
//! A body is a node with a mesh of triangles. Its vertices have their positions in the first frame. Each further frame
//! is a morph target, which contains increments of positions and normals. An animation controls the weights of the
//! targets: at the time of a frame its target has weight 1 and all others 0. Between frames the weights are linear.
//! Time starts with the first frame.
//!
//! ```text
//! "glTF", 2, length of the file                    u32 each; all numbers are little-endian
//! length, "JSON", text padded with spaces
//! length, "BIN\0",
//!   triangles of each body                         u32
//!   for each frame, for each body:
//!     positions, normals; after the first frame their increments   f32
//!   times of the frames                            f32
//!   for each frame, the weights of all targets     f32
//! ```
//! The JSON text contains the bounds of positions, which are known only at the end. Its numbers have a fixed width, so
//! its length is known in advance and data can be written behind the space reserved for it.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::color::linear;
use super::writer_context::Count;
use super::{AnimationFormat, Axis, Content, Frame, FrameWriter, Options, Started, WriterContext, body_color};
use pliant::files::{Draft, WriteError};
use pliant::math::Vec3;

pub(super) const FORMAT: AnimationFormat = AnimationFormat {
    name: "glb",
    title: "binary glTF",
    extensions: &["glb"],
    about: "For Blender, browsers and game engines: one animated file",
    content: Content::Whole(start),
};

/// Maximum length of a file, which is stored as a u32 \[bytes\].
const MAX_LENGTH: u64 = u32::MAX as u64;

/// Length of the header of the file \[bytes\].
const FILE_HEAD: u64 = 12;
/// Length of the header of the text and of the data \[bytes\].
const CHUNK_HEAD: u64 = 8;

struct Glb {
    context: WriterContext,
    up: Axis,
    count: Count,
    plan: Plan,
    /// Length of the text \[bytes\].
    text: u64,
    file: Draft,
    /// Positions and normals of each body in the first frame, as written.
    base: Vec<[Vec<[f32; 3]>; 2]>,
    /// Minimum and maximum coordinates of each body in each frame, as written.
    bounds: Vec<[[f32; 3]; 2]>,
    first_time: f64,
    times: Vec<f32>,
}

fn start(context: WriterContext, options: &Options, frames: usize) -> Started {
    let bodies = context.geometry().bodies().iter().map(|body| BodyLayout {
        name: json_string(body.name()),
        vertices: body.surface().vertices().len() as u64,
        triangles: body.surface().faces().iter().map(|face| face.len() as u64 - 2).sum(),
    });
    let plan = Plan { bodies: bodies.collect(), frames: frames as u64 };
    let too_many = || {
        let (path, format) = (context.path().into(), context.format());
        WriteError::TooManyFrames { path, format, frames, limit: MAX_LENGTH }
    };
    // Checked before the text is built, which could be large itself.
    if plan.min_length() > MAX_LENGTH {
        return Err(too_many());
    }
    let text = plan.text(&[], 0.0).len() as u64;
    let data = FILE_HEAD + CHUNK_HEAD + text + CHUNK_HEAD;
    if data + plan.data_length() > MAX_LENGTH {
        return Err(too_many());
    }
    let mut file = Draft::new(context.path())?;
    file.go_to(data)?;
    for body in context.geometry().bodies() {
        let indices = body.surface().triangles().flatten().flat_map(u32::to_le_bytes);
        file.write(&indices.collect::<Vec<u8>>())?;
    }
    Ok(Box::new(Glb {
        context,
        up: options.up,
        count: Count::new(frames),
        plan,
        text,
        file,
        base: Vec::new(),
        bounds: Vec::new(),
        first_time: 0.0,
        times: Vec::new(),
    }))
}

impl FrameWriter for Glb {
    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        self.count.check_next(self.context.path())?;
        self.context.check(frame)?;
        if self.count.written == 0 {
            self.first_time = frame.time;
        }
        let time = (frame.time - self.first_time) as f32;
        if let Some(last) = self.times.last()
            && time <= *last
        {
            let what =
                format!("its time ({time} s after the first) does not increase; expected a time after the last frame");
            return Err(self.context.error(frame, what));
        }
        for body in 0..self.context.geometry().bodies().len() {
            let pose = self.context.pose(body, frame);
            let parts = [&pose.positions, &pose.normals].map(|vectors| upright(vectors, self.up));
            let written = match self.base.get(body).filter(|_| self.count.written > 0) {
                None => parts.map(|part| part.into_iter().map(single).collect::<Vec<_>>()),
                Some(base) => [0, 1].map(|i| parts[i].iter().zip(&base[i]).map(|(x, x0)| added(*x, *x0)).collect()),
            };
            self.bounds.push(bounds(&written[0]));
            for part in &written {
                self.file.write(&bytes(part.as_flattened()))?;
            }
            if self.count.written == 0 {
                self.base.push(written);
            }
        }
        self.times.push(time);
        self.count.written += 1;
        self.context.done(frame);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        self.count.check_all(self.context.path())?;
        let targets = self.count.expected - 1;
        if targets > 0 {
            self.file.write(&bytes(&self.times))?;
            let mut weights = vec![0.0; targets];
            for frame in 0..=targets {
                weights.fill(0.0);
                // The first frame is the base mesh and has no target.
                if let Some(target) = frame.checked_sub(1) {
                    weights[target] = 1.0;
                }
                self.file.write(&bytes(&weights))?;
            }
        }
        let text = self.plan.text(&self.bounds, self.times.last().copied().unwrap_or(0.0));
        let data = self.plan.data_length();
        let mut head = Vec::from(b"glTF");
        let numbers = |numbers: &[u64]| numbers.iter().flat_map(|&n| (n as u32).to_le_bytes()).collect::<Vec<u8>>();
        head.extend(numbers(&[2, FILE_HEAD + 2 * CHUNK_HEAD + self.text + data, self.text]));
        head.extend(b"JSON");
        head.extend(text.as_bytes());
        head.extend(numbers(&[data]));
        head.extend(b"BIN\0");
        self.file.go_to(0)?;
        self.file.write(&head)?;
        let path = self.file.path().into();
        self.file.finish()?;
        Ok(vec![path])
    }
}

/// Rotates vectors so that `up` becomes the y axis, the vertical axis of glTF.
fn upright(vectors: &[Vec3], up: Axis) -> Vec<Vec3> {
    let turn = |v: &Vec3| match up {
        Axis::X => Vec3::new(-v.y, v.x, v.z),
        Axis::Y => *v,
        Axis::Z => Vec3::new(v.x, v.z, -v.y),
    };
    vectors.iter().map(turn).collect()
}

fn single(v: Vec3) -> [f32; 3] {
    v.to_array().map(|x| x as f32)
}

/// Returns the increment of a target relative to `base` as written, so that rounding errors do not accumulate.
fn added(v: Vec3, base: [f32; 3]) -> [f32; 3] {
    single(v - Vec3::from_array(base.map(f64::from)))
}

fn bounds(vectors: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let low = |axis: usize| vectors.iter().map(|v| v[axis]).fold(f32::INFINITY, f32::min);
    let high = |axis: usize| vectors.iter().map(|v| v[axis]).fold(f32::NEG_INFINITY, f32::max);
    [[0, 1, 2].map(low), [0, 1, 2].map(high)]
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Layout of a file, known before the first frame.
struct Plan {
    bodies: Vec<BodyLayout>,
    frames: u64,
}

struct BodyLayout {
    /// Name as a JSON string.
    name: String,
    vertices: u64,
    triangles: u64,
}

impl Plan {
    fn index_length(&self) -> u64 {
        self.bodies.iter().map(|body| 12 * body.triangles).sum()
    }

    fn vertex_length(&self) -> u64 {
        let frame: u64 = self.bodies.iter().map(|body| 24 * body.vertices).sum();
        frame.saturating_mul(self.frames)
    }

    /// Returns the length of times and weights \[bytes\]; 0 for a single frame.
    fn animation_length(&self) -> u64 {
        if self.frames > 1 { self.frames.saturating_mul(self.frames).saturating_mul(4) } else { 0 }
    }

    fn data_length(&self) -> u64 {
        self.index_length().saturating_add(self.vertex_length()).saturating_add(self.animation_length())
    }

    /// Returns a lower bound of the length of the file \[bytes\]. The text has more than 200 characters per frame and
    /// body.
    fn min_length(&self) -> u64 {
        let text = (200 * self.bodies.len() as u64).saturating_mul(self.frames);
        self.data_length().saturating_add(text)
    }

    /// Returns the accessor of the positions of a body in a frame. The accessor of its normals is the next.
    fn positions(&self, frame: u64, body: usize) -> u64 {
        let bodies = self.bodies.len() as u64;
        bodies + 2 * (frame * bodies + body as u64)
    }

    /// Returns the padded JSON text. Its length does not depend on the values of the arguments; `bounds` may be empty.
    fn text(&self, bounds: &[[[f32; 3]; 2]], duration: f32) -> String {
        let moves = self.frames > 1;
        let mut text = String::from("{\"asset\":{\"version\":\"2.0\",\"generator\":\"Pliant\"},\"scene\":0,");
        let nodes = listed(0..self.bodies.len(), |node| node.to_string());
        let _ = write!(text, "\"scenes\":[{{\"nodes\":[{nodes}]}}]");
        let node = |(mesh, body): (usize, &BodyLayout)| format!("{{\"name\":{},\"mesh\":{mesh}}}", body.name);
        let _ = write!(text, ",\"nodes\":[{}]", listed(self.bodies.iter().enumerate(), node));
        let _ = write!(text, ",\"meshes\":[{}]", listed(0..self.bodies.len(), |body| self.mesh(body)));
        let material = |(number, body): (usize, &BodyLayout)| {
            let [red, green, blue] = linear(body_color(number));
            format!(
                "{{\"name\":{},\"doubleSided\":true,\"pbrMetallicRoughness\":{{\"baseColorFactor\":[{red},{green},{blue},1],\
                 \"metallicFactor\":0,\"roughnessFactor\":0.6}}}}",
                body.name
            )
        };
        let _ = write!(text, ",\"materials\":[{}]", listed(self.bodies.iter().enumerate(), material));
        if moves {
            let times = self.positions(self.frames, 0);
            let channel =
                |node: usize| format!("{{\"sampler\":0,\"target\":{{\"node\":{node},\"path\":\"weights\"}}}}");
            let _ = write!(
                text,
                ",\"animations\":[{{\"name\":\"simulation\",\"channels\":[{}],\"samplers\":[{{\"input\":{times},\
                 \"interpolation\":\"LINEAR\",\"output\":{}}}]}}]",
                listed(0..self.bodies.len(), channel),
                times + 1
            );
        }
        let _ = write!(text, ",\"accessors\":[{}]", self.accessors(bounds, duration));
        let (indices, vertices) = (self.index_length(), self.vertex_length());
        let _ = write!(
            text,
            ",\"bufferViews\":[{{\"buffer\":0,\"byteOffset\":0,\"byteLength\":{indices},\"target\":34963}},\
             {{\"buffer\":0,\"byteOffset\":{indices},\"byteLength\":{vertices},\"byteStride\":12,\"target\":34962}}"
        );
        if moves {
            let (start, length) = (indices + vertices, self.animation_length());
            let _ = write!(text, ",{{\"buffer\":0,\"byteOffset\":{start},\"byteLength\":{length}}}");
        }
        let _ = write!(text, "],\"buffers\":[{{\"byteLength\":{}}}]}}", self.data_length());
        let padding = text.len().next_multiple_of(4) - text.len();
        text.extend(std::iter::repeat_n(' ', padding));
        text
    }

    fn mesh(&self, body: usize) -> String {
        let attributes = |frame: u64| {
            let positions = self.positions(frame, body);
            format!("{{\"POSITION\":{positions},\"NORMAL\":{}}}", positions + 1)
        };
        let mut mesh = format!(
            "{{\"name\":{},\"primitives\":[{{\"attributes\":{},\"indices\":{body},\"material\":{body}",
            self.bodies[body].name,
            attributes(0)
        );
        if self.frames > 1 {
            let targets = listed(1..self.frames, attributes);
            let weights = listed(1..self.frames, |_| "0".to_owned());
            let _ = write!(mesh, ",\"targets\":[{targets}]}}],\"weights\":[{weights}]}}");
        } else {
            mesh.push_str("}]}");
        }
        mesh
    }

    fn accessors(&self, bounds: &[[[f32; 3]; 2]], duration: f32) -> String {
        let mut list = String::new();
        let mut offset = 0;
        for body in &self.bodies {
            let count = 3 * body.triangles;
            let _ = write!(
                list,
                "{{\"bufferView\":0,\"byteOffset\":{offset},\"componentType\":5125,\"count\":{count},\"type\":\"SCALAR\"}},"
            );
            offset += 12 * body.triangles;
        }
        offset = 0;
        let mut bounds = bounds.iter();
        for body in (0..self.frames).flat_map(|_| &self.bodies) {
            let [low, high] = bounds.next().copied().unwrap_or_default().map(|corner| listed(corner, fixed));
            let count = body.vertices;
            for range in [format!(",\"min\":[{low}],\"max\":[{high}]"), String::new()] {
                let _ = write!(
                    list,
                    "{{\"bufferView\":1,\"byteOffset\":{offset},\"componentType\":5126,\"count\":{count},\
                     \"type\":\"VEC3\"{range}}},"
                );
                offset += 12 * count;
            }
        }
        if self.frames > 1 {
            let (frames, last) = (self.frames, fixed(duration));
            let _ = write!(
                list,
                "{{\"bufferView\":2,\"byteOffset\":0,\"componentType\":5126,\"count\":{frames},\"type\":\"SCALAR\",\
                 \"min\":[0],\"max\":[{last}]}},\
                 {{\"bufferView\":2,\"byteOffset\":{},\"componentType\":5126,\"count\":{},\"type\":\"SCALAR\"}},",
                4 * frames,
                frames * (frames - 1)
            );
        }
        list.pop();
        list
    }
}

/// Formats a number with a fixed width, which suffices for every number in single precision.
fn fixed(x: f32) -> String {
    format!("{x:>16e}")
}

fn listed<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    items.into_iter().map(text).collect::<Vec<_>>().join(",")
}

fn json_string(text: &str) -> String {
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(json, "\\u{:04x}", c as u32);
            }
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Value;

    use super::super::testing::{clothed, frames, model_of, two_bodies};
    use super::super::{SceneGeometry, start as start_any};
    use super::*;
    use pliant::mesh::{Cells, generate};
    use pliant::model::{Body, Model};

    /// File that was read back.
    struct Scene {
        json: Value,
        data: Vec<u8>,
    }

    impl Scene {
        fn new(bytes: &[u8]) -> Self {
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
            let text = word(12);
            assert_eq!((&bytes[16..20], text % 4), (&b"JSON"[..], 0));
            let json = serde_json::from_slice(&bytes[20..20 + text]).unwrap();
            let at = 20 + text;
            assert_eq!((&bytes[at + 4..at + 8], word(at) % 4), (&b"BIN\0"[..], 0));
            assert_eq!(at + 8 + word(at), bytes.len());
            let scene = Self { json, data: bytes[at + 8..].to_vec() };
            scene.check();
            scene
        }

        /// Checks that accessors lie inside their views, views lie inside the buffer, and bounds are correct.
        fn check(&self) {
            let whole = |value: &Value, name: &str| value[name].as_u64().unwrap();
            assert_eq!(whole(&self.json["buffers"][0], "byteLength"), self.data.len() as u64);
            let views = self.json["bufferViews"].as_array().unwrap();
            for view in views {
                assert!(whole(view, "byteOffset") + whole(view, "byteLength") <= self.data.len() as u64);
            }
            for (index, accessor) in self.json["accessors"].as_array().unwrap().iter().enumerate() {
                let width = if accessor["type"] == "VEC3" { 3 } else { 1 };
                let view = &views[whole(accessor, "bufferView") as usize];
                let end = whole(accessor, "byteOffset") + 4 * width * whole(accessor, "count");
                assert!(end <= whole(view, "byteLength") && whole(accessor, "byteOffset") % 4 == 0);
                for (name, pick) in [("min", f32::min as fn(f32, f32) -> f32), ("max", f32::max)] {
                    let Some(said) = accessor[name].as_array() else { continue };
                    let numbers = self.floats(index as u64);
                    for (axis, said) in said.iter().enumerate() {
                        let own = numbers.iter().skip(axis).step_by(width as usize).copied().reduce(pick);
                        assert_eq!(own, Some(said.as_f64().unwrap() as f32));
                    }
                }
            }
        }

        fn words(&self, accessor: u64) -> Vec<[u8; 4]> {
            let accessor = &self.json["accessors"][accessor as usize];
            let whole = |value: &Value, name: &str| value[name].as_u64().unwrap() as usize;
            let view = &self.json["bufferViews"][whole(accessor, "bufferView")];
            let count = whole(accessor, "count") * if accessor["type"] == "VEC3" { 3 } else { 1 };
            let start = whole(view, "byteOffset") + whole(accessor, "byteOffset");
            self.data[start..start + 4 * count].as_chunks::<4>().0.to_vec()
        }

        fn floats(&self, accessor: u64) -> Vec<f32> {
            self.words(accessor).into_iter().map(f32::from_le_bytes).collect()
        }

        /// Returns the times of the animation and the weights at each time.
        fn animation(&self) -> (Vec<f32>, Vec<Vec<f32>>) {
            let sampler = &self.json["animations"][0]["samplers"][0];
            let times = self.floats(sampler["input"].as_u64().unwrap());
            let weights = self.floats(sampler["output"].as_u64().unwrap());
            (times.clone(), weights.chunks(weights.len() / times.len()).map(<[f32]>::to_vec).collect())
        }

        /// Computes an attribute of a body with the weights of a keyframe.
        fn morphed(&self, body: usize, attribute: &str, weights: &[f32]) -> Vec<[f32; 3]> {
            let primitive = &self.json["meshes"][body]["primitives"][0];
            let mut values = self.floats(primitive["attributes"][attribute].as_u64().unwrap());
            let targets = primitive["targets"].as_array().unwrap();
            assert_eq!(targets.len(), weights.len());
            for (target, weight) in targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
                let added = self.floats(target[attribute].as_u64().unwrap());
                values.iter_mut().zip(added).for_each(|(value, added)| *value += weight * added);
            }
            values.as_chunks::<3>().0.to_vec()
        }
    }

    fn written(geometry: &Arc<SceneGeometry>, frames: &[Frame], up: Axis) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.glb");
        let mut writer = start_any(&path, geometry, &Options { frames: Some(frames.len()), up }).unwrap();
        frames.iter().for_each(|frame| writer.write(frame).unwrap());
        assert_eq!(writer.finish().unwrap(), std::slice::from_ref(&path));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        Scene::new(&std::fs::read(path).unwrap())
    }

    #[test]
    fn at_the_time_of_each_frame_the_bodies_are_where_they_were_with_unit_normals() {
        let model = two_bodies();
        let mut all = frames(&model, 5);
        all.iter_mut().for_each(|frame| frame.time += 7.0);
        let geometry = Arc::new(clothed(&model));
        let scene = written(&geometry, &all, Axis::Y);
        let (times, weights) = scene.animation();
        assert_eq!(times.len(), all.len());
        for ((frame, time), weights) in all.iter().zip(times).zip(&weights) {
            assert!((f64::from(time) - (frame.time - 7.0)).abs() < 1e-6);
            for (body, shown) in geometry.bodies().iter().enumerate() {
                let positions = scene.morphed(body, "POSITION", weights);
                let expected = shown.surface_positions(&frame.u);
                assert_eq!(positions.len(), expected.len());
                for (found, expected) in positions.iter().zip(&expected) {
                    let found = Vec3::from_array(found.map(f64::from));
                    assert!(found.distance(*expected) < 3e-7, "{found} instead of {expected}");
                }
                for normal in scene.morphed(body, "NORMAL", weights) {
                    assert!((Vec3::from_array(normal.map(f64::from)).length() - 1.0).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn faces_and_names_are_those_of_the_bodies() {
        let block = generate::block([1.0; 3], [2, 2, 2], Cells::Hex).unwrap();
        let body = |name: &str| Body::without_elasticity(block.clone(), 1.0).named(name);
        let model = Model::builder().body(body("a \"b\" \\ \n ü")).body(body("c")).build().unwrap();
        let geometry = Arc::new(SceneGeometry::new(&model));
        let scene = written(&geometry, &frames(&model, 2), Axis::Y);
        assert_eq!(scene.json["nodes"][0]["name"], "a \"b\" \\ \n ü");
        for (body, shown) in geometry.bodies().iter().enumerate() {
            let primitive = &scene.json["meshes"][body]["primitives"][0];
            let indices = scene.words(primitive["indices"].as_u64().unwrap()).into_iter().map(u32::from_le_bytes);
            assert!(indices.eq(shown.surface().triangles().flatten()));
            assert_eq!(scene.json["animations"][0]["channels"][body]["target"]["node"], body);
        }
        assert_ne!(
            scene.json["materials"][0]["pbrMetallicRoughness"],
            scene.json["materials"][1]["pbrMetallicRoughness"]
        );
    }

    #[test]
    fn what_is_up_in_the_model_is_up_in_the_file() {
        let model = model_of([generate::block([1.0, 2.0, 3.0], [1, 1, 1], Cells::Hex).unwrap()]);
        let geometry = Arc::new(SceneGeometry::new(&model));
        let mut frame = frames(&model, 1);
        frame[0].u.fill(0.0);
        for (up, height) in [(Axis::X, 1.0), (Axis::Y, 2.0), (Axis::Z, 3.0)] {
            let scene = written(&geometry, &frame, up);
            let accessor = &scene.json["accessors"][1];
            let extent =
                |axis: usize| accessor["max"][axis].as_f64().unwrap() - accessor["min"][axis].as_f64().unwrap();
            assert_eq!(extent(1), height);
            // A mirrored body would be inside out.
            let turned = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| upright(&[axis], up)[0]);
            assert_eq!(turned[0].cross(turned[1]), turned[2]);
        }
    }

    #[test]
    fn a_single_frame_has_no_animation() {
        let model = two_bodies();
        let scene = written(&Arc::new(SceneGeometry::new(&model)), &frames(&model, 1), Axis::Z);
        assert!(scene.json.get("animations").is_none());
        assert!(scene.json["meshes"][0]["primitives"][0].get("targets").is_none());
    }

    #[test]
    fn more_than_four_gigabytes_are_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let geometry = Arc::new(SceneGeometry::new(&two_bodies()));
        for frames in [40_000, usize::MAX] {
            let options = Options { frames: Some(frames), ..Options::default() };
            let error = start_any(&folder.path().join("a.glb"), &geometry, &options).err().unwrap().to_string();
            assert!(error.ends_with("do not fit into the 4294967295 bytes that binary glTF can store; write fewer"));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn frames_at_one_time_are_refused() {
        let model = two_bodies();
        let folder = tempfile::tempdir().unwrap();
        let options = Options { frames: Some(2), ..Options::default() };
        let mut writer =
            start_any(&folder.path().join("a.glb"), &Arc::new(SceneGeometry::new(&model)), &options).unwrap();
        let mut all = frames(&model, 2);
        all[1].time = 1e-60;
        writer.write(&all[0]).unwrap();
        let message = writer.write(&all[1]).unwrap_err().to_string();
        assert!(message.contains("frame 1: its time (0 s after the first) does not increase"), "{message}");
    }

    #[test]
    fn the_text_is_as_long_whatever_the_numbers() {
        let extremes =
            [f32::MIN, f32::MAX, f32::MIN_POSITIVE, -f32::MIN_POSITIVE, -1.1754943e-38, 1.0 / 3.0, -0.0, 1e-45];
        assert!(extremes.iter().all(|&x| fixed(x).len() == 16));
    }
}
