//! Barrier that keeps surfaces apart, and the mollifier of edges that are almost parallel.
//!
//! With the squared distance `D` and the range `d̂`, the barrier is a function of `s = D/d̂²`,
//!
//! `β(s) = −(s − 1)² ln s` for `0 < s < 1`,
//!
//! zero beyond, and infinite at contact: that of \[LiFergusonSchneider2020\] for squared distances. It is twice
//! continuously differentiable.

use crate::math::Vec3;

/// Value of a function with its first and second derivative.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Derivatives {
    /// Value.
    pub value: f64,
    /// First derivative.
    pub first: f64,
    /// Second derivative.
    pub second: f64,
}

/// Computes the barrier `β(s)`. At contact, `s ≤ 0`, and where `s` is NaN, its value is infinite.
pub fn barrier(s: f64) -> Derivatives {
    if s >= 1.0 {
        return Derivatives::default();
    }
    if !(s > 0.0) {
        return Derivatives { value: f64::INFINITY, first: f64::NEG_INFINITY, second: f64::INFINITY };
    }
    let ln = s.ln();
    Derivatives {
        value: -(s - 1.0) * (s - 1.0) * ln,
        first: (1.0 - s) * (2.0 * ln - s.recip() + 1.0),
        second: (s.recip() + 2.0) / s - 2.0 * ln - 3.0,
    }
}

/// Relative square of the sine of the angle below which the potential of two edges is mollified.
const MOLLIFIED: f64 = 1e-3;

/// Factor `m` of the potential of two edges, which vanishes as they become parallel.
///
/// The distance of two edges has a kink where they are parallel. With `y = |u×v|²` for the edge vectors `u` and `v` and
/// `ε = 10⁻³ |ū|² |v̄|²` for those at rest, `m = (2 − y/ε) y/ε` for `y < ε` and 1 beyond removes it
/// \[LiFergusonSchneider2020\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mollifier {
    /// Value `m`.
    pub value: f64,
    /// Gradient with respect to the four vertices of the edges.
    pub gradient: [Vec3; 4],
    first: f64,
    second: f64,
    u: Vec3,
    v: Vec3,
}

impl Mollifier {
    /// Returns the threshold `ε` of two edges with these squared lengths at rest.
    pub fn threshold(u_squared: f64, v_squared: f64) -> f64 {
        MOLLIFIED * u_squared * v_squared
    }

    /// Computes the mollifier of two edges, or returns `None` where it is 1.
    pub fn new(x: &[Vec3; 4], threshold: f64) -> Option<Self> {
        let (u, v) = (x[1] - x[0], x[3] - x[2]);
        let normal = u.cross(v);
        let ratio = normal.length_squared() / threshold;
        if !(ratio < 1.0) {
            return None;
        }
        let (first, second) = (2.0 * (1.0 - ratio) / threshold, -2.0 / (threshold * threshold));
        let (by_u, by_v) = (2.0 * first * v.cross(normal), 2.0 * first * normal.cross(u));
        Some(Self { value: (2.0 - ratio) * ratio, gradient: [-by_u, by_u, -by_v, by_v], first, second, u, v })
    }

    /// Calls `add` with terms `σ q qᵀ` whose sum is the Hessian with respect to the four vertices.
    ///
    /// For motions `u̇` and `v̇` of the edge vectors, the second derivative of `y = |n|²`, `n = u×v`, is
    /// `2 |u̇×v + u×v̇|² + 4 n·(u̇×v̇)`.
    pub(super) fn hessian_terms(&self, mut add: impl FnMut((f64, [Vec3; 4]))) {
        let &Self { u, v, first, second, .. } = self;
        let normal = u.cross(v);
        let of_edges = |by_u: Vec3, by_v: Vec3| [-by_u, by_u, -by_v, by_v];
        for axis in Vec3::AXES {
            add((2.0 * first, of_edges(v.cross(axis), axis.cross(u))));
        }
        // n·(u̇×v̇) = |n| ((u̇·p)(v̇·q) − (u̇·q)(v̇·p)) with orthonormal p, q and n/|n|, and 4ab = (a + b)² − (a − b)².
        let size = normal.length();
        if size > 0.0 {
            let (p, q) = (normal / size).any_orthonormal_pair();
            // Units of length, as u̇ and v̇ have different ones.
            let scale = (v.length() / u.length()).sqrt();
            for (sign, a, b) in [(1.0, p, q), (-1.0, p, -q), (-1.0, q, p), (1.0, q, -p)] {
                add((sign * first * size, of_edges(a * scale, b / scale)));
            }
        }
        add((second, of_edges(2.0 * v.cross(normal), 2.0 * normal.cross(u))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::testing::reference_cases;

    #[test]
    fn barrier_has_the_values_of_another_implementation() {
        let mut count = 0;
        for case in reference_cases(include_str!("../../tests/data/contact/scalars.txt")) {
            let Some(expected) = case.words("barrier").map(|_| case.numbers("barrier")) else { continue };
            let (range, d) = (case.number("range"), case.number("d"));
            let squared = range * range;
            let b = barrier(d * d / squared);
            let found = [squared * squared * b.value, squared * b.first, b.second];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{}: {found} {expected}", case.name);
            }
            count += 1;
        }
        assert_eq!(count, 27);
    }

    #[test]
    fn barrier_is_smooth_at_its_range_and_infinite_at_contact() {
        let near = barrier(1.0 - 1e-4);
        assert!(near.value < 1e-11 && near.first.abs() < 1e-7 && near.second < 1e-3);
        assert_eq!(barrier(1.0), Derivatives::default());
        for s in [0.0, -1.0, f64::NAN] {
            assert_eq!(barrier(s).value, f64::INFINITY);
        }
        assert!(barrier(f64::MIN_POSITIVE).value.is_finite());
    }
}
