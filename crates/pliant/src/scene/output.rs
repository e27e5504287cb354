//! What is written, and where: `[output]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Angle, Length, Rate, dimension};
use super::{At, SceneError, Source, Vector, bounds};
use crate::output::Shown;

/// What is written, and where.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// The folder to write to; by default `out/` and the name of the scene.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub directory: Option<At<String>>,
    /// Frames per simulated second. By default 30, or 25, 24 or 60 if only that is a whole number of steps; more if there would be fewer than 30
    /// in total.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub frame_rate: Option<At<Rate>>,
    /// What else to write beside the frames themselves and the table of probes.
    pub formats: Vec<At<Animation>>,
    /// After how many steps numbers are recorded; by default every step, and of a reduced model every frame, as recording would take longer than
    /// the steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub record_every: Option<At<u32>>,
    /// How pictures look.
    pub picture: At<Picture>,
}

/// A way to write an animation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Animation {
    /// For ParaView: volume meshes at rest with displacement (for Warp By Vector), velocity, stress, strain and more; one file per frame, and a list of them.
    Vtu,
    /// Surfaces for anything; a file a frame.
    Obj,
    /// The same, binary.
    Ply,
    /// For Blender, browsers and game engines: one animated file.
    Glb,
    /// A point cache for Blender and 3ds Max.
    Pc2,
    /// A point cache for Blender, Houdini and Maya.
    Mdd,
    /// Pictures; a file a frame.
    Png,
    /// One animated picture.
    Gif,
    /// A film, if the program ffmpeg is there.
    Mp4,
    /// Plots of energies, volume and probes, as SVG and PNG.
    Plot,
}

/// How pictures look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Picture {
    /// Width and height in pixels.
    #[schemars(inner(range(min = 1, max = LARGEST_SIDE)))]
    pub size: [u32; 2],
    /// What colours show.
    pub colour: Colour,
    /// The numbers at both ends of the colours; by default the least and the greatest of all frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Where one looks from; by default so that all is in the picture.
    pub view: View,
    /// Whether edges of the mesh are drawn.
    pub edges: bool,
    /// Frames a second that films and animated pictures play with; by default those of the simulation, so that they run in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub play_rate: Option<Rate>,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            size: [800, 600],
            colour: Colour::default(),
            range: None,
            view: View::default(),
            edges: true,
            play_rate: None,
        }
    }
}

/// What colours show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Colour {
    /// Which object or region it is.
    #[default]
    Body,
    /// How far it has moved, in m.
    Displacement,
    /// How fast it moves, in m/s.
    Speed,
    /// The von Mises stress recovered at vertices, in Pa; never averaged across regions: where they meet, the larger is shown.
    VonMises,
    /// The volume as a part of that at rest.
    VolumeRatio,
    /// The elastic energy, in J/m³.
    Energy,
}

/// Where one looks from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct View {
    /// The angle around the upward axis.
    pub azimuth: Angle,
    /// The angle above the horizon.
    pub elevation: Angle,
    /// What is in the middle of the picture; by default the middle of all that is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Vector<dimension::Length>>,
    /// From how far away; by default as far as it takes to see all.
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
    /// Checks values that need no other table. Building a scene does so too.
    pub fn check(&self, source: &Source) -> Result<(), SceneError> {
        if let Some(directory) = self.directory.as_ref().filter(|directory| directory.value.is_empty()) {
            let message = "`directory` is empty: expected the name of a folder; leave the key out for `out/` and the name of the scene";
            return Err(source.error(directory.span.as_ref(), message));
        }
        self.picture.check(source)
    }
}

impl At<Picture> {
    /// What no picture can be like.
    pub(super) fn check(&self, source: &Source) -> Result<(), SceneError> {
        let wrong = |message: String| Err(source.error(self.span.as_ref(), message));
        let [width, height] = self.size;
        if !(1..=LARGEST_SIDE).contains(&width) || !(1..=LARGEST_SIDE).contains(&height) {
            return wrong(format!("a picture of {width} × {height} pixels, expected 1 to {LARGEST_SIDE} each"));
        }
        if let Some(rate) = self.play_rate.filter(|rate| !(rate.si > 0.0)) {
            return wrong(format!("{} frames a second, expected a positive number", rate.si));
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

/// In pixels.
const LARGEST_SIDE: u32 = 5000;

impl Colour {
    /// The numbers that it shows, if it shows numbers.
    pub fn shown(self) -> Option<Shown> {
        match self {
            Self::Body => None,
            Self::Displacement => Some(Shown::Displacement),
            Self::Speed => Some(Shown::Speed),
            Self::VonMises => Some(Shown::VonMises),
            Self::VolumeRatio => Some(Shown::VolumeRatio),
            Self::Energy => Some(Shown::Energy),
        }
    }
}
