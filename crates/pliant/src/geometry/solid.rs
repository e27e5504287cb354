//! Queries of a mesher about a solid.

use crate::math::Vec3;

/// Bisection steps for the point where an edge leaves a solid: the precision of a double.
const HALVINGS: usize = 52;

/// Query point and its depth inside a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolidSample {
    /// Position of the point.
    pub place: Vec3,
    /// Depth from [`Solid::depths`].
    pub depth: f32,
}

/// Region of space that can be filled with elements.
pub trait Solid: Sync {
    /// Returns the low and high corners of a box that contains the solid.
    fn bounds(&self) -> [Vec3; 2];

    /// Returns true if `point` is inside.
    fn contains(&self, point: Vec3) -> bool;

    /// Returns the depth inside the solid of each of `points`, which are close together. The measure of depth is
    /// specific to the solid; it is nonnegative inside.
    fn depths(&self, points: &[Vec3]) -> Vec<f32> {
        points.iter().map(|point| if self.contains(*point) { 1.0 } else { -1.0 }).collect()
    }

    /// Returns `point` together with its depth inside the solid.
    fn sample(&self, point: Vec3) -> SolidSample {
        SolidSample { place: point, depth: self.depths(&[point])[0] }
    }

    /// Returns true if the box from `low` to `high` is known to be entirely inside or entirely outside. All points in
    /// it then have the same depth. False if this cannot be decided quickly.
    fn is_uniform(&self, _low: Vec3, _high: Vec3) -> bool {
        false
    }

    /// Returns the fraction of `points`, which are close to `near`, that is inside. This is an estimate, meant for
    /// averages over many points.
    fn fraction_inside(&self, _near: SolidSample, points: &[Vec3]) -> f64 {
        points.iter().filter(|point| self.contains(**point)).count() as f64 / points.len() as f64
    }

    /// Returns the parameter in \[0, 1\] at which the segment from a point inside to one outside leaves the solid. If
    /// it does so several times, this is any one of them.
    fn exit(&self, inside: SolidSample, outside: SolidSample) -> f64 {
        halve(0.0, 1.0, HALVINGS, |t| self.contains(inside.place.lerp(outside.place, t)))
    }
}

/// Bisects for the parameter at which a condition that is true at `low` becomes false before `high`.
pub(super) fn halve(mut low: f64, mut high: f64, times: usize, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..times {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
