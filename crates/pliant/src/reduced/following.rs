//! Steps of bodies that are free.

use super::ReducedModel;
use crate::integrator::{Integrator, StepError, StepInfo};
use crate::solver::{DenseMatrix, LinearSolver};
use crate::system::State;

/// Any scheme, after each step of which the frame of a body that is free follows it. Outermost: around [`Halving`](crate::integrator::Halving), which can take back steps
/// but not what a frame has done, and not inside it.
#[derive(Debug, Clone)]
pub struct Following<I>(pub I);

impl<I: Integrator<ReducedModel> + Clone> Integrator<ReducedModel> for Following<I> {
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
