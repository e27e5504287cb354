//! A model, a scheme and a solver that go through time together, and what is recorded of it.

mod checkpoint;
mod probe;

use crate::integrator::{Integrator, StepError, StepInfo};
use crate::model::Model;
use crate::solver::{LinearSolver, Operator};
use crate::system::State;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use probe::{COLUMNS, Probe, Quantities, Recorder, Table, TableError};

/// A model that is stepped through time.
///
/// Linear solvers remember what helps with the next system, so that a result depends, in its last digits, on the steps before. To be
/// able to go on from a [`Checkpoint`] with the same result to the last bit, solvers forget that every so many steps, in every run,
/// whether it is interrupted or not: checkpoints are made there.
#[derive(Debug)]
pub struct Simulation {
    /// What moves.
    pub model: Model,
    /// Where it is. To be changed with care: what is recorded of earlier steps stays as it is.
    pub state: State,
    integrator: Box<dyn Integrator<Model>>,
    solver: Box<dyn LinearSolver<Operator>>,
    start_time: f64,
    dt: f64,
    step: u64,
    restart_every: u64,
}

impl Simulation {
    /// How many steps there are between two places where a run can be resumed, if nothing else is said.
    pub const RESTART_EVERY: u64 = 100;

    /// From a state on, in steps of `dt` seconds.
    pub fn new(
        model: Model,
        integrator: Box<dyn Integrator<Model>>,
        solver: Box<dyn LinearSolver<Operator>>,
        state: State,
        dt: f64,
    ) -> Self {
        let start_time = state.time;
        Self { model, state, integrator, solver, start_time, dt, step: 0, restart_every: Self::RESTART_EVERY }
    }

    /// The same with other places where a run can be resumed.
    #[must_use]
    pub fn restarting_every(self, steps: u64) -> Self {
        Self { restart_every: steps.max(1), ..self }
    }

    /// The next step. On error nothing has changed.
    pub fn step(&mut self) -> Result<StepInfo, StepError> {
        if self.can_be_resumed() {
            self.solver.forget();
        }
        let info = self.integrator.step(&mut self.model, &mut *self.solver, &mut self.state, self.dt)?;
        self.step += 1;
        // Not the sum of all steps, which rounds every time.
        self.state.time = self.start_time + self.step as f64 * self.dt;
        Ok(info)
    }

    /// How many steps have been made.
    pub fn steps_done(&self) -> u64 {
        self.step
    }

    /// The length of a step, in s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Whether a checkpoint made now leads to the same result as going on.
    pub fn can_be_resumed(&self) -> bool {
        self.step.is_multiple_of(self.restart_every)
    }

    /// Where it is, to go on from later; none where that would lead to another result.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        self.can_be_resumed().then(|| Checkpoint {
            fingerprint: self.fingerprint(),
            step: self.step,
            work: [0; 3],
            state: self.state.clone(),
        })
    }

    /// Go on from a checkpoint.
    pub fn resume(&mut self, checkpoint: Checkpoint) -> Result<(), CheckpointError> {
        let (found, expected) = (checkpoint.fingerprint, self.fingerprint());
        if found != expected {
            return Err(CheckpointError::OtherModel { found, expected });
        }
        let (found, expected) = (checkpoint.state.q.len(), self.state.q.len());
        if found != expected {
            return Err(CheckpointError::Length { found, expected });
        }
        if !checkpoint.step.is_multiple_of(self.restart_every) {
            return Err(CheckpointError::Step { step: checkpoint.step, every: self.restart_every });
        }
        self.step = checkpoint.step;
        self.state = checkpoint.state;
        Ok(())
    }

    /// A number that is another for other meshes, time steps or restarts.
    fn fingerprint(&self) -> u32 {
        let mut sum = flate2::Crc::new();
        sum.update(&self.dt.to_le_bytes());
        sum.update(&self.restart_every.to_le_bytes());
        sum.update(&self.model.fingerprint().to_le_bytes());
        sum.sum()
    }
}
