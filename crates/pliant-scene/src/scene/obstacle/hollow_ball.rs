//! Hollow balls.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeContext, ObstacleShapeOptions};
use crate::scene::quantity::{Length, dimension, vec3};
use crate::scene::{SceneError, Vector, bounds};
use pliant::contact::ColliderShape;
use pliant::force::{self, ObstacleShape};

/// Everything outside a ball, which encloses bodies.
///
/// ```toml
/// [[obstacle]]
/// shape = { hollow-ball = { center = [0.5, 0, 0], radius = "2 m" } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HollowBall {
    /// Center of the ball.
    pub center: Vector<dimension::Length>,
    /// Radius of the ball.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
}

impl ObstacleShapeOptions for HollowBall {
    fn build(&self, _: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError> {
        Ok(Arc::new(force::HollowBall { center: vec3(&self.center), radius: self.radius.si }))
    }

    fn collider(&self, _: ObstacleShapeContext<'_>) -> Result<ColliderShape, SceneError> {
        Ok(ColliderShape::HollowBall { center: vec3(&self.center), radius: self.radius.si })
    }
}
