//! VegaFEM's lists of fixed vertices, `.bou`: vertex numbers from 1, separated by commas, spaces or line ends.

use std::path::Path;

use super::input_output::Input;
use crate::files::{Disk, Files, ReadError, Syntax, WriteError, put};

/// Reads a list of fixed vertices of a mesh with `vertex_count` vertices. The result counts from 0 and is sorted. An
/// empty file is an empty list.
pub fn read_bou(path: impl AsRef<Path>, vertex_count: usize) -> Result<Vec<u32>, ReadError> {
    read_bou_from(&Disk, path.as_ref(), vertex_count)
}

/// Reads a list of fixed vertices from any source of files; see [`read_bou`].
pub fn read_bou_from(files: &dyn Files, path: &Path, vertex_count: usize) -> Result<Vec<u32>, ReadError> {
    let bytes = files.read(path)?;
    let mut scanner = Input { path, bytes: &bytes, files }.scan(Syntax { comment: Some(b'#'), commas: true });
    let mut vertices = Vec::new();
    while let Some(word) = scanner.word() {
        let number = scanner.parse_integer(word, "a vertex number")?;
        match u32::try_from(number.saturating_sub(1)) {
            Ok(vertex) if (vertex as usize) < vertex_count => vertices.push(vertex),
            _ => return Err(scanner.error(format!("a vertex number from 1 to {vertex_count}"), format!("`{number}`"))),
        }
    }
    vertices.sort_unstable();
    vertices.dedup();
    Ok(vertices)
}

/// Writes a list of fixed vertices, counted from 0 here and from 1 in the file.
pub fn write_bou(path: impl AsRef<Path>, vertices: &[u32]) -> Result<(), WriteError> {
    let mut out = Vec::new();
    for line in vertices.chunks(8) {
        for vertex in line {
            put!(out, "{},", u64::from(*vertex) + 1);
        }
        put!(out, "\n");
    }
    Disk.write(path.as_ref(), &out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    fn read(text: &str) -> Result<Vec<u32>, ReadError> {
        read_bou_from(&Memory::with("f.bou", text), Path::new("f.bou"), 10)
    }

    #[test]
    fn lists_are_read_however_they_are_laid_out() {
        assert_eq!(read("3,1,\r\n\n 10 , 2,3 # clamp\n").unwrap(), [0, 1, 2, 9]);
        assert_eq!(read("").unwrap(), [0; 0]);
    }

    #[test]
    fn numbers_that_are_no_vertex_are_named_with_their_line() {
        for (text, message) in [
            ("1,\n11", "f.bou, line 2: expected a vertex number from 1 to 10, found `11`"),
            ("0", "f.bou, line 1: expected a vertex number from 1 to 10, found `0`"),
            (
                "-9223372036854775808",
                "f.bou, line 1: expected a vertex number from 1 to 10, found `-9223372036854775808`",
            ),
            ("1;2", "f.bou, line 1: expected a vertex number, a whole number, found `1;2`"),
        ] {
            let found = read(text).unwrap_err().to_string();
            assert_eq!(found, message);
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clamp.bou");
        let vertices: Vec<u32> = (0..30).filter(|v| v % 3 != 0).collect();
        write_bou(&path, &vertices).unwrap();
        assert_eq!(read_bou(&path, 30).unwrap(), vertices);
    }
}
