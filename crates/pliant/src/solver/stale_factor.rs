//! Conjugate gradients, preconditioned with a stale factor that is co-rotated with the body. In a motion, each system
//! is nearly the previous one, except for the rotations of parts of the body.
//!
//! The preconditioner is `R L⁻ᵀL⁻¹ Rᵀ`, where `R` is the rotation of each vertex since the factorization. A body in
//! rigid motion never needs another factorization, an oscillating body one every few dozen steps.

use std::sync::Arc;

use rayon::prelude::*;

use super::analysis::Analysis;
use super::cg::Progress;
use super::guess::History;
use super::linear_map::matrix_not_finite;
use super::packed::Packed;
use super::union::Union;
use super::vector::norm;
use super::{
    CgParams, Cholesky, ConjugateGradients, LinearSolver, Method, Operator, Preconditioner, SolveError, SolveInfo,
    Symbolic, SymbolicInfo,
};
use crate::math::{Mat3, Vec3};
use crate::sparse::{BlockMatrix, BlockPattern};

/// Parameters of the solver with a stale factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StaleFactorParams {
    /// Stopping criteria.
    pub cg: CgParams,
    /// Initial precision of the stored factor. It is raised if a new factor still needs many iterations.
    pub precision: Precision,
    /// True if the factor is co-rotated with the body.
    pub rotate: bool,
    /// True if the initial guess is the best combination of the last solutions.
    pub extrapolate: bool,
}

impl Default for StaleFactorParams {
    fn default() -> Self {
        Self { cg: CgParams::default(), precision: Precision::Sixteen, rotate: true, extrapolate: true }
    }
}

/// Precision of a stored factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Precision {
    /// 16 bits per number, computed in single precision.
    #[default]
    Sixteen,
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

/// Conjugate gradient solver with a stale factor that is co-rotated with the body. It decides when to refactorize from
/// operation counts, so that results do not depend on the clock.
#[derive(Debug, Clone)]
pub struct StaleFactor {
    params: StaleFactorParams,
    union: Union,
    /// Pattern of the fixed part of the last matrix.
    base: Option<Arc<BlockPattern>>,
    analysis: Analysis,
    cg: ConjugateGradients,
    history: History,
    factor: Option<TurnedFactor>,
    /// True if the factor belongs to the last matrix set.
    is_fresh: bool,
    /// Iterations of the first solve with the factor.
    fresh_iterations: Option<usize>,
    /// Cost of iterations beyond those since then \[ns\].
    excess: f64,
    factorizations: usize,
}

/// Factor with the rotations of the body since the factorization.
#[derive(Debug, Clone)]
struct TurnedFactor {
    symbolic: Arc<Symbolic>,
    precision: Precision,
    /// Precision of the current factor, higher than requested where a lower one broke down.
    made: Precision,
    /// Number of further factorizations for which single precision is not tried, since it broke down.
    without_single: usize,
    single: Option<Cholesky<f32>>,
    packed: Option<Packed>,
    double: Option<Cholesky<f64>>,
    /// True for coordinates that are coupled with any other. A vertex with an uncoupled coordinate, because it is
    /// fixed, is not rotated: rotation would mix it with the others.
    is_coupled: Vec<[bool; 3]>,
    now: Vec<Mat3>,
    at_factor: Vec<Mat3>,
    /// Rotations from the factorization to now.
    turns: Vec<Mat3>,
    r: Vec<f64>,
    z: Vec<f64>,
}

/// Cost model \[ns\] on one thread of a Xeon with AVX-512. Fitted to bars of 525 and 3,321 vertices on a busy machine:
/// a factorization took 0.9 to 1.3 and 19 ms, an iteration 0.05 and 0.5 ms. Larger bodies are extrapolated. Only the
/// ratios matter.
const NS_PER_OPERATION: f64 = 1.0 / 60.0;
const NS_PER_OPERATION_IN_DOUBLE: f64 = 1.0 / 30.0;
/// Memory-bound cost: assembly and packing of fronts, triangular solves and matrix products.
const NS_PER_BYTE: f64 = 1.0 / 15.0;
/// Overhead of the dense kernels per front.
const NS_PER_FRONT: f64 = 5000.0;

/// Iterations with a new factor above which its precision is considered too low.
const MAX_FRESH_ITERATIONS: usize = 15;

/// Number of factorizations in double precision after single precision has broken down, before it is tried again.
const WITHOUT_SINGLE: usize = 10;

/// Minimum number of iterations before a factorization in the middle of a solve.
const MIN_BEFORE_FACTOR: usize = 8;

impl StaleFactor {
    /// Creates a solver without a factor.
    pub fn new(params: StaleFactorParams) -> Self {
        Self {
            params,
            union: Union::default(),
            base: None,
            analysis: Analysis::default(),
            cg: ConjugateGradients::new(params.cg),
            history: History::default(),
            factor: None,
            is_fresh: false,
            fresh_iterations: None,
            excess: 0.0,
            factorizations: 0,
        }
    }

    /// Creates a solver that reuses a symbolic analysis.
    pub fn with_symbolic(params: StaleFactorParams, symbolic: Arc<Symbolic>) -> Self {
        Self { analysis: Analysis::of(symbolic), ..Self::new(params) }
    }

    /// Returns the current precision of the stored factor.
    pub fn precision(&self) -> Precision {
        self.factor.as_ref().map_or(self.params.precision, |factor| factor.precision)
    }

    fn make_factor(&mut self, operator: &Operator) -> Result<(), SolveError> {
        let factor = self.factor.as_mut().expect("memory for a factor");
        self.is_fresh = false;
        self.fresh_iterations = None;
        self.excess = f64::INFINITY;
        let matrix = self.union.of(operator);
        factor.adapt(self.analysis.get(matrix.pattern())?);
        let made = factor.make(matrix, &mut self.factorizations);
        made.map_err(|error| matrix_not_finite(matrix).unwrap_or(error))?;
        self.is_fresh = true;
        self.excess = 0.0;
        Ok(())
    }

    fn info(&self, progress: Progress, size: f64) -> SolveInfo {
        let factor = self.factor.as_ref().expect("a factor");
        SolveInfo {
            method: if self.is_fresh { Method::DirectSingle } else { Method::StaleFactor },
            iterations: progress.iterations,
            factorizations: self.factorizations,
            analyses: self.analysis.count,
            reason: None,
            residual: if size > 0.0 { progress.residual / size } else { 0.0 },
            fill: factor.symbolic.info().fill,
            memory: self.cg.memory() + self.history.memory() + factor.memory(),
        }
    }
}

impl LinearSolver<Operator> for StaleFactor {
    fn set_matrix(&mut self, operator: &Operator) -> Result<(), SolveError> {
        let base = operator.matrix.pattern();
        if self.factor.is_none() || self.base.as_ref().is_none_or(|known| !Arc::ptr_eq(known, base)) {
            // Couplings that come and go do not need a new factor: conjugate gradients see them in the product.
            let symbolic = self.analysis.get(self.union.of(operator).pattern())?;
            self.factor = Some(TurnedFactor::new(symbolic.clone(), self.params.precision));
            self.base = Some(base.clone());
            self.history.forget();
            self.excess = f64::INFINITY;
        }
        let factor = self.factor.as_mut().expect("just made");
        if let Some(frames) = operator.frames.as_ref().filter(|_| self.params.rotate) {
            frames.rotations(&operator.u, &mut factor.now);
        }
        if self.excess > factor.cost() {
            self.make_factor(operator)
        } else {
            self.is_fresh = false;
            factor.turn();
            Ok(())
        }
    }

    fn solve(&mut self, operator: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        assert!(self.factor.is_some(), "no matrix has been set");
        let matrix = &operator.matrix;
        let size = self.cg.start(operator, b, x)?;
        if size == 0.0 {
            let info = self.info(Progress { iterations: 0, residual: 0.0, has_converged: true }, size);
            self.factorizations = 0;
            return Ok(info);
        }
        if self.params.extrapolate {
            self.history.improve(operator, &mut self.cg.r, x);
        }
        let most = self.params.cg.max_iterations;
        let factor = self.factor.as_mut().expect("checked above");
        let iteration_cost = factor.iteration_cost(matrix);
        // Once the iterations have cost as much as a factorization, factorize and continue from there.
        let worth_a_factor = (factor.cost() / iteration_cost) as usize;
        let first_most = if self.is_fresh { most } else { most.min(worth_a_factor.max(MIN_BEFORE_FACTOR)) };
        let mut progress = self.cg.iterate(operator, factor, b, x, size, first_most)?;
        let was_fresh = self.is_fresh;
        if !progress.has_converged && !was_fresh {
            self.make_factor(operator)?;
            let factor = self.factor.as_mut().expect("just made");
            let before = progress.iterations;
            progress = self.cg.iterate(operator, factor, b, x, size, most.saturating_sub(before))?;
            progress.iterations += before;
        } else if was_fresh {
            self.fresh_iterations = Some(progress.iterations);
            if !progress.has_converged || progress.iterations > MAX_FRESH_ITERATIONS {
                self.raise_precision(operator, b, x, size, &mut progress)?;
            }
        } else {
            let fresh = self.fresh_iterations.unwrap_or(USUAL_FRESH_ITERATIONS);
            self.excess += progress.iterations.saturating_sub(fresh) as f64 * iteration_cost;
        }
        self.cg.finish(progress, size)?;
        if self.params.extrapolate {
            self.history.push(x);
        }
        let info = self.info(progress, size);
        self.factorizations = 0;
        Ok(info)
    }

    fn forget(&mut self) {
        self.union = Union::default();
        self.history.forget();
        self.is_fresh = false;
        self.fresh_iterations = None;
        self.excess = f64::INFINITY;
        self.factorizations = 0;
        if let Some(factor) = &mut self.factor {
            factor.precision = self.params.precision;
            factor.made = self.params.precision;
            factor.without_single = 0;
            factor.now.fill(Mat3::IDENTITY);
        }
    }
}

/// Assumed iterations with a new factor that was made in the middle of a solve.
const USUAL_FRESH_ITERATIONS: usize = 3;

impl StaleFactor {
    /// Raises the precision by one level, and solves with it immediately if the iterations have not converged.
    fn raise_precision(
        &mut self,
        operator: &Operator,
        b: &[f64],
        x: &mut [f64],
        size: f64,
        progress: &mut Progress,
    ) -> Result<(), SolveError> {
        let factor = self.factor.as_mut().expect("a factor");
        while factor.precision < Precision::Double {
            factor.precision =
                if factor.precision == Precision::Sixteen { Precision::Single } else { Precision::Double };
            if factor.precision == Precision::Double {
                self.excess = f64::INFINITY;
            }
            if progress.has_converged {
                break;
            }
            if factor.precision == Precision::Double {
                let matrix = self.union.of(operator);
                factor.adapt(self.analysis.get(matrix.pattern())?);
                factor.make(matrix, &mut self.factorizations)?;
                self.excess = 0.0;
            }
            let before = progress.iterations;
            let most = self.params.cg.max_iterations;
            *progress = self.cg.iterate(operator, factor, b, x, size, most)?;
            progress.iterations += before;
            if progress.has_converged {
                break;
            }
        }
        Ok(())
    }
}

impl TurnedFactor {
    fn new(symbolic: Arc<Symbolic>, precision: Precision) -> Self {
        let count = symbolic.order.len();
        Self {
            precision,
            made: precision,
            without_single: 0,
            single: None,
            packed: None,
            double: None,
            is_coupled: vec![[false; 3]; count],
            now: vec![Mat3::IDENTITY; count],
            at_factor: vec![Mat3::IDENTITY; count],
            turns: vec![Mat3::IDENTITY; count],
            r: Vec::new(),
            z: Vec::new(),
            symbolic,
        }
    }

    /// Replaces the memory by that for matrices of another pattern with the same vertices.
    fn adapt(&mut self, symbolic: &Arc<Symbolic>) {
        if !Arc::ptr_eq(&self.symbolic, symbolic) {
            let now = std::mem::take(&mut self.now);
            let without_single = self.without_single;
            *self = Self { without_single, now, ..Self::new(symbolic.clone(), self.precision) };
        }
    }

    /// Factorizes a matrix in single precision, or in double precision if requested or if single precision breaks down.
    fn make(&mut self, matrix: &BlockMatrix, count: &mut usize) -> Result<(), SolveError> {
        find_coupled(matrix, &mut self.is_coupled);
        self.at_factor.copy_from_slice(&self.now);
        self.turns.fill(Mat3::IDENTITY);
        if self.precision < Precision::Double && self.without_single == 0 {
            *count += 1;
            let single = self.single.get_or_insert_with(|| Cholesky::new(self.symbolic.clone()));
            if single.factor(matrix).is_ok() {
                if self.precision == Precision::Sixteen {
                    let packed = self.packed.get_or_insert_with(|| Packed::new(self.symbolic.clone()));
                    packed.pack(single, matrix);
                }
                self.made = self.precision;
                return Ok(());
            }
            self.without_single = WITHOUT_SINGLE + 1;
        }
        *count += 1;
        self.without_single = self.without_single.saturating_sub(1);
        self.made = Precision::Double;
        let double = self.double.get_or_insert_with(|| Cholesky::new(self.symbolic.clone()));
        Ok(double.factor(matrix)?)
    }

    /// Returns the precision in which the current factor is used.
    fn kept(&self) -> Precision {
        if self.made == Precision::Double { Precision::Double } else { self.precision }
    }

    /// Updates the rotations of the factor to the current configuration.
    fn turn(&mut self) {
        let (now, at_factor, is_coupled) = (&self.now, &self.at_factor, &self.is_coupled);
        let turn = |(vertex, turn): (usize, &mut Mat3)| {
            let is_free = is_coupled[vertex] == [true; 3];
            *turn = if is_free { now[vertex] * at_factor[vertex].transpose() } else { Mat3::IDENTITY };
        };
        if self.turns.len() <= GRAIN || rayon::current_num_threads() == 1 {
            self.turns.iter_mut().enumerate().for_each(turn);
        } else {
            self.turns.par_iter_mut().enumerate().with_min_len(GRAIN).for_each(turn);
        }
        if let Some(packed) = self.packed.as_mut().filter(|_| self.precision == Precision::Sixteen) {
            packed.turn(Some(&self.turns));
        }
    }

    /// Returns the cost of a factorization \[ns\].
    fn cost(&self) -> f64 {
        factor_cost(self.symbolic.info(), self.kept() == Precision::Double)
    }

    /// Returns the cost of an iteration \[ns\].
    fn iteration_cost(&self, matrix: &BlockMatrix) -> f64 {
        let fill = self.symbolic.info().fill;
        let bytes = match self.kept() {
            Precision::Sixteen => self.packed.as_ref().map_or(2 * fill, Packed::bytes),
            Precision::Single => 4 * fill,
            Precision::Double => 8 * fill,
        };
        iteration_cost(bytes, matrix)
    }

    fn memory(&self) -> usize {
        let info = self.symbolic.info();
        let numbers = self.single.as_ref().map_or(0, |_| 4) + self.double.as_ref().map_or(0, |_| 8);
        let rotations = self.now.len() + self.at_factor.len() + self.turns.len();
        numbers * info.memory
            + self.packed.as_ref().map_or(0, Packed::memory)
            + rotations * size_of::<Mat3>()
            + 8 * (self.r.len() + self.z.len())
    }
}

/// Returns the cost of a factorization \[ns\].
pub(super) fn factor_cost(info: &SymbolicInfo, in_double: bool) -> f64 {
    let (per_operation, size) = if in_double { (NS_PER_OPERATION_IN_DOUBLE, 8) } else { (NS_PER_OPERATION, 4) };
    let bytes = 2 * size * info.memory;
    info.operations * per_operation + bytes as f64 * NS_PER_BYTE + info.fronts as f64 * NS_PER_FRONT
}

/// Returns the cost of an iteration \[ns\]: both triangular solves read the factor, and the product reads the matrix.
pub(super) fn iteration_cost(factor_bytes: usize, matrix: &BlockMatrix) -> f64 {
    let vectors = VECTOR_BYTES * matrix.pattern().node_count();
    (2 * factor_bytes + size_of_val(matrix.values()) + vectors) as f64 * NS_PER_BYTE
}

/// Bytes of vectors and rotations that an iteration reads and writes per vertex.
const VECTOR_BYTES: usize = 400;

/// Vertices per parallel task.
const GRAIN: usize = 4096;

impl Preconditioner for TurnedFactor {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        // Scale to unit norm, since the range of single precision is limited.
        let size = norm(r);
        if size == 0.0 {
            z.fill(0.0);
            return;
        }
        match (self.kept(), &mut self.packed) {
            (Precision::Sixteen, Some(packed)) => packed.apply(size, r, z),
            (kept, _) => {
                self.r.resize(r.len(), 0.0);
                self.z.resize(r.len(), 0.0);
                for ((to, from), turn) in self.r.chunks_exact_mut(3).zip(r.chunks_exact(3)).zip(&self.turns) {
                    to.copy_from_slice(&(turn.transpose() * Vec3::from_slice(from) / size).to_array());
                }
                match (kept, &mut self.single, &mut self.double) {
                    (Precision::Double, _, Some(double)) => double.solve(&self.r, &mut self.z),
                    (_, Some(single), _) => single.solve(&self.r, &mut self.z),
                    _ => unreachable!("a factor of the precision that is kept"),
                }
                for ((to, from), turn) in z.chunks_exact_mut(3).zip(self.z.chunks_exact(3)).zip(&self.turns) {
                    to.copy_from_slice(&(*turn * Vec3::from_slice(from) * size).to_array());
                }
            }
        }
    }
}

/// Determines which coordinates are coupled with any other. Fixed ones are not.
pub(super) fn find_coupled(matrix: &BlockMatrix, is_coupled: &mut [[bool; 3]]) {
    let pattern = matrix.pattern();
    let (blocks, _) = matrix.values().as_chunks::<9>();
    is_coupled.fill([false; 3]);
    for row in 0..pattern.node_count() {
        for slot in pattern.row(row) {
            let column = pattern.columns()[slot] as usize;
            for entry in 0..9 {
                let (i, j) = (entry / 3, entry % 3);
                if blocks[slot][entry] != 0.0 && (row != column || i != j) {
                    is_coupled[row][i] = true;
                    is_coupled[column][j] = true;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::testing::{assert_same_on_any_threads, assert_solves, bar, bar_with, fix, right_hand_side};

    /// Returns a straight bar and the same bar bent, with the same pattern, as in a simulation.
    fn straight_and_bent(angle: f64, young: f64) -> [Operator; 2] {
        let straight = bar([20, 4, 4], young, 0.01, 0.0);
        let bent = bar([20, 4, 4], young, 0.01, angle);
        let mut matrix = straight.matrix.clone();
        matrix.values_mut().copy_from_slice(bent.matrix.values());
        [straight, Operator { matrix, ..bent }]
    }

    /// Returns the number of iterations for the bent bar with the factor of the straight one, without limit.
    fn iterations(params: StaleFactorParams, angle: f64, young: f64) -> usize {
        let [straight, bent] = straight_and_bent(angle, young);
        let mut solver = StaleFactor::new(params);
        solver.set_matrix(&straight).unwrap();
        solver.set_matrix(&bent).unwrap();
        let b = right_hand_side(&bent.matrix);
        let (mut x, size) = (vec![0.0; b.len()], norm(&b));
        solver.cg.start(&bent.matrix, &b, &mut x).unwrap();
        let factor = solver.factor.as_mut().unwrap();
        let progress = solver.cg.iterate(&bent.matrix, factor, &b, &mut x, size, 1000).unwrap();
        assert!(progress.has_converged);
        progress.iterations
    }

    #[test]
    fn the_factor_of_the_straight_bar_solves_the_bent_one_if_it_turns() {
        let params = StaleFactorParams::default();
        let turned = iterations(params, 1.0, 1e6);
        let not_turned = iterations(StaleFactorParams { rotate: false, ..params }, 1.0, 1e6);
        assert!(turned <= 12 && not_turned > 40, "{turned}, {not_turned} without rotation");
        let [straight, bent] = straight_and_bent(0.3, 1e6);
        let mut solver = StaleFactor::new(params);
        solver.set_matrix(&straight).unwrap();
        let info = assert_solves(&mut solver, &bent, 1e-4);
        assert_eq!((info.method, info.factorizations), (Method::StaleFactor, 1));
    }

    #[test]
    fn sixteen_bits_need_few_iterations_more_than_single_precision() {
        for (young, angle) in [(1e4, 0.3), (1e6, 0.3), (1e6, 1.0), (1e8, 0.3)] {
            let params = StaleFactorParams::default();
            let sixteen = iterations(params, angle, young);
            let single = iterations(StaleFactorParams { precision: Precision::Single, ..params }, angle, young);
            assert!(sixteen <= single + 1 + single / 4, "{sixteen} instead of {single} for {young:e}, {angle}");
        }
    }

    #[test]
    fn every_precision_solves() {
        for precision in [Precision::Sixteen, Precision::Single, Precision::Double] {
            let params = StaleFactorParams { precision, ..StaleFactorParams::default() };
            let mut solver = StaleFactor::new(params);
            let [straight, bent] = straight_and_bent(0.2, 1e6);
            assert_solves(&mut solver, &straight, 1e-4);
            assert_solves(&mut solver, &bent, 1e-4);
            assert_eq!(solver.precision(), precision);
        }
    }

    #[test]
    fn a_fresh_factor_needs_few_iterations() {
        let info =
            assert_solves(&mut StaleFactor::new(StaleFactorParams::default()), &bar([20, 4, 4], 1e6, 0.01, 0.4), 1e-5);
        assert!(info.iterations <= 4 && info.factorizations == 1, "{info:?}");
        assert_eq!(info.method, Method::DirectSingle);
        assert!(info.fill > 0 && info.memory > 6 * info.fill, "{info:?}");
    }

    #[test]
    fn the_same_matrix_again_is_solved_from_the_last_solution_without_a_factor() {
        let operator = bar([12, 4, 4], 1e6, 0.01, 0.4);
        let mut solver = StaleFactor::new(StaleFactorParams::default());
        assert_solves(&mut solver, &operator, 1e-5);
        let info = assert_solves(&mut solver, &operator, 1e-5);
        assert_eq!((info.iterations, info.factorizations), (0, 0), "{info:?}");
    }

    #[test]
    fn a_matrix_that_changes_all_of_a_sudden_gets_a_new_factor_in_the_middle() {
        let soft = bar([20, 4, 4], 1e4, 0.01, 0.0);
        let mut stiff = soft.clone();
        stiff.matrix.values_mut().copy_from_slice(bar([20, 4, 4], 1e9, 0.01, 0.7).matrix.values());
        let mut solver = StaleFactor::new(StaleFactorParams::default());
        assert_solves(&mut solver, &soft, 1e-5);
        let info = assert_solves(&mut solver, &stiff, 1e-3);
        assert_eq!((info.method, info.factorizations), (Method::DirectSingle, 1), "{info:?}");
    }

    #[test]
    fn where_one_precision_has_not_converged_the_next_is_used() {
        let operator = bar_with([20, 4, 4], 1e9, 0.499, f64::INFINITY, 0.5);
        let mut solver = StaleFactor::new(StaleFactorParams::default());
        solver.set_matrix(&operator).unwrap();
        let b = right_hand_side(&operator.matrix);
        let mut x = vec![0.0; b.len()];
        let size = solver.cg.start(&operator.matrix, &b, &mut x).unwrap();
        for precision in [Precision::Single, Precision::Double] {
            let mut progress = Progress { iterations: 0, residual: size, has_converged: false };
            solver.cg.params.tolerance *= 1e-2;
            solver.raise_precision(&operator, &b, &mut x, size, &mut progress).unwrap();
            assert!(
                progress.has_converged && progress.iterations > 0 && solver.precision() == precision,
                "{progress:?}"
            );
        }
        assert_eq!(solver.factorizations, 2);
        assert_solves(&mut solver, &operator, 1e-4);
    }

    #[test]
    fn what_single_precision_cannot_factor_is_factored_in_double() {
        let mut operator = bar([6, 2, 2], 1e6, 0.01, 0.0);
        operator.matrix.clear();
        for vertex in 0..operator.matrix.pattern().node_count() as u32 {
            operator.matrix.add_block(vertex, vertex, &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        }
        // Two nearly identical unknowns: a pivot of 4e-8.
        operator.matrix.add_block(0, 1, &[[1.0 - 2e-8, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
        let mut solver = StaleFactor::new(StaleFactorParams::default());
        let info = assert_solves(&mut solver, &operator, 1e-5);
        assert_eq!(info.factorizations, 2, "{info:?}");
        // Also when single precision is tried again, after many factorizations.
        for _ in 0..3 * WITHOUT_SINGLE {
            solver.excess = f64::INFINITY;
            assert_solves(&mut solver, &operator, 1e-5);
        }
    }

    #[test]
    fn vertices_fixed_along_one_axis_are_not_turned() {
        let fixed: Vec<bool> = (0..3 * 525).map(|i| i % 3 == 2 && (i / 3) % 21 == 10).collect();
        let make = |angle: f64| {
            let mut operator = bar([20, 4, 4], 1e6, 0.01, angle);
            fix(&mut operator.matrix, &fixed);
            operator
        };
        let (straight, mut turned) = (make(0.0), make(0.8));
        let mut matrix = BlockMatrix::zero(straight.matrix.pattern().clone());
        matrix.values_mut().copy_from_slice(turned.matrix.values());
        turned.matrix = matrix;
        let params = StaleFactorParams { extrapolate: false, ..StaleFactorParams::default() };
        let mut solver = StaleFactor::new(params);
        solver.set_matrix(&straight).unwrap();
        let is_coupled = &solver.factor.as_ref().unwrap().is_coupled;
        let steady = is_coupled.iter().filter(|&&coupled| coupled != [true; 3]).count();
        assert_eq!(steady, 25 + 25, "the fixed face, and the ring in the middle");
        let info = assert_solves(&mut solver, &turned, 1e-4);
        assert!(info.iterations <= 25, "{info:?}");
    }

    #[test]
    fn the_solution_is_bitwise_the_same_on_one_and_on_four_threads() {
        for precision in [Precision::Sixteen, Precision::Single] {
            let params = StaleFactorParams { precision, ..StaleFactorParams::default() };
            assert_same_on_any_threads(&bar([40, 10, 10], 1e6, 0.01, 0.3), || Box::new(StaleFactor::new(params)));
        }
    }

    #[test]
    fn what_cannot_be_factored_is_named() {
        let mut operator = bar([2, 1, 1], 1e4, 0.01, 0.0);
        operator.matrix.add_block(5, 5, &[[0.0; 3], [0.0, -1e9, 0.0], [0.0; 3]]);
        let mut solver = StaleFactor::new(StaleFactorParams::default());
        let error = solver.set_matrix(&operator).unwrap_err();
        assert!(matches!(error, SolveError::NotPositiveDefinite(error) if error.vertex == 5), "{error}");
        operator.matrix.add_block(6, 6, &[[0.0; 3], [0.0; 3], [0.0, 0.0, f64::NAN]]);
        let b = right_hand_side(&operator.matrix);
        let mut x = vec![0.0; b.len()];
        let solved = solver.set_matrix(&operator).and_then(|()| solver.solve(&operator, &b, &mut x));
        assert_eq!(solved.unwrap_err(), SolveError::NotFinite { what: "the matrix", vertex: 6, axis: 2 });
        // The solver recovers.
        assert_solves(&mut solver, &bar([2, 1, 1], 1e4, 0.01, 0.0), 1e-5);
    }
}
