//! Reference of the scene format, generated from its types: a JSON schema and a Markdown page.

use std::collections::VecDeque;
use std::fmt::Write as _;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::Scene;
use super::structure::{add_file_keys, relax};
use crate::registry::described;

/// Returns the JSON schema of scenes, for completion and validation in editors.
pub fn schema() -> Value {
    let mut schema = whole_schema();
    relax(&mut schema);
    schema
}

/// Returns the schema of scenes in which nothing is included and nothing has another default value.
fn whole_schema() -> Value {
    let generator: SchemaGenerator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Scene>().to_value();
    add_file_keys(&mut schema);
    describe(&mut schema);
    schema
}

/// Splits all descriptions: `description` keeps the prose in one line, and `example` gets the example.
fn describe(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(describe);
            let Some(Value::String(text)) = map.get_mut("description") else { return };
            let (prose, example) = described(text);
            *text = prose;
            if let Some(example) = example {
                map.insert("example".into(), example.into());
            }
        }
        Value::Array(list) => list.iter_mut().for_each(describe),
        _ => {}
    }
}

const HEAD: &str = "\
# The scene format

A scene is a [TOML](https://toml.io) file. `pliant scene reference` generates this page from the types that read a scene.
`pliant scene schema` prints the same reference as a JSON schema, which editors use for completion and validation.

Numbers are in SI units, or text with a unit: `\"5 cm\"`, `\"1 MPa\"`, `\"1/240 s\"`, `\"1.1 g/cm^3\"`, `\"90 deg\"`. The units m, g, s, N, Pa,
J, Hz, rad and bar take the prefixes n, µ (or u), m, c, d, k, M and G. The units min, h, t, lb, in, ft, psi, deg, turn and rpm
take no prefix. A space, `*` or `·` multiplies units, `/` divides them, and `^2`, `²` or `³` raises them to a power.

File names are relative to the folder of the file that contains them. Keys that are not listed here are errors.

A scene can consist of several files, see `include`, and repeated values can be given once, see [Defaults](#defaults).
`pliant scene convert scene.toml` prints the result: one scene with all its values.

";

/// Returns the reference of the format, in Markdown.
pub fn reference() -> String {
    let schema = whole_schema();
    let none = Map::new();
    let definitions = schema["$defs"].as_object().unwrap_or(&none);
    let mut out = HEAD.to_owned();
    let mut queue = VecDeque::new();
    let mut seen = Vec::new();
    section(&mut out, "The file", &schema, &mut queue);
    while let Some(name) = queue.pop_front() {
        if seen.contains(&name) {
            continue;
        }
        section(&mut out, &name, &definitions[&name], &mut queue);
        seen.push(name);
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn section(out: &mut String, name: &str, schema: &Value, queue: &mut VecDeque<String>) {
    put(out, format_args!("## {name}\n\n"));
    put(out, format_args!("{}\n\n", text(schema)));
    example(out, schema, "");
    if schema.get("properties").is_some() {
        table(out, schema, queue);
        return;
    }
    for (kind, list) in [("oneOf", &schema["oneOf"]), ("anyOf", &schema["anyOf"])] {
        for alternative in list.as_array().into_iter().flatten() {
            variant(out, alternative, kind, queue);
        }
    }
    values(out, schema);
    out.push('\n');
}

/// Writes the example of a type.
fn example(out: &mut String, schema: &Value, indent: &str) {
    let Some(text) = schema["example"].as_str() else { return };
    put(out, format_args!("{indent}```toml\n"));
    for line in text.lines() {
        put(out, format_args!("{}\n", format!("{indent}{line}").trim_end()));
    }
    put(out, format_args!("{indent}```\n\n"));
}

/// Writes the keys of a table.
fn table(out: &mut String, schema: &Value, queue: &mut VecDeque<String>) {
    put(out, format_args!("| key | value | default | |\n|---|---|---|---|\n"));
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let default = match property.get("default") {
            _ if required.contains(&key.as_str()) => "required".to_owned(),
            Some(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => format!("`{value}`"),
            Some(Value::Array(list)) if !list.is_empty() => format!("`{}`", Value::Array(list.clone())),
            _ => String::new(),
        };
        put(out, format_args!("| `{key}` | {} | {default} | {} |\n", kind(property, queue), cell(&text(property))));
    }
    out.push('\n');
}

/// Writes an alternative: a string, a table with one key, or either of them.
fn variant(out: &mut String, schema: &Value, of: &str, queue: &mut VecDeque<String>) {
    if let Some(word) = schema["const"].as_str() {
        put(out, format_args!("- `\"{word}\"`: {}\n", text(schema)));
        return;
    }
    if schema.get("enum").is_some() {
        values(out, schema);
        return;
    }
    let Some((key, inner)) = tagged(schema).filter(|_| of == "oneOf") else {
        let words = text(schema);
        let words = if words.is_empty() { words } else { format!(": {words}") };
        put(out, format_args!("- {}{words}\n", kind(schema, queue)));
        return;
    };
    let has_name = schema["anyOf"].as_array().into_iter().flatten().any(|form| form.get("const").is_some());
    let name = if has_name { format!("`\"{key}\"`") } else { String::new() };
    let is_empty = inner["properties"].as_object().map_or(inner["type"] == "object", Map::is_empty);
    let table = if has_name && is_empty { String::new() } else { format!("`{{ {key} = … }}`") };
    let or = if name.is_empty() || table.is_empty() { "" } else { " or " };
    put(out, format_args!("- {name}{or}{table}: {}", text(schema)));
    let (main, options) = match inner["anyOf"].as_array().map(Vec::as_slice) {
        Some([main, table]) if table["properties"].is_object() => (Some(main), table),
        _ => (None, inner),
    };
    match options["properties"].as_object().filter(|properties| !properties.is_empty()) {
        None if is_empty => out.push('\n'),
        None => put(out, format_args!(" {}\n", kind(inner, queue))),
        Some(properties) => {
            match main {
                None => put(out, format_args!(" Keys:\n")),
                Some(main) => {
                    put(out, format_args!(" The value is {}, or a table with the keys:\n", kind(main, queue)));
                }
            }
            let required: Vec<&str> =
                options["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            for (name, property) in properties {
                let default = match property.get("default") {
                    Some(default @ (Value::Number(_) | Value::String(_))) => format!(", by default `{default}`"),
                    _ if required.contains(&name.as_str()) => ", required".into(),
                    _ => String::new(),
                };
                put(out, format_args!("  - `{name}`, {}{default}: {}\n", kind(property, queue), text(property)));
            }
        }
    }
    out.push('\n');
    example(out, schema, "  ");
    example(out, inner, "  ");
}

/// Returns the name and the options of an alternative that is a table with one key.
fn tagged(schema: &Value) -> Option<(&String, &Value)> {
    let forms = schema["anyOf"].as_array().into_iter().flatten();
    std::iter::once(schema).chain(forms).find_map(|form| form["properties"].as_object()?.iter().next())
}

fn values(out: &mut String, schema: &Value) {
    let words: Vec<&str> = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for word in words {
        put(out, format_args!("- `\"{word}\"`\n"));
    }
}

/// Returns the type of a value, as a word or a link.
fn kind(schema: &Value, queue: &mut VecDeque<String>) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        queue.push_back(name.to_owned());
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(unit) = schema["format"].as_str().filter(|_| schema["examples"].is_array()) {
        return format!("{}, {unit}", schema["title"].as_str().unwrap_or_default());
    }
    if let Some(list) = schema["anyOf"].as_array() {
        // Optional values also allow `null`, which TOML does not have.
        let kinds: Vec<String> = list.iter().filter(|one| one["type"] != "null").map(|one| kind(one, queue)).collect();
        return kinds.join(" or ");
    }
    if let Some(list) = schema["allOf"].as_array() {
        return list.iter().map(|one| kind(one, queue)).collect::<Vec<_>>().join(" and ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(list) => list.iter().filter_map(Value::as_str).filter(|one| *one != "null").collect(),
        _ => Vec::new(),
    };
    let one = |name: &&str| match *name {
        "array" => {
            if let Some(items) = schema["prefixItems"].as_array() {
                let items: Vec<String> = items.iter().map(|item| kind(item, &mut VecDeque::new())).collect();
                return format!("[{}]", items.join("; "));
            }
            let count = schema["minItems"].as_u64().filter(|least| schema["maxItems"].as_u64() == Some(*least));
            let items = kind(&schema["items"], &mut VecDeque::new());
            count.map_or_else(|| format!("list of {items}"), |count| format!("{count} × {items}"))
        }
        "object" => match &schema["additionalProperties"] {
            inner @ Value::Object(_) => format!("table of {}", kind(inner, &mut VecDeque::new())),
            _ => "table".into(),
        },
        "string" => "text".into(),
        "integer" => "whole number".into(),
        "boolean" => "true or false".into(),
        other => other.into(),
    };
    let words: Vec<String> = types.iter().map(one).collect();
    // Types linked from inside lists and tables need sections too.
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            kind(&schema[inner], queue);
        }
    }
    words.join(" or ")
}

fn text(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_the_format_has_a_section_and_every_key_a_description() {
        let (schema, page) = (schema(), reference());
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            assert!(page.contains(&format!("\n## {name}\n")), "{name}");
            for (key, property) in definition["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{name}.{key}");
            }
        }
    }
}
