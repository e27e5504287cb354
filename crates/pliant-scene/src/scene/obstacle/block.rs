//! Boxes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeContext, ObstacleShapeOptions};
use crate::scene::quantity::{Angle, dimension, vec3};
use crate::scene::{SceneError, Vector, bounds};
use pliant::contact::ColliderShape;
use pliant::force::ObstacleShape;
use pliant::math::{Mat3, Vec3};

/// A solid box.
///
/// ```toml
/// [contact]
/// friction = 0.5
///
/// [[obstacle]]
/// shape = { box = { center = [0.5, "-50 cm", 0], size = [1, 0.2, 1], axis = [0, 0, 1], angle = "20 deg" } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Center of the box.
    pub center: Vector<dimension::Length>,
    /// Lengths of its edges.
    #[schemars(transform = bounds::positive)]
    pub size: Vector<dimension::Length>,
    /// Axis of its rotation; by default z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Angle of its rotation.
    #[serde(default)]
    pub angle: Angle,
}

impl ObstacleShapeOptions for Block {
    fn build(&self, context: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError> {
        Err(context.needs_barrier("a box"))
    }

    fn collider(&self, context: ObstacleShapeContext<'_>) -> Result<ColliderShape, SceneError> {
        let axis = Vec3::from_array(self.axis.unwrap_or([0.0, 0.0, 1.0]));
        let Some(axis) = axis.try_normalize() else {
            return Err(context.error(format!("the axis of the box is {axis}, expected a nonzero vector")));
        };
        Ok(ColliderShape::Box {
            center: vec3(&self.center),
            size: vec3(&self.size),
            axes: Mat3::from_axis_angle(axis, self.angle.si),
        })
    }
}
