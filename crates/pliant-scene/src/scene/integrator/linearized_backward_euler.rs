//! Linearized backward Euler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntegratorContext, IntegratorOptions, NewtonTangent};
use crate::scene::SceneError;
use pliant::integrator::{self, Fallback, Halving, Integrator};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;
use pliant::system::{Definiteness, System};

/// Backward Euler linearized once per step, without a line search: for smooth motion, moderate steps and
/// comparisons. Stiff contact, fast impacts and large rotations per step can make its energy grow without bound.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// integrator = { linearized-backward-euler = { tangent = "exact" } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinearizedBackwardEuler {
    /// Tangent stiffness.
    pub tangent: NewtonTangent,
}

impl Default for LinearizedBackwardEuler {
    fn default() -> Self {
        Self { tangent: NewtonTangent::Projected }
    }
}

impl LinearizedBackwardEuler {
    fn integrator<S: System + 'static>(&self, halvings: usize) -> Box<dyn Integrator<S>> {
        let exact = || integrator::LinearizedBackwardEuler::new(Definiteness::Exact);
        let projected = || integrator::LinearizedBackwardEuler::new(Definiteness::Projected);
        match self.tangent {
            NewtonTangent::Exact => Box::new(Halving::new(exact(), halvings)),
            NewtonTangent::Projected => Box::new(Halving::new(projected(), halvings)),
            NewtonTangent::ExactFirst => Box::new(Halving::new(Fallback::new(exact(), projected()), halvings)),
        }
    }
}

impl IntegratorOptions for LinearizedBackwardEuler {
    fn build(&self, _: &Model, context: IntegratorContext<'_>) -> Result<Stepper, SceneError> {
        Ok(Stepper::Integrator(self.integrator(context.halvings)))
    }

    fn build_reduced(
        &self,
        _: &ReducedModel,
        context: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        Ok(self.integrator(context.halvings))
    }
}
