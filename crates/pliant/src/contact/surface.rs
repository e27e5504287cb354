//! Surfaces that collide: vertices, edges and triangles of all bodies.

use std::collections::HashMap;

use thiserror::Error;

use crate::geometry::area_vector;
use crate::math::Vec3;
use crate::mesh::Interpolation;

/// Range of the barrier relative to the size of a body.
const RANGE_OF_BODY: f64 = 1e-3;

/// Range of the barrier relative to the shortest edge around a vertex.
const RANGE_OF_EDGE: f64 = 0.1;

/// Surface of a body that collides.
#[derive(Debug, Clone)]
pub struct CollisionBody<'a> {
    /// Undeformed positions of its vertices.
    pub rest: &'a [Vec3],
    /// Vertices as functions of the nodes of a model.
    pub points: Interpolation,
    /// Triangles of its vertices.
    pub triangles: &'a [[u32; 3]],
    /// Young's modulus at small strains \[Pa\]; 0 if it does not deform.
    pub young: f64,
    /// Density \[kg/m³\]; 0 if it has no mass.
    pub density: f64,
    /// True for an obstacle, whose motion is prescribed. Two obstacles do not collide with each other.
    pub is_obstacle: bool,
}

/// Stiffness and inertia of the surface of a body, which scale the barrier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BodyScale {
    /// Young's modulus \[Pa\].
    pub young: f64,
    /// Mass per length of a layer of the surface as thick as an edge: density times squared mean edge \[kg/m\].
    pub inertia: f64,
}

/// Reason why a surface cannot collide.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum CollisionSurfaceError {
    #[error("body {body} has {points} interpolated points for {vertices} vertices")]
    Points { body: usize, points: usize, vertices: usize },
    #[error("body {body} is interpolated from {nodes} nodes, others from {expected}")]
    Nodes { body: usize, nodes: usize, expected: usize },
    #[error("triangle {triangle} of body {body} has vertex {vertex}, but there are {vertices}")]
    Vertex { body: usize, triangle: usize, vertex: u32, vertices: usize },
    #[error("vertex {vertex} of body {body} is not at a finite position")]
    NotFinite { body: usize, vertex: usize },
}

/// Surfaces of all bodies, with what their contact potential needs of the undeformed configuration.
#[derive(Debug, Clone)]
pub struct CollisionSurface {
    /// Vertices as functions of the nodes, one map per body, in the order of the vertices.
    points: Vec<Interpolation>,
    /// First vertex of each body, and the total number of vertices.
    starts: Vec<usize>,
    pub(super) rest: Vec<Vec3>,
    pub(super) edges: Vec<[u32; 2]>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Body of each vertex.
    pub(super) bodies: Vec<u32>,
    /// A third of the area of the triangles around each vertex, and along each edge \[m²\].
    pub(super) vertex_areas: Vec<f64>,
    pub(super) edge_areas: Vec<f64>,
    /// Range of the barrier at each vertex \[m\].
    pub(super) ranges: Vec<f64>,
    pub(super) scales: Vec<BodyScale>,
    /// True for each body that is an obstacle.
    pub(super) is_obstacle: Vec<bool>,
    /// Smallest mean edge of a body \[m\]; infinite without edges.
    pub(super) mean_edge: f64,
}

impl CollisionSurface {
    /// Joins the surfaces of bodies.
    pub fn new(bodies: &[CollisionBody<'_>]) -> Result<Self, CollisionSurfaceError> {
        let mut all = Self {
            points: Vec::new(),
            starts: vec![0],
            rest: Vec::new(),
            edges: Vec::new(),
            triangles: Vec::new(),
            bodies: Vec::new(),
            vertex_areas: Vec::new(),
            edge_areas: Vec::new(),
            ranges: Vec::new(),
            scales: Vec::new(),
            is_obstacle: Vec::new(),
            mean_edge: f64::INFINITY,
        };
        for (number, body) in bodies.iter().enumerate() {
            check(number, body, bodies[0].points.node_count())?;
            all.add(number as u32, body);
        }
        Ok(all)
    }

    fn add(&mut self, number: u32, body: &CollisionBody<'_>) {
        let first = self.rest.len() as u32;
        self.rest.extend_from_slice(body.rest);
        self.points.push(body.points.clone());
        self.is_obstacle.push(body.is_obstacle);
        self.starts.push(self.rest.len());
        self.bodies.resize(self.rest.len(), number);
        self.vertex_areas.resize(self.rest.len(), 0.0);
        let size = {
            let corners = || body.triangles.iter().flatten().map(|&v| body.rest[v as usize]);
            let (low, high) =
                (corners().fold(Vec3::INFINITY, Vec3::min), corners().fold(Vec3::NEG_INFINITY, Vec3::max));
            if body.triangles.is_empty() { 0.0 } else { low.distance(high) }
        };
        self.ranges.resize(self.rest.len(), RANGE_OF_BODY * size);
        let mut numbers: HashMap<[u32; 2], usize> = HashMap::new();
        let mut edge_sum = 0.0;
        for triangle in body.triangles {
            let [a, b, c] = triangle.map(|v| v + first);
            let third = area_vector([a, b, c].map(|v| self.rest[v as usize])).length() / 3.0;
            self.triangles.push([a, b, c]);
            for (v, w) in [(a, b), (b, c), (c, a)] {
                self.vertex_areas[v as usize] += third;
                let edge = [v.min(w), v.max(w)];
                let number = *numbers.entry(edge).or_insert_with(|| {
                    self.edges.push(edge);
                    self.edge_areas.push(0.0);
                    edge_sum += self.rest[v as usize].distance(self.rest[w as usize]);
                    self.edges.len() - 1
                });
                self.edge_areas[number] += third;
                let range = RANGE_OF_EDGE * self.rest[v as usize].distance(self.rest[w as usize]);
                // An edge of zero length has no say in it.
                if range > 0.0 {
                    for v in edge {
                        self.ranges[v as usize] = self.ranges[v as usize].min(range);
                    }
                }
            }
        }
        let edge = if numbers.is_empty() { 0.0 } else { edge_sum / numbers.len() as f64 };
        self.mean_edge = self.mean_edge.min(if edge > 0.0 { edge } else { f64::INFINITY });
        self.scales.push(BodyScale { young: body.young, inertia: body.density * edge * edge });
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    /// Returns the number of bodies.
    pub fn body_count(&self) -> usize {
        self.scales.len()
    }

    /// Returns true if two vertices belong to obstacles, which do not collide with each other.
    pub(super) fn are_obstacles(&self, a: u32, b: u32) -> bool {
        [a, b].iter().all(|&v| self.is_obstacle[self.bodies[v as usize] as usize])
    }

    /// Returns the body of a vertex, and its number there.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn locate(&self, vertex: u32) -> (usize, usize) {
        let body = self.bodies[vertex as usize] as usize;
        (body, vertex as usize - self.starts[body])
    }

    /// Iterates over the nodes of a vertex with their weights.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn nodes(&self, vertex: u32) -> impl Iterator<Item = (u32, f64)> {
        let (body, vertex) = self.locate(vertex);
        self.points[body].row(vertex)
    }

    /// Computes the displacements of the vertices from those of the nodes.
    pub(super) fn displacements(&self, u: &[f64], out: &mut Vec<Vec3>) {
        out.resize(self.rest.len(), Vec3::ZERO);
        for (points, range) in self.points.iter().zip(self.starts.windows(2)) {
            points.interpolate_flat(u, &mut out[range[0]..range[1]]);
        }
    }

    /// Adds gradients with respect to vertices to those with respect to nodes.
    pub(super) fn add_gradient(&self, by_vertices: &[Vec3], gradient: &mut [f64]) {
        for (points, range) in self.points.iter().zip(self.starts.windows(2)) {
            points.add_transposed(&by_vertices[range[0]..range[1]], gradient);
        }
    }
}

fn check(number: usize, body: &CollisionBody<'_>, nodes: usize) -> Result<(), CollisionSurfaceError> {
    let vertices = body.rest.len();
    if body.points.len() != vertices {
        return Err(CollisionSurfaceError::Points { body: number, points: body.points.len(), vertices });
    }
    if body.points.node_count() != nodes {
        let own = body.points.node_count();
        return Err(CollisionSurfaceError::Nodes { body: number, nodes: own, expected: nodes });
    }
    for (triangle, corners) in body.triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
            return Err(CollisionSurfaceError::Vertex { body: number, triangle, vertex, vertices });
        }
    }
    match body.rest.iter().position(|x| !x.is_finite()) {
        Some(vertex) => Err(CollisionSurfaceError::NotFinite { body: number, vertex }),
        None => Ok(()),
    }
}
