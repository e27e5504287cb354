//! VegaFEM's interpolation files, `.interp`. Each embedded point has its number, then a vertex and a weight for each
//! corner of its element, all counted from 0.
//!
//! ```text
//! 0 12 0.25 7 0.25 3 0.5 9 0.0
//! 1 …
//! ```

use std::path::Path;

use super::input_output::Input;
use crate::files::{Disk, Files, ReadError, Syntax, WriteError, put, quote};
use crate::mesh::{Embedding, VolumeMesh};

/// Reads the embedding of points into `mesh`.
pub fn read_interp(path: impl AsRef<Path>, mesh: &VolumeMesh) -> Result<Embedding, ReadError> {
    read_interp_from(&Disk, path.as_ref(), mesh)
}

/// Reads the embedding of points into `mesh` from any source of files.
pub fn read_interp_from(files: &dyn Files, path: &Path, mesh: &VolumeMesh) -> Result<Embedding, ReadError> {
    let bytes = files.read(path)?;
    let mut scanner = Input { path, bytes: &bytes, files }.scan(Syntax { comment: Some(b'#'), commas: false });
    let mut ties = Vec::new();
    while scanner.seek_content() {
        let point = scanner.integer_in_line("the number of a point")?;
        if usize::try_from(point) != Ok(ties.len()) {
            return Err(scanner
                .error(format!("point {}: points are listed in order, from 0", ties.len()), format!("`{point}`")));
        }
        let mut tie = Vec::with_capacity(mesh.kind().nodes());
        for _ in 0..mesh.kind().nodes() {
            let vertex = scanner.integer_in_line("a vertex number")?;
            let Some(vertex) = u32::try_from(vertex).ok().filter(|&v| (v as usize) < mesh.vertex_count()) else {
                let expected = format!("a vertex number from 0 to {}", mesh.vertex_count() - 1);
                return Err(scanner.error(expected, format!("`{vertex}`")));
            };
            tie.push((vertex, scanner.number_in_line("a weight")?));
        }
        if let Some(word) = scanner.word_in_line() {
            let expected = format!("{} vertices, as the elements of the mesh have", mesh.kind().nodes());
            return Err(scanner.error(expected, format!("{} too", quote(word))));
        }
        ties.push(tie);
    }
    Embedding::from_weights(mesh, &ties)
        .map_err(|error| ReadError::whole(path, "an embedding in this mesh", error.to_string()))
}

/// Writes the embedding of points into a mesh.
pub fn write_interp(path: impl AsRef<Path>, embedding: &Embedding) -> Result<(), WriteError> {
    let mut out = Vec::new();
    for point in 0..embedding.len() {
        put!(out, "{point}");
        for (vertex, weight) in embedding.interpolation().row(point) {
            put!(out, " {vertex} {weight:?}");
        }
        put!(out, "\n");
    }
    Disk.write(path.as_ref(), &out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;
    use crate::math::Vec3;
    use crate::mesh::{Cells, generate};

    #[test]
    fn what_is_written_is_read_back() {
        for cells in [Cells::Tet5, Cells::Hex] {
            let mesh = generate::block([1.0; 3], [2, 2, 2], cells).unwrap();
            let points: Vec<Vec3> = (0..40).map(|i| Vec3::new(0.03 * f64::from(i), 0.4, 0.7)).collect();
            let embedding = Embedding::new(&mesh, &points).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("detail.interp");
            write_interp(&path, &embedding).unwrap();
            assert_eq!(read_interp(&path, &mesh).unwrap(), embedding);
        }
    }

    #[test]
    fn broken_files_are_explained() {
        let mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
        for (text, message) in [
            ("1 0 1 1 0 2 0 4 0", "line 1: expected point 0"),
            ("0 0 1 1 0 2 0", "line 1: expected a vertex number, found the end of the line"),
            ("0 0 1 1 0 2 0 4 x", "line 1: expected a weight, found `x`"),
            ("0 0 1 1 0 2 0 99 0", "line 1: expected a vertex number from 0 to 7, found `99`"),
            ("0 0 1 1 0 2 0 4 0 5 0", "line 1: expected 4 vertices, as the elements of the mesh have, found `5` too"),
            ("\n0 0 1 1 1 2 1 4 1", "the weights of point 0 sum to 4"),
            ("0 0 1 0 0 0 0 0 0", "do not form an element of the mesh"),
        ] {
            let found = read_interp_from(&Memory::with("d.interp", text), Path::new("d.interp"), &mesh).unwrap_err();
            assert!(found.to_string().contains(message), "{found}");
        }
    }
}
