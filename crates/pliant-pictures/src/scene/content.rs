//! Content of a picture, as data.

use crate::{Bounds, Color, ColorMap, Size, Vec3, View};

/// Body given by a triangulated surface.
///
/// Triangles and edges with an invalid vertex index or a non-finite vertex are skipped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body<'a> {
    /// Vertex positions.
    pub positions: &'a [Vec3],
    /// Triangles as vertex indices; both sides are visible.
    pub triangles: &'a [[u32; 3]],
    /// Value at each vertex, colored by the [`ColorScale`]; gray where it is missing or NaN.
    pub values: Option<&'a [f64]>,
    /// Color of a body without values.
    pub color: Color,
    /// Edges to draw as lines, as vertex indices.
    pub edges: &'a [[u32; 2]],
}

impl<'a> Body<'a> {
    /// Creates a body in the default color, without lines.
    pub fn new(positions: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Self {
        Self { positions, triangles, values: None, color: Color::BODY, edges: &[] }
    }

    /// Returns the bounding box of the vertices, or `None` if no vertex is finite.
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::of(self.positions.iter().copied())
    }
}

/// Sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Center of the sphere.
    pub center: Vec3,
    /// Radius of the sphere.
    pub radius: f64,
    /// Color of the sphere.
    pub color: Color,
}

impl Ball {
    /// Returns the bounding box of the sphere.
    pub fn bounds(&self) -> Bounds {
        Bounds { low: self.center - self.radius.abs(), high: self.center + self.radius.abs() }
    }
}

/// Ground plane, visible from above, which receives shadows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Point of the plane.
    pub point: Vec3,
    /// Upward normal, of any length.
    pub normal: Vec3,
}

/// Mapping of body values to colors.
#[derive(Debug, Clone, PartialEq)]
pub struct ColorScale {
    /// Color map, from the minimum to the maximum.
    pub map: ColorMap,
    /// Values at both ends. `None` takes the range of the scene's values, which changes between frames.
    pub range: Option<[f64; 2]>,
    /// Name of the quantity in the legend: `stress`.
    pub label: String,
    /// Unit in the legend: `kPa`; empty if dimensionless.
    pub unit: String,
    /// True if the legend is drawn.
    pub legend: bool,
}

impl Default for ColorScale {
    fn default() -> Self {
        let (label, unit) = (String::new(), String::new());
        Self { map: ColorMap::Viridis, range: None, label, unit, legend: true }
    }
}

/// Scene: everything that a picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene<'a> {
    /// Bodies.
    pub bodies: Vec<Body<'a>>,
    /// Spheres.
    pub balls: Vec<Ball>,
    /// Ground plane, or `None`.
    pub ground: Option<Ground>,
    /// Camera.
    pub view: View,
    /// Size of the picture.
    pub size: Size,
    /// Color scale of values; the legend is drawn if any body has values.
    pub scale: ColorScale,
    /// Line of text in the lower left corner: `t = 0.42 s`.
    pub caption: String,
}
