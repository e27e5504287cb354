//! Parameters and results of meshing.

use crate::mesh::VolumeMesh;

/// Parameters for the filling of a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshingParams {
    /// Number of cells along the longest side of the solid's bounding box. A cell has twelve tetrahedra.
    pub cells: usize,
    /// Maximum number of times that cells deep inside are merged, eight at a time. Each merge doubles their size.
    pub grading: u32,
}

impl Default for MeshingParams {
    fn default() -> Self {
        Self { cells: 24, grading: 0 }
    }
}

/// Solid filled with elements.
#[derive(Debug, Clone)]
pub struct Body {
    /// Elements, all in one region. The vertex set `surface` contains the vertices of the boundary.
    pub mesh: VolumeMesh,
    /// Statistics of the meshing.
    pub info: Info,
}

/// Statistics of the meshing of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// Edge length of a cell \[m\].
    pub cell: f64,
    /// Number of tetrahedra removed where the boundary would have touched itself.
    pub removed_at_touching: usize,
    /// Number of separate pieces smaller than a cell that were removed.
    pub specks: usize,
}
