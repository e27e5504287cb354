//! Isosurface stuffing \[LabelleShewchuk2007\]: tetrahedra with good dihedral angles for any solid.
//!
//! 1. Every site of a body-centered cubic lattice is inside or outside. Edges between the two are cut where they leave
//!    the solid.
//! 2. A site too close to a cut is moved there, onto the surface, and its other cuts are discarded.
//! 3. Every tetrahedron of the lattice is replaced by its part inside, from a table ([`stencil`](super::stencil)).
//!
//! Sites move less than their distance to the remaining cuts. There are therefore finitely many kinds of shapes, and
//! all dihedral angles are within [`ANGLES`], for any solid. Deep inside, blocks of cells may be merged. These and all
//! cells around them are undeformed, which leaves the bounds unchanged. (The paper lets cells grow up to the surface,
//! and has weaker bounds for that.)

use rayon::prelude::*;

use super::clean::{Loose, clean};
use super::lattice::{Depths, Lattice, Site, moved};
use super::stencil::{Corner, Remains, State, remains};
use super::stop::Stop;
use super::surface::check_size;
use super::{Body, Info, MeshingError, MeshingParams};
use crate::geometry::Solid;
use crate::math::Vec3;
use crate::mesh::{ElementKind, MeshData, Sets, VolumeMesh};

/// Bounds of all dihedral angles in degrees \[LabelleShewchuk2007\].
pub const ANGLES: [f64; 2] = [10.7, 164.8];

/// Distance below which a cut is too close to the end of a long or short edge, relative to its length. These values
/// maximize the smallest angle of any stencil: a test tries all of them, and finds 10.76° and 164.64°.
const TOO_NEAR_LONG: f64 = 0.2848;
const TOO_NEAR_SHORT: f64 = 0.3990;

/// Maximum number of tetrahedra. A cell has twelve; at the surface these may be cut into three, and between blocks into
/// two.
pub(super) const MAX_TETRAHEDRA: usize = 24_000_000;

const NONE: u32 = u32::MAX;

/// Fills a solid with tetrahedra.
pub fn tetrahedralize(solid: &impl Solid, params: &MeshingParams) -> Result<Body, MeshingError> {
    let bounds = solid.bounds();
    check_size(bounds[0], bounds[1])?;
    let lattice = Lattice::around(bounds, params.cells)?;
    let depths = lattice.depths(solid)?;
    let stop = Stop::current();
    let inside: Vec<bool> =
        (0..lattice.site_count()).into_par_iter().map(|site| depths.of(site as Site) >= 0.0).collect();
    let nothing = MeshingError::Nothing { cells: params.cells, cell: lattice.cell };
    if !inside.contains(&true) {
        return Err(nothing);
    }
    let too_many = MeshingError::TooManyElements { cells: params.cells, max: MAX_TETRAHEDRA as f64 };
    let at_surface = lattice.count_cells(|cell| {
        let mut around = lattice.around_cell(cell).map(|site| inside[site as usize]);
        let first = around.next();
        around.any(|inside| Some(inside) != first)
    });
    if 12 * at_surface > MAX_TETRAHEDRA {
        return Err(too_many);
    }
    let mut cuts = Cuts::find(&lattice, &inside, &depths, solid);
    drop(depths);
    stop.check()?;
    let mut states: Vec<State> =
        inside.into_par_iter().map(|inside| if inside { State::Inside } else { State::Outside }).collect();
    let moved_sites = cuts.move_sites(&lattice, &mut states);
    let levels = Levels::merge(&lattice, &states, params.grading);
    let filled = lattice.count_cells(|cell| {
        levels.begins(cell) && lattice.around_cell(cell).any(|site| states[site as usize] == State::Inside)
    });
    if 12 * filled > MAX_TETRAHEDRA {
        return Err(too_many);
    }
    let mut filling = Filling {
        lattice: &lattice,
        states: &states,
        moved_sites: &moved_sites,
        cuts: &cuts,
        site_vertex: vec![NONE; lattice.site_count()],
        cut_vertex: vec![NONE; cuts.0.len()],
        remains: Remains::new(),
        loose: Loose::default(),
    };
    filling.fill(&levels);
    stop.check()?;
    let mut loose = filling.loose;
    let (removed_at_touching, specks) = clean(&mut loose, lattice.cell.powi(3));
    stop.check()?;
    if loose.tets.is_empty() {
        return Err(nothing);
    }
    let surface = (0..).zip(&loose.on_boundary).filter(|(_, on)| **on).map(|(v, _)| v).collect();
    let data = MeshData {
        vertex_sets: Sets::from([("surface".into(), surface)]),
        ..MeshData::new(loose.vertices, ElementKind::Tet4, loose.tets.into_flattened())
    };
    let mesh = VolumeMesh::check(data)?.mesh;
    Ok(Body { mesh, info: Info { cell: lattice.cell, removed_at_touching, specks } })
}

impl Lattice {
    /// Returns the corners and the center of a cell.
    fn around_cell(&self, cell: [usize; 3]) -> impl Iterator<Item = Site> {
        let corners = (0..8).map(move |i| self.corner([cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2)]));
        corners.chain([self.center(cell)])
    }
}

/// Point at which an edge leaves the solid.
struct Cut {
    inside: Site,
    outside: Site,
    /// Distance from the site inside, relative to the edge length.
    at: f64,
    /// True if the cut was discarded, because one of its sites moved.
    forgotten: bool,
}

impl Cut {
    fn place(&self, lattice: &Lattice) -> Vec3 {
        lattice.position(self.inside).lerp(lattice.position(self.outside), self.at)
    }

    fn key(&self) -> (Site, Site) {
        (self.inside.min(self.outside), self.inside.max(self.outside))
    }
}

/// All cuts, sorted by their sites.
struct Cuts(Vec<Cut>);

impl Cuts {
    fn find(lattice: &Lattice, inside: &[bool], depths: &Depths<'_>, solid: &impl Solid) -> Self {
        let [nx, ny, nz] = lattice.cells;
        // Layer by layer; each edge belongs to the layer of its lower end.
        let layers: Vec<Vec<Cut>> = (0..=nz)
            .into_par_iter()
            .map(|k| {
                let mut cuts = Vec::new();
                let mut look = |a: Site, b: Site| {
                    let (inside, outside) = match (inside[a as usize], inside[b as usize]) {
                        (true, false) => (a, b),
                        (false, true) => (b, a),
                        _ => return,
                    };
                    cuts.push(Cut { inside, outside, at: 0.0, forgotten: false });
                };
                for (j, i) in (0..=ny).flat_map(|j| (0..=nx).map(move |i| (j, i))) {
                    let cell = [i, j, k];
                    let corner = lattice.corner(cell);
                    for axis in (0..3).filter(|&axis| cell[axis] < lattice.cells[axis]) {
                        look(corner, lattice.corner(moved(cell, axis, 1)));
                    }
                    if i == nx || j == ny || k == nz {
                        continue;
                    }
                    let center = lattice.center(cell);
                    for axis in (0..3).filter(|&axis| cell[axis] + 1 < lattice.cells[axis]) {
                        look(center, lattice.center(moved(cell, axis, 1)));
                    }
                    lattice.around_cell(cell).take(8).for_each(|corner| look(corner, center));
                }
                cuts
            })
            .collect();
        let mut cuts: Vec<Cut> = layers.into_iter().flatten().collect();
        cuts.par_sort_unstable_by_key(Cut::key);
        let stop = Stop::current();
        cuts.par_iter_mut().with_min_len(16).filter(|_| !stop.is_asked()).for_each(|cut| {
            cut.at = solid.exit(depths.sample(cut.inside), depths.sample(cut.outside));
        });
        Self(cuts)
    }

    /// Moves sites onto cuts that are too close, each to the nearest. Returns the new positions, sorted by site.
    fn move_sites(&mut self, lattice: &Lattice, states: &mut [State]) -> Vec<(Site, Vec3)> {
        let mut ends: Vec<(Site, u32)> =
            (0..).zip(&self.0).flat_map(|(index, cut)| [(cut.inside, index), (cut.outside, index)]).collect();
        ends.par_sort_unstable();
        let corner_count = lattice.site_count() - lattice.cell_count();
        let is_corner = |site: Site| (site as usize) < corner_count;
        let mut places = Vec::new();
        for around in ends.chunk_by(|a, b| a.0 == b.0) {
            let site = around[0].0;
            let mut nearest: Option<(f64, u32)> = None;
            for &(_, index) in around {
                let cut = &self.0[index as usize];
                let part = if cut.inside == site { cut.at } else { 1.0 - cut.at };
                let long = is_corner(cut.inside) == is_corner(cut.outside);
                // A short edge is √3/2 times as long as a long one.
                let (limit, length) = if long { (TOO_NEAR_LONG, 1.0) } else { (TOO_NEAR_SHORT, 0.75_f64.sqrt()) };
                if !cut.forgotten && part < limit && nearest.is_none_or(|(distance, _)| part * length < distance) {
                    nearest = Some((part * length, index));
                }
            }
            let Some((_, index)) = nearest else { continue };
            let cut = &self.0[index as usize];
            places.push((site, cut.place(lattice)));
            states[site as usize] = State::On;
            for &(_, index) in around {
                self.0[index as usize].forgotten = true;
            }
        }
        places
    }

    fn index(&self, a: Site, b: Site) -> usize {
        let key = (a.min(b), a.max(b));
        self.0.binary_search_by_key(&key, Cut::key).expect("an edge from inside to outside is cut")
    }
}

/// Number of times that each cell was merged with others.
struct Levels {
    cells: [usize; 3],
    /// Level of each cell, or `None` if no cells were merged.
    level: Option<Vec<u8>>,
}

impl Levels {
    /// Merges blocks of eight cells, then of eight blocks, `times` times. A block is merged where it and its
    /// surroundings are inside and unmoved, and were merged as often as its parts. Adjacent blocks therefore differ by
    /// at most one level.
    fn merge(lattice: &Lattice, states: &[State], times: u32) -> Self {
        let cells = lattice.cells;
        if times == 0 {
            return Self { cells, level: None };
        }
        let index = move |[i, j, k]: [usize; 3], n: [usize; 3]| i + n[0] * (j + n[1] * k);
        let pure = |cell: [usize; 3]| lattice.around_cell(cell).all(|site| states[site as usize] == State::Inside);
        let mut level = vec![0_u8; lattice.cell_count()];
        // Blocks of the previous size that may be merged.
        let mut whole: Vec<bool> = lattice.each_cell().map(pure).collect();
        let mut blocks = cells;
        for times in 1..=times {
            let halved = blocks.map(|n| n / 2);
            if halved.contains(&0) {
                break;
            }
            let mut merged = vec![false; halved.iter().product()];
            let each =
                (0..halved[2]).flat_map(|k| (0..halved[1]).flat_map(move |j| (0..halved[0]).map(move |i| [i, j, k])));
            for block in each {
                let part = |offset: usize| -> Option<usize> {
                    let offset = [offset % 4, offset / 4 % 4, offset / 16];
                    let mut part = [0; 3];
                    for axis in 0..3 {
                        part[axis] = (2 * block[axis] + offset[axis]).checked_sub(1).filter(|&n| n < blocks[axis])?;
                    }
                    Some(index(part, blocks))
                };
                // Its eight parts and the 56 around them.
                merged[index(block, halved)] = (0..64).all(|offset| part(offset).is_some_and(|part| whole[part]));
            }
            for cell in lattice.each_cell() {
                let block = cell.map(|n| n >> times);
                if (0..3).all(|axis| block[axis] < halved[axis]) && merged[index(block, halved)] {
                    level[index(cell, cells)] = times as u8;
                }
            }
            (whole, blocks) = (merged, halved);
        }
        Self { cells, level: Some(level) }
    }

    /// Returns true if a cell is the first of its block.
    fn begins(&self, cell: [usize; 3]) -> bool {
        self.of(cell).is_some_and(|level| cell.iter().all(|n| n.is_multiple_of(1 << level)))
    }

    /// Returns the level of a cell, or `None` outside the lattice.
    fn of(&self, cell: [usize; 3]) -> Option<u8> {
        let [i, j, k] = cell;
        if (0..3).any(|axis| cell[axis] >= self.cells[axis]) {
            return None;
        }
        Some(self.level.as_ref().map_or(0, |level| level[i + self.cells[0] * (j + self.cells[1] * k)]))
    }
}

/// Builder of vertices and tetrahedra.
struct Filling<'a> {
    lattice: &'a Lattice,
    states: &'a [State],
    moved_sites: &'a [(Site, Vec3)],
    cuts: &'a Cuts,
    site_vertex: Vec<u32>,
    cut_vertex: Vec<u32>,
    remains: Remains,
    loose: Loose,
}

impl Filling<'_> {
    fn fill(&mut self, levels: &Levels) {
        let stop = Stop::current();
        for cell in self.lattice.each_cell().take_while(|_| !stop.is_asked()) {
            // Merged cells are processed once, at the first of them.
            let Some(level) = levels.of(cell).filter(|_| levels.begins(cell)) else { continue };
            let size = 1_usize << level;
            for axis in 0..3 {
                // A neighbor of the same level is processed once, from below. Others are processed from both sides,
                // each making its half.
                let above = moved(cell, axis, size);
                match levels.of(above) {
                    Some(other) if other == level => self.between(levels, cell, axis, size),
                    Some(other) => self.half(cell, axis, true, size, other < level),
                    None => {}
                }
                if let Some(below) = cell[axis].checked_sub(1) {
                    let mut neighbor = cell;
                    neighbor[axis] = below;
                    match levels.of(neighbor) {
                        Some(other) if other != level => self.half(cell, axis, false, size, other < level),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Returns the site at the center of a block.
    fn middle(&self, cell: [usize; 3], size: usize) -> Site {
        if size == 1 { self.lattice.center(cell) } else { self.lattice.corner(cell.map(|n| n + size / 2)) }
    }

    /// Adds the tetrahedra between a block and the one of the same size above it. There is one for each edge of their
    /// common face, or two if a smaller block touches that edge.
    fn between(&mut self, levels: &Levels, cell: [usize; 3], axis: usize, size: usize) {
        let above = moved(cell, axis, size);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let centers = [self.middle(cell, size), self.middle(above, size)];
        for (along, across, far) in [(u, v, false), (u, v, true), (v, u, false), (v, u, true)] {
            let start = if far { moved(above, across, size) } else { above };
            let end = moved(start, along, size);
            let [start_site, end_site] = [self.lattice.corner(start), self.lattice.corner(end)];
            if size == 1 {
                self.cut_off([start_site, end_site, centers[0], centers[1]]);
                continue;
            }
            // The two blocks on the other side of the edge.
            let level = size.trailing_zeros() as u8;
            let beyond = |mut block: [usize; 3]| {
                block[across] = if far { block[across] + size } else { block[across] - 1 };
                levels.of(block).is_some_and(|other| other < level)
            };
            if beyond(cell) || beyond(above) {
                let middle = self.lattice.corner(moved(start, along, size / 2));
                self.whole([start_site, middle, centers[0], centers[1]]);
                self.whole([middle, end_site, centers[0], centers[1]]);
            } else {
                self.whole([start_site, end_site, centers[0], centers[1]]);
            }
        }
    }

    /// Adds the tetrahedra between the center of a block and a face behind which blocks are half or twice as large.
    /// From both sides the face is cut into right triangles around the center of the larger one.
    fn half(&mut self, cell: [usize; 3], axis: usize, up: bool, size: usize, smaller: bool) {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let center = self.middle(cell, size);
        let face = if up { moved(cell, axis, size) } else { cell };
        let site = |du: usize, dv: usize| self.lattice.corner(moved(moved(face, u, du), v, dv));
        if smaller {
            let half = size / 2;
            let middle = site(half, half);
            let rim = [(0, 0), (half, 0), (size, 0), (size, half), (size, size), (half, size), (0, size), (0, half)];
            let rim = rim.map(|(du, dv)| site(du, dv));
            for i in 0..8 {
                self.whole([center, middle, rim[i], rim[(i + 1) % 8]]);
            }
        } else {
            // The corner at the center of the larger face is at an odd multiple of the size along both axes.
            let [mu, mv] = [u, v].map(|direction| if (face[direction] / size).is_multiple_of(2) { size } else { 0 });
            let (middle, opposite) = (site(mu, mv), site(size - mu, size - mv));
            let sides = [site(mu, size - mv), site(size - mu, mv)];
            for side in sides {
                self.whole([center, middle, side, opposite]);
            }
        }
    }

    /// Adds a whole tetrahedron.
    fn whole(&mut self, sites: [Site; 4]) {
        let tet = sites.map(|site| self.vertex_of_site(site));
        self.loose.push(tet);
    }

    /// Adds the part inside a tetrahedron with long edges between the first two and the last two sites.
    fn cut_off(&mut self, sites: [Site; 4]) {
        let states = sites.map(|site| self.states[site as usize]);
        if states == [State::Inside; 4] {
            return self.whole(sites);
        }
        if !states.contains(&State::Inside) {
            return;
        }
        let below = |one: usize, other: usize| {
            let [one, other] = [one, other].map(|corner| self.lattice.halves(sites[corner]));
            (0..3).filter(|&axis| one[axis] < other[axis]).count().is_multiple_of(2)
        };
        let mut remaining = std::mem::take(&mut self.remains);
        remains(states, below, &mut remaining);
        for corners in &remaining {
            let tet = corners.map(|corner| match corner {
                Corner::Original(i) => self.vertex_of_site(sites[i]),
                Corner::Cut { inside, outside } => self.vertex_of_cut(sites[inside], sites[outside]),
            });
            self.loose.push(tet);
        }
        self.remains = remaining;
    }

    fn vertex_of_site(&mut self, site: Site) -> u32 {
        let vertex = self.site_vertex[site as usize];
        if vertex != NONE {
            return vertex;
        }
        let on = self.states[site as usize] == State::On;
        let place = match self.moved_sites.binary_search_by_key(&site, |(site, _)| *site) {
            Ok(index) => self.moved_sites[index].1,
            Err(_) => self.lattice.position(site),
        };
        let vertex = self.loose.add_vertex(place, on);
        self.site_vertex[site as usize] = vertex;
        vertex
    }

    fn vertex_of_cut(&mut self, inside: Site, outside: Site) -> u32 {
        let index = self.cuts.index(inside, outside);
        if self.cut_vertex[index] == NONE {
            self.cut_vertex[index] = self.loose.add_vertex(self.cuts.0[index].place(self.lattice), true);
        }
        self.cut_vertex[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::tet_dihedral_angles;

    /// Corners of a tetrahedron whose long edges join corners 0 and 1, and 2 and 3.
    const CORNERS: [Vec3; 4] =
        [Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0), Vec3::new(1.0, 1.0, 1.0), Vec3::new(1.0, 1.0, -1.0)];

    /// Returns the possible positions of a corner on the surface, and the other corner that it moved towards.
    fn moves(corner: usize) -> Vec<(Vec3, Option<usize>)> {
        let from = CORNERS[corner];
        let mut all = vec![(from, None)];
        for code in 0..27 {
            let step = Vec3::from([code % 3, code / 3 % 3, code / 9].map(|n| f64::from(n) - 1.0));
            let (step, limit) = match step.abs().element_sum() as u32 {
                1 => (2.0 * step, TOO_NEAR_LONG),
                3 => (step, TOO_NEAR_SHORT),
                _ => continue,
            };
            let towards = (0..4).find(|&other| CORNERS[other] == from + step);
            all.extend([0.5, 1.0].map(|part| (from + part * limit * step, towards)));
        }
        assert_eq!(all.len(), 1 + 2 * 14);
        all
    }

    /// Returns true if corners can have moved like this: no two towards each other, and each across the surface.
    fn is_possible(states: [State; 4], towards: [Option<usize>; 4]) -> bool {
        if (0..4).any(|i| towards[i].is_some_and(|j| towards[j] == Some(i))) {
            return false;
        }
        (0..16).any(|sides| {
            let inside = |i: usize| match states[i] {
                State::Inside => true,
                State::Outside => false,
                State::On => sides >> i & 1 == 1,
            };
            (0..4).all(|i| towards[i].is_none_or(|j| inside(i) != inside(j)))
        })
    }

    /// Tries all combinations of corners inside, outside or on the surface. Corners are moved by their maximum distance
    /// or half of it, and edges are cut as close to their ends as possible or in the middle.
    #[test]
    fn no_stencil_has_an_angle_beyond_the_bounds() {
        let states_of =
            |code: usize| [1, 3, 9, 27].map(|unit| [State::Outside, State::Inside, State::On][code / unit % 3]);
        let (mut min, mut max, mut count) = (180.0_f64, 0.0_f64, 0_usize);
        let mut out = Remains::new();
        for states in (0..81).map(states_of).filter(|states| states.contains(&State::Inside)) {
            let options = |i: usize| if states[i] == State::On { moves(i) } else { vec![(CORNERS[i], None)] };
            let options: [Vec<(Vec3, Option<usize>)>; 4] = std::array::from_fn(options);
            let edges: Vec<(usize, usize)> = (0..4)
                .flat_map(|i| (0..4).map(move |j| (i, j)))
                .filter(|&(i, j)| states[i] == State::Inside && states[j] == State::Outside)
                .collect();
            let choices: usize = options.iter().map(Vec::len).product();
            for choice in 0..choices {
                let mut rest = choice;
                let picked: [(Vec3, Option<usize>); 4] = std::array::from_fn(|i| {
                    let own = options[i][rest % options[i].len()];
                    rest /= options[i].len();
                    own
                });
                if !is_possible(states, picked.map(|(_, towards)| towards)) {
                    continue;
                }
                for cuts in 0..3_usize.pow(edges.len() as u32) {
                    let place = |corner: Corner| match corner {
                        Corner::Original(i) => picked[i].0,
                        Corner::Cut { inside, outside } => {
                            let edge = edges.iter().position(|&edge| edge == (inside, outside)).unwrap();
                            let limit = if inside / 2 == outside / 2 { TOO_NEAR_LONG } else { TOO_NEAR_SHORT };
                            let at = [limit, 0.5, 1.0 - limit][cuts / 3_usize.pow(edge as u32) % 3];
                            CORNERS[inside].lerp(CORNERS[outside], at)
                        }
                    };
                    for odd in 0..2 {
                        let below = |one: usize, other: usize| {
                            CORNERS[one].cmplt(CORNERS[other]).bitmask().count_ones() % 2 == odd
                        };
                        remains(states, below, &mut out);
                        for tet in &out {
                            let angles = tet_dihedral_angles(tet.map(place));
                            min = angles.into_iter().fold(min, f64::min);
                            max = angles.into_iter().fold(max, f64::max);
                            count += 1;
                        }
                    }
                }
            }
        }
        println!("{count} tetrahedra: {min:.3}° to {max:.3}°");
        assert!(count > 100_000);
        assert!(min > ANGLES[0] && max < ANGLES[1], "{min} to {max}");
    }
}
