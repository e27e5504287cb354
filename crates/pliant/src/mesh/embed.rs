//! Embedding of a detailed surface in a coarse volume mesh.
//!
//! Each point is tied to one element by weights `wᵢ`, `Σwᵢ = 1`, that reproduce its rest position: `Σwᵢxᵢ = p`. Inside
//! the element they are the shape functions. A point outside is tied to the nearest element by extrapolating the map
//! linearly from the closest point on it, so that protruding parts of the surface keep their shape at rest.

use rayon::prelude::*;
use rstar::primitives::CachedEnvelope;
use rstar::{AABB, PointDistance, RTree, RTreeObject};
use thiserror::Error;

use super::shape::{hex_gradients, hex_jacobian, hex_point, hex_weights, tet_weights};
use super::{ElementKind, Interpolation, VolumeMesh};
use crate::geometry::{bounding_box, nearest_on_triangle};
use crate::math::Vec3;

/// Tolerance below zero for the weights of a point inside: points on a shared face are on neither side.
const INSIDE: f64 = 1e-10;

/// Minimum determinant, relative to the one at its center, that an element must have where its map is extrapolated.
const HEALTHY: f64 = 0.05;

/// Newton iterations for the reference coordinates of a point in a hexahedron; six suffice except for badly shaped
/// elements.
const HEX_ITERATIONS: usize = 30;

/// Points tied to the elements of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    elements: Vec<u32>,
    /// Points as weighted sums of the vertices of their elements.
    interpolation: Interpolation,
    /// Points outside all elements.
    outside: Vec<u32>,
}

/// Reason why an embedding does not fit a mesh.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum EmbeddingError {
    #[error("point {point} is at {position}: expected finite coordinates")]
    BadPoint { point: usize, position: Vec3 },
    #[error("point {point} is tied to vertices {vertices:?}, which do not form an element of the mesh")]
    NoElement { point: usize, vertices: Vec<u32> },
    #[error("the weights of point {point} sum to {sum}, expected 1")]
    BadWeights { point: usize, sum: f64 },
}

impl Embedding {
    /// Ties `points` to `mesh`.
    pub fn new(mesh: &VolumeMesh, points: &[Vec3]) -> Result<Self, EmbeddingError> {
        if let Some((point, position)) = points.iter().enumerate().find(|(_, p)| !p.is_finite()) {
            return Err(EmbeddingError::BadPoint { point, position: *position });
        }
        let elements =
            (0..mesh.element_count()).map(|e| CachedEnvelope::new(Cell { mesh, element: e as u32 })).collect();
        let tree = RTree::bulk_load(elements);
        let inside: Vec<Option<Tie>> = points.par_iter().map(|&p| tie_inside(&tree, p)).collect();
        // Points outside are nearest to the boundary, which has far fewer faces than the body has elements.
        let faces = if inside.iter().all(Option::is_some) { Vec::new() } else { boundary_faces(mesh) };
        let tree = RTree::bulk_load(faces);
        let tie = |(&p, inside): (&Vec3, Option<Tie>)| inside.unwrap_or_else(|| tie_outside(mesh, &tree, p));
        let ties: Vec<Tie> = points.par_iter().zip(inside).map(tie).collect();
        let nodes = mesh.kind().nodes();
        let vertices = ties.iter().flat_map(|tie| mesh.element(tie.element as usize)).copied().collect();
        let weights = ties.iter().flat_map(|tie| &tie.weights[..nodes]).copied().collect();
        Ok(Self {
            elements: ties.iter().map(|tie| tie.element).collect(),
            interpolation: Interpolation::new(nodes, vertices, weights, mesh.vertex_count()),
            outside: (0..).zip(&ties).filter(|(_, tie)| !tie.inside).map(|(i, _)| i).collect(),
        })
    }

    /// Builds an embedding from a file: for each point the vertices of an element and their weights, in any order.
    pub fn from_weights(mesh: &VolumeMesh, ties: &[Vec<(u32, f64)>]) -> Result<Self, EmbeddingError> {
        let nodes = mesh.kind().nodes();
        let around = mesh.vertex_elements();
        let (mut elements, mut outside) = (Vec::new(), Vec::new());
        let (mut vertices, mut weights) = (Vec::new(), Vec::new());
        for (point, tie) in ties.iter().enumerate() {
            let sum: f64 = tie.iter().map(|(_, w)| w).sum();
            // Weights printed with six digits, as VegaFEM does, sum to one only approximately.
            if (sum - 1.0).abs() > 1e-4 || sum.is_nan() {
                return Err(EmbeddingError::BadWeights { point, sum });
            }
            let no_element = || EmbeddingError::NoElement { point, vertices: tie.iter().map(|(v, _)| *v).collect() };
            let first = tie.first().filter(|(v, _)| (*v as usize) < mesh.vertex_count()).ok_or_else(no_element)?.0;
            let fits = |e: &&u32| {
                let element = mesh.element(**e as usize);
                tie.len() == nodes && element.iter().all(|v| tie.iter().any(|(w, _)| w == v))
            };
            let element = *around.of(first as usize).iter().find(fits).ok_or_else(no_element)?;
            let start = weights.len();
            for v in mesh.element(element as usize) {
                vertices.push(*v);
                weights.push(tie.iter().find(|(w, _)| w == v).map_or(0.0, |(_, weight)| *weight));
            }
            if weights[start..].iter().any(|&w| w < -INSIDE) {
                outside.push(point as u32);
            }
            elements.push(element);
        }
        let interpolation = Interpolation::new(nodes, vertices, weights, mesh.vertex_count());
        Ok(Self { elements, interpolation, outside })
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Returns the element that each point is tied to.
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }

    /// Returns the points as weighted sums of the vertices of their elements, in the order of each element.
    pub fn interpolation(&self) -> &Interpolation {
        &self.interpolation
    }

    /// Converts into the points as weighted sums of the vertices of their elements.
    pub fn into_interpolation(self) -> Interpolation {
        self.interpolation
    }

    /// Returns the points outside all elements, in ascending order.
    pub fn outside(&self) -> &[u32] {
        &self.outside
    }

    /// Interpolates the points for vertices at `positions`. Displacements of vertices give displacements of points.
    ///
    /// # Panics
    /// If `positions` is shorter than the mesh or `points` does not have one entry per point.
    pub fn interpolate(&self, positions: &[Vec3], points: &mut [Vec3]) {
        self.interpolation.interpolate(positions, points);
    }
}

/// Element in the tree.
#[derive(Clone, Copy)]
struct Cell<'a> {
    mesh: &'a VolumeMesh,
    element: u32,
}

impl RTreeObject for Cell<'_> {
    type Envelope = AABB<[f64; 3]>;

    fn envelope(&self) -> Self::Envelope {
        let vertices = self.mesh.element(self.element as usize);
        let [low, high] = bounding_box(vertices.iter().map(|&v| self.mesh.vertices()[v as usize]));
        // As wide as the tolerance for points on the boundary, which would otherwise never be tried.
        let margin = INSIDE * (high - low).max_element() + 4.0 * f64::EPSILON * low.abs().max(high.abs()).max_element();
        AABB::from_corners((low - margin).to_array(), (high + margin).to_array())
    }
}

/// Boundary face in the tree.
struct Face {
    element: u32,
    corners: Vec<Vec3>,
}

impl RTreeObject for Face {
    type Envelope = AABB<[f64; 3]>;

    fn envelope(&self) -> Self::Envelope {
        let [low, high] = bounding_box(self.corners.iter().copied());
        AABB::from_corners(low.to_array(), high.to_array())
    }
}

impl PointDistance for Face {
    fn distance_2(&self, point: &[f64; 3]) -> f64 {
        let p = Vec3::from(*point);
        self.nearest(p).distance_squared(p)
    }
}

impl Face {
    /// Returns the closest point on the face to `point`. A curved face is approximated by a fan around its center.
    fn nearest(&self, point: Vec3) -> Vec3 {
        if let [a, b, c] = self.corners[..] {
            return nearest_on_triangle([a, b, c], point);
        }
        let corners = &self.corners;
        let middle = corners.iter().sum::<Vec3>() / corners.len() as f64;
        let triangle = |i: usize| [middle, corners[i], corners[(i + 1) % corners.len()]];
        (0..corners.len())
            .map(|i| nearest_on_triangle(triangle(i), point))
            .min_by(|a, b| a.distance_squared(point).total_cmp(&b.distance_squared(point)))
            .unwrap_or(middle)
    }
}

fn boundary_faces(mesh: &VolumeMesh) -> Vec<CachedEnvelope<Face>> {
    let boundary = mesh.boundary();
    let surface = &boundary.surface;
    let corners = |face: &[u32]| face.iter().map(|&v| surface.vertices()[v as usize]).collect();
    let faces = boundary.faces.iter().zip(surface.faces().iter());
    faces.map(|(&(element, _), face)| CachedEnvelope::new(Face { element, corners: corners(face) })).collect()
}

struct Tie {
    element: u32,
    weights: [f64; 8],
    inside: bool,
}

/// Ties a point to the element in which it is deepest; ties, as on a shared face, go to the first.
fn tie_inside(tree: &RTree<CachedEnvelope<Cell<'_>>>, point: Vec3) -> Option<Tie> {
    let mut best: Option<(f64, Tie)> = None;
    for cell in tree.locate_in_envelope_intersecting(AABB::from_point(point.to_array())) {
        if let Some((depth, weights)) = cell.inside(point) {
            let better = best.as_ref().is_none_or(|(d, tie)| depth > *d || (depth == *d && cell.element < tie.element));
            if better {
                best = Some((depth, Tie { element: cell.element, weights, inside: true }));
            }
        }
    }
    best.map(|(_, tie)| tie)
}

/// Ties a point to the nearest element; ties, which share the nearest edge or vertex, go to the first.
fn tie_outside(mesh: &VolumeMesh, tree: &RTree<CachedEnvelope<Face>>, point: Vec3) -> Tie {
    let mut nearest = tree.nearest_neighbor_iter_with_distance_2(point.to_array());
    let (mut face, distance) = nearest.next().expect("a body has a boundary");
    for (other, _) in nearest.take_while(|(_, d)| *d <= distance) {
        if other.element < face.element {
            face = other;
        }
    }
    let weights = Cell { mesh, element: face.element }.extrapolated(point, face.nearest(point));
    Tie { element: face.element, weights, inside: false }
}

impl Cell<'_> {
    /// Returns the depth of `point` inside the element, and its weights; `None` if it is outside.
    fn inside(&self, point: Vec3) -> Option<(f64, [f64; 8])> {
        let element = self.element as usize;
        match self.mesh.kind() {
            ElementKind::Tet4 => {
                let weights = padded(tet_weights(&self.mesh.tet(element), point));
                let depth = weights[..4].iter().copied().fold(f64::INFINITY, f64::min);
                (depth >= -INSIDE).then_some((depth, weights))
            }
            ElementKind::Hex8 => {
                let xi = locate_in_hex(&self.mesh.hex(element), point)?;
                let depth = 1.0 - xi.abs().max_element();
                (depth >= -INSIDE).then(|| (depth, hex_weights(xi)))
            }
        }
    }

    /// Returns weights that reproduce a point outside, given the closest point on the element.
    fn extrapolated(&self, point: Vec3, nearest: Vec3) -> [f64; 8] {
        let element = self.element as usize;
        match self.mesh.kind() {
            ElementKind::Tet4 => padded(tet_weights(&self.mesh.tet(element), point)),
            ElementKind::Hex8 => {
                let corners = self.mesh.hex(element);
                let mut xi = locate_in_hex(&corners, nearest).unwrap_or(Vec3::ZERO).clamp(Vec3::NEG_ONE, Vec3::ONE);
                // At a degenerate corner the map is singular, and extrapolating it from there would scatter points.
                let healthy = HEALTHY * hex_jacobian(&corners, Vec3::ZERO).determinant();
                while hex_jacobian(&corners, xi).determinant() < healthy {
                    xi *= 0.9;
                }
                // N(ξ) + ∇N(ξ)·Δξ with J Δξ = p − x(ξ).
                let step = hex_jacobian(&corners, xi).inverse() * (point - hex_point(&corners, xi));
                let (n, g) = (hex_weights(xi), hex_gradients(xi));
                std::array::from_fn(|i| n[i] + g[i].dot(step))
            }
        }
    }
}

fn padded(weights: [f64; 4]) -> [f64; 8] {
    std::array::from_fn(|i| weights.get(i).copied().unwrap_or(0.0))
}

/// Solves `x(ξ) = point` for `ξ` by Newton's method; returns `None` if it does not converge near the element.
fn locate_in_hex(corners: &[Vec3; 8], point: Vec3) -> Option<Vec3> {
    // Measured from a corner, so that far from the origin no digits are lost except those that the coordinates lack.
    let (origin, farthest) = (corners[0], corners[0].abs().max(point.abs()).max_element());
    let (corners, point) = (&corners.map(|x| x - origin), point - origin);
    let mut xi = Vec3::ZERO;
    for _ in 0..HEX_ITERATIONS {
        let step = hex_jacobian(corners, xi).inverse() * (point - hex_point(corners, xi));
        xi += step;
        if !xi.is_finite() {
            return None;
        }
        if step.abs().max_element() < 1e-14 {
            break;
        }
        // Beyond twice the element the map may fold over: clamp and try again from there.
        xi = xi.clamp(Vec3::splat(-2.0), Vec3::splat(2.0));
    }
    let size = corners.iter().map(|x| x.length()).fold(0.0, f64::max);
    (hex_point(corners, xi).distance(point) <= 1e-10 * size + 8.0 * f64::EPSILON * farthest).then_some(xi)
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, generate};
    use super::*;
    use crate::math::{Affine3, Mat3};

    fn random_points(count: usize, spread: f64) -> Vec<Vec3> {
        let mut rng = fastrand::Rng::with_seed(3);
        (0..count).map(|_| spread * (2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE)).collect()
    }

    fn meshes() -> Vec<VolumeMesh> {
        vec![
            generate::ball(1.0, 9, Cells::Tet5).unwrap(),
            generate::ball(1.0, 9, Cells::Hex).unwrap(),
            generate::torus(0.8, 0.25, 4, 14, Cells::Hex).unwrap(),
        ]
    }

    #[test]
    fn points_inside_and_outside_are_reproduced_at_rest() {
        for mesh in meshes() {
            let points = random_points(2000, 1.3);
            let embedding = Embedding::new(&mesh, &points).unwrap();
            let mut back = vec![Vec3::ZERO; points.len()];
            embedding.interpolate(mesh.vertices(), &mut back);
            for (i, (p, q)) in points.iter().zip(&back).enumerate() {
                assert!(p.distance(*q) < 1e-11, "point {i}: {p} became {q}");
            }
            assert!(embedding.outside().len() > 100 && embedding.outside().len() < 1900);
        }
    }

    #[test]
    fn points_follow_an_affine_motion_exactly() {
        let map = Affine3::from_mat3_translation(
            Mat3::from_cols_array(&[1.1, 0.3, 0.0, -0.2, 0.9, 0.1, 0.0, 0.4, 1.2]),
            Vec3::new(3.0, 1.0, 2.0),
        );
        for mesh in meshes() {
            let points = random_points(500, 1.2);
            let embedding = Embedding::new(&mesh, &points).unwrap();
            let moved: Vec<Vec3> = mesh.vertices().iter().map(|&x| map.transform_point3(x)).collect();
            let mut carried = vec![Vec3::ZERO; points.len()];
            embedding.interpolate(&moved, &mut carried);
            for (p, q) in points.iter().zip(&carried) {
                assert!(map.transform_point3(*p).distance(*q) < 1e-11);
            }
        }
    }

    #[test]
    fn the_tree_finds_what_a_search_of_all_elements_finds() {
        for mesh in meshes() {
            let points = random_points(300, 1.3);
            let embedding = Embedding::new(&mesh, &points).unwrap();
            for (i, &p) in points.iter().enumerate() {
                let cells = || (0..mesh.element_count() as u32).map(|element| Cell { mesh: &mesh, element });
                let inside = cells().any(|cell| cell.inside(p).is_some());
                assert_eq!(inside, embedding.outside().binary_search(&(i as u32)).is_err());
                if !inside {
                    let faces = boundary_faces(&mesh);
                    let distance = |face: &CachedEnvelope<Face>| face.distance_2(&p.to_array());
                    let min = faces.iter().map(distance).fold(f64::INFINITY, f64::min);
                    let mine = faces.iter().filter(|face| face.element == embedding.elements()[i]);
                    let found = mine.map(distance).fold(f64::INFINITY, f64::min);
                    assert!(found <= min * (1.0 + 1e-12));
                }
            }
        }
    }

    #[test]
    fn a_body_far_from_the_origin_holds_its_points() {
        for cells in [Cells::Tet5, Cells::Hex] {
            let near = generate::block([0.1; 3], [10, 10, 10], cells).unwrap();
            for distance in [0.0, 1e4, 1e6] {
                let offset = Vec3::new(distance, -distance, 0.5 * distance);
                let mesh = near.transformed(Affine3::from_translation(offset)).unwrap();
                let points: Vec<Vec3> = random_points(500, 0.04).iter().map(|p| *p + 0.05 + offset).collect();
                let embedding = Embedding::new(&mesh, &points).unwrap();
                assert!(embedding.outside().is_empty(), "{cells:?} at {distance}: {}", embedding.outside().len());
                let mut back = vec![Vec3::ZERO; points.len()];
                embedding.interpolate(mesh.vertices(), &mut back);
                assert!(points.iter().zip(&back).all(|(p, q)| p.distance(*q) < 1e-12 + 1e-15 * distance));
            }
        }
    }

    #[test]
    fn a_point_beside_a_flat_corner_gets_small_weights() {
        let mut data = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap().into_data();
        for v in data.vertices.iter_mut().filter(|v| v.x == 1.0 && v.y == 1.0) {
            *v = Vec3::new(0.5, 0.5, v.z);
        }
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let points = [Vec3::new(0.6, 0.6, 0.5), Vec3::new(0.5, 0.5, 1.2)];
        let embedding = Embedding::new(&mesh, &points).unwrap();
        for (i, p) in points.iter().enumerate() {
            assert!(
                embedding.interpolation().row(i).all(|(_, w)| w.abs() < 20.0),
                "{:?}",
                embedding.interpolation().row(i).collect::<Vec<_>>()
            );
            let q: Vec3 = embedding.interpolation().row(i).map(|(v, w)| w * mesh.vertices()[v as usize]).sum();
            assert!(p.distance(q) < 1e-12);
        }
    }

    #[test]
    fn a_point_on_the_boundary_up_to_rounding_is_inside() {
        let mesh = generate::block([1.0; 3], [2, 2, 2], Cells::Tet5).unwrap();
        let embedding = Embedding::new(&mesh, &[Vec3::new(1.0 + 1e-13, 0.3, 0.2)]).unwrap();
        assert!(embedding.outside().is_empty());
    }

    #[test]
    fn vertices_of_the_mesh_itself_are_inside() {
        for mesh in meshes() {
            let embedding = Embedding::new(&mesh, mesh.vertices()).unwrap();
            assert!(embedding.outside().is_empty());
        }
    }

    #[test]
    fn ties_survive_being_written_in_another_order() {
        let mesh = &meshes()[0];
        let embedding = Embedding::new(mesh, &random_points(200, 1.1)).unwrap();
        let ties: Vec<Vec<(u32, f64)>> = (0..embedding.len())
            .map(|i| {
                let mut tie: Vec<_> = embedding.interpolation().row(i).collect();
                tie.rotate_left(i % 4);
                tie
            })
            .collect();
        let back = Embedding::from_weights(mesh, &ties).unwrap();
        assert_eq!(back.elements(), embedding.elements());
        assert_eq!(back, embedding);
    }

    #[test]
    fn ties_that_do_not_fit_the_mesh_are_named() {
        let mesh = &meshes()[0];
        let [a, b, c, d] = mesh.element(3).try_into().unwrap();
        let check = |tie: Vec<(u32, f64)>| Embedding::from_weights(mesh, &[tie]).unwrap_err();
        let unequal = check(vec![(a, 0.5), (b, 0.5), (c, 0.5), (d, 0.5)]);
        assert_eq!(unequal, EmbeddingError::BadWeights { point: 0, sum: 2.0 });
        let elsewhere = check(vec![(u32::MAX, 1.0), (b, 0.0), (c, 0.0), (d, 0.0)]);
        assert!(matches!(elsewhere, EmbeddingError::NoElement { point: 0, .. }));
        assert!(matches!(check(vec![(a, 1.0)]), EmbeddingError::NoElement { .. }));
        assert!(matches!(check(vec![(a, f64::NAN); 4]), EmbeddingError::BadWeights { .. }));
        let nan = Embedding::new(mesh, &[Vec3::NAN]).unwrap_err();
        assert!(matches!(nan, EmbeddingError::BadPoint { point: 0, .. }));
    }

    #[test]
    fn the_same_on_one_and_many_threads() {
        let mesh = &meshes()[1];
        let points = random_points(3000, 1.2);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Embedding::new(mesh, &points).unwrap())
        };
        assert_eq!(on(1), on(5));
    }
}
