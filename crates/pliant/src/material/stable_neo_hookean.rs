//! Stable neo-Hookean law, after Smith, de Goes and Kim.

use super::{Law, Tangent, YoungPoisson};
use crate::math::matrix::Matrix9;
use crate::math::{Matrix, Real};

/// Stable neo-Hookean law. With `I_C = F:F`, `J = det F`, `K = cof F` and `α = 1 + ¾ μ/λ`, which makes the rest state
/// free of stress:
///
/// - `ψ = μ/2 (I_C − 3) + λ/2 (J − α)² − μ/2 ln(I_C + 1)`, less its value at rest
/// - `P = μ (1 − 1/(I_C+1)) F + λ (J − α) K`
/// - `A = μ (1 − 1/(I_C+1)) δᵢₖδⱼₗ + 2μ/(I_C+1)² FᵢⱼFₖₗ + λ KᵢⱼKₖₗ + λ (J − α) ∂K/∂F`
///
/// Defined for every `F`, inverted ones included \[SmithDeGoesKim2018\]; the logarithm is missing in some prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StableNeoHookean {
    /// Coefficient `μ` \[Pa\].
    pub mu: f64,
    /// Coefficient `λ` \[Pa\].
    pub lambda: f64,
}

impl StableNeoHookean {
    /// Creates a law with these small-strain moduli. The coefficients are then `4/3 μ` and `λ + 5/6 μ`.
    pub fn from_moduli(moduli: YoungPoisson) -> Self {
        Self { mu: 4.0 / 3.0 * moduli.mu(), lambda: moduli.lambda() + 5.0 / 6.0 * moduli.mu() }
    }

    fn alpha(&self) -> f64 {
        1.0 + 0.75 * self.mu / self.lambda
    }
}

impl Law for StableNeoHookean {
    const DEFINED_INVERTED: bool = true;

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        let i_c = f.double_dot(f);
        let volume = f.determinant() - self.alpha();
        let rest = 0.5 * self.lambda * (1.0 - self.alpha()).powi(2);
        (i_c - 3.0) * (0.5 * self.mu) + volume.squared() * (0.5 * self.lambda)
            - rest
            - ((i_c + 1.0) * 0.25).ln() * (0.5 * self.mu)
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let shape = -((f.double_dot(f) + 1.0).recip() - 1.0) * self.mu;
        *f * shape + f.cofactor() * ((f.determinant() - self.alpha()) * self.lambda)
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        let k = f.cofactor();
        let q = (f.double_dot(f) + 1.0).recip();
        let mut a = Tangent::zero();
        a.add_identity(-(q - 1.0) * self.mu);
        a.add_outer(q * q * (2.0 * self.mu), f, f);
        a.add_outer(R::from(self.lambda), &k, &k);
        a.add_cofactor_derivative((f.determinant() - self.alpha()) * self.lambda, f);
        a.0
    }
}
