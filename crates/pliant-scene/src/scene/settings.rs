//! Time steps and integrator: `[simulation]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::integrator::{IntegratorChoice, IntegratorContext};
use super::quantity::Time;
use super::solver::{SolverChoice, SolverContext};
use super::{Located, SceneError, Source, bounds};
use pliant::integrator::Integrator;
use pliant::material::YoungPoisson;
use pliant::model::Model;
use pliant::reduced::ReducedModel;
use pliant::simulation::Stepper;
use pliant::solver::{LinearSolver, Operator};

/// Time steps and the integrator.
///
/// ```toml
/// [simulation]
/// step = "10 ms"
/// duration = "2 s"
/// integrator = { newmark = { beta = 0.3025, gamma = 0.6 } }
/// solver = "direct"
/// mass = "lumped"
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Time step.
    #[schemars(transform = bounds::positive)]
    pub step: Located<Time>,
    /// Simulated time; the last step ends at or just after it.
    #[schemars(transform = bounds::not_negative)]
    pub duration: Located<Time>,
    /// Time integrator.
    #[serde(default)]
    pub integrator: Located<IntegratorChoice>,
    /// Maximum number of times that a failed step is halved.
    #[serde(default = "default_halvings")]
    pub halvings: u32,
    /// Linear solver.
    #[serde(default)]
    pub solver: Located<SolverChoice>,
    /// Mass matrix.
    #[serde(default)]
    pub mass: Mass,
    /// Number of steps after which solvers discard their state, so that a run resumed there gives bitwise identical
    /// results.
    #[serde(default = "default_restart")]
    #[schemars(range(min = 1))]
    pub restart_every: Located<u32>,
}

fn default_halvings() -> u32 {
    Settings::HALVINGS
}

fn default_restart() -> Located<u32> {
    Located::new(Settings::RESTART_EVERY)
}

/// Mass matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mass {
    /// Consistent: distributed over the elements.
    #[default]
    Consistent,
    /// Lumped: concentrated at the vertices.
    Lumped,
}

/// Maximum number of steps; more would take years.
const MAX_STEPS: f64 = 1e12;

impl Settings {
    /// Default maximum number of halvings of a step.
    pub(super) const HALVINGS: u32 = 6;
    /// Default number of steps after which solvers discard their state.
    pub(super) const RESTART_EVERY: u32 = 100;

    /// Returns the number of steps.
    pub fn step_count(&self, source: &Source) -> Result<u64, SceneError> {
        let (step, duration) = (self.step.si, self.duration.si);
        if !(step > 0.0 && step.is_finite()) {
            let message = format!("the time step is {step} s, expected a positive time");
            return Err(source.error(self.step.span.as_ref(), message));
        }
        if !(duration >= 0.0 && duration.is_finite()) {
            let message = format!("the duration is {duration} s, expected a non-negative time");
            return Err(source.error(self.duration.span.as_ref(), message));
        }
        // A duration that is a whole number of steps up to rounding has exactly that number.
        let steps = (duration / step * (1.0 - 1e-12)).ceil();
        if steps > MAX_STEPS {
            let message = format!("{duration} s is {steps:e} steps of {step} s, expected at most {MAX_STEPS:e}");
            return Err(source.error(self.duration.span.as_ref(), message));
        }
        Ok(steps as u64)
    }

    /// Creates the linear solver.
    pub fn solver(&self, source: &Source) -> Result<Box<dyn LinearSolver<Operator>>, SceneError> {
        self.solver.build(SolverContext { source, span: self.solver.span.as_ref() })
    }

    /// Creates the integrator. `moduli` are those of the regions of bodies without elasticity.
    pub fn integrator(&self, source: &Source, model: &Model, moduli: Vec<YoungPoisson>) -> Result<Stepper, SceneError> {
        self.integrator.build(model, self.context(source, moduli))
    }

    /// Creates the integrator of a reduced model.
    pub fn reduced_integrator(
        &self,
        source: &Source,
        model: &ReducedModel,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        if self.solver.value != SolverChoice::default() {
            let message = "`solver` has no effect on reduced models, whose matrices are small and dense";
            return Err(source.error(self.solver.span.as_ref(), message));
        }
        self.integrator.build_reduced(model, self.context(source, Vec::new()))
    }

    fn context<'a>(&'a self, source: &'a Source, moduli: Vec<YoungPoisson>) -> IntegratorContext<'a> {
        IntegratorContext { source, span: self.integrator.span.as_ref(), halvings: self.halvings as usize, moduli }
    }
}
