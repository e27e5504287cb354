//! Linear elasticity.

use super::{Law, Tangent, YoungPoisson, hooke};
use crate::math::matrix::Matrix9;
use crate::math::{Matrix, Real};

/// Linear elasticity. With the small strain `ε = ½(F + Fᵀ) − I`:
///
/// - `ψ = μ ε:ε + λ/2 tr²ε`
/// - `P = 2με + λ tr(ε) I`
/// - `A = μ(δᵢₖδⱼₗ + δᵢₗδⱼₖ) + λ δᵢⱼδₖₗ`, constant
///
/// Valid for small displacements: a rotated body swells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear {
    /// Coefficient `μ` \[Pa\].
    pub mu: f64,
    /// Coefficient `λ` \[Pa\].
    pub lambda: f64,
}

impl Linear {
    /// Creates a law with these small-strain moduli.
    pub fn from_moduli(moduli: YoungPoisson) -> Self {
        Self { mu: moduli.mu(), lambda: moduli.lambda() }
    }

    #[inline(always)]
    fn strain<R: Real>(f: &Matrix<R>) -> Matrix<R> {
        (*f + f.transpose()) * R::from(0.5) - Matrix::identity()
    }
}

impl Law for Linear {
    const OBJECTIVE: bool = false;
    const DEFINED_INVERTED: bool = true;
    const SMALL_STRAIN: bool = true;

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        hooke::energy(self.mu, self.lambda, &Self::strain(f))
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        hooke::stress(self.mu, self.lambda, &Self::strain(f))
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, _: &Matrix<R>) -> Matrix9<R> {
        let (mu, identity) = (R::from(self.mu), Matrix::identity());
        let mut a = Tangent::zero();
        a.add_identity(mu);
        a.add_crossed(mu, &identity, &identity);
        a.add_outer(R::from(self.lambda), &identity, &identity);
        a.0
    }

    fn tangent_is_semidefinite(&self) -> bool {
        true
    }
}
