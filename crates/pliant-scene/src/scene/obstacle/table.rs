//! The table `[[obstacle]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeChoice, ObstacleShapeContext};
use crate::scene::build::BuildContext;
use crate::scene::quantity::{Speed, Stiffness, Viscosity};
use crate::scene::{Located, Motion, SceneError, bounds};
use pliant::force;

/// A rigid obstacle that bodies collide with. Bodies do not collide with each other.
///
/// ```toml
/// [[obstacle]]
/// shape = { plane = { point = [0, "-1 m", 0] } }
/// friction = 0.4
///
/// [[obstacle]]
/// shape = { ball = { center = [0.5, "-50 cm", 0], radius = "20 cm" } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// Shape of the obstacle.
    pub shape: Located<ObstacleShapeChoice>,
    /// Penalty stiffness per vertex: contact force per penetration depth. By default ten times that of an element of
    /// the stiffest object. If an object has a skin, its contact points are on that surface, and share the stiffness by
    /// area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: Option<Stiffness>,
    /// Damping of the normal velocity of a vertex in contact.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub damping: Viscosity,
    /// Coefficient of friction.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub friction: f64,
    /// Sliding speed below which friction decreases in proportion to the speed; by default 1 mm/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub friction_speed: Option<Speed>,
    /// Motion of the obstacle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<Motion>,
}

impl Obstacle {
    /// Returns an obstacle at rest, without friction.
    pub fn new(shape: ObstacleShapeChoice) -> Self {
        Self {
            shape: Located::new(shape),
            stiffness: None,
            damping: Viscosity::default(),
            friction: 0.0,
            friction_speed: None,
            motion: None,
        }
    }

    pub(in super::super) fn build(&self, context: &BuildContext<'_>) -> Result<force::Obstacle, SceneError> {
        let span = self.shape.span.as_ref();
        let shape = self.shape.build(ObstacleShapeContext { source: context.source, span, up: context.up })?;
        let middle = shape.placement().origin;
        Ok(force::Obstacle {
            shape,
            stiffness: self.stiffness.map_or_else(|| context.obstacle_stiffness(), |stiffness| stiffness.si),
            damping: self.damping.si,
            friction: self.friction,
            friction_speed: self.friction_speed.map_or(force::Obstacle::FRICTION_SPEED, |speed| speed.si),
            motion: context.motion(self.motion.as_ref(), || middle)?,
        })
    }
}
