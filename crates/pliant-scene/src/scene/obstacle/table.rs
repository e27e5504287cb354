//! The table `[[obstacle]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeChoice, ObstacleShapeContext};
use crate::scene::build::BuildContext;
use crate::scene::quantity::{Speed, Stiffness, Viscosity};
use crate::scene::{Contact, Located, Motion, SceneError, bounds};
use pliant::contact::{Collider, Friction};
use pliant::force;

/// A rigid obstacle that bodies collide with.
///
/// In scenes with [Contact](#contact), no body passes through it. In others, and with `stiffness` or `damping`, its
/// contact is a penalty: a spring at each vertex that is inside.
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
    /// Name, for pairs of `[contact]`; by default `obstacle-1`, `obstacle-2` and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Shape of the obstacle.
    pub shape: Located<ObstacleShapeChoice>,
    /// Penalty stiffness per vertex: contact force per penetration depth. By default ten times that of an element of
    /// the stiffest object. If an object has a skin, its contact points are on that surface, and share the stiffness by
    /// area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: Option<Stiffness>,
    /// Penalty damping of the normal velocity of a vertex in contact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub damping: Option<Viscosity>,
    /// Coefficient of friction; by default that of `[contact]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub friction: Option<f64>,
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
            name: None,
            shape: Located::new(shape),
            stiffness: None,
            damping: None,
            friction: None,
            friction_speed: None,
            motion: None,
        }
    }

    /// Returns true if its contact is a penalty with any integrator.
    pub fn is_penalty(&self) -> bool {
        self.stiffness.is_some() || self.damping.is_some()
    }

    fn context<'a>(&'a self, context: &'a BuildContext<'_>) -> ObstacleShapeContext<'a> {
        ObstacleShapeContext::new(context.source, self.shape.span.as_ref(), context.up, context.files)
    }

    /// Creates the collider of barrier contact.
    pub(in super::super) fn collider(
        &self,
        number: usize,
        settings: &Contact,
        context: &BuildContext<'_>,
    ) -> Result<Collider, SceneError> {
        let name = self.name.clone().unwrap_or_else(|| format!("obstacle-{}", number + 1));
        let shape = self.shape.collider(self.context(context))?;
        let middle = shape.origin();
        let friction = self.friction.map(|friction| Friction {
            speed: self.friction_speed.map_or(Friction::SPEED, |speed| speed.si),
            ..settings.friction_of(friction, None)
        });
        Ok(Collider { name, shape, motion: context.motion(self.motion.as_ref(), || middle)?.into(), friction })
    }

    /// Creates the obstacle of penalty contact.
    pub(in super::super) fn build(&self, context: &BuildContext<'_>) -> Result<force::Obstacle, SceneError> {
        let shape = self.shape.build(self.context(context))?;
        let middle = shape.placement().origin;
        Ok(force::Obstacle {
            shape,
            stiffness: self.stiffness.map_or_else(|| context.obstacle_stiffness(), |stiffness| stiffness.si),
            damping: self.damping.map_or(0.0, |damping| damping.si),
            friction: self.friction.unwrap_or_else(|| context.contact_friction()),
            friction_speed: self.friction_speed.map_or(force::Obstacle::FRICTION_SPEED, |speed| speed.si),
            motion: context.motion(self.motion.as_ref(), || middle)?,
        })
    }
}
