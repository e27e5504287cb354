//! Neo-Hookean law, after Bonet and Wood.

use super::{Law, Tangent, YoungPoisson};
use crate::math::matrix::Matrix9;
use crate::math::{Matrix, Real};

/// Neo-Hookean law \[BonetWood2008; SinSchroederBarbic2013, eq. 11\]. With `I_C = F:F`, `J = det F` and `G = F⁻ᵀ`:
///
/// - `ψ = μ/2 (I_C − 3) − μ ln J + λ/2 ln²J`
/// - `P = μF + (λ ln J − μ) G`
/// - `A = μ δᵢₖδⱼₗ + λ GᵢⱼGₖₗ − (λ ln J − μ) GᵢₗGₖⱼ`
///
/// Defined for `J > 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeoHookean {
    /// Coefficient `μ` \[Pa\].
    pub mu: f64,
    /// Coefficient `λ` \[Pa\].
    pub lambda: f64,
}

impl NeoHookean {
    /// Creates a law with these small-strain moduli.
    pub fn from_moduli(moduli: YoungPoisson) -> Self {
        Self { mu: moduli.mu(), lambda: moduli.lambda() }
    }
}

impl Law for NeoHookean {
    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        let ln_j = f.determinant().ln();
        (f.double_dot(f) - 3.0) * (0.5 * self.mu) - ln_j * self.mu + ln_j.squared() * (0.5 * self.lambda)
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let j = f.determinant();
        let g = f.cofactor() * j.recip();
        *f * R::from(self.mu) + g * (j.ln() * self.lambda - self.mu)
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        let j = f.determinant();
        let g = f.cofactor() * j.recip();
        let mut a = Tangent::zero();
        a.add_identity(R::from(self.mu));
        a.add_outer(R::from(self.lambda), &g, &g);
        a.add_crossed(-(j.ln() * self.lambda - self.mu), &g, &g);
        a.0
    }
}
