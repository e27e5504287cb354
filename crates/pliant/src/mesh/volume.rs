//! Checked meshes.

use std::sync::Arc;

use super::{CheckReport, Checked, Defect, ElementKind, FaceSets, Labels, MeshData, MeshError, Region, Sets};
use crate::math::Vec3;

/// Checked mesh of tetrahedra or hexahedra with named regions and sets.
///
/// It comes from arrays ([`new`](Self::new)), from unchecked data with regions and sets ([`check`](Self::check)), from
/// [`generate`](super::generate), from files or from a mesher.
///
/// # Examples
///
/// Two tetrahedra that share a face:
///
/// ```
/// use pliant::math::Vec3;
/// use pliant::mesh::{ElementKind, VolumeMesh};
///
/// let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
/// let mesh = VolumeMesh::new(vertices, vec![0, 1, 2, 3, 1, 2, 3, 4], ElementKind::Tet4)?;
/// assert_eq!(mesh.element_count(), 2);
/// assert!((mesh.volume() - 0.5).abs() < 1e-15);
/// # Ok::<(), pliant::mesh::MeshError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeMesh {
    pub(super) vertices: Arc<[Vec3]>,
    pub(super) kind: ElementKind,
    pub(super) elements: Vec<u32>,
    pub(super) regions: Vec<Region>,
    pub(super) element_region: Vec<u32>,
    pub(super) vertex_sets: Sets,
    pub(super) element_sets: Sets,
    pub(super) face_sets: FaceSets,
}

impl VolumeMesh {
    /// Builds a mesh of one region from rest positions \[m\] and the vertex numbers of each element in turn, in the
    /// order of [`ElementKind`].
    ///
    /// Wrong windings are reversed, and unused vertices are kept. Other findings of [`check`](Self::check), such as
    /// coincident vertices or elements that are listed twice, are errors here, because there is no report.
    pub fn new(vertices: Vec<Vec3>, elements: Vec<u32>, kind: ElementKind) -> Result<Self, MeshError> {
        let Checked { mesh, report } = Self::check(MeshData::new(vertices, kind, elements))?;
        let rest = CheckReport { flipped_elements: Vec::new(), unused_vertices: Vec::new(), ..report };
        let findings: Vec<Defect> = rest.lines().into_iter().map(|finding| Defect::Finding { finding }).collect();
        match findings.len() {
            0 => Ok(mesh),
            total => Err(MeshError { defects: findings, total }),
        }
    }

    /// Returns the rest positions \[m\].
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns the rest positions \[m\], to share them instead of copying them.
    pub fn shared_vertices(&self) -> &Arc<[Vec3]> {
        &self.vertices
    }

    /// Returns the kind of all elements.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// Returns the number of vertices, including unused ones.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// Returns the number of elements; at least one.
    pub fn element_count(&self) -> usize {
        self.elements.len() / self.kind.nodes()
    }

    /// Returns the vertex numbers of element `index`.
    ///
    /// # Panics
    /// If `index` is not below [`element_count`](Self::element_count).
    pub fn element(&self, index: usize) -> &[u32] {
        let nodes = self.kind.nodes();
        &self.elements[index * nodes..(index + 1) * nodes]
    }

    /// Returns the vertex numbers of each element in turn.
    pub fn elements(&self) -> std::slice::ChunksExact<'_, u32> {
        self.elements.chunks_exact(self.kind.nodes())
    }

    /// Returns all vertex numbers, [`ElementKind::nodes`] per element.
    pub fn connectivity(&self) -> &[u32] {
        &self.elements
    }

    /// Returns the regions; at least one.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Returns the region of each element, as an index into [`regions`](Self::regions).
    pub fn element_region(&self) -> &[u32] {
        &self.element_region
    }

    /// Returns the fill fraction of element `index`; see [`Region::fill`].
    pub fn element_fill(&self, index: usize) -> f64 {
        self.regions[self.element_region[index] as usize].fill
    }

    /// Returns the mesh with the fill fractions moved into lighter and softer materials, for file formats without fill
    /// fractions.
    #[cfg(feature = "formats")]
    pub(crate) fn with_fill_in_materials(&self) -> Self {
        let mut mesh = self.clone();
        for region in &mut mesh.regions {
            if region.fill < 1.0 {
                region.material = region.material.take().map(|material| material.scaled(region.fill, &region.name));
                region.fill = 1.0;
            }
        }
        mesh
    }

    /// Returns the index of the region called `name`.
    pub fn region_index(&self, name: &str) -> Option<usize> {
        self.regions.iter().position(|region| region.name == name)
    }

    /// Returns the named sets of vertices, each sorted.
    pub fn vertex_sets(&self) -> &Sets {
        &self.vertex_sets
    }

    /// Returns the named sets of elements, each sorted.
    pub fn element_sets(&self) -> &Sets {
        &self.element_sets
    }

    /// Returns the positions of the vertices of a tetrahedron.
    pub(super) fn tet(&self, index: usize) -> [Vec3; 4] {
        self.corners(index)
    }

    /// Returns the positions of the vertices of a hexahedron.
    pub(crate) fn hex(&self, index: usize) -> [Vec3; 8] {
        self.corners(index)
    }

    fn corners<const N: usize>(&self, index: usize) -> [Vec3; N] {
        let element = self.element(index);
        std::array::from_fn(|i| self.vertices[element[i] as usize])
    }

    /// Converts back into mesh data, to change and check again.
    pub fn into_data(self) -> MeshData {
        let vertices = self.vertices.to_vec();
        MeshData { vertices, ..self.data_without_vertices() }
    }

    /// Returns the data of the mesh, except for the vertices.
    pub(super) fn data_without_vertices(&self) -> MeshData {
        let Labels { regions, element_region, vertex_sets, element_sets, face_sets } = self.labels();
        let data = MeshData::new(Vec::new(), self.kind, self.elements.clone());
        MeshData { regions, element_region, vertex_sets, element_sets, face_sets, ..data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_windings_are_reversed_and_unused_vertices_are_kept() {
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
        let mesh = VolumeMesh::new(vertices, vec![0, 2, 1, 3], ElementKind::Tet4).unwrap();
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
        assert_eq!(mesh.vertex_count(), 5);
    }

    #[test]
    fn findings_that_change_results_are_errors_without_a_report() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let error = |vertices: Vec<Vec3>, elements: Vec<u32>| {
            VolumeMesh::new(vertices, elements, ElementKind::Tet4).unwrap_err().to_string()
        };
        assert_eq!(
            error(corners.to_vec(), vec![0, 1, 2, 3, 3, 2, 1, 0]),
            "1 element is listed twice: its mass and stiffness count twice (1 like 0); `VolumeMesh::check` accepts this \
             and reports it"
        );
        let twice = error([corners, corners].concat(), (0..8).collect());
        assert!(twice.starts_with("4 vertices coincide with others"), "{twice}");
        let flat = error(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y], (0..4).collect());
        assert!(flat.starts_with("element 0 has no volume"), "{flat}");
    }
}
