//! Message types of the protocol between the server and its page, which `PROTOCOL.md` describes.

use axum::body::Bytes;
use pliant::math::Vec3;
use pliant_scene::scene::quantity::{Acceleration, Length, Pressure, Rate, Time};
use pliant_scene::scene::{Inverted, Scene};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Maximum size of a message from a page, in bytes.
pub const MAX_COMMAND: usize = 64 << 10;

/// Command with the number under which the page expects an `answer`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct NumberedCommand {
    #[serde(default)]
    pub ask: Option<u64>,
    #[serde(flatten)]
    pub command: Command,
}

impl NumberedCommand {
    /// Reads a command. The error has the number of the question if that can be parsed, and the reason as text.
    pub fn read(text: &str) -> Result<Self, (Option<u64>, String)> {
        #[derive(Deserialize)]
        struct Question {
            ask: Option<u64>,
        }
        serde_json::from_str(text).map_err(|error| {
            let ask = serde_json::from_str::<Question>(text).ok().and_then(|question| question.ask);
            // The position in the JSON is meaningless to a user who filled in a field.
            let place = format!(" at line {} column {}", error.line(), error.column());
            let reason = error.to_string();
            (ask, reason.strip_suffix(&place).unwrap_or(&reason).to_owned())
        })
    }
}

/// Command of a page.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    Seen {
        number: u64,
    },
    View {
        color: String,
        slice: Option<Plane>,
    },
    Play,
    Pause,
    Step,
    Reset,
    Seek {
        time: f64,
    },
    Speed {
        factor: Option<f64>,
    },
    Grab {
        pull: u32,
        triangle: u32,
        weights: [f64; 3],
        target: [f64; 3],
        stiffness: f64,
        #[serde(default)]
        input: u64,
    },
    Drag {
        pull: u32,
        target: [f64; 3],
        stiffness: Option<f64>,
        #[serde(default)]
        input: u64,
    },
    Release {
        pull: u32,
    },
    Pin {
        triangle: u32,
        weights: [f64; 3],
        #[serde(default)]
        radius: f64,
    },
    Unpin {
        triangle: u32,
        weights: [f64; 3],
        #[serde(default)]
        radius: f64,
    },
    UnpinAll,
    Ball {
        center: [f64; 3],
        radius: f64,
    },
    NoBall,
    Throw {
        triangle: u32,
        velocity: [f64; 3],
    },
    SetMaterial(MaterialSteering),
    Set(Steering),
    Remedy(Remedy),
    Read {
        length: Length,
    },
    UndoChanges,
    Save,
}

/// Cutting plane through the bodies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    pub point: [f64; 3],
    pub normal: [f64; 3],
}

/// Changes of the integrator, damping and gravity; absent fields stay unchanged. Quantities are numbers in SI units or
/// strings with a unit, as in scenes.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Steering {
    pub step: Option<Time>,
    pub integrator: Option<String>,
    pub solver: Option<String>,
    pub mass_damping: Option<Rate>,
    pub stiffness_damping: Option<Time>,
    pub gravity: Option<[Acceleration; 3]>,
}

/// Changes of the material of a region; absent fields stay unchanged.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialSteering {
    pub index: usize,
    pub law: Option<String>,
    pub young: Option<Pressure>,
    pub poisson: Option<Number>,
    pub inversion: Option<Inverted>,
}

/// Change that ends a failure or a gain of energy: exactly one of the first four fields, optionally from an earlier
/// time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Remedy {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inversion: Option<Inverted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrator: Option<String>,
    /// Time step \[s\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Simulated time \[s\] to continue from, if the present state cannot be continued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
}

/// Dimensionless number, as a number or a string.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(pub f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Number;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number without a unit")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                let number = text.trim().parse().ok().filter(|value: &f64| value.is_finite());
                number
                    .map(Number)
                    .ok_or_else(|| E::custom(format!("expected a number without a unit, found \"{text}\"")))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// Entry of a list from which the page offers one.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    pub name: String,
    pub about: String,
    pub options: Vec<ChoiceOption>,
}

impl Choice {
    /// Creates a choice without options.
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self { name: name.into(), about: about.into(), options: Vec::new() }
    }
}

/// Option of a choice in scenes.
#[derive(Debug, Clone, Serialize)]
pub struct ChoiceOption {
    pub name: String,
    pub about: String,
    pub default: Option<serde_json::Value>,
}

/// Header of `settings`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Settings {
    pub revision: u64,
    pub materials: Vec<MaterialParameters>,
    pub step: f64,
    pub integrator: String,
    pub solver: Option<String>,
    pub mass_damping: f64,
    pub stiffness_damping: f64,
    pub gravity: [f64; 3],
    pub pins: usize,
    pub changed: bool,
    pub why_not: Option<String>,
    pub why_no_pins: Option<String>,
    pub notes: Vec<String>,
}

impl Settings {
    /// Returns the settings of a scene with a step \[s\].
    pub fn of_scene(scene: &Scene, step: f64) -> Self {
        Self {
            step,
            integrator: scene.simulation.integrator.name().to_owned(),
            mass_damping: scene.damping.mass.si,
            stiffness_damping: scene.damping.stiffness.si,
            gravity: scene.gravity().to_array(),
            ..Self::default()
        }
    }
}

/// Material of a region.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MaterialParameters {
    pub index: usize,
    pub name: String,
    pub law: Option<String>,
    pub young: Option<f64>,
    pub poisson: Option<f64>,
    pub inversion: Option<Inverted>,
    pub density: f64,
    pub why_not: Option<String>,
}

/// Header of `notice`: the reason why a command was refused.
#[derive(Debug, Clone, Serialize)]
pub struct Notice {
    pub text: String,
}

/// Header of `answer`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerHeader {
    pub ask: u64,
    /// Value that was read, in SI units.
    pub value: Option<f64>,
    pub error: Option<String>,
}

impl AnswerHeader {
    pub fn new(ask: u64, answer: Result<Option<f64>, String>) -> Self {
        let (value, error) = match answer {
            Ok(value) => (value, None),
            Err(error) => (None, Some(error)),
        };
        Self { ask, value, error }
    }
}

/// Header of `scene`.
#[derive(Debug, Clone, Serialize)]
pub struct SavedScene {
    pub name: String,
    pub text: String,
}

/// Arrays of a message.
#[derive(Debug, Default)]
pub struct Arrays {
    heads: Vec<ArrayHead>,
    bytes: Vec<u8>,
}

#[derive(Debug, Serialize)]
struct ArrayHead {
    name: &'static str,
    kind: &'static str,
    count: usize,
}

impl Arrays {
    pub fn numbers(&mut self, name: &'static str, numbers: impl IntoIterator<Item = f32>) {
        self.push(name, "f32", numbers.into_iter().map(f32::to_le_bytes));
    }

    /// Adds positions relative to an origin.
    pub fn places(&mut self, name: &'static str, places: impl IntoIterator<Item = Vec3>, origin: Vec3) {
        self.numbers(name, places.into_iter().flat_map(|place| (place - origin).to_array().map(|x| x as f32)));
    }

    pub fn indices(&mut self, name: &'static str, indices: impl IntoIterator<Item = u32>) {
        self.push(name, "u32", indices.into_iter().map(u32::to_le_bytes));
    }

    fn push(&mut self, name: &'static str, kind: &'static str, items: impl Iterator<Item = [u8; 4]>) {
        let before = self.bytes.len();
        items.for_each(|item| self.bytes.extend(item));
        self.heads.push(ArrayHead { name, kind, count: (self.bytes.len() - before) / 4 });
    }
}

/// Encodes a message to the page.
pub fn message(kind: &str, header: &impl Serialize, arrays: &Arrays) -> Bytes {
    #[derive(Serialize)]
    struct Envelope<'a, H> {
        r#type: &'a str,
        #[serde(flatten)]
        header: &'a H,
        arrays: &'a [ArrayHead],
    }
    let envelope = Envelope { r#type: kind, header, arrays: &arrays.heads };
    let mut text = serde_json::to_vec(&envelope).expect("headers are plain data");
    // Arrays start at a multiple of four bytes, as typed arrays of browsers require.
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend(text);
    bytes.extend_from_slice(&arrays.bytes);
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_at_multiples_of_four_bytes_and_say_what_they_are() {
        for text in ["a", "ab", "abc", "abcd"] {
            let mut arrays = Arrays::default();
            arrays.places("positions", [Vec3::new(2.0, 3.0, 4.0)], Vec3::ONE);
            arrays.indices("triangles", [7, 8, 9]);
            let notice = Notice { text: text.into() };
            let bytes = message("notice", &notice, &arrays);
            let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            assert_eq!(length % 4, 0);
            let header: serde_json::Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
            assert_eq!(header["type"], "notice");
            assert_eq!(header["text"], text);
            assert_eq!(header["arrays"][1], serde_json::json!({ "name": "triangles", "kind": "u32", "count": 3 }));
            let payload = &bytes[4 + length..];
            assert_eq!(payload.len(), 24);
            assert_eq!(payload[..4], 1_f32.to_le_bytes());
            assert_eq!(payload[20..], 9_u32.to_le_bytes());
        }
    }

    #[test]
    fn commands_are_those_of_the_document_and_nothing_else() {
        // Each example of PROTOCOL.md, with its placeholders filled in.
        let document = include_str!("../PROTOCOL.md");
        let (_, commands) = document.split_once("## To the server").unwrap();
        let mut count = 0;
        for example in commands.split('`').skip(1).step_by(2).filter(|text| text.starts_with("{ \"do\"")) {
            let filled = [
                (": id", ": 1"),
                (": t,", ": 2,"),
                (": t }", ": 2 }"),
                (": n", ": 3"),
                (": k", ": 4"),
                (": r ", ": 5 "),
                (": i,", ": 6,"),
                (": E", ": 7"),
                (": ν", ": 0.3"),
                (": dt", ": 8"),
                (": α", ": 9"),
                (": β", ": 10"),
                ("[…]", "[1, 0, 0]"),
                ("[a, b, c]", "[1, 0, 0]"),
                ("[x, y, z]", "[1, 2, 3]"),
                ("3ull", "null"),
            ];
            let text = filled.iter().fold(example.to_owned(), |text, (letter, number)| text.replace(letter, number));
            NumberedCommand::read(&text).unwrap_or_else(|(_, error)| panic!("{text}: {error}"));
            count += 1;
        }
        assert!(count >= 19, "{count}");
        for wrong in [
            "{}",
            "[]",
            "null",
            "{\"do\":\"explode\"}",
            "{\"do\":\"seek\"}",
            "{\"do\":\"seek\",\"time\":\"now\"}",
            "{\"do\":\"seek\",\"time\":1e999}",
            "{\"do\":\"set\",\"steps\":1}",
        ] {
            assert!(serde_json::from_str::<Command>(wrong).is_err(), "{wrong}");
        }
    }
}
