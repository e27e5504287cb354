//! Numbers as plain text: one line per row, separated by blanks or commas. `#` begins a comment.

use std::path::Path;

use super::{Array, check_finite};
use crate::files::{ReadError, Scanner, Syntax, WriteError, put};

pub fn read(path: &Path, bytes: &[u8]) -> Result<Array, ReadError> {
    let mut scanner = Scanner::new(path, bytes, Syntax { comment: Some(b'#'), commas: true });
    let (mut rows, mut columns, mut values) = (0, 0, Vec::new());
    while scanner.seek_content() {
        let first = values.len();
        while let Some(word) = scanner.word_in_line() {
            values.push(scanner.parse_number(word, "a number")?);
        }
        let found = values.len() - first;
        if rows == 0 {
            columns = found;
        } else if found != columns {
            return Err(scanner.error(format!("{columns} numbers, as on the first line"), format!("{found}")));
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(ReadError::whole(path, "numbers", "none"));
    }
    Ok(Array { rows, columns, values })
}

pub fn write(path: &Path, array: &Array) -> Result<Vec<u8>, WriteError> {
    check_finite(path, "text", &array.values)?;
    let mut out = Vec::new();
    for row in array.values.chunks(array.columns.max(1)) {
        for (column, value) in row.iter().enumerate() {
            put!(out, "{}{value:?}", if column == 0 { "" } else { " " });
        }
        out.push(b'\n');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Array, String> {
        read(Path::new("u.txt"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn blanks_commas_and_comments_are_understood() {
        let array = parse("# x, y, z\n1 2\t3\r\n\n4,5, 6 # last").unwrap();
        assert_eq!((array.rows, array.columns, array.values), (2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_eq!(
            parse("1 2 3\n\n4 5").unwrap_err(),
            "u.txt, line 3: expected 3 numbers, as on the first line, found 2"
        );
        assert_eq!(
            parse("1 2 3\n4 5 nan").unwrap_err(),
            "u.txt, line 2: expected a number, a finite number, found `nan`"
        );
        assert_eq!(parse("x y z\n").unwrap_err(), "u.txt, line 1: expected a number, found `x`");
        assert_eq!(parse("# nothing\n").unwrap_err(), "u.txt: expected numbers, found none");
    }
}
