//! Vectors, matrices, and sums that come out the same for any number of threads.
//!
//! Geometry uses glam's [`Vec3`] and [`Mat3`]. Laws and element kernels are written over a [`Real`] and use [`Matrix`], so that
//! they run on several elements at a time.

mod decompose;
mod dual;
mod jet;
mod lanes;
pub mod matrix;
mod real;
mod simd;

use std::ops::AddAssign;

use rayon::prelude::*;

pub use decompose::SignedSvd;
pub use dual::Dual;
pub use jet::Jet;
pub use lanes::{LaneMask, Lanes};
pub use matrix::Matrix;
pub use real::Real;
pub use simd::{Kernel, Simd, dispatch};

pub use glam::{DAffine3 as Affine3, DMat3 as Mat3, DVec3 as Vec3};

/// How many terms [`par_sum`] adds one after the other. Fixed, so that the order of additions, and with it the
/// rounding, depends on the data alone; small, so that rounding grows with the number of chunks and not of terms.
const SUM_CHUNK: usize = 1024;

/// `zero + Σ term(i)` for `i` in `0..count`, in parallel, bitwise the same for any number of threads.
///
/// The zero is given because the default of a matrix type may be the identity.
pub fn par_sum<T, F>(zero: T, count: usize, term: F) -> T
where
    T: AddAssign + Copy + Send + Sync,
    F: Fn(usize) -> T + Sync,
{
    let chunks: Vec<T> = (0..count.div_ceil(SUM_CHUNK))
        .into_par_iter()
        .map(|chunk| sum(zero, (chunk * SUM_CHUNK..((chunk + 1) * SUM_CHUNK).min(count)).map(&term)))
        .collect();
    sum(zero, chunks)
}

fn sum<T: AddAssign>(zero: T, terms: impl IntoIterator<Item = T>) -> T {
    let mut total = zero;
    for term in terms {
        total += term;
    }
    total
}

/// The matrix `a bᵀ`.
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
