//! Cubes that contain a solid.

use rayon::prelude::*;

use super::fill::filled;
use super::lattice::{Lattice, moved};
use super::surface::check_size;
use super::{MeshingError, Params};
use crate::geometry::{Enclosed, Solid};
use crate::mesh::{ElementKind, MeshData, VolumeMesh};

/// More are refused.
const MOST_VOXELS: usize = 16_000_000;

/// A solid in cubes.
#[derive(Debug, Clone)]
pub struct Voxels {
    /// Hexahedra. Regions say how much of them is inside of the solid; see [`Region::fill`](crate::mesh::Region::fill).
    pub mesh: VolumeMesh,
    /// The edge of a cube, in metres.
    pub cell: f64,
    /// Cubes that only keep the boundary from touching itself along an edge or at a corner.
    pub added_at_touching: usize,
}

/// All cubes that have a point in common with what a surface encloses, or with the surface itself, so that every point of it is in a cube.
///
/// Cubes at the rim are lighter and softer, by how much of them is inside. The boundary touches itself nowhere.
pub fn voxelize(solid: &Enclosed, cells: usize) -> Result<Voxels, MeshingError> {
    let bounds = solid.bounds();
    check_size(bounds[0], bounds[1])?;
    let lattice = Lattice::around(bounds, &Params { cells, grading: 0 })?;
    let touches = |cell: [usize; 3]| {
        let [low, high] = [cell, cell.map(|n| n + 1)].map(|corner| lattice.position(lattice.corner(corner)));
        match solid.whole(low, high) {
            Some(whole) => whole,
            None => solid.tree().touching(low, high).next().is_some() || solid.contains(0.5 * (low + high)),
        }
    };
    let all: Vec<[usize; 3]> = lattice.each_cell().collect();
    let mut grid = Grid { cells: lattice.cells, full: all.par_iter().map(|&cell| touches(cell)).collect() };
    let before = grid.count();
    if before == 0 {
        return Err(MeshingError::Nothing { cells, cell: lattice.cell });
    }
    grid.fill_touching(&all);
    if grid.count() > MOST_VOXELS {
        return Err(MeshingError::TooManyElements { cells, most: MOST_VOXELS as f64 });
    }
    let mut number = vec![u32::MAX; lattice.site_count()];
    let (mut vertices, mut elements) = (Vec::new(), Vec::with_capacity(8 * grid.count()));
    for &[i, j, k] in all.iter().filter(|&&cell| grid.is_full(cell)) {
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
    Ok(Voxels { mesh: filled(mesh, solid)?, cell: lattice.cell, added_at_touching: grid.count() - before })
}

struct Grid {
    cells: [usize; 3],
    full: Vec<bool>,
}

impl Grid {
    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        i + self.cells[0] * (j + self.cells[1] * k)
    }

    fn is_full(&self, cell: [usize; 3]) -> bool {
        self.full[self.index(cell)]
    }

    fn count(&self) -> usize {
        self.full.iter().filter(|full| **full).count()
    }

    /// Where full cubes meet along an edge or at a corner only, fill the empty ones between them, until they nowhere do. Cubes are only ever added, and the
    /// lattice is finite.
    fn fill_touching(&mut self, all: &[[usize; 3]]) {
        loop {
            let mut to_fill = Vec::new();
            for &cell in all {
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

/// Whether of eight cubes around a corner the full ones do not hang together by faces, or the empty ones do not.
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
