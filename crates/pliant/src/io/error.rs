//! What can go wrong with a file, always with its name, the place, and what was expected there.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::mesh::MeshError;

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of text, counted from 1.
    Line(u64),
    /// A byte of binary data, counted from 0.
    Byte(u64),
    /// The file as a whole.
    Whole,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
            Self::Whole => Ok(()),
        }
    }
}

/// Why a file could not be read. Messages are complete; causes are not repeated as sources.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum ReadError {
    #[error("{}: {cause}", path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("{}: expected a file, found {found}", path.display())]
    NotAFile { path: PathBuf, found: &'static str },
    #[error("{}: {bytes} bytes are more than the {limit} that Pliant reads", path.display())]
    TooLarge { path: PathBuf, bytes: u64, limit: u64 },
    #[error("{}: expected a file that ends in one of {known}", path.display())]
    UnknownFormat { path: PathBuf, known: String },
    #[error("{}: {format} is only written, not read", path.display())]
    WriteOnly { path: PathBuf, format: &'static str },
    #[error("{}{place}: expected {expected}, found {found}", path.display())]
    Syntax { path: PathBuf, place: Place, expected: String, found: String },
    #[error("{}: this mesh cannot be simulated\n{cause}\nvertices and elements are counted from 0", path.display())]
    Mesh { path: PathBuf, cause: MeshError },
}

impl ReadError {
    /// Something else than expected at a place of a file.
    pub(crate) fn at(path: &Path, place: Place, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Syntax { path: path.into(), place, expected: expected.into(), found: found.into() }
    }

    /// Something else than expected in a file as a whole.
    pub(crate) fn whole(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::at(path, Place::Whole, expected, found)
    }
}

/// Why a file could not be written.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum WriteError {
    #[error("{}: {cause}", path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("{}: expected a name that ends in one of {known}", path.display())]
    UnknownFormat { path: PathBuf, known: String },
    #[error("{}: {format} cannot hold {what}", path.display())]
    Unsupported { path: PathBuf, format: &'static str, what: &'static str },
    #[error("{}: frame {frame}: {what}", path.display())]
    Frame { path: PathBuf, frame: usize, what: String },
    #[error("{}: expected {expected} frames, got {found}", path.display())]
    FrameCount { path: PathBuf, expected: usize, found: usize },
    #[error("{}: {frames} frames do not fit into the {limit} bytes that {format} can hold; write fewer", path.display())]
    TooManyFrames { path: PathBuf, format: &'static str, frames: usize, limit: u64 },
}
