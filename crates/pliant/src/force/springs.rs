//! Networks of springs between vertices, with damping along them.

use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use super::third_derivative::triples;
use super::{Conditions, Definiteness, Force, NO_DIRECTION, ThirdDerivative, ThirdDerivativeBlock, at, chunks, rows};
use crate::math::{Mat3, Vec3, outer, par_sum};
use crate::mesh::VolumeMesh;
use crate::sparse::{BlockMatrix, BlockPattern, Scatter};

/// Spring between two vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spring {
    /// Vertices `i < j` at its ends.
    pub vertices: [u32; 2],
    /// Rest length `r` \[m\].
    pub rest_length: f64,
    /// Stiffness `k` \[N/m\].
    pub stiffness: f64,
    /// Damping `d` \[N·s/m\].
    pub damping: f64,
}

/// Value for all springs, or one per spring.
#[derive(Debug, Clone, PartialEq)]
pub enum PerSpring {
    /// Equal value for all springs.
    All(f64),
    /// Value of each spring, in the order of the pairs.
    Each(Vec<f64>),
}

impl From<f64> for PerSpring {
    fn from(value: f64) -> Self {
        Self::All(value)
    }
}

impl From<Vec<f64>> for PerSpring {
    fn from(values: Vec<f64>) -> Self {
        Self::Each(values)
    }
}

/// Coefficients of springs.
#[derive(Debug, Clone, PartialEq)]
pub struct SpringCoefficients {
    /// Rest lengths `r` \[m\]; if `None`, the distances of the vertices at rest.
    pub rest_length: Option<PerSpring>,
    /// Stiffnesses `k` \[N/m\].
    pub stiffness: PerSpring,
    /// Damping coefficients `d` \[N·s/m\].
    pub damping: PerSpring,
}

impl SpringCoefficients {
    /// Creates coefficients of undamped springs that are relaxed at rest.
    pub fn new(stiffness: impl Into<PerSpring>) -> Self {
        Self { rest_length: None, stiffness: stiffness.into(), damping: 0.0.into() }
    }
}

/// Error in the definition of springs.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum SpringsError {
    #[error("spring {spring} ends at vertex {vertex}, but there are {vertex_count} vertices")]
    Vertex { spring: usize, vertex: u32, vertex_count: usize },
    #[error("spring {spring} joins vertex {vertex} to itself")]
    Loop { spring: usize, vertex: u32 },
    #[error(
        "spring {spring} joins vertices {} and {}, which are at the same place at rest: it has no direction",
        vertices[0],
        vertices[1]
    )]
    ZeroLength { spring: usize, vertices: [u32; 2] },
    #[error("{what} of springs: expected {expected} numbers, found {found}")]
    Count { what: &'static str, found: usize, expected: usize },
    #[error(
        "the {what} of spring {spring} between vertices {} and {} is {value}, \
         expected a finite number that is not negative",
        vertices[0],
        vertices[1]
    )]
    Coefficient { what: &'static str, spring: usize, vertices: [u32; 2], value: f64 },
}

/// Springs between vertices `i` and `j`. With `z = xᵢ − xⱼ`, `ẑ = z/|z|` and `t = 1 − r/|z|`, each has
///
/// - `V = k/2 (|z| − r)²`;
/// - the force `f = k (|z| − r) ẑ = k (z − r ẑ)` at `i`, and `−f` at `j` \[SinSchroederBarbic2013, eq. 13\];
/// - `∂f/∂z = k [t I + r/|z| ẑẑᵀ] = k [t (I − ẑẑᵀ) + ẑẑᵀ]`, which is indefinite for a compressed spring; if projected,
///   negative `t` is raised to zero;
/// - `∂²f/∂z² : a = k r/|z|² [(ẑ·a)(I − ẑẑᵀ) + a⊥ẑᵀ + ẑa⊥ᵀ]` with `a⊥ = a − (ẑ·a) ẑ`;
/// - damping along the spring, `d ((vᵢ − vⱼ)·ẑ) ẑ` at `i` and the opposite at `j`, with the matrix `d ẑẑᵀ`.
///
/// Where the ends meet, `|z| ≤ 10⁻¹² r`, there is no direction, and the energy has a conical singularity. All terms
/// with `ẑ` are then omitted: `f = k z`, `∂f/∂z = k I`, no damping. For a spring with `r = 0` this is exact.
///
/// A network does not represent an elastic solid of given moduli: its stiffness depends on the mesh.
#[derive(Debug, Clone)]
pub struct Springs {
    rest: Arc<[Vec3]>,
    /// Springs, sorted by their vertices.
    list: Vec<Spring>,
    scatter: Scatter,
}

/// Spring in its current state.
struct Stretch {
    z: Vec3,
    /// Length `|z|`.
    length: f64,
    /// Direction `ẑ`, or zero if undefined.
    direction: Vec3,
    /// Ratio `r/|z|`, or zero if the direction is undefined.
    ratio: f64,
}

impl Stretch {
    #[inline(always)]
    fn new(z: Vec3, rest_length: f64) -> Self {
        let length = z.length();
        if length <= NO_DIRECTION * rest_length {
            return Self { z, length, direction: Vec3::ZERO, ratio: 0.0 };
        }
        Self { z, length, direction: z / length, ratio: rest_length / length }
    }

    /// Returns the force `f`.
    #[inline(always)]
    fn force(&self, spring: &Spring) -> Vec3 {
        spring.stiffness * (self.z - spring.rest_length * self.direction)
    }

    /// Returns the stiffness `∂f/∂z`.
    #[inline(always)]
    fn stiffness(&self, spring: &Spring, definiteness: Definiteness) -> Mat3 {
        let t = match definiteness {
            Definiteness::Exact => 1.0 - self.ratio,
            Definiteness::Projected => (1.0 - self.ratio).max(0.0),
        };
        let along = outer(self.direction, self.direction);
        (across(self.direction) * t + along) * spring.stiffness
    }

    /// Returns the factor `k r/|z|²` of the derivative of the stiffness.
    #[inline(always)]
    fn derivative_factor(&self, spring: &Spring) -> f64 {
        if self.ratio == 0.0 { 0.0 } else { spring.stiffness * self.ratio / self.length }
    }
}

/// Returns `I − ẑẑᵀ`.
#[inline(always)]
fn across(direction: Vec3) -> Mat3 {
    Mat3::IDENTITY - outer(direction, direction)
}

impl Springs {
    /// Creates a spring for each of the [`pairs`](Self::mesh_pairs) of a mesh.
    pub fn from_mesh(mesh: &VolumeMesh, coefficients: &SpringCoefficients) -> Result<Self, SpringsError> {
        Self::new(mesh.vertices(), &Self::mesh_pairs(mesh), coefficients)
    }

    /// Returns every pair `i < j` of vertices that share an element, once, sorted. These are the 6 edges of a
    /// tetrahedron, or the 12 edges, 12 face diagonals and 4 space diagonals of a hexahedron.
    pub fn mesh_pairs(mesh: &VolumeMesh) -> Vec<[u32; 2]> {
        let pairs = mesh.elements().flat_map(|nodes| {
            nodes.iter().enumerate().flat_map(|(n, &a)| nodes[n + 1..].iter().map(move |&b| [a.min(b), a.max(b)]))
        });
        let mut pairs: Vec<[u32; 2]> = pairs.collect();
        pairs.par_sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Creates a spring for each of `pairs`, between vertices with the rest positions `rest`. A pair may be listed
    /// several times; its springs then act in parallel.
    pub fn new(
        rest: impl Into<Arc<[Vec3]>>,
        pairs: &[[u32; 2]],
        coefficients: &SpringCoefficients,
    ) -> Result<Self, SpringsError> {
        let rest = rest.into();
        for (spring, &[i, j]) in pairs.iter().enumerate() {
            if i.max(j) as usize >= rest.len() {
                return Err(SpringsError::Vertex { spring, vertex: i.max(j), vertex_count: rest.len() });
            }
            if i == j {
                return Err(SpringsError::Loop { spring, vertex: i });
            }
        }
        let stiffness = each("stiffness", pairs, &coefficients.stiffness)?;
        let damping = each("damping", pairs, &coefficients.damping)?;
        let rest_length = if let Some(lengths) = &coefficients.rest_length {
            each("rest length", pairs, lengths)?
        } else {
            let length = |&[i, j]: &[u32; 2]| rest[i as usize].distance(rest[j as usize]);
            let lengths: Vec<f64> = pairs.iter().map(length).collect();
            if let Some(spring) = lengths.iter().position(|&length| length == 0.0) {
                return Err(SpringsError::ZeroLength { spring, vertices: pairs[spring] });
            }
            lengths
        };
        let spring = |n: usize| Spring {
            vertices: [pairs[n][0].min(pairs[n][1]), pairs[n][0].max(pairs[n][1])],
            rest_length: rest_length[n],
            stiffness: stiffness[n],
            damping: damping[n],
        };
        let mut springs: Vec<Spring> = (0..pairs.len()).map(spring).collect();
        // Springs close in the list should be close in the body, or every chunk would overlap every other.
        springs.sort_by_key(|spring| spring.vertices);
        let nodes = springs.iter().flat_map(|spring| spring.vertices).collect();
        let scatter = Scatter::new(2, nodes, rest.len(), &chunks(springs.len()));
        Ok(Self { rest, list: springs, scatter })
    }

    /// Returns the springs, sorted by their vertices.
    pub fn springs(&self) -> &[Spring] {
        &self.list
    }

    /// Adds `(∂K/∂u : a) b` to `out`: the derivative of the stiffness at `u` in the direction `a`, times `b`. It is
    /// symmetric in `a` and `b`.
    ///
    /// # Panics
    /// If a vector does not have three numbers per vertex.
    pub fn stiffness_derivative(&self, u: &[f64], a: &[f64], b: &[f64], out: &mut [f64]) {
        self.scatter.check_length(a);
        self.scatter.check_length(b);
        self.add_forces(u, out, |spring, stretch| {
            let [i, j] = spring.vertices;
            let direction = stretch.direction;
            let (a, b) = (at(a, i) - at(a, j), at(b, i) - at(b, j));
            let (a_along, b_along) = (direction.dot(a), direction.dot(b));
            let (a_across, b_across) = (a - a_along * direction, b - b_along * direction);
            let change = a_along * b_across + b_along * a_across + a_across.dot(b_across) * direction;
            stretch.derivative_factor(spring) * change
        });
    }

    /// Returns `∂K/∂u` at `u`.
    pub fn stiffness_derivative_tensor(&self, u: &[f64]) -> ThirdDerivative {
        let mut tensor = ThirdDerivative::zero(self.rest.len(), self.scatter.cliques());
        for spring in &self.list {
            let stretch = self.stretch(spring, u);
            let factor = stretch.derivative_factor(spring);
            let (direction, across) = (stretch.direction.to_array(), rows(across(stretch.direction)));
            let across = |p: usize, q: usize| across[3 * p + q];
            for nodes in triples(2) {
                // z increases with the first vertex and decreases with the second.
                let factor = nodes.iter().fold(factor, |factor, &node| if node == 0 { factor } else { -factor });
                let mut block: ThirdDerivativeBlock = [[[0.0; 3]; 3]; 3];
                for p in 0..3 {
                    for q in 0..3 {
                        for r in 0..3 {
                            block[p][q][r] = factor
                                * (direction[p] * across(q, r)
                                    + direction[q] * across(r, p)
                                    + direction[r] * across(p, q));
                        }
                    }
                }
                tensor.add(nodes.map(|node| spring.vertices[node]), &block);
            }
        }
        tensor
    }

    #[inline(always)]
    fn stretch(&self, spring: &Spring, u: &[f64]) -> Stretch {
        let [i, j] = spring.vertices;
        // Displacements are subtracted separately, so that small ones keep their precision far from the origin.
        let z = (self.rest[i as usize] - self.rest[j as usize]) + (at(u, i) - at(u, j));
        Stretch::new(z, spring.rest_length)
    }

    /// Adds `force` of each spring at its first vertex and the opposite at its second.
    fn add_forces(&self, u: &[f64], out: &mut [f64], force: impl Fn(&Spring, &Stretch) -> Vec3 + Sync + Send) {
        self.scatter.check_length(u);
        self.scatter.run(out, None, |chunk, target| {
            for (clique, spring) in self.list[self.scatter.chunks()[chunk].clone()].iter().enumerate() {
                let f = force(spring, &self.stretch(spring, u));
                target.add_force(clique, 0, f.to_array());
                target.add_force(clique, 1, (-f).to_array());
            }
        });
    }

    /// Adds the force and matrix of each spring.
    fn add_forces_and_matrices(
        &self,
        u: &[f64],
        out: &mut [f64],
        matrix: &mut BlockMatrix,
        both: impl Fn(&Spring, &Stretch) -> (Vec3, Mat3) + Sync + Send,
    ) {
        self.scatter.check_length(u);
        self.scatter.run(out, Some(matrix), |chunk, target| {
            for (clique, spring) in self.list[self.scatter.chunks()[chunk].clone()].iter().enumerate() {
                let (f, k) = both(spring, &self.stretch(spring, u));
                target.add_force(clique, 0, f.to_array());
                target.add_force(clique, 1, (-f).to_array());
                for (pair, block) in [k, -k, k].into_iter().enumerate() {
                    target.add_block(clique, pair, &rows(block));
                }
            }
        });
    }
}

/// Returns the value of each spring, checked.
fn each(what: &'static str, pairs: &[[u32; 2]], given: &PerSpring) -> Result<Vec<f64>, SpringsError> {
    let values = match given {
        PerSpring::All(value) => vec![*value; pairs.len()],
        PerSpring::Each(values) => values.clone(),
    };
    if values.len() != pairs.len() {
        return Err(SpringsError::Count { what, found: values.len(), expected: pairs.len() });
    }
    match values.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
        None => Ok(values),
        Some(spring) => Err(SpringsError::Coefficient { what, spring, vertices: pairs[spring], value: values[spring] }),
    }
}

impl Force for Springs {
    fn node_count(&self) -> usize {
        self.rest.len()
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        self.scatter.cliques().for_each(add);
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        self.scatter.bind(pattern);
    }

    fn energy(&self, u: &[f64], _conditions: &Conditions<'_>) -> f64 {
        self.scatter.check_length(u);
        par_sum(0.0, self.list.len(), |n| {
            let spring = &self.list[n];
            let stretch = self.stretch(spring, u).length - spring.rest_length;
            0.5 * spring.stiffness * stretch * stretch
        })
    }

    fn add_gradient(&self, u: &[f64], _conditions: &Conditions<'_>, gradient: &mut [f64]) {
        self.add_forces(u, gradient, |spring, stretch| stretch.force(spring));
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        _conditions: &Conditions<'_>,
        definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.add_forces_and_matrices(u, gradient, stiffness, |spring, stretch| {
            (stretch.force(spring), stretch.stiffness(spring, definiteness))
        });
    }

    fn has_damping(&self) -> bool {
        self.list.iter().any(|spring| spring.damping > 0.0)
    }

    fn add_dissipation_gradient(&self, u: &[f64], _conditions: &Conditions<'_>, v: &[f64], gradient: &mut [f64]) {
        self.scatter.check_length(v);
        self.add_forces(u, gradient, |spring, stretch| {
            let [i, j] = spring.vertices;
            let closing = (at(v, i) - at(v, j)).dot(stretch.direction);
            spring.damping * closing * stretch.direction
        });
    }

    fn add_damping(&self, u: &[f64], _conditions: &Conditions<'_>, _v: &[f64], damping: &mut BlockMatrix) {
        // The scatter needs a gradient too; only zeros are added to this one.
        let mut none = vec![0.0; 3 * self.rest.len()];
        self.add_forces_and_matrices(u, &mut none, damping, |spring, stretch| {
            (Vec3::ZERO, outer(stretch.direction, stretch.direction) * spring.damping)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::mesh::{Cells, generate};

    const CELLS: [Cells; 2] = [Cells::Tet6, Cells::Hex];

    fn springs_on(mesh: &VolumeMesh) -> Springs {
        let pairs = Springs::mesh_pairs(mesh);
        let vary =
            |from: f64, by: f64| PerSpring::Each((0..pairs.len()).map(|n| from + by * (n as f64).sin()).collect());
        let rest_length = Some(vary(0.5, 0.3));
        let coefficients = SpringCoefficients { rest_length, stiffness: vary(1e4, 5e3), damping: vary(20.0, 10.0) };
        Springs::new(mesh.vertices(), &pairs, &coefficients).unwrap()
    }

    #[test]
    fn a_cube_has_28_springs_and_neighbors_share_those_of_their_face() {
        let count = |cells| {
            let mesh = generate::block([1.0; 3], cells, Cells::Hex).unwrap();
            Springs::from_mesh(&mesh, &SpringCoefficients::new(1.0)).unwrap().springs().len()
        };
        assert_eq!(count([1, 1, 1]), 12 + 12 + 4);
        assert_eq!(count([2, 1, 1]), 2 * 28 - (4 + 2));
        let tets = generate::block([1.0; 3], [2, 2, 2], Cells::Tet5).unwrap();
        let springs = Springs::from_mesh(&tets, &SpringCoefficients::new(1.0)).unwrap();
        assert_eq!(springs.springs().iter().map(|s| s.vertices).collect::<Vec<_>>(), tets.edges());
    }

    #[test]
    fn force_stiffness_and_projection_are_derivatives_of_the_energy() {
        for cells in CELLS {
            let mesh = small_mesh(cells);
            let mut springs = springs_on(&mesh);
            for u in states(&mesh) {
                check_force(&mut springs, mesh.vertices(), &u);
            }
        }
    }

    #[test]
    fn relaxed_springs_feel_no_rigid_motion() {
        for cells in CELLS {
            let mesh = small_mesh(cells);
            let mut springs = Springs::from_mesh(&mesh, &SpringCoefficients::new(1e4)).unwrap();
            check_rigid_motion(&mut springs, mesh.vertices());
        }
    }

    #[test]
    fn the_derivative_of_the_stiffness_matches_differences_and_its_tensor() {
        for cells in CELLS {
            let mesh = small_mesh(cells);
            let mut springs = springs_on(&mesh);
            for u in states(&mesh) {
                let derivative = |springs: &Springs, u: &[f64], a: &[f64], b: &[f64], out: &mut [f64]| {
                    springs.stiffness_derivative(u, a, b, out);
                };
                check_stiffness_derivative(&mut springs, &u, derivative, Springs::stiffness_derivative_tensor);
            }
        }
    }

    #[test]
    fn damping_takes_away_energy_along_the_springs_only() {
        let mesh = small_mesh(Cells::Hex);
        let mut springs = springs_on(&mesh);
        let pattern = super::super::bind_all(mesh.vertex_count(), &mut [&mut springs]);
        for u in states(&mesh) {
            let v = random(u.len(), 1.0, 5);
            let mut force = vec![0.0; u.len()];
            springs.add_dissipation_gradient(&u, &Conditions::START, &v, &mut force);
            let mut damping = BlockMatrix::zero(pattern.clone());
            springs.add_damping(&u, &Conditions::START, &v, &mut damping);
            let mut product = vec![0.0; u.len()];
            damping.mul(&v, &mut product);
            let scale = largest(&force);
            assert!(force.iter().zip(&product).all(|(f, p)| (f - p).abs() <= 1e-13 * scale));
            let (total, moment) = resultants(mesh.vertices(), &u, &force);
            assert!(total.length() <= 1e-12 * scale && moment.length() <= 1e-12 * scale);
            let spectrum = eigenvalues(dense(&damping));
            assert!(spectrum[0] >= -1e-13 * spectrum[spectrum.len() - 1]);
            // In a rigid rotation no spring changes its length.
            let turning: Vec<f64> = (0..mesh.vertex_count())
                .flat_map(|n| Vec3::new(0.3, -0.5, 0.8).cross(mesh.vertices()[n] + at(&u, n as u32)).to_array())
                .collect();
            let mut none = vec![0.0; u.len()];
            springs.add_dissipation_gradient(&u, &Conditions::START, &turning, &mut none);
            assert!(largest(&none) <= 1e-12 * scale);
        }
    }

    #[test]
    fn one_spring_pulled_along_and_across_has_the_stiffness_of_a_string() {
        let rest = [Vec3::ZERO, Vec3::X];
        let springs = Springs::new(rest, &[[1, 0]], &SpringCoefficients::new(100.0));
        let mut springs = springs.unwrap();
        let pattern = super::super::bind_all(2, &mut [&mut springs]);
        let at_length = |x: f64, definiteness| {
            let u = [0.0, 0.0, 0.0, x - 1.0, 0.0, 0.0];
            let (mut force, mut stiffness) = (vec![0.0; 6], BlockMatrix::zero(pattern.clone()));
            springs.add_gradient_and_stiffness(&u, &Conditions::START, definiteness, &mut force, &mut stiffness);
            (force, [0, 1, 2].map(|i| stiffness.block(1, 1)[i][i]))
        };
        // Stretched to twice its length: tension 100 N, which gives a transverse stiffness of 100 N / 2 m.
        let (force, stiffness) = at_length(2.0, Definiteness::Exact);
        assert_eq!((force[0], force[3], stiffness), (-100.0, 100.0, [100.0, 50.0, 50.0]));
        // Compressed to half its length: −50 N over 0.5 m.
        assert_eq!(at_length(0.5, Definiteness::Exact).1, [100.0, -100.0, -100.0]);
        assert_eq!(at_length(0.5, Definiteness::Projected).1, [100.0, 0.0, 0.0]);
    }

    #[test]
    fn ends_that_meet_give_finite_numbers() {
        let rest = [Vec3::ZERO, Vec3::X];
        for rest_length in [0.0, 1.0] {
            let coefficients = SpringCoefficients {
                rest_length: Some(rest_length.into()),
                stiffness: 100.0.into(),
                damping: 1.0.into(),
            };
            let mut springs = Springs::new(rest, &[[0, 1]], &coefficients).unwrap();
            let pattern = super::super::bind_all(2, &mut [&mut springs]);
            for gap in [0.0, 1e-310, 1e-200, 1e-15] {
                let u = [1.0, gap, 0.0, 0.0, 0.0, 0.0];
                let (mut force, mut stiffness) = (vec![0.0; 6], BlockMatrix::zero(pattern.clone()));
                for definiteness in [Definiteness::Exact, Definiteness::Projected] {
                    springs.add_gradient_and_stiffness(
                        &u,
                        &Conditions::START,
                        definiteness,
                        &mut force,
                        &mut stiffness,
                    );
                }
                assert_eq!(springs.energy(&u, &Conditions::START), 50.0 * (rest_length - gap) * (rest_length - gap));
                assert_eq!(stiffness.block(0, 1), [[-200.0, 0.0, 0.0], [0.0, -200.0, 0.0], [0.0, 0.0, -200.0]]);
                assert_eq!(force, [0.0, 200.0 * gap, 0.0, 0.0, -200.0 * gap, 0.0]);
                springs.add_damping(&u, &Conditions::START, &u, &mut stiffness);
                springs.add_dissipation_gradient(&u, &Conditions::START, &[1.0; 6], &mut force);
                springs.stiffness_derivative(&u, &[1.0; 6], &u, &mut force);
                let tensor = springs.stiffness_derivative_tensor(&u);
                tensor.contract(&u, &u, &mut force);
                assert!(force.iter().chain(stiffness.values()).all(|value| value.is_finite()));
            }
        }
    }

    #[test]
    fn results_are_bitwise_equal_on_one_and_four_threads() {
        for cells in CELLS {
            let mesh = generate::block([1.0; 3], [6, 6, 6], cells).unwrap();
            let springs = springs_on(&mesh);
            assert!(springs.scatter.chunks().len() > 3);
            check_threads(&springs, mesh.vertex_count());
        }
    }

    #[test]
    fn listed_springs_keep_their_own_numbers_and_may_lie_side_by_side() {
        let rest = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let coefficients = SpringCoefficients::new(vec![3.0, 1.0, 2.0]);
        let springs = Springs::new(rest, &[[2, 1], [1, 0], [1, 2]], &coefficients).unwrap();
        let numbers: Vec<_> = springs.springs().iter().map(|s| (s.vertices, s.stiffness, s.rest_length)).collect();
        let diagonal = 2.0_f64.sqrt();
        assert_eq!(numbers, [([0, 1], 1.0, 1.0), ([1, 2], 3.0, diagonal), ([1, 2], 2.0, diagonal)]);
        let nothing = Springs::new(rest, &[], &coefficients_of(1.0)).unwrap();
        assert_eq!(nothing.energy(&[0.0; 9], &Conditions::START), 0.0);
    }

    fn coefficients_of(stiffness: f64) -> SpringCoefficients {
        SpringCoefficients::new(stiffness)
    }

    #[test]
    fn wrong_springs_are_named_with_their_numbers() {
        let rest = [Vec3::ZERO, Vec3::X, Vec3::X];
        let message = |pairs: &[[u32; 2]], coefficients: &SpringCoefficients| {
            Springs::new(rest, pairs, coefficients).unwrap_err().to_string()
        };
        let one = coefficients_of(1.0);
        assert_eq!(message(&[[0, 1], [7, 1]], &one), "spring 1 ends at vertex 7, but there are 3 vertices");
        assert_eq!(message(&[[0, 1], [2, 2]], &one), "spring 1 joins vertex 2 to itself");
        assert_eq!(
            message(&[[0, 1], [2, 1]], &one),
            "spring 1 joins vertices 2 and 1, which are at the same place at rest: it has no direction"
        );
        assert_eq!(
            message(&[[0, 1], [0, 2]], &SpringCoefficients::new(vec![1.0; 3])),
            "stiffness of springs: expected 2 numbers, found 3"
        );
        let negative = SpringCoefficients { damping: vec![1.0, -2.0].into(), ..coefficients_of(1.0) };
        assert_eq!(
            message(&[[0, 1], [0, 2]], &negative),
            "the damping of spring 1 between vertices 0 and 2 is -2, expected a finite number that is not negative"
        );
        let unknown = SpringCoefficients { rest_length: Some(f64::NAN.into()), ..one };
        assert!(message(&[[0, 1]], &unknown).contains("rest length of spring 0 between vertices 0 and 1 is NaN"));
    }
}
