//! Direct solvers, which factorize every matrix.

use std::sync::Arc;

use super::analysis::Analysis;
use super::cg::vector_not_finite;
use super::linear_map::{LinearMap, matrix_not_finite};
use super::union::Union;
use super::vector::{add_scaled, difference, norm};
use super::{
    CgParams, Cholesky, ConjugateGradients, LinearSolver, Method, NotPositiveDefinite, Operator, Preconditioner,
    Scalar, SolveError, SolveInfo, Stamp, Symbolic,
};
use crate::sparse::{BlockMatrix, BlockPattern};

/// Direct solver in double precision.
#[derive(Debug, Clone, Default)]
pub struct Direct {
    union: Union,
    analysis: Analysis,
    cholesky: Option<Cholesky<f64>>,
    r: Vec<f64>,
    change: Vec<f64>,
    factorizations: usize,
    stamp: Option<Stamp>,
}

/// Relative residual above which iterative refinement is applied.
const WORTH_CORRECTING: f64 = 1e-12;

impl Direct {
    /// Creates a solver that reuses a symbolic analysis.
    pub fn with_symbolic(symbolic: Arc<Symbolic>) -> Self {
        Self { analysis: Analysis::of(symbolic), ..Self::default() }
    }
}

impl LinearSolver<Operator> for Direct {
    fn set_matrix(&mut self, operator: &Operator) -> Result<(), SolveError> {
        let matrix = self.union.of(operator);
        let cholesky = memory_for(&mut self.analysis, &mut self.cholesky, matrix.pattern())?;
        self.factorizations += 1;
        self.stamp = None;
        cholesky.factor(matrix).map_err(|error| broken(matrix, error))?;
        self.stamp = Some(Stamp::new());
        Ok(())
    }

    fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    fn solve(&mut self, operator: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        let cholesky = self.cholesky.as_mut().expect("a matrix has been set");
        let size = norm(b);
        self.r.resize(b.len(), 0.0);
        self.change.resize(b.len(), 0.0);
        let mut residual = 0.0;
        if size == 0.0 {
            x.fill(0.0);
        } else {
            cholesky.solve(b, x);
            operator.mul(x, &mut self.change);
            difference(b, &self.change, &mut self.r);
            residual = norm(&self.r) / size;
            if residual > WORTH_CORRECTING {
                residual = self.correct(operator, b, x, residual, size);
            }
            if !residual.is_finite() {
                let found = matrix_not_finite(&operator.matrix).or_else(|| vector_not_finite("the right-hand side", b));
                let found = found.or_else(|| vector_not_finite("the solution", x));
                return Err(found.unwrap_or(SolveError::NotFinite { what: "the residual", vertex: 0, axis: 0 }));
            }
        }
        let info = self.cholesky.as_ref().expect("a factor").symbolic().info();
        Ok(SolveInfo {
            method: Method::Direct,
            iterations: 0,
            factorizations: std::mem::take(&mut self.factorizations),
            analyses: self.analysis.count,
            reason: None,
            residual,
            fill: info.fill,
            memory: 8 * (info.memory + self.r.len() + self.change.len()),
        })
    }

    fn forget(&mut self) {
        self.union = Union::default();
        self.factorizations = 0;
        self.stamp = None;
    }
}

impl Direct {
    /// Performs one step of iterative refinement and keeps it if it reduces the residual. Returns the residual.
    fn correct(&mut self, operator: &Operator, b: &[f64], x: &mut [f64], residual: f64, size: f64) -> f64 {
        let cholesky = self.cholesky.as_mut().expect("a factor");
        cholesky.solve(&self.r, &mut self.change);
        add_scaled(1.0, &self.change, x);
        operator.mul(x, &mut self.r);
        add_scaled(-1.0, b, &mut self.r);
        let corrected = norm(&self.r) / size;
        if corrected > residual {
            add_scaled(-1.0, &self.change, x);
            return residual;
        }
        corrected
    }
}

/// Direct solver in single precision, corrected by conjugate gradients. It takes half the memory and time of
/// [`Direct`], to which it falls back where single precision breaks down.
#[derive(Debug, Clone)]
pub struct DirectSingle {
    union: Union,
    analysis: Analysis,
    cg: ConjugateGradients,
    single: Option<SingleFactor>,
    /// Fallback, in use while it has the factor of the current matrix.
    double: Direct,
    is_single: bool,
    factorizations: usize,
    stamp: Option<Stamp>,
}

#[derive(Debug, Clone)]
struct SingleFactor {
    cholesky: Cholesky<f32>,
    scaled: Vec<f64>,
}

/// Iterations after which the matrix is considered too ill-conditioned for single precision.
const MAX_CORRECTIONS: usize = 30;

impl DirectSingle {
    /// Creates a solver with these stopping criteria of conjugate gradients.
    pub fn new(params: CgParams) -> Self {
        Self {
            analysis: Analysis::default(),
            cg: ConjugateGradients::new(params),
            single: None,
            double: Direct::default(),
            is_single: false,
            factorizations: 0,
            stamp: None,
            union: Union::default(),
        }
    }

    /// Creates a solver that reuses a symbolic analysis.
    pub fn with_symbolic(params: CgParams, symbolic: Arc<Symbolic>) -> Self {
        Self { analysis: Analysis::of(symbolic), ..Self::new(params) }
    }

    fn use_double(&mut self, operator: &Operator) -> Result<(), SolveError> {
        self.is_single = false;
        self.factorizations += 1;
        let symbolic = self.analysis.get(self.union.of(operator).pattern())?;
        self.double.union = self.union.clone();
        self.double.analysis = Analysis::of(symbolic.clone());
        self.double.set_matrix(operator)
    }

    fn add_own(&mut self, mut info: SolveInfo) -> SolveInfo {
        info.factorizations = std::mem::take(&mut self.factorizations);
        info.analyses = self.analysis.count;
        if let Some(single) = &self.single {
            info.fill = single.cholesky.symbolic().info().fill;
            info.memory += 4 * single.cholesky.symbolic().info().memory + 8 * single.scaled.len() + self.cg.memory();
        }
        info
    }
}

impl Default for DirectSingle {
    fn default() -> Self {
        Self::new(CgParams::default())
    }
}

impl LinearSolver<Operator> for DirectSingle {
    fn set_matrix(&mut self, operator: &Operator) -> Result<(), SolveError> {
        let matrix = self.union.of(operator);
        let symbolic = self.analysis.get(matrix.pattern())?;
        let single = match &mut self.single {
            Some(single) if Arc::ptr_eq(single.cholesky.symbolic(), symbolic) => single,
            other => other.insert(SingleFactor { cholesky: Cholesky::new(symbolic.clone()), scaled: Vec::new() }),
        };
        self.factorizations += 1;
        self.is_single = single.cholesky.factor(matrix).is_ok();
        self.stamp = None;
        if !self.is_single {
            self.use_double(operator)?;
        }
        self.stamp = Some(Stamp::new());
        Ok(())
    }

    fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    fn solve(&mut self, operator: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        let mut iterations = 0;
        if self.is_single {
            let single = self.single.as_mut().expect("a matrix has been set");
            let size = self.cg.start(operator, b, x)?;
            if size == 0.0 {
                return Ok(self.add_own(SolveInfo { method: Method::DirectSingle, ..SolveInfo::default() }));
            }
            let most = MAX_CORRECTIONS.min(self.cg.params.max_iterations);
            let progress = self.cg.iterate(operator, single, b, x, size, most)?;
            iterations = progress.iterations;
            if progress.has_converged {
                let residual = progress.residual / size;
                let info = SolveInfo { method: Method::DirectSingle, iterations, residual, ..SolveInfo::default() };
                return Ok(self.add_own(info));
            }
            self.use_double(operator)?;
        }
        let info = self.double.solve(operator, b, x)?;
        Ok(self.add_own(SolveInfo { iterations, ..info }))
    }

    fn forget(&mut self) {
        self.union = Union::default();
        self.double.forget();
        self.factorizations = 0;
        self.stamp = None;
    }
}

impl Preconditioner for SingleFactor {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        // Scale to unit norm, since the range of single precision is limited.
        let size = norm(r).max(f64::MIN_POSITIVE);
        self.scaled.resize(r.len(), 0.0);
        self.scaled.iter_mut().zip(r).for_each(|(scaled, r)| *scaled = r / size);
        self.cholesky.solve(&self.scaled, z);
        z.iter_mut().for_each(|z| *z *= size);
    }
}

/// Returns memory for factors of a pattern, reallocated only if the pattern changes.
fn memory_for<'a, T: Scalar>(
    analysis: &mut Analysis,
    cholesky: &'a mut Option<Cholesky<T>>,
    pattern: &Arc<BlockPattern>,
) -> Result<&'a mut Cholesky<T>, SolveError> {
    let symbolic = analysis.get(pattern)?;
    if cholesky.as_ref().is_none_or(|cholesky| !Arc::ptr_eq(cholesky.symbolic(), symbolic)) {
        *cholesky = Some(Cholesky::new(symbolic.clone()));
    }
    Ok(cholesky.as_mut().expect("just made"))
}

fn broken(matrix: &BlockMatrix, error: NotPositiveDefinite) -> SolveError {
    matrix_not_finite(matrix).unwrap_or(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::testing::{assert_same_on_any_threads, assert_solves, bar, bar_with, right_hand_side};

    #[test]
    fn statics_are_solved_to_rounding() {
        let operator = bar_with([10, 3, 3], 1e6, 0.45, f64::INFINITY, 0.8);
        let info = assert_solves(&mut Direct::default(), &operator, 1e-9);
        assert!(info.residual < 1e-11 && info.factorizations == 1 && info.iterations == 0, "{info:?}");
        let info = assert_solves(&mut DirectSingle::default(), &operator, 1e-4);
        assert!(info.residual < 1.1e-6 && info.factorizations == 1 && info.iterations < 10, "{info:?}");
        assert_eq!(info.method, Method::DirectSingle);
    }

    #[test]
    fn another_pattern_is_analysed_anew() {
        for solver in [&mut Direct::default() as &mut dyn LinearSolver<Operator>, &mut DirectSingle::default()] {
            assert_solves(solver, &bar([4, 2, 2], 1e6, 0.01, 0.0), 1e-5);
            assert_solves(solver, &bar([5, 2, 2], 1e6, 0.01, 0.0), 1e-5);
        }
    }

    #[test]
    fn what_single_precision_cannot_factor_is_factored_in_double() {
        let mut operator = bar([4, 2, 2], 1e6, 0.01, 0.0);
        operator.matrix.clear();
        for vertex in 0..operator.matrix.pattern().node_count() as u32 {
            operator.matrix.add_block(vertex, vertex, &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        }
        operator.matrix.add_block(0, 1, &[[1.0 - 2e-8, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
        let info = assert_solves(&mut DirectSingle::default(), &operator, 1e-6);
        assert_eq!((info.method, info.factorizations), (Method::Direct, 2));
    }

    #[test]
    fn solutions_are_bitwise_the_same_on_one_and_on_four_threads() {
        let operator = bar([40, 10, 10], 1e6, 0.01, 0.3);
        assert_same_on_any_threads(&operator, || Box::new(Direct::default()));
        assert_same_on_any_threads(&operator, || Box::new(DirectSingle::default()));
    }

    #[test]
    fn a_zero_right_hand_side_has_a_zero_solution() {
        let operator = bar([2, 1, 1], 1e6, 0.01, 0.0);
        let b = vec![0.0; 3 * operator.matrix.pattern().node_count()];
        for solver in [&mut Direct::default() as &mut dyn LinearSolver<Operator>, &mut DirectSingle::default()] {
            let mut x = vec![3.0; b.len()];
            solver.set_matrix(&operator).unwrap();
            assert_eq!(solver.solve(&operator, &b, &mut x).unwrap().residual, 0.0);
            assert_eq!(x, b);
        }
    }

    #[test]
    fn what_is_not_a_number_is_named() {
        let mut operator = bar([2, 1, 1], 1e6, 0.01, 0.0);
        let mut b = right_hand_side(&operator.matrix);
        let mut x = vec![0.0; b.len()];
        for solver in [&mut Direct::default() as &mut dyn LinearSolver<Operator>, &mut DirectSingle::default()] {
            b[7] = f64::NAN;
            solver.set_matrix(&operator).unwrap();
            let error = solver.solve(&operator, &b, &mut x).unwrap_err();
            assert_eq!(error, SolveError::NotFinite { what: "the right-hand side", vertex: 2, axis: 1 });
            b[7] = 1.0;
            let whole = operator.clone();
            operator.matrix.add_block(6, 6, &[[0.0; 3], [0.0; 3], [0.0, 0.0, f64::NAN]]);
            let solved = solver.set_matrix(&operator).and_then(|()| solver.solve(&operator, &b, &mut x));
            assert_eq!(solved.unwrap_err(), SolveError::NotFinite { what: "the matrix", vertex: 6, axis: 2 });
            operator = whole;
        }
    }
}
