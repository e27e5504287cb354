//! Multifrontal factorization `A = L S Lᵀ` with signs `S` known in advance: all positive for Cholesky.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par, Spec};

use super::scalar::Scalar;
use super::substitution::substitute;
use super::symbolic::{Front, Group, Run, Symbolic};
use super::trapezoid::{BLOCK, Trapezoid};
use crate::sparse::BlockMatrix;

/// Factor with all memory for its computation and use.
#[derive(Debug, Clone)]
pub(super) struct Factor<T> {
    symbolic: Arc<Symbolic>,
    /// Panels of the fronts. Until these are computed, their memory contains updates for the parents.
    numbers: Vec<T>,
    /// Parts of a right-hand side that belong to each front.
    vectors: Vec<T>,
    /// True if the last factorization succeeded.
    is_factored: bool,
}

/// Location of a pivot that has the wrong sign or is too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Breakdown {
    pub vertex: u32,
    pub axis: usize,
    pub is_negative: bool,
}

impl<T: Scalar> Factor<T> {
    pub fn new(symbolic: Arc<Symbolic>) -> Self {
        let zeros = |len: usize| vec![T::from_f64(0.0); len];
        Self {
            numbers: zeros(symbolic.numbers_len),
            vectors: zeros(symbolic.vectors_len),
            is_factored: false,
            symbolic,
        }
    }

    pub fn symbolic(&self) -> &Arc<Symbolic> {
        &self.symbolic
    }

    pub fn panels(&self) -> &[T] {
        &self.numbers
    }

    /// Factorizes a matrix.
    ///
    /// # Panics
    /// If the matrix does not have the analyzed pattern.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<(), Breakdown> {
        /// Number of operations below which other threads do not pay off.
        const WORTH_THREADS: f64 = 1e6;
        assert!(Arc::ptr_eq(matrix.pattern(), self.symbolic.pattern()), "the matrix must have the analyzed pattern");
        self.is_factored = false;
        let symbolic = &*self.symbolic;
        let numbers = &mut self.numbers[..];
        on_threads(symbolic.info().operations > WORTH_THREADS, || {
            let (panels, updates) = numbers.split_at_mut(symbolic.top_panels);
            factor_groups(symbolic, matrix, &symbolic.groups, panels, updates, symbolic.top_panels)?;
            for &number in &symbolic.top {
                let front = &symbolic.fronts[number];
                let (panels, later) = numbers.split_at_mut(front.panel_end());
                let memory = Memory { later, start: front.panel_end(), rest: &mut [], rest_start: usize::MAX };
                factor_front(symbolic, matrix, front, &mut panels[front.panel..], memory)?;
            }
            Ok(())
        })?;
        self.is_factored = true;
        Ok(())
    }

    /// Computes `x = A⁻¹ b`, both in the order of the vertices.
    ///
    /// # Panics
    /// If the lengths are not three times the number of vertices, or the last factorization failed.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        assert!(self.is_factored, "the last factorization must have succeeded");
        assert!(b.len() == 3 * self.symbolic.order.len() && x.len() == b.len());
        substitute(&self.symbolic, &self.numbers, &mut self.vectors, b, x);
    }
}

/// Enters the thread pool once, instead of wherever work is shared.
pub(super) fn on_threads<R: Send>(worth_it: bool, work: impl FnOnce() -> R + Send) -> R {
    if worth_it && rayon::current_num_threads() > 1 { rayon::scope(|_| work()) } else { work() }
}

/// Calls two functions, in parallel if there are several threads.
pub(super) fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    if rayon::current_num_threads() == 1 { (a(), b()) } else { rayon::join(a, b) }
}

/// Factorizes all fronts of some groups. `panels` begins with those of the first group, `updates` at `base`.
fn factor_groups<T: Scalar>(
    symbolic: &Symbolic,
    matrix: &BlockMatrix,
    groups: &[Group],
    panels: &mut [T],
    updates: &mut [T],
    base: usize,
) -> Result<(), Breakdown> {
    match groups {
        [] => Ok(()),
        [group] => group.fronts.iter().try_for_each(|&number| {
            let front = &symbolic.fronts[number];
            let (made, later) = panels.split_at_mut(front.panel_end() - group.panels.start);
            let panel = &mut made[front.panel - group.panels.start..];
            let memory = Memory { later, start: front.panel_end(), rest: updates, rest_start: base };
            factor_front(symbolic, matrix, front, panel, memory)
        }),
        _ => {
            let (left, right) = groups.split_at(groups.len() / 2);
            let (left_panels, panels) = panels.split_at_mut(right[0].panels.start - left[0].panels.start);
            let middle = right[0].updates.start;
            let (left_updates, updates) = updates.split_at_mut(middle - base);
            let (left, right) = both(
                || factor_groups(symbolic, matrix, left, left_panels, left_updates, base),
                || factor_groups(symbolic, matrix, right, panels, updates, middle),
            );
            left.and(right)
        }
    }
}

/// Memory of updates: beyond the current panel, and in a part of the rest.
struct Memory<'a, T> {
    later: &'a mut [T],
    start: usize,
    rest: &'a mut [T],
    rest_start: usize,
}

impl<T> Memory<'_, T> {
    /// Returns one part for writing and all others for reading.
    fn split(&mut self, at: usize, length: usize) -> (&mut [T], Pieces<'_, T>) {
        let (whole, start, other) = if at < self.rest_start {
            (&mut *self.later, self.start, (self.rest_start, &*self.rest))
        } else {
            (&mut *self.rest, self.rest_start, (self.start, &*self.later))
        };
        let (before, whole) = whole.split_at_mut(at - start);
        let (part, after) = whole.split_at_mut(length);
        (part, Pieces([(start, before), (at + length, after), other]))
    }
}

/// Parts of the memory with their offsets.
struct Pieces<'a, T>([(usize, &'a [T]); 3]);

impl<'a, T> Pieces<'a, T> {
    fn from(&self, at: usize) -> &'a [T] {
        let holds = |(start, piece): &&(usize, &[T])| *start <= at && at < *start + piece.len();
        let (start, piece) = self.0.iter().find(holds).expect("every update is in one of the pieces");
        &piece[at - start..]
    }
}

/// Assembles a front, eliminates its pivots and stores the update for its parent.
fn factor_front<T: Scalar>(
    symbolic: &Symbolic,
    matrix: &BlockMatrix,
    front: &Front,
    panel: &mut [T],
    mut memory: Memory<'_, T>,
) -> Result<(), Breakdown> {
    let shape = front.panel_shape();
    let children = || front.children.iter().map(|&child| &symbolic.fronts[child]).filter(|child| child.below() > 0);
    let (_, updates) = memory.split(front.panel_end(), 0);
    each_block(panel, shape, 0..shape.block_count(), &|block, columns| {
        columns.fill(T::from_f64(0.0));
        add_entries(symbolic, matrix, front, block, columns);
        for child in children() {
            add_update(child, updates.from(child.update), columns, shape, block, 0);
        }
    });
    let broken_at = |pivot: usize| {
        let vertex = symbolic.order[front.first + pivot / 3];
        Breakdown { vertex, axis: pivot % 3, is_negative: pivot >= 3 * front.positive }
    };
    eliminate(panel, shape, 3 * front.positive).map_err(broken_at)?;
    for pivot in 0..front.width() {
        let vertex = symbolic.order[front.first + pivot / 3] as usize;
        let diagonal = matrix.values()[9 * symbolic.pattern().row(vertex).start + 4 * (pivot % 3)];
        let left = panel[shape.column(pivot) + pivot % BLOCK].to_f64().powi(2);
        if left <= T::MIN_PIVOT * diagonal.abs() {
            return Err(broken_at(pivot));
        }
    }
    if front.below() > 0 {
        let (panel, shape) = (&*panel, front.update_shape());
        let (own, updates) = memory.split(front.update, shape.len());
        each_block(own, shape, 0..shape.block_count(), &|block, columns| {
            multiply(front, panel, block, columns);
            for child in children() {
                add_update(child, updates.from(child.update), columns, shape, block, front.pivots);
            }
        });
    }
    Ok(())
}

/// Adds the blocks of the matrix to a block of columns of a front's panel.
fn add_entries<T: Scalar>(symbolic: &Symbolic, matrix: &BlockMatrix, front: &Front, block: usize, columns: &mut [T]) {
    const VERTICES: usize = BLOCK / 3;
    let stride = front.panel_shape().stride(block);
    let entries = &symbolic.entries[front.entries.clone()];
    let start = entries.partition_point(|entry| (entry.column as usize) < VERTICES * block);
    let end = entries.partition_point(|entry| (entry.column as usize) < VERTICES * (block + 1));
    for entry in &entries[start..end] {
        let numbers = &matrix.values()[9 * entry.slot as usize..9 * entry.slot as usize + 9];
        let (row, column) = (entry.row as usize - VERTICES * block, entry.column as usize - VERTICES * block);
        for j in 0..3 {
            let target = &mut columns[(3 * column + j) * stride + 3 * row..][..3];
            for i in 0..3 {
                target[i] = T::from_f64(numbers[if entry.transposed { 3 * j + i } else { 3 * i + j }]);
            }
        }
    }
}

/// Adds a child's update to a block of columns of a matrix that omits the first `skipped` vertices of the front.
fn add_update<T: Scalar>(
    child: &Front,
    update: &[T],
    columns: &mut [T],
    shape: Trapezoid,
    block: usize,
    skipped: usize,
) {
    let source_shape = child.update_shape();
    let stride = shape.stride(block);
    let first = skipped + BLOCK / 3 * block;
    let end = first + shape.width(block) / 3;
    for (number, run) in child.in_parent.iter().enumerate() {
        let (to, run_end) = (run.to as usize, (run.to + run.length) as usize);
        if to >= end {
            break;
        }
        for vertex in to.max(first)..run_end.min(end) {
            for k in 0..3 {
                let column = 3 * (run.from as usize + vertex - to) + k;
                let above = column - column % BLOCK;
                let source = &update[source_shape.column(column)..][..source_shape.rows - above];
                let target = &mut columns[(3 * (vertex - first) + k) * stride..][..stride];
                // Only on and below the diagonal.
                add_run(run, 3 * (vertex - to) + k, source, above, target, 3 * first);
                for run in &child.in_parent[number + 1..] {
                    add_run(run, 0, source, above, target, 3 * first);
                }
            }
        }
    }
}

/// Adds rows of a column, except for the first `skipped` ones of the run. Rows above the columns are not stored.
#[inline(always)]
fn add_run<T: Scalar>(
    run: &Run,
    skipped: usize,
    source: &[T],
    above_source: usize,
    target: &mut [T],
    above_target: usize,
) {
    let length = 3 * run.length as usize - skipped;
    let source = &source[3 * run.from as usize + skipped - above_source..][..length];
    let target = &mut target[3 * run.to as usize + skipped - above_target..][..length];
    for (target, source) in target.iter_mut().zip(source) {
        *target += *source;
    }
}

/// Eliminates the columns of a panel, whose first `positive` columns have positive pivots. Returns the index of the
/// pivot on failure.
///
/// Works in blocks of columns, and below them in blocks of rows that threads share. The blocks are always the same, so
/// that the result does not depend on the number of threads.
fn eliminate<T: Scalar>(panel: &mut [T], shape: Trapezoid, positive: usize) -> Result<(), usize> {
    let mut rest = panel;
    for block in 0..shape.block_count() {
        let (width, height, stride) = (shape.width(block), shape.height(block), shape.stride(block));
        let (numbers, right) = rest.split_at_mut(width * stride);
        let positive = positive.saturating_sub(BLOCK * block).min(width);
        let columns = MatMut::from_column_major_slice_with_stride_mut(numbers, height, width, stride);
        let (mut first, second) = columns.split_at_col_mut(positive);
        eliminate_columns(first.as_mut(), false).map_err(|pivot| BLOCK * block + pivot)?;
        if positive < width {
            let (_, mut second) = second.split_at_row_mut(positive);
            if positive > 0 {
                let (_, below) = first.as_ref().split_at_row(positive);
                subtract_product(second.as_mut(), Accum::Add, below, positive);
            }
            eliminate_columns(second, true).map_err(|pivot| BLOCK * block + positive + pivot)?;
        }
        // Update of the columns to the right of the block.
        let columns = MatRef::from_column_major_slice_with_stride(numbers, height, width, stride);
        each_block(right, shape, block + 1..shape.block_count(), &|other, numbers| {
            let (_, rows) = columns.split_at_row(BLOCK * (other - block));
            subtract_product(block_of(numbers, shape, other), Accum::Add, rows, positive);
        });
        rest = right;
    }
    Ok(())
}

/// Eliminates columns whose pivots have the same sign. With negative ones, `−A` is eliminated, and the sign of `L` is
/// reversed below the pivots: `A₂₁ = −L₂₁L₁₁ᵀ`.
fn eliminate_columns<T: Scalar>(columns: MatMut<'_, T>, is_negative: bool) -> Result<(), usize> {
    /// Scratch memory that faer requires for a block, checked by faer.
    const SCRATCH: usize = 8 * BLOCK + 256;
    let width = columns.ncols();
    if width == 0 {
        return Ok(());
    }
    let (mut pivots, below) = columns.split_at_row_mut(width);
    if is_negative {
        negate(pivots.as_mut());
    }
    let mut scratch = [MaybeUninit::<u8>::uninit(); SCRATCH];
    let stack = MemStack::new(&mut scratch);
    let factored = cholesky_in_place(pivots.as_mut(), LltRegularization::default(), Par::Seq, stack, Spec::default());
    if let Err(LltError::NonPositivePivot { index }) = factored {
        return Err(index);
    }
    each_rows(below, &|mut rows| {
        if is_negative {
            negate(rows.as_mut());
        }
        solve_lower_triangular_in_place(pivots.as_ref(), rows.transpose_mut(), Par::Seq);
    });
    Ok(())
}

fn negate<T: Scalar>(matrix: MatMut<'_, T>) {
    for column in matrix.col_iter_mut() {
        column.iter_mut().for_each(|number| *number = -*number);
    }
}

fn block_of<T>(numbers: &mut [T], shape: Trapezoid, block: usize) -> MatMut<'_, T> {
    let (width, height, stride) = (shape.width(block), shape.height(block), shape.stride(block));
    MatMut::from_column_major_slice_with_stride_mut(numbers, height, width, stride)
}

/// Computes a block of columns of `−L₂₁SL₂₁ᵀ`, on and below the diagonal.
fn multiply<T: Scalar>(front: &Front, panel: &[T], block: usize, columns: &mut [T]) {
    let shape = front.panel_shape();
    for pivots in 0..shape.block_count() {
        let (width, height, stride) = (shape.width(pivots), shape.height(pivots), shape.stride(pivots));
        let numbers = shape.of_block(panel, pivots);
        let rows = MatRef::from_column_major_slice_with_stride(numbers, height, width, stride);
        let (_, rows) = rows.split_at_row(shape.columns - BLOCK * pivots + BLOCK * block);
        let positive = (3 * front.positive).saturating_sub(BLOCK * pivots).min(width);
        let add = if pivots == 0 { Accum::Replace } else { Accum::Add };
        subtract_product(block_of(columns, front.update_shape(), block), add, rows, positive);
    }
}

/// Subtracts `B S B₁ᵀ` from a matrix, or replaces it, on and below the diagonal. `B₁` are the first rows of `B`, as
/// many as the matrix has columns. The first `positive` columns of `B` have a positive sign.
fn subtract_product<T: Scalar>(mut target: MatMut<'_, T>, mut add: Accum, b: MatRef<'_, T>, positive: usize) {
    let (with_positive, with_negative) = b.split_at_col(positive);
    for (b, factor) in [(with_positive, -1.0), (with_negative, 1.0)] {
        if b.ncols() == 0 {
            continue;
        }
        let factor = T::from_f64(factor);
        let columns = target.ncols();
        let (top, bottom) = target.as_mut().split_at_row_mut(columns);
        let (b_top, b_bottom) = b.split_at_row(columns);
        let full = BlockStructure::Rectangular;
        triangular::matmul(
            top,
            BlockStructure::TriangularLower,
            add,
            b_top,
            full,
            b_top.transpose(),
            full,
            factor,
            Par::Seq,
        );
        matmul(bottom, add, b_bottom, b_top.transpose(), factor, Par::Seq);
        add = Accum::Add;
    }
}

/// Processes each block of columns, in parallel if there are several threads.
fn each_block<T: Send>(
    numbers: &mut [T],
    shape: Trapezoid,
    blocks: Range<usize>,
    work: &(impl Fn(usize, &mut [T]) + Sync),
) {
    match blocks.len() {
        0 => {}
        1 => work(blocks.start, numbers),
        count => {
            let middle = blocks.start + count / 2;
            let (left, right) = numbers.split_at_mut(shape.start(middle) - shape.start(blocks.start));
            both(
                || each_block(left, shape, blocks.start..middle, work),
                || each_block(right, shape, middle..blocks.end, work),
            );
        }
    }
}

/// Processes each block of rows, in parallel if there are several threads.
fn each_rows<T: Send + Sync>(rows: MatMut<'_, T>, work: &(impl Fn(MatMut<'_, T>) + Sync)) {
    let blocks = rows.nrows().div_ceil(BLOCK);
    if blocks > 1 {
        let (above, below) = rows.split_at_row_mut(blocks / 2 * BLOCK);
        both(|| each_rows(above, work), || each_rows(below, work));
    } else if blocks == 1 {
        work(rows);
    }
}
