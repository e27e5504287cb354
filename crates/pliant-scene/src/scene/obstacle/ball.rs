//! Solid balls.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeContext, ObstacleShapeOptions};
use crate::scene::quantity::{Length, dimension, vec3};
use crate::scene::{SceneError, Vector, bounds};
use pliant::contact::ColliderShape;
use pliant::force::{self, ObstacleShape};

/// A solid ball.
///
/// ```toml
/// [[obstacle]]
/// shape = { ball = { center = [0.5, "-50 cm", 0], radius = "20 cm" } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Center of the ball.
    pub center: Vector<dimension::Length>,
    /// Radius of the ball.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
}

impl ObstacleShapeOptions for Ball {
    fn build(&self, _: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError> {
        Ok(Arc::new(force::Ball { center: vec3(&self.center), radius: self.radius.si }))
    }

    fn collider(&self, _: ObstacleShapeContext<'_>) -> Result<ColliderShape, SceneError> {
        Ok(ColliderShape::Ball { center: vec3(&self.center), radius: self.radius.si })
    }
}
