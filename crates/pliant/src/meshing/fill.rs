//! Volume fraction of each element inside a solid.

use rayon::prelude::*;

use super::MeshingError;
use super::stop::Stop;
use crate::geometry::{Solid, SolidSample, bounding_box};
use crate::math::Vec3;
use crate::mesh::{BODY, ElementKind, Labels, Region, VolumeMesh};

/// Number of sample points in a partially filled element.
const SAMPLES: usize = 64;
/// Number of consecutive elements that are evaluated together, since they are close to one another.
const TOGETHER: usize = 64;
/// Number of regions of partially filled elements, by volume fraction.
const PARTS: usize = 8;
/// Minimum fill of an element relative to the mean, but never more than `TOLERANCE`: an element of almost no mass would
/// fly away.
const MIN_OF_MEAN: f64 = 0.25;
const TOLERANCE: f64 = 1.0 / 16.0;

/// Groups the elements into regions by the fraction inside `solid`. The region `body` is full, and the others are
/// lighter and softer by their [`fill`](Region::fill). The total mass is that of the solid, whose `volume` is used if
/// known.
///
/// Returns the mesh and the volume that was found inside.
pub(super) fn filled(
    mesh: VolumeMesh,
    solid: &impl Solid,
    volume: Option<f64>,
) -> Result<(VolumeMesh, f64), MeshingError> {
    let stop = Stop::current();
    let mut fills: Vec<f64> = (0..mesh.element_count().div_ceil(TOGETHER))
        .into_par_iter()
        .filter(|_| !stop.is_asked())
        .flat_map_iter(|first| {
            let elements = first * TOGETHER..mesh.element_count().min((first + 1) * TOGETHER);
            let places: Vec<Vec3> = elements.clone().filter_map(|e| points(&mesh, e).next()).collect();
            let depths = solid.depths(&places).into_iter().zip(places);
            let probes = depths.map(|(depth, place)| SolidSample { place, depth });
            elements.zip(probes).map(|(e, sample)| fill(&mesh, e, sample, solid)).collect::<Vec<_>>()
        })
        .collect();
    stop.check()?;
    let volumes: Vec<f64> = (0..mesh.element_count()).map(|e| mesh.element_volume(e)).collect();
    let total: f64 = volumes.iter().sum();
    let found: f64 = fills.iter().zip(&volumes).map(|(fill, volume)| fill * volume).sum();
    let wanted = volume.unwrap_or(found).min(total);
    // Samples find only a little of thin bodies, by chance.
    if found > 0.0 {
        fills.iter_mut().filter(|fill| **fill < 1.0).for_each(|fill| *fill = (*fill * wanted / found).min(1.0));
    } else {
        fills.fill(wanted / total);
    }
    let part = |fill: f64| if fill >= 1.0 { PARTS } else { ((fill * PARTS as f64) as usize).min(PARTS - 1) };
    let (mut filled, mut whole) = ([0.0; PARTS + 1], [0.0; PARTS + 1]);
    for (&fill, &volume) in fills.iter().zip(&volumes) {
        filled[part(fill)] += fill * volume;
        whole[part(fill)] += volume;
    }
    // A sheet has no volume: it is as light as possible.
    let min = if wanted > 0.0 { (MIN_OF_MEAN * wanted / total).min(TOLERANCE) } else { TOLERANCE };
    let mut mean: [f64; PARTS + 1] =
        std::array::from_fn(|p| if whole[p] > 0.0 { (filled[p] / whole[p]).clamp(min, 1.0) } else { 1.0 });
    // Mass added to the lightest regions is taken from the others, and missing mass is added to them.
    let weight = |mean: &[f64; PARTS + 1]| (0..=PARTS).map(|p| mean[p] * whole[p]).sum::<f64>();
    let spare: f64 = (0..PARTS).map(|p| (mean[p] - min) * whole[p]).sum();
    let missing = wanted - weight(&mean);
    if wanted > 0.0 && spare > 0.0 {
        let factor = (1.0 + missing / spare).max(0.0);
        (0..PARTS).for_each(|p| mean[p] = (min + factor * (mean[p] - min)).min(1.0));
    }
    // If that was not enough, all regions are scaled.
    let factor = if wanted > 0.0 { wanted / weight(&mean) } else { 1.0 };
    mean.iter_mut().for_each(|mean| *mean = (*mean * factor).min(1.0));
    let used: Vec<usize> = (0..=PARTS).rev().filter(|&p| whole[p] > 0.0).collect();
    let name = |p: usize| if p == PARTS { BODY.into() } else { format!("filled-{}-of-{PARTS}", p + 1) };
    let regions = used.iter().map(|&p| Region { fill: mean[p], ..Region::named(name(p)) }).collect();
    let region = |fill: f64| used.iter().position(|&p| p == part(fill)).unwrap_or(0) as u32;
    let element_region = fills.iter().map(|&fill| region(fill)).collect();
    let labels = Labels { regions, element_region, ..mesh.labels() };
    Ok((mesh.with_labels(labels)?.mesh, found))
}

/// Returns the fraction of an element that is inside, given the first of its points.
fn fill(mesh: &VolumeMesh, element: usize, first: SolidSample, solid: &impl Solid) -> f64 {
    let [low, high] = bounding_box(corners(mesh, element));
    if solid.is_uniform(low, high) {
        return if first.depth >= 0.0 { 1.0 } else { 0.0 };
    }
    solid.fraction_inside(first, &points(mesh, element).collect::<Vec<_>>())
}

fn corners(mesh: &VolumeMesh, element: usize) -> impl Iterator<Item = Vec3> {
    mesh.element(element).iter().map(|&v| mesh.vertices()[v as usize])
}

/// Returns points spread evenly over an element.
fn points(mesh: &VolumeMesh, element: usize) -> impl Iterator<Item = Vec3> {
    let at: Vec<Vec3> = corners(mesh, element).collect();
    let [low, high] = bounding_box(at.iter().copied());
    samples(element).map(move |u| match mesh.kind() {
        ElementKind::Tet4 => {
            let [x, y, z] = folded(u);
            at[0] + x * (at[1] - at[0]) + y * (at[2] - at[0]) + z * (at[3] - at[0])
        }
        // Voxels are boxes.
        ElementKind::Hex8 => low + Vec3::from(u) * (high - low),
    })
}

/// Returns points spread evenly over the unit cube: multiples of powers of the number with `g⁴ = g + 1`
/// \[Roberts2018\]. The sequence continues from one element to the next, so that features missed in one are found in
/// others.
fn samples(element: usize) -> impl Iterator<Item = [f64; 3]> {
    let g = 1.220_744_084_605_759_5_f64;
    let first = element * SAMPLES;
    (first..first + SAMPLES).map(move |i| [1, 2, 3].map(|power| (0.5 + i as f64 / g.powi(power)).fract()))
}

/// Maps a point of the cube onto a tetrahedron, preserving volume fractions \[RocchiniCignoni2000\].
fn folded([mut x, mut y, mut z]: [f64; 3]) -> [f64; 3] {
    if x + y > 1.0 {
        (x, y) = (1.0 - x, 1.0 - y);
    }
    if y + z > 1.0 {
        (y, z) = (1.0 - z, 1.0 - x - y);
    } else if x + y + z > 1.0 {
        (x, z) = (1.0 - y - z, x + y + z - 1.0);
    }
    [x, y, z]
}
