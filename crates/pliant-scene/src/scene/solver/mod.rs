//! Linear solvers: one file per solver with its options, and a line in [`SOLVERS`].

mod auto;
mod block_jacobi;
mod cg;
mod direct;
mod direct_single;
mod incomplete_cholesky;
mod options;
mod stale_factor;

use crate::registry::{Entry, Registry};

pub use auto::Auto;
pub use block_jacobi::BlockJacobi;
pub use cg::Cg;
pub use direct::Direct;
pub use direct_single::DirectSingle;
pub use incomplete_cholesky::IncompleteCholesky;
pub use options::{SolverChoice, SolverContext, SolverOptions};
pub use stale_factor::StaleFactor;

/// Linear solvers of scenes.
pub static SOLVERS: Registry<Entry<dyn SolverOptions>> = Registry::new(
    "solver",
    &[
        Entry::new::<Auto>("auto"),
        Entry::new::<Direct>("direct"),
        Entry::new::<DirectSingle>("direct-single"),
        Entry::new::<BlockJacobi>("block-jacobi"),
        Entry::new::<IncompleteCholesky>("incomplete-cholesky"),
        Entry::new::<StaleFactor>("stale-factor"),
    ],
);
