//! Newton iteration of implicit integrators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::IntegratorContext;
use crate::scene::{Located, SceneError, bounds};
use pliant::integrator::{self, NewtonParams};

/// Newton iteration for the balance of forces in a step.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
///
/// [simulation.integrator.newmark.newton]
/// iterations = 30
/// tolerance = 1e-8
/// tangent = "exact-first"
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Newton {
    /// Maximum number of iterations.
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// Residual at which iterations end, relative to the forces. By default 1e-3 for backward Euler and BDF2, which
    /// make at least one iteration per step, and 1e-9 for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::fraction)]
    pub tolerance: Option<f64>,
    /// Tangent stiffness; by default the one that suits the integrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tangent: Option<NewtonTangent>,
    /// True to shorten Newton steps until the energy decreases; by default where the integrator has such an energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_search: Option<bool>,
    /// True if it is an error when the iterations end before the residual is below the tolerance. By default it is,
    /// except for backward Euler and BDF2 without a `tolerance`, whose line search keeps unconverged steps stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_converge: Option<bool>,
}

/// Tangent stiffness matrix: the derivative of the forces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NewtonTangent {
    /// Exact derivative.
    Exact,
    /// Projection of the derivative onto the positive semi-definite matrices.
    Projected,
    /// Exact derivative while it is positive definite enough to make progress, else its projection.
    ExactFirst,
}

/// State at which stiffness-proportional damping `βK` is evaluated in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DampingState {
    /// Start of the step, with `K` projected onto the positive semi-definite matrices: damping never adds energy.
    Start,
    /// Each Newton iterate, with the exact `K`, as in VegaFEM. The step then has no energy to minimize, and there is no
    /// line search.
    Iterate,
}

impl Default for Newton {
    fn default() -> Self {
        Self {
            iterations: NewtonParams::default().max_iterations as u32,
            tolerance: None,
            tangent: None,
            line_search: None,
            must_converge: None,
        }
    }
}

impl From<NewtonTangent> for integrator::NewtonTangent {
    fn from(tangent: NewtonTangent) -> Self {
        match tangent {
            NewtonTangent::Exact => Self::Exact,
            NewtonTangent::Projected => Self::Projected,
            NewtonTangent::ExactFirst => Self::ExactFirst,
        }
    }
}

impl Located<Newton> {
    /// Returns the parameters of an integrator, which are `usual` where nothing is given.
    pub(super) fn params(
        &self,
        usual: NewtonParams,
        context: &IntegratorContext<'_>,
    ) -> Result<NewtonParams, SceneError> {
        let wrong = |message: String| Err(context.source.error(self.span.as_ref(), message));
        if self.iterations == 0 {
            return wrong("0 iterations, expected at least 1".into());
        }
        if let Some(tolerance) = self.tolerance.filter(|tolerance| !(*tolerance > 0.0 && *tolerance < 1.0)) {
            return wrong(format!("the tolerance is {tolerance}, expected a number above 0 and below 1"));
        }
        Ok(NewtonParams {
            max_iterations: self.iterations as usize,
            tolerance: self.tolerance.unwrap_or(usual.tolerance),
            tangent: self.tangent.map_or(usual.tangent, Into::into),
            line_search: self.line_search.unwrap_or(usual.line_search),
            must_converge: self.must_converge.unwrap_or(usual.must_converge || self.tolerance.is_some()),
            ..usual
        })
    }
}
