//! Writers of frames, selected by extension.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::files::WriteError;

use super::{AnimationFormat, Axis, Frame, Options, SceneGeometry};

/// Writer of frames to files. It can be sent to another thread.
pub trait FrameWriter: Send {
    /// Writes the next frame, whose number must be larger than that of the previous one. An error leaves the files of
    /// earlier frames unchanged.
    fn write(&mut self, frame: &Frame) -> Result<(), WriteError>;

    /// Registers a frame that an earlier writer wrote to the same path, when a simulation is resumed. Must be called
    /// before the first [`write`](Self::write).
    fn found(&mut self, _number: usize, _time: f64) {}

    /// Completes the files. Returns all of them, starting with the one to open.
    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError>;
}

/// Creates a writer to `path` in the format of its extension.
pub fn start(
    path: &Path,
    geometry: &Arc<SceneGeometry>,
    options: &Options,
) -> Result<Box<dyn FrameWriter>, WriteError> {
    let Some(format) = AnimationFormat::of(path) else {
        let known =
            AnimationFormat::of_meshes().flat_map(|format| format.extensions).map(|extension| format!(".{extension}"));
        return Err(WriteError::UnknownFormat { path: path.into(), known: known.collect::<Vec<_>>().join(", ") });
    };
    format.start(path, geometry, options)
}

/// Writes a single frame to `path` itself, in the format of its extension.
pub fn write_still(path: &Path, geometry: &Arc<SceneGeometry>, frame: &Frame, up: Axis) -> Result<(), WriteError> {
    let options = Options { frames: Some(1), up };
    let is_series = AnimationFormat::of(path).is_some_and(AnimationFormat::is_series);
    if !is_series {
        let mut writer = start(path, geometry, &options)?;
        writer.write(frame)?;
        return writer.finish().map(drop);
    }
    // A series has numbered file names and may have a list. It is written to a temporary folder and its frame is moved.
    let io = |cause| WriteError::Io { path: path.into(), cause };
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let aside = tempfile::tempdir_in(folder).map_err(io)?;
    let mut writer = start(&aside.path().join(path.file_name().unwrap_or_default()), geometry, &options)?;
    writer.write(frame)?;
    let files = writer.finish()?;
    files.last().map_or(Ok(()), |made| std::fs::rename(made, path).map_err(io))
}
