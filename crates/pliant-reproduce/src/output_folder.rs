//! Output folder of a page, and replacement of an earlier page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::Record;

/// Folder of a page, with a folder next to it for the page in progress. The earlier page stays unchanged until the new
/// one is complete.
#[derive(Debug)]
pub struct OutputFolder {
    page: PathBuf,
    part: PathBuf,
}

impl OutputFolder {
    /// Creates an empty folder with the suffix `.part` next to the folder `page`.
    pub fn new(page: &Path) -> anyhow::Result<Self> {
        let mut part = page.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let fail = || part.display().to_string();
        if part.exists() {
            // Left over from an interrupted run.
            std::fs::remove_dir_all(&part).with_context(fail)?;
        }
        std::fs::create_dir_all(&part).with_context(fail)?;
        Ok(Self { page: page.to_owned(), part })
    }

    /// Returns the folder of the page in progress.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Replaces the earlier page by the new one, unless only the earlier one is finished. Returns the location of the
    /// result as text.
    pub fn commit(self, record: &Record) -> anyhow::Result<String> {
        let Self { page, part } = &self;
        let earlier = Record::read(page).ok();
        if !record.is_finished && earlier.as_ref().is_some_and(|earlier| earlier.is_finished) {
            return Ok(format!("{}; {} still has the finished page of an earlier run", part.display(), page.display()));
        }
        std::fs::create_dir_all(page).with_context(|| page.display().to_string())?;
        let mut moved = BTreeSet::new();
        for entry in std::fs::read_dir(part).with_context(|| part.display().to_string())? {
            let entry = entry?;
            let to = page.join(entry.file_name());
            std::fs::rename(entry.path(), &to).with_context(|| to.display().to_string())?;
            moved.insert(entry.file_name());
        }
        std::fs::remove_dir(part).with_context(|| part.display().to_string())?;
        // Removes only files of the earlier page that the new one lacks, since others may have placed files there.
        for file in earlier.iter().flat_map(Record::files) {
            let is_beside = Path::new(&file).file_name() == Some(file.as_ref());
            if is_beside && !moved.contains(file.as_str().as_ref() as &std::ffi::OsStr) && page.join(&file).is_file() {
                std::fs::remove_file(page.join(&file)).with_context(|| page.join(&file).display().to_string())?;
            }
        }
        Ok(page.display().to_string())
    }
}
