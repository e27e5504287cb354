//! Capsules.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeContext, ObstacleShapeOptions};
use crate::scene::quantity::{Length, dimension, vec3};
use crate::scene::{SceneError, Vector, bounds};
use pliant::contact::ColliderShape;
use pliant::force::ObstacleShape;

/// A solid capsule: all points within a distance of a line segment. A long one is a cylinder with round ends.
///
/// ```toml
/// [contact]
/// friction = 0.5
///
/// [[obstacle]]
/// shape = { capsule = { ends = [[0.5, "-50 cm", -1], [0.5, "-50 cm", 1]], radius = "20 cm" } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// Ends of the segment.
    pub ends: [Vector<dimension::Length>; 2],
    /// Distance from it.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
}

impl ObstacleShapeOptions for Capsule {
    fn build(&self, context: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError> {
        Err(context.needs_barrier("a capsule"))
    }

    fn collider(&self, _: ObstacleShapeContext<'_>) -> Result<ColliderShape, SceneError> {
        let [start, end] = &self.ends;
        Ok(ColliderShape::Capsule { ends: [vec3(start), vec3(end)], radius: self.radius.si })
    }
}
