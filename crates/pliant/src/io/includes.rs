//! Files that include others, without end or measure if one let them.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use super::error::ReadError;
use super::files::Input;
use super::scan::Scanner;

/// How deep includes may nest, and how many there may be: a few lines could otherwise include without end.
const DEEPEST_INCLUDE: usize = 16;
const MOST_INCLUDES: usize = 1000;

/// How many times the bytes of all different files may be included in total, besides a little for small files. So the
/// memory that a mesh takes is in proportion to the files, however often one of them is included.
const MOST_REPEATS: usize = 16;
const LITTLE: usize = 64 << 10;

/// Files that include others: which are open, and how much was read.
#[derive(Debug, Default)]
pub(crate) struct Includes {
    open: Vec<PathBuf>,
    count: usize,
    /// Contents are known by their hash: one file may have any number of names.
    known: HashSet<u64>,
    hasher: RandomState,
    /// Bytes of all files, those of the same content once.
    different: usize,
    /// Bytes of all files, as often as they were included.
    total: usize,
}

impl Includes {
    /// Open the file that a line of another names, and read it with `read`.
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
            return Err(scanner.error("includes that end", format!("`{name}` again")));
        }
        if this.open.len() >= DEEPEST_INCLUDE {
            return Err(
                scanner.error(format!("at most {DEEPEST_INCLUDE} files inside each other"), format!("`{name}` too"))
            );
        }
        if this.count >= MOST_INCLUDES {
            return Err(scanner.error(format!("at most {MOST_INCLUDES} includes"), format!("`{name}` too")));
        }
        let bytes = input
            .files
            .read(&path)
            .map_err(|error| scanner.error(format!("a readable file `{name}` to include"), error.to_string()))?;
        if this.count == 0 {
            this.add(input.bytes);
        }
        this.add(&bytes);
        if this.total > MOST_REPEATS * this.different + LITTLE {
            let expected = format!("at most {MOST_REPEATS} times the bytes of all files included");
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
