//! Structure of scene files: which values are tables and lists, and the keys that files have besides those of scenes.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::reference::schema;

/// Keys at the top of a file that are processed before the scene is read.
pub(super) const FILE_KEYS: &[&str] = &["include", DEFAULTS];

/// Key of default values at the top of a file.
pub(super) const DEFAULTS: &str = "defaults";

/// Key of listed tables that chooses a class of default values.
pub(super) const CLASS: &str = "class";

/// Schema of scene files.
static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

/// Schema of a value, by which files are merged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Structure(&'static Value);

impl Structure {
    /// Returns the structure of a scene file.
    pub fn of_file() -> Self {
        Self(&SCHEMA)
    }

    /// Returns the structure of the value with a key, or that of a plain value if the key is unknown.
    pub fn of_key(self, key: &str) -> Self {
        static PLAIN: Value = Value::Null;
        let inner = self.0["properties"].get(key).or_else(|| self.0.get("additionalProperties"));
        Self(inner.map_or(&PLAIN, |schema| resolved(schema, &SCHEMA)))
    }

    /// Returns true if the value is a table whose keys are merged, not one of several choices.
    pub fn is_table(self) -> bool {
        self.0["properties"].is_object() || self.0["additionalProperties"].is_object()
    }

    /// Returns true if a key of the table is a name that the file gives, such as that of a material.
    pub fn is_name(self, key: &str) -> bool {
        self.0["additionalProperties"].is_object() && self.0["properties"].get(key).is_none()
    }

    /// Returns the structure of the tables in a list of tables, or `None` if the value is something else.
    pub fn of_items(self) -> Option<Self> {
        listed(self.0).map(|name| Self(&SCHEMA["$defs"][name]))
    }
}

/// Returns the keys of all lists of tables at the top of a scene, such as `object`.
pub(super) fn list_keys() -> impl Iterator<Item = &'static str> {
    let properties = SCHEMA["properties"].as_object().into_iter().flatten();
    properties.filter(|(_, schema)| listed(schema).is_some()).map(|(key, _)| key.as_str())
}

/// Returns the name of the type of the tables in a list, or `None` if it is no list of tables.
fn listed(schema: &Value) -> Option<&str> {
    schema["items"]["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Follows references, and leaves out the absence of optional values.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return resolved(&root["$defs"][name], root);
    }
    let mut choices = schema["anyOf"].as_array().into_iter().flatten().filter(|choice| choice["type"] != "null");
    match (choices.next(), choices.next()) {
        (Some(only), None) => resolved(only, root),
        _ => schema,
    }
}

/// Adds `include`, `defaults` and `class` to the schema of scenes.
pub(super) fn add_file_keys(schema: &mut Value) {
    let lists: Vec<(String, String)> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, list)| Some((key.clone(), listed(list)?.to_owned())))
        .collect();
    let mut defaults = json!({});
    for (key, name) in &lists {
        defaults[key] = json!({
            "description": format!("Default values of `[[{key}]]`: keys of [{name}](#{}).", name.to_lowercase()),
            "type": "object",
            "properties": schema["$defs"][name]["properties"],
            "additionalProperties": false,
        });
    }
    for (key, name) in &lists {
        if let Some(properties) = schema["$defs"][name]["properties"].as_object_mut() {
            let about = format!("Class of default values: the name of a table `[defaults.NAME.{key}]`.");
            properties.insert(CLASS.into(), json!({ "description": about, "type": "string" }));
        }
    }
    let class = json!({
        "description": "Class of default values with this name, for tables with `class = \"NAME\"`: tables such as \
            `[defaults.NAME.object]`, whose values win over those without a class.",
        "type": "object",
        "properties": defaults,
        "additionalProperties": false,
    });
    schema["$defs"]["Defaults"] = json!({
        "description": ABOUT_DEFAULTS,
        "type": "object",
        "properties": defaults,
        "additionalProperties": class,
    });
    let added = [
        ("include", json!({ "description": ABOUT_INCLUDE, "type": "array", "items": { "type": "string" } })),
        ("defaults", json!({ "description": "Default values for the tables of lists.", "$ref": "#/$defs/Defaults" })),
    ];
    let Some(properties) = schema["properties"].as_object_mut() else { return };
    let first = properties.shift_remove("version").map(|version| ("version".to_owned(), version));
    let rest = std::mem::take(properties);
    properties.extend(first.into_iter().chain(added.map(|(key, value)| (key.to_owned(), value))).chain(rest));
}

/// Allows required keys to be missing in scenes with `include` or `defaults`, which may give them.
pub(super) fn relax(schema: &mut Value) {
    let root = schema.clone();
    let mut strict = json!({ "required": root["required"], "properties": {} });
    for (key, value) in root["properties"].as_object().into_iter().flatten() {
        let item = listed(value);
        let name = item.or_else(|| value["$ref"].as_str()?.strip_prefix("#/$defs/"));
        let Some(name) = name.filter(|name| root["$defs"][name]["properties"].is_object()) else { continue };
        let required = root["$defs"][name]["required"].clone();
        if !required.is_null() {
            let required = json!({ "required": required });
            strict["properties"][key] = if item.is_some() { json!({ "items": required }) } else { required };
            remove_required(&mut schema["$defs"][name]);
        }
    }
    remove_required(schema);
    schema["anyOf"] = json!([{ "required": ["include"] }, { "required": ["defaults"] }, strict]);
}

fn remove_required(schema: &mut Value) {
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("required");
    }
}

const ABOUT_INCLUDE: &str = "\
Other scene files in TOML, which are merged with this one: `include = [\"materials.toml\"]`. The tables of lists, such as \
`[[object]]`, are appended in order, those of included files first. Other tables are merged key by key, and values of this \
file win over those of included files. A table that is one of several choices, such as `mesh` or `integrator`, is replaced \
as a whole. File names in an included file are relative to that file. A file that is included twice is read once.";

const ABOUT_DEFAULTS: &str = "\
Default values for the tables of lists in all files of a scene. Keys that a table gives win over those of its class, and \
these over the ones without a class.

```toml
[defaults.object]
material = { young = \"1 MPa\", poisson = 0.4, density = 1000 }

[defaults.icy.obstacle]
friction = 0.02

[[object]]
mesh = { ball = { radius = \"10 cm\" } }
translate = [0, 1, 0]

[[obstacle]]
class = \"icy\"
shape = { plane = { normal = [0.2, 1, 0] } }
```";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_lists_and_choices_follow_from_the_types() {
        let file = Structure::of_file();
        assert_eq!(
            list_keys().collect::<Vec<_>>(),
            ["object", "fixed", "handle", "spring", "load", "obstacle", "probe", "expect"]
        );
        for (path, is_table) in [
            ("simulation", true),
            ("simulation.integrator", false),
            ("output.picture.view", true),
            ("material", true),
            ("material.rubber", true),
            ("reduced", false),
            ("gravity", false),
            ("defaults.object", true),
            ("defaults.object.mesh", false),
            ("defaults.soft.object.skin", true),
        ] {
            let structure = path.split('.').fold(file, Structure::of_key);
            assert_eq!(structure.is_table(), is_table, "{path}");
            assert!(structure.of_items().is_none(), "{path}");
        }
        assert!(file.of_key("object").of_items().unwrap().of_key("skin").is_table());
        assert!(file.of_key("material").is_name("rubber") && !file.of_key("simulation").is_name("step"));
        assert!(file.of_key("defaults").is_name("soft") && !file.of_key("defaults").is_name("object"));
    }
}
