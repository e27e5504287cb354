//! Curves over axes, as SVG or PNG.
//!
//! Curves differ by color, dash pattern and marker, so that they can be distinguished in grayscale print and with color
//! vision deficiencies. A curve is interrupted where a coordinate is not finite, or not positive on a logarithmic axis.
//! Curves of very many points are thinned to pixel resolution, so that the SVG stays small.
//!
//! The crate `plotters` is not used: its coordinates are whole pixels, its dashes are separate lines, and wide lines in
//! bitmaps have jagged edges. Here the SVG is written directly, and the PNG is that SVG, rasterized by `resvg`.

mod axis;
mod draw;
mod thin;

use crate::{Image, PictureError, Size, svg};
use axis::Axis;
use thin::thinned;

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Linear scale.
    #[default]
    Linear,
    /// Logarithmic scale; numbers that are not positive are not shown.
    Logarithmic,
}

/// Style of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// A line; with several curves, also sparse markers that distinguish them.
    #[default]
    Line,
    /// A line with a marker at every point.
    LineAndMarkers,
    /// A marker at every point.
    Markers,
}

/// Curve of a plot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Name in the legend; may be empty.
    pub name: String,
    /// Points `(x, y)`, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Style of the curve.
    pub style: Style,
}

impl Series {
    /// Creates a curve drawn as a line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, style: Style::Line }
    }
}

/// Curves over a pair of axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plot {
    /// Title above the plot; may be empty.
    pub title: String,
    /// Label of the `x` axis with its unit: `time in s`.
    pub x_label: String,
    /// Label of the `y` axis with its unit.
    pub y_label: String,
    /// Curves.
    pub series: Vec<Series>,
    /// Scale of the `x` axis.
    pub x_scale: Scale,
    /// Scale of the `y` axis.
    pub y_scale: Scale,
}

impl Plot {
    /// Returns the plot alone as SVG.
    pub fn svg(&self) -> Result<String, PictureError> {
        Figure::from(self.clone()).svg()
    }

    /// Returns the plot alone as PNG; see [`Figure::image`].
    pub fn png(&self, pixels_per_unit: f64) -> Result<Vec<u8>, PictureError> {
        Figure::from(self.clone()).image(pixels_per_unit)?.png()
    }
}

/// Figure: plots one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Plots from the top.
    pub panels: Vec<Plot>,
    /// Width in SVG units, which are pixels on most screens.
    pub width: u32,
    /// Height of each panel in SVG units.
    pub panel_height: u32,
}

impl Default for Figure {
    fn default() -> Self {
        Self { panels: Vec::new(), width: 720, panel_height: 320 }
    }
}

impl From<Plot> for Figure {
    fn from(plot: Plot) -> Self {
        Self { panels: vec![plot], ..Self::default() }
    }
}

impl Figure {
    /// Returns the figure as SVG.
    pub fn svg(&self) -> Result<String, PictureError> {
        let size = self.size(1.0)?;
        let mut svg = svg::Svg::new(size.width(), size.height());
        svg.add(format_args!(r#"<rect width="{}" height="{}" fill="white"/>"#, size.width(), size.height()));
        let panel_size = [f64::from(self.width), f64::from(self.panel_height)];
        let panels: Vec<draw::Panel> = self.panels.iter().map(|plot| draw::Panel::new(plot, panel_size)).collect();
        // All plot areas start at the same `x`, so that times are aligned between panels.
        let left = panels.iter().map(draw::Panel::left).fold(0.0, f64::max);
        for (number, panel) in panels.iter().enumerate() {
            draw::add_panel(&mut svg, panel, number, [left, number as f64 * panel_size[1]]);
        }
        Ok(svg.finish())
    }

    /// Rasterizes the figure with `pixels_per_unit` pixels per SVG unit. The value 2 is sharp on most screens.
    pub fn image(&self, pixels_per_unit: f64) -> Result<Image, PictureError> {
        svg::rasterized(&self.svg()?, self.size(pixels_per_unit)?, pixels_per_unit)
    }

    fn size(&self, scale: f64) -> Result<Size, PictureError> {
        // The cast maps numbers that are too large or NaN to an invalid size.
        let scaled = |length: u64| (length as f64 * scale).round() as u32;
        Size::new(scaled(self.width.into()), scaled(u64::from(self.panel_height) * self.panels.len().max(1) as u64))
    }
}
