//! Interface of elastic laws.

use std::fmt::Debug;

use super::{LawOption, diagonal};
use crate::math::matrix::{Matrix9, Vector};
use crate::math::{Matrix, Real};

/// Elastic law, defined by its energy density `ψ(F)` per rest volume, which is zero at rest.
///
/// # Examples
///
/// ```
/// use pliant::material::{Law, Material, Tangent};
/// use pliant::math::matrix::Matrix9;
/// use pliant::math::{Matrix, Real};
///
/// /// ψ = μ/2 ‖F − I‖², for small rotations.
/// #[derive(Debug, Clone)]
/// struct Springs {
///     mu: f64,
/// }
///
/// impl Law for Springs {
///     const COEFFICIENTS: &'static [&'static str] = &["mu"];
///     const OBJECTIVE: bool = false;
///     const ISOTROPIC: bool = false;
///     const DEFINED_INVERTED: bool = true;
///
///     fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
///         let gradient = *f - Matrix::identity();
///         gradient.double_dot(&gradient) * (0.5 * self.mu)
///     }
///
///     fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
///         (*f - Matrix::identity()) * R::from(self.mu)
///     }
///
///     fn tangent<R: Real>(&self, _: &Matrix<R>) -> Matrix9<R> {
///         let mut a = Tangent::zero();
///         a.add_identity(R::from(self.mu));
///         a.0
///     }
/// }
///
/// let stretched = Matrix::diagonal(1.0) * 1.1;
/// assert!((Springs { mu: 1e5 }.stress(&stretched).0[0][0] - 1e4).abs() < 1e-9);
/// let material = Material::new(Springs { mu: 1e5 });
/// assert!(material.is_defined_inverted());
/// ```
pub trait Law: Debug + Clone + Send + Sync {
    /// Names of the coefficients of the formula.
    const COEFFICIENTS: &'static [&'static str] = &["mu", "lambda"];
    /// Options specific to this law.
    const OPTIONS: &'static [LawOption] = &[];
    /// True if the law is objective: `ψ(QF) = ψ(F)` for every rotation of the deformed body.
    const OBJECTIVE: bool = true;
    /// True if the law is isotropic: `ψ(FQ) = ψ(F)` for every rotation of the undeformed body.
    const ISOTROPIC: bool = true;
    /// True if the law is defined for inverted and flat elements, `det F ≤ 0`.
    const DEFINED_INVERTED: bool = false;
    /// True if the law is one of small strains, `ε = ½(F + Fᵀ) − I`, for which all stress measures coincide.
    const SMALL_STRAIN: bool = false;

    /// Returns the energy density `ψ(F)` \[J/m³\].
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R;

    /// Returns the first Piola–Kirchhoff stress `P = ∂ψ/∂F` \[Pa\].
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R>;

    /// Returns the tangent `A = ∂P/∂F` \[Pa\]. See [`Matrix9`] for the order of its entries.
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R>;

    /// Returns `P` and `A` together, for laws in which they share work.
    #[inline(always)]
    fn stress_and_tangent<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        (self.stress(f), self.tangent(f))
    }

    /// Returns `ψ(diag σ)`.
    #[inline(always)]
    fn stretch_energy<R: Real>(&self, sigma: Vector<R>) -> R {
        self.energy(&diagonal(sigma))
    }

    /// Returns true if [`tangent`](Self::tangent) is the exact derivative of the stress, not an approximation.
    fn tangent_is_exact(&self) -> bool {
        true
    }

    /// Returns true if [`stress`](Self::stress) is the derivative of the energy.
    fn stress_is_exact(&self) -> bool {
        true
    }

    /// Returns true if the law depends on the principal stretches only, so that it can be evaluated in the singular
    /// basis.
    fn has_principal_form(&self) -> bool {
        Self::OBJECTIVE && Self::ISOTROPIC
    }

    /// Returns true if [`tangent`](Self::tangent) is always positive semi-definite.
    fn tangent_is_semidefinite(&self) -> bool {
        false
    }
}

/// Operation on a law of any kind; see [`AnyLaw::visit`](crate::material::AnyLaw::visit).
pub trait LawVisitor {
    /// Result of the operation.
    type Output;
    /// Performs the operation.
    fn visit<L: Law + 'static>(self, law: &L) -> Self::Output;
}
