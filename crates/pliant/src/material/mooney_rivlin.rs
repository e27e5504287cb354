//! Mooney–Rivlin.

use super::{Law, Tangent, YoungPoisson};
use crate::math::matrix::Matrix9;
use crate::math::{Matrix, Real};

/// Mooney–Rivlin law. With `C = FᵀF`, `I_C = tr C`, `I₂ = ½(I_C² − tr C²)`, `J = det F`, `G = F⁻ᵀ`, `a = J^(−2/3)`,
/// `b = J^(−4/3)` and `D = ∂I₂/∂F = 2(I_C F − FFᵀF)`:
///
/// - `ψ = μ₀₁ (b I₂ − 3) + μ₁₀ (a I_C − 3) + v₁ (J − 1)²` \[SinSchroederBarbic2013, eq. 12\]
/// - `P = μ₀₁ b (D − 4/3 I₂ G) + 2μ₁₀ a (F − I_C/3 G) + 2v₁ (J² − J) G`
/// - `A` term by term, with `∂G/∂F = −GᵢₗGₖⱼ` and `∂D/∂F = 4FᵢⱼFₖₗ + 2I_C δᵢₖδⱼₗ − 2(δᵢₖCₗⱼ + FᵢₗFₖⱼ + (FFᵀ)ᵢₖδⱼₗ)`
///
/// Defined for `J > 0`. At small strains `μ = 2(μ₀₁ + μ₁₀)` and `κ = 2v₁`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MooneyRivlin {
    /// Coefficient `μ₀₁` of the second invariant \[Pa\].
    pub mu01: f64,
    /// Coefficient `μ₁₀` of the first invariant \[Pa\].
    pub mu10: f64,
    /// Coefficient `v₁` of the volume term \[Pa\].
    pub v1: f64,
}

impl MooneyRivlin {
    /// Creates a law with these small-strain moduli. A quarter of the shear stiffness is in the second invariant, as is
    /// usual for rubber.
    pub fn from_moduli(moduli: YoungPoisson) -> Self {
        let half_mu = 0.5 * moduli.mu();
        Self { mu01: 0.25 * half_mu, mu10: 0.75 * half_mu, v1: 0.5 * moduli.bulk() }
    }
}

/// Returns `I₂ = ½(I_C² − tr C²)`, computed as the squared norm of the cofactor.
#[inline(always)]
fn second_invariant<R: Real>(f: &Matrix<R>) -> R {
    let k = f.cofactor();
    k.double_dot(&k)
}

impl Law for MooneyRivlin {
    const COEFFICIENTS: &'static [&'static str] = &["mu01", "mu10", "v1"];

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        let j = f.determinant();
        let a = j.cbrt().squared().recip();
        (a * a * second_invariant(f) - 3.0) * self.mu01
            + (a * f.double_dot(f) - 3.0) * self.mu10
            + (j - 1.0).squared() * self.v1
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let j = f.determinant();
        let g = f.cofactor() * j.recip();
        let a = j.cbrt().squared().recip();
        let (i_c, i_2) = (f.double_dot(f), second_invariant(f));
        let d = (*f * i_c - f.times_transpose(f) * *f) * R::from(2.0);
        let (on_d, on_f) = (a * a * self.mu01, a * (2.0 * self.mu10));
        let on_g = (j * j - j) * (2.0 * self.v1) - on_d * i_2 * (4.0 / 3.0) - on_f * i_c / 3.0;
        d * on_d + *f * on_f + g * on_g
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        let j = f.determinant();
        let g = f.cofactor() * j.recip();
        let a = j.cbrt().squared().recip();
        let (i_c, i_2) = (f.double_dot(f), second_invariant(f));
        let (left, right) = (f.times_transpose(f), f.transpose_times(f));
        let d = (*f * i_c - left * *f) * R::from(2.0);
        let (on_d, on_f) = (a * a * self.mu01, a * (2.0 * self.mu10));
        let on_g = (j * j - j) * (2.0 * self.v1) - on_d * i_2 * (4.0 / 3.0) - on_f * i_c / 3.0;
        let mut t = Tangent::zero();
        // on_d ∂D
        t.add_outer(on_d * 4.0, f, f);
        t.add_identity(on_d * i_c * 2.0 + on_f);
        t.add_right(&(right * (on_d * -2.0)));
        t.add_crossed(on_d * -2.0, f, f);
        t.add_left(&(left * (on_d * -2.0)));
        // The derivatives of a and b
        t.add_symmetric_outer(on_d * (-4.0 / 3.0), &d, &g);
        t.add_symmetric_outer(on_f * (-2.0 / 3.0), f, &g);
        let on_gg = on_d * i_2 * (16.0 / 9.0) + on_f * i_c * (2.0 / 9.0) + (j * j * 2.0 - j) * (2.0 * self.v1);
        t.add_outer(on_gg, &g, &g);
        // on_g ∂G
        t.add_crossed(-on_g, &g, &g);
        t.0
    }
}
