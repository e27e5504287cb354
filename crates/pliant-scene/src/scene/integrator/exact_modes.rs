//! Closed-form solution of modes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntegratorContext, IntegratorOptions};
use crate::scene::SceneError;
use pliant::integrator::Integrator;
use pliant::model::Model;
use pliant::reduced::{self, ReducedModel};
use pliant::simulation::Stepper;

/// Closed-form solution of each mode of a reduced model with fixed vertices: exact for any step with a linear law
/// and constant loads, explicit for everything else.
///
/// ```toml
/// reduced = { size = 12 }
///
/// [simulation]
/// step = "1 ms"
/// duration = "2 s"
/// integrator = "exact-modes"
///
/// [[object]]
/// mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm" } }
/// material = { law = "linear", young = "1 MPa", poisson = 0.4, density = 1000 }
///
/// [[fixed]]
/// vertices = "start"
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExactModes {}

impl IntegratorOptions for ExactModes {
    fn build(&self, _: &Model, context: IntegratorContext<'_>) -> Result<Stepper, SceneError> {
        Err(context.error("`exact-modes` is for reduced models: see the key `reduced`"))
    }

    fn build_reduced(
        &self,
        model: &ReducedModel,
        context: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        if model.placement().is_some() {
            return Err(context.error("`exact-modes` needs fixed vertices; this body is free"));
        }
        Ok(Box::new(reduced::ExactModes::default()))
    }

    fn supports_models(&self) -> bool {
        false
    }

    fn is_explicit(&self) -> bool {
        true
    }
}
