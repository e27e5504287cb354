//! Neo-Hookean law with volumetric–deviatoric split, after Bower.

use super::{Law, Tangent, YoungPoisson};
use crate::math::matrix::Matrix9;
use crate::math::{Matrix, Real};

/// Neo-Hookean law with volumetric–deviatoric split \[Bower2009\]. With `I_C = F:F`, `J = det F`, `G = F⁻ᵀ` and
/// `a = J^(−2/3)`:
///
/// - `ψ = μ/2 (a I_C − 3) + λ/2 (J − 1)²`
/// - `P = μ a (F − I_C/3 G) + λ (J² − J) G`
/// - `A = μa δᵢₖδⱼₗ − ⅔μa (FᵢⱼGₖₗ + GᵢⱼFₖₗ) + (2/9 μ a I_C + λ(2J² − J)) GᵢⱼGₖₗ − (λ(J² − J) − μ a I_C/3) GᵢₗGₖⱼ`
///
/// Defined for `J > 0`. The first term does not resist a change of volume, so the small-strain bulk modulus is `λ`
/// itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeoHookeanBower {
    /// Coefficient `μ` \[Pa\].
    pub mu: f64,
    /// Coefficient `λ` of the volume term \[Pa\].
    pub lambda: f64,
}

impl NeoHookeanBower {
    /// Creates a law with these small-strain moduli. The coefficient of the volume term is the bulk modulus.
    pub fn from_moduli(moduli: YoungPoisson) -> Self {
        Self { mu: moduli.mu(), lambda: moduli.bulk() }
    }
}

impl Law for NeoHookeanBower {
    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        let j = f.determinant();
        let a = j.cbrt().squared().recip();
        (a * f.double_dot(f) - 3.0) * (0.5 * self.mu) + (j - 1.0).squared() * (0.5 * self.lambda)
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let j = f.determinant();
        let g = f.cofactor() * j.recip();
        let mu_a = j.cbrt().squared().recip() * self.mu;
        *f * mu_a + g * ((j * j - j) * self.lambda - mu_a * f.double_dot(f) / 3.0)
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        let j = f.determinant();
        let g = f.cofactor() * j.recip();
        let mu_a = j.cbrt().squared().recip() * self.mu;
        let i_c = f.double_dot(f);
        let mut a = Tangent::zero();
        a.add_identity(mu_a);
        a.add_symmetric_outer(mu_a * (-2.0 / 3.0), f, &g);
        a.add_outer(mu_a * i_c * (2.0 / 9.0) + (j * j * 2.0 - j) * self.lambda, &g, &g);
        a.add_crossed(mu_a * i_c / 3.0 - (j * j - j) * self.lambda, &g, &g);
        a.0
    }
}
