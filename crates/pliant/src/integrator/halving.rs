//! Trying again with smaller steps.

use super::{Integrator, StepError, StepInfo};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Another scheme, whose steps are split into halves when they fail, and these again.
#[derive(Debug)]
pub struct Halving<I> {
    /// The scheme.
    pub integrator: I,
    /// How often a step may be halved.
    pub most_halvings: usize,
    /// The states to go back to, one for each halving and one more.
    saved: Vec<State>,
}

impl<I> Halving<I> {
    /// Steps of this scheme, halved so many times at most.
    pub fn new(integrator: I, most_halvings: usize) -> Self {
        Self { integrator, most_halvings, saved: Vec::new() }
    }
}

impl<S: System, I: Integrator<S>> Integrator<S> for Halving<I> {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let start = match self.saved.pop() {
            Some(mut saved) => {
                saved.clone_from(state);
                saved
            }
            None => state.clone(),
        };
        // Steps left to do: each is a number of halvings.
        let mut info: Option<StepInfo> = None;
        let (mut halvings, mut done, mut steps) = (0, 0_u64, 0);
        let outcome = loop {
            let part = dt / (1_u64 << halvings) as f64;
            match self.integrator.step(system, solver, state, part) {
                Ok(step) => {
                    info = Some(info.map_or(step, |info| info.and(&step)));
                    done += 1;
                    steps += 1;
                    // Two halves make a whole again, so that one bad moment does not slow down the rest.
                    while halvings > 0 && done % 2 == 0 {
                        done /= 2;
                        halvings -= 1;
                    }
                    if halvings == 0 && done == 1 {
                        break Ok(());
                    }
                }
                Err(error) if halvings < self.most_halvings.min(40) && can_help(&error) => {
                    let _ = error;
                    halvings += 1;
                    done *= 2;
                }
                Err(error) if halvings == 0 => break Err(error),
                Err(error) => break Err(StepError::Halving { halvings, dt: part, source: Box::new(error) }),
            }
        };
        if let Err(error) = outcome {
            state.clone_from(&start);
            self.saved.push(start);
            return Err(error);
        }
        // Exactly where one step would have ended.
        state.time = start.time + dt;
        self.saved.push(start);
        let mut info = info.unwrap_or_default();
        info.substeps = if steps > 1 { steps } else { 0 };
        Ok(info)
    }
}

/// Whether a smaller step may do better.
fn can_help(error: &StepError) -> bool {
    !matches!(error, StepError::TimeStep { .. } | StepError::Length { .. } | StepError::State { .. })
}
