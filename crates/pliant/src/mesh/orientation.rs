//! Orientation and volume of elements, by their Jacobian determinants.

use super::check::MAX_COORDINATE;
use super::shape::{self, HEX_CORNERS};
use crate::math::Vec3;

/// Orientation and volume of an element.
pub(super) enum Verdict {
    /// Positive volume after its vertices are reordered where `rewind` is true. `lowest` is the minimum Jacobian, if it
    /// is negative.
    Good { rewind: bool, flat_corner: bool, lowest: Option<f64> },
    /// No volume beyond rounding.
    NoVolume { volume: f64, longest_edge: f64 },
    /// Jacobians of both signs at quadrature points.
    InsideOut { negative: f64, positive: f64 },
}

impl Verdict {
    /// Classifies a tetrahedron by its determinant.
    pub fn of_tet(corners: &[Vec3; 4]) -> Self {
        let (longest_edge, tolerance) = scale(corners);
        let det = shape::tet_edges(corners).determinant();
        // Written so that NaN, from an overflow, counts as zero volume.
        if det.abs() > tolerance && longest_edge > MAX_COORDINATE.recip() {
            Self::Good { rewind: det < 0.0, flat_corner: false, lowest: None }
        } else {
            Self::NoVolume { volume: det / 6.0, longest_edge }
        }
    }

    /// Classifies a hexahedron by its Jacobian at the points of the 2×2×2 rule, which integrates stiffness, and of the
    /// 3×3×3 rule, which integrates mass. Negative values elsewhere, where nothing is evaluated, are only reported.
    pub fn of_hex(corners: &[Vec3; 8]) -> Self {
        let (longest_edge, tolerance) = scale(corners);
        let det = |xi: Vec3| shape::hex_jacobian(corners, xi).determinant();
        let volume: f64 = shape::gauss_2().map(|(xi, w)| w * det(xi)).sum();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (xi, _) in shape::gauss_2().chain(shape::gauss_3()) {
            (low, high) = (low.min(det(xi)), high.max(det(xi)));
        }
        // Written so that NaN, from an overflow, counts as zero volume.
        let has_size = longest_edge >= MAX_COORDINATE.recip() && volume.is_finite();
        let rewind = if has_size && volume > tolerance && low > 0.0 {
            false
        } else if has_size && volume < -tolerance && high < 0.0 {
            true
        } else if has_size && (volume.abs() > tolerance || (low < -tolerance && high > tolerance)) {
            return Self::InsideOut { negative: low, positive: high };
        } else {
            return Self::NoVolume { volume, longest_edge };
        };
        let sign = if rewind { -1.0 } else { 1.0 };
        let (low, high) = jacobian_range(corners, tolerance);
        let lowest = if rewind { -high } else { low };
        if lowest < -tolerance {
            return Self::Good { rewind, flat_corner: false, lowest: Some(lowest) };
        }
        let flat_corner = HEX_CORNERS.iter().any(|&corner| sign * det(corner) <= tolerance);
        Self::Good { rewind, flat_corner, lowest: None }
    }
}

/// Returns the longest edge from corner 0 or along the diagonal, and a tolerance for determinants.
/// The tolerance is the determinant that rounding of the coordinates alone can produce for edges of that length.
fn scale(corners: &[Vec3]) -> (f64, f64) {
    let longest = corners.iter().flat_map(|a| corners.iter().map(|b| a.distance(*b))).fold(0.0, f64::max);
    let farthest = corners.iter().map(|p| p.abs().max_element()).fold(longest, f64::max);
    (longest, 8.0 * f64::EPSILON * farthest * longest * longest)
}

/// Bounds the Jacobian determinant of a hexahedron over the whole element, as tightly as needed to know its sign.
///
/// The determinant is quadratic in each reference coordinate, so its 27 Bézier coefficients enclose it. The eight at
/// the corners are values. If the others leave the sign open, each half of the element is examined separately.
fn jacobian_range(corners: &[Vec3; 8], tolerance: f64) -> (f64, f64) {
    // This depth of bisection narrows the gap between coefficients and values 64-fold.
    const MAX_DEPTH: usize = 9;
    let mut coefficients = [[[0.0; 3]; 3]; 3];
    for (i, plane) in coefficients.iter_mut().enumerate() {
        for (j, row) in plane.iter_mut().enumerate() {
            for (k, value) in row.iter_mut().enumerate() {
                let xi = Vec3::new(i as f64, j as f64, k as f64) - 1.0;
                *value = shape::hex_jacobian(corners, xi).determinant();
            }
        }
    }
    // From values at -1, 0, 1 to Bézier coefficients: the middle one is 2f(0) - (f(-1) + f(1))/2, along each axis in
    // turn.
    for axis in 0..3 {
        for_each_line(&mut coefficients, axis, |[a, b, c]| [a, 2.0 * b - 0.5 * (a + c), c]);
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut open = vec![(coefficients, 0)];
    while let Some((piece, depth)) = open.pop() {
        let all = || piece.as_flattened().as_flattened().iter().copied();
        let corner = |i: usize, j: usize, k: usize| piece[2 * i][2 * j][2 * k];
        for (i, j, k) in (0..8).map(|c| (c & 1, c >> 1 & 1, c >> 2 & 1)) {
            (low, high) = (low.min(corner(i, j, k)), high.max(corner(i, j, k)));
        }
        let (min, max) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let sign_known = min >= -tolerance || max <= tolerance || (low < -tolerance && high > tolerance);
        if sign_known || depth == MAX_DEPTH {
            continue;
        }
        let axis = depth % 3;
        let (mut first, mut second) = (piece, piece);
        for_each_line(&mut first, axis, |[a, b, c]| [a, 0.5 * (a + b), 0.25 * (a + 2.0 * b + c)]);
        for_each_line(&mut second, axis, |[a, b, c]| [0.25 * (a + 2.0 * b + c), 0.5 * (b + c), c]);
        open.extend([(first, depth + 1), (second, depth + 1)]);
    }
    (low, high)
}

/// Applies `change` to the three numbers of each line along `axis`.
fn for_each_line(cube: &mut [[[f64; 3]; 3]; 3], axis: usize, change: impl Fn([f64; 3]) -> [f64; 3]) {
    for a in 0..3 {
        for b in 0..3 {
            let at = |t: usize| match axis {
                0 => (t, a, b),
                1 => (a, t, b),
                _ => (a, b, t),
            };
            let line = [0, 1, 2].map(|t| {
                let (i, j, k) = at(t);
                cube[i][j][k]
            });
            for (t, value) in change(line).into_iter().enumerate() {
                let (i, j, k) = at(t);
                cube[i][j][k] = value;
            }
        }
    }
}
