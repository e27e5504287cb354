//! Solvers for linear systems `A x = b` with symmetric matrices.
//!
//! Direct: [`Symbolic`] analyzes a sparsity pattern once and [`Cholesky`] factorizes matrices with that pattern in
//! `f64` or `f32`. [`Ldlt`] factorizes saddle-point systems.
//!
//! Iterative: [`ConjugateGradients`] with a [`Preconditioner`], for any [`LinearMap`].
//!
//! Simulations use a [`LinearSolver`] of either kind.

mod analysis;
mod auto;
mod block_jacobi;
mod cg;
mod cholesky;
mod dense;
mod direct;
mod dissection;
mod error;
mod frames;
mod guess;
mod incomplete_cholesky;
mod info;
mod ldlt;
mod linear_map;
mod linear_solver;
mod multifrontal;
mod operator;
mod ordering;
mod packed;
mod params;
mod scalar;
pub(crate) mod scratch;
mod stale_factor;
mod substitution;
mod symbolic;
#[cfg(test)]
mod testing;
mod trapezoid;
mod union;
pub(crate) mod vector;

pub use auto::{Auto, AutoParams, Choice, Reason};
pub use block_jacobi::BlockJacobi;
pub use cg::{CgInfo, CgParams, ConjugateGradients, Preconditioner};
pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use dense::{Dense, DenseMatrix};
pub use direct::{Direct, DirectSingle};
pub use error::SolveError;
pub use frames::VertexFrames;
pub use incomplete_cholesky::IncompleteCholesky;
pub use info::{Method, SolveInfo};
pub use ldlt::{Ldlt, NotQuasiDefinite};
pub use linear_map::LinearMap;
pub use linear_solver::{LinearSolver, Stamp};
pub use operator::{Frames, Operator};
pub use params::SolverParams;
pub use scalar::Scalar;
pub use stale_factor::{Precision, StaleFactor, StaleFactorParams};
pub use symbolic::{PatternTooLarge, Sign, Symbolic, SymbolicInfo};
