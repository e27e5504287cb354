//! Surfaces filled with tetrahedra.

use super::stop::Stop;
use super::stuffing::{MAX_TETRAHEDRA, tetrahedralize};
use super::{Body, MeshingError, MeshingParams, Surface, Thin, thin_parts};
use crate::geometry::Solid;

/// Rejects a surface of known volume that would have too many elements, before the work is done.
pub(super) fn check_count(surface: &Surface, longest: f64, params: &MeshingParams) -> Result<(), MeshingError> {
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
            Stop::current().check()?;
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
