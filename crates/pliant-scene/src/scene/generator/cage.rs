//! Cages of surfaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GeneratorContext, GeneratorError, GeneratorOptions};
use pliant::mesh::VolumeMesh;
use pliant::meshing::{MeshingParams, cage, carrying_limits};

/// Tetrahedral cage around a surface, which is embedded in it and shown in pictures and animations. The body has the
/// mass of the volume that the surface encloses. Set: `surface`.
///
/// ```toml
/// [[object]]
/// mesh = { cage = { surface = "bunny.obj", cells = 20 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cage {
    /// Name of a surface file, relative to the scene file.
    pub surface: String,
    /// Number of cells along the longest side.
    #[serde(default = "sixteen")]
    #[schemars(range(min = 2))]
    pub cells: u32,
    /// Maximum number of times that the cell size doubles towards the interior.
    #[serde(default)]
    pub grading: u32,
}

fn sixteen() -> u32 {
    16
}

impl GeneratorOptions for Cage {
    fn generate(&self, context: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError> {
        let (mesh, surface) = context.read_surface(&self.surface)?;
        let cage = cage(&mesh, &surface, &MeshingParams { cells: self.cells as usize, grading: self.grading })?;
        let info = &cage.info;
        context.note(carrying_limits(&mesh, &surface, &cage.mesh, info.body.cell, info.enclosed)?);
        context.embed(mesh);
        Ok(cage.mesh)
    }

    fn visit_files(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.surface);
    }
}
