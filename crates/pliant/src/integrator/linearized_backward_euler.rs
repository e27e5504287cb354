//! Backward Euler, linearized once per step.

use std::time::Instant;

use super::check::{begin, check_defined, check_force, check_unlimited, prescribe};
use super::history::finish;
use super::linear_step::LinearStep;
use super::{Integrator, StepError, StepInfo, check_finite};
use crate::solver::LinearSolver;
use crate::system::{Combination, Definiteness, State, System};

/// Backward Euler with one linearization per step \[BaraffWitkin1998; SinSchroederBarbic2013, eq. 16\]:
///
/// `(M + hD + h²K) Δv = h (f − (hK + D) v)`, then `v₊ = v + Δv` and `q₊ = q + h v₊`.
///
/// Forces are evaluated at the positions at the start of the step and at the time of its end.
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
/// let mut integrator = LinearizedBackwardEuler::default();
/// let info = integrator.step(&mut assembly, &mut solver, &mut state, 0.01)?;
/// assert_eq!(info.newton_iterations, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinearizedBackwardEuler {
    /// Choice of `K`. A projected one keeps the matrix positive definite for any state and step.
    pub definiteness: Definiteness,
    linear: LinearStep,
    force: Vec<f64>,
    product: Vec<f64>,
    change: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Default for LinearizedBackwardEuler {
    fn default() -> Self {
        Self::new(Definiteness::Projected)
    }
}

impl LinearizedBackwardEuler {
    /// Creates an integrator with this choice of `K`.
    pub fn new(definiteness: Definiteness) -> Self {
        Self {
            definiteness,
            linear: LinearStep::default(),
            force: Vec::new(),
            product: Vec::new(),
            change: Vec::new(),
            q: Vec::new(),
            v: Vec::new(),
        }
    }
}

impl<S: System> Integrator<S> for LinearizedBackwardEuler {
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let vectors = [&mut self.force, &mut self.product, &mut self.change, &mut self.q, &mut self.v];
        check_unlimited(system, "linearized backward Euler")?;
        let (n, h, time) = (begin(system, state, dt, vectors)?, dt, state.time);
        let mut info = StepInfo::default();
        let start = Instant::now();
        let conditions = state.conditions(h);
        let stiffness = system.linearize(&state.q, &conditions, self.definiteness, &mut self.force).stiffness;
        let damping = system.damping(&state.q, &conditions, &state.v, Some(&stiffness), &mut self.force);
        let friction = Combination::of_damping(1.0, &damping).and_stiffness(h, &stiffness);
        system.mul(friction, &state.v, &mut self.product);
        for i in 0..n {
            self.force[i] = h * (self.force[i] - self.product[i]);
        }
        info.assembling += start.elapsed();
        check_force(system, time, &state.q, &self.force, None)?;
        self.q.copy_from_slice(&state.q);
        prescribe(system, state, h, &mut self.q)?;
        for i in 0..n {
            // Right for fixed coordinates; the others are solved for.
            self.change[i] = (self.q[i] - state.q[i]) / h - state.v[i];
        }
        let matrix = Combination::of_mass(1.0).and_damping(h, &damping).and_stiffness(h * h, &stiffness);
        self.linear
            .solve(system, solver, matrix, &mut self.force, &mut self.change, &mut info)
            .map_err(|source| StepError::Solve { time, source })?;
        system.recycle_stiffness(stiffness);
        system.recycle_damping(damping);
        info.newton_iterations = 1;
        for i in 0..n {
            self.v[i] = state.v[i] + self.change[i];
            self.q[i] = h.mul_add(self.v[i], state.q[i]);
        }
        prescribe(system, state, h, &mut self.q)?;
        check_finite(system, time, "the position", &self.q, None)?;
        check_defined(system, time, &self.q)?;
        finish(system, state, (h, 1.0), &mut self.q, &mut self.v);
        Ok(info)
    }
}
