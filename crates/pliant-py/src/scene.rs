//! Scenes from a file or a dictionary.

use std::path::PathBuf;

use pliant::io::{Disk, Files};
use pliant_scene::scene::{Built, SceneFile, Source};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Kind, OrRaise, read_error, warn};
use crate::work::make;

/// Name of dictionaries in messages.
const DICTIONARY: &str = "scene.toml (from a dictionary)";

/// Builds a scene from a path, or from a dictionary with the tables and keys of a scene file.
pub fn build(py: Python<'_>, scene: &Bound<'_, PyAny>, folder: Option<PathBuf>) -> PyResult<Built> {
    let file = if scene.cast::<PyDict>().is_ok() {
        let json: String = py.import("pliant._interop")?.getattr("scene_to_json")?.call1((scene,))?.extract()?;
        let table: serde_json::Value = serde_json::from_str(&json).or_raise(Kind::Scene)?;
        let text = toml::to_string(&table).map_err(|error| format!("invalid scene: {error}"));
        let source = Source {
            path: DICTIONARY.into(),
            text: text.or_raise(Kind::Scene)?.into(),
            folder: folder.unwrap_or_default(),
            is_generated: false,
        };
        SceneFile::parse(source).or_raise(Kind::Scene)?
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
