//! Static equilibrium.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntegratorContext, IntegratorOptions, Newton};
use crate::scene::{Located, SceneError};
use pliant::integrator::{self, Integrator, QuasiStatic, StaticParams};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;
use pliant::system::System;

/// Static equilibrium at the end of every step: no inertia, time is only a parameter of loads and motions.
///
/// ```toml
/// [simulation]
/// step = 1
/// duration = 1
/// integrator = { static = { newton = { iterations = 100 } } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Static {
    /// Newton iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newton: Option<Located<Newton>>,
}

impl Static {
    fn integrator<S: System + 'static>(
        &self,
        context: &IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<S>>, SceneError> {
        let mut params = StaticParams::default();
        if let Some(newton) = &self.newton {
            params.newton = newton.params(params.newton, context)?;
        }
        Ok(Box::new(QuasiStatic(integrator::Static::new(params))))
    }
}

impl IntegratorOptions for Static {
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
            return Err(context.error("`static` needs fixed vertices; this reduced body is free"));
        }
        self.integrator(&context)
    }

    fn has_inertia(&self) -> bool {
        false
    }
}
