//! Beams.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Elements, GeneratorContext, GeneratorError, GeneratorOptions};
use crate::scene::bounds;
use crate::scene::quantity::Length;
use pliant::mesh::VolumeMesh;
use pliant::mesh::generate;

/// A beam along x whose axis passes through the origin. Sets: `start`, `end`.
///
/// ```toml
/// [[object]]
/// mesh = { beam = { length = 1, height = 0.2, width = 0.2 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// Length along x.
    #[schemars(transform = bounds::positive)]
    pub length: Length,
    /// Height along y.
    #[schemars(transform = bounds::positive)]
    pub height: Length,
    /// Width along z.
    #[schemars(transform = bounds::positive)]
    pub width: Length,
    /// Number of cells along the shorter side of the cross section.
    #[serde(default = "four")]
    #[schemars(range(min = 1))]
    pub across: u32,
    /// Type of elements.
    #[serde(default)]
    pub elements: Elements,
}

fn four() -> u32 {
    4
}

impl GeneratorOptions for Beam {
    fn generate(&self, _: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError> {
        let (length, height, width) = (self.length.si, self.height.si, self.width.si);
        Ok(generate::beam(length, height, width, self.across as usize, self.elements.cells())?)
    }
}
