//! Young's modulus and Poisson's ratio.

use super::Law;
use crate::math::Matrix;

/// Accepted range of Young's modulus \[Pa\]. Values outside it are too far from masses and lengths for double
/// precision.
pub(super) const YOUNG: std::ops::RangeInclusive<f64> = 1e-9..=1e18;

/// Young's modulus and Poisson's ratio: the small-strain moduli from which every law here can be built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YoungPoisson {
    /// Young's modulus `Y` \[Pa\].
    pub young: f64,
    /// Poisson's ratio `ν`.
    pub poisson: f64,
}

impl YoungPoisson {
    /// Converts Lamé's coefficients: `Y = μ(3λ + 2μ)/(λ + μ)`, `ν = λ / 2(λ + μ)`.
    pub fn from_lame(mu: f64, lambda: f64) -> Self {
        Self { young: mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), poisson: 0.5 * lambda / (lambda + mu) }
    }

    /// Computes the small-strain moduli of a law from its tangent at rest.
    pub fn of_law<L: Law>(law: &L) -> Self {
        let a = law.tangent::<f64>(&Matrix::identity());
        Self::from_lame(0.5 * (a[0][0] - a[0][4]), a[0][4])
    }

    /// Returns the shear modulus `μ = Y / 2(1+ν)` \[Pa\].
    pub fn mu(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }

    /// Returns Lamé's first coefficient `λ = Yν / (1+ν)(1−2ν)` \[Pa\].
    pub fn lambda(&self) -> f64 {
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// Returns the bulk modulus `κ = λ + 2μ/3` \[Pa\].
    pub fn bulk(&self) -> f64 {
        self.lambda() + 2.0 / 3.0 * self.mu()
    }
}
