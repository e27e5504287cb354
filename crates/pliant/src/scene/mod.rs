//! Scenes: what is simulated, how, and what of it is kept, in one TOML file.
//!
//! ```toml
//! [[object]]
//! mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm" } }
//! material = { law = "neo-hookean", young = "1 MPa", poisson = 0.45, density = 1000 }
//!
//! [[hold]]
//! vertices = "start"
//!
//! [simulation]
//! step = "10 ms"
//! duration = "2 s"
//! ```
//!
//! The types here are the format: their documentation is the reference that [`reference()`] makes, and [`schema`] describes them to other
//! programs. What a part of the file means is beside its type: objects in `object.rs`, what acts on them in `act.rs`, and so on;
//! [`SceneFile::build`] puts them together.

mod act;
mod bounds;
mod build;
mod construct;
mod contact;
mod expect;
mod files;
mod material;
mod motion;
mod object;
mod output;
mod place;
mod probe;
pub mod quantity;
mod reduced;
mod reference;
mod select;
mod settings;
mod shape;
mod softness;
mod solid;
pub mod vega;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::io::Files;
use crate::math::Vec3;

pub use act::{Ball, Damping, Handle, Hold, Load, Obstacle, Plane, SpringLink};
pub use build::{Built, obstacle_stiffness};
pub use expect::{Expect, Over, Verdict};
pub use material::{Inverted, Material, MaterialChoice, MaterialFrame, MaterialTangent};
pub use motion::{Keyframe, Motion, Rotation};
pub use object::{MadeOf, Network, Object, ObjectRegion, Parts, Scale, Skin, Start};
pub use output::{Animation, Colour, Output, Picture, View};
pub use place::{At, Excerpt, SceneError, Source};
pub use probe::{Measure, Probe};
pub use quantity::{Quantity, QuantityError, Vector};
pub use reduced::{Reduced, ReducedChoice, ReducedForces};
pub use reference::{reference, schema};
pub use select::{Selection, Where};
pub use settings::{DampingState, Form, Mass, Newmark, Newton, Regularized, Scheme, Settings, Solver, Strain, Tangent};
pub use shape::{Elements, Made, MeshSource, Shape, ShapeError};
pub use solid::{Solid, SolidError, SolidSource};

use quantity::{dimension, vec3};

/// A scene. All numbers are in SI units, or text with a unit such as `"5 cm"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// What to call it; by default the name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it shows, in your words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Which axis points up, for gravity and pictures.
    #[serde(default)]
    pub up: Up,
    /// Acceleration by gravity; by default 9.81 m/s² downwards. `gravity = [0, 0, 0]` turns it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<Vector<dimension::Acceleration>>,
    /// Steps in time, and how they are made.
    pub simulation: At<Settings>,
    /// A few directions in which the body moves, and so thousands of steps a second: `reduced = "model.pliant"`, a file that `pliant reduce` has made of
    /// this scene, or `reduced = { size = 30 }`. What is held stays where it is at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<At<ReducedChoice>>,
    /// Materials under names, for objects to refer to: `[material.rubber]`.
    #[serde(default, rename = "material", skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, At<Material>>,
    /// The bodies.
    #[serde(rename = "object")]
    pub objects: Vec<At<Object>>,
    /// Vertices that are fixed, or moved.
    #[serde(default, rename = "hold", skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<At<Hold>>,
    /// Springs from vertices to points in space that may move.
    #[serde(default, rename = "handle", skip_serializing_if = "Vec::is_empty")]
    pub handles: Vec<At<Handle>>,
    /// Springs between vertices, of one object or two.
    #[serde(default, rename = "spring", skip_serializing_if = "Vec::is_empty")]
    pub springs: Vec<At<SpringLink>>,
    /// Forces, tractions, pressures and impulses.
    #[serde(default, rename = "load", skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<At<Load>>,
    /// Planes and balls that bodies run into.
    #[serde(default, rename = "obstacle", skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<At<Obstacle>>,
    /// Damping of all bodies.
    #[serde(default)]
    pub damping: At<Damping>,
    /// Numbers to record beside those of the whole scene.
    #[serde(default, rename = "probe", skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<At<Probe>>,
    /// What is written, and where.
    #[serde(default)]
    pub output: At<Output>,
    /// What must come out, for `pliant run --check`.
    #[serde(default, rename = "expect", skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<At<Expect>>,
}

/// An axis that points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Up {
    /// As in Blender's exports, glTF and VegaFEM.
    #[default]
    Y,
    /// As in Blender itself and most engineering.
    Z,
}

impl Up {
    /// The direction.
    pub fn direction(self) -> Vec3 {
        match self {
            Self::Y => Vec3::Y,
            Self::Z => Vec3::Z,
        }
    }
}

/// Acceleration by gravity on Earth, in m/s².
pub const EARTH: f64 = 9.81;

/// A scene with the file that it is from.
#[derive(Debug, Clone)]
pub struct SceneFile {
    /// What it says.
    pub scene: Scene,
    /// The file.
    pub source: Source,
    /// What is worth knowing of how it was read, a sentence each.
    pub notes: Vec<String>,
}

impl SceneFile {
    /// Read a scene: a `.config` file of [VegaFEM](vega), or else TOML.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, SceneError> {
        Self::of(files, Source::read(files, path)?)
    }

    /// Understand a text as what its name says that it is.
    pub fn of(files: &dyn Files, source: Source) -> Result<Self, SceneError> {
        if source.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("config")) {
            return vega::read(files, source);
        }
        Self::parse(source)
    }

    /// Understand the text of a scene: TOML.
    pub fn parse(source: Source) -> Result<Self, SceneError> {
        let scene: Scene = toml::from_str(&source.text)
            .map_err(|error| source.error(error.span().as_ref(), explained(error.message())))?;
        if let Some((place, found, expected)) = longer_list(&source.text, &scene) {
            return Err(source.error(None, format!("`{place}` has {found} entries, expected {expected}")));
        }
        Ok(Self { scene, source, notes: Vec::new() })
    }

    /// What to call it.
    pub fn title(&self) -> String {
        let stem = || self.source.path.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy().into_owned());
        self.scene.title.clone().unwrap_or_else(stem)
    }
}

impl Scene {
    /// Acceleration by gravity, in m/s².
    pub fn gravity(&self) -> Vec3 {
        self.gravity.map_or(-EARTH * self.up.direction(), |gravity| vec3::<dimension::Acceleration>(&gravity))
    }

    /// Make steps of another length, in s. What goes by steps keeps its times.
    pub fn set_step(&mut self, step: f64) {
        let before = std::mem::replace(&mut self.simulation.value.step, At::new(Quantity::new(step)));
        for load in self.loads.iter_mut().map(|load| &mut load.value) {
            if load.steps.is_some() && load.interval.is_none() {
                load.interval = Some(At::new(before.value));
            }
        }
    }

    /// The springs of the stiffest network, in N/m.
    pub(crate) fn network_stiffness(&self) -> f64 {
        let networks = self.objects.iter().filter_map(|object| object.network.as_ref());
        networks.map(|network| network.stiffness.si).fold(0.0, f64::max)
    }

    /// As a file.
    #[allow(clippy::missing_panics_doc, reason = "every scene can be written")]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("every scene can be written as TOML")
    }
}

/// The first list that is longer than what was understood of it: the parser reads three numbers where three are expected, and does not look for a
/// fourth.
fn longer_list(text: &str, scene: &Scene) -> Option<(String, usize, usize)> {
    fn compare(written: &toml::Value, understood: &toml::Value, place: &str) -> Option<(String, usize, usize)> {
        match (written, understood) {
            (toml::Value::Array(written), toml::Value::Array(understood)) => {
                if written.len() > understood.len() {
                    return Some((place.to_owned(), written.len(), understood.len()));
                }
                let mut pairs = written.iter().zip(understood).enumerate();
                pairs.find_map(|(n, (written, understood))| compare(written, understood, &format!("{place}[{n}]")))
            }
            (toml::Value::Table(written), toml::Value::Table(understood)) => {
                written.iter().find_map(|(key, written)| {
                    let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                    compare(written, understood.get(key)?, &place)
                })
            }
            _ => None,
        }
    }
    let written = toml::from_str(text).ok()?;
    compare(&written, &toml::Value::try_from(scene).ok()?, "")
}

/// What the parser says, in the words of a scene, with a suggestion for a name that is not known.
fn explained(message: &str) -> String {
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    for (start, what) in [("unknown field ", "key"), ("unknown variant ", "value")] {
        let Some(rest) = message.strip_prefix(start) else { continue };
        let mut names = quoted(rest).into_iter();
        let Some(found) = names.next() else { break };
        let known: Vec<String> = names.collect();
        let list = known.join(", ");
        let hint = hint(&found, known.iter().map(String::as_str));
        return format!("there is no {what} `{found}` here{hint} Expected one of {list}");
    }
    if message == "integer number overflowed" {
        return format!("this whole number has too many digits, expected one from {} to {}", i64::MIN, i64::MAX);
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        return format!("the key {rest} is missing");
    }
    // The types of numbers are ours, not the user's.
    let plain = ["u8", "u32", "u64", "usize"].iter().fold(message.to_owned(), |text, name| {
        text.replace(&format!("expected {name}"), "expected a whole number that is not negative")
    });
    plain.replace("field", "key")
}

/// The known name that is most like one that is not known, if any is.
pub(crate) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let like = |name: &&str| strsim::jaro_winkler(&found.to_lowercase(), &name.to_lowercase());
    known.into_iter().filter(|name| like(name) > 0.78).max_by(|a, b| like(a).total_cmp(&like(b)))
}

/// The end of a sentence about a name that is not known: the one that is likely meant, if any is like it.
pub(crate) fn hint<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known).map_or(".".into(), |nearest| format!("; did you mean `{nearest}`?"))
}

/// Something that is written as a text in short, and as a table in full.
fn text_or_table<'de, D, T, U>(
    deserializer: D,
    expected: &'static str,
    of_text: fn(String) -> T,
    of_table: fn(U) -> T,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    U: Deserialize<'de>,
{
    struct Either<T, U> {
        expected: &'static str,
        of_text: fn(String) -> T,
        of_table: fn(U) -> T,
    }

    impl<'de, T, U: Deserialize<'de>> Visitor<'de> for Either<T, U> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.expected)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            Ok((self.of_text)(text.to_owned()))
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let table = U::deserialize(MapAccessDeserializer::new(&mut map))?;
            match map.next_key::<String>()? {
                Some(key) => Err(de::Error::custom(format!("the key `{key}` is one too many here"))),
                None => Ok((self.of_table)(table)),
            }
        }
    }

    deserializer.deserialize_any(Either { expected, of_text, of_table })
}
