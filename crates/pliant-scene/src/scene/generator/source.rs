//! Sources of meshes: files and generators.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::GeneratorChoice;
use crate::scene::text_or_table;

/// Mesh: the name of a file, relative to the scene file, or a generator.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MeshSource {
    /// Name of a file in any format that `pliant mesh` reads.
    File(String),
    /// Generated mesh.
    Generator(GeneratorChoice),
}

impl<'de> Deserialize<'de> for MeshSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a mesh file, or a table such as { box = { size = [1, 1, 1], cells = [4, 4, 4] } }";
        text_or_table(deserializer, expected, Self::File, Self::Generator)
    }
}
