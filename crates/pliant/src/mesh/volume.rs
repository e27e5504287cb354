//! Checked meshes.

use std::sync::Arc;

use super::{ElementKind, FaceSets, Labels, MeshData, Region, Sets};
use crate::math::Vec3;

/// Checked mesh of tetrahedra or hexahedra with named regions and sets.
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
