//! Symmetric block matrix on a sparsity pattern.

use std::sync::Arc;

use rayon::prelude::*;

use super::BlockPattern;
use super::pattern::Crossing;
use crate::math::{Kernel, Simd, dispatch, fused};

/// Symmetric matrix of 3×3 blocks, stored as its upper triangle.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockMatrix {
    pattern: Arc<BlockPattern>,
    /// Nine numbers per slot, row-major.
    values: Vec<f64>,
}

/// Matrix in compressed sparse row format, with both triangles.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    /// Offset of each row in the other two arrays, followed by their length.
    pub row_starts: Vec<usize>,
    /// Column of each entry, ascending within a row.
    pub columns: Vec<u32>,
    /// Values of the entries.
    pub values: Vec<f64>,
}

impl Csr {
    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.row_starts.len().saturating_sub(1)
    }

    /// Returns the columns and values of a row.
    pub fn row(&self, row: usize) -> impl DoubleEndedIterator<Item = (u32, f64)> + '_ {
        let places = self.row_starts[row]..self.row_starts[row + 1];
        self.columns[places.clone()].iter().copied().zip(self.values[places].iter().copied())
    }

    /// Computes `y = A x`.
    ///
    /// # Panics
    /// If `y` does not have one number per row, or `x` has fewer than one per column.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!(y.len(), self.row_count(), "expected one number per row");
        for (row, y) in y.iter_mut().enumerate() {
            *y = self.row(row).map(|(column, value)| value * x[column as usize]).sum();
        }
    }

    /// Returns true if it is bitwise equal to its transpose.
    pub fn is_symmetric(&self) -> bool {
        // For each row, the number of entries already matched with mirror images in earlier rows.
        let mut met: Vec<usize> = self.row_starts[..self.row_count()].to_vec();
        for row in 0..self.row_count() {
            for (column, value) in self.row(row) {
                let mirror = column as usize;
                if mirror < row {
                    continue;
                }
                let Some(next) = met.get_mut(mirror) else { return false };
                let in_row = *next < self.row_starts[mirror + 1];
                if !in_row || self.columns[*next] as usize != row || self.values[*next] != value {
                    return false;
                }
                *next += 1;
            }
            // Entries of the row up to the diagonal that are left have no mirror image.
            let left = &self.columns[met[row]..self.row_starts[row + 1]];
            if left.first().is_some_and(|&column| (column as usize) < row) {
                return false;
            }
        }
        true
    }

    /// Returns the matrix without explicit zeros.
    #[must_use]
    pub fn without_zeros(&self) -> Self {
        let mut kept = Self { row_starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for row in 0..self.row_count() {
            for (column, value) in self.row(row).filter(|(_, value)| *value != 0.0) {
                kept.columns.push(column);
                kept.values.push(value);
            }
            kept.row_starts.push(kept.columns.len());
        }
        kept
    }
}

impl BlockMatrix {
    /// Creates a zero matrix.
    pub fn zero(pattern: Arc<BlockPattern>) -> Self {
        let values = vec![0.0; 9 * pattern.slot_count()];
        Self { pattern, values }
    }

    /// Returns the sparsity pattern.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// Returns nine numbers for each slot of the pattern.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns mutable access to the nine numbers of each slot.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Sets all numbers to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Returns the block that couples the coordinates of vertex `a` (rows) with those of `b` (columns).
    pub fn block(&self, a: u32, b: u32) -> [[f64; 3]; 3] {
        let Some(slot) = self.pattern.slot(a, b) else { return [[0.0; 3]; 3] };
        let stored = &self.values[9 * slot..9 * slot + 9];
        let mut block = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                block[i][j] = if a <= b { stored[3 * i + j] } else { stored[3 * j + i] };
            }
        }
        block
    }

    /// Adds `block` at the coordinates of vertex `a` (rows) and of `b` (columns), and its transpose at the mirrored
    /// position.
    ///
    /// # Panics
    /// If the pattern has no such block.
    pub fn add_block(&mut self, a: u32, b: u32, block: &[[f64; 3]; 3]) {
        let slot = self.pattern.slot(a, b).unwrap_or_else(|| panic!("no block of vertices {a} and {b} in the pattern"));
        let stored = &mut self.values[9 * slot..9 * slot + 9];
        for i in 0..3 {
            for j in 0..3 {
                stored[3 * i + j] += if a <= b { block[i][j] } else { block[j][i] };
            }
        }
    }

    /// Adds `factor · other`.
    ///
    /// # Panics
    /// If the patterns differ.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        assert!(self.pattern == other.pattern, "matrices must have the same pattern");
        for (value, other) in self.values.iter_mut().zip(&other.values) {
            *value += factor * other;
        }
    }

    /// Adds `factor · part`, where the pattern of `part` may have fewer blocks.
    ///
    /// # Panics
    /// If `part` has a block that this pattern lacks.
    pub fn add_part(&mut self, factor: f64, part: &Self) {
        let pattern = self.pattern.clone();
        let (blocks, _) = self.values.as_chunks_mut::<9>();
        for (slot, block) in pattern.slots_of(&part.pattern).zip(part.values.as_chunks::<9>().0) {
            for i in 0..9 {
                blocks[slot][i] += factor * block[i];
            }
        }
    }

    /// Multiplies the matrix by `factor`.
    pub fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|value| *value *= factor);
    }

    /// Computes `y = A x` on all threads, bitwise identical for any number of them.
    ///
    /// # Panics
    /// If the lengths differ from the size of the matrix.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        let n = self.pattern.node_count();
        assert!(x.len() == 3 * n && y.len() == 3 * n, "vectors must have {} numbers", 3 * n);
        let (x, _) = x.as_chunks::<3>();
        let (y, _) = y.as_chunks_mut::<3>();
        let (rows_per_chunk, crossing) = self.pattern.chunks();
        // The terms of a sum are always added in the same order, row by row, for one chunk or many.
        if crossing.len() <= 1 || rayon::current_num_threads() == 1 {
            dispatch(MultiplyRows { matrix: self, x, y, first: 0, crossing: &[] });
        } else {
            y.par_chunks_mut(rows_per_chunk).enumerate().for_each(|(chunk, y)| {
                let first = chunk * rows_per_chunk;
                dispatch(MultiplyRows { matrix: self, x, y, first, crossing: &crossing[chunk] });
            });
        }
    }

    /// Converts to compressed sparse rows with both triangles, for other programs.
    pub fn to_csr(&self) -> Csr {
        let n = self.pattern.node_count();
        // Blocks of each full row: first those below the diagonal, which are in earlier rows of the upper triangle.
        let mut counts = vec![0_usize; n + 1];
        for i in 0..n {
            counts[i + 1] += self.pattern.row(i).len();
            for &j in &self.pattern.columns()[self.pattern.row(i)][1..] {
                counts[j as usize + 1] += 1;
            }
        }
        for i in 0..n {
            counts[i + 1] += counts[i];
        }
        let mut next = counts.clone();
        let mut entries = vec![(0_u32, 0_usize, false); counts[n]];
        for i in 0..n {
            for slot in self.pattern.row(i) {
                let j = self.pattern.columns()[slot];
                entries[next[i]] = (j, slot, false);
                next[i] += 1;
                if j as usize != i {
                    entries[next[j as usize]] = (i as u32, slot, true);
                    next[j as usize] += 1;
                }
            }
        }
        let mut csr = Csr {
            row_starts: vec![0],
            columns: Vec::with_capacity(9 * entries.len()),
            values: Vec::with_capacity(9 * entries.len()),
        };
        for i in 0..n {
            // Rows are processed in ascending order, so that the transposed blocks of row i precede its own.
            for k in 0..3 {
                for &(column, slot, transposed) in &entries[counts[i]..counts[i + 1]] {
                    for l in 0..3 {
                        csr.columns.push(3 * column + l as u32);
                        csr.values.push(self.values[9 * slot + if transposed { 3 * l + k } else { 3 * k + l }]);
                    }
                }
                csr.row_starts.push(csr.columns.len());
            }
        }
        csr
    }
}

/// Kernel for a chunk of rows of `y = A x`. A block with both ends in the chunk is read once, for its row and,
/// transposed, for its column. A block that crosses to a later chunk is read again there.
struct MultiplyRows<'a> {
    matrix: &'a BlockMatrix,
    x: &'a [[f64; 3]],
    y: &'a mut [[f64; 3]],
    first: usize,
    crossing: &'a [Crossing],
}

impl Kernel for MultiplyRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let Self { matrix, x, y, first, crossing } = self;
        let (blocks, _) = matrix.values.as_chunks::<9>();
        let pattern = &*matrix.pattern;
        y.fill([0.0; 3]);
        for &Crossing { slot, row, column } in crossing {
            add_transposed::<R>(&blocks[slot], x[row as usize], &mut y[column as usize - first]);
        }
        for i in 0..y.len() {
            let slots = pattern.row(first + i);
            let xi = x[first + i];
            let (columns, row) = (&pattern.columns()[slots.clone()], &blocks[slots]);
            let mut sum = y[i];
            add_product::<R>(&row[0], xi, &mut sum);
            for (block, &column) in row[1..].iter().zip(&columns[1..]) {
                add_product::<R>(block, x[column as usize], &mut sum);
                if let Some(yj) = y.get_mut(column as usize - first) {
                    add_transposed::<R>(block, xi, yj);
                }
            }
            y[i] = sum;
        }
    }
}

/// Adds `B x` to `y`.
#[inline(always)]
fn add_product<R: Simd>(block: &[f64; 9], x: [f64; 3], y: &mut [f64; 3]) {
    for k in 0..3 {
        let sum = fused::<R>(block[3 * k], x[0], y[k]);
        y[k] = fused::<R>(block[3 * k + 2], x[2], fused::<R>(block[3 * k + 1], x[1], sum));
    }
}

/// Adds `Bᵀ x` to `y`.
#[inline(always)]
fn add_transposed<R: Simd>(block: &[f64; 9], x: [f64; 3], y: &mut [f64; 3]) {
    for k in 0..3 {
        y[k] = fused::<R>(block[6 + k], x[2], fused::<R>(block[3 + k], x[1], fused::<R>(block[k], x[0], y[k])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests a matrix of many chunks whose vertices are numbered at random, so that blocks cross between all of them.
    #[test]
    fn products_in_many_chunks_are_right_and_bitwise_the_same_on_any_number_of_threads() {
        let n = 9000;
        let mut rng = fastrand::Rng::with_seed(2);
        let pairs: Vec<[u32; 2]> = (0..4 * n).map(|_| [rng.u32(0..n), rng.u32(0..n)]).collect();
        let pattern = BlockPattern::from_cliques(n as usize, pairs.iter().map(<[u32; 2]>::as_slice));
        let mut matrix = BlockMatrix::zero(Arc::new(pattern));
        for &[a, b] in &pairs {
            let block = std::array::from_fn(|_| std::array::from_fn(|_| rng.f64() - 0.5));
            if a != b {
                matrix.add_block(a, b, &block);
            }
        }
        let x: Vec<f64> = (0..3 * n).map(|_| rng.f64() - 0.5).collect();
        let mut expected = vec![0.0; x.len()];
        matrix.to_csr().mul(&x, &mut expected);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut y = vec![f64::NAN; x.len()];
            pool.install(|| matrix.mul(&x, &mut y));
            y
        };
        let y = on(1);
        assert!(y.iter().zip(&expected).all(|(y, expected)| (y - expected).abs() < 1e-13));
        assert_eq!(y, on(4));
    }

    fn random() -> BlockMatrix {
        let cliques: [&[u32]; 3] = [&[0, 2, 3], &[1, 3], &[4, 1, 0]];
        let mut matrix = BlockMatrix::zero(Arc::new(BlockPattern::from_cliques(6, cliques.into_iter())));
        let mut rng = fastrand::Rng::with_seed(1);
        matrix.values_mut().iter_mut().for_each(|value| *value = rng.f64() - 0.5);
        for v in 0..6 {
            // Diagonal blocks of a symmetric matrix are symmetric.
            let block = matrix.block(v, v);
            let half = |i: usize, j: usize| 0.5 * (block[j][i] - block[i][j]);
            matrix.add_block(v, v, &std::array::from_fn(|i| std::array::from_fn(|j| half(i, j))));
        }
        matrix
    }

    fn dense(matrix: &BlockMatrix) -> Vec<Vec<f64>> {
        let n = matrix.pattern().node_count();
        let entry = |i: usize, j: usize| matrix.block(i as u32 / 3, j as u32 / 3)[i % 3][j % 3];
        (0..3 * n).map(|i| (0..3 * n).map(|j| entry(i, j)).collect()).collect()
    }

    #[test]
    fn products_and_compressed_rows_agree_with_the_dense_matrix() {
        let matrix = random();
        let dense = dense(&matrix);
        let x: Vec<f64> = (0..18).map(|i| f64::from(i).sin()).collect();
        let mut y = vec![f64::NAN; 18];
        matrix.mul(&x, &mut y);
        let csr = matrix.to_csr();
        for i in 0..18 {
            let expected: f64 = (0..18).map(|j| dense[i][j] * x[j]).sum();
            assert!((y[i] - expected).abs() < 1e-14);
            let row = csr.row_starts[i]..csr.row_starts[i + 1];
            assert!(csr.columns[row.clone()].is_sorted_by(|a, b| a < b));
            let mut from_csr = vec![0.0; 18];
            for k in row {
                from_csr[csr.columns[k] as usize] = csr.values[k];
            }
            assert_eq!(from_csr, dense[i]);
            assert!(
                (csr.row(i).map(|(column, value)| value * x[column as usize]).sum::<f64>() - expected).abs() < 1e-14
            );
            for j in 0..18 {
                assert_eq!(dense[i][j], dense[j][i]);
            }
        }
    }

    #[test]
    fn symmetry_is_exact_in_numbers_and_places() {
        let symmetric = random().to_csr();
        assert!(symmetric.is_symmetric() && symmetric.without_zeros().is_symmetric());
        assert_eq!(symmetric.without_zeros().values.iter().filter(|value| **value == 0.0).count(), 0);
        for place in (0..symmetric.values.len()).step_by(7) {
            let row = symmetric.row_starts.partition_point(|&start| start <= place) - 1;
            if symmetric.columns[place] as usize == row || symmetric.values[place] == 0.0 {
                continue;
            }
            let mut other = symmetric.clone();
            other.values[place] *= 1.0 + 1e-15;
            assert!(!other.is_symmetric(), "another number in row {row}");
            other.values[place] = 0.0;
            assert!(!other.without_zeros().is_symmetric(), "an entry less in row {row}");
        }
    }
}
