//! Voxelization of a solid.

use rayon::prelude::*;

use super::fill::filled;
use super::lattice::{Lattice, moved};
use super::stop::Stop;
use super::{MeshingError, Surface};
use crate::geometry::{Solid, box_around};
use crate::math::Vec3;
use crate::mesh::{ElementKind, MeshData, VolumeMesh};

/// Maximum number of voxels in the lattice.
const MAX_VOXELS: usize = 16_000_000;

/// Voxelized solid.
#[derive(Debug, Clone)]
pub struct Voxels {
    /// Hexahedra, in regions by the fraction inside the solid; see [`Region::fill`](crate::mesh::Region::fill).
    pub mesh: VolumeMesh,
    /// Approximate volume that the surface encloses \[m³\]. It is zero for a sheet, which is then as light as possible.
    pub enclosed: f64,
    /// Edge length of a cube \[m\].
    pub cell: f64,
    /// Number of cubes that only keep the boundary from touching itself along an edge or at a corner.
    pub added_at_touching: usize,
}

/// Generates all cubes that intersect a surface or its interior, so that every point of it is in a cube.
///
/// Cubes at the boundary are lighter and softer, by the fraction of them that is inside. The boundary does not touch
/// itself.
pub fn voxelize(surface: &Surface, cells: usize) -> Result<Voxels, MeshingError> {
    let (solid, left_out) = (surface.enclosed(), surface.left_out());
    let bounds = box_around(solid.bounds(), left_out.bounds());
    let lattice = Lattice::around(bounds, cells)?;
    let total = lattice.cell_count();
    if total > MAX_VOXELS {
        return Err(MeshingError::TooManyCells { cells, total: total as f64, max: MAX_VOXELS as f64 });
    }
    let is_touched = |low: Vec3, high: Vec3| {
        solid.tree().touching(low, high).next().is_some() || left_out.touching(low, high).next().is_some()
    };
    let corners = |cell: [usize; 3]| [cell, cell.map(|n| n + 1)].map(|corner| lattice.position(lattice.corner(corner)));
    // A surface in the plane between two cubes is in both, and one of them suffices.
    let skin = Vec3::splat(1e-9 * lattice.cell);
    let depths = lattice.depths(solid)?;
    let stop = Stop::current();
    let is_needed = |cell: [usize; 3]| {
        if stop.is_asked() {
            return false;
        }
        let [low, high] = corners(cell);
        is_touched(low + skin, high - skin) || depths.of(lattice.center(cell)) >= 0.0
    };
    let mut grid = Grid { cells: lattice.cells, full: Vec::new() };
    grid.full = (0..lattice.cell_count()).into_par_iter().map(|index| is_needed(grid.cell(index))).collect();
    for index in 0..grid.full.len() {
        stop.check()?;
        let cell = grid.cell(index);
        let [low, high] = corners(cell);
        if !grid.full[index] && is_touched(low, high) {
            grid.full[index] = grid.rim_is_bare(cell, |side| {
                let [mut from, mut to] = [low + skin, high - skin];
                for axis in (0..3).filter(|&axis| side[axis] != 0) {
                    let at = if side[axis] < 0 { low } else { high };
                    (from[axis], to[axis]) = (at[axis], at[axis]);
                }
                is_touched(from, to)
            });
        }
    }
    let before = grid.count();
    if before == 0 {
        return Err(MeshingError::Nothing { cells, cell: lattice.cell });
    }
    grid.fill_touching();
    let mut number = vec![u32::MAX; lattice.site_count()];
    let (mut vertices, mut elements) = (Vec::new(), Vec::with_capacity(8 * grid.count()));
    for [i, j, k] in lattice.each_cell().filter(|&cell| grid.is_full(cell)) {
        let around = [[0, 0], [1, 0], [1, 1], [0, 1]];
        for (layer, [x, y]) in [0, 1].into_iter().flat_map(|layer| around.map(|xy| (layer, xy))) {
            let site = lattice.corner([i + x, j + y, k + layer]);
            let slot = &mut number[site as usize];
            if *slot == u32::MAX {
                *slot = vertices.len() as u32;
                vertices.push(lattice.position(site));
            }
            elements.push(*slot);
        }
    }
    let mesh = VolumeMesh::check(MeshData::new(vertices, ElementKind::Hex8, elements))?.mesh;
    let (mesh, enclosed) = filled(mesh, solid, surface.volume())?;
    Ok(Voxels { mesh, enclosed, cell: lattice.cell, added_at_touching: grid.count() - before })
}

struct Grid {
    cells: [usize; 3],
    full: Vec<bool>,
}

impl Grid {
    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        i + self.cells[0] * (j + self.cells[1] * k)
    }

    fn cell(&self, index: usize) -> [usize; 3] {
        let [nx, ny, _] = self.cells;
        [index % nx, index / nx % ny, index / nx / ny]
    }

    /// Returns true if a face, edge or corner of an empty cube is touched, according to `touched`, and belongs to no
    /// full one.
    fn rim_is_bare(&self, cell: [usize; 3], touched: impl Fn([isize; 3]) -> bool) -> bool {
        let sides = (0..27).map(|code| [code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1]).filter(|side| *side != [0; 3]);
        let shared = |side: [isize; 3]| {
            // All cubes that share this face, edge or corner: moved by any of its steps.
            (1..8_usize).any(|steps| {
                let other: [Option<usize>; 3] = std::array::from_fn(|axis| {
                    let step = if steps >> axis & 1 == 1 { side[axis] } else { 0 };
                    cell[axis].checked_add_signed(step).filter(|&n| n < self.cells[axis])
                });
                matches!(other, [Some(i), Some(j), Some(k)] if [i, j, k] != cell && self.is_full([i, j, k]))
            })
        };
        sides.into_iter().any(|side| touched(side) && !shared(side))
    }

    fn is_full(&self, cell: [usize; 3]) -> bool {
        self.full[self.index(cell)]
    }

    fn count(&self) -> usize {
        self.full.iter().filter(|full| **full).count()
    }

    /// Fills the empty cubes between full cubes that meet along an edge or at a corner only, until none do. This
    /// terminates, because cubes are only added and the lattice is finite.
    fn fill_touching(&mut self) {
        loop {
            let mut to_fill = Vec::new();
            for cell in (0..self.full.len()).map(|index| self.cell(index)) {
                if (0..3).any(|axis| cell[axis] + 1 >= self.cells[axis]) {
                    continue;
                }
                // The eight cubes around a corner, and the four around each of its edges.
                let cube = |i: usize| moved(moved(moved(cell, 0, i & 1), 1, i >> 1 & 1), 2, i >> 2);
                let full: u8 = (0..8).map(|i| u8::from(self.is_full(cube(i))) << i).sum();
                if touches_only(full) {
                    to_fill.extend((0..8).map(cube));
                }
            }
            if to_fill.is_empty() {
                return;
            }
            for cell in to_fill {
                let index = self.index(cell);
                self.full[index] = true;
            }
        }
    }
}

/// Returns true if, of eight cubes around a corner, the full or the empty ones are not connected by faces.
fn touches_only(full: u8) -> bool {
    let parts = |set: u8| {
        let mut left = set;
        let mut count = 0;
        while left != 0 {
            count += 1;
            // Grow from the first by faces: cubes whose numbers differ in one bit.
            let mut part = left & left.wrapping_neg();
            loop {
                let grown = (0..8_u32)
                    .filter(|&i| part >> i & 1 == 1)
                    .flat_map(|i| [i ^ 1, i ^ 2, i ^ 4])
                    .fold(part, |part, i| part | (left & (1 << i)));
                if grown == part {
                    break;
                }
                part = grown;
            }
            left &= !part;
        }
        count
    };
    parts(full) > 1 || parts(!full) > 1
}
