//! Sources and destinations of bytes: the disk, or memory for tests and programs that keep meshes there.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use super::error::{ReadError, WriteError};

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

/// Files in memory. Paths are compared after `.` and `..` in them have been resolved.
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
        self.lock().insert(resolved(&path.into()), bytes.into());
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

/// Returns a path without `.`, and without `..` after the name of a folder.
fn resolved(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(clean.components().next_back(), Some(Component::Normal(_))) => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

impl Files for Memory {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let found = self.lock().get(&resolved(path)).cloned();
        found.ok_or_else(|| ReadError::Io { path: path.into(), cause: io::ErrorKind::NotFound.into() })
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        self.lock().insert(resolved(path), bytes.into());
        Ok(())
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
