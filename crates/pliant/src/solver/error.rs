//! Reasons for which a system could not be solved.

use thiserror::Error;

use super::{NotPositiveDefinite, PatternTooLarge};

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
