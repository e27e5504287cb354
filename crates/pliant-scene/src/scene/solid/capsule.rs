//! Capsules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SolidError, SolidOptions};
use crate::scene::quantity::{Length, dimension, vec3};
use crate::scene::{Vector, bounds};
use pliant::geometry::ImplicitSolid;

/// All points within a distance of a line segment.
///
/// ```toml
/// [[object]]
/// mesh = { filled = { of = { capsule = { start = [0, 0, 0], end = [1, 0, 0], radius = 0.2 } }, cells = 12 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// Start of the segment.
    pub start: Vector<dimension::Length>,
    /// End of the segment.
    pub end: Vector<dimension::Length>,
    /// Radius around the segment.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
}

impl SolidOptions for Capsule {
    fn build(&self) -> Result<ImplicitSolid, SolidError> {
        Ok(ImplicitSolid::Capsule { start: vec3(&self.start), end: vec3(&self.end), radius: self.radius.si })
    }
}
