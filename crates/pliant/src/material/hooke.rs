//! Hooke's law for any strain measure: small, Green's or another.

use crate::math::{Matrix, Real};

/// Returns the energy density `μ ε:ε + λ/2 tr²ε`.
#[inline(always)]
pub(super) fn energy<R: Real>(mu: f64, lambda: f64, strain: &Matrix<R>) -> R {
    strain.double_dot(strain) * mu + strain.trace().squared() * (0.5 * lambda)
}

/// Returns its derivative with respect to the strain, `2με + λ tr(ε) I`.
#[inline(always)]
pub(super) fn stress<R: Real>(mu: f64, lambda: f64, strain: &Matrix<R>) -> Matrix<R> {
    *strain * R::from(2.0 * mu) + Matrix::diagonal(strain.trace() * lambda)
}
