//! Pairs of primitives that may come within reach of each other.

use rayon::prelude::*;

use super::box_tree::{Bounds, BoxTree};
use super::distance::PairKind;
use super::intersection::edge_crosses_triangle;
use super::surface::CollisionSurface;
use crate::math::Vec3;

/// Number of primitives per task.
const CHUNK: usize = 256;

/// Pair of primitives, with its four vertices in the order of [`PairKind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// Kind of the pair.
    pub kind: PairKind,
    /// Vertices of the surface.
    pub vertices: [u32; 4],
    /// Vertex and triangle, or the two edges.
    pub primitives: [u32; 2],
}

impl Pair {
    /// Returns a vertex of either primitive.
    pub(super) fn ends(&self) -> [u32; 2] {
        let second = match self.kind {
            PairKind::PointTriangle => 1,
            PairKind::EdgeEdge => 2,
        };
        [self.vertices[0], self.vertices[second]]
    }
}

/// Trees of the primitives of a surface.
#[derive(Debug, Clone)]
pub struct Trees {
    edges: BoxTree,
    triangles: BoxTree,
}

/// Motion of a surface whose swept boxes are searched.
#[derive(Debug, Clone, Copy)]
pub struct Sweep<'a> {
    /// Positions of the vertices at the start.
    pub start: &'a [Vec3],
    /// Positions at the end.
    pub end: &'a [Vec3],
    /// Distance beyond the range of the barrier within which pairs are found, anywhere between start and end \[m\].
    pub margin: f64,
}

impl Trees {
    /// Finds all edges that cross a triangle with which they share no vertex, as pairs of numbers in ascending order.
    pub fn find_crossings(&mut self, surface: &CollisionSurface, places: &[Vec3]) -> Vec<[u32; 2]> {
        let at = |v: u32| places[v as usize];
        let bounds = |vertices: &[u32]| Bounds::of_points(vertices.iter().map(|&v| at(v)), 0.0);
        self.triangles.refit(|triangle| bounds(&surface.triangles[triangle as usize]));
        let of_edge = |edge: u32| {
            let ends = surface.edges[edge as usize];
            let mut hits = Vec::new();
            self.triangles.query(&bounds(&ends), |triangle| {
                let corners = surface.triangles[triangle as usize];
                let is_skipped =
                    ends.iter().any(|end| corners.contains(end)) || surface.is_excluded(ends[0], corners[0]);
                if !is_skipped && edge_crosses_triangle(ends.map(at), corners.map(at)) {
                    hits.push(triangle);
                }
            });
            hits.sort_unstable();
            hits.into_iter().map(move |triangle| [edge, triangle])
        };
        (0..surface.edges.len() as u32).into_par_iter().with_min_len(CHUNK).flat_map_iter(of_edge).collect()
    }

    /// Creates the trees of a surface from its undeformed configuration.
    pub fn new(surface: &CollisionSurface) -> Self {
        let center =
            |vertices: &[u32]| vertices.iter().map(|&v| surface.rest[v as usize]).sum::<Vec3>() / vertices.len() as f64;
        let edges: Vec<Vec3> = surface.edges.par_iter().map(|edge| center(edge)).collect();
        let triangles: Vec<Vec3> = surface.triangles.par_iter().map(|triangle| center(triangle)).collect();
        Self { edges: BoxTree::new(&edges), triangles: BoxTree::new(&triangles) }
    }

    /// Finds all pairs that come within reach, in an order that depends on neither the trees nor the number of threads.
    /// Pairs that share a vertex are left out.
    pub fn find(&mut self, surface: &CollisionSurface, sweep: &Sweep<'_>) -> Vec<Pair> {
        let (edges, triangles) = (&surface.edges, &surface.triangles);
        // The range of a pair is the smallest of its vertices. Half of the reach is on each side.
        let bounds = |vertices: &[u32]| {
            let places = vertices.iter().flat_map(|&v| [sweep.start[v as usize], sweep.end[v as usize]]);
            let range = vertices.iter().map(|&v| surface.ranges[v as usize]).fold(surface.max_range, f64::min);
            let radius = surface.radii[surface.bodies[vertices[0] as usize] as usize];
            Bounds::of_points(places, radius + 0.5 * (range + sweep.margin))
        };
        self.edges.refit(|edge| bounds(&edges[edge as usize]));
        self.triangles.refit(|triangle| bounds(&triangles[triangle as usize]));
        let of_vertex = |vertex: u32| {
            let mut hits = Vec::new();
            if surface.is_used[vertex as usize] {
                self.triangles.query(&bounds(&[vertex]), |triangle| {
                    let corners = &triangles[triangle as usize];
                    if !corners.contains(&vertex) && !surface.is_excluded(vertex, corners[0]) {
                        hits.push(triangle);
                    }
                });
            }
            hits.sort_unstable();
            hits.into_iter().map(move |triangle| {
                let [a, b, c] = triangles[triangle as usize];
                Pair { kind: PairKind::PointTriangle, vertices: [vertex, a, b, c], primitives: [vertex, triangle] }
            })
        };
        let of_edge = |edge: u32| {
            let [a, b] = edges[edge as usize];
            let mut hits = Vec::new();
            self.edges.query(&bounds(&[a, b]), |other| {
                let [c, d] = edges[other as usize];
                if other > edge && c != a && c != b && d != a && d != b && !surface.is_excluded(a, c) {
                    hits.push(other);
                }
            });
            hits.sort_unstable();
            hits.into_iter().map(move |other| {
                let [c, d] = edges[other as usize];
                Pair { kind: PairKind::EdgeEdge, vertices: [a, b, c, d], primitives: [edge, other] }
            })
        };
        let vertex_count = surface.vertex_count() as u32;
        let mut pairs: Vec<Pair> =
            (0..vertex_count).into_par_iter().with_min_len(CHUNK).flat_map_iter(of_vertex).collect();
        pairs.par_extend((0..edges.len() as u32).into_par_iter().with_min_len(CHUNK).flat_map_iter(of_edge));
        pairs
    }
}
