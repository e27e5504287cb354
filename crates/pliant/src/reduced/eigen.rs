//! Eigendecomposition of small symmetric matrices.

use faer::{MatRef, Side};

use crate::solver::DenseMatrix;

/// Eigendecomposition `A = V Λ Vᵀ`.
#[derive(Debug, Clone)]
pub(super) struct Eigen {
    /// Eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Eigenvectors as columns, in the order of the values.
    pub vectors: DenseMatrix,
}

impl Eigen {
    /// Decomposes a symmetric matrix given by its lower triangle. Returns `None` if an entry is not finite.
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

    /// Returns an eigenvector.
    pub fn vector(&self, number: usize) -> &[f64] {
        let n = self.values.len();
        &self.vectors.values()[number * n..(number + 1) * n]
    }
}
