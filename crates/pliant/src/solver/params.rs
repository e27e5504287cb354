//! Solver selection as a value.

use super::{
    Auto, AutoParams, BlockJacobi, CgParams, Direct, DirectSingle, IncompleteCholesky, LinearSolver, Operator,
    StaleFactor, StaleFactorParams,
};

/// Solver with its parameters.
///
/// # Examples
///
/// ```
/// use pliant::solver::{AutoParams, CgParams, SolverParams};
///
/// // The solver of simulations selects its method from the matrix.
/// let solver = SolverParams::default().build();
/// // A factor of at most 2 GB, and a tighter tolerance.
/// let cg = CgParams { tolerance: 1e-9, ..CgParams::default() };
/// let params = SolverParams::Auto(AutoParams { cg, max_memory: 2 << 30 });
/// assert_ne!(params, SolverParams::default());
/// # drop((solver, params.build()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SolverParams {
    /// Method chosen from the matrix.
    Auto(AutoParams),
    /// Factorization of every matrix in double precision.
    Direct,
    /// Factorization of every matrix in single precision, corrected by conjugate gradients.
    DirectSingle(CgParams),
    /// Conjugate gradients, preconditioned with the inverse diagonal blocks.
    BlockJacobi(CgParams),
    /// Conjugate gradients, preconditioned with an incomplete factorization.
    IncompleteCholesky(CgParams),
    /// Conjugate gradients, preconditioned with a stale factor that is co-rotated with the body.
    StaleFactor(StaleFactorParams),
}

impl Default for SolverParams {
    fn default() -> Self {
        Self::Auto(AutoParams::default())
    }
}

impl SolverParams {
    /// Creates the solver.
    pub fn build(&self) -> Box<dyn LinearSolver<Operator>> {
        match *self {
            Self::Auto(params) => Box::new(Auto::new(params)),
            Self::Direct => Box::new(Direct::default()),
            Self::DirectSingle(params) => Box::new(DirectSingle::new(params)),
            Self::BlockJacobi(params) => Box::new(BlockJacobi::new(params)),
            Self::IncompleteCholesky(params) => Box::new(IncompleteCholesky::new(params)),
            Self::StaleFactor(params) => Box::new(StaleFactor::new(params)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Method;
    use crate::solver::testing::{assert_solves, bar};

    #[test]
    fn every_solver_can_be_asked_for() {
        let operator = bar([8, 2, 2], 1e5, 0.01, 0.3);
        let cg = CgParams::default();
        for (params, method) in [
            (SolverParams::default(), Method::DirectSingle),
            (SolverParams::Direct, Method::Direct),
            (SolverParams::DirectSingle(cg), Method::DirectSingle),
            (SolverParams::BlockJacobi(cg), Method::BlockJacobi),
            (SolverParams::IncompleteCholesky(cg), Method::IncompleteCholesky),
            (SolverParams::StaleFactor(StaleFactorParams::default()), Method::DirectSingle),
        ] {
            assert_eq!(assert_solves(&mut *params.build(), &operator, 1e-4).method, method, "{params:?}");
        }
    }
}
