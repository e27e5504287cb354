//! Checksums of the mesh files of a run, to detect changes since it began.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::scene::{Built, Source};
use pliant::files::{Disk, Files, ReadError, WriteError};

/// Checksums of the meshes of a run and of the files that it was built from.
///
/// A run has changed if both its meshes and its files have. A file alone may get another comment or table of loads, and
/// another machine may round the coordinates of a mesh differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Inputs {
    /// Checksum of the vertices and elements of all bodies and of their embedded surfaces.
    meshes: u32,
    /// Checksum of each file, by its absolute path.
    files: BTreeMap<PathBuf, u32>,
}

impl Inputs {
    pub fn new(source: &Source, built: &Built, files: ReadFiles) -> Self {
        // The run has a copy of the scene with all included files: their checksums only tell what it was made from.
        source.included.iter().for_each(|file| files.record(&file.path, file.text.as_bytes()));
        Self { meshes: mesh_checksum(built), files: files.0.into_inner() }
    }

    /// Returns true if the meshes are the same as in `earlier`.
    pub fn has_meshes_of(&self, earlier: &Self) -> bool {
        self.meshes == earlier.meshes
    }

    /// Returns the files whose content differs from that in `earlier`.
    pub fn changed_files(&self, earlier: &Self) -> Vec<PathBuf> {
        let is_changed = |(path, sum): &(&PathBuf, &u32)| earlier.files.get(*path).is_some_and(|before| before != *sum);
        self.files.iter().filter(is_changed).map(|(path, _)| path.clone()).collect()
    }
}

fn mesh_checksum(built: &Built) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&built.simulation.model().fingerprint().to_le_bytes());
    for (surface, _) in built.skins.iter().flatten() {
        for x in surface.vertices() {
            x.to_array().iter().for_each(|coordinate| sum.update(&coordinate.to_le_bytes()));
        }
        surface.faces().vertices().iter().for_each(|vertex| sum.update(&vertex.to_le_bytes()));
    }
    sum.finalize()
}

/// Disk that records checksums of all files read from it.
#[derive(Debug, Default)]
pub(super) struct ReadFiles(RefCell<BTreeMap<PathBuf, u32>>);

impl ReadFiles {
    fn record(&self, path: &Path, bytes: &[u8]) {
        let mut sum = crc32fast::Hasher::new();
        sum.update(bytes);
        // An empty path is the current folder.
        if let Ok(path) = std::path::absolute(Path::new(".").join(path)) {
            self.0.borrow_mut().insert(path, sum.finalize());
        }
    }
}

impl Files for ReadFiles {
    fn read(&self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let bytes = Disk.read(path)?;
        self.record(path, &bytes);
        Ok(bytes)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        Disk.write(path, bytes)
    }
}
