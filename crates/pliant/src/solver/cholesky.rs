//! Sparse Cholesky factorisation `A = LLᵀ`, front by front.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par, Spec};
use rayon::prelude::*;
use thiserror::Error;

use super::scalar::Scalar;
use super::symbolic::{Front, Run, Subtree, Symbolic};
use crate::math::{Kernel, Simd, dispatch};
use crate::sparse::BlockMatrix;

/// A matrix is not positive definite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the matrix is not positive definite: elimination breaks down at coordinate {axis} of vertex {vertex}. In statics, is every \
     body held so that it cannot move or turn? With an exact tangent, a projected one helps"
)]
pub struct NotPositiveDefinite {
    /// The vertex at which elimination broke down.
    pub vertex: u32,
    /// The coordinate: 0, 1 or 2.
    pub axis: usize,
}

/// A Cholesky factor in numbers of type `T`, `f64` or `f32`. The memory of the factor is taken when it is made, and used again by
/// every factorisation.
#[derive(Debug)]
pub struct Cholesky<T> {
    symbolic: Arc<Symbolic>,
    /// The panels of the fronts, column by column.
    factor: Vec<T>,
    /// What fronts leave for their parents.
    updates: Vec<T>,
    /// The right-hand side in the order of elimination, and a front's part of it.
    ordered: Vec<T>,
    local: Vec<T>,
    /// Whether the last factorisation went well.
    is_factored: bool,
}

/// Columns and rows of large fronts that are worked on at a time: by one thread, whichever it is.
const BLOCK: usize = 192;

impl<T: Scalar> Cholesky<T> {
    /// Memory for factors of matrices that have been analysed.
    pub fn new(symbolic: Arc<Symbolic>) -> Self {
        let zeros = |len: usize| vec![T::from_f64(0.0); len];
        Self {
            factor: zeros(symbolic.factor_len),
            updates: zeros(symbolic.updates_len),
            ordered: zeros(3 * symbolic.order.len()),
            local: zeros(symbolic.info().largest_front),
            is_factored: false,
            symbolic,
        }
    }

    /// The analysis that this is based on.
    pub fn symbolic(&self) -> &Arc<Symbolic> {
        &self.symbolic
    }

    /// The numbers of the factor: the panels of the fronts, column by column.
    pub(super) fn panels(&self) -> &[T] {
        &self.factor
    }

    /// Factor a matrix. In single precision, a singular matrix cannot always be told from one that is only ill-conditioned.
    ///
    /// # Panics
    /// If the matrix is not of the pattern that was analysed.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<(), NotPositiveDefinite> {
        assert!(Arc::ptr_eq(matrix.pattern(), &self.symbolic.pattern), "a matrix of the pattern that was analysed");
        self.is_factored = false;
        let symbolic = &*self.symbolic;
        // Subtrees own consecutive parts of the factor and of the memory for updates.
        let mut jobs = Vec::with_capacity(symbolic.subtrees.len());
        let (mut factor, mut factor_start) = (&mut self.factor[..], 0);
        let (mut updates, mut updates_start) = (&mut self.updates[..], 0);
        for subtree in &symbolic.subtrees {
            let (_, rest) = factor.split_at_mut(subtree.panels.start - factor_start);
            let (panels, rest) = rest.split_at_mut(subtree.panels.len());
            (factor, factor_start) = (rest, subtree.panels.end);
            let (_, rest) = updates.split_at_mut(subtree.updates.start - updates_start);
            let (own, rest) = rest.split_at_mut(subtree.updates.len());
            (updates, updates_start) = (rest, subtree.updates.end);
            jobs.push((subtree, panels, own));
        }
        let run = |(subtree, panels, updates): (&Subtree, &mut [T], &mut [T])| {
            let mut scratch = scratch::<T>();
            for number in subtree.fronts.clone() {
                let front = &symbolic.fronts[number];
                let start = front.panel - subtree.panels.start;
                let panel = &mut panels[start..start + front.panel_len()];
                factor_front(symbolic, matrix, front, panel, updates, subtree.updates.start, &mut scratch)?;
            }
            Ok(())
        };
        if rayon::current_num_threads() == 1 {
            jobs.into_iter().try_for_each(run)?;
        } else {
            let results: Vec<Result<(), NotPositiveDefinite>> = jobs.into_par_iter().map(run).collect();
            results.into_iter().collect::<Result<(), _>>()?;
        }
        let mut scratch = scratch::<T>();
        for &number in &symbolic.top {
            let front = &symbolic.fronts[number];
            let panel = &mut self.factor[front.panel..front.panel + front.panel_len()];
            factor_front(symbolic, matrix, front, panel, &mut self.updates, 0, &mut scratch)?;
        }
        self.is_factored = true;
        Ok(())
    }

    /// `x = A⁻¹ b`, both in the order of the vertices.
    ///
    /// # Panics
    /// If the lengths are not three times the number of vertices, or the last factorisation did not go well.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        assert!(self.is_factored, "a factored matrix");
        let symbolic = &*self.symbolic;
        assert!(b.len() == 3 * symbolic.order.len() && x.len() == b.len());
        for (ordered, &vertex) in self.ordered.chunks_exact_mut(3).zip(&symbolic.order) {
            for i in 0..3 {
                ordered[i] = T::from_f64(b[3 * vertex as usize + i]);
            }
        }
        dispatch(Solve { symbolic, factor: &self.factor, x: &mut self.ordered, local: &mut self.local });
        for (ordered, &vertex) in self.ordered.chunks_exact(3).zip(&symbolic.order) {
            for i in 0..3 {
                x[3 * vertex as usize + i] = ordered[i].to_f64();
            }
        }
    }
}

fn scratch<T: Scalar>() -> MemBuffer {
    MemBuffer::new(cholesky_in_place_scratch::<T>(BLOCK, Par::Seq, Spec::default()))
}

/// Assemble a front, eliminate its pivots, and leave the update for its parent in `updates`, which begins at `base`.
fn factor_front<T: Scalar>(
    symbolic: &Symbolic,
    matrix: &BlockMatrix,
    front: &Front,
    panel: &mut [T],
    updates: &mut [T],
    base: usize,
    scratch: &mut MemBuffer,
) -> Result<(), NotPositiveDefinite> {
    let (height, width, below) = (front.height(), front.width(), front.below());
    panel.fill(T::from_f64(0.0));
    for entry in &symbolic.entries[front.entries.clone()] {
        let block = &matrix.values()[9 * entry.slot as usize..9 * entry.slot as usize + 9];
        for column in 0..3 {
            for row in 0..3 {
                let number = block[if entry.transposed { 3 * column + row } else { 3 * row + column }];
                panel[entry.place + column * height + row] = T::from_f64(number);
            }
        }
    }
    for &child in &front.children {
        let child = &symbolic.fronts[child];
        let update = &updates[child.update - base..child.update - base + child.below().pow(2)];
        add_update(child, update, front.pivots, true, panel, height, 0);
    }
    let broken_at = |pivot: usize| {
        let vertex = symbolic.order[front.first + pivot / 3];
        NotPositiveDefinite { vertex, axis: pivot % 3 }
    };
    eliminate(panel, height, width, scratch).map_err(broken_at)?;
    for pivot in 0..width {
        let vertex = symbolic.order[front.first + pivot / 3] as usize;
        let diagonal = matrix.values()[9 * symbolic.pattern.row(vertex).start + 4 * (pivot % 3)];
        let left = panel[pivot * height + pivot].to_f64().powi(2);
        if left <= T::LEAST_PIVOT * diagonal {
            return Err(broken_at(pivot));
        }
    }
    if below > 0 {
        let own = front.update - base..front.update - base + below * below;
        multiply(panel, height, width, &mut updates[own.clone()], below);
        for &child in &front.children {
            let child = &symbolic.fronts[child];
            if child.rows.is_empty() {
                continue;
            }
            let theirs = child.update - base..child.update - base + child.below().pow(2);
            let [own, theirs] =
                updates.get_disjoint_mut([own.clone(), theirs]).expect("updates have places of their own");
            add_update(child, theirs, front.pivots, false, own, below, front.pivots);
        }
    }
    Ok(())
}

/// Add the columns of a child's update that are pivots of its parent, or those that are not, to a matrix of which the first
/// `skipped` rows of the front are left out.
fn add_update<T: Scalar>(
    child: &Front,
    update: &[T],
    pivots: usize,
    to_pivots: bool,
    target: &mut [T],
    height: usize,
    skipped: usize,
) {
    let size = child.below();
    for (number, columns) in child.in_parent.iter().enumerate() {
        if ((columns.to as usize) < pivots) != to_pivots {
            continue;
        }
        let to = columns.to as usize - skipped;
        for k in 0..3 * columns.length as usize {
            let source = &update[(3 * columns.from as usize + k) * size..(3 * columns.from as usize + k + 1) * size];
            let target = &mut target[(3 * to + k) * height..(3 * to + k + 1) * height];
            // Only what is on and below the diagonal.
            add_run(columns, k, skipped, source, target);
            for rows in &child.in_parent[number + 1..] {
                add_run(rows, 0, skipped, source, target);
            }
        }
    }
}

#[inline(always)]
fn add_run<T: Scalar>(run: &Run, from: usize, skipped: usize, source: &[T], target: &mut [T]) {
    let length = 3 * run.length as usize - from;
    let source = &source[3 * run.from as usize + from..][..length];
    let target = &mut target[3 * (run.to as usize - skipped) + from..][..length];
    for (target, source) in target.iter_mut().zip(source) {
        *target += *source;
    }
}

/// Cholesky's elimination of the first `width` columns of a panel. On failure, the pivot.
///
/// In blocks of columns, and below them in blocks of rows that threads share: always the same blocks, so that the result does
/// not depend on the threads.
fn eliminate<T: Scalar>(panel: &mut [T], height: usize, width: usize, scratch: &mut MemBuffer) -> Result<(), usize> {
    let mut rest = panel;
    let mut start = 0;
    while start < width {
        let block = BLOCK.min(width - start);
        let (columns, right) = rest.split_at_mut(block * height);
        let columns = MatMut::from_column_major_slice_mut(columns, height, block);
        let (_, columns) = columns.split_at_row_mut(start);
        let (mut diagonal, mut below) = columns.split_at_row_mut(block);
        let stack = MemStack::new(scratch);
        let factored =
            cholesky_in_place(diagonal.as_mut(), LltRegularization::default(), Par::Seq, stack, Spec::default());
        if let Err(LltError::NonPositivePivot { index }) = factored {
            return Err(start + index);
        }
        let diagonal = diagonal.as_ref();
        each(row_blocks(below.as_mut()), |rows| {
            solve_lower_triangular_in_place(diagonal, rows.transpose_mut(), Par::Seq);
        });
        // What the block takes away from the columns to its right.
        let below = below.as_ref();
        let remaining = right.chunks_mut(BLOCK * height).take((width - start - block).div_ceil(BLOCK)).enumerate();
        each(remaining, |(number, columns)| {
            let count = columns.len() / height;
            let target = MatMut::from_column_major_slice_mut(columns, height, count);
            let (_, target) = target.split_at_row_mut(start + block + BLOCK * number);
            subtract_product(target, below.split_at_row(BLOCK * number).1, count);
        });
        start += block;
        rest = right;
    }
    Ok(())
}

fn row_blocks<T>(mut rest: MatMut<'_, T>) -> impl Iterator<Item = MatMut<'_, T>> {
    std::iter::from_fn(move || {
        let none = MatMut::from_column_major_slice_mut(&mut [], 0, 0);
        let whole = std::mem::replace(&mut rest, none);
        if whole.nrows() == 0 {
            return None;
        }
        let count = BLOCK.min(whole.nrows());
        let (block, below) = whole.split_at_row_mut(count);
        rest = below;
        Some(block)
    })
}

/// `update = −L₂₁L₂₁ᵀ`, its lower triangle.
fn multiply<T: Scalar>(panel: &[T], height: usize, width: usize, update: &mut [T], below: usize) {
    let rows = MatRef::from_column_major_slice(panel, height, width).split_at_row(width).1;
    each(update.chunks_mut(BLOCK * below).enumerate(), |(number, columns)| {
        columns.fill(T::from_f64(0.0));
        let count = columns.len() / below;
        let target = MatMut::from_column_major_slice_mut(columns, below, count);
        let (_, target) = target.split_at_row_mut(BLOCK * number);
        subtract_product(target, rows.split_at_row(BLOCK * number).1, count);
    });
}

/// `target − B B₁ᵀ`, with `B₁` the first `columns` rows of `B`, on and below the diagonal.
fn subtract_product<T: Scalar>(target: MatMut<'_, T>, b: MatRef<'_, T>, columns: usize) {
    let (top, bottom) = target.split_at_row_mut(columns);
    let (b_top, b_bottom) = b.split_at_row(columns);
    triangular::matmul(
        top,
        BlockStructure::TriangularLower,
        Accum::Add,
        b_top,
        BlockStructure::Rectangular,
        b_top.transpose(),
        BlockStructure::Rectangular,
        T::from_f64(-1.0),
        Par::Seq,
    );
    matmul(bottom, Accum::Add, b_bottom, b_top.transpose(), T::from_f64(-1.0), Par::Seq);
}

/// Do something with each piece, on all threads if there are several.
fn each<I: Iterator<Item: Send> + Send>(pieces: I, work: impl Fn(I::Item) + Send + Sync) {
    if rayon::current_num_threads() == 1 {
        pieces.for_each(work);
    } else {
        rayon::scope(|scope| {
            let work = &work;
            let mut pieces = pieces.peekable();
            while let Some(piece) = pieces.next() {
                if pieces.peek().is_some() {
                    scope.spawn(move |_| work(piece));
                } else {
                    work(piece);
                }
            }
        });
    }
}

/// `x = L⁻ᵀL⁻¹ x`, in the order of elimination.
struct Solve<'a, T> {
    symbolic: &'a Symbolic,
    factor: &'a [T],
    x: &'a mut [T],
    local: &'a mut [T],
}

impl<T: Scalar> Kernel for Solve<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for front in &self.symbolic.fronts {
            let (height, width) = (front.height(), front.width());
            let panel = &self.factor[front.panel..front.panel + front.panel_len()];
            let local = &mut self.local[..height];
            local[..width].copy_from_slice(&self.x[3 * front.first..3 * front.first + width]);
            local[width..].fill(T::from_f64(0.0));
            forward::<T, R>(panel, height, width, local);
            self.x[3 * front.first..3 * front.first + width].copy_from_slice(&local[..width]);
            for (&place, local) in front.rows.iter().zip(local[width..].chunks_exact(3)) {
                let x = &mut self.x[3 * place as usize..3 * place as usize + 3];
                for i in 0..3 {
                    x[i] += local[i];
                }
            }
        }
        for front in self.symbolic.fronts.iter().rev() {
            let (height, width) = (front.height(), front.width());
            let panel = &self.factor[front.panel..front.panel + front.panel_len()];
            let local = &mut self.local[..height];
            local[..width].copy_from_slice(&self.x[3 * front.first..3 * front.first + width]);
            for (&place, local) in front.rows.iter().zip(local[width..].chunks_exact_mut(3)) {
                local.copy_from_slice(&self.x[3 * place as usize..3 * place as usize + 3]);
            }
            backward::<T, R>(panel, height, width, local);
            self.x[3 * front.first..3 * front.first + width].copy_from_slice(&local[..width]);
        }
    }
}

/// Three columns of a panel from the diagonal on: the triangle of a vertex, and what is below.
#[inline(always)]
fn columns<T>(panel: &[T], height: usize, j: usize) -> [&[T]; 3] {
    [
        &panel[j * height + j..(j + 1) * height],
        &panel[(j + 1) * height + j..(j + 2) * height],
        &panel[(j + 2) * height + j..(j + 3) * height],
    ]
}

/// `L⁻¹` of a panel: the part of the pivots is solved for, and taken away from the rows below.
#[inline(always)]
fn forward<T: Scalar, R: Simd>(panel: &[T], height: usize, width: usize, x: &mut [T]) {
    for j in (0..width).step_by(3) {
        let [a, b, c] = columns(panel, height, j);
        let x = &mut x[j..height];
        let x0 = x[0] / a[0];
        let x1 = (x[1] - a[1] * x0) / b[1];
        let x2 = (x[2] - a[2] * x0 - b[2] * x1) / c[2];
        (x[0], x[1], x[2]) = (x0, x1, x2);
        let below = x[3..].iter_mut().zip(&a[3..]).zip(&b[3..]).zip(&c[3..]);
        for (((x, &a), &b), &c) in below {
            *x = T::multiply_add::<R>(-c, x2, T::multiply_add::<R>(-b, x1, T::multiply_add::<R>(-a, x0, *x)));
        }
    }
}

/// `L⁻ᵀ` of a panel: what the rows below say is taken away from the pivots, and these are solved for.
#[inline(always)]
fn backward<T: Scalar, R: Simd>(panel: &[T], height: usize, width: usize, x: &mut [T]) {
    /// Sums side by side, which the compiler puts into vector registers.
    const SUMS: usize = 16;
    for j in (0..width).step_by(3).rev() {
        let all = columns(panel, height, j);
        let x = &mut x[j..height];
        let mut sums = [[T::from_f64(0.0); SUMS]; 3];
        let (chunks, tail) = x[3..].as_chunks::<SUMS>();
        for (k, column) in all.iter().enumerate() {
            let (columns, _) = column[3..].as_chunks::<SUMS>();
            for (x, column) in chunks.iter().zip(columns) {
                for s in 0..SUMS {
                    sums[k][s] = T::multiply_add::<R>(column[s], x[s], sums[k][s]);
                }
            }
        }
        let mut z = [T::from_f64(0.0); 3];
        for k in 0..3 {
            let column = &all[k][height - j - tail.len()..];
            for (&x, &a) in tail.iter().zip(column) {
                z[k] += a * x;
            }
            for s in 0..SUMS {
                z[k] += sums[k][s];
            }
        }
        let [a, b, c] = all;
        let x2 = (x[2] - z[2]) / c[2];
        let x1 = (x[1] - z[1] - b[2] * x2) / b[1];
        let x0 = (x[0] - z[0] - a[1] * x1 - a[2] * x2) / a[0];
        (x[0], x[1], x[2]) = (x0, x1, x2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::{Definiteness, Elastic, Force, bind_all};
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::mesh::{Cells, generate};
    use crate::sparse::BlockPattern;

    /// A matrix like those of elasticity on a graph: for each edge a random positive semi-definite coupling, and a little mass.
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

    /// A box of cells with all diagonals, its vertices numbered at random, and a few vertices on their own.
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
        assert!(product.iter().all(|number| number.is_finite()), "`max` passes over what is not a number");
        product.iter().zip(b).fold(0.0, |most, (p, b)| f64::max(most, (p - b).abs()))
    }

    fn solve<T: Scalar>(matrix: &BlockMatrix) -> (Vec<f64>, f64) {
        let symbolic = Arc::new(Symbolic::new(matrix.pattern().clone()).unwrap());
        let mut cholesky = Cholesky::<T>::new(symbolic);
        // Twice, as memory is used again.
        cholesky.factor(matrix).unwrap();
        cholesky.factor(matrix).unwrap();
        let n = 3 * matrix.pattern().vertex_count();
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
    fn a_body_that_is_not_held_is_an_error_that_names_a_vertex() {
        for cells in [Cells::Tet5, Cells::Tet6, Cells::Hex] {
            for n in [1, 2, 5, 8] {
                let mesh = generate::block([1.0, 0.7, 0.6], [2 * n, n, n], cells).unwrap();
                let law = AnyLaw::new("linear", YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap();
                let mut elastic = Elastic::uniform(&mesh, law);
                let mut stiffness = BlockMatrix::zero(bind_all(mesh.vertex_count(), &mut [&mut elastic]));
                let rest = vec![0.0; 3 * mesh.vertex_count()];
                elastic.add_force_and_stiffness(&rest, Definiteness::Exact, &mut rest.clone(), &mut stiffness);
                let symbolic = Arc::new(Symbolic::new(stiffness.pattern().clone()).unwrap());
                let error = Cholesky::<f64>::new(symbolic.clone()).factor(&stiffness).unwrap_err();
                assert!((error.vertex as usize) < mesh.vertex_count() && error.axis < 3);
                assert!(error.to_string().contains("elimination breaks down at coordinate"));
                // Held by springs at one end, it is a matrix like any other.
                let low = mesh.vertices().iter().fold(f64::INFINITY, |low, x| low.min(x.x));
                let held = (0..mesh.vertex_count()).filter(|&v| mesh.vertices()[v].x < low + 1e-6);
                for vertex in held.map(|v| v as u32) {
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
        // Of order n^(4/3) numbers and n² operations, pinned so that a worse ordering is noticed.
        assert!(info.fill < 6_000_000 && info.operations < 5e9, "{info:?}");
    }
}
