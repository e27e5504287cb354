//! Cubes around surfaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GeneratorContext, GeneratorError, GeneratorOptions};
use pliant::mesh::VolumeMesh;
use pliant::meshing::{carrying_limits, voxelize};

/// Cubes that contain a surface, which is embedded in them as in a cage.
///
/// ```toml
/// [[object]]
/// mesh = { voxels = { surface = "bunny.obj", cells = 20 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Voxels {
    /// Name of a surface file, relative to the scene file.
    pub surface: String,
    /// Number of cubes along the longest side.
    #[serde(default = "sixteen")]
    #[schemars(range(min = 2))]
    pub cells: u32,
}

fn sixteen() -> u32 {
    16
}

impl GeneratorOptions for Voxels {
    fn generate(&self, context: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError> {
        let (mesh, surface) = context.read_surface(&self.surface)?;
        let voxels = voxelize(&surface, self.cells as usize)?;
        context.note(carrying_limits(&mesh, &surface, &voxels.mesh, voxels.cell, voxels.enclosed)?);
        context.embed(mesh);
        Ok(voxels.mesh)
    }

    fn visit_files(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.surface);
    }
}
