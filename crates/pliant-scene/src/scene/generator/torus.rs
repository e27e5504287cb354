//! Tori.

use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::elements::cells_along;
use super::{Elements, GeneratorContext, GeneratorError, GeneratorOptions};
use crate::scene::bounds;
use crate::scene::quantity::Length;
use pliant::mesh::generate::{self, GenerateError};
use pliant::mesh::{SplitError, VolumeMesh};

/// A torus about the y axis, centered at the origin. Set: `surface`.
///
/// ```toml
/// [[object]]
/// mesh = { torus = { ring_radius = 0.5, tube_radius = 0.2 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Distance from the center of the torus to the center line of its tube.
    #[schemars(transform = bounds::positive)]
    pub ring_radius: Length,
    /// Radius of the tube.
    #[schemars(transform = bounds::positive)]
    pub tube_radius: Length,
    /// Number of cells along the diameter of the tube.
    #[serde(default = "six")]
    #[schemars(range(min = 3))]
    pub across: u32,
    /// Number of cells around the ring, even for `tet5`; by default cells are about as long as wide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 3))]
    pub sectors: Option<u32>,
    /// Type of elements.
    #[serde(default)]
    pub elements: Elements,
}

fn six() -> u32 {
    6
}

impl GeneratorOptions for Torus {
    fn generate(&self, _: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError> {
        let (ring, tube) = (self.ring_radius.si, self.tube_radius.si);
        // Twice the number for half of the ring, so that the number is even.
        let around = || cells_along(TAU * ring, 4.0 * tube, self.across).max(2).saturating_mul(2);
        let sectors = self.sectors.map_or_else(around, |sectors| sectors as usize);
        generate::torus(ring, tube, self.across as usize, sectors, self.elements.cells()).map_err(|error| match error {
            GenerateError::Split(SplitError::OddRing { .. }) => GeneratorError::OddSectors { sectors },
            error => error.into(),
        })
    }
}
