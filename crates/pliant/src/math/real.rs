//! Scalar type of laws and element kernels.
//!
//! A law is written once, with ordinary operators, and runs on an `f64`, on several elements at a time in the lanes of
//! a vector register, or on a number that carries its derivatives ([`Dual`](super::Dual),
//! [`Jet`](super::Jet)).

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// Real number, or several of them in lanes.
pub trait Real:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + From<f64>
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// Result of a comparison: one truth value, or one per lane.
    type Mask: Copy;

    /// Computes `self · a + b`, with one rounding if the machine has the instruction.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Returns `√self`.
    #[must_use]
    fn sqrt(self) -> Self;
    /// Returns `∛self`.
    #[must_use]
    fn cbrt(self) -> Self;
    /// Returns the natural logarithm.
    #[must_use]
    fn ln(self) -> Self;
    /// Returns `e` to the power of `self`.
    #[must_use]
    fn exp(self) -> Self;
    /// Returns `self` to a constant power.
    #[must_use]
    fn powf(self, exponent: f64) -> Self;
    /// Compares `self < other`, by value.
    fn less(self, other: Self) -> Self::Mask;
    /// Returns `yes` where `mask` is true, `no` elsewhere.
    #[must_use]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Returns true if the mask is true in any lane, so that a kernel can skip unnecessary work.
    fn any(mask: Self::Mask) -> bool;

    /// Returns `1 / self`.
    #[inline(always)]
    #[must_use]
    fn recip(self) -> Self {
        Self::from(1.0) / self
    }

    /// Returns the maximum, by value.
    #[inline(always)]
    #[must_use]
    fn max(self, other: Self) -> Self {
        Self::select(self.less(other), other, self)
    }

    /// Returns the minimum, by value.
    #[inline(always)]
    #[must_use]
    fn min(self, other: Self) -> Self {
        Self::select(self.less(other), self, other)
    }

    /// Returns `|self|`, by value.
    #[inline(always)]
    #[must_use]
    fn abs(self) -> Self {
        Self::select(self.less(Self::from(0.0)), -self, self)
    }

    /// Returns `self` to an integer power, by repeated multiplication; negative numbers are allowed.
    #[inline(always)]
    #[must_use]
    fn powi(self, exponent: i32) -> Self {
        let (mut power, mut square, mut left) = (Self::from(1.0), self, exponent.unsigned_abs());
        while left > 0 {
            if left % 2 == 1 {
                power *= square;
            }
            left /= 2;
            if left > 0 {
                square *= square;
            }
        }
        if exponent < 0 { power.recip() } else { power }
    }

    /// Returns `self²`.
    #[inline(always)]
    #[must_use]
    fn squared(self) -> Self {
        self * self
    }
}

impl Real for f64 {
    type Mask = bool;

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        // Without the instruction, a single rounding costs a library call.
        self * a + b
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn cbrt(self) -> Self {
        f64::cbrt(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        f64::ln(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        f64::exp(self)
    }
    #[inline(always)]
    fn powf(self, exponent: f64) -> Self {
        f64::powf(self, exponent)
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn any(mask: bool) -> bool {
        mask
    }
}
