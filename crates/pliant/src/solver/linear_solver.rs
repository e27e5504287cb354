//! Interface of linear solvers.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

use dyn_clone::DynClone;

use super::{SolveError, SolveInfo};

/// Solver of a sequence of systems `A x = b` whose matrices, of type `M`, change from one to the next.
///
/// # Examples
///
/// ```
/// use pliant::solver::{Dense, DenseMatrix, LinearSolver};
///
/// let mut matrix = DenseMatrix::zero(2);
/// (matrix[(0, 0)], matrix[(1, 1)]) = (4.0, 16.0);
/// let mut solver: Box<dyn LinearSolver<DenseMatrix>> = Box::new(Dense::default());
/// solver.set_matrix(&matrix)?;
/// let mut x = [0.0; 2];
/// let info = solver.solve(&matrix, &[1.0, 1.0], &mut x)?;
/// assert_eq!(x, [0.25, 0.0625]);
/// assert!(info.residual < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
