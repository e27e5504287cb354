//! Light, and the colours of pixels.

use glam::{Vec2, Vec3A};
use rayon::prelude::*;

use super::Scene;
use super::mesh::{Paint, Surfaces, Triangle};
use super::raster::{Plane, SAMPLES, Visible};
use super::shadow::Shadows;
use crate::view::Camera;
use crate::{Colour, ColourMap, Image, Vec3, View};

/// The background at the top and at the bottom of the picture.
const BACKGROUND: [Colour; 2] = [Colour([222, 229, 238]), Colour([250, 251, 253])];
/// The two tiles of the ground.
const TILES: [Colour; 2] = [Colour([234, 236, 240]), Colour([226, 229, 234])];
/// How far from the target the ground starts and ends to fade away, in units of the camera's distance.
const FADE: [f32; 2] = [0.30, 1.05];
/// The brightness of a surface that faces each light, and of one that faces none; together about one.
const KEY: f32 = 0.74;
const FILL: f32 = 0.18;
const AMBIENT: f32 = 0.28;
const SKY: f32 = 0.14;
const GLOSS: f32 = 0.10;
const RIM: f32 = 0.05;

/// Directions towards the lights, in the axes of the camera.
#[derive(Debug)]
pub(crate) struct Lights {
    pub key: Vec3A,
    fill: Vec3A,
    up: Vec3A,
}

impl Lights {
    /// A strong light from the upper left of whoever looks, a weak one from the right.
    pub fn new(view: &View, camera: &Camera) -> Self {
        let from =
            |azimuth, elevation| camera.seen_direction(view.up.towards(view.azimuth + azimuth, elevation)).as_vec3a();
        Self { key: from(-48.0, 52.0), fill: from(60.0, 18.0), up: from(0.0, 90.0) }
    }
}

/// The ground, seen from above: the points with `normal · p = distance`.
#[derive(Debug)]
pub(crate) struct Floor {
    pub normal: Vec3A,
    pub distance: f32,
    /// How far the points at depth one are from the camera along rows and columns of tiles, in tiles, over samples.
    tile_planes: [Plane; 2],
    /// Where the camera is, in tiles; only the parity of whole tiles matters.
    tile_offset: [f32; 2],
    /// The point of the ground nearest to the target.
    middle: Vec3A,
    /// One over the depth of the ground, over samples.
    nearness: Plane,
}

impl Floor {
    /// The ground of a scene, if it has one, the camera is above it and it has a direction.
    pub fn new(scene: &Scene, camera: &Camera) -> Option<Self> {
        let ground = scene.ground?;
        let world_normal = ground.normal.try_normalize()?;
        let normal = camera.seen_direction(world_normal);
        let distance = normal.dot(camera.seen(ground.point));
        if !(distance.is_finite() && distance.abs() < 1e6 && distance < -1e-6) {
            return None;
        }
        // Tiles have a round length and lie along the axes of space.
        let first = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis.reject_from_normalized(world_normal));
        let first = first.into_iter().max_by(|a, b| a.length().total_cmp(&b.length()))?.try_normalize()?;
        let side = round_length(0.075 * camera.distance);
        let world_axes = [first, world_normal.cross(first)];
        let tile_offset =
            world_axes.map(|axis| (axis.dot(camera.position - ground.point) / side).rem_euclid(2.0) as f32);
        let target = Vec3::Z;
        let middle = target - (normal.dot(target) - distance) * normal;
        // The depth of the ground along the ray `r` is `distance / (normal · r)`, and `r` is linear over the picture.
        let linear = |along: Vec3| {
            let [at_origin, to_the_right, downwards] =
                [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|pixel| along.dot(camera.ray(pixel)));
            let slope = [to_the_right - at_origin, downwards - at_origin].map(|per_pixel| per_pixel / SAMPLES as f64);
            Plane { base: at_origin, slope }
        };
        let nearness = linear(normal / distance);
        let tile_planes = world_axes.map(|axis| linear(camera.seen_direction(axis) * (camera.distance / side)));
        let (normal, distance, middle) = (normal.as_vec3a(), distance as f32, middle.as_vec3a());
        Some(Self { normal, distance, tile_planes, tile_offset, middle, nearness })
    }

    /// How much of the second tile a pixel shows, from 0 to 1, given a sample at its middle and the nearness there.
    fn tile(&self, [x, y]: [f64; 2], nearness: f32) -> f32 {
        // The integral of a wave of ±1 with period 2; its difference over the sides of a pixel is the mean in it.
        let integral = |x: f32| (fraction(x / 2.0) - 0.5).abs() * 2.0;
        let mean = |i: usize| {
            let plane = &self.tile_planes[i];
            let along = plane.at(x, y) as f32 / nearness;
            // How far the ground moves under the pixel when the ray turns to the next: the derivative of a quotient.
            let slope = |j: usize| (plane.slope[j] as f32 - along * self.nearness.slope[j] as f32) / nearness;
            let half = (0.6 * SAMPLES as f32 * (slope(0).abs() + slope(1).abs())).max(1e-4);
            let at = along + self.tile_offset[i];
            (integral(at + half) - integral(at - half)) / (2.0 * half)
        };
        0.5 - 0.5 * mean(0) * mean(1)
    }
}

/// What of a number is above the next whole one below. Numbers are small here; `floor` would be a call to a function.
fn fraction(x: f32) -> f32 {
    let part = x - (x as i32) as f32;
    if part < 0.0 { part + 1.0 } else { part }
}

/// The power of ten, or 2 or 5 times one, nearest below a length.
fn round_length(length: f64) -> f64 {
    let power = 10f64.powi(length.log10().floor() as i32);
    let digit = length / power;
    power
        * if digit >= 5.0 {
            5.0
        } else if digit >= 2.0 {
            2.0
        } else {
            1.0
        }
}

/// All that the colours of pixels depend on.
#[derive(Debug)]
pub(crate) struct Shading<'a> {
    surfaces: &'a Surfaces,
    visible: &'a Visible,
    shadows: &'a Shadows,
    lights: &'a Lights,
    camera: &'a Camera,
    /// The colour map in equal steps, linear.
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
        map: ColourMap,
        camera: &'a Camera,
    ) -> Self {
        let linear = |colour: Colour| Vec3A::from(colour.linear());
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
            missing: linear(Colour::MISSING),
            encoded: (0..4096).map(encode).collect(),
        }
    }

    /// Colours all pixels.
    pub fn draw(&self, image: &mut Image) {
        let size = image.size();
        image.bytes_mut().par_chunks_exact_mut(4 * size.width() as usize).enumerate().for_each(|(row, pixels)| {
            let height = (row as f32 + 0.5) / size.height() as f32;
            let background = self.background[0].lerp(self.background[1], height);
            for (column, pixel) in pixels.chunks_exact_mut(4).enumerate() {
                let colour = self.pixel(column, row, background);
                for (channel, light) in pixel.iter_mut().zip(colour.to_array()) {
                    *channel = self.encoded[(light * 4095.0 + 0.5).clamp(0.0, 4095.0) as usize];
                }
            }
        });
    }

    /// The mean colour of the samples of a pixel.
    fn pixel(&self, column: usize, row: usize, background: Vec3A) -> Vec3A {
        const COUNT: usize = SAMPLES * SAMPLES;
        let mut shown = [Visible::NOTHING; COUNT];
        for (sample, shown) in shown.iter_mut().enumerate() {
            let (x, y) = (SAMPLES * column + sample % SAMPLES, SAMPLES * row + sample / SAMPLES);
            let at = y * self.visible.width + x;
            let hidden = self.shadows.floor.as_ref().is_some_and(|floor| {
                floor.nearness.at(x as f64 + 0.5, y as f64 + 0.5) as f32 > self.visible.nearness[at]
            });
            if !hidden {
                *shown = self.visible.triangle[at];
            }
        }
        let middle = [column as f64 + 0.5, row as f64 + 0.5];
        let colour = |shown: u32| match self.surfaces.triangles.get(shown as usize) {
            Some(triangle) => self.surface(triangle, middle),
            None => self.backdrop(middle, background),
        };
        if shown[1..].iter().all(|&other| other == shown[0]) {
            return colour(shown[0]);
        }
        let mut sum = Vec3A::ZERO;
        for i in 0..COUNT {
            // Each triangle is coloured once, when its first sample comes.
            if !shown[..i].contains(&shown[i]) {
                let samples = shown[i..].iter().filter(|&&other| other == shown[i]).count();
                sum += samples as f32 / COUNT as f32 * colour(shown[i]);
            }
        }
        sum
    }

    /// The ground before the background.
    fn backdrop(&self, pixel: [f64; 2], background: Vec3A) -> Vec3A {
        let Some(floor) = &self.shadows.floor else { return background };
        let sample = pixel.map(|coordinate| coordinate * SAMPLES as f64);
        let nearness = floor.nearness.at(sample[0], sample[1]) as f32;
        if nearness <= 1e-4 {
            return background;
        }
        let ray = self.camera.ray(pixel).as_vec3a();
        let position = ray / nearness;
        let away = (position - floor.middle).length();
        let fade = 1.0 - smooth_step(FADE[0], FADE[1], away);
        if fade <= 0.0 {
            return background;
        }
        let tile = self.tiles[0].lerp(self.tiles[1], floor.tile(sample, nearness));
        let [hidden, contact] = self.shadows.on_ground(position);
        let light = (1.0 - 0.55 * hidden) * (1.0 - 0.45 * contact);
        background.lerp(tile, fade) * (1.0 - (1.0 - light) * fade.sqrt())
    }

    /// The colour of a triangle at a pixel; at its border if it only touches the pixel.
    fn surface(&self, triangle: &Triangle, [x, y]: [f64; 2]) -> Vec3A {
        let paint = self.surfaces.paints[triangle.paint as usize];
        if let Paint::Line(colour) = paint {
            return colour.into();
        }
        let corners = self.surfaces.corners_of(triangle);
        let at = Vec2::new((x * SAMPLES as f64) as f32, (y * SAMPLES as f64) as f32);
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
        // Both sides are lit; the side that is seen is that of the flat triangle.
        let normal = if (b - a).cross(c - a).dot(position) > 0.0 { -normal } else { normal };
        let albedo = match paint {
            Paint::Plain(colour) | Paint::Line(colour) => colour.into(),
            Paint::Mapped => self.mapped((0..3).map(|i| weights[i] * corners[i].tone).sum()),
        };
        self.lit(albedo, position, normal)
    }

    fn mapped(&self, tone: f32) -> Vec3A {
        if tone.is_nan() { self.missing } else { self.map[(tone.clamp(0.0, 1.0) * 255.0).round() as usize] }
    }

    fn lit(&self, albedo: Vec3A, position: Vec3A, normal: Vec3A) -> Vec3A {
        let Lights { key, fill, up } = self.lights;
        let to_camera = -position.normalize_or_zero();
        let facing = normal.dot(*key);
        let light = if facing > 0.0 { self.shadows.light_at(position, normal) } else { 0.0 };
        let half = (*key + to_camera).normalize_or_zero();
        let gloss = GLOSS * light * normal.dot(half).max(0.0).powi(36);
        let rim = RIM * (1.0 - normal.dot(to_camera).max(0.0)).powi(4);
        let diffuse = AMBIENT
            + SKY * (0.5 + 0.5 * normal.dot(*up))
            + FILL * normal.dot(*fill).max(0.0)
            + KEY * light * facing.max(0.0);
        albedo * diffuse + gloss + rim
    }
}

fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
