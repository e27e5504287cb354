//! The numbers that a factor may be made of.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use crate::math::Simd;

/// `f64`, or `f32` where half the memory and twice the speed matter more than digits.
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
    /// What elimination leaves of a diagonal entry of a singular matrix is rounding: below this part of the entry.
    const LEAST_PIVOT: f64;
    /// Rounded to this type.
    fn from_f64(x: f64) -> Self;
    /// As `f64`.
    fn to_f64(self) -> f64;
    /// `a · b + c`, with one rounding on machines with the registers of `R`.
    fn multiply_add<R: Simd>(a: Self, b: Self, c: Self) -> Self;
}

macro_rules! scalar {
    ($($type:ty, $least_pivot:literal;)*) => {$(
        impl Scalar for $type {
            const LEAST_PIVOT: f64 = $least_pivot;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $type
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn multiply_add<R: Simd>(a: Self, b: Self, c: Self) -> Self {
                // Without wide registers, one rounding would cost a call of a library function.
                if R::WIDTH > 1 { a.mul_add(b, c) } else { a * b + c }
            }
        }
    )*};
}
scalar! {
    f64, 2e-12;
    f32, 1e-5;
}
