//! Backward Euler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DampingState, IntegratorContext, IntegratorOptions, Newton};
use crate::scene::{Located, SceneError};
use pliant::integrator::{self, Halving, Integrator};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;
use pliant::system::System;

/// Backward Euler with Newton iterations and a line search: stable for any step and any law, first order,
/// dissipates energy. Steps in which energy rises without work are split. Rolling bodies gain and lose up to a few
/// percent of their kinetic energy from step to step. Takes one or two iterations per step in smooth motion, more
/// in contact.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// integrator = { backward-euler = { newton = { tolerance = 1e-6 } } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BackwardEuler {
    /// Newton iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newton: Option<Located<Newton>>,
    /// State at which stiffness-proportional damping `βK` is evaluated; by default `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<Located<DampingState>>,
}

impl BackwardEuler {
    fn integrator<S: System + 'static>(
        &self,
        context: &IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<S>>, SceneError> {
        let mut integrator = integrator::BackwardEuler::for_animation();
        if let Some(newton) = &self.newton {
            integrator.params = newton.params(integrator.params, context)?;
        }
        if let Some(damping) = self.damping.as_ref().filter(|damping| damping.value == DampingState::Iterate) {
            if self.newton.as_ref().is_some_and(|newton| newton.line_search == Some(true)) {
                let message =
                    "`damping = \"iterate\"` has no energy for a line search to decrease; remove `line_search`";
                return Err(context.source.error(damping.span.as_ref(), message));
            }
            integrator.damping_follows = true;
            integrator.params.line_search = false;
        }
        Ok(Box::new(Halving::new(integrator, context.halvings)))
    }
}

impl IntegratorOptions for BackwardEuler {
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
}
