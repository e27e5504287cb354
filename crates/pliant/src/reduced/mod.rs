//! Reduced models: `u = U q` with a few tens of coordinates instead of three per vertex.
//!
//! - [`Modes`]: the lowest natural modes, `K φ = ω² M φ`.
//! - [`modal_derivatives`]: the derivatives of modes along other modes, for large deformations.
//! - [`Basis`]: the columns of `U`, built from modes and modal derivatives, from snapshots of a simulation, or
//!   user-defined.
//! - [`Reduction`]: a basis with reduced elastic forces ([`ReducedElasticity`]), which can be saved to a file. Forces
//!   are a polynomial for St. Venant–Kirchhoff ([`StVkTensors`]) and sums over elements for any law
//!   ([`ReducedElements`]).
//! - [`ReducedModel`]: a [`System`](crate::system::System) for any integrator, and [`ExactModes`], an integrator for it
//!   alone.
//!
//! ```
//! use std::ops::ControlFlow;
//! use pliant::integrator::{Integrator, LinearizedBackwardEuler};
//! use pliant::material::{AnyLaw, YoungPoisson};
//! use pliant::math::Vec3;
//! use pliant::mesh::{Cells, generate};
//! use pliant::model::{Body, Fixed, Model};
//! use pliant::reduced::{ReducedModel, Reduction, ReductionParams};
//! use pliant::solver::Dense;
//!
//! let bar = generate::block([1.0, 0.1, 0.1], [20, 2, 2], Cells::Tet6)?;
//! let clamp = bar.vertex_sets()["x-min"].clone();
//! let law = AnyLaw::new("stvk", YoungPoisson { young: 1e6, poisson: 0.3 })?;
//! let model = Model::builder()
//!     .body(Body::new(bar, law, 1000.0))
//!     .fix(Fixed::new(clamp))
//!     .gravity(Vec3::new(0.0, -9.81, 0.0))
//!     .build()?;
//!
//! let (reduction, info) = Reduction::new(&model, &ReductionParams::new(10), &mut |_| ControlFlow::Continue(()))?;
//! assert!(info.basis.kept > 0.999);
//!
//! let mut reduced = ReducedModel::new(model, reduction)?;
//! let (mut state, mut solver) = (reduced.rest_state(), Dense::default());
//! let mut integrator = LinearizedBackwardEuler::default();
//! for _ in 0..100 {
//!     integrator.step(&mut reduced, &mut solver, &mut state, 0.005)?;
//! }
//! let sag = reduced.expand(&state).q.iter().fold(0.0_f64, |lowest, u| lowest.min(*u));
//! assert!(sag < -0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod basis;
#[cfg(feature = "formats")]
mod basis_file;
mod columns;
mod cubature;
mod derivatives;
mod eigen;
mod elasticity;
mod elements;
mod exact;
mod external;
mod file;
mod floating_frame;
mod frame;
mod inverse;
mod krylov;
mod model;
mod modes;
mod nnls;
mod reduction;
mod rigid;
mod stvk;

pub use basis::{Basis, BasisError, BasisInfo, nearest_placement};
pub use cubature::{CubatureInfo, CubatureParams};
pub use derivatives::{ModalDerivative, StiffnessDerivative, modal_derivatives};
pub use elasticity::ReducedElasticity;
pub use elements::{ReducedElements, WeightedElement};
pub use exact::ExactModes;
pub use floating_frame::FloatingFrame;
pub use frame::Placement;
pub use model::ReducedModel;
pub use modes::{Modes, ModesError, ModesInfo, ModesParams};
pub use reduction::{Forces, Progress, Reduction, ReductionError, ReductionInfo, ReductionParams};
pub use stvk::StVkTensors;
