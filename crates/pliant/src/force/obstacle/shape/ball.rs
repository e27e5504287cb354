//! Solid balls.

use super::super::super::NO_DIRECTION;
use super::{Curvature, ObstacleGeometry, ObstacleShape, Placement, ShapeError, SurfacePoint};
use crate::math::{Mat3, Vec3};

/// Solid ball: `d = R − r` and `n = (x − y)/r` at the distance `r` from the center `y`, with `∂n/∂x = (I − nnᵀ)/r`.
/// Where `r ≤ 10⁻¹² R` there is no direction: `n` is then the z axis, and `∂n/∂x` is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Center \[m\].
    pub center: Vec3,
    /// Radius `R` \[m\].
    pub radius: f64,
}

impl ObstacleShape for Ball {
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
        SurfacePoint { depth: self.radius - r, normal: outward, curvature: Curvature::Uniform(curvature) }
    }

    fn is_outside(&self, _: &Mat3, low: Vec3, high: Vec3) -> bool {
        low.max(-high).max(Vec3::ZERO).length() > self.radius
    }

    fn geometry(&self, placement: &Placement) -> ObstacleGeometry {
        ObstacleGeometry::Ball { center: placement.origin, radius: self.radius, is_hollow: false }
    }
}

/// Distance and direction from the center of a ball.
pub(super) struct Radial {
    /// Distance \[m\].
    pub r: f64,
    /// Unit vector.
    pub outward: Vec3,
    /// Curvature `1/r` \[1/m\].
    pub curvature: f64,
}

impl Radial {
    #[inline]
    pub(super) fn new(radius: f64, arm: Vec3) -> Self {
        let r = arm.length();
        let (outward, curvature) = if r <= NO_DIRECTION * radius { (Vec3::Z, 0.0) } else { (arm / r, 1.0 / r) };
        Self { r, outward, curvature }
    }
}
