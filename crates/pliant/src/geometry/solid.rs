//! What a mesher asks of a solid.

use crate::math::Vec3;

/// Halvings of an edge for the place where it leaves a solid: to the last digit of a double.
const HALVINGS: usize = 52;

/// A point that a solid was asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Where it is.
    pub place: Vec3,
    /// What [`Solid::depths`] said.
    pub depth: f32,
}

/// A part of space that can be filled with elements.
pub trait Solid: Sync {
    /// A box around it: its low and high corner.
    fn bounds(&self) -> [Vec3; 2];

    /// Whether `point` is inside.
    fn contains(&self, point: Vec3) -> bool;

    /// How deep inside each of `points` is, which are near one another, in a measure of the solid's own: inside it is not negative.
    fn depths(&self, points: &[Vec3]) -> Vec<f32> {
        points.iter().map(|point| if self.contains(*point) { 1.0 } else { -1.0 }).collect()
    }

    /// `point`, with how deep inside it is.
    fn probe(&self, point: Vec3) -> Probe {
        Probe { place: point, depth: self.depths(&[point])[0] }
    }

    /// Whether all of the box from `low` to `high` is inside, or all of it outside, as far as that is known at once. Then one point is as deep as any other.
    fn is_uniform(&self, _low: Vec3, _high: Vec3) -> bool {
        false
    }

    /// The part of `points`, which are near another point, that is inside. An estimate, for what is averaged over many points.
    fn part_inside(&self, _near: Probe, points: &[Vec3]) -> f64 {
        points.iter().filter(|point| self.contains(**point)).count() as f64 / points.len() as f64
    }

    /// Where the segment from a point inside to one outside leaves the solid, from 0 to 1. If it does so several times, any
    /// of these places.
    fn exit(&self, inside: Probe, outside: Probe) -> f64 {
        halve(0.0, 1.0, HALVINGS, |t| self.contains(inside.place.lerp(outside.place, t)))
    }
}

/// Narrow down where something that holds at `low` ceases to hold before `high`.
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
