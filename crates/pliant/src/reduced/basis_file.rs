//! Files of bases, to exchange with NumPy.

use std::path::Path;

use super::{Basis, BasisError};
use crate::files::{Files, WriteError};
use crate::matrix_io::{self, Array};

impl Basis {
    /// Writes the basis for NumPy: three rows per vertex, one column per basis vector.
    pub fn write(&self, files: &dyn Files, path: &Path) -> Result<(), WriteError> {
        let rows = (0..self.dim()).flat_map(|row| self.columns.iter().map(move |column| column[row]));
        let array = Array::from_rows(self.size(), rows.collect()).unwrap_or(Array::vector(Vec::new()));
        matrix_io::write_array_to(files, path, &array)
    }

    /// Reads the columns of an array with three rows per vertex, to build a basis from.
    pub fn read_vectors(files: &dyn Files, path: &Path, vertex_count: usize) -> Result<Vec<Vec<f64>>, BasisError> {
        let array = matrix_io::read_array_from(files, path)?;
        let (rows, expected) = (array.row_count(), 3 * vertex_count);
        if rows != expected {
            return Err(BasisError::Rows { path: path.into(), rows, expected });
        }
        let columns = array.column_count();
        Ok((0..columns).map(|column| array.values().iter().skip(column).step_by(columns).copied().collect()).collect())
    }
}
