//! Surfaces: the boundary of a volume mesh, and detailed meshes for display.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rayon::prelude::*;

use super::check::{Defect, MeshError};
use super::edit::{EditError, regular};
use super::polygon::{Triangulation, area_vector, triangulated};
use super::topology::Adjacency;
use super::{ElementKind, VolumeMesh};
use crate::geometry::bounding_box;
use crate::math::{Affine3, Vec3, par_sum};

/// Polygons, as one array of vertex numbers with offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faces {
    offsets: Vec<u32>,
    vertices: Vec<u32>,
}

impl Default for Faces {
    fn default() -> Self {
        Self { offsets: vec![0], vertices: Vec::new() }
    }
}

impl Faces {
    /// Appends a polygon.
    ///
    /// # Panics
    /// If there are 2³² corners in total.
    pub fn push(&mut self, polygon: &[u32]) {
        self.vertices.extend_from_slice(polygon);
        self.offsets.push(u32::try_from(self.vertices.len()).expect("fewer than 2³² corners"));
    }

    /// Builds polygons that all have `corners` vertices.
    pub fn uniform(corners: usize, vertices: Vec<u32>) -> Self {
        let offsets = (0..=vertices.len() / corners).map(|i| (i * corners) as u32).collect();
        Self { offsets, vertices }
    }

    /// Returns the number of polygons.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns true if there are no polygons.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the vertex numbers of polygon `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn get(&self, index: usize) -> &[u32] {
        &self.vertices[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// Iterates over the polygons.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> + Clone {
        self.offsets.windows(2).map(|w| &self.vertices[w[0] as usize..w[1] as usize])
    }

    /// Returns the offset of each polygon in [`vertices`](Self::vertices), followed by the total length.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Returns all vertex numbers, polygon by polygon.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }
}

impl<'a> FromIterator<&'a [u32]> for Faces {
    fn from_iter<I: IntoIterator<Item = &'a [u32]>>(polygons: I) -> Self {
        let mut faces = Self::default();
        polygons.into_iter().for_each(|polygon| faces.push(polygon));
        faces
    }
}

/// Checked surface of triangles, quadrilaterals or larger polygons.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceMesh {
    vertices: Vec<Vec3>,
    faces: Faces,
    /// Triangles of polygons that are not cut into fans, by polygon.
    ears: BTreeMap<usize, Vec<[u32; 3]>>,
}

/// Topological findings on a surface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SurfaceReport {
    /// Number of edges with a face on one side only: the surface has a hole there.
    pub open_edges: usize,
    /// Number of non-manifold edges: with more than two faces, or with two faces of opposite orientation.
    pub non_manifold_edges: usize,
}

impl SurfaceReport {
    /// Returns true if the surface encloses a volume: it has no holes, and its faces are consistently oriented.
    pub fn is_closed(&self) -> bool {
        *self == Self::default()
    }
}

impl SurfaceMesh {
    /// Checks vertex numbers and coordinates and builds a surface.
    pub fn new(vertices: Vec<Vec3>, faces: Faces) -> Result<Self, MeshError> {
        if faces.is_empty() {
            return Err(Defect::NoElements.into());
        }
        for (vertex, p) in vertices.iter().enumerate() {
            if !p.is_finite() {
                return Err(Defect::BadPosition { vertex: vertex as u32, x: p.x, y: p.y, z: p.z }.into());
            }
        }
        for (element, face) in faces.iter().enumerate() {
            if face.len() < 3 {
                return Err(Defect::Ragged { count: face.len(), nodes: 3 }.into());
            }
            if let Some(&vertex) = face.iter().find(|&&v| v as usize >= vertices.len()) {
                let (element, count) = (element as u32, vertices.len());
                return Err(Defect::VertexOutOfRange { element, vertex, count }.into());
            }
        }
        let mut ears = BTreeMap::new();
        for (number, face) in faces.iter().enumerate() {
            match triangulated(face, &vertices) {
                Triangulation::Fan => {}
                Triangulation::Triangles(triangles) => drop(ears.insert(number, triangles)),
                Triangulation::TooLarge { max } => {
                    return Err(Defect::LargeFace { face: number as u32, corners: face.len(), max }.into());
                }
            }
        }
        Ok(Self { vertices, faces, ears })
    }

    /// Returns the vertex positions \[m\].
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns the polygons, counter-clockwise seen from outside.
    pub fn faces(&self) -> &Faces {
        &self.faces
    }

    /// Triangulates the polygons, each into two triangles fewer than it has corners. Convex polygons become a fan, or
    /// are bisected recursively if they have many corners. Non-convex polygons are cut by ear clipping.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> {
        self.faces.iter().enumerate().flat_map(|(number, face)| {
            let ears = self.ears.get(&number);
            (1..face.len() - 1).map(move |i| ears.map_or([face[0], face[i], face[i + 1]], |ears| ears[i - 1]))
        })
    }

    /// Returns the area \[m²\].
    pub fn area(&self) -> f64 {
        par_sum(0.0, self.faces.len(), |f| 0.5 * area_vector(self.faces.get(f), &self.vertices).length())
    }

    /// Returns the volume enclosed by a closed surface \[m³\], by the divergence theorem; meaningless for an open one.
    pub fn enclosed_volume(&self) -> f64 {
        // Measured from a vertex, to lose no digits if the surface is far from the origin.
        let origin = self.vertices[self.faces.get(0)[0] as usize];
        let at = |v: u32| self.vertices[v as usize] - origin;
        par_sum(0.0, self.faces.len(), |f| {
            let face = self.faces.get(f);
            (1..face.len() - 1).map(|i| at(face[0]).dot(at(face[i]).cross(at(face[i + 1])))).sum::<f64>() / 6.0
        })
    }

    /// Returns the minimum and maximum corner of the bounding box of the used vertices.
    pub fn bounding_box(&self) -> [Vec3; 2] {
        bounding_box(self.faces.vertices.iter().map(|&v| self.vertices[v as usize]))
    }

    /// Checks if the surface is closed and consistently oriented.
    pub fn report(&self) -> SurfaceReport {
        // Each edge of a closed surface is traversed once in each direction.
        let mut edges: Vec<(u32, u32, bool)> = self
            .faces
            .iter()
            .flat_map(|face| {
                (0..face.len()).map(|i| {
                    let (a, b) = (face[i], face[(i + 1) % face.len()]);
                    (a.min(b), a.max(b), a < b)
                })
            })
            .collect();
        edges.par_sort_unstable();
        let mut report = SurfaceReport::default();
        for edge in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            match edge {
                [_] => report.open_edges += 1,
                [a, b] if a.2 != b.2 => {}
                _ => report.non_manifold_edges += 1,
            }
        }
        report
    }

    /// Returns the surface with every vertex moved by an affine map. A reflection reverses the winding of the faces.
    pub fn transformed(&self, map: Affine3) -> Result<Self, EditError> {
        let determinant = regular(&map)?;
        let vertices = self.vertices.iter().map(|&x| map.transform_point3(x)).collect();
        let mut faces = Faces::default();
        for face in self.faces.iter() {
            let start = faces.vertices.len();
            faces.push(face);
            if determinant < 0.0 {
                faces.vertices[start..].reverse();
            }
        }
        Ok(Self::new(vertices, faces)?)
    }
}

/// Adjacency data to recompute the vertex normals of a moving surface in each frame.
#[derive(Debug, Clone)]
pub struct VertexNormals {
    faces: Faces,
    vertex_faces: Adjacency,
    /// Area vector of each face (scratch).
    face_normals: Vec<Vec3>,
}

impl VertexNormals {
    /// Prepares for `surface`, whose faces stay the same while its vertices move.
    pub fn new(surface: &SurfaceMesh) -> Self {
        let vertex_faces = Adjacency::from_pairs(surface.vertices.len(), || {
            surface.faces.iter().enumerate().flat_map(|(f, face)| face.iter().map(move |&v| (v, f as u32)))
        });
        Self { faces: surface.faces.clone(), vertex_faces, face_normals: vec![Vec3::ZERO; surface.faces.len()] }
    }

    /// Computes unit normals of the vertices at `positions`: the area-weighted mean of the adjacent faces. Vertices
    /// without a face, or whose faces cancel, get zero.
    ///
    /// # Panics
    /// If `positions` or `normals` does not have one entry per vertex.
    pub fn compute(&mut self, positions: &[Vec3], normals: &mut [Vec3]) {
        assert_eq!(positions.len(), self.vertex_faces.len(), "expected one position per vertex");
        assert_eq!(normals.len(), self.vertex_faces.len(), "expected one normal per vertex");
        let faces = &self.faces;
        self.face_normals.par_iter_mut().enumerate().for_each(|(f, n)| *n = area_vector(faces.get(f), positions));
        normals.par_iter_mut().enumerate().for_each(|(v, normal)| {
            let sum: Vec3 = self.vertex_faces.of(v).iter().map(|&f| self.face_normals[f as usize]).sum();
            *normal = sum.normalize_or_zero();
        });
    }
}

/// Element and the number of one of its faces.
pub type ElementFace = (u32, u8);

/// Boundary of a volume mesh.
#[derive(Debug, Clone)]
pub struct Boundary {
    /// Outward-oriented surface, with only the vertices that it uses.
    pub surface: SurfaceMesh,
    /// Number in the volume mesh of each vertex of the surface.
    pub vertices: Vec<u32>,
    /// Element and local face number of each face of the surface.
    pub faces: Vec<ElementFace>,
    /// Faces shared by three or more elements, or by two elements on the same side: elements overlap there. Each is
    /// named by the first element that has it.
    pub overlapping_faces: Vec<ElementFace>,
}

impl VolumeMesh {
    /// Extracts the faces that belong to one element only, oriented outward. Where elements overlap, a face is on the
    /// boundary if more of them are on one side than on the other. The boundary is therefore never empty, and always
    /// closed.
    pub fn boundary(&self) -> Boundary {
        let (faces, overlapping_faces) = match self.kind() {
            ElementKind::Tet4 => self.unmatched_faces::<3>(),
            ElementKind::Hex8 => self.unmatched_faces::<4>(),
        };
        let mut vertices = Vec::new();
        let mut local = vec![u32::MAX; self.vertex_count()];
        let mut corners = Vec::with_capacity(4 * faces.len());
        for &(element, face) in &faces {
            let nodes = self.element(element as usize);
            for &i in self.kind().faces()[usize::from(face)] {
                let v = nodes[i];
                if local[v as usize] == u32::MAX {
                    local[v as usize] = vertices.len() as u32;
                    vertices.push(v);
                }
                corners.push(local[v as usize]);
            }
        }
        let positions = vertices.iter().map(|&v| self.vertices()[v as usize]).collect();
        let corners_each = self.kind().faces()[0].len();
        let surface =
            SurfaceMesh { vertices: positions, faces: Faces::uniform(corners_each, corners), ears: BTreeMap::new() };
        Boundary { surface, vertices, faces, overlapping_faces }
    }

    /// Returns the faces with more elements on one side than on the other, and those with several elements on one side.
    /// Each is named once, and both lists are sorted by element, then face.
    fn unmatched_faces<const N: usize>(&self) -> (Vec<ElementFace>, Vec<ElementFace>) {
        /// Face as seen from one element. The ordering makes the sides of one face adjacent.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        struct Side<const N: usize> {
            /// All vertices, sorted.
            vertices: [u32; N],
            /// Two neighbors of the smallest vertex, sorted: four vertices form three different quadrilaterals.
            neighbors: [u32; 2],
            /// Vertex after the smallest in the outward orientation; the other side has the opposite one.
            next: u32,
            id: ElementFace,
        }
        let side = |element: usize, face: usize| {
            let nodes = self.element(element);
            let cycle: [u32; N] = std::array::from_fn(|i| nodes[self.kind().faces()[face][i]]);
            let mut vertices = cycle;
            vertices.sort_unstable();
            let smallest = cycle.iter().position(|&v| v == vertices[0]).unwrap_or(0);
            let (next, previous) = (cycle[(smallest + 1) % N], cycle[(smallest + N - 1) % N]);
            let neighbors = [next.min(previous), next.max(previous)];
            Side { vertices, neighbors, next, id: (element as u32, face as u8) }
        };
        let sides = self.kind().faces().len();
        let buckets = Adjacency::from_pairs(self.vertex_count(), || {
            (0..self.element_count()).flat_map(|e| {
                (0..sides).map(move |f| {
                    let nodes = self.element(e);
                    let smallest = self.kind().faces()[f].iter().map(|&i| nodes[i]).min().unwrap_or(0);
                    (smallest, (e * sides + f) as u32)
                })
            })
        });
        let found: Vec<(Vec<ElementFace>, Vec<ElementFace>)> = (0..self.vertex_count())
            .into_par_iter()
            .map_init(Vec::new, |bucket: &mut Vec<Side<N>>, v| {
                bucket.clear();
                bucket.extend(buckets.of(v).iter().map(|&id| side(id as usize / sides, id as usize % sides)));
                bucket.sort_unstable();
                let (mut excess, mut wrong) = (Vec::new(), Vec::new());
                for face in bucket.chunk_by(|a, b| (a.vertices, a.neighbors) == (b.vertices, b.neighbors)) {
                    let (one, other) = face.split_at(face.partition_point(|side| side.next == side.neighbors[0]));
                    match one.len().cmp(&other.len()) {
                        Ordering::Greater => excess.push(one[0].id),
                        Ordering::Less => excess.push(other[0].id),
                        Ordering::Equal => {}
                    }
                    if one.len() > 1 || other.len() > 1 {
                        wrong.extend(face.iter().map(|side| side.id).min());
                    }
                }
                (excess, wrong)
            })
            .collect();
        let (mut excess, mut wrong) = (Vec::new(), Vec::new());
        for (e, w) in found {
            excess.extend(e);
            wrong.extend(w);
        }
        excess.par_sort_unstable();
        wrong.sort_unstable();
        (excess, wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, MeshData, generate};
    use super::*;

    #[test]
    fn boundary_of_every_kind_is_closed_outward_and_encloses_the_volume() {
        for cells in [Cells::Hex, Cells::Tet5, Cells::Tet6] {
            let mesh = generate::block([1.0, 2.0, 3.0], [3, 4, 5], cells).unwrap();
            let boundary = mesh.boundary();
            assert!(boundary.surface.report().is_closed());
            assert!(boundary.overlapping_faces.is_empty());
            assert!((boundary.surface.area() - 22.0).abs() < 1e-12);
            assert!((boundary.surface.enclosed_volume() - 6.0).abs() < 1e-12);
            for (local, &v) in boundary.vertices.iter().enumerate() {
                assert_eq!(boundary.surface.vertices()[local], mesh.vertices()[v as usize]);
            }
        }
    }

    #[test]
    fn a_hole_and_a_turned_face_are_counted() {
        let cube = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap().boundary().surface;
        let open: Faces = cube.faces().iter().skip(1).collect();
        let open = SurfaceMesh::new(cube.vertices().to_vec(), open).unwrap();
        assert_eq!(open.report(), SurfaceReport { open_edges: 4, non_manifold_edges: 0 });

        let mut turned = Faces::default();
        for (i, face) in cube.faces().iter().enumerate() {
            let mut face = face.to_vec();
            if i == 0 {
                face.reverse();
            }
            turned.push(&face);
        }
        let turned = SurfaceMesh::new(cube.vertices().to_vec(), turned).unwrap();
        assert_eq!(turned.report(), SurfaceReport { open_edges: 0, non_manifold_edges: 4 });
    }

    #[test]
    fn elements_folded_onto_each_other_are_found() {
        // Two tetrahedra on the same side of the face 0 1 2.
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, 2.0 * Vec3::Z];
        let data = MeshData::new(vertices, ElementKind::Tet4, vec![0, 1, 2, 3, 0, 1, 2, 4]);
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        assert_eq!(mesh.boundary().overlapping_faces, [(0, 0)]);
    }

    #[test]
    fn an_element_listed_twice_has_the_boundary_of_one() {
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let data = MeshData::new(vertices, ElementKind::Tet4, vec![0, 1, 2, 3, 0, 1, 2, 3]);
        let boundary = VolumeMesh::check(data).unwrap().mesh.boundary();
        assert_eq!(boundary.faces, [(0, 0), (0, 1), (0, 2), (0, 3)]);
        assert_eq!(boundary.overlapping_faces, boundary.faces);
        assert!((boundary.surface.enclosed_volume() - 1.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn normals_of_a_ball_point_outward() {
        let surface = generate::ball(1.0, 8, Cells::Hex).unwrap().boundary().surface;
        let mut normals = vec![Vec3::ZERO; surface.vertices().len()];
        VertexNormals::new(&surface).compute(surface.vertices(), &mut normals);
        for (n, p) in normals.iter().zip(surface.vertices()) {
            assert!((n.length() - 1.0).abs() < 1e-12);
            assert!(n.dot(p.normalize()) > 0.98, "{n} at {p}");
        }
    }

    #[test]
    fn bad_surfaces_are_named() {
        let face = |corners: &[u32]| [corners].into_iter().collect::<Faces>();
        let points = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        let defect = |points: Vec<Vec3>, faces| SurfaceMesh::new(points, faces).unwrap_err().defects.remove(0);
        assert_eq!(defect(points.clone(), Faces::default()), Defect::NoElements);
        assert!(matches!(defect(points.clone(), face(&[0, 1])), Defect::Ragged { .. }));
        assert!(matches!(defect(points, face(&[0, 1, 3])), Defect::VertexOutOfRange { vertex: 3, .. }));
        let nan = vec![Vec3::ZERO, Vec3::NAN, Vec3::Y];
        assert!(matches!(defect(nan, face(&[0, 1, 2])), Defect::BadPosition { vertex: 1, .. }));
    }
}
