//! 3-vectors and 3×3 matrices over any [`Real`], for laws and element kernels.
//!
//! `vec(F)` is row-major: entry `Fᵢⱼ` is number `3i + j`. The derivative of a matrix with respect to `F` is therefore
//! 9×9.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use super::Real;

/// Vector of three components.
pub type Vector<R> = [R; 3];

/// 9×9 matrix, such as `∂P/∂F`, with rows and columns in the order of `vec(F)`.
pub type Matrix9<R> = [[R; 9]; 9];

/// 3×3 matrix in row-major order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix<R>(pub [[R; 3]; 3]);

/// Returns the scalar product `a·b`.
#[inline(always)]
pub fn dot<R: Real>(a: Vector<R>, b: Vector<R>) -> R {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// Returns the cross product `a×b`.
#[inline(always)]
pub fn cross<R: Real>(a: Vector<R>, b: Vector<R>) -> Vector<R> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Returns the multiple `s a`.
#[inline(always)]
pub fn scaled<R: Real>(a: Vector<R>, s: R) -> Vector<R> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// Fills a matrix entry by entry; a macro, because closures keep the compiler from using vector registers.
macro_rules! entries {
    (|$i:ident, $j:ident| $value:expr) => {{
        let mut m = Self::zero();
        for $i in 0..3 {
            for $j in 0..3 {
                m.0[$i][$j] = $value;
            }
        }
        m
    }};
}

impl<R: Real> Matrix<R> {
    /// Returns the zero matrix.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[R::from(0.0); 3]; 3])
    }

    /// Returns `a` times the identity.
    #[inline(always)]
    pub fn diagonal(a: R) -> Self {
        let mut m = Self::zero();
        for i in 0..3 {
            m.0[i][i] = a;
        }
        m
    }

    /// Returns the identity.
    #[inline(always)]
    pub fn identity() -> Self {
        Self::diagonal(R::from(1.0))
    }

    /// Returns the transpose.
    #[inline(always)]
    #[must_use]
    pub fn transpose(&self) -> Self {
        entries!(|i, j| self.0[j][i])
    }

    /// Returns `det A`.
    #[inline(always)]
    pub fn determinant(&self) -> R {
        dot(self.0[0], cross(self.0[1], self.0[2]))
    }

    /// Returns the cofactor matrix `∂ det A / ∂A = det A · A⁻ᵀ`, which is defined for singular matrices too.
    #[inline(always)]
    #[must_use]
    pub fn cofactor(&self) -> Self {
        let [a, b, c] = self.0;
        Self([cross(b, c), cross(c, a), cross(a, b)])
    }

    /// Returns `tr A`.
    #[inline(always)]
    pub fn trace(&self) -> R {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }

    /// Returns `A : B = Σ AᵢⱼBᵢⱼ`.
    #[inline(always)]
    pub fn double_dot(&self, other: &Self) -> R {
        dot(self.0[0], other.0[0]) + dot(self.0[1], other.0[1]) + dot(self.0[2], other.0[2])
    }

    /// Returns `A v`.
    #[inline(always)]
    pub fn times(&self, v: Vector<R>) -> Vector<R> {
        [dot(self.0[0], v), dot(self.0[1], v), dot(self.0[2], v)]
    }

    /// Returns `Aᵀ B`.
    #[inline(always)]
    #[must_use]
    pub fn transpose_times(&self, other: &Self) -> Self {
        self.transpose() * *other
    }

    /// Returns `A Bᵀ`.
    #[inline(always)]
    #[must_use]
    pub fn times_transpose(&self, other: &Self) -> Self {
        entries!(|i, j| dot(self.0[i], other.0[j]))
    }

    /// Returns column `j`.
    #[inline(always)]
    pub fn column(&self, j: usize) -> Vector<R> {
        [self.0[0][j], self.0[1][j], self.0[2][j]]
    }

    /// Builds a matrix from its columns.
    #[inline(always)]
    pub fn from_columns(columns: [Vector<R>; 3]) -> Self {
        Self(columns).transpose()
    }
}

impl<R: Real> Add for Matrix<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        entries!(|i, j| self.0[i][j] + other.0[i][j])
    }
}

impl<R: Real> AddAssign for Matrix<R> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<R: Real> Sub for Matrix<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        entries!(|i, j| self.0[i][j] - other.0[i][j])
    }
}

impl<R: Real> Neg for Matrix<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        entries!(|i, j| -self.0[i][j])
    }
}

impl<R: Real> Mul for Matrix<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        entries!(|i, j| dot(self.0[i], [other.0[0][j], other.0[1][j], other.0[2][j]]))
    }
}

impl<R: Real> Mul<R> for Matrix<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: R) -> Self {
        entries!(|i, j| self.0[i][j] * s)
    }
}
