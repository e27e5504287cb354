//! Cylinders.

use std::f64::consts::TAU;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeContext, ObstacleShapeOptions};
use crate::scene::quantity::{Length, dimension, vec3};
use crate::scene::{SceneError, Vector, bounds};
use pliant::contact::ColliderShape;
use pliant::force::ObstacleShape;

/// Number of sides of the prism that stands for a cylinder: it is at most 3e-4 of the radius inside it.
const SIDES: u32 = 128;

/// A solid cylinder with flat ends, as a prism of 128 sides inscribed in it.
///
/// ```toml
/// [contact]
/// friction = 0.5
///
/// [[obstacle]]
/// shape = { cylinder = { ends = [[0.5, "-50 cm", -1], [0.5, "-50 cm", 1]], radius = "20 cm" } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Centers of the ends.
    pub ends: [Vector<dimension::Length>; 2],
    /// Radius.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
}

impl ObstacleShapeOptions for Cylinder {
    fn build(&self, context: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError> {
        Err(context.needs_barrier("a cylinder"))
    }

    fn collider(&self, context: ObstacleShapeContext<'_>) -> Result<ColliderShape, SceneError> {
        let ends = [vec3(&self.ends[0]), vec3(&self.ends[1])];
        let Some(axis) = (ends[1] - ends[0]).try_normalize() else {
            return Err(context.error("both ends of the cylinder are at the same place, expected different ones"));
        };
        if !(self.radius.si > 0.0 && self.radius.si.is_finite()) {
            return Err(context.error(format!("the radius is {} m, expected a positive number", self.radius.si)));
        }
        let (a, b) = axis.any_orthonormal_pair();
        let mut vertices = ends.to_vec();
        for side in 0..SIDES {
            let (sin, cos) = (TAU * f64::from(side) / f64::from(SIDES)).sin_cos();
            vertices.extend(ends.map(|end| end + self.radius.si * (cos * a + sin * b)));
        }
        let mut triangles = Vec::new();
        for side in 0..SIDES {
            let [p, q] = [2 + 2 * side, 2 + 2 * ((side + 1) % SIDES)];
            triangles.extend([[0, q, p], [1, p + 1, q + 1], [p, q, q + 1], [p, q + 1, p + 1]]);
        }
        Ok(ColliderShape::Surface { vertices, triangles, edges: Vec::new() })
    }
}
