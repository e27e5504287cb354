//! Symmetric matrices of low rank, as sums of outer products of sparse vectors.

use super::{BlockMatrix, BlockPattern};
use crate::math::Vec3;

/// Symmetric matrix `C = Σ σ q qᵀ` of sparse vectors `q`, each with three numbers per node at a few vertices.
///
/// It contains couplings that come and go while bodies move, such as those of contacts, next to a [`BlockMatrix`] with
/// a fixed pattern. A contact pair is one term along its normal and at most two along its tangents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LowRank {
    /// Factor `σ` of each term.
    factors: Vec<f64>,
    /// End of the vector of each term in `entries`.
    ends: Vec<usize>,
    entries: Vec<(u32, Vec3)>,
}

/// Term `σ q qᵀ` of a [`LowRank`] matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OuterProduct<'a> {
    /// Factor `σ`.
    pub factor: f64,
    /// Nonzero blocks of `q`, with their vertices.
    pub vector: &'a [(u32, Vec3)],
}

impl OuterProduct<'_> {
    /// Returns `q · x`.
    fn dot(&self, x: &[f64]) -> f64 {
        self.vector.iter().map(|&(vertex, q)| q.dot(Vec3::from_slice(&x[3 * vertex as usize..]))).sum()
    }
}

impl LowRank {
    /// Returns the number of terms, an upper bound of the rank.
    pub fn term_count(&self) -> usize {
        self.factors.len()
    }

    /// Returns true if the matrix is zero because it has no terms.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// Removes all terms, and keeps the memory.
    pub fn clear(&mut self) {
        self.factors.clear();
        self.ends.clear();
        self.entries.clear();
    }

    /// Adds the term `σ q qᵀ`, with the nonzero blocks of `q` at different vertices.
    pub fn push(&mut self, factor: f64, vector: impl IntoIterator<Item = (u32, Vec3)>) {
        self.entries.extend(vector);
        self.factors.push(factor);
        self.ends.push(self.entries.len());
    }

    /// Iterates over the terms.
    pub fn terms(&self) -> impl Iterator<Item = OuterProduct<'_>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let ranges = starts.zip(&self.ends).map(|(&start, &end)| start..end);
        self.factors.iter().zip(ranges).map(|(&factor, range)| OuterProduct { factor, vector: &self.entries[range] })
    }

    /// Adds the terms of another matrix times a factor.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        for term in other.terms() {
            self.push(factor * term.factor, term.vector.iter().copied());
        }
    }

    /// Computes `y += factor C x`, on one thread and in the order of the terms, so that the result does not depend on
    /// the number of threads.
    ///
    /// # Panics
    /// If a vector does not have three numbers per node.
    pub fn add_product(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        for term in self.terms() {
            let along = factor * term.factor * term.dot(x);
            for &(vertex, q) in term.vector {
                let y = &mut y[3 * vertex as usize..];
                (Vec3::from_slice(y) + along * q).write_to_slice(y);
            }
        }
    }

    /// Adds the diagonal blocks, row by row, to one block per vertex.
    ///
    /// # Panics
    /// If a vertex has no block.
    pub fn add_diagonal_blocks(&self, blocks: &mut [[f64; 9]]) {
        for term in self.terms() {
            for &(vertex, q) in term.vector {
                add_outer(&mut blocks[vertex as usize], term.factor, q, q);
            }
        }
    }

    /// Sets the rows and columns of fixed coordinates to zero.
    pub fn eliminate(&mut self, fixed: &[bool]) {
        for (vertex, q) in &mut self.entries {
            for axis in 0..3 {
                if fixed.get(3 * *vertex as usize + axis).is_some_and(|fixed| *fixed) {
                    q[axis] = 0.0;
                }
            }
        }
    }

    /// Returns true if a pattern has a block for every pair of vertices of every term.
    pub fn fits(&self, pattern: &BlockPattern) -> bool {
        self.pairs().all(|(a, b)| pattern.slot(a, b).is_some())
    }

    /// Returns the smallest pattern with all blocks of another and of this matrix.
    pub fn union(&self, pattern: &BlockPattern) -> BlockPattern {
        let count = pattern.node_count();
        let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(pattern.slot_count());
        for row in 0..count {
            pairs.extend(pattern.row(row).map(|slot| [row as u32, pattern.columns()[slot]]));
        }
        pairs.extend(self.pairs().map(|(a, b)| [a, b]));
        BlockPattern::from_cliques(count, pairs.iter().map(<[u32; 2]>::as_slice))
    }

    /// Adds the matrix to one whose pattern [has all its blocks](Self::fits).
    ///
    /// # Panics
    /// If the pattern lacks a block.
    pub fn add_to(&self, matrix: &mut BlockMatrix) {
        let pattern = matrix.pattern().clone();
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for term in self.terms() {
            for (i, &(a, q_a)) in term.vector.iter().enumerate() {
                for &(b, q_b) in &term.vector[i..] {
                    let slot = pattern.slot(a, b).expect("a pattern with all blocks of the low-rank matrix");
                    let (row, column) = if a <= b { (q_a, q_b) } else { (q_b, q_a) };
                    add_outer(&mut blocks[slot], term.factor, row, column);
                }
            }
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.terms().flat_map(|OuterProduct { vector, .. }| {
            vector.iter().enumerate().flat_map(|(i, &(a, _))| vector[i..].iter().map(move |&(b, _)| (a, b)))
        })
    }
}

/// Adds `σ a bᵀ` to a block, row by row.
fn add_outer(block: &mut [f64; 9], factor: f64, a: Vec3, b: Vec3) {
    for i in 0..3 {
        for j in 0..3 {
            block[3 * i + j] += factor * a[i] * b[j];
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn three_terms() -> LowRank {
        let mut matrix = LowRank::default();
        matrix.push(2.0, [(4, Vec3::new(1.0, -2.0, 0.5)), (1, Vec3::new(0.3, 0.0, -1.0))]);
        matrix.push(-1.5, [(0, Vec3::X)]);
        matrix.push(0.7, [(2, Vec3::ONE), (3, -Vec3::Y), (0, Vec3::new(0.1, 0.2, 0.3)), (1, Vec3::Z)]);
        matrix
    }

    #[test]
    fn the_product_is_that_of_the_matrix_assembled_in_the_union_of_patterns() {
        let low_rank = three_terms();
        let elements: [&[u32]; 2] = [&[0, 1], &[3, 4]];
        let base = BlockPattern::from_cliques(5, elements.into_iter());
        assert!(!low_rank.fits(&base));
        let union = Arc::new(low_rank.union(&base));
        assert!(low_rank.fits(&union) && union.slots_of(&base).count() == base.slot_count());
        let mut matrix = BlockMatrix::zero(union);
        low_rank.add_to(&mut matrix);
        let x: Vec<f64> = (0..15).map(|i| (1.7 * f64::from(i)).sin()).collect();
        let (mut y, mut expected) = (vec![0.0; 15], vec![0.0; 15]);
        low_rank.add_product(1.0, &x, &mut y);
        matrix.mul(&x, &mut expected);
        assert!(y.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14), "{y:?} {expected:?}");
        let mut blocks = [[0.0; 9]; 5];
        low_rank.add_diagonal_blocks(&mut blocks);
        for (vertex, block) in (0..).zip(blocks) {
            assert_eq!(matrix.block(vertex, vertex).as_flattened(), block);
        }
    }

    #[test]
    fn scaled_terms_and_fixed_coordinates_act_as_in_a_matrix() {
        let low_rank = three_terms();
        let mut sum = LowRank::default();
        sum.add_scaled(3.0, &low_rank);
        assert_eq!(sum.term_count(), 3);
        let mut fixed = [false; 15];
        (fixed[3], fixed[14]) = (true, true);
        sum.eliminate(&fixed);
        let x: Vec<f64> = (0..15).map(|i| 1.0 + f64::from(i)).collect();
        let free: Vec<f64> = x.iter().zip(fixed).map(|(x, fixed)| if fixed { 0.0 } else { *x }).collect();
        let (mut y, mut expected) = (vec![0.0; 15], vec![0.0; 15]);
        sum.add_product(1.0, &x, &mut y);
        low_rank.add_product(3.0, &free, &mut expected);
        (expected[3], expected[14]) = (0.0, 0.0);
        assert!(y.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{y:?} {expected:?}");
    }
}
