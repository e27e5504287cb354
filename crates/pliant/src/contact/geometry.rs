//! Shapes of obstacles as they are drawn.

use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

/// Shape of an obstacle at some time, to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum ObstacleGeometry {
    /// Half-space behind a plane.
    Plane {
        /// Point of the plane \[m\].
        point: Vec3,
        /// Unit normal towards the free side.
        normal: Vec3,
    },
    /// Ball.
    Ball {
        /// Center \[m\].
        center: Vec3,
        /// Radius \[m\].
        radius: f64,
        /// True if bodies are inside.
        is_hollow: bool,
    },
    /// Closed surface, whose faces are counterclockwise seen from the free side.
    Surface(SurfaceMesh),
}
