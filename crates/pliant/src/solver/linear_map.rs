//! Matrix operations that iterative solvers need.

use super::{Operator, SolveError};
use crate::sparse::BlockMatrix;

/// Symmetric matrix that can be multiplied with a vector, assembled or matrix-free.
pub trait LinearMap {
    /// Returns the number of rows: three per vertex.
    fn size(&self) -> usize;

    /// Computes `y = A x`.
    fn mul(&self, x: &[f64], y: &mut [f64]);

    /// Sets `blocks` to the diagonal blocks of all vertices, in row-major order.
    fn diagonal_blocks(&self, blocks: &mut Vec<[f64; 9]>);

    /// Returns an error that locates a non-finite entry of the matrix, if one is known.
    fn not_finite(&self) -> Option<SolveError>;
}

impl LinearMap for BlockMatrix {
    fn size(&self) -> usize {
        3 * self.pattern().node_count()
    }

    fn mul(&self, x: &[f64], y: &mut [f64]) {
        Self::mul(self, x, y);
    }

    fn diagonal_blocks(&self, blocks: &mut Vec<[f64; 9]>) {
        let (all, _) = self.values().as_chunks();
        blocks.clear();
        blocks.extend((0..self.pattern().node_count()).map(|vertex| all[self.pattern().row(vertex).start]));
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
        self.low_rank.add_product(1.0, x, y);
    }

    fn diagonal_blocks(&self, blocks: &mut Vec<[f64; 9]>) {
        self.matrix.diagonal_blocks(blocks);
        self.low_rank.add_diagonal_blocks(blocks);
    }

    fn not_finite(&self) -> Option<SolveError> {
        matrix_not_finite(&self.matrix)
    }
}

/// Returns an error that locates the first non-finite entry of a matrix, or `None` if all are finite.
pub(super) fn matrix_not_finite(matrix: &BlockMatrix) -> Option<SolveError> {
    let place = matrix.values().iter().position(|number| !number.is_finite())?;
    let pattern = matrix.pattern();
    // The row of a slot is the last that begins at or before it.
    let (mut low, mut high) = (0, pattern.node_count());
    while high - low > 1 {
        let middle = low.midpoint(high);
        if pattern.row(middle).start <= place / 9 { low = middle } else { high = middle }
    }
    Some(SolveError::NotFinite { what: "the matrix", vertex: low, axis: place % 9 / 3 })
}
