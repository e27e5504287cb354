//! Pictures of simulations, drawn without any other program: bodies in 3D, animations, and plots of numbers over time.
//!
//! - [`Scene`]: bodies, obstacles and ground, from plain slices of positions and triangles, to an [`Image`].
//! - [`View`]: the camera; [`View::fitting`] keeps a whole animation in frame.
//! - [`Image`]: pixels, and their PNG. [`Gif`] and [`Mp4`] take one image per frame.
//! - [`Figure`] and [`Plot`]: curves over axes, as SVG or PNG.
//!
//! Results are bitwise reproducible on any number of threads. Geometry with non-finite coordinates is skipped. Input
//! that cannot be drawn at all is a [`PictureError`].
//!
//! ```
//! use pliant_pictures::{Body, Scene, Size, Vec3, View};
//!
//! let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
//! let body = Body::new(&positions, &triangles);
//! let size = Size::new(160, 120)?;
//! let view = View::fitting([body.bounds()], size, &Default::default());
//! let image = Scene { bodies: vec![body], ..Scene::new(view, size) }.draw()?;
//! assert!(image.png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), pliant_pictures::PictureError>(())
//! ```
//!
//! [`scene`] has a custom software rasterizer, and its documentation gives the reasons. Text and plots are SVG, which
//! `resvg` rasterizes with a font embedded in this crate. Color maps come from `colorous`.

pub mod color;
pub mod encode;
mod error;
mod image;
pub mod plot;
pub mod scene;
mod svg;
mod ticks;
pub mod view;

pub use color::{Color, ColorMap};
pub use encode::{Gif, Mp4};
pub use error::PictureError;
pub use image::{Image, Size};
pub use plot::{Figure, Plot, Series};
pub use scene::{Ball, Body, ColorScale, Ground, Scene};
pub use view::{Bounds, Framing, Up, View};

/// A point or direction in space.
pub use glam::DVec3 as Vec3;
