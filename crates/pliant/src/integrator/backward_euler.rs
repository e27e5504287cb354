//! Backward Euler, solved by Newton's method.

use std::time::Instant;

use super::check::{begin, prescribe};
use super::history::finish;
use super::newton::{Balance, Newton, Problem};
use super::vectors::dot;
use super::{Integrator, NewtonParams, StepError, StepInfo, check_finite};
use crate::solver::LinearSolver;
use crate::system::{Combination, State, System};

/// Backward Euler solved by Newton's method with line search: `q₊` minimizes
///
/// `1/(2h²) |q − q_n − h v_n|²_M + 1/(2h) (q − q_n)ᵀ D (q − q_n) + V(q)`,
///
/// where `D` is evaluated at the start of the step, from a positive semi-definite `K`. The step gains no energy if `V`
/// is convex between both ends of it, all forces have an energy, and loads, fixed vertices and obstacles do not move.
/// [`limit_energy`](Self::limit_energy) bounds the gain elsewhere. Prescribed motion of fixed vertices is applied in
/// the first iteration, without line search.
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
/// let mut integrator = BackwardEuler::for_animation();
/// let info = integrator.step(&mut assembly, &mut solver, &mut state, 0.01)?;
/// assert!(info.newton_iterations >= 1 && state.time == 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct BackwardEuler {
    /// Parameters of Newton's method.
    pub params: NewtonParams,
    /// True to evaluate `D` at each iterate, as VegaFEM does. Then no function is minimized, so use it without line
    /// search.
    pub damping_follows: bool,
    /// True to start from the motion of the step before, `s = h (v + h a)`, if its energy is lower than that of
    /// `s = 0`. Smooth motion then needs one Newton iteration per step instead of two or three.
    pub predict: bool,
    /// True to halve a step, recursively, if the sum of kinetic and potential energy rises although no work is done.
    /// Backward Euler may gain energy where `V` is not convex between both ends of a step, such as where elements snap
    /// through. Needs `predict`.
    pub limit_energy: bool,
    newton: Newton,
    balance: Balance,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Default for BackwardEuler {
    /// Uses a tolerance of a millionth of the forces, equal to that of linear solvers.
    fn default() -> Self {
        Self::new(NewtonParams { tolerance: 1e-6, ..NewtonParams::default() })
    }
}

impl BackwardEuler {
    /// Creates an integrator with these parameters.
    pub fn new(params: NewtonParams) -> Self {
        Self {
            params,
            damping_follows: false,
            predict: false,
            limit_energy: false,
            newton: Newton::default(),
            balance: Balance::default(),
            q: Vec::new(),
            v: Vec::new(),
        }
    }

    /// Creates an integrator for animation. It takes at least one iteration, and more while the residual exceeds a
    /// thousandth of the forces. It is no error if the last iteration does not reach that, as the line search keeps
    /// such a step stable. Smooth motion takes one or two iterations per step.
    pub fn for_animation() -> Self {
        Self { predict: true, limit_energy: true, ..Self::new(NewtonParams::for_animation()) }
    }

    /// Creates an integrator with at most `iterations` iterations per step and no test for convergence. If there is an
    /// energy, every iteration lowers it, so that the motion is stable for any state and step. Use it for crushed or
    /// inverted bodies, and for animation.
    pub fn with_iterations(iterations: usize) -> Self {
        let mut integrator = Self::default();
        integrator.params.max_iterations = iterations;
        integrator.params.must_converge = false;
        integrator
    }
}

impl<S: System> Integrator<S> for BackwardEuler {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        self.step_or_split(system, solver, state, dt, 0)
    }
}

/// Maximum number of halvings of a step whose energy rises.
const MAX_SPLITS: usize = 6;
/// Accepted rise of the energy in a step, relative to the kinetic energy. Rolling and spinning bodies gain and lose
/// some in every step.
const ENERGY_RISE: f64 = 0.1;
/// Rise of the energy that may be rounding or the tolerance of Newton's method, relative to the potential energy.
const ENERGY_NOISE: f64 = 1e-6;
/// Displacement in a step, relative to the size of the system, below which changes of the energy are mostly rounding.
const STANDSTILL: f64 = 1e-6;

impl BackwardEuler {
    /// Steps by `dt`, and halves the step if its energy rises. `depth` is the number of halvings so far. Unlike a
    /// failed step, which is left to [`Halving`](super::Halving), such a step is a solution. It is kept where smaller
    /// steps gain energy too.
    fn step_or_split<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
        depth: usize,
    ) -> Result<StepInfo, StepError> {
        let mut info = self.solve(system, solver, state, dt)?;
        if self.limit_energy && depth < MAX_SPLITS && self.energy_rises(system, state, dt) {
            let (q, v) = (self.q.clone(), self.v.clone());
            let mut split = state.clone();
            let half = |info: StepInfo, _| {
                let half = self.step_or_split(system, solver, &mut split, 0.5 * dt, depth + 1)?;
                Ok::<_, StepError>(info.and(&half))
            };
            match (0..2).try_fold(info, half) {
                Ok(info) => {
                    split.time = state.time + dt;
                    *state = split;
                    return Ok(info);
                }
                Err(error) if error.is_stop() => return Err(error),
                // The whole step is a solution at least.
                Err(_) => (self.q, self.v) = (q, v),
            }
        }
        info.substeps += usize::from(depth > 0);
        finish(system, state, (dt, info.progress), &mut self.q, &mut self.v);
        Ok(info)
    }

    /// Returns true if the energy rises from `state` to the solution although no work is done.
    fn energy_rises<S: System>(&mut self, system: &mut S, state: &State, dt: f64) -> bool {
        let farthest = self.newton.s.iter().fold(0.0_f64, |farthest, s| farthest.max(s.abs()));
        if farthest <= STANDSTILL * system.extent() {
            return false;
        }
        let Some(change) = self.newton.energy_change(system, &self.balance, (&state.q, &state.conditions(dt))) else {
            return false;
        };
        let product = &mut self.balance.s_hat;
        let mut kinetic = |v: &[f64]| {
            system.mul(Combination::of_mass(1.0), v, product);
            0.5 * dot(v, product)
        };
        let (start, end) = (kinetic(&state.v), kinetic(&self.v));
        let stored = self.newton.start_energy().unwrap_or(0.0).abs();
        end - start + change > ENERGY_RISE * start.max(end) + ENERGY_NOISE * stored
    }

    /// Solves a step by `dt` for the positions and velocities at its end.
    fn solve<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let (n, h, time) = (begin(system, state, dt, [&mut self.q, &mut self.v])?, dt, state.time);
        let balance = &mut self.balance;
        balance.size(n);
        (balance.mass, balance.damping) = (1.0 / (h * h), 1.0 / h);
        balance.damping_follows = self.damping_follows;
        balance.v_0.fill(0.0);
        balance.drive.fill(0.0);
        for i in 0..n {
            balance.s_hat[i] = h * state.v[i];
        }
        balance.guess.clear();
        if self.predict && !self.damping_follows {
            let a = state.a.as_deref();
            balance.guess.extend((0..n).map(|i| h * (state.v[i] + h * a.map_or(0.0, |a| a[i]))));
        }
        let mut info = StepInfo::default();
        let damping = damping_of_start(system, state, h, &mut balance.drive, &mut info);
        let problem = Problem { start: &state.q, conditions: state.conditions(h), damping: Some(damping) };
        self.newton.solve(system, solver, &self.params, balance, problem, &mut info).map_err(|e| since(e, time))?;
        for i in 0..n {
            self.v[i] = self.newton.s[i] / h;
        }
        self.q.copy_from_slice(&self.newton.q);
        if info.behind == 0.0 {
            prescribe(system, state, h, &mut self.q)?;
        }
        check_finite(system, time, "the position", &self.q, None)?;
        Ok(info)
    }
}

/// Returns `D` at the start of a step, from a positive semi-definite `K`, with the conditions of its end.
pub(super) fn damping_of_start<S: System>(
    system: &mut S,
    state: &State,
    h: f64,
    drive: &mut [f64],
    info: &mut StepInfo,
) -> S::Damping {
    let start = Instant::now();
    let damping = system.damping(&state.q, &state.conditions(h), &state.v, None, drive);
    info.assembling += start.elapsed();
    damping
}

/// Sets the time of an error to the start of the step.
pub(super) fn since(mut error: StepError, start: f64) -> StepError {
    match &mut error {
        StepError::Solve { time, .. }
        | StepError::Undefined { time, .. }
        | StepError::NotFinite { time, .. }
        | StepError::Energy { time, .. }
        | StepError::Inverted { time, .. } => *time = start,
        _ => {}
    }
    error
}
