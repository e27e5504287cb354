//! Corotational: linear elasticity in the frame that turns with the element.

use super::{Law, Tangent, YoungPoisson};
use crate::math::matrix::Matrix9;
use crate::math::{Matrix, Real, SignedSvd};

/// What to do with the derivative of the rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CorotationalTangent {
    /// Drop it: the tangent is the constant one of linear elasticity, turned. Always positive semi-definite.
    Warped,
    /// Keep it: the tangent is the derivative of the stress.
    #[default]
    Exact,
}

/// With `F = RS`, `R` the nearest rotation (also of an inverted `F`), and `t = tr(RᵀF − I)`:
///
/// - `ψ = μ‖F − R‖² + λ/2 t²`
/// - `P = 2μ(F − R) + λ t R`
/// - exact: `A = 2μ δᵢₖδⱼₗ + λ RᵢⱼRₖₗ + (λt − 2μ) ∂R/∂F`
/// - warped: `A = μ(δᵢₖδⱼₗ + RᵢₗRₖⱼ) + λ RᵢⱼRₖₗ`
///
/// In the singular basis `F = UΣVᵀ`, `∂R/∂F = Σ TT / (σₐ + σ_b)` over the three pairs `a < b`, with
/// `T = U(eₐe_bᵀ − e_beₐᵀ)Vᵀ`. Where two stretches cancel, `σ₂ + σ₃ = 0`, the rotation jumps and has no derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corotational {
    /// Coefficient `μ`, Pa.
    pub mu: f64,
    /// Coefficient `λ`, Pa.
    pub lambda: f64,
    /// Which tangent.
    pub tangent: CorotationalTangent,
}

impl Corotational {
    /// With this small-strain behaviour and the exact tangent.
    pub fn from_moduli(moduli: YoungPoisson) -> Self {
        Self { mu: moduli.mu(), lambda: moduli.lambda(), tangent: CorotationalTangent::Exact }
    }
}

/// Stretches that cancel better than this have no rotation between them.
const LEAST_STRETCH_SUM: f64 = 1e-12;

impl Law for Corotational {
    const DEFINED_INVERTED: bool = true;

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        let r = SignedSvd::new(f).rotation();
        let d = *f - r;
        d.double_dot(&d) * self.mu + (r.double_dot(f) - 3.0).squared() * (0.5 * self.lambda)
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let r = SignedSvd::new(f).rotation();
        (*f - r) * R::from(2.0 * self.mu) + r * ((r.double_dot(f) - 3.0) * self.lambda)
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        let svd = SignedSvd::new(f);
        let r = svd.rotation();
        let mut a = Tangent::zero();
        a.add_outer(R::from(self.lambda), &r, &r);
        match self.tangent {
            CorotationalTangent::Warped => {
                a.add_identity(R::from(self.mu));
                a.add_crossed(R::from(self.mu), &r, &r);
            }
            CorotationalTangent::Exact => {
                a.add_identity(R::from(2.0 * self.mu));
                let on_rotation = (r.double_dot(f) - 3.0) * self.lambda - 2.0 * self.mu;
                for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                    let twist = twist(&svd, i, j);
                    let sum = (svd.sigma[i] + svd.sigma[j]).max(R::from(LEAST_STRETCH_SUM));
                    a.add_outer(on_rotation / sum, &twist, &twist);
                }
            }
        }
        a.0
    }

    fn tangent_is_exact(&self) -> bool {
        self.tangent == CorotationalTangent::Exact
    }
}

/// `U(eᵢeⱼᵀ − eⱼeᵢᵀ)Vᵀ`.
#[inline(always)]
fn twist<R: Real>(svd: &SignedSvd<R>, i: usize, j: usize) -> Matrix<R> {
    let mut t = Matrix::zero();
    for a in 0..3 {
        for b in 0..3 {
            t.0[a][b] = svd.u.0[a][i] * svd.v.0[b][j] - svd.u.0[a][j] * svd.v.0[b][i];
        }
    }
    t
}
