//! Rasterization of triangles with a depth buffer.

use std::ops::Range;

use super::mesh::Surfaces;
use crate::Size;

/// Calls `draw` for each grid row that a triangle covers, with the columns whose centers are inside.
///
/// Triangles that share an edge share no cell and leave no gap: the crossing of an edge with a row is computed from its
/// upper to its lower end, for every triangle.
pub(crate) fn spans(corners: [[f32; 2]; 3], width: usize, height: usize, mut draw: impl FnMut(usize, Range<usize>)) {
    if !corners.as_flattened().iter().all(|coordinate| coordinate.is_finite()) {
        return;
    }
    let mut corners = corners.map(|corner| corner.map(f64::from));
    corners.sort_by(|a, b| a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0])));
    let [top, middle, bottom] = corners;
    let crossing = |a: [f64; 2], b: [f64; 2], y: f64| a[0] + (b[0] - a[0]) * ((y - a[1]) / (b[1] - a[1]));
    for row in first_cell(top[1], height)..first_cell(bottom[1], height) {
        let y = row as f64 + 0.5;
        let long = crossing(top, bottom, y);
        let short = if y < middle[1] { crossing(top, middle, y) } else { crossing(middle, bottom, y) };
        let columns = first_cell(long.min(short), width)..first_cell(long.max(short), width);
        if !columns.is_empty() {
            draw(row, columns);
        }
    }
}

/// Returns the first cell whose center is at or after a coordinate, or `count` if all are before it.
///
/// The result equals that of `ceil`, which is a function call on the oldest processors supported.
fn first_cell(coordinate: f64, count: usize) -> usize {
    let x = (coordinate - 0.5).clamp(0.0, count as f64);
    let below = x as u32;
    below as usize + usize::from(f64::from(below) < x)
}

/// Linear function over a grid: `at(x, y) = base + x·slope[0] + y·slope[1]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane {
    pub base: f64,
    pub slope: [f64; 2],
}

impl Plane {
    /// Interpolates values at three corners linearly. Returns `None` if the corners are collinear.
    pub fn through(corners: [[f32; 2]; 3], values: [f32; 3]) -> Option<Self> {
        let [a, b, c] = corners.map(|corner| corner.map(f64::from));
        let [va, vb, vc] = values.map(f64::from);
        let [b, c] = [b, c].map(|corner| [corner[0] - a[0], corner[1] - a[1]]);
        let area = b[0] * c[1] - b[1] * c[0];
        let (db, dc) = (vb - va, vc - va);
        let slope = [(db * c[1] - dc * b[1]) / area, (dc * b[0] - db * c[0]) / area];
        let plane = Self { base: va - slope[0] * a[0] - slope[1] * a[1], slope };
        (area != 0.0 && plane.base.is_finite() && slope[0].is_finite() && slope[1].is_finite()).then_some(plane)
    }

    pub fn at(&self, x: f64, y: f64) -> f64 {
        self.base + x * self.slope[0] + y * self.slope[1]
    }

    /// Returns the values at the cell centers of a row, starting at a column.
    pub fn along(&self, row: usize, first_column: usize) -> impl Fn(usize) -> f32 {
        let start = self.at(first_column as f64 + 0.5, row as f64 + 0.5) as f32;
        let slope = self.slope[0] as f32;
        move |step| start + step as f32 * slope
    }
}

/// Samples per side of a pixel.
pub(crate) const SAMPLES: usize = 2;

/// Nearest triangle and depth for each sample of a picture.
#[derive(Debug)]
pub(crate) struct Visible {
    /// Samples per row.
    pub width: usize,
    /// Inverse depth; zero where nothing is drawn.
    pub nearness: Vec<f32>,
    /// Index of the triangle, or [`NOTHING`](Self::NOTHING).
    pub triangle: Vec<u32>,
}

impl Visible {
    /// Index of samples without a triangle.
    pub const NOTHING: u32 = u32::MAX;

    /// Rasterizes all surfaces.
    pub fn new(surfaces: &Surfaces, size: Size) -> Self {
        let (width, height) = (SAMPLES * size.width() as usize, SAMPLES * size.height() as usize);
        let mut visible =
            Self { width, nearness: vec![0.0; width * height], triangle: vec![Self::NOTHING; width * height] };
        for (number, triangle) in surfaces.triangles.iter().enumerate() {
            let corners = triangle.corners.map(|corner| &surfaces.corners[corner as usize]);
            let samples = corners.map(|corner| corner.sample);
            let Some(plane) = Plane::through(samples, corners.map(|corner| corner.nearness)) else { continue };
            spans(samples, width, height, |row, columns| {
                let near = plane.along(row, columns.start);
                let range = row * width + columns.start..row * width + columns.end;
                let cells = visible.nearness[range.clone()].iter_mut().zip(&mut visible.triangle[range]);
                for (step, (nearness, triangle)) in cells.enumerate() {
                    // Written unconditionally, which avoids a branch.
                    let nearer = near(step) > *nearness;
                    *nearness = if nearer { near(step) } else { *nearness };
                    *triangle = if nearer { number as u32 } else { *triangle };
                }
            });
        }
        visible
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_that_share_an_edge_cover_each_cell_once() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..200 {
            let mut corner = || [60.0 * random.f32() - 10.0, 60.0 * random.f32() - 10.0];
            let middle = corner();
            let around = [[-20.0, -20.0], [70.0, -25.0], [75.0, 80.0], [-30.0, 70.0]];
            let mut counts = vec![0; 40 * 40];
            for i in 0..4 {
                spans([middle, around[i], around[(i + 1) % 4]], 40, 40, |row, columns| {
                    columns.for_each(|column| counts[row * 40 + column] += 1);
                });
            }
            assert!(counts.iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn any_triangle_stays_within_the_grid() {
        let mut random = fastrand::Rng::with_seed(6);
        for _ in 0..10_000 {
            let corners = [(); 3].map(|()| [(); 2].map(|()| f32::from_bits(random.u32(..))));
            spans(corners, 16, 9, |row, columns| assert!(row < 9 && columns.start < columns.end && columns.end <= 16));
        }
    }
}
