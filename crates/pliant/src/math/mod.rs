//! Vectors, matrices, and sums that are identical for any number of threads.
//!
//! Geometry uses glam's [`Vec3`] and [`Mat3`]. Laws and element kernels are written over a [`Real`] and use [`Matrix`],
//! so that they run on several elements at a time.

mod decompose;
mod dual;
mod jet;
mod lanes;
pub mod matrix;
mod real;
mod simd;
mod text;

use std::ops::{AddAssign, Range};

pub use decompose::{SignedSvd, nearest_rotation};
pub use dual::Dual;
pub use jet::Jet;
pub use lanes::{LaneMask, Lanes};
pub use matrix::Matrix;
pub use real::Real;
pub use text::short_number;

pub use simd::{Kernel, Simd, Singles, dispatch, fused, lane_count};

pub use glam::{DAffine3 as Affine3, DMat3 as Mat3, DVec3 as Vec3};

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

/// Returns the outer product `a bᵀ`.
pub fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
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

    #[test]
    fn outer_product_has_row_times_column_entries() {
        let m = outer(Vec3::new(1.0, 2.0, 3.0), Vec3::new(5.0, 7.0, 11.0));
        assert_eq!(m.row(1), Vec3::new(10.0, 14.0, 22.0));
    }
}
