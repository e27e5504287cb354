//! Exact tests for intersections of edges and triangles.

use robust::{Coord3D, orient3d};

use super::candidates::Trees;
use super::{CollisionBody, CollisionSurface, SurfaceMotion};
use crate::math::Vec3;
use crate::mesh::Interpolation;

/// Returns true if an edge passes through a triangle, also through one of its sides or corners. An edge that only ends
/// at the triangle does not. The test is exact: it decides by signs of determinants that no rounding changes
/// \[Shewchuk1997\].
///
/// An edge in the plane of a triangle does not cross it either. Where they overlap, a side of the triangle meets the
/// edge or an end of the edge is in the triangle, so that a pair of edges, or of a point and a triangle, is at distance
/// zero. Collision detection does not move such a pair, and its barrier is infinite up to rounding, unless it consists
/// of parallel edges: then another pair of their ends is.
pub fn edge_crosses_triangle(edge: [Vec3; 2], triangle: [Vec3; 3]) -> bool {
    let [p, q] = edge;
    let [a, b, c] = triangle;
    let (above, below) = (orientation(a, b, c, p), orientation(a, b, c, q));
    if !((above > 0.0 && below < 0.0) || (above < 0.0 && below > 0.0)) {
        return false;
    }
    let sides = [orientation(p, q, a, b), orientation(p, q, b, c), orientation(p, q, c, a)];
    sides.iter().all(|side| *side >= 0.0) || sides.iter().all(|side| *side <= 0.0)
}

/// Returns true if an edge of a surface crosses a triangle of it with which it shares no vertex.
pub fn intersects_itself(vertices: &[Vec3], triangles: &[[u32; 3]]) -> bool {
    let nodes = (0..vertices.len() as u32).collect();
    let body = CollisionBody {
        name: "surface",
        rest: vertices,
        motion: SurfaceMotion::Nodes(Interpolation::of_nodes(nodes, vertices.len())),
        triangles,
        edges: &[],
        radius: 0.0,
        young: 1.0,
        is_prescribed: false,
    };
    CollisionSurface::new(&[body])
        .is_ok_and(|surface| !Trees::new(&surface).find_crossings(&surface, &surface.rest).is_empty())
}

/// Returns a number with the sign of the volume of a tetrahedron: positive, negative or exactly zero.
fn orientation(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    let [a, b, c, d] = [a, b, c, d].map(|x| Coord3D { x: x.x, y: x.y, z: x.z });
    orient3d(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIANGLE: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Y];

    #[test]
    fn edges_cross_a_triangle_inside_on_its_sides_and_at_its_corners_only() {
        let vertical = |x: f64, y: f64| [Vec3::new(x, y, -1.0), Vec3::new(x, y, 2.0)];
        for [x, y] in [[0.2, 0.3], [0.5, 0.5], [0.0, 0.4], [0.0, 0.0], [1.0, 0.0]] {
            assert!(edge_crosses_triangle(vertical(x, y), TRIANGLE), "{x} {y}");
        }
        for [x, y] in [[0.6, 0.6], [-0.1, 0.4], [1.1, 0.0], [-1e-300, 0.5], [0.5 + f64::EPSILON, 0.5]] {
            assert!(!edge_crosses_triangle(vertical(x, y), TRIANGLE), "{x} {y}");
        }
        let above = [Vec3::new(0.2, 0.2, 1e-300), Vec3::new(0.2, 0.2, 1.0)];
        assert!(!edge_crosses_triangle(above, TRIANGLE));
        assert!(!edge_crosses_triangle([Vec3::new(0.2, 0.2, 0.0), above[1]], TRIANGLE));
        assert!(edge_crosses_triangle([Vec3::new(0.2, 0.2, -1e-300), above[1]], TRIANGLE));
        // Parallel to the triangle, and in its plane.
        assert!(!edge_crosses_triangle([Vec3::Z, Vec3::Z + Vec3::X], TRIANGLE));
        assert!(!edge_crosses_triangle([Vec3::new(-1.0, 0.2, 0.0), Vec3::new(1.0, 0.2, 0.0)], TRIANGLE));
    }

    #[test]
    fn signs_of_nearly_flat_configurations_are_exact() {
        // Multiples of the same vector in a plane through the origin: exactly zero, which a determinant misses.
        let [a, b] = [Vec3::new(0.1, 0.3, 0.7), Vec3::new(0.5, -0.2, 0.9)];
        assert_eq!(orientation(Vec3::ZERO, a, b, 2.0 * a), 0.0);
        let up = Vec3::new(0.0, 0.0, f64::MIN_POSITIVE);
        assert!(orientation(Vec3::ZERO, Vec3::X, Vec3::Y, up) < 0.0);
        assert!(orientation(Vec3::ZERO, Vec3::X, Vec3::Y, -up) > 0.0);
    }
}
