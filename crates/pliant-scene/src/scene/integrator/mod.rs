//! Integrators: one file per integrator with its options, and a line in [`INTEGRATORS`].

mod backward_euler;
mod bdf2;
mod central_differences;
mod exact_modes;
mod explicit_euler;
mod linearized_backward_euler;
mod newmark;
mod newton;
mod options;
mod regularized;
mod static_equilibrium;
mod symplectic_euler;

use crate::registry::{Entry, Registry};

pub use backward_euler::BackwardEuler;
pub use bdf2::Bdf2;
pub use central_differences::CentralDifferences;
pub use exact_modes::ExactModes;
pub use explicit_euler::ExplicitEuler;
pub use linearized_backward_euler::LinearizedBackwardEuler;
pub use newmark::Newmark;
pub use newton::{DampingState, Newton, NewtonTangent};
pub use options::{IntegratorChoice, IntegratorContext, IntegratorOptions};
pub use regularized::{Elimination, Regularized, Strain};
pub use static_equilibrium::Static;
pub use symplectic_euler::SymplecticEuler;

/// Integrators of scenes.
pub static INTEGRATORS: Registry<Entry<dyn IntegratorOptions>> = Registry::new(
    "integrator",
    &[
        Entry::new::<BackwardEuler>("backward-euler"),
        Entry::new::<LinearizedBackwardEuler>("linearized-backward-euler"),
        Entry::new::<Bdf2>("bdf2"),
        Entry::new::<Newmark>("newmark"),
        Entry::new::<CentralDifferences>("central-differences"),
        Entry::new::<SymplecticEuler>("symplectic-euler"),
        Entry::new::<ExplicitEuler>("explicit-euler"),
        Entry::new::<Regularized>("regularized"),
        Entry::new::<Static>("static"),
        Entry::new::<ExactModes>("exact-modes"),
    ],
);
