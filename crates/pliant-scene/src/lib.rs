//! Scenes of deformable solids: files that describe them, their simulation into folders, and output for other programs.
//!
//! Each module uses only those listed before it:
//!
//! - [`registry`]: lists of the choices of scenes, to which programs can add entries.
//! - [`output`]: animation files for ParaView, Blender and Houdini.
//! - [`scene`]: scene files.
//! - [`pictures`]: images and videos of simulations.
//! - [`plots`]: plots of the time series of a run.
//! - [`run`]: simulations of scenes into folders, which can be interrupted and resumed.
//!
//! ```
//! use pliant::files::Memory;
//! use pliant_scene::scene::{SceneFile, Source};
//!
//! let text = r#"
//! [[object]]
//! mesh = { box = { size = [1, 0.1, 0.1], cells = [10, 1, 1] } }
//! material = { young = "1 MPa", poisson = 0.45, density = 1000 }
//!
//! [[fixed]]
//! vertices = "x-min"
//!
//! [simulation]
//! step = "10 ms"
//! duration = "1 s"
//! "#;
//! let mut built = SceneFile::parse(Source::new("bar.toml", text))?.build(&Memory::default())?;
//! built.simulation.step()?;
//! assert_eq!(built.simulation.time(), 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod output;
pub mod pictures;
pub mod plots;
pub mod registry;
pub mod run;
pub mod scene;
