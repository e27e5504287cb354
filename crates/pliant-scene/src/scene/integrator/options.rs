//! Definition of an integrator of scenes.

use std::ops::Range;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{BackwardEuler, INTEGRATORS};
use crate::registry::{Boxed, Entry, Options, Registered, Registry, Tagged};
use crate::scene::{SceneError, Source};
use pliant::integrator::Integrator;
use pliant::material::YoungPoisson;
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;

/// Integrator of a scene, with its options.
pub type IntegratorChoice = Tagged<dyn IntegratorOptions>;

/// Options of an integrator, which create it.
pub trait IntegratorOptions: Options {
    /// Creates the integrator of a model.
    fn build(&self, model: &Model, context: IntegratorContext<'_>) -> Result<Stepper, SceneError>;

    /// Creates the integrator of a reduced model.
    fn build_reduced(
        &self,
        model: &ReducedModel,
        context: IntegratorContext<'_>,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError>;

    /// Returns true if it can simulate models that are not reduced.
    fn supports_models(&self) -> bool {
        true
    }

    /// Returns true if it can simulate reduced models.
    fn supports_reduced_models(&self) -> bool {
        true
    }

    /// Returns true if steps use the forces at their start, not those at their end.
    fn is_explicit(&self) -> bool {
        false
    }

    /// Returns true if it supports barrier contact: if it iterates until forces balance, and shortens motions before
    /// surfaces meet.
    fn supports_contact(&self) -> bool {
        false
    }

    /// Returns true if bodies have inertia. Otherwise the simulation is static, and needs no mass.
    fn has_inertia(&self) -> bool {
        true
    }

    /// Returns true if it has a built-in law, and takes only moduli from materials.
    fn has_law(&self) -> bool {
        false
    }

    /// Returns true if steps depend on the accelerations of the state, besides its positions and velocities.
    fn uses_accelerations(&self) -> bool {
        false
    }
}

/// Settings that integrators depend on besides their options.
#[derive(Debug, Clone)]
pub struct IntegratorContext<'a> {
    /// Source of the scene, for errors.
    pub source: &'a Source,
    /// Location of the integrator in the source.
    pub span: Option<&'a Range<usize>>,
    /// Maximum number of times that a failed step is halved.
    pub halvings: usize,
    /// Moduli of the regions of bodies without elasticity, for integrators with a built-in law.
    pub moduli: Vec<YoungPoisson>,
}

impl IntegratorContext<'_> {
    /// Creates an error that refers to the integrator.
    pub fn error(&self, message: impl Into<String>) -> SceneError {
        self.source.error(self.span, message)
    }
}

impl Registered for dyn IntegratorOptions {
    const KIND: &'static str = "Integrator";
    const ABOUT: &'static str = "Time integrator.";

    fn registry() -> &'static Registry<Entry<Self>> {
        &INTEGRATORS
    }
}

impl<O: IntegratorOptions + DeserializeOwned + JsonSchema> Boxed<dyn IntegratorOptions> for O {
    fn boxed(self) -> Box<dyn IntegratorOptions> {
        Box::new(self)
    }
}

impl Default for IntegratorChoice {
    fn default() -> Self {
        Self::of(BackwardEuler::default())
    }
}
