//! Tori.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SolidError, SolidOptions};
use crate::scene::bounds;
use crate::scene::quantity::Length;
use pliant::geometry::ImplicitSolid;

/// A torus about the y axis, centered at the origin.
///
/// ```toml
/// [[object]]
/// mesh = { filled = { of = { torus = { ring_radius = 0.5, tube_radius = 0.2 } }, cells = 12 } }
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
}

impl SolidOptions for Torus {
    fn build(&self) -> Result<ImplicitSolid, SolidError> {
        Ok(ImplicitSolid::Torus { ring_radius: self.ring_radius.si, tube_radius: self.tube_radius.si })
    }
}
