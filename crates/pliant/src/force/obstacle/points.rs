//! Contact points of embedded surfaces.

use std::collections::HashMap;
use std::ops::Range;

use thiserror::Error;

use super::super::{CHUNK, at};
use crate::geometry::{Triangle, area_vector};
use crate::math::Vec3;
use crate::mesh::{Embedding, EmbeddingError, Interpolation, SurfaceMesh, VolumeMesh};
use crate::sparse::Scatter;

/// Maximum number of triangles of a refined surface. Beyond that, only its vertices are contact points.
const MAX_TRIANGLES: usize = 4_000_000;

/// Maximum number of nodes of a point.
pub(super) const MAX_NODES: usize = 8;

/// Error in the definition of contact points.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum ContactPointsError {
    #[error("the surface has {vertices} vertices, but {points} are embedded")]
    Vertices { vertices: usize, points: usize },
    #[error("the mesh has {vertices} vertices, but {points} are interpolated from nodes")]
    Mesh { vertices: usize, points: usize },
    #[error("contact points depend on {width} nodes each, expected at most {MAX_NODES}")]
    Width { width: usize },
    #[error("the surface has zero area, so it has no contact points")]
    NoArea,
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}

/// Contact points of a surface, each a weighted sum of a few nodes: `xₚ = Σ wᵢ xᵢ`.
///
/// They are the vertices of a surface embedded in a mesh and additional points on its triangles. No edge between them
/// is longer than the mean edge at the boundary of the mesh. A force `f` at a point is `wᵢ f` at the nodes, and a
/// stiffness `k` is `wᵢ wⱼ k`.
///
/// Each point has a share of the stiffness of an obstacle, in proportion to the area around it. The shares sum to the
/// number of vertices at the boundary of the mesh, so contact of a detailed surface is no stiffer than that of the mesh
/// itself.
#[derive(Debug, Clone)]
pub struct ContactPoints {
    /// Points as weighted sums of nodes. Points of the same nodes, a group, follow one another.
    map: Interpolation,
    /// Scatter with one clique per group.
    pub(super) scatter: Scatter,
    pub(super) nodes: usize,
    /// First point of each group, and the total number of points.
    starts: Vec<usize>,
    rest: Vec<Vec3>,
    shares: Vec<f64>,
    /// Maximum extrapolation of the points of each group.
    outside: Vec<f64>,
    spacing: Spacing,
}

/// Gaps between points that touch obstacles \[m\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spacing {
    /// Longest edge between points.
    pub max_edge: f64,
    /// Mean edge between points.
    pub mean_edge: f64,
    /// Radius of the largest ball that passes between points without touching any.
    pub gap: f64,
}

impl Spacing {
    /// Computes the spacing of the corners of faces.
    pub fn of_faces(surface: &SurfaceMesh) -> Self {
        let places = |face: &[u32]| face.iter().map(|&v| surface.vertices()[v as usize]).collect::<Vec<_>>();
        Self::of_polygons(surface.faces().iter().map(places))
    }

    fn of_polygons<P: AsRef<[Vec3]>>(polygons: impl Iterator<Item = P>) -> Self {
        let mut spacing = Self::default();
        let (mut sum, mut count) = (0.0, 0.0);
        for polygon in polygons {
            let face = polygon.as_ref();
            for length in (0..face.len()).map(|i| face[i].distance(face[(i + 1) % face.len()])) {
                spacing.max_edge = spacing.max_edge.max(length);
                sum += length;
                count += 1.0;
            }
            let gap = if let &[a, b, c] = face {
                smallest_circle([a, b, c])
            } else {
                let center = face.iter().sum::<Vec3>() / face.len() as f64;
                face.iter().map(|x| x.distance(center)).fold(0.0, f64::max)
            };
            spacing.gap = spacing.gap.max(gap);
        }
        spacing.mean_edge = if count > 0.0 { sum / count } else { 0.0 };
        spacing
    }
}

/// Returns the radius of the smallest circle around a triangle: its circumcircle, or half of its longest side if it is
/// obtuse.
fn smallest_circle([a, b, c]: Triangle) -> f64 {
    let mut sides = [a.distance(b), b.distance(c), c.distance(a)];
    sides.sort_by(f64::total_cmp);
    let [x, y, z] = sides;
    if x * x + y * y <= z * z {
        return 0.5 * z;
    }
    x * y * z / (4.0 * area_vector([a, b, c]).length())
}

/// Point with its nodes.
struct Tie {
    /// Nodes, ascending and padded.
    nodes: [u32; MAX_NODES],
    weights: [f64; MAX_NODES],
    share: f64,
}

impl ContactPoints {
    /// Creates the contact points of a surface that `embedding` ties to `mesh`. `vertices` gives the vertices of the
    /// mesh from the nodes of a model, and `rest` the rest positions of these nodes \[m\].
    ///
    /// # Panics
    /// If there is not one rest position per node.
    pub fn new(
        mesh: &VolumeMesh,
        surface: &SurfaceMesh,
        embedding: &Embedding,
        vertices: &Interpolation,
        rest: &[Vec3],
    ) -> Result<Self, ContactPointsError> {
        let (count, points) = (surface.vertices().len(), embedding.len());
        if count != points {
            return Err(ContactPointsError::Vertices { vertices: count, points });
        }
        check_vertices(mesh, vertices)?;
        let boundary = mesh.boundary();
        let Refined { added, triangles } = refined(surface, Spacing::of_faces(&boundary.surface).mean_edge);
        let added_to = Embedding::new(mesh, &added)?;
        let place = |v: u32| match (v as usize).checked_sub(count) {
            None => surface.vertices()[v as usize],
            Some(own) => added[own],
        };
        let mut areas = vec![0.0; count + added.len()];
        for triangle in &triangles {
            let area = area_vector(triangle.map(place)).length();
            triangle.iter().for_each(|&v| areas[v as usize] += area);
        }
        let spacing = Spacing::of_polygons(triangles.iter().map(|triangle| triangle.map(place)));
        let total: f64 = areas.iter().sum();
        if !(total > 0.0) {
            return Err(ContactPointsError::NoArea);
        }
        let scale = boundary.vertices.len() as f64 / total;
        let own = embedding.interpolation().compose(vertices);
        let more = added_to.interpolation().compose(vertices);
        let points = (0..own.len()).map(|point| (&own, point)).chain((0..more.len()).map(|point| (&more, point)));
        // Vertices without triangles are not part of the surface.
        let used = points.zip(areas).filter(|(_, area)| *area > 0.0);
        let ties = used.map(|((map, point), area)| Tie::new(map, point, scale * area));
        Ok(Self::from_ties(ties.collect::<Result<_, _>>()?, own.width().max(more.width()), rest, spacing))
    }

    /// Creates contact points at the vertices on the boundary of `mesh`, where `vertices` gives the vertices of the
    /// mesh from the nodes of a model, and `rest` the rest positions of these nodes \[m\].
    ///
    /// # Panics
    /// If there is not one rest position per node.
    pub fn of_boundary(mesh: &VolumeMesh, vertices: &Interpolation, rest: &[Vec3]) -> Result<Self, ContactPointsError> {
        check_vertices(mesh, vertices)?;
        let boundary = mesh.boundary();
        let ties = boundary.vertices.iter().map(|&vertex| Tie::new(vertices, vertex as usize, 1.0));
        let spacing = Spacing::of_faces(&boundary.surface);
        Ok(Self::from_ties(ties.collect::<Result<_, _>>()?, vertices.width(), rest, spacing))
    }

    fn from_ties(mut ties: Vec<Tie>, width: usize, rest: &[Vec3], spacing: Spacing) -> Self {
        ties.sort_by_key(|tie| tie.nodes);
        let nodes = ties.iter().flat_map(|tie| &tie.nodes[..width]).copied().collect();
        let weights = ties.iter().flat_map(|tie| &tie.weights[..width]).copied().collect();
        let map = Interpolation::new(width, nodes, weights, rest.len());
        let (mut cliques, mut starts, mut outside) = (Vec::new(), vec![0], Vec::new());
        for group in ties.chunk_by(|a, b| a.nodes == b.nodes) {
            let start = starts[starts.len() - 1];
            cliques.extend_from_slice(&group[0].nodes[..width]);
            outside.push((start..start + group.len()).map(|point| map.extrapolation(point)).fold(0.0, f64::max));
            starts.push(start + group.len());
        }
        let chunks: Vec<Range<usize>> = chunks_of_points(&starts);
        let mut places = vec![Vec3::ZERO; map.len()];
        map.interpolate(rest, &mut places);
        Self {
            map,
            scatter: Scatter::new(width, cliques, rest.len(), &chunks),
            nodes: width,
            starts,
            rest: places,
            shares: ties.iter().map(|tie| tie.share).collect(),
            outside,
            spacing,
        }
    }

    /// Returns the points as weighted sums of nodes.
    pub fn interpolation(&self) -> &Interpolation {
        &self.map
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// Returns the gaps between the points.
    pub fn spacing(&self) -> Spacing {
        self.spacing
    }

    pub(super) fn element_count(&self) -> usize {
        self.outside.len()
    }

    pub(super) fn vertices(&self, element: usize) -> &[u32] {
        &self.scatter.nodes()[self.nodes * element..self.nodes * (element + 1)]
    }

    pub(super) fn points(&self, element: usize) -> Range<usize> {
        self.starts[element]..self.starts[element + 1]
    }

    pub(super) fn rest(&self, point: usize) -> Vec3 {
        self.rest[point]
    }

    pub(super) fn share(&self, point: usize) -> f64 {
        self.shares[point]
    }

    pub(super) fn weights(&self, point: usize) -> &[f64] {
        &self.map.all_weights()[self.nodes * point..self.nodes * (point + 1)]
    }

    /// Interpolates the displacement or velocity of a point from those of the vertices.
    #[inline(always)]
    pub(super) fn interpolate(&self, element: usize, point: usize, flat: &[f64]) -> Vec3 {
        self.vertices(element).iter().zip(self.weights(point)).map(|(&vertex, &w)| w * at(flat, vertex)).sum()
    }

    /// Returns a box that contains all points of an element when its vertices, at `rest`, are displaced by `u`.
    pub(super) fn bounds(&self, element: usize, rest: &[Vec3], u: &[f64]) -> [Vec3; 2] {
        let places = || self.vertices(element).iter().map(|&vertex| rest[vertex as usize] + at(u, vertex));
        // Comparisons in glam drop NaN; a sum keeps it.
        let lost = places().map(|x| 0.0 * x).sum::<Vec3>();
        let (low, high) = (places().fold(Vec3::INFINITY, Vec3::min), places().fold(Vec3::NEG_INFINITY, Vec3::max));
        // With Σ wᵢ = 1 and negative weights that sum to −a, a point is outside the box by at most a times its size.
        let margin = (self.outside[element] + 1e-9) * (high - low) + lost;
        [low - margin, high + margin]
    }
}

impl Tie {
    fn new(map: &Interpolation, point: usize, share: f64) -> Result<Self, ContactPointsError> {
        if map.width() > MAX_NODES {
            return Err(ContactPointsError::Width { width: map.width() });
        }
        let mut pairs: Vec<(u32, f64)> = map.row(point).collect();
        pairs.sort_unstable_by_key(|&(node, _)| node);
        // Files give weights with a few digits; they should sum to one.
        let sum: f64 = pairs.iter().map(|(_, w)| w).sum();
        let mut tie = Self { nodes: [0; MAX_NODES], weights: [0.0; MAX_NODES], share };
        for (i, (node, weight)) in pairs.into_iter().enumerate() {
            (tie.nodes[i], tie.weights[i]) = (node, weight / sum);
        }
        Ok(tie)
    }
}

fn check_vertices(mesh: &VolumeMesh, map: &Interpolation) -> Result<(), ContactPointsError> {
    let (vertices, points) = (mesh.vertex_count(), map.len());
    if vertices == points { Ok(()) } else { Err(ContactPointsError::Mesh { vertices, points }) }
}

/// Splits elements into chunks with about equal numbers of points.
fn chunks_of_points(starts: &[usize]) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut first = 0;
    for element in 1..starts.len() {
        if starts[element] - starts[first] >= CHUNK || element == starts.len() - 1 {
            chunks.push(first..element);
            first = element;
        }
    }
    chunks
}

/// Surface with additional vertices, numbered after its own.
struct Refined {
    added: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

/// Bisects triangles at their longest edges until no edge is longer than `longest`.
fn refined(surface: &SurfaceMesh, longest: f64) -> Refined {
    let own = surface.vertices();
    let mut added: Vec<Vec3> = Vec::new();
    let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
    let mut open: Vec<[u32; 3]> = surface.triangles().collect();
    let mut triangles = Vec::with_capacity(open.len());
    while let Some(triangle) = open.pop() {
        let place = |v: u32| match (v as usize).checked_sub(own.len()) {
            None => own[v as usize],
            Some(v) => added[v],
        };
        let length = |i: usize| place(triangle[i]).distance(place(triangle[(i + 1) % 3]));
        // Among edges of equal length, the first by vertex numbers, so that both of its triangles bisect it.
        let ends = |i: usize| {
            let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
            [a.min(b), a.max(b)]
        };
        let cut = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j)).then(ends(j).cmp(&ends(i)))).unwrap_or(0);
        if !(length(cut) > longest) {
            triangles.push(triangle);
            continue;
        }
        if open.len() + triangles.len() > MAX_TRIANGLES {
            return Refined { added: Vec::new(), triangles: surface.triangles().collect() };
        }
        let [a, b, c] = [triangle[cut], triangle[(cut + 1) % 3], triangle[(cut + 2) % 3]];
        let middle_place = 0.5 * (place(a) + place(b));
        let middle = *middles.entry(ends(cut)).or_insert_with(|| {
            added.push(middle_place);
            (own.len() + added.len() - 1) as u32
        });
        open.push([a, middle, c]);
        open.push([middle, b, c]);
    }
    Refined { added, triangles }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Cells, Faces, generate};

    #[test]
    fn points_cover_a_coarse_surface_and_their_shares_add_up_to_the_vertices_of_the_boundary() {
        let mesh = generate::block([1.0; 3], [4, 4, 4], Cells::Tet6).unwrap();
        let surface = generate::block([0.8, 0.7, 0.6], [1, 1, 1], Cells::Hex).unwrap().boundary().surface;
        let embedding = Embedding::new(&mesh, surface.vertices()).unwrap();
        let points = {
            let rest: Vec<Vec3> = [Vec3::NAN; 5].iter().chain(mesh.vertices()).copied().collect();
            let nodes = (5..rest.len() as u32).collect();
            let vertices = Interpolation::of_nodes(nodes, rest.len());
            ContactPoints::new(&mesh, &surface, &embedding, &vertices, &rest).unwrap()
        };
        let boundary = mesh.boundary();
        assert!(points.spacing().max_edge <= Spacing::of_faces(&boundary.surface).mean_edge * (1.0 + 1e-12));
        assert!(points.len() > 8 && points.len() < 10 * boundary.vertices.len());
        assert!((points.shares.iter().sum::<f64>() - boundary.vertices.len() as f64).abs() < 1e-9);
        // All points are on the surface of the block, which is in the middle of the other.
        let [low, high] = surface.bounding_box();
        for point in 0..points.len() {
            let x = points.rest(point);
            assert!((x - low).min(high - x).min_element().abs() < 1e-12, "{x}");
            assert!((points.weights(point).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_smallest_circle_of_a_triangle_is_its_circumcircle_or_around_its_longest_side() {
        let x = Vec3::X;
        let y = Vec3::Y;
        assert!((smallest_circle([Vec3::ZERO, x, 0.5 * x + 0.75_f64.sqrt() * y]) - 1.0 / 3_f64.sqrt()).abs() < 1e-15);
        assert!((smallest_circle([Vec3::ZERO, x, y]) - 0.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!(smallest_circle([Vec3::ZERO, x, 0.5 * x + 0.1 * y]), 0.5);
        assert_eq!(smallest_circle([Vec3::ZERO, x, 0.5 * x]), 0.5);
    }

    #[test]
    fn surfaces_without_area_and_embeddings_of_other_surfaces_are_refused() {
        let mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
        let line = vec![Vec3::splat(0.2), Vec3::splat(0.3), Vec3::splat(0.4)];
        let embedding = Embedding::new(&mesh, &line).unwrap();
        let line = SurfaceMesh::new(line, Faces::uniform(3, vec![0, 1, 2])).unwrap();
        let error = |surface, vertices: &Interpolation| {
            ContactPoints::new(&mesh, surface, &embedding, vertices, &[Vec3::ZERO; 8]).unwrap_err()
        };
        let vertices = Interpolation::of_nodes((0..8).collect(), 8);
        assert_eq!(error(&line, &vertices), ContactPointsError::NoArea);
        let fewer = vertices.select(&[0, 1]);
        assert_eq!(error(&line, &fewer), ContactPointsError::Mesh { vertices: 8, points: 2 });
        let other = mesh.boundary().surface;
        assert_eq!(error(&other, &vertices), ContactPointsError::Vertices { vertices: 8, points: 3 });
        let wide = Interpolation::new(10, (0..80).map(|i| i % 10).collect(), vec![0.1; 80], 10);
        let error = ContactPoints::of_boundary(&mesh, &wide, &[Vec3::ZERO; 10]).unwrap_err();
        assert_eq!(error.to_string(), "contact points depend on 10 nodes each, expected at most 8");
    }
}
