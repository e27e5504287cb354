//! Half-spaces.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeContext, ObstacleShapeOptions};
use crate::scene::quantity::{dimension, vec3};
use crate::scene::{SceneError, Vector};
use pliant::contact::ColliderShape;
use pliant::force::{self, ObstacleShape};
use pliant::math::Vec3;

/// Half-space behind a plane.
///
/// ```toml
/// [[obstacle]]
/// shape = { plane = { point = [0, "-1 m", 0], normal = [0.5, 1, 0] } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Plane {
    /// A point on the plane; by default the origin.
    pub point: Vector<dimension::Length>,
    /// Normal vector, which points out of the obstacle; by default up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
}

impl ObstacleShapeOptions for Plane {
    fn build(&self, context: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError> {
        let normal = self.normal.map_or(context.up, Vec3::from_array);
        Ok(Arc::new(force::Plane { point: vec3(&self.point), normal }))
    }

    fn collider(&self, context: ObstacleShapeContext<'_>) -> Result<ColliderShape, SceneError> {
        let normal = self.normal.map_or(context.up, Vec3::from_array);
        Ok(ColliderShape::HalfSpace { point: vec3(&self.point), normal })
    }
}
