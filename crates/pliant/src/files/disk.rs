//! Files on disk, which appear complete or not at all.

use std::fs;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::{ReadError, WriteError};
use super::store::Files;

/// Maximum size of a file in bytes: fewer bytes than this cannot list more corners than a u32 can count.
const MAX_FILE: u64 = 4 << 30;

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
