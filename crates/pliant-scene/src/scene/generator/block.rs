//! Boxes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Elements, GeneratorContext, GeneratorError, GeneratorOptions};
use crate::scene::quantity::dimension;
use crate::scene::{Vector, bounds};
use pliant::mesh::VolumeMesh;
use pliant::mesh::generate;

/// A box with its minimum corner at the origin. Sets: `x-min`, `x-max`, `y-min`, `y-max`, `z-min`, `z-max`.
///
/// ```toml
/// [[object]]
/// mesh = { box = { size = [1, 1, 1], cells = [8, 8, 8] } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Edge lengths along x, y and z.
    #[schemars(transform = bounds::positive)]
    pub size: Vector<dimension::Length>,
    /// Number of cells along x, y and z.
    #[schemars(inner(range(min = 1)))]
    pub cells: [u32; 3],
    /// Type of elements.
    #[serde(default)]
    pub elements: Elements,
}

impl GeneratorOptions for Block {
    fn generate(&self, _: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError> {
        let (size, cells) = (self.size.map(|side| side.si), self.cells.map(|cells| cells as usize));
        Ok(generate::block(size, cells, self.elements.cells())?)
    }
}
