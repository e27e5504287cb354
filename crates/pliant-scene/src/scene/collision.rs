//! Contact of objects with each other, themselves and obstacles: `[contact]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Length, Pressure, Speed};
use super::{Located, SceneError, Source, bounds};
use pliant::contact::{ContactParams, Friction, PairBehavior, PairRule};

/// Contact of objects with each other, with themselves and with obstacles.
///
/// In scenes with this table, even an empty one, objects that may meet collide by barriers, if the integrator is
/// `backward-euler`, `bdf2`, `newmark` or `static`. They must not touch at the start. In scenes without it, the contact
/// of obstacles is a penalty, and objects do not collide with each other.
///
/// ```toml
/// [contact]
/// friction = 0.5
///
/// [[contact.pair]]
/// between = ["object", "ice"]
/// friction = 0.02
///
/// [[obstacle]]
/// name = "ice"
/// shape = { plane = { point = [0, "-1 m", 0] } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Contact {
    /// Method; by default `barrier` where the integrator supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Located<ContactMethod>>,
    /// Coefficient of friction of all pairs that do not have their own. It is the static one if `kinetic_friction` is
    /// given.
    #[schemars(transform = bounds::not_negative)]
    pub friction: Located<f64>,
    /// Coefficient of kinetic friction, at most that of static friction; by default the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub kinetic_friction: Option<Located<f64>>,
    /// Sliding speed below which friction decreases to zero; by default 1 mm/s. Bodies that stick creep more slowly.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub friction_speed: Option<Speed>,
    /// Distance that surfaces keep, in addition to the gap at which they interact.
    #[schemars(transform = bounds::not_negative)]
    pub thickness: Length,
    /// Gap from which on surfaces interact; by default a thousandth of the size of an object, and at most a tenth of
    /// the shortest edge at a vertex.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub range: Option<Length>,
    /// Scale of the contact pressure; by default a tenth of Young's modulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub pressure: Option<Pressure>,
    /// Pairs of objects and obstacles with their own friction, or that do not collide.
    #[serde(rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Located<ContactPair>>,
}

/// Method of contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContactMethod {
    /// Incremental potential contact: objects collide with each other, with themselves and with obstacles, and never
    /// pass through.
    Barrier,
    /// Springs at the vertices that are inside obstacles. Objects do not collide with each other.
    Penalty,
}

/// Rule for the contact of two objects or obstacles. A name twice is the contact of an object with itself.
///
/// ```toml
/// [[contact.pair]]
/// between = ["object", "object"]
/// ignore = true
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactPair {
    /// Names of the objects or obstacles.
    pub between: [String; 2],
    /// Coefficient of friction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub friction: Option<f64>,
    /// Coefficient of kinetic friction; by default the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub kinetic_friction: Option<f64>,
    /// True if they do not collide.
    #[serde(default)]
    pub ignore: bool,
}

impl Contact {
    /// Returns friction with these coefficients. The kinetic one is by default the static one.
    pub fn friction_of(&self, coefficient: f64, kinetic: Option<f64>) -> Friction {
        Friction {
            static_coefficient: coefficient,
            kinetic_coefficient: kinetic.unwrap_or(coefficient),
            speed: self.friction_speed.map_or(Friction::SPEED, |speed| speed.si),
        }
    }

    /// Returns the parameters of the contact. Errors refer to the source.
    pub fn params(&self, source: &Source) -> Result<ContactParams, SceneError> {
        let mut pairs = Vec::new();
        for pair in &self.pairs {
            let rule = match (pair.ignore, pair.friction) {
                (true, None) => PairBehavior::Ignored,
                (false, Some(friction)) => PairBehavior::Friction(self.friction_of(friction, pair.kinetic_friction)),
                (true, Some(_)) => {
                    let message = "a pair that is ignored has no friction; remove `ignore` or `friction`";
                    return Err(source.error(pair.span.as_ref(), message));
                }
                (false, None) => {
                    return Err(source.error(pair.span.as_ref(), "expected `friction` or `ignore = true`"));
                }
            };
            pairs.push(PairRule { bodies: pair.between.clone(), rule });
        }
        Ok(ContactParams {
            range: self.range.map(|range| range.si),
            pressure: self.pressure.map(|pressure| pressure.si),
            young: None,
            thickness: self.thickness.si,
            friction: self.friction_of(self.friction.value, self.kinetic_friction.as_ref().map(|mu| mu.value)),
            pairs,
        })
    }
}
