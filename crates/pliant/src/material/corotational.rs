//! Corotational law: linear elasticity in the frame that rotates with the element.

use super::{Law, LawOption, Tangent, YoungPoisson, hooke};
use crate::math::matrix::{Matrix9, Vector, cross, dot, scaled};
use crate::math::{Matrix, Real, nearest_rotation};

/// Treatment of the derivative of the rotation in the tangent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CorotationalTangent {
    /// Dropped: the tangent is the rotated constant tangent of linear elasticity. Always positive semi-definite.
    Warped,
    /// Included: the tangent is the derivative of the stress.
    #[default]
    Exact,
}

/// Definition of the rotation of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CorotationalFrame {
    /// Nearest rotation, by signed polar decomposition.
    #[default]
    Polar,
    /// Rotation of the material axes, by Gram–Schmidt orthogonalization of the columns of `F` \[NesmePayanFaure2005\].
    /// Unlike the nearest rotation, it does not jump when an element is flattened and inverts. However, it depends on
    /// the orientation of the axes, and the stress `P = R(2με + λ tr(ε) I)`, `ε = sym(RᵀF) − I`, is not the derivative
    /// of an energy. Its tangent is always the warped one.
    Qr,
}

/// Corotational linear elasticity. With `F = RS`, `R` the nearest rotation (also for an inverted `F`), and
/// `t = tr(RᵀF − I)`:
///
/// - `ψ = μ‖F − R‖² + λ/2 t²`
/// - `P = 2μ(F − R) + λ t R`
/// - exact: `A = 2μ δᵢₖδⱼₗ + λ RᵢⱼRₖₗ + (λt − 2μ) ∂R/∂F`
/// - warped: `A = μ(δᵢₖδⱼₗ + RᵢₗRₖⱼ) + λ RᵢⱼRₖₗ`
///
/// `RᵀδR` is the antisymmetric matrix of the vector `G⁻¹w`, where `w` is the axial vector of `RᵀδF − δFᵀR` and
/// `G = tr(S) I − S`. Therefore `∂R/∂F = Σ (G⁻¹)ₘₙ Tₘ Tₙ` with `Tₘ = R[eₘ]×`. The eigenvalues of `G` are the sums of
/// two stretches. Where two cancel, `σ₂ + σ₃ = 0`, the rotation jumps and has no derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corotational {
    /// Coefficient `μ` \[Pa\].
    pub mu: f64,
    /// Coefficient `λ` \[Pa\].
    pub lambda: f64,
    /// Choice of the tangent.
    pub tangent: CorotationalTangent,
    /// Choice of the rotation.
    pub frame: CorotationalFrame,
}

impl Corotational {
    /// Creates a law with these coefficients, the nearest rotation and the exact tangent.
    pub fn new(mu: f64, lambda: f64) -> Self {
        Self { mu, lambda, tangent: CorotationalTangent::default(), frame: CorotationalFrame::default() }
    }

    /// Creates a law with these small-strain moduli, the nearest rotation and the exact tangent.
    pub fn from_moduli(moduli: YoungPoisson) -> Self {
        Self::new(moduli.mu(), moduli.lambda())
    }

    #[inline(always)]
    fn rotation<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        match self.frame {
            CorotationalFrame::Polar => nearest_rotation(f),
            CorotationalFrame::Qr => rotation_of_axes(f),
        }
    }

    /// Returns `P`, given `R`.
    #[inline(always)]
    fn stress_in<R: Real>(&self, r: &Matrix<R>, f: &Matrix<R>) -> Matrix<R> {
        match self.frame {
            CorotationalFrame::Polar => {
                (*f - *r) * R::from(2.0 * self.mu) + *r * ((r.double_dot(f) - 3.0) * self.lambda)
            }
            CorotationalFrame::Qr => *r * hooke::stress(self.mu, self.lambda, &small_strain(r, f)),
        }
    }

    /// Returns `A`, given `R`.
    #[inline(always)]
    fn tangent_in<R: Real>(&self, r: &Matrix<R>, f: &Matrix<R>) -> Matrix9<R> {
        let mut a = Tangent::zero();
        a.add_outer(R::from(self.lambda), r, r);
        if self.warped() {
            a.add_identity(R::from(self.mu));
            a.add_crossed(R::from(self.mu), r, r);
        } else {
            a.add_identity(R::from(2.0 * self.mu));
            let s = r.transpose_times(f);
            let g = Matrix::diagonal(s.trace()) - s;
            let on_rotation = (s.trace() - 3.0) * self.lambda - 2.0 * self.mu;
            let inverse = g.cofactor() * (on_rotation / g.determinant().max(R::from(MIN_DETERMINANT)));
            let [x, y, z] = [r.column(0), r.column(1), r.column(2)];
            let none = [R::from(0.0); 3];
            let minus = |v: Vector<R>| [-v[0], -v[1], -v[2]];
            let twists = [
                Matrix::from_columns([none, z, minus(y)]),
                Matrix::from_columns([minus(z), none, x]),
                Matrix::from_columns([y, minus(x), none]),
            ];
            for m in 0..3 {
                let turned = twists[0] * inverse.0[m][0] + twists[1] * inverse.0[m][1] + twists[2] * inverse.0[m][2];
                a.add_outer(R::from(1.0), &twists[m], &turned);
            }
        }
        a.0
    }

    fn warped(&self) -> bool {
        self.tangent == CorotationalTangent::Warped || self.frame == CorotationalFrame::Qr
    }
}

/// Replacement for `det G` where stretches cancel and no derivative exists.
const MIN_DETERMINANT: f64 = 1e-12;

impl Law for Corotational {
    const DEFINED_INVERTED: bool = true;
    const OPTIONS: &'static [LawOption] = &[
        LawOption {
            name: "tangent",
            values: &["exact", "warped"],
            about: "exact, or without the derivative of the rotation (positive semi-definite)",
        },
        LawOption {
            name: "frame",
            values: &["polar", "qr"],
            about: "nearest rotation, or Gram–Schmidt on the axes, which does not jump",
        },
    ];

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        let r = self.rotation(f);
        hooke::energy(self.mu, self.lambda, &small_strain(&r, f))
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        self.stress_in(&self.rotation(f), f)
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        self.tangent_in(&self.rotation(f), f)
    }

    #[inline(always)]
    fn stress_and_tangent<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        let r = self.rotation(f);
        (self.stress_in(&r, f), self.tangent_in(&r, f))
    }

    #[inline(always)]
    fn stretch_energy<R: Real>(&self, sigma: Vector<R>) -> R {
        let [a, b, c] = [sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0];
        (a * a + b * b + c * c) * self.mu + (a + b + c).squared() * (0.5 * self.lambda)
    }

    fn tangent_is_exact(&self) -> bool {
        !self.warped()
    }

    fn stress_is_exact(&self) -> bool {
        self.frame == CorotationalFrame::Polar
    }

    fn has_principal_form(&self) -> bool {
        self.frame == CorotationalFrame::Polar
    }

    fn tangent_is_semidefinite(&self) -> bool {
        self.warped()
    }
}

/// Returns the small strain `sym(RᵀF) − I`.
#[inline(always)]
fn small_strain<R: Real>(r: &Matrix<R>, f: &Matrix<R>) -> Matrix<R> {
    let s = r.transpose_times(f);
    (s + s.transpose()) * R::from(0.5) - Matrix::identity()
}

/// Returns the rotation from Gram–Schmidt on the columns of `f`. Its first column is along that of `f`, its second is
/// in the plane of the first two, and its third is their cross product. An inverted element therefore has a reversed
/// third axis.
#[inline(always)]
fn rotation_of_axes<R: Real>(f: &Matrix<R>) -> Matrix<R> {
    /// Replacement for the length of an axis that collapses to zero.
    const TINY: f64 = 1e-150;
    let unit = |v: Vector<R>| scaled(v, (dot(v, v).sqrt() + TINY).recip());
    let x = unit(f.column(0));
    let z = unit(cross(x, f.column(1)));
    Matrix::from_columns([x, cross(z, x), z])
}
