//! Numbers that carry all first and second derivatives with respect to three variables. An energy of three invariants
//! or stretches gives its stress and tangent in one pass.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use super::Real;

/// Pairs of variables in the order of [`Jet::hessian`].
const PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// Second-order expansion of a function `f(x₁, x₂, x₃)` at a point: its value, gradient and Hessian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jet<R> {
    /// Value `f`.
    pub value: R,
    /// Gradient `∂f/∂xᵢ`.
    pub gradient: [R; 3],
    /// Hessian `∂²f/∂xᵢ∂xⱼ` for `ij` = 11, 12, 13, 22, 23, 33; see [`second`](Self::second).
    pub hessian: [R; 6],
}

/// Builds a jet component by component; a macro, because closures keep the compiler from using vector registers.
macro_rules! components {
    (value: $value:expr; gradient[$i:ident]: $gradient:expr; hessian[$n:ident, $p:ident, $q:ident]: $hessian:expr;) => {{
        let mut jet = Self::constant($value);
        for $i in 0..3 {
            jet.gradient[$i] = $gradient;
        }
        for $n in 0..6 {
            let ($p, $q) = PAIRS[$n];
            jet.hessian[$n] = $hessian;
        }
        jet
    }};
    (value: $value:expr; gradient[$i:ident]: $gradient:expr; hessian[$n:ident]: $hessian:expr;) => {
        components! { value: $value; gradient[$i]: $gradient; hessian[$n, _p, _q]: $hessian; }
    };
}

impl<R: Real> Jet<R> {
    /// Creates the three variables of differentiation at `point`.
    #[inline(always)]
    pub fn variables(point: [R; 3]) -> [Self; 3] {
        let mut all = [Self::constant(point[0]), Self::constant(point[1]), Self::constant(point[2])];
        for i in 0..3 {
            all[i].gradient[i] = R::from(1.0);
        }
        all
    }

    /// Creates a constant.
    #[inline(always)]
    pub fn constant(value: R) -> Self {
        Self { value, gradient: [R::from(0.0); 3], hessian: [R::from(0.0); 6] }
    }

    /// Returns `∂²f/∂xᵢ∂xⱼ`, with indices from 0.
    #[inline(always)]
    pub fn second(&self, i: usize, j: usize) -> R {
        const PLACE: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
        self.hessian[PLACE[i][j]]
    }

    /// Returns `f(self)` by the chain rule, given `f`, `f′` and `f″` at its value.
    #[inline(always)]
    fn chain(self, f: R, first: R, second: R) -> Self {
        let mut bent = self.gradient;
        for entry in &mut bent {
            *entry *= second;
        }
        components! {
            value: f;
            gradient[i]: self.gradient[i] * first;
            hessian[n, p, q]: bent[p].mul_add(self.gradient[q], self.hessian[n] * first);
        }
    }
}

impl<R: Real> From<f64> for Jet<R> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Self::constant(R::from(x))
    }
}

impl<R: Real> Neg for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        components! {
            value: -self.value;
            gradient[i]: -self.gradient[i];
            hessian[n]: -self.hessian[n];
        }
    }
}

impl<R: Real> Add for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        components! {
            value: self.value + other.value;
            gradient[i]: self.gradient[i] + other.gradient[i];
            hessian[n]: self.hessian[n] + other.hessian[n];
        }
    }
}

impl<R: Real> Sub for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        components! {
            value: self.value - other.value;
            gradient[i]: self.gradient[i] - other.gradient[i];
            hessian[n]: self.hessian[n] - other.hessian[n];
        }
    }
}

impl<R: Real> Mul for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.value, other.value);
        let (da, db) = (self.gradient, other.gradient);
        components! {
            value: a * b;
            gradient[i]: da[i].mul_add(b, a * db[i]);
            hessian[n, p, q]: self.hessian[n].mul_add(b, da[p].mul_add(db[q], da[q].mul_add(db[p], a * other.hessian[n])));
        }
    }
}

impl<R: Real> Div for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // From f = r g: f′ = r′g + rg′, and once more for the second derivatives.
        let (ratio, by) = (self.value / other.value, other.value.recip());
        let (df, dg) = (self.gradient, other.gradient);
        let mut dr = df;
        for i in 0..3 {
            dr[i] = (df[i] - ratio * dg[i]) * by;
        }
        components! {
            value: ratio;
            gradient[i]: dr[i];
            hessian[n, p, q]: (self.hessian[n] - ratio * other.hessian[n] - dr[p].mul_add(dg[q], dr[q] * dg[p])) * by;
        }
    }
}

impl<R: Real> Add<f64> for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, x: f64) -> Self {
        Self { value: self.value + x, ..self }
    }
}

impl<R: Real> Sub<f64> for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, x: f64) -> Self {
        Self { value: self.value - x, ..self }
    }
}

impl<R: Real> Mul<f64> for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, x: f64) -> Self {
        components! {
            value: self.value * x;
            gradient[i]: self.gradient[i] * x;
            hessian[n]: self.hessian[n] * x;
        }
    }
}

impl<R: Real> Div<f64> for Jet<R> {
    type Output = Self;
    #[inline(always)]
    fn div(self, x: f64) -> Self {
        components! {
            value: self.value / x;
            gradient[i]: self.gradient[i] / x;
            hessian[n]: self.hessian[n] / x;
        }
    }
}

impl<R: Real> AddAssign for Jet<R> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<R: Real> SubAssign for Jet<R> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<R: Real> MulAssign for Jet<R> {
    #[inline(always)]
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl<R: Real> Real for Jet<R> {
    type Mask = R::Mask;

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        let first = R::from(0.5) / root;
        self.chain(root, first, first / self.value * -0.5)
    }
    #[inline(always)]
    fn cbrt(self) -> Self {
        let (root, by) = (self.value.cbrt(), self.value.recip());
        let first = root * by * (1.0 / 3.0);
        self.chain(root, first, first * by * (-2.0 / 3.0))
    }
    #[inline(always)]
    fn ln(self) -> Self {
        let by = self.value.recip();
        self.chain(self.value.ln(), by, -(by * by))
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e, e)
    }
    #[inline(always)]
    fn powf(self, exponent: f64) -> Self {
        // Derivatives are computed from the power itself, because one power costs more than all other operations. At 0
        // the quotients are undefined, and the derivatives are 0, 1 or infinite, depending on the exponent alone.
        let (power, by) = (self.value.powf(exponent), self.value.recip());
        let zero = self.value.abs().less(R::from(f64::MIN_POSITIVE));
        let first = power * by * exponent;
        let second = first * by * (exponent - 1.0);
        let first = R::select(zero, R::from(at_zero(exponent, exponent - 1.0)), first);
        let second = R::select(zero, R::from(at_zero(exponent * (exponent - 1.0), exponent - 2.0)), second);
        self.chain(power, first, second)
    }
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        if exponent >= 2 {
            // Without a division, so that it is exact at a value of 0.
            let base = self.value.powi(exponent - 2);
            let (n, lower) = (f64::from(exponent), base * self.value);
            self.chain(lower * self.value, lower * n, base * (n * (n - 1.0)))
        } else {
            let (n, by, power) = (f64::from(exponent), self.value.recip(), self.value.powi(exponent));
            match exponent {
                0 => Self::from(1.0),
                1 => self,
                _ => self.chain(power, power * by * n, power * by * by * (n * (n - 1.0))),
            }
        }
    }
    #[inline(always)]
    fn less(self, other: Self) -> R::Mask {
        self.value.less(other.value)
    }
    #[inline(always)]
    fn select(mask: R::Mask, yes: Self, no: Self) -> Self {
        components! {
            value: R::select(mask, yes.value, no.value);
            gradient[i]: R::select(mask, yes.gradient[i], no.gradient[i]);
            hessian[n]: R::select(mask, yes.hessian[n], no.hessian[n]);
        }
    }
    #[inline(always)]
    fn any(mask: R::Mask) -> bool {
        R::any(mask)
    }
    #[inline(always)]
    fn recip(self) -> Self {
        let by = self.value.recip();
        let first = -(by * by);
        self.chain(by, first, first * by * -2.0)
    }
    #[inline(always)]
    fn squared(self) -> Self {
        self.chain(self.value * self.value, self.value * 2.0, R::from(2.0))
    }
}

/// Returns `factor · 0^exponent`, which is 0 if the factor is 0.
#[inline(always)]
fn at_zero(factor: f64, exponent: f64) -> f64 {
    if factor == 0.0 || exponent > 0.0 {
        0.0
    } else if exponent < 0.0 {
        factor * f64::INFINITY
    } else {
        factor
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dual;
    use super::*;
    use proptest::prelude::*;

    type Named<R> = (&'static str, fn([R; 3]) -> R);

    /// Returns all operations, each with every variable.
    fn functions<R: Real>() -> Vec<Named<R>> {
        vec![
            ("sum", |[x, y, z]| -(x + 2.0) * 3.0 - (y - z / 4.0) / 5.0 + R::from(7.0)),
            ("product", |[x, y, z]| x * y * z + x.mul_add(y, z)),
            ("quotient", |[x, y, z]| (x * y + 1.0) / (z - x * 7.0 - y)),
            ("recip", |[x, y, z]| (x * y + z).recip()),
            ("squared", |[x, y, z]| (x - y * z).squared()),
            ("sqrt", |[x, y, z]| (x * y + z).sqrt()),
            ("cbrt", |[x, y, z]| (x * y - z - 20.0).cbrt()),
            ("ln", |[x, y, z]| (x * y).ln() * z.ln()),
            ("exp", |[x, y, z]| (x - y * z * 0.2).exp()),
            ("powf", |[x, y, z]| (x * y + z).powf(-2.0 / 3.0) + x.powf(2.5)),
            ("powi", |[x, y, z]| (x - y * z).powi(5) + x.powi(3) * y.powi(1) + z.powi(0)),
            ("negative powi", |[x, y, z]| (x * y + z).powi(-3) + (x - y * z - 20.0).powi(-1)),
            ("abs", |[x, y, z]| (x - y * z).abs() * x),
            ("min max", |[x, y, z]| (x * x).max(y * z) + y.squared().min(z * x)),
            ("assign", |[x, y, z]| {
                let mut a = x;
                a *= y;
                a += z * z;
                a -= x * z;
                a
            }),
        ]
    }

    proptest! {
        #[test]
        fn jets_have_the_derivatives_of_nested_dual_numbers(point in [0.3..4.0_f64, 0.3..4.0, 0.3..4.0]) {
            type Second = Dual<Dual<f64>>;
            for (n, (name, f)) in functions::<Jet<f64>>().into_iter().enumerate() {
                let jet = f(Jet::variables(point));
                let plain = functions::<f64>()[n].1(point);
                // Terms of up to 1e6 may cancel.
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
                prop_assert!(close(jet.value, plain), "{name}");
                let nested = functions::<Second>()[n].1;
                for i in 0..3 {
                    for j in 0..3 {
                        let mut at = point.map(Second::from);
                        at[i].value.slope = 1.0;
                        at[j].slope.value = 1.0;
                        let expected = nested(at);
                        prop_assert!(close(jet.gradient[i], expected.value.slope), "{name}: {jet:?}, {expected:?}");
                        prop_assert!(close(jet.second(i, j), expected.slope.slope), "{name}: {jet:?}, {expected:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn powers_of_zero_have_the_derivatives_that_exist() {
        let at_zero = |f: fn(Jet<f64>) -> Jet<f64>| {
            let jet = f(Jet::variables([0.0, 1.0, 1.0])[0]);
            (jet.value, jet.gradient[0], jet.hessian[0])
        };
        assert_eq!(at_zero(|x| x.powf(2.5)), (0.0, 0.0, 0.0));
        assert_eq!(at_zero(|x| x.powf(2.0)), (0.0, 0.0, 2.0));
        assert_eq!(at_zero(|x| x.powf(1.5)), (0.0, 0.0, f64::INFINITY));
        assert_eq!(at_zero(|x| x.powf(1.0)), (0.0, 1.0, 0.0));
        assert_eq!(at_zero(|x| x.powi(2)), (0.0, 0.0, 2.0));
        assert_eq!(at_zero(|x| x.powi(1)), (0.0, 1.0, 0.0));
        assert_eq!(at_zero(|x| x.powi(3)), (0.0, 0.0, 0.0));
    }
}
