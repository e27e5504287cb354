//! Static equilibrium.

use super::check::{check_state, check_time, prescribe};
use super::history::update_history_at;
use super::newton::{Balance, Newton, Problem};
use super::{Integrator, NewtonParams, NewtonTangent, StepError, StepInfo, check};
use crate::solver::LinearSolver;
use crate::system::{Conditions, State, System};

/// Parameters of static analysis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StaticParams {
    /// Parameters of Newton's method for each load step.
    pub newton: NewtonParams,
    /// Minimum number of equal steps in which loads and prescribed displacements are applied.
    pub load_steps: usize,
    /// Maximum number of halvings of a load step that fails.
    pub max_halvings: usize,
}

impl Default for StaticParams {
    fn default() -> Self {
        let newton = NewtonParams { tangent: NewtonTangent::ExactFirst, ..NewtonParams::default() };
        Self { newton, load_steps: 1, max_halvings: 10 }
    }
}

/// Solver for static equilibrium `f(q) = 0`, by Newton's method with line search and incremental loading.
///
/// # Examples
///
/// ```
/// # use pliant::prelude::*;
/// # let bar = generate::block([1.0, 0.2, 0.2], [5, 1, 1], Cells::Tet5)?;
/// # let clamp = bar.vertex_sets()["x-min"].clone();
/// # let law = AnyLaw::new("stvk", YoungPoisson { young: 1e6, poisson: 0.3 })?;
/// # let body = Body::new(bar, law, 1000.0);
/// # let model = Model::builder().body(body).fix(Fixed::new(clamp)).gravity(Vec3::new(0.0, -9.81, 0.0)).build()?;
/// let (mut state, mut assembly) = (model.rest_state(), Assembly::new(model));
/// let mut solver = SolverParams::default().build();
/// Static::default().solve(&mut assembly, &mut solver, &mut state)?;
/// let sag = state.q.iter().fold(0.0_f64, |lowest, u| lowest.min(*u));
/// assert!(sag < -0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Static {
    /// Parameters.
    pub params: StaticParams,
    newton: Newton,
    balance: Balance,
}

impl Static {
    /// Creates a solver with these parameters.
    pub fn new(params: StaticParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Moves the state to equilibrium under the forces at its time, and sets velocities to zero. On error the state is
    /// unchanged.
    pub fn solve<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
    ) -> Result<StepInfo, StepError> {
        self.solve_in(system, solver, state, 0.0)
    }

    /// Solves for the equilibrium at the end of a step of `dt` \[s\], at the time of the state.
    fn solve_in<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        check_state(system, state)?;
        check_time(system, state, 0.0)?;
        let n = system.dim();
        self.balance.size(n);
        let balance = &mut self.balance;
        (balance.mass, balance.damping) = (0.0, 0.0);
        // Without time, loads are applied in one second.
        balance.static_rate = if dt > 0.0 { dt.recip() } else { 1.0 };
        balance.v_0.fill(0.0);
        balance.drive.fill(0.0);
        let mut q = state.q.clone();
        let mut history = state.history.clone();
        let mut info = StepInfo::default();
        let (mut done, mut steps) = (0.0, 0);
        let mut part = 1.0 / self.params.load_steps.max(1) as f64;
        let mut halvings = 0;
        let outcome = loop {
            // The last step ends at exactly 1.
            let load_factor = if done + part > 1.0 - 1e-9 { 1.0 } else { done + part };
            let conditions = Conditions { dt: dt * (load_factor - done), load_factor, ..Conditions::at(state.time) };
            balance.fixed_part = (load_factor < 1.0).then(|| (load_factor - done) / (1.0 - done));
            let problem = Problem { start: &q, conditions: conditions.with_history(&history), damping: None };
            match self.newton.solve(system, solver, &self.params.newton, balance, problem, &mut info) {
                Ok(()) => {
                    q.copy_from_slice(&self.newton.q);
                    let conditions = Conditions { progress: info.progress, ..conditions };
                    update_history_at(system, &conditions, &mut history, &q);
                    done = load_factor;
                    steps += 1;
                    if done == 1.0 {
                        break Ok(());
                    }
                }
                Err(error @ StepError::Undefined { .. }) => break Err(error),
                Err(error) if halvings >= self.params.max_halvings || matches!(error, StepError::Solve { .. }) => {
                    break Err(StepError::Static { load_factor, source: Box::new(error) });
                }
                Err(_) => {
                    halvings += 1;
                    part *= 0.5;
                }
            }
        };
        outcome?;
        if info.behind == 0.0 {
            prescribe(system, state, 0.0, &mut q)?;
        }
        state.q = q;
        state.history = history;
        state.v.fill(0.0);
        // Zero, but only under these loads.
        state.forget();
        info.substeps = if steps > 1 { steps } else { 0 };
        Ok(info)
    }
}

/// Quasi-static integrator: equilibrium at the end of every step, for motion so slow that inertia is negligible. Loads
/// and prescribed motions depend on time.
#[derive(Debug, Clone, Default)]
pub struct QuasiStatic(pub Static);

impl<S: System> Integrator<S> for QuasiStatic {
    fn has_inertia(&self) -> bool {
        false
    }

    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        check(system, state, dt)?;
        let start = state.time;
        state.time += dt;
        let solved = self.0.solve_in(system, solver, state, dt);
        if solved.is_err() {
            state.time = start;
        }
        solved
    }
}
