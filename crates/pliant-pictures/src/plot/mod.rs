//! Curves over axes, as SVG or PNG.
//!
//! Curves differ by colour, by dashes and by markers, so that they can be told apart in print without colour and by everyone.
//! A curve stops where a coordinate is not finite, or not positive on a logarithmic axis, and goes on after it. Curves of very
//! many points are thinned to what pixels can show, so that the SVG stays small.
//!
//! Why not the crate `plotters`: its drawings have whole pixels for coordinates, dashes made of single lines, and in bitmaps
//! wide lines with jagged edges. Here the SVG is written directly, and the PNG is that SVG, drawn by `resvg`.

mod axis;
mod draw;
mod thin;

use crate::{Image, PictureError, Size, svg};
use axis::Axis;
use thin::thinned;

/// How an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// In equal steps.
    #[default]
    Linear,
    /// In equal factors; what is not positive is not shown.
    Logarithmic,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// A line, with markers at some places if there is more than one curve, to tell them apart.
    #[default]
    Line,
    /// A line with a marker at every point.
    LineAndMarkers,
    /// A marker at every point.
    Markers,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// For the legend; may be empty.
    pub name: String,
    /// `x` and `y` of its points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub style: Style,
}

impl Series {
    /// A line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, style: Style::Line }
    }
}

/// Curves over a pair of axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plot {
    /// What is written above; may be empty.
    pub title: String,
    /// What `x` is, with its unit: `time in s`.
    pub x_label: String,
    /// What `y` is, with its unit.
    pub y_label: String,
    /// The curves.
    pub series: Vec<Series>,
    /// How `x` is counted.
    pub x_scale: Scale,
    /// How `y` is counted.
    pub y_scale: Scale,
}

impl Plot {
    /// The plot by itself, as SVG.
    pub fn svg(&self) -> Result<String, PictureError> {
        Figure::from(self.clone()).svg()
    }

    /// The plot by itself, as PNG; see [`Figure::image`].
    pub fn png(&self, pixels_per_unit: f64) -> Result<Vec<u8>, PictureError> {
        Figure::from(self.clone()).image(pixels_per_unit)?.png()
    }
}

/// Plots one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// From the top.
    pub panels: Vec<Plot>,
    /// The width, in units of SVG, which are pixels on most screens.
    pub width: u32,
    /// The height of each panel.
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
    /// The figure as SVG.
    pub fn svg(&self) -> Result<String, PictureError> {
        let size = self.size(1.0)?;
        let mut svg = svg::Svg::new(size.width(), size.height());
        svg.add(format_args!(r#"<rect width="{}" height="{}" fill="white"/>"#, size.width(), size.height()));
        let panel_size = [f64::from(self.width), f64::from(self.panel_height)];
        let panels: Vec<draw::Panel> = self.panels.iter().map(|plot| draw::Panel::new(plot, panel_size)).collect();
        // All start at the same place, so that the same time is below itself.
        let left = panels.iter().map(draw::Panel::left).fold(0.0, f64::max);
        for (number, panel) in panels.iter().enumerate() {
            draw::add_panel(&mut svg, panel, number, [left, number as f64 * panel_size[1]]);
        }
        Ok(svg.finish())
    }

    /// The figure in pixels, so many for each unit of the SVG: 2 is sharp on most screens.
    pub fn image(&self, pixels_per_unit: f64) -> Result<Image, PictureError> {
        svg::rasterised(&self.svg()?, self.size(pixels_per_unit)?, pixels_per_unit)
    }

    fn size(&self, scale: f64) -> Result<Size, PictureError> {
        // Casting takes what is too large, or not a number, to what is not a size.
        let scaled = |length: u64| (length as f64 * scale).round() as u32;
        Size::new(scaled(self.width.into()), scaled(u64::from(self.panel_height) * self.panels.len().max(1) as u64))
    }
}
