//! Rigid motion of fixed vertices, handles and obstacles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Angle, Time, dimension, vec3};
use super::{Located, SceneError, Source, Vector};
use pliant::math::Vec3;
use pliant::motion::{Keyframes, Pose};

/// Rigid motion through keyframes: linear interpolation between them, at rest before the first and after the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// Center of rotation; by default the center of the moving part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<Vector<dimension::Length>>,
    /// Keyframes in ascending order of time.
    pub keyframes: Located<Vec<Keyframe>>,
}

/// Pose at a time, relative to the initial pose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Time of the keyframe.
    pub time: Time,
    /// Translation.
    #[serde(default)]
    pub translate: Vector<dimension::Length>,
    /// Rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate: Option<Located<Rotation>>,
}

/// A rotation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// Axis, of any length; a positive angle is counter-clockwise as seen from its tip.
    pub axis: [f64; 3],
    /// Angle, which may exceed one turn.
    pub angle: Angle,
}

impl Located<Rotation> {
    /// Returns the rotation vector: the unit axis times the angle \[rad\].
    pub(super) fn vector(&self, source: &Source) -> Result<Vec3, SceneError> {
        let axis = Vec3::from_array(self.axis).try_normalize();
        let no_axis =
            || source.error(self.span.as_ref(), format!("the axis is {:?}, which has no direction", self.axis));
        Ok(self.angle.si * axis.ok_or_else(no_axis)?)
    }
}

impl Motion {
    /// Returns the motion, with `middle` as the default center of rotation.
    pub(super) fn build(&self, source: &Source, middle: Vec3) -> Result<pliant::motion::Motion, SceneError> {
        let pose = |keyframe: &Keyframe| {
            let rotation = keyframe.rotate.as_ref().map_or(Ok(Vec3::ZERO), |rotate| rotate.vector(source))?;
            Ok((keyframe.time.si, Pose { translation: vec3(&keyframe.translate), rotation }))
        };
        let frames = self.keyframes.iter().map(pose).collect::<Result<Vec<_>, SceneError>>()?;
        let center = self.center.as_ref().map_or(middle, vec3);
        let keyframes = Keyframes::new(center, frames);
        Ok(keyframes.map_err(|error| source.error(self.keyframes.span.as_ref(), error.to_string()))?.into())
    }
}
