//! Matrix of a body with the state it belongs to.

use std::fmt::Debug;
use std::sync::Arc;

use crate::math::Mat3;
use crate::sparse::{BlockMatrix, LowRank};

/// Rotations of the neighborhoods of vertices since rest.
pub trait Frames: Debug + Send + Sync {
    /// Computes the rotation of each vertex in a body with displacements `u`.
    fn rotations(&self, u: &[f64], rotations: &mut [Mat3]);
}

/// Matrix of a body in some state. Solvers that keep a factor for many steps query the rotations since its
/// factorization.
#[derive(Debug, Clone)]
pub struct Operator {
    /// Matrix. Rows and columns of fixed coordinates are those of a diagonal matrix.
    pub matrix: BlockMatrix,
    /// Couplings outside of the pattern of the matrix, such as those of contacts, which are added to it.
    pub low_rank: LowRank,
    /// Displacements at which the matrix was assembled.
    pub u: Vec<f64>,
    /// Rotations of neighborhoods as a function of displacements, if available.
    pub frames: Option<Arc<dyn Frames>>,
}

impl Operator {
    /// Creates an operator from a matrix alone, whose factors are used without rotation.
    pub fn new(matrix: BlockMatrix) -> Self {
        Self { u: vec![0.0; 3 * matrix.pattern().node_count()], matrix, low_rank: LowRank::default(), frames: None }
    }
}
