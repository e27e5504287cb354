//! Writing of meshes in the format of their extension.

use std::path::Path;

use super::format::{Format, known_extensions};
use super::input_output::Output;
use super::names::listed;
use super::{Encoding, Feature, MeshRef, WriteOptions, raw};
use crate::files::{Disk, Files, WriteError};
use crate::mesh::{Region, VolumeMesh};

/// Writes a mesh in the format of the extension of `path`. Returns what the format could not store, one sentence per
/// entry.
///
/// A volume written to a format for surfaces gives its boundary.
///
/// # Examples
///
/// ```
/// use pliant::io;
/// use pliant::mesh::{Cells, generate};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("bar.stl");
/// # let path = &path;
/// let bar = generate::block([1.0, 0.2, 0.2], [10, 2, 2], Cells::Tet5)?;
/// let losses = io::write(path, &bar, &io::WriteOptions::default())?;
/// assert_eq!(losses, ["STL stores surfaces: only the boundary was written"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
