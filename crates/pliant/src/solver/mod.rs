//! Solvers of linear systems `A x = b` with symmetric positive definite block matrices.
//!
//! Direct: [`Symbolic`] analyses a pattern once, [`Cholesky`] factors matrices of it, in `f64` or `f32`.

mod cholesky;
mod ordering;
mod scalar;
mod symbolic;

pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use scalar::Scalar;
pub use symbolic::{PatternTooLarge, Symbolic, SymbolicInfo};
