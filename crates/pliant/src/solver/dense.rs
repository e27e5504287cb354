//! Small systems with dense matrices, from reduced models and user-defined systems.

use std::ops::{Index, IndexMut};

use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{MatMut, MatRef, Par, Spec};

use super::scratch::Scratch;
use super::vector::norm;
use super::{LinearSolver, Method, SolveError, SolveInfo, Stamp};

/// Square matrix in column-major order with entries `matrix[(row, column)]`.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseMatrix {
    size: usize,
    values: Vec<f64>,
}

impl DenseMatrix {
    /// Creates a zero matrix.
    pub fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    /// Returns the number of rows, which is also the number of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the entries in column-major order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns mutable access to the entries in column-major order.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Computes `y = A x`.
    ///
    /// # Panics
    /// If the lengths differ from the size of the matrix.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        assert!(x.len() == self.size && y.len() == self.size, "vectors must have {} numbers", self.size);
        y.fill(0.0);
        for (column, x) in self.values.chunks_exact(self.size.max(1)).zip(x) {
            for (y, a) in y.iter_mut().zip(column) {
                *y += a * x;
            }
        }
    }

    /// Returns true if the matrix equals its transpose up to rounding, relative to the largest entries that a positive
    /// definite matrix can have there.
    fn is_symmetric(&self) -> bool {
        let diagonal = |i: usize| self[(i, i)].abs().sqrt();
        let near = |i: usize, j: usize| {
            let (a, b) = (self[(i, j)], self[(j, i)]);
            (a - b).abs() <= 1e-12 * (a.abs() + b.abs() + diagonal(i) * diagonal(j))
        };
        (0..self.size).all(|j| (0..j).all(|i| near(i, j)))
    }
}

impl Index<(usize, usize)> for DenseMatrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        assert!(row < self.size, "row {row} of {}", self.size);
        &self.values[column * self.size + row]
    }
}

impl IndexMut<(usize, usize)> for DenseMatrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        assert!(row < self.size, "row {row} of {}", self.size);
        &mut self.values[column * self.size + row]
    }
}

/// Dense direct solver: Cholesky, or `LU` with partial pivoting if the matrix is not symmetric positive definite.
#[derive(Debug, Clone, Default)]
pub struct Dense {
    factor: Vec<f64>,
    /// Row permutation of the elimination: row of each step, and step of each row.
    rows: Vec<usize>,
    steps: Vec<usize>,
    kind: Kind,
    /// True if a matrix that is not positive definite is an error.
    is_definite: bool,
    scratch: Scratch,
    product: Vec<f64>,
    factorizations: usize,
    stamp: Option<Stamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    None,
    Cholesky,
    Lu,
}

impl Dense {
    /// Creates a solver that returns an error for matrices that are not symmetric positive definite.
    pub fn definite() -> Self {
        Self { is_definite: true, ..Self::default() }
    }
}

/// Pivot threshold per row, relative to the largest entry: smaller pivots are rounding errors of a singular matrix.
const MIN_PIVOT: f64 = 1e-15;

impl LinearSolver<DenseMatrix> for Dense {
    fn set_matrix(&mut self, matrix: &DenseMatrix) -> Result<(), SolveError> {
        let n = matrix.size;
        self.kind = Kind::None;
        self.stamp = None;
        if let Some(place) = matrix.values.iter().position(|number| !number.is_finite()) {
            return Err(SolveError::NotFiniteAt { what: "the matrix", coordinate: place % n });
        }
        self.factorizations += 1;
        if self.factor.len() != n * n {
            self.factor.resize(n * n, 0.0);
            self.rows.resize(n, 0);
            self.steps.resize(n, 0);
        }
        let llt = cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default());
        let lu = lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Spec::default());
        let stack = self.scratch.stack(llt.or(lu));
        self.factor.copy_from_slice(&matrix.values);
        if matrix.is_symmetric() {
            let factor = MatMut::from_column_major_slice_mut(&mut self.factor, n, n);
            let done = cholesky_in_place(factor, LltRegularization::default(), Par::Seq, stack, Spec::default());
            let left = |i: usize| self.factor[i * n + i].powi(2) > MIN_PIVOT * n as f64 * matrix[(i, i)];
            if done.is_ok() && (0..n).all(left) {
                self.kind = Kind::Cholesky;
                self.stamp = Some(Stamp::new());
                return Ok(());
            }
            if self.is_definite {
                let coordinate = (0..n).find(|&i| !left(i)).unwrap_or(0);
                return Err(SolveError::NotDefinite { coordinate });
            }
            self.factor.copy_from_slice(&matrix.values);
        } else if self.is_definite {
            return Err(SolveError::NotDefinite { coordinate: 0 });
        }
        let factor = MatMut::from_column_major_slice_mut(&mut self.factor, n, n);
        lu_in_place(factor, &mut self.rows, &mut self.steps, Par::Seq, stack, Spec::default());
        for coordinate in 0..n {
            let column = &matrix.values[coordinate * n..(coordinate + 1) * n];
            let largest = column.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
            let pivot = self.factor[coordinate * n + coordinate].abs();
            // Also for NaN.
            if pivot.is_nan() || pivot <= MIN_PIVOT * n as f64 * largest {
                return Err(SolveError::Singular { coordinate });
            }
        }
        self.kind = Kind::Lu;
        self.stamp = Some(Stamp::new());
        Ok(())
    }

    fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    fn solve(&mut self, matrix: &DenseMatrix, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        let n = matrix.size;
        assert!(b.len() == n && x.len() == n, "vectors must have {n} numbers");
        if let Some(coordinate) = b.iter().position(|number| !number.is_finite()) {
            return Err(SolveError::NotFiniteAt { what: "the right-hand side", coordinate });
        }
        let factor = MatRef::from_column_major_slice(&self.factor, n, n);
        match self.kind {
            Kind::None => panic!("no matrix has been set"),
            Kind::Cholesky => {
                x.copy_from_slice(b);
                let mut x = MatMut::from_column_major_slice_mut(x, n, 1);
                solve_lower_triangular_in_place(factor, x.as_mut(), Par::Seq);
                solve_upper_triangular_in_place(factor.transpose(), x, Par::Seq);
            }
            Kind::Lu => {
                x.iter_mut().zip(&self.rows).for_each(|(x, &row)| *x = b[row]);
                let mut x = MatMut::from_column_major_slice_mut(x, n, 1);
                solve_unit_lower_triangular_in_place(factor, x.as_mut(), Par::Seq);
                solve_upper_triangular_in_place(factor, x, Par::Seq);
            }
        }
        self.product.resize(n, 0.0);
        matrix.mul(x, &mut self.product);
        self.product.iter_mut().zip(b).for_each(|(product, b)| *product -= b);
        let size = norm(b);
        Ok(SolveInfo {
            method: Method::Dense,
            iterations: 0,
            factorizations: std::mem::take(&mut self.factorizations),
            analyses: 0,
            reason: None,
            residual: if size > 0.0 { norm(&self.product) / size } else { 0.0 },
            fill: if self.kind == Kind::Cholesky { n * (n + 1) / 2 } else { n * n },
            memory: 8 * (self.factor.len() + self.rows.len() + self.steps.len() + self.product.len()),
        })
    }

    fn forget(&mut self) {
        self.factorizations = 0;
        self.stamp = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(n: usize, symmetric: bool, shift: f64) -> DenseMatrix {
        let mut matrix = DenseMatrix::zero(n);
        let mut rng = fastrand::Rng::with_seed(5);
        matrix.values_mut().iter_mut().for_each(|value| *value = rng.f64() - 0.5);
        for i in 0..n {
            for j in 0..i {
                if symmetric {
                    matrix[(i, j)] = matrix[(j, i)];
                }
            }
            matrix[(i, i)] += shift;
        }
        matrix
    }

    #[test]
    fn matrices_of_every_kind_are_solved_to_rounding() {
        let mut solver = Dense::default();
        for n in [1, 2, 7, 40] {
            for (symmetric, shift, kind) in
                [(true, n as f64, Kind::Cholesky), (true, -0.1, Kind::Lu), (false, n as f64, Kind::Lu)]
            {
                let matrix = random(n, symmetric, shift);
                let expected: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
                let (mut b, mut x) = (vec![0.0; n], vec![9.0; n]);
                matrix.mul(&expected, &mut b);
                solver.set_matrix(&matrix).unwrap();
                // A 1×1 matrix is always symmetric.
                assert!(solver.kind == kind || n == 1);
                let info = solver.solve(&matrix, &b, &mut x).unwrap();
                assert!(x.iter().zip(&expected).all(|(x, e)| (x - e).abs() < 1e-10), "{n} {symmetric} {shift}");
                assert!(info.residual < 1e-12 && info.factorizations == 1 && info.method == Method::Dense);
            }
        }
    }

    #[test]
    fn a_singular_matrix_and_a_number_that_is_not_are_named() {
        let mut matrix = random(6, true, 6.0);
        for i in 0..6 {
            matrix[(i, 4)] = 2.0 * matrix[(i, 1)];
        }
        let mut solver = Dense::default();
        assert_eq!(solver.set_matrix(&matrix), Err(SolveError::Singular { coordinate: 4 }));
        matrix[(2, 3)] = f64::INFINITY;
        let error = solver.set_matrix(&matrix).unwrap_err();
        assert_eq!(error.to_string(), "the matrix is not finite at coordinate 2");
        let matrix = random(3, true, 3.0);
        solver.set_matrix(&matrix).unwrap();
        let error = solver.solve(&matrix, &[1.0, f64::NAN, 0.0], &mut [0.0; 3]).unwrap_err();
        assert_eq!(error.to_string(), "the right-hand side is not finite at coordinate 1");
    }
}
