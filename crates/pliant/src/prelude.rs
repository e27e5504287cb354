//! Imports for most programs: meshes, laws, models, integrators, solvers and simulations.
//!
//! ```
//! use pliant::prelude::*;
//!
//! let cube = generate::block([1.0; 3], [2; 3], Cells::Hex)?;
//! let steel = AnyLaw::new("linear", YoungPoisson { young: 2.1e11, poisson: 0.3 })?;
//! let model = Model::builder().body(Body::new(cube, steel, 7800.0)).build()?;
//! assert!((model.observe(&model.rest_state()).center_of_mass - Vec3::splat(0.5)).length() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It has the types that programs name, and the traits whose methods they call. Rarer types, such as errors, parameters
//! and single forces, are imported from their modules.

pub use crate::force::Force;
pub use crate::integrator::{BackwardEuler, Integrator, LinearizedBackwardEuler, Newmark, Static, SymplecticEuler};
pub use crate::material::{AnyLaw, Formula, Law, Material, NeoHookean, StableNeoHookean, YoungPoisson};
pub use crate::math::{Mat3, Vec3};
pub use crate::mesh::{Cells, ElementKind, SurfaceMesh, VolumeMesh, generate};
pub use crate::model::{Assembly, Body, Fixed, Model};
pub use crate::simulation::Simulation;
pub use crate::solver::{LinearSolver, SolverParams};
pub use crate::system::{State, System};
