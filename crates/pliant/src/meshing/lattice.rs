//! The body-centred cubic lattice: the corners and the centres of cubic cells.
//!
//! A cell has two kinds of neighbours for its centre: the eight corners, half a diagonal away (short edges), and the centres
//! of the six cells around it, an edge away (long edges), as corners have other corners. Two centres and the four edges of the
//! face between them make four tetrahedra, all alike.

use rayon::prelude::*;

use super::MeshingError;
use super::stop::Stop;
use crate::geometry::{Probe, Solid};
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

    /// How deep inside of `solid` sites are.
    pub fn depths(&self, solid: &impl Solid) -> Result<Depths<'_>, MeshingError> {
        let stop = Stop::current();
        let counts = self.cells.map(|n| n.div_ceil(BLOCK));
        let look = |block: usize| {
            if stop.is_asked() {
                return Block::Whole(0.0);
            }
            let first = split(block, counts).map(|n| 2 * BLOCK * n);
            if solid.is_uniform(self.at(first), self.at(first.map(|n| n + 2 * BLOCK))) {
                return Block::Whole(solid.probe(self.at(first.map(|n| n + BLOCK))).depth);
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

/// How deep inside of a solid the sites of a lattice are.
pub(super) struct Depths<'a> {
    lattice: &'a Lattice,
    /// How many there are along x, y and z.
    counts: [usize; 3],
    blocks: Vec<Block>,
}

/// The corners and centres of `BLOCK`³ cells.
enum Block {
    /// One is as deep as all others.
    Whole(f32),
    /// The corner with the lowest coordinates and the centre of each cell.
    Each(Box<[f32]>),
}

impl Depths<'_> {
    /// Those in the spare layer are never inside, also if a surface with holes winds around them.
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

    pub fn probe(&self, site: Site) -> Probe {
        Probe { place: self.lattice.position(site), depth: self.of(site) }
    }
}

/// Along x, y and z, of what is numbered in this order.
fn split(index: usize, [nx, ny, _]: [usize; 3]) -> [usize; 3] {
    [index % nx, index / nx % ny, index / nx / ny]
}

/// `cell`, moved by `by` along `axis`.
pub(super) fn moved(mut cell: [usize; 3], axis: usize, by: usize) -> [usize; 3] {
    cell[axis] += by;
    cell
}
