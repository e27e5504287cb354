//! Methods that advance a model in time.

use crate::integrator::{Integrator, Regularized, StepError, StepInfo};
use crate::model::Assembly;
use crate::solver::{LinearSolver, Operator};
use crate::system::State;

/// Method that advances a model in time.
///
/// [`Regularized`] is no [`Integrator`], because it steps models without elasticity only. It therefore cannot be part
/// of a [`Halving`](crate::integrator::Halving) or a [`Fallback`](crate::integrator::Fallback), whose steps would be
/// those of a model with elasticity:
///
/// ```compile_fail
/// use pliant::integrator::{Halving, Regularized};
/// use pliant::simulation::Stepper;
///
/// fn halved(regularized: Regularized) -> Stepper {
///     Halving::new(regularized, 4).into()
/// }
/// ```
#[derive(Debug, Clone)]
pub enum Stepper {
    /// Integrator of any system.
    Integrator(Box<dyn Integrator<Assembly>>),
    /// Integrator with its own material law and linear solver.
    Regularized(Box<Regularized>),
}

impl Stepper {
    /// Advances the state by `dt` \[s\]. On error the state is unchanged. A [`Regularized`] integrator does not use the
    /// solver.
    ///
    /// # Panics
    /// If a [`Regularized`] integrator was created for another model.
    pub fn step(
        &mut self,
        assembly: &mut Assembly,
        solver: &mut dyn LinearSolver<Operator>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        match self {
            Self::Integrator(integrator) => integrator.step(assembly, solver, state, dt),
            Self::Regularized(regularized) => regularized.step(assembly, state, dt),
        }
    }

    /// Returns true if bodies have inertia, and false if they move from equilibrium to equilibrium.
    pub fn has_inertia(&self) -> bool {
        match self {
            Self::Integrator(integrator) => integrator.has_inertia(),
            Self::Regularized(_) => true,
        }
    }

    /// Returns true if elasticity is that of a [`Regularized`] integrator, so that the model has none.
    pub fn is_regularized(&self) -> bool {
        matches!(self, Self::Regularized(_))
    }
}

impl<I: Integrator<Assembly> + 'static> From<I> for Stepper {
    fn from(integrator: I) -> Self {
        Self::Integrator(Box::new(integrator))
    }
}

impl From<Regularized> for Stepper {
    fn from(regularized: Regularized) -> Self {
        Self::Regularized(Box::new(regularized))
    }
}
