//! Sparse Cholesky factorization `A = LLᵀ`.

use std::sync::Arc;

use thiserror::Error;

use super::multifrontal::{Breakdown, Factor};
use super::scalar::Scalar;
use super::symbolic::Symbolic;
use crate::sparse::BlockMatrix;

/// Error for a matrix that is not positive definite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the matrix is not positive definite: zero or negative pivot at coordinate {axis} of vertex {vertex}; in statics, fix every \
     body so that it can neither move nor turn; instead of an exact tangent, use a projected one"
)]
pub struct NotPositiveDefinite {
    /// Vertex of the pivot that is not positive.
    pub vertex: u32,
    /// Coordinate of the vertex: 0, 1 or 2.
    pub axis: usize,
}

/// Sparse Cholesky factor with entries of type `T`, `f64` or `f32`. All memory is allocated on creation and reused by
/// every factorization.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use pliant::solver::{Cholesky, Symbolic};
/// use pliant::sparse::{BlockMatrix, BlockPattern};
///
/// let edge = [0, 1];
/// let pattern = Arc::new(BlockPattern::from_cliques(2, std::iter::once(&edge[..])));
/// let mut a = BlockMatrix::zero(pattern.clone());
/// let diagonal = |d: f64| [[d, 0.0, 0.0], [0.0, d, 0.0], [0.0, 0.0, d]];
/// a.add_block(0, 0, &diagonal(2.0));
/// a.add_block(1, 1, &diagonal(2.0));
/// a.add_block(0, 1, &diagonal(-1.0));
///
/// let mut cholesky = Cholesky::<f64>::new(Arc::new(Symbolic::new(pattern)?));
/// cholesky.factor(&a)?;
/// let mut x = [0.0; 6];
/// cholesky.solve(&[1.0; 6], &mut x);
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-14));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cholesky<T> {
    factor: Factor<T>,
}

impl<T: Scalar> Cholesky<T> {
    /// Allocates memory for factors of matrices with the analyzed pattern.
    ///
    /// # Panics
    /// If the pattern was analyzed for negative pivots, which require [`Ldlt`](super::Ldlt).
    pub fn new(symbolic: Arc<Symbolic>) -> Self {
        assert!(!symbolic.has_negative(), "negative pivots need an LDLᵀ factorization");
        Self { factor: Factor::new(symbolic) }
    }

    /// Returns the symbolic analysis of the pattern.
    pub fn symbolic(&self) -> &Arc<Symbolic> {
        self.factor.symbolic()
    }

    /// Returns the entries of the factor: the panels of the fronts.
    pub(super) fn panels(&self) -> &[T] {
        self.factor.panels()
    }

    /// Factorizes a matrix. In single precision, a singular matrix cannot always be distinguished from an
    /// ill-conditioned one.
    ///
    /// # Panics
    /// If the matrix does not have the analyzed pattern.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<(), NotPositiveDefinite> {
        self.factor.factor(matrix).map_err(|Breakdown { vertex, axis, .. }| NotPositiveDefinite { vertex, axis })
    }

    /// Computes `x = A⁻¹ b`, both in the order of the vertices.
    ///
    /// # Panics
    /// If the lengths are not three times the number of vertices, or the last factorization failed.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        self.factor.solve(b, x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::{Conditions, Definiteness, Elastic, Force, bind_all};
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::mesh::{Cells, generate};
    use crate::sparse::BlockPattern;

    /// Returns an elasticity-like matrix on a graph: a random positive semi-definite coupling per edge, and a little
    /// mass.
    fn matrix(vertex_count: usize, edges: &[[u32; 2]], mass: f64) -> BlockMatrix {
        let pattern = BlockPattern::from_cliques(vertex_count, edges.iter().map(<[u32; 2]>::as_slice));
        let mut matrix = BlockMatrix::zero(Arc::new(pattern));
        let mut rng = fastrand::Rng::with_seed(3);
        for &[a, b] in edges {
            let direction: [f64; 3] = std::array::from_fn(|_| rng.f64() - 0.5);
            let coupling = |sign: f64| {
                let entry = |i: usize, j: usize| sign * direction[i] * direction[j];
                std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
            };
            matrix.add_block(a, a, &coupling(1.0));
            matrix.add_block(b, b, &coupling(1.0));
            matrix.add_block(a, b, &coupling(-1.0));
        }
        for v in 0..vertex_count as u32 {
            matrix.add_block(v, v, &[[mass, 0.0, 0.0], [0.0, mass, 0.0], [0.0, 0.0, mass]]);
        }
        matrix
    }

    /// Returns a box of cells with all diagonals, with randomly numbered vertices and a few isolated vertices.
    fn lattice(n: [u32; 3]) -> (usize, Vec<[u32; 2]>) {
        let count = n[0] * n[1] * n[2];
        let mut order: Vec<u32> = (0..count + 3).collect();
        fastrand::Rng::with_seed(4).shuffle(&mut order);
        let number = |i: u32, j: u32, k: u32| order[((i * n[1] + j) * n[2] + k) as usize];
        let mut edges = Vec::new();
        for (i, j, k) in (0..n[0]).flat_map(|i| (0..n[1]).flat_map(move |j| (0..n[2]).map(move |k| (i, j, k)))) {
            for (a, b, c) in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)] {
                if i + a < n[0] && j + b < n[1] && k + c < n[2] {
                    edges.push([number(i, j, k), number(i + a, j + b, k + c)]);
                }
            }
        }
        (count as usize + 3, edges)
    }

    fn largest_residual(matrix: &BlockMatrix, x: &[f64], b: &[f64]) -> f64 {
        let mut product = vec![0.0; b.len()];
        matrix.mul(x, &mut product);
        assert!(product.iter().all(|number| number.is_finite()), "`max` ignores NaN");
        product.iter().zip(b).fold(0.0, |most, (p, b)| f64::max(most, (p - b).abs()))
    }

    fn solve<T: Scalar>(matrix: &BlockMatrix) -> (Vec<f64>, f64) {
        let symbolic = Arc::new(Symbolic::new(matrix.pattern().clone()).unwrap());
        let mut cholesky = Cholesky::<T>::new(symbolic);
        // Twice, since memory is reused.
        cholesky.factor(matrix).unwrap();
        cholesky.factor(matrix).unwrap();
        let n = 3 * matrix.pattern().node_count();
        let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut x = vec![f64::NAN; n];
        cholesky.solve(&b, &mut x);
        let residual = largest_residual(matrix, &x, &b);
        (x, residual)
    }

    #[test]
    fn systems_of_every_shape_are_solved_to_rounding() {
        for n in [[1, 1, 1], [2, 1, 1], [30, 1, 1], [12, 9, 1], [6, 6, 6], [14, 12, 10], [40, 6, 5]] {
            let (count, edges) = lattice(n);
            let matrix = matrix(count, &edges, 0.01);
            assert!(solve::<f64>(&matrix).1 < 1e-11, "{n:?}: {:e}", solve::<f64>(&matrix).1);
            assert!(solve::<f32>(&matrix).1 < 1e-2, "{n:?}: {:e}", solve::<f32>(&matrix).1);
        }
    }

    #[test]
    fn the_factor_is_bitwise_the_same_on_one_and_on_four_threads() {
        let (count, edges) = lattice([22, 14, 13]);
        let matrix = matrix(count, &edges, 0.1);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve::<f64>(&matrix).0)
        };
        assert_eq!(on(1), on(4));
    }

    #[test]
    fn a_body_that_is_not_fixed_is_an_error_that_names_a_vertex() {
        for cells in [Cells::Tet5, Cells::Tet6, Cells::Hex] {
            for n in [1, 2, 5, 8] {
                let mesh = generate::block([1.0, 0.7, 0.6], [2 * n, n, n], cells).unwrap();
                let law = AnyLaw::new("linear", YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap();
                let mut elastic = Elastic::uniform(&mesh, law);
                let mut stiffness = BlockMatrix::zero(bind_all(mesh.vertex_count(), &mut [&mut elastic]));
                let rest = vec![0.0; 3 * mesh.vertex_count()];
                elastic.add_gradient_and_stiffness(
                    &rest,
                    &Conditions::START,
                    Definiteness::Exact,
                    &mut rest.clone(),
                    &mut stiffness,
                );
                let symbolic = Arc::new(Symbolic::new(stiffness.pattern().clone()).unwrap());
                let error = Cholesky::<f64>::new(symbolic.clone()).factor(&stiffness).unwrap_err();
                assert!((error.vertex as usize) < mesh.vertex_count() && error.axis < 3);
                assert!(error.to_string().contains("zero or negative pivot at coordinate"));
                // With springs at one end, the matrix is positive definite.
                let low = mesh.vertices().iter().fold(f64::INFINITY, |low, x| low.min(x.x));
                let fixed = (0..mesh.vertex_count()).filter(|&v| mesh.vertices()[v].x < low + 1e-6);
                for vertex in fixed.map(|v| v as u32) {
                    stiffness.add_block(vertex, vertex, &[[1e6, 0.0, 0.0], [0.0, 1e6, 0.0], [0.0, 0.0, 1e6]]);
                }
                Cholesky::<f64>::new(symbolic).factor(&stiffness).unwrap();
            }
        }
    }

    #[test]
    fn a_star_of_many_arms_is_analysed_quickly_and_solved() {
        let edges: Vec<[u32; 2]> = (1..30_000).map(|arm| [0, arm]).collect();
        assert!(solve::<f64>(&matrix(30_000, &edges, 1.0)).1 < 1e-9);
    }

    #[test]
    fn fill_and_work_are_those_of_nested_dissection() {
        let (count, edges) = lattice([16, 16, 16]);
        let pattern = BlockPattern::from_cliques(count, edges.iter().map(<[u32; 2]>::as_slice));
        let info = *Symbolic::new(Arc::new(pattern)).unwrap().info();
        // `O(n^(4/3))` entries and `O(n²)` operations. The bounds detect a worse ordering.
        assert!(info.fill < 6_000_000 && info.operations < 5e9, "{info:?}");
    }
}
