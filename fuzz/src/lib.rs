//! Common part of the fuzz targets: reads bytes as a file that exists only in memory.

use std::path::Path;

use pliant::files::Memory;
use pliant::io::{Mesh, WriteOptions, read_from, write_to};

/// Reads `bytes` as a file called `name`, with `others` in the same folder. A mesh that is
/// read must survive being written.
pub fn read(name: &str, bytes: &[u8], others: &[(&str, &[u8])]) {
    let files = others.iter().fold(Memory::with(name, bytes), |files, (name, bytes)| files.and(*name, *bytes));
    if let Ok(loaded) = read_from(&files, Path::new(name)) {
        let (volume, surface) = ("out.veg", "out.obj");
        let out = if matches!(loaded.mesh, Mesh::Volume(_)) { volume } else { surface };
        write_to(&files, Path::new(out), &loaded.mesh, &WriteOptions::default()).expect("a mesh can be written");
        read_from(&files, Path::new(out)).expect("what was written can be read");
    }
}
