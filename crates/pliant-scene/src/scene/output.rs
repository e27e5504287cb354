//! Output files: `[output]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Angle, Length, Rate, dimension};
use super::registered::{Choice, Entry};
use super::{Located, SceneError, Source, Vector, bounds};
use crate::output::{AnimationFormat, COLOR_FIELDS, ColorField, FORMATS};

/// Output files and their folder.
///
/// ```toml
/// [output]
/// directory = "out/bar"
/// frame_rate = 60
/// formats = ["vtu", "glb"]
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Output folder; by default `out/` and the name of the scene.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub directory: Option<Located<String>>,
    /// Frames per simulated second. The default is the first of 30, 25, 24 and 60 whose interval is a whole number of
    /// steps, else 30. The default is increased if there would be fewer than 30 frames in total.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub frame_rate: Option<Located<Rate>>,
    /// Formats to write in addition to the frames and the table of probes.
    pub formats: Vec<Located<Animation>>,
    /// Number of steps between recorded rows. The default is every step; for a reduced model every frame, because
    /// recording would take longer than the steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub record_every: Option<Located<u32>>,
    /// Appearance of pictures.
    pub picture: Located<Picture>,
}

/// Animation format.
pub type Animation = Choice<&'static AnimationFormat>;

impl Entry for &'static AnimationFormat {
    const KIND: &'static str = "Animation";
    const ABOUT: &'static str = "Animation format.";

    fn all() -> impl Iterator<Item = Choice<Self>> {
        FORMATS.iter().map(|format| Choice { name: format.name, about: format.about, entry: format })
    }
}

/// Appearance of pictures.
///
/// ```toml
/// [output]
/// formats = ["png"]
///
/// [output.picture]
/// size = [1280, 720]
/// color = "von-mises"
/// range = [0, 1e5]
/// edges = false
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Picture {
    /// Width and height in pixels.
    #[schemars(inner(range(min = 1, max = MAX_SIDE)))]
    pub size: [u32; 2],
    /// Quantity shown by colors.
    pub color: Color,
    /// Values at the ends of the color map; by default the minimum and maximum over all frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Camera; by default everything is in the picture.
    pub view: View,
    /// True if mesh edges are drawn.
    pub edges: bool,
    /// Playback rate of videos and animated pictures in frames per second; by default that of the simulation, so that
    /// they play in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub play_rate: Option<Rate>,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            size: [800, 600],
            color: Color::default(),
            range: None,
            view: View::default(),
            edges: true,
            play_rate: None,
        }
    }
}

/// Quantity shown by colors: a scalar field, or `None` for bodies.
pub type Color = Choice<Option<&'static ColorField>>;

/// Name of the colors of bodies.
const BODY: Color = Choice { name: "body", about: "Object or region", entry: None };

impl Entry for Option<&'static ColorField> {
    const KIND: &'static str = "Color";
    const ABOUT: &'static str = "Quantity shown by colors.";

    fn all() -> impl Iterator<Item = Choice<Self>> {
        std::iter::once(BODY).chain(COLOR_FIELDS.iter().map(Color::from))
    }
}

impl From<&'static ColorField> for Color {
    fn from(field: &'static ColorField) -> Self {
        Self { name: field.name, about: field.about, entry: Some(field) }
    }
}

impl Default for Color {
    fn default() -> Self {
        BODY
    }
}

/// Camera position.
///
/// ```toml
/// [output.picture.view]
/// azimuth = "30 deg"
/// elevation = "10 deg"
/// target = ["50 cm", 0, 0]
/// distance = "3 m"
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct View {
    /// Azimuth about the upward axis.
    pub azimuth: Angle,
    /// Elevation above the horizon.
    pub elevation: Angle,
    /// Point at the center of the picture; by default the center of everything that is visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Vector<dimension::Length>>,
    /// Distance from the target; by default large enough to show everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub distance: Option<Length>,
}

impl Default for View {
    fn default() -> Self {
        Self {
            azimuth: Angle::new(30_f64.to_radians()),
            elevation: Angle::new(20_f64.to_radians()),
            target: None,
            distance: None,
        }
    }
}

impl Output {
    /// Checks values that do not depend on other tables. Building a scene includes this check.
    pub fn check(&self, source: &Source) -> Result<(), SceneError> {
        if let Some(directory) = self.directory.as_ref().filter(|directory| directory.value.is_empty()) {
            let message = "`directory` is empty: expected the name of a folder; leave the key out for `out/` and the name of the scene";
            return Err(source.error(directory.span.as_ref(), message));
        }
        self.picture.check(source)
    }
}

impl Located<Picture> {
    /// Checks the size, the rates, the distance and the range.
    pub(super) fn check(&self, source: &Source) -> Result<(), SceneError> {
        let wrong = |message: String| Err(source.error(self.span.as_ref(), message));
        let [width, height] = self.size;
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            return wrong(format!("a picture of {width} × {height} pixels, expected 1 to {MAX_SIDE} each"));
        }
        if let Some(rate) = self.play_rate.filter(|rate| !(rate.si > 0.0)) {
            return wrong(format!("{} frames per second, expected a positive number", rate.si));
        }
        if let Some(distance) = self.view.distance.filter(|distance| !(distance.si > 0.0)) {
            return wrong(format!("a distance of {} m, expected a positive length", distance.si));
        }
        if let Some([low, high]) = self.range.filter(|[low, high]| !(low < high && high.is_finite() && low.is_finite()))
        {
            return wrong(format!("a range from {low} to {high}, expected the smaller number first"));
        }
        Ok(())
    }
}

/// Maximum width and height of pictures, in pixels.
const MAX_SIDE: u32 = 5000;
