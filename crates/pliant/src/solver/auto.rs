//! Choice of a solver from the matrix alone.

use std::fmt::{self, Display};
use std::sync::Arc;

use super::analysis::Analysis;
use super::linear_map::matrix_not_finite;
use super::stale_factor::find_coupled;
use super::{
    CgParams, Direct, IncompleteCholesky, LinearSolver, Method, Operator, SolveError, SolveInfo, StaleFactor,
    StaleFactorParams, Stamp, Symbolic, SymbolicInfo,
};
use crate::sparse::BlockMatrix;

/// Limits of an [`Auto`] solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoParams {
    /// Stopping criteria of conjugate gradients.
    pub cg: CgParams,
    /// Maximum memory of a factor \[bytes\].
    pub max_memory: usize,
}

impl Default for AutoParams {
    fn default() -> Self {
        Self { cg: CgParams::default(), max_memory: 8 << 30 }
    }
}

/// Solver that selects its method from the first matrices: see [`Auto::choice`].
#[derive(Debug, Clone)]
pub struct Auto {
    params: AutoParams,
    analysis: Analysis,
    chosen: Option<Chosen>,
    /// Number of matrices until the choice is made again.
    until_next: usize,
}

#[derive(Debug, Clone)]
struct Chosen {
    choice: Choice,
    pattern: Arc<crate::sparse::BlockPattern>,
    solver: Box<dyn LinearSolver<Operator>>,
}

/// Chosen method and the reason for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Method.
    pub method: Method,
    /// Reason for the method.
    pub reason: Reason,
}

/// Reason for which a method was chosen.
///
/// The inertia of a matrix is the fraction of its diagonal that a translation sees. A translation causes no strain, so
/// only the mass remains. The smaller the inertia, the more iterations an incomplete factor needs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the message describes each field")]
#[non_exhaustive]
pub enum Reason {
    /// Matrix without inertia, as in statics.
    Statics { inertia: f64 },
    /// Body so soft, or step so short, that an incomplete factor is cheaper.
    Soft { inertia: f64, iterations: usize },
    /// Body so stiff that a stale factor is cheaper.
    Stiff { inertia: f64, iterations: usize },
    /// Factor that would exceed the memory limit.
    Memory { needed: usize, most: usize },
}

impl Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.method)?;
        match self.reason {
            Reason::Statics { inertia } => write!(f, "the matrix has no mass (inertia {inertia:.1e})"),
            Reason::Soft { inertia, iterations } => {
                write!(f, "with inertia {inertia:.1e}, about {iterations} iterations cost less than a stale factor")
            }
            Reason::Stiff { inertia, iterations } => {
                write!(
                    f,
                    "with inertia {inertia:.1e}, block IC(0) would need about {iterations} iterations and cost more"
                )
            }
            Reason::Memory { needed, most } => {
                write!(f, "a factor would take {} MB, but the limit is {} MB", needed >> 20, most >> 20)
            }
        }
    }
}

/// Inertia below which the remaining mass is rounding error.
const NO_INERTIA: f64 = 1e-10;

/// Inertia above which an incomplete factor needs so few iterations that no alternative is considered.
const MUCH_INERTIA: f64 = 0.2;

/// Iterations with an incomplete factor times the square root of the inertia, measured on bars of 525 to 23,409
/// vertices.
const ITERATIONS_TIMES_ROOT: f64 = 4.0;

/// Maximum iterations with an incomplete factor at any inertia, per vertex across a body (the cube root of the vertex
/// count).
const MAX_ITERATIONS_ACROSS: f64 = 45.0;

/// Cost per block of an iteration with an incomplete factor \[ns\]: matrix product and both triangular solves.
const NS_PER_BLOCK: f64 = 18.0;

/// Cost per block of an incomplete factorization \[ns\].
const NS_PER_BLOCK_TO_FACTOR: f64 = 50.0;

/// Average cost of steps with a stale factor: number of iterations, and fraction of a factorization.
const OLD_FACTOR_ITERATIONS: f64 = 5.0;
const OLD_FACTOR_PART: f64 = 0.04;

/// Number of matrices after which the choice is made again, since step size and stiffness may change.
const MATRICES_PER_CHOICE: usize = 200;

impl Auto {
    /// Creates a solver that has not chosen a method yet.
    pub fn new(params: AutoParams) -> Self {
        Self { params, analysis: Analysis::default(), chosen: None, until_next: 0 }
    }

    /// Returns the choice, or `None` before the first matrix is set.
    pub fn choice(&self) -> Option<Choice> {
        self.chosen.as_ref().map(|chosen| chosen.choice)
    }

    fn choose(&mut self, matrix: &BlockMatrix) -> Result<Choice, SolveError> {
        let inertia = inertia(matrix);
        if !inertia.is_finite() {
            return Err(matrix_not_finite(matrix).unwrap_or(SolveError::NotFinite {
                what: "the sum of the matrix entries",
                vertex: 0,
                axis: 0,
            }));
        }
        let max_iterations = MAX_ITERATIONS_ACROSS * (matrix.pattern().node_count() as f64).cbrt();
        let iterations = 1 + (ITERATIONS_TIMES_ROOT / inertia.sqrt()).min(max_iterations) as usize;
        let soft = Choice { method: Method::IncompleteCholesky, reason: Reason::Soft { inertia, iterations } };
        if inertia > MUCH_INERTIA {
            return Ok(soft);
        }
        let info = *self.analysis.get(matrix.pattern())?.info();
        let is_static = inertia < NO_INERTIA;
        let bytes_per_number = if is_static { 8 } else { 4 + 2 };
        let needed = bytes_per_number * info.memory;
        if needed > self.params.max_memory {
            let reason = Reason::Memory { needed, most: self.params.max_memory };
            return Ok(Choice { method: Method::IncompleteCholesky, reason });
        }
        if is_static {
            return Ok(Choice { method: Method::Direct, reason: Reason::Statics { inertia } });
        }
        let blocks = matrix.pattern().slot_count() as f64;
        let incomplete = blocks * (NS_PER_BLOCK_TO_FACTOR + iterations as f64 * NS_PER_BLOCK);
        if incomplete < old_factor_cost(&info, matrix) {
            return Ok(soft);
        }
        Ok(Choice { method: Method::StaleFactor, reason: Reason::Stiff { inertia, iterations } })
    }
}

impl Auto {
    /// Switches from an incomplete factor to a stale factor.
    fn use_factor(&mut self, operator: &Operator) -> Result<(), SolveError> {
        let Some(Chosen { choice: Choice { reason: Reason::Soft { inertia, iterations }, .. }, .. }) = self.chosen
        else {
            return Ok(());
        };
        let mut solver = make(Method::StaleFactor, self.params.cg, &mut self.analysis, &operator.matrix)?;
        solver.set_matrix(operator)?;
        let choice = Choice { method: Method::StaleFactor, reason: Reason::Stiff { inertia, iterations } };
        self.chosen = Some(Chosen { choice, pattern: operator.matrix.pattern().clone(), solver });
        self.until_next = MATRICES_PER_CHOICE;
        Ok(())
    }
}

/// Returns the average cost of a step with a stale factor \[ns\].
fn old_factor_cost(info: &SymbolicInfo, matrix: &BlockMatrix) -> f64 {
    let iteration = super::stale_factor::iteration_cost(2 * info.fill, matrix);
    OLD_FACTOR_ITERATIONS * iteration + OLD_FACTOR_PART * super::stale_factor::factor_cost(info, false)
}

/// Returns the fraction of the diagonal that a translation sees, away from fixed vertices: `Σ tr Aᵢⱼ / Σ tr Aᵢᵢ`.
fn inertia(matrix: &BlockMatrix) -> f64 {
    let pattern = matrix.pattern();
    let count = pattern.node_count();
    let (blocks, _) = matrix.values().as_chunks::<9>();
    let mut is_coupled = vec![[false; 3]; count];
    find_coupled(matrix, &mut is_coupled);
    let is_free = |vertex: usize| is_coupled[vertex] == [true; 3];
    // Translations strain the elements next to fixed vertices.
    let mut is_near_fixed = vec![false; count];
    let mut row_sums = vec![0.0; count];
    for row in 0..count {
        for slot in pattern.row(row) {
            let column = pattern.columns()[slot] as usize;
            is_near_fixed[row] |= !is_free(column);
            is_near_fixed[column] |= !is_free(row);
            let trace = blocks[slot][0] + blocks[slot][4] + blocks[slot][8];
            row_sums[row] += trace;
            if row != column {
                row_sums[column] += trace;
            }
        }
    }
    let ratio = |vertices: &dyn Fn(usize) -> bool| {
        let (mut sum, mut diagonal) = (0.0, 0.0);
        for row in (0..count).filter(|&row| vertices(row)) {
            let own = &blocks[pattern.row(row).start];
            sum += row_sums[row];
            diagonal += own[0] + own[4] + own[8];
        }
        (diagonal != 0.0).then(|| f64::abs(sum / diagonal))
    };
    ratio(&|row| !is_near_fixed[row]).or_else(|| ratio(&is_free)).unwrap_or(1.0)
}

impl Default for Auto {
    fn default() -> Self {
        Self::new(AutoParams::default())
    }
}

impl LinearSolver<Operator> for Auto {
    fn set_matrix(&mut self, operator: &Operator) -> Result<(), SolveError> {
        let pattern = operator.matrix.pattern();
        let is_same = self.chosen.as_ref().is_some_and(|chosen| Arc::ptr_eq(&chosen.pattern, pattern));
        if self.until_next == 0 || !is_same {
            let choice = self.choose(&operator.matrix)?;
            self.until_next = MATRICES_PER_CHOICE;
            match &mut self.chosen {
                Some(chosen) if is_same && chosen.choice.method == choice.method => chosen.choice = choice,
                chosen => {
                    let solver = make(choice.method, self.params.cg, &mut self.analysis, &operator.matrix)?;
                    *chosen = Some(Chosen { choice, pattern: pattern.clone(), solver });
                }
            }
        }
        self.until_next -= 1;
        self.chosen.as_mut().expect("just chosen").solver.set_matrix(operator)
    }

    fn stamp(&self) -> Option<Stamp> {
        self.chosen.as_ref().and_then(|chosen| chosen.solver.stamp())
    }

    fn solve(&mut self, operator: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        let chosen = self.chosen.as_mut().expect("a matrix has been set");
        let solved = chosen.solver.solve(operator, b, x);
        let mut info = match solved {
            // The estimate was far off: switch to a factorization immediately, if the memory limit permits.
            Err(SolveError::NotConverged { .. }) if matches!(chosen.choice.reason, Reason::Soft { .. }) => {
                self.use_factor(operator)?;
                let chosen = self.chosen.as_mut().expect("just chosen");
                x.fill(0.0);
                chosen.solver.solve(operator, b, x)?
            }
            solved => solved?,
        };
        let chosen = self.chosen.as_mut().expect("a matrix has been set");
        info.analyses += self.analysis.count;
        info.reason = Some(chosen.choice.reason);
        if let Reason::Soft { iterations, .. } = chosen.choice.reason {
            // The estimate was wrong, or the motion has changed: choose again soon.
            if info.iterations > 2 * iterations.max(4) {
                self.until_next = self.until_next.min(1);
            }
        }
        Ok(info)
    }

    fn forget(&mut self) {
        self.chosen = None;
        self.until_next = 0;
    }
}

fn make(
    method: Method,
    cg: CgParams,
    analysis: &mut Analysis,
    matrix: &BlockMatrix,
) -> Result<Box<dyn LinearSolver<Operator>>, SolveError> {
    let mut symbolic = || -> Result<Arc<Symbolic>, SolveError> { Ok(analysis.get(matrix.pattern())?.clone()) };
    Ok(match method {
        Method::Direct => Box::new(Direct::with_symbolic(symbolic()?)),
        Method::StaleFactor => {
            Box::new(StaleFactor::with_symbolic(StaleFactorParams { cg, ..StaleFactorParams::default() }, symbolic()?))
        }
        _ => Box::new(IncompleteCholesky::new(cg)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::testing::{assert_same_on_any_threads, assert_solves, bar, bar_with};

    fn choice_for(operator: &Operator) -> Choice {
        let mut auto = Auto::default();
        assert_solves(&mut auto, operator, 1e-3);
        auto.choice().unwrap()
    }

    #[test]
    fn inertia_is_the_part_of_the_mass() {
        assert!(inertia(&bar_with([8, 3, 3], 1e6, 0.45, f64::INFINITY, 0.4).matrix) < 1e-14);
        let soft = inertia(&bar([8, 3, 3], 1.0, 0.01, 0.4).matrix);
        // Consistent mass only: two fifths of the row sum are on the diagonal.
        assert!((soft - 2.5).abs() < 0.01, "{soft}");
        let [coarse, fine] = [4, 8].map(|n| inertia(&bar([5 * n, n, n], 1e6, 0.01, 0.0).matrix));
        assert!((coarse / fine - 4.0).abs() < 0.2, "{coarse} {fine}");
    }

    #[test]
    fn each_method_is_chosen_where_it_is_best() {
        let statics = choice_for(&bar_with([12, 4, 4], 1e6, 0.45, f64::INFINITY, 0.4));
        assert_eq!(statics.method, Method::Direct);
        assert!(statics.to_string().starts_with("direct: the matrix has no mass"), "{statics}");
        let soft = choice_for(&bar([12, 4, 4], 1e2, 0.01, 0.4));
        assert_eq!(soft.method, Method::IncompleteCholesky, "{soft}");
        let dynamics = choice_for(&bar([20, 4, 4], 1e6, 0.01, 0.4));
        assert_eq!(dynamics.method, Method::StaleFactor, "{dynamics}");
        assert!(dynamics.to_string().contains("block IC(0) would need about"), "{dynamics}");
        let mut auto = Auto::new(AutoParams { max_memory: 1 << 20, ..AutoParams::default() });
        assert_solves(&mut auto, &bar([20, 6, 6], 1e6, 0.01, 0.4), 1e-3);
        let limited = auto.choice().unwrap();
        assert_eq!(limited.method, Method::IncompleteCholesky);
        assert!(limited.to_string().contains("MB, but the limit is 1 MB"), "{limited}");
    }

    #[test]
    fn another_pattern_is_another_choice() {
        let mut auto = Auto::default();
        assert_solves(&mut auto, &bar([12, 4, 4], 1e6, 0.01, 0.4), 1e-4);
        assert_solves(&mut auto, &bar_with([6, 2, 2], 1e6, 0.45, f64::INFINITY, 0.4), 1e-6);
        assert_eq!(auto.choice().unwrap().method, Method::Direct);
    }

    #[test]
    fn the_solution_is_bitwise_the_same_on_one_and_on_four_threads() {
        assert_same_on_any_threads(&bar([30, 8, 8], 1e6, 0.01, 0.3), || Box::new(Auto::default()));
    }

    #[test]
    fn a_matrix_with_a_number_that_is_not_is_named() {
        let mut operator = bar([2, 1, 1], 1e4, 0.01, 0.0);
        operator.matrix.add_block(6, 6, &[[0.0; 3], [0.0; 3], [0.0, 0.0, f64::NAN]]);
        let error = Auto::default().set_matrix(&operator).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "the matrix", vertex: 6, axis: 2 });
    }
}
