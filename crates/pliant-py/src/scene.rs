//! Scenes from a file or a dictionary.

use std::path::PathBuf;

use pliant::files::{Disk, Files};
use pliant_scene::scene::{Built, SceneFile, Source};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::choices::json_of;
use crate::errors::{Kind, OrRaise, read_error, warn};
use crate::work::make;

/// Builds a scene from a path, or from a dictionary with the tables and keys of a scene file.
pub fn build(py: Python<'_>, scene: &Bound<'_, PyAny>, folder: Option<PathBuf>) -> PyResult<Built> {
    let file = if let Ok(dictionary) = scene.cast::<PyDict>() {
        let value = json_of(dictionary)?;
        SceneFile::from_value(&Disk, value, folder.unwrap_or_default()).or_raise(Kind::Scene)?
    } else {
        let path: PathBuf = scene.extract()?;
        // A missing file raises the same error as any other file.
        Disk.read(&path).map_err(|error| read_error(&error))?;
        let mut source = Source::read(&Disk, &path).or_raise(Kind::Scene)?;
        source.folder = folder.unwrap_or(source.folder);
        SceneFile::of(&Disk, source).or_raise(Kind::Scene)?
    };
    let built = make(py, Kind::Scene, || file.build(&Disk).map_err(|error| error.to_string()))?;
    warn(py, &built.notes)?;
    Ok(built)
}
