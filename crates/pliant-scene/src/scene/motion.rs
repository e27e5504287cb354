//! Rigid motion of fixed vertices, handles and obstacles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Angle, Time, dimension, vec3};
use super::{Located, SceneError, Source, Vector};
use pliant::math::Vec3;
use pliant::motion::{Keyframes, Pose};

/// Rigid motion through keyframes: linear interpolation between them, at rest before the first and after the last.
///
/// ```toml
/// [[fixed]]
/// vertices = "end"
/// motion = { center = [1, 0, 0], keyframes = [{ time = 0 }, { time = "2 s", translate = ["20 cm", 0, 0] }] }
/// ```
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
///
/// ```toml
/// [[fixed]]
/// vertices = "end"
///
/// [[fixed.motion.keyframes]]
/// time = 0
///
/// [[fixed.motion.keyframes]]
/// time = "2 s"
/// translate = ["20 cm", 0, 0]
/// rotate = { axis = [1, 0, 0], angle = "1 turn" }
/// ```
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
///
/// ```toml
/// [[object]]
/// mesh = { cylinder = { radius = "5 cm", height = "40 cm" } }
/// rotate = { axis = [0, 0, 1], angle = "90 deg" }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
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
