//! Plane sections of a mesh.

use super::{ElementKind, VolumeMesh};
use crate::math::Vec3;

/// Plane section of a mesh: the polygons where the plane cuts elements, split into triangles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Slice {
    /// Corners. Elements do not share them.
    pub points: Vec<SlicePoint>,
    /// Triangles, each with its element; their winding is arbitrary.
    pub triangles: Vec<([u32; 3], u32)>,
    /// Segments where the plane cuts faces of elements.
    pub edges: Vec<[u32; 2]>,
}

/// Point between two vertices: `(1 − t) a + t b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlicePoint {
    /// Vertices `a` and `b`.
    pub ends: [u32; 2],
    /// Interpolation parameter `t`.
    pub t: f64,
}

impl SlicePoint {
    /// Interpolates a quantity given at the vertices.
    pub fn between<T>(self, at: impl Fn(u32) -> T) -> T
    where
        T: std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
    {
        at(self.ends[0]) * (1.0 - self.t) + at(self.ends[1]) * self.t
    }
}

/// Six tetrahedra around the diagonal from 0 to 6, which split opposite faces of a hexahedron alike.
const HEX_TETS: [[usize; 4]; 6] = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]];

impl VolumeMesh {
    /// Cuts the elements by the plane through `point` normal to `normal`, with vertices at `positions`. The normal may
    /// have any length except zero. Vertices on the plane count as being on the side that the normal points to.
    ///
    /// # Panics
    /// If there is not one position per vertex.
    pub fn slice(&self, positions: &[Vec3], point: Vec3, normal: Vec3) -> Slice {
        assert_eq!(positions.len(), self.vertex_count(), "expected one position per vertex");
        let heights: Vec<f64> = positions.iter().map(|x| (*x - point).dot(normal)).collect();
        let mut slice = Slice::default();
        for (number, element) in self.elements().enumerate() {
            let is_above = |&vertex: &u32| heights[vertex as usize] >= 0.0;
            if element.iter().all(is_above) || !element.iter().any(is_above) {
                continue;
            }
            match self.kind() {
                ElementKind::Tet4 => slice.cut_tet([0, 1, 2, 3], element, number as u32, &heights, |_| true),
                ElementKind::Hex8 => {
                    let on_face = |nodes: [usize; 3]| {
                        let has = |face: &&[usize]| nodes.iter().all(|node| face.contains(node));
                        ElementKind::Hex8.faces().iter().any(has)
                    };
                    for tet in HEX_TETS {
                        slice.cut_tet(tet, element, number as u32, &heights, on_face);
                    }
                }
            }
        }
        slice
    }
}

impl Slice {
    /// Cuts one tetrahedron of the nodes of an element. `on_face` returns true if three nodes are on one face of the
    /// element.
    fn cut_tet(
        &mut self,
        tet: [usize; 4],
        element: &[u32],
        number: u32,
        heights: &[f64],
        on_face: impl Fn([usize; 3]) -> bool,
    ) {
        let height = |node: usize| heights[element[node] as usize];
        let (above, below): (Vec<usize>, Vec<usize>) = tet.iter().partition(|&&node| height(node) >= 0.0);
        // Cut edges in the order of the polygon: neighbors share a face of the tetrahedron.
        let corners: Vec<[usize; 2]> = match (&above[..], &below[..]) {
            (&[a], &[b, c, d]) | (&[b, c, d], &[a]) => vec![[a, b], [a, c], [a, d]],
            (&[a, b], &[c, d]) => vec![[a, c], [a, d], [b, d], [b, c]],
            _ => return,
        };
        let first = self.points.len() as u32;
        for &[a, b] in &corners {
            let ends = [element[a], element[b]];
            let t = height(a) / (height(a) - height(b));
            self.points.push(SlicePoint { ends, t });
        }
        let count = corners.len() as u32;
        self.triangles.extend((1..count - 1).map(|i| ([first, first + i, first + i + 1], number)));
        for (i, corner) in corners.iter().enumerate() {
            let next = corners[(i + 1) % corners.len()];
            let other = if corner.contains(&next[0]) { next[1] } else { next[0] };
            if on_face([corner[0], corner[1], other]) {
                self.edges.push([first + i as u32, first + (i as u32 + 1) % count]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, generate};
    use super::*;
    use crate::math::Mat3;

    fn area(slice: &Slice, positions: &[Vec3]) -> f64 {
        let at = |corner: u32| slice.points[corner as usize].between(|vertex| positions[vertex as usize]);
        let one = |([a, b, c], _): &([u32; 3], u32)| 0.5 * (at(*b) - at(*a)).cross(at(*c) - at(*a)).length();
        slice.triangles.iter().map(one).sum()
    }

    #[test]
    fn the_slice_of_a_block_has_the_area_of_its_section() {
        for cells in [Cells::Tet5, Cells::Tet6, Cells::Hex] {
            let mesh = generate::block([2.0, 1.0, 0.5], [5, 3, 4], cells).unwrap();
            let slice = mesh.slice(mesh.vertices(), Vec3::new(0.73, 0.0, 0.0), 3.0 * Vec3::X);
            assert!((area(&slice, mesh.vertices()) - 0.5).abs() < 1e-12, "{cells:?}");
            // At 45° the section is longer by √2.
            let slice = mesh.slice(mesh.vertices(), Vec3::new(1.0, 0.5, 0.0), Vec3::new(1.0, 1.0, 0.0));
            assert!((area(&slice, mesh.vertices()) - 0.5 * 2_f64.sqrt()).abs() < 1e-12, "{cells:?}");
        }
    }

    #[test]
    fn it_is_cut_where_the_body_is_now() {
        let mesh = generate::block([2.0, 1.0, 0.5], [5, 3, 4], Cells::Tet6).unwrap();
        let map = Mat3::from_cols(Vec3::new(3.0, 0.0, 0.0), Vec3::new(0.4, 2.0, 0.0), Vec3::new(0.0, 0.3, 1.5));
        let positions: Vec<Vec3> = mesh.vertices().iter().map(|x| map * *x).collect();
        let slice = mesh.slice(&positions, Vec3::new(0.0, 0.9, 0.0), Vec3::Y);
        // Area over height of the sheared block: all of it lies between y = 0 and y = 2 + 0.15.
        let on_plane = |point: &SlicePoint| point.between(|vertex| positions[vertex as usize]).y;
        assert!(slice.points.iter().all(|point| (on_plane(point) - 0.9).abs() < 1e-12));
        assert!((area(&slice, &positions) - 6.0 * 0.75).abs() < 1e-9, "{}", area(&slice, &positions));
    }

    #[test]
    fn edges_of_hexahedra_are_those_of_their_faces() {
        let mesh = generate::block([1.0; 3], [1; 3], Cells::Hex).unwrap();
        let slice = mesh.slice(mesh.vertices(), Vec3::new(0.5, 0.5, 0.3), Vec3::Z);
        let at = |corner: u32| slice.points[corner as usize].between(|vertex| mesh.vertices()[vertex as usize]);
        let outline: f64 = slice.edges.iter().map(|&[a, b]| at(a).distance(at(b))).sum();
        // The outline of the unit square, without the diagonals inside.
        assert!((outline - 4.0).abs() < 1e-12, "{outline}");
    }

    #[test]
    fn a_plane_that_misses_or_only_touches_from_below_cuts_nothing() {
        let mesh = generate::block([1.0; 3], [2; 3], Cells::Tet5).unwrap();
        for height in [-0.1, 0.0, 1.1] {
            assert_eq!(mesh.slice(mesh.vertices(), Vec3::Y * height, Vec3::Y), Slice::default(), "{height}");
        }
    }
}
