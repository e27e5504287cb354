//! Where a page is made, and how it takes the place of an earlier one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::Record;

/// The folder of a page, and one beside it in which the next page is made: until that is complete, the earlier one stays as it is.
#[derive(Debug)]
pub struct Place {
    page: PathBuf,
    part: PathBuf,
}

impl Place {
    /// For the page in the folder `page`: an empty folder with the ending `.part` is made beside it.
    pub fn new(page: &Path) -> anyhow::Result<Self> {
        let mut part = page.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let fail = || part.display().to_string();
        if part.exists() {
            // Of a run that was stopped; this one does the same again.
            std::fs::remove_dir_all(&part).with_context(fail)?;
        }
        std::fs::create_dir_all(&part).with_context(fail)?;
        Ok(Self { page: page.to_owned(), part })
    }

    /// The folder that the next page is made in.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Let what was made take the place of the earlier page, but not what is unfinished that of what was finished. Returns where to find it, in words.
    pub fn settle(self, record: &Record) -> anyhow::Result<String> {
        let Self { page, part } = &self;
        let earlier = Record::read(page).ok();
        if !record.is_finished && earlier.as_ref().is_some_and(|earlier| earlier.is_finished) {
            return Ok(format!(
                "{}; {} is still the page of an earlier run, which was finished",
                part.display(),
                page.display()
            ));
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
        // What the earlier page had and this one has not; nothing else, as others may have put their files there too.
        for file in earlier.iter().flat_map(Record::files) {
            let is_beside = Path::new(&file).file_name() == Some(file.as_ref());
            if is_beside && !moved.contains(file.as_str().as_ref() as &std::ffi::OsStr) && page.join(&file).is_file() {
                std::fs::remove_file(page.join(&file)).with_context(|| page.join(&file).display().to_string())?;
            }
        }
        Ok(page.display().to_string())
    }
}
