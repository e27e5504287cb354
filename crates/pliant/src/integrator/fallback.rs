//! Retry of failed steps with another integrator.

use super::{Integrator, StepError, StepInfo};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Integrator with a fallback for steps whose linear system cannot be solved. An exact tangent may come first, and a
/// projected one where it is not positive definite.
#[derive(Debug, Clone)]
pub struct Fallback<I, J> {
    /// Integrator that is tried first.
    pub first: I,
    /// Integrator for steps in which the first one fails.
    pub other: J,
}

impl<I, J> Fallback<I, J> {
    /// Creates an integrator that steps with `first`, or with `other` if that fails.
    pub fn new(first: I, other: J) -> Self {
        Self { first, other }
    }
}

impl<S: System, I: Integrator<S> + Clone, J: Integrator<S> + Clone> Integrator<S> for Fallback<I, J> {
    fn has_inertia(&self) -> bool {
        self.first.has_inertia()
    }

    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        match self.first.step(system, solver, state, dt) {
            Err(error @ StepError::Solve { .. }) if !error.is_stop() => self.other.step(system, solver, state, dt),
            done => done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrator::LinearizedBackwardEuler;
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::mesh::{Cells, generate};
    use crate::model::{Assembly, Body, Model};
    use crate::solver::Direct;
    use crate::system::Definiteness;

    #[test]
    fn a_crushed_body_moves_on_where_its_exact_tangent_has_no_factor() {
        let law = AnyLaw::new("stvk", YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap();
        let mesh = generate::block([1.0; 3], [2, 2, 2], Cells::Tet5).unwrap();
        let model = Model::builder().body(Body::new(mesh.clone(), law, 1000.0)).build().unwrap();
        let mut model = Assembly::new(model);
        let mut state = model.rest_state();
        for (u, x) in state.q.as_chunks_mut::<3>().0.iter_mut().zip(mesh.vertices()) {
            u[1] = -0.7 * x.y;
        }
        let integrator = LinearizedBackwardEuler::new;
        let mut solver = Direct::default();
        let exact = integrator(Definiteness::Exact).step(&mut model, &mut solver, &mut state.clone(), 0.1);
        assert!(matches!(exact, Err(StepError::Solve { .. })), "{exact:?}");
        let mut both = Fallback::new(integrator(Definiteness::Exact), integrator(Definiteness::Projected));
        let mut projected = state.clone();
        integrator(Definiteness::Projected).step(&mut model, &mut solver, &mut projected, 0.1).unwrap();
        both.step(&mut model, &mut solver, &mut state, 0.1).unwrap();
        assert_eq!(state.q, projected.q);
    }
}
