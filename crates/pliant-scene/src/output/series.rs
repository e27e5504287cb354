//! Formats with one file per frame.

use std::path::PathBuf;

use super::{Frame, FrameWriter, Started, WriterContext};
use pliant::files::{Disk, Files, WriteError};

/// Writer of one file per frame.
pub(super) struct Series {
    context: WriterContext,
    extension: &'static str,
    encode: fn(&mut WriterContext, &Frame) -> Vec<u8>,
    files: Vec<PathBuf>,
}

/// Creates the writer of a series of files with contents from `encode`.
pub(super) fn start(
    context: WriterContext,
    extension: &'static str,
    encode: fn(&mut WriterContext, &Frame) -> Vec<u8>,
) -> Started {
    Ok(Box::new(Series { context, extension, encode, files: Vec::new() }))
}

/// Returns the ending of a file name in a series, with at least six digits so that files sort by number.
pub(super) fn ending(frame: usize, extension: &str) -> String {
    format!("_{frame:06}.{extension}")
}

impl FrameWriter for Series {
    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        self.context.check(frame)?;
        let path = self.context.beside(&ending(frame.number, self.extension));
        Disk.write(&path, &(self.encode)(&mut self.context, frame))?;
        self.files.push(path);
        self.context.done(frame);
        Ok(())
    }

    fn found(&mut self, number: usize, _time: f64) {
        let path = self.context.beside(&ending(number, self.extension));
        if path.is_file() {
            self.files.push(path);
        }
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        Ok(self.files)
    }
}
