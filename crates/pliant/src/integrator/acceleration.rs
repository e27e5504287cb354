//! Accelerations at the start of a step.

use std::time::Instant;

use super::check::{check_force, check_time};
use super::linear_step::LinearStep;
use super::vectors::{copy_free, sized};
use super::{StepError, StepInfo};
use crate::motion::NotFinite;
use crate::solver::LinearSolver;
use crate::system::{Combination, DampingKind, Definiteness, State, System};

/// Sets the accelerations of fixed coordinates to second differences of their prescribed positions.
pub fn prescribe_acceleration<S: System>(
    system: &S,
    time: f64,
    h: f64,
    q: &[f64],
    place: &mut [f64],
    a: &mut [f64],
) -> Result<(), NotFinite> {
    for (offset, weight) in [(-h, 1.0), (0.0, -2.0), (h, 1.0)] {
        place.copy_from_slice(q);
        system.prescribe(time + offset, place)?;
        for (i, fixed) in system.fixed_mask().iter().enumerate() {
            if *fixed {
                // Differences from the current position avoid cancellation.
                a[i] += weight * (place[i] - q[i]) / (h * h);
            }
        }
    }
    Ok(())
}

/// Accelerations consistent with the forces: `M a = f(q) − D v`.
#[derive(Debug, Clone, Default)]
pub struct Acceleration {
    linear: LinearStep,
    force: Vec<f64>,
    product: Vec<f64>,
}

impl Acceleration {
    /// Computes the accelerations of a state before a step `h`. Factors `M` again only if the solver has been used for
    /// another matrix.
    pub fn find<S: System>(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &State,
        h: f64,
        a: &mut [f64],
        info: &mut StepInfo,
    ) -> Result<(), StepError> {
        check_time(system, state, 0.0)?;
        let n = system.dim();
        sized(&mut self.force, n);
        sized(&mut self.product, n);
        let start = Instant::now();
        let conditions = state.conditions_here();
        if system.damping_kind() == DampingKind::None {
            system.force(&state.q, &conditions, &mut self.force);
        } else {
            let damping = if system.damping_kind() == DampingKind::FollowsStiffness {
                let linearized = system.linearize(&state.q, &conditions, Definiteness::Exact, &mut self.force);
                let stiffness = linearized.stiffness;
                let damping = system.damping(&state.q, &conditions, &state.v, Some(&stiffness), &mut self.force);
                system.recycle_stiffness(stiffness);
                damping
            } else {
                system.force(&state.q, &conditions, &mut self.force);
                system.damping(&state.q, &conditions, &state.v, None, &mut self.force)
            };
            system.mul(Combination::of_damping(1.0, &damping), &state.v, &mut self.product);
            self.force.iter_mut().zip(&self.product).for_each(|(f, d)| *f -= d);
            system.recycle_damping(damping);
        }
        info.assembling += start.elapsed();
        check_force(system, state.time, &state.q, &self.force, None)?;
        a.fill(0.0);
        prescribe_acceleration(system, state.time, h, &state.q, &mut self.product, a)
            .map_err(|cause| StepError::Undefined { time: state.time, cause })?;
        let mass = Combination::of_mass(1.0);
        if system.divide(mass, &mut self.force) {
            copy_free(system.fixed_mask(), &self.force, a);
            return Ok(());
        }
        let solved = if self.linear.is_set(system, solver, mass.weights()) {
            self.linear.solve_again(system, solver, mass, &mut self.force, a, info)
        } else {
            self.linear.solve(system, solver, mass, &mut self.force, a, info)
        };
        solved.map_err(|source| StepError::Solve { time: state.time, source })
    }
}
