//! Continuous collision detection by conservative advancement.
//!
//! The vertices of a pair move along straight lines, `x(t) = x + t Δ` for `0 ≤ t ≤ 1`. The distance `d(t)` of the pair
//! is Lipschitz continuous with the constant `l = max |Δᵢ − Δⱼ|` over vertices `i` of the first and `j` of the second
//! primitive, because any two points of them are convex combinations of their vertices. So the pair stays apart for
//! another `(d(t) − ξ)/l`, where `ξ ≥ 0` is the minimum distance. Repeating this with a factor below 1
//! \[LiKaufmanJiang2021\] approaches the time of impact from below.
//!
//! # Rounding
//!
//! Let `u` be the unit roundoff, `r` the largest distance of a vertex from the first one, and `c` the largest
//! coordinate, both up to the time `t`. Every computed distance is reduced by three bounds of errors:
//!
//! - Positions enter relative to the first vertex. Their differences and `t` times their motions have errors of at most
//!   `3 u r` per vertex. Distances of two points, and of a point and an edge, add at most `10 u r`: they are minima, so
//!   that an error of the closest point enters by its square. `E = 64 u (r + c)` is greater than the sum.
//! - Whoever moves a vertex rounds the result `x + t Δ`, which changes it by at most `2 √3 u c`. That is in `E` too. As
//!   `E` increases with `t` at a rate of at most `e = 64 u (max |Δᵢ − Δ₀| + max |Δᵢ|)`, an advance takes `l + e` for
//!   `l`.
//! - The normal `g×h` of a triangle, or of two edges, has an error of at most `5 u |g| |h|`, which turns it by `5 u/σ`,
//!   where `σ` is the sine of the angle between `g` and `h`. The distance along it, between two points at most `2 r`
//!   apart, is wrong by at most `10 u r/σ`; so is the distance of points that closest ones were confused with, on the
//!   boundary instead of inside. The bound is `32 u r/σ`. For small angles this is much, but there the boundary is
//!   close to everything inside: distances from it are wrong by at most the height of the triangle,
//!   `σ |g| |h|/max(|g|, |h|, |g − h|)`, or for edges `σ min(|g|, |h|)`.
//!
//! A fuzz test verifies the result with exact arithmetic.

use super::distance::{ClosestPoints, PairKind};
use crate::math::Vec3;

/// Part of the initial gap that is kept: a pair stops before its gap is smaller.
const KEPT: f64 = 0.1;

/// Maximum number of advances. A pair that slides along itself at a tiny distance stops there, which is safe.
const MAX_ADVANCES: usize = 200;

/// Bound of the rounding error of a computed distance, relative to the extent of the pair and to its coordinates.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Bound of the rounding error of a distance along a normal, relative to the extent of the pair and multiplied by the
/// sine of the angle between the vectors that span the normal.
const TILT: f64 = 16.0 * f64::EPSILON;

/// Returns a fraction of the motion up to which the distance of a pair is greater than `min_distance` throughout: 1 if
/// that holds for the whole motion, and 0 if it does not hold at the start and the pair moves. It also holds for
/// vertices at `x + fraction · motion` as rounded.
///
/// A result below 1 is not a contact: motions that pass at a tenth of the initial distance are also stopped.
pub fn safe_fraction(kind: PairKind, x: &[Vec3; 4], motion: &[Vec3; 4], min_distance: f64) -> f64 {
    let start: [Vec3; 4] = x.map(|point| point - x[0]);
    let relative: [Vec3; 4] = motion.map(|delta| delta - motion[0]);
    let largest = |numbers: [f64; 4]| numbers.into_iter().fold(0.0, f64::max);
    let speed = match kind {
        PairKind::PointTriangle => largest(relative.map(Vec3::length)),
        PairKind::EdgeEdge => largest([[0, 2], [0, 3], [1, 2], [1, 3]].map(|[i, j]| relative[i].distance(relative[j]))),
    };
    // The maximum drops NaN.
    if !motion.iter().chain(&relative).all(|delta| delta.is_finite()) {
        return 0.0;
    }
    let sizes = |vectors: &[Vec3; 4]| vectors.map(|vector| vector.abs().max_element());
    let (lengths, relative_lengths) = (start.map(Vec3::length), relative.map(Vec3::length));
    let (coordinates, changes) = (sizes(x), sizes(motion));
    // Rate at which the distance, reduced by bounds of rounding, may decrease.
    let rate = speed + ROUNDING * (largest(relative_lengths) + largest(changes));
    if rate == 0.0 {
        return 1.0;
    }
    let gap = |t: f64| {
        let moved: [Vec3; 4] = std::array::from_fn(|i| start[i] + t * relative[i]);
        let extent = largest(std::array::from_fn(|i| lengths[i] + t * relative_lengths[i]));
        let coordinate = largest(std::array::from_fn(|i| coordinates[i] + t * changes[i]));
        distance_bound(kind, &moved, extent) - ROUNDING * (extent + coordinate) - min_distance
    };
    let initial = gap(0.0);
    // NaN is no gap.
    if !(initial > 0.0) {
        return 0.0;
    }
    let (mut time, mut distance) = (0.0, initial);
    for _ in 0..MAX_ADVANCES {
        let next = time + (1.0 - KEPT) * distance / rate;
        if next >= 1.0 {
            return 1.0;
        }
        if next == time {
            return time;
        }
        distance = gap(next);
        if !(distance >= KEPT * initial) {
            return if time > 0.0 { time } else { next };
        }
        time = next;
    }
    time
}

/// Returns the distance of a pair, reduced by a bound of the errors that come from the angle of its edges.
fn distance_bound(kind: PairKind, x: &[Vec3; 4], extent: f64) -> f64 {
    let closest = ClosestPoints::new(kind, x);
    let (g, h, longest_squared) = match kind {
        PairKind::PointTriangle => {
            // The two shorter edges.
            let edges = [x[2] - x[1], x[3] - x[2], x[1] - x[3]];
            let [a, b, c] = edges.map(Vec3::length_squared);
            let [longest, g, h] = if a >= b && a >= c {
                [0, 1, 2]
            } else if b >= c {
                [1, 2, 0]
            } else {
                [2, 0, 1]
            };
            (edges[g], edges[h], edges[longest].length_squared())
        }
        PairKind::EdgeEdge => {
            let (g, h) = (x[1] - x[0], x[3] - x[2]);
            (g, h, g.length_squared().max(h.length_squared()))
        }
    };
    let normal_squared = g.cross(h).length_squared();
    let tilt = TILT * extent * (g.length_squared() * h.length_squared() / normal_squared).sqrt();
    let height = (normal_squared / longest_squared).sqrt();
    // The minimum drops NaN, which comes from edges of zero length.
    let error = if closest.free_count() == 2 { tilt } else { tilt.min(height) };
    closest.distance() - if error.is_nan() { 0.0 } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::testing::{close_pair, random_vector, reference_cases};

    #[test]
    fn no_motion_goes_beyond_its_time_of_impact_and_those_without_impact_make_progress() {
        let cases = reference_cases(include_str!("../../tests/data/contact/ccd.txt"));
        assert_eq!(cases.len(), 94);
        for case in cases {
            let (name, kind, start, end) = (case.name, case.kind(), case.points("start"), case.points("end"));
            let min_distance = case.number("min-distance");
            let motion: [Vec3; 4] = std::array::from_fn(|i| end[i] - start[i]);
            let fraction = safe_fraction(kind, &start, &motion, min_distance);
            let initial = ClosestPoints::new(kind, &start).distance();
            let closest = case.number("least-distance");
            if case.word("impact") == "none" {
                // Misses by less than a tenth of the gap may stop.
                let is_free = name == "no_motion"
                    || name.ends_with("leaves")
                    || (name.starts_with("random") && closest - min_distance > 0.1 * (initial - min_distance));
                assert!(fraction > 0.0 && (fraction == 1.0 || !is_free), "{name}: {fraction}");
                continue;
            }
            let time = case.number("impact");
            assert!(fraction <= time, "{name}: {fraction} is after {time}");
            // Of the time that it takes to nine tenths of the gap.
            assert!(initial <= min_distance || fraction > 0.8 * time, "{name}: {fraction} of {time}");
        }
    }

    #[test]
    fn pairs_stay_apart_along_the_whole_safe_part_of_random_motions() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut stopped = 0;
        for case in 0..4000 {
            let kind = if case % 2 == 0 { PairKind::PointTriangle } else { PairKind::EdgeEdge };
            let (start, shift) = (close_pair(kind, &mut random), random_vector(&mut random));
            let motion: [Vec3; 4] = std::array::from_fn(|_| shift + random_vector(&mut random));
            let initial = ClosestPoints::new(kind, &start).distance();
            let fraction = safe_fraction(kind, &start, &motion, 0.0);
            stopped += usize::from(fraction < 1.0);
            for step in 0..=100 {
                let time = fraction * f64::from(step) / 100.0;
                let moved: [Vec3; 4] = std::array::from_fn(|i| start[i] + time * motion[i]);
                let distance = ClosestPoints::new(kind, &moved).distance();
                // At least a tenth of a tenth, as the last advance leaves a tenth of the gap before it.
                assert!(distance > 0.0099 * initial, "{kind:?} at {time}: {distance} of {initial}");
            }
        }
        assert!(stopped > 400, "{stopped}");
    }

    #[test]
    fn motions_without_relative_velocity_are_free_and_lost_positions_stop() {
        let pair = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, 1.0, 1e-9), Vec3::new(1.0, 1.0, 1.0)];
        for kind in [PairKind::PointTriangle, PairKind::EdgeEdge] {
            assert_eq!(safe_fraction(kind, &pair, &[Vec3::new(1e3, 2.0, -1.0); 4], 0.0), 1.0);
            let mut lost = [Vec3::ZERO; 4];
            lost[2].y = f64::NAN;
            assert_eq!(safe_fraction(kind, &pair, &lost, 0.0), 0.0);
        }
        // Surfaces that touch cannot move against each other.
        let touching = [Vec3::ZERO, Vec3::X, Vec3::ZERO, Vec3::Y];
        let apart = [Vec3::Z, Vec3::Z, Vec3::ZERO, Vec3::ZERO];
        assert_eq!(safe_fraction(PairKind::EdgeEdge, &touching, &apart, 0.0), 0.0);
    }
}
