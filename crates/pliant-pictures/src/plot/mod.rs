//! Curves over axes, as SVG or PNG.
//!
//! Curves differ by color, dash pattern and marker, so that they can be distinguished in grayscale print and with color
//! vision deficiencies. A curve is interrupted where a coordinate is not finite, or not positive on a logarithmic axis.
//! Curves of very many points are thinned to pixel resolution, so that the SVG stays small.
//!
//! The crate `plotters` is not used: its coordinates are whole pixels, its dashes are separate lines, and wide lines in
//! bitmaps have jagged edges. Here the SVG is written directly, and the PNG is that SVG, rasterized by `resvg`.

mod axis;
mod curves;
mod draw;
mod figure;
mod thin;

pub use curves::{Plot, Scale, Series, Style};
pub use figure::Figure;

use axis::Axis;
use thin::thinned;
