//! Preconditioned conjugate gradients \[HestenesStiefel1952\].

use std::fmt::Debug;

use super::vector::{advance, difference, dot, norm, redirect};
use super::{LinearMap, SolveError};

/// Stopping criteria of conjugate gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CgParams {
    /// Relative residual `|b − Ax| / |b|` to reach.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
}

impl Default for CgParams {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 5000 }
    }
}

/// Statistics of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CgInfo {
    /// Number of iterations.
    pub iterations: usize,
    /// Relative residual `|b − Ax| / |b|`, computed from the solution.
    pub residual: f64,
}

/// Symmetric positive definite approximation of the inverse of a matrix.
pub trait Preconditioner: Debug {
    /// Computes `z ≈ A⁻¹ r`.
    fn apply(&mut self, r: &[f64], z: &mut [f64]);
}

/// Conjugate gradient solver with its work vectors.
///
/// # Examples
///
/// ```
/// use pliant::solver::{BlockJacobi, CgParams};
/// # use pliant::prelude::*;
/// # let cube = generate::block([0.1; 3], [2; 3], Cells::Tet6)?;
/// # let foam = AnyLaw::new("neo-hookean", YoungPoisson { young: 1e5, poisson: 0.3 })?;
/// # let model = Model::builder().body(Body::new(cube, foam, 200.0)).gravity(Vec3::NEG_Y).build()?;
/// # let (mut state, mut assembly) = (model.rest_state(), Assembly::new(model));
///
/// // Simulations use it through solvers such as this one.
/// let mut solver = BlockJacobi::new(CgParams { tolerance: 1e-8, ..CgParams::default() });
/// let info = BackwardEuler::default().step(&mut assembly, &mut solver, &mut state, 0.01)?;
/// assert!(info.solve.residual <= 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ConjugateGradients {
    /// Stopping criteria.
    pub params: CgParams,
    /// Residual `b − Ax`.
    pub(super) r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

/// State after some iterations, with the true residual.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    pub iterations: usize,
    /// Residual norm `|b − Ax|`.
    pub residual: f64,
    pub has_converged: bool,
}

impl ConjugateGradients {
    /// Creates a solver. The first system allocates its work vectors, which later systems reuse.
    pub fn new(params: CgParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Solves `A x = b` from the initial guess in `x`.
    ///
    /// # Panics
    /// If the length of a vector differs from the number of rows of the matrix.
    pub fn solve<A: LinearMap + ?Sized>(
        &mut self,
        matrix: &A,
        preconditioner: &mut dyn Preconditioner,
        b: &[f64],
        x: &mut [f64],
    ) -> Result<CgInfo, SolveError> {
        let size = self.start(matrix, b, x)?;
        if size == 0.0 {
            return Ok(CgInfo { iterations: 0, residual: 0.0 });
        }
        let most = self.params.max_iterations;
        let progress = self.iterate(matrix, preconditioner, b, x, size, most)?;
        self.finish(progress, size)
    }

    /// Returns the memory of the work vectors \[bytes\].
    pub fn memory(&self) -> usize {
        size_of::<f64>() * (self.r.len() + self.z.len() + self.p.len() + self.q.len())
    }

    /// Computes the residual of the initial guess and returns `|b|`. If that is zero, `x` is set to the solution, zero.
    pub(super) fn start<A: LinearMap + ?Sized>(
        &mut self,
        matrix: &A,
        b: &[f64],
        x: &mut [f64],
    ) -> Result<f64, SolveError> {
        let n = matrix.size();
        assert!(b.len() == n && x.len() == n, "vectors must have {n} numbers");
        for vector in [&mut self.r, &mut self.z, &mut self.p, &mut self.q] {
            vector.resize(n, 0.0);
        }
        let size = norm(b);
        if !size.is_finite() {
            return Err(self.not_finite(matrix, b, x));
        }
        if size == 0.0 {
            x.fill(0.0);
        } else if x.iter().all(|&x| x == 0.0) {
            self.r.copy_from_slice(b);
        } else {
            matrix.mul(x, &mut self.q);
            difference(b, &self.q, &mut self.r);
        }
        Ok(size)
    }

    /// Performs at most `most` further iterations after [`start`](Self::start) or a previous call.
    pub(super) fn iterate<A: LinearMap + ?Sized>(
        &mut self,
        matrix: &A,
        preconditioner: &mut dyn Preconditioner,
        b: &[f64],
        x: &mut [f64],
        size: f64,
        most: usize,
    ) -> Result<Progress, SolveError> {
        let goal = self.params.tolerance * size;
        let mut iterations = 0;
        let mut residual = norm(&self.r);
        loop {
            if residual <= goal * (1.0 + ROUNDING) || iterations >= most {
                let has_converged = residual <= goal * (1.0 + ROUNDING);
                return Ok(Progress { iterations, residual, has_converged });
            }
            iterations += self.descend(matrix, preconditioner, b, x, goal, most - iterations)?;
            // The recursively updated residual drifts from the true one by rounding. Continue from the true one if
            // necessary.
            matrix.mul(x, &mut self.q);
            difference(b, &self.q, &mut self.r);
            let before = std::mem::replace(&mut residual, norm(&self.r));
            if !residual.is_finite() {
                return Err(self.not_finite(matrix, b, x));
            }
            if residual > goal * (1.0 + ROUNDING) && residual > 0.5 * before {
                return Ok(Progress { iterations, residual, has_converged: false });
            }
        }
    }

    /// Iterates until the recursively updated residual is small enough. Returns the number of iterations.
    fn descend<A: LinearMap + ?Sized>(
        &mut self,
        matrix: &A,
        preconditioner: &mut dyn Preconditioner,
        b: &[f64],
        x: &mut [f64],
        goal: f64,
        most: usize,
    ) -> Result<usize, SolveError> {
        preconditioner.apply(&self.r, &mut self.z);
        self.p.copy_from_slice(&self.z);
        let mut rz = dot(&self.r, &self.z);
        for iteration in 1..=most {
            matrix.mul(&self.p, &mut self.q);
            let curvature = dot(&self.p, &self.q);
            if !curvature.is_finite() || !rz.is_finite() {
                return Err(self.not_finite(matrix, b, x));
            }
            if curvature <= 0.0 {
                return Err(SolveError::Indefinite { iteration, curvature: curvature / dot(&self.p, &self.p) });
            }
            let square = advance(rz / curvature, &self.p, &self.q, x, &mut self.r);
            if square.sqrt() <= goal {
                return Ok(iteration);
            }
            preconditioner.apply(&self.r, &mut self.z);
            let before = std::mem::replace(&mut rz, dot(&self.r, &self.z));
            redirect(rz / before, &self.z, &mut self.p);
        }
        Ok(most)
    }

    /// Returns the statistics of a solve, or an error if it has not converged.
    pub(super) fn finish(&self, progress: Progress, size: f64) -> Result<CgInfo, SolveError> {
        let Progress { iterations, residual, has_converged } = progress;
        let residual = residual / size;
        if !has_converged {
            return Err(SolveError::NotConverged { iterations, residual, tolerance: self.params.tolerance });
        }
        Ok(CgInfo { iterations, residual })
    }

    /// Returns an error that locates the non-finite number from which the others arose.
    fn not_finite<A: LinearMap + ?Sized>(&self, matrix: &A, b: &[f64], x: &[f64]) -> SolveError {
        let vectors: [(&'static str, &[f64]); 2] = [("the right-hand side", b), ("the initial guess", x)];
        let found = matrix.not_finite();
        let found = found.or_else(|| vectors.into_iter().find_map(|(what, vector)| vector_not_finite(what, vector)));
        let found = found.or_else(|| vector_not_finite("the preconditioned residual", &self.z));
        found.unwrap_or_else(|| {
            // All are finite, but their squares overflow: report the largest.
            let largest = (0..b.len()).max_by(|&i, &j| b[i].abs().total_cmp(&b[j].abs())).unwrap_or(0);
            SolveError::NotFinite { what: "the square of the right-hand side", vertex: largest / 3, axis: largest % 3 }
        })
    }
}

/// Fraction of the tolerance by which the recomputed residual may exceed it.
const ROUNDING: f64 = 1e-3;

/// Returns an error that locates the first non-finite number of a vector, or `None` if all are finite.
pub(super) fn vector_not_finite(what: &'static str, vector: &[f64]) -> Option<SolveError> {
    let place = vector.iter().position(|number| !number.is_finite())?;
    Some(SolveError::NotFinite { what, vertex: place / 3, axis: place % 3 })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::solver::testing::{bar, right_hand_side};
    use crate::sparse::{BlockMatrix, BlockPattern};

    #[derive(Debug)]
    struct Nothing;

    impl Preconditioner for Nothing {
        fn apply(&mut self, r: &[f64], z: &mut [f64]) {
            z.copy_from_slice(r);
        }
    }

    fn solve(matrix: &BlockMatrix, b: &[f64], params: CgParams) -> Result<(CgInfo, Vec<f64>), SolveError> {
        let mut x = vec![0.0; b.len()];
        let info = ConjugateGradients::new(params).solve(matrix, &mut Nothing, b, &mut x)?;
        Ok((info, x))
    }

    #[test]
    fn the_residual_that_is_reported_is_that_of_the_solution() {
        let operator = bar([6, 2, 2], 1e5, 0.01, 0.3);
        let b = right_hand_side(&operator.matrix);
        for tolerance in [1e-2, 1e-6, 1e-12] {
            let params = CgParams { tolerance, ..CgParams::default() };
            let (info, x) = solve(&operator.matrix, &b, params).unwrap();
            let mut product = vec![0.0; b.len()];
            operator.matrix.mul(&x, &mut product);
            let residual: f64 = product.iter().zip(&b).map(|(p, b)| (p - b).powi(2)).sum::<f64>().sqrt() / norm(&b);
            assert!((residual - info.residual).abs() < 1e-15 && residual <= 1.001 * tolerance, "{info:?}");
        }
    }

    #[test]
    fn a_zero_right_hand_side_has_a_zero_solution_at_once() {
        let operator = bar([2, 1, 1], 1e5, 0.01, 0.0);
        let b = vec![0.0; 3 * operator.matrix.pattern().node_count()];
        let mut x = vec![7.0; b.len()];
        let mut cg = ConjugateGradients::default();
        let info = cg.solve(&operator.matrix, &mut Nothing, &b, &mut x).unwrap();
        assert_eq!(info, CgInfo { iterations: 0, residual: 0.0 });
        assert!(x.iter().all(|&x| x == 0.0));
    }

    #[test]
    fn a_good_guess_is_not_changed() {
        let operator = bar([4, 2, 2], 1e5, 0.01, 0.0);
        let b = right_hand_side(&operator.matrix);
        let (_, solution) = solve(&operator.matrix, &b, CgParams { tolerance: 1e-9, ..CgParams::default() }).unwrap();
        let mut x = solution.clone();
        let info = ConjugateGradients::default().solve(&operator.matrix, &mut Nothing, &b, &mut x).unwrap();
        assert_eq!((info.iterations, x), (0, solution));
    }

    fn diagonal(numbers: &[f64]) -> BlockMatrix {
        let count = numbers.len() / 3;
        let mut matrix = BlockMatrix::zero(Arc::new(BlockPattern::from_cliques(count, std::iter::empty())));
        for (v, numbers) in numbers.chunks_exact(3).enumerate() {
            let block = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { numbers[i] } else { 0.0 }));
            matrix.add_block(v as u32, v as u32, &block);
        }
        matrix
    }

    #[test]
    fn an_indefinite_matrix_and_numbers_that_are_not_are_named() {
        let b = [1.0; 6];
        let error = solve(&diagonal(&[1.0, 2.0, 1.0, 3.0, -9.0, 1.0]), &b, CgParams::default()).unwrap_err();
        assert!(matches!(error, SolveError::Indefinite { .. }), "{error}");
        assert!(error.to_string().contains("projected"), "{error}");
        let matrix = diagonal(&[1.0, 2.0, 1.0, 3.0, f64::NAN, 1.0]);
        let error = solve(&matrix, &b, CgParams::default()).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "the matrix", vertex: 1, axis: 1 });
        let b = [1.0, 1.0, f64::INFINITY, 1.0, 1.0, 1.0];
        let error = solve(&diagonal(&[1.0; 6]), &b, CgParams::default()).unwrap_err();
        assert_eq!(error.to_string(), "the right-hand side is not finite at coordinate 2 of vertex 0");
        let error = solve(&diagonal(&[1.0; 6]), &[1.0, 1e200, 1.0, 1.0, 1.0, 1.0], CgParams::default()).unwrap_err();
        assert!(matches!(error, SolveError::NotFinite { vertex: 0, axis: 1, .. }), "{error}");
    }

    #[test]
    fn too_few_iterations_are_an_error_with_the_residual() {
        let operator = bar([6, 2, 2], 1e7, 0.01, 0.0);
        let b = right_hand_side(&operator.matrix);
        let params = CgParams { max_iterations: 3, ..CgParams::default() };
        let error = solve(&operator.matrix, &b, params).unwrap_err();
        let SolveError::NotConverged { iterations: 3, residual, tolerance } = error else { panic!("{error}") };
        assert!(residual > tolerance && tolerance == 1e-6);
    }
}
