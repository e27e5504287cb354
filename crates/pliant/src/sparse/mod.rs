//! Symmetric sparse matrices of 3×3 blocks, one row and column of blocks for each vertex.
//!
//! Which blocks there are, the [`BlockPattern`], is worked out once; a [`BlockMatrix`] has numbers for them. Only the upper triangle is
//! stored: every matrix of a simulation (stiffness, mass, damping) is symmetric, and the memory that is read and written
//! bounds the time of most of what is done with them. [`Scatter`] adds the small matrices of elements to it on all threads.

mod matrix;
mod pattern;
mod scatter;
mod triplets;

pub use matrix::{BlockMatrix, Csr};
pub use pattern::BlockPattern;
pub use scatter::{Scatter, Target};
pub use triplets::{Triplets, TripletsError};
