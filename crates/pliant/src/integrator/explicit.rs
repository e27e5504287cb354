//! Explicit and symplectic Euler.

use super::acceleration::Acceleration;
use super::check::{begin, check_unlimited, prescribe_motion};
use super::history::update_history;
use super::stability::{ExplicitMethod, estimate};
use super::{Integrator, Stability, StepError, StepInfo, check_finite};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Symplectic Euler: `v₊ = v + h M⁻¹(f(q) − D v)`, `q₊ = q + h v₊`. Stable up to about `2/ω`, where its energy stays
/// bounded for all times.
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
/// // An explicit integrator needs steps below the limit of the mesh.
/// let limit = pliant::integrator::stability(&mut assembly, &mut solver, &state, 1e-4)?.max_step;
/// SymplecticEuler::default().step(&mut assembly, &mut solver, &mut state, 0.9 * limit)?;
/// assert!(state.v.iter().any(|v| *v < 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SymplecticEuler(Euler);

/// Explicit Euler: `q₊ = q + h v`, `v₊ = v + h M⁻¹(f(q) − D v)`. Gains energy in every step unless there is damping;
/// for comparisons only.
#[derive(Debug, Clone, Default)]
pub struct ExplicitEuler(Euler);

#[derive(Debug, Clone, Default)]
struct Euler {
    acceleration: Acceleration,
    a: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Stability, estimated in the first step and again when the step size changes.
    stability: Option<Stability>,
}

impl<S: System> Integrator<S> for SymplecticEuler {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        self.0.step(system, solver, state, dt, ExplicitMethod::Symplectic)
    }
}

impl<S: System> Integrator<S> for ExplicitEuler {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        self.0.step(system, solver, state, dt, ExplicitMethod::Explicit)
    }
}

impl Euler {
    fn step<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
        method: ExplicitMethod,
    ) -> Result<StepInfo, StepError> {
        check_unlimited(system, "an explicit integrator")?;
        let (n, h, time) = (begin(system, state, dt, [&mut self.a, &mut self.q, &mut self.v])?, dt, state.time);
        if self.stability.is_none_or(|known| known.step != dt) {
            self.stability = Some(estimate(system, solver, state, dt, method)?);
        }
        let stability = self.stability;
        let mut info = StepInfo { stability, ..StepInfo::default() };
        self.acceleration.find(system, solver, state, h, &mut self.a, &mut info)?;
        for i in 0..n {
            self.v[i] = h.mul_add(self.a[i], state.v[i]);
            let velocity = if method == ExplicitMethod::Explicit { state.v[i] } else { self.v[i] };
            self.q[i] = h.mul_add(velocity, state.q[i]);
        }
        prescribe_motion(system, state, h, &mut self.q, &mut self.v)?;
        check_finite(system, time, "the position", &self.q, stability)?;
        check_finite(system, time, "the velocity", &self.v, stability)?;
        update_history(system, state, h, 1.0, &self.q);
        std::mem::swap(&mut state.q, &mut self.q);
        std::mem::swap(&mut state.v, &mut self.v);
        // These were the accelerations at the start of the step.
        state.a = None;
        state.time += h;
        Ok(info)
    }
}
