//! Features of a surface that a mesh is too coarse for.

use rayon::prelude::*;

use super::lattice::Lattice;
use super::stop::Stop;
use super::stuffing::MAX_TETRAHEDRA;
use super::{MeshingError, Surface};
use crate::geometry::{Enclosed, Solid, Triangle, area_vector};
use crate::math::{Vec3, short_number};
use crate::mesh::VolumeMesh;

/// Number of sample points on the surface.
const SAMPLES: usize = 20_000;
/// Fraction of the surface below which losses are not reported.
const WORTH_REPORTING: f64 = 1e-3;
/// Thickness in cells at which a wall is certainly resolved, wherever it lies in the lattice.
const CELLS_ACROSS: f64 = 2.0;

/// Features that are too thin for a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Thin {
    /// Fraction of the surface whose inside the mesh lacks, from 0 to 1.
    pub lost: f64,
    /// Thickness of these features \[m\]: nine of ten are thicker.
    pub thickness: f64,
    /// Number of cells along the longest side that would resolve them.
    pub cells: usize,
    /// True if that many cells can be made. Otherwise, use a cage.
    pub is_possible: bool,
}

impl std::fmt::Display for Thin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lost, thickness, cells, is_possible } = self;
        let percent = 100.0 * lost;
        write!(
            f,
            "{percent:.2} % of the surface is around features too thin for these cells, about {} m: {cells} cells would resolve them",
            short_number(*thickness)
        )?;
        if *is_possible { Ok(()) } else { write!(f, ", which is more than the maximum; a cage contains them") }
    }
}

/// Finds features of a surface's interior that are not in `mesh`, which has cells of size `cell`. Returns `None` if all
/// features are in it.
///
/// From points all over the surface, a ray is cast inward to the opposite wall. If the midpoint between the two is not
/// in the mesh, that feature is lost. Without a mesh, all features are.
pub fn thin_parts(surface: &Surface, mesh: Option<&VolumeMesh>, cell: f64) -> Option<Thin> {
    let boundary = mesh.map(|mesh| mesh.boundary().surface);
    let triangles = boundary.iter().flat_map(|own| own.triangles().map(|t| t.map(|v| own.vertices()[v as usize])));
    let meshed = Enclosed::new(triangles, true);
    thin(surface, |middle, thickness| thickness < CELLS_ACROSS * cell && !meshed.contains(middle))
}

/// Finds features thinner than a cell, in a mesh that contains all of them.
pub(super) fn thin_walls(surface: &Surface, cell: f64) -> Result<Option<Thin>, MeshingError> {
    let thin = thin(surface, |_, thickness| thickness < cell);
    Stop::current().check()?;
    Ok(thin)
}

/// Finds features for which `is_thin` is true, given the midpoint between two walls and their distance.
fn thin(surface: &Surface, is_thin: impl Fn(Vec3, f64) -> bool + Sync) -> Option<Thin> {
    let solid = surface.enclosed();
    let [low, high] = solid.bounds();
    let reach = (high - low).length();
    let places = samples(surface.triangles());
    let stop = Stop::current();
    let mut lost: Vec<f64> = places
        .par_iter()
        .filter(|_| !stop.is_asked())
        .filter_map(|&(place, normal)| {
            let start = place - 1e-6 * reach * normal;
            let end = place - reach * normal;
            let (hit, _) = *solid.tree().hits(start, end).first()?;
            let (middle, thickness) = (start.lerp(end, 0.5 * hit), place.distance(start.lerp(end, hit)));
            (solid.contains(middle) && is_thin(middle, thickness)).then_some(thickness)
        })
        .collect();
    // A little is lost at every sharp edge.
    if (lost.len() as f64) < WORTH_REPORTING * places.len() as f64 {
        return None;
    }
    lost.sort_unstable_by(f64::total_cmp);
    let thickness = lost[lost.len() / 10];
    let cells = (CELLS_ACROSS * (high - low).max_element() / thickness).ceil() as usize;
    let is_possible = is_possible(surface, [low, high], cells);
    Some(Thin { lost: lost.len() as f64 / places.len() as f64, thickness, cells, is_possible })
}

/// Returns true if `cells` cells along the longest side make no more than the maximum number of elements. The number is
/// estimated from volume and area.
fn is_possible(surface: &Surface, bounds: [Vec3; 2], cells: usize) -> bool {
    let Ok(lattice) = Lattice::around(bounds, cells) else { return false };
    let origin = bounds[0];
    let (area, volume) = surface.triangles().iter().fold((0.0, 0.0), |(area, volume), t| {
        let own = area_vector(*t);
        (area + own.length(), volume + own.dot(t[0] - origin) / 3.0)
    });
    let filled = volume.abs() / lattice.cell.powi(3) + area / lattice.cell.powi(2);
    12.0 * filled <= MAX_TETRAHEDRA as f64
}

/// Returns points spread evenly over a surface, with its normals there.
fn samples(triangles: &[Triangle]) -> Vec<(Vec3, Vec3)> {
    let total: f64 = triangles.iter().map(|t| area_vector(*t).length()).sum();
    let step = total / SAMPLES as f64;
    let mut places = Vec::with_capacity(SAMPLES);
    let (mut sum, mut next) = (0.0, 0.5 * step);
    for &[a, b, c] in triangles {
        let area = area_vector([a, b, c]);
        sum += area.length();
        while next < sum && places.len() < SAMPLES {
            // Powers of the plastic number spread evenly over the square [Roberts2018], which is folded onto the
            // triangle.
            let i = places.len() as f64;
            let (mut u, mut v) =
                ((0.5 + i * 0.754_877_666_246_692_8).fract(), (0.5 + i * 0.569_840_290_998_053_2).fract());
            if u + v > 1.0 {
                (u, v) = (1.0 - u, 1.0 - v);
            }
            places.push((a + u * (b - a) + v * (c - a), area.normalize()));
            next += step;
        }
    }
    places
}
