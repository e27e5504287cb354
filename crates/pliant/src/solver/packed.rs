//! Cholesky factor with 16 bits per number, used as a preconditioner: its triangular solves are bound by memory
//! bandwidth.
//!
//! With `S = diag(A)^(−½)`, the rows of `SL` have unit length, so that no entry exceeds one. Each column below its
//! diagonal block is stored as integers times one scale. The scale costs no multiplication per entry: the forward solve
//! applies it to the unknown of the column, the backward solve to the sum. Fifteen bits below the largest entry of a
//! column are more than half-precision floats have.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::trapezoid::BLOCK;
use super::vector::both;
use super::{Cholesky, Symbolic};
use crate::math::{Kernel, Mat3, Simd, Singles, dispatch};
use crate::sparse::BlockMatrix;

/// Rows that are processed at a time.
const LANES: usize = 16;

/// Largest integer of a stored entry.
const LARGEST: f32 = 32767.0;

/// Scaled factor with 16 bits per number and a rotation per vertex.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    symbolic: Arc<Symbolic>,
    /// Subtrees, which can be processed in parallel, followed by the segment above them.
    segments: Vec<Segment>,
    panels: Vec<Panel>,
    /// Rows below the pivots of all panels, as vertices of their segment.
    rows: Vec<u32>,
    /// Vertices outside that each subtree touches, as vertices of the last segment.
    outside: Vec<u32>,
    /// Entries of three columns at a time, from the chunk of rows on in which their diagonal block ends.
    entries: Vec<[[i16; LANES]; 3]>,
    /// Diagonal blocks, segment by segment.
    pivots: Vec<Pivot>,
    /// Vertex of each pivot, pivot of each vertex, and offset of each vertex in the work memory.
    order: Vec<u32>,
    pivot_of: Vec<u32>,
    work_of: Vec<u32>,
    /// Scales `S` of each pivot, and `S Rᵀ` in row-major order.
    scales: Vec<[f32; 3]>,
    turns: Vec<[f32; 9]>,
    /// Work memory: for each segment its vertices, the vertices outside that it touches, and one panel of rows.
    work: Vec<f32>,
}

/// Panels that depend on no segment except the last.
#[derive(Debug, Clone)]
struct Segment {
    panels: Range<usize>,
    pivots: Range<usize>,
    entries: Range<usize>,
    outside: Range<usize>,
    work: Range<usize>,
}

/// Columns of a front. Its rows are padded with leading zeros to a multiple of [`LANES`].
#[derive(Debug, Clone)]
struct Panel {
    /// Index of the front in the symbolic analysis.
    front: usize,
    /// First pivot, as a vertex of the segment.
    first: usize,
    pivots: usize,
    rows: Range<usize>,
    entries: usize,
}

/// Diagonal block of `SL` of a vertex, `1/l₀₀, l₁₀, 1/l₁₁, l₂₀, l₂₁, 1/l₂₂`, and the scales of its columns.
#[derive(Debug, Clone, Copy, Default)]
struct Pivot {
    block: [f32; 6],
    units: [f32; 3],
}

impl Panel {
    /// Returns the number of scalar rows.
    fn height(&self) -> usize {
        3 * (self.pivots + self.rows.len())
    }

    fn chunks(&self) -> usize {
        self.height().div_ceil(LANES)
    }

    /// Returns the number of zeros before the rows.
    fn padding(&self) -> usize {
        LANES * self.chunks() - self.height()
    }

    /// Returns the chunk in which the columns of a pivot begin.
    #[inline(always)]
    fn first_chunk(&self, pivot: usize) -> usize {
        (self.padding() + 3 * pivot + 3) / LANES
    }
}

impl Packed {
    /// Allocates memory for factors of matrices with the analyzed pattern.
    pub fn new(symbolic: Arc<Symbolic>) -> Self {
        let fronts = &symbolic.fronts;
        let vertex_count = symbolic.order.len();
        let top = || symbolic.top.clone();
        // A subtree ends with its root, whose parent is above all subtrees or absent.
        let is_root =
            |front: usize| fronts[front].parent.is_none_or(|parent| symbolic.top.binary_search(&parent).is_ok());
        let subtrees = symbolic.groups.iter().flat_map(|group| group.fronts.split_inclusive(|&front| is_root(front)));
        let groups: Vec<Vec<usize>> = subtrees.map(<[usize]>::to_vec).chain(std::iter::once(top())).collect();
        // Index of each place of the elimination in its segment.
        let (mut segment_of, mut number_of) = (vec![0; vertex_count], vec![0_u32; vertex_count]);
        let mut order = Vec::with_capacity(vertex_count);
        for (segment, group) in groups.iter().enumerate() {
            let places = |&front: &usize| fronts[front].first..fronts[front].first + fronts[front].pivots;
            for (number, place) in group.iter().flat_map(places).enumerate() {
                (segment_of[place], number_of[place]) = (segment, number as u32);
                order.push(symbolic.order[place]);
            }
        }
        let (mut segments, mut panels, mut rows, mut outside) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut pivots, mut entries, mut work) = (0, 0, 0);
        let mut work_of = vec![0; vertex_count];
        for (segment, group) in groups.iter().enumerate() {
            let starts = (panels.len(), pivots, entries, outside.len(), work);
            let count: usize = group.iter().map(|&front| fronts[front].pivots).sum();
            // All vertices outside that a subtree touches are also rows of its root.
            let is_top = segment + 1 == groups.len();
            let beyond: &[u32] = group.last().filter(|_| !is_top).map_or(&[], |&root| &fronts[root].rows);
            outside.extend(beyond.iter().map(|&place| number_of[place as usize]));
            let mut max_chunks = 0;
            for &number in group {
                let front = &fronts[number];
                let first_row = rows.len();
                rows.extend(front.rows.iter().map(|&place| {
                    if segment_of[place as usize] == segment {
                        number_of[place as usize]
                    } else {
                        let place = beyond.binary_search(&place).expect("a row of the root");
                        (count + place) as u32
                    }
                }));
                let first = number_of.get(front.first).map_or(0, |&number| number as usize);
                let panel = Panel { front: number, first, pivots: front.pivots, rows: first_row..rows.len(), entries };
                entries += (0..panel.pivots).map(|pivot| panel.chunks() - panel.first_chunk(pivot)).sum::<usize>();
                max_chunks = max_chunks.max(panel.chunks());
                panels.push(panel);
            }
            for (number, &vertex) in order[pivots..pivots + count].iter().enumerate() {
                work_of[vertex as usize] = (work + 3 * number) as u32;
            }
            pivots += count;
            work += 3 * (count + beyond.len()) + LANES * max_chunks;
            segments.push(Segment {
                panels: starts.0..panels.len(),
                pivots: starts.1..pivots,
                entries: starts.2..entries,
                outside: starts.3..outside.len(),
                work: starts.4..work,
            });
        }
        let mut pivot_of = vec![0; vertex_count];
        order.iter().enumerate().for_each(|(pivot, &vertex)| pivot_of[vertex as usize] = pivot as u32);
        Self {
            segments,
            panels,
            rows,
            outside,
            entries: vec![[[0; LANES]; 3]; entries],
            pivots: vec![Pivot::default(); pivots],
            order,
            pivot_of,
            work_of,
            scales: vec![[0.0; 3]; vertex_count],
            turns: vec![[0.0; 9]; vertex_count],
            work: vec![0.0; work],
            symbolic,
        }
    }

    /// Returns the number of bytes that a triangular solve reads.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.entries) + size_of_val(&*self.pivots) + size_of_val(&*self.rows)
    }

    /// Returns the total memory \[bytes\].
    pub fn memory(&self) -> usize {
        let numbers =
            self.order.len() + self.pivot_of.len() + self.work_of.len() + self.outside.len() + self.work.len();
        self.bytes() + 4 * numbers + size_of_val(&*self.scales) + size_of_val(&*self.turns) + size_of_val(&*self.panels)
    }

    /// Quantizes the factor of a matrix and resets the rotations.
    pub fn pack(&mut self, factor: &Cholesky<f32>, matrix: &BlockMatrix) {
        for (scales, &vertex) in self.scales.iter_mut().zip(&self.order) {
            let block = &matrix.values()[9 * matrix.pattern().row(vertex as usize).start..][..9];
            *scales = std::array::from_fn(|axis| (1.0 / block[4 * axis].sqrt()) as f32);
        }
        let shared = Shared { symbolic: &self.symbolic, panels: &self.panels, rows: &self.rows };
        let top = &self.segments[self.segments.len() - 1];
        let (scales, outside) = (&self.scales, &self.outside);
        let pack = |segment: &Segment, entries: &mut [[[i16; LANES]; 3]], pivots: &mut [Pivot], work: &mut [f32]| {
            let count = segment.pivots.len();
            let (own, local) = work.split_at_mut(3 * count);
            own.copy_from_slice(scales[segment.pivots.clone()].as_flattened());
            let beyond = local.chunks_exact_mut(3).zip(&outside[segment.outside.clone()]);
            beyond.for_each(|(to, &number)| to.copy_from_slice(&scales[top.pivots.start + number as usize]));
            let offset = segment.entries.start;
            dispatch(Quantize { shared, segment, offset, factor: factor.panels(), entries, pivots, work });
        };
        let state = (&mut self.entries[..], &mut self.pivots[..], &mut self.work[..]);
        pack_segments(&self.segments, state, &pack);
        self.turn(None);
    }

    /// Rotates the factor by `Rᵥ` at each vertex.
    pub fn turn(&mut self, rotations: Option<&[Mat3]>) {
        let (scales, order) = (&self.scales, &self.order);
        let turn = |(pivot, turn): (usize, &mut [f32; 9])| {
            let scale = scales[pivot];
            let rotation = rotations.map_or(Mat3::IDENTITY, |rotations| rotations[order[pivot] as usize]);
            // The columns of R are the rows of Rᵀ.
            let transposed = rotation.to_cols_array();
            *turn = std::array::from_fn(|entry| scale[entry / 3] * transposed[entry] as f32);
        };
        if self.turns.len() <= GRAIN || rayon::current_num_threads() == 1 {
            self.turns.iter_mut().enumerate().for_each(turn);
        } else {
            self.turns.par_iter_mut().enumerate().with_min_len(GRAIN).for_each(turn);
        }
    }

    /// Computes `z = R L⁻ᵀL⁻¹ Rᵀ r`, with `r` scaled by its approximate magnitude `size` in the meantime.
    pub fn apply(&mut self, size: f64, r: &[f64], z: &mut [f64]) {
        let part = 1.0 / size;
        let ((r, _), (z, _)) = (r.as_chunks::<3>(), z.as_chunks_mut::<3>());
        let shared = Shared { symbolic: &self.symbolic, panels: &self.panels, rows: &self.rows };
        let (entries, pivots) = (&self.entries[..], &self.pivots[..]);
        let (order, turns, outside) = (&self.order, &self.turns, &self.outside);
        let enter = |segment: &Segment, work: &mut [f32]| {
            let (own, _) = work.as_chunks_mut::<3>();
            let own = &mut own[..segment.pivots.len()];
            for ((own, t), &vertex) in
                own.iter_mut().zip(&turns[segment.pivots.clone()]).zip(&order[segment.pivots.clone()])
            {
                let [a, b, c] = r[vertex as usize].map(|number| (part * number) as f32);
                *own = std::array::from_fn(|k| t[3 * k] * a + t[3 * k + 1] * b + t[3 * k + 2] * c);
            }
        };
        let (top, subtrees) = self.segments.split_last().expect("the last segment is above the others");
        let (below, above) = self.work.split_at_mut(top.work.start);
        each_segment(subtrees, below, &|segment, work| {
            enter(segment, work);
            let count = segment.pivots.len();
            work[3 * count..3 * (count + segment.outside.len())].fill(0.0);
            dispatch(Forward { shared, segment, entries, pivots, work });
        });
        enter(top, above);
        for segment in subtrees {
            let count = segment.pivots.len();
            let from = &below[segment.work.start + 3 * count..];
            for (from, &number) in from.chunks_exact(3).zip(&outside[segment.outside.clone()]) {
                let to = &mut above[3 * number as usize..3 * number as usize + 3];
                (0..3).for_each(|k| to[k] += from[k]);
            }
        }
        dispatch(Forward { shared, segment: top, entries, pivots, work: above });
        dispatch(Backward { shared, segment: top, entries, pivots, work: above });
        let above = &*above;
        each_segment(subtrees, below, &|segment, work| {
            let (_, beyond) = work.split_at_mut(3 * segment.pivots.len());
            for (to, &number) in beyond.chunks_exact_mut(3).zip(&outside[segment.outside.clone()]) {
                to.copy_from_slice(&above[3 * number as usize..3 * number as usize + 3]);
            }
            dispatch(Backward { shared, segment, entries, pivots, work });
        });
        let (work, work_of, pivot_of) = (&self.work, &self.work_of, &self.pivot_of);
        let leave = |(vertex, z): (usize, &mut [f64; 3])| {
            let x = &work[work_of[vertex] as usize..work_of[vertex] as usize + 3];
            let t = &turns[pivot_of[vertex] as usize];
            *z = std::array::from_fn(|k| size * f64::from(t[k] * x[0] + t[3 + k] * x[1] + t[6 + k] * x[2]));
        };
        if z.len() <= GRAIN || rayon::current_num_threads() == 1 {
            z.iter_mut().enumerate().for_each(leave);
        } else {
            z.par_iter_mut().enumerate().with_min_len(GRAIN).for_each(leave);
        }
    }
}

/// Vertices per parallel task.
const GRAIN: usize = 4096;

/// Processes each segment in parallel.
fn each_segment(segments: &[Segment], work: &mut [f32], run: &(impl Fn(&Segment, &mut [f32]) + Sync)) {
    match segments {
        [] => {}
        [segment] => run(segment, work),
        _ => {
            let (low, high) = segments.split_at(segments.len() / 2);
            let (low_work, high_work) = work.split_at_mut(high[0].work.start - low[0].work.start);
            both(|| each_segment(low, low_work, run), || each_segment(high, high_work, run));
        }
    }
}

type PackState<'a> = (&'a mut [[[i16; LANES]; 3]], &'a mut [Pivot], &'a mut [f32]);

/// Processes each segment in parallel with its packed entries.
fn pack_segments<F>(segments: &[Segment], (entries, pivots, work): PackState<'_>, run: &F)
where
    F: Fn(&Segment, &mut [[[i16; LANES]; 3]], &mut [Pivot], &mut [f32]) + Sync,
{
    match segments {
        [] => {}
        [segment] => run(segment, entries, pivots, work),
        _ => {
            let (low, high) = segments.split_at(segments.len() / 2);
            let (low_entries, high_entries) = entries.split_at_mut(high[0].entries.start - low[0].entries.start);
            let (low_pivots, high_pivots) = pivots.split_at_mut(high[0].pivots.start - low[0].pivots.start);
            let (low_work, high_work) = work.split_at_mut(high[0].work.start - low[0].work.start);
            both(
                || pack_segments(low, (low_entries, low_pivots, low_work), run),
                || pack_segments(high, (high_entries, high_pivots, high_work), run),
            );
        }
    }
}

/// Data that all segments read.
#[derive(Clone, Copy)]
struct Shared<'a> {
    symbolic: &'a Symbolic,
    panels: &'a [Panel],
    rows: &'a [u32],
}

/// Returns the vertices of a segment and the memory for the rows of one panel.
#[inline(always)]
fn split_work<'a>(segment: &Segment, work: &'a mut [f32]) -> (&'a mut [f32], &'a mut [f32]) {
    work.split_at_mut(3 * (segment.pivots.len() + segment.outside.len()))
}

/// Copies the vector entries of a panel, or only those of its pivots, behind its padding.
#[inline(always)]
fn gather(panel: &Panel, rows: &[u32], vertices: &[f32], local: &mut [f32]) {
    let (padding, width) = (panel.padding(), 3 * panel.pivots);
    local[..padding].fill(0.0);
    local[padding..padding + width].copy_from_slice(&vertices[3 * panel.first..3 * panel.first + width]);
    let (below, _) = local[padding + width..].as_chunks_mut::<3>();
    let (vertices, _) = vertices.as_chunks::<3>();
    for (to, &row) in below.iter_mut().zip(rows) {
        *to = vertices[row as usize];
    }
}

/// Quantization of a segment of a factor to integers. On entry, `work` has the scales of its vertices.
struct Quantize<'a> {
    shared: Shared<'a>,
    segment: &'a Segment,
    /// Offset of the entries of the segment.
    offset: usize,
    factor: &'a [f32],
    entries: &'a mut [[[i16; LANES]; 3]],
    pivots: &'a mut [Pivot],
    work: &'a mut [f32],
}

impl Kernel for Quantize<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let Self { shared, segment, offset, factor, entries, pivots, work } = self;
        let (vertices, local) = split_work(segment, work);
        for panel in &shared.panels[segment.panels.clone()] {
            let (height, padding, chunks) = (panel.height(), panel.padding(), panel.chunks());
            let local = &mut local[..LANES * chunks];
            gather(panel, &shared.rows[panel.rows.clone()], vertices, local);
            let front = &shared.symbolic.fronts[panel.front];
            let (numbers, shape) = (&factor[front.panel..], front.panel_shape());
            let mut at = panel.entries - offset;
            for pivot in 0..panel.pivots {
                let j = 3 * pivot;
                // Starting at the diagonal block.
                let column = |c: usize| &numbers[shape.column(j + c) + j % BLOCK..][..height - j];
                let columns = [column(0), column(1), column(2)];
                let scale = &local[padding + j..];
                let entry = |row: usize, c: usize| columns[c][row] * scale[row];
                let first = panel.first_chunk(pivot);
                let target = &mut entries[at..at + chunks - first];
                at += chunks - first;
                let mut units = [0.0; 3];
                for c in 0..3 {
                    let largest = largest_product(&columns[c][3..], &scale[3..]);
                    units[c] = largest / LARGEST;
                    let inverse = if largest > 0.0 { LARGEST / largest } else { 0.0 };
                    for (chunk, target) in (first..).zip(target.iter_mut()) {
                        let target = &mut target[c];
                        if LANES * chunk < padding + j + 3 {
                            for (lane, target) in target.iter_mut().enumerate() {
                                let row = LANES * chunk + lane;
                                *target = 0;
                                if row >= padding + j + 3 {
                                    let row = row - padding - j;
                                    *target = nearest(columns[c][row] * scale[row] * inverse);
                                }
                            }
                        } else {
                            let from = LANES * chunk - padding - j;
                            let column: &[f32; LANES] = columns[c][from..].first_chunk().expect("a whole chunk");
                            let scale: &[f32; LANES] = scale[from..].first_chunk().expect("a whole chunk");
                            let mut integers = [0; LANES];
                            for lane in 0..LANES {
                                integers[lane] = nearest(column[lane] * scale[lane] * inverse);
                            }
                            *target = integers;
                        }
                    }
                }
                let block =
                    [1.0 / entry(0, 0), entry(1, 0), 1.0 / entry(1, 1), entry(2, 0), entry(2, 1), 1.0 / entry(2, 2)];
                pivots[panel.first + pivot] = Pivot { block, units };
            }
        }
    }
}

/// Rounds to the nearest integer in the range of `i16`. The result is in the lowest bits after adding a constant so
/// large that its last digit counts ones.
#[inline(always)]
fn nearest(x: f32) -> i16 {
    const LAST_DIGIT_IS_ONE: f32 = 12_582_912.0;
    (x + LAST_DIGIT_IS_ONE).to_bits() as i16
}

#[inline(always)]
fn largest_product(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut largest = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            let product = (a[lane] * b[lane]).abs();
            largest[lane] = if product > largest[lane] { product } else { largest[lane] };
        }
    }
    let tail = a_tail.iter().zip(b_tail).map(|(a, b)| (a * b).abs());
    largest.into_iter().chain(tail).fold(0.0, f32::max)
}

/// Forward solve `L⁻¹` of a segment. The vertices outside accumulate its contributions.
struct Forward<'a> {
    shared: Shared<'a>,
    segment: &'a Segment,
    entries: &'a [[[i16; LANES]; 3]],
    pivots: &'a [Pivot],
    work: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let Self { shared, segment, entries, pivots, work } = self;
        let pivots = &pivots[segment.pivots.clone()];
        let (vertices, local) = split_work(segment, work);
        for panel in &shared.panels[segment.panels.clone()] {
            let (padding, width, chunks) = (panel.padding(), 3 * panel.pivots, panel.chunks());
            let local = &mut local[..LANES * chunks];
            local[..padding].fill(0.0);
            local[padding..padding + width].copy_from_slice(&vertices[3 * panel.first..3 * panel.first + width]);
            local[padding + width..].fill(0.0);
            let mut at = panel.entries;
            for pivot in 0..panel.pivots {
                let Pivot { block, units } = &pivots[panel.first + pivot];
                let x = &mut local[padding + 3 * pivot..padding + 3 * pivot + 3];
                x[0] *= block[0];
                x[1] = (x[1] - block[1] * x[0]) * block[2];
                x[2] = (x[2] - block[3] * x[0] - block[4] * x[1]) * block[5];
                let [x0, x1, x2] = [0, 1, 2].map(|k| R::Singles::splat(-units[k] * x[k]));
                let first = panel.first_chunk(pivot);
                let (rows, _) = local.as_chunks_mut::<LANES>();
                let columns = &entries[at..at + chunks - first];
                for (rows, [a, b, c]) in rows[first..].iter_mut().zip(columns) {
                    let sum = R::Singles::load_integers(a).mul_add(x0, R::Singles::load(rows));
                    let sum = R::Singles::load_integers(b).mul_add(x1, sum);
                    R::Singles::load_integers(c).mul_add(x2, sum).store(rows);
                }
                at += chunks - first;
            }
            vertices[3 * panel.first..3 * panel.first + width].copy_from_slice(&local[padding..padding + width]);
            let (vertices, _) = vertices.as_chunks_mut::<3>();
            let (below, _) = local[padding + width..].as_chunks::<3>();
            for (from, &row) in below.iter().zip(&shared.rows[panel.rows.clone()]) {
                let to = &mut vertices[row as usize];
                for k in 0..3 {
                    to[k] += from[k];
                }
            }
        }
    }
}

/// Backward solve `L⁻ᵀ` of a segment, whose vertices outside are already solved.
struct Backward<'a> {
    shared: Shared<'a>,
    segment: &'a Segment,
    entries: &'a [[[i16; LANES]; 3]],
    pivots: &'a [Pivot],
    work: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let Self { shared, segment, entries, pivots, work } = self;
        let pivots = &pivots[segment.pivots.clone()];
        let (vertices, local) = split_work(segment, work);
        let mut end = segment.entries.end;
        for panel in shared.panels[segment.panels.clone()].iter().rev() {
            let (padding, width, chunks) = (panel.padding(), 3 * panel.pivots, panel.chunks());
            let local = &mut local[..LANES * chunks];
            gather(panel, &shared.rows[panel.rows.clone()], vertices, local);
            for pivot in (0..panel.pivots).rev() {
                let first = panel.first_chunk(pivot);
                let columns = &entries[end + first - chunks..end];
                end -= chunks - first;
                let (rows, _) = local.as_chunks::<LANES>();
                let zero = R::Singles::splat(0.0);
                let (mut s0, mut s1, mut s2) = (zero, zero, zero);
                for (rows, [a, b, c]) in rows[first..].iter().zip(columns) {
                    let rows = R::Singles::load(rows);
                    s0 = R::Singles::load_integers(a).mul_add(rows, s0);
                    s1 = R::Singles::load_integers(b).mul_add(rows, s1);
                    s2 = R::Singles::load_integers(c).mul_add(rows, s2);
                }
                let sums = [s0.total(), s1.total(), s2.total()];
                let Pivot { block, units } = &pivots[panel.first + pivot];
                let x = &mut local[padding + 3 * pivot..padding + 3 * pivot + 3];
                for k in 0..3 {
                    x[k] -= units[k] * sums[k];
                }
                x[2] *= block[5];
                x[1] = (x[1] - block[4] * x[2]) * block[2];
                x[0] = (x[0] - block[1] * x[1] - block[3] * x[2]) * block[0];
            }
            vertices[3 * panel.first..3 * panel.first + width].copy_from_slice(&local[padding..padding + width]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::solver::testing::{bar, right_hand_side};

    fn packed(cells: [usize; 3]) -> (BlockMatrix, Cholesky<f32>, Packed) {
        let matrix = bar(cells, 1e6, 0.01, 0.3).matrix;
        let mut factor = Cholesky::<f32>::new(Arc::new(Symbolic::new(matrix.pattern().clone()).unwrap()));
        factor.factor(&matrix).unwrap();
        let mut packed = Packed::new(factor.symbolic().clone());
        packed.pack(&factor, &matrix);
        (matrix, factor, packed)
    }

    #[test]
    fn integers_are_rounded_to_the_nearest() {
        for x in [0.0, 0.4, 0.6, -0.4, -0.6, 32767.0, -32767.0, 1234.3, -32766.6] {
            assert_eq!(f32::from(nearest(x)), x.round(), "{x}");
        }
    }

    #[test]
    fn sweeps_are_those_of_the_factor_to_the_precision_of_its_numbers() {
        for cells in [[1, 1, 1], [3, 2, 1], [12, 4, 4], [24, 6, 6]] {
            let (matrix, mut factor, mut packed) = packed(cells);
            let b = right_hand_side(&matrix);
            let (mut expected, mut x) = (vec![0.0; b.len()], vec![0.0; b.len()]);
            factor.solve(&b, &mut expected);
            packed.apply(1.0, &b, &mut x);
            let size = expected.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
            for (x, expected) in x.iter().zip(&expected) {
                assert!((x - expected).abs() < 0.02 * size, "{cells:?}: {x} instead of {expected}");
            }
        }
    }

    #[test]
    fn turning_the_factor_turns_what_goes_in_and_what_comes_out() {
        let (matrix, _, mut packed) = packed([6, 2, 2]);
        let r = right_hand_side(&matrix);
        let count = r.len() / 3;
        let rotations: Vec<Mat3> = (0..count).map(|v| Mat3::from_rotation_y(0.1 * v as f64)).collect();
        let turned = |vector: &[f64], inverse: bool| -> Vec<f64> {
            let turn = |v: usize| {
                let x = Vec3::from_slice(&vector[3 * v..]);
                (if inverse { rotations[v].transpose() * x } else { rotations[v] * x }).to_array()
            };
            (0..count).flat_map(turn).collect()
        };
        let mut between = vec![0.0; r.len()];
        packed.apply(1.0, &turned(&r, true), &mut between);
        let expected = turned(&between, false);
        packed.turn(Some(&rotations));
        let mut z = vec![0.0; r.len()];
        packed.apply(7.0, &r, &mut z);
        let size = expected.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
        assert!(z.iter().zip(&expected).all(|(z, expected)| (z - expected).abs() < 1e-5 * size));
    }

    #[test]
    fn it_takes_little_more_than_half_the_memory_of_the_factor() {
        let (_, factor, packed) = packed([24, 6, 6]);
        let single = 4 * factor.symbolic().info().fill;
        assert!(packed.bytes() < 6 * single / 10, "{} instead of {single}", packed.bytes());
    }
}
