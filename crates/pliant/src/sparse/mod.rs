//! Symmetric sparse matrices of 3×3 blocks, with one row and column of blocks per vertex.
//!
//! The sparsity pattern, a [`BlockPattern`], is computed once; a [`BlockMatrix`] stores the values. Only the upper
//! triangle is stored: every matrix of a simulation (stiffness, mass, damping) is symmetric, and most operations are
//! bound by memory bandwidth. [`Scatter`] assembles element matrices on all threads.

mod low_rank;
mod matrix;
mod pattern;
mod scatter;
mod triplets;

pub use low_rank::{LowRank, OuterProduct};
pub use matrix::{BlockMatrix, Csr};
pub use pattern::BlockPattern;
pub use scatter::{Scatter, Target};
pub use triplets::{Triplets, TripletsError};
