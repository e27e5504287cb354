//! Inversion handling: the response of a law to flattened and inverted elements.

use super::principal::Principal;
use super::{Law, LawError};
use crate::math::matrix::Vector;
use crate::math::{Dual, Jet, Real};

/// Treatment of stretches below a threshold, where a law is undefined, too stiff or too soft. `F = UΣVᵀ`, and an
/// inverted element has its sign on the smallest stretch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Inversion {
    /// Law without inversion handling.
    #[default]
    None,
    /// Clamping of stretches to the threshold \[IrvingTeranFedkiw2004\]. The stress stays bounded and pushes an
    /// inverted element back, but it is not the derivative of an energy. Energy and tangent are those of the law at the
    /// clamped stretches.
    Clamp {
        /// Minimum stretch at which the law is evaluated.
        threshold: f64,
    },
    /// Extrapolation of the energy below the threshold by its second-order Taylor series in the stretches, after
    /// \[Stomakhin2012\]. Stress and tangent remain the derivatives of one finite energy.
    Extrapolate {
        /// Minimum stretch at which the law itself is evaluated.
        threshold: f64,
    },
}

impl Inversion {
    /// Default threshold, as in VegaFEM.
    pub const DEFAULT_THRESHOLD: f64 = 0.1;

    /// Returns the threshold, or `None` without inversion handling.
    pub fn threshold(self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Clamp { threshold } | Self::Extrapolate { threshold } => Some(threshold),
        }
    }

    pub(super) fn check(self) -> Result<(), LawError> {
        match self.threshold() {
            Some(threshold) if !(threshold > 0.0 && threshold < 1.0) => Err(LawError::Threshold { threshold }),
            _ => Ok(()),
        }
    }
}

/// Returns `ψ(s) + d·∇ψ(s) + ½ d·∇²ψ(s)·d` with the clamped stretches `s` and `d = σ − s`, from the derivatives of
/// `t ↦ ψ(s + t d)`.
pub(super) fn extrapolated_energy<L: Law, R: Real>(law: &L, sigma: Vector<R>, threshold: f64) -> R {
    let min = R::from(threshold);
    let raised = [sigma[0].max(min), sigma[1].max(min), sigma[2].max(min)];
    let mut along = [Dual::constant(Dual::constant(raised[0])); 3];
    for i in 0..3 {
        let d = sigma[i] - raised[i];
        along[i] = Dual { value: Dual { value: raised[i], slope: d }, slope: Dual::constant(d) };
    }
    let series = law.stretch_energy(along);
    series.value.value + series.value.slope + series.slope.slope * 0.5
}

/// Returns the derivatives of the [extrapolated energy](extrapolated_energy).
pub(super) fn extrapolated<L: Law>(law: &L, sigma: Vector<f64>, threshold: f64) -> Principal<f64> {
    Principal::of_stretches(sigma, &extrapolated_energy(law, Jet::variables(sigma), threshold))
}
