//! Formats of a file a frame.

use std::path::PathBuf;

use super::{Frame, FrameWriter, Stage, Started};
use crate::io::{Disk, Files, WriteError};

/// Writes each frame to a file of its own.
pub(super) struct Series {
    stage: Stage,
    extension: &'static str,
    encode: fn(&mut Stage, &Frame) -> Vec<u8>,
    files: Vec<PathBuf>,
}

/// Start a series of files whose content `encode` makes.
pub(super) fn start(stage: Stage, extension: &'static str, encode: fn(&mut Stage, &Frame) -> Vec<u8>) -> Started {
    Ok(Box::new(Series { stage, extension, encode, files: Vec::new() }))
}

/// The end of the name of a file in a series: as many digits as sort well in folders, and more if needed.
pub(super) fn ending(frame: usize, extension: &str) -> String {
    format!("_{frame:06}.{extension}")
}

impl FrameWriter for Series {
    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        self.stage.check(frame)?;
        let path = self.stage.beside(&ending(frame.number, self.extension));
        Disk.write(&path, &(self.encode)(&mut self.stage, frame))?;
        self.files.push(path);
        self.stage.done(frame);
        Ok(())
    }

    fn found(&mut self, number: usize, _time: f64) {
        let path = self.stage.beside(&ending(number, self.extension));
        if path.is_file() {
            self.files.push(path);
        }
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        Ok(self.files)
    }
}
