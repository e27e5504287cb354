//! Central differences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntegratorContext, IntegratorOptions};
use crate::scene::SceneError;
use pliant::integrator::{self, Integrator};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;

/// Central differences, explicit: small steps, which need no linear solve if the mass is lumped.
///
/// ```toml
/// [simulation]
/// step = "0.1 ms"
/// duration = "2 s"
/// integrator = "central-differences"
/// mass = "lumped"
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CentralDifferences {}

impl IntegratorOptions for CentralDifferences {
    fn build(&self, _: &Model, _: IntegratorContext<'_>) -> Result<Stepper, SceneError> {
        Ok(integrator::CentralDifferences::default().into())
    }

    fn build_reduced(
        &self,
        _: &ReducedModel,
        _: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        Ok(Box::new(integrator::CentralDifferences::default()))
    }

    fn is_explicit(&self) -> bool {
        true
    }

    fn uses_accelerations(&self) -> bool {
        true
    }
}
