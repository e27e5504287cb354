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

mod floor;
mod legend;
mod mesh;
mod raster;
mod shade;
mod shadow;

use crate::{Bounds, Color, ColorMap, Image, PictureError, Size, Vec3, View};

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

impl Scene<'_> {
    /// Creates an empty scene.
    pub fn new(view: View, size: Size) -> Self {
        Self {
            bodies: Vec::new(),
            balls: Vec::new(),
            ground: None,
            view,
            size,
            scale: ColorScale::default(),
            caption: String::new(),
        }
    }

    /// Draws the scene.
    pub fn draw(&self) -> Result<Image, PictureError> {
        let camera = self.view.camera(self.size)?;
        let range = self.range();
        let surfaces = mesh::Surfaces::new(self, &camera, range);
        let lights = shade::Lights::new(&self.view, &camera);
        let (visible, shadows) = rayon::join(
            || raster::Visible::new(&surfaces, self.size),
            || shadow::Shadows::new(&surfaces, lights.key, floor::Floor::new(self, &camera)),
        );
        let mut image = Image::filled(self.size, Color([255; 3]));
        shade::Shading::new(&surfaces, &visible, &shadows, &lights, self.scale.map, &camera).draw(&mut image);
        legend::draw(self, range, &mut image)?;
        Ok(image)
    }

    /// Returns the values at the ends of the color map in increasing order, or `None` without values.
    fn range(&self) -> Option<[f64; 2]> {
        let values = || self.bodies.iter().filter_map(|body| body.values).flatten();
        values().next()?;
        let usable = |[low, high]: [f64; 2]| low.is_finite() && high.is_finite();
        if let Some(range) = self.scale.range.filter(|&range| usable(range)) {
            return Some([range[0].min(range[1]), range[0].max(range[1])]);
        }
        let finite = values().copied().filter(|value| value.is_finite());
        finite.map(|value| [value; 2]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
    }
}
