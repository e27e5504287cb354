//! Reasons why there is no mesh.

use thiserror::Error;

use super::Thin;
use crate::geometry::ImplicitSolidError;
use crate::math::short_number;
use crate::mesh::{EmbeddingError, MeshError};

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
    ImplicitSolid(#[from] ImplicitSolidError),
    #[error(transparent)]
    Mesh(#[from] MeshError),
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}
