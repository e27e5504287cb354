//! The body-centred cubic lattice: the corners and the centres of cubic cells.
//!
//! A cell has two kinds of neighbours for its centre: the eight corners, half a diagonal away (short edges), and the centres
//! of the six cells around it, an edge away (long edges), as corners have other corners. Two centres and the four edges of the
//! face between them make four tetrahedra, all alike.

use rayon::prelude::*;

use super::MeshingError;
use crate::geometry::Solid;
use crate::math::Vec3;

/// Corners and centres together, with a few bytes each: not more than 500 MB.
const MOST_SITES: usize = 1 << 26;
/// Along the longest side.
pub(super) const LEAST_CELLS: usize = 2;
/// A solid is asked about blocks of so many cells along each side first.
const BLOCK: usize = 4;

/// Cells, counted along each axis, with their place in space.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    pub origin: Vec3,
    /// The edge of a cell.
    pub cell: f64,
    /// Along x, y and z.
    pub cells: [usize; 3],
}

/// A corner or a centre.
pub(super) type Site = u32;

impl Lattice {
    /// A lattice around the box from `low` to `high`, with `count` cells along its longest side and a layer of cells to spare.
    pub fn around([low, high]: [Vec3; 2], count: usize) -> Result<Self, MeshingError> {
        if count < LEAST_CELLS {
            return Err(MeshingError::TooFewCells { cells: count, least: LEAST_CELLS });
        }
        let cell = (high - low).max_element() / count as f64;
        // A side that is a whole number of cells but for rounding has that many.
        let along = ((high - low) / cell).to_array().map(|cells| (cells - 1e-9).ceil().max(1.0) + 2.0);
        let total = 2.0 * along.iter().map(|n| n + 1.0).product::<f64>();
        if total > MOST_SITES as f64 {
            return Err(MeshingError::TooManyCells { cells: count, total: total / 2.0, most: MOST_SITES as f64 / 2.0 });
        }
        let origin = 0.5 * (low + high) - 0.5 * cell * Vec3::from(along);
        Ok(Self { origin, cell, cells: along.map(|n| n as usize) })
    }

    pub fn cell_count(&self) -> usize {
        self.cells.iter().product()
    }

    fn corner_count(&self) -> usize {
        self.cells.iter().map(|n| n + 1).product()
    }

    pub fn site_count(&self) -> usize {
        self.corner_count() + self.cell_count()
    }

    pub fn corner(&self, [i, j, k]: [usize; 3]) -> Site {
        (i + (self.cells[0] + 1) * (j + (self.cells[1] + 1) * k)) as Site
    }

    pub fn centre(&self, [i, j, k]: [usize; 3]) -> Site {
        (self.corner_count() + i + self.cells[0] * (j + self.cells[1] * k)) as Site
    }

    /// Whole numbers of half cells from the origin: corners have even ones, centres odd ones.
    pub fn halves(&self, site: Site) -> [usize; 3] {
        let split = |index: usize, [nx, ny]: [usize; 2]| [index % nx, index / nx % ny, index / nx / ny];
        match (site as usize).checked_sub(self.corner_count()) {
            None => split(site as usize, [self.cells[0] + 1, self.cells[1] + 1]).map(|n| 2 * n),
            Some(cell) => split(cell, [self.cells[0], self.cells[1]]).map(|n| 2 * n + 1),
        }
    }

    pub fn position(&self, site: Site) -> Vec3 {
        self.at(self.halves(site))
    }

    fn at(&self, halves: [usize; 3]) -> Vec3 {
        self.origin + 0.5 * self.cell * Vec3::from(halves.map(|n| n as f64))
    }

    /// Whether each site is inside of `solid`. Those in the spare layer never are, also if a surface with holes winds around them.
    pub fn inside(&self, solid: &impl Solid) -> Vec<bool> {
        let blocks = self.cells.map(|n| n.div_ceil(BLOCK));
        let whole: Vec<Option<bool>> = (0..blocks.iter().product::<usize>())
            .into_par_iter()
            .map(|b| {
                let first =
                    [b % blocks[0], b / blocks[0] % blocks[1], b / blocks[0] / blocks[1]].map(|n| 2 * BLOCK * n);
                solid.whole(self.at(first), self.at(first.map(|n| n + 2 * BLOCK)))
            })
            .collect();
        let block_of = |halves: [usize; 3]| {
            let [i, j, k]: [usize; 3] = std::array::from_fn(|axis| (halves[axis] / (2 * BLOCK)).min(blocks[axis] - 1));
            i + blocks[0] * (j + blocks[1] * k)
        };
        (0..self.site_count())
            .into_par_iter()
            .with_min_len(64)
            .map(|site| {
                let halves = self.halves(site as Site);
                if (0..3).any(|axis| halves[axis] <= 1 || halves[axis] + 1 >= 2 * self.cells[axis]) {
                    return false;
                }
                whole[block_of(halves)].unwrap_or_else(|| solid.contains(self.at(halves)))
            })
            .collect()
    }

    /// How many cells are such.
    pub fn count_cells(&self, is_such: impl Fn([usize; 3]) -> bool + Sync) -> usize {
        let [nx, ny, nz] = self.cells;
        let in_layer = |k| (0..ny).flat_map(|j| (0..nx).map(move |i| [i, j, k])).filter(|&cell| is_such(cell)).count();
        (0..nz).into_par_iter().map(in_layer).sum()
    }

    /// Every cell.
    pub fn each_cell(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [nx, ny, nz] = self.cells;
        (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
    }
}

/// `cell`, moved by `by` along `axis`.
pub(super) fn moved(mut cell: [usize; 3], axis: usize, by: usize) -> [usize; 3] {
    cell[axis] += by;
    cell
}
