//! Numbers in sections, the same calls for text and binary: [`Source`] reads them, [`Sink`] writes them.
//!
//! A record is what has a line of its own in text: a node, an element, the head of a block.

use std::path::Path;

use crate::io::binary::Scalar;
use crate::io::error::{Place, ReadError};
use crate::io::files::put;
use crate::io::scan::{Scanner, quote};

/// How the numbers of sections are stored. Names of sections and of groups are text in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Text,
    Binary { little: bool },
}

/// Names of sections are short; the bound keeps the search for the end of one linear in the size of the file.
const LONGEST_NAME: usize = 64;

/// A position in a file.
pub(super) struct Source<'a> {
    path: &'a Path,
    scanner: Scanner<'a>,
    coding: Coding,
    /// Where the last thing that was read from a binary file began.
    start: Place,
}

impl<'a> Source<'a> {
    pub fn new(path: &'a Path, scanner: Scanner<'a>) -> Self {
        Self { path, scanner, coding: Coding::Text, start: Place::Byte(0) }
    }

    /// From here on, numbers are in binary if the file says so.
    pub fn set_coding(&mut self, coding: Coding) {
        self.coding = coding;
    }

    pub fn is_binary(&self) -> bool {
        self.coding != Coding::Text
    }

    /// Something else than expected: on this line of a text file, or where the last number of a binary one began.
    pub fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        match self.coding {
            Coding::Text => self.scanner.error(expected, found),
            Coding::Binary { .. } => ReadError::at(self.path, self.start, expected, found),
        }
    }

    /// The same error at the right place: lines cannot be counted in a binary file.
    fn placed<T>(&self, result: Result<T, ReadError>) -> Result<T, ReadError> {
        match result {
            Err(ReadError::Syntax { expected, found, .. }) if self.is_binary() => Err(self.error(expected, found)),
            result => result,
        }
    }

    /// The name of the next section with its dollar sign, or nothing at the end of the file.
    pub fn section(&mut self) -> Result<Option<&'a str>, ReadError> {
        let Some(word) = self.word() else { return Ok(None) };
        let name = std::str::from_utf8(word).ok().filter(|word| {
            word.len() <= LONGEST_NAME && word.len() > 1 && word.starts_with('$') && !word.starts_with("$End")
        });
        match name {
            Some(name) => Ok(Some(name)),
            None => Err(self.error("the start of a section such as $Nodes", quote(word))),
        }
    }

    /// Go past the end of `section`, which must be next.
    pub fn end_section(&mut self, section: &str) -> Result<(), ReadError> {
        let is_end = |word: &[u8]| word.strip_prefix(b"$End") == Some(&section.as_bytes()[1..]);
        match self.word() {
            Some(word) if is_end(word) => Ok(()),
            Some(word) => Err(self.error(format!("$End{}", &section[1..]), quote(word))),
            None => Err(self.error(format!("$End{}", &section[1..]), "the end of the file")),
        }
    }

    /// Go past the end of `section`, whatever is in it.
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

    /// After the last word of text that stands before numbers in binary.
    pub fn begin_numbers(&mut self) {
        if self.is_binary() {
            self.scanner.next_line();
        }
    }

    /// The next word of text, in files of both codings.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.scanner.seek_content();
        self.start = self.scanner.byte();
        self.scanner.word_in_line()
    }

    /// What is left of a line of text, in files of both codings.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        self.start = self.scanner.byte();
        self.scanner.rest_of_line()
    }

    /// A whole number in text, in files of both codings.
    pub fn text_integer(&mut self, what: &str) -> Result<i64, ReadError> {
        self.scanner.seek_content();
        self.start = self.scanner.byte();
        let number = self.scanner.integer(what);
        self.placed(number)
    }

    /// A number in text, in files of both codings.
    pub fn text_number(&mut self, what: &str) -> Result<f64, ReadError> {
        self.scanner.seek_content();
        self.start = self.scanner.byte();
        let number = self.scanner.number(what);
        self.placed(number)
    }

    /// Bytes of a binary file.
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ReadError> {
        self.start = self.scanner.byte();
        self.scanner.take(count, what)
    }

    /// A record begins.
    pub fn record(&mut self, what: &str) -> Result<(), ReadError> {
        if self.is_binary() || self.scanner.seek_content() {
            return Ok(());
        }
        Err(self.error(what, "the end of the file"))
    }

    /// A record ends: nothing else is on its line.
    pub fn end_record(&mut self, what: &str) -> Result<(), ReadError> {
        if self.is_binary() {
            return Ok(());
        }
        match self.scanner.word_in_line() {
            None => Ok(()),
            Some(word) => Err(self.error(format!("the end of {what}"), format!("{} too", quote(word)))),
        }
    }

    /// A number of four bytes.
    pub fn int(&mut self, what: &str) -> Result<i64, ReadError> {
        match self.coding {
            Coding::Text => self.scanner.integer_in_line(what),
            Coding::Binary { little } => Ok(i64::from(i32::decode(self.take(4, what)?, little))),
        }
    }

    /// A number of eight bytes without a sign.
    pub fn size(&mut self, what: &str) -> Result<i64, ReadError> {
        match self.coding {
            Coding::Text => self.scanner.integer_in_line(what),
            Coding::Binary { little } => {
                let number = u64::decode(self.take(8, what)?, little);
                i64::try_from(number).map_err(|_| self.error(what, format!("`{number}`")))
            }
        }
    }

    /// A finite number.
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

    /// Numbers that do not matter; Gmsh writes some that are not finite.
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

    /// `count` as a count of things that take at least so many bytes each in text and in binary.
    pub fn checked(&self, count: i64, what: &str, [text, binary]: [usize; 2]) -> Result<usize, ReadError> {
        self.placed(self.scanner.check_count(count, what, if self.is_binary() { binary } else { text }))
    }
}

/// The other direction: numbers into a buffer, binary ones with the least significant byte first.
pub(super) struct Sink<'a> {
    pub out: &'a mut Vec<u8>,
    pub binary: bool,
}

impl Sink<'_> {
    /// Numbers of four bytes.
    pub fn ints(&mut self, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            if self.binary {
                self.out.extend((number as i32).to_le_bytes());
            } else {
                put!(self.out, "{number} ");
            }
        }
    }

    /// Numbers of eight bytes without a sign.
    pub fn sizes(&mut self, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            if self.binary {
                self.out.extend((number as u64).to_le_bytes());
            } else {
                put!(self.out, "{number} ");
            }
        }
    }

    /// Numbers of eight bytes with a point.
    pub fn reals(&mut self, numbers: [f64; 3]) {
        for number in numbers {
            if self.binary {
                self.out.extend(number.to_le_bytes());
            } else {
                put!(self.out, "{number:?} ");
            }
        }
    }

    /// A record ends; in text, its line.
    pub fn end_record(&mut self) {
        if !self.binary {
            self.out.pop_if(|last| *last == b' ');
            self.out.push(b'\n');
        }
    }

    /// Text after numbers in binary begins on a new line.
    pub fn end_numbers(&mut self) {
        if self.binary {
            self.out.push(b'\n');
        }
    }
}
