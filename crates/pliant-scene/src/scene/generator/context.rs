//! Context of generators: the surfaces that they read, and what they report.

use std::fmt;

use thiserror::Error;

use super::GeneratorChoice;
use crate::scene::SolidError;
use pliant::mesh::generate::GenerateError;
use pliant::mesh::{SurfaceMesh, VolumeMesh};
use pliant::meshing::{MeshingError, Surface};

/// Function that reads the surface with a name, or returns a message with the reason why it cannot.
pub type ReadSurface<'a> = dyn FnMut(&str) -> Result<SurfaceMesh, String> + 'a;

/// Generated mesh with what is known about it.
#[derive(Debug, Clone)]
pub struct Generated {
    /// Volume mesh.
    pub mesh: VolumeMesh,
    /// Surface to be embedded in the mesh, if it was generated for one.
    pub embedded: Option<SurfaceMesh>,
    /// Name of the surface file that the mesh was generated from, if any.
    pub file: Option<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Error of generating a mesh.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum GeneratorError {
    #[error(transparent)]
    Generate(#[from] GenerateError),
    #[error("the number of sectors is {sectors}, expected an even one for tet5; tet6 and hex take any")]
    OddSectors { sectors: usize },
    #[error(transparent)]
    Solid(#[from] SolidError),
    #[error(transparent)]
    Meshing(#[from] MeshingError),
    /// Meshing of the surface in a file.
    #[error("{file}: {error}")]
    Surface { file: String, error: MeshingError },
    /// Reading of a surface.
    #[error("{0}")]
    Read(String),
}

/// Context of generators besides their options.
pub struct GeneratorContext<'a> {
    read: &'a mut ReadSurface<'a>,
    file: Option<String>,
    embedded: Option<SurfaceMesh>,
    notes: Vec<String>,
}

impl fmt::Debug for GeneratorContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneratorContext").field("file", &self.file).finish_non_exhaustive()
    }
}

impl GeneratorContext<'_> {
    /// Reads the surface in a file, and prepares it for meshing.
    pub fn read_surface(&mut self, file: &str) -> Result<(SurfaceMesh, Surface), GeneratorError> {
        self.file = Some(file.to_owned());
        let mesh = (self.read)(file).map_err(GeneratorError::Read)?;
        let surface = Surface::new(&mesh)?;
        self.notes.extend(surface.findings().lines());
        Ok((mesh, surface))
    }

    /// Embeds a surface in the generated mesh.
    pub fn embed(&mut self, surface: SurfaceMesh) {
        self.embedded = Some(surface);
    }

    /// Adds notes for the user.
    pub fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }
}

impl GeneratorChoice {
    /// Generates the mesh. `read` reads surfaces from files.
    pub fn make(&self, read: &mut ReadSurface<'_>) -> Result<Generated, GeneratorError> {
        let mut context = GeneratorContext { read, file: None, embedded: None, notes: Vec::new() };
        let mesh = self.generate(&mut context);
        let GeneratorContext { file, embedded, notes, .. } = context;
        match (mesh, file) {
            (Ok(mesh), file) => Ok(Generated { mesh, embedded, file, notes }),
            (Err(GeneratorError::Meshing(error)), Some(file)) => Err(GeneratorError::Surface { file, error }),
            (Err(error), _) => Err(error),
        }
    }
}
