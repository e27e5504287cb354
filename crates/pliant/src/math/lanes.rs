//! Several reals in an array: the reference for tests of vector registers.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use super::Real;

/// Array of `N` reals. With `FUSED`, products and sums are rounded once, for machines that have the instruction;
/// elsewhere it would be a slow library call.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes<const N: usize, const FUSED: bool>(pub [f64; N]);

/// Truth value per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneMask<const N: usize>(pub [bool; N]);

macro_rules! lanewise {
    (|$i:ident| $value:expr) => {{
        let mut lanes = [0.0; N];
        for $i in 0..N {
            lanes[$i] = $value;
        }
        Self(lanes)
    }};
}

macro_rules! operator {
    ($trait:ident, $method:ident, $assign_trait:ident, $assign:ident, $op:tt) => {
        impl<const N: usize, const FUSED: bool> $trait for Lanes<N, FUSED> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                lanewise!(|i| self.0[i] $op other.0[i])
            }
        }
        impl<const N: usize, const FUSED: bool> $trait<f64> for Lanes<N, FUSED> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                lanewise!(|i| self.0[i] $op other)
            }
        }
        impl<const N: usize, const FUSED: bool> $assign_trait for Lanes<N, FUSED> {
            #[inline(always)]
            fn $assign(&mut self, other: Self) {
                *self = *self $op other;
            }
        }
    };
}
operator!(Add, add, AddAssign, add_assign, +);
operator!(Sub, sub, SubAssign, sub_assign, -);
operator!(Mul, mul, MulAssign, mul_assign, *);

impl<const N: usize, const FUSED: bool> Div for Lanes<N, FUSED> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        lanewise!(|i| self.0[i] / other.0[i])
    }
}

impl<const N: usize, const FUSED: bool> Div<f64> for Lanes<N, FUSED> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: f64) -> Self {
        lanewise!(|i| self.0[i] / other)
    }
}

impl<const N: usize, const FUSED: bool> Neg for Lanes<N, FUSED> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        lanewise!(|i| -self.0[i])
    }
}

impl<const N: usize, const FUSED: bool> From<f64> for Lanes<N, FUSED> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Self([x; N])
    }
}

impl<const N: usize, const FUSED: bool> Real for Lanes<N, FUSED> {
    type Mask = LaneMask<N>;

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        if FUSED {
            lanewise!(|i| self.0[i].mul_add(a.0[i], b.0[i]))
        } else {
            lanewise!(|i| self.0[i] * a.0[i] + b.0[i])
        }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        lanewise!(|i| self.0[i].sqrt())
    }
    #[inline(always)]
    fn cbrt(self) -> Self {
        lanewise!(|i| self.0[i].cbrt())
    }
    #[inline(always)]
    fn ln(self) -> Self {
        lanewise!(|i| self.0[i].ln())
    }
    #[inline(always)]
    fn exp(self) -> Self {
        lanewise!(|i| self.0[i].exp())
    }
    #[inline(always)]
    fn powf(self, exponent: f64) -> Self {
        lanewise!(|i| self.0[i].powf(exponent))
    }
    #[inline(always)]
    fn less(self, other: Self) -> LaneMask<N> {
        let mut mask = [false; N];
        for i in 0..N {
            mask[i] = self.0[i] < other.0[i];
        }
        LaneMask(mask)
    }
    #[inline(always)]
    fn select(mask: LaneMask<N>, yes: Self, no: Self) -> Self {
        lanewise!(|i| if mask.0[i] { yes.0[i] } else { no.0[i] })
    }
    #[inline(always)]
    fn any(mask: LaneMask<N>) -> bool {
        mask.0.contains(&true)
    }
}
