//! Second-order backward differentiation formula.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DampingState, IntegratorContext, IntegratorOptions, Newton};
use crate::scene::{Located, SceneError};
use pliant::integrator::{self, Halving, Integrator};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;
use pliant::system::System;

/// Second-order backward differentiation formula with Newton iterations and a line search: stable for any step and any
/// law. It damps motion that steps do not resolve within a few steps, so that contacts do not ring, and slow motion
/// much less than `backward-euler`. Not for reduced models of free bodies.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// integrator = { bdf2 = { newton = { tolerance = 1e-6 } } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bdf2 {
    /// Newton iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newton: Option<Located<Newton>>,
    /// State at which stiffness-proportional damping `βK` is evaluated; by default `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<Located<DampingState>>,
}

impl Bdf2 {
    fn integrator<S: System + 'static>(
        &self,
        context: &IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<S>>, SceneError> {
        let mut integrator = integrator::Bdf2::for_animation();
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

impl IntegratorOptions for Bdf2 {
    fn supports_contact(&self) -> bool {
        true
    }

    fn build(&self, _: &Model, context: IntegratorContext<'_>) -> Result<Stepper, SceneError> {
        self.integrator(&context).map(Stepper::Integrator)
    }

    fn build_reduced(
        &self,
        model: &ReducedModel,
        context: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        if model.placement().is_some() {
            let message = "`bdf2` needs fixed vertices in a reduced model; this body is free: use `newmark`";
            return Err(context.error(message));
        }
        self.integrator(&context)
    }
}
