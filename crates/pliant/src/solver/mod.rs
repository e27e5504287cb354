//! Solvers of linear systems `A x = b` with symmetric matrices.
//!
//! Direct: [`Symbolic`] analyses a pattern once, [`Cholesky`] factors matrices of it, in `f64` or `f32`;
//! [`Ldlt`] those of saddle systems.
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
mod old_factor;
mod operator;
mod ordering;
mod packed;
mod params;
mod scalar;
pub(crate) mod scratch;
mod substitution;
mod symbolic;
#[cfg(test)]
mod testing;
mod trapezoid;
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
pub use old_factor::{OldFactor, OldFactorParams, Precision};
pub use operator::{Frames, Operator};
pub use params::SolverParams;
pub use scalar::Scalar;
pub use symbolic::{PatternTooLarge, Sign, Symbolic, SymbolicInfo};

/// Solves `A x = b`, step after step, for matrices of type `M` that change from one to the next.
pub trait LinearSolver<M>: Debug + DynClone + Send {
    /// The matrix of the systems that follow.
    fn set_matrix(&mut self, matrix: &M) -> Result<(), SolveError>;

    /// Names the matrix that was set last, so that who set it can tell whether it still is: no two calls of
    /// [`set_matrix`](Self::set_matrix) in a program have the same. None if there is no matrix, or if setting one again costs little.
    fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// Solve with the matrix that was set last, which is given again. On entry `x` is a guess, zero if there is none; after an
    /// error it has no meaning.
    fn solve(&mut self, matrix: &M, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError>;

    /// Forget all matrices and solutions, so that what follows is, to the last bit, what a new solver would find. Analyses of patterns and
    /// memory may be kept.
    fn forget(&mut self);
}

dyn_clone::clone_trait_object!(<M> LinearSolver<M>);

/// Names a matrix that was given to a solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// A new one.
    #[allow(clippy::new_without_default, reason = "each is another")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What solving a system took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveInfo {
    /// How it was solved.
    pub method: Method,
    /// Why it was solved so, if the solver had the choice.
    pub reason: Option<Reason>,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Factorisations since the last solution, that of [`set_matrix`](LinearSolver::set_matrix) included.
    pub factorizations: usize,
    /// Analyses of patterns, in all that the solver has done.
    pub analyses: usize,
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
    #[error(
        "the matrix is not positive definite: conjugate gradients have met a direction with pᵀAp = {curvature:.1e} pᵀp in iteration \
         {iteration}. A projected tangent or a smaller time step helps"
    )]
    Indefinite { iteration: usize, curvature: f64 },
    #[error(
        "the matrix is not positive definite: elimination leaves nothing, or less, of coordinate {coordinate}. A projected tangent or a smaller time step \
         helps"
    )]
    NotDefinite { coordinate: usize },
    #[error("the matrix is singular: elimination leaves nothing of coordinate {coordinate}")]
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
