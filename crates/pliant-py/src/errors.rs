//! Errors of the library as Python exceptions, with the same message.

use std::fmt::Display;
use std::io::ErrorKind;

use pliant::files::{ReadError, WriteError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

/// Exception classes of `errors.py`.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Mesh,
    Material,
    Model,
    Scene,
    Solve,
    File,
    MissingFile,
    Checkpoint,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Mesh => "MeshError",
            Self::Material => "MaterialError",
            Self::Model => "ModelError",
            Self::Scene => "SceneError",
            Self::Solve => "SolveError",
            Self::File => "FileError",
            Self::MissingFile => "MissingFileError",
            Self::Checkpoint => "CheckpointError",
        }
    }

    /// Returns the exception with a message.
    pub fn error(self, message: impl Display) -> PyErr {
        let message = message.to_string();
        let exception = |py: Python<'_>| {
            let class = py.import("pliant.errors")?.getattr(self.class())?;
            Ok::<_, PyErr>(PyErr::from_value(class.call1((&message,))?))
        };
        // Only a broken installation lacks the class.
        Python::attach(|py| exception(py).unwrap_or_else(|_| PyRuntimeError::new_err(message.clone())))
    }
}

/// Results whose errors become exceptions.
pub trait OrRaise<T> {
    /// Returns the value, or raises the exception.
    fn or_raise(self, kind: Kind) -> PyResult<T>;
}

impl<T, E: Display> OrRaise<T> for Result<T, E> {
    fn or_raise(self, kind: Kind) -> PyResult<T> {
        self.map_err(|error| kind.error(error))
    }
}

/// Returns the exception for a file that could not be read: a system error, or an error in its contents.
pub fn read_error(error: &ReadError) -> PyErr {
    let kind = match error {
        ReadError::Io { cause, .. } if cause.kind() == ErrorKind::NotFound => Kind::MissingFile,
        ReadError::Io { .. } | ReadError::NotAFile { .. } | ReadError::TooLarge { .. } => Kind::File,
        _ => Kind::Mesh,
    };
    kind.error(error)
}

/// Returns the exception for a file that could not be written.
pub fn write_error(error: &WriteError) -> PyErr {
    if matches!(error, WriteError::Io { .. }) { Kind::File.error(error) } else { Kind::Mesh.error(error) }
}

/// Issues Python warnings.
pub fn warn(py: Python<'_>, notes: &[String]) -> PyResult<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let category = py.import("pliant.errors")?.getattr("PliantWarning")?;
    let warn = py.import("warnings")?.getattr("warn")?;
    for note in notes {
        warn.call1((note, &category, 1))?;
    }
    Ok(())
}
