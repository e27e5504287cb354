//! Laws defined by their energy as a function of the deformation gradient alone.

use std::fmt::Debug;

use super::Law;
use crate::math::matrix::Matrix9;
use crate::math::{Dual, Matrix, Real};

/// Energy density as a function of `F`, for laws that neither invariants nor stretches can express, such as fiber
/// reinforcement.
///
/// ```
/// use pliant::material::verify::{Violation, verify};
/// use pliant::material::{ByEnergy, Energy, Law, NeoHookean, YoungPoisson};
/// use pliant::math::{Matrix, Real};
///
/// /// Neo-Hookean with fibers along x: `+ k/4 (|F eₓ|² − 1)²`.
/// #[derive(Debug, Clone)]
/// struct Fibers(NeoHookean, f64);
///
/// impl Energy for Fibers {
///     fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
///         let [x, y, z] = f.column(0);
///         self.0.energy(f) + (x * x + y * y + z * z - 1.0).squared() * (self.1 / 4.0)
///     }
/// }
///
/// let moduli = YoungPoisson { young: 1e6, poisson: 0.4 };
/// let law = ByEnergy::new(Fibers(NeoHookean::from_moduli(moduli), 3e6));
/// verify(&law, moduli)?;
/// # Ok::<(), Violation>(())
/// ```
pub trait Energy: Debug + Clone + Send + Sync {
    /// See [`Law::OBJECTIVE`].
    const OBJECTIVE: bool = true;
    /// See [`Law::ISOTROPIC`]. False by default.
    const ISOTROPIC: bool = false;
    /// See [`Law::DEFINED_INVERTED`].
    const DEFINED_INVERTED: bool = false;

    /// Returns `ψ(F)` \[J/m³\], up to a constant.
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R;
}

/// Law of an energy `ψ(F)`, less its value at rest. It is the slowest kind: `P` takes 9 passes of the energy over dual
/// numbers and `A` takes 45 over nested ones. [`Isotropic`](super::Isotropic) and [`ByStretches`](super::ByStretches)
/// take one.
#[derive(Debug, Clone, PartialEq)]
pub struct ByEnergy<E> {
    energy: E,
    rest: f64,
}

impl<E: Energy> ByEnergy<E> {
    /// Creates the law of this energy.
    pub fn new(energy: E) -> Self {
        let rest = energy.energy(&Matrix::identity());
        Self { energy, rest }
    }
}

/// Returns `F` as constant dual numbers, to be seeded entry by entry.
#[inline(always)]
fn constants<R: Real>(f: &Matrix<R>) -> Matrix<Dual<R>> {
    let mut duals = Matrix::zero();
    for i in 0..3 {
        for j in 0..3 {
            duals.0[i][j] = Dual::constant(f.0[i][j]);
        }
    }
    duals
}

impl<E: Energy> Law for ByEnergy<E> {
    const COEFFICIENTS: &'static [&'static str] = &[];
    const OBJECTIVE: bool = E::OBJECTIVE;
    const ISOTROPIC: bool = E::ISOTROPIC;
    const DEFINED_INVERTED: bool = E::DEFINED_INVERTED;

    #[inline(always)]
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        self.energy.energy(f) - self.rest
    }

    #[inline(always)]
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R> {
        let mut p = Matrix::zero();
        for n in 0..9 {
            let mut duals = constants(f);
            duals.0[n / 3][n % 3].slope = R::from(1.0);
            p.0[n / 3][n % 3] = self.energy.energy(&duals).slope;
        }
        p
    }

    #[inline(always)]
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R> {
        let mut a = [[R::from(0.0); 9]; 9];
        for m in 0..9 {
            let mut inner = constants(f);
            inner.0[m / 3][m % 3].slope = R::from(1.0);
            for n in m..9 {
                let mut duals = constants(&inner);
                duals.0[n / 3][n % 3].slope = Dual::from(1.0);
                a[m][n] = self.energy.energy(&duals).slope.slope;
                a[n][m] = a[m][n];
            }
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::super::verify::verify;
    use super::super::{StableNeoHookean, YoungPoisson};
    use super::*;

    /// Material that is stiffer along an axis of the body than across it.
    #[derive(Debug, Clone)]
    struct Fibers {
        tissue: StableNeoHookean,
        stiffness: f64,
    }

    impl Energy for Fibers {
        const DEFINED_INVERTED: bool = true;

        fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
            let along = f.times([R::from(0.6), R::from(0.0), R::from(0.8)]);
            let squared = along[0].squared() + along[1].squared() + along[2].squared();
            self.tissue.energy(f) + (squared - 1.0).squared() * (0.25 * self.stiffness) + 17.0
        }
    }

    /// Material without fibers that declares itself isotropic.
    #[derive(Debug, Clone)]
    struct Plain<E>(E);

    impl<E: Energy> Energy for Plain<E> {
        const ISOTROPIC: bool = true;
        const DEFINED_INVERTED: bool = true;

        fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
            self.0.energy(f)
        }
    }

    #[test]
    fn an_anisotropic_energy_is_a_law_and_does_not_pass_for_an_isotropic_one() {
        let moduli = YoungPoisson { young: 1e5, poisson: 0.45 };
        let fibres = |stiffness| Fibers { tissue: StableNeoHookean::from_moduli(moduli), stiffness };
        verify(&ByEnergy::new(fibres(3e5)), moduli).unwrap();
        verify(&ByEnergy::new(Plain(fibres(0.0))), moduli).unwrap();
        let found = verify(&ByEnergy::new(Plain(fibres(1e-3))), moduli).unwrap_err();
        assert!(["Hooke's law at small strains", "the law is isotropic"].contains(&found.check), "{found}");
    }
}
