//! Figures: plots one below the other.

use super::{Plot, draw};
use crate::{Image, PictureError, Size, svg};

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
