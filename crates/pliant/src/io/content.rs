//! Content of mesh files.

use crate::mesh::{CheckReport, SurfaceMesh, VolumeMesh};

/// Content of a mesh file: a volume or a surface.
#[derive(Debug, Clone, PartialEq)]
pub enum Mesh {
    /// Tetrahedra or hexahedra.
    Volume(VolumeMesh),
    /// Polygons only.
    Surface(SurfaceMesh),
}

impl Mesh {
    /// Returns the surface, or the boundary of the volume.
    pub fn into_surface(self) -> SurfaceMesh {
        match self {
            Self::Volume(mesh) => mesh.boundary().surface,
            Self::Surface(mesh) => mesh,
        }
    }
}

/// A mesh to write.
#[derive(Debug, Clone, Copy)]
pub enum MeshRef<'a> {
    /// Tetrahedra or hexahedra.
    Volume(&'a VolumeMesh),
    /// Polygons only.
    Surface(&'a SurfaceMesh),
}

impl<'a> From<&'a VolumeMesh> for MeshRef<'a> {
    fn from(mesh: &'a VolumeMesh) -> Self {
        Self::Volume(mesh)
    }
}

impl<'a> From<&'a SurfaceMesh> for MeshRef<'a> {
    fn from(mesh: &'a SurfaceMesh) -> Self {
        Self::Surface(mesh)
    }
}

impl<'a> From<&'a Mesh> for MeshRef<'a> {
    fn from(mesh: &'a Mesh) -> Self {
        match mesh {
            Mesh::Volume(mesh) => Self::Volume(mesh),
            Mesh::Surface(mesh) => Self::Surface(mesh),
        }
    }
}

/// Mesh with a report on how it was read.
#[derive(Debug, Clone)]
pub struct Loaded<M = Mesh> {
    /// The mesh, checked.
    pub mesh: M,
    /// Repairs and findings of the check; empty for a surface.
    pub report: CheckReport,
    /// Content of the file that is not in the mesh, one sentence per entry.
    pub notes: Vec<String>,
}

#[cfg(test)]
impl Loaded {
    /// Returns the volume that a test expects.
    pub(crate) fn volume(self) -> VolumeMesh {
        match self.mesh {
            Mesh::Volume(mesh) => mesh,
            Mesh::Surface(_) => panic!("expected a volume"),
        }
    }
}
