//! Writers of animations for ParaView, Blender and Houdini, and of rendered images.
//!
//! A [`SceneGeometry`] is the visual geometry: the bodies of a model with their surfaces. A [`Frame`] is a snapshot of
//! a simulation. Both own their data, so another thread can write them. Each format is one module and one line in
//! [`FORMATS`]. The extension of a path selects the format:
//!
//! | files | for | |
//! |---|---|---|
//! | `.vtu` | ParaView | one file per frame with displacements and stresses, and a `.pvd` that lists them |
//! | `.obj`, `.ply` | any program | one file per frame with the surfaces |
//! | `.glb` | Blender, three.js | one file |
//! | `.pc2`, `.mdd` | Blender, Houdini | one file per body: positions only, for the `_rest.obj` next to it |
//! | `.png`, `.gif`, `.mp4` | people | images, which [`pictures`](crate::pictures) renders |
//!
//! Formats with one file per frame are written during the simulation. Single-file formats need the number of frames in
//! advance, because their header contains it. They write each frame to disk as it arrives and keep at most two in
//! memory. In both cases a file appears only when it is complete.
//!
//! ```
//! use std::sync::Arc;
//! use pliant::material::{AnyLaw, YoungPoisson};
//! use pliant::mesh::{Cells, generate};
//! use pliant::model::{Body, Model};
//! use pliant_scene::output::{self, SceneGeometry, Frame, Options};
//!
//! let bar = generate::block([1.0, 0.2, 0.2], [4, 1, 1], Cells::Tet5)?;
//! let law = AnyLaw::new("stvk", YoungPoisson { young: 1e6, poisson: 0.3 })?;
//! let model = Model::builder().body(Body::new(bar, law, 1000.0)).build()?;
//! let mut state = model.rest_state();
//!
//! let folder = tempfile::tempdir()?;
//! let geometry = Arc::new(SceneGeometry::new(&model));
//! let mut writer = output::start(&folder.path().join("bar.vtu"), &geometry, &Options::default())?;
//! for number in 0..3 {
//!     state.time = 0.1 * number as f64; // here a step of an integrator
//!     writer.write(&Frame::new(&model, &state, number, true))?;
//! }
//! let files = writer.finish()?;
//! assert!(files[0].ends_with("bar.pvd") && files[3].ends_with("bar_000002.vtu"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod color;
mod color_field;
mod frame;
mod glb;
mod images;
mod mdd;
mod obj;
mod pc2;
mod ply;
mod point_cache;
mod scene_geometry;
mod series;
#[cfg(test)]
mod testing;
mod vtu;
mod writer_context;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::files::WriteError;

pub use color::body_color;
pub use color_field::{COLOR_FIELDS, ColorField};
pub use frame::{FieldValues, Fields, Frame};
pub use images::{ImageError, ImageFormat, ImageWriter};
pub use scene_geometry::{BodyGeometry, SceneGeometry, VisualError};

use writer_context::WriterContext;

/// Every format, each registered by one line.
#[rustfmt::skip]
pub const FORMATS: &[AnimationFormat] = &[
    vtu::FORMAT,
    obj::FORMAT,
    ply::FORMAT,
    glb::FORMAT,
    pc2::FORMAT,
    mdd::FORMAT,
    images::PNG,
    images::GIF,
    images::MP4,
    PLOT,
];

const PLOT: AnimationFormat = AnimationFormat {
    name: "plot",
    title: "plots",
    extensions: &["svg"],
    about: "Plots of energies, volume and probes, as SVG and PNG",
    content: Content::Plots,
};

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
    content: Content,
}

/// Content of a format, with the constructor of its writer.
#[derive(Debug, Clone, Copy)]
enum Content {
    /// Meshes, one file per frame.
    Series(fn(WriterContext) -> Started),
    /// Meshes, in a single file with the given number of frames.
    Whole(fn(WriterContext, &Options, usize) -> Started),
    /// Rendered images.
    Images(&'static ImageFormat),
    /// Plots of the time series of a run.
    Plots,
}

type Started = Result<Box<dyn FrameWriter>, WriteError>;

impl AnimationFormat {
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
        matches!(self.content, Content::Series(_) | Content::Whole(_))
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
            Content::Whole(_) | Content::Plots => false,
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
            (Content::Series(start), _) => start(context),
            (Content::Whole(start), Some(frames)) if frames > 0 => start(context, options, frames),
            (Content::Whole(_), Some(_)) => Err(context.unsupported("an animation without frames")),
            (Content::Whole(_), None) => Err(context.unsupported("an animation whose number of frames is not given")),
            (Content::Images(_) | Content::Plots, _) => Err(context.unsupported("meshes")),
        }
    }
}

/// Options for writing an animation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Number of frames. Single-file formats require it; formats with one file per frame accept any number.
    pub frames: Option<usize>,
    /// Vertical axis of the model, used only by glTF, which defines one. Other formats keep the model's coordinates.
    pub up: Axis,
}

/// Coordinate axis of the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are what they are")]
pub enum Axis {
    X,
    #[default]
    Y,
    Z,
}

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

#[cfg(test)]
mod tests {
    use super::testing::{frames, two_bodies};
    use super::*;

    fn start_with(path: &Path, frames: Option<usize>) -> Result<Box<dyn FrameWriter>, WriteError> {
        start(path, &Arc::new(SceneGeometry::new(&two_bodies())), &Options { frames, ..Options::default() })
    }

    fn files(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn extensions_are_unique_and_lower_case() {
        let mut all: Vec<&str> = FORMATS.iter().flat_map(|format| format.extensions).copied().collect();
        assert!(all.iter().all(|extension| extension.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())));
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
        for format in FORMATS {
            assert!(!format.about.is_empty() && !format.about.contains('\n') && !format.about.ends_with('.'));
        }
    }

    #[test]
    fn a_folder_that_is_missing_or_a_file_is_an_error_for_every_format_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let frame = &frames(&two_bodies(), 1)[0];
        for format in AnimationFormat::of_meshes() {
            for parent in ["missing", "file"] {
                let path = folder.path().join(parent).join("a").with_extension(format.extensions[0]);
                let written = start_with(&path, Some(1)).and_then(|mut writer| {
                    writer.write(frame)?;
                    writer.finish()
                });
                let message = written.unwrap_err().to_string();
                assert!(message.contains(parent) && message.contains("there is no folder"), "{message}");
            }
        }
        assert_eq!(files(folder.path()), 1);
        assert_eq!(std::fs::read(folder.path().join("file")).unwrap(), b"");
    }

    #[test]
    fn a_folder_that_vanishes_is_an_error_that_names_the_file() {
        for format in AnimationFormat::of_meshes() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a").with_extension(format.extensions[0]);
            let all = frames(&two_bodies(), 2);
            let mut writer = start_with(&path, Some(2)).unwrap();
            writer.write(&all[0]).unwrap();
            std::fs::remove_dir_all(folder.path()).unwrap();
            let written = writer.write(&all[1]).and_then(|()| writer.finish().map(|_| ()));
            let message = written.unwrap_err().to_string();
            assert!(message.starts_with(&*folder.path().to_string_lossy()), "{message}");
        }
    }

    #[test]
    fn frames_that_do_not_fit_are_errors_that_leave_the_earlier_ones_alone() {
        let model = two_bodies();
        let good = frames(&model, 2);
        let bad = |change: &dyn Fn(&mut Frame)| {
            let mut frame = good[1].clone();
            change(&mut frame);
            frame
        };
        let bad = [
            (bad(&|frame| frame.u.truncate(3)), "3 displacements, expected"),
            (bad(&|frame| frame.v.push(0.0)), "velocities, expected"),
            (bad(&|frame| frame.u[4] = f64::NAN), "vertex 1 has no finite position"),
            (bad(&|frame| frame.v[3] = f64::INFINITY), "vertex 1 has no finite velocity"),
            (bad(&|frame| frame.u[0] = 1e200), "vertex 0 has no finite position"),
            (bad(&|frame| frame.time = f64::NAN), "its time is NaN"),
            (bad(&|frame| frame.number = 0), "its number does not exceed that of the previous frame, 0"),
            (
                bad(&|frame| frame.fields.as_mut().unwrap().elements.von_mises.truncate(2)),
                "fields for 2 elements, expected",
            ),
            (
                bad(&|frame| frame.fields.as_mut().unwrap().vertices.strain.truncate(4)),
                "fields for 4 vertices, expected",
            ),
            (bad(&|frame| frame.reactions = Some(vec![0.0; 5])), "5 reactions, expected"),
        ];
        for format in AnimationFormat::of_meshes() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a").with_extension(format.extensions[0]);
            let mut writer = start_with(&path, Some(2)).unwrap();
            writer.write(&good[0]).unwrap();
            let before = files(folder.path());
            for (frame, expected) in &bad {
                let message = writer.write(frame).unwrap_err().to_string();
                assert!(message.contains(expected), "{message}\n{expected}");
            }
            assert_eq!(files(folder.path()), before);
            writer.write(&good[1]).unwrap();
            assert!(writer.finish().unwrap().iter().all(|path| path.is_file()));
        }
    }

    #[test]
    fn one_file_takes_the_number_of_frames_that_was_said_and_no_other() {
        let all = frames(&two_bodies(), 3);
        for format in AnimationFormat::of_meshes().filter(|format| !format.is_series()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a").with_extension(format.extensions[0]);
            let message = |frames| start_with(&path, frames).err().unwrap().to_string();
            assert!(message(None).contains("cannot store an animation whose number of frames is not given"));
            assert!(message(Some(0)).contains("cannot store an animation without frames"));
            let mut writer = start_with(&path, Some(2)).unwrap();
            writer.write(&all[0]).unwrap();
            let few = writer.finish().unwrap_err().to_string();
            assert!(few.contains("expected 2 frames, got 1"), "{few}");
            assert_eq!(files(folder.path()), 0);
            let mut writer = start_with(&path, Some(2)).unwrap();
            writer.write(&all[0]).unwrap();
            writer.write(&all[1]).unwrap();
            let many = writer.write(&all[2]).unwrap_err().to_string();
            assert!(many.contains("expected 2 frames, got 3"), "{many}");
            drop(writer);
            assert_eq!(files(folder.path()), 0);
        }
    }

    #[test]
    fn writers_can_be_given_to_another_thread() {
        let folder = tempfile::tempdir().unwrap();
        let all = frames(&two_bodies(), 2);
        for format in AnimationFormat::of_meshes() {
            let path = folder.path().join("a").with_extension(format.extensions[0]);
            let mut writer = start_with(&path, Some(2)).unwrap();
            let finished = std::thread::scope(|scope| {
                let write = || {
                    all.iter().try_for_each(|frame| writer.write(frame))?;
                    writer.finish()
                };
                scope.spawn(write).join().unwrap()
            });
            assert!(!finished.unwrap().is_empty());
        }
    }

    #[test]
    fn an_unknown_extension_lists_those_that_are_known() {
        let message = start_with(Path::new("a.xyz"), None).err().unwrap().to_string();
        assert!(message.contains("expected a name that ends in one of .vtu, .pvd, .obj, .ply, .glb, .pc2, .mdd"));
    }
}
