//! A model, a scheme and a solver that go through time together, and what is recorded of it.

mod checkpoint;
mod energy;
mod probe;

use std::sync::OnceLock;

use crate::force::Force;
use crate::integrator::{Integrator, Static, StaticParams, StepError, StepInfo};
use crate::model::{Model, Observation};
use crate::reduced::{Following, ReducedModel};
use crate::solver::{Dense, Direct, LinearSolver, Operator};
use crate::system::{State, System};
use energy::Watch;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use energy::{EnergyBalance, EnergyGain};
pub use probe::{COLUMNS, Probe, Quantities, Recorder, Table, TableError};

/// A model, or a reduced one, that is stepped through time.
///
/// Linear solvers remember what helps with the next system, so that a result depends, in its last digits, on the steps before. To be
/// able to go on from a [`Checkpoint`] with the same result to the last bit, solvers forget that every so many steps, in every run,
/// whether it is interrupted or not: checkpoints are made there.
#[derive(Debug, Clone)]
pub struct Simulation {
    stepped: Stepped,
    start_time: f64,
    dt: f64,
    step: u64,
    restart_every: u64,
    /// Whether solvers begin anew in the next step, wherever that is.
    begins_anew: bool,
    watch: Watch,
    /// Energy \[J\] that had appeared when it was last reported.
    reported: f64,
}

/// What is stepped.
#[derive(Debug, Clone)]
enum Stepped {
    Whole(Box<Whole>),
    Reduced(Box<Reduced>),
}

#[derive(Debug, Clone)]
struct Whole {
    model: Model,
    integrator: Box<dyn Integrator<Model>>,
    solver: Box<dyn LinearSolver<Operator>>,
    state: State,
}

#[derive(Debug, Clone)]
struct Reduced {
    model: ReducedModel,
    integrator: Following<Box<dyn Integrator<ReducedModel>>>,
    solver: Dense,
    state: State,
    /// The state of all vertices, if someone has asked for it since the last step.
    expanded: OnceLock<State>,
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
        Self::of(Stepped::Whole(Box::new(Whole { model, integrator, solver, state })), start_time, dt)
    }

    /// A reduced model, from the state on that is nearest to one of all vertices. The frame of a body that is free follows it by itself.
    pub fn reduced(
        mut model: ReducedModel,
        integrator: Box<dyn Integrator<ReducedModel>>,
        state: &State,
        dt: f64,
    ) -> Self {
        let start_time = state.time;
        let state = model.project(state);
        // As with sparse matrices: what is not positive definite is an error, and schemes have their ways with that.
        let solver = Dense::definite();
        let integrator = Following(integrator);
        let reduced = Reduced { model, integrator, solver, state, expanded: OnceLock::new() };
        Self::of(Stepped::Reduced(Box::new(reduced)), start_time, dt)
    }

    fn of(stepped: Stepped, start_time: f64, dt: f64) -> Self {
        Self {
            stepped,
            start_time,
            dt,
            step: 0,
            restart_every: Self::RESTART_EVERY,
            begins_anew: true,
            watch: Watch::default(),
            reported: 0.0,
        }
    }

    /// The same with other places where a run can be resumed.
    #[must_use]
    pub fn restarting_every(self, steps: u64) -> Self {
        Self { restart_every: steps.max(1), ..self }
    }

    /// What moves; of a reduced model, the one that it is a reduction of.
    pub fn model(&self) -> &Model {
        match &self.stepped {
            Stepped::Whole(whole) => &whole.model,
            Stepped::Reduced(reduced) => reduced.model.model(),
        }
    }

    /// The same, to change what acts on it.
    pub fn model_mut(&mut self) -> &mut Model {
        self.watch.forget();
        match &mut self.stepped {
            Stepped::Whole(whole) => &mut whole.model,
            Stepped::Reduced(reduced) => reduced.model.model_mut(),
        }
    }

    /// Forces of one type, for instance [`Handles`](crate::force::Handles), to move them from outside. The vertices that they act on must remain the same.
    pub fn forces_mut_of<F: Force>(&mut self) -> Vec<&mut F> {
        self.watch.forget();
        match &mut self.stepped {
            Stepped::Whole(whole) => whole.model.forces_mut_of().collect(),
            Stepped::Reduced(reduced) => reduced.model.forces_mut_of().collect(),
        }
    }

    /// The reduced model, if there is one.
    pub fn reduced_model(&self) -> Option<&ReducedModel> {
        match &self.stepped {
            Stepped::Whole(_) => None,
            Stepped::Reduced(reduced) => Some(&reduced.model),
        }
    }

    /// Where all vertices are. Of a reduced model, that is worked out when it is asked for.
    pub fn state(&self) -> &State {
        match &self.stepped {
            Stepped::Whole(whole) => &whole.state,
            Stepped::Reduced(reduced) => reduced.expanded.get_or_init(|| reduced.model.expand(&reduced.state)),
        }
    }

    /// Put all vertices somewhere else; of a reduced model, to the nearest place that it can be at. What is recorded of earlier steps stays as it is.
    ///
    /// # Panics
    /// If the state is not one of the model.
    pub fn set_state(&mut self, state: State) {
        assert_eq!(state.q.len(), self.model().dim(), "a state of the model");
        match &mut self.stepped {
            Stepped::Whole(whole) => whole.state = state,
            Stepped::Reduced(reduced) => {
                reduced.state = reduced.model.project(&state);
                reduced.expanded.take();
            }
        }
    }

    /// Go on from another state, at its time, as if the simulation began there: steps are counted from 0.
    ///
    /// # Panics
    /// If the state is not one of the model.
    pub fn begin_at(&mut self, state: State) {
        (self.watch.balance, self.reported) = (EnergyBalance::default(), 0.0);
        (self.start_time, self.step, self.begins_anew) = (state.time, 0, true);
        self.set_state(state);
    }

    /// The time, in s.
    pub fn time(&self) -> f64 {
        match &self.stepped {
            Stepped::Whole(whole) => whole.state.time,
            Stepped::Reduced(reduced) => reduced.state.time,
        }
    }

    /// A row of numbers about now.
    pub fn record(&mut self, recorder: &mut Recorder) -> Vec<f64> {
        let seen = self.observe();
        let balance = self.energy_balance().copied();
        self.with_model(|model, state| recorder.record(&seen, balance.as_ref(), model, state))
    }

    /// What the model is doing. Of a reduced model, elastic energy is its own.
    pub fn observe(&mut self) -> Observation {
        let mut seen = self.with_model(Model::observe);
        if let Stepped::Reduced(reduced) = &mut self.stepped {
            seen.elastic_energy = reduced.model.elastic_energy(&reduced.state);
        }
        seen
    }

    /// Measure something of the model where it is now. It must not be changed.
    pub fn with_model<T>(&mut self, measure: impl FnOnce(&mut Model, &State) -> T) -> T {
        match &mut self.stepped {
            Stepped::Whole(whole) => measure(&mut whole.model, &whole.state),
            Stepped::Reduced(reduced) => {
                let state = reduced.expanded.get_or_init(|| reduced.model.expand(&reduced.state));
                measure(reduced.model.model_to_measure(), state)
            }
        }
    }

    /// The next step. On error nothing has changed.
    pub fn step(&mut self) -> Result<StepInfo, StepError> {
        let begins_anew = self.begins_anew || self.can_be_resumed();
        self.step += 1;
        // Not the sum of all steps, which rounds every time.
        let time = self.start_time + self.step as f64 * self.dt;
        let is_watched = self.has_energy_balance();
        let watch = &mut self.watch;
        let stepped = match &mut self.stepped {
            Stepped::Whole(whole) => {
                let Whole { model, integrator, solver, state } = &mut **whole;
                if begins_anew {
                    solver.forget();
                }
                if is_watched {
                    watch.begin(model, state, time);
                }
                integrator.step(model, &mut **solver, state, self.dt).inspect(|_| {
                    state.time = time;
                    if is_watched {
                        watch.end(model, state);
                    }
                })
            }
            Stepped::Reduced(reduced) => {
                let Reduced { model, integrator, solver, state, expanded } = &mut **reduced;
                if begins_anew {
                    solver.forget();
                }
                let drive = |model: &mut ReducedModel, state: &State| {
                    let is_driven = is_watched && model.model().forces().any(Force::has_damping);
                    let state = is_driven.then(|| model.expand(state));
                    state.map_or(0.0, |state| model.model_to_measure().driving_power(&state.q, &state.v, state.time))
                };
                let first = drive(model, state);
                if is_watched {
                    watch.begin_reduced(model, state, time);
                }
                expanded.take();
                integrator.step(model, solver, state, self.dt).inspect(|_| {
                    state.time = time;
                    if is_watched {
                        let last = drive(model, state);
                        watch.end_reduced(model, state, [first, last]);
                    }
                })
            }
        };
        match stepped {
            Ok(_) => self.begins_anew = false,
            Err(_) => self.step -= 1,
        }
        stepped
    }

    /// Go to equilibrium under the forces of this time; velocities become zero, and time stays. On error nothing has changed.
    pub fn find_equilibrium(&mut self, params: StaticParams) -> Result<StepInfo, StepError> {
        self.begins_anew = true;
        let mut search = Static::new(params);
        match &mut self.stepped {
            Stepped::Whole(whole) if whole.integrator.brings_elasticity() => Err(StepError::OwnLaw),
            Stepped::Whole(whole) => search.solve(&mut whole.model, &mut *whole.solver, &mut whole.state),
            Stepped::Reduced(reduced) if reduced.model.placement().is_some() => {
                Err(StepError::Free { scheme: "equilibria of reduced models" })
            }
            Stepped::Reduced(reduced) => {
                reduced.expanded.take();
                search.solve(&mut reduced.model, &mut reduced.solver, &mut reduced.state)
            }
        }
    }

    /// Returns the balance of energy. There is none in statics, with elasticity that the integrator brings, of reduced models of free bodies, and of reduced
    /// models with forces that have no potential.
    pub fn energy_balance(&self) -> Option<&EnergyBalance> {
        self.has_energy_balance().then_some(&self.watch.balance)
    }

    /// Returns the energy that appeared without work being done, if there is some to report: the first time, and whenever it is a hundred times more.
    pub fn take_energy_gain(&mut self) -> Option<EnergyGain> {
        let gain = self.energy_balance()?.gain().filter(|gain| gain.gained > 100.0 * self.reported)?;
        self.reported = gain.gained;
        Some(gain)
    }

    fn has_energy_balance(&self) -> bool {
        match &self.stepped {
            Stepped::Whole(whole) => whole.integrator.has_inertia() && !whole.integrator.brings_elasticity(),
            Stepped::Reduced(reduced) => {
                let model = &reduced.model;
                let is_held = model.placement().is_none();
                is_held && reduced.integrator.has_inertia() && model.model().forces().all(Force::has_energy)
            }
        }
    }

    /// Whether the scheme brings the elasticity of bodies, so that the model has none.
    pub fn brings_elasticity(&self) -> bool {
        matches!(&self.stepped, Stepped::Whole(whole) if whole.integrator.brings_elasticity())
    }

    /// Put something around the linear solver of a whole model, for instance to be able to stop it.
    pub fn wrap_solver(
        &mut self,
        wrap: impl FnOnce(Box<dyn LinearSolver<Operator>>) -> Box<dyn LinearSolver<Operator>>,
    ) {
        if let Stepped::Whole(whole) = &mut self.stepped {
            // Something that is thrown away at once stands in for it meanwhile.
            let solver = std::mem::replace(&mut whole.solver, Box::new(Direct::default()));
            whole.solver = wrap(solver);
        }
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

    /// Where it is, to go on from later. Solvers begin anew after it, wherever it is, so that this simulation and one that is resumed go on the same to
    /// the last bit.
    pub fn checkpoint_here(&mut self) -> Checkpoint {
        self.begins_anew = true;
        self.state_to_save()
    }

    /// Where it is, to go on from later; none where that would lead to another result.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        self.can_be_resumed().then(|| self.state_to_save())
    }

    fn state_to_save(&self) -> Checkpoint {
        Checkpoint {
            fingerprint: self.fingerprint(),
            step: self.step,
            work: [0; 3],
            energy: self.watch.balance,
            state: match &self.stepped {
                Stepped::Whole(whole) => whole.state.clone(),
                Stepped::Reduced(reduced) => reduced.model.save(&reduced.state),
            },
        }
    }

    /// Go on from a checkpoint, with solvers that begin anew. On error nothing has changed.
    pub fn resume(&mut self, checkpoint: Checkpoint) -> Result<(), CheckpointError> {
        let (found, expected) = (checkpoint.fingerprint, self.fingerprint());
        if found != expected {
            return Err(CheckpointError::OtherModel { found, expected });
        }
        let found = checkpoint.state.q.len();
        match &mut self.stepped {
            Stepped::Whole(whole) => {
                let expected = whole.state.q.len();
                if found != expected {
                    return Err(CheckpointError::Length { found, expected });
                }
                whole.state = checkpoint.state;
            }
            Stepped::Reduced(reduced) => {
                let expected = reduced.model.saved_len();
                if found != expected {
                    return Err(CheckpointError::Length { found, expected });
                }
                reduced.state = reduced.model.restore(checkpoint.state);
                reduced.expanded.take();
            }
        }
        self.step = checkpoint.step;
        self.begins_anew = true;
        self.watch.balance = checkpoint.energy;
        Ok(())
    }

    /// Check that going on from a checkpoint leads to the same result as never having stopped.
    pub fn check_resumable(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let every = self.restart_every;
        if checkpoint.step.is_multiple_of(every) {
            Ok(())
        } else {
            Err(CheckpointError::Step { step: checkpoint.step, every })
        }
    }

    /// A number that is another for other meshes, time steps or restarts.
    fn fingerprint(&self) -> u32 {
        let mut sum = flate2::Crc::new();
        sum.update(&self.dt.to_le_bytes());
        sum.update(&self.restart_every.to_le_bytes());
        sum.update(&self.model().fingerprint().to_le_bytes());
        if let Some(reduced) = self.reduced_model() {
            sum.update(&reduced.fingerprint().to_le_bytes());
        }
        sum.sum()
    }
}
