//! Shape functions of the reference elements, and the quadrature rules that integrate them exactly.
//!
//! The hexahedron is defined on `ξ ∈ [−1, 1]³` with `N_i(ξ) = ⅛ (1 + ξᵢξ)(1 + ηᵢη)(1 + ζᵢζ)`. The tetrahedron needs
//! only its barycentric coordinates.

use crate::math::{Mat3, Vec3, outer};

/// Corners of the reference hexahedron in the order of [`ElementKind::Hex8`](super::ElementKind::Hex8).
pub const HEX_CORNERS: [Vec3; 8] = [
    Vec3::new(-1.0, -1.0, -1.0),
    Vec3::new(1.0, -1.0, -1.0),
    Vec3::new(1.0, 1.0, -1.0),
    Vec3::new(-1.0, 1.0, -1.0),
    Vec3::new(-1.0, -1.0, 1.0),
    Vec3::new(1.0, -1.0, 1.0),
    Vec3::new(1.0, 1.0, 1.0),
    Vec3::new(-1.0, 1.0, 1.0),
];

/// Evaluates the shape functions `N_i(ξ)` of the hexahedron.
pub fn hex_weights(xi: Vec3) -> [f64; 8] {
    HEX_CORNERS.map(|c| {
        let f = Vec3::ONE + c * xi;
        0.125 * f.x * f.y * f.z
    })
}

/// Evaluates the gradients `∂N_i/∂ξ` of the hexahedron.
pub fn hex_gradients(xi: Vec3) -> [Vec3; 8] {
    HEX_CORNERS.map(|c| {
        let f = Vec3::ONE + c * xi;
        0.125 * c * Vec3::new(f.y * f.z, f.z * f.x, f.x * f.y)
    })
}

/// Evaluates the isoparametric map `x(ξ) = Σ N_i(ξ) x_i`.
pub fn hex_point(corners: &[Vec3; 8], xi: Vec3) -> Vec3 {
    hex_weights(xi).iter().zip(corners).map(|(&n, &x)| n * x).sum()
}

/// Evaluates the Jacobian `∂x/∂ξ`, whose columns are the derivatives along the three reference axes.
pub fn hex_jacobian(corners: &[Vec3; 8], xi: Vec3) -> Mat3 {
    hex_gradients(xi).iter().zip(corners).fold(Mat3::ZERO, |j, (&g, &x)| j + outer(x, g))
}

/// Returns the matrix `[x₁−x₀, x₂−x₀, x₃−x₀]` of a tetrahedron; its determinant is six times the volume.
pub fn tet_edges(corners: &[Vec3; 4]) -> Mat3 {
    let [a, b, c, d] = *corners;
    Mat3::from_cols(b - a, c - a, d - a)
}

/// Computes the barycentric coordinates of `point`, which sum to one and reproduce it: `Σ wᵢxᵢ = point`.
pub fn tet_weights(corners: &[Vec3; 4], point: Vec3) -> [f64; 4] {
    let w = tet_edges(corners).inverse() * (point - corners[0]);
    [1.0 - w.x - w.y - w.z, w.x, w.y, w.z]
}

/// Builds a tensor-product Gauss rule on `[−1, 1]³`: points with their weights.
fn tensor<const N: usize>(points: [(f64, f64); N]) -> impl Iterator<Item = (Vec3, f64)> {
    let axis = move || points.into_iter();
    axis().flat_map(move |(x, wx)| {
        axis().flat_map(move |(y, wy)| axis().map(move |(z, wz)| (Vec3::new(x, y, z), wx * wy * wz)))
    })
}

/// Returns the 2×2×2 Gauss rule, exact to degree 3 in each reference coordinate: the volume and first moments of any
/// hexahedron.
pub fn gauss_2() -> impl Iterator<Item = (Vec3, f64)> {
    let a = (1.0_f64 / 3.0).sqrt();
    tensor([(-a, 1.0), (a, 1.0)])
}

/// Returns the 3×3×3 Gauss rule, exact to degree 5 in each reference coordinate: the consistent mass and inertia of any
/// hexahedron.
pub fn gauss_3() -> impl Iterator<Item = (Vec3, f64)> {
    let a = 0.6_f64.sqrt();
    tensor([(-a, 5.0 / 9.0), (0.0, 8.0 / 9.0), (a, 5.0 / 9.0)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        [-1.2..1.2, -1.2..1.2, -1.2..1.2].prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn hex_gradients_are_the_derivative_of_the_weights(xi in point()) {
            let h = 1e-6;
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let (plus, minus) = (hex_weights(xi + h * axis), hex_weights(xi - h * axis));
                for (i, g) in hex_gradients(xi).iter().enumerate() {
                    prop_assert!(((plus[i] - minus[i]) / (2.0 * h) - g.dot(axis)).abs() < 1e-9);
                }
            }
        }

        #[test]
        fn hex_weights_add_to_one_and_reproduce_the_point(xi in point()) {
            prop_assert!((hex_weights(xi).iter().sum::<f64>() - 1.0).abs() < 1e-14);
            prop_assert!((hex_point(&HEX_CORNERS, xi) - xi).length() < 1e-14);
        }

        #[test]
        fn tet_weights_add_to_one_and_reproduce_the_point(p in point()) {
            let tet = [Vec3::new(0.1, 0.0, 0.2), Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.0, 1.2, 0.1), Vec3::new(0.3, 0.2, 0.9)];
            let w = tet_weights(&tet, p);
            prop_assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let q: Vec3 = w.iter().zip(tet).map(|(&w, x)| w * x).sum();
            prop_assert!((q - p).length() < 1e-13);
        }
    }

    #[test]
    fn gauss_rules_integrate_monomials_exactly() {
        let exact = |n: i32| if n % 2 == 0 { 2.0 / f64::from(n + 1) } else { 0.0 };
        let check = |rule: Vec<(Vec3, f64)>, degree: i32| {
            for (i, j, k) in
                (0..=degree).flat_map(|i| (0..=degree).flat_map(move |j| (0..=degree).map(move |k| (i, j, k))))
            {
                let sum: f64 = rule.iter().map(|(p, w)| w * p.x.powi(i) * p.y.powi(j) * p.z.powi(k)).sum();
                assert!((sum - exact(i) * exact(j) * exact(k)).abs() < 1e-14, "x^{i} y^{j} z^{k}: {sum}");
            }
        };
        check(gauss_2().collect(), 3);
        check(gauss_3().collect(), 5);
    }
}
