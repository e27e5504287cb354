//! Curves and plots, as data.

use super::Figure;
use crate::PictureError;

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
