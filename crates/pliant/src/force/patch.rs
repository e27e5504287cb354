//! Patches of the surface of a body, for surface loads.

use thiserror::Error;

use crate::math::Vec3;
use crate::mesh::{ElementFace, Faces, VolumeMesh};

/// Triangles and quadrilaterals between vertices of a body, counter-clockwise as seen from outside.
///
/// A quadrilateral is bilinear, `x(ξ, η) = Σ Nᵢxᵢ` on the unit square, like the face of a hexahedron.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    faces: Faces,
    vertex_count: usize,
}

/// Error in the definition of a patch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum PatchError {
    #[error("face {face} has {corners} corners, expected 3 or 4")]
    Corners { face: usize, corners: usize },
    #[error("face {face} has vertex {vertex}, but there are {vertex_count} vertices")]
    Vertex { face: usize, vertex: u32, vertex_count: usize },
    #[error("face {face} has vertex {vertex} twice")]
    Repeated { face: usize, vertex: u32 },
    #[error("none of the {faces} faces of the boundary has all its vertices among the {vertices} given")]
    NoFace { faces: usize, vertices: usize },
    #[error("there is no vertex {vertex}, only {vertex_count}")]
    NoVertex { vertex: u32, vertex_count: usize },
    #[error("there is no side {side} of element {element}: the mesh has {elements} elements of {sides} sides")]
    NoSide { element: u32, side: u8, elements: usize, sides: usize },
    #[error("there are no faces: expected at least one")]
    Empty,
    #[error("body `{body}` is in affine motion: the corners of its faces are not nodes")]
    NotNodes { body: String },
    #[error("there is no face or vertex set `{name}`; expected one of {known}")]
    NoSet { name: String, known: String },
}

impl Patch {
    /// Creates a patch of faces between `vertex_count` vertices.
    pub fn new(vertex_count: usize, faces: Faces) -> Result<Self, PatchError> {
        for (face, corners) in faces.iter().enumerate() {
            if !(3..=4).contains(&corners.len()) {
                return Err(PatchError::Corners { face, corners: corners.len() });
            }
            for (n, &vertex) in corners.iter().enumerate() {
                if vertex as usize >= vertex_count {
                    return Err(PatchError::Vertex { face, vertex, vertex_count });
                }
                if corners[..n].contains(&vertex) {
                    return Err(PatchError::Repeated { face, vertex });
                }
            }
        }
        Ok(Self { faces, vertex_count })
    }

    /// Returns the patch of a body among others. Its vertices are numbered from `first`, out of a total of
    /// `vertex_count`.
    pub fn among(&self, first: u32, vertex_count: usize) -> Result<Self, PatchError> {
        let mut shifted = Faces::default();
        for face in self.faces.iter() {
            shifted.push(&face.iter().map(|vertex| vertex.saturating_add(first)).collect::<Vec<_>>());
        }
        Self::new(vertex_count, shifted)
    }

    /// Returns the whole boundary of a body, facing outward.
    pub fn boundary(mesh: &VolumeMesh) -> Self {
        let boundary = mesh.boundary();
        let corners = boundary.surface.faces().vertices().iter().map(|&v| boundary.vertices[v as usize]).collect();
        let faces = Faces::uniform(mesh.kind().faces()[0].len(), corners);
        Self { faces, vertex_count: mesh.vertex_count() }
    }

    /// Returns the boundary faces all of whose vertices are among those given. For a set of vertices on one side of the
    /// body, this is that side.
    pub fn within(mesh: &VolumeMesh, vertices: &[u32]) -> Result<Self, PatchError> {
        let vertex_count = mesh.vertex_count();
        let mut is_given = vec![false; vertex_count];
        for &vertex in vertices {
            let given = is_given.get_mut(vertex as usize);
            *given.ok_or(PatchError::NoVertex { vertex, vertex_count })? = true;
        }
        let whole = Self::boundary(mesh);
        let is_within = |face: &&[u32]| face.iter().all(|&vertex| is_given[vertex as usize]);
        let faces: Faces = whole.faces.iter().filter(is_within).collect();
        if faces.is_empty() {
            return Err(PatchError::NoFace { faces: whole.faces.len(), vertices: vertices.len() });
        }
        Ok(Self { faces, vertex_count })
    }

    /// Returns exactly these faces of elements, each facing out of its element.
    pub fn of_faces(mesh: &VolumeMesh, faces: &[ElementFace]) -> Result<Self, PatchError> {
        let (elements, sides) = (mesh.element_count(), mesh.kind().faces().len());
        let is_missing = |face: &&ElementFace| face.0 as usize >= elements || usize::from(face.1) >= sides;
        if let Some(&(element, side)) = faces.iter().find(is_missing) {
            return Err(PatchError::NoSide { element, side, elements, sides });
        }
        if faces.is_empty() {
            return Err(PatchError::Empty);
        }
        let corners = faces.iter().flat_map(|&face| mesh.face_vertices(face)).collect();
        let faces = Faces::uniform(mesh.kind().faces()[0].len(), corners);
        Ok(Self { faces, vertex_count: mesh.vertex_count() })
    }

    /// Returns the faces with a name: exactly those of a face set, or else the boundary faces between the vertices of a
    /// vertex set. See [`VolumeMesh::faces_named`].
    pub fn named(mesh: &VolumeMesh, name: &str) -> Result<Self, PatchError> {
        let Some(faces) = mesh.faces_named(name) else {
            let known: Vec<String> = mesh.named_vertices().into_keys().chain(["surface".into()]).collect();
            return Err(PatchError::NoSet { name: name.into(), known: known.join(", ") });
        };
        match mesh.vertex_sets().get(name) {
            Some(vertices) if faces.is_empty() => Self::within(mesh, vertices),
            _ => Self::of_faces(mesh, &faces),
        }
    }

    /// Returns the faces, in the vertex numbering of the body.
    pub fn faces(&self) -> &Faces {
        &self.faces
    }

    /// Returns the number of vertices of the body.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Returns the rim of an open patch, ascending: the vertices of edges whose face orientations do not cancel. A
    /// patch without rim is closed and encloses a volume.
    pub fn rim(&self) -> Vec<u32> {
        let edges = self.faces.iter().flat_map(|face| {
            (0..face.len()).map(|n| {
                let (a, b) = (face[n], face[(n + 1) % face.len()]);
                (a.min(b), a.max(b), a < b)
            })
        });
        let mut edges: Vec<(u32, u32, bool)> = edges.collect();
        edges.sort_unstable();
        let mut rim = Vec::new();
        for sides in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            if 2 * sides.iter().filter(|side| side.2).count() != sides.len() {
                rim.extend([sides[0].0, sides[0].1]);
            }
        }
        rim.sort_unstable();
        rim.dedup();
        rim
    }

    /// Returns `∫ Nᵢ dA` \[m²\] for each vertex of the body, with the vertices at `positions`. These are the nodal
    /// weights of a uniform traction. A triangle gives a third to each vertex. Quadrilaterals use four Gauss points,
    /// exact for plane ones.
    ///
    /// # Panics
    /// If there is not one position per vertex.
    pub fn vertex_areas(&self, positions: &[Vec3]) -> Vec<f64> {
        assert_eq!(positions.len(), self.vertex_count, "one position for each vertex");
        let mut areas = vec![0.0; self.vertex_count];
        for face in self.faces.iter() {
            let x = |n: usize| positions[face[n] as usize];
            if face.len() == 3 {
                let area = 0.5 * (x(1) - x(0)).cross(x(2) - x(0)).length();
                face.iter().for_each(|&vertex| areas[vertex as usize] += area / 3.0);
            } else {
                for (weights, normal) in quad_points([x(0), x(1), x(2), x(3)]) {
                    let area = 0.25 * normal.length();
                    face.iter().zip(weights).for_each(|(&vertex, weight)| areas[vertex as usize] += weight * area);
                }
            }
        }
        areas
    }
}

/// Returns `Nᵢ` and `∂x/∂ξ × ∂x/∂η` at the four Gauss points of a quadrilateral, each with weight ¼.
pub(super) fn quad_points(x: [Vec3; 4]) -> impl Iterator<Item = ([f64; 4], Vec3)> {
    let offset = 0.5 / 3.0_f64.sqrt();
    let points = [0.5 - offset, 0.5 + offset];
    points.into_iter().flat_map(move |xi| {
        points.into_iter().map(move |eta| {
            let weights = [(1.0 - xi) * (1.0 - eta), xi * (1.0 - eta), xi * eta, (1.0 - xi) * eta];
            let along_xi = (x[1] - x[0]).lerp(x[2] - x[3], eta);
            let along_eta = (x[3] - x[0]).lerp(x[2] - x[1], xi);
            (weights, along_xi.cross(along_eta))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Cells, generate};

    #[test]
    fn a_side_of_a_block_has_its_rim_and_the_whole_boundary_none() {
        for cells in [Cells::Hex, Cells::Tet5, Cells::Tet6] {
            let mesh = generate::block([1.0, 2.0, 3.0], [2, 3, 3], cells).unwrap();
            assert!(Patch::boundary(&mesh).rim().is_empty());
            let side = &mesh.vertex_sets()["x-max"];
            let patch = Patch::within(&mesh, side).unwrap();
            assert_eq!(patch.rim().len(), 12);
            assert!(patch.rim().iter().all(|vertex| side.contains(vertex)));
            let areas = patch.vertex_areas(mesh.vertices());
            assert!((areas.iter().sum::<f64>() - 6.0).abs() < 1e-14);
            assert!((0..mesh.vertex_count()).all(|v| (areas[v] > 0.0) == side.contains(&(v as u32))));
        }
    }

    /// Checks a plate one element thick, loaded on top and bottom, which contain all its vertices, but not its narrow
    /// sides.
    #[test]
    fn a_face_set_has_its_own_area_and_that_of_no_neighboring_face() {
        for cells in [Cells::Hex, Cells::Tet5, Cells::Tet6] {
            let mut data = generate::block([1.0, 0.2, 0.05], [10, 2, 1], cells).unwrap().into_data();
            let sides = ["z-min", "z-max"].map(|name| data.face_sets[name].clone());
            data.face_sets.insert("both".into(), sides.concat());
            let mesh = VolumeMesh::check(data).unwrap().mesh;
            let area = |patch: &Patch| patch.vertex_areas(mesh.vertices()).iter().sum::<f64>();
            let patch = Patch::named(&mesh, "both").unwrap();
            assert!((area(&patch) - 0.4).abs() < 1e-14);
            let by_vertices = Patch::within(&mesh, &mesh.named_vertices()["both"]).unwrap();
            assert!((area(&by_vertices) - 0.52).abs() < 1e-14, "the narrow sides have vertices of the set only");
            assert!((area(&Patch::named(&mesh, "surface").unwrap()) - 0.52).abs() < 1e-14);
        }
    }

    /// Checks `Σ xᵢ∫Nᵢ = ∫x`: area and centroid of a trapezoid with parallel sides 3 and 1 at distance 2.
    #[test]
    fn the_areas_of_a_plane_quadrilateral_balance_at_its_centroid() {
        let corners = [Vec3::ZERO, Vec3::new(3.0, 0.0, 0.0), Vec3::new(1.0, 2.0, 0.0), Vec3::new(0.0, 2.0, 0.0)];
        let patch = Patch::new(4, Faces::uniform(4, vec![0, 1, 2, 3])).unwrap();
        let areas = patch.vertex_areas(&corners);
        let moment: Vec3 = areas.iter().zip(corners).map(|(&area, x)| area * x).sum();
        assert!((areas.iter().sum::<f64>() - 4.0).abs() < 1e-14);
        assert!((moment - Vec3::new(13.0 / 3.0, 10.0 / 3.0, 0.0)).length() < 1e-14, "{moment}");
    }

    #[test]
    fn wrong_faces_are_named_with_their_numbers() {
        let message = |corners: &[u32]| {
            let faces: Faces = [&[0, 1, 2], corners].into_iter().collect();
            Patch::new(4, faces).unwrap_err().to_string()
        };
        assert_eq!(message(&[0, 1]), "face 1 has 2 corners, expected 3 or 4");
        assert_eq!(message(&[0, 1, 7]), "face 1 has vertex 7, but there are 4 vertices");
        assert_eq!(message(&[0, 1, 2, 1]), "face 1 has vertex 1 twice");
        let mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap();
        let within = |vertices: &[u32]| Patch::within(&mesh, vertices).unwrap_err().to_string();
        let edge = "none of the 6 faces of the boundary has all its vertices among the 2 given";
        assert_eq!(within(&[0, 1]), edge);
        assert_eq!(within(&[0, 9]), "there is no vertex 9, only 8");
        let of_faces = |faces: &[ElementFace]| Patch::of_faces(&mesh, faces).unwrap_err().to_string();
        assert_eq!(of_faces(&[(0, 6)]), "there is no side 6 of element 0: the mesh has 1 elements of 6 sides");
        assert_eq!(of_faces(&[]), "there are no faces: expected at least one");
        let unknown = Patch::named(&mesh, "lid").unwrap_err().to_string();
        assert!(unknown.starts_with("there is no face or vertex set `lid`; expected one of x-max, "), "{unknown}");
        let too_far = Patch::boundary(&mesh).among(u32::MAX, 16).unwrap_err().to_string();
        assert_eq!(too_far, "face 0 has vertex 4294967295, but there are 16 vertices");
    }
}
