//! Scalar types of a factor.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use crate::math::Simd;

/// Scalar type of a factor: `f64`, or `f32` for half the memory and twice the speed at lower precision.
pub trait Scalar:
    faer::traits::RealField
    + Copy
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Pivot threshold relative to the diagonal entry: smaller pivots are rounding errors of a singular matrix.
    const MIN_PIVOT: f64;
    /// Converts from `f64`, with rounding.
    fn from_f64(x: f64) -> Self;
    /// Converts to `f64`.
    fn to_f64(self) -> f64;
    /// Computes `self · b + c` with one rounding. It is a library call on machines without the instruction.
    #[must_use]
    fn fused_multiply_add(self, b: Self, c: Self) -> Self;
}

/// Computes `a · b + c`, with one rounding on machines with the registers of `R`.
#[inline(always)]
pub(super) fn multiply_add<T: Scalar, R: Simd>(a: T, b: T, c: T) -> T {
    // Without wide registers, a fused operation would be a call of a library function.
    if R::WIDTH > 1 { a.fused_multiply_add(b, c) } else { a * b + c }
}

macro_rules! scalar {
    ($($type:ty, $min_pivot:literal;)*) => {$(
        impl Scalar for $type {
            const MIN_PIVOT: f64 = $min_pivot;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $type
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn fused_multiply_add(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
        }
    )*};
}
scalar! {
    f64, 2e-12;
    f32, 1e-5;
}
