//! Names and descriptions of enumerations, for fronts that list them.

use schemars::{JsonSchema, SchemaGenerator};

use super::described;

/// Returns the variants of an enumeration without fields: their names in scenes, and their documentation.
pub fn variants<T: JsonSchema>() -> Vec<(String, String)> {
    let schema = T::json_schema(&mut SchemaGenerator::default()).to_value();
    let variant = |variant: &serde_json::Value| {
        let about = described(variant["description"].as_str().unwrap_or_default()).0;
        Some((variant["const"].as_str()?.to_owned(), about))
    };
    schema["oneOf"].as_array().into_iter().flatten().filter_map(variant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// State of matter.
    #[derive(JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code, reason = "its schema is used")]
    enum Matter {
        /// Keeps its
        /// shape.
        Solid,
        /// Keeps its volume.
        VeryLiquid,
    }

    #[test]
    fn variants_have_their_names_in_scenes_and_their_documentation() {
        let expected = [("solid", "Keeps its shape."), ("very-liquid", "Keeps its volume.")];
        assert_eq!(variants::<Matter>(), expected.map(|(name, about)| (name.to_owned(), about.to_owned())));
    }
}
