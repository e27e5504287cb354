//! Values of scenes that name an entry of a registry.
//!
//! The registry is the only list: parser, error messages, schema and reference page follow from it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

/// Kind of registry entries that scenes refer to by name.
pub trait Entry: Copy + 'static {
    /// Name of the type in the schema.
    const KIND: &'static str;
    /// Description of the type in the schema.
    const ABOUT: &'static str;

    /// Returns all entries.
    fn all() -> impl Iterator<Item = Choice<Self>>;
}

/// Entry of a registry, chosen by its name.
#[derive(Clone, Copy)]
pub struct Choice<E> {
    /// Name.
    pub name: &'static str,
    /// Description, without a period at its end.
    pub about: &'static str,
    /// Entry.
    pub entry: E,
}

impl<E: Entry> Choice<E> {
    /// Returns the entry with this name, or `None` if there is no such entry.
    pub fn named(name: &str) -> Option<Self> {
        E::all().find(|choice| choice.name == name)
    }
}

impl<E> PartialEq for Choice<E> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<E> Eq for Choice<E> {}

impl<E> fmt::Debug for Choice<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<E: Entry> Serialize for Choice<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de, E: Entry> Deserialize<'de> for Choice<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = String::deserialize(deserializer)?;
        find(&found, E::all()).map_err(Error::custom)
    }
}

impl<E: Entry> JsonSchema for Choice<E> {
    fn schema_name() -> Cow<'static, str> {
        E::KIND.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema(E::ABOUT, E::all())
    }
}

/// Returns the entry with this name. The message for an unknown name is that of `serde`, so that it is reworded like
/// others.
fn find<E: Copy>(found: &str, all: impl Iterator<Item = Choice<E>>) -> Result<Choice<E>, String> {
    let all: Vec<Choice<E>> = all.collect();
    let known = || all.iter().map(|choice| format!("`{}`", choice.name)).collect::<Vec<_>>().join(", ");
    let chosen = all.iter().find(|choice| choice.name == found).copied();
    chosen.ok_or_else(|| format!("unknown variant `{found}`, expected one of {}", known()))
}

fn schema<E>(about: &str, all: impl Iterator<Item = Choice<E>>) -> Schema {
    let choice = |choice: Choice<E>| -> Value {
        json!({ "description": format!("{}.", choice.about), "type": "string", "const": choice.name })
    };
    json_schema!({ "description": about, "oneOf": all.map(choice).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{AnimationFormat, FORMATS};

    /// Registry with an entry more.
    fn extended() -> impl Iterator<Item = Choice<&'static AnimationFormat>> {
        let own = Choice { name: "hologram", about: "Holograms", entry: FORMATS.get("obj").unwrap() };
        <&AnimationFormat>::all().chain(std::iter::once(own))
    }

    #[test]
    fn an_entry_is_parsed_listed_in_errors_and_described_in_the_schema_once_it_is_registered() {
        assert!(find("hologram", extended()).is_ok());
        let message = find("holograph", extended()).unwrap_err();
        assert!(message.contains("`gif`") && message.contains("`hologram`"), "{message}");
        let schema = schema("Formats.", extended()).to_value();
        let choices = schema["oneOf"].as_array().unwrap();
        assert_eq!(choices.len(), FORMATS.iter().count() + 1);
        assert_eq!(choices.last().unwrap()["const"], "hologram");
        assert_eq!(choices.last().unwrap()["description"], "Holograms.");
    }
}
