//! Body-centered cubic lattice: the corners and the centers of cubic cells.
//!
//! The center of a cell has two kinds of neighbors. Its eight corners are half a diagonal away (short edges). The
//! centers of the six adjacent cells are an edge length away (long edges), as are the neighboring corners of a corner.
//! Two adjacent centers and the four edges of the face between them make four congruent tetrahedra.

use rayon::prelude::*;

use super::MeshingError;
use super::stop::Stop;
use crate::geometry::{Solid, SolidSample};
use crate::math::Vec3;

/// Maximum number of corners and centers: at a few bytes each, at most 500 MB.
const MAX_SITES: usize = 1 << 26;
/// Minimum number of cells along the longest side.
pub(super) const MIN_CELLS: usize = 2;
/// Number of cells along each side of the blocks that are tested first.
const BLOCK: usize = 4;

/// Grid of cells along each axis, with its position in space.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    pub origin: Vec3,
    /// Edge length of a cell.
    pub cell: f64,
    /// Number of cells along x, y and z.
    pub cells: [usize; 3],
}

/// Number of a corner or a center.
pub(super) type Site = u32;

impl Lattice {
    /// Builds a lattice around the box from `low` to `high`, with `count` cells along its longest side and one extra
    /// layer of cells.
    pub fn around([low, high]: [Vec3; 2], count: usize) -> Result<Self, MeshingError> {
        if count < MIN_CELLS {
            return Err(MeshingError::TooFewCells { cells: count, min: MIN_CELLS });
        }
        let cell = (high - low).max_element() / count as f64;
        // A side that is a whole number of cells, except for rounding, has that many.
        let along = ((high - low) / cell).to_array().map(|cells| (cells - 1e-9).ceil().max(1.0) + 2.0);
        let total = 2.0 * along.iter().map(|n| n + 1.0).product::<f64>();
        if total > MAX_SITES as f64 {
            return Err(MeshingError::TooManyCells { cells: count, total: total / 2.0, max: MAX_SITES as f64 / 2.0 });
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

    pub fn center(&self, [i, j, k]: [usize; 3]) -> Site {
        (self.corner_count() + i + self.cells[0] * (j + self.cells[1] * k)) as Site
    }

    /// Returns the coordinates in half cells from the origin: even for corners, odd for centers.
    pub fn halves(&self, site: Site) -> [usize; 3] {
        match (site as usize).checked_sub(self.corner_count()) {
            None => split(site as usize, self.cells.map(|n| n + 1)).map(|n| 2 * n),
            Some(cell) => split(cell, self.cells).map(|n| 2 * n + 1),
        }
    }

    pub fn position(&self, site: Site) -> Vec3 {
        self.at(self.halves(site))
    }

    fn at(&self, halves: [usize; 3]) -> Vec3 {
        self.origin + 0.5 * self.cell * Vec3::from(halves.map(|n| n as f64))
    }

    /// Returns the depths of the sites inside `solid`.
    pub fn depths(&self, solid: &impl Solid) -> Result<Depths<'_>, MeshingError> {
        let stop = Stop::current();
        let counts = self.cells.map(|n| n.div_ceil(BLOCK));
        let look = |block: usize| {
            if stop.is_asked() {
                return Block::Whole(0.0);
            }
            let first = split(block, counts).map(|n| 2 * BLOCK * n);
            if solid.is_uniform(self.at(first), self.at(first.map(|n| n + 2 * BLOCK))) {
                return Block::Whole(solid.sample(self.at(first.map(|n| n + BLOCK))).depth);
            }
            let place = |site: usize| {
                let halves = split(site / 2, [BLOCK; 3]).map(|n| 2 * n + site % 2);
                self.at(std::array::from_fn(|axis| first[axis] + halves[axis]))
            };
            Block::Each(solid.depths(&(0..2 * BLOCK.pow(3)).map(place).collect::<Vec<_>>()).into())
        };
        let all = (0..counts.iter().product()).into_par_iter().map(look).collect();
        stop.check()?;
        Ok(Depths { lattice: self, counts, blocks: all })
    }

    /// Returns the number of cells for which `is_such` returns true.
    pub fn count_cells(&self, is_such: impl Fn([usize; 3]) -> bool + Sync) -> usize {
        let [nx, ny, nz] = self.cells;
        let in_layer = |k| (0..ny).flat_map(|j| (0..nx).map(move |i| [i, j, k])).filter(|&cell| is_such(cell)).count();
        (0..nz).into_par_iter().map(in_layer).sum()
    }

    /// Iterates over all cells.
    pub fn each_cell(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [nx, ny, nz] = self.cells;
        (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
    }
}

/// Depths of a lattice's sites inside a solid.
pub(super) struct Depths<'a> {
    lattice: &'a Lattice,
    /// Number of blocks along x, y and z.
    counts: [usize; 3],
    blocks: Vec<Block>,
}

/// Depths of the corners and centers of `BLOCK`³ cells.
enum Block {
    /// Depth that all sites share.
    Whole(f32),
    /// Depths of the corner with the lowest coordinates and of the center of each cell.
    Each(Box<[f32]>),
}

impl Depths<'_> {
    /// Returns the depth of a site. Sites in the extra layer are never inside, even if a surface with holes winds
    /// around them.
    pub fn of(&self, site: Site) -> f32 {
        let halves = self.lattice.halves(site);
        if (0..3).any(|axis| halves[axis] <= 1 || halves[axis] + 1 >= 2 * self.lattice.cells[axis]) {
            return -0.5;
        }
        let join = |[i, j, k]: [usize; 3], [nx, ny, _]: [usize; 3]| i + nx * (j + ny * k);
        match &self.blocks[join(halves.map(|n| n / (2 * BLOCK)), self.counts)] {
            Block::Whole(depth) => *depth,
            Block::Each(depths) => depths[2 * join(halves.map(|n| n / 2 % BLOCK), [BLOCK; 3]) + halves[0] % 2],
        }
    }

    pub fn sample(&self, site: Site) -> SolidSample {
        SolidSample { place: self.lattice.position(site), depth: self.of(site) }
    }
}

/// Returns the indices along x, y and z of item `index`, numbered in this order.
fn split(index: usize, [nx, ny, _]: [usize; 3]) -> [usize; 3] {
    [index % nx, index / nx % ny, index / nx / ny]
}

/// Returns `cell` moved by `by` along `axis`.
pub(super) fn moved(mut cell: [usize; 3], axis: usize, by: usize) -> [usize; 3] {
    cell[axis] += by;
    cell
}
