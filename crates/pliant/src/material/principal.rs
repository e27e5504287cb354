//! Law in its singular basis, where the tangent is block diagonal with small blocks.
//!
//! With `F = UΣVᵀ`, an isotropic law is a function `ψ(σ₁, σ₂, σ₃)` with derivatives `gᵢ` and `Hᵢⱼ`. Then
//! `P = U diag(g) Vᵀ`, and `A` acts on `U X Vᵀ` \[Teran2005\] as
//!
//! - `H` on the diagonal of `X`;
//! - for each pair `i < j`, `flip = (gᵢ − gⱼ)/(σᵢ − σⱼ)` on the symmetric part of `Xᵢⱼ`, `Xⱼᵢ`, and
//!   `twist = (gᵢ + gⱼ)/(σᵢ + σⱼ)` on the antisymmetric part.
//!
//! Thus nine eigenvalues come from one 3×3 block and six numbers, and raising the negative ones to zero is cheap.

use super::Tangent;
use crate::math::matrix::{Matrix9, Vector, dot};
use crate::math::{Jet, Matrix, Real, SignedSvd};

/// Pairs of axes, in the order of [`Principal::flip`] and [`Principal::twist`].
pub const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// First and second derivatives of a law in its singular basis.
#[derive(Debug, Clone, Copy)]
pub struct Principal<R> {
    /// Gradient `gᵢ = ∂ψ/∂σᵢ`.
    pub gradient: Vector<R>,
    /// Hessian `Hᵢⱼ = ∂²ψ/∂σᵢ∂σⱼ`.
    pub hessian: Matrix<R>,
    /// Quotients `(gᵢ − gⱼ)/(σᵢ − σⱼ)` for each of the [`PAIRS`].
    pub flip: Vector<R>,
    /// Quotients `(gᵢ + gⱼ)/(σᵢ + σⱼ)` for each of the [`PAIRS`].
    pub twist: Vector<R>,
}

/// Returns the matrix with these diagonal entries.
#[inline(always)]
pub fn diagonal<R: Real>(sigma: Vector<R>) -> Matrix<R> {
    let mut f = Matrix::zero();
    for i in 0..3 {
        f.0[i][i] = sigma[i];
    }
    f
}

impl<R: Real> Principal<R> {
    /// Creates the derivatives from an energy over [`Jet::variables`] of the stretches.
    #[inline(always)]
    pub fn of_stretches(sigma: Vector<R>, energy: &Jet<R>) -> Self {
        let mut hessian = Matrix::zero();
        for i in 0..3 {
            for j in 0..3 {
                hessian.0[i][j] = energy.second(i, j);
            }
        }
        let (flip, twist) = quotients(sigma, energy.gradient, &hessian);
        Self { gradient: energy.gradient, hessian, flip, twist }
    }

    /// Projects the tangent onto the positive semi-definite matrices by raising negative eigenvalues to zero.
    #[inline(always)]
    pub fn project(&mut self) {
        let zero = R::from(0.0);
        for pair in 0..3 {
            self.flip[pair] = self.flip[pair].max(zero);
            self.twist[pair] = self.twist[pair].max(zero);
        }
        // Positive pivots imply positive eigenvalues. Then nothing needs to be done, as in most elements of most steps.
        let h = &self.hessian.0;
        let second = h[0][0] * h[1][1] - h[0][1] * h[0][1];
        let min = h[0][0].min(second).min(self.hessian.determinant());
        if R::any(min.less(R::from(f64::MIN_POSITIVE))) {
            let projected = clamp_eigenvalues(&self.hessian);
            let negative = min.less(R::from(f64::MIN_POSITIVE));
            for i in 0..3 {
                for j in 0..3 {
                    self.hessian.0[i][j] = R::select(negative, projected.0[i][j], self.hessian.0[i][j]);
                }
            }
        }
    }

    /// Returns `P = U diag(g) Vᵀ`.
    #[inline(always)]
    pub fn stress(&self, svd: &SignedSvd<R>) -> Matrix<R> {
        svd.compose(self.gradient)
    }

    /// Returns `A`, transformed back from the singular basis.
    #[inline(always)]
    pub fn tangent(&self, svd: &SignedSvd<R>) -> Matrix9<R> {
        let (u, v) = (svd.u.transpose().0, svd.v.transpose().0);
        let mut a = Tangent::zero();
        for i in 0..3 {
            // Diagonal part: the outer product of uᵢvᵢᵀ with the sum over j of Hᵢⱼ uⱼvⱼᵀ.
            let mut row = Matrix::zero();
            for j in 0..3 {
                add_product(&mut row, self.hessian.0[i][j], u[j], v[j]);
            }
            let mut own = Matrix::zero();
            add_product(&mut own, R::from(1.0), u[i], v[i]);
            a.add_outer(R::from(1.0), &own, &row);
        }
        for (pair, (i, j)) in PAIRS.into_iter().enumerate() {
            for (eigenvalue, sign) in [(self.flip[pair], 1.0), (self.twist[pair], -1.0)] {
                let mut direction = Matrix::zero();
                add_product(&mut direction, R::from(1.0), u[i], v[j]);
                add_product(&mut direction, R::from(sign), u[j], v[i]);
                // The eigenvector has length √2.
                a.add_outer(eigenvalue * 0.5, &direction, &direction);
            }
        }
        a.0
    }
}

/// Returns `(gᵢ − gⱼ)/(σᵢ − σⱼ)` and `(gᵢ + gⱼ)/(σᵢ + σⱼ)` of each pair.
#[inline(always)]
fn quotients<R: Real>(sigma: Vector<R>, gradient: Vector<R>, hessian: &Matrix<R>) -> (Vector<R>, Vector<R>) {
    /// Distance below which stretches count as equal, relative to their mean. The quotient then has an error of about
    /// 1e-16 / 4e-6. Its limit has an error of order 4e-6², because the function is symmetric in the two.
    const EQUAL: f64 = 4e-6;
    /// Absolute distance below which stretches count as equal, because the mean may be 0.
    const SURELY_EQUAL: f64 = 1e-7;
    /// Replacement for a sum of stretches that cancel, where the singular basis is not unique and no derivative exists.
    const MIN_SUM: f64 = 1e-12;
    let (mut flip, mut twist) = (gradient, gradient);
    for (pair, (i, j)) in PAIRS.into_iter().enumerate() {
        let (apart, sum) = (sigma[i] - sigma[j], sigma[i] + sigma[j]);
        let equal = apart.abs().less(sum.abs() * (0.5 * EQUAL) + SURELY_EQUAL);
        let limit = (hessian.0[i][i] + hessian.0[j][j]) * 0.5 - hessian.0[i][j];
        flip[pair] = R::select(equal, limit, (gradient[i] - gradient[j]) / apart);
        twist[pair] = (gradient[i] + gradient[j]) / sum.max(R::from(MIN_SUM));
    }
    (flip, twist)
}

/// Adds `s a bᵀ` to `m`.
#[inline(always)]
fn add_product<R: Real>(m: &mut Matrix<R>, s: R, a: Vector<R>, b: Vector<R>) {
    for i in 0..3 {
        let sa = s * a[i];
        for j in 0..3 {
            m.0[i][j] = sa.mul_add(b[j], m.0[i][j]);
        }
    }
}

/// Projects a symmetric matrix onto the positive semi-definite matrices by raising its negative eigenvalues to zero.
/// The eigenvectors are the singular vectors of `H + ‖H‖ I`, which has no negative eigenvalue. The singular vectors of
/// `H` itself may mix two eigenvectors whose eigenvalues differ only in sign.
#[inline(always)]
pub(crate) fn clamp_eigenvalues<R: Real>(h: &Matrix<R>) -> Matrix<R> {
    let shifted = *h + Matrix::diagonal(h.double_dot(h).sqrt());
    let v = SignedSvd::new(&shifted).v.transpose().0;
    let mut clamped = Matrix::zero();
    for i in 0..3 {
        let eigenvalue = dot(v[i], h.times(v[i]));
        add_product(&mut clamped, eigenvalue.max(R::from(0.0)), v[i], v[i]);
    }
    clamped
}
