//! Reading of meshes in the format of their extension.

use std::path::Path;

use super::format::{Format, known_extensions};
use super::input_output::Input;
use super::{Loaded, Mesh};
use crate::files::{Disk, Files, ReadError};
use crate::mesh::{SurfaceMesh, VolumeMesh};

/// Reads a mesh file in the format of its extension.
///
/// # Examples
///
/// ```
/// use pliant::io;
/// use pliant::mesh::{Cells, generate};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("bar.vtu");
/// # let path = &path;
/// let bar = generate::block([1.0, 0.2, 0.2], [10, 2, 2], Cells::Tet5)?;
/// io::write(path, &bar, &io::WriteOptions::default())?;
/// match io::read(path)?.mesh {
///     io::Mesh::Volume(mesh) => assert_eq!(mesh.vertices(), bar.vertices()),
///     io::Mesh::Surface(_) => unreachable!("the file contains tetrahedra"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
