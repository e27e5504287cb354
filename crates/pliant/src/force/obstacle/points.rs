//! Points of embedded surfaces at which obstacles push.

use std::collections::HashMap;
use std::ops::Range;

use thiserror::Error;

use super::super::{CHUNK, at};
use crate::geometry::{Triangle, area_vector};
use crate::math::Vec3;
use crate::mesh::{Embedding, EmbeddingError, SurfaceMesh, VolumeMesh};
use crate::sparse::Scatter;

/// Triangles that a surface may be refined into; beyond that, its vertices alone are contact points.
const MAX_TRIANGLES: usize = 4_000_000;

/// Most vertices that an element has.
pub(super) const MAX_NODES: usize = 8;

/// Why points cannot be pushed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum ContactPointsError {
    #[error("the surface has {vertices} vertices, but {points} are embedded")]
    Vertices { vertices: usize, points: usize },
    #[error("contact points are of vertices up to {end}, but there are {vertex_count}")]
    Range { end: usize, vertex_count: usize },
    #[error("the surface has no area, so that nothing can touch it")]
    NoArea,
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}

/// Points of a surface that a mesh carries, each a weighted sum of the vertices of one element: `xₚ = Σ wᵢ xᵢ`.
///
/// They are the vertices of the surface, and points on its triangles so that none of their edges is longer than the mean edge at
/// the boundary of the mesh. A force `f` at a point is `wᵢ f` at the vertices, and a stiffness `k` is `wᵢ wⱼ k`.
///
/// Each point has a share of the stiffness of an obstacle, in proportion to the area around it: all shares add up to the number of
/// vertices at the boundary of the mesh. So a detailed surface meets obstacles that are no stiffer than those of the mesh itself.
#[derive(Debug, Clone)]
pub struct ContactPoints {
    /// The vertices of the mesh that carries the surface.
    carrier: Range<usize>,
    /// One clique for each element with points.
    pub(super) scatter: Scatter,
    pub(super) nodes: usize,
    /// The first point of each element, and the number of points at the end.
    starts: Vec<usize>,
    /// For each point the weights of the vertices of its element.
    weights: Vec<f64>,
    rest: Vec<Vec3>,
    shares: Vec<f64>,
    /// For each element, how far outside its points are: the negative weights of one point add up to at most this.
    outside: Vec<f64>,
    spacing: Spacing,
}

/// How far apart the points are that touch obstacles \[m\].
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
    /// Spacing of the corners of faces.
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

/// The radius of the smallest circle around a triangle: its circumcircle, or half of its longest side if it is obtuse.
fn smallest_circle([a, b, c]: Triangle) -> f64 {
    let mut sides = [a.distance(b), b.distance(c), c.distance(a)];
    sides.sort_by(f64::total_cmp);
    let [x, y, z] = sides;
    if x * x + y * y <= z * z {
        return 0.5 * z;
    }
    x * y * z / (4.0 * area_vector([a, b, c]).length())
}

/// A point with its element.
struct Tie {
    /// Ascending, padded.
    vertices: [u32; MAX_NODES],
    weights: [f64; MAX_NODES],
    share: f64,
}

impl ContactPoints {
    /// The points of a surface that `embedding` ties to `mesh`, whose first vertex has the number `first` among `vertex_count`.
    pub fn new(
        mesh: &VolumeMesh,
        surface: &SurfaceMesh,
        embedding: &Embedding,
        first: u32,
        vertex_count: usize,
    ) -> Result<Self, ContactPointsError> {
        let (vertices, points) = (surface.vertices().len(), embedding.len());
        if vertices != points {
            return Err(ContactPointsError::Vertices { vertices, points });
        }
        let end = first as usize + mesh.vertex_count();
        if end > vertex_count {
            return Err(ContactPointsError::Range { end, vertex_count });
        }
        let boundary = mesh.boundary();
        let Refined { added, triangles } = refined(surface, Spacing::of_faces(&boundary.surface).mean_edge);
        let added_to = Embedding::new(mesh, &added)?;
        let place = |v: u32| match (v as usize).checked_sub(vertices) {
            None => surface.vertices()[v as usize],
            Some(own) => added[own],
        };
        let mut areas = vec![0.0; vertices + added.len()];
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
        let nodes = mesh.kind().nodes();
        let tie = |embedding: &Embedding, point: usize, area: f64| {
            let mut pairs: Vec<(u32, f64)> = embedding.tie(point).map(|(v, w)| (v + first, w)).collect();
            pairs.sort_unstable_by_key(|&(vertex, _)| vertex);
            // Files give a few digits of weights, which should add up to one.
            let sum: f64 = pairs.iter().map(|(_, w)| w).sum();
            let mut tie = Tie { vertices: [0; MAX_NODES], weights: [0.0; MAX_NODES], share: scale * area };
            for (i, (vertex, weight)) in pairs.into_iter().enumerate() {
                (tie.vertices[i], tie.weights[i]) = (vertex, weight / sum);
            }
            tie
        };
        let own = (0..vertices).map(|v| (embedding, v, areas[v]));
        let more = (0..added.len()).map(|v| (&added_to, v, areas[vertices + v]));
        // Vertices of no triangle are no part of the surface.
        let all = own.chain(more).filter(|(_, _, area)| *area > 0.0);
        let ties: Vec<Tie> = all.map(|(embedding, point, area)| tie(embedding, point, area)).collect();
        let rest = |vertex: u32| mesh.vertices()[(vertex - first) as usize];
        Ok(Self { carrier: first as usize..end, spacing, ..Self::from_ties(ties, nodes, vertex_count, rest) })
    }

    fn from_ties(mut ties: Vec<Tie>, nodes: usize, vertex_count: usize, rest: impl Fn(u32) -> Vec3) -> Self {
        ties.sort_by_key(|tie| tie.vertices);
        let (mut cliques, mut starts, mut outside) = (Vec::new(), Vec::new(), Vec::new());
        for element in ties.chunk_by(|a, b| a.vertices == b.vertices) {
            cliques.extend_from_slice(&element[0].vertices[..nodes]);
            starts.push(element.len() + starts.last().copied().unwrap_or(0));
            let negative = |tie: &Tie| -tie.weights.iter().map(|w| w.min(0.0)).sum::<f64>();
            outside.push(element.iter().map(negative).fold(0.0, f64::max));
        }
        starts.insert(0, 0);
        let place = |tie: &Tie| (0..nodes).map(|i| tie.weights[i] * rest(tie.vertices[i])).sum();
        let chunks: Vec<Range<usize>> = chunks_of_points(&starts);
        Self {
            scatter: Scatter::new(nodes, cliques, vertex_count, &chunks),
            nodes,
            starts,
            rest: ties.iter().map(place).collect(),
            weights: ties.iter().flat_map(|tie| &tie.weights[..nodes]).copied().collect(),
            shares: ties.iter().map(|tie| tie.share).collect(),
            outside,
            carrier: 0..0,
            spacing: Spacing::default(),
        }
    }

    /// The vertices of the mesh that carries the surface.
    pub fn carrier(&self) -> Range<usize> {
        self.carrier.clone()
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// How far apart the points are.
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
        &self.weights[self.nodes * point..self.nodes * (point + 1)]
    }

    /// The displacement or velocity of a point, by those of all vertices.
    #[inline(always)]
    pub(super) fn interpolate(&self, element: usize, point: usize, flat: &[f64]) -> Vec3 {
        self.vertices(element).iter().zip(self.weights(point)).map(|(&vertex, &w)| w * at(flat, vertex)).sum()
    }

    /// A box that contains all points of an element when its vertices, at `rest`, are displaced by `u`.
    pub(super) fn bounds(&self, element: usize, rest: &[Vec3], u: &[f64]) -> [Vec3; 2] {
        let places = || self.vertices(element).iter().map(|&vertex| rest[vertex as usize] + at(u, vertex));
        // Glam's comparisons drop what is not a number; a sum keeps it.
        let lost = places().map(|x| 0.0 * x).sum::<Vec3>();
        let (low, high) = (places().fold(Vec3::INFINITY, Vec3::min), places().fold(Vec3::NEG_INFINITY, Vec3::max));
        // With Σ wᵢ = 1 and negative weights that add up to −a, a point is a times the box outside of it at most.
        let margin = (self.outside[element] + 1e-9) * (high - low) + lost;
        [low - margin, high + margin]
    }
}

/// Elements in chunks of about as many points each.
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

/// A surface with more vertices, which have the numbers after its own.
struct Refined {
    added: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

/// Cut triangles at the middle of their longest edge until no edge is longer than `longest`.
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
        // Of edges of the same length the first by its numbers, so that both of its triangles cut it.
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
        let points = ContactPoints::new(&mesh, &surface, &embedding, 5, 5 + mesh.vertex_count()).unwrap();
        let boundary = mesh.boundary();
        assert!(points.spacing().max_edge <= Spacing::of_faces(&boundary.surface).mean_edge * (1.0 + 1e-12));
        assert!(points.len() > 8 && points.len() < 10 * boundary.vertices.len());
        assert!((points.shares.iter().sum::<f64>() - boundary.vertices.len() as f64).abs() < 1e-9);
        // All are on the surface of the block, which stands in the middle of the other.
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
        let error = |surface, first, count| ContactPoints::new(&mesh, surface, &embedding, first, count).unwrap_err();
        assert_eq!(error(&line, 0, 8), ContactPointsError::NoArea);
        assert_eq!(error(&line, 1, 8), ContactPointsError::Range { end: 9, vertex_count: 8 });
        let other = mesh.boundary().surface;
        assert_eq!(error(&other, 0, 8), ContactPointsError::Vertices { vertices: 8, points: 3 });
    }
}
