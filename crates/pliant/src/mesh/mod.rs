//! Tetrahedral and hexahedral meshes: checked when built, then immutable.
//!
//! A [`VolumeMesh`] comes from [`VolumeMesh::check`], which takes unchecked [`MeshData`] and either repairs and reports
//! harmless defects or names the others. All later code may rely on indices in range, finite coordinates and elements
//! of positive volume.

mod check;
mod edit;
mod embed;
mod faces;
pub mod generate;
mod material;
mod polygon;
mod properties;
mod quality;
mod refine;
mod renumber;
pub mod shape;
mod slice;
mod split;
mod surface;
mod topology;
mod units;

use std::collections::BTreeMap;

use crate::math::Vec3;

pub use check::{CheckReport, Checked, Defect, MeshError};
pub use edit::{EditError, ExtractReport, Extracted};
pub use embed::{Embedding, EmbeddingError};
pub use faces::{FaceSets, find_faces};
pub use generate::Cells;
pub use material::{MaterialData, Moduli};
pub use properties::{MassProperties, MissingDensity};
pub use quality::{Quality, Range, tet_dihedral_angles};
pub use renumber::Renumbering;
pub use slice::{Slice, SlicePoint};
pub use split::{HexSplit, SplitError};
pub use surface::{Boundary, ElementFace, Faces, SurfaceMesh, SurfaceReport, VertexNormals};
pub use topology::Adjacency;
pub use units::{Units, UnitsError};

pub(crate) use faces::free_faces;

/// Shape of all elements of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum ElementKind {
    /// Linear tetrahedron. Vertices 1, 2, 3 are counter-clockwise seen from outside the face opposite vertex 0, so that
    /// `det[x₁−x₀, x₂−x₀, x₃−x₀] > 0`.
    Tet4,
    /// Trilinear hexahedron: vertices 0 to 3 around the bottom, 4 to 7 above them, as in VTK, Abaqus and Gmsh.
    Hex8,
}

impl ElementKind {
    /// Returns the number of vertices of one element.
    pub const fn nodes(self) -> usize {
        match self {
            Self::Tet4 => 4,
            Self::Hex8 => 8,
        }
    }

    /// Returns the faces of an element as local vertex numbers, counter-clockwise seen from outside.
    pub const fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Tet4 => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
            Self::Hex8 => &[&[0, 3, 2, 1], &[4, 5, 6, 7], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7]],
        }
    }

    /// Returns the edges of an element as pairs of local vertex numbers.
    pub const fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Self::Tet4 => &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
            Self::Hex8 => {
                &[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]
            }
        }
    }

    /// Returns `n` with the name of the element: "1 tetrahedron", "2 hexahedra".
    pub fn count(self, n: usize) -> String {
        match (self, n) {
            (Self::Tet4, 1) => "1 tetrahedron".into(),
            (Self::Hex8, 1) => "1 hexahedron".into(),
            _ => format!("{n} {}", self.plural()),
        }
    }

    /// Returns the plural of the name: "tetrahedra", "hexahedra".
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Tet4 => "tetrahedra",
            Self::Hex8 => "hexahedra",
        }
    }
}

/// Default name of a region.
pub const BODY: &str = "body";

/// Part of a body that is made of one material. Regions partition the elements.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Region {
    /// Name, unique among the regions of a mesh.
    pub name: String,
    /// Material data of the region, if the file gives them.
    pub material: Option<MaterialData>,
    /// Fill fraction of the elements, from 0 to 1. Elements that enclose more volume than the body are lighter and
    /// softer by this factor.
    pub fill: f64,
}

impl Region {
    /// Builds a region without a material.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), material: None, fill: 1.0 }
    }

    /// Builds a region of one material.
    pub fn of(name: impl Into<String>, material: MaterialData) -> Self {
        Self { material: Some(material), ..Self::named(name) }
    }
}

/// Named sets of vertex or element numbers, each sorted and without duplicates once checked.
pub type Sets = BTreeMap<String, Vec<u32>>;

/// Unchecked mesh data, the input of [`VolumeMesh::check`].
#[derive(Debug, Clone)]
pub struct MeshData {
    /// Rest positions \[m\].
    pub vertices: Vec<Vec3>,
    /// Kind of all elements.
    pub kind: ElementKind,
    /// Vertex numbers, [`ElementKind::nodes`] for each element in turn.
    pub elements: Vec<u32>,
    /// Regions; empty means one region called [`BODY`].
    pub regions: Vec<Region>,
    /// Region of each element; empty means that all are in region 0.
    pub element_region: Vec<u32>,
    /// Named sets of vertices.
    pub vertex_sets: Sets,
    /// Named sets of elements.
    pub element_sets: Sets,
    /// Named sets of faces, each the side of an element as listed here.
    pub face_sets: FaceSets,
}

impl MeshData {
    /// Builds mesh data with one region and without sets.
    pub fn new(vertices: Vec<Vec3>, kind: ElementKind, elements: Vec<u32>) -> Self {
        Self {
            vertices,
            kind,
            elements,
            regions: Vec::new(),
            element_region: Vec::new(),
            vertex_sets: Sets::new(),
            element_sets: Sets::new(),
            face_sets: FaceSets::new(),
        }
    }
}

impl MeshData {
    /// Moves elements into a new region called `name`. Partially filled elements go to additional regions, because they
    /// keep their [`fill`](Region::fill).
    pub fn move_to_region(&mut self, name: &str, elements: &[u32]) {
        let first = self.regions.len();
        self.regions.push(Region::named(name));
        for &element in elements {
            let slot = &mut self.element_region[element as usize];
            let before = &self.regions[*slot as usize];
            let (fill, label) = (before.fill, format!("{name}-{}", before.name));
            let found = self.regions[first..].iter().position(|region| region.fill == fill);
            *slot = (first + found.unwrap_or(self.regions.len() - first)) as u32;
            if found.is_none() {
                self.regions.push(Region { fill, ..Region::named(label) });
            }
        }
    }
}

/// Checked mesh of tetrahedra or hexahedra with named regions and sets.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeMesh {
    vertices: Vec<Vec3>,
    kind: ElementKind,
    elements: Vec<u32>,
    regions: Vec<Region>,
    element_region: Vec<u32>,
    vertex_sets: Sets,
    element_sets: Sets,
    face_sets: FaceSets,
}

impl VolumeMesh {
    /// Returns the rest positions \[m\].
    pub fn vertices(&self) -> &[Vec3] {
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
    fn tet(&self, index: usize) -> [Vec3; 4] {
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
        MeshData {
            vertices: self.vertices,
            kind: self.kind,
            elements: self.elements,
            regions: self.regions,
            element_region: self.element_region,
            vertex_sets: self.vertex_sets,
            element_sets: self.element_sets,
            face_sets: self.face_sets,
        }
    }
}
