//! Generated meshes.

use std::path::Path;

use pliant::io;
use pliant_scene::scene::GeneratorChoice;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::choices::choose;
use crate::errors::{Kind, OrRaise, read_error, warn};
use crate::mesh::Mesh;
use crate::renamed::refuse_old;
use crate::work::work;

/// Generates a mesh by the name of its generator in scenes, with options as keywords. Notes are issued as warnings.
#[pyfunction]
#[pyo3(name = "_generate", signature = (name, /, **options))]
pub fn generate(py: Python<'_>, name: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Mesh> {
    refuse_old(&format!("Mesh.{}()", name.replace('-', "_")), options)?;
    let generator: GeneratorChoice = choose(name, options)?;
    let (mut notes, mut unread) = (Vec::new(), None);
    let mut read = |file: &str| match io::read(Path::new(file)) {
        Ok(loaded) => {
            notes.extend(loaded.notes);
            Ok(loaded.mesh.into_surface())
        }
        Err(error) => Err(unread.insert(error).to_string()),
    };
    let generated = work(py, || generator.make(&mut read));
    if let Some(error) = unread {
        return Err(read_error(&error));
    }
    let generated = generated.or_raise(Kind::Mesh)?;
    notes.extend(generated.notes);
    warn(py, &notes)?;
    Ok(generated.mesh.into())
}
