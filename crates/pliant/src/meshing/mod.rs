//! Volume meshing of surfaces: from imperfect (open, self-intersecting, non-manifold) triangles to elements.
//!
//! [`Surface`] takes any triangles, orients and cleans them as far as possible, and reports the defects.
//! [`tetrahedralize`] fills it, or any other [`Solid`], with tetrahedra of good dihedral angles. [`cage()`] makes a
//! coarser mesh that contains the whole surface, and [`voxelize`] one of cubes.
//!
//! ```
//! use pliant::geometry::ImplicitSolid;
//! use pliant::math::Vec3;
//! use pliant::meshing::{MeshingParams, tetrahedralize};
//!
//! let ball = ImplicitSolid::ball(Vec3::ZERO, 1.0);
//! let body = tetrahedralize(&ball, &MeshingParams { cells: 12, ..MeshingParams::default() })?;
//! assert!((body.mesh.volume() / 4.18879 - 1.0).abs() < 0.03);
//! # Ok::<(), pliant::meshing::MeshingError>(())
//! ```

mod cage;
mod carry;
mod clean;
mod facing;
mod fill;
mod lattice;
mod resolution;
mod stencil;
mod stop;
mod stuffing;
mod surface;
mod thin;
mod voxels;

use thiserror::Error;

use crate::geometry::{FormError, Solid};
use crate::math::short_number;
use crate::mesh::{EmbeddingError, MeshError, VolumeMesh};

use stuffing::MAX_TETRAHEDRA;

pub use cage::{Cage, CageInfo, cage};
pub use carry::{carrying_limits, fused_pieces};
pub use resolution::Resolution;
pub use stop::stoppable;
pub use stuffing::{ANGLES, tetrahedralize};
pub use surface::{Findings, Surface};
pub use thin::{Thin, thin_parts};
pub use voxels::{Voxels, voxelize};

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

/// Rejects a surface of known volume that would have too many elements, before the work is done.
fn check_count(surface: &Surface, longest: f64, params: &MeshingParams) -> Result<(), MeshingError> {
    let cells = surface.volume().map_or(0.0, |volume| volume * (params.cells as f64 / longest).powi(3));
    if params.grading == 0 && 12.0 * cells > MAX_TETRAHEDRA as f64 {
        return Err(MeshingError::TooManyElements { cells: params.cells, max: MAX_TETRAHEDRA as f64 });
    }
    Ok(())
}

/// Fills the interior of a surface, and looks for features that were too thin for the cells.
pub fn fill_surface(surface: &Surface, params: &MeshingParams) -> Result<(Body, Option<Thin>), MeshingError> {
    let [low, high] = surface.enclosed().bounds();
    check_count(surface, (high - low).max_element(), params)?;
    match tetrahedralize(surface.enclosed(), params) {
        Ok(body) => {
            let thin = thin_parts(surface, Some(&body.mesh), body.info.cell);
            stop::Stop::current().check()?;
            Ok((body, thin))
        }
        Err(MeshingError::Nothing { cells, cell }) => Err(match thin_parts(surface, None, cell) {
            Some(thin) => MeshingError::TooThin { thin },
            None if surface.findings().open_edges > 0 => {
                MeshingError::Open { open_edges: surface.findings().open_edges }
            }
            None => MeshingError::Nothing { cells, cell },
        }),
        Err(error) => Err(error),
    }
}

/// Reason why there is no mesh.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum MeshingError {
    #[error("{cells} {}, expected at least {min}", if *cells == 1 { "cell" } else { "cells" })]
    TooFewCells { cells: usize, min: usize },
    #[error("{cells} cells along the longest side make a total of {total:.2e}: expected at most {max:.2e}; use fewer")]
    TooManyCells { cells: usize, total: f64, max: f64 },
    #[error("{cells} cells along the longest side make more than {max:.3e} elements: use fewer, or a larger grading")]
    TooManyElements { cells: usize, max: f64 },
    #[error(
        "the solid is {} m long, {} m from the origin: expected a size of 1e-40 to 1e40 m, and a distance of at most a million times the size",
        short_number(*size),
        short_number(*distance)
    )]
    Size { size: f64, distance: f64 },
    #[error(
        "nothing is inside: the solid is empty, or thinner than its cells of {} m; use more than {cells} cells",
        short_number(*cell)
    )]
    Nothing { cells: usize, cell: f64 },
    #[error("nothing is inside: {thin}")]
    TooThin { thin: Thin },
    #[error(
        "nothing is inside: the surface is open, with {open_edges} open edges, and encloses nothing; a cage contains it nevertheless"
    )]
    Open { open_edges: usize },
    #[error("none of the {count} triangles of the surface has an area")]
    NoArea { count: usize },
    #[error(
        "all {count} triangles of the surface are smaller than {near:.1e} m, two millionths of its longest side of {} m, and are treated as points; \
         remove distant outliers",
        short_number(*size)
    )]
    TooSmall { count: usize, near: f64, size: f64 },
    #[error(
        "no cage of {cells} cells contains the surface: {outside} of its vertices are outside and {crossing} triangles cross the boundary"
    )]
    NoCage { cells: usize, outside: usize, crossing: usize },
    #[error("stopped")]
    Stopped,
    #[error(transparent)]
    ImplicitSolid(#[from] FormError),
    #[error(transparent)]
    Mesh(#[from] MeshError),
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}
