//! Elastic force that penalizes changes of edge lengths, face areas and volumes independently.

use std::fmt::Debug;
use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use super::gradients::ElementGradients;
use super::{Conditions, Definiteness, Force, NO_DIRECTION, at, chunks, rows};
use crate::material::Principal;
use crate::math::{Mat3, Matrix, SignedSvd, Vec3, outer, par_sum};
use crate::mesh::{ElementKind, VolumeMesh};
use crate::sparse::{BlockMatrix, BlockPattern, Scatter};

/// Stiffness of each kind of simplex \[J\]. Zero leaves the kind out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GeometricStiffness {
    /// Stiffness of every edge.
    pub edge: f64,
    /// Stiffness of every face of a tetrahedron, including inner faces.
    pub area: f64,
    /// Stiffness of every tetrahedron.
    pub volume: f64,
}

/// Error in the definition of the force.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum GeometricError {
    #[error("the {what} stiffness is {value}, expected a finite number of J that is not negative")]
    Stiffness { what: &'static str, value: f64 },
    #[error("the mesh has {count} hexahedra, but only tetrahedra have plane faces; split them first (`split_hexes`)")]
    Hexahedra { count: usize },
}

/// Force of the energy `V = Σ k/2 φ²` over the edges, triangles and tetrahedra of a mesh, each once, with the relative
/// change `φ` of
///
/// - length: `φ = |z|/r − 1`, `z = xᵢ − xⱼ`;
/// - area: `φ = A/A₀ − 1`, `A = ½|n|`, `n = (x₁ − x₀)×(x₂ − x₀)`;
/// - volume, which is negative if inverted: `φ = J − 1`, `J = det F = V/V₀`, `F = Σ xₐ ⊗ ∇Nₐ`.
///
/// The force is `k φ ∇φ` and the stiffness `k (∇φ∇φᵀ + φ ∇²φ)`. The projected stiffness is `k (∇φ∇φᵀ + (φ ∇²φ)₊)`,
/// where `₊` raises negative eigenvalues to zero. With `ẑ = z/|z|`, `N = n/|n|`, `oᵢ` the edge opposite vertex `i` of
/// the triangle, and `a`, `b` the gradients of shape functions:
///
/// - length: `∇|z| = ẑ`, `∇²|z| = (I − ẑẑᵀ)/|z|`, which is positive semi-definite;
/// - area: `∇ᵢ|n| = N×oᵢ`, `∇ᵢⱼ|n| = (oᵢ·oⱼ) NNᵀ/|n| + Hᵢⱼ`, where `Hᵢⱼ x = ∓N×x` for `j = i ± 1` around the triangle.
///   The first term is positive semi-definite. The second acts in the plane and has the absolute value
///   `|H|ᵢⱼ = √3 (δᵢⱼ − ⅓)(I − NNᵀ)`, so that its positive part is `½(|H| + H)` and its negative part `½(|H| − H)`;
/// - volume: `∇ₐJ = cof(F) a`, `∇ₐ_bJ x = x×(F(a×b))`; its eigenvalues come from the singular values of `F`, see
///   [`Principal`].
///
/// A degenerate simplex (an edge collapsed to a point, a triangle to a line), below 10⁻¹² of its rest size, has no
/// direction: its `∇φ` and `∇²φ` are taken as zero.
///
/// This is the model of \[Teschner2004\], with which \[ServinLacoursiereMelin2006\] compare theirs. The stiffnesses are
/// not moduli: on a finer mesh of the same body, equal values give a different material.
#[derive(Debug, Clone)]
pub struct Geometric {
    rest: Arc<[Vec3]>,
    edges: Term<2, Edges>,
    faces: Term<3, Faces>,
    tets: Term<4, Tets>,
}

impl Geometric {
    /// Creates the force for the edges, faces and elements of a mesh of tetrahedra.
    pub fn new(mesh: &VolumeMesh, stiffness: GeometricStiffness) -> Result<Self, GeometricError> {
        let GeometricStiffness { edge, area, volume } = stiffness;
        for (what, value) in [("edge", edge), ("area", area), ("volume", volume)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(GeometricError::Stiffness { what, value });
            }
        }
        if mesh.kind() == ElementKind::Hex8 {
            return Err(GeometricError::Hexahedra { count: mesh.element_count() });
        }
        let x = mesh.vertices();
        let positions = |nodes: [u32; 3]| nodes.map(|v| x[v as usize]);

        let pairs = if edge > 0.0 { mesh.edges() } else { Vec::new() };
        let lengths = pairs.iter().map(|&[i, j]| x[i as usize].distance(x[j as usize])).collect();
        let triangles = if area > 0.0 { triangles(mesh) } else { Vec::new() };
        let areas = triangles.iter().map(|&nodes| 0.5 * normal(&positions(nodes)).length()).collect();
        let tets = if volume > 0.0 { ElementGradients::new(mesh) } else { ElementGradients::none() };
        let gradients = tets.gradients.as_chunks::<4>().0.to_vec();

        let count = mesh.vertex_count();
        Ok(Self {
            rest: mesh.shared_vertices().clone(),
            edges: Term::new(edge, pairs.into_flattened(), count, Edges { lengths }),
            faces: Term::new(area, triangles.into_flattened(), count, Faces { areas }),
            tets: Term::new(volume, tets.nodes, count, Tets { gradients }),
        })
    }
}

/// Returns every face of every tetrahedron once, with ascending vertices, sorted.
fn triangles(mesh: &VolumeMesh) -> Vec<[u32; 3]> {
    let faces = mesh.elements().flat_map(|nodes| {
        mesh.kind().faces().iter().map(|face| {
            let mut triangle = [nodes[face[0]], nodes[face[1]], nodes[face[2]]];
            triangle.sort_unstable();
            triangle
        })
    });
    let mut faces: Vec<[u32; 3]> = faces.collect();
    faces.par_sort_unstable();
    faces.dedup();
    faces
}

/// Relative change `φ` of the size of each clique of `N` vertices.
trait Change<const N: usize>: Debug + Clone + Send + Sync {
    /// Returns `φ`.
    fn change(&self, clique: usize, x: &[Vec3; N]) -> f64;

    /// Returns `∇φ`.
    fn gradient(&self, clique: usize, x: &[Vec3; N]) -> [Vec3; N];

    /// Returns `φ ∇²φ`, or its positive part. Blocks below the diagonal are not needed.
    fn curvature(&self, clique: usize, x: &[Vec3; N], definiteness: Definiteness) -> [[Mat3; N]; N];
}

/// Energy `Σ k/2 φ²` over one kind of simplex.
#[derive(Debug, Clone)]
struct Term<const N: usize, C> {
    /// Stiffness `k` \[J\].
    stiffness: f64,
    scatter: Scatter,
    changes: C,
}

impl<const N: usize, C: Change<N>> Term<N, C> {
    fn new(stiffness: f64, nodes: Vec<u32>, vertex_count: usize, changes: C) -> Self {
        let chunks = chunks(nodes.len() / N);
        Self { stiffness, scatter: Scatter::new(N, nodes, vertex_count, &chunks), changes }
    }

    #[inline(always)]
    fn positions(&self, clique: usize, rest: &[Vec3], u: &[f64]) -> [Vec3; N] {
        let nodes = &self.scatter.nodes()[N * clique..N * (clique + 1)];
        std::array::from_fn(|n| rest[nodes[n] as usize] + at(u, nodes[n]))
    }

    fn energy(&self, rest: &[Vec3], u: &[f64]) -> f64 {
        let count = self.scatter.nodes().len() / N;
        let square = |clique| self.changes.change(clique, &self.positions(clique, rest, u)).powi(2);
        0.5 * self.stiffness * par_sum(0.0, count, square)
    }

    fn add(
        &self,
        rest: &[Vec3],
        u: &[f64],
        definiteness: Definiteness,
        force: &mut [f64],
        matrix: Option<&mut BlockMatrix>,
    ) {
        self.scatter.check_length(u);
        let with_matrix = matrix.is_some();
        let k = self.stiffness;
        self.scatter.run(force, matrix, |chunk, target| {
            for (local, clique) in self.scatter.chunks()[chunk].clone().enumerate() {
                let x = self.positions(clique, rest, u);
                let phi = self.changes.change(clique, &x);
                let gradient = self.changes.gradient(clique, &x);
                for node in 0..N {
                    target.add_force(local, node, (k * phi * gradient[node]).to_array());
                }
                if with_matrix {
                    let curvature = self.changes.curvature(clique, &x, definiteness);
                    let mut pair = 0;
                    for i in 0..N {
                        for j in i..N {
                            let block = (outer(gradient[i], gradient[j]) + curvature[i][j]) * k;
                            target.add_block(local, pair, &rows(block));
                            pair += 1;
                        }
                    }
                }
            }
        });
    }
}

/// Rest lengths `r`.
#[derive(Debug, Clone)]
struct Edges {
    lengths: Vec<f64>,
}

impl Change<2> for Edges {
    #[inline(always)]
    fn change(&self, clique: usize, x: &[Vec3; 2]) -> f64 {
        (x[0] - x[1]).length() / self.lengths[clique] - 1.0
    }

    #[inline(always)]
    fn gradient(&self, clique: usize, x: &[Vec3; 2]) -> [Vec3; 2] {
        let r = self.lengths[clique];
        let z = x[0] - x[1];
        let length = z.length();
        if length <= NO_DIRECTION * r {
            return [Vec3::ZERO; 2];
        }
        let gradient = z / (length * r);
        [gradient, -gradient]
    }

    #[inline(always)]
    fn curvature(&self, clique: usize, x: &[Vec3; 2], definiteness: Definiteness) -> [[Mat3; 2]; 2] {
        let r = self.lengths[clique];
        let z = x[0] - x[1];
        let length = z.length();
        let phi = length / r - 1.0;
        if length <= NO_DIRECTION * r || (definiteness == Definiteness::Projected && phi < 0.0) {
            return [[Mat3::ZERO; 2]; 2];
        }
        let direction = z / length;
        let block = (Mat3::IDENTITY - outer(direction, direction)) * (phi / (length * r));
        [[block, -block], [-block, block]]
    }
}

/// Rest areas `A₀`.
#[derive(Debug, Clone)]
struct Faces {
    areas: Vec<f64>,
}

/// Returns `n`, normal to a triangle, with length twice its area.
#[inline(always)]
fn normal(x: &[Vec3; 3]) -> Vec3 {
    (x[1] - x[0]).cross(x[2] - x[0])
}

/// Returns the edges `o` opposite each vertex of a triangle, oriented around it.
#[inline(always)]
fn opposite(x: &[Vec3; 3]) -> [Vec3; 3] {
    [x[2] - x[1], x[0] - x[2], x[1] - x[0]]
}

/// Returns `[v]×`, the matrix of `x ↦ v×x`.
#[inline(always)]
fn cross_matrix(v: Vec3) -> Mat3 {
    Mat3::from_cols(v.cross(Vec3::X), v.cross(Vec3::Y), v.cross(Vec3::Z))
}

impl Change<3> for Faces {
    #[inline(always)]
    fn change(&self, clique: usize, x: &[Vec3; 3]) -> f64 {
        0.5 * normal(x).length() / self.areas[clique] - 1.0
    }

    #[inline(always)]
    fn gradient(&self, clique: usize, x: &[Vec3; 3]) -> [Vec3; 3] {
        let rest = 2.0 * self.areas[clique];
        let n = normal(x);
        let size = n.length();
        if size <= NO_DIRECTION * rest {
            return [Vec3::ZERO; 3];
        }
        let unit = n / size;
        opposite(x).map(|o| unit.cross(o) / rest)
    }

    #[inline(always)]
    fn curvature(&self, clique: usize, x: &[Vec3; 3], definiteness: Definiteness) -> [[Mat3; 3]; 3] {
        let rest = 2.0 * self.areas[clique];
        let n = normal(x);
        let size = n.length();
        let mut blocks = [[Mat3::ZERO; 3]; 3];
        if size <= NO_DIRECTION * rest {
            return blocks;
        }
        let phi = size / rest - 1.0;
        let unit = n / size;
        let out_of_plane = outer(unit, unit);
        let in_plane = Mat3::IDENTITY - out_of_plane;
        let turn = cross_matrix(unit);
        let o = opposite(x);
        for i in 0..3 {
            for j in i..3 {
                let bending = out_of_plane * (o[i].dot(o[j]) / size);
                let stretching = match (3 + j - i) % 3 {
                    1 => -turn,
                    2 => turn,
                    _ => Mat3::ZERO,
                };
                let magnitude = in_plane * (3.0_f64.sqrt() * (if i == j { 1.0 } else { 0.0 } - 1.0 / 3.0));
                blocks[i][j] = match definiteness {
                    Definiteness::Exact => (bending + stretching) * phi,
                    Definiteness::Projected if phi < 0.0 => (magnitude - stretching) * (-0.5 * phi),
                    Definiteness::Projected => (bending + (magnitude + stretching) * 0.5) * phi,
                } * rest.recip();
            }
        }
        blocks
    }
}

/// Gradients `∇N` of the four vertices.
#[derive(Debug, Clone)]
struct Tets {
    gradients: Vec<[Vec3; 4]>,
}

impl Tets {
    /// Returns `F`.
    #[inline(always)]
    fn deformation(&self, clique: usize, x: &[Vec3; 4]) -> Mat3 {
        // The gradients sum to zero. Taking one vertex as the origin avoids cancellation for bodies far from the
        // origin.
        let g = &self.gradients[clique];
        outer(x[1] - x[0], g[1]) + outer(x[2] - x[0], g[2]) + outer(x[3] - x[0], g[3])
    }
}

impl Change<4> for Tets {
    #[inline(always)]
    fn change(&self, clique: usize, x: &[Vec3; 4]) -> f64 {
        self.deformation(clique, x).determinant() - 1.0
    }

    #[inline(always)]
    fn gradient(&self, clique: usize, x: &[Vec3; 4]) -> [Vec3; 4] {
        let Mat3 { x_axis, y_axis, z_axis } = self.deformation(clique, x);
        let cofactor = Mat3::from_cols(y_axis.cross(z_axis), z_axis.cross(x_axis), x_axis.cross(y_axis));
        self.gradients[clique].map(|g| cofactor * g)
    }

    #[inline(always)]
    fn curvature(&self, clique: usize, x: &[Vec3; 4], definiteness: Definiteness) -> [[Mat3; 4]; 4] {
        let f = self.deformation(clique, x);
        let phi = f.determinant() - 1.0;
        let g = &self.gradients[clique];
        let mut blocks = [[Mat3::ZERO; 4]; 4];
        let positive = match definiteness {
            Definiteness::Exact => None,
            Definiteness::Projected => Some(positive_curvature(f, phi)),
        };
        for i in 0..4 {
            for j in i..4 {
                blocks[i][j] = match &positive {
                    None => cross_matrix(f * g[i].cross(g[j])) * -phi,
                    Some(curvature) => contract(curvature, g[i], g[j]),
                };
            }
        }
        blocks
    }
}

/// Returns `(φ ∂²J/∂F²)₊`.
fn positive_curvature(f: Mat3, phi: f64) -> [[f64; 9]; 9] {
    let svd = SignedSvd::new(&Matrix(f.transpose().to_cols_array_2d()));
    let [s0, s1, s2] = svd.sigma.map(|sigma| phi * sigma);
    // Entry ij, and the pair ij, belong to the third axis.
    let mut principal = Principal {
        gradient: [0.0; 3],
        hessian: Matrix([[0.0, s2, s1], [s2, 0.0, s0], [s1, s0, 0.0]]),
        flip: [-s2, -s1, -s0],
        twist: [s2, s1, s0],
    };
    principal.project();
    principal.tangent(&svd)
}

/// Returns `Σ Aᵢⱼₖₗ aⱼ bₗ`, the block of the matrix `A` in `F` between two vertices with these gradients.
#[inline(always)]
fn contract(a: &[[f64; 9]; 9], row: Vec3, column: Vec3) -> Mat3 {
    let (row, column) = (row.to_array(), column.to_array());
    let mut block = Mat3::ZERO;
    for i in 0..3 {
        for k in 0..3 {
            let mut sum = 0.0;
            for j in 0..3 {
                for l in 0..3 {
                    sum += a[3 * i + j][3 * k + l] * row[j] * column[l];
                }
            }
            block.col_mut(k)[i] = sum;
        }
    }
    block
}

impl Force for Geometric {
    fn node_count(&self) -> usize {
        self.rest.len()
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        self.edges.scatter.cliques().for_each(&mut *add);
        self.faces.scatter.cliques().for_each(&mut *add);
        self.tets.scatter.cliques().for_each(&mut *add);
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        self.edges.scatter.bind(pattern);
        self.faces.scatter.bind(pattern);
        self.tets.scatter.bind(pattern);
    }

    fn energy(&self, u: &[f64], _conditions: &Conditions<'_>) -> f64 {
        self.edges.scatter.check_length(u);
        self.edges.energy(&self.rest, u) + self.faces.energy(&self.rest, u) + self.tets.energy(&self.rest, u)
    }

    fn add_gradient(&self, u: &[f64], _conditions: &Conditions<'_>, gradient: &mut [f64]) {
        self.edges.add(&self.rest, u, Definiteness::Exact, gradient, None);
        self.faces.add(&self.rest, u, Definiteness::Exact, gradient, None);
        self.tets.add(&self.rest, u, Definiteness::Exact, gradient, None);
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        _conditions: &Conditions<'_>,
        definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.edges.add(&self.rest, u, definiteness, gradient, Some(&mut *stiffness));
        self.faces.add(&self.rest, u, definiteness, gradient, Some(&mut *stiffness));
        self.tets.add(&self.rest, u, definiteness, gradient, Some(stiffness));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::mesh::{Cells, MeshData, generate};

    const EDGE: GeometricStiffness = GeometricStiffness { edge: 30.0, area: 0.0, volume: 0.0 };
    const AREA: GeometricStiffness = GeometricStiffness { edge: 0.0, area: 50.0, volume: 0.0 };
    const VOLUME: GeometricStiffness = GeometricStiffness { edge: 0.0, area: 0.0, volume: 20.0 };
    const ALL: GeometricStiffness = GeometricStiffness { edge: 30.0, area: 50.0, volume: 20.0 };

    fn one_tet() -> VolumeMesh {
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        VolumeMesh::check(MeshData::new(vertices, ElementKind::Tet4, vec![0, 1, 2, 3])).unwrap().mesh
    }

    #[test]
    fn a_tetrahedron_twice_as_large_has_the_energy_of_its_edges_faces_and_volume() {
        let mesh = one_tet();
        let twice: Vec<f64> = mesh.vertices().iter().flat_map(Vec3::to_array).collect();
        let energy = |stiffness| Geometric::new(&mesh, stiffness).unwrap().energy(&twice, &Conditions::START);
        assert!((energy(EDGE) - 6.0 * 15.0).abs() < 1e-12);
        assert!((energy(AREA) - 4.0 * 25.0 * 9.0).abs() < 1e-12);
        assert!((energy(VOLUME) - 10.0 * 49.0).abs() < 1e-12);
        assert!((energy(ALL) - (90.0 + 900.0 + 490.0)).abs() < 1e-11);
        // The mirrored volume is the negative of the original, so φ = −2.
        let mirrored = [0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!(
            (Geometric::new(&mesh, VOLUME).unwrap().energy(&mirrored, &Conditions::START) - 10.0 * 4.0).abs() < 1e-13
        );
        assert!(Geometric::new(&mesh, AREA).unwrap().energy(&mirrored, &Conditions::START) < 1e-28);
    }

    #[test]
    fn every_edge_and_face_counts_once() {
        let mesh = generate::block([1.0; 3], [3, 2, 2], Cells::Tet6).unwrap();
        let force = Geometric::new(&mesh, ALL).unwrap();
        let (edges, faces) = (force.edges.scatter.nodes().len() / 2, force.faces.scatter.nodes().len() / 3);
        let (vertices, tets) = (mesh.vertex_count(), mesh.element_count());
        assert_eq!(edges, mesh.edges().len());
        // A face belongs to two tetrahedra, or to one on the boundary. The body is a ball, so its Euler characteristic
        // is 1.
        assert_eq!(2 * faces, 4 * tets + mesh.boundary().surface.faces().len());
        assert_eq!(vertices + faces, 1 + edges + tets);
    }

    #[test]
    fn force_stiffness_and_projection_are_derivatives_of_the_energy() {
        let mesh = small_mesh(Cells::Tet5);
        for stiffness in [EDGE, AREA, VOLUME, ALL] {
            let mut force = Geometric::new(&mesh, stiffness).unwrap();
            for u in states(&mesh) {
                check_force(&mut force, mesh.vertices(), &u);
            }
        }
    }

    #[test]
    fn rigid_motion_gives_no_force() {
        let mesh = small_mesh(Cells::Tet6);
        for stiffness in [EDGE, AREA, VOLUME, ALL] {
            check_rigid_motion(&mut Geometric::new(&mesh, stiffness).unwrap(), mesh.vertices());
        }
    }

    #[test]
    fn the_positive_part_of_the_area_curvature_is_that_of_its_eigenvalues() {
        let faces = Faces { areas: vec![0.5] };
        for scale in [0.6, 1.7] {
            let x = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|x| scale * x);
            let spectrum = |definiteness| {
                let blocks = faces.curvature(0, &x, definiteness);
                let block = |a: usize, b: usize| if a <= b { blocks[a][b] } else { blocks[b][a].transpose() };
                let entry = |i: usize, j: usize| block(i / 3, j / 3).row(i % 3)[j % 3];
                eigenvalues((0..9).map(|i| (0..9).map(|j| entry(i, j)).collect()).collect())
            };
            let clamped: Vec<f64> = spectrum(Definiteness::Exact).into_iter().map(|value| value.max(0.0)).collect();
            let found = spectrum(Definiteness::Projected);
            assert!(clamped.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-13), "{clamped:?} {found:?}");
        }
    }

    #[test]
    fn parts_that_shrink_to_nothing_give_finite_numbers() {
        let mesh = one_tet();
        let mut force = Geometric::new(&mesh, ALL).unwrap();
        let pattern = super::super::bind_all(4, &mut [&mut force]);
        let to = |goal: [Vec3; 4]| -> Vec<f64> {
            goal.iter().zip(mesh.vertices()).flat_map(|(&goal, &x)| (goal - x).to_array()).collect()
        };
        let line = to([0.0, 1.0, 2.0, 3.0].map(|s| s * Vec3::ONE));
        for u in [to([Vec3::ONE; 4]), line] {
            for definiteness in [Definiteness::Exact, Definiteness::Projected] {
                let (mut f, mut k) = (vec![0.0; 12], BlockMatrix::zero(pattern.clone()));
                force.add_gradient_and_stiffness(&u, &Conditions::START, definiteness, &mut f, &mut k);
                assert!(f.iter().chain(k.values()).all(|value| value.is_finite()));
                assert!(force.energy(&u, &Conditions::START).is_finite());
            }
        }
    }

    #[test]
    fn results_are_bitwise_equal_on_one_and_four_threads() {
        let mesh = generate::block([1.0; 3], [6, 6, 6], Cells::Tet5).unwrap();
        let force = Geometric::new(&mesh, ALL).unwrap();
        assert!(force.tets.scatter.chunks().len() > 3);
        check_threads(&force, mesh.vertex_count());
    }

    #[test]
    fn hexahedra_and_impossible_stiffnesses_are_refused_with_numbers() {
        let hexes = generate::block([1.0; 3], [2, 2, 1], Cells::Hex).unwrap();
        let message = |mesh: &VolumeMesh, stiffness| Geometric::new(mesh, stiffness).unwrap_err().to_string();
        assert!(message(&hexes, ALL).starts_with("the mesh has 4 hexahedra, but only tetrahedra have plane faces"));
        let negative = GeometricStiffness { area: -1.0, ..ALL };
        assert_eq!(
            message(&one_tet(), negative),
            "the area stiffness is -1, expected a finite number of J that is not negative"
        );
        let unknown = GeometricStiffness { volume: f64::NAN, ..ALL };
        assert!(message(&one_tet(), unknown).contains("volume stiffness is NaN"));
    }
}
