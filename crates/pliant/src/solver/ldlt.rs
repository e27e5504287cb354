//! Sparse factorization `A = L S Lᵀ` of saddle-point systems, with signs `S` known in advance.

use std::sync::Arc;

use thiserror::Error;

use super::multifrontal::{Breakdown, Factor};
use super::symbolic::Symbolic;
use crate::sparse::BlockMatrix;

/// Error for a pivot that does not have the given sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the matrix does not have the given signs: the pivot at coordinate {axis} of vertex {vertex} is not {}; fix every body and \
     make the constraints linearly independent",
    if *is_negative { "negative" } else { "positive" }
)]
#[non_exhaustive]
pub struct NotQuasiDefinite {
    /// Vertex of the pivot.
    pub vertex: u32,
    /// Coordinate of the vertex: 0, 1 or 2.
    pub axis: usize,
    /// True if the pivot should be negative.
    pub is_negative: bool,
}

/// Sparse factor of a symmetric quasi-definite matrix: positive definite in some vertices, negative definite in the
/// others, with arbitrary coupling. Saddle-point systems, whose multipliers have a zero diagonal, are covered if their
/// constraints are linearly independent.
///
/// The factorization needs no pivoting, since [`Symbolic::with_signs`] takes the signs. It is as fast as a Cholesky
/// factorization.
#[derive(Debug, Clone)]
pub struct Ldlt {
    factor: Factor<f64>,
}

impl Ldlt {
    /// Allocates memory for factors of matrices with the analyzed pattern, with or without signs.
    pub fn new(symbolic: Arc<Symbolic>) -> Self {
        Self { factor: Factor::new(symbolic) }
    }

    /// Returns the symbolic analysis of the pattern.
    pub fn symbolic(&self) -> &Arc<Symbolic> {
        self.factor.symbolic()
    }

    /// Factorizes a matrix.
    ///
    /// # Panics
    /// If the matrix does not have the analyzed pattern.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<(), NotQuasiDefinite> {
        let error = |Breakdown { vertex, axis, is_negative }| NotQuasiDefinite { vertex, axis, is_negative };
        self.factor.factor(matrix).map_err(error)
    }

    /// Computes `x = A⁻¹ b`, both in the order of the vertices.
    ///
    /// # Panics
    /// If the lengths are not three times the number of vertices, or the last factorization failed.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        self.factor.solve(b, x);
    }
}

#[cfg(test)]
mod tests {
    use faer::linalg::solvers::Solve;
    use faer::{Mat, Side};

    use super::super::Sign;
    use super::*;
    use crate::sparse::BlockPattern;

    /// Returns random couplings on the edges of a grid of vertices and a few other edges. The diagonal makes the blocks
    /// of both signs definite, or is zero for negative ones if requested.
    fn quasi_definite(n: u32, negative_diagonal: bool, seed: u64) -> (BlockMatrix, Vec<Sign>) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let count = n * n * n;
        let mut edges = Vec::new();
        for vertex in 0..count {
            edges.extend([1, n, n * n, n * n + n + 1].iter().map(|step| [vertex, vertex + step]));
        }
        edges.retain(|edge| edge[1] < count);
        edges.extend((0..n).map(|_| [rng.u32(0..count / 2), rng.u32(count / 2..count)]));
        let mut signs = vec![Sign::Positive; count as usize];
        // Each multiplier has a neighbor that it shares with no other, so that the constraints are linearly
        // independent.
        (0..count).step_by(3).for_each(|vertex| signs[vertex as usize] = Sign::Negative);
        let pattern = BlockPattern::from_cliques(count as usize, edges.iter().map(<[u32; 2]>::as_slice));
        let mut matrix = BlockMatrix::zero(Arc::new(pattern));
        let mut diagonal = vec![0.1; count as usize];
        for [a, b] in edges {
            let block: [[f64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| rng.f64() - 0.5));
            let signs = [signs[a as usize], signs[b as usize]];
            if signs == [Sign::Negative; 2] && !negative_diagonal {
                continue;
            }
            matrix.add_block(a, b, &block);
            if signs[0] == signs[1] {
                // Diagonal dominance within each sign. The coupling between the signs is arbitrary.
                diagonal[a as usize] += 1.5;
                diagonal[b as usize] += 1.5;
            }
        }
        for (vertex, &sign) in signs.iter().enumerate() {
            let entry = match sign {
                Sign::Positive => diagonal[vertex],
                Sign::Negative if negative_diagonal => -diagonal[vertex],
                Sign::Negative => 0.0,
            };
            matrix.add_block(vertex as u32, vertex as u32, &[[entry, 0.0, 0.0], [0.0, entry, 0.0], [0.0, 0.0, entry]]);
        }
        (matrix, signs)
    }

    fn solve(matrix: &BlockMatrix, signs: &[Sign], b: &[f64]) -> Vec<f64> {
        let mut ldlt = Ldlt::new(Arc::new(Symbolic::with_signs(matrix.pattern().clone(), signs).unwrap()));
        // Twice, since memory is reused.
        ldlt.factor(matrix).unwrap();
        ldlt.factor(matrix).unwrap();
        let mut x = vec![f64::NAN; b.len()];
        ldlt.solve(b, &mut x);
        x
    }

    fn right_hand_side(matrix: &BlockMatrix) -> Vec<f64> {
        (0..3 * matrix.pattern().node_count()).map(|i| (i as f64).sin()).collect()
    }

    #[test]
    fn random_quasi_definite_systems_are_solved_as_densely() {
        for (n, negative_diagonal) in [(2, true), (3, false), (5, true), (5, false), (8, true), (8, false)] {
            let (matrix, signs) = quasi_definite(n, negative_diagonal, u64::from(n));
            let b = right_hand_side(&matrix);
            let csr = matrix.to_csr();
            let mut dense = Mat::<f64>::zeros(b.len(), b.len());
            for row in 0..b.len() {
                csr.row(row).for_each(|(column, entry)| dense[(row, column as usize)] = entry);
            }
            let expected = dense.lblt(Side::Lower).solve(Mat::from_fn(b.len(), 1, |i, _| b[i]));
            let x = solve(&matrix, &signs, &b);
            let largest = (0..b.len()).fold(0.0, |most, i| f64::max(most, expected[(i, 0)].abs()));
            for i in 0..b.len() {
                let error = (x[i] - expected[(i, 0)]).abs() / largest;
                assert!(error < 1e-9, "{n} {negative_diagonal} {i}: {error:e}");
            }
        }
    }

    #[test]
    fn the_solution_is_bitwise_the_same_on_one_and_on_four_threads() {
        let (matrix, signs) = quasi_definite(15, true, 1);
        let b = right_hand_side(&matrix);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve(&matrix, &signs, &b))
        };
        assert_eq!(on(1), on(4));
    }

    #[test]
    fn a_pivot_of_the_wrong_sign_is_named() {
        let (matrix, signs) = quasi_definite(4, true, 2);
        let wrong = |vertex: usize| {
            let mut signs = signs.clone();
            signs[vertex] = if signs[vertex] == Sign::Positive { Sign::Negative } else { Sign::Positive };
            let symbolic = Symbolic::with_signs(matrix.pattern().clone(), &signs).unwrap();
            Ldlt::new(Arc::new(symbolic)).factor(&matrix).unwrap_err()
        };
        assert!(wrong(6).to_string().contains("is not positive"), "{}", wrong(6));
        assert!(wrong(7).to_string().contains("is not negative"), "{}", wrong(7));
        // An uncoupled pivot identifies the vertex unambiguously.
        let pattern = BlockPattern::from_cliques(3, [[0_u32, 1]].iter().map(<[u32; 2]>::as_slice));
        let mut matrix = BlockMatrix::zero(Arc::new(pattern));
        for vertex in 0..3 {
            matrix.add_block(vertex, vertex, &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        }
        let signs = [Sign::Positive, Sign::Positive, Sign::Negative];
        let symbolic = Symbolic::with_signs(matrix.pattern().clone(), &signs).unwrap();
        let error = Ldlt::new(Arc::new(symbolic)).factor(&matrix).unwrap_err();
        assert_eq!(error, NotQuasiDefinite { vertex: 2, axis: 0, is_negative: true });
    }

    #[test]
    fn constraints_that_depend_on_each_other_are_found() {
        // Two multipliers that constrain the same vertex.
        let pattern = BlockPattern::from_cliques(3, [[0_u32, 1], [0, 2]].iter().map(<[u32; 2]>::as_slice));
        let mut matrix = BlockMatrix::zero(Arc::new(pattern));
        let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        [(0, 0), (0, 1), (0, 2)].iter().for_each(|&(a, b)| matrix.add_block(a, b, &identity));
        let signs = [Sign::Positive, Sign::Negative, Sign::Negative];
        let symbolic = Symbolic::with_signs(matrix.pattern().clone(), &signs).unwrap();
        assert!(Ldlt::new(Arc::new(symbolic)).factor(&matrix).unwrap_err().is_negative);
    }
}
