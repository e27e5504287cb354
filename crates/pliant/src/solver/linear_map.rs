//! What iterative solvers need of a matrix.

use super::{Operator, SolveError};
use crate::sparse::BlockMatrix;

/// A symmetric matrix that can be multiplied by, whether its numbers are stored or not.
pub trait LinearMap {
    /// How many rows there are: three a vertex.
    fn size(&self) -> usize;

    /// `y = A x`.
    fn mul(&self, x: &[f64], y: &mut [f64]);

    /// The diagonal block of a vertex, row by row.
    fn diagonal_block(&self, vertex: usize) -> [f64; 9];

    /// An error that names a number of the matrix that is not finite, if one is known.
    fn not_finite(&self) -> Option<SolveError>;
}

impl LinearMap for BlockMatrix {
    fn size(&self) -> usize {
        3 * self.pattern().vertex_count()
    }

    fn mul(&self, x: &[f64], y: &mut [f64]) {
        Self::mul(self, x, y);
    }

    #[inline]
    fn diagonal_block(&self, vertex: usize) -> [f64; 9] {
        self.values().as_chunks().0[self.pattern().row(vertex).start]
    }

    fn not_finite(&self) -> Option<SolveError> {
        matrix_not_finite(self)
    }
}

impl LinearMap for Operator {
    fn size(&self) -> usize {
        self.matrix.size()
    }

    fn mul(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.mul(x, y);
    }

    #[inline]
    fn diagonal_block(&self, vertex: usize) -> [f64; 9] {
        self.matrix.diagonal_block(vertex)
    }

    fn not_finite(&self) -> Option<SolveError> {
        matrix_not_finite(&self.matrix)
    }
}

/// An error that names the first number of a matrix that is not finite, if there is one.
pub(super) fn matrix_not_finite(matrix: &BlockMatrix) -> Option<SolveError> {
    let place = matrix.values().iter().position(|number| !number.is_finite())?;
    let pattern = matrix.pattern();
    // The row of a slot is the last that begins at or before it.
    let (mut low, mut high) = (0, pattern.vertex_count());
    while high - low > 1 {
        let middle = low.midpoint(high);
        if pattern.row(middle).start <= place / 9 { low = middle } else { high = middle }
    }
    Some(SolveError::NotFinite { what: "the matrix", vertex: low, axis: place % 9 / 3 })
}
