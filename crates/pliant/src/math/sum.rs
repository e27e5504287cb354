//! Sums that are identical for any number of threads.

use std::ops::{AddAssign, Range};

/// Number of terms that [`par_sum`] adds sequentially. It is constant, so that the order of additions and the rounding
/// depend on the data alone. It is small, so that rounding errors grow with the number of chunks, not of terms.
const SUM_CHUNK: usize = 1024;

/// Computes `zero + Σ term(i)` for `i` in `0..count` in parallel, bitwise identical for any number of threads.
///
/// The zero is given because the default of a matrix type may be the identity.
pub fn par_sum<T, F>(zero: T, count: usize, term: F) -> T
where
    T: AddAssign + Copy + Send + Sync,
    F: Fn(usize) -> T + Sync,
{
    par_sum_in(SUM_CHUNK, zero, count, term)
}

/// Computes a [`par_sum`] of costly terms, with `grain` terms per parallel task.
pub fn par_sum_in<T, F>(grain: usize, zero: T, count: usize, term: F) -> T
where
    T: AddAssign + Copy + Send + Sync,
    F: Fn(usize) -> T + Sync,
{
    sum_range(grain, &zero, 0..count, &term)
}

/// Bisects the range down to chunks. The cuts depend on the count alone. Nothing is allocated.
fn sum_range<T, F>(grain: usize, zero: &T, range: Range<usize>, term: &F) -> T
where
    T: AddAssign + Copy + Send + Sync,
    F: Fn(usize) -> T + Sync,
{
    let mut total = *zero;
    if range.len() <= grain {
        for i in range {
            total += term(i);
        }
    } else {
        let middle = range.start + range.len() / 2;
        let halves = [range.start..middle, middle..range.end];
        let [low, high] = halves.map(|half| move || sum_range(grain, zero, half, term));
        let (low, high) = rayon::join(low, high);
        total += low;
        total += high;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_bitwise_equal_on_one_and_many_threads() {
        let term = |i: usize| 1.0 / (1.0 + i as f64);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| par_sum(0.0, 100_003, term)).to_bits()
        };
        assert_eq!(on(1), on(7));
    }
}
