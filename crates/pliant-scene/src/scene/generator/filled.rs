//! Tetrahedral meshes of the interior of surfaces and solids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GeneratorContext, GeneratorError, GeneratorOptions};
use crate::scene::SolidSource;
use pliant::math::short_number;
use pliant::mesh::VolumeMesh;
use pliant::meshing::{MeshingParams, fill_surface, fused_pieces, tetrahedralize};

/// Tetrahedral mesh of the interior of a surface, or of a solid. Set: `surface`.
///
/// ```toml
/// [[object]]
/// mesh = { filled = { of = { ball = { radius = 0.5 } }, cells = 12 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filled {
    /// Surface or solid to fill.
    pub of: SolidSource,
    /// Number of cells along the longest side; a cell has twelve tetrahedra.
    #[serde(default = "twenty_four")]
    #[schemars(range(min = 2))]
    pub cells: u32,
    /// Maximum number of times that the cell size doubles towards the interior.
    #[serde(default)]
    pub grading: u32,
}

fn twenty_four() -> u32 {
    24
}

impl GeneratorOptions for Filled {
    fn generate(&self, context: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError> {
        let params = MeshingParams { cells: self.cells as usize, grading: self.grading };
        match &self.of {
            SolidSource::Solid(solid) => {
                let solid = solid.checked()?;
                let body = tetrahedralize(&solid, &params)?;
                if solid.thickness() < body.info.cell {
                    context.note([format!(
                        "the solid has a feature {} m thick, thinner than a cell of {} m, which may be lost",
                        short_number(solid.thickness()),
                        short_number(body.info.cell)
                    )]);
                }
                Ok(body.mesh)
            }
            SolidSource::Surface(file) => {
                let (_, surface) = context.read_surface(file)?;
                let (body, thin) = fill_surface(&surface, &params)?;
                context.note(fused_pieces(&surface, &body.mesh));
                context.note(thin.map(|thin| thin.to_string()));
                Ok(body.mesh)
            }
        }
    }

    fn visit_files(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let SolidSource::Surface(file) = &mut self.of {
            visit(file);
        }
    }
}
