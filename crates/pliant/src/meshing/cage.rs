//! Coarse mesh that contains a whole surface.

use rayon::prelude::*;

use super::fill::filled;
use super::filled::check_count;
use super::lattice::MIN_CELLS;
use super::stop::Stop;
use super::{Info, MeshingError, MeshingParams, Surface, tetrahedralize};
use crate::geometry::{Solid, Thickened, TriangleTree, crosses};
use crate::mesh::{Embedding, SurfaceMesh, VolumeMesh};

/// Distances from the surface at which the cage is tried, in cells. The boundary of a mesh is at most three quarters of
/// a cell from the surface that it approximates. The larger distances therefore usually suffice; the check decides.
const DISTANCES: [f64; 5] = [0.3, 0.6, 1.0, 1.4, 2.0];

/// Mesh that carries a surface.
#[derive(Debug, Clone)]
pub struct Cage {
    /// Elements in regions by the fraction inside the surface; see [`Region::fill`](crate::mesh::Region::fill).
    pub mesh: VolumeMesh,
    /// Positions of the surface's vertices in the mesh; none is outside.
    pub embedding: Embedding,
    /// Statistics of the meshing.
    pub info: CageInfo,
}

/// Statistics of the meshing of a cage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CageInfo {
    /// Statistics of its tetrahedra.
    pub body: Info,
    /// Distance from the surface \[m\].
    pub distance: f64,
    /// Approximate volume that the surface encloses \[m³\]. It is zero for a sheet, which is then as light as possible.
    pub enclosed: f64,
}

/// Generates tetrahedra that contain all of `mesh`, whose cleaned triangles are `surface`.
///
/// A solid slightly larger than the interior of the surface is filled. The whole surface must then be inside: every
/// vertex is in a tetrahedron, and no triangle crosses the boundary. Surfaces that enclose nothing, such as a sheet,
/// have a cage too.
pub fn cage(mesh: &SurfaceMesh, surface: &Surface, params: &MeshingParams) -> Result<Cage, MeshingError> {
    let core = surface.enclosed();
    let [low, high] = mesh.bounding_box();
    if params.cells < MIN_CELLS {
        return Err(MeshingError::TooFewCells { cells: params.cells, min: MIN_CELLS });
    }
    let stop = Stop::current();
    check_count(surface, (high - low).max_element(), params)?;
    // Errors report the number of cells that was requested.
    let as_asked = |error: MeshingError| match error {
        MeshingError::TooManyCells { total, max, .. } => MeshingError::TooManyCells { cells: params.cells, total, max },
        MeshingError::TooManyElements { max, .. } => MeshingError::TooManyElements { cells: params.cells, max },
        error => error,
    };
    let mut wrong = (0, 0);
    for by in DISTANCES {
        // Cells are counted along the surface, and the cage is larger.
        let cell = (high - low).max_element() / params.cells as f64;
        let thick = Thickened { core, beside: surface.left_out(), by: by * cell };
        let around = thick.bounds();
        let cells = ((around[1] - around[0]).max_element() / cell).round() as usize;
        let body = match tetrahedralize(&thick, &MeshingParams { cells, ..*params }) {
            Ok(body) => body,
            // All sites may miss a sheet.
            Err(MeshingError::Nothing { .. }) => continue,
            Err(error) => return Err(as_asked(error)),
        };
        stop.check()?;
        let embedding = Embedding::new(&body.mesh, mesh.vertices())?;
        stop.check()?;
        let used = used_vertices(mesh);
        let outside = embedding.outside().iter().filter(|&&v| used[v as usize]).count();
        let crossing = crossed(&body.mesh, mesh, &stop);
        stop.check()?;
        if outside == 0 && crossing == 0 {
            let (mesh, enclosed) = filled(body.mesh, core, surface.volume())?;
            let info = CageInfo { body: body.info, distance: by * body.info.cell, enclosed };
            return Ok(Cage { mesh, embedding, info });
        }
        wrong = (outside, crossing);
    }
    Err(MeshingError::NoCage { cells: params.cells, outside: wrong.0, crossing: wrong.1 })
}

fn used_vertices(mesh: &SurfaceMesh) -> Vec<bool> {
    let mut used = vec![false; mesh.vertices().len()];
    mesh.faces().vertices().iter().for_each(|&v| used[v as usize] = true);
    used
}

/// Returns the number of triangles of a surface that cross the boundary of a body.
fn crossed(body: &VolumeMesh, surface: &SurfaceMesh, stop: &Stop) -> usize {
    let boundary = body.boundary().surface;
    let at = |mesh: &SurfaceMesh, t: [u32; 3]| t.map(|v| mesh.vertices()[v as usize]);
    let tree = TriangleTree::new(boundary.triangles().map(|t| at(&boundary, t)));
    let triangles: Vec<[u32; 3]> = surface.triangles().collect();
    let is_crossed = |t: &&[u32; 3]| {
        let triangle = at(surface, **t);
        tree.near(triangle).any(|face| crosses(triangle, tree.triangle(face)))
    };
    triangles.par_iter().filter(|_| !stop.is_asked()).filter(is_crossed).count()
}
