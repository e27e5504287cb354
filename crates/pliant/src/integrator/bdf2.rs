//! Second-order backward differentiation formula, solved by Newton's method.

use super::backward_euler::{damping_of_start, since};
use super::check::{begin, prescribe};
use super::history::update_history;
use super::newton::{Balance, Newton, Problem};
use super::{Integrator, NewtonParams, StepError, StepInfo, check_finite};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Second-order backward differentiation formula (BDF2), solved by Newton's method with line search.
///
/// A step of length `h` after one of length `k`, `ω = h/k`, differentiates the parabolas through the last three
/// positions and velocities \[HairerNorsettWanner1993, section III.5\]. With the changes `Δq` and `Δv` in the previous
/// step, `β = ω²/(1 + 2ω)` and `τ = h (1 + ω)/(1 + 2ω)`,
///
/// - `q₊ = q + β Δq + τ v₊`
/// - `v₊ = v + β Δv + τ a₊`
/// - `M a₊ + D v₊ = f(q₊)`
///
/// For equal steps, `β = 1/3` and `τ = 2h/3`. So `q₊` minimizes
///
/// `1/(2τ²) |q₊ − q − ŝ|²_M + τ/2 v₊ᵀ D v₊ + V(q₊)`, `ŝ = β Δq + τ (v + β Δv)`.
///
/// The integrator is L-stable: it damps motion that steps do not resolve within a few steps, so that contacts do not
/// ring, and slow motion much less than [`BackwardEuler`](super::BackwardEuler) does.
///
/// `β = 0` and `τ = h` make a step of backward Euler. It is taken where the [previous
/// step](crate::system::State::previous) is unknown, and after one that was shorter than `h` by more than a factor of
/// 2.4, close to the `1 + √2` up to which the formula is stable. Such steps leave the order of a whole motion
/// unchanged.
///
/// `D` is that at the start of the step, from a positive semi-definite `K`, which is of first order unless `D` is
/// constant; see [`damping_follows`](Self::damping_follows). In the floating frame of a free reduced model no
/// previous step is known, so that every step is one of backward Euler.
///
/// # Examples
///
/// ```
/// # use pliant::prelude::*;
/// use pliant::integrator::Bdf2;
///
/// # let bar = generate::block([1.0, 0.2, 0.2], [5, 1, 1], Cells::Tet5)?;
/// # let clamp = bar.vertex_sets()["x-min"].clone();
/// # let law = AnyLaw::new("stvk", YoungPoisson { young: 1e6, poisson: 0.3 })?;
/// # let body = Body::new(bar, law, 1000.0);
/// # let model = Model::builder().body(body).fix(Fixed::new(clamp)).gravity(Vec3::new(0.0, -9.81, 0.0)).build()?;
/// let (mut state, mut assembly) = (model.rest_state(), Assembly::new(model));
/// let mut solver = SolverParams::default().build();
/// let mut integrator = Bdf2::for_animation();
/// for _ in 0..2 {
///     integrator.step(&mut assembly, &mut solver, &mut state, 0.01)?;
/// }
/// assert_eq!(state.previous.unwrap().dt, 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bdf2 {
    /// Parameters of Newton's method.
    pub params: NewtonParams,
    /// True to evaluate `D` at each iterate, so that motion with varying damping is of second order too. Then no
    /// function is minimized, so use it without line search.
    pub damping_follows: bool,
    /// True to start from the motion with the acceleration of the previous step, if its energy is lower than that of
    /// `s = 0`. Smooth motion then needs fewer Newton iterations.
    pub predict: bool,
    newton: Newton,
    balance: Balance,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
}

/// Maximum ratio of the lengths of two steps, below `1 + √2`.
const MAX_GROWTH: f64 = 2.4;

impl Default for Bdf2 {
    /// Uses a tolerance of a millionth of the forces, equal to that of linear solvers.
    fn default() -> Self {
        Self::new(NewtonParams { tolerance: 1e-6, ..NewtonParams::default() })
    }
}

impl Bdf2 {
    /// Creates an integrator with these parameters.
    pub fn new(params: NewtonParams) -> Self {
        Self {
            params,
            damping_follows: false,
            predict: false,
            newton: Newton::default(),
            balance: Balance::default(),
            q: Vec::new(),
            v: Vec::new(),
            a: Vec::new(),
        }
    }

    /// Creates an integrator for animation, with the parameters of
    /// [`BackwardEuler::for_animation`](super::BackwardEuler::for_animation).
    pub fn for_animation() -> Self {
        Self { predict: true, ..Self::new(NewtonParams::for_animation()) }
    }
}

impl<S: System> Integrator<S> for Bdf2 {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let vectors = [&mut self.q, &mut self.v, &mut self.a];
        let (n, h, time) = (begin(system, state, dt, vectors)?, dt, state.time);
        let balance = &mut self.balance;
        balance.size(n);
        let previous = state.previous.as_ref().filter(|previous| h <= MAX_GROWTH * previous.dt);
        let omega = previous.map_or(0.0, |previous| h / previous.dt);
        let (beta, tau) = (omega * omega / (1.0 + 2.0 * omega), h * (1.0 + omega) / (1.0 + 2.0 * omega));
        (balance.mass, balance.damping) = (1.0 / (tau * tau), 1.0 / tau);
        balance.damping_follows = self.damping_follows;
        balance.drive.fill(0.0);
        for i in 0..n {
            let (dq, dv) = previous.map_or((0.0, 0.0), |previous| (previous.dq[i], previous.dv[i]));
            balance.s_hat[i] = beta * dq + tau * (state.v[i] + beta * dv);
            balance.v_0[i] = -beta * dq / tau;
        }
        balance.guess.clear();
        if self.predict && !self.damping_follows {
            let a = state.a.as_deref();
            balance.guess.extend((0..n).map(|i| balance.s_hat[i] + tau * tau * a.map_or(0.0, |a| a[i])));
        }
        let mut info = StepInfo::default();
        let damping =
            (!self.damping_follows).then(|| damping_of_start(system, state, h, &mut balance.drive, &mut info));
        let problem = Problem { start: &state.q, conditions: state.conditions(h), damping };
        self.newton.solve(system, solver, &self.params, balance, problem, &mut info).map_err(|e| since(e, time))?;
        for i in 0..n {
            let s = self.newton.s[i];
            self.v[i] = balance.damping * s + balance.v_0[i];
            self.a[i] = balance.mass * (s - balance.s_hat[i]);
        }
        self.q.copy_from_slice(&self.newton.q);
        if info.behind == 0.0 {
            prescribe(system, state, h, &mut self.q)?;
        }
        check_finite(system, time, "the position", &self.q, None)?;
        check_finite(system, time, "the velocity", &self.v, None)?;
        let mut previous = state.previous.take().unwrap_or_default();
        update_history(system, state, h, info.progress, &self.q);
        previous.dt = h;
        previous.dq.clone_from(&self.newton.s);
        previous.dv.clear();
        previous.dv.extend(self.v.iter().zip(&state.v).map(|(end, start)| end - start));
        state.previous = Some(previous);
        std::mem::swap(&mut state.q, &mut self.q);
        std::mem::swap(&mut state.v, &mut self.v);
        state.a.get_or_insert_with(|| vec![0.0; n]).copy_from_slice(&self.a);
        state.time += h;
        Ok(info)
    }
}
