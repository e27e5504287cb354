//! Dual numbers, which carry a derivative, so that a law may be given by its energy alone.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use super::Real;

/// Dual number `value + slope·ε` with `ε² = 0`: functions of it carry their derivative in `slope`. Nested dual numbers
/// carry second derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<R> {
    /// Value.
    pub value: R,
    /// Derivative.
    pub slope: R,
}

impl<R: Real> Dual<R> {
    /// Creates a variable of differentiation, with a derivative of 1.
    #[inline]
    pub fn variable(value: R) -> Self {
        Self { value, slope: R::from(1.0) }
    }

    /// Creates a constant, with a derivative of 0.
    #[inline]
    pub fn constant(value: R) -> Self {
        Self { value, slope: R::from(0.0) }
    }

    /// Returns `f(self)` by the chain rule, given `f` and `f′` at its value.
    #[inline]
    fn chain(self, f: R, derivative: R) -> Self {
        Self { value: f, slope: self.slope * derivative }
    }
}

impl<R: Real> From<f64> for Dual<R> {
    #[inline]
    fn from(x: f64) -> Self {
        Self::constant(R::from(x))
    }
}

impl<R: Real> Neg for Dual<R> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl<R: Real> Add for Dual<R> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl<R: Real> Sub for Dual<R> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl<R: Real> Mul for Dual<R> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self { value: self.value * other.value, slope: self.slope * other.value + self.value * other.slope }
    }
}

impl<R: Real> Div for Dual<R> {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, slope: (self.slope - value * other.slope) / other.value }
    }
}

macro_rules! with_f64 {
    ($($trait:ident $method:ident: |$dual:ident, $x:ident| $value:expr, $slope:expr;)*) => {$(
        impl<R: Real> $trait<f64> for Dual<R> {
            type Output = Self;
            #[inline]
            fn $method(self, $x: f64) -> Self {
                let $dual = self;
                Self { value: $value, slope: $slope }
            }
        }
    )*};
}
with_f64! {
    Add add: |d, x| d.value + x, d.slope;
    Sub sub: |d, x| d.value - x, d.slope;
    Mul mul: |d, x| d.value * x, d.slope * x;
    Div div: |d, x| d.value / x, d.slope / x;
}

impl<R: Real> AddAssign for Dual<R> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<R: Real> SubAssign for Dual<R> {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<R: Real> MulAssign for Dual<R> {
    #[inline]
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl<R: Real> Real for Dual<R> {
    type Mask = R::Mask;

    #[inline]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }
    #[inline]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, R::from(0.5) / root)
    }
    #[inline]
    fn cbrt(self) -> Self {
        let root = self.value.cbrt();
        self.chain(root, root / (self.value * 3.0))
    }
    #[inline]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.recip())
    }
    #[inline]
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e)
    }
    #[inline]
    fn powf(self, exponent: f64) -> Self {
        self.chain(self.value.powf(exponent), self.value.powf(exponent - 1.0) * exponent)
    }
    #[inline]
    fn less(self, other: Self) -> R::Mask {
        self.value.less(other.value)
    }
    #[inline]
    fn select(mask: R::Mask, yes: Self, no: Self) -> Self {
        Self { value: R::select(mask, yes.value, no.value), slope: R::select(mask, yes.slope, no.slope) }
    }
    #[inline]
    fn any(mask: R::Mask) -> bool {
        R::any(mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Named<R> = (&'static str, fn(R) -> R);

    fn functions<R: Real>() -> Vec<Named<R>> {
        vec![
            ("quotient", |x| (x * x + 1.0) / (x - 7.0)),
            ("sqrt", |x| (x * 2.0 + 1.0).sqrt()),
            ("cbrt", |x| x.cbrt() * x),
            ("ln", |x| x.ln() * x.ln()),
            ("exp", |x| (-x * 0.5).exp()),
            ("powf", |x| x.powf(-2.0 / 3.0)),
            ("powi", |x| (x - 2.0).powi(5) * 0.1 + (x + 1.0).powi(-3)),
            ("abs", |x| (x - 2.0).abs() * x),
            ("min max", |x| (x * x).max(x * 3.0) + x.min(R::from(1.5))),
        ]
    }

    proptest! {
        #[test]
        fn slopes_are_derivatives_first_and_second(x in 0.3..4.0_f64) {
            // Not at the kinks of abs, min and max.
            prop_assume!((x - 2.0).abs() > 1e-3 && (x - 3.0).abs() > 1e-3 && (x - 1.5).abs() > 1e-3);
            let h = 1e-5;
            for (i, (name, f)) in functions::<f64>().into_iter().enumerate() {
                let first = functions::<Dual<f64>>()[i].1;
                let second = functions::<Dual<Dual<f64>>>()[i].1;
                let d = first(Dual::variable(x));
                prop_assert!((d.value - f(x)).abs() < 1e-13 * (1.0 + f(x).abs()), "{name}");
                prop_assert!((d.slope - (f(x + h) - f(x - h)) / (2.0 * h)).abs() < 3e-8 * (1.0 + d.slope.abs()), "{name}");
                let at = |x: f64| first(Dual::variable(x)).slope;
                let dd = second(Dual { value: Dual::variable(x), slope: Dual::from(1.0) });
                prop_assert!((dd.slope.slope - (at(x + h) - at(x - h)) / (2.0 * h)).abs() < 1e-7 * (1.0 + dd.slope.slope.abs()), "{name}");
            }
        }
    }
}
