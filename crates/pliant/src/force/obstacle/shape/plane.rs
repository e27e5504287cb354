//! Half-spaces.

use super::{Curvature, ObstacleGeometry, ObstacleShape, Placement, ShapeError, SurfacePoint};
use crate::math::{Mat3, Vec3};

/// Solid half-space behind a plane: `d = n·(y − x)` for a plane through `y`. The third axis is the normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// Point of the plane \[m\].
    pub point: Vec3,
    /// Normal towards the free side, of any length.
    pub normal: Vec3,
}

impl ObstacleShape for Plane {
    fn check(&self) -> Result<(), ShapeError> {
        ShapeError::check_finite("point", self.point)?;
        match self.normal.try_normalize() {
            Some(_) => Ok(()),
            None => Err(ShapeError::new("normal", format!("is {}, which has no direction", self.normal))),
        }
    }

    fn placement(&self) -> Placement {
        Placement::along(self.point, self.normal.normalize())
    }

    #[inline]
    fn surface(&self, axes: &Mat3, arm: Vec3) -> SurfacePoint {
        let normal = axes.z_axis;
        SurfacePoint { depth: -normal.dot(arm), normal, curvature: Curvature::Uniform(0.0) }
    }

    fn is_outside(&self, axes: &Mat3, low: Vec3, high: Vec3) -> bool {
        let normal = axes.z_axis;
        normal.max(Vec3::ZERO).dot(low) + normal.min(Vec3::ZERO).dot(high) > 0.0
    }

    fn geometry(&self, placement: &Placement) -> ObstacleGeometry {
        ObstacleGeometry::Plane { point: placement.origin, normal: placement.axes.z_axis }
    }
}
