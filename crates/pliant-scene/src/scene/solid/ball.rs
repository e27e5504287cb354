//! Balls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SolidError, SolidOptions};
use crate::scene::quantity::{Length, dimension, vec3};
use crate::scene::{Vector, bounds};
use pliant::geometry::ImplicitSolid;

/// A ball.
///
/// ```toml
/// [[object]]
/// mesh = { filled = { of = { ball = { radius = 0.5 } }, cells = 12 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Radius of the ball.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
    /// Center of the ball.
    #[serde(default)]
    pub center: Vector<dimension::Length>,
}

impl SolidOptions for Ball {
    fn build(&self) -> Result<ImplicitSolid, SolidError> {
        Ok(ImplicitSolid::ball(vec3(&self.center), self.radius.si))
    }
}
