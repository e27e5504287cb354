//! Matrices whose couplings change, for solvers that factorize.

use std::sync::Arc;

use super::Operator;
use crate::sparse::{BlockMatrix, BlockPattern};

/// Number of matrices without varying couplings after which their blocks are dropped from the pattern.
const MAX_UNUSED: usize = 20;

/// Maximum number of blocks of varying couplings, relative to those in use, before the pattern is made again.
const MAX_EXTRA: usize = 2;

/// Sum of the two parts of an [`Operator`], in a pattern that has the blocks of both.
///
/// The pattern grows when a block is missing, and keeps blocks that are not in use for a while, as every new pattern
/// costs a symbolic analysis.
#[derive(Debug, Clone, Default)]
pub(super) struct Union {
    grown: Option<Grown>,
}

#[derive(Debug, Clone)]
struct Grown {
    /// Pattern of the fixed part.
    base: Arc<BlockPattern>,
    /// Slot of each block of the fixed part.
    slots: Vec<usize>,
    matrix: BlockMatrix,
    /// Number of matrices since the last one with varying couplings.
    unused: usize,
}

impl Union {
    /// Returns the matrix of an operator.
    pub fn of<'a>(&'a mut self, operator: &'a Operator) -> &'a BlockMatrix {
        let (base, low_rank) = (operator.matrix.pattern(), &operator.low_rank);
        let grown = self.grown.take().filter(|grown| Arc::ptr_eq(&grown.base, base));
        if low_rank.is_empty() {
            // The pattern stays, as contacts are likely to come back.
            self.grown = grown.filter(|grown| grown.unused < MAX_UNUSED);
        } else {
            let fits = |grown: &Grown| low_rank.fits(grown.matrix.pattern());
            self.grown = Some(match grown {
                Some(grown) if fits(&grown) => Grown { unused: 0, ..grown },
                grown => {
                    let needed = low_rank.union(base);
                    let extra = MAX_EXTRA * (needed.slot_count() - base.slot_count());
                    let all = grown.map(|grown| low_rank.union(grown.matrix.pattern()));
                    let pattern = all.filter(|all| all.slot_count() <= base.slot_count() + extra).unwrap_or(needed);
                    let slots = pattern.slots_of(base).collect();
                    Grown { base: base.clone(), slots, matrix: BlockMatrix::zero(Arc::new(pattern)), unused: 0 }
                }
            });
        }
        let Some(grown) = &mut self.grown else { return &operator.matrix };
        grown.unused += usize::from(low_rank.is_empty());
        grown.matrix.clear();
        let (blocks, _) = grown.matrix.values_mut().as_chunks_mut::<9>();
        for (block, &slot) in operator.matrix.values().as_chunks::<9>().0.iter().zip(&grown.slots) {
            blocks[slot] = *block;
        }
        low_rank.add_to(&mut grown.matrix);
        &grown.matrix
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::solver::testing::bar;

    fn pattern(union: &mut Union, operator: &Operator) -> Arc<BlockPattern> {
        union.of(operator).pattern().clone()
    }

    #[test]
    fn the_pattern_grows_when_a_block_is_missing_and_shrinks_when_none_is_used_for_long() {
        let mut operator = bar([8, 2, 2], 1e5, 0.01, 0.3);
        let last = operator.matrix.pattern().node_count() as u32 - 1;
        let mut union = Union::default();
        assert!(Arc::ptr_eq(&pattern(&mut union, &operator), operator.matrix.pattern()));
        operator.low_rank.push(5.0, [(0, Vec3::X), (last, -Vec3::X)]);
        let first = pattern(&mut union, &operator);
        assert_eq!(first.slot_count(), operator.matrix.pattern().slot_count() + 1);
        assert_eq!(union.of(&operator).block(0, last)[0][0], -5.0);
        assert!(Arc::ptr_eq(&pattern(&mut union, &operator), &first));
        operator.low_rank.push(5.0, [(1, Vec3::X), (last, -Vec3::X)]);
        assert_eq!(pattern(&mut union, &operator).slot_count(), first.slot_count() + 1);
        operator.low_rank.clear();
        for _ in 0..MAX_UNUSED {
            let matrix = union.of(&operator);
            assert_eq!(matrix.block(0, last)[0][0], 0.0);
            assert_eq!(matrix.pattern().slot_count(), first.slot_count() + 1);
        }
        assert!(Arc::ptr_eq(&pattern(&mut union, &operator), operator.matrix.pattern()));
    }

    #[test]
    fn a_pattern_whose_blocks_are_mostly_unused_is_made_again() {
        let mut operator = bar([8, 2, 2], 1e5, 0.01, 0.3);
        let (last, base) = (operator.matrix.pattern().node_count() as u32 - 1, operator.matrix.pattern().slot_count());
        let mut union = Union::default();
        for first in 0..10 {
            operator.low_rank.clear();
            operator.low_rank.push(1.0, [(first, Vec3::X), (last, Vec3::Y)]);
            assert!(union.of(&operator).pattern().slot_count() <= base + MAX_EXTRA);
        }
    }
}
