//! Registries of scenes, as seen from Python.

use pliant_scene::registry::{Entry, OptionInfo, Registered, Tagged};
use pliant_scene::scene::{self, ChoiceInfo, part_from_value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};
use serde_json::{Map, Value, json};

use crate::errors::{Kind, OrRaise};
use crate::renamed;

/// Returns the entries of a registry of scenes as JSON: name, description and options of each, with their types.
#[pyfunction]
#[pyo3(name = "_choices")]
pub fn choices(kind: &str) -> PyResult<String> {
    let Some(entries) = scene::choices(kind) else {
        return Err(PyValueError::new_err(format!("kind: there is no registry '{kind}'")));
    };
    let entry = |entry: ChoiceInfo| {
        let options: Vec<Value> =
            keywords(entry.options).into_iter().map(|(_, option)| described_option(&option)).collect();
        json!({ "name": entry.name, "about": entry.about, "options": options })
    };
    Ok(entries.into_iter().map(entry).collect::<Value>().to_string())
}

fn described_option(option: &OptionInfo) -> Value {
    json!({
        "name": option.name,
        "about": option.about,
        "type": annotation(&option.schema),
        "default": option.default,
        "required": option.is_required,
    })
}

/// Returns the keywords of options: options in a separate table, such as `newton`, are keywords themselves. Each
/// comes with the name of its table.
fn keywords(options: Vec<OptionInfo>) -> Vec<(Option<String>, OptionInfo)> {
    let keyword = |option: OptionInfo| -> Vec<(Option<String>, OptionInfo)> {
        let inner = option.options();
        if inner.is_empty() {
            return vec![(None, option)];
        }
        inner.into_iter().map(|inner| (Some(option.name.clone()), inner)).collect()
    };
    options.into_iter().flat_map(keyword).collect()
}

/// Returns the type annotation of a value.
fn annotation(schema: &Value) -> String {
    if schema["format"].is_string() && schema["examples"].is_array() {
        return "Quantity".into();
    }
    let constants = |list: &Value| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|one| one["const"].as_str().map(|name| format!("\"{name}\""))).collect()
    };
    if let Some(names) = constants(&schema["oneOf"]).or_else(|| constants(&schema["anyOf"])) {
        return format!("Literal[{}]", names.join(", "));
    }
    let alternatives = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    if let Some(list) = alternatives {
        let mut types: Vec<String> = list.iter().filter(|one| one["type"] != "null").map(annotation).collect();
        types.dedup();
        return types.join(" | ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(list) => list.iter().filter_map(Value::as_str).filter(|one| *one != "null").collect(),
        _ => Vec::new(),
    };
    let one = |name: &&str| match *name {
        "number" => "float".to_owned(),
        "integer" => "int".into(),
        "boolean" => "bool".into(),
        "string" => "str".into(),
        "array" if schema["items"]["type"] == "integer" => "Sequence[int]".into(),
        "array" if schema["prefixItems"].is_array() || schema["minItems"] == 3 => "Vector".into(),
        "array" => format!("Sequence[{}]", annotation(&schema["items"])),
        _ => "Mapping[str, Any]".into(),
    };
    types.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// Creates a choice by its name, with options given as keywords.
pub fn choose<T: ?Sized + Registered>(name: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Tagged<T>> {
    let kind = T::registry().kind();
    let Some(entry) = T::registry().get(name) else {
        let known: Vec<&str> = T::registry().iter().map(Entry::name).collect();
        let hint = renamed::hint(&format!("{kind}="), name);
        let message = format!("{kind}: there is no {kind} '{name}'{hint}; expected one of {}", known.join(", "));
        return Err(Kind::Scene.error(message));
    };
    let known = keywords(entry.options());
    let mut table = Map::new();
    if let Some(options) = options {
        let given: Value = json_of(options)?;
        for (keyword, value) in given.as_object().into_iter().flatten() {
            let Some((inside, _)) = known.iter().find(|(_, option)| option.name == *keyword) else {
                let names: Vec<&str> = known.iter().map(|(_, option)| option.name.as_str()).collect();
                let hint = match &names[..] {
                    [] => "it has no options".into(),
                    names => format!("expected one of {}", names.join(", ")),
                };
                return Err(PyTypeError::new_err(format!("{name} got an unexpected keyword '{keyword}'; {hint}")));
            };
            match inside {
                None => drop(table.insert(keyword.clone(), value.clone())),
                Some(inside) => {
                    let inner = table.entry(inside.as_str()).or_insert_with(|| json!({}));
                    inner[keyword] = value.clone();
                }
            }
        }
    }
    part_from_value(json!({ name: table }), "").map_err(|error| error.message).or_raise(Kind::Scene)
}

/// Returns a dictionary as JSON. NumPy numbers and arrays are converted, and keys that are None are left out.
pub fn json_of(dictionary: &Bound<'_, PyDict>) -> PyResult<Value> {
    let to_json = dictionary.py().import("pliant._interop")?.getattr("scene_to_json")?;
    let json: String = to_json.call1((dictionary,))?.extract()?;
    serde_json::from_str(&json).or_raise(Kind::Scene)
}

/// Parses a choice without options by its name in scene files.
pub fn named<'de, T: Deserialize<'de>>(kind: Kind, what: &str, name: &'de str) -> PyResult<T> {
    let read = T::deserialize(StrDeserializer::<Error>::new(name));
    read.map_err(|error| format!("{what}: {error}{}", renamed::hint(&format!("{what}="), name))).or_raise(kind)
}
