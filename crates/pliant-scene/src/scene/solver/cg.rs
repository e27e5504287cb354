//! Options of all solvers with conjugate gradients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SolverContext;
use crate::scene::{Located, SceneError, bounds};
use pliant::solver::CgParams;

/// Stopping criteria of conjugate gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub struct Cg {
    /// Residual at which iterations end, relative to the right-hand side.
    #[schemars(transform = bounds::fraction)]
    pub tolerance: Located<f64>,
    /// Maximum number of iterations per linear system.
    #[schemars(range(min = 1))]
    pub iterations: Located<u32>,
}

impl Default for Cg {
    fn default() -> Self {
        let usual = CgParams::default();
        Self { tolerance: Located::new(usual.tolerance), iterations: Located::new(usual.max_iterations as u32) }
    }
}

impl Cg {
    /// Returns the parameters, checked.
    pub(super) fn params(&self, context: SolverContext<'_>) -> Result<CgParams, SceneError> {
        let (tolerance, iterations) = (&self.tolerance, &self.iterations);
        if !(tolerance.value > 0.0 && tolerance.value < 1.0) {
            let message = format!("the tolerance is {}, expected a number above 0 and below 1", tolerance.value);
            return Err(context.source.error(tolerance.span.as_ref().or(context.span), message));
        }
        if iterations.value == 0 {
            let message = "0 iterations, expected at least 1";
            return Err(context.source.error(iterations.span.as_ref().or(context.span), message));
        }
        Ok(CgParams { tolerance: tolerance.value, max_iterations: iterations.value as usize })
    }
}
