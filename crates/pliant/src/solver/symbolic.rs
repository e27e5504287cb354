//! Symbolic analysis of a sparsity pattern for Cholesky factorization, done once per body, independent of the numerical
//! values.
//!
//! Vertices are eliminated in nested dissection order. Consecutive vertices with the same structure below the diagonal
//! form a front, a dense matrix in which they are eliminated \[DuffReid1983\]. Small fronts are merged with their
//! parents at the cost of some explicit zeros. The Schur complement of a front, its update, is added to its parent.
//!
//! Pivots may be known to be negative: then the matrix is quasi-definite, and its factor exists in any order
//! \[Vanderbei1995\].

use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use super::dissection::dissect;
use super::ordering::Graph;
use super::trapezoid::Trapezoid;
use crate::sparse::BlockPattern;

/// Error for a pattern that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the matrix is too large: expected at most {most} blocks, found {blocks}")]
#[non_exhaustive]
pub struct PatternTooLarge {
    /// Number of blocks in the upper triangle.
    pub blocks: usize,
    /// Maximum number of blocks.
    pub most: usize,
}

/// Symbolic factorization, shared by all matrices of one pattern.
#[derive(Debug, Clone)]
pub struct Symbolic {
    pub(super) pattern: Arc<BlockPattern>,
    /// Elimination order: the vertex at each place.
    pub(super) order: Vec<u32>,
    /// Fronts, children before parents.
    pub(super) fronts: Vec<Front>,
    /// Destinations of the blocks of the matrix, front by front.
    pub(super) entries: Vec<Entry>,
    /// Groups of independent subtrees that can be processed in parallel, and the fronts above all of them.
    pub(super) groups: Vec<Group>,
    pub(super) top: Vec<usize>,
    /// Offset of the solution at each vertex in the vectors of the fronts.
    pub(super) solution: Vec<usize>,
    /// Offset of the panels of `top` in the memory for panels and updates, and the size of that memory.
    pub(super) top_panels: usize,
    pub(super) numbers_len: usize,
    /// Length of the vectors of the fronts in `top`, and of all fronts.
    pub(super) top_vectors_len: usize,
    pub(super) vectors_len: usize,
    /// True if some pivots are negative.
    has_negative: bool,
    info: SymbolicInfo,
}

/// Sign of the pivots of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sign {
    /// Positive, for an unknown in which the energy is convex: a displacement.
    #[default]
    Positive,
    /// Negative, for a Lagrange multiplier.
    Negative,
}

/// Work and memory of a factorization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SymbolicInfo {
    /// Number of entries of the factor, including explicit zeros from merged fronts.
    pub fill: usize,
    /// Number of floating-point operations.
    pub operations: f64,
    /// Number of values kept in memory: factor, updates and a few vectors.
    pub memory: usize,
    /// Number of rows of the largest front.
    pub largest_front: usize,
    /// Number of fronts.
    pub fronts: usize,
}

/// Dense panel of the columns of the pivots of a front: the triangle of the pivots, and the rows below it.
#[derive(Debug, Clone)]
pub(super) struct Front {
    /// First place of the pivots. Those with positive signs come first.
    pub first: usize,
    pub pivots: usize,
    pub positive: usize,
    /// Places of the rows below the pivots, ascending.
    pub rows: Vec<u32>,
    pub children: Vec<usize>,
    pub parent: Option<usize>,
    /// Positions of the rows in the parent front.
    pub in_parent: Vec<Run>,
    /// Offsets of the panel and the update in the memory for both.
    pub panel: usize,
    pub update: usize,
    /// Offset of the part of a right-hand side in the vectors of the fronts.
    pub vector: usize,
    pub entries: Range<usize>,
}

impl Front {
    /// Returns the number of scalar rows of the panel.
    pub fn height(&self) -> usize {
        3 * (self.pivots + self.rows.len())
    }

    /// Returns the number of scalar columns of the panel.
    pub fn width(&self) -> usize {
        3 * self.pivots
    }

    /// Returns the number of scalar rows, and columns, of the update.
    pub fn below(&self) -> usize {
        3 * self.rows.len()
    }

    /// Returns the end offset of the panel.
    pub fn panel_end(&self) -> usize {
        self.panel + self.panel_shape().len()
    }

    /// Returns the shape of the panel.
    pub fn panel_shape(&self) -> Trapezoid {
        Trapezoid { rows: self.height(), columns: self.width() }
    }

    /// Returns the shape of the update.
    pub fn update_shape(&self) -> Trapezoid {
        Trapezoid { rows: self.below(), columns: self.below() }
    }

    /// Returns the range of the part of a right-hand side.
    pub fn vector(&self) -> Range<usize> {
        self.vector..self.vector + self.height()
    }

    fn operations(&self) -> f64 {
        (0..self.width()).map(|column| ((self.height() - column) as f64).powi(2)).sum()
    }
}

/// Consecutive rows of a front that are consecutive in its parent: `length` vertices, starting at `from` in the front
/// and at `to` in the parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub from: u32,
    pub to: u32,
    pub length: u32,
}

/// Block of the matrix with its row and column in a front, counted in vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub slot: u32,
    pub transposed: bool,
    pub row: u32,
    pub column: u32,
}

/// Fronts that depend on no other group, processed in sequence, with separate parts of all memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    /// Fronts, children before parents.
    pub fronts: Vec<usize>,
    pub panels: Range<usize>,
    pub updates: Range<usize>,
    pub vectors: Range<usize>,
}

/// Candidate numbers of groups. More groups suit more threads but take more memory, and threads share large fronts
/// anyway. The first candidate is used whose updates fit into panels that are not computed yet, except for a few
/// numbers or a small fraction. The choice does not depend on the number of threads.
const GROUPS: [usize; 4] = [16, 8, 4, 2];
const FEW_NUMBERS: usize = 1_000_000;
const SMALL_PART: f64 = 0.1;
/// Approximate number of subtrees per group.
const SUBTREES: usize = 4;

/// Maximum fraction of zeros in a merged front, by its number of columns. Beyond the last entry, 0.05.
const ZEROS_ALLOWED: [(usize, f64); 4] = [(12, 1.0), (24, 0.5), (48, 0.25), (96, 0.12)];
const ZEROS_ALLOWED_BEYOND: f64 = 0.05;

impl Symbolic {
    /// Analyzes a pattern for positive definite matrices.
    pub fn new(pattern: Arc<BlockPattern>) -> Result<Self, PatternTooLarge> {
        Self::analyze(pattern, &[])
    }

    /// Analyzes a pattern for quasi-definite matrices, with the sign of the pivots of each vertex.
    ///
    /// Vertices with negative signs are eliminated after their neighbors. Saddle-point systems whose multipliers have a
    /// zero diagonal can therefore be factorized.
    ///
    /// # Panics
    /// If the number of signs differs from the number of vertices.
    pub fn with_signs(pattern: Arc<BlockPattern>, signs: &[Sign]) -> Result<Self, PatternTooLarge> {
        assert_eq!(signs.len(), pattern.node_count(), "one sign per vertex");
        Self::analyze(pattern, signs)
    }

    /// Analyzes a pattern. Without signs, all pivots are positive.
    fn analyze(pattern: Arc<BlockPattern>, signs: &[Sign]) -> Result<Self, PatternTooLarge> {
        let too_large = PatternTooLarge { blocks: pattern.slot_count(), most: u32::MAX as usize / 2 };
        let graph = Graph::new(&pattern).ok_or(too_large)?;
        let mut dissected = dissect(&graph);
        if signs.contains(&Sign::Negative) {
            dissected = negative_last(&graph, &dissected, signs);
        }
        let supernodes = merged(supernodes(&graph, &dissected));
        Ok(Self::from_supernodes(pattern, &graph, &dissected, signs, supernodes))
    }

    /// Returns the work and memory of a factorization.
    pub fn info(&self) -> &SymbolicInfo {
        &self.info
    }

    /// Returns the analyzed pattern.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// Returns true if some pivots are negative.
    pub fn has_negative(&self) -> bool {
        self.has_negative
    }

    fn from_supernodes(
        pattern: Arc<BlockPattern>,
        graph: &Graph,
        dissected: &[u32],
        signs: &[Sign],
        mut supernodes: Vec<Supernode>,
    ) -> Self {
        let is_negative = |vertex: u32| signs.get(vertex as usize) == Some(&Sign::Negative);
        let n = graph.vertex_count();
        // Final places: those of one front together, children before parents.
        let mut place_of_dissected = vec![0_u32; n];
        let mut order = Vec::with_capacity(n);
        let mut fronts: Vec<Front> = Vec::with_capacity(supernodes.len());
        let mut parent = vec![None; supernodes.len()];
        for (number, supernode) in supernodes.iter_mut().enumerate() {
            supernode.children.iter().for_each(|&child| parent[child] = Some(number));
            supernode.columns.sort_by_key(|&column| (is_negative(dissected[column as usize]), column));
            for &column in &supernode.columns {
                place_of_dissected[column as usize] = order.len() as u32;
                order.push(dissected[column as usize]);
            }
        }
        let mut first = 0;
        for (supernode, parent) in supernodes.into_iter().zip(parent) {
            let pivots = supernode.columns.len();
            let is_positive = |place: &usize| !is_negative(order[*place]);
            let mut rows: Vec<u32> = supernode.rows.iter().map(|&row| place_of_dissected[row as usize]).collect();
            rows.sort_unstable();
            let front = Front {
                first,
                pivots,
                positive: (first..first + pivots).filter(is_positive).count(),
                rows,
                children: supernode.children,
                parent,
                in_parent: Vec::new(),
                panel: 0,
                update: 0,
                vector: 0,
                entries: 0..0,
            };
            first += pivots;
            fronts.push(front);
        }
        let mut place_of_vertex = vec![0_u32; n];
        for (place, &vertex) in order.iter().enumerate() {
            place_of_vertex[vertex as usize] = place as u32;
        }
        // Row of each place in the current front.
        let mut row_of_place = vec![0_u32; n];
        let mut entries = Vec::with_capacity(pattern.slot_count());
        for number in 0..fronts.len() {
            let front = &fronts[number];
            let (first, pivots) = (front.first, front.pivots);
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
                for row in std::iter::once(column).chain(graph.neighbors(column).iter().copied()) {
                    if place_of_vertex[row as usize] as usize >= first + pivot {
                        let slot = pattern.slot(row, column).expect("neighbors have a block") as u32;
                        let transposed = row > column;
                        let row = row_of_place[place_of_vertex[row as usize] as usize];
                        entries.push(Entry { slot, transposed, row, column: pivot as u32 });
                    }
                }
            }
            fronts[number].entries = start..entries.len();
        }
        let Placed { mut groups, top, top_panels, numbers_len } = place_numbers(&mut fronts);
        let (top_vectors_len, vectors_len) = place_vectors(&mut fronts, &mut groups, &top);
        let memory = numbers_len + vectors_len;
        Self {
            pattern,
            solution: solution_places(&fronts, &order),
            info: info(&fronts, memory),
            order,
            has_negative: fronts.iter().any(|front| front.positive < front.pivots),
            fronts,
            entries,
            groups,
            top,
            top_panels,
            numbers_len,
            top_vectors_len,
            vectors_len,
        }
    }
}

fn info(fronts: &[Front], memory: usize) -> SymbolicInfo {
    let fill = |front: &Front| (0..front.width()).map(|column| front.height() - column).sum::<usize>();
    SymbolicInfo {
        fill: fronts.iter().map(fill).sum(),
        operations: fronts.iter().map(Front::operations).sum(),
        memory,
        largest_front: fronts.iter().map(Front::height).max().unwrap_or(0),
        fronts: fronts.len(),
    }
}

/// Returns the offset of the solution at each vertex in the vectors of the fronts.
fn solution_places(fronts: &[Front], order: &[u32]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    for front in fronts {
        for pivot in 0..front.pivots {
            places[order[front.first + pivot] as usize] = front.vector + 3 * pivot;
        }
    }
    places
}

/// Returns the order with vertices of negative sign moved directly behind the last of their neighbors of positive sign.
fn negative_last(graph: &Graph, dissected: &[u32], signs: &[Sign]) -> Vec<u32> {
    let mut place = vec![0_u32; dissected.len()];
    for (at, &vertex) in dissected.iter().enumerate() {
        place[vertex as usize] = at as u32;
    }
    let is_negative = |vertex: u32| signs[vertex as usize] == Sign::Negative;
    let after = |vertex: u32| {
        let own = place[vertex as usize];
        let neighbors = graph.neighbors(vertex).iter().filter(|&&other| is_negative(vertex) && !is_negative(other));
        neighbors.map(|&other| place[other as usize]).fold(own, u32::max)
    };
    let mut order = dissected.to_vec();
    order.sort_by_cached_key(|&vertex| (after(vertex), is_negative(vertex), place[vertex as usize]));
    order
}

/// Returns the rows of a child in its parent, in runs that do not cross from the pivots of the parent to the rows
/// below.
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
#[derive(Debug, Clone, Default)]
struct Supernode {
    columns: Vec<u32>,
    rows: Vec<u32>,
    children: Vec<usize>,
    /// Number of zero blocks introduced by merging.
    zeros: usize,
}

/// Returns the fundamental supernodes: columns with the same structure below the diagonal, with their rows.
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
    // Rows of each column, until its parent has taken them over.
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
        graph.neighbors(dissected[column as usize]).iter().for_each(|&vertex| see(place[vertex as usize]));
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

/// Returns the parent of each column in the elimination tree: the first row below its diagonal \[Liu1986\], or
/// `u32::MAX` for a root.
fn elimination_tree(graph: &Graph, dissected: &[u32], place: &[u32]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let n = dissected.len();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for row in 0..n as u32 {
        for &vertex in graph.neighbors(dissected[row as usize]) {
            let mut column = place[vertex as usize];
            // Climb to the root of the current tree with path compression.
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

/// Merges supernodes with their parents where this introduces few zeros. Lists them in postorder, with large updates
/// before their siblings, so that these do not stay in memory for long.
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

/// Returns the position of the child whose merger with its parent introduces the fewest zeros, if few enough, and the
/// resulting number of zeros.
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

/// Partitions the forest into independent groups of similar work. Returns them and the fronts above them.
fn group(fronts: &[Front], count: usize) -> (Vec<Group>, Vec<usize>) {
    let mut work: Vec<f64> = fronts.iter().map(Front::operations).collect();
    let mut first_below: Vec<usize> = (0..fronts.len()).collect();
    for (number, front) in fronts.iter().enumerate() {
        if let Some(parent) = front.parent {
            work[parent] += work[number];
            first_below[parent] = first_below[parent].min(first_below[number]);
        }
    }
    let mut roots: Vec<usize> = (0..fronts.len()).filter(|&number| fronts[number].parent.is_none()).collect();
    let total: f64 = roots.iter().map(|&root| work[root]).sum();
    // Split the largest subtree until all are small.
    while let Some(place) = (0..roots.len()).max_by(|&a, &b| work[roots[a]].total_cmp(&work[roots[b]])) {
        let largest = roots[place];
        if work[largest] <= total / (SUBTREES * count) as f64 || fronts[largest].children.is_empty() {
            break;
        }
        roots.swap_remove(place);
        roots.extend_from_slice(&fronts[largest].children);
    }
    roots.sort_unstable();
    // Neighboring subtrees form a group.
    let total: f64 = roots.iter().map(|&root| work[root]).sum();
    let (mut starts, mut before) = (vec![0], 0.0);
    for &root in &roots {
        if before + work[root] / 2.0 > total * starts.len() as f64 / count as f64 && first_below[root] > 0 {
            starts.push(first_below[root]);
        }
        before += work[root];
    }
    // Each group has all fronts whose subtree lies between two starts.
    let mut groups = vec![Group::default(); starts.len()];
    let mut top = Vec::new();
    let mut group = 0;
    for (number, &first_below) in first_below.iter().enumerate() {
        while starts.get(group + 1).is_some_and(|&next| next <= number) {
            group += 1;
        }
        if first_below >= starts[group] { groups[group].fronts.push(number) } else { top.push(number) }
    }
    (groups, top)
}

/// Assigns every front its part of the vectors: fronts in `top` first, then each group. Returns the length for `top`
/// and the total length.
fn place_vectors(fronts: &mut [Front], groups: &mut [Group], top: &[usize]) -> (usize, usize) {
    let mut end = 0;
    let mut place = |numbers: &[usize]| {
        let start = end;
        for &number in numbers {
            fronts[number].vector = end;
            end += fronts[number].height();
        }
        start..end
    };
    let top_len = place(top).end;
    for group in groups.iter_mut() {
        group.vectors = place(&group.fronts);
    }
    (top_len, groups.last().map_or(top_len, |group| group.vectors.end))
}

/// Groups, fronts above them, offset of the panels of the latter, and size of the memory for panels and updates.
struct Placed {
    groups: Vec<Group>,
    top: Vec<usize>,
    top_panels: usize,
    numbers_len: usize,
}

/// Forms groups, and assigns every panel and every update its memory.
fn place_numbers(fronts: &mut [Front]) -> Placed {
    let panels: usize = fronts.iter().map(|front| front.panel_shape().len()).sum();
    let most = panels + FEW_NUMBERS.max((SMALL_PART * panels as f64) as usize);
    let mut counts = GROUPS.iter();
    loop {
        let count = *counts.next().expect("the last one is always taken");
        let (mut groups, top) = group(fronts, count);
        let (top_panels, numbers_len) = place_in_groups(fronts, &mut groups, &top);
        if numbers_len <= most || counts.len() == 0 {
            return Placed { groups, top, top_panels, numbers_len };
        }
    }
}

/// Assigns every panel and every update its memory. Returns the offset of the panels of `top` and the size of the
/// memory.
///
/// Panels of groups come first, then those of `top` in order. Until panels are computed, updates occupy their memory:
/// each lies beyond the panel of the front that consumes it, so that it is not overwritten before. A group puts updates
/// where its later panels will be, and into an exclusive part of the rest while groups are processed.
fn place_in_groups(fronts: &mut [Front], groups: &mut [Group], top: &[usize]) -> (usize, usize) {
    let panels_len = |fronts: &[Front], numbers: &[usize]| {
        numbers.iter().map(|&number| fronts[number].panel_shape().len()).sum::<usize>()
    };
    let mut panels_end = 0;
    for group in groups.iter_mut() {
        group.panels = panels_end..panels_end + panels_len(fronts, &group.fronts);
        panels_end = group.panels.end;
    }
    let top_panels = panels_end;
    place_panels(fronts, top, top_panels);
    let mut parts: Vec<(usize, &mut Group, Vec<Update>)> = Vec::new();
    for group in groups.iter_mut() {
        // Initially as if the rest began at the end of the panels of the group.
        let (end, last) = (group.panels.len(), *group.fronts.last().expect("a group has fronts"));
        place_panels(fronts, &group.fronts, 0);
        let mut gaps = Gaps { live: vec![Update { at: end, length: 0, front: last }], end };
        for &number in &group.fronts {
            let is_for_top = fronts[number].parent.is_none_or(|parent| top.binary_search(&parent).is_ok());
            let least = if is_for_top { end } else { taken_by(fronts, number) };
            gaps.place(fronts, number, least);
        }
        // Minimum start of its part, so that its updates for `top` lie beyond the panels there.
        let least = |update: &Update| taken_by(fronts, update.front).saturating_sub(update.at - end);
        let least = gaps.live.iter().map(least).max().unwrap_or(0);
        group.updates = 0..gaps.end - end;
        parts.push((least, group, gaps.live));
    }
    parts.sort_by_key(|(least, ..)| *least);
    let mut left = Gaps { live: Vec::new(), end: top_panels };
    let mut panels_end = 0;
    for (least, group, live) in parts {
        let (panels, start) = (group.panels.len(), left.end.max(least));
        left.end = start + group.updates.len();
        group.updates = start..left.end;
        group.panels = panels_end..panels_end + panels;
        panels_end += panels;
        place_panels(fronts, &group.fronts, group.panels.start);
        for &number in &group.fronts {
            let update = &mut fronts[number].update;
            *update = if *update < panels { group.panels.start + *update } else { start + *update - panels };
        }
        left.live.extend(live.into_iter().map(|update| Update { at: start + update.at - panels, ..update }));
    }
    groups.sort_by_key(|group| group.panels.start);
    for &number in top {
        let least = taken_by(fronts, number);
        left.place(fronts, number, least);
    }
    let panels_end = top_panels + panels_len(fronts, top);
    (top_panels, left.end.max(panels_end))
}

fn place_panels(fronts: &mut [Front], numbers: &[usize], start: usize) {
    let mut end = start;
    for &number in numbers {
        fronts[number].panel = end;
        end = fronts[number].panel_end();
    }
}

/// Returns the end offset of the panel that consumes the update of a front.
fn taken_by(fronts: &[Front], number: usize) -> usize {
    fronts[number].parent.map_or(0, |parent| fronts[parent].panel_end())
}

/// Memory in which updates are allocated and freed.
#[derive(Debug, Clone)]
struct Gaps {
    /// Live updates, sorted by offset.
    live: Vec<Update>,
    end: usize,
}

#[derive(Debug, Clone, Copy)]
struct Update {
    at: usize,
    length: usize,
    front: usize,
}

impl Gaps {
    /// Allocates an update in the smallest sufficient gap from `least` on, then frees the updates of the children.
    fn place(&mut self, fronts: &mut [Front], number: usize, least: usize) {
        /// Number of updates above which gaps are not searched: a front can have thousands of children.
        const MANY: usize = 1000;
        let length = fronts[number].update_shape().len();
        if length > 0 {
            let after_last = self.live.last().map_or(0, |last| last.at + last.length).max(least);
            let (mut at, mut place, mut smallest) = (after_last, self.live.len(), usize::MAX);
            let mut gap_start = least;
            let all = if self.live.len() < MANY { &self.live[..] } else { &[] };
            for (next, other) in all.iter().enumerate() {
                let gap = other.at.saturating_sub(gap_start);
                if gap >= length && gap < smallest {
                    (at, place, smallest) = (gap_start, next, gap);
                }
                gap_start = gap_start.max(other.at + other.length);
            }
            self.live.insert(place, Update { at, length, front: number });
            fronts[number].update = at;
            self.end = self.end.max(at + length);
        }
        if !fronts[number].children.is_empty() {
            self.live.retain(|other| fronts[other.front].parent != Some(number));
        }
    }
}
