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
    use crate::scene::Inverted;

    #[test]
    fn variants_have_their_names_in_scenes_and_their_documentation() {
        let variants = variants::<Inverted>();
        assert_eq!(variants[0], ("none".into(), "The unmodified law.".into()));
        assert_eq!(
            variants.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["none", "clamp", "extrapolate"]
        );
    }
}
