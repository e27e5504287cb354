//! Solids given by formulas, to be filled with tetrahedra.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::quantity::{Length, dimension, vec3};
use super::{Rotation, Vector, bounds, text_or_table};
use crate::geometry::{Form, FormError};
use crate::math::{Affine3, Vec3};

/// What is filled: the name of a file with a surface, relative to that of the scene, or a solid.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SolidSource {
    /// What a surface encloses. It may have holes, crossings and triangles that face the wrong way.
    Surface(String),
    /// A solid given by a formula.
    Solid(Solid),
}

impl<'de> Deserialize<'de> for SolidSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a file with a surface, or a table such as { ball = { radius = 1 } }";
        text_or_table(deserializer, expected, Self::Surface, Self::Solid)
    }
}

/// A solid given by a formula, or several put together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Solid {
    /// A ball.
    Ball {
        /// Its radius.
        #[schemars(transform = bounds::positive)]
        radius: Length,
        /// Its middle.
        #[serde(default)]
        centre: Vector<dimension::Length>,
    },
    /// A ring around the y axis, its middle at the origin.
    Torus {
        /// From the middle of the ring to the middle of its tube.
        #[schemars(transform = bounds::positive)]
        ring_radius: Length,
        /// Of the tube.
        #[schemars(transform = bounds::positive)]
        tube_radius: Length,
    },
    /// A box around the origin with rounded edges.
    RoundedBox {
        /// Its length along x, y and z.
        #[schemars(transform = bounds::positive)]
        size: Vector<dimension::Length>,
        /// Of the edges; 0 leaves them sharp.
        #[serde(default)]
        #[schemars(transform = bounds::not_negative)]
        radius: Length,
    },
    /// All points nearer to a segment than its radius.
    Capsule {
        /// Where the segment starts.
        start: Vector<dimension::Length>,
        /// Where it ends.
        end: Vector<dimension::Length>,
        /// Around it.
        #[schemars(transform = bounds::positive)]
        radius: Length,
    },
    /// The sheet of a gyroid, which has no end: intersect it with something that has.
    Gyroid {
        /// After how far it repeats itself.
        #[schemars(transform = bounds::positive)]
        period: Length,
        /// Of the sheet, about.
        #[schemars(transform = bounds::positive)]
        thickness: Length,
    },
    /// What is in any of them.
    Union(Vec<Solid>),
    /// What is in all of them.
    Intersection(Vec<Solid>),
    /// What is in one solid and in none of some others.
    Difference {
        /// What is there.
        of: Box<Solid>,
        /// What is taken away.
        without: Vec<Solid>,
    },
    /// A solid that is turned about the origin and then moved.
    Moved {
        /// Which.
        solid: Box<Solid>,
        /// How it is turned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotation>,
        /// How far it is moved.
        #[serde(default)]
        translate: Vector<dimension::Length>,
    },
}

/// Why a solid of a scene is none.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum SolidError {
    #[error("the axis is {axis:?}, which has no direction")]
    Axis { axis: [f64; 3] },
    #[error("expected one solid as scenes have them, such as {{ ball = {{ radius = 1 }} }}; {why}")]
    Syntax { why: String },
    #[error(transparent)]
    Form(#[from] FormError),
}

impl FromStr for Solid {
    type Err = SolidError;

    /// A solid as scenes have it, in TOML.
    fn from_str(text: &str) -> Result<Self, SolidError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Wrapped {
            solid: Solid,
        }
        let wrapped: Result<Wrapped, _> = toml::from_str(&format!("solid = {}", text.trim()));
        Ok(wrapped.map_err(|error| SolidError::Syntax { why: error.message().to_owned() })?.solid)
    }
}

impl Solid {
    /// The formula, with numbers that make sense.
    pub fn form(&self) -> Result<Form, SolidError> {
        let form = self.unchecked()?;
        form.check()?;
        Ok(form)
    }

    fn unchecked(&self) -> Result<Form, SolidError> {
        let all = |solids: &[Self]| solids.iter().map(Self::unchecked).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Self::Ball { radius, centre } => Form::ball(vec3(centre), radius.si),
            Self::Torus { ring_radius, tube_radius } => {
                Form::Torus { ring_radius: ring_radius.si, tube_radius: tube_radius.si }
            }
            Self::RoundedBox { size, radius } => Form::RoundedBox { size: vec3(size), radius: radius.si },
            Self::Capsule { start, end, radius } => {
                Form::Capsule { start: vec3(start), end: vec3(end), radius: radius.si }
            }
            Self::Gyroid { period, thickness } => Form::Gyroid { period: period.si, thickness: thickness.si },
            Self::Union(solids) => Form::Union(all(solids)?),
            Self::Intersection(solids) => Form::Intersection(all(solids)?),
            Self::Difference { of, without } if without.is_empty() => of.unchecked()?,
            Self::Difference { of, without } => of.unchecked()?.minus(Form::Union(all(without)?)),
            Self::Moved { solid, rotate, translate } => {
                let turn = |rotate: &Rotation| -> Result<Vec3, SolidError> {
                    let axis = Vec3::from_array(rotate.axis).try_normalize();
                    Ok(rotate.angle.si * axis.ok_or(SolidError::Axis { axis: rotate.axis })?)
                };
                let turn = rotate.as_ref().map_or(Ok(Vec3::ZERO), turn)?;
                let turn = glam::DQuat::from_scaled_axis(turn);
                solid.unchecked()?.moved(Affine3::from_rotation_translation(turn, vec3(translate)))
            }
        })
    }
}
