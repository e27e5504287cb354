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
mod frames;
mod guess;
mod incomplete_cholesky;
mod ldlt;
mod linear_map;
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

use std::fmt::{self, Debug, Display};
use std::sync::atomic::{AtomicU64, Ordering};

use dyn_clone::DynClone;
use thiserror::Error;

pub use auto::{Auto, AutoParams, Choice, Reason};
pub use block_jacobi::BlockJacobi;
pub use cg::{CgInfo, CgParams, ConjugateGradients, Preconditioner};
pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use dense::{Dense, DenseMatrix};
pub use direct::{Direct, DirectSingle};
pub use frames::VertexFrames;
pub use incomplete_cholesky::IncompleteCholesky;
pub use ldlt::{Ldlt, NotQuasiDefinite};
pub use linear_map::LinearMap;
pub use operator::{Frames, Operator};
pub use params::SolverParams;
pub use scalar::Scalar;
pub use stale_factor::{Precision, StaleFactor, StaleFactorParams};
pub use symbolic::{PatternTooLarge, Sign, Symbolic, SymbolicInfo};

/// Solver of a sequence of systems `A x = b` whose matrices, of type `M`, change from one to the next.
pub trait LinearSolver<M>: Debug + DynClone + Send {
    /// Sets the matrix of the systems that follow.
    fn set_matrix(&mut self, matrix: &M) -> Result<(), SolveError>;

    /// Returns an identifier of the last matrix set, which tells the caller whether that matrix is still in use. It is
    /// unique across all calls of [`set_matrix`](Self::set_matrix) in a program. Returns `None` if no matrix is set, or
    /// if setting one again costs little.
    fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// Solves with the last matrix set, which is passed again. On entry `x` is an initial guess, or zero. After an
    /// error its contents are unspecified.
    fn solve(&mut self, matrix: &M, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError>;

    /// Discards all matrices and solutions, so that later results are bitwise those of a new solver. Analyses of
    /// patterns and allocated memory may be kept.
    fn forget(&mut self);
}

dyn_clone::clone_trait_object!(<M> LinearSolver<M>);

/// Lets a solver that is chosen at run time stand where a solver of a known type is expected.
impl<M: 'static> LinearSolver<M> for Box<dyn LinearSolver<M>> {
    fn set_matrix(&mut self, matrix: &M) -> Result<(), SolveError> {
        (**self).set_matrix(matrix)
    }

    fn stamp(&self) -> Option<Stamp> {
        (**self).stamp()
    }

    fn solve(&mut self, matrix: &M, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        (**self).solve(matrix, b, x)
    }

    fn forget(&mut self) {
        (**self).forget();
    }
}

/// Identifier of a matrix that was given to a solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// Creates a unique identifier.
    #[allow(clippy::new_without_default, reason = "each one is unique")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Statistics of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveInfo {
    /// Method used.
    pub method: Method,
    /// Reason for the method, if the solver had a choice.
    pub reason: Option<Reason>,
    /// Number of conjugate gradient iterations.
    pub iterations: usize,
    /// Number of factorizations since the last solve, including the one of [`set_matrix`](LinearSolver::set_matrix).
    pub factorizations: usize,
    /// Total number of symbolic analyses by this solver.
    pub analyses: usize,
    /// Relative residual `|b − Ax| / |b|`, computed from the solution.
    pub residual: f64,
    /// Number of entries of the factor, or 0 without a factor.
    pub fill: usize,
    /// Memory of the solver \[bytes\].
    pub memory: usize,
}

/// Solution method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// Dense factorization.
    #[default]
    Dense,
    /// Sparse factorization in double precision.
    Direct,
    /// Sparse factorization in single precision, corrected by conjugate gradients.
    DirectSingle,
    /// Conjugate gradients, preconditioned with the inverse diagonal blocks.
    BlockJacobi,
    /// Conjugate gradients, preconditioned with an incomplete factorization.
    IncompleteCholesky,
    /// Conjugate gradients, preconditioned with a stale factor that is co-rotated with the body.
    StaleFactor,
}

impl Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dense => "dense factor",
            Self::Direct => "direct",
            Self::DirectSingle => "direct in single precision",
            Self::BlockJacobi => "CG with block Jacobi",
            Self::IncompleteCholesky => "CG with block IC(0)",
            Self::StaleFactor => "CG with a stale factor",
        })
    }
}

/// Reason for which a system could not be solved.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message describes each field")]
#[non_exhaustive]
pub enum SolveError {
    #[error(transparent)]
    NotPositiveDefinite(#[from] NotPositiveDefinite),
    #[error(
        "conjugate gradients did not converge in {iterations} iterations: expected a relative residual of {tolerance:.1e}, found \
         {residual:.1e}; use a direct solver or a smaller time step"
    )]
    NotConverged { iterations: usize, residual: f64, tolerance: f64 },
    #[error(
        "the matrix is not positive definite: conjugate gradients found a direction with pᵀAp = {curvature:.1e} pᵀp in iteration \
         {iteration}; use a projected tangent or a smaller time step"
    )]
    Indefinite { iteration: usize, curvature: f64 },
    #[error(
        "the matrix is not positive definite: zero or negative pivot at coordinate {coordinate}; use a projected tangent or a \
         smaller time step"
    )]
    NotDefinite { coordinate: usize },
    #[error("the matrix is singular: zero pivot at coordinate {coordinate}")]
    Singular { coordinate: usize },
    #[error("{what} is not finite at coordinate {axis} of vertex {vertex}")]
    NotFinite { what: &'static str, vertex: usize, axis: usize },
    #[error("{what} is not finite at coordinate {coordinate}")]
    NotFiniteAt { what: &'static str, coordinate: usize },
    #[error(transparent)]
    PatternTooLarge(#[from] PatternTooLarge),
    #[error("stopped")]
    Stopped,
}
