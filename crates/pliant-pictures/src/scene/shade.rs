//! Lighting and shading of pixels.

use glam::{Vec2, Vec3A};
use rayon::prelude::*;

use super::floor::FloorRow;
use super::mesh::{Paint, Surfaces, Triangle};
use super::raster::{SAMPLES, Visible};
use super::shadow::Shadows;
use crate::view::Camera;
use crate::{Color, ColorMap, Image, View};

/// Background colors at the top and at the bottom of the picture.
const BACKGROUND: [Color; 2] = [Color([222, 229, 238]), Color([250, 251, 253])];
/// Two tile colors of the ground.
const TILES: [Color; 2] = [Color([234, 236, 240]), Color([226, 229, 234])];
/// Samples per pixel.
const COUNT: usize = SAMPLES * SAMPLES;
/// Brightness due to each light at normal incidence, and without any light; together about one.
const KEY: f32 = 0.74;
const FILL: f32 = 0.18;
const AMBIENT: f32 = 0.28;
const SKY: f32 = 0.14;
const GLOSS: f32 = 0.10;
const RIM: f32 = 0.05;

/// Directions towards the lights, in camera coordinates.
#[derive(Debug)]
pub(crate) struct Lights {
    pub key: Vec3A,
    fill: Vec3A,
    up: Vec3A,
}

impl Lights {
    /// Places a strong light at the upper left of the viewer and a weak one at the right.
    pub fn new(view: &View, camera: &Camera) -> Self {
        let from =
            |azimuth, elevation| camera.seen_direction(view.up.towards(view.azimuth + azimuth, elevation)).as_vec3a();
        Self { key: from(-48.0, 52.0), fill: from(60.0, 18.0), up: from(0.0, 90.0) }
    }
}

/// Everything on which the colors of pixels depend.
#[derive(Debug)]
pub(crate) struct Shading<'a> {
    surfaces: &'a Surfaces,
    visible: &'a Visible,
    shadows: &'a Shadows,
    lights: &'a Lights,
    camera: &'a Camera,
    /// Color map at equal steps, in linear RGB.
    map: Vec<Vec3A>,
    background: [Vec3A; 2],
    tiles: [Vec3A; 2],
    missing: Vec3A,
    encoded: Vec<u8>,
}

impl<'a> Shading<'a> {
    pub fn new(
        surfaces: &'a Surfaces,
        visible: &'a Visible,
        shadows: &'a Shadows,
        lights: &'a Lights,
        map: ColorMap,
        camera: &'a Camera,
    ) -> Self {
        let linear = |color: Color| Vec3A::from(color.linear());
        let encode = |i: u16| {
            let l = f32::from(i) / 4095.0;
            let s = if l <= 0.003_130_8 { 12.92 * l } else { 1.055 * l.powf(1.0 / 2.4) - 0.055 };
            (255.0 * s).round() as u8
        };
        Self {
            surfaces,
            visible,
            shadows,
            lights,
            camera,
            map: (0..256).map(|i| linear(map.at(f64::from(i) / 255.0))).collect(),
            background: BACKGROUND.map(linear),
            tiles: TILES.map(linear),
            missing: linear(Color::MISSING),
            encoded: (0..4096).map(encode).collect(),
        }
    }

    /// Shades all pixels.
    pub fn draw(&self, image: &mut Image) {
        let size = image.size();
        image.bytes_mut().par_chunks_exact_mut(4 * size.width() as usize).enumerate().for_each(|(row, pixels)| {
            let height = (row as f32 + 0.5) / size.height() as f32;
            let background = self.background[0].lerp(self.background[1], height);
            let floor = self.shadows.floor.as_ref().map(|floor| floor.row(row, self.camera));
            for (column, pixel) in pixels.chunks_exact_mut(4).enumerate() {
                let shown = self.shown(column, row);
                let backdrop = || floor.as_ref().map_or(background, |floor| self.backdrop(floor, column, background));
                let color = if shown == [Visible::NOTHING; COUNT] {
                    backdrop()
                } else {
                    self.mixed(shown, [column as f32 + 0.5, row as f32 + 0.5], backdrop)
                };
                for (channel, light) in pixel.iter_mut().zip(color.to_array()) {
                    *channel = self.encoded[(light * 4095.0 + 0.5).clamp(0.0, 4095.0) as usize];
                }
            }
        });
    }

    /// Returns the triangles at the samples of a pixel; `NOTHING` where only ground or background is visible.
    fn shown(&self, column: usize, row: usize) -> [u32; COUNT] {
        let mut shown = [Visible::NOTHING; COUNT];
        for (sample, shown) in shown.iter_mut().enumerate() {
            let (x, y) = (SAMPLES * column + sample % SAMPLES, SAMPLES * row + sample / SAMPLES);
            let at = y * self.visible.width + x;
            if self.visible.triangle[at] != Visible::NOTHING {
                let floor = self.shadows.floor.as_ref();
                let hidden = floor.is_some_and(|floor| floor.nearness_at(x, y) > self.visible.nearness[at]);
                *shown = if hidden { Visible::NOTHING } else { self.visible.triangle[at] };
            }
        }
        shown
    }

    /// Returns the mean color of a pixel's samples.
    fn mixed(&self, shown: [u32; COUNT], middle: [f32; 2], backdrop: impl Fn() -> Vec3A) -> Vec3A {
        let color = |shown: u32| match self.surfaces.triangles.get(shown as usize) {
            Some(triangle) => self.surface(triangle, middle),
            None => backdrop(),
        };
        let mut sum = Vec3A::ZERO;
        let mut done = [false; COUNT];
        for i in 0..COUNT {
            // Each surface is shaded once, at its first sample.
            if done[i] {
                continue;
            }
            let mut samples = 0;
            for j in i..COUNT {
                if !done[j] && (shown[i] == shown[j] || self.continues(shown[i], shown[j])) {
                    done[j] = true;
                    samples += 1;
                }
            }
            sum += samples as f32 / COUNT as f32 * color(shown[i]);
        }
        sum
    }

    /// Returns true if two triangles are small parts of one smooth surface, and so have the same color at a pixel.
    fn continues(&self, one: u32, other: u32) -> bool {
        let triangles = &self.surfaces.triangles;
        let (Some(one), Some(other)) = (triangles.get(one as usize), triangles.get(other as usize)) else {
            return false;
        };
        let [a, b] = [one, other].map(|triangle| &self.surfaces.corners[triangle.corners[0] as usize]);
        let steps = (a.nearness - b.nearness).abs() / a.nearness;
        one.paint == other.paint && steps < 0.01 && a.normal.dot(b.normal) > 0.98 && (a.tone - b.tone).abs() <= 0.03
    }

    /// Returns the ground in front of the background at a pixel of a row.
    fn backdrop(&self, row: &FloorRow, column: usize, background: Vec3A) -> Vec3A {
        let Some(point) = row.at(column) else { return background };
        let tile = self.tiles[0].lerp(self.tiles[1], point.tile);
        let [hidden, contact] = self.shadows.on_ground(point.position);
        let light = (1.0 - 0.55 * hidden) * (1.0 - 0.45 * contact);
        background.lerp(tile, point.fade) * (1.0 - (1.0 - light) * point.fade.sqrt())
    }

    /// Returns the color of a triangle at a pixel, or at its boundary if it only touches the pixel.
    fn surface(&self, triangle: &Triangle, middle: [f32; 2]) -> Vec3A {
        let paint = self.surfaces.paints[triangle.paint as usize];
        if let Paint::Line(color) = paint {
            return color.into();
        }
        let corners = self.surfaces.corners_of(triangle);
        let at = SAMPLES as f32 * Vec2::from(middle);
        let offsets = corners.map(|corner| Vec2::from(corner.sample) - at);
        let areas = [1, 2, 0].map(|i: usize| offsets[i].perp_dot(offsets[(i + 1) % 3]));
        let turn = (areas[0] + areas[1] + areas[2]).signum();
        let weights = [0, 1, 2].map(|i| (areas[i] * turn).max(0.0) * corners[i].nearness);
        let total: f32 = weights.iter().sum();
        let weights = if total > 0.0 { weights.map(|weight| weight / total) } else { [1.0 / 3.0; 3] };
        let mean = |of: [Vec3A; 3]| weights[0] * of[0] + weights[1] * of[1] + weights[2] * of[2];
        let position = mean(corners.map(|corner| corner.position));
        let normal = mean(corners.map(|corner| corner.normal)).normalize_or_zero();
        let [a, b, c] = corners.map(|corner| corner.position);
        // Both sides are lit. The orientation of the flat triangle determines the visible side.
        let normal = if (b - a).cross(c - a).dot(position) > 0.0 { -normal } else { normal };
        let albedo = match paint {
            Paint::Plain(color) | Paint::Line(color) => color.into(),
            Paint::Mapped => self.mapped((0..3).map(|i| weights[i] * corners[i].tone).sum()),
        };
        self.lit(albedo, position, normal)
    }

    fn mapped(&self, tone: f32) -> Vec3A {
        if tone.is_nan() { self.missing } else { self.map[(tone.clamp(0.0, 1.0) * 255.0 + 0.5) as usize] }
    }

    fn lit(&self, albedo: Vec3A, position: Vec3A, normal: Vec3A) -> Vec3A {
        let Lights { key, fill, up } = self.lights;
        let to_camera = -position.normalize_or_zero();
        let facing = normal.dot(*key);
        let light = if facing > 0.0 { self.shadows.light_at(position, normal) } else { 0.0 };
        let half = (*key + to_camera).normalize_or_zero();
        let square = |x: f32| x * x;
        let mirrored = square(square(normal.dot(half).max(0.0)));
        let gloss = GLOSS * light * mirrored * square(square(square(mirrored)));
        let rim = RIM * square(square(1.0 - normal.dot(to_camera).max(0.0)));
        let diffuse = AMBIENT
            + SKY * (0.5 + 0.5 * normal.dot(*up))
            + FILL * normal.dot(*fill).max(0.0)
            + KEY * light * facing.max(0.0);
        albedo * diffuse + gloss + rim
    }
}
