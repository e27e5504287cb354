//! Rotated and translated solids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SolidChoice, SolidError, SolidOptions};
use crate::scene::quantity::{dimension, vec3};
use crate::scene::{Rotation, Vector};
use pliant::geometry::ImplicitSolid;
use pliant::math::{Affine3, Vec3};

/// A solid that is rotated about the origin and then translated.
///
/// ```toml
/// [[object]]
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
///
/// [object.mesh.filled]
/// cells = 12
///
/// [object.mesh.filled.of.moved]
/// solid = { torus = { ring_radius = 0.5, tube_radius = 0.2 } }
/// translate = [0, 1, 0]
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// Solid to move.
    pub solid: SolidChoice,
    /// Rotation about the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate: Option<Rotation>,
    /// Translation.
    #[serde(default)]
    pub translate: Vector<dimension::Length>,
}

impl SolidOptions for Moved {
    fn build(&self) -> Result<ImplicitSolid, SolidError> {
        let scaled_axis = |rotate: &Rotation| -> Result<Vec3, SolidError> {
            let axis = Vec3::from_array(rotate.axis).try_normalize();
            Ok(rotate.angle.si * axis.ok_or(SolidError::Axis { axis: rotate.axis })?)
        };
        let rotation = glam::DQuat::from_scaled_axis(self.rotate.as_ref().map_or(Ok(Vec3::ZERO), scaled_axis)?);
        Ok(self.solid.build()?.moved(Affine3::from_rotation_translation(rotation, vec3(&self.translate))))
    }
}
