//! Writer of the files of a run, concurrent with the simulation.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use super::folder::Folder;
use crate::output::{Frame, FrameWriter};
use pliant::files::{Disk, Files, WriteError};
use pliant::simulation::{Checkpoint, Table};

/// Item to write.
pub(super) enum Job {
    Row(Vec<f64>),
    Frame(Box<Frame>),
    Checkpoint(Box<Checkpoint>),
}

/// Writer of items in the order in which they arrive.
pub(super) struct Writer {
    folder: Folder,
    table: BufWriter<File>,
    writers: Vec<Box<dyn FrameWriter>>,
}

impl Writer {
    /// Opens the table, keeping its first `lines_before` lines, or starts a new one if that is `None`.
    pub fn new(
        folder: &Folder,
        columns: &[String],
        lines_before: Option<u64>,
        writers: Vec<Box<dyn FrameWriter>>,
    ) -> Result<Self, WriteError> {
        let path = folder.probes();
        let kept = match lines_before {
            None => columns.join(",") + "\n",
            Some(lines) => {
                let io = |cause| WriteError::Io { path: path.clone(), cause };
                let text = std::fs::read_to_string(&path).map_err(io)?;
                let kept: String = text.split_inclusive('\n').take(lines as usize).collect();
                let found = kept.matches('\n').count() as u64;
                if found != lines {
                    let message = format!("{found} complete lines, expected {lines}");
                    return Err(io(std::io::Error::new(std::io::ErrorKind::InvalidData, message)));
                }
                kept
            }
        };
        Disk.write(&path, kept.as_bytes())?;
        let table = OpenOptions::new().append(true).open(&path).map_err(|cause| WriteError::Io { path, cause })?;
        Ok(Self { folder: folder.clone(), table: BufWriter::new(table), writers })
    }

    /// Writes until the channel is closed. Returns the file to open for each format.
    pub fn run(mut self, jobs: &Receiver<Job>) -> Result<Vec<PathBuf>, WriteError> {
        while let Ok(job) = jobs.recv() {
            match job {
                Job::Row(row) => {
                    let written = self.table.write_all(Table::line(&row).as_bytes());
                    written.map_err(|cause| self.table_error(cause))?;
                }
                Job::Frame(frame) => {
                    self.flush()?;
                    self.folder.write_frame(&frame)?;
                    self.writers.iter_mut().try_for_each(|writer| writer.write(&frame))?;
                }
                Job::Checkpoint(checkpoint) => {
                    self.flush()?;
                    checkpoint.write(&Disk, &self.folder.checkpoint())?;
                }
            }
        }
        self.flush()?;
        let mut files = Vec::new();
        for writer in self.writers {
            files.extend(writer.finish()?.into_iter().next());
        }
        Ok(files)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.table.flush().map_err(|cause| self.table_error(cause))
    }

    fn table_error(&self, cause: std::io::Error) -> WriteError {
        WriteError::Io { path: self.folder.probes(), cause }
    }
}
