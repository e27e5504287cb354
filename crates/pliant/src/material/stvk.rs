//! St. Venant–Kirchhoff.

use super::{Law, Tangent, YoungPoisson, hooke};
use crate::math::matrix::Matrix9;
use crate::math::{Matrix, Real};

/// St. Venant–Kirchhoff law. With the Green strain `E = ½(FᵀF − I)`:
///
/// - `ψ = μ E:E + λ/2 tr²E` \[SinSchroederBarbic2013, eq. 3\]
/// - `P = F S`, `S = 2μE + λ tr(E) I`
/// - `A = δᵢₖSₗⱼ + μ(FᵢₗFₖⱼ + (FFᵀ)ᵢₖδⱼₗ) + λ FᵢⱼFₖₗ`
///
/// Defined for every `F`, but an element compressed below about 0.58 of its length softens with further compression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StVenantKirchhoff {
    /// Coefficient `μ` \[Pa\].
    pub mu: f64,
    /// Coefficient `λ` \[Pa\].
    pub lambda: f64,
}

impl StVenantKirchhoff {
    /// Creates a law with these small-strain moduli.
    pub fn from_moduli(moduli: YoungPoisson) -> Self {
        Self { mu: moduli.mu(), lambda: moduli.lambda() }
    }

    #[inline(always)]
    fn strain<R: Real>(f: &Matrix<R>) -> Matrix<R> {
        (f.transpose_times(f) - Matrix::identity()) * R::from(0.5)
    }

    #[inline(always)]
    fn second_stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        hooke::stress(self.mu, self.lambda, &Self::strain(f))
    }
}

impl Law for StVenantKirchhoff {
    const DEFINED_INVERTED: bool = true;

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        hooke::energy(self.mu, self.lambda, &Self::strain(f))
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        *f * self.second_stress(f)
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        let mu = R::from(self.mu);
        let mut a = Tangent::zero();
        a.add_right(&self.second_stress(f));
        a.add_crossed(mu, f, f);
        a.add_left(&(f.times_transpose(f) * mu));
        a.add_outer(R::from(self.lambda), f, f);
        a.0
    }
}
