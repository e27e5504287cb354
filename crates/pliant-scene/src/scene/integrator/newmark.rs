//! Newmark's method.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DampingState, IntegratorContext, IntegratorOptions, Newton};
use crate::scene::{Located, SceneError, bounds};
use pliant::integrator::{self, Halving, Integrator};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;
use pliant::system::System;

/// Newmark's method: second order, conserves energy.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// integrator = { newmark = { beta = 0.3025, gamma = 0.6 } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Newmark {
    /// Parameter `β`.
    #[schemars(transform = bounds::positive)]
    pub beta: f64,
    /// Parameter `γ`; ½ gives second order, larger values dissipate energy.
    #[schemars(transform = bounds::not_negative)]
    pub gamma: f64,
    /// Newton iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newton: Option<Located<Newton>>,
    /// State at which stiffness-proportional damping `βK` is evaluated; by default `iterate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<DampingState>,
}

impl Default for Newmark {
    fn default() -> Self {
        Self { beta: 0.25, gamma: 0.5, newton: None, damping: None }
    }
}

impl Newmark {
    fn integrator<S: System + 'static>(
        &self,
        context: &IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<S>>, SceneError> {
        let usual = integrator::Newmark::default().params;
        let params = self.newton.as_ref().map_or(Ok(usual), |newton| newton.params(usual, context))?;
        let integrator = integrator::Newmark::new(self.beta, self.gamma, params);
        let mut integrator = integrator.map_err(|error| context.error(error.to_string()))?;
        integrator.set_damping_follows(self.damping != Some(DampingState::Start));
        Ok(Box::new(Halving::new(integrator, context.halvings)))
    }
}

impl IntegratorOptions for Newmark {
    fn supports_contact(&self) -> bool {
        true
    }

    fn build(&self, _: &Model, context: IntegratorContext<'_>) -> Result<Stepper, SceneError> {
        self.integrator(&context).map(Stepper::Integrator)
    }

    fn build_reduced(
        &self,
        _: &ReducedModel,
        context: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        self.integrator(&context)
    }

    fn uses_accelerations(&self) -> bool {
        true
    }
}
