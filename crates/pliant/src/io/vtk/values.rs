//! Numbers and strings of VTK's legacy files, as text or big-endian binary.

use super::cells::coordinate_name;
use crate::io::binary::Number;
use crate::io::error::ReadError;
use crate::io::files::put;
use crate::io::scan::{Scanner, quote};

/// Type of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Numbers(Number),
    Bits,
    /// Bytes, written as numbers from 0 to 1 in text.
    Colors,
    Strings,
}

impl Values {
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Numbers(number) if number.is_whole()) || self == Self::Colors
    }
}

/// Source of numbers and strings.
pub(super) struct Source<'a> {
    pub scanner: Scanner<'a>,
    pub binary: bool,
}

impl Source<'_> {
    pub fn number_type(&mut self) -> Result<Number, ReadError> {
        match self.values_type()? {
            Values::Numbers(number) => Ok(number),
            _ => Err(self.scanner.error("a numeric type", "bit or string")),
        }
    }

    pub fn values_type(&mut self) -> Result<Values, ReadError> {
        let word = self.scanner.expect("a type such as `double`")?;
        Ok(Values::Numbers(match word.to_ascii_lowercase().as_slice() {
            b"bit" => return Ok(Values::Bits),
            b"string" | b"utf8_string" => return Ok(Values::Strings),
            b"char" | b"signed_char" => Number::I8,
            b"unsigned_char" => Number::U8,
            b"short" => Number::I16,
            b"unsigned_short" => Number::U16,
            // VTK writes its index type as this one.
            b"int" | b"vtkidtype" => Number::I32,
            b"unsigned_int" => Number::U32,
            b"long" | b"long_long" | b"vtktypeint64" => Number::I64,
            b"unsigned_long" | b"unsigned_long_long" | b"vtktypeuint64" => Number::U64,
            b"float" => Number::F32,
            b"double" => Number::F64,
            _ => return Err(self.scanner.error("a type such as `double` or `int`", quote(word))),
        }))
    }

    pub fn floats(&mut self, number: Number, count: usize) -> Result<Vec<f64>, ReadError> {
        if self.binary {
            return Ok(number.floats(self.block(number, count)?, false));
        }
        let count = self.scanner.check_count(i64::try_from(count).unwrap_or(i64::MAX), "numbers", 2)?;
        (0..count).map(|index| self.scanner.number(coordinate_name(index))).collect()
    }

    pub fn integers(&mut self, number: Number, count: usize, what: &str) -> Result<Vec<i64>, ReadError> {
        if self.binary {
            return Ok(number.integers(self.block(number, count)?, false));
        }
        let count = self.scanner.check_count(i64::try_from(count).unwrap_or(i64::MAX), "numbers", 2)?;
        (0..count).map(|_| self.scanner.integer(what)).collect()
    }

    /// Reads integer values; see [`Values::is_whole`].
    pub fn whole(&mut self, values: Values, count: usize) -> Result<Vec<i64>, ReadError> {
        match values {
            Values::Numbers(number) => self.integers(number, count, "a value"),
            Values::Colors if !self.binary => {
                let parts = self.floats(Number::F64, count)?;
                Ok(parts.into_iter().map(|part| (255.0 * part).round() as i64).collect())
            }
            Values::Colors | Values::Bits | Values::Strings => self.integers(Number::U8, count, "a value"),
        }
    }

    /// Returns the bytes of `count` numbers, which start on the next line.
    fn block(&mut self, number: Number, count: usize) -> Result<&[u8], ReadError> {
        self.scanner.next_line();
        self.scanner.take(count.saturating_mul(number.bytes()), "numbers")
    }

    fn skip_strings(&mut self, count: usize) -> Result<(), ReadError> {
        if self.binary {
            self.scanner.next_line();
        }
        for _ in 0..self.scanner.check_count(i64::try_from(count).unwrap_or(i64::MAX), "strings", 1)? {
            if self.binary {
                let length = self.string_length()?;
                self.scanner.take(length, "a string")?;
            } else if self.scanner.next_line() {
                self.scanner.rest_of_line();
            } else {
                return Err(self.scanner.error("a string", "the end of the file"));
            }
        }
        Ok(())
    }

    /// Reads the length of a string in bytes. The first two bits give the number of bytes of the length, including
    /// these bits.
    fn string_length(&mut self) -> Result<usize, ReadError> {
        let first = self.scanner.take(1, "the length of a string")?[0];
        let more = match first >> 6 {
            3 => 0,
            2 => 1,
            1 => 3,
            _ => 7,
        };
        let rest = self.scanner.take(more, "the length of a string")?;
        let length = rest.iter().fold(u64::from(first & 0x3f), |length, &byte| (length << 8) | u64::from(byte));
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }

    pub fn skip(&mut self, values: Values, count: usize) -> Result<(), ReadError> {
        match (values, self.binary) {
            (Values::Strings, _) => self.skip_strings(count),
            (Values::Numbers(number), true) => self.block(number, count).map(|_| ()),
            (Values::Colors, true) => self.block(Number::U8, count).map(|_| ()),
            (Values::Bits, true) => self.block(Number::U8, count.div_ceil(8)).map(|_| ()),
            (_, false) => {
                for _ in 0..count {
                    self.scanner.expect("a number")?;
                }
                Ok(())
            }
        }
    }
}

/// Writer of numbers and strings, as text or binary.
pub(super) struct Sink<'a> {
    pub out: &'a mut Vec<u8>,
    pub binary: bool,
}

impl Sink<'_> {
    pub fn coordinates(&mut self, [x, y, z]: [f64; 3]) {
        if self.binary {
            self.out.extend([x, y, z].iter().flat_map(|c| c.to_be_bytes()));
        } else {
            put!(self.out, "{x:?} {y:?} {z:?}\n");
        }
    }

    pub fn cell(&mut self, nodes: &[u32]) {
        if self.binary {
            self.out.extend((nodes.len() as u32).to_be_bytes());
            self.out.extend(nodes.iter().flat_map(|v| v.to_be_bytes()));
        } else {
            put!(self.out, "{}", nodes.len());
            for v in nodes {
                put!(self.out, " {v}");
            }
            put!(self.out, "\n");
        }
    }

    pub fn integer(&mut self, value: u32) {
        if self.binary {
            self.out.extend(value.to_be_bytes());
        } else {
            put!(self.out, "{value}\n");
        }
    }

    /// Writes alternating elements and sides, one tuple per face.
    pub fn faces(&mut self, name: &str, faces: &[u32]) {
        put_escaped(self.out, name);
        put!(self.out, " 2 {} int\n", faces.len() / 2);
        faces.iter().for_each(|&number| self.integer(number));
        put!(self.out, "\n");
    }

    pub fn bytes(&mut self, name: &str, bytes: &[u8]) {
        put_escaped(self.out, name);
        put!(self.out, " 1 {} unsigned_char\n", bytes.len());
        if self.binary {
            self.out.extend_from_slice(bytes);
            put!(self.out, "\n");
        } else {
            for value in bytes {
                put!(self.out, "{value}\n");
            }
        }
    }
}

/// Decodes the `%` codes of a name or string.
pub(super) fn unescape(text: &[u8]) -> String {
    let digit = |index: usize| text.get(index).and_then(|&byte| char::from(byte).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if let (b'%', Some(high), Some(low)) = (byte, digit(at + 1), digit(at + 2)) {
            bytes.push((16 * high + low) as u8);
            at += 3;
        } else {
            bytes.push(byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes a name or string as one word, with `%` codes.
fn put_escaped(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'%' | 0..=32 | 127.. => put!(out, "%{byte:02X}"),
            _ => out.push(byte),
        }
    }
}
