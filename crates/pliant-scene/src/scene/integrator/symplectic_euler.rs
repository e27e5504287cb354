//! Symplectic Euler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntegratorContext, IntegratorOptions};
use crate::scene::SceneError;
use pliant::integrator::{self, Integrator};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;

/// Symplectic Euler, explicit: small steps; energy stays bounded.
///
/// ```toml
/// [simulation]
/// step = "0.1 ms"
/// duration = "2 s"
/// integrator = "symplectic-euler"
/// mass = "lumped"
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SymplecticEuler {}

impl IntegratorOptions for SymplecticEuler {
    fn build(&self, _: &Model, _: IntegratorContext<'_>) -> Result<Stepper, SceneError> {
        Ok(integrator::SymplecticEuler::default().into())
    }

    fn build_reduced(
        &self,
        _: &ReducedModel,
        _: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        Ok(Box::new(integrator::SymplecticEuler::default()))
    }

    fn is_explicit(&self) -> bool {
        true
    }
}
