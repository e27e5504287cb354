//! Examples in the documentation of the types of scenes: every table of the reference has one, and all can be read.

use std::collections::BTreeSet;

use pliant::files::Memory;
use pliant_scene::scene::{SceneFile, Source, schema};
use serde_json::Value;

/// Object of examples that show other parts of a scene.
const OBJECT: &str = r#"
[[object]]
mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm", across = 2 } }
material = { young = "1 MPa", poisson = 0.4, density = 1000 }
"#;

/// Time steps of examples that show other parts of a scene.
const SIMULATION: &str = "
[simulation]
step = \"10 ms\"
duration = \"1 s\"
";

/// Table that needs an example: the type, or the type and the choice as in `Generator.box`.
struct Table<'a> {
    name: String,
    example: Option<&'a str>,
}

/// Returns all tables of the format: types with keys, and choices with options.
fn tables(schema: &Value) -> Vec<Table<'_>> {
    let mut tables = vec![Table { name: "Scene".into(), example: schema["example"].as_str() }];
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        if definition["properties"].is_object() {
            tables.push(Table { name: name.clone(), example: definition["example"].as_str() });
        }
        for choice in list(&definition["oneOf"]) {
            if let Some((key, options)) = options(choice) {
                let example = choice["example"].as_str().or(options["example"].as_str());
                tables.push(Table { name: format!("{name}.{key}"), example });
            }
        }
    }
    tables
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the key and the options of a choice that is a table.
fn options(choice: &Value) -> Option<(&String, &Value)> {
    std::iter::once(choice).chain(list(&choice["anyOf"])).find_map(|form| form["properties"].as_object()?.iter().next())
}

/// Returns the example as a whole scene.
fn complete(example: &str) -> String {
    let written: toml::Table = example.parse().unwrap_or_else(|error| panic!("{error}\n{example}"));
    let mut text = example.to_owned();
    for (key, addition) in [("object", OBJECT), ("simulation", SIMULATION)] {
        if !written.contains_key(key) {
            text += addition;
        }
    }
    text
}

/// Adds the names of all tables in a value to `found`.
fn find_tables(value: &Value, schema: &Value, root: &Value, name: &str, found: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        let definition = &root["$defs"][name];
        if matches(value, definition, root) {
            found.insert(name.to_owned());
            find_tables(value, definition, root, name, found);
        }
        return;
    }
    for choice in ["oneOf", "anyOf", "allOf"].iter().flat_map(|list_of| list(&schema[list_of])) {
        if matches(value, choice, root) {
            let chosen = value.as_str().or_else(|| Some(value.as_object()?.keys().next()?.as_str()));
            found.extend(chosen.map(|chosen| format!("{name}.{chosen}")));
            find_tables(value, choice, root, name, found);
        }
    }
    for item in list(value) {
        find_tables(item, &schema["items"], root, name, found);
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let inner = schema["properties"].get(key).unwrap_or(&schema["additionalProperties"]);
        find_tables(value, inner, root, name, found);
    }
}

/// Returns true if a value may have this schema: a table has its keys, everything else its type.
fn matches(value: &Value, schema: &Value, root: &Value) -> bool {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return matches(value, &root["$defs"][name], root);
    }
    let mut choices = ["oneOf", "anyOf"].iter().flat_map(|list_of| list(&schema[list_of])).peekable();
    if choices.peek().is_some() {
        return choices.any(|choice| matches(value, choice, root));
    }
    match value {
        Value::Object(table) => {
            let is_key = |key| schema["properties"].get(key).is_some();
            schema["additionalProperties"].is_object() || schema["properties"].is_object() && table.keys().all(is_key)
        }
        _ if schema.get("const").is_some() => schema["const"] == *value,
        _ => !schema["properties"].is_object(),
    }
}

#[test]
fn every_table_of_the_reference_has_an_example_that_shows_it() {
    let schema = schema();
    let mut wrong = Vec::new();
    for Table { name, example } in tables(&schema) {
        let Some(example) = example else {
            wrong.push(format!("{name}: no ```toml block at the end of its documentation"));
            continue;
        };
        let written: toml::Table = example.parse().unwrap_or_else(|error| panic!("{name}: {error}\n{example}"));
        let mut found = BTreeSet::from(["Scene".to_owned()]);
        find_tables(&serde_json::to_value(written).unwrap(), &schema, &schema, "Scene", &mut found);
        if !found.contains(&name) {
            wrong.push(format!("{name}: its example does not contain such a table, but {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_example_can_be_read_and_built() {
    let schema = schema();
    let mut wrong = Vec::new();
    for Table { name, example } in tables(&schema) {
        let Some(example) = example else { continue };
        match SceneFile::parse(Source::new(format!("{name}.toml"), complete(example))) {
            Err(error) => wrong.push(error.to_string()),
            Ok(mut file) => {
                let mut has_files = false;
                file.scene.for_each_file(|_| has_files = true);
                if let Err(error) = file.build(&Memory::default())
                    && !has_files
                {
                    wrong.push(format!("{name}: {error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
