//! Errors of files. Each names the file, the place, and what was expected there.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::mesh::MeshError;

/// Location in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// Line of text, counted from 1.
    Line(u64),
    /// Byte of binary data, counted from 0.
    Byte(u64),
    /// The file as a whole.
    Whole,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
            Self::Whole => Ok(()),
        }
    }
}

/// Error of reading a file. Messages are complete; causes are not repeated as sources.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum ReadError {
    #[error("{}: {cause}", path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("{}: expected a file, found {found}", path.display())]
    NotAFile { path: PathBuf, found: &'static str },
    #[error("{}: expected at most {limit} bytes, found {bytes}", path.display())]
    TooLarge { path: PathBuf, bytes: u64, limit: u64 },
    #[error("{}: expected a file that ends in one of {known}", path.display())]
    UnknownFormat { path: PathBuf, known: String },
    #[error("{}: {format} is only written, not read", path.display())]
    WriteOnly { path: PathBuf, format: &'static str },
    #[error("{}{place}: expected {expected}, found {found}", path.display())]
    Syntax { path: PathBuf, place: Location, expected: String, found: String },
    #[error("{}: this mesh cannot be simulated\n{cause}\nvertices and elements are counted from 0", path.display())]
    Mesh { path: PathBuf, cause: MeshError },
}

impl ReadError {
    /// Creates an error at a place of a file.
    pub(crate) fn at(path: &Path, place: Location, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Syntax { path: path.into(), place, expected: expected.into(), found: found.into() }
    }

    /// Creates an error about a file as a whole.
    pub fn whole(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::at(path, Location::Whole, expected, found)
    }
}

/// Error of writing a file.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum WriteError {
    #[error("{}: {cause}", path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("{}: expected a name that ends in one of {known}", path.display())]
    UnknownFormat { path: PathBuf, known: String },
    #[error("{}: {format} cannot store {what}", path.display())]
    Unsupported { path: PathBuf, format: &'static str, what: &'static str },
    #[error("{}: frame {frame}: {what}", path.display())]
    Frame { path: PathBuf, frame: usize, what: String },
    #[error("{}: expected {expected} frames, got {found}", path.display())]
    FrameCount { path: PathBuf, expected: usize, found: usize },
    #[error("{}: {frames} frames do not fit into the {limit} bytes that {format} can store; write fewer", path.display())]
    TooManyFrames { path: PathBuf, format: &'static str, frames: usize, limit: u64 },
}
