//! Binary matrices of VegaFEM: two 4-byte integers, the numbers of rows and columns, then the numbers in column-major
//! order.
//!
//! They have neither magic bytes nor a fixed extension, so that only the length of a file identifies them.

use std::path::Path;

use super::Array;
use super::by_extension::ARRAY_FILES;
use crate::files::{Location, Number, ReadError};

/// Size of the numbers of rows and columns \[bytes\].
const HEAD: usize = 8;

pub fn read(path: &Path, bytes: &[u8]) -> Result<Array, ReadError> {
    let not_one = |found: String| {
        ReadError::whole(path, format!("a file that ends in one of {ARRAY_FILES}, or a matrix of VegaFEM"), found)
    };
    let (counts, _) = bytes.as_chunks::<4>();
    let [rows, columns, ..] = counts else { return Err(not_one(format!("{} bytes", bytes.len()))) };
    let (rows, columns) = (i32::from_le_bytes(*rows), i32::from_le_bytes(*columns));
    let size = |count: i32| usize::try_from(count).ok();
    let sizes = size(rows).zip(size(columns));
    let length = |(rows, columns): (usize, usize)| rows.checked_mul(columns)?.checked_mul(8)?.checked_add(HEAD);
    let Some((rows, columns)) = sizes.filter(|&sizes| length(sizes) == Some(bytes.len())) else {
        return Err(not_one(format!("{} bytes, which cannot be {rows} × {columns} numbers", bytes.len())));
    };
    let by_column = Number::F64.floats(&bytes[HEAD..], true);
    if let Some(wrong) = by_column.iter().position(|value| !value.is_finite()) {
        let place = Location::Byte((HEAD + 8 * wrong) as u64);
        return Err(ReadError::at(path, place, "a finite number", by_column[wrong].to_string()));
    }
    let values = (0..by_column.len()).map(|place| by_column[place % columns * rows + place / columns]).collect();
    Ok(Array { rows, columns, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: i32, columns: i32, numbers: &[f64]) -> Vec<u8> {
        let counts = [rows, columns].into_iter().flat_map(i32::to_le_bytes);
        counts.chain(numbers.iter().flat_map(|number| number.to_le_bytes())).collect()
    }

    fn parse(bytes: &[u8]) -> Result<Array, String> {
        read(Path::new("out.u"), bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_of_the_file_are_columns_of_the_array() {
        let array = parse(&matrix(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        assert_eq!((array.row_count(), array.column_count()), (3, 2));
        assert_eq!(array.values(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(parse(&matrix(0, 7, &[])).unwrap().row_count(), 0);
    }

    #[test]
    fn only_files_of_the_right_length_are_taken() {
        let whole = matrix(3, 2, &[0.5; 6]);
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).unwrap_err().contains("or a matrix of VegaFEM"), "{end}");
        }
        assert!(parse(&[whole, vec![0]].concat()).unwrap_err().ends_with("57 bytes, which cannot be 3 × 2 numbers"));
        for (rows, columns) in [(-1, -1), (i32::MAX, i32::MAX), (i32::MIN, 0), (1 << 30, 1 << 30)] {
            assert!(parse(&matrix(rows, columns, &[1.0])).is_err());
        }
        assert_eq!(
            parse(&matrix(1, 2, &[1.0, f64::NAN])).unwrap_err(),
            "out.u, byte 16: expected a finite number, found NaN"
        );
    }
}
