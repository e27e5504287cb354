//! Interface of integrators.

use std::fmt::Debug;

use dyn_clone::DynClone;

use super::{StepError, StepInfo};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Integrator that steps systems in time.
///
/// It serves one system and one solver, as it may rely on matrices that it gave to the solver in earlier steps.
pub trait Integrator<S: System>: Debug + DynClone + Send {
    /// Returns true if bodies have inertia, and false if they move from equilibrium to equilibrium.
    fn has_inertia(&self) -> bool {
        true
    }

    /// Advances the state by `dt` \[s\]. On error the state is unchanged.
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError>;
}

dyn_clone::clone_trait_object!(<S: System> Integrator<S>);

impl<S: System> Integrator<S> for Box<dyn Integrator<S>> {
    fn has_inertia(&self) -> bool {
        (**self).has_inertia()
    }

    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        (**self).step(system, solver, state, dt)
    }
}
