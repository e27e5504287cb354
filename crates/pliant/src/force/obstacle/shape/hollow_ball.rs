//! Hollow balls.

use super::ball::Radial;
use super::{Curvature, ObstacleGeometry, ObstacleShape, Placement, ShapeError, SurfacePoint};
use crate::math::{Mat3, Vec3};

/// Everything outside a ball, which encloses bodies: `d = r − R` and `n = −(x − y)/r` at the distance `r` from the
/// center `y`, with `∂n/∂x = −(I − nnᵀ)/r`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HollowBall {
    /// Center \[m\].
    pub center: Vec3,
    /// Radius `R` \[m\].
    pub radius: f64,
}

impl ObstacleShape for HollowBall {
    fn check(&self) -> Result<(), ShapeError> {
        ShapeError::check_finite("center", self.center)?;
        ShapeError::check_length("radius", self.radius)
    }

    fn placement(&self) -> Placement {
        Placement::along(self.center, Vec3::Z)
    }

    #[inline]
    fn surface(&self, _: &Mat3, arm: Vec3) -> SurfacePoint {
        let Radial { r, outward, curvature } = Radial::new(self.radius, arm);
        SurfacePoint { depth: r - self.radius, normal: -outward, curvature: Curvature::Uniform(-curvature) }
    }

    fn is_outside(&self, _: &Mat3, low: Vec3, high: Vec3) -> bool {
        low.abs().max(high.abs()).length() < self.radius
    }

    fn geometry(&self, placement: &Placement) -> ObstacleGeometry {
        ObstacleGeometry::Ball { center: placement.origin, radius: self.radius, is_hollow: true }
    }
}
