//! Files of arrays and matrices, in the format of their extension.

use std::ffi::OsStr;
use std::path::Path;

use super::{Array, matrix_market, npy, npz, text, vega};
use crate::files::{Disk, Files, ReadError, WriteError};
use crate::sparse::{Csr, Triplets};

pub(super) const ARRAY_FILES: &str = ".npy, .mtx, .txt, .dat, .csv";
const MATRIX_FILES: &str = ".mtx";
const WRITTEN_ARRAYS: &str = ".npy, .mtx, .txt, .dat, .csv";
const WRITTEN_MATRICES: &str = ".mtx, .npz";

/// Reads an array. The extension chooses the format.
pub fn read_array(path: impl AsRef<Path>) -> Result<Array, ReadError> {
    read_array_from(&Disk, path.as_ref())
}

/// Reads an array from any source of files.
pub fn read_array_from(files: &dyn Files, path: &Path) -> Result<Array, ReadError> {
    let read = match extension(path).as_str() {
        "npy" => npy::read,
        "mtx" => matrix_market::read_array,
        "txt" | "dat" | "csv" => text::read,
        // VegaFEM's matrices may have any name.
        _ => vega::read,
    };
    read(path, &files.read(path)?)
}

/// Reads three numbers per vertex, such as displacements, from an array of three columns or from a vector.
pub fn read_vertex_vectors(path: impl AsRef<Path>, vertex_count: usize) -> Result<Vec<f64>, ReadError> {
    read_vertex_vectors_from(&Disk, path.as_ref(), vertex_count)
}

/// Reads three numbers per vertex from any source of files; see [`read_vertex_vectors`].
pub fn read_vertex_vectors_from(files: &dyn Files, path: &Path, vertex_count: usize) -> Result<Vec<f64>, ReadError> {
    let Array { rows, columns, values } = read_array_from(files, path)?;
    let all = 3 * vertex_count;
    if [(vertex_count, 3), (all, 1), (1, all)].contains(&(rows, columns)) {
        return Ok(values);
    }
    let expected = format!("{vertex_count} × 3 or {all} numbers for {vertex_count} vertices");
    Err(ReadError::whole(
        path,
        expected,
        if columns == 1 { format!("{rows} numbers") } else { format!("{rows} × {columns}") },
    ))
}

/// Reads a sparse matrix. The extension chooses the format. Both triangles of a symmetric matrix are returned.
pub fn read_matrix(path: impl AsRef<Path>) -> Result<Triplets, ReadError> {
    read_matrix_from(&Disk, path.as_ref())
}

/// Reads a sparse matrix from any source of files.
pub fn read_matrix_from(files: &dyn Files, path: &Path) -> Result<Triplets, ReadError> {
    match extension(path).as_str() {
        "mtx" => matrix_market::read_matrix(path, &files.read(path)?),
        "npz" => Err(ReadError::WriteOnly { path: path.into(), format: npz::NAME }),
        _ => Err(ReadError::UnknownFormat { path: path.into(), known: MATRIX_FILES.into() }),
    }
}

/// Writes an array. The extension chooses the format.
pub fn write_array(path: impl AsRef<Path>, array: &Array) -> Result<(), WriteError> {
    write_array_to(&Disk, path.as_ref(), array)
}

/// Writes an array to any destination of files.
pub fn write_array_to(files: &dyn Files, path: &Path, array: &Array) -> Result<(), WriteError> {
    let bytes = match extension(path).as_str() {
        "npy" => npy::write(array),
        "mtx" => matrix_market::write_array(path, array)?,
        "txt" | "dat" | "csv" => text::write(path, array)?,
        _ => return Err(WriteError::UnknownFormat { path: path.into(), known: WRITTEN_ARRAYS.into() }),
    };
    files.write(path, &bytes)
}

/// Writes a square sparse matrix. The extension chooses the format.
pub fn write_matrix(path: impl AsRef<Path>, matrix: &Csr) -> Result<(), WriteError> {
    write_matrix_to(&Disk, path.as_ref(), matrix)
}

/// Writes a square sparse matrix to any destination of files.
pub fn write_matrix_to(files: &dyn Files, path: &Path, matrix: &Csr) -> Result<(), WriteError> {
    let bytes = match extension(path).as_str() {
        "mtx" => matrix_market::write_matrix(path, matrix)?,
        "npz" => npz::write(path, matrix)?,
        _ => return Err(WriteError::UnknownFormat { path: path.into(), known: WRITTEN_MATRICES.into() }),
    };
    files.write(path, &bytes)
}

fn extension(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase()
}

/// Checks that all numbers are finite: text formats have no notation of infinity that all programs read.
pub(super) fn check_finite(path: &Path, format: &'static str, values: &[f64]) -> Result<(), WriteError> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(WriteError::Unsupported { path: path.into(), format, what: "numbers that are not finite" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;
    use proptest::prelude::*;

    fn array() -> impl Strategy<Value = Array> {
        let number = prop_oneof![any::<f64>().prop_filter("finite", |x| x.is_finite()), Just(0.0), Just(-0.0)];
        (1_usize..5, 0_usize..7).prop_flat_map(move |(columns, rows)| {
            proptest::collection::vec(number.clone(), rows * columns)
                .prop_map(move |values| Array::from_rows(columns, values).unwrap())
        })
    }

    proptest! {
        #[test]
        fn arrays_come_back_to_the_last_bit(array in array()) {
            for name in ["a.npy", "a.mtx", "a.txt"] {
                // A text without lines does not define the number of columns.
                if name == "a.txt" && array.row_count() == 0 {
                    continue;
                }
                let files = Memory::default();
                write_array_to(&files, Path::new(name), &array).unwrap();
                let again = read_array_from(&files, Path::new(name)).unwrap();
                let bits = |array: &Array| array.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&again), bits(&array));
                prop_assert_eq!((again.rows, again.columns), (array.rows, array.columns));
            }
        }
    }

    #[test]
    fn arrays_have_whole_rows() {
        assert!(Array::from_rows(3, vec![0.0; 7]).is_none());
        assert!(Array::from_rows(0, vec![0.0]).is_none());
        assert_eq!(Array::from_rows(0, Vec::new()).map(|a| (a.rows, a.columns)), Some((0, 0)));
    }

    #[test]
    fn vertex_vectors_are_three_columns_or_one_and_else_both_counts_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.npy");
        let numbers: Vec<f64> = (0..12).map(f64::from).collect();
        for columns in [1, 3, 12] {
            write_array(&path, &Array::from_rows(columns, numbers.clone()).unwrap()).unwrap();
            assert_eq!(read_vertex_vectors(&path, 4).unwrap(), numbers);
        }
        let error = |columns, vertices| {
            write_array(&path, &Array::from_rows(columns, numbers.clone()).unwrap()).unwrap();
            read_vertex_vectors(&path, vertices).unwrap_err().to_string()
        };
        assert!(error(3, 5).ends_with("u.npy: expected 5 × 3 or 15 numbers for 5 vertices, found 4 × 3"));
        assert!(error(4, 4).ends_with("found 3 × 4"));
        assert!(error(1, 3).ends_with("found 12 numbers"));
    }

    #[test]
    fn other_extensions_are_errors_that_list_the_known() {
        let files = Memory::with("u.xlsx", "of no use");
        let array = read_array_from(&files, Path::new("u.xlsx")).unwrap_err().to_string();
        assert!(
            array.starts_with("u.xlsx: expected a file that ends in one of .npy, .mtx, .txt, .dat, .csv"),
            "{array}"
        );
        let matrix = read_matrix_from(&files, Path::new("K.npz")).unwrap_err().to_string();
        assert_eq!(matrix, "K.npz: SciPy's .npz is only written, not read");
        let csr = Csr { row_starts: vec![0], columns: Vec::new(), values: Vec::new() };
        let written = write_matrix_to(&files, Path::new("K"), &csr).unwrap_err().to_string();
        assert_eq!(written, "K: expected a name that ends in one of .mtx, .npz");
    }
}
