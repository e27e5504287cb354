//! Surfaces that collide: vertices, edges and triangles of all bodies and colliders.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use thiserror::Error;

use super::collider::ColliderMotion;
use super::{ColliderTime, ObstacleGeometry};
use crate::geometry::area_vector;
use crate::math::Vec3;
use crate::mesh::{Faces, Interpolation, SurfaceMesh};

/// Range of the barrier relative to the size of a body.
const RANGE_OF_BODY: f64 = 1e-3;

/// Range of the barrier relative to the shortest edge around a vertex.
const RANGE_OF_EDGE: f64 = 0.1;

/// Surface that collides: of a body, or of a collider.
#[derive(Debug, Clone)]
pub struct CollisionBody<'a> {
    /// Name, for messages.
    pub name: &'a str,
    /// Undeformed positions of its vertices.
    pub rest: &'a [Vec3],
    /// Source of the motion of its vertices.
    pub motion: SurfaceMotion,
    /// Triangles of its vertices.
    pub triangles: &'a [[u32; 3]],
    /// Edges of its vertices that belong to no triangle.
    pub edges: &'a [[u32; 2]],
    /// Distance from the triangles and edges at which the surface is \[m\], as that of a ball from its center.
    pub radius: f64,
    /// Young's modulus at small strains \[Pa\]; 0 if it does not deform.
    pub young: f64,
    /// True if all of its motion is prescribed. Such surfaces do not collide with each other.
    pub is_prescribed: bool,
}

/// Source of the motion of the vertices of a surface.
#[derive(Debug, Clone)]
pub enum SurfaceMotion {
    /// Nodes of a model, from which the vertices are interpolated.
    Nodes(Interpolation),
    /// A prescribed motion.
    Prescribed(ColliderMotion),
}

/// Reason why a surface cannot collide.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum CollisionSurfaceError {
    #[error("`{body}` has {points} moving points for {vertices} vertices")]
    Points { body: String, points: usize, vertices: usize },
    #[error("`{body}` is interpolated from {nodes} nodes, others from {expected}")]
    Nodes { body: String, nodes: usize, expected: usize },
    #[error("face or edge {face} of `{body}` has vertex {vertex}, but there are {vertices}")]
    Vertex { body: String, face: usize, vertex: u32, vertices: usize },
    #[error("vertex {vertex} of `{body}` is not at a finite position")]
    NotFinite { body: String, vertex: usize },
    #[error("the radius of `{body}` is {radius} m, expected a finite number that is not negative")]
    Radius { body: String, radius: f64 },
}

/// Surfaces of all bodies and colliders, with what their contact potential needs of the undeformed configuration.
#[derive(Debug, Clone)]
pub struct CollisionSurface {
    names: Vec<String>,
    is_prescribed: Vec<bool>,
    /// Source of the motion of the vertices of each body.
    motions: Vec<SurfaceMotion>,
    /// First vertex of each body, and the total number of vertices.
    starts: Vec<usize>,
    pub(super) rest: Vec<Vec3>,
    pub(super) edges: Vec<[u32; 2]>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Body of each vertex.
    pub(super) bodies: Vec<u32>,
    /// True for vertices of triangles and edges, and for single points.
    pub(super) is_used: Vec<bool>,
    /// A third of the area of the triangles around each vertex, and along each edge \[m²\]; infinite for single points.
    pub(super) vertex_areas: Vec<f64>,
    pub(super) edge_areas: Vec<f64>,
    /// Area of each triangle \[m²\].
    pub(super) triangle_areas: Vec<f64>,
    /// Range of the barrier at each vertex \[m\]; infinite for those of colliders.
    pub(super) ranges: Vec<f64>,
    /// Radius of each body \[m\].
    pub(super) radii: Vec<f64>,
    /// Young's modulus of each body \[Pa\].
    pub(super) young: Vec<f64>,
    /// Greatest finite range \[m\].
    pub(super) max_range: f64,
    /// Pairs of bodies that do not collide, each in ascending order.
    pub(super) excluded: HashSet<[u32; 2]>,
    /// Smallest mean edge of a body that deforms \[m\]; infinite without edges.
    pub(super) mean_edge: f64,
}

impl CollisionSurface {
    /// Joins the surfaces of bodies and colliders.
    pub fn new(bodies: &[CollisionBody<'_>]) -> Result<Self, CollisionSurfaceError> {
        let mut all = Self {
            names: Vec::new(),
            is_prescribed: Vec::new(),
            motions: Vec::new(),
            starts: vec![0],
            rest: Vec::new(),
            edges: Vec::new(),
            triangles: Vec::new(),
            bodies: Vec::new(),
            is_used: Vec::new(),
            vertex_areas: Vec::new(),
            edge_areas: Vec::new(),
            triangle_areas: Vec::new(),
            ranges: Vec::new(),
            radii: Vec::new(),
            young: Vec::new(),
            max_range: 0.0,
            excluded: HashSet::new(),
            mean_edge: f64::INFINITY,
        };
        let node_count = bodies.iter().find_map(|body| match &body.motion {
            SurfaceMotion::Nodes(points) => Some(points.node_count()),
            SurfaceMotion::Prescribed(_) => None,
        });
        for (number, body) in bodies.iter().enumerate() {
            check(body, node_count.unwrap_or(0))?;
            all.add(number as u32, body);
        }
        Ok(all)
    }

    fn add(&mut self, number: u32, body: &CollisionBody<'_>) {
        let first = self.rest.len() as u32;
        let is_collider = matches!(body.motion, SurfaceMotion::Prescribed(_));
        self.names.push(body.name.to_owned());
        self.is_prescribed.push(body.is_prescribed);
        self.rest.extend_from_slice(body.rest);
        self.motions.push(body.motion.clone());
        self.starts.push(self.rest.len());
        self.bodies.resize(self.rest.len(), number);
        let is_point = body.triangles.is_empty() && body.edges.is_empty();
        self.vertex_areas.resize(self.rest.len(), if is_point { f64::INFINITY } else { 0.0 });
        self.is_used.resize(self.rest.len(), is_point);
        self.radii.push(body.radius);
        self.young.push(body.young);
        let size = {
            let corners = || body.triangles.iter().flatten().map(|&v| body.rest[v as usize]);
            let (low, high) =
                (corners().fold(Vec3::INFINITY, Vec3::min), corners().fold(Vec3::NEG_INFINITY, Vec3::max));
            if body.triangles.is_empty() { 0.0 } else { low.distance(high) }
        };
        self.ranges.resize(self.rest.len(), if is_collider { f64::INFINITY } else { RANGE_OF_BODY * size });
        let mut numbers: HashMap<[u32; 2], usize> = HashMap::new();
        let mut edge_sum = 0.0;
        for triangle in body.triangles {
            let [a, b, c] = triangle.map(|v| v + first);
            let area = area_vector([a, b, c].map(|v| self.rest[v as usize])).length();
            self.triangles.push([a, b, c]);
            self.triangle_areas.push(area);
            let third = area / 3.0;
            for (v, w) in [(a, b), (b, c), (c, a)] {
                self.vertex_areas[v as usize] += third;
                self.is_used[v as usize] = true;
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
                if range > 0.0 && !is_collider {
                    for v in edge {
                        self.ranges[v as usize] = self.ranges[v as usize].min(range);
                    }
                }
            }
        }
        for edge in body.edges {
            let [a, b] = edge.map(|v| v + first);
            let edge = [a.min(b), a.max(b)];
            edge.iter().for_each(|&v| self.is_used[v as usize] = true);
            numbers.entry(edge).or_insert_with(|| {
                self.edges.push(edge);
                self.edge_areas.push(0.0);
                self.edges.len() - 1
            });
        }
        if !is_collider {
            let own = &self.ranges[first as usize..];
            self.max_range = own.iter().fold(self.max_range, |max, &range| max.max(range));
        }
        if !is_collider && edge_sum > 0.0 {
            self.mean_edge = self.mean_edge.min(edge_sum / numbers.len() as f64);
        }
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    /// Returns the number of bodies and colliders.
    pub fn body_count(&self) -> usize {
        self.names.len()
    }

    /// Returns the name of a body or collider.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn name(&self, body: usize) -> &str {
        &self.names[body]
    }

    /// Returns true if the motion of a body is prescribed.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn is_collider(&self, body: usize) -> bool {
        matches!(self.motions[body], SurfaceMotion::Prescribed(_))
    }

    /// Returns true if the primitives of two vertices do not collide: those of two prescribed surfaces, and of excluded
    /// pairs.
    pub(super) fn is_excluded(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|v| self.bodies[v as usize]);
        self.are_excluded(a, b)
    }

    /// Returns true if two bodies do not collide.
    pub(super) fn are_excluded(&self, a: u32, b: u32) -> bool {
        (self.is_prescribed[a as usize] && self.is_prescribed[b as usize])
            || (!self.excluded.is_empty() && self.excluded.contains(&[a.min(b), a.max(b)]))
    }

    /// Returns true if all motion of a body is prescribed.
    pub(super) fn is_prescribed(&self, body: usize) -> bool {
        self.is_prescribed[body]
    }

    /// Returns true if a collider moves.
    pub(super) fn is_moved(&self) -> bool {
        self.motions.iter().any(|motion| matches!(motion, SurfaceMotion::Prescribed(motion) if motion.is_moving()))
    }

    /// Returns the body of a vertex, and its number there.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn locate(&self, vertex: u32) -> (usize, usize) {
        let body = self.bodies[vertex as usize] as usize;
        (body, vertex as usize - self.starts[body])
    }

    /// Returns the range of the vertices of a body.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn vertices_of(&self, body: usize) -> Range<usize> {
        self.starts[body]..self.starts[body + 1]
    }

    /// Returns the positions of the vertices of a body at rest \[m\].
    ///
    /// # Panics
    /// If there is no such body.
    pub fn rest_of(&self, body: usize) -> &[Vec3] {
        &self.rest[self.vertices_of(body)]
    }

    /// Returns the area around a vertex \[m²\]: a third of that of its triangles.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn area_of(&self, vertex: u32) -> f64 {
        self.vertex_areas[vertex as usize]
    }

    /// Iterates over the nodes of a vertex with their weights. Vertices of colliders have none.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn nodes(&self, vertex: u32) -> impl Iterator<Item = (u32, f64)> {
        let (body, vertex) = self.locate(vertex);
        let row = match &self.motions[body] {
            SurfaceMotion::Nodes(points) => Some(points.row(vertex)),
            SurfaceMotion::Prescribed(_) => None,
        };
        row.into_iter().flatten()
    }

    /// Computes the values of the vertices from those of the nodes; zero for colliders.
    pub(super) fn interpolate(&self, values: &[f64], out: &mut Vec<Vec3>) {
        out.resize(self.rest.len(), Vec3::ZERO);
        for (motion, range) in self.motions.iter().zip(self.starts.windows(2)) {
            let out = &mut out[range[0]..range[1]];
            match motion {
                SurfaceMotion::Nodes(points) => points.interpolate_flat(values, out),
                SurfaceMotion::Prescribed(_) => out.fill(Vec3::ZERO),
            }
        }
    }

    /// Computes the positions of the vertices from the displacements of the nodes, with colliders where they are at a
    /// time \[s\].
    pub(super) fn positions(&self, u: &[f64], time: ColliderTime, out: &mut Vec<Vec3>) {
        self.interpolate(u, out);
        out.iter_mut().zip(&self.rest).for_each(|(x, rest)| *x += *rest);
        for (motion, range) in self.motions.iter().zip(self.starts.windows(2)) {
            if let SurfaceMotion::Prescribed(motion) = motion {
                let range = range[0]..range[1];
                motion.place(time.end, &self.rest[range.clone()], &mut out[range.clone()]);
                if time.start != time.end {
                    let mut start = vec![Vec3::ZERO; range.len()];
                    motion.place(time.start, &self.rest[range.clone()], &mut start);
                    out[range].iter_mut().zip(start).for_each(|(x, start)| *x = start.lerp(*x, time.progress));
                }
            }
        }
    }

    /// Returns the names and motions of colliders with the positions of their vertices at rest.
    pub(super) fn collider_motions(&self) -> impl Iterator<Item = (&str, &ColliderMotion, &[Vec3])> {
        self.names.iter().zip(&self.motions).zip(self.starts.windows(2)).filter_map(|((name, motion), range)| {
            match motion {
                SurfaceMotion::Prescribed(motion) => Some((name.as_str(), motion, &self.rest[range[0]..range[1]])),
                SurfaceMotion::Nodes(_) => None,
            }
        })
    }

    /// Iterates over the colliders at their positions at a time \[s\], to be drawn.
    pub(super) fn collider_geometry(&self, time: f64) -> impl Iterator<Item = ObstacleGeometry> {
        let bodies = self.motions.iter().zip(self.starts.windows(2)).zip(&self.radii);
        bodies.filter_map(move |((motion, range), &radius)| {
            let SurfaceMotion::Prescribed(motion) = motion else { return None };
            let mut places = vec![Vec3::ZERO; range[1] - range[0]];
            motion.place(time, &self.rest[range[0]..range[1]], &mut places);
            let first = range[0] as u32;
            let own = |corners: &&[u32; 3]| (range[0]..range[1]).contains(&(corners[0] as usize));
            let faces: Vec<u32> = self.triangles.iter().filter(own).flatten().map(|v| v - first).collect();
            match places[..] {
                [center] => Some(ObstacleGeometry::Ball { center, radius, is_hollow: false }),
                [start, end] if faces.is_empty() => capsule(start, end, radius),
                _ => SurfaceMesh::new(places, Faces::uniform(3, faces)).ok().map(ObstacleGeometry::Surface),
            }
        })
    }

    /// Sets the velocities of the vertices of moving colliders, between two times \[s\] during `dt` \[s\].
    pub(super) fn set_collider_velocities(&self, [start, end]: [f64; 2], dt: f64, velocities: &mut [Vec3]) {
        for (motion, range) in self.motions.iter().zip(self.starts.windows(2)) {
            let range = range[0]..range[1];
            if let SurfaceMotion::Prescribed(motion) = motion
                && motion.is_moving()
            {
                let mut before = vec![Vec3::ZERO; range.len()];
                motion.place(start, &self.rest[range.clone()], &mut before);
                motion.place(end, &self.rest[range.clone()], &mut velocities[range.clone()]);
                velocities[range].iter_mut().zip(before).for_each(|(v, before)| *v = (*v - before) / dt);
            }
        }
    }

    /// Adds gradients with respect to vertices to those with respect to nodes.
    pub(super) fn add_gradient(&self, by_vertices: &[Vec3], gradient: &mut [f64]) {
        for (motion, range) in self.motions.iter().zip(self.starts.windows(2)) {
            if let SurfaceMotion::Nodes(points) = motion {
                points.add_transposed(&by_vertices[range[0]..range[1]], gradient);
            }
        }
    }
}

fn check(body: &CollisionBody<'_>, node_count: usize) -> Result<(), CollisionSurfaceError> {
    let (vertices, name) = (body.rest.len(), || body.name.to_owned());
    match &body.motion {
        SurfaceMotion::Nodes(points) => {
            if points.len() != vertices {
                return Err(CollisionSurfaceError::Points { body: name(), points: points.len(), vertices });
            }
            if points.node_count() != node_count {
                let nodes = points.node_count();
                return Err(CollisionSurfaceError::Nodes { body: name(), nodes, expected: node_count });
            }
        }
        SurfaceMotion::Prescribed(motion) => {
            if let Some(points) = motion.point_count().filter(|&points| points != vertices) {
                return Err(CollisionSurfaceError::Points { body: name(), points, vertices });
            }
        }
    }
    if !(body.radius >= 0.0 && body.radius.is_finite()) {
        return Err(CollisionSurfaceError::Radius { body: name(), radius: body.radius });
    }
    let faces = body.triangles.iter().map(|corners| &corners[..]).chain(body.edges.iter().map(|ends| &ends[..]));
    for (face, corners) in faces.enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
            return Err(CollisionSurfaceError::Vertex { body: name(), face, vertex, vertices });
        }
    }
    match body.rest.iter().position(|x| !x.is_finite()) {
        Some(vertex) => Err(CollisionSurfaceError::NotFinite { body: name(), vertex }),
        None => Ok(()),
    }
}

/// Returns a surface near that of a capsule, to be drawn.
fn capsule(start: Vec3, end: Vec3, radius: f64) -> Option<ObstacleGeometry> {
    const AROUND: u32 = 32;
    const RINGS: u32 = 8;
    let axis = (end - start).normalize_or(Vec3::X);
    let (a, b) = axis.any_orthonormal_pair();
    let mut vertices = Vec::new();
    for ring in 0..=2 * RINGS + 1 {
        // Half of the rings belong to either end.
        let step = f64::from(if ring > RINGS { ring - 1 } else { ring });
        let (sin, cos) = (std::f64::consts::PI * step / f64::from(2 * RINGS)).sin_cos();
        let center = if ring > RINGS { end } else { start };
        for side in 0..AROUND {
            let (s, c) = (std::f64::consts::TAU * f64::from(side) / f64::from(AROUND)).sin_cos();
            vertices.push(center + radius * (sin * (c * a + s * b) - cos * axis));
        }
    }
    let mut faces = Vec::new();
    for ring in 0..=2 * RINGS {
        for side in 0..AROUND {
            let [p, q] = [side, (side + 1) % AROUND].map(|side| ring * AROUND + side);
            faces.extend([p, q, q + AROUND, p, q + AROUND, p + AROUND]);
        }
    }
    SurfaceMesh::new(vertices, Faces::uniform(3, faces)).ok().map(ObstacleGeometry::Surface)
}
