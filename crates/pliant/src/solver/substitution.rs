//! Forward and backward substitution for `L S Lᵀ x = b`, front by front: from children to parents, then back.
//!
//! Every front has its own vector with the values of its pivots and of the rows below. The sums of the rows below are
//! added to the parent's vector in the order of the children, so that the result does not depend on the number of
//! threads.

use super::multifrontal::{both, on_threads};
use super::scalar::{Scalar, multiply_add};
use super::symbolic::{Front, Group, Symbolic};
use super::trapezoid::{BLOCK, Trapezoid};
use crate::math::{Kernel, Simd, dispatch};

/// Size below the triangle above which threads share a block of columns, in pieces of `ROWS` rows or `COLUMNS` columns.
const SHARED: usize = 1 << 16;
const ROWS: usize = 768;
const COLUMNS: usize = 24;

/// Computes `x = A⁻¹ b`, with memory for the vectors of the fronts.
pub(super) fn substitute<T: Scalar>(symbolic: &Symbolic, panels: &[T], vectors: &mut [T], b: &[f64], x: &mut [f64]) {
    /// Size of a factor below which other threads do not pay off.
    const WORTH_THREADS: usize = 200_000;
    let system = System { symbolic, panels };
    on_threads(symbolic.info().fill > WORTH_THREADS, || {
        let (_, of_groups) = vectors.split_at_mut(symbolic.top_vectors_len);
        system.forward_groups(&symbolic.groups, of_groups, b);
        for &number in &symbolic.top {
            system.forward(&symbolic.fronts[number], vectors, 0, b);
        }
        let (top, of_groups) = vectors.split_at_mut(symbolic.top_vectors_len);
        for &number in symbolic.top.iter().rev() {
            system.backward(&symbolic.fronts[number], top, 0, &[]);
        }
        system.backward_groups(&symbolic.groups, of_groups, top);
    });
    for (x, &place) in x.chunks_exact_mut(3).zip(&symbolic.solution) {
        for i in 0..3 {
            x[i] = vectors[place + i].to_f64();
        }
    }
}

struct System<'a, T> {
    symbolic: &'a Symbolic,
    panels: &'a [T],
}

impl<T: Scalar> System<'_, T> {
    fn forward_groups(&self, groups: &[Group], vectors: &mut [T], b: &[f64]) {
        match groups {
            [] => {}
            [group] => {
                for &number in &group.fronts {
                    self.forward(&self.symbolic.fronts[number], vectors, group.vectors.start, b);
                }
            }
            _ => {
                let (left, right) = groups.split_at(groups.len() / 2);
                let (left_vectors, vectors) = vectors.split_at_mut(right[0].vectors.start - left[0].vectors.start);
                both(|| self.forward_groups(left, left_vectors, b), || self.forward_groups(right, vectors, b));
            }
        }
    }

    fn backward_groups(&self, groups: &[Group], vectors: &mut [T], top: &[T]) {
        match groups {
            [] => {}
            [group] => {
                for &number in group.fronts.iter().rev() {
                    self.backward(&self.symbolic.fronts[number], vectors, group.vectors.start, top);
                }
            }
            _ => {
                let (left, right) = groups.split_at(groups.len() / 2);
                let (left_vectors, vectors) = vectors.split_at_mut(right[0].vectors.start - left[0].vectors.start);
                both(|| self.backward_groups(left, left_vectors, top), || self.backward_groups(right, vectors, top));
            }
        }
    }

    /// Applies `L⁻¹` of a front. `vectors` begins at `base` and contains the vectors of the front and its children.
    fn forward(&self, front: &Front, vectors: &mut [T], base: usize, b: &[f64]) {
        let range = |front: &Front| front.vector().start - base..front.vector().end - base;
        let own = &mut vectors[range(front)];
        for (pivot, own) in own[..front.width()].chunks_exact_mut(3).enumerate() {
            let vertex = self.symbolic.order[front.first + pivot] as usize;
            for i in 0..3 {
                own[i] = T::from_f64(b[3 * vertex + i]);
            }
        }
        own[front.width()..].fill(T::from_f64(0.0));
        for &child in &front.children {
            let child = &self.symbolic.fronts[child];
            let both = vectors.get_disjoint_mut([range(front), range(child)]);
            let [own, theirs] = both.expect("fronts have separate vectors");
            let theirs = &theirs[child.width()..];
            for run in &child.in_parent {
                let own = &mut own[3 * run.to as usize..3 * (run.to + run.length) as usize];
                for (own, theirs) in own.iter_mut().zip(&theirs[3 * run.from as usize..]) {
                    *own += *theirs;
                }
            }
        }
        let shape = front.panel_shape();
        forward(&self.panels[front.panel..][..shape.len()], shape, &mut vectors[range(front)]);
    }

    /// Applies `L⁻ᵀS` of a front. `vectors` begins at `base` and contains its vector. The parent's vector is in
    /// `vectors` or in `top`.
    fn backward(&self, front: &Front, vectors: &mut [T], base: usize, top: &[T]) {
        let range = |front: &Front| front.vector().start - base..front.vector().end - base;
        if let Some(parent) = front.parent {
            let parent = &self.symbolic.fronts[parent];
            let (own, theirs) = if parent.vector < top.len() {
                (&mut vectors[range(front)], &top[parent.vector()])
            } else {
                let both = vectors.get_disjoint_mut([range(front), range(parent)]);
                let [own, theirs] = both.expect("fronts have separate vectors");
                (own, &*theirs)
            };
            let own = &mut own[front.width()..];
            for run in &front.in_parent {
                let length = 3 * run.length as usize;
                own[3 * run.from as usize..][..length].copy_from_slice(&theirs[3 * run.to as usize..][..length]);
            }
        }
        let own = &mut vectors[range(front)];
        own[3 * front.positive..front.width()].iter_mut().for_each(|x| *x = -*x);
        let shape = front.panel_shape();
        backward(&self.panels[front.panel..][..shape.len()], shape, own);
    }
}

/// Applies `L⁻¹` of a panel: solves for the pivots and subtracts their contribution from the rows below.
fn forward<T: Scalar>(panel: &[T], shape: Trapezoid, x: &mut [T]) {
    for block in 0..shape.block_count() {
        let (width, height, stride) = (shape.width(block), shape.height(block), shape.stride(block));
        let columns = shape.of_block(panel, block);
        let x = &mut x[BLOCK * block..];
        if width * (height - width) < SHARED {
            dispatch(Forward { columns, stride, width, x });
        } else {
            let (pivots, below) = x.split_at_mut(width);
            dispatch(Forward { columns, stride, width, x: pivots });
            subtract_product(columns, stride, width, pivots, below);
        }
    }
}

/// Applies `L⁻ᵀ` of a panel: subtracts the contribution of the rows below from the pivots and solves for them.
fn backward<T: Scalar>(panel: &[T], shape: Trapezoid, x: &mut [T]) {
    for block in (0..shape.block_count()).rev() {
        let (width, height, stride) = (shape.width(block), shape.height(block), shape.stride(block));
        let columns = shape.of_block(panel, block);
        let x = &mut x[BLOCK * block..];
        if width * (height - width) < SHARED {
            dispatch(Backward { columns, stride, width, x });
        } else {
            let (pivots, below) = x.split_at_mut(width);
            subtract_transposed_product(columns, stride, width, pivots, below);
            dispatch(Backward { columns, stride, width, x: pivots });
        }
    }
}

/// Computes `below −= L₂₁ pivots`, where `L₂₁` are the rows of the columns from `first_row` on.
fn subtract_product<T: Scalar>(columns: &[T], stride: usize, first_row: usize, pivots: &[T], below: &mut [T]) {
    let pieces = below.len().div_ceil(ROWS);
    if pieces <= 1 {
        dispatch(Product { columns, stride, first_row, pivots, below });
    } else {
        let middle = pieces / 2 * ROWS;
        let (above, below) = below.split_at_mut(middle);
        both(
            || subtract_product(columns, stride, first_row, pivots, above),
            || subtract_product(columns, stride, first_row + middle, pivots, below),
        );
    }
}

/// Computes `pivots −= L₂₁ᵀ below`.
fn subtract_transposed_product<T: Scalar>(
    columns: &[T],
    stride: usize,
    first_row: usize,
    pivots: &mut [T],
    below: &[T],
) {
    let pieces = pivots.len().div_ceil(COLUMNS);
    if pieces <= 1 {
        dispatch(TransposedProduct { columns, stride, first_row, pivots, below });
    } else {
        let middle = pieces / 2 * COLUMNS;
        let (left, right) = pivots.split_at_mut(middle);
        let (left_columns, right_columns) = columns.split_at(middle * stride);
        both(
            || subtract_transposed_product(left_columns, stride, first_row, left, below),
            || subtract_transposed_product(right_columns, stride, first_row, right, below),
        );
    }
}

/// Returns three columns, starting with `j`, in the rows from `from` up to `to`.
#[inline(always)]
fn three<T>(columns: &[T], stride: usize, j: usize, from: usize, to: usize) -> [&[T]; 3] {
    [
        &columns[j * stride + from..j * stride + to],
        &columns[(j + 1) * stride + from..(j + 1) * stride + to],
        &columns[(j + 2) * stride + from..(j + 2) * stride + to],
    ]
}

#[inline(always)]
fn subtract_columns<T: Scalar, R: Simd>([a, b, c]: [&[T]; 3], [x0, x1, x2]: [T; 3], y: &mut [T]) {
    for (((y, &a), &b), &c) in y.iter_mut().zip(a).zip(b).zip(c) {
        *y = multiply_add::<T, R>(-c, x2, multiply_add::<T, R>(-b, x1, multiply_add::<T, R>(-a, x0, *y)));
    }
}

#[inline(always)]
fn dot_columns<T: Scalar, R: Simd>(columns: [&[T]; 3], y: &[T]) -> [T; 3] {
    /// Number of simultaneous partial sums, which the compiler puts into vector registers.
    const SUMS: usize = 16;
    let mut sums = [[T::from_f64(0.0); SUMS]; 3];
    let (chunks, tail) = y.as_chunks::<SUMS>();
    for (k, column) in columns.iter().enumerate() {
        let (columns, _) = column.as_chunks::<SUMS>();
        for (y, column) in chunks.iter().zip(columns) {
            for s in 0..SUMS {
                sums[k][s] = multiply_add::<T, R>(column[s], y[s], sums[k][s]);
            }
        }
    }
    let mut z = [T::from_f64(0.0); 3];
    for k in 0..3 {
        for (&y, &a) in tail.iter().zip(&columns[k][y.len() - tail.len()..]) {
            z[k] += a * y;
        }
        for s in 0..SUMS {
            z[k] += sums[k][s];
        }
    }
    z
}

/// Forward solve for the pivots of a block of columns, which subtracts their contribution from the rows below within
/// `x`.
struct Forward<'a, T> {
    columns: &'a [T],
    stride: usize,
    width: usize,
    x: &'a mut [T],
}

impl<T: Scalar> Kernel for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for j in (0..self.width).step_by(3) {
            let [a, b, c] = three(self.columns, self.stride, j, j, self.x.len());
            let x = &mut self.x[j..];
            let x0 = x[0] / a[0];
            let x1 = (x[1] - a[1] * x0) / b[1];
            let x2 = (x[2] - a[2] * x0 - b[2] * x1) / c[2];
            (x[0], x[1], x[2]) = (x0, x1, x2);
            subtract_columns::<T, R>([&a[3..], &b[3..], &c[3..]], [x0, x1, x2], &mut x[3..]);
        }
    }
}

/// Backward solve with `Lᵀ`, from the last column to the first.
struct Backward<'a, T> {
    columns: &'a [T],
    stride: usize,
    width: usize,
    x: &'a mut [T],
}

impl<T: Scalar> Kernel for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for j in (0..self.width).step_by(3).rev() {
            let [a, b, c] = three(self.columns, self.stride, j, j, self.x.len());
            let x = &mut self.x[j..];
            let z = dot_columns::<T, R>([&a[3..], &b[3..], &c[3..]], &x[3..]);
            let x2 = (x[2] - z[2]) / c[2];
            let x1 = (x[1] - z[1] - b[2] * x2) / b[1];
            let x0 = (x[0] - z[0] - a[1] * x1 - a[2] * x2) / a[0];
            (x[0], x[1], x[2]) = (x0, x1, x2);
        }
    }
}

struct Product<'a, T> {
    columns: &'a [T],
    stride: usize,
    first_row: usize,
    pivots: &'a [T],
    below: &'a mut [T],
}

impl<T: Scalar> Kernel for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let end = self.first_row + self.below.len();
        for (j, &x) in self.pivots.as_chunks::<3>().0.iter().enumerate() {
            let columns = three(self.columns, self.stride, 3 * j, self.first_row, end);
            subtract_columns::<T, R>(columns, x, self.below);
        }
    }
}

struct TransposedProduct<'a, T> {
    columns: &'a [T],
    stride: usize,
    first_row: usize,
    pivots: &'a mut [T],
    below: &'a [T],
}

impl<T: Scalar> Kernel for TransposedProduct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let end = self.first_row + self.below.len();
        for (j, x) in self.pivots.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let columns = three(self.columns, self.stride, 3 * j, self.first_row, end);
            let z = dot_columns::<T, R>(columns, self.below);
            for k in 0..3 {
                x[k] += -z[k];
            }
        }
    }
}
