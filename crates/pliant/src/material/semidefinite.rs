//! Projection of a tangent onto the positive semi-definite matrices without knowledge of its structure. Used for laws
//! that are not isotropic, and to verify the analytic projection of the others.

use super::lanes::{LANES, Points, TANGENT_ENTRIES, TANGENT_INDEX};
use crate::math::matrix::Matrix9;

/// Projects the symmetric matrix `a` onto the positive semi-definite matrices by raising negative eigenvalues to zero,
/// with Jacobi's method.
pub fn clamp_eigenvalues(a: &Matrix9<f64>) -> Matrix9<f64> {
    let (mut d, mut q) = (*a, [[0.0; 9]; 9]);
    for (i, row) in q.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    let norm: f64 = a.as_flattened().iter().map(|x| x * x).sum();
    // Quadratic convergence: twelve sweeps are far more than ever needed.
    for _ in 0..12 {
        let off: f64 = (0..9).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| d[i][j] * d[i][j]).sum();
        if off <= 1e-34 * norm {
            break;
        }
        for p in 0..9 {
            for r in p + 1..9 {
                rotate(&mut d, &mut q, p, r);
            }
        }
    }
    let mut clamped = [[0.0; 9]; 9];
    for i in 0..9 {
        for j in 0..9 {
            clamped[i][j] = (0..9).map(|k| q[i][k] * (if d[k][k] < 0.0 { 0.0 } else { d[k][k] }) * q[j][k]).sum();
        }
    }
    clamped
}

/// Zeroes `d[p][r]` by a rotation of the two axes.
fn rotate(d: &mut Matrix9<f64>, q: &mut Matrix9<f64>, p: usize, r: usize) {
    if d[p][r] == 0.0 {
        return;
    }
    let theta = (d[r][r] - d[p][p]) / (2.0 * d[p][r]);
    let tan = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cos = 1.0 / (tan * tan + 1.0).sqrt();
    let sin = tan * cos;
    for row in d.iter_mut().chain(q.iter_mut()) {
        let (x, y) = (row[p], row[r]);
        (row[p], row[r]) = (cos * x - sin * y, sin * x + cos * y);
    }
    for k in 0..9 {
        let (x, y) = (d[p][k], d[r][k]);
        (d[p][k], d[r][k]) = (cos * x - sin * y, sin * x + cos * y);
    }
}

/// Applies [`clamp_eigenvalues`] at each point.
pub(super) fn project(tangents: &mut Points<TANGENT_ENTRIES>) {
    for lane in 0..LANES {
        let mut a = [[0.0; 9]; 9];
        for m in 0..9 {
            for n in 0..9 {
                a[m][n] = tangents.0[TANGENT_INDEX[m][n]][lane];
            }
        }
        let clamped = clamp_eigenvalues(&a);
        for m in 0..9 {
            for n in m..9 {
                tangents.0[TANGENT_INDEX[m][n]][lane] = clamped[m][n];
            }
        }
    }
}
