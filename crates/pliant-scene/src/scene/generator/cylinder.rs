//! Cylinders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elements::cells_along;
use super::{Elements, GeneratorContext, GeneratorError, GeneratorOptions};
use crate::scene::bounds;
use crate::scene::quantity::Length;
use pliant::mesh::VolumeMesh;
use pliant::mesh::generate;

/// A cylinder that stands on the plane y = 0. Sets: `bottom`, `top`, `side`.
///
/// ```toml
/// [[object]]
/// mesh = { cylinder = { radius = 0.5, height = 1 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Radius of the cylinder.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
    /// Height along y.
    #[schemars(transform = bounds::positive)]
    pub height: Length,
    /// Number of cells along the diameter.
    #[serde(default = "eight")]
    #[schemars(range(min = 3))]
    pub across: u32,
    /// Number of cells along the height; by default cells are about as high as wide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub layers: Option<u32>,
    /// Type of elements.
    #[serde(default)]
    pub elements: Elements,
}

fn eight() -> u32 {
    8
}

impl GeneratorOptions for Cylinder {
    fn generate(&self, _: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError> {
        let (radius, height) = (self.radius.si, self.height.si);
        let layers =
            self.layers.map_or_else(|| cells_along(height, 2.0 * radius, self.across), |layers| layers as usize);
        Ok(generate::cylinder(radius, height, self.across as usize, layers, self.elements.cells())?)
    }
}
