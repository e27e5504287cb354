//! Steps of free bodies.

use super::ReducedModel;
use crate::integrator::{Integrator, StepError, StepInfo};
use crate::solver::{DenseMatrix, LinearSolver};
use crate::system::State;

/// Wrapper of any integrator that updates the floating frame of a free body after each step.
///
/// It must be outermost, around [`Halving`](crate::integrator::Halving), which can undo steps but not updates of the
/// frame.
#[derive(Debug, Clone)]
pub struct FloatingFrame<I>(pub I);

impl<I: Integrator<ReducedModel> + Clone> Integrator<ReducedModel> for FloatingFrame<I> {
    fn has_inertia(&self) -> bool {
        self.0.has_inertia()
    }

    fn step(
        &mut self,
        system: &mut ReducedModel,
        solver: &mut dyn LinearSolver<DenseMatrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let info = self.0.step(system, solver, state, dt)?;
        system.follow(state, dt);
        Ok(info)
    }
}
