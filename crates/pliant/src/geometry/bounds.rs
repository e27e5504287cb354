//! Axis-aligned bounding boxes.

use crate::math::Vec3;

/// Returns the low and high corners of the axis-aligned bounding box of `points`.
pub fn bounding_box(points: impl IntoIterator<Item = Vec3>) -> [Vec3; 2] {
    points.into_iter().fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
}

/// Returns the axis-aligned bounding box of two boxes.
pub fn box_around([low, high]: [Vec3; 2], [other_low, other_high]: [Vec3; 2]) -> [Vec3; 2] {
    [low.min(other_low), high.max(other_high)]
}
