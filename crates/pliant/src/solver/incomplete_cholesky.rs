//! Conjugate gradients, preconditioned with an incomplete factorization `A ≈ UᵀU`, where `U` has the sparsity pattern
//! of `A` \[MeijerinkVanDerVorst1977\]. It takes little memory and fewer iterations than block Jacobi.

use std::sync::Arc;

use super::block_jacobi::{inverse_factor, not_positive};
use super::union::Union;
use super::{
    CgParams, ConjugateGradients, LinearSolver, Method, Operator, Preconditioner, SolveError, SolveInfo, Stamp,
};
use crate::math::{Kernel, Simd, dispatch, fused};
use crate::sparse::{BlockMatrix, BlockPattern};

/// Conjugate gradient solver, preconditioned with an incomplete Cholesky factorization of 3×3 blocks.
#[derive(Debug, Clone, Default)]
pub struct IncompleteCholesky {
    union: Union,
    cg: ConjugateGradients,
    factor: Option<Factor>,
    factorizations: usize,
    stamp: Option<Stamp>,
}

/// Incomplete factor in single precision.
#[derive(Debug, Clone)]
struct Factor {
    pattern: Arc<BlockPattern>,
    /// Updates of the elimination of each row, and the start of each row's updates.
    updates: Vec<Update>,
    starts: Vec<usize>,
    /// Matrix, overwritten by the factor.
    work: Vec<[f64; 9]>,
    /// Blocks of `U` above the diagonal, by slot.
    blocks: Vec<[f32; 9]>,
    /// Inverses of the diagonal blocks of `Uᵀ`, in row-major order.
    diagonal: Vec<[f32; 9]>,
    /// Solution vector.
    x: Vec<[f32; 3]>,
}

/// Slots of the update `target − leftᵀ right`.
#[derive(Debug, Clone, Copy)]
struct Update {
    left: u32,
    right: u32,
    target: u32,
}

/// Successive fractions by which the diagonal is enlarged when the factorization breaks down \[Manteuffel1980\].
/// Doubling the diagonal suffices for most matrices. A diagonal that is not positive always fails.
const SHIFTS: [f64; 9] = [0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 10.0];

impl IncompleteCholesky {
    /// Creates a solver with these stopping criteria.
    pub fn new(params: CgParams) -> Self {
        Self { cg: ConjugateGradients::new(params), ..Self::default() }
    }
}

impl LinearSolver<Operator> for IncompleteCholesky {
    fn set_matrix(&mut self, operator: &Operator) -> Result<(), SolveError> {
        let matrix = self.union.of(operator);
        let pattern = matrix.pattern();
        let factor = match &mut self.factor {
            Some(factor) if Arc::ptr_eq(&factor.pattern, pattern) => factor,
            other => other.insert(Factor::new(pattern)),
        };
        self.stamp = None;
        let mut broken = None;
        for shift in SHIFTS {
            self.factorizations += 1;
            match dispatch(Eliminate { factor, matrix, shift }) {
                Ok(()) => {
                    self.stamp = Some(Stamp::new());
                    return Ok(());
                }
                Err((vertex, axis)) => broken = broken.or(Some(not_positive(matrix, vertex, axis))),
            }
            if matches!(broken, Some(SolveError::NotFinite { .. })) {
                break;
            }
        }
        Err(broken.expect("the factorization broke down"))
    }

    fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    fn solve(&mut self, operator: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        let factor = self.factor.as_mut().expect("a matrix has been set");
        let info = self.cg.solve(operator, factor, b, x)?;
        Ok(SolveInfo {
            method: Method::IncompleteCholesky,
            iterations: info.iterations,
            factorizations: std::mem::take(&mut self.factorizations),
            analyses: 0,
            reason: None,
            residual: info.residual,
            fill: 9 * factor.blocks.len(),
            memory: self.cg.memory() + factor.memory(),
        })
    }

    fn forget(&mut self) {
        self.union = Union::default();
        self.factorizations = 0;
        self.stamp = None;
    }
}

impl Factor {
    fn new(pattern: &Arc<BlockPattern>) -> Self {
        let mut updates = Vec::new();
        let mut starts = vec![0];
        for row in 0..pattern.node_count() {
            let slots = pattern.row(row);
            for left in slots.start + 1..slots.end {
                let to = pattern.columns()[left];
                // Both rows ascend: each search resumes where the last one ended.
                let mut targets = pattern.row(to as usize);
                for right in left..slots.end {
                    let column = pattern.columns()[right];
                    let mut rest = targets.clone();
                    if let Some(target) = rest.find(|&slot| pattern.columns()[slot] >= column) {
                        targets.start = target;
                        if pattern.columns()[target] == column {
                            updates.push(Update { left: left as u32, right: right as u32, target: target as u32 });
                        }
                    } else {
                        break;
                    }
                }
            }
            starts.push(updates.len());
        }
        updates.shrink_to_fit();
        Self {
            updates,
            starts,
            work: vec![[0.0; 9]; pattern.slot_count()],
            blocks: vec![[0.0; 9]; pattern.slot_count()],
            diagonal: vec![[0.0; 9]; pattern.node_count()],
            x: vec![[0.0; 3]; pattern.node_count()],
            pattern: pattern.clone(),
        }
    }

    fn memory(&self) -> usize {
        size_of_val(&*self.updates)
            + size_of_val(&*self.starts)
            + size_of_val(&*self.work)
            + size_of_val(&*self.blocks)
            + size_of_val(&*self.diagonal)
            + size_of_val(&*self.x)
    }
}

/// Factorization of a matrix with an enlarged diagonal. Returns the vertex and the axis if it breaks down.
struct Eliminate<'a> {
    factor: &'a mut Factor,
    matrix: &'a BlockMatrix,
    shift: f64,
}

impl Kernel for Eliminate<'_> {
    type Output = Result<(), (usize, usize)>;

    #[inline(always)]
    fn run<R: Simd>(self) -> Self::Output {
        let Factor { pattern, updates, starts, work, blocks, diagonal, .. } = self.factor;
        work.as_flattened_mut().copy_from_slice(self.matrix.values());
        for row in 0..pattern.node_count() {
            let slots = pattern.row(row);
            let mut own = work[slots.start];
            for k in 0..3 {
                own[4 * k] += self.shift * self.matrix.values()[9 * slots.start + 4 * k];
            }
            let inverse = inverse_factor(&own).map_err(|axis| (row, axis))?;
            diagonal[row] = inverse.map(|number| number as f32);
            for slot in slots.start + 1..slots.end {
                let block = work[slot];
                let mut solved = [0.0; 9];
                for i in 0..3 {
                    for k in 0..=i {
                        for j in 0..3 {
                            solved[3 * i + j] = fused::<R>(inverse[3 * i + k], block[3 * k + j], solved[3 * i + j]);
                        }
                    }
                }
                work[slot] = solved;
                for entry in 0..9 {
                    blocks[slot][entry] = solved[entry] as f32;
                }
            }
            for update in &updates[starts[row]..starts[row + 1]] {
                let (left, right) = (work[update.left as usize], work[update.right as usize]);
                let target = &mut work[update.target as usize];
                for k in 0..3 {
                    for i in 0..3 {
                        for j in 0..3 {
                            target[3 * i + j] = fused::<R>(-left[3 * k + i], right[3 * k + j], target[3 * i + j]);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Preconditioner for Factor {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        dispatch(Sweeps { factor: self, r, z });
    }
}

/// Triangular solves `z = U⁻¹U⁻ᵀ r`.
struct Sweeps<'a> {
    factor: &'a mut Factor,
    r: &'a [f64],
    z: &'a mut [f64],
}

impl Kernel for Sweeps<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let Factor { pattern, blocks, diagonal, x, .. } = self.factor;
        let ((r, _), (z, _)) = (self.r.as_chunks::<3>(), self.z.as_chunks_mut::<3>());
        let n = x.len();
        for (x, r) in x.iter_mut().zip(r) {
            *x = r.map(|r| r as f32);
        }
        for row in 0..n {
            let slots = pattern.row(row).start + 1..pattern.row(row).end;
            let (d, [a, b, c]) = (&diagonal[row], x[row]);
            let own = [d[0] * a, d[3] * a + d[4] * b, d[6] * a + d[7] * b + d[8] * c];
            x[row] = own;
            for (block, &column) in blocks[slots.clone()].iter().zip(&pattern.columns()[slots]) {
                let x = &mut x[column as usize];
                for k in 0..3 {
                    x[k] -= block[k] * own[0] + block[3 + k] * own[1] + block[6 + k] * own[2];
                }
            }
        }
        for row in (0..n).rev() {
            let slots = pattern.row(row).start + 1..pattern.row(row).end;
            let mut own = x[row];
            for (block, &column) in blocks[slots.clone()].iter().zip(&pattern.columns()[slots]) {
                let x = x[column as usize];
                for k in 0..3 {
                    own[k] -= block[3 * k] * x[0] + block[3 * k + 1] * x[1] + block[3 * k + 2] * x[2];
                }
            }
            let (d, [a, b, c]) = (&diagonal[row], own);
            x[row] = [d[0] * a + d[3] * b + d[6] * c, d[4] * b + d[7] * c, d[8] * c];
            z[row] = x[row].map(f64::from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::testing::{assert_same_on_any_threads, assert_solves, bar};
    use crate::solver::{BlockJacobi, NotPositiveDefinite};

    #[test]
    fn it_needs_half_the_iterations_of_block_jacobi() {
        let operator = bar([12, 4, 4], 1e6, 0.01, 0.5);
        let info = assert_solves(&mut IncompleteCholesky::default(), &operator, 1e-4);
        let jacobi = assert_solves(&mut BlockJacobi::default(), &operator, 1e-4);
        assert!(2 * info.iterations < jacobi.iterations, "{info:?} {jacobi:?}");
        assert!(info.method == Method::IncompleteCholesky && info.factorizations == 1, "{info:?}");
    }

    #[test]
    fn a_matrix_that_elimination_would_fill_is_solved_exactly_where_it_would_not() {
        // A chain of vertices has no fill-in: the factor is complete.
        let pattern = BlockPattern::from_cliques(50, (0..49).map(|i| &PAIRS[i][..]));
        let mut matrix = BlockMatrix::zero(Arc::new(pattern));
        for [a, b] in PAIRS {
            let block = [[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 1.5]];
            matrix.add_block(a, a, &block);
            matrix.add_block(b, b, &block);
            matrix.add_block(a, b, &block.map(|row| row.map(|x| -x)));
        }
        matrix.add_block(0, 0, &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        let info = assert_solves(&mut IncompleteCholesky::default(), &Operator::new(matrix), 1e-3);
        assert!(info.iterations <= 3, "{info:?}");
    }

    const PAIRS: [[u32; 2]; 49] = {
        let mut pairs = [[0; 2]; 49];
        let mut i = 0;
        while i < 49 {
            pairs[i] = [i as u32, i as u32 + 1];
            i += 1;
        }
        pairs
    };

    #[test]
    fn where_elimination_breaks_down_the_diagonal_is_enlarged() {
        // Nearly incompressible statics: positive definite, but not an M-matrix.
        let operator = crate::solver::testing::bar_with([10, 3, 3], 1e6, 0.499, f64::INFINITY, 0.8);
        let info = assert_solves(&mut IncompleteCholesky::default(), &operator, 1e-1);
        assert!(info.factorizations > 1, "{info:?}");
    }

    #[test]
    fn the_solution_is_bitwise_the_same_on_one_and_on_four_threads() {
        assert_same_on_any_threads(&bar([40, 10, 10], 1e5, 0.01, 0.3), || Box::new(IncompleteCholesky::default()));
    }

    #[test]
    fn an_indefinite_diagonal_and_a_number_that_is_not_are_named() {
        let mut operator = bar([2, 1, 1], 1e4, 0.01, 0.0);
        operator.matrix.add_block(5, 5, &[[0.0; 3], [0.0, -1e9, 0.0], [0.0; 3]]);
        let error = IncompleteCholesky::default().set_matrix(&operator).unwrap_err();
        assert_eq!(error, NotPositiveDefinite { vertex: 5, axis: 1 }.into());
        operator.matrix.add_block(6, 6, &[[0.0; 3], [0.0; 3], [0.0, 0.0, f64::NAN]]);
        let error = IncompleteCholesky::default().set_matrix(&operator).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "the matrix", vertex: 6, axis: 2 });
    }
}
