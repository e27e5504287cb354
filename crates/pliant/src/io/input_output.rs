//! Input of readers and output of writers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::names::listed;
use crate::files::{Files, Scanner, Syntax, WriteError};
use crate::mesh::{Faces, SurfaceMesh};

/// Input of a reader: a file, its path for errors and for finding other files, and the store of those.
pub(crate) struct Input<'a> {
    pub path: &'a Path,
    pub bytes: &'a [u8],
    pub files: &'a dyn Files,
}

impl<'a> Input<'a> {
    /// Returns a scanner over the file as text.
    pub fn scan(&self, syntax: Syntax) -> Scanner<'a> {
        Scanner::new(self.path, self.bytes, syntax)
    }
}

/// Returns the path with another extension, in capitals if that of `path` is.
pub(crate) fn sibling(path: &Path, extension: &str) -> PathBuf {
    match path.extension().and_then(OsStr::to_str) {
        Some(own) if own.eq_ignore_ascii_case(extension) => path.into(),
        Some(own) if own.bytes().all(|b| b.is_ascii_uppercase()) => path.with_extension(extension.to_ascii_uppercase()),
        _ => path.with_extension(extension),
    }
}

/// Output of a writer: one buffer per file.
pub(crate) struct Output {
    path: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Content that the format could not store.
    pub notes: Vec<String>,
    /// Names that the format could not store, with their replacements.
    renamed: Vec<String>,
}

impl Output {
    pub fn new(path: &Path) -> Self {
        Self { path: path.into(), files: Vec::new(), notes: Vec::new(), renamed: Vec::new() }
    }

    /// Returns the path that the user named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the buffer of the file that the user named.
    pub fn main(&mut self) -> &mut Vec<u8> {
        self.file(self.path.clone())
    }

    /// Returns the buffer of the file with the same name and another extension.
    pub fn sibling(&mut self, extension: &str) -> &mut Vec<u8> {
        self.file(sibling(&self.path, extension))
    }

    fn file(&mut self, path: PathBuf) -> &mut Vec<u8> {
        let at = self.files.iter().position(|(name, _)| *name == path).unwrap_or_else(|| {
            self.files.push((path, Vec::new()));
            self.files.len() - 1
        });
        &mut self.files[at].1
    }

    /// Returns the faces of a surface. Faces with more than `max` corners are cut into fans of triangles, which is
    /// noted.
    pub fn faces_up_to(&mut self, max: usize, surface: &SurfaceMesh) -> Faces {
        let large = surface.faces().iter().filter(|face| face.len() > max).count();
        if large == 0 {
            return surface.faces().clone();
        }
        let polygons = if large == 1 { "polygon" } else { "polygons" };
        let were = if large == 1 { "was" } else { "were" };
        self.note(format!("{large} {polygons} with more than {max} corners {were} cut into triangles"));
        let mut faces = Faces::default();
        for face in surface.faces().iter() {
            if face.len() <= max {
                faces.push(face);
            } else {
                (1..face.len() - 1).for_each(|i| faces.push(&[face[0], face[i], face[i + 1]]));
            }
        }
        faces
    }

    /// Notes something that the format could not store.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Notes that a name was written as another, if it was.
    pub fn name(&mut self, what: &str, name: &str, written: &str) {
        if written != name {
            self.renamed.push(format!("{what} `{name}` as `{written}`"));
        }
    }

    /// Writes all buffers, and returns the notes.
    pub fn save(mut self, files: &dyn Files) -> Result<Vec<String>, WriteError> {
        for (path, bytes) in &self.files {
            files.write(path, bytes)?;
        }
        if !self.renamed.is_empty() {
            self.notes.push(format!("written under other names: {}", listed(self.renamed.iter().map(String::as_str))));
        }
        Ok(self.notes)
    }
}
