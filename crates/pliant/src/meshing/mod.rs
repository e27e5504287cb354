//! Bodies of surfaces: from triangles as people have them to elements that can be simulated.
//!
//! [`Surface`] takes any triangles, turns and cleans what can be, and says what was wrong. [`tetrahedralize`] fills it, or any
//! other [`Solid`], with tetrahedra of good angles. [`cage()`] makes a coarser mesh that contains all of the surface, and [`voxelize`]
//! one of cubes.
//!
//! ```
//! use pliant::geometry::Form;
//! use pliant::math::Vec3;
//! use pliant::meshing::{Params, tetrahedralize};
//!
//! let ball = Form::ball(Vec3::ZERO, 1.0);
//! let body = tetrahedralize(&ball, &Params { cells: 12, ..Params::default() })?;
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

use stuffing::MOST_TETRAHEDRA;

pub use cage::{Cage, CageInfo, cage};
pub use carry::{carrying_limits, fused_pieces};
pub use resolution::Resolution;
pub use stop::stoppable;
pub use stuffing::{ANGLES, tetrahedralize};
pub use surface::{Findings, Surface};
pub use thin::{Thin, thin_parts};
pub use voxels::{Voxels, voxelize};

/// How to fill a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// Cells along the longest side of the box around the solid. A cell has twelve tetrahedra.
    pub cells: usize,
    /// How often cells that are deep inside may be merged, eight at a time: each time their size doubles.
    pub grading: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { cells: 24, grading: 0 }
    }
}

/// A solid filled with elements.
#[derive(Debug, Clone)]
pub struct Body {
    /// The elements, all in one region. The vertex set `surface` has the vertices of the boundary.
    pub mesh: VolumeMesh,
    /// How it was made.
    pub info: Info,
}

/// How a body was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// The edge of a cell, in metres.
    pub cell: f64,
    /// Tetrahedra taken away where the boundary would have touched itself.
    pub removed_at_touching: usize,
    /// Separate pieces smaller than a cell that were left out.
    pub specks: usize,
}

/// Refuses what would have too many elements, before the work is done: a surface whose volume is known.
fn check_count(surface: &Surface, longest: f64, params: &Params) -> Result<(), MeshingError> {
    let cells = surface.volume().map_or(0.0, |volume| volume * (params.cells as f64 / longest).powi(3));
    if params.grading == 0 && 12.0 * cells > MOST_TETRAHEDRA as f64 {
        return Err(MeshingError::TooManyElements { cells: params.cells, most: MOST_TETRAHEDRA as f64 });
    }
    Ok(())
}

/// Fill what a surface encloses, and look for what was too thin for that.
pub fn fill_surface(surface: &Surface, params: &Params) -> Result<(Body, Option<Thin>), MeshingError> {
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

/// Why there is no mesh.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum MeshingError {
    #[error("{cells} {}, expected at least {least}", if *cells == 1 { "cell" } else { "cells" })]
    TooFewCells { cells: usize, least: usize },
    #[error("{cells} cells along the longest side make {total:.2e} in all; at most {most:.2e} are made: take fewer")]
    TooManyCells { cells: usize, total: f64, most: f64 },
    #[error(
        "{cells} cells along the longest side make more than {most:.3e} elements: take fewer, or let them grow inside"
    )]
    TooManyElements { cells: usize, most: f64 },
    #[error(
        "the solid is {} m long, {} m from the origin: expected a size of 1e-40 to 1e40 m, and no farther away than a million times that",
        short_number(*size),
        short_number(*distance)
    )]
    Size { size: f64, distance: f64 },
    #[error(
        "nothing is inside: the solid is empty, or thinner than its cells of {} m; take more of them than {cells}",
        short_number(*cell)
    )]
    Nothing { cells: usize, cell: f64 },
    #[error("nothing is inside: {thin}")]
    TooThin { thin: Thin },
    #[error(
        "nothing is inside: the surface is open, with {open_edges} open edges, and encloses nothing; a cage contains it all the same"
    )]
    Open { open_edges: usize },
    #[error("none of the {count} triangles of the surface has an area")]
    NoArea { count: usize },
    #[error(
        "all {count} triangles of the surface are smaller than {near:.1e} m, two millionths of its longest side of {} m, and count as points; \
         remove what is far from the others",
        short_number(*size)
    )]
    TooSmall { count: usize, near: f64, size: f64 },
    #[error(
        "no cage of {cells} cells contains the surface: {outside} of its vertices stay outside and {crossing} triangles are crossed"
    )]
    NoCage { cells: usize, outside: usize, crossing: usize },
    #[error("stopped")]
    Stopped,
    #[error(transparent)]
    Form(#[from] FormError),
    #[error(transparent)]
    Mesh(#[from] MeshError),
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}
