//! Rendering of bodies in 3D on the CPU.
//!
//! The rasterizer is custom because no crate fits. Of the crates that rasterize triangles with a depth buffer in
//! software, `euc` has had no release since 2021 and does not clip geometry behind the camera. Both it and
//! `retrofire-core` lack multisampling, so that each of a pixel's four samples would be shaded. The need is small:
//! `raster.rs` rasterizes triangles in 100 lines, for the picture and for the shadows.
//!
//! A picture is drawn in camera coordinates, in units of the distance to the target:
//! 1. `mesh.rs` converts bodies to triangles in front of the camera, with normals that are discontinuous at creases.
//! 2. `raster.rs` finds the nearest triangle for four samples per pixel.
//! 3. `shadow.rs` repeats this as seen from the light, and blurs the shadow on the ground.
//! 4. `shade.rs` shades the ground (`floor.rs`) and each visible surface once per pixel, and averages them by samples.
//! 5. `legend.rs` draws the color bar and the caption.

mod content;
mod floor;
mod legend;
mod mesh;
mod picture;
mod raster;
mod shade;
mod shadow;

pub use content::{Ball, Body, ColorScale, Ground, Scene};
