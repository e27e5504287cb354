//! The analysis of a pattern for Cholesky factorisation: once for a body, whatever the numbers.
//!
//! Vertices are eliminated in the order of nested dissection. Consecutive ones with the same structure below form a front, a
//! dense matrix in which their elimination takes place (Duff and Reid 1983); small fronts are merged with their parents at
//! the price of some zeros. What a front leaves, its update, is added to its parent's.

use std::sync::Arc;

use thiserror::Error;

use super::ordering::Graph;
use crate::sparse::BlockPattern;

/// A pattern that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the matrix has {blocks} blocks, and the ordering can count at most {most}")]
pub struct PatternTooLarge {
    /// How many blocks its upper triangle has.
    pub blocks: usize,
    /// How many it may have.
    pub most: usize,
}

/// What factorisations of matrices of one pattern have in common.
#[derive(Debug)]
pub struct Symbolic {
    pub(super) pattern: Arc<BlockPattern>,
    /// The vertex that is eliminated at each place.
    pub(super) order: Vec<u32>,
    /// Children before parents.
    pub(super) fronts: Vec<Front>,
    /// Where the blocks of the matrix go, front by front.
    pub(super) entries: Vec<Entry>,
    /// Subtrees that can be worked on at the same time, as ranges of fronts, and the fronts above all of them.
    pub(super) subtrees: Vec<Subtree>,
    pub(super) top: Vec<usize>,
    /// Numbers in the factor, and in the memory for updates.
    pub(super) factor_len: usize,
    pub(super) updates_len: usize,
    info: SymbolicInfo,
}

/// How much work and memory a factorisation takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SymbolicInfo {
    /// Numbers in the factor, with the zeros that merging fronts brings in.
    pub fill: usize,
    /// Floating-point operations.
    pub operations: f64,
    /// Numbers that are kept in memory: the factor and the updates.
    pub memory: usize,
    /// Rows of the largest front.
    pub largest_front: usize,
    /// How many fronts there are.
    pub fronts: usize,
}

/// A dense matrix of the columns of its pivots: the triangle of the pivots, and below it the rows that they touch.
#[derive(Debug, Clone)]
pub(super) struct Front {
    /// Its pivots are at the places from here on.
    pub first: usize,
    pub pivots: usize,
    /// The places below that the pivots touch, ascending.
    pub rows: Vec<u32>,
    pub children: Vec<usize>,
    /// Where its rows are in the front of its parent.
    pub in_parent: Vec<Run>,
    /// Where its numbers begin in the factor.
    pub panel: usize,
    /// Where its update begins in the memory for updates.
    pub update: usize,
    pub entries: std::ops::Range<usize>,
}

impl Front {
    /// Rows of its panel, in numbers.
    pub fn height(&self) -> usize {
        3 * (self.pivots + self.rows.len())
    }

    /// Columns of its panel.
    pub fn width(&self) -> usize {
        3 * self.pivots
    }

    pub fn panel_len(&self) -> usize {
        self.height() * self.width()
    }

    /// Rows and columns of its update.
    pub fn below(&self) -> usize {
        3 * self.rows.len()
    }
}

/// Consecutive rows of a front that are consecutive in its parent: `length` vertices from `from` on, there from `to` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub from: u32,
    pub to: u32,
    pub length: u32,
}

/// A block of the matrix, and the place of its first number in the panel of a front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub slot: u32,
    pub transposed: bool,
    pub place: usize,
}

/// Fronts that depend on no other, with their own part of the memory for updates.
#[derive(Debug, Clone)]
pub(super) struct Subtree {
    pub fronts: std::ops::Range<usize>,
    pub panels: std::ops::Range<usize>,
    pub updates: std::ops::Range<usize>,
}

/// How many subtrees to cut, about. Fixed, so that nothing depends on the number of threads.
const SUBTREES: f64 = 24.0;

/// How large a part of a merged front may be zeros, by its number of columns; beyond the last, a twentieth.
const ZEROS_ALLOWED: [(usize, f64); 4] = [(12, 1.0), (24, 0.5), (48, 0.25), (96, 0.12)];
const ZEROS_ALLOWED_BEYOND: f64 = 0.05;

impl Symbolic {
    /// Analyse a pattern.
    pub fn new(pattern: Arc<BlockPattern>) -> Result<Self, PatternTooLarge> {
        let too_large = PatternTooLarge { blocks: pattern.slot_count(), most: i32::MAX as usize / 2 };
        let graph = Graph::new(&pattern).ok_or(too_large)?;
        let dissected = graph.nested_dissection();
        let supernodes = merged(supernodes(&graph, &dissected));
        Ok(Self::from_supernodes(pattern, &graph, &dissected, supernodes))
    }

    /// How much work and memory a factorisation takes.
    pub fn info(&self) -> &SymbolicInfo {
        &self.info
    }

    /// The pattern that was analysed.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    fn from_supernodes(
        pattern: Arc<BlockPattern>,
        graph: &Graph,
        dissected: &[u32],
        supernodes: Vec<Supernode>,
    ) -> Self {
        let n = graph.vertex_count();
        // The final places: those of one front together, children before parents.
        let mut place_of_dissected = vec![0_u32; n];
        let mut order = Vec::with_capacity(n);
        let mut fronts: Vec<Front> = Vec::with_capacity(supernodes.len());
        let mut parent = vec![usize::MAX; supernodes.len()];
        for (number, supernode) in supernodes.iter().enumerate() {
            supernode.children.iter().for_each(|&child| parent[child] = number);
            for &column in &supernode.columns {
                place_of_dissected[column as usize] = order.len() as u32;
                order.push(dissected[column as usize]);
            }
        }
        let (mut first, mut panel) = (0, 0);
        for supernode in supernodes {
            let mut rows: Vec<u32> = supernode.rows.iter().map(|&row| place_of_dissected[row as usize]).collect();
            rows.sort_unstable();
            let front = Front {
                first,
                pivots: supernode.columns.len(),
                rows,
                children: supernode.children,
                in_parent: Vec::new(),
                panel,
                update: 0,
                entries: 0..0,
            };
            first += front.pivots;
            panel += front.panel_len();
            fronts.push(front);
        }
        let mut place_of_vertex = vec![0_u32; n];
        for (place, &vertex) in order.iter().enumerate() {
            place_of_vertex[vertex as usize] = place as u32;
        }
        // Where things are in a front: the row of each place.
        let mut row_of_place = vec![0_u32; n];
        let mut entries = Vec::with_capacity(pattern.slot_count());
        for number in 0..fronts.len() {
            let front = &fronts[number];
            let (first, pivots, height) = (front.first, front.pivots, front.height());
            for pivot in 0..pivots {
                row_of_place[first + pivot] = pivot as u32;
            }
            for (row, &place) in front.rows.iter().enumerate() {
                row_of_place[place as usize] = (pivots + row) as u32;
            }
            for child in front.children.clone() {
                fronts[child].in_parent = runs(&fronts[child].rows, &row_of_place, pivots as u32);
            }
            let start = entries.len();
            for pivot in 0..pivots {
                let column = order[first + pivot];
                for row in std::iter::once(column).chain(graph.neighbours(column)) {
                    if place_of_vertex[row as usize] as usize >= first + pivot {
                        let slot = pattern.slot(row, column).expect("neighbours have a block") as u32;
                        let place =
                            3 * row_of_place[place_of_vertex[row as usize] as usize] as usize + 3 * pivot * height;
                        entries.push(Entry { slot, transposed: row > column, place });
                    }
                }
            }
            fronts[number].entries = start..entries.len();
        }
        let (subtrees, top, updates_len) = cut_into_subtrees(&mut fronts, &parent);
        let square = |x: usize| (x * x) as f64;
        let columns = |front: &Front| (0..front.width()).map(|column| front.height() - column).collect::<Vec<_>>();
        let fill = fronts.iter().flat_map(columns).sum();
        let operations = fronts.iter().flat_map(columns).map(square).sum();
        let info = SymbolicInfo {
            fill,
            operations,
            memory: panel + updates_len,
            largest_front: fronts.iter().map(Front::height).max().unwrap_or(0),
            fronts: fronts.len(),
        };
        Self { pattern, order, fronts, entries, subtrees, top, factor_len: panel, updates_len, info }
    }
}

/// Rows of a child in its parent, in runs that do not cross from the pivots of the parent to its rows below.
fn runs(rows: &[u32], row_of_place: &[u32], pivots: u32) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (from, &place) in rows.iter().enumerate() {
        let to = row_of_place[place as usize];
        match runs.last_mut() {
            Some(run) if run.to + run.length == to && to != pivots => run.length += 1,
            _ => runs.push(Run { from: from as u32, to, length: 1 }),
        }
    }
    runs
}

/// Columns that are eliminated together, by their places in the dissection.
#[derive(Debug, Default)]
struct Supernode {
    columns: Vec<u32>,
    rows: Vec<u32>,
    children: Vec<usize>,
    /// Zeros that merging brought in, in blocks.
    zeros: usize,
}

/// The columns with the same structure below, each with the rows that they touch.
fn supernodes(graph: &Graph, dissected: &[u32]) -> Vec<Supernode> {
    const NONE: u32 = u32::MAX;
    let n = graph.vertex_count();
    let mut place = vec![0_u32; n];
    for (at, &vertex) in dissected.iter().enumerate() {
        place[vertex as usize] = at as u32;
    }
    let children = children(&elimination_tree(graph, dissected, &place));
    let mut supernodes: Vec<Supernode> = Vec::new();
    let mut supernode_of = vec![0_usize; n];
    // The rows of each column, until its parent has taken them over.
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut seen_by = vec![NONE; n];
    for column in 0..n as u32 {
        let mut rows = Vec::new();
        let mut see = |row: u32| {
            if row > column && seen_by[row as usize] != column {
                seen_by[row as usize] = column;
                rows.push(row);
            }
        };
        graph.neighbours(dissected[column as usize]).for_each(|vertex| see(place[vertex as usize]));
        for &child in children.of(column) {
            rows_of[child as usize].iter().copied().for_each(&mut see);
        }
        // A child that has one row more than this column has the same structure.
        let same = children.of(column).iter().copied().find(|&child| rows_of[child as usize].len() == rows.len() + 1);
        let number = same.map_or_else(
            || {
                supernodes.push(Supernode::default());
                supernodes.len() - 1
            },
            |child| supernode_of[child as usize],
        );
        let supernode = &mut supernodes[number];
        supernode.columns.push(column);
        supernode.rows.clone_from(&rows);
        for &child in children.of(column) {
            if supernode_of[child as usize] != number {
                supernode.children.push(supernode_of[child as usize]);
            }
            rows_of[child as usize] = Vec::new();
        }
        supernode_of[column as usize] = number;
        rows_of[column as usize] = rows;
    }
    supernodes
}

/// The parent of each column: the first row that it touches (Liu 1986); `u32::MAX` for a root.
fn elimination_tree(graph: &Graph, dissected: &[u32], place: &[u32]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let n = dissected.len();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for row in 0..n as u32 {
        for vertex in graph.neighbours(dissected[row as usize]) {
            let mut column = place[vertex as usize];
            // Climb to the root of what is known so far, and let all on the way point here.
            while column < row {
                let next = std::mem::replace(&mut ancestor[column as usize], row);
                if next == NONE {
                    parent[column as usize] = row;
                    break;
                }
                if next == row {
                    break;
                }
                column = next;
            }
        }
    }
    parent
}

struct Children {
    starts: Vec<usize>,
    list: Vec<u32>,
}

impl Children {
    fn of(&self, column: u32) -> &[u32] {
        &self.list[self.starts[column as usize]..self.starts[column as usize + 1]]
    }
}

fn children(parent: &[u32]) -> Children {
    let mut starts = vec![0; parent.len() + 1];
    for &p in parent.iter().filter(|&&p| p != u32::MAX) {
        starts[p as usize + 1] += 1;
    }
    for column in 0..parent.len() {
        starts[column + 1] += starts[column];
    }
    let mut next = starts.clone();
    let mut list = vec![0; starts[parent.len()]];
    for (child, &p) in parent.iter().enumerate() {
        if p != u32::MAX {
            list[next[p as usize]] = child as u32;
            next[p as usize] += 1;
        }
    }
    Children { starts, list }
}

/// Merge supernodes with their parents where few zeros come in, and list them children first, those with large updates before
/// their siblings, so that large updates do not wait in memory for long.
fn merged(mut supernodes: Vec<Supernode>) -> Vec<Supernode> {
    let mut by_last_column: Vec<usize> = (0..supernodes.len()).collect();
    by_last_column.sort_by_key(|&number| supernodes[number].columns.last().copied());
    for &number in &by_last_column {
        while let Some((child, zeros)) = best_merge(&supernodes, number) {
            let merged = supernodes[number].children[child];
            let mut merged = std::mem::take(&mut supernodes[merged]);
            let parent = &mut supernodes[number];
            parent.children.swap_remove(child);
            parent.children.append(&mut merged.children);
            merged.columns.append(&mut parent.columns);
            parent.columns = merged.columns;
            parent.zeros = zeros;
        }
    }
    let mut is_child = vec![false; supernodes.len()];
    supernodes.iter().flat_map(|supernode| &supernode.children).for_each(|&child| is_child[child] = true);
    let roots = by_last_column.iter().copied().filter(|&s| !is_child[s] && !supernodes[s].columns.is_empty());
    let roots: Vec<usize> = roots.collect();
    for number in 0..supernodes.len() {
        let mut children = std::mem::take(&mut supernodes[number].children);
        children.sort_by_key(|&child| std::cmp::Reverse(supernodes[child].rows.len()));
        supernodes[number].children = children;
        supernodes[number].columns.sort_unstable();
    }
    let mut post_order = Vec::new();
    let mut stack: Vec<(usize, usize)> = roots.into_iter().rev().map(|root| (root, 0)).collect();
    while let Some((number, visited)) = stack.pop() {
        if let Some(&child) = supernodes[number].children.get(visited) {
            stack.push((number, visited + 1));
            stack.push((child, 0));
        } else {
            post_order.push(number);
        }
    }
    let mut new_number = vec![usize::MAX; supernodes.len()];
    post_order.iter().enumerate().for_each(|(new, &old)| new_number[old] = new);
    let renumbered = |&old: &usize| {
        let mut supernode = std::mem::take(&mut supernodes[old]);
        supernode.children.iter_mut().for_each(|child| *child = new_number[*child]);
        supernode
    };
    post_order.iter().map(renumbered).collect()
}

/// The child, by its place in the list, whose merger with its parent brings in the fewest zeros, if few enough; and how many
/// zeros there then are.
fn best_merge(supernodes: &[Supernode], number: usize) -> Option<(usize, usize)> {
    let parent = &supernodes[number];
    let candidates = parent.children.iter().enumerate().filter_map(|(place, &child)| {
        let child = &supernodes[child];
        let columns = child.columns.len() + parent.columns.len();
        let new_zeros = child.columns.len() * (parent.columns.len() + parent.rows.len() - child.rows.len());
        let zeros = new_zeros + child.zeros + parent.zeros;
        let all = columns * (columns + 1) / 2 + columns * parent.rows.len();
        let part = zeros as f64 / all as f64;
        let allowed = ZEROS_ALLOWED.iter().find(|(most, _)| 3 * columns <= *most);
        let allowed = allowed.map_or(ZEROS_ALLOWED_BEYOND, |(_, allowed)| *allowed);
        (new_zeros == 0 || part <= allowed).then_some((new_zeros, place, zeros))
    });
    candidates.min().map(|(_, place, zeros)| (place, zeros))
}

/// Cut the forest into subtrees of similar work, and give every front a place for its update: each subtree in a part of the
/// memory of its own. Returns the subtrees, the fronts above them, and the size of the memory.
fn cut_into_subtrees(fronts: &mut [Front], parent: &[usize]) -> (Vec<Subtree>, Vec<usize>, usize) {
    let mut work = vec![0.0; fronts.len()];
    let mut first_below: Vec<usize> = (0..fronts.len()).collect();
    for number in 0..fronts.len() {
        let front = &fronts[number];
        work[number] += (0..front.width()).map(|column| ((front.height() - column) as f64).powi(2)).sum::<f64>();
        for &child in &front.children {
            first_below[number] = first_below[number].min(first_below[child]);
        }
        if parent[number] != usize::MAX {
            work[parent[number]] += work[number];
        }
    }
    let mut roots: Vec<usize> = (0..fronts.len()).filter(|&number| parent[number] == usize::MAX).collect();
    let total: f64 = roots.iter().map(|&root| work[root]).sum();
    let mut top = Vec::new();
    // Open the largest subtree until all are small.
    while let Some(place) = (0..roots.len()).max_by(|&a, &b| work[roots[a]].total_cmp(&work[roots[b]])) {
        let largest = roots[place];
        if work[largest] <= total / SUBTREES || fronts[largest].children.is_empty() {
            break;
        }
        roots.swap_remove(place);
        top.push(largest);
        roots.extend_from_slice(&fronts[largest].children);
    }
    roots.sort_unstable();
    top.sort_unstable();
    let mut subtrees = Vec::new();
    let mut base = 0;
    for &root in &roots {
        let range = first_below[root]..root + 1;
        let size = place_updates(fronts, parent, range.clone(), base);
        let panels = fronts[range.start].panel..fronts[root].panel + fronts[root].panel_len();
        subtrees.push(Subtree { fronts: range, panels, updates: base..base + size });
        base += size;
    }
    base += place_updates(fronts, parent, top.iter().copied(), base);
    (subtrees, top, base)
}

/// Give each update the first gap that it fits into; a front frees those of its children after it has placed its own. Returns
/// how much memory they take from `base` on.
fn place_updates(fronts: &mut [Front], parent: &[usize], numbers: impl Iterator<Item = usize>, base: usize) -> usize {
    let mut live: Vec<(usize, usize, usize)> = Vec::new();
    let mut end = 0;
    // Without gaps there is nothing to look for, which matters where a front has many thousand children.
    let mut has_gaps = false;
    for number in numbers {
        let size = fronts[number].below().pow(2);
        if size > 0 {
            let last = live.last().map_or(0, |(at, size, _)| at + size);
            let (mut at, mut place) = if has_gaps { (0, 0) } else { (last, live.len()) };
            while place < live.len() && live[place].0 < at + size {
                at = live[place].0 + live[place].1;
                place += 1;
            }
            live.insert(place, (at, size, number));
            fronts[number].update = base + at;
            end = end.max(at + size);
        }
        if !fronts[number].children.is_empty() {
            live.retain(|&(_, _, other)| parent[other] != number);
            has_gaps = !live.is_empty();
        }
    }
    end
}
