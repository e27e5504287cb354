//! Implicit solids, to be filled with tetrahedra.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::quantity::{Length, dimension, vec3};
use super::{Rotation, Vector, bounds, text_or_table};
use pliant::geometry::{ImplicitSolidError, ImplicitSolid};
use pliant::math::{Affine3, Vec3};

/// Solid to fill: the name of a surface file, relative to the scene file, or an implicit solid.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SolidSource {
    /// Interior of a surface, which may have holes, self-intersections and inverted triangles.
    Surface(String),
    /// Implicit solid.
    Solid(Solid),
}

impl<'de> Deserialize<'de> for SolidSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a file with a surface, or a table such as { ball = { radius = 1 } }";
        text_or_table(deserializer, expected, Self::Surface, Self::Solid)
    }
}

/// Implicit solid, or a Boolean combination of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Solid {
    /// A ball.
    Ball {
        /// Radius of the ball.
        #[schemars(transform = bounds::positive)]
        radius: Length,
        /// Center of the ball.
        #[serde(default)]
        center: Vector<dimension::Length>,
    },
    /// A torus about the y axis, centered at the origin.
    Torus {
        /// Distance from the center of the torus to the center line of its tube.
        #[schemars(transform = bounds::positive)]
        ring_radius: Length,
        /// Radius of the tube.
        #[schemars(transform = bounds::positive)]
        tube_radius: Length,
    },
    /// A box centered at the origin with rounded edges.
    RoundedBox {
        /// Edge lengths along x, y and z.
        #[schemars(transform = bounds::positive)]
        size: Vector<dimension::Length>,
        /// Radius of the edges; 0 leaves them sharp.
        #[serde(default)]
        #[schemars(transform = bounds::not_negative)]
        radius: Length,
    },
    /// All points within a distance of a line segment.
    Capsule {
        /// Start of the segment.
        start: Vector<dimension::Length>,
        /// End of the segment.
        end: Vector<dimension::Length>,
        /// Radius around the segment.
        #[schemars(transform = bounds::positive)]
        radius: Length,
    },
    /// The sheet of a gyroid, which is infinite: intersect it with a bounded solid.
    Gyroid {
        /// Period of the gyroid.
        #[schemars(transform = bounds::positive)]
        period: Length,
        /// Approximate thickness of the sheet.
        #[schemars(transform = bounds::positive)]
        thickness: Length,
    },
    /// Union of solids.
    Union(Vec<Solid>),
    /// Intersection of solids.
    Intersection(Vec<Solid>),
    /// Difference of solids.
    Difference {
        /// Solid to subtract from.
        of: Box<Solid>,
        /// Solids to subtract.
        without: Vec<Solid>,
    },
    /// A solid that is rotated about the origin and then translated.
    Moved {
        /// Solid to move.
        solid: Box<Solid>,
        /// Rotation about the origin.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rotate: Option<Rotation>,
        /// Translation.
        #[serde(default)]
        translate: Vector<dimension::Length>,
    },
}

/// Error for an invalid solid of a scene.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum SolidError {
    #[error("the axis is {axis:?}, which has no direction")]
    Axis { axis: [f64; 3] },
    #[error("expected one solid in the syntax of scenes, such as {{ ball = {{ radius = 1 }} }}; {why}")]
    Syntax { why: String },
    #[error(transparent)]
    ImplicitSolid(#[from] ImplicitSolidError),
}

impl FromStr for Solid {
    type Err = SolidError;

    /// Parses a solid in the TOML syntax of scenes.
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
    /// Returns the implicit function, with its parameters checked.
    pub fn form(&self) -> Result<ImplicitSolid, SolidError> {
        let form = self.unchecked()?;
        form.check()?;
        Ok(form)
    }

    fn unchecked(&self) -> Result<ImplicitSolid, SolidError> {
        let all = |solids: &[Self]| solids.iter().map(Self::unchecked).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Self::Ball { radius, center } => ImplicitSolid::ball(vec3(center), radius.si),
            Self::Torus { ring_radius, tube_radius } => {
                ImplicitSolid::Torus { ring_radius: ring_radius.si, tube_radius: tube_radius.si }
            }
            Self::RoundedBox { size, radius } => ImplicitSolid::RoundedBox { size: vec3(size), radius: radius.si },
            Self::Capsule { start, end, radius } => {
                ImplicitSolid::Capsule { start: vec3(start), end: vec3(end), radius: radius.si }
            }
            Self::Gyroid { period, thickness } => ImplicitSolid::Gyroid { period: period.si, thickness: thickness.si },
            Self::Union(solids) => ImplicitSolid::Union(all(solids)?),
            Self::Intersection(solids) => ImplicitSolid::Intersection(all(solids)?),
            Self::Difference { of, without } if without.is_empty() => of.unchecked()?,
            Self::Difference { of, without } => of.unchecked()?.minus(ImplicitSolid::Union(all(without)?)),
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
