//! The matrix of a body, with what is known of its motion.

use std::fmt::Debug;
use std::sync::Arc;

use crate::math::Mat3;
use crate::sparse::BlockMatrix;

/// How the neighbourhoods of vertices have turned since rest.
pub trait Frames: Debug + Send + Sync {
    /// The rotation of each vertex in a body with these displacements.
    fn rotations(&self, u: &[f64], rotations: &mut [Mat3]);
}

/// A matrix of a body in some state. Solvers that keep a factor for many steps ask it how the body has turned since.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The matrix. Rows and columns of coordinates that are held are those of a diagonal matrix.
    pub matrix: BlockMatrix,
    /// The displacements that it belongs to.
    pub u: Vec<f64>,
    /// How displacements turn neighbourhoods, if they do.
    pub frames: Option<Arc<dyn Frames>>,
}

impl Operator {
    /// A matrix alone, whose factors are used without turning them.
    pub fn new(matrix: BlockMatrix) -> Self {
        Self { u: vec![0.0; 3 * matrix.pattern().vertex_count()], matrix, frames: None }
    }
}
