//! Interface of integrators.

use std::fmt::Debug;

use dyn_clone::DynClone;

use super::{StepError, StepInfo};
use crate::solver::LinearSolver;
use crate::system::{State, System};

/// Integrator that steps systems in time.
///
/// It serves one system and one solver, as it may rely on matrices that it gave to the solver in earlier steps.
///
/// # Examples
///
/// ```
/// # use pliant::prelude::*;
/// # let cube = generate::block([0.1; 3], [2; 3], Cells::Tet6)?;
/// # let foam = AnyLaw::new("neo-hookean", YoungPoisson { young: 1e5, poisson: 0.3 })?;
/// # let model = Model::builder().body(Body::new(cube, foam, 200.0)).gravity(Vec3::NEG_Y).build()?;
/// let start = model.rest_state();
/// let mut assembly = Assembly::new(model);
/// let mut solver = SolverParams::default().build();
/// let integrators: [Box<dyn Integrator<Assembly>>; 2] =
///     [Box::new(BackwardEuler::default()), Box::new(Newmark::default())];
/// for mut integrator in integrators {
///     let mut state = start.clone();
///     integrator.step(&mut assembly, &mut solver, &mut state, 0.01)?;
///     assert!((state.v[1] + 0.01).abs() < 1e-6);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Integrator<S: System>: Debug + DynClone + Send {
    /// Returns true if bodies have inertia, and false if they move from equilibrium to equilibrium.
    fn has_inertia(&self) -> bool {
        true
    }

    /// Advances the state by `dt` \[s\]. On error the state is unchanged.
    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError>;
}

dyn_clone::clone_trait_object!(<S: System> Integrator<S>);

impl<S: System> Integrator<S> for Box<dyn Integrator<S>> {
    fn has_inertia(&self) -> bool {
        (**self).has_inertia()
    }

    fn step(
        &mut self,
        system: &mut S,
        solver: &mut dyn LinearSolver<S::Matrix>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        (**self).step(system, solver, state, dt)
    }
}
