//! Laws defined by their energy as a function of the principal stretches alone.

use std::fmt::Debug;

use super::{Law, Principal};
use crate::math::matrix::{Matrix9, Vector};
use crate::math::{Jet, Matrix, Real, SignedSvd};

/// Energy density as a function of the principal stretches: all that [`ByStretches`] needs to be a law.
pub trait StretchEnergy: Debug + Clone + Send + Sync {
    /// True if the energy is defined for inverted and flat elements, where the smallest stretch is not positive.
    const DEFINED_INVERTED: bool = false;

    /// Returns `ψ` \[J/m³\], up to a constant. It must be symmetric in the stretches.
    fn energy<R: Real>(&self, stretches: [R; 3]) -> R;
}

/// Law of an energy `ψ(σ₁, σ₂, σ₃)`. With `F = UΣVᵀ` and the gradient `g` of `ψ` with respect to the stretches:
///
/// - `ψ` less its value at rest
/// - `P = U diag(g) Vᵀ`
/// - `A` from `g` and the Hessian, see [`Principal`]
#[derive(Debug, Clone, PartialEq)]
pub struct ByStretches<E> {
    energy: E,
    rest: f64,
}

impl<E: StretchEnergy> ByStretches<E> {
    /// Creates the law of this energy.
    pub fn new(energy: E) -> Self {
        let rest = energy.energy([1.0; 3]);
        Self { energy, rest }
    }
}

impl<E: StretchEnergy> Law for ByStretches<E> {
    const COEFFICIENTS: &'static [&'static str] = &[];
    const DEFINED_INVERTED: bool = E::DEFINED_INVERTED;

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        self.stretch_energy(SignedSvd::new(f).sigma)
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let svd = SignedSvd::new(f);
        svd.compose(self.energy.energy(Jet::variables(svd.sigma)).gradient)
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        self.stress_and_tangent(f).1
    }

    #[inline(always)]
    fn stress_and_tangent<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        let svd = SignedSvd::new(f);
        let principal = Principal::of_stretches(svd.sigma, &self.energy.energy(Jet::variables(svd.sigma)));
        (principal.stress(&svd), principal.tangent(&svd))
    }

    #[inline(always)]
    fn stretch_energy<R: Real>(&self, sigma: Vector<R>) -> R {
        self.energy.energy(sigma) - self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::super::verify::verify;
    use super::super::{StVenantKirchhoff, YoungPoisson};
    use super::*;

    const MODULI: YoungPoisson = YoungPoisson { young: 3e5, poisson: 0.42 };

    /// St. Venant–Kirchhoff: `E` has the eigenvalues `½(σ² − 1)`. Defined when inverted.
    #[derive(Debug, Clone)]
    struct Green(StVenantKirchhoff);

    impl StretchEnergy for Green {
        const DEFINED_INVERTED: bool = true;

        fn energy<R: Real>(&self, stretches: [R; 3]) -> R {
            let [a, b, c] = stretches.map(|stretch| (stretch.squared() - 1.0) * 0.5);
            (a.squared() + b.squared() + c.squared()) * self.0.mu + (a + b + c).squared() * (0.5 * self.0.lambda)
        }
    }

    /// Hencky's energy `μ Σ ln²σ + λ/2 (Σ ln σ)²`: strongly curved, coupled.
    #[derive(Debug, Clone)]
    struct Hencky(YoungPoisson);

    impl StretchEnergy for Hencky {
        fn energy<R: Real>(&self, stretches: [R; 3]) -> R {
            let [a, b, c] = stretches.map(Real::ln);
            (a.squared() + b.squared() + c.squared()) * self.0.mu() + (a + b + c).squared() * (0.5 * self.0.lambda())
        }
    }

    #[test]
    fn energies_of_the_stretches_are_laws() {
        verify(&ByStretches::new(Green(StVenantKirchhoff::from_moduli(MODULI))), MODULI).unwrap();
        verify(&ByStretches::new(Hencky(MODULI)), MODULI).unwrap();
    }

    /// Returns the maximum difference between the tangents of `law` and `expected` at `f`, relative to the largest
    /// entry.
    fn tangent_error(law: &impl Law, expected: &impl Law, f: &Matrix<f64>) -> f64 {
        let (found, expected) = (law.tangent(f), expected.tangent(f));
        let pairs = found.as_flattened().iter().zip(expected.as_flattened());
        let largest = expected.as_flattened().iter().fold(0.0_f64, |max, x| max.max(x.abs()));
        // Written so that a NaN propagates.
        pairs.fold(0.0_f64, |max, (a, b)| if (a - b).abs() <= max { max } else { (a - b).abs() }) / largest
    }

    #[test]
    fn tangents_are_right_however_near_two_stretches_are() {
        let exact = StVenantKirchhoff::from_moduli(MODULI);
        let law = ByStretches::new(Green(exact));
        let svd = SignedSvd::new(&Matrix([[1.1, 0.2, -0.3], [0.4, 0.8, 0.1], [-0.2, 0.5, 1.3]]));
        let mut worst = 0.0_f64;
        for exponent in 0..=64 {
            let gap = 10.0_f64.powf(-0.25 * f64::from(exponent));
            for sigma in [[0.7 + gap, 0.7, 0.2], [1.3 + gap, 1.3, 1.3 - 0.5 * gap], [1.9, 0.3 + gap, 0.3]] {
                worst = worst.max(tangent_error(&law, &exact, &svd.compose(sigma)));
            }
        }
        assert!(worst < 1e-9, "{worst:e}");
        for sigma in [[1.0; 3], [0.4; 3], [1.0, 1.0, 0.5], [2.0, 0.5, 0.5]] {
            let error = tangent_error(&law, &exact, &svd.compose(sigma));
            assert!(error < 1e-13, "{sigma:?}: {error:e}");
        }
    }
}
