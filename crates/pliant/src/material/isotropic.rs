//! Laws defined by their energy as a function of the invariants alone.

use std::fmt::Debug;

use super::{Law, Tangent};
use crate::math::matrix::Matrix9;
use crate::math::{Jet, Matrix, Real};

/// Invariants of the deformation under rotations before and after it, with `C = FᵀF`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Invariants<R> {
    /// First invariant `I₁ = tr C`, which is 3 at rest.
    pub i1: R,
    /// Second invariant `I₂ = ½(I₁² − tr C²)`, which is 3 at rest.
    pub i2: R,
    /// Volume ratio `J = det F`: 1 at rest, negative if inverted.
    pub j: R,
}

impl<R: Real> Invariants<R> {
    /// Returns the invariants of an undeformed body.
    #[inline(always)]
    pub fn at_rest() -> Self {
        Self { i1: R::from(3.0), i2: R::from(3.0), j: R::from(1.0) }
    }

    /// Computes the invariants of `F`.
    #[inline(always)]
    pub fn of(f: &Matrix<R>) -> Self {
        // I₂ is the squared norm of the cofactor, without the cancellation of ½(I₁² − tr C²).
        let k = f.cofactor();
        Self { i1: f.double_dot(f), i2: k.double_dot(&k), j: f.determinant() }
    }

    /// Returns the third invariant `I₃ = det C = J²`.
    #[inline(always)]
    pub fn i3(&self) -> R {
        self.j.squared()
    }

    #[inline(always)]
    fn jets(&self) -> Invariants<Jet<R>> {
        let [i1, i2, j] = Jet::variables([self.i1, self.i2, self.j]);
        Invariants { i1, i2, j }
    }
}

/// Energy density as a function of the invariants: all that [`Isotropic`] needs to be a law.
///
/// ```
/// use pliant::material::verify::{Violation, verify};
/// use pliant::material::{Invariants, Isotropic, IsotropicEnergy, YoungPoisson};
/// use pliant::math::Real;
///
/// /// `ψ = μ/2 (I₁ − 3) − μ ln J + λ/4 (J² − 1 − 2 ln J)`, after Ciarlet.
/// #[derive(Debug, Clone)]
/// struct Ciarlet(YoungPoisson);
///
/// impl IsotropicEnergy for Ciarlet {
///     fn energy<R: Real>(&self, of: &Invariants<R>) -> R {
///         let (mu, lambda, ln_j) = (self.0.mu(), self.0.lambda(), of.j.ln());
///         (of.i1 - 3.0) * (mu / 2.0) - ln_j * mu + (of.i3() - 1.0 - ln_j * 2.0) * (lambda / 4.0)
///     }
/// }
///
/// let moduli = YoungPoisson { young: 1e6, poisson: 0.4 };
/// let law = Isotropic::new(Ciarlet(moduli));
/// verify(&law, moduli)?;
/// # Ok::<(), Violation>(())
/// ```
pub trait IsotropicEnergy: Debug + Clone + Send + Sync {
    /// True if the energy is defined for inverted and flat elements, `J ≤ 0`.
    const DEFINED_INVERTED: bool = false;

    /// Returns `ψ` \[J/m³\], up to a constant.
    fn energy<R: Real>(&self, invariants: &Invariants<R>) -> R;

    /// Returns true if the energy depends on `I₂`. Returning false saves about a third of the time.
    #[inline(always)]
    fn depends_on_i2(&self) -> bool {
        true
    }
}

/// Law of an energy `ψ(I₁, I₂, J)`. With `K = cof F`, gradients of the invariants `∂I₁ = 2F`, `∂I₂ = D = 2(I₁F − FFᵀF)`
/// and `∂J = K`, and subscripts for the derivatives of `ψ`:
///
/// - `ψ` less its value at rest
/// - `P = 2ψ₁ F + ψ₂ D + ψ_J K`
/// - `A = Σ ψₐ_b ∂a ∂b` over all pairs of invariants, `+ 2ψ₁ δᵢₖδⱼₗ + ψ₂ ∂D/∂F + ψ_J ∂K/∂F`, with
///   `∂D/∂F = 4FᵢⱼFₖₗ + 2I₁ δᵢₖδⱼₗ − 2(δᵢₖCₗⱼ + FᵢₗFₖⱼ + (FFᵀ)ᵢₖδⱼₗ)`
#[derive(Debug, Clone, PartialEq)]
pub struct Isotropic<E> {
    energy: E,
    rest: f64,
}

impl<E: IsotropicEnergy> Isotropic<E> {
    /// Creates the law of this energy.
    pub fn new(energy: E) -> Self {
        let rest = energy.energy(&Invariants::at_rest());
        Self { energy, rest }
    }
}

/// Returns the gradient of `I₂`: `D = 2(I₁F − FFᵀF)`.
#[inline(always)]
fn i2_gradient<R: Real>(f: &Matrix<R>, left: &Matrix<R>, i1: R) -> Matrix<R> {
    (*f * i1 - *left * *f) * R::from(2.0)
}

impl<E: IsotropicEnergy> Law for Isotropic<E> {
    const COEFFICIENTS: &'static [&'static str] = &[];
    const DEFINED_INVERTED: bool = E::DEFINED_INVERTED;

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        self.energy.energy(&Invariants::of(f)) - self.rest
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let invariants = Invariants::of(f);
        let [d1, d2, dj] = self.energy.energy(&invariants.jets()).gradient;
        let mut p = *f * (d1 * 2.0) + f.cofactor() * dj;
        if self.energy.depends_on_i2() {
            p += i2_gradient(f, &f.times_transpose(f), invariants.i1) * d2;
        }
        p
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        self.stress_and_tangent(f).1
    }

    #[inline(always)]
    fn stress_and_tangent<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        let invariants = Invariants::of(f);
        let jet = self.energy.energy(&invariants.jets());
        let [d1, d2, dj] = jet.gradient;
        let k = f.cofactor();
        let mut p = *f * (d1 * 2.0) + k * dj;
        // Σ ψₐ_b ∂a ∂b as one outer product per gradient: with 2F, with K, with D.
        let mut with_f = *f * (jet.second(0, 0) * 4.0) + k * (jet.second(0, 2) * 2.0);
        let mut with_k = *f * (jet.second(0, 2) * 2.0) + k * jet.second(2, 2);
        let mut a = Tangent::zero();
        if self.energy.depends_on_i2() {
            let (left, right) = (f.times_transpose(f), f.transpose_times(f));
            let d = i2_gradient(f, &left, invariants.i1);
            p += d * d2;
            // ψ₂ ∂D, without 4FF, which is added to the outer products.
            a.add_identity(d2 * invariants.i1 * 2.0);
            a.add_right(&(right * (d2 * -2.0)));
            a.add_left(&(left * (d2 * -2.0)));
            a.add_crossed(d2 * -2.0, f, f);
            with_f += *f * (d2 * 4.0) + d * (jet.second(0, 1) * 2.0);
            with_k += d * jet.second(1, 2);
            let with_d = *f * (jet.second(0, 1) * 2.0) + d * jet.second(1, 1) + k * jet.second(1, 2);
            a.add_outer(R::from(1.0), &d, &with_d);
        }
        a.add_outer(R::from(1.0), f, &with_f);
        a.add_outer(R::from(1.0), &k, &with_k);
        a.add_identity(d1 * 2.0);
        a.add_cofactor_derivative(dj, f);
        (p, a.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::verify::verify;
    use super::super::{MooneyRivlin, StableNeoHookean, YoungPoisson};
    use super::*;

    const MODULI: YoungPoisson = YoungPoisson { young: 3e5, poisson: 0.42 };

    /// Mooney–Rivlin defined by its energy: every invariant, every mixed derivative.
    #[derive(Debug, Clone)]
    struct Rubber(MooneyRivlin);

    impl IsotropicEnergy for Rubber {
        fn energy<R: Real>(&self, of: &Invariants<R>) -> R {
            let a = of.i3().powf(-1.0 / 3.0);
            (a * a * of.i2 - 3.0) * self.0.mu01 + (a * of.i1 - 3.0) * self.0.mu10 + (of.j - 1.0).squared() * self.0.v1
        }
    }

    /// Stable neo-Hookean: defined when inverted, nonzero energy at rest.
    #[derive(Debug, Clone)]
    struct Stable(StableNeoHookean);

    impl IsotropicEnergy for Stable {
        const DEFINED_INVERTED: bool = true;

        fn energy<R: Real>(&self, of: &Invariants<R>) -> R {
            let StableNeoHookean { mu, lambda } = self.0;
            (of.i1 - (of.i1 + 1.0).ln()) * (mu / 2.0) + (of.j - (1.0 + 0.75 * mu / lambda)).squared() * (lambda / 2.0)
        }

        fn depends_on_i2(&self) -> bool {
            false
        }
    }

    #[test]
    fn an_energy_of_all_invariants_is_a_law() {
        verify(&Isotropic::new(Rubber(MooneyRivlin::from_moduli(MODULI))), MODULI).unwrap();
    }

    #[test]
    fn an_energy_without_the_second_invariant_is_a_law_also_inverted() {
        verify(&Isotropic::new(Stable(StableNeoHookean::from_moduli(MODULI))), MODULI).unwrap();
    }
}
