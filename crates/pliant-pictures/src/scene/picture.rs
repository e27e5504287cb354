//! Drawing of a scene.

use super::{ColorScale, Scene, floor, legend, mesh, raster, shade, shadow};
use crate::{Color, Image, PictureError, Size, View};

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
    pub(super) fn range(&self) -> Option<[f64; 2]> {
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
