//! What a law does with elements that are squashed or turned inside out.

use super::principal::Principal;
use super::{Law, LawError};
use crate::math::matrix::Vector;
use crate::math::{Dual, Jet, Real};

/// What to do with stretches below a threshold, where a law is not defined, or too stiff, or too soft. `F = UΣVᵀ`, and the sign of an
/// inverted element is on its smallest stretch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Inversion {
    /// The bare law.
    #[default]
    None,
    /// Stretches below the threshold count as the threshold (Irving et al. 2004). The stress stays bounded and pushes an inverted
    /// element back, but it is not the derivative of an energy; the energy is that of the raised stretches, and the tangent that of
    /// the law at them.
    Clamp {
        /// The least stretch that the law sees.
        threshold: f64,
    },
    /// Below the threshold the energy goes on as its Taylor series of second order in the stretches (after Stomakhin et al.
    /// 2012), so that stress and tangent remain the derivatives of one finite energy.
    Extrapolate {
        /// The least stretch at which the law itself is evaluated.
        threshold: f64,
    },
}

impl Inversion {
    /// The threshold that users get who name none; VegaFEM's.
    pub const DEFAULT_THRESHOLD: f64 = 0.1;

    /// The threshold, if there is one.
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

/// `ψ(s) + d·∇ψ(s) + ½ d·∇²ψ(s)·d` with `s` the raised stretches and `d = σ − s`: the derivatives along `d` of `t ↦ ψ(s + t d)`.
pub(super) fn extrapolated_energy<L: Law, R: Real>(law: &L, sigma: Vector<R>, threshold: f64) -> R {
    let least = R::from(threshold);
    let raised = [sigma[0].max(least), sigma[1].max(least), sigma[2].max(least)];
    let mut along = [Dual::constant(Dual::constant(raised[0])); 3];
    for i in 0..3 {
        let d = sigma[i] - raised[i];
        along[i] = Dual { value: Dual { value: raised[i], slope: d }, slope: Dual::constant(d) };
    }
    let series = law.stretch_energy(along);
    series.value.value + series.value.slope + series.slope.slope * 0.5
}

/// The derivatives of the [extrapolated energy](extrapolated_energy).
pub(super) fn extrapolated<L: Law>(law: &L, sigma: Vector<f64>, threshold: f64) -> Principal<f64> {
    Principal::of_stretches(sigma, &extrapolated_energy(law, Jet::variables(sigma), threshold))
}
