//! NumPy's `.npy`: six magic bytes, a version, the length of the header, the header as a Python dictionary, and the
//! numbers.
//!
//! ```text
//! \x93NUMPY 1 0 118  {'descr': '<f8', 'fortran_order': False, 'shape': (525, 3), }
//! ```
//!
//! Integers and floating-point numbers of any byte order, in C or Fortran order, are read; `<f8` in C order is written.
//! The available crates depend on an array library and allocate as much memory as the header claims.

use std::path::Path;

use super::Array;
use crate::io::{Location, Number, ReadError, put, quote};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Alignment of the numbers, to which the header is padded \[bytes\].
const ALIGNMENT: usize = 64;
/// Maximum length of the header of a plain array \[bytes\].
const MAX_HEADER: usize = 10_000;

pub fn read(path: &Path, bytes: &[u8]) -> Result<Array, ReadError> {
    let mut cursor = Cursor { path, bytes, at: 0 };
    let magic = cursor.take(MAGIC.len(), "the magic number of a NumPy file")?;
    if magic != MAGIC {
        return Err(cursor.error_at(0, "`\\x93NUMPY`, which begins a NumPy file", quote(magic)));
    }
    let version = cursor.take(2, "a version")?[0];
    let length = match version {
        1 => usize::from(u16::from_le_bytes(cursor.array("the length of the header")?)),
        2 | 3 => u32::from_le_bytes(cursor.array("the length of the header")?) as usize,
        _ => return Err(cursor.error_at(6, "version 1, 2 or 3 of the format", format!("version {version}"))),
    };
    if length > MAX_HEADER {
        return Err(cursor.error_at(8, format!("a header of at most {MAX_HEADER} bytes"), format!("{length}")));
    }
    let start = cursor.at;
    cursor.take(length, "the header")?;
    let end = cursor.at;
    let Head { number, little, fortran, rows, columns } = Cursor { path, bytes: &bytes[..end], at: start }.head()?;

    let data = &bytes[end..];
    let count = rows.checked_mul(columns);
    let size = count.and_then(|count| count.checked_mul(number.bytes()));
    let (Some(count), true) = (count, size == Some(data.len())) else {
        let expected = format!("{rows} × {columns} numbers of {} bytes", number.bytes());
        return Err(cursor.error_at(end, expected, format!("{} bytes until the end of the file", data.len())));
    };
    let mut values = number.floats(data, little);
    if let Some(wrong) = values.iter().position(|value| !value.is_finite()) {
        let found = values[wrong].to_string();
        return Err(cursor.error_at(end + wrong * number.bytes(), "a finite number", found));
    }
    if fortran && rows > 1 && columns > 1 {
        // Column-major in the file, row-major here.
        values = (0..count).map(|place| values[place % columns * rows + place / columns]).collect();
    }
    Ok(Array { rows, columns, values })
}

/// Content of the header.
struct Head {
    number: Number,
    little: bool,
    fortran: bool,
    rows: usize,
    columns: usize,
}

/// Position in the file.
struct Cursor<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn error_at(&self, at: usize, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        ReadError::at(self.path, Location::Byte(at as u64), expected, found)
    }

    /// Creates an error at the current position.
    fn error(&self, expected: impl Into<String>) -> ReadError {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = if rest.is_empty() { "the end of the header".into() } else { quote(rest.trim_ascii_end()) };
        self.error_at(self.at, expected, found)
    }

    fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ReadError> {
        let left = self.bytes.len() - self.at;
        let taken = self.bytes[self.at..].get(..count);
        let expected =
            || self.error_at(self.at, format!("{count} bytes of {what}"), format!("only {left} until the end"));
        let taken = taken.ok_or_else(expected)?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Skips blanks, and then `byte` if it is next. Returns true if it was.
    fn skip(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_next = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), ReadError> {
        if self.skip(byte) { Ok(()) } else { Err(self.error(format!("`{}`", char::from(byte)))) }
    }

    /// Parses the header `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, with its keys in any order.
    fn head(&mut self) -> Result<Head, ReadError> {
        let (mut number, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.skip(b'}') {
            let start = self.at;
            let key = self.text("a key of the header")?;
            self.expect(b':')?;
            match key {
                b"descr" => number = Some(self.number()?),
                b"fortran_order" => fortran = Some(self.truth()?),
                b"shape" => shape = Some(self.shape()?),
                _ => return Err(self.error_at(start, "`descr`, `fortran_order` or `shape`", quote(key))),
            }
            if !self.skip(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        let missing = |what: &str| self.error(format!("`{what}` in the header"));
        let (number, little) = number.ok_or_else(|| missing("descr"))?;
        let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
        let (rows, columns) = shape.ok_or_else(|| missing("shape"))?;
        Ok(Head { number, little, fortran, rows, columns })
    }

    /// Parses a quoted string.
    fn text(&mut self, what: &str) -> Result<&'a [u8], ReadError> {
        let quote = if self.skip(b'\'') {
            b'\''
        } else if self.skip(b'"') {
            b'"'
        } else {
            return Err(self.error(what));
        };
        let rest = &self.bytes[self.at..];
        let Some(length) = rest.iter().position(|&byte| byte == quote) else {
            return Err(self.error(format!("{what} that ends in a quote")));
        };
        self.at += length + 1;
        Ok(&rest[..length])
    }

    /// Parses a number type: byte order, kind, size in bytes. Returns true with it for little-endian.
    fn number(&mut self) -> Result<(Number, bool), ReadError> {
        self.skip_blanks();
        let start = self.at;
        let text = self.text("a plain type of number such as '<f8'")?;
        let (little, kind) = match text {
            [b'>', kind @ ..] => (false, kind),
            [b'<' | b'|' | b'=', kind @ ..] | kind => (true, kind),
        };
        let number = match kind {
            b"f8" => Number::F64,
            b"f4" => Number::F32,
            b"i8" => Number::I64,
            b"i4" => Number::I32,
            b"i2" => Number::I16,
            b"i1" => Number::I8,
            b"u8" => Number::U64,
            b"u4" => Number::U32,
            b"u2" => Number::U16,
            b"u1" | b"b1" => Number::U8,
            _ => {
                return Err(self.error_at(
                    start,
                    "whole numbers or floats of 4 or 8 bytes, such as '<f8'",
                    quote(text),
                ));
            }
        };
        Ok((number, little))
    }

    fn truth(&mut self) -> Result<bool, ReadError> {
        self.skip_blanks();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.bytes[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("True or False"))
    }

    /// Parses a shape, `(n,)` or `(rows, columns)`.
    fn shape(&mut self) -> Result<(usize, usize), ReadError> {
        self.skip_blanks();
        let start = self.at;
        let mut sizes = Vec::new();
        self.expect(b'(')?;
        while !self.skip(b')') {
            sizes.push(self.size()?);
            if !self.skip(b',') {
                self.expect(b')')?;
                break;
            }
        }
        match sizes[..] {
            [rows] => Ok((rows, 1)),
            [rows, columns] => Ok((rows, columns)),
            _ => Err(self.error_at(start, "an array of one or two dimensions", format!("{}", sizes.len()))),
        }
    }

    fn size(&mut self) -> Result<usize, ReadError> {
        self.skip_blanks();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        let size = std::str::from_utf8(&rest[..length]).ok().and_then(|digits| digits.parse().ok());
        let size = size.ok_or_else(|| self.error("a size of the array"))?;
        self.at += length;
        Ok(size)
    }
}

pub fn write(array: &Array) -> Vec<u8> {
    let shape = match array.columns {
        1 => format!("({},)", array.rows),
        columns => format!("({}, {columns})", array.rows),
    };
    encode("<f8", &shape, array.values.iter().flat_map(|value| value.to_le_bytes()))
}

/// Encodes the bytes of an array of this type and shape as a file.
pub fn encode(descr: &str, shape: &str, data: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let head = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // The version and the length of the header take four bytes; the header ends in a line end.
    let unpadded = out.len() + 4 + head.len() + 1;
    let padding = unpadded.next_multiple_of(ALIGNMENT) - unpadded;
    out.extend([1, 0]);
    out.extend(((head.len() + padding + 1) as u16).to_le_bytes());
    put!(out, "{head}{:padding$}\n", "");
    out.extend(data);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(head: &str, data: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((head.len() as u16).to_le_bytes());
        out.extend(head.as_bytes());
        out.extend(data);
        out
    }

    fn parse(bytes: &[u8]) -> Result<Array, String> {
        read(Path::new("u.npy"), bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_has_the_bytes_that_numpy_writes() {
        let bytes = write(&Array::from_rows(3, vec![0.5; 6]).unwrap());
        let head = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
        assert!(bytes.starts_with(head) && bytes[..128].ends_with(b"  \n"));
        assert_eq!(bytes.len(), 128 + 48);
        assert!(write(&Array::vector(vec![1.0])).windows(14).any(|bytes| bytes == b"'shape': (1,),"));
    }

    #[test]
    fn types_byte_orders_and_layouts_are_understood() {
        let c = "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }\n";
        let read = parse(&file(c, &[0, 1, 0, 2, 0, 3, 255, 255, 0, 5, 1, 0])).unwrap();
        assert_eq!((read.rows, read.columns, read.values), (2, 3, vec![1.0, 2.0, 3.0, -1.0, 5.0, 256.0]));
        let fortran = "{\"shape\": (2,3), 'fortran_order': True, 'descr': '|u1'}";
        assert_eq!(parse(&file(fortran, &[1, 2, 3, 4, 5, 6])).unwrap().values, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
        let single = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
        assert_eq!(parse(&file(single, &1.5_f32.to_le_bytes())).unwrap(), Array::vector(vec![1.5]));
        let mut later = b"\x93NUMPY\x02\x00".to_vec();
        later.extend((single.len() as u32).to_le_bytes());
        later.extend(single.as_bytes());
        later.extend(2.5_f32.to_le_bytes());
        assert_eq!(parse(&later).unwrap().values, [2.5]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_byte() {
        let head =
            |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
        for (bytes, message) in [
            (b"".to_vec(), "byte 0: expected 6 bytes of the magic number of a NumPy file, found only 0 until the end"),
            (
                b"PK\x03\x04zip".to_vec(),
                "byte 0: expected `\\x93NUMPY`, which begins a NumPy file, found `PK\\x03\\x04zi`",
            ),
            (b"\x93NUMPY\x09\x00".to_vec(), "byte 6: expected version 1, 2 or 3 of the format, found version 9"),
            (
                b"\x93NUMPY\x01\x00\xff\x00{".to_vec(),
                "byte 10: expected 255 bytes of the header, found only 1 until the end",
            ),
            (
                b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(),
                "byte 8: expected a header of at most 10000 bytes, found 4294967295",
            ),
            (
                file(&head("'<f8'", "(2, 3)"), &[0; 47]),
                "byte 69: expected 2 × 3 numbers of 8 bytes, found 47 bytes until the end of the file",
            ),
            (
                file(&head("'<f8'", "(4294967295, 4294967295)"), &[0; 8]),
                "byte 87: expected 4294967295 × 4294967295 numbers of 8 bytes, found 8 bytes until the end of the file",
            ),
            (
                file(&head("'<f8'", "(99999999999999999999, 1)"), &[0; 8]),
                "byte 61: expected a size of the array, found `99999999999999999999, 1), }`",
            ),
            (
                file(&head("'<c16'", "(1,)"), &[0; 16]),
                "byte 20: expected whole numbers or floats of 4 or 8 bytes, such as '<f8', found `<c16`",
            ),
            (
                file(&head("[('x', '<f8')]", "(1,)"), &[0; 8]),
                "byte 20: expected a plain type of number such as '<f8', found `[(\\'x\\', \\'<f8\\')], \\'fortran_order\\': False, …`",
            ),
            (
                file(&head("'<f8'", "(1, 1, 1)"), &[0; 8]),
                "byte 60: expected an array of one or two dimensions, found 3",
            ),
            (file("{'descr': '<f8', 'fortran_order': 0}", &[]), "byte 44: expected True or False, found `0}`"),
            (
                file("{'descr': '<f8', 'shape': (1,)}", &[0; 8]),
                "byte 41: expected `fortran_order` in the header, found the end of the header",
            ),
            (
                file(&head("'<f8'", "(2,)"), &[1.0_f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat()),
                "byte 75: expected a finite number, found NaN",
            ),
        ] {
            assert_eq!(parse(&bytes).unwrap_err(), format!("u.npy, {message}"));
        }
    }
}
