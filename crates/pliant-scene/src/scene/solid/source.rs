//! Solids to be filled: surfaces and implicit solids.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::SolidChoice;
use crate::scene::text_or_table;

/// Solid to fill: the name of a surface file, relative to the scene file, or an implicit solid.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SolidSource {
    /// Interior of a surface, which may have holes, self-intersections and inverted triangles.
    Surface(String),
    /// Implicit solid.
    Solid(SolidChoice),
}

impl<'de> Deserialize<'de> for SolidSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a file with a surface, or a table such as { ball = { radius = 1 } }";
        text_or_table(deserializer, expected, Self::Surface, Self::Solid)
    }
}
