//! Scanner that reads a file word by word or byte by byte and keeps track of its position.

use std::path::Path;

use super::error::{Location, ReadError};
use super::quote;

/// Rules of a text format for what separates words.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Syntax {
    /// Byte that makes the rest of a line a comment.
    pub comment: Option<u8>,
    /// True if commas separate words, in addition to white space.
    pub commas: bool,
}

/// Position in a file.
#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    line: u64,
    syntax: Syntax,
}

impl<'a> Scanner<'a> {
    pub fn new(path: &'a Path, bytes: &'a [u8], syntax: Syntax) -> Self {
        let byte_order_mark = b"\xef\xbb\xbf";
        let at = if bytes.starts_with(byte_order_mark) { byte_order_mark.len() } else { 0 };
        Self { path, bytes, at, line: 1, syntax }
    }

    /// Returns the number of the current line, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the number of bytes left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns true after the last word of the file.
    pub fn at_end(&mut self) -> bool {
        !self.seek_content()
    }

    /// Returns the next word of this line, or `None` at its end.
    pub fn word_in_line(&mut self) -> Option<&'a [u8]> {
        self.skip_separators();
        let rest = &self.bytes[self.at..];
        match rest.first() {
            None | Some(b'\n') => return None,
            comment if comment.copied() == self.syntax.comment => return None,
            Some(_) => {}
        }
        let length = rest.iter().position(|&b| b == b'\n' || self.is_separator(b)).unwrap_or(rest.len());
        self.at += length;
        Some(&rest[..length])
    }

    /// Returns the next word of the file, on any line.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        if self.seek_content() { self.word_in_line() } else { None }
    }

    /// Returns the next word without consuming it.
    pub fn peek(&self) -> Option<&'a [u8]> {
        self.clone().word()
    }

    /// Returns the next word, or an error at the end of the file.
    pub fn expect(&mut self, what: &str) -> Result<&'a [u8], ReadError> {
        if self.seek_content() {
            // There is content, so there is a word.
            return Ok(self.word_in_line().unwrap_or_default());
        }
        Err(self.error(what, "the end of the file"))
    }

    /// Returns the rest of this line, trimmed and without a comment. Stays on the line.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += end;
        let text = &rest[..end];
        let text = match self.syntax.comment.and_then(|c| text.iter().position(|&b| b == c)) {
            Some(comment) => &text[..comment],
            None => text,
        };
        text.trim_ascii()
    }

    /// Moves to the start of the next line. Returns false at the end of the file.
    pub fn next_line(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        if let Some(end) = rest.iter().position(|&b| b == b'\n') {
            self.at += end + 1;
            self.line += 1;
            true
        } else {
            self.at = self.bytes.len();
            false
        }
    }

    /// Moves to the next word, past blank lines and comments. Returns false at the end of the file.
    pub fn seek_content(&mut self) -> bool {
        loop {
            self.skip_separators();
            match self.bytes.get(self.at) {
                None => return false,
                Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                }
                comment if comment.copied() == self.syntax.comment => {
                    if !self.next_line() {
                        return false;
                    }
                }
                Some(_) => return true,
            }
        }
    }

    /// Returns the next word of this line as a finite number.
    pub fn number_in_line(&mut self, what: &str) -> Result<f64, ReadError> {
        match self.word_in_line() {
            Some(word) => self.parse_number(word, what),
            None => Err(self.error(what, "the end of the line")),
        }
    }

    /// Returns the next word of this line as an integer.
    pub fn integer_in_line(&mut self, what: &str) -> Result<i64, ReadError> {
        match self.word_in_line() {
            Some(word) => self.parse_integer(word, what),
            None => Err(self.error(what, "the end of the line")),
        }
    }

    /// Returns the next word of the file as a finite number.
    pub fn number(&mut self, what: &str) -> Result<f64, ReadError> {
        let word = self.expect(what)?;
        self.parse_number(word, what)
    }

    /// Returns the next word of the file as an integer.
    pub fn integer(&mut self, what: &str) -> Result<i64, ReadError> {
        let word = self.expect(what)?;
        self.parse_integer(word, what)
    }

    /// Returns the next word of the file as a count of items that take at least `min_bytes` each. A count that the rest
    /// of the file cannot store is an error, so that memory may be reserved by the result.
    pub fn count(&mut self, what: &str, min_bytes: usize) -> Result<usize, ReadError> {
        let count = self.integer(&format!("the number of {what}"))?;
        self.check_count(count, what, min_bytes)
    }

    /// Checks a count that was read by other means; see [`count`](Self::count).
    pub fn check_count(&self, count: i64, what: &str, min_bytes: usize) -> Result<usize, ReadError> {
        let Ok(count) = usize::try_from(count) else {
            return Err(self.error(format!("the number of {what}"), format!("`{count}`")));
        };
        // The last item of a file may lack its line end.
        if count.saturating_mul(min_bytes) > self.left() + min_bytes {
            let left = format!("only {} bytes until the end of the file", self.left());
            return Err(self.error(format!("{count} {what}"), left));
        }
        Ok(count)
    }

    /// Parses a word as a finite number; errors name the current line.
    pub fn parse_number(&self, word: &[u8], what: &str) -> Result<f64, ReadError> {
        match std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok()) {
            Some(number) if number.is_finite() => Ok(number),
            Some(_) if word.iter().any(u8::is_ascii_digit) => {
                Err(self.error(what, format!("{}, which is beyond the largest number, 1.8e308", quote(word))))
            }
            Some(_) => Err(self.error(format!("{what}, a finite number"), quote(word))),
            None => Err(self.error(what, quote(word))),
        }
    }

    /// Parses a word as an integer; errors name the current line.
    pub fn parse_integer(&self, word: &[u8], what: &str) -> Result<i64, ReadError> {
        let number = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
        number.ok_or_else(|| self.error(format!("{what}, a whole number"), quote(word)))
    }

    /// Returns the next `count` bytes without interpreting them.
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ReadError> {
        if count > self.left() {
            let found = format!("only {} until the end of the file", self.left());
            return Err(ReadError::at(self.path, self.byte(), format!("{count} bytes of {what}"), found));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    /// Returns the current place as a byte, for errors in binary data.
    pub fn byte(&self) -> Location {
        Location::Byte(self.at as u64)
    }

    /// Creates an error on the current line.
    pub fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        ReadError::at(self.path, Location::Line(self.line), expected, found)
    }

    fn is_separator(&self, byte: u8) -> bool {
        byte == b' ' || (byte.is_ascii_whitespace() && byte != b'\n') || (self.syntax.commas && byte == b',')
    }

    fn skip_separators(&mut self) {
        while self.bytes.get(self.at).is_some_and(|&b| self.is_separator(b)) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanner(text: &str) -> Scanner<'_> {
        Scanner::new(Path::new("t.txt"), text.as_bytes(), Syntax { comment: Some(b'#'), commas: true })
    }

    #[test]
    fn words_lines_and_comments() {
        let mut s = scanner("\u{feff}a, b\r\n\n # nothing\n c#d # rest\n");
        assert_eq!(s.word(), Some(&b"a"[..]));
        assert_eq!(s.word_in_line(), Some(&b"b"[..]));
        assert_eq!(s.word_in_line(), None);
        assert_eq!((s.peek(), s.line()), (Some(&b"c#d"[..]), 1));
        assert_eq!((s.word(), s.line()), (Some(&b"c#d"[..]), 4));
        assert_eq!(s.rest_of_line(), b"");
        assert!(s.at_end());
    }

    #[test]
    fn numbers_say_line_and_expectation() {
        let error = |text: &str| scanner(text).number("an x coordinate").unwrap_err().to_string();
        assert_eq!(error("\n\nfoo"), "t.txt, line 3: expected an x coordinate, found `foo`");
        assert_eq!(
            error("1e400"),
            "t.txt, line 1: expected an x coordinate, found `1e400`, which is beyond the largest number, 1.8e308"
        );
        assert_eq!(error("nan"), "t.txt, line 1: expected an x coordinate, a finite number, found `nan`");
        assert_eq!(error("\u{1}\u{7f}"), "t.txt, line 1: expected an x coordinate, found `\\x01\\x7f`");
        assert_eq!(error(""), "t.txt, line 1: expected an x coordinate, found the end of the file");
        assert_eq!(scanner("-1.5e-3").number("x").unwrap(), -1.5e-3);
    }

    #[test]
    fn counts_are_bounded_by_what_is_left() {
        assert_eq!(scanner("2\n0 0\n0 0").count("things", 4).unwrap(), 2);
        for count in ["-1", "3000000000", "99999999999999999999"] {
            let text = format!("{count} x");
            assert!(scanner(&text).count("things", 2).is_err(), "{count}");
        }
    }

    #[test]
    fn long_words_are_cut_in_messages() {
        assert_eq!(quote(&[b'x'; 1000]).chars().count(), 43);
    }
}
