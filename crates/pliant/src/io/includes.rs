//! Files that include others, within limits on depth, number and size.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use super::error::ReadError;
use super::files::Input;
use super::scan::Scanner;

/// Maximum depth and number of includes: a few lines could otherwise include files without end.
const MAX_INCLUDE_DEPTH: usize = 16;
const MAX_INCLUDES: usize = 1000;

/// Maximum ratio of all included bytes to the bytes of all different files, besides an allowance for small files. The
/// memory of a mesh is thus proportional to the files, however often one of them is included.
const MAX_REPEATS: usize = 16;
const LITTLE: usize = 64 << 10;

/// State of nested includes: open files and bytes read.
#[derive(Debug, Default)]
pub(crate) struct Includes {
    open: Vec<PathBuf>,
    count: usize,
    /// Hashes of known contents: one file may have any number of names.
    known: HashSet<u64>,
    hasher: RandomState,
    /// Total bytes of files with different contents.
    different: usize,
    /// Total bytes of all files, counted once per include.
    total: usize,
}

impl Includes {
    /// Opens the file that a line of another names, and reads it with `read`.
    pub fn read<T>(
        reader: &mut T,
        includes: fn(&mut T) -> &mut Self,
        name: &str,
        scanner: &Scanner<'_>,
        input: &Input<'_>,
        read: fn(&mut T, &Input<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let path = input.path.parent().unwrap_or(Path::new("")).join(name);
        let this = includes(reader);
        if path == input.path || this.open.contains(&path) {
            return Err(scanner.error("includes without cycles", format!("`{name}` again")));
        }
        if this.open.len() >= MAX_INCLUDE_DEPTH {
            return Err(
                scanner.error(format!("at most {MAX_INCLUDE_DEPTH} levels of includes"), format!("`{name}` too"))
            );
        }
        if this.count >= MAX_INCLUDES {
            return Err(scanner.error(format!("at most {MAX_INCLUDES} includes"), format!("`{name}` too")));
        }
        let bytes = input
            .files
            .read(&path)
            .map_err(|error| scanner.error(format!("a readable file `{name}` to include"), error.to_string()))?;
        if this.count == 0 {
            this.add(input.bytes);
        }
        this.add(&bytes);
        if this.total > MAX_REPEATS * this.different + LITTLE {
            let expected = format!("at most {MAX_REPEATS} times the bytes of all files included");
            return Err(scanner.error(expected, format!("`{name}` again and again")));
        }
        this.count += 1;
        this.open.push(input.path.into());
        read(reader, &Input { path: &path, bytes: &bytes, files: input.files })?;
        includes(reader).open.pop();
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.known.insert(self.hasher.hash_one(bytes)) {
            self.different = self.different.saturating_add(bytes.len());
        }
        self.total = self.total.saturating_add(bytes.len());
    }
}
