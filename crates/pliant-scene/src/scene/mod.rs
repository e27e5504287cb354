//! Scenes: the model, the simulation settings and the output in one TOML file.
//!
//! ```toml
//! [[object]]
//! mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm" } }
//! material = { law = "neo-hookean", young = "1 MPa", poisson = 0.45, density = 1000 }
//!
//! [[fixed]]
//! vertices = "start"
//!
//! [simulation]
//! step = "10 ms"
//! duration = "2 s"
//! ```
//!
//! The types in this module are the format. Their documentation is the reference that [`reference()`] generates, and
//! [`schema`] describes them to other programs. Each part of the file is interpreted next to its type: objects in
//! `object.rs`, boundary conditions in `act.rs`, loads in `load/`, and so on. [`SceneFile::build`] assembles them.

mod act;
mod bounds;
mod build;
mod choices;
mod collision;
mod construct;
mod contact;
mod defaults;
mod expect;
mod files;
pub mod generator;
mod include;
pub mod integrator;
pub mod load;
mod located;
mod material;
mod motion;
mod object;
pub mod obstacle;
mod output;
mod probe;
pub mod quantity;
mod reduced;
mod reference;
mod registered;
mod renamed;
mod select;
mod settings;
mod softness;
pub mod solid;
pub mod solver;
mod structure;
mod tree;
mod values;
pub mod vega;
mod version;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use pliant::files::Files;
use pliant::math::Vec3;

pub use act::{Damping, Fixed, Handle, SpringLink};
pub use build::{Built, obstacle_stiffness};
pub use choices::{ChoiceInfo, choices};
pub use collision::{Contact, ContactMethod, ContactPair};
pub use expect::{Expect, Over, Verdict};
pub use generator::{
    GENERATORS, Generated, GeneratorChoice, GeneratorContext, GeneratorError, GeneratorOptions, MeshSource,
};
pub use integrator::{INTEGRATORS, IntegratorChoice, IntegratorContext, IntegratorOptions};
pub use load::{LOADS, Load, LoadChoice, LoadContext, LoadOptions};
pub use located::{Excerpt, Included, Located, Locations, SceneError, Source};
pub use material::{Inverted, MaterialChoice, MaterialFrame, MaterialSettings, MaterialTangent};
pub use motion::{Keyframe, Motion, Rotation};
pub use object::{MadeOf, Network, Object, ObjectRegion, Parts, Scale, Skin, Start};
pub use obstacle::{OBSTACLE_SHAPES, Obstacle, ObstacleShapeChoice, ObstacleShapeContext, ObstacleShapeOptions};
pub use output::{Animation, Color, Output, Picture, View};
pub use probe::{Measure, Probe};
pub use quantity::{Quantity, QuantityError, Vector};
pub use reduced::{Reduced, ReducedChoice, ReducedForces};
pub use reference::{reference, schema};
pub use registered::{Choice, Entry};
pub use select::{Selection, Where};
pub use settings::{Mass, Settings};
pub use solid::{SOLIDS, SolidChoice, SolidError, SolidOptions, SolidSource};
pub use solver::{SOLVERS, SolverChoice, SolverContext, SolverOptions};
pub use values::part_from_value;
pub use version::FormatVersion;

use include::{merge_files, wrong};
use quantity::{dimension, vec3};
use tree::{Content, Node};

/// A scene. All numbers are in SI units, or text with a unit such as `"5 cm"`.
///
/// ```toml
/// title = "swinging bar"
///
/// [[object]]
/// mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm" } }
/// material = { law = "neo-hookean", young = "1 MPa", poisson = 0.45, density = 1000 }
///
/// [[fixed]]
/// vertices = "start"
///
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of the scene format. Files of a greater version are errors. The number increases when scenes would be
    /// read differently or no longer; new keys do not increase it.
    #[serde(default)]
    pub version: FormatVersion,
    /// Title; by default the name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Free-text description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Axis that points up, for gravity and pictures.
    #[serde(default)]
    pub up: Up,
    /// Acceleration of gravity; by default 9.81 m/s² downwards. `gravity = [0, 0, 0]` turns it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<Vector<dimension::Acceleration>>,
    /// Time steps and the integrator.
    pub simulation: Located<Settings>,
    /// Reduced model with few degrees of freedom, for thousands of steps per second: `reduced = "model.pliant"`, a file
    /// written by `pliant reduce` for this scene, or `reduced = { size = 30 }`. Fixed vertices stay at their rest
    /// positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<Located<ReducedChoice>>,
    /// Named materials for objects to refer to: `[material.rubber]`.
    #[serde(default, rename = "material", skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, Located<MaterialSettings>>,
    /// The bodies.
    #[serde(rename = "object")]
    pub objects: Vec<Located<Object>>,
    /// Vertices with fixed or prescribed positions.
    #[serde(default, rename = "fixed", skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<Located<Fixed>>,
    /// Springs from vertices to points in space that may move.
    #[serde(default, rename = "handle", skip_serializing_if = "Vec::is_empty")]
    pub handles: Vec<Located<Handle>>,
    /// Springs between vertices of one or two objects.
    #[serde(default, rename = "spring", skip_serializing_if = "Vec::is_empty")]
    pub springs: Vec<Located<SpringLink>>,
    /// Forces, tractions, pressures and impulses.
    #[serde(default, rename = "load", skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<Located<Load>>,
    /// Contact of objects with each other, themselves and obstacles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Located<Contact>>,
    /// Rigid obstacles that bodies collide with.
    #[serde(default, rename = "obstacle", skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<Located<Obstacle>>,
    /// Damping of all bodies.
    #[serde(default)]
    pub damping: Located<Damping>,
    /// Quantities to record in addition to those of the whole scene.
    #[serde(default, rename = "probe", skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Located<Probe>>,
    /// Output files and their folder.
    #[serde(default)]
    pub output: Located<Output>,
    /// Expected results, for `pliant run --check`.
    #[serde(default, rename = "expect", skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Located<Expect>>,
}

/// Axis that points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Up {
    /// The y axis, as in Blender's exports, glTF and VegaFEM.
    #[default]
    Y,
    /// The z axis, as in Blender itself and most of engineering.
    Z,
}

impl Up {
    /// Returns the unit vector that points up.
    pub fn direction(self) -> Vec3 {
        match self {
            Self::Y => Vec3::Y,
            Self::Z => Vec3::Z,
        }
    }
}

/// Acceleration of gravity on Earth \[m/s²\].
pub const EARTH: f64 = 9.81;

/// A scene with its source file.
#[derive(Debug, Clone)]
pub struct SceneFile {
    /// The parsed scene.
    pub scene: Scene,
    /// The file.
    pub source: Source,
    /// Notes on how the file was read, one sentence each.
    pub notes: Vec<String>,
}

impl SceneFile {
    /// Reads a scene and the files that it includes: a `.config` file of [VegaFEM](vega), or else TOML.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, SceneError> {
        Self::of(files, Source::read(files, path)?)
    }

    /// Parses a source in the format given by its file extension.
    pub fn of(files: &dyn Files, source: Source) -> Result<Self, SceneError> {
        if source.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("config")) {
            return vega::read(files, source);
        }
        Self::of_toml(Some(files), source)
    }

    /// Parses a scene in TOML that includes no files.
    pub fn parse(source: Source) -> Result<Self, SceneError> {
        Self::of_toml(None, source)
    }

    fn of_toml(files: Option<&dyn Files>, source: Source) -> Result<Self, SceneError> {
        let root = Node::of_toml(&source.text, 0).map_err(|error| wrong(&source, &error))?;
        Self::of_node(files, source, root)
    }

    /// Merges the files of a scene and its default values, and parses the result.
    fn of_node(files: Option<&dyn Files>, mut source: Source, root: Node) -> Result<Self, SceneError> {
        let merged = merge_files(files, &mut source, root)?;
        let merged = defaults::apply(merged, &source)?;
        let mut scene: Scene = tree::parse(&merged).map_err(|error| wrong(&source, &error))?;
        if let Some((place, list, expected)) = longer_list(&merged, &scene) {
            let found = list.items().len();
            let message = format!("{found} entries, expected {expected}");
            // Errors in values of a program start with the key.
            let is_named = source.locations == Locations::Keys && source.included_at(&list.span).is_none();
            let message = if is_named { message } else { format!("`{place}` has {message}") };
            return Err(source.error(Some(&list.span), message));
        }
        scene.move_included_files(&source);
        Ok(Self { scene, source, notes: Vec::new() })
    }

    /// Returns the title of the scene, or else the name of its file.
    pub fn title(&self) -> String {
        let stem = || self.source.path.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy().into_owned());
        self.scene.title.clone().unwrap_or_else(stem)
    }
}

impl Scene {
    /// Returns the acceleration of gravity \[m/s²\].
    pub fn gravity(&self) -> Vec3 {
        self.gravity.map_or(-EARTH * self.up.direction(), |gravity| vec3::<dimension::Acceleration>(&gravity))
    }

    /// Sets the time step \[s\]. Loads given per step keep their times.
    pub fn set_step(&mut self, step: f64) {
        let before = std::mem::replace(&mut self.simulation.value.step, Located::new(Quantity::new(step)));
        self.loads.iter_mut().for_each(|load| load.value.kind.value.keep_times(before.value));
    }

    /// Returns the spring stiffness \[N/m\] of the stiffest network.
    pub(crate) fn network_stiffness(&self) -> f64 {
        let networks = self.objects.iter().filter_map(|object| object.network.as_ref());
        networks.map(|network| network.stiffness.si).fold(0.0, f64::max)
    }

    /// Returns the scene as TOML.
    #[allow(clippy::missing_panics_doc, reason = "every scene can be written")]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("every scene can be written as TOML")
    }
}

/// Returns the first list that is longer than its parsed value: its key, the list and the expected length. The parser
/// reads three numbers where three are expected, and ignores a fourth.
fn longer_list<'a>(written: &'a Node, scene: &Scene) -> Option<(String, &'a Node, usize)> {
    fn compare<'a>(written: &'a Node, understood: &toml::Value, place: &str) -> Option<(String, &'a Node, usize)> {
        match (&written.content, understood) {
            (Content::List(list), toml::Value::Array(understood)) => {
                if list.len() > understood.len() {
                    return Some((place.to_owned(), written, understood.len()));
                }
                let mut pairs = list.iter().zip(understood).enumerate();
                pairs.find_map(|(n, (written, understood))| compare(written, understood, &format!("{place}[{n}]")))
            }
            (Content::Table(table), toml::Value::Table(understood)) => table.entries.iter().find_map(|(key, entry)| {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                compare(&entry.node, understood.get(key)?, &place)
            }),
            _ => None,
        }
    }
    compare(written, &toml::Value::try_from(scene).ok()?, "")
}

/// Rewords a message of the parser in terms of scenes, with a suggestion for an unknown name.
fn explained(message: &str) -> String {
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    for (start, what) in [("unknown field ", "key"), ("unknown variant ", "value")] {
        let Some(rest) = message.strip_prefix(start) else { continue };
        let mut names = quoted(rest).into_iter();
        let Some(found) = names.next() else { break };
        let known: Vec<String> = names.collect();
        let list = known.join(", ");
        let names = || known.iter().map(String::as_str);
        if let Some(new) = renamed::moved(&found, names()) {
            return format!("there is no {what} `{found}` here; it is given as `{new}` now");
        }
        let hint = renamed::current(&found, names())
            .map_or_else(|| hint(&found, names()), |new| format!("; it is called `{new}` now."));
        return format!("there is no {what} `{found}` here{hint} Expected one of {list}");
    }
    if message == "integer number overflowed" {
        return format!("integer out of range: expected one from {} to {}", i64::MIN, i64::MAX);
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        return format!("the key {rest} is missing");
    }
    // Users do not know Rust's integer types.
    let plain = ["u8", "u32", "u64", "usize"].iter().fold(message.to_owned(), |text, name| {
        text.replace(&format!("expected {name}"), "expected a non-negative integer")
    });
    plain.replace("expected i64", "expected an integer").replace("field", "key")
}

/// Returns the known name most similar to an unknown one, or `None` if no name is similar.
pub(crate) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let like = |name: &&str| strsim::jaro_winkler(&found.to_lowercase(), &name.to_lowercase());
    known.into_iter().filter(|name| like(name) > 0.78).max_by(|a, b| like(a).total_cmp(&like(b)))
}

/// Returns the end of a sentence about an unknown name: a suggestion if a known name is similar, else a period.
pub(crate) fn hint<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known).map_or(".".into(), |nearest| format!("; did you mean `{nearest}`?"))
}

/// Deserializes a value that is written as text (short form) or as a table (full form).
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
                Some(key) => Err(de::Error::custom(format!("unexpected key `{key}`"))),
                None => Ok((self.of_table)(table)),
            }
        }
    }

    deserializer.deserialize_any(Either { expected, of_text, of_table })
}
