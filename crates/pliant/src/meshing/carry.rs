//! Details of a surface that the coarse mesh carrying it cannot resolve.

use super::thin::{Thin, thin_walls};
use super::{MeshingError, Surface};
use crate::geometry::{Triangle, area_vector};
use crate::math::short_number;
use crate::mesh::{SurfaceMesh, VolumeMesh};

/// Length of a triangle, in cells, beyond which it is too coarse to show how the mesh bends.
const COARSE: f64 = 3.0;

/// Fraction of the area in such triangles that is worth reporting.
const WORTH_REPORTING: f64 = 0.25;

/// Reports the features of an embedded surface that a mesh with cells of width `cell` cannot represent, one sentence
/// per finding. These are surfaces that enclose nothing, pieces that are joined, features thinner than a cell, and
/// triangles too large to bend. `enclosed` is the volume that the surface encloses \[m³\].
pub fn carrying_limits(
    mesh: &SurfaceMesh,
    surface: &Surface,
    carrier: &VolumeMesh,
    cell: f64,
    enclosed: f64,
) -> Result<Vec<String>, MeshingError> {
    let mut notes: Vec<String> = no_inside(enclosed).into_iter().chain(fused_pieces(surface, carrier)).collect();
    if let Some(Thin { lost, thickness, cells, .. }) = thin_walls(surface, cell)? {
        notes.push(format!(
            "{:.2} % of the surface is around features thinner than a cell of {} m, about {} m: they bend and stretch with whole cells; {cells} cells would resolve them",
            100.0 * lost,
            short_number(cell),
            short_number(thickness)
        ));
    }
    notes.extend(coarse(mesh, cell));
    Ok(notes)
}

/// Reports a surface without an inside, such as a sheet.
fn no_inside(enclosed: f64) -> Option<String> {
    (enclosed == 0.0).then(|| {
        "the surface encloses nothing, so that its mass does not follow from its volume: elements are as light as possible".into()
    })
}

/// Reports pieces of a surface that are one body in the mesh made of it.
pub fn fused_pieces(surface: &Surface, body: &VolumeMesh) -> Option<String> {
    let (pieces, bodies) = (surface.outer_pieces(), body.components().1);
    (bodies < pieces).then(|| {
        format!(
            "{pieces} separate pieces of the surface are joined into {bodies} {}, because they are less than a cell or two apart: they move together; more cells separate pieces that do not touch",
            if bodies == 1 { "body" } else { "bodies" }
        )
    })
}

/// Reports a surface whose triangles are too large to show how cells bend.
fn coarse(mesh: &SurfaceMesh, cell: f64) -> Option<String> {
    let (mut total, mut of_coarse, mut longest) = (0.0, 0.0, 0.0_f64);
    for triangle in mesh.triangles() {
        let triangle: Triangle = triangle.map(|v| mesh.vertices()[v as usize]);
        let [a, b, c] = triangle;
        let (area, edge) = (area_vector(triangle).length(), a.distance(b).max(b.distance(c)).max(c.distance(a)));
        total += area;
        if edge > COARSE * cell {
            of_coarse += area;
            longest = longest.max(edge);
        }
    }
    (of_coarse > WORTH_REPORTING * total).then(|| {
        format!(
            "the surface is too coarse to show bending: its triangles are up to {} m long, and cells {} m; subdivide it to edges of about one cell",
            short_number(longest),
            short_number(cell)
        )
    })
}
