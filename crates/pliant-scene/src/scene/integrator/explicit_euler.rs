//! Explicit Euler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntegratorContext, IntegratorOptions};
use crate::scene::SceneError;
use pliant::integrator::{self, Integrator};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;

/// Forward (explicit) Euler: stable only with damping.
///
/// ```toml
/// [simulation]
/// step = "0.01 ms"
/// duration = "2 s"
/// integrator = "explicit-euler"
/// mass = "lumped"
///
/// [damping]
/// mass = "20 /s"
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExplicitEuler {}

impl IntegratorOptions for ExplicitEuler {
    fn build(&self, _: &Model, _: IntegratorContext<'_>) -> Result<Stepper, SceneError> {
        Ok(integrator::ExplicitEuler::default().into())
    }

    fn build_reduced(
        &self,
        _: &ReducedModel,
        _: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        Ok(Box::new(integrator::ExplicitEuler::default()))
    }

    fn is_explicit(&self) -> bool {
        true
    }
}
