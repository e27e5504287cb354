//! Shadows and ambient occlusion.

use glam::{Vec2, Vec3A};

use super::floor::Floor;
use super::mesh::Surfaces;
use super::raster::{Plane, spans};

/// Cells per side of the shadow map.
const LIGHT_CELLS: usize = 768;
/// Cells per side of the blurred maps on the ground.
const GROUND_CELLS: usize = 384;
/// Maximum distance of shadow casters from the target, in units of the camera's distance. Beyond it the map would be
/// too coarse.
const REACH: f32 = 2.0;
/// Maximum height above the ground at which a body darkens it by hiding part of the sky.
const CONTACT_HEIGHT: f32 = 0.07;

/// Heights of the nearest surface over a square grid, seen along a direction.
#[derive(Debug)]
struct HeightMap {
    cells: usize,
    /// Axes: right, back, and towards the viewpoint.
    axes: [Vec3A; 3],
    low: Vec2,
    /// Cells per unit of length.
    scale: f32,
    heights: Vec<f32>,
}

impl HeightMap {
    /// Renders all triangles as seen from `towards`, with the fraction `margin` of the width free on all sides. Returns
    /// `None` if there are no triangles.
    fn new(surfaces: &Surfaces, towards: Vec3A, cells: usize, margin: f32) -> Option<Self> {
        let right = towards.any_orthonormal_vector();
        let axes = [right, towards.cross(right), towards];
        let flat = |position: Vec3A| Vec2::new(position.dot(axes[0]), position.dot(axes[1]));
        let near = |position: Vec3A| (position - Vec3A::Z).abs().max_element() < REACH;
        let casters = || surfaces.solid().filter(move |corners| corners.iter().all(|corner| near(corner.position)));
        let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        for point in casters().flatten().map(|corner| flat(corner.position)) {
            (low, high) = (low.min(point), high.max(point));
        }
        let extent = (high - low).max_element().max(1e-6);
        if !extent.is_finite() {
            return None;
        }
        let scale = cells as f32 * (1.0 - 2.0 * margin) / extent;
        let low = (low + high) / 2.0 - cells as f32 / 2.0 / scale;
        let mut map = Self { cells, axes, low, scale, heights: vec![f32::NEG_INFINITY; cells * cells] };
        for corners in casters() {
            let flat = corners.map(|corner| map.cell(corner.position).to_array());
            let heights = corners.map(|corner| corner.position.dot(towards));
            let Some(plane) = Plane::through(flat, heights) else { continue };
            spans(flat, cells, cells, |row, columns| {
                let height = plane.along(row, columns.start);
                let cells = &mut map.heights[row * cells..][columns];
                for (step, cell) in cells.iter_mut().enumerate() {
                    *cell = if height(step) > *cell { height(step) } else { *cell };
                }
            });
        }
        Some(map)
    }

    /// Returns the grid coordinates of a point.
    fn cell(&self, position: Vec3A) -> Vec2 {
        (Vec2::new(position.dot(self.axes[0]), position.dot(self.axes[1])) - self.low) * self.scale
    }

    /// Returns the point of a cell in the plane given by its normal and its distance from the origin.
    fn on_plane(&self, column: f32, row: f32, normal: Vec3A, distance: f32) -> Vec3A {
        let flat = self.low + Vec2::new(column, row) / self.scale;
        let point = flat.x * self.axes[0] + flat.y * self.axes[1];
        point + (distance - normal.dot(point)) / normal.dot(self.axes[2]) * self.axes[2]
    }
}

/// Bilinearly interpolated values over a square grid.
#[derive(Debug)]
struct Field {
    cells: usize,
    values: Vec<f32>,
}

impl Field {
    /// Returns the value at a grid point, 0 outside.
    fn at(&self, point: Vec2) -> f32 {
        let corner = point - 0.5;
        let last = (self.cells - 1) as f32;
        if !(corner.cmpge(Vec2::ZERO).all() && corner.cmplt(Vec2::splat(last)).all()) {
            return 0.0;
        }
        let (column, row) = (corner.x as usize, corner.y as usize);
        let t = corner - Vec2::new(column as f32, row as f32);
        let start = row * self.cells + column;
        let [upper, lower] =
            [start, start + self.cells].map(|at| self.values[at] + t.x * (self.values[at + 1] - self.values[at]));
        upper + t.y * (lower - upper)
    }

    /// Returns the values smoothed by two box filters of `radius` cells.
    fn blurred(&self, radius: usize) -> Self {
        let mut values = self.values.clone();
        let mut other = vec![0.0; values.len()];
        for _ in 0..2 {
            for row in 0..self.cells {
                let line = row * self.cells..(row + 1) * self.cells;
                mean_along(&values[line.clone()], &mut other[line], radius);
            }
            mean_down(&other, &mut values, self.cells, radius);
        }
        Self { cells: self.cells, values }
    }
}

/// Computes running means of `2 radius + 1` values in a row, with zeros beyond its ends.
fn mean_along(from: &[f32], to: &mut [f32], radius: usize) {
    let part = 1.0 / (2 * radius + 1) as f32;
    let mut sum: f32 = from.iter().take(radius).sum();
    for i in 0..from.len() {
        sum += from.get(i + radius).copied().unwrap_or(0.0);
        if i > radius {
            sum -= from[i - radius - 1];
        }
        to[i] = sum * part;
    }
}

/// Computes running means along all columns at once.
fn mean_down(from: &[f32], to: &mut [f32], cells: usize, radius: usize) {
    let part = 1.0 / (2 * radius + 1) as f32;
    let row = |number: usize| &from[number * cells..(number + 1) * cells];
    let mut sums = vec![0.0f32; cells];
    for number in 0..radius.min(cells) {
        sums.iter_mut().zip(row(number)).for_each(|(sum, value)| *sum += value);
    }
    for number in 0..cells {
        if number + radius < cells {
            sums.iter_mut().zip(row(number + radius)).for_each(|(sum, value)| *sum += value);
        }
        if number > radius {
            sums.iter_mut().zip(row(number - radius - 1)).for_each(|(sum, value)| *sum -= value);
        }
        to[number * cells..][..cells].iter_mut().zip(&sums).for_each(|(mean, sum)| *mean = sum * part);
    }
}

/// All shadows of a scene.
#[derive(Debug)]
pub(crate) struct Shadows {
    light: Option<HeightMap>,
    pub floor: Option<Floor>,
    ground: Option<GroundShadow>,
}

/// Shadows on the ground.
#[derive(Debug)]
struct GroundShadow {
    /// Fractions of the light that bodies hide, with a sharp and a soft edge.
    sharp: Field,
    soft: Field,
    /// Height of the shadow caster, weighted with `soft`.
    distance: Field,
    from_above: HeightMap,
    contact: Field,
}

impl Shadows {
    /// Computes the shadows of light from `key` on the bodies and on the floor.
    pub fn new(surfaces: &Surfaces, key: Vec3A, floor: Option<Floor>) -> Self {
        let light = HeightMap::new(surfaces, key, LIGHT_CELLS, 0.08);
        let ground =
            floor.as_ref().zip(light.as_ref()).and_then(|(floor, light)| GroundShadow::new(surfaces, floor, light));
        Self { light, floor, ground }
    }

    /// Returns the fraction of the key light that reaches a surface point with this normal, from 0 to 1.
    pub fn light_at(&self, position: Vec3A, normal: Vec3A) -> f32 {
        let Some(map) = &self.light else { return 1.0 };
        // The offset along the normal prevents self-shadowing.
        let position = position + 2.0 / map.scale * normal;
        let height = position.dot(map.axes[2]) + 1.0 / map.scale;
        let corner = map.cell(position) - 0.5;
        if !(corner.cmpge(Vec2::ZERO).all() && corner.cmplt(Vec2::splat((map.cells - 1) as f32)).all()) {
            return 1.0;
        }
        let (column, row) = (corner.x as usize, corner.y as usize);
        let t = corner - Vec2::new(column as f32, row as f32);
        let start = row * map.cells + column;
        let lit = |at: usize| f32::from(u8::from(map.heights[at] <= height));
        let [upper, lower] = [start, start + map.cells].map(|at| lit(at) + t.x * (lit(at + 1) - lit(at)));
        upper + t.y * (lower - upper)
    }

    /// Returns the fractions of the key light and of the sky that bodies hide from a point of the ground.
    pub fn on_ground(&self, position: Vec3A) -> [f32; 2] {
        let (Some(light), Some(ground)) = (&self.light, &self.ground) else { return [0.0; 2] };
        let at = light.cell(position) * (GROUND_CELLS as f32 / LIGHT_CELLS as f32);
        let soft = ground.soft.at(at);
        let hidden = if soft > 0.0 {
            // The higher the caster, the softer the shadow.
            let softness = (4.0 * ground.distance.at(at) / soft).clamp(0.0, 1.0);
            ground.sharp.at(at) * (1.0 - softness) + soft * softness
        } else {
            0.0
        };
        [hidden, ground.contact.at(ground.from_above.cell(position))]
    }
}

impl GroundShadow {
    fn new(surfaces: &Surfaces, floor: &Floor, light: &HeightMap) -> Option<Self> {
        let cells = GROUND_CELLS;
        let ratio = LIGHT_CELLS / GROUND_CELLS;
        let (mut hidden, mut distance) = (vec![0.0; cells * cells], vec![0.0; cells * cells]);
        let part = 1.0 / (ratio * ratio) as f32;
        for row in 0..LIGHT_CELLS {
            for column in 0..LIGHT_CELLS {
                let height = light.heights[row * LIGHT_CELLS + column];
                if height == f32::NEG_INFINITY {
                    continue;
                }
                let ground = light.on_plane(column as f32 + 0.5, row as f32 + 0.5, floor.normal, floor.distance);
                let above = height - ground.dot(light.axes[2]);
                if above > 0.0 {
                    let at = row / ratio * cells + column / ratio;
                    hidden[at] += part;
                    distance[at] += part * above;
                }
            }
        }
        let [hidden, distance] = [hidden, distance].map(|values| Field { cells, values });
        let wide = ((0.012 * light.scale / ratio as f32) as usize).clamp(1, cells / 20);
        let narrow = (wide / 5).max(1);

        // Seen from below, the nearest surface is the lowest. Light of the sky comes from above, so the map is
        // reversed.
        let mut from_above = HeightMap::new(surfaces, -floor.normal, GROUND_CELLS / 2, 0.15)?;
        let contact = from_above
            .heights
            .iter()
            .map(|&depth| {
                let above = -depth - floor.distance;
                let near = (1.0 - above / CONTACT_HEIGHT).clamp(0.0, 1.0);
                near * near
            })
            .collect();
        let contact = Field { cells: GROUND_CELLS / 2, values: contact };
        let radius = ((0.018 * from_above.scale) as usize).clamp(1, contact.cells / 16);
        from_above.heights = Vec::new();
        Some(Self {
            sharp: hidden.blurred(narrow),
            soft: hidden.blurred(wide),
            distance: distance.blurred(wide),
            from_above,
            contact: contact.blurred(radius),
        })
    }
}
