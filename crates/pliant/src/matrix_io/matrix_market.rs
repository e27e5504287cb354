//! Matrix Market \[BoisvertPozoRemington1996\]: a header, comments that begin with `%`, the size, then numbers.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric
//! 3 3 2            rows, columns, entries
//! 1 1 4.5          row, column, number; counted from 1
//! 3 1 -2
//! ```
//!
//! A vector or a small dense matrix has the header `array real general`, the numbers of rows and columns, and the
//! numbers in column-major order. A symmetric matrix stores only its lower triangle.

use std::path::Path;

use super::{Array, check_finite};
use crate::files::{Location, ReadError, Scanner, Syntax, WriteError, put, quote};
use crate::sparse::{Csr, Triplets};

const NAME: &str = "Matrix Market";

/// Minimum size of an entry in bytes: `1 1 0` and the line end.
const MIN_ENTRY: usize = 6;
/// Minimum size of a number in bytes.
const MIN_NUMBER: usize = 2;

pub fn read_matrix(path: &Path, bytes: &[u8]) -> Result<Triplets, ReadError> {
    let symmetric = match head(path, bytes)? {
        Head { coordinates: true, symmetric } => symmetric,
        Head { coordinates: false, .. } => {
            return Err(ReadError::at(path, Location::Line(1), "a sparse matrix, `coordinate`", "`array`"));
        }
    };
    let mut scanner = content(path, bytes);
    let (row_count, column_count) = (size(&mut scanner, "rows")?, size(&mut scanner, "columns")?);
    if symmetric && row_count != column_count {
        return Err(
            scanner.error("as many rows as columns, as it is symmetric", format!("{row_count} and {column_count}"))
        );
    }
    let count = scanner.count("entries", MIN_ENTRY)?;
    let mut entries = Vec::with_capacity(if symmetric { 2 * count } else { count });
    for _ in 0..count {
        let row = index(&mut scanner, "row", row_count)?;
        let column = index(&mut scanner, "column", column_count)?;
        let value = scanner.number("a number")?;
        entries.push((row, column, value));
        if symmetric && row < column {
            let found = format!("row {}, column {}", row + 1, column + 1);
            return Err(scanner.error("an entry on or below the diagonal, as the matrix is symmetric", found));
        }
        if symmetric && row > column {
            entries.push((column, row, value));
        }
    }
    end(&mut scanner, count, "entries")?;
    Ok(Triplets { row_count: row_count as usize, column_count: column_count as usize, entries })
}

pub fn read_array(path: &Path, bytes: &[u8]) -> Result<Array, ReadError> {
    let found = match head(path, bytes)? {
        Head { coordinates: false, symmetric: false } => None,
        Head { coordinates: true, .. } => Some("`coordinate`"),
        Head { symmetric: true, .. } => Some("`symmetric`"),
    };
    if let Some(found) = found {
        return Err(ReadError::at(path, Location::Line(1), "`array` and `general`", found));
    }
    let mut scanner = content(path, bytes);
    let (rows, columns) = (size(&mut scanner, "rows")?, size(&mut scanner, "columns")?);
    let count = scanner.check_count(rows.saturating_mul(columns), "numbers", MIN_NUMBER)?;
    let (rows, columns) = (rows as usize, columns as usize);
    let mut values = vec![0.0; count];
    for place in 0..count {
        // Column-major in the file, row-major here.
        values[place % rows * columns + place / rows] = scanner.number("a number")?;
    }
    end(&mut scanner, count, "numbers")?;
    Ok(Array { rows, columns, values })
}

struct Head {
    coordinates: bool,
    symmetric: bool,
}

fn head(path: &Path, bytes: &[u8]) -> Result<Head, ReadError> {
    let mut scanner = Scanner::new(path, bytes, Syntax::default());
    let word = |scanner: &mut Scanner<'_>| scanner.word_in_line().unwrap_or_default().to_ascii_lowercase();
    let choice = |scanner: &mut Scanner<'_>, what: &str, known: &[&str]| {
        let found = word(scanner);
        let place = known.iter().position(|known| known.as_bytes() == found);
        place.ok_or_else(|| {
            let found = if found.is_empty() { "the end of the line".into() } else { quote(&found) };
            scanner.error(format!("{what}, one of {}", known.join(", ")), found)
        })
    };
    let start = word(&mut scanner);
    if start != b"%%matrixmarket" {
        let found = if start.is_empty() { "nothing".into() } else { quote(&start) };
        return Err(scanner.error("`%%MatrixMarket`", found));
    }
    choice(&mut scanner, "the object", &["matrix"])?;
    let coordinates = choice(&mut scanner, "the layout", &["array", "coordinate"])? == 1;
    choice(&mut scanner, "the numbers", &["real", "integer", "double"])?;
    let symmetric = choice(&mut scanner, "the symmetry", &["general", "symmetric"])? == 1;
    Ok(Head { coordinates, symmetric })
}

/// Returns a scanner of the content after the header, which it skips as a comment.
fn content<'a>(path: &'a Path, bytes: &'a [u8]) -> Scanner<'a> {
    Scanner::new(path, bytes, Syntax { comment: Some(b'%'), commas: false })
}

/// Reads a number of rows or columns. Every index below it fits in a u32.
fn size(scanner: &mut Scanner<'_>, what: &str) -> Result<i64, ReadError> {
    let size = scanner.integer("a size")?;
    if (0..=i64::from(u32::MAX)).contains(&size) {
        return Ok(size);
    }
    Err(scanner.error(format!("the number of {what}, from 0 to {}", u32::MAX), format!("`{size}`")))
}

/// Reads the index of one of `count` rows or columns, which counts from 1 in the file and from 0 here.
fn index(scanner: &mut Scanner<'_>, what: &str, count: i64) -> Result<u32, ReadError> {
    let number = scanner.integer("a row or column")?;
    if (1..=count).contains(&number) {
        return Ok((number - 1) as u32);
    }
    Err(scanner.error(format!("a {what} from 1 to {count}"), format!("`{number}`")))
}

fn end(scanner: &mut Scanner<'_>, count: usize, what: &str) -> Result<(), ReadError> {
    match scanner.word() {
        None => Ok(()),
        Some(word) => Err(scanner.error(format!("the end of the file after {count} {what}"), quote(word))),
    }
}

/// Writes a symmetric matrix if `matrix` is symmetric to the last bit, otherwise a general one.
pub fn write_matrix(path: &Path, matrix: &Csr) -> Result<Vec<u8>, WriteError> {
    check_finite(path, NAME, &matrix.values)?;
    let (symmetric, size) = (matrix.is_symmetric(), matrix.row_count());
    let is_written = |row: usize, column: u32| !symmetric || column as usize <= row;
    let rows = || (0..size).flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value)));
    let count = rows().filter(|&(row, column, _)| is_written(row, column)).count();
    let mut out = Vec::new();
    put!(out, "%%MatrixMarket matrix coordinate real {}\n", if symmetric { "symmetric" } else { "general" });
    put!(out, "{size} {size} {count}\n");
    for (row, column, value) in rows().filter(|&(row, column, _)| is_written(row, column)) {
        put!(out, "{} {} {value:?}\n", row + 1, column + 1);
    }
    Ok(out)
}

pub fn write_array(path: &Path, array: &Array) -> Result<Vec<u8>, WriteError> {
    check_finite(path, NAME, &array.values)?;
    let mut out = Vec::new();
    put!(out, "%%MatrixMarket matrix array real general\n{} {}\n", array.rows, array.columns);
    for column in 0..array.columns {
        for row in 0..array.rows {
            put!(out, "{:?}\n", array.values[row * array.columns + column]);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(text: &str) -> Result<Triplets, String> {
        read_matrix(Path::new("K.mtx"), text.as_bytes()).map_err(|error| error.to_string())
    }

    fn array(text: &str) -> Result<Array, String> {
        read_array(Path::new("u.mtx"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn both_triangles_of_a_symmetric_matrix_are_read() {
        let text = "%%MatrixMarket MATRIX Coordinate real symmetric\r\n% a comment\n\n3 3 2\n1 1 4.5\n3 1 -2e0";
        let read = matrix(text).unwrap();
        assert_eq!((read.row_count, read.column_count), (3, 3));
        assert_eq!(read.entries, [(0, 0, 4.5), (2, 0, -2.0), (0, 2, -2.0)]);
        let general = matrix("%%MatrixMarket matrix coordinate integer general\n2 3 1\n1 3 7\n").unwrap();
        assert_eq!((general.column_count, general.entries), (3, vec![(0, 2, 7.0)]));
    }

    #[test]
    fn arrays_are_read_column_by_column() {
        let read = array("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n").unwrap();
        assert_eq!((read.rows, read.columns, read.values), (2, 3, vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]));
    }

    #[test]
    fn what_is_written_is_read_back_and_symmetry_is_seen() {
        let symmetric = Csr { row_starts: vec![0, 2, 3], columns: vec![0, 1, 0], values: vec![0.1, -3.0, -3.0] };
        let mut general = symmetric.clone();
        general.values[2] = -3.5;
        for (csr, word) in [(symmetric, "symmetric"), (general, "general")] {
            let text = String::from_utf8(write_matrix(Path::new("K.mtx"), &csr).unwrap()).unwrap();
            assert!(text.lines().next().unwrap().ends_with(word));
            let mut read = matrix(&text).unwrap();
            read.entries.sort_by_key(|&(row, column, _)| (row, column));
            assert_eq!(read, Triplets::from(&csr));
        }
        let infinite = Csr { row_starts: vec![0, 1], columns: vec![0], values: vec![f64::INFINITY] };
        let error = write_matrix(Path::new("K.mtx"), &infinite).unwrap_err().to_string();
        assert_eq!(error, "K.mtx: Matrix Market cannot store numbers that are not finite");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let head = "%%MatrixMarket matrix coordinate real symmetric\n";
        for (text, message) in [
            ("", "line 1: expected `%%MatrixMarket`, found nothing"),
            ("3 3 1\n1 1 1\n", "line 1: expected `%%MatrixMarket`, found `3`"),
            (
                "%%MatrixMarket matrix coordinate complex general\n",
                "line 1: expected the numbers, one of real, integer, double, found `complex`",
            ),
            (
                "%%MatrixMarket matrix coordinate real\n",
                "line 1: expected the symmetry, one of general, symmetric, found the end of the line",
            ),
            (
                "%%MatrixMarket matrix array real general\n",
                "line 1: expected a sparse matrix, `coordinate`, found `array`",
            ),
            (&format!("{head}2 3 1\n"), "line 2: expected as many rows as columns, as it is symmetric, found 2 and 3"),
            (
                &format!("{head}3 3 4000000000\n1 1 1\n"),
                "line 2: expected 4000000000 entries, found only 7 bytes until the end of the file",
            ),
            (
                &format!("{head}-3 3 1\n1 1 1\n"),
                "line 2: expected the number of rows, from 0 to 4294967295, found `-3`",
            ),
            (&format!("{head}3 3 2\n1 1 1\n1"), "line 4: expected a row or column, found the end of the file"),
            (&format!("{head}3 3 1\n4 1 1\n"), "line 3: expected a row from 1 to 3, found `4`"),
            (&format!("{head}3 3 1\n1 0 1\n"), "line 3: expected a column from 1 to 3, found `0`"),
            (
                &format!("{head}3 3 1\n1 2 1\n"),
                "line 3: expected an entry on or below the diagonal, as the matrix is symmetric, found row 1, column 2",
            ),
            (&format!("{head}3 3 1\n2 1 nan\n"), "line 3: expected a number, a finite number, found `nan`"),
            (&format!("{head}3 3 1\n2 1 1\n3"), "line 4: expected the end of the file after 1 entries, found `3`"),
        ] {
            assert_eq!(matrix(text).unwrap_err(), format!("K.mtx, {message}"));
        }
        let head = "%%MatrixMarket matrix array real general\n";
        for (text, message) in [
            (
                format!("{head}4294967295 4294967295\n1\n"),
                "line 2: expected 9223372036854775807 numbers, found only 3 bytes until the end of the file",
            ),
            (format!("{head}2 1\n1\n"), "line 4: expected a number, found the end of the file"),
            (
                "%%MatrixMarket matrix coordinate real general\n".into(),
                "line 1: expected `array` and `general`, found `coordinate`",
            ),
        ] {
            assert_eq!(array(&text).unwrap_err(), format!("u.mtx, {message}"));
        }
    }
}
