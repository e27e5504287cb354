//! Numbers in sections, with one interface for text and binary: [`Source`] reads them, [`Sink`] writes them.
//!
//! A record takes one line in text: a node, an element, or the header of a block.

use std::path::Path;

use crate::io::binary::Scalar;
use crate::io::error::{Location, ReadError};
use crate::io::files::put;
use crate::io::scan::{Scanner, quote};

/// Encoding of the numbers of sections. Names of sections and groups are text in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Text,
    Binary { little: bool },
}

/// Maximum length of a section name. It keeps the search for the end of a section linear in the size of the file.
const MAX_NAME: usize = 64;

/// Position in a file.
pub(super) struct Source<'a> {
    path: &'a Path,
    scanner: Scanner<'a>,
    coding: Coding,
    /// Location where the last item read from a binary file began.
    start: Location,
}

impl<'a> Source<'a> {
    pub fn new(path: &'a Path, scanner: Scanner<'a>) -> Self {
        Self { path, scanner, coding: Coding::Text, start: Location::Byte(0) }
    }

    /// Sets the encoding of the numbers that follow.
    pub fn set_coding(&mut self, coding: Coding) {
        self.coding = coding;
    }

    pub fn is_binary(&self) -> bool {
        self.coding != Coding::Text
    }

    /// Creates an error on the current line of a text file, or where the last number of a binary file began.
    pub fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        match self.coding {
            Coding::Text => self.scanner.error(expected, found),
            Coding::Binary { .. } => ReadError::at(self.path, self.start, expected, found),
        }
    }

    /// Moves an error to a byte in a binary file, where lines cannot be counted.
    fn placed<T>(&self, result: Result<T, ReadError>) -> Result<T, ReadError> {
        match result {
            Err(ReadError::Syntax { expected, found, .. }) if self.is_binary() => Err(self.error(expected, found)),
            result => result,
        }
    }

    /// Returns the name of the next section with its dollar sign, or `None` at the end of the file.
    pub fn section(&mut self) -> Result<Option<&'a str>, ReadError> {
        let Some(word) = self.word() else { return Ok(None) };
        let name = std::str::from_utf8(word).ok().filter(|word| {
            word.len() <= MAX_NAME && word.len() > 1 && word.starts_with('$') && !word.starts_with("$End")
        });
        match name {
            Some(name) => Ok(Some(name)),
            None => Err(self.error("the start of a section such as $Nodes", quote(word))),
        }
    }

    /// Moves past the end marker of `section`, which must be next.
    pub fn end_section(&mut self, section: &str) -> Result<(), ReadError> {
        let is_end = |word: &[u8]| word.strip_prefix(b"$End") == Some(&section.as_bytes()[1..]);
        match self.word() {
            Some(word) if is_end(word) => Ok(()),
            Some(word) => Err(self.error(format!("$End{}", &section[1..]), quote(word))),
            None => Err(self.error(format!("$End{}", &section[1..]), "the end of the file")),
        }
    }

    /// Moves past the end of `section`, whatever its content.
    pub fn skip_section(&mut self, section: &str) -> Result<(), ReadError> {
        let marker = format!("$End{}", &section[1..]);
        let unfinished = self.error(format!("{marker} after {section}"), "the end of the file");
        if !self.is_binary() {
            while self.scanner.next_line() {
                if self.scanner.clone().word_in_line() == Some(marker.as_bytes()) {
                    self.scanner.word_in_line();
                    return Ok(());
                }
            }
            return Err(unfinished);
        }
        let rest = self.scanner.clone().take(self.scanner.left(), section)?;
        let is_marker = |at: &usize| {
            let found = rest[*at..].strip_prefix(marker.as_bytes());
            found.is_some_and(|after| after.first().is_none_or(u8::is_ascii_whitespace))
        };
        let dollars = rest.iter().enumerate().filter(|&(_, &byte)| byte == b'$').map(|(at, _)| at);
        let Some(at) = { dollars }.find(is_marker) else { return Err(unfinished) };
        self.scanner.take(at + marker.len(), section)?;
        Ok(())
    }

    /// Moves from the last word of text to the binary numbers after it.
    pub fn begin_numbers(&mut self) {
        if self.is_binary() {
            self.scanner.next_line();
        }
    }

    /// Returns the next word of text, in both encodings.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.scanner.seek_content();
        self.start = self.scanner.byte();
        self.scanner.word_in_line()
    }

    /// Returns the rest of a line of text, in both encodings.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        self.start = self.scanner.byte();
        self.scanner.rest_of_line()
    }

    /// Reads an integer in text, in both encodings.
    pub fn text_integer(&mut self, what: &str) -> Result<i64, ReadError> {
        self.scanner.seek_content();
        self.start = self.scanner.byte();
        let number = self.scanner.integer(what);
        self.placed(number)
    }

    /// Reads a number in text, in both encodings.
    pub fn text_number(&mut self, what: &str) -> Result<f64, ReadError> {
        self.scanner.seek_content();
        self.start = self.scanner.byte();
        let number = self.scanner.number(what);
        self.placed(number)
    }

    /// Returns the next `count` bytes of a binary file.
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ReadError> {
        self.start = self.scanner.byte();
        self.scanner.take(count, what)
    }

    /// Begins a record.
    pub fn record(&mut self, what: &str) -> Result<(), ReadError> {
        if self.is_binary() || self.scanner.seek_content() {
            return Ok(());
        }
        Err(self.error(what, "the end of the file"))
    }

    /// Ends a record: nothing else may be on its line.
    pub fn end_record(&mut self, what: &str) -> Result<(), ReadError> {
        if self.is_binary() {
            return Ok(());
        }
        match self.scanner.word_in_line() {
            None => Ok(()),
            Some(word) => Err(self.error(format!("the end of {what}"), format!("{} too", quote(word)))),
        }
    }

    /// Reads a 4-byte integer.
    pub fn int(&mut self, what: &str) -> Result<i64, ReadError> {
        match self.coding {
            Coding::Text => self.scanner.integer_in_line(what),
            Coding::Binary { little } => Ok(i64::from(i32::decode(self.take(4, what)?, little))),
        }
    }

    /// Reads an 8-byte unsigned integer.
    pub fn size(&mut self, what: &str) -> Result<i64, ReadError> {
        match self.coding {
            Coding::Text => self.scanner.integer_in_line(what),
            Coding::Binary { little } => {
                let number = u64::decode(self.take(8, what)?, little);
                i64::try_from(number).map_err(|_| self.error(what, format!("`{number}`")))
            }
        }
    }

    /// Reads a finite number.
    pub fn real(&mut self, what: &str) -> Result<f64, ReadError> {
        match self.coding {
            Coding::Text => self.scanner.number_in_line(what),
            Coding::Binary { little } => {
                let number = f64::decode(self.take(8, what)?, little);
                if number.is_finite() {
                    return Ok(number);
                }
                Err(self.error(format!("{what}, a finite number"), format!("`{number}`")))
            }
        }
    }

    /// Skips unused numbers; Gmsh writes some that are not finite.
    pub fn skip_reals(&mut self, count: usize, what: &str) -> Result<(), ReadError> {
        if self.is_binary() {
            return self.take(8 * count, what).map(|_| ());
        }
        for _ in 0..count {
            if self.scanner.word_in_line().is_none() {
                return Err(self.error(what, "the end of the line"));
            }
        }
        Ok(())
    }

    /// Checks a count of items that take at least `text` or `binary` bytes each.
    pub fn checked(&self, count: i64, what: &str, [text, binary]: [usize; 2]) -> Result<usize, ReadError> {
        self.placed(self.scanner.check_count(count, what, if self.is_binary() { binary } else { text }))
    }
}

/// Writer of numbers into a buffer; binary numbers are little-endian.
pub(super) struct Sink<'a> {
    pub out: &'a mut Vec<u8>,
    pub binary: bool,
}

impl Sink<'_> {
    /// Writes 4-byte integers.
    pub fn ints(&mut self, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            if self.binary {
                self.out.extend((number as i32).to_le_bytes());
            } else {
                put!(self.out, "{number} ");
            }
        }
    }

    /// Writes 8-byte unsigned integers.
    pub fn sizes(&mut self, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            if self.binary {
                self.out.extend((number as u64).to_le_bytes());
            } else {
                put!(self.out, "{number} ");
            }
        }
    }

    /// Writes 8-byte floating-point numbers.
    pub fn reals(&mut self, numbers: [f64; 3]) {
        for number in numbers {
            if self.binary {
                self.out.extend(number.to_le_bytes());
            } else {
                put!(self.out, "{number:?} ");
            }
        }
    }

    /// Ends a record; in text, its line.
    pub fn end_record(&mut self) {
        if !self.binary {
            self.out.pop_if(|last| *last == b' ');
            self.out.push(b'\n');
        }
    }

    /// Ends the numbers; text after binary numbers begins on a new line.
    pub fn end_numbers(&mut self) {
        if self.binary {
            self.out.push(b'\n');
        }
    }
}
