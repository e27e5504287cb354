//! Ground plane.

use glam::Vec3A;

use super::Scene;
use super::raster::{Plane, SAMPLES};
use crate::Vec3;
use crate::view::Camera;

/// Distances from the target at which the ground begins and ends to fade, in units of the camera's distance.
const FADE: [f32; 2] = [0.30, 1.05];

/// Ground plane seen from above: the points with `normal · p = distance`.
#[derive(Debug)]
pub(crate) struct Floor {
    pub normal: Vec3A,
    pub distance: f32,
    /// Offsets from the camera to the points at depth one along rows and columns of tiles, in tiles, over samples.
    tile_planes: [Plane; 2],
    /// Position of the camera in tiles; only the parity of whole tiles matters.
    tile_offset: [f32; 2],
    /// Point of the ground nearest to the target.
    middle: Vec3A,
    /// Inverse depth of the ground over samples.
    nearness: Plane,
}

impl Floor {
    /// Returns the ground of a scene. Returns `None` without a ground, with the camera below it, or with a zero normal.
    pub fn new(scene: &Scene, camera: &Camera) -> Option<Self> {
        let ground = scene.ground?;
        let world_normal = ground.normal.try_normalize()?;
        let normal = camera.seen_direction(world_normal);
        let distance = normal.dot(camera.seen(ground.point));
        if !(distance.is_finite() && distance.abs() < 1e6 && distance < -1e-6) {
            return None;
        }
        // Tiles have a round length and are aligned with the coordinate axes.
        let first = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis.reject_from_normalized(world_normal));
        let first = first.into_iter().max_by(|a, b| a.length().total_cmp(&b.length()))?.try_normalize()?;
        let side = round_length(0.075 * camera.distance);
        let world_axes = [first, world_normal.cross(first)];
        let tile_offset =
            world_axes.map(|axis| (axis.dot(camera.position - ground.point) / side).rem_euclid(2.0) as f32);
        let target = Vec3::Z;
        let middle = target - (normal.dot(target) - distance) * normal;
        // The depth of the ground along the ray `r` is `distance / (normal · r)`, and `r` is linear in the picture.
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

    /// Returns the inverse depth of the ground at a sample.
    pub fn nearness_at(&self, x: usize, y: usize) -> f32 {
        self.nearness.at(x as f64 + 0.5, y as f64 + 0.5) as f32
    }

    /// Returns the ground in a row of pixels.
    pub fn row(&self, row: usize, camera: &Camera) -> FloorRow<'_> {
        let samples = SAMPLES as f64;
        let line = |plane: &Plane| Line {
            start: plane.at(0.5 * samples, (row as f64 + 0.5) * samples) as f32,
            slope: (plane.slope[0] * samples) as f32,
        };
        let [ray, next] = [0.5, 1.5].map(|x| camera.ray([x, row as f64 + 0.5]));
        FloorRow {
            floor: self,
            nearness: line(&self.nearness),
            tiles: [line(&self.tile_planes[0]), line(&self.tile_planes[1])],
            ray: ray.as_vec3a(),
            ray_slope: (next - ray).as_vec3a(),
        }
    }
}

/// Linear function of the column.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: f32,
    slope: f32,
}

impl Line {
    fn at(&self, column: f32) -> f32 {
        self.start + column * self.slope
    }
}

/// Ground in a row of pixels, in single precision.
#[derive(Debug)]
pub(crate) struct FloorRow<'a> {
    floor: &'a Floor,
    nearness: Line,
    tiles: [Line; 2],
    /// Point at depth one in the first column; the next field is its increment per column.
    ray: Vec3A,
    ray_slope: Vec3A,
}

/// Point of the ground.
#[derive(Debug)]
pub(crate) struct FloorPoint {
    pub position: Vec3A,
    /// Opacity from 0 to 1.
    pub fade: f32,
    /// Fraction of the pixel covered by the second tile color, from 0 to 1.
    pub tile: f32,
}

impl FloorRow<'_> {
    /// Returns the ground in a column, or `None` where it has faded completely.
    pub fn at(&self, column: usize) -> Option<FloorPoint> {
        let column = column as f32;
        let nearness = self.nearness.at(column);
        if nearness <= 1e-4 {
            return None;
        }
        let depth = 1.0 / nearness;
        let position = (self.ray + column * self.ray_slope) * depth;
        let away = (position - self.floor.middle).length();
        let fade = 1.0 - smooth_step(FADE[0], FADE[1], away);
        (fade > 0.0).then(|| FloorPoint { position, fade, tile: self.tile(column, depth) })
    }

    fn tile(&self, column: f32, depth: f32) -> f32 {
        // Integral of a square wave of ±1 with period 2. Its difference across a pixel gives the mean over the pixel.
        let integral = |x: f32| (fraction(x / 2.0) - 0.5).abs() * 2.0;
        let mean = |i: usize| {
            let along = self.tiles[i].at(column) * depth;
            // Footprint of the pixel on the ground: the derivative of a quotient along the ray.
            let (tiles, nearness) = (&self.floor.tile_planes[i].slope, &self.floor.nearness.slope);
            let slope = |j: usize| (tiles[j] as f32 - along * nearness[j] as f32) * depth;
            let half = (0.6 * SAMPLES as f32 * (slope(0).abs() + slope(1).abs())).max(1e-4);
            let at = along + self.floor.tile_offset[i];
            (integral(at + half) - integral(at - half)) / (2.0 * half)
        };
        0.5 - 0.5 * mean(0) * mean(1)
    }
}

/// Returns the fractional part of a number. Numbers are small here, and `floor` would be a function call.
fn fraction(x: f32) -> f32 {
    let part = x - (x as i32) as f32;
    if part < 0.0 { part + 1.0 } else { part }
}

/// Rounds a length down to 1, 2 or 5 times a power of ten.
fn round_length(length: f64) -> f64 {
    let power = 10f64.powi(length.log10().floor() as i32);
    let digit = [5.0, 2.0].into_iter().find(|&digit| length >= digit * power).unwrap_or(1.0);
    digit * power
}

fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
