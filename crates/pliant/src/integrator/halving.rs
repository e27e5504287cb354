//! Trying again with smaller steps.

use super::{Integrator, StepError, StepInfo};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Another scheme, whose steps are split into halves when they fail, and these again.
#[derive(Debug, Clone)]
pub struct Halving<I> {
    /// The scheme.
    pub integrator: I,
    /// How often a step may be halved, at most 40 times.
    pub most_halvings: usize,
}

impl<I> Halving<I> {
    /// Steps of this scheme, halved so many times at most.
    pub fn new(integrator: I, most_halvings: usize) -> Self {
        Self { integrator, most_halvings }
    }
}

impl<S: System, I: Integrator<S> + Clone> Integrator<S> for Halving<I> {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let most = self.most_halvings.min(40);
        match self.integrator.step(system, solver, state, dt) {
            Err(error) if most > 0 && can_help(&error) => {}
            done => return done,
        }
        let start = state.clone();
        let mut info = StepInfo::default();
        // How often the next part is halved, and how many parts of that size are done.
        let (mut halvings, mut done) = (1, 0_u64);
        while halvings > 0 {
            let part = dt / (1_u64 << halvings) as f64;
            match self.integrator.step(system, solver, state, part) {
                Ok(step) => {
                    info = info.and(&step);
                    info.substeps += 1;
                    done += 1;
                    // Two halves make a whole again, so that one bad moment does not slow down the rest.
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
        // Exactly where one step would have ended.
        state.time = start.time + dt;
        Ok(info)
    }
}

/// Whether a smaller step may do better.
fn can_help(error: &StepError) -> bool {
    let is_wrong = matches!(
        error,
        StepError::TimeStep { .. } | StepError::Free { .. } | StepError::Length { .. } | StepError::State { .. }
    );
    !(is_wrong || error.is_stop())
}
