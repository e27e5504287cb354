//! Solvers of linear systems `A x = b` with symmetric matrices.
//!
//! Direct: [`Symbolic`] analyses a pattern once, [`Cholesky`] factors matrices of it, in `f64` or `f32`;
//! [`Ldlt`] those of saddle systems.

mod cholesky;
mod ldlt;
mod multifrontal;
mod operator;
mod ordering;
mod scalar;
mod substitution;
mod symbolic;
mod trapezoid;

use std::fmt::{self, Debug, Display};

use thiserror::Error;

pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use ldlt::{Ldlt, NotQuasiDefinite};
pub use operator::{Frames, Operator};
pub use scalar::Scalar;
pub use symbolic::{PatternTooLarge, Sign, Symbolic, SymbolicInfo};

/// Solves `A x = b`, step after step, for matrices of type `M` that change from one to the next.
pub trait LinearSolver<M>: Debug + Send {
    /// The matrix of the systems that follow.
    fn set_matrix(&mut self, matrix: &M) -> Result<(), SolveError>;

    /// Solve with the matrix that was set last, which is given again. On entry `x` is a guess, zero if there is none; after an
    /// error it has no meaning.
    fn solve(&mut self, matrix: &M, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError>;
}

/// What solving a system took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveInfo {
    /// How it was solved.
    pub method: Method,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Factorisations since the last solution, that of [`set_matrix`](LinearSolver::set_matrix) included.
    pub factorizations: usize,
    /// `|b − Ax| / |b|`, computed from the solution.
    pub residual: f64,
    /// How many numbers the factor has; 0 if there is none.
    pub fill: usize,
    /// The memory of the solver, in bytes.
    pub memory: usize,
}

/// The ways to solve a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// A dense factor.
    #[default]
    Dense,
    /// A sparse factor in double precision.
    Direct,
    /// A sparse factor in single precision, corrected by conjugate gradients.
    DirectSingle,
    /// Conjugate gradients with the inverses of the diagonal blocks.
    BlockJacobi,
    /// Conjugate gradients with an incomplete factor.
    IncompleteCholesky,
    /// Conjugate gradients with an old factor that turns with the body.
    OldFactor,
}

impl Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dense => "dense factor",
            Self::Direct => "direct",
            Self::DirectSingle => "direct in single precision",
            Self::BlockJacobi => "CG with block Jacobi",
            Self::IncompleteCholesky => "CG with block IC(0)",
            Self::OldFactor => "CG with an old factor",
        })
    }
}

/// Why a system was not solved.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum SolveError {
    #[error(transparent)]
    NotPositiveDefinite(#[from] NotPositiveDefinite),
    #[error(
        "conjugate gradients have not converged in {iterations} iterations: the residual is {residual:.1e} of the right-hand \
         side, expected {tolerance:.1e}. A direct solver, or a smaller time step, helps"
    )]
    NotConverged { iterations: usize, residual: f64, tolerance: f64 },
    #[error("{what} is not finite at coordinate {axis} of vertex {vertex}")]
    NotFinite { what: &'static str, vertex: usize, axis: usize },
    #[error(transparent)]
    PatternTooLarge(#[from] PatternTooLarge),
}
