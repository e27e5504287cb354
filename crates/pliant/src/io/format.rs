//! Formats of mesh files, and what they keep.

use std::path::Path;

use super::input_output::{Input, Output};
use super::raw::RawMesh;
use super::{FORMATS, WriteOptions};
use crate::files::{ReadError, WriteError};
use crate::mesh::{SurfaceMesh, VolumeMesh};

type ReadFn = fn(&Input<'_>) -> Result<RawMesh, ReadError>;
type WriteFn<M> = fn(&mut Output, &M, &WriteOptions) -> Result<(), WriteError>;

/// A mesh file format.
#[derive(Debug)]
pub struct Format {
    /// Display name.
    pub name: &'static str,
    /// File extensions of the format, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Single-line description of the supported content.
    pub about: &'static str,
    /// True if it can be written as binary, false if it is always text.
    pub binary: bool,
    /// Features of a mesh that it keeps besides vertices and elements.
    pub features: &'static [Feature],
    pub(super) read: Option<ReadFn>,
    pub(super) write_volume: Option<WriteFn<VolumeMesh>>,
    pub(super) write_surface: Option<WriteFn<SurfaceMesh>>,
}

impl Format {
    /// Returns true if Pliant reads the format.
    pub fn can_read(&self) -> bool {
        self.read.is_some()
    }

    /// Returns true if Pliant writes volumes in the format.
    pub fn can_write_volume(&self) -> bool {
        self.write_volume.is_some()
    }

    /// Returns true if Pliant writes surfaces in the format.
    pub fn can_write_surface(&self) -> bool {
        self.write_surface.is_some()
    }

    /// Returns the format of a file by its extension.
    pub fn of(path: &Path) -> Option<&'static Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()))
    }
}

/// Something that a mesh may have and a format may not keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// Hexahedra besides tetrahedra.
    Hexahedra,
    /// Assignment of elements to regions, without the names of the regions.
    Regions,
    /// Names of regions.
    RegionNames,
    /// Densities and moduli.
    Materials,
    /// Named sets of vertices.
    VertexSets,
    /// Named sets of elements.
    ElementSets,
    /// Sets of faces, without their names.
    FaceSets,
    /// Names of sets of faces, and faces in several sets.
    FaceSetNames,
}

pub(super) fn known_extensions(which: impl Fn(&Format) -> bool) -> String {
    let known = FORMATS.iter().filter(|format| which(format)).flat_map(|format| format.extensions);
    known.map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ")
}
