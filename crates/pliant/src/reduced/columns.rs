//! Operations on lists of long vectors: dot products and linear combinations. Results are bitwise equal for any number
//! of threads.

use rayon::prelude::*;

use crate::solver::vector::{dot, norm};

/// Number of rows per task.
const ROWS: usize = 2048;

/// Computes `vᵢ · x` for each vector.
pub(super) fn dots(vectors: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    vectors.par_iter().map(|v| dot(v, x)).collect()
}

/// Adds `Σ cᵢ vᵢ` to `x`.
pub(super) fn add_all(vectors: &[Vec<f64>], coefficients: &[f64], x: &mut [f64]) {
    x.par_chunks_mut(ROWS).enumerate().for_each(|(chunk, x)| {
        for (v, c) in vectors.iter().zip(coefficients) {
            let v = &v[ROWS * chunk..][..x.len()];
            x.iter_mut().zip(v).for_each(|(x, v)| *x += c * v);
        }
    });
}

/// Returns the linear combination of the vectors for each column of coefficients.
pub(super) fn combine<'a>(vectors: &[Vec<f64>], columns: impl Iterator<Item = &'a [f64]>) -> Vec<Vec<f64>> {
    let length = vectors.first().map_or(0, Vec::len);
    let sum = |coefficients: &[f64]| {
        let mut x = vec![0.0; length];
        add_all(vectors, coefficients, &mut x);
        x
    };
    columns.map(sum).collect()
}

/// Orthogonalizes `x` against `vectors`, which are orthonormal in the mass `mul`, and returns the components removed.
///
/// It is done twice to remove rounding errors. `product` is `M x` afterwards.
pub(super) fn orthogonalize(
    vectors: &[Vec<f64>],
    mul: &dyn Fn(&[f64], &mut [f64]),
    x: &mut [f64],
    product: &mut [f64],
) -> Vec<f64> {
    let mut taken = vec![0.0; vectors.len()];
    for _ in 0..2 {
        mul(x, product);
        let parts: Vec<f64> = dots(vectors, product).into_iter().map(|part| -part).collect();
        add_all(vectors, &parts, x);
        taken.iter_mut().zip(&parts).for_each(|(taken, part)| *taken -= part);
    }
    mul(x, product);
    taken
}

/// Orthonormalizes vectors in the mass `mul`, one after the other. A vector is dropped if the norm of its independent
/// part is less than `least` relative to its own.
pub(super) fn orthonormalize(
    vectors: impl IntoIterator<Item = Vec<f64>>,
    mul: &dyn Fn(&[f64], &mut [f64]),
    least: f64,
) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut x in vectors {
        let mut product = vec![0.0; x.len()];
        mul(&x, &mut product);
        let before = dot(&x, &product).max(0.0).sqrt();
        orthogonalize(&basis, mul, &mut x, &mut product);
        let after = dot(&x, &product).max(0.0).sqrt();
        if after > least * before && after.is_finite() {
            x.iter_mut().for_each(|x| *x /= after);
            basis.push(x);
        }
    }
    basis
}

/// Fixes the sign of a vector for reproducibility: its largest entry becomes positive, or the first of several that are
/// equal up to rounding.
pub(super) fn fix_sign(x: &mut [f64]) {
    const AS_LARGE: f64 = 1.0 - 1e-6;
    let largest = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if x.iter().find(|x| x.abs() >= AS_LARGE * largest).is_some_and(|x| *x < 0.0) {
        x.iter_mut().for_each(|x| *x = -*x);
    }
}

/// Returns `|a − b| / |b|`, or `|a|` if `b` is zero.
pub(super) fn relative_difference(a: &[f64], b: &[f64]) -> f64 {
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let size = norm(b);
    norm(&difference) / if size > 0.0 { size } else { 1.0 }
}
