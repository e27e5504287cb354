//! Retry of failed steps with smaller ones.

use super::{Integrator, StepError, StepInfo};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Integrator whose failed steps are halved recursively.
#[derive(Debug, Clone)]
pub struct Halving<I> {
    /// Underlying integrator.
    pub integrator: I,
    /// Maximum number of halvings of a step, at most 40.
    pub max_halvings: usize,
}

impl<I> Halving<I> {
    /// Creates an integrator whose failed steps are halved at most this many times.
    pub fn new(integrator: I, max_halvings: usize) -> Self {
        Self { integrator, max_halvings }
    }
}

impl<S: System, I: Integrator<S> + Clone> Integrator<S> for Halving<I> {
    fn has_inertia(&self) -> bool {
        self.integrator.has_inertia()
    }

    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let most = self.max_halvings.min(40);
        match self.integrator.step(system, solver, state, dt) {
            Err(error) if most > 0 && can_help(&error) => {}
            done => return done,
        }
        let start = state.clone();
        let mut info = StepInfo::default();
        // Number of halvings of the next substep, and number of substeps of that size done.
        let (mut halvings, mut done) = (1, 0_u64);
        while halvings > 0 {
            let part = dt / (1_u64 << halvings) as f64;
            match self.integrator.step(system, solver, state, part) {
                Ok(step) => {
                    info = info.and(&step);
                    info.substeps += 1;
                    done += 1;
                    // Two halves are merged again, so that one difficult moment does not slow down the rest.
                    while halvings > 0 && done % 2 == 0 {
                        done /= 2;
                        halvings -= 1;
                    }
                }
                Err(error) if halvings < most && can_help(&error) => {
                    halvings += 1;
                    done *= 2;
                }
                Err(error) => {
                    *state = start;
                    return Err(StepError::Halving { halvings, dt: part, source: Box::new(error) });
                }
            }
        }
        // Exactly the end of one full step.
        state.time = start.time + dt;
        Ok(info)
    }
}

/// Returns true if a smaller step may succeed.
fn can_help(error: &StepError) -> bool {
    let is_wrong = matches!(
        error,
        StepError::TimeStep { .. }
            | StepError::Free { .. }
            | StepError::Length { .. }
            | StepError::History { .. }
            | StepError::State { .. }
            | StepError::Undefined { .. }
    );
    !(is_wrong || error.is_stop())
}
