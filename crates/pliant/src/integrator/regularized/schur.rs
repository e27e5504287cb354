//! System in multipliers alone.

use std::array::from_fn;
use std::sync::Arc;

use rayon::prelude::*;

use super::form::{Breakdown, Solve, Step};
use super::refinement::Refinement;
use super::strain::{Jacobian, Strains};
use crate::math::{Mat3, Vec3};
use crate::solver::{Cholesky, PatternTooLarge, Symbolic, SymbolicInfo};
use crate::sparse::{BlockMatrix, BlockPattern};

/// Schur complement `(J M̃⁻¹Jᵀ + γh⁻²α) μ = r − J M̃⁻¹b`, then `v₊ = M̃⁻¹(b + Jᵀμ)`
/// \[ServinLacoursiereMelin2006, eq. 21 and 22\]. `M̃` couples no two vertices.
///
/// Each tetrahedron has two block rows: its normal strains and its shears.
#[derive(Debug, Clone)]
pub(super) struct Schur {
    /// For each tetrahedron, itself and the later ones that share vertices with it. `starts` has the first of each, and
    /// one more.
    neighbors: Vec<Neighbor>,
    starts: Vec<usize>,
    matrix: BlockMatrix,
    cholesky: Cholesky<f64>,
    jacobians: Vec<Jacobian>,
    /// Inverse `M̃⁻¹` of each vertex, zero at fixed coordinates.
    mobilities: Vec<Mat3>,
    b: Vec<f64>,
    x: Vec<f64>,
    force: Vec<f64>,
    refinement: Refinement,
}

#[derive(Debug, Clone, Copy)]
struct Neighbor {
    tet: u32,
    /// Indices of the shared vertices in either tetrahedron.
    shared: [(u8, u8); 4],
    count: u8,
}

impl Schur {
    pub fn new(strains: &Strains, vertex_count: usize) -> Result<Self, PatternTooLarge> {
        let tets = &strains.tets;
        let mut at_vertex = vec![Vec::new(); vertex_count];
        for (number, tet) in tets.iter().enumerate() {
            tet.nodes.iter().for_each(|&node| at_vertex[node as usize].push(number as u32));
        }
        let (mut neighbors, mut starts) = (Vec::new(), vec![0]);
        for (number, tet) in tets.iter().enumerate() {
            let touching = tet.nodes.iter().flat_map(|&node| at_vertex[node as usize].iter().copied());
            let mut later: Vec<u32> = touching.filter(|&other| other as usize >= number).collect();
            later.sort_unstable();
            later.dedup();
            neighbors
                .extend(later.into_iter().map(|other| Neighbor::new(&tet.nodes, other, &tets[other as usize].nodes)));
            starts.push(neighbors.len());
        }
        let of = |number: usize| &neighbors[starts[number]..starts[number + 1]];
        let pairs = (0..tets.len()).flat_map(|number| of(number).iter().map(move |other| (number as u32, other.tet)));
        let cliques: Vec<[u32; 4]> = pairs.map(|(a, b)| [2 * a, 2 * a + 1, 2 * b, 2 * b + 1]).collect();
        let pattern = Arc::new(BlockPattern::from_cliques(2 * tets.len(), cliques.iter().map(<[u32; 4]>::as_slice)));
        let cholesky = Cholesky::new(Arc::new(Symbolic::new(pattern.clone())?));
        let zeros = |count: usize| vec![0.0; count];
        Ok(Self {
            neighbors,
            starts,
            matrix: BlockMatrix::zero(pattern),
            cholesky,
            jacobians: vec![[[Vec3::ZERO; 6]; 4]; tets.len()],
            mobilities: vec![Mat3::ZERO; vertex_count],
            b: zeros(6 * tets.len()),
            x: zeros(6 * tets.len()),
            force: zeros(3 * vertex_count),
            refinement: Refinement::default(),
        })
    }

    fn invert_inertia(&mut self, step: &Step<'_>) {
        let (blocks, _) = step.inertia.values().as_chunks::<9>();
        let (fixed, _) = step.fixed.as_chunks::<3>();
        // In a pattern without pairs, blocks are in the order of the vertices.
        for ((mobility, block), fixed) in self.mobilities.iter_mut().zip(blocks).zip(fixed) {
            *mobility = Mat3::from_cols_array(block).inverse();
            for axis in (0..3).filter(|&axis| fixed[axis]) {
                *mobility.col_mut(axis) = Vec3::ZERO;
            }
        }
    }
}

impl Neighbor {
    fn new(nodes: &[u32; 4], tet: u32, others: &[u32; 4]) -> Self {
        let mut neighbor = Self { tet, shared: [(0, 0); 4], count: 0 };
        for (i, node) in nodes.iter().enumerate() {
            if let Some(j) = others.iter().position(|other| other == node) {
                neighbor.shared[neighbor.count as usize] = (i as u8, j as u8);
                neighbor.count += 1;
            }
        }
        neighbor
    }

    /// Returns `J M̃⁻¹Jᵀ` between a tetrahedron and this one, as blocks: normal strains and shears of one with those of
    /// the other.
    fn blocks(&self, nodes: &[u32; 4], a: &Jacobian, b: &Jacobian, mobilities: &[Mat3]) -> [[[f64; 9]; 2]; 2] {
        let mut blocks = [[[0.0; 9]; 2]; 2];
        for &(i, j) in &self.shared[..self.count as usize] {
            let mobility = mobilities[nodes[i as usize] as usize];
            let moved: [Vec3; 6] = b[j as usize].map(|row| mobility * row);
            for k in 0..6 {
                for l in 0..6 {
                    blocks[k / 3][l / 3][3 * (k % 3) + l % 3] += a[i as usize][k].dot(moved[l]);
                }
            }
        }
        blocks
    }
}

impl Solve for Schur {
    fn factor(&mut self, step: &Step<'_>) -> Result<(), Breakdown> {
        self.invert_inertia(step);
        let tets = &step.strains.tets;
        self.jacobians
            .par_iter_mut()
            .zip(tets)
            .with_min_len(256)
            .for_each(|(jacobian, tet)| *jacobian = tet.jacobian());
        // The two rows of a tetrahedron are contiguous. The first has a pair of blocks per neighbor, starting with
        // itself. The second lacks the block below the diagonal.
        let mut rows = Vec::with_capacity(tets.len());
        let (mut rest, _) = self.matrix.values_mut().as_chunks_mut::<9>();
        for number in 0..tets.len() {
            let neighbors = &self.neighbors[self.starts[number]..self.starts[number + 1]];
            let (own, others) = rest.split_at_mut(4 * neighbors.len() - 1);
            rows.push((number, neighbors, own));
            rest = others;
        }
        let (jacobians, mobilities) = (&self.jacobians, &self.mobilities);
        rows.into_par_iter().with_min_len(64).for_each(|(number, neighbors, own)| {
            let (first, second) = own.split_at_mut(2 * neighbors.len());
            for (place, other) in neighbors.iter().enumerate() {
                let (a, b) = (&jacobians[number], &jacobians[other.tet as usize]);
                let mut blocks = other.blocks(&tets[number].nodes, a, b, mobilities);
                if place == 0 {
                    let softness = tets[number].softness(step.gamma_per_h2());
                    for (k, block) in softness.blocks().iter().enumerate() {
                        (0..9).for_each(|i| blocks[k][k][i] += block[i / 3][i % 3]);
                    }
                } else {
                    second[2 * place - 1] = blocks[1][0];
                }
                [first[2 * place], first[2 * place + 1]] = blocks[0];
                second[2 * place] = blocks[1][1];
            }
        });
        let broken = |at: crate::solver::NotPositiveDefinite| Breakdown::Tet(at.vertex as usize / 2);
        self.cholesky.factor(&self.matrix).map_err(broken)
    }

    fn solve(&mut self, step: &Step<'_>, b: &[f64], v: &mut [f64]) -> f64 {
        let tets = &step.strains.tets;
        let move_all = |mobilities: &[Mat3], force: &mut [f64]| {
            for (mobility, force) in mobilities.iter().zip(force.as_chunks_mut::<3>().0) {
                *force = (*mobility * Vec3::from_array(*force)).to_array();
            }
        };
        self.force.copy_from_slice(b);
        move_all(&self.mobilities, &mut self.force);
        for ((tet, jacobian), b) in tets.iter().zip(&self.jacobians).zip(self.b.as_chunks_mut::<6>().0) {
            let rate = tet.rate(jacobian, &self.force);
            *b = from_fn(|k| tet.wanted[k] - rate[k]);
        }
        let cholesky = &mut self.cholesky;
        let residual = self.refinement.solve(&self.matrix, &self.b, &mut self.x, |b, x| cholesky.solve(b, x));
        self.force.copy_from_slice(b);
        for ((tet, jacobian), multipliers) in tets.iter().zip(&self.jacobians).zip(self.x.as_chunks::<6>().0) {
            tet.add_force(jacobian, multipliers, &mut self.force);
        }
        move_all(&self.mobilities, &mut self.force);
        v.iter_mut().zip(&self.force).for_each(|(v, change)| *v += change);
        residual
    }

    fn info(&self) -> &SymbolicInfo {
        self.cholesky.symbolic().info()
    }
}
