//! Statistics of solves, and methods.

use std::fmt::{self, Display};

use super::Reason;

/// Statistics of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveInfo {
    /// Method used.
    pub method: Method,
    /// Reason for the method, if the solver had a choice.
    pub reason: Option<Reason>,
    /// Number of conjugate gradient iterations.
    pub iterations: usize,
    /// Number of factorizations since the last solve, including the one of
    /// [`set_matrix`](super::LinearSolver::set_matrix).
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
