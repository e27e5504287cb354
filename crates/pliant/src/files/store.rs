//! Stores of files: the trait, and files in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use super::error::{ReadError, WriteError};

/// Store of files.
pub trait Files {
    /// Returns the whole content of a file.
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError>;

    /// Creates or replaces a file, which appears complete or not at all.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError>;
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
