//! Eigenvalues of small symmetric matrices.

use faer::{MatRef, Side};

use crate::solver::DenseMatrix;

/// `A = V Λ Vᵀ`.
#[derive(Debug, Clone)]
pub(super) struct Eigen {
    /// Ascending.
    pub values: Vec<f64>,
    /// Column by column, in the order of the values.
    pub vectors: DenseMatrix,
}

impl Eigen {
    /// Of a symmetric matrix, of which the lower triangle is read; none if it has numbers that are not finite.
    pub fn new(matrix: &DenseMatrix) -> Option<Self> {
        let n = matrix.size();
        if !matrix.values().iter().all(|number| number.is_finite()) {
            return None;
        }
        if n == 0 {
            return Some(Self { values: Vec::new(), vectors: DenseMatrix::zero(0) });
        }
        let eigen = MatRef::from_column_major_slice(matrix.values(), n, n).self_adjoint_eigen(Side::Lower).ok()?;
        let values = eigen.S().column_vector().iter().copied().collect();
        let mut vectors = DenseMatrix::zero(n);
        for column in 0..n {
            for row in 0..n {
                vectors[(row, column)] = eigen.U()[(row, column)];
            }
        }
        Some(Self { values, vectors })
    }

    /// One of the vectors.
    pub fn vector(&self, number: usize) -> &[f64] {
        let n = self.values.len();
        &self.vectors.values()[number * n..(number + 1) * n]
    }
}
