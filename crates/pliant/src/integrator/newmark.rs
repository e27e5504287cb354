//! Newmark's family of integrators.

use thiserror::Error;

use super::acceleration::Acceleration;
use super::backward_euler::{damping_of_start, since};
use super::check::{begin, check_defined, prescribe};
use super::history::update_history;
use super::newton::{Balance, Newton, Problem};
use super::vectors::is_fixed;
use super::{Integrator, NewtonParams, NewtonTangent, StepError, StepInfo, check_finite};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Newmark's implicit integrators, with `β > 0` and `γ ≥ 0` \[Newmark1959; SinSchroederBarbic2013, eq. 17\]:
///
/// - `q₊ = q + h v + h²/2 ((1 − 2β) a + 2β a₊)`
/// - `v₊ = v + h ((1 − γ) a + γ a₊)`
/// - `M a₊ + D v₊ = f(q₊)`
///
/// `β = ¼, γ = ½` is the trapezoidal rule: second order, and energy-conserving on linear systems. `γ > ½` adds
/// numerical damping. One iteration without line search is the semi-implicit integrator of VegaFEM.
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
/// // The trapezoidal rule, which conserves energy on linear systems.
/// let mut integrator = Newmark::default();
/// for _ in 0..10 {
///     integrator.step(&mut assembly, &mut solver, &mut state, 0.001)?;
/// }
/// let energy = assembly.model().observe(&state).total_energy();
/// assert!(energy.abs() < 1e-3 * assembly.model().observe(&state).kinetic_energy);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Newmark {
    beta: f64,
    gamma: f64,
    /// Parameters of Newton's method.
    pub params: NewtonParams,
    newton: Newton,
    balance: Balance,
    acceleration: Acceleration,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    a_start: Vec<f64>,
}

/// Invalid coefficients of Newmark's integrator.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("Newmark's β is {beta} and γ {gamma}, expected β > 0 and γ ≥ 0; for β = 0 use central differences")]
#[non_exhaustive]
pub struct NewmarkError {
    /// Coefficient `β`.
    pub beta: f64,
    /// Coefficient `γ`.
    pub gamma: f64,
}

impl Default for Newmark {
    fn default() -> Self {
        let params = NewtonParams { tangent: NewtonTangent::Exact, line_search: false, ..NewtonParams::default() };
        Self {
            beta: 0.25,
            gamma: 0.5,
            params,
            newton: Newton::default(),
            balance: Balance { damping_follows: true, ..Balance::default() },
            acceleration: Acceleration::default(),
            q: Vec::new(),
            v: Vec::new(),
            a: Vec::new(),
            a_start: Vec::new(),
        }
    }
}

impl Newmark {
    /// Creates an integrator with these coefficients.
    pub fn new(beta: f64, gamma: f64, params: NewtonParams) -> Result<Self, NewmarkError> {
        if beta > 0.0 && beta.is_finite() && gamma >= 0.0 && gamma.is_finite() {
            Ok(Self { beta, gamma, params, ..Self::default() })
        } else {
            Err(NewmarkError { beta, gamma })
        }
    }

    /// Sets where stiffness-proportional damping is evaluated: at each iterate (the default) or at the start of the
    /// step.
    pub fn set_damping_follows(&mut self, follows: bool) {
        self.balance.damping_follows = follows;
    }

    /// Creates the integrator `β = ¼, γ = ½` with `iterations` iterations per step and no test for convergence.
    pub fn with_iterations(iterations: usize) -> Self {
        let mut integrator = Self::default();
        integrator.params.max_iterations = iterations;
        integrator.params.must_converge = false;
        integrator
    }
}

impl<S: System> Integrator<S> for Newmark {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let vectors = [&mut self.q, &mut self.v, &mut self.a, &mut self.a_start];
        let (n, h, time) = (begin(system, state, dt, vectors)?, dt, state.time);
        let (beta, gamma) = (self.beta, self.gamma);
        let mut info = StepInfo::default();
        match &state.a {
            Some(a) => self.a_start.copy_from_slice(a),
            None => self.acceleration.find(system, solver, state, h, &mut self.a_start, &mut info)?,
        }
        self.q.copy_from_slice(&state.q);
        prescribe(system, state, h, &mut self.q)?;
        let balance = &mut self.balance;
        balance.size(n);
        (balance.mass, balance.damping) = (1.0 / (beta * h * h), gamma / (beta * h));
        balance.drive.fill(0.0);
        for i in 0..n {
            let (v, a) = (state.v[i], self.a_start[i]);
            if is_fixed(system.fixed_mask(), i) {
                // A motion with kinks would ring forever in these formulas; differences do not.
                let way = self.q[i] - state.q[i];
                balance.s_hat[i] = way - (way / h - v) / h / balance.mass;
                balance.v_0[i] = way / h - balance.damping * way;
            } else {
                balance.s_hat[i] = h * v + h * h * (0.5 - beta) * a;
                balance.v_0[i] = (1.0 - gamma / beta) * v + h * (1.0 - gamma / (2.0 * beta)) * a;
            }
        }
        let damping =
            (!balance.damping_follows).then(|| damping_of_start(system, state, h, &mut balance.drive, &mut info));
        let problem = Problem { start: &state.q, conditions: state.conditions(h), damping };
        self.newton.solve(system, solver, &self.params, balance, problem, &mut info).map_err(|e| since(e, time))?;
        for i in 0..n {
            let s = self.newton.s[i];
            self.a[i] = balance.mass * (s - balance.s_hat[i]);
            self.v[i] = balance.damping * s + balance.v_0[i];
        }
        self.q.copy_from_slice(&self.newton.q);
        if info.behind == 0.0 {
            prescribe(system, state, h, &mut self.q)?;
        }
        check_finite(system, time, "the position", &self.q, None)?;
        check_defined(system, time, &self.q)?;
        update_history(system, state, h, info.progress, &self.q);
        std::mem::swap(&mut state.q, &mut self.q);
        std::mem::swap(&mut state.v, &mut self.v);
        state.a.get_or_insert_with(|| vec![0.0; n]).copy_from_slice(&self.a);
        state.time += h;
        Ok(info)
    }
}
