//! Balls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Elements, GeneratorContext, GeneratorError, GeneratorOptions};
use crate::scene::bounds;
use crate::scene::quantity::Length;
use pliant::mesh::VolumeMesh;
use pliant::mesh::generate;

/// A ball centered at the origin. Set: `surface`.
///
/// ```toml
/// [[object]]
/// mesh = { ball = { radius = 0.5 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Radius of the ball.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
    /// Number of cells along the diameter.
    #[serde(default = "eight")]
    #[schemars(range(min = 3))]
    pub across: u32,
    /// Type of elements.
    #[serde(default)]
    pub elements: Elements,
}

fn eight() -> u32 {
    8
}

impl GeneratorOptions for Ball {
    fn generate(&self, _: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError> {
        Ok(generate::ball(self.radius.si, self.across as usize, self.elements.cells())?)
    }
}
