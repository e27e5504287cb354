//! How holds, handles and obstacles move.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Angle, Time, dimension, vec3};
use super::{At, SceneError, Source, Vector};
use crate::math::Vec3;
use crate::motion::{Keyframes, Pose};

/// A rigid motion through keyframes: straight from one to the next, at rest before the first and after the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// The point that rotations are about; by default the middle of what moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre: Option<Vector<dimension::Length>>,
    /// Where it is at which times, in the order of time.
    pub keyframes: At<Vec<Keyframe>>,
}

/// A place at a time, relative to that at the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// When.
    pub time: Time,
    /// How far it has moved by then.
    #[serde(default)]
    pub translate: Vector<dimension::Length>,
    /// How far it has turned by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate: Option<At<Rotation>>,
}

/// A rotation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// The axis, of any length; a positive angle turns counter-clockwise as seen from its tip.
    pub axis: [f64; 3],
    /// May be several turns.
    pub angle: Angle,
}

impl At<Rotation> {
    /// The axis times the angle.
    pub(super) fn vector(&self, source: &Source) -> Result<Vec3, SceneError> {
        let axis = Vec3::from_array(self.axis).try_normalize();
        let no_axis =
            || source.error(self.span.as_ref(), format!("the axis is {:?}, which has no direction", self.axis));
        Ok(self.angle.si * axis.ok_or_else(no_axis)?)
    }
}

impl Motion {
    /// The motion of something whose middle is given.
    pub(super) fn build(&self, source: &Source, middle: Vec3) -> Result<crate::motion::Motion, SceneError> {
        let pose = |keyframe: &Keyframe| {
            let rotation = keyframe.rotate.as_ref().map_or(Ok(Vec3::ZERO), |rotate| rotate.vector(source))?;
            Ok((keyframe.time.si, Pose { translation: vec3(&keyframe.translate), rotation }))
        };
        let frames = self.keyframes.iter().map(pose).collect::<Result<Vec<_>, SceneError>>()?;
        let centre = self.centre.as_ref().map_or(middle, vec3);
        let keyframes = Keyframes::new(centre, frames);
        Ok(keyframes.map_err(|error| source.error(self.keyframes.span.as_ref(), error.to_string()))?.into())
    }
}
