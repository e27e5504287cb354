//! Methods that advance a model in time.

use crate::integrator::{Integrator, Regularized};
use crate::model::Assembly;

/// Method that advances a model in time.
#[derive(Debug, Clone)]
pub enum Stepper {
    /// Integrator of any system.
    Integrator(Box<dyn Integrator<Assembly>>),
    /// Integrator with its own material law and linear solver.
    Regularized(Box<Regularized>),
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
