//! Definition of the shape of an obstacle.

use std::fmt::Debug;

use super::{ObstacleGeometry, ShapeError};
use crate::math::{Mat3, Vec3, outer};

/// Shape of a rigid obstacle.
///
/// A shape has an origin and orthonormal axes, which follow the motion of the obstacle. Methods are called for every
/// point in every evaluation, so they do not allocate, except for `check` and `geometry`.
pub trait ObstacleShape: Debug + Send + Sync {
    /// Returns an error if the shape is undefined.
    fn check(&self) -> Result<(), ShapeError>;

    /// Returns the origin \[m\] and the axes of the shape without motion.
    fn placement(&self) -> Placement;

    /// Returns the depth of a point, and the normal and the curvature there. `arm` is the vector from the origin to the
    /// point \[m\], and `axes` are the axes at this time. Outside the obstacle any depth below zero will do. The depth
    /// of NaN coordinates is NaN.
    fn surface(&self, axes: &Mat3, arm: Vec3) -> SurfacePoint;

    /// Returns true if an axis-aligned box, from `low` to `high` relative to the origin \[m\], is certainly outside the
    /// obstacle.
    fn is_outside(&self, axes: &Mat3, low: Vec3, high: Vec3) -> bool;

    /// Returns the shape at this placement, to be drawn.
    fn geometry(&self, placement: &Placement) -> ObstacleGeometry;
}

/// Origin and orthonormal axes of a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Origin \[m\].
    pub origin: Vec3,
    /// Axes, one per column.
    pub axes: Mat3,
}

impl Placement {
    /// Returns a placement whose third axis is the unit vector `axis`.
    pub fn along(origin: Vec3, axis: Vec3) -> Self {
        let (a, b) = axis.any_orthonormal_pair();
        Self { origin, axes: Mat3::from_cols(a, b, axis) }
    }
}

/// Surface of an obstacle next to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// Depth `d` of the point \[m\], positive inside the obstacle.
    pub depth: f64,
    /// Unit normal `n = −∂d/∂x`, which points out of the obstacle.
    pub normal: Vec3,
    /// Curvature `∂n/∂x` \[1/m\].
    pub curvature: Curvature,
}

/// Derivative `∂n/∂x` of the normal at a point \[1/m\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Curvature {
    /// `κ (I − nnᵀ)`: equal in all tangential directions.
    Uniform(f64),
    /// `Σ κᵢ tᵢtᵢᵀ` with principal curvatures `κᵢ` and unit vectors `tᵢ` that are normal to `n` and to each other.
    Principal([(f64, Vec3); 2]),
}

impl Curvature {
    /// Returns `nnᵀ + Σ f(κᵢ) tᵢtᵢᵀ`.
    pub(in super::super) fn map(self, normal: Vec3, f: impl Fn(f64) -> f64) -> Mat3 {
        let along = outer(normal, normal);
        match self {
            Self::Uniform(curvature) => along + (Mat3::IDENTITY - along) * f(curvature),
            Self::Principal([(a, t), (b, s)]) => along + outer(t, t) * f(a) + outer(s, s) * f(b),
        }
    }
}
