//! Mass matrices.

use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use crate::mesh::shape::{gauss_3, hex_jacobian, hex_weights};
use crate::mesh::{ElementKind, VolumeMesh};
use crate::sparse::{BlockMatrix, BlockPattern, Csr};

/// Mass matrix `M = ∫ρ NᵀN`: `½ vᵀMv` is the kinetic energy for vertex velocities `v`.
///
/// The block of two vertices is `m I`, so only `m` is stored. For an element of volume `V`:
///
/// - tetrahedron: `m_ab = ρV/20 (1 + δ_ab)`
/// - hexahedron: `m_ab = ∫ρ N_a N_b`, of degree 4 in each reference coordinate, for which the 3×3×3 Gauss rule is exact
/// - lumped: `m_aa = Σ_b m_ab`, and zero between different vertices
///
/// Vertices that no element uses have no mass.
#[derive(Debug, Clone, PartialEq)]
pub struct MassMatrix {
    pattern: Arc<BlockPattern>,
    /// Mass of each slot of the pattern \[kg\].
    values: Vec<f64>,
}

/// Invalid input for a mass matrix.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum MassError {
    #[error("{densities} densities for a mesh with {regions} regions, expected one per region")]
    DensityCount { regions: usize, densities: usize },
    #[error("the density of region `{region}` is {density}, expected a positive number of kg/m³")]
    Density { region: String, density: f64 },
}

/// Number of elements computed at a time: enough for all threads, few enough to need little memory.
const BATCH: usize = 1 << 14;

impl MassMatrix {
    /// Assembles the consistent mass matrix of a body, with one density \[kg/m³\] per region.
    ///
    /// # Panics
    /// If the pattern lacks a pair of vertices of an element, or is for another number of vertices.
    pub fn consistent(mesh: &VolumeMesh, densities: &[f64], pattern: &Arc<BlockPattern>) -> Result<Self, MassError> {
        assert_eq!(pattern.node_count(), mesh.vertex_count(), "the pattern must have the vertices of the mesh");
        let mut mass = Self::zero(pattern.clone());
        mass.add_consistent(mesh, densities, 0)?;
        Ok(mass)
    }

    /// Assembles the lumped mass matrix of a body, which is diagonal, with one density \[kg/m³\] per region.
    pub fn lumped(mesh: &VolumeMesh, densities: &[f64]) -> Result<Self, MassError> {
        let mut mass = Self::zero(Arc::new(BlockPattern::diagonal(mesh.vertex_count())));
        mass.add_lumped(mesh, densities, 0)?;
        Ok(mass)
    }

    /// Returns a zero matrix.
    pub fn zero(pattern: Arc<BlockPattern>) -> Self {
        Self { values: vec![0.0; pattern.slot_count()], pattern }
    }

    /// Adds the consistent mass of a body whose vertices are numbered from `first`.
    ///
    /// # Panics
    /// If the pattern lacks a pair of vertices of an element.
    pub fn add_consistent(&mut self, mesh: &VolumeMesh, densities: &[f64], first: u32) -> Result<(), MassError> {
        check(mesh, densities)?;
        let (pattern, values) = (&self.pattern, &mut self.values);
        let nodes = mesh.kind().nodes();
        let pairs = nodes * (nodes + 1) / 2;
        let mut batch = vec![(0, 0.0); pairs * BATCH.min(mesh.element_count())];
        for start in (0..mesh.element_count()).step_by(BATCH) {
            let count = BATCH.min(mesh.element_count() - start);
            let batch = &mut batch[..pairs * count];
            batch.par_chunks_exact_mut(pairs).enumerate().for_each(|(i, entries)| {
                let element = start + i;
                let density = mesh.element_fill(element) * densities[mesh.element_region()[element] as usize];
                add_places(mesh, element, first, pattern, entries);
                match mesh.kind() {
                    ElementKind::Tet4 => tet_mass(density * mesh.element_volume(element), entries),
                    ElementKind::Hex8 => hex_mass(mesh, element, density, entries),
                }
            });
            // Serial, so that the entries are summed in the order of the elements for any number of threads.
            for &(slot, mass) in &*batch {
                values[slot] += mass;
            }
        }
        Ok(())
    }

    /// Adds the lumped mass of a body whose vertices are numbered from `first`.
    ///
    /// # Panics
    /// If the matrix has fewer vertices.
    pub fn add_lumped(&mut self, mesh: &VolumeMesh, densities: &[f64], first: u32) -> Result<(), MassError> {
        check(mesh, densities)?;
        self.add_point_masses(&mesh.lumped_masses(densities), first);
        Ok(())
    }

    /// Adds point masses \[kg\] at nodes that are numbered from `first`.
    ///
    /// # Panics
    /// If the matrix has fewer nodes.
    pub fn add_point_masses(&mut self, masses: &[f64], first: u32) {
        for (node, mass) in masses.iter().enumerate() {
            self.values[self.pattern.row(first as usize + node).start] += mass;
        }
    }

    /// Returns the sparsity pattern, which is diagonal for a lumped mass.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// Returns the mass of each slot of the pattern \[kg\].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns true if the matrix is diagonal, so that accelerations follow without a linear solve.
    pub fn is_diagonal(&self) -> bool {
        self.pattern.slot_count() == self.pattern.node_count()
    }

    /// Returns the total mass \[kg\], which is the sum of all entries for one axis.
    pub fn total(&self) -> f64 {
        self.row_sums().iter().sum()
    }

    /// Returns the lumped mass `Σ_b m_ab` of each vertex \[kg\].
    pub fn row_sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.pattern.node_count()];
        self.for_each(|a, b, mass| {
            sums[a] += mass;
            if a != b {
                sums[b] += mass;
            }
        });
        sums
    }

    /// Computes `y = M x`.
    ///
    /// # Panics
    /// If the lengths differ from the size of the matrix.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        let n = 3 * self.pattern.node_count();
        assert!(x.len() == n && y.len() == n, "expected vectors of length {n}");
        y.fill(0.0);
        let (x, _) = x.as_chunks::<3>();
        let (y, _) = y.as_chunks_mut::<3>();
        self.for_each(|a, b, mass| {
            for axis in 0..3 {
                y[a][axis] += mass * x[b][axis];
            }
            if a != b {
                for axis in 0..3 {
                    y[b][axis] += mass * x[a][axis];
                }
            }
        });
    }

    /// Returns the kinetic energy `½ vᵀMv` \[J\].
    ///
    /// # Panics
    /// If the length differs from the size of the matrix.
    pub fn kinetic_energy(&self, v: &[f64]) -> f64 {
        let mut momentum = vec![0.0; v.len()];
        self.mul(v, &mut momentum);
        0.5 * v.iter().zip(&momentum).map(|(v, p)| v * p).sum::<f64>()
    }

    /// Adds `factor · M` to `matrix`.
    ///
    /// # Panics
    /// If the pattern of `matrix` lacks a pair of vertices of this one.
    pub fn add_to(&self, factor: f64, matrix: &mut BlockMatrix) {
        let target = matrix.pattern().clone();
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for (slot, mass) in target.slots_of(&self.pattern).zip(&self.values) {
            for diagonal in [0, 4, 8] {
                blocks[slot][diagonal] += factor * mass;
            }
        }
    }

    /// Adds `factor` times the diagonal of `M` to `matrix`, which may have any pattern.
    ///
    /// # Panics
    /// If the matrix is for another number of vertices.
    pub fn add_diagonal_to(&self, factor: f64, matrix: &mut BlockMatrix) {
        let pattern = matrix.pattern().clone();
        assert_eq!(pattern.node_count(), self.pattern.node_count(), "the matrix must have the same vertices");
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for vertex in 0..pattern.node_count() {
            for diagonal in [0, 4, 8] {
                blocks[pattern.row(vertex).start][diagonal] += factor * self.values[self.pattern.row(vertex).start];
            }
        }
    }

    /// Converts to compressed sparse rows with both triangles, for other programs.
    pub fn to_csr(&self) -> Csr {
        let n = self.pattern.node_count();
        let mut starts = vec![0_usize; n + 1];
        self.for_each(|a, b, _| {
            starts[a + 1] += 1;
            starts[b + 1] += usize::from(a != b);
        });
        for v in 0..n {
            starts[v + 1] += starts[v];
        }
        // Rows are visited in ascending order, so that the entries below the diagonal of a row come first.
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); starts[n]];
        let mut put = |row: usize, column: usize, mass: f64| {
            entries[next[row]] = (column as u32, mass);
            next[row] += 1;
        };
        self.for_each(|a, b, mass| {
            put(a, b, mass);
            if a != b {
                put(b, a, mass);
            }
        });
        let count = 3 * entries.len();
        let (mut columns, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut row_starts = vec![0];
        for v in 0..n {
            for axis in 0..3 {
                for &(column, mass) in &entries[starts[v]..starts[v + 1]] {
                    columns.push(3 * column + axis);
                    values.push(mass);
                }
                row_starts.push(columns.len());
            }
        }
        Csr { row_starts, columns, values }
    }

    /// Calls `visit` with the row, column and mass of each entry of the upper triangle.
    fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for row in 0..self.pattern.node_count() {
            for slot in self.pattern.row(row) {
                visit(row, self.pattern.columns()[slot] as usize, self.values[slot]);
            }
        }
    }
}

/// Checks that there is one positive density per region.
pub(crate) fn check(mesh: &VolumeMesh, densities: &[f64]) -> Result<(), MassError> {
    if densities.len() != mesh.regions().len() {
        return Err(MassError::DensityCount { regions: mesh.regions().len(), densities: densities.len() });
    }
    let wrong = densities.iter().position(|density| !(*density > 0.0 && density.is_finite()));
    match wrong {
        None => Ok(()),
        Some(region) => {
            Err(MassError::Density { region: mesh.regions()[region].name.clone(), density: densities[region] })
        }
    }
}

/// Sets the slots of the pairs `(0,0), (0,1), …, (1,1), …` of the nodes of an element.
fn add_places(mesh: &VolumeMesh, element: usize, first: u32, pattern: &BlockPattern, entries: &mut [(usize, f64)]) {
    let nodes = mesh.element(element);
    let mut entries = entries.iter_mut();
    for (i, &a) in nodes.iter().enumerate() {
        for (&b, entry) in nodes[i..].iter().zip(&mut entries) {
            *entry =
                (pattern.slot(first + a, first + b).expect("the pattern has all pairs of vertices of an element"), 0.0);
        }
    }
}

/// Computes `m/20 (1 + δ_ab)`.
fn tet_mass(mass: f64, entries: &mut [(usize, f64)]) {
    for (pair, entry) in entries.iter_mut().enumerate() {
        let is_diagonal = matches!(pair, 0 | 4 | 7 | 9);
        entry.1 = if is_diagonal { mass / 10.0 } else { mass / 20.0 };
    }
}

/// Computes `Σ w ρ det(∂x/∂ξ) N_a N_b` over the Gauss points.
fn hex_mass(mesh: &VolumeMesh, element: usize, density: f64, entries: &mut [(usize, f64)]) {
    let corners = mesh.hex(element);
    for (xi, weight) in gauss_3() {
        let mass = weight * density * hex_jacobian(&corners, xi).determinant();
        let n = hex_weights(xi);
        let pairs = (0..8).flat_map(|a| (a..8).map(move |b| (a, b)));
        for (entry, (a, b)) in entries.iter_mut().zip(pairs) {
            entry.1 += mass * n[a] * n[b];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat3, Vec3, outer};
    use crate::mesh::{Cells, MeshData, Region, generate};

    fn pattern(mesh: &VolumeMesh) -> Arc<BlockPattern> {
        Arc::new(BlockPattern::from_cliques(mesh.vertex_count(), mesh.elements()))
    }

    /// Returns bodies with two regions of different density, and a vertex without elements.
    fn bodies() -> Vec<(VolumeMesh, [f64; 2])> {
        let body = |cells| {
            let mut data: MeshData = generate::cylinder(0.7, 2.0, 4, 5, cells).unwrap().into_data();
            data.vertices.push(Vec3::splat(9.0));
            data.regions = vec![Region::named("light"), Region::named("heavy")];
            let count = data.elements.len() / data.kind.nodes();
            data.element_region = (0..count as u32).map(|e| e % 3 / 2).collect();
            (VolumeMesh::check(data).unwrap().mesh, [1000.0, 2700.0])
        };
        [Cells::Tet5, Cells::Hex].map(body).into()
    }

    #[test]
    fn row_sums_are_the_lumped_masses_and_unused_vertices_have_none() {
        for (mesh, densities) in bodies() {
            let consistent = MassMatrix::consistent(&mesh, &densities, &pattern(&mesh)).unwrap();
            let lumped = MassMatrix::lumped(&mesh, &densities).unwrap();
            assert!(lumped.is_diagonal() && !consistent.is_diagonal());
            assert_eq!(lumped.values(), mesh.lumped_masses(&densities));
            for (sum, mass) in consistent.row_sums().iter().zip(lumped.values()) {
                assert!((sum - mass).abs() <= 1e-13 * mass, "{sum} instead of {mass}");
            }
            assert_eq!(lumped.values().last(), Some(&0.0));
            let mass = mesh.mass_properties(&densities).mass;
            assert!((consistent.total() - mass).abs() < 1e-13 * mass);
            assert!((lumped.total() - mass).abs() < 1e-13 * mass);
        }
    }

    /// Checks `½∫ρ|v|² = ½ m |v(c)|² + ½ tr(B S Bᵀ)` with `x = c + r`, `v = a + B x`, `S = ∫ρ rrᵀ = ½ tr(I) 1 − I`.
    #[test]
    fn kinetic_energy_of_linear_velocity_fields_is_exact() {
        let a = Vec3::new(0.3, -1.0, 0.2);
        let b = Mat3::from_cols_array(&[0.1, 0.7, -0.4, 1.1, -0.3, 0.2, 0.5, 0.6, 0.9]);
        for (mesh, densities) in bodies() {
            let matrix = MassMatrix::consistent(&mesh, &densities, &pattern(&mesh)).unwrap();
            let v: Vec<f64> = mesh.vertices().iter().flat_map(|&x| (a + b * x).to_array()).collect();
            let body = mesh.mass_properties(&densities);
            let trace = |m: Mat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
            let second = Mat3::from_diagonal(Vec3::splat(0.5 * trace(body.inertia))) - body.inertia;
            let center = a + b * body.center_of_mass;
            let exact = 0.5 * trace(outer(center, center) * body.mass + b * second * b.transpose());
            let found = matrix.kinetic_energy(&v);
            assert!((found - exact).abs() < 1e-13 * exact, "{found} instead of {exact}");
        }
    }

    #[test]
    fn product_sum_and_compressed_rows_agree() {
        for (mesh, densities) in bodies() {
            let pattern = pattern(&mesh);
            let n = 3 * mesh.vertex_count();
            let x: Vec<f64> = (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect();
            for matrix in [
                MassMatrix::consistent(&mesh, &densities, &pattern).unwrap(),
                MassMatrix::lumped(&mesh, &densities).unwrap(),
            ] {
                let (mut y, mut from_blocks, mut from_csr) = (vec![f64::NAN; n], vec![0.0; n], vec![0.0; n]);
                matrix.mul(&x, &mut y);
                let mut blocks = BlockMatrix::zero(pattern.clone());
                matrix.add_to(2.0, &mut blocks);
                blocks.mul(&x, &mut from_blocks);
                let csr = matrix.to_csr();
                assert!(
                    (0..n).all(|i| csr.columns[csr.row_starts[i]..csr.row_starts[i + 1]].is_sorted_by(|a, b| a < b))
                );
                csr.mul(&x, &mut from_csr);
                for i in 0..n {
                    assert!((y[i] - 0.5 * from_blocks[i]).abs() < 1e-12);
                    assert!((y[i] - from_csr[i]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn the_matrix_is_bitwise_equal_on_one_and_many_threads() {
        for (mesh, densities) in bodies() {
            let pattern = pattern(&mesh);
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| MassMatrix::consistent(&mesh, &densities, &pattern).unwrap())
            };
            assert_eq!(on(1), on(4));
        }
    }

    #[test]
    fn wrong_densities_are_named() {
        let (mesh, _) = bodies().remove(0);
        let error = |densities: &[f64]| MassMatrix::lumped(&mesh, densities).unwrap_err().to_string();
        assert_eq!(error(&[1.0]), "1 densities for a mesh with 2 regions, expected one per region");
        assert_eq!(error(&[1.0, -3.0]), "the density of region `heavy` is -3, expected a positive number of kg/m³");
        assert!(error(&[f64::NAN, 1.0]).contains("`light` is NaN"));
    }
}
