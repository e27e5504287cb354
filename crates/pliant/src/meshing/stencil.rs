//! Part of a lattice tetrahedron that remains when its outside is cut away.
//!
//! Each corner is inside, outside, or on the surface. An edge from inside to outside has a cut. The remainder is the
//! tetrahedron, a smaller one, a pyramid or a prism, and the latter two are split into two and three tetrahedra. A
//! quadrilateral face between two tetrahedra must be split in the same way from both sides. The split therefore depends
//! on that face alone \[LabelleShewchuk2007, section 3.2\]:
//!
//! - a face with a cut on a long edge: from that cut
//! - a face with cuts on two short edges: from the end of its long edge that is below the third corner along an even
//!   number of axes

/// Position of a lattice corner relative to the solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Outside,
    Inside,
    /// Moved onto the surface.
    On,
}

/// Corner of a remaining tetrahedron.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Corner {
    /// Corner of the original tetrahedron.
    Original(usize),
    /// Cut of the edge from a corner inside to one outside.
    Cut { inside: usize, outside: usize },
}

use Corner::Original;

/// Remaining tetrahedra.
pub(super) type Remains = Vec<[Corner; 4]>;

/// Computes the remainder of a tetrahedron whose long edges join corners 0 and 1, and 2 and 3.
///
/// `below` returns true if the first corner is below the second along an even number of axes.
pub(super) fn remains(states: [State; 4], below: impl Fn(usize, usize) -> bool, out: &mut Remains) {
    out.clear();
    let with = |state: State| (0..4).filter(move |&i| states[i] == state);
    let (mut inside, mut outside, mut on) = ([0; 4], [0; 4], [0; 4]);
    let gather = |state: State, list: &mut [usize; 4]| {
        with(state).zip(list.iter_mut()).for_each(|(i, slot)| *slot = i);
        with(state).count()
    };
    let counts = (gather(State::Inside, &mut inside), gather(State::Outside, &mut outside), gather(State::On, &mut on));
    let cut = |inside: usize, outside: usize| Corner::Cut { inside, outside };
    // True if the face of `p`, `q` and `n`, with cuts from `p` and `q` to `n`, is split from `p`.
    let from_first = |p: usize, q: usize, n: usize| {
        let long = |i: usize, j: usize| i / 2 == j / 2;
        if long(p, n) { false } else { long(q, n) || below(p, n) }
    };
    match counts {
        (0, ..) => {}
        (_, 0, _) => out.push([0, 1, 2, 3].map(Original)),
        (1, ..) => {
            let p = inside[0];
            out.push([0, 1, 2, 3].map(|i| if states[i] == State::Outside { cut(p, i) } else { Original(i) }));
        }
        (2, 1, _) => {
            let (p, q, n, apex) = (inside[0], inside[1], outside[0], Original(on[0]));
            let (first, second) = if from_first(p, q, n) { (p, q) } else { (q, p) };
            out.push([Original(first), Original(second), cut(second, n), apex]);
            out.push([Original(first), cut(second, n), cut(first, n), apex]);
        }
        (2, ..) => {
            let (p, q, [n, m]) = (inside[0], inside[1], [outside[0], outside[1]]);
            let ends = [[Original(p), cut(p, n), cut(p, m)], [Original(q), cut(q, n), cut(q, m)]];
            let (on_n, on_m) = (from_first(p, q, n), from_first(p, q, m));
            // These always differ, which determines the split of the third face, the one on the surface.
            split_prism(ends, [on_n, on_m, on_m], out);
        }
        _ => {
            let ([p, q, r, _], n) = (inside, outside[0]);
            let ends = [[Original(p), Original(q), Original(r)], [cut(p, n), cut(q, n), cut(r, n)]];
            split_prism(ends, [from_first(p, q, n), from_first(p, r, n), from_first(q, r, n)], out);
        }
    }
}

/// Splits a prism between two triangles. The flags are for the faces at corners 0 and 1, 0 and 2, 1 and 2. A flag is
/// true if the diagonal begins at the first of these corners in the first triangle, else at the second.
fn split_prism([top, bottom]: [[Corner; 3]; 2], [d01, d02, d12]: [bool; 3], out: &mut Remains) {
    let mut order = [0, 1, 2];
    let diagonals = [
        usize::from(d01) + usize::from(d02),
        usize::from(!d01) + usize::from(d12),
        usize::from(!d02) + usize::from(!d12),
    ];
    order.sort_unstable_by_key(|&i| std::cmp::Reverse(diagonals[i]));
    let [a, b, c] = order;
    debug_assert_eq!(order.map(|i| diagonals[i]), [2, 1, 0], "the diagonals do not form a cycle");
    out.push([top[a], bottom[a], bottom[b], bottom[c]]);
    out.push([top[a], top[b], bottom[b], bottom[c]]);
    out.push([top[a], top[b], top[c], bottom[c]]);
}
