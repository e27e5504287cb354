//! Readers and writers of mesh files. The extension chooses the format.
//!
//! A format is one file in this folder and one line in [`FORMATS`]. Its reader turns bytes into a `RawMesh`: loose
//! cells with tags and names. `raw` does what is common to all formats: it sorts the cells into a volume or a surface
//! and checks the mesh. Its writer fills buffers in memory. Losses follow from [`Format::features`] and are reported to
//! the caller. Files appear on disk complete or not at all.
//!
//! Readers treat their input as hostile. They never allocate by a count that the rest of the file could not back, and
//! every error names the file, the place and what was expected there.

mod abaqus;
mod binary;
mod bou;
mod error;
mod files;
mod gmsh;
mod includes;
mod interp;
mod medit;
mod names;
mod obj;
mod ply;
mod raw;
mod scan;
mod sealed;
mod stl;
mod svg;
mod tetgen;
mod veg;
mod vtk;

use std::path::Path;

use crate::mesh::{CheckReport, Region, SurfaceMesh, VolumeMesh};

pub use bou::{read_bou, read_bou_from, write_bou};
pub use error::{Location, ReadError, WriteError};
pub use files::{Disk, Draft, Files, Memory};
pub use interp::{read_interp, read_interp_from, write_interp};
pub use names::Names;
pub use scan::quote;

pub(crate) use binary::Number;
pub(crate) use files::put;
pub(crate) use scan::{Scanner, Syntax};
pub(crate) use sealed::{Seal, Sealed};

/// Encoders of surfaces and grids, for writers of animations.
pub mod encode {
    pub use crate::io::obj::{Object, write_objects};
    pub use crate::io::ply::write_polygons;
    pub use crate::io::vtk::vtu::data_array;
    pub use crate::io::vtk::write::{DataArray, PackedGrid, TimeStepData, Values, collection};
}

use files::{Input, Output};
use names::listed;
use raw::RawMesh;

/// Every format, each registered by one line.
#[rustfmt::skip]
pub const FORMATS: &[Format] = &[
    veg::FORMAT,
    tetgen::FORMAT,
    gmsh::FORMAT,
    vtk::legacy::FORMAT,
    vtk::vtu::FORMAT,
    medit::FORMAT,
    abaqus::FORMAT,
    obj::FORMAT,
    stl::FORMAT,
    ply::FORMAT,
    svg::FORMAT,
];

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
    read: Option<ReadFn>,
    write_volume: Option<WriteFn<VolumeMesh>>,
    write_surface: Option<WriteFn<SurfaceMesh>>,
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

/// Options for writing; the default suits most readers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Text or binary, where a format has both.
    pub encoding: Encoding,
    /// Version of Gmsh's format.
    pub gmsh: GmshVersion,
}

/// Text or binary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Usual encoding of the format that keeps coordinates exactly.
    #[default]
    Usual,
    /// Text with enough digits to read every number back exactly.
    Text,
    /// Binary.
    Binary,
}

/// A version of Gmsh's `.msh` format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GmshVersion {
    /// 2.2, which almost everything reads.
    V2_2,
    /// 4.1, which Gmsh writes today.
    #[default]
    V4_1,
}

/// Reads a mesh file in the format of its extension.
pub fn read(path: impl AsRef<Path>) -> Result<Loaded, ReadError> {
    read_from(&Disk, path.as_ref())
}

/// Reads a mesh file that must contain a volume.
pub fn read_volume(path: impl AsRef<Path>) -> Result<Loaded<VolumeMesh>, ReadError> {
    let Loaded { mesh, report, notes } = read(path.as_ref())?;
    match mesh {
        Mesh::Volume(mesh) => Ok(Loaded { mesh, report, notes }),
        Mesh::Surface(_) => Err(ReadError::whole(path.as_ref(), "tetrahedra or hexahedra", "only a surface")),
    }
}

/// Reads a mesh file that must contain a surface.
pub fn read_surface(path: impl AsRef<Path>) -> Result<Loaded<SurfaceMesh>, ReadError> {
    let Loaded { mesh, report, notes } = read(path.as_ref())?;
    match mesh {
        Mesh::Surface(mesh) => Ok(Loaded { mesh, report, notes }),
        Mesh::Volume(_) => Err(ReadError::whole(path.as_ref(), "a surface", "a volume mesh")),
    }
}

/// Reads a mesh from any source of files.
pub fn read_from(files: &dyn Files, path: &Path) -> Result<Loaded, ReadError> {
    let Some(format) = Format::of(path) else {
        return Err(ReadError::UnknownFormat { path: path.into(), known: known_extensions(Format::can_read) });
    };
    let Some(read) = format.read else {
        return Err(ReadError::WriteOnly { path: path.into(), format: format.name });
    };
    let bytes = files.read(path)?;
    let input = Input { path, bytes: &bytes, files };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ReadError::whole(path, format!("a mesh in the format {}", format.name), "an empty file"));
    }
    read(&input)?.finish(path)
}

/// Writes a mesh in the format of the extension of `path`. Returns what the format could not store, one sentence per
/// entry.
///
/// A volume written to a format for surfaces gives its boundary.
pub fn write<'a>(
    path: impl AsRef<Path>,
    mesh: impl Into<MeshRef<'a>>,
    options: &WriteOptions,
) -> Result<Vec<String>, WriteError> {
    write_to(&Disk, path.as_ref(), mesh, options)
}

/// Writes a mesh to any file store; see [`write()`].
pub fn write_to<'a>(
    files: &dyn Files,
    path: &Path,
    mesh: impl Into<MeshRef<'a>>,
    options: &WriteOptions,
) -> Result<Vec<String>, WriteError> {
    let Some(format) = Format::of(path) else {
        let known = known_extensions(|f| f.can_write_volume() || f.can_write_surface());
        return Err(WriteError::UnknownFormat { path: path.into(), known });
    };
    let mut output = Output::new(path);
    match (mesh.into(), format.write_volume, format.write_surface) {
        (MeshRef::Volume(volume), Some(write), _) => {
            if volume.kind() == crate::mesh::ElementKind::Hex8 && !format.features.contains(&Feature::Hexahedra) {
                let (path, format) = (path.into(), format.name);
                return Err(WriteError::Unsupported {
                    path,
                    format,
                    what: "hexahedra; split them into tetrahedra first",
                });
            }
            output.notes = losses(format, volume);
            if volume.regions().iter().all(|region| region.fill == 1.0) {
                write(&mut output, volume, options)?;
            } else {
                write(&mut output, &volume.with_fill_in_materials(), options)?;
            }
        }
        (MeshRef::Volume(volume), None, Some(write)) => {
            output.note(format!("{} stores surfaces: only the boundary was written", format.name));
            write(&mut output, &volume.boundary().surface, options)?;
        }
        (MeshRef::Surface(surface), _, Some(write)) => write(&mut output, surface, options)?,
        (MeshRef::Surface(_), _, None) => {
            return Err(WriteError::Unsupported {
                path: path.into(),
                format: format.name,
                what: "a surface; it needs a volume mesh",
            });
        }
        (MeshRef::Volume(_), None, None) => {
            return Err(WriteError::Unsupported {
                path: path.into(),
                format: format.name,
                what: "a mesh: it is only read",
            });
        }
    }
    if options.encoding == Encoding::Binary && !format.binary {
        output.note(format!("{} is always text", format.name));
    }
    output.save(files)
}

/// Returns what the format does not keep of `mesh`, one sentence per entry.
fn losses(format: &Format, mesh: &VolumeMesh) -> Vec<String> {
    let lacks = |feature| !format.features.contains(&feature);
    let mut notes = Vec::new();
    let names = || listed(mesh.regions().iter().map(|region| region.name.as_str()));
    if mesh.regions().len() > 1 && lacks(Feature::Regions) {
        notes.push(format!("{} does not store regions: {} were dropped", format.name, names()));
    } else if lacks(Feature::RegionNames) && raw::numbered_names(mesh).is_none() {
        notes.push(format!("{} numbers regions: the names {} were dropped", format.name, names()));
    }
    let materials = mesh.regions().iter().filter(|region| region.material.is_some()).count();
    if materials > 0 && lacks(Feature::Materials) {
        notes.push(format!("{} does not store materials: {materials} dropped", format.name));
    }
    let keeps_fill = |region: &Region| region.fill == 1.0 || (region.material.is_some() && !lacks(Feature::Materials));
    if !mesh.regions().iter().all(keeps_fill) {
        notes.push(format!(
            "{} does not store the filled fraction of elements, and there are no materials to make lighter and softer instead: in the file all elements are full",
            format.name
        ));
    }
    let sets =
        [("vertex", mesh.vertex_sets(), Feature::VertexSets), ("element", mesh.element_sets(), Feature::ElementSets)];
    for (what, sets, feature) in sets {
        if !sets.is_empty() && lacks(feature) {
            let names = listed(sets.keys().map(String::as_str));
            notes.push(format!("{} does not store {what} sets: {names} dropped", format.name));
        }
    }
    if mesh.face_sets().is_empty() {
        return notes;
    }
    if lacks(Feature::FaceSets) {
        let names = listed(mesh.face_sets().keys().map(String::as_str));
        notes.push(format!("{} does not store face sets: {names} dropped", format.name));
    } else if lacks(Feature::FaceSetNames) {
        notes.extend(raw::lost_in_numbers(format.name, mesh));
    }
    notes
}

fn known_extensions(which: impl Fn(&Format) -> bool) -> String {
    let known = FORMATS.iter().filter(|format| which(format)).flat_map(|format| format.extensions);
    known.map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ")
}

/// Returns the volume that a test expects.
#[cfg(test)]
fn volume(loaded: Loaded) -> VolumeMesh {
    match loaded.mesh {
        Mesh::Volume(mesh) => mesh,
        Mesh::Surface(_) => panic!("expected a volume"),
    }
}
