//! Matrices as lists of entries (coordinate format), as in files and other programs.

use std::sync::Arc;

use thiserror::Error;

use super::{BlockMatrix, BlockPattern, Csr};

/// Matrix as a list of entries in any order; entries at the same position are summed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Triplets {
    /// Number of rows.
    pub row_count: usize,
    /// Number of columns.
    pub column_count: usize,
    /// Row, column and value of each entry, with indices from 0.
    pub entries: Vec<(u32, u32, f64)>,
}

/// Reason why a list of entries is not a symmetric matrix of 3×3 blocks.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum TripletsError {
    #[error("the matrix is {rows} × {columns}, expected {size} × {size}: three rows for each of {} vertices", size / 3)]
    Size { rows: usize, columns: usize, size: usize },
    #[error("entry ({row}, {column}) is outside the {size} × {size} matrix; rows and columns are counted from 0")]
    OutOfRange { row: u32, column: u32, size: usize },
    #[error("entry ({row}, {column}) is {value}, expected a finite number; rows and columns are counted from 0")]
    NotFinite { row: u32, column: u32, value: f64 },
    #[error(
        "expected a symmetric matrix, but entry ({row}, {column}) is {value} and entry ({column}, {row}) is {mirrored}; \
         rows and columns are counted from 0"
    )]
    Asymmetric { row: u32, column: u32, value: f64, mirrored: f64 },
}

/// Tolerance for the difference of mirrored entries, relative to the largest entry in their rows: rounding errors of
/// other programs.
const ASYMMETRY: f64 = 1e-12;

impl Triplets {
    /// Converts to a symmetric block matrix for `vertex_count` vertices, with the pattern of the entries. Mirrored
    /// entries that differ by rounding become their mean.
    pub fn to_symmetric(&self, vertex_count: usize) -> Result<BlockMatrix, TripletsError> {
        let size = 3 * vertex_count;
        if self.row_count != size || self.column_count != size {
            return Err(TripletsError::Size { rows: self.row_count, columns: self.column_count, size });
        }
        let entries = self.summed();
        for &(row, column, value) in &entries {
            if row.max(column) as usize >= size {
                return Err(TripletsError::OutOfRange { row, column, size });
            }
            if !value.is_finite() {
                return Err(TripletsError::NotFinite { row, column, value });
            }
        }
        let mut largest = vec![0.0_f64; size];
        for &(row, _, value) in &entries {
            largest[row as usize] = largest[row as usize].max(value.abs());
        }
        for &(row, column, value) in &entries {
            let place = entries.binary_search_by_key(&(column, row), |&(row, column, _)| (row, column));
            let mirrored = place.map_or(0.0, |place| entries[place].2);
            let scale = largest[row as usize].max(largest[column as usize]);
            if (value - mirrored).abs() > ASYMMETRY * scale {
                return Err(TripletsError::Asymmetric { row, column, value, mirrored });
            }
        }
        let pairs: Vec<[u32; 2]> = entries.iter().map(|&(row, column, _)| [row / 3, column / 3]).collect();
        let pattern = BlockPattern::from_cliques(vertex_count, pairs.iter().map(|pair| &pair[..]));
        let mut matrix = BlockMatrix::zero(Arc::new(pattern));
        for &(row, column, value) in &entries {
            // Half of it here and half across the diagonal. Entries below the block diagonal are not stored.
            for (row, column) in [(row, column), (column, row)] {
                if row / 3 <= column / 3 {
                    let mut block = [[0.0; 3]; 3];
                    block[row as usize % 3][column as usize % 3] = 0.5 * value;
                    matrix.add_block(row / 3, column / 3, &block);
                }
            }
        }
        Ok(matrix)
    }

    /// Returns the entries by row and column, with those at the same position summed.
    fn summed(&self) -> Vec<(u32, u32, f64)> {
        let mut entries = self.entries.clone();
        // A stable sort keeps the order of the additions.
        entries.sort_by_key(|&(row, column, _)| (row, column));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        entries
    }
}

impl From<&Csr> for Triplets {
    /// Converts a square matrix.
    ///
    /// # Panics
    /// If its row offsets exceed its number of entries.
    fn from(csr: &Csr) -> Self {
        let row_count = csr.row_count();
        let mut entries = Vec::with_capacity(csr.values.len());
        for (row, ends) in csr.row_starts.windows(2).enumerate() {
            let (columns, values) = (&csr.columns[ends[0]..ends[1]], &csr.values[ends[0]..ends[1]]);
            entries.extend(columns.iter().zip(values).map(|(&column, &value)| (row as u32, column, value)));
        }
        Self { row_count, column_count: row_count, entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(entries: &[(u32, u32, f64)]) -> Triplets {
        Triplets { row_count: 9, column_count: 9, entries: entries.into() }
    }

    #[test]
    fn a_symmetric_list_becomes_blocks_and_comes_back() {
        let list = with(&[(0, 0, 2.0), (8, 1, -3.0), (1, 8, -1.0), (1, 8, -2.0), (4, 5, 7.0), (5, 4, 7.0)]);
        let matrix = list.to_symmetric(3).unwrap();
        assert_eq!(matrix.block(0, 2)[1], [0.0, 0.0, -3.0]);
        assert_eq!(matrix.block(1, 1)[1], [0.0, 0.0, 7.0]);
        assert_eq!(matrix.pattern().slot_count(), 4);
        let again = Triplets::from(&matrix.to_csr()).to_symmetric(3).unwrap();
        assert_eq!(matrix, again);
    }

    #[test]
    fn rounding_is_evened_out() {
        let list = with(&[(0, 3, 1.0), (3, 0, 1.0 + 1e-15), (7, 7, 1.0), (2, 7, 1e-14)]);
        let matrix = list.to_symmetric(3).unwrap();
        assert!((matrix.block(0, 1)[0][0] - (1.0 + 0.5e-15)).abs() < 3e-16);
        assert_eq!(matrix.block(2, 0)[1][2], 0.5e-14);
    }

    #[test]
    fn the_first_asymmetric_entry_is_named_with_its_numbers() {
        let error = |list: Triplets| list.to_symmetric(3).unwrap_err().to_string();
        assert_eq!(
            error(with(&[(7, 1, 3.0), (2, 5, 1.5), (5, 2, 1.25)])),
            "expected a symmetric matrix, but entry (2, 5) is 1.5 and entry (5, 2) is 1.25; rows and columns are counted \
             from 0"
        );
        assert!(error(with(&[(7, 1, 3.0)])).contains("entry (7, 1) is 3 and entry (1, 7) is 0"));
        // Independent of the size of entries in other rows.
        assert!(error(with(&[(0, 0, 1e13), (7, 1, 3.0)])).contains("entry (7, 1) is 3 and entry (1, 7) is 0"));
        assert!(error(with(&[(0, 9, 1.0)])).contains("entry (0, 9) is outside the 9 × 9 matrix"));
        assert!(error(with(&[(2, 2, f64::INFINITY)])).contains("entry (2, 2) is inf"));
        let wrong = Triplets { row_count: 9, column_count: 8, entries: Vec::new() };
        assert_eq!(error(wrong), "the matrix is 9 × 8, expected 9 × 9: three rows for each of 3 vertices");
    }
}
