//! Scenes and their parts from values of a program, such as dictionaries of Python.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::ops::Range;
use std::path::PathBuf;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use serde_spanned::de::{SpannedDeserializer, is_spanned};

use super::{Scene, SceneError, SceneFile, Source, explained, longer_list};

impl SceneFile {
    /// Parses a scene from nested tables, as in a scene file. Errors name the key, as in `object[0].mesh`. Relative file
    /// names refer to `folder`.
    pub fn from_value(value: Value, folder: impl Into<PathBuf>) -> Result<Self, SceneError> {
        let written = toml::Value::try_from(&value);
        let (scene, keys) = parse::<Scene>(value, "")?;
        if let Ok(written) = written
            && let Some((place, found, expected)) = longer_list(&written, &scene)
        {
            return Err(ValueError::new(&place, &format!("{found} entries, expected {expected}")).into());
        }
        Ok(Self { scene, source: Source::keys(keys, folder), notes: Vec::new() })
    }
}

/// Parses a part of a scene, such as the options of an integrator. `name` names the value in errors.
pub fn part_from_value<T: for<'de> Deserialize<'de>>(value: Value, name: &str) -> Result<T, SceneError> {
    Ok(parse(value, name)?.0)
}

/// Returns the parsed value, and the keys that its locations refer to.
fn parse<T: for<'de> Deserialize<'de>>(value: Value, name: &str) -> Result<(T, String), SceneError> {
    let keys = RefCell::default();
    let parsed = T::deserialize(ValueAt { value, key: name.to_owned(), keys: &keys })?;
    Ok((parsed, keys.into_inner()))
}

/// Value with the key at which it was given. Keys of values with a location are appended to `keys`, and the location is
/// their range there.
#[derive(Debug, Clone)]
struct ValueAt<'a> {
    value: Value,
    key: String,
    keys: &'a RefCell<String>,
}

/// Error at a key.
#[derive(Debug)]
struct ValueError {
    key: String,
    message: String,
}

/// Separates key and message where an error passes through a trait object, which keeps only its text.
const SEPARATOR: char = '\u{1f}';

impl ValueError {
    fn new(key: &str, message: &str) -> Self {
        Self { key: key.to_owned(), message: message.to_owned() }
    }

    /// Returns the error with a key, unless it has one.
    fn at(self, key: &str) -> Self {
        if self.key.is_empty() { Self::new(key, &self.message) } else { self }
    }
}

impl de::Error for ValueError {
    fn custom<T: Display>(message: T) -> Self {
        let text = message.to_string();
        let (key, message) = text.split_once(SEPARATOR).unwrap_or(("", &text));
        Self::new(key, message)
    }
}

impl Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{SEPARATOR}{}", self.key, self.message)
    }
}

impl std::error::Error for ValueError {}

impl From<ValueError> for SceneError {
    fn from(ValueError { key, message }: ValueError) -> Self {
        let message = explained(&message);
        Source::none().error(None, if key.is_empty() { message } else { format!("{key}: {message}") })
    }
}

impl ValueAt<'_> {
    /// Appends the key to the list of keys, and returns its range.
    fn location(&self) -> Range<usize> {
        let mut keys = self.keys.borrow_mut();
        let start = keys.len();
        keys.push_str(&self.key);
        start..keys.len()
    }

    fn inner(&self, value: Value, key: String) -> Self {
        Self { value, key, keys: self.keys }
    }

    /// Returns the items of a list.
    fn items(&self, list: Vec<Value>) -> impl Iterator<Item = Self> {
        list.into_iter().enumerate().map(|(n, value)| self.inner(value, format!("{}[{n}]", self.key)))
    }

    /// Returns the entries of a table.
    fn entries(&self, table: serde_json::Map<String, Value>) -> impl Iterator<Item = (String, Self)> {
        table.into_iter().map(|(name, value)| {
            let key = if self.key.is_empty() { name.clone() } else { format!("{}.{name}", self.key) };
            (name, self.inner(value, key))
        })
    }
}

impl IntoDeserializer<'_, ValueError> for ValueAt<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for ValueAt<'_> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, ValueError> {
        let visited = match self.value.take() {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => visitor.visit_i64(integer),
                (_, Some(integer)) => visitor.visit_u64(integer),
                _ => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(list) => visitor.visit_seq(SeqDeserializer::new(self.items(list))),
            Value::Object(table) => visitor.visit_map(MapDeserializer::new(self.entries(table))),
        };
        visited.map_err(|error| error.at(&self.key))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        if !is_spanned(name) {
            return self.deserialize_any(visitor);
        }
        let (key, location) = (self.key.clone(), self.location());
        visitor.visit_map(SpannedDeserializer::new(self, location)).map_err(|error: ValueError| error.at(&key))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let visited = match self.value.take() {
            Value::String(name) => visitor.visit_enum(name.into_deserializer()),
            Value::Object(table) => {
                let entries = MapDeserializer::new(self.entries(table));
                MapAccessDeserializer::new(entries).deserialize_enum(name, variants, visitor)
            }
            value => return self.inner(value, self.key.clone()).deserialize_any(visitor),
        };
        visited.map_err(|error: ValueError| error.at(&self.key))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scene::integrator::Newmark;
    use crate::scene::{IntegratorChoice, Source};
    use pliant::io::Disk;

    fn cube() -> Value {
        json!({
            "object": [{
                "mesh": { "box": { "size": [1, "10 cm", 0.1], "cells": [2, 1, 1] } },
                "material": { "law": "stvk", "young": "1 MPa", "poisson": 0.3, "density": 1000 },
            }],
            "fixed": [{ "vertices": { "sphere": { "center": [0, 0, 0], "radius": 1 } } }],
            "simulation": {
                "step": 0.01,
                "duration": "1 s",
                "integrator": { "newmark": { "beta": 0.3, "newton": { "tolerance": 1e-6 } } },
                "solver": "direct",
            },
        })
    }

    #[test]
    fn a_scene_of_values_is_that_of_the_same_text() {
        let text = toml::to_string(&cube()).unwrap();
        let read = SceneFile::parse(Source::new("a.toml", text)).unwrap();
        assert_eq!(SceneFile::from_value(cube(), "").unwrap().scene, read.scene);
        assert_eq!(read.scene.simulation.integrator.options::<Newmark>().unwrap().beta, 0.3);
    }

    #[test]
    fn errors_name_the_key_of_the_wrong_value() {
        for (pointer, value, message) in [
            ("/object/0/material/young", json!("1 m"), "object[0].material.young: "),
            ("/object/0/mesh/box/cells", json!([2, 1]), "object[0].mesh.box.cells: "),
            ("/object/0/mesh/box/size/1", json!(true), "object[0].mesh.box.size[1]: "),
            (
                "/object/0/mesh/box",
                json!({ "size": [1, 1, 1], "cells": [1, 1, 1], "colour": 1 }),
                "object[0].mesh.box: ",
            ),
            ("/object/0/mesh/box/cells", json!([2, 1, 1, 1]), "object[0].mesh.box.cells: 4 entries, expected 3"),
            (
                "/object/0/mesh",
                json!({ "bax": {} }),
                "object[0].mesh: there is no value `bax` here; did you mean `box`?",
            ),
            ("/simulation/integrator/newmark/beta", json!("x"), "simulation.integrator"),
            ("/simulation/solver", json!(null), "simulation.solver: "),
            ("/simulation/step", json!("1 kg"), "simulation.step: "),
            (
                "/fixed/0/vertices",
                json!({ "sphere": { "center": [0, 0, 0] } }),
                "fixed[0].vertices.sphere: the key `radius` is missing",
            ),
        ] {
            let mut scene = cube();
            *scene.pointer_mut(pointer).unwrap() = value;
            let error = SceneFile::from_value(scene, "").unwrap_err().to_string();
            assert!(error.starts_with(message), "{pointer}: {error}");
        }
        for value in [json!(null), json!([]), json!("scene"), json!({})] {
            SceneFile::from_value(value, "").unwrap_err();
        }
    }

    #[test]
    fn errors_of_building_a_scene_name_the_key_too() {
        let mut scene = cube();
        scene["object"][0]["material"]["law"] = json!("jelly");
        let error = SceneFile::from_value(scene, "").unwrap().build(&Disk).unwrap_err().to_string();
        assert!(error.starts_with("object[0].material.law: "), "{error}");
    }

    #[test]
    fn options_of_an_integrator_are_parsed_alone() {
        let choice = |value| part_from_value::<IntegratorChoice>(value, "integrator").map_err(|error| error.message);
        assert_eq!(choice(json!({ "newmark": { "beta": 0.3 } })).unwrap().name(), "newmark");
        let error = choice(json!({ "newmark": { "bta": 0.3 } })).unwrap_err();
        assert!(error.starts_with("integrator.newmark: there is no key `bta` here; did you mean `beta`?"), "{error}");
    }
}
