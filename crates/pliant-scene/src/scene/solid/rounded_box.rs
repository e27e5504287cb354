//! Boxes with rounded edges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SolidError, SolidOptions};
use crate::scene::quantity::{Length, dimension, vec3};
use crate::scene::{Vector, bounds};
use pliant::geometry::ImplicitSolid;

/// A box centered at the origin with rounded edges.
///
/// ```toml
/// [[object]]
/// mesh = { filled = { of = { rounded-box = { size = [1, 0.5, 0.5], radius = 0.1 } }, cells = 12 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundedBox {
    /// Edge lengths along x, y and z.
    #[schemars(transform = bounds::positive)]
    pub size: Vector<dimension::Length>,
    /// Radius of the edges; 0 leaves them sharp.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub radius: Length,
}

impl SolidOptions for RoundedBox {
    fn build(&self) -> Result<ImplicitSolid, SolidError> {
        Ok(ImplicitSolid::RoundedBox { size: vec3(&self.size), radius: self.radius.si })
    }
}
