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
mod format;
mod frame;
mod frame_writer;
mod glb;
mod images;
mod mdd;
mod obj;
mod options;
mod pc2;
mod ply;
mod point_cache;
mod scene_geometry;
mod series;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod vtu;
mod writer_context;

pub use color::body_color;
pub use color_field::{COLOR_FIELDS, ColorField};
pub use format::{AnimationFormat, StartProgram};
pub use frame::{ContactFields, FieldValues, Fields, Frame};
pub use frame_writer::{FrameWriter, start, write_still};
pub use images::{ImageError, ImageFormat, ImageWriter};
pub use options::{Axis, Options};
pub use scene_geometry::{BodyGeometry, SceneGeometry, VisualError};

use crate::registry::Registry;
use format::{Content, Started};
use writer_context::WriterContext;

/// Every format, each registered by one line.
pub static FORMATS: Registry<AnimationFormat> = Registry::new("animation format", BUILT_IN);

#[rustfmt::skip]
const BUILT_IN: &[AnimationFormat] = &[
    vtu::FORMAT,
    obj::FORMAT,
    ply::FORMAT,
    glb::FORMAT,
    pc2::FORMAT,
    mdd::FORMAT,
    images::PNG,
    images::GIF,
    images::MP4,
    format::PLOT,
];
