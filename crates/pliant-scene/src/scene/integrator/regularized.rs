//! Regularized constraints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntegratorContext, IntegratorOptions};
use crate::scene::quantity::Time;
use crate::scene::{SceneError, bounds};
use pliant::integrator::regularized::{self, Moduli, RegularizedParams};
use pliant::integrator::{self, Integrator};
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;

/// Stepper of Servin et al. for stiff, rigid and incompressible bodies of tetrahedra. Has a built-in law.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// integrator = { regularized = { damping_time = "50 ms", strain = "linear" } }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Regularized {
    /// Decay time of strains; by default two steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub damping_time: Option<Time>,
    /// Strain measure that is kept small.
    pub strain: Strain,
    /// Elimination in which the linear system is solved.
    pub form: Elimination,
}

/// Strain measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Strain {
    /// Green strain, valid for any rotation.
    #[default]
    Nonlinear,
    /// Linear strain, valid for small rotations.
    Linear,
}

/// Elimination of the regularized linear system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Elimination {
    /// Multipliers are eliminated: by far the fastest.
    #[default]
    Condensed,
    /// Velocities are eliminated; needs a lumped mass.
    Schur,
    /// No unknowns are eliminated (saddle-point system).
    Saddle,
}

impl IntegratorOptions for Regularized {
    fn build(&self, model: &Model, context: IntegratorContext<'_>) -> Result<Stepper, SceneError> {
        let params = RegularizedParams {
            moduli: Moduli::PerRegion(context.moduli.clone()),
            damping_time: self.damping_time.map(|time| time.si),
            strain: match self.strain {
                Strain::Nonlinear => regularized::Strain::Nonlinear,
                Strain::Linear => regularized::Strain::Linear,
            },
            form: match self.form {
                Elimination::Condensed => regularized::Elimination::Condensed,
                Elimination::Schur => regularized::Elimination::Schur,
                Elimination::Saddle => regularized::Elimination::Saddle,
            },
        };
        let integrator = integrator::Regularized::new(model, &params);
        Ok(integrator.map_err(|error| context.error(error.to_string()))?.into())
    }

    fn build_reduced(
        &self,
        _: &ReducedModel,
        context: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        Err(context.error("`regularized` has a built-in law and does not support reduced models"))
    }

    fn supports_reduced_models(&self) -> bool {
        false
    }

    fn has_law(&self) -> bool {
        true
    }
}
