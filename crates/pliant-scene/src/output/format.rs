//! Formats of animations, pictures and plots.

use std::path::Path;
use std::sync::Arc;

use pliant::files::WriteError;

use super::writer_context::WriterContext;
use super::{FORMATS, FrameWriter, ImageFormat, Options, SceneGeometry};
use crate::registry::Named;

/// A format of animations, pictures or plots.
#[derive(Debug)]
pub struct AnimationFormat {
    /// Name in scenes, option of the command, and subfolder of series.
    pub name: &'static str,
    /// Common name.
    pub title: &'static str,
    /// File extensions in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Contents, in one line without a period at its end.
    pub about: &'static str,
    pub(super) content: Content,
}

/// Content of a format, with the constructor of its writer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// Meshes, one file per frame.
    Series(fn(WriterContext) -> Started),
    /// Meshes, in a single file with the given number of frames.
    Whole(fn(WriterContext, &Options, usize) -> Started),
    /// Meshes, in a single file that a program writes.
    Program(StartProgram),
    /// Rendered images.
    Images(&'static ImageFormat),
    /// Plots of the time series of a run.
    Plots,
}

pub(super) type Started = Result<Box<dyn FrameWriter>, WriteError>;

/// Constructor of the writer of a file, of a format that a program adds.
pub type StartProgram = fn(&Path, &Arc<SceneGeometry>, &Options) -> Result<Box<dyn FrameWriter>, WriteError>;

impl Named for AnimationFormat {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl AnimationFormat {
    /// Creates a format of meshes in a single file, for programs to [`add`](crate::registry::Registry::add) to
    /// [`FORMATS`]. `about` is its description without a period at its end, and `start` creates the writer of a file.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        extensions: &'static [&'static str],
        about: &'static str,
        start: StartProgram,
    ) -> Self {
        Self { name, title, extensions, about, content: Content::Program(start) }
    }

    /// Returns the format of a file of meshes by its extension.
    pub fn of(path: &Path) -> Option<&'static Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::of_meshes().find(|format| format.extensions.contains(&extension.as_str()))
    }

    /// Returns the formats of meshes, which [`start`](Self::start) writes.
    pub fn of_meshes() -> impl Iterator<Item = &'static Self> {
        FORMATS.iter().filter(|format| format.has_meshes())
    }

    /// Returns true if the format stores meshes, as opposed to images and plots.
    pub fn has_meshes(&self) -> bool {
        matches!(self.content, Content::Series(_) | Content::Whole(_) | Content::Program(_))
    }

    /// Returns the writer of a format of rendered images, or `None` for other formats.
    pub fn images(&self) -> Option<&'static ImageFormat> {
        match self.content {
            Content::Images(images) => Some(images),
            _ => None,
        }
    }

    /// Returns true if the format is that of plots of the time series of a run.
    pub fn is_plot(&self) -> bool {
        matches!(self.content, Content::Plots)
    }

    /// Returns true if the format has one file per frame, so that the number of frames need not be known in advance.
    pub fn is_series(&self) -> bool {
        match self.content {
            Content::Series(_) => true,
            Content::Images(images) => images.is_series,
            Content::Whole(_) | Content::Program(_) | Content::Plots => false,
        }
    }

    /// Creates a writer of meshes to `path` in this format, regardless of the extension. The file names of a series are
    /// derived from `path`: `bar.obj` gives `bar_000000.obj`, `bar_000001.obj`, ….
    pub fn start(
        &self,
        path: &Path,
        geometry: &Arc<SceneGeometry>,
        options: &Options,
    ) -> Result<Box<dyn FrameWriter>, WriteError> {
        let context = WriterContext::new(path, self.title, geometry)?;
        match (self.content, options.frames) {
            (Content::Program(start), _) => start(path, geometry, options),
            (Content::Series(start), _) => start(context),
            (Content::Whole(start), Some(frames)) if frames > 0 => start(context, options, frames),
            (Content::Whole(_), Some(_)) => Err(context.unsupported("an animation without frames")),
            (Content::Whole(_), None) => Err(context.unsupported("an animation whose number of frames is not given")),
            (Content::Images(_) | Content::Plots, _) => Err(context.unsupported("meshes")),
        }
    }
}

pub(super) const PLOT: AnimationFormat = AnimationFormat {
    name: "plot",
    title: "plots",
    extensions: &["svg"],
    about: "Plots of energies, volume and probes, as SVG and PNG",
    content: Content::Plots,
};
