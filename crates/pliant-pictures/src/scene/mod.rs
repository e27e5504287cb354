//! Bodies in 3D, drawn on the processor.
//!
//! Why a rasteriser of our own: of the crates that draw triangles with a depth buffer in software, `euc` has had no release
//! since 2021 and does not clip what passes behind the camera; both it and `retrofire-core` know no samples, and would colour
//! each of a pixel's four. What is needed is small: `raster.rs` finds the pixels of a triangle in 100 lines, for the picture and
//! for the shadows alike.
//!
//! How a picture is made, in lengths of which the distance of the target is one and in the axes of the camera:
//! 1. `mesh.rs` turns bodies into triangles before the camera, with normals that stop at creases.
//! 2. `raster.rs` finds for four samples of each pixel which triangle is nearest.
//! 3. `shadow.rs` does the same as seen from the light, and blurs what falls onto the ground.
//! 4. `shade.rs` colours the ground (`floor.rs`) and each surface that a pixel shows, once, and mixes them by samples.
//! 5. `legend.rs` writes the scale of colours and the caption over it.

mod floor;
mod legend;
mod mesh;
mod raster;
mod shade;
mod shadow;

use crate::{Bounds, Colour, ColourMap, Image, PictureError, Size, Vec3, View};

/// A body: a surface of triangles.
///
/// Triangles and edges with a vertex that does not exist or is not finite are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body<'a> {
    /// The vertices.
    pub positions: &'a [Vec3],
    /// The surface, three vertices each; both sides are visible.
    pub triangles: &'a [[u32; 3]],
    /// A number at each vertex, coloured by the [`ColourScale`]; grey where one is missing or NaN.
    pub values: Option<&'a [f64]>,
    /// The colour, if there are no values.
    pub colour: Colour,
    /// Edges to draw as lines, by their two vertices.
    pub edges: &'a [[u32; 2]],
}

impl<'a> Body<'a> {
    /// A body in the default colour, without lines.
    pub fn new(positions: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Self {
        Self { positions, triangles, values: None, colour: Colour::BODY, edges: &[] }
    }

    /// The box around its vertices; `None` if none are finite.
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::of(self.positions.iter().copied())
    }
}

/// A ball among the bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Its centre.
    pub centre: Vec3,
    /// Its radius.
    pub radius: f64,
    /// Its colour.
    pub colour: Colour,
}

impl Ball {
    /// The box around it.
    pub fn bounds(&self) -> Bounds {
        Bounds { low: self.centre - self.radius.abs(), high: self.centre + self.radius.abs() }
    }
}

/// A plane that bodies stand or fall on, visible from above, with shadows on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// A point of it.
    pub point: Vec3,
    /// Its direction upwards, of any length.
    pub normal: Vec3,
}

/// What the values of bodies mean, and their colours.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourScale {
    /// From the least to the greatest.
    pub map: ColourMap,
    /// The values at both ends; of the scene's own values if `None`, which changes from frame to frame.
    pub range: Option<[f64; 2]>,
    /// What is shown, for the legend: `stress`.
    pub label: String,
    /// In which unit: `kPa`; empty if none.
    pub unit: String,
    /// Whether the legend is drawn.
    pub legend: bool,
}

impl Default for ColourScale {
    fn default() -> Self {
        let (label, unit) = (String::new(), String::new());
        Self { map: ColourMap::Viridis, range: None, label, unit, legend: true }
    }
}

/// All that a picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene<'a> {
    /// The bodies.
    pub bodies: Vec<Body<'a>>,
    /// Balls among them.
    pub balls: Vec<Ball>,
    /// The ground, if any.
    pub ground: Option<Ground>,
    /// Where the camera is.
    pub view: View,
    /// The size of the picture.
    pub size: Size,
    /// What values mean; the legend is drawn if any body has some.
    pub scale: ColourScale,
    /// A line of text in the lower left corner: `t = 0.42 s`.
    pub caption: String,
}

impl Scene<'_> {
    /// A scene with nothing in it.
    pub fn new(view: View, size: Size) -> Self {
        Self {
            bodies: Vec::new(),
            balls: Vec::new(),
            ground: None,
            view,
            size,
            scale: ColourScale::default(),
            caption: String::new(),
        }
    }

    /// Draws it.
    pub fn draw(&self) -> Result<Image, PictureError> {
        let camera = self.view.camera(self.size)?;
        let range = self.range();
        let surfaces = mesh::Surfaces::new(self, &camera, range);
        let lights = shade::Lights::new(&self.view, &camera);
        let (visible, shadows) = rayon::join(
            || raster::Visible::new(&surfaces, self.size),
            || shadow::Shadows::new(&surfaces, lights.key, floor::Floor::new(self, &camera)),
        );
        let mut image = Image::filled(self.size, Colour([255; 3]));
        shade::Shading::new(&surfaces, &visible, &shadows, &lights, self.scale.map, &camera).draw(&mut image);
        legend::draw(self, range, &mut image)?;
        Ok(image)
    }

    /// The values at the ends of the colours: two numbers, the first not above the second, or `None` without values.
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
