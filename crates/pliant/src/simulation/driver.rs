//! Simulation of a model or a reduced model.

use std::sync::{Arc, OnceLock};

use super::energy::Watch;
use super::{Checkpoint, CheckpointError, EnergyBalance, EnergyGain, Recorder, Stepper};
use crate::force::Force;
use crate::integrator::{Integrator, Stability, Static, StaticParams, StepError, StepInfo, stability};
use crate::model::{Assembly, Model, Observation};
use crate::reduced::{FloatingFrame, ReducedModel};
use crate::solver::{Dense, Direct, LinearSolver, Operator};
use crate::system::State;

/// Simulation in time of a model or a reduced model.
///
/// Linear solvers keep data from one system for the next, so that the last digits of a result depend on the steps
/// before. Every [`restart`](Self::restarting_every) interval, solvers discard these data in every run, interrupted or
/// not. Checkpoints are made at these steps, so that a run resumed from a [`Checkpoint`] has bit-identical results.
///
/// # Examples
///
/// ```
/// use pliant::prelude::*;
///
/// // A ball that falls, and one step of backward Euler after another.
/// let ball = generate::ball(0.1, 3, Cells::Tet5)?;
/// let rubber = AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e6, poisson: 0.45 })?;
/// let model = Model::builder().body(Body::new(ball, rubber, 1000.0)).gravity(Vec3::new(0.0, -9.81, 0.0)).build()?;
/// let (start, solver) = (model.rest_state(), SolverParams::default().build());
/// let mut simulation = Simulation::new(model, BackwardEuler::default(), solver, start, 0.01);
/// let height = simulation.observe().center_of_mass.y;
/// for _ in 0..10 {
///     simulation.step()?;
/// }
/// // The method adds h/2 · g t to ½ g t².
/// let distance = 0.5 * 9.81 * 0.1 * (0.1 + 0.01);
/// assert!((height - simulation.observe().center_of_mass.y - distance).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Simulation {
    stepped: Stepped,
    start_time: f64,
    dt: f64,
    step: u64,
    restart_every: u64,
    /// True if solvers discard their data before the next step.
    begins_anew: bool,
    watch: Watch,
    /// Energy gain \[J\] at the last report.
    reported: f64,
}

/// Full or reduced system that is stepped.
#[derive(Debug, Clone)]
enum Stepped {
    Full(Box<Full>),
    Reduced(Box<Reduced>),
}

#[derive(Debug, Clone)]
struct Full {
    assembly: Assembly,
    stepper: Stepper,
    solver: Box<dyn LinearSolver<Operator>>,
    state: State,
}

#[derive(Debug, Clone)]
struct Reduced {
    model: ReducedModel,
    integrator: FloatingFrame<Box<dyn Integrator<ReducedModel>>>,
    solver: Dense,
    state: State,
    /// State of all vertices, if it was requested since the last step.
    expanded: OnceLock<State>,
}

impl Simulation {
    /// Default number of steps between restarts of the solvers, at which a run can be resumed.
    pub const RESTART_EVERY: u64 = 100;

    /// Creates a simulation of a model that starts from `state`, with time steps of `dt` \[s\]. A
    /// [`Regularized`](crate::integrator::Regularized) integrator does not use the linear solver.
    pub fn new(
        model: impl Into<Arc<Model>>,
        stepper: impl Into<Stepper>,
        solver: Box<dyn LinearSolver<Operator>>,
        state: State,
        dt: f64,
    ) -> Self {
        let start_time = state.time;
        let full = Full { assembly: Assembly::new(model), stepper: stepper.into(), solver, state };
        Self::of(Stepped::Full(Box::new(full)), start_time, dt)
    }

    /// Creates a simulation of a reduced model, starting from the projection of `state` onto the reduced model.
    ///
    /// The frame of a free body follows it automatically.
    pub fn reduced(
        mut model: ReducedModel,
        integrator: Box<dyn Integrator<ReducedModel>>,
        state: &State,
        dt: f64,
    ) -> Self {
        let start_time = state.time;
        let state = model.project(state);
        // A matrix that is not positive definite is an error, as with sparse solvers, and integrators handle it.
        let solver = Dense::definite();
        let integrator = FloatingFrame(integrator);
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

    /// Sets the number of steps between restarts of the solvers, at which a run can be resumed.
    #[must_use]
    pub fn restarting_every(self, steps: u64) -> Self {
        Self { restart_every: steps.max(1), ..self }
    }

    /// Returns the model; for a reduced model, the full model that it approximates.
    pub fn model(&self) -> &Model {
        match &self.stepped {
            Stepped::Full(full) => full.assembly.model(),
            Stepped::Reduced(reduced) => reduced.model.model(),
        }
    }

    /// Returns mutable access to the model, for instance to change its loads.
    pub fn model_mut(&mut self) -> &mut Model {
        self.watch.forget();
        match &mut self.stepped {
            Stepped::Full(full) => full.assembly.model_mut(),
            Stepped::Reduced(reduced) => reduced.model.model_mut(),
        }
    }

    /// Returns mutable access to all forces of one type, for instance [`Handles`](crate::force::Handles), to move them.
    /// The vertices that they act on must not change.
    pub fn forces_mut_of<F: Force>(&mut self) -> Vec<&mut F> {
        self.watch.forget();
        match &mut self.stepped {
            Stepped::Full(full) => full.assembly.model_mut().forces_mut_of().collect(),
            Stepped::Reduced(reduced) => reduced.model.forces_mut_of().collect(),
        }
    }

    /// Returns the reduced model, or `None` for a full model.
    pub fn reduced_model(&self) -> Option<&ReducedModel> {
        match &self.stepped {
            Stepped::Full(_) => None,
            Stepped::Reduced(reduced) => Some(&reduced.model),
        }
    }

    /// Returns the state of all vertices. For a reduced model it is computed on demand.
    pub fn state(&self) -> &State {
        match &self.stepped {
            Stepped::Full(full) => &full.state,
            Stepped::Reduced(reduced) => reduced.expanded.get_or_init(|| reduced.model.expand(&reduced.state)),
        }
    }

    /// Sets the state of all vertices; for a reduced model, its projection. Records of earlier steps are not changed.
    ///
    /// # Panics
    /// Panics if the state does not have the dimension of the model.
    pub fn set_state(&mut self, state: State) {
        assert_eq!(state.q.len(), self.model().dim(), "a state of the model");
        match &mut self.stepped {
            Stepped::Full(full) => full.state = state,
            Stepped::Reduced(reduced) => {
                reduced.state = reduced.model.project(&state);
                reduced.expanded.take();
            }
        }
    }

    /// Restarts the simulation from another state, at its time, with the step count reset to 0.
    ///
    /// # Panics
    /// Panics if the state does not have the dimension of the model.
    pub fn begin_at(&mut self, state: State) {
        (self.watch.balance, self.reported) = (EnergyBalance::default(), 0.0);
        (self.start_time, self.step, self.begins_anew) = (state.time, 0, true);
        self.set_state(state);
    }

    /// Returns the current time \[s\].
    pub fn time(&self) -> f64 {
        match &self.stepped {
            Stepped::Full(full) => full.state.time,
            Stepped::Reduced(reduced) => reduced.state.time,
        }
    }

    /// Returns a row of recorded values for the current state.
    pub fn record(&mut self, recorder: &mut Recorder) -> Vec<f64> {
        let seen = self.observe();
        let balance = self.energy_balance().copied();
        recorder.record(&seen, balance.as_ref(), self.model(), self.state())
    }

    /// Returns energies, momenta and other observables of the model. The elastic energy of a reduced model is the
    /// reduced one.
    pub fn observe(&mut self) -> Observation {
        let mut seen = self.model().observe(self.state());
        if let Stepped::Reduced(reduced) = &mut self.stepped {
            seen.elastic_energy = reduced.model.elastic_energy(&reduced.state);
        }
        seen
    }

    /// Advances the simulation by one time step. On error nothing has changed.
    pub fn step(&mut self) -> Result<StepInfo, StepError> {
        let begins_anew = self.begins_anew || self.can_be_resumed();
        self.step += 1;
        // Multiplying avoids the accumulated rounding of a sum of steps.
        let time = self.start_time + self.step as f64 * self.dt;
        let is_watched = self.has_energy_balance();
        let watch = &mut self.watch;
        let stepped = match &mut self.stepped {
            Stepped::Full(full) => {
                let Full { assembly, stepper, solver, state } = &mut **full;
                if begins_anew {
                    solver.forget();
                }
                if is_watched {
                    watch.begin(assembly.model(), state, time);
                }
                stepper.step(assembly, &mut **solver, state, self.dt).inspect(|_| {
                    state.time = time;
                    if is_watched {
                        watch.end(assembly.model(), state);
                    }
                })
            }
            Stepped::Reduced(reduced) => {
                let Reduced { model, integrator, solver, state, expanded } = &mut **reduced;
                if begins_anew {
                    solver.forget();
                }
                let drive = |model: &ReducedModel, state: &State| {
                    let is_driven = is_watched && model.model().forces().any(Force::has_damping);
                    let state = is_driven.then(|| model.expand(state));
                    state.map_or(0.0, |state| model.model().driving_power(&state.q, &state.conditions_here(), &state.v))
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

    /// Estimates the maximum stable step of central differences around the current state. Solvers are restarted.
    pub fn stability(&mut self) -> Result<Stability, StepError> {
        self.begins_anew = true;
        match &mut self.stepped {
            Stepped::Full(full) => stability(&mut full.assembly, &mut *full.solver, &full.state, self.dt),
            Stepped::Reduced(reduced) => stability(&mut reduced.model, &mut reduced.solver, &reduced.state, self.dt),
        }
    }

    /// Solves for static equilibrium under the forces of the current time. Velocities become zero, and the time does
    /// not change. On error nothing has changed.
    pub fn find_equilibrium(&mut self, params: StaticParams) -> Result<StepInfo, StepError> {
        self.begins_anew = true;
        let mut search = Static::new(params);
        match &mut self.stepped {
            Stepped::Full(full) if full.stepper.is_regularized() => Err(StepError::BuiltInLaw),
            Stepped::Full(full) => search.solve(&mut full.assembly, &mut *full.solver, &mut full.state),
            Stepped::Reduced(reduced) if reduced.model.placement().is_some() => {
                Err(StepError::Free { method: "equilibria of reduced models" })
            }
            Stepped::Reduced(reduced) => {
                reduced.expanded.take();
                search.solve(&mut reduced.model, &mut reduced.solver, &mut reduced.state)
            }
        }
    }

    /// Returns the energy balance.
    ///
    /// Returns `None` for statics, for integrators with built-in elasticity, for reduced models of free bodies, and for
    /// reduced models with forces without a potential.
    pub fn energy_balance(&self) -> Option<&EnergyBalance> {
        self.has_energy_balance().then_some(&self.watch.balance)
    }

    /// Returns the energy that appeared without work being done, if it should be reported: the first time, and whenever
    /// it has grown by a factor of 100.
    pub fn take_energy_gain(&mut self) -> Option<EnergyGain> {
        let gain = self.energy_balance()?.gain().filter(|gain| gain.gained > 100.0 * self.reported)?;
        self.reported = gain.gained;
        Some(gain)
    }

    fn has_energy_balance(&self) -> bool {
        match &self.stepped {
            Stepped::Full(full) => full.stepper.has_inertia() && !full.stepper.is_regularized(),
            Stepped::Reduced(reduced) => {
                let model = &reduced.model;
                let is_fixed = model.placement().is_none();
                is_fixed && reduced.integrator.has_inertia() && model.model().forces().all(Force::has_energy)
            }
        }
    }

    /// Returns true if elasticity is that of a [`Regularized`](crate::integrator::Regularized) integrator, so that the
    /// model has none.
    pub fn is_regularized(&self) -> bool {
        matches!(&self.stepped, Stepped::Full(full) if full.stepper.is_regularized())
    }

    /// Wraps the linear solver of a full model, for instance to make it interruptible.
    pub fn wrap_solver(
        &mut self,
        wrap: impl FnOnce(Box<dyn LinearSolver<Operator>>) -> Box<dyn LinearSolver<Operator>>,
    ) {
        if let Stepped::Full(full) = &mut self.stepped {
            // A temporary solver takes its place meanwhile.
            let solver = std::mem::replace(&mut full.solver, Box::new(Direct::default()));
            full.solver = wrap(solver);
        }
    }

    /// Returns the number of completed steps.
    pub fn steps_done(&self) -> u64 {
        self.step
    }

    /// Returns the length of a time step \[s\].
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Returns true if resuming from a checkpoint of this step gives the same result as continuing.
    pub fn can_be_resumed(&self) -> bool {
        self.step.is_multiple_of(self.restart_every)
    }

    /// Returns a checkpoint of the current step, at which solvers discard their data. This simulation and a resumed one
    /// therefore continue bit-identically.
    pub fn checkpoint_here(&mut self) -> Checkpoint {
        self.begins_anew = true;
        self.state_to_save()
    }

    /// Returns a checkpoint, or `None` if resuming at this step would change the result.
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
                Stepped::Full(full) => full.state.clone(),
                Stepped::Reduced(reduced) => reduced.model.save(&reduced.state),
            },
        }
    }

    /// Resumes from a checkpoint, with restarted solvers. On error nothing has changed.
    pub fn resume(&mut self, checkpoint: Checkpoint) -> Result<(), CheckpointError> {
        let (found, expected) = (checkpoint.fingerprint, self.fingerprint());
        if found != expected {
            return Err(CheckpointError::OtherModel { found, expected });
        }
        let (found, expected) = (checkpoint.state.history.len(), self.model().history_len());
        if found != expected {
            return Err(CheckpointError::History { found, expected });
        }
        let found = checkpoint.state.q.len();
        match &mut self.stepped {
            Stepped::Full(_) => {
                let expected = self.model().dim();
                if found != expected {
                    return Err(CheckpointError::Length { found, expected });
                }
                self.set_state(checkpoint.state);
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

    /// Checks that resuming from a checkpoint gives the same result as an uninterrupted simulation.
    pub fn check_resumable(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let every = self.restart_every;
        if checkpoint.step.is_multiple_of(every) {
            Ok(())
        } else {
            Err(CheckpointError::Step { step: checkpoint.step, every })
        }
    }

    /// Returns a checksum of the meshes, the time step and the restart interval.
    fn fingerprint(&self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        sum.update(&self.dt.to_le_bytes());
        sum.update(&self.restart_every.to_le_bytes());
        sum.update(&self.model().fingerprint().to_le_bytes());
        if let Some(reduced) = self.reduced_model() {
            sum.update(&reduced.fingerprint().to_le_bytes());
        }
        sum.finalize()
    }
}
