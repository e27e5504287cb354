//! Sources and destinations of bytes: the disk, or memory for tests and programs that keep meshes there.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::error::{ReadError, WriteError};
use super::names::listed;
use super::scan::{Scanner, Syntax};
use crate::mesh::{Faces, SurfaceMesh};

/// Maximum size of a file in bytes: fewer bytes than this cannot list more corners than a u32 can count.
const MAX_FILE: u64 = 4 << 30;

/// Store of files.
pub trait Files {
    /// Returns the whole content of a file.
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError>;

    /// Creates or replaces a file, which appears complete or not at all.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError>;
}

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let io = |cause| ReadError::Io { path: path.into(), cause };
        let metadata = fs::metadata(path).map_err(io)?;
        if !metadata.is_file() {
            // Devices and pipes may never end.
            let found = if metadata.is_dir() { "a directory" } else { "a device or pipe" };
            return Err(ReadError::NotAFile { path: path.into(), found });
        }
        let too_large = |bytes| ReadError::TooLarge { path: path.into(), bytes, limit: MAX_FILE };
        if metadata.len() > MAX_FILE {
            return Err(too_large(metadata.len()));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(metadata.len() as usize).map_err(|_| too_large(metadata.len()))?;
        // A file that grows while it is read stays bounded.
        fs::File::open(path).map_err(io)?.take(MAX_FILE).read_to_end(&mut bytes).map_err(io)?;
        Ok(bytes)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        let mut draft = Draft::new(path)?;
        draft.write(bytes)?;
        draft.finish()
    }
}

/// File on disk that is written piece by piece. It appears complete when it is finished, and not before.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    file: BufWriter<fs::File>,
    /// Temporary file with the content so far; removed with this value.
    temporary: tempfile::TempPath,
    /// True if a piece is missing, after which the rest is of no use.
    broken: bool,
}

impl Draft {
    /// Creates a temporary file next to `path`. Returns an error if the folder does not exist.
    pub fn new(path: &Path) -> Result<Self, WriteError> {
        let io = |cause| WriteError::Io { path: path.into(), cause };
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let cause = io::Error::new(io::ErrorKind::NotFound, format!("there is no folder `{}`", folder.display()));
            return Err(io(cause));
        }
        // Reported now, not after everything has been written.
        if path.is_dir() {
            return Err(io(io::ErrorKind::IsADirectory.into()));
        }
        // The original error would name the temporary file.
        let temporary = temporary(folder).map_err(|error| io(error.kind().into()))?;
        let (file, temporary) = temporary.into_parts();
        Ok(Self { path: path.into(), file: BufWriter::with_capacity(1 << 16, file), temporary, broken: false })
    }

    /// Returns the path of the finished file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.attempt(|file| file.write_all(bytes))
    }

    /// Moves to a byte counted from the start of the file.
    pub fn go_to(&mut self, byte: u64) -> Result<(), WriteError> {
        self.attempt(|file| file.seek(SeekFrom::Start(byte)).map(|_| ()))
    }

    /// Moves the file to its final name.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.attempt(Write::flush)?;
        let io = |cause| WriteError::Io { path: self.path.clone(), cause };
        drop(self.file.into_inner().map_err(|error| io(error.into_error()))?);
        self.temporary.persist(&self.path).map_err(|error| io(error.error))
    }

    fn attempt(&mut self, action: impl FnOnce(&mut BufWriter<fs::File>) -> io::Result<()>) -> Result<(), WriteError> {
        let io = |cause| WriteError::Io { path: self.path.clone(), cause };
        if self.broken {
            return Err(io(io::Error::other("an earlier part could not be written")));
        }
        action(&mut self.file).map_err(|cause| {
            self.broken = true;
            io(cause)
        })
    }
}

/// Creates a file in `folder`, with the permissions of an ordinary file instead of a temporary one.
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(".pliant-").tempfile_in(folder)
}

/// Files in memory.
#[derive(Debug, Default)]
pub struct Memory(Mutex<BTreeMap<PathBuf, Vec<u8>>>);

impl Memory {
    /// Creates a store with one file.
    pub fn with(path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::default().and(path, bytes)
    }

    /// Adds a file.
    #[must_use]
    pub fn and(self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        self.lock().insert(path.into(), bytes.into());
        self
    }

    /// Returns all files with their contents.
    pub fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.lock().iter().map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        // The map is valid whatever a panicking thread was doing: each change is one insertion.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Files for Memory {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let found = self.lock().get(path).cloned();
        found.ok_or_else(|| ReadError::Io { path: path.into(), cause: io::ErrorKind::NotFound.into() })
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        self.lock().insert(path.into(), bytes.into());
        Ok(())
    }
}

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

    /// Returns the faces of a surface. Faces with more than `most` corners are cut into fans of triangles, which is
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

/// Writes text into a buffer in memory, which cannot fail.
macro_rules! put {
    ($out:expr, $($format:tt)*) => {{
        use std::io::Write as _;
        write!($out, $($format)*).expect("writing to memory does not fail");
    }};
}
pub(crate) use put;

#[cfg(test)]
mod tests {
    use super::super::read_from;
    use super::*;

    fn including(times: usize, bytes_each: usize) -> Result<super::super::Loaded, ReadError> {
        let head = "*VERTICES\n4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n*ELEMENTS\nTET\n1 4 0\n0 0 1 2 3\n*SET s\n";
        // One file under nine names.
        let name = |i: usize| format!("{}set.txt", "x/../".repeat(i % 9));
        let included: Vec<String> = (0..times).map(|i| format!("*INCLUDE {}\n", name(i))).collect();
        let mut files = Memory::with("m.veg", head.to_owned() + &included.concat());
        for i in 0..9 {
            files = files.and(name(i), "0,\n".repeat(bytes_each / 3));
        }
        read_from(&files, Path::new("m.veg"))
    }

    #[test]
    fn files_may_be_included_again_while_that_is_in_proportion() {
        including(15, 60_000).unwrap();
        including(999, 30).unwrap();
        let error = including(30, 60_000).unwrap_err().to_string();
        assert!(error.contains("expected at most 16 times the bytes of all files included, found `"), "{error}");
        assert!(error.ends_with("again and again"), "{error}");
    }
}
