//! Elastic force of a body, for any elements and laws.

use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use super::{Conditions, Definiteness, Force};
use crate::element::Elements;
use crate::material::{LANES, Material, Points, TANGENT_ENTRIES, TANGENT_INDEX};
use crate::math::{Kernel, Simd, dispatch, par_sum_in};
use crate::mesh::{ElementKind, VolumeMesh};
use crate::sparse::{BlockMatrix, BlockPattern, Scatter, Target};

/// Elastic force of the energy `V = Σ w ψ(F)` over the quadrature points of all elements, with the rest volume `w` of
/// each point. With `g_a = ∇N_a`:
///
/// - `F = I + Σ u_a g_aᵀ`
/// - `f_a = Σ w P g_a`
/// - `(K_ab)ᵢₖ = Σ w (g_a)ⱼ Aᵢⱼₖₗ (g_b)ₗ`
///
/// As the shape functions sum to one, the terms of the last node of an element are minus the sum over the others.
///
/// The law is evaluated for a tile of points at a time. One kernel computes `F` from displacements before it, and
/// another computes forces and blocks from `P` and `A` after it. Element kernels are therefore independent of laws, and
/// laws are independent of elements.
#[derive(Debug, Clone)]
pub struct Elastic {
    elements: Elements,
    /// Material of each region.
    materials: Vec<Material>,
    scatter: Scatter,
}

/// Error for a wrong number of materials.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{materials} materials for a mesh with {regions} regions, expected one per region")]
pub struct MaterialCount {
    /// Number of regions.
    pub regions: usize,
    /// Number of materials given.
    pub materials: usize,
}

/// Number of point groups per evaluation of the law. Their tangents, 23 kB, stay in the first-level cache of a core.
const TILE: usize = 8;

/// Buffers between the kernels of one tile.
struct Tile {
    f: [Points<9>; TILE],
    stresses: [Points<9>; TILE],
    tangents: [Points<TANGENT_ENTRIES>; TILE],
}

/// Quantity computed at the points of a chunk besides forces.
#[derive(Clone, Copy)]
enum Request<'a> {
    Force,
    Stiffness(Definiteness),
    /// Diagonal blocks of the stiffness.
    Diagonal(Definiteness),
    /// Product of the stiffness with a vector, instead of the force.
    Product(Definiteness, &'a [f64]),
}

impl Elastic {
    /// Creates the force of a body with one material per region of its mesh, in their order.
    pub fn new(mesh: &VolumeMesh, materials: Vec<Material>) -> Result<Self, MaterialCount> {
        Self::among(mesh, materials, 0, mesh.vertex_count())
    }

    /// Creates the force of one body among others. The vertices of its mesh are numbered from `first`, out of a total
    /// of `vertex_count`.
    ///
    /// # Panics
    /// If `vertex_count` is too small.
    pub fn among(
        mesh: &VolumeMesh,
        materials: Vec<Material>,
        first: u32,
        vertex_count: usize,
    ) -> Result<Self, MaterialCount> {
        if materials.len() != mesh.regions().len() {
            return Err(MaterialCount { regions: mesh.regions().len(), materials: materials.len() });
        }
        let elements = Elements::numbered_from(mesh, first);
        let chunks: Vec<_> = elements.chunks().iter().map(|groups| LANES * groups.start..LANES * groups.end).collect();
        let nodes = elements.nodes().to_vec();
        let scatter = Scatter::new(elements.nodes_per_element(), nodes, vertex_count, &chunks);
        Ok(Self { elements, materials, scatter })
    }

    /// Creates the force of a body of one material.
    #[allow(clippy::missing_panics_doc, reason = "there are as many materials as regions")]
    pub fn uniform(mesh: &VolumeMesh, material: impl Into<Material>) -> Self {
        let materials = vec![material.into(); mesh.regions().len()];
        Self::new(mesh, materials).expect("one material for each region")
    }

    /// Returns the force with a weight factor per element: the elements of a reduced model represent others around
    /// them.
    ///
    /// # Panics
    /// If there is not one factor per element.
    #[must_use]
    pub fn with_element_weights(mut self, factors: &[f64]) -> Self {
        self.elements.scale_weights(factors);
        self
    }

    /// Returns the elements.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// Returns the material of each region.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// Sets the material of a region.
    ///
    /// # Panics
    /// If there is no such region.
    pub fn set_material(&mut self, region: usize, material: Material) {
        self.materials[region] = material;
    }

    /// Adds `K(u) x` to `product`, element by element, without assembling the matrix.
    ///
    /// # Panics
    /// If a vector does not have three numbers per vertex.
    pub fn add_stiffness_product(&self, u: &[f64], definiteness: Definiteness, x: &[f64], product: &mut [f64]) {
        self.check_length(u);
        self.check_length(x);
        let request = Request::Product(definiteness, x);
        self.scatter.run(product, None, |chunk, target| self.add_chunk(u, request, self.groups(chunk), target));
    }

    /// Adds `∂V/∂u` to `gradient` and the diagonal blocks of `K(u)`, row by row, to `diagonal`. This needs no pattern.
    ///
    /// # Panics
    /// If a vector does not have three numbers per vertex, or `diagonal` one block per vertex.
    pub fn add_gradient_and_diagonal(
        &self,
        u: &[f64],
        definiteness: Definiteness,
        gradient: &mut [f64],
        diagonal: &mut [[f64; 9]],
    ) {
        self.check_length(u);
        let request = Request::Diagonal(definiteness);
        self.scatter.run_diagonal(gradient, diagonal, |chunk, target| {
            self.add_chunk(u, request, self.groups(chunk), target);
        });
    }

    pub(super) fn check_length(&self, u: &[f64]) {
        self.scatter.check_length(u);
    }

    /// Returns the number of element groups per tile.
    fn groups_per_tile(&self) -> usize {
        TILE / self.elements.points_per_element()
    }

    /// Computes `F` at the points of some groups.
    pub(super) fn deformation_gradients(&self, u: &[f64], groups: Range<usize>, f: &mut [Points<9>]) {
        self.gradients_of(1.0, u, groups, f);
    }

    /// Computes `F` of displacements, or its increment if `identity` is 0.
    fn gradients_of(&self, identity: f64, u: &[f64], groups: Range<usize>, f: &mut [Points<9>]) {
        let elements = &self.elements;
        match elements.kind() {
            ElementKind::Tet4 => dispatch(DeformationGradients::<4> { elements, groups, identity, u, f }),
            ElementKind::Hex8 => dispatch(DeformationGradients::<8> { elements, groups, identity, u, f }),
        }
    }

    fn energy_of_chunk(&self, u: &[f64], groups: &Range<usize>) -> f64 {
        let (mut f, mut energies) = ([Points::ZERO; TILE], [Points::ZERO; TILE]);
        let material = &self.materials[self.elements.region(groups.start)];
        let mut sum = 0.0;
        for tile in tiles(groups, self.groups_per_tile()) {
            let count = tile.len() * self.elements.points_per_element();
            self.deformation_gradients(u, tile.clone(), &mut f[..count]);
            material.energies(&f[..count], &mut energies[..count]);
            let weights = tile.flat_map(|group| self.elements.weights(group));
            for (weights, energies) in weights.zip(&energies) {
                for lane in 0..LANES {
                    // Lanes without an element have no weight, but their energies may be infinite.
                    sum += if weights[lane] > 0.0 { weights[lane] * energies.0[0][lane] } else { 0.0 };
                }
            }
        }
        sum
    }

    #[allow(clippy::large_stack_arrays, reason = "23 kB, so that nothing is allocated")]
    fn add_chunk(&self, u: &[f64], request: Request<'_>, groups: Range<usize>, target: &Target<'_>) {
        let mut tile = Tile { f: [Points::ZERO; TILE], stresses: [Points::ZERO; TILE], tangents: [Points::ZERO; TILE] };
        let material = &self.materials[self.elements.region(groups.start)];
        let (elements, first) = (&self.elements, groups.start);
        for groups in tiles(&groups, self.groups_per_tile()) {
            let count = groups.len() * elements.points_per_element();
            let (f, stresses) = (&mut tile.f[..count], &mut tile.stresses[..count]);
            let tangents = &mut tile.tangents[..count];
            self.deformation_gradients(u, groups.clone(), f);
            let blocks = match request {
                Request::Force => {
                    material.stresses(f, stresses);
                    Blocks::None
                }
                Request::Stiffness(definiteness) => {
                    material.stresses_and_tangents(definiteness, f, stresses, tangents);
                    Blocks::All(tangents)
                }
                Request::Diagonal(definiteness) => {
                    material.stresses_and_tangents(definiteness, f, stresses, tangents);
                    Blocks::Diagonal(tangents)
                }
                Request::Product(definiteness, x) => {
                    material.stresses_and_tangents(definiteness, f, stresses, tangents);
                    self.gradients_of(0.0, x, groups.clone(), f);
                    dispatch(StressChanges { tangents, df: f, dp: stresses });
                    Blocks::None
                }
            };
            match elements.kind() {
                ElementKind::Tet4 => {
                    dispatch(Contract::<4, 10> { elements, groups, first, stresses, blocks, target });
                }
                ElementKind::Hex8 => {
                    dispatch(Contract::<8, 36> { elements, groups, first, stresses, blocks, target });
                }
            }
        }
    }
}

impl Force for Elastic {
    fn node_count(&self) -> usize {
        self.scatter.node_count()
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        self.scatter.cliques().for_each(add);
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        self.scatter.bind(pattern);
    }

    fn energy(&self, u: &[f64], _conditions: &Conditions<'_>) -> f64 {
        self.check_length(u);
        let chunks = self.elements.chunks();
        par_sum_in(1, 0.0, chunks.len(), |chunk| self.energy_of_chunk(u, &chunks[chunk]))
    }

    fn add_gradient(&self, u: &[f64], _conditions: &Conditions<'_>, gradient: &mut [f64]) {
        self.check_length(u);
        self.scatter.run(gradient, None, |chunk, target| self.add_chunk(u, Request::Force, self.groups(chunk), target));
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        _conditions: &Conditions<'_>,
        definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.check_length(u);
        self.scatter.run(gradient, Some(stiffness), |chunk, target| {
            self.add_chunk(u, Request::Stiffness(definiteness), self.groups(chunk), target);
        });
    }
}

impl Elastic {
    /// Returns the groups of a chunk of the scatter.
    fn groups(&self, chunk: usize) -> Range<usize> {
        let cliques = &self.scatter.chunks()[chunk];
        cliques.start / LANES..cliques.end / LANES
    }
}

fn tiles(groups: &Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let end = groups.end;
    groups.clone().step_by(length).map(move |first| first..(first + length).min(end))
}

/// Kernel for `F = I + Σ (u_a − u_last) g_aᵀ` at the points of `groups`, for elements of `N` nodes, with a multiple of
/// `I`.
struct DeformationGradients<'a, const N: usize> {
    elements: &'a Elements,
    groups: Range<usize>,
    identity: f64,
    u: &'a [f64],
    f: &'a mut [Points<9>],
}

impl<const N: usize> Kernel for DeformationGradients<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let points = self.elements.points_per_element();
        let (u, _) = self.u.as_chunks::<3>();
        for (group, f) in self.groups.zip(self.f.chunks_exact_mut(points)) {
            // Displacements of each node relative to the last.
            let mut relative = [[[0.0; LANES]; 3]; N];
            let (nodes, _) = self.elements.nodes()[N * LANES * group..N * LANES * (group + 1)].as_chunks::<N>();
            for lane in 0..LANES {
                let last = u[nodes[lane][N - 1] as usize];
                for a in 0..N - 1 {
                    let own = u[nodes[lane][a] as usize];
                    for i in 0..3 {
                        relative[a][i][lane] = own[i] - last[i];
                    }
                }
            }
            for (f, gradients) in f.iter_mut().zip(self.elements.gradients(group).chunks_exact(3 * (N - 1))) {
                for lane in (0..LANES).step_by(R::WIDTH) {
                    let mut sum = [[R::from(0.0); 3]; 3];
                    for i in 0..3 {
                        sum[i][i] = R::from(self.identity);
                    }
                    for a in 0..N - 1 {
                        for j in 0..3 {
                            let g = R::load(&gradients[3 * a + j][lane..]);
                            for i in 0..3 {
                                sum[i][j] = R::load(&relative[a][i][lane..]).mul_add(g, sum[i][j]);
                            }
                        }
                    }
                    for i in 0..3 {
                        for j in 0..3 {
                            sum[i][j].store(&mut f.0[3 * i + j][lane..]);
                        }
                    }
                }
            }
        }
    }
}

/// Kernel for `dP = A : dF` at some points.
struct StressChanges<'a> {
    tangents: &'a [Points<TANGENT_ENTRIES>],
    df: &'a [Points<9>],
    dp: &'a mut [Points<9>],
}

impl Kernel for StressChanges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for ((tangent, df), dp) in self.tangents.iter().zip(self.df).zip(self.dp) {
            for lane in (0..LANES).step_by(R::WIDTH) {
                for m in 0..9 {
                    let mut sum = R::from(0.0);
                    for n in 0..9 {
                        let entry = R::load(&tangent.0[TANGENT_INDEX[m][n]][lane..]);
                        sum = entry.mul_add(R::load(&df.0[n][lane..]), sum);
                    }
                    sum.store(&mut dp.0[m][lane..]);
                }
            }
        }
    }
}

/// Tangents of the requested stiffness blocks.
#[derive(Clone, Copy)]
enum Blocks<'a> {
    None,
    All(&'a [Points<TANGENT_ENTRIES>]),
    Diagonal(&'a [Points<TANGENT_ENTRIES>]),
}

/// Kernel that adds forces and the requested stiffness blocks to the target, for elements of `N` nodes and `PAIRS`
/// pairs of them.
struct Contract<'a, const N: usize, const PAIRS: usize> {
    elements: &'a Elements,
    groups: Range<usize>,
    /// First group of the chunk of the target.
    first: usize,
    stresses: &'a [Points<9>],
    blocks: Blocks<'a>,
    target: &'a Target<'a>,
}

/// Returns the index of the pair `a ≤ b` of `n` nodes.
#[inline(always)]
const fn pair(n: usize, a: usize, b: usize) -> usize {
    a * n + b - a * (a + 1) / 2
}

impl<const N: usize, const PAIRS: usize> Kernel for Contract<'_, N, PAIRS> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let points = self.elements.points_per_element();
        // All blocks in use are written for each group.
        let mut blocks = [[0.0; 9 * LANES]; PAIRS];
        for (i, group) in self.groups.enumerate() {
            let range = points * i..points * (i + 1);
            let weights = self.elements.weights(group);
            let gradients = self.elements.gradients(group);
            let mut forces = [[[0.0; LANES]; 3]; N];
            for lane in (0..LANES).step_by(R::WIDTH) {
                forces_of::<R, N>(&self.stresses[range.clone()], weights, gradients, lane, &mut forces);
                let (range, blocks) = (range.clone(), &mut blocks);
                match self.blocks {
                    Blocks::None => {}
                    Blocks::All(tangents) => {
                        blocks_of::<R, N, PAIRS>(&tangents[range], weights, gradients, lane, blocks);
                    }
                    Blocks::Diagonal(tangents) => {
                        diagonal_of::<R, N>(&tangents[range], weights, gradients, lane, &mut blocks[..N]);
                    }
                }
            }
            for lane in 0..self.elements.numbers(group).len() {
                let clique = LANES * (group - self.first) + lane;
                for (node, force) in forces.iter().enumerate() {
                    self.target.add_force(clique, node, [force[0][lane], force[1][lane], force[2][lane]]);
                }
                match self.blocks {
                    Blocks::None => {}
                    Blocks::All(_) => {
                        for (pair, blocks) in blocks.iter().enumerate() {
                            self.target.add_block(clique, pair, &blocks.as_chunks::<9>().0[lane]);
                        }
                    }
                    Blocks::Diagonal(_) => {
                        for (node, blocks) in blocks[..N].iter().enumerate() {
                            self.target.add_diagonal(clique, node, &blocks.as_chunks::<9>().0[lane]);
                        }
                    }
                }
            }
        }
    }
}

/// Computes `f_a = Σ w P g_a`.
#[inline(always)]
fn forces_of<R: Simd, const N: usize>(
    stresses: &[Points<9>],
    weights: &[[f64; LANES]],
    gradients: &[[f64; LANES]],
    lane: usize,
    forces: &mut [[[f64; LANES]; 3]; N],
) {
    let mut sums = [[R::from(0.0); 3]; N];
    for (point, stress) in stresses.iter().enumerate() {
        let w = R::load(&weights[point][lane..]);
        let g = &gradients[3 * (N - 1) * point..3 * (N - 1) * (point + 1)];
        for i in 0..3 {
            let mut p = [R::from(0.0); 3];
            for j in 0..3 {
                p[j] = R::load(&stress.0[3 * i + j][lane..]) * w;
            }
            for a in 0..N - 1 {
                for j in 0..3 {
                    sums[a][i] = p[j].mul_add(R::load(&g[3 * a + j][lane..]), sums[a][i]);
                }
            }
        }
    }
    for i in 0..3 {
        let mut last = R::from(0.0);
        for a in 0..N - 1 {
            last -= sums[a][i];
            sums[a][i].store(&mut forces[a][i][lane..]);
        }
        last.store(&mut forces[N - 1][i][lane..]);
    }
}

/// Computes `(K_ab)ᵢₖ = Σ w (g_a)ⱼ Aᵢⱼₖₗ (g_b)ₗ` for `a ≤ b`, stored lane by lane.
#[inline(always)]
fn blocks_of<R: Simd, const N: usize, const PAIRS: usize>(
    tangents: &[Points<TANGENT_ENTRIES>],
    weights: &[[f64; LANES]],
    gradients: &[[f64; LANES]],
    lane: usize,
    blocks: &mut [[f64; 9 * LANES]; PAIRS],
) {
    let zero = R::from(0.0);
    let mut k = [[zero; 9]; PAIRS];
    for (point, tangent) in tangents.iter().enumerate() {
        let w = R::load(&weights[point][lane..]);
        let stored = &gradients[3 * (N - 1) * point..3 * (N - 1) * (point + 1)];
        let mut g = [[zero; 3]; N];
        for a in 0..N - 1 {
            for j in 0..3 {
                g[a][j] = R::load(&stored[3 * a + j][lane..]);
            }
        }
        for a in 0..N - 1 {
            let ga = [g[a][0] * w, g[a][1] * w, g[a][2] * w];
            for i in 0..3 {
                // Row i of g_a A, with three columns per coordinate k.
                let mut row = [zero; 9];
                for n in 0..9 {
                    for j in 0..3 {
                        let entry = R::load(&tangent.0[TANGENT_INDEX[3 * i + j][n]][lane..]);
                        row[n] = entry.mul_add(ga[j], row[n]);
                    }
                }
                for b in a..N - 1 {
                    for j in 0..3 {
                        let place = &mut k[pair(N, a, b)][3 * i + j];
                        for l in 0..3 {
                            *place = row[3 * j + l].mul_add(g[b][l], *place);
                        }
                    }
                }
            }
        }
    }
    // The last node has minus the sum of the others, and the diagonal blocks are exactly symmetric.
    for i in 0..3 {
        for j in 0..3 {
            let mut corner = zero;
            for a in 0..N - 1 {
                let mut sum = zero;
                for b in 0..N - 1 {
                    sum -= if a <= b { k[pair(N, a, b)][3 * i + j] } else { k[pair(N, b, a)][3 * j + i] };
                }
                k[pair(N, a, N - 1)][3 * i + j] = sum;
                corner -= sum;
            }
            k[PAIRS - 1][3 * i + j] = corner;
        }
    }
    for a in 0..N {
        let diagonal = &mut k[pair(N, a, a)];
        for i in 0..3 {
            for j in 0..i {
                diagonal[3 * i + j] = diagonal[3 * j + i];
            }
        }
    }
    for (k, blocks) in k.iter().zip(blocks) {
        R::store_nines(k, &mut blocks[9 * lane..]);
    }
}

/// Computes the diagonal blocks `(K_aa)ᵢₖ` as in [`blocks_of`].
#[inline(always)]
fn diagonal_of<R: Simd, const N: usize>(
    tangents: &[Points<TANGENT_ENTRIES>],
    weights: &[[f64; LANES]],
    gradients: &[[f64; LANES]],
    lane: usize,
    blocks: &mut [[f64; 9 * LANES]],
) {
    let zero = R::from(0.0);
    let mut k = [[zero; 9]; N];
    for (point, tangent) in tangents.iter().enumerate() {
        let w = R::load(&weights[point][lane..]);
        let stored = &gradients[3 * (N - 1) * point..3 * (N - 1) * (point + 1)];
        let mut last = [zero; 3];
        for a in 0..N {
            let mut g = last;
            if a < N - 1 {
                for j in 0..3 {
                    g[j] = R::load(&stored[3 * a + j][lane..]);
                    last[j] -= g[j];
                }
            }
            for i in 0..3 {
                for n in 3 * i..9 {
                    let mut entry = zero;
                    for j in 0..3 {
                        entry = R::load(&tangent.0[TANGENT_INDEX[3 * i + j][n]][lane..]).mul_add(g[j], entry);
                    }
                    k[a][3 * i + n / 3] = (entry * w).mul_add(g[n % 3], k[a][3 * i + n / 3]);
                }
            }
        }
    }
    for (k, blocks) in k.iter_mut().zip(blocks) {
        for i in 0..3 {
            for j in 0..i {
                k[3 * i + j] = k[3 * j + i];
            }
        }
        R::store_nines(k, &mut blocks[9 * lane..]);
    }
}
