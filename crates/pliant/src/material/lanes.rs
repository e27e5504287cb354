//! Values at several points in the lanes of vector registers, and operations on them that do not depend on the law.

use super::inversion::Inversion;
use super::principal::{PAIRS, Principal};
use crate::math::matrix::{Matrix9, Vector};
use crate::math::{Kernel, Matrix, SignedSvd, Simd, dispatch};

/// Number of points evaluated together, equal to the number of values in the widest registers. Narrower registers
/// process them in turn.
pub const LANES: usize = 8;

/// Values at [`LANES`] points, stored entry by entry (structure of arrays).
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub struct Points<const ENTRIES: usize>(pub [[f64; LANES]; ENTRIES]);

impl<const ENTRIES: usize> Points<ENTRIES> {
    /// All entries zero.
    pub const ZERO: Self = Self([[0.0; LANES]; ENTRIES]);

    /// Returns the three entries starting at `first`, for the lanes starting at `lane`.
    #[inline(always)]
    pub(super) fn vector<R: Simd>(&self, first: usize, lane: usize) -> Vector<R> {
        let mut v = [R::from(0.0); 3];
        for i in 0..3 {
            v[i] = R::load(&self.0[first + i][lane..]);
        }
        v
    }

    /// Returns nine entries as a matrix, row by row.
    #[inline(always)]
    pub(super) fn matrix<R: Simd>(&self, first: usize, lane: usize) -> Matrix<R> {
        Matrix([self.vector(first, lane), self.vector(first + 3, lane), self.vector(first + 6, lane)])
    }

    #[inline(always)]
    pub(super) fn set_vector<R: Simd>(&mut self, first: usize, lane: usize, v: &Vector<R>) {
        for i in 0..3 {
            v[i].store(&mut self.0[first + i][lane..]);
        }
    }

    #[inline(always)]
    pub(super) fn set_matrix<R: Simd>(&mut self, first: usize, lane: usize, m: &Matrix<R>) {
        for i in 0..3 {
            self.set_vector(first + 3 * i, lane, &m.0[i]);
        }
    }
}

impl Points<9> {
    /// Returns `det F` at each point.
    #[inline(always)]
    pub fn determinants(&self) -> [f64; LANES] {
        std::array::from_fn(|lane| {
            let f = |i: usize, j: usize| self.0[3 * i + j][lane];
            f(0, 0) * (f(1, 1) * f(2, 2) - f(1, 2) * f(2, 1)) - f(0, 1) * (f(1, 0) * f(2, 2) - f(1, 2) * f(2, 0))
                + f(0, 2) * (f(1, 0) * f(2, 1) - f(1, 1) * f(2, 0))
        })
    }
}

impl Points<3> {
    /// Returns the matrices with these diagonals.
    pub(super) fn diagonal(&self) -> Points<9> {
        let mut f = Points::ZERO;
        for i in 0..3 {
            f.0[4 * i] = self.0[i];
        }
        f
    }
}

/// Number of stored entries of a symmetric 9×9 matrix: its upper triangle, row by row.
pub const TANGENT_ENTRIES: usize = 45;

/// Storage index of entry `(m, n)` of a symmetric 9×9 matrix.
pub const TANGENT_INDEX: [[usize; 9]; 9] = {
    let mut place = [[0; 9]; 9];
    let (mut m, mut next) = (0, 0);
    while m < 9 {
        let mut n = m;
        while n < 9 {
            (place[m][n], place[n][m]) = (next, next);
            next += 1;
            n += 1;
        }
        m += 1;
    }
    place
};

/// Stores the upper triangle. The lower one is never used, so the compiler does not compute it.
#[inline(always)]
pub(super) fn store_tangent<R: Simd>(tangent: &Matrix9<R>, to: &mut Points<TANGENT_ENTRIES>, lane: usize) {
    for m in 0..9 {
        for n in m..9 {
            tangent[m][n].store(&mut to.0[TANGENT_INDEX[m][n]][lane..]);
        }
    }
}

/// [`SignedSvd`] of the matrices at [`LANES`] points.
pub(super) struct Svd {
    u: Points<9>,
    pub sigma: Points<3>,
    v: Points<9>,
}

impl Svd {
    pub fn new(f: &Points<9>) -> Self {
        struct Decompose<'a>(&'a Points<9>);
        impl Kernel for Decompose<'_> {
            type Output = Svd;
            #[inline(always)]
            fn run<R: Simd>(self) -> Svd {
                let mut all = Svd { u: Points::ZERO, sigma: Points::ZERO, v: Points::ZERO };
                for lane in (0..LANES).step_by(R::WIDTH) {
                    let svd = SignedSvd::new(&self.0.matrix::<R>(0, lane));
                    all.u.set_matrix(0, lane, &svd.u);
                    all.sigma.set_vector(0, lane, &svd.sigma);
                    all.v.set_matrix(0, lane, &svd.v);
                }
                all
            }
        }
        dispatch(Decompose(f))
    }

    #[inline(always)]
    fn load<R: Simd>(&self, lane: usize) -> SignedSvd<R> {
        SignedSvd { u: self.u.matrix(0, lane), sigma: self.sigma.vector(0, lane), v: self.v.matrix(0, lane) }
    }

    /// Computes the stress `U diag(g) Vᵀ`.
    pub fn compose(&self, principal: &PrincipalPoints, stresses: &mut Points<9>) {
        struct Compose<'a>(&'a Svd, &'a PrincipalPoints, &'a mut Points<9>);
        impl Kernel for Compose<'_> {
            type Output = ();
            #[inline(always)]
            fn run<R: Simd>(self) {
                for lane in (0..LANES).step_by(R::WIDTH) {
                    self.2.set_matrix(0, lane, &self.1.load::<R>(lane).stress(&self.0.load(lane)));
                }
            }
        }
        dispatch(Compose(self, principal, stresses));
    }

    /// Computes the tangent, transformed back from the singular basis.
    pub fn to_global(&self, principal: &PrincipalPoints, tangents: &mut Points<TANGENT_ENTRIES>) {
        struct TurnBack<'a>(&'a Svd, &'a PrincipalPoints, &'a mut Points<TANGENT_ENTRIES>);
        impl Kernel for TurnBack<'_> {
            type Output = ();
            #[inline(always)]
            fn run<R: Simd>(self) {
                for lane in (0..LANES).step_by(R::WIDTH) {
                    store_tangent(&self.1.load::<R>(lane).tangent(&self.0.load(lane)), self.2, lane);
                }
            }
        }
        dispatch(TurnBack(self, principal, tangents));
    }
}

/// [`Principal`] at [`LANES`] points: gradient, Hessian, flips, twists.
pub(super) struct PrincipalPoints(Points<18>);

impl PrincipalPoints {
    /// Extracts the principal derivatives from the stress and tangent of a law at `diag(σ)`.
    pub fn of_diagonal(stress: &Points<9>, tangent: &Points<TANGENT_ENTRIES>) -> Self {
        let mut all = Self(Points::ZERO);
        for i in 0..3 {
            all.0.0[i] = stress.0[4 * i];
            for j in 0..3 {
                all.0.0[3 + 3 * i + j] = tangent.0[TANGENT_INDEX[4 * i][4 * j]];
            }
        }
        for (pair, (i, j)) in PAIRS.into_iter().enumerate() {
            let same = &tangent.0[TANGENT_INDEX[3 * i + j][3 * i + j]];
            let crossed = &tangent.0[TANGENT_INDEX[3 * i + j][3 * j + i]];
            for lane in 0..LANES {
                all.0.0[12 + pair][lane] = same[lane] + crossed[lane];
                all.0.0[15 + pair][lane] = same[lane] - crossed[lane];
            }
        }
        all
    }

    #[inline(always)]
    pub fn load<R: Simd>(&self, lane: usize) -> Principal<R> {
        Principal {
            gradient: self.0.vector(0, lane),
            hessian: self.0.matrix(3, lane),
            flip: self.0.vector(12, lane),
            twist: self.0.vector(15, lane),
        }
    }

    #[inline(always)]
    pub fn store<R: Simd>(&mut self, lane: usize, principal: &Principal<R>) {
        self.0.set_vector(0, lane, &principal.gradient);
        self.0.set_matrix(3, lane, &principal.hessian);
        self.0.set_vector(12, lane, &principal.flip);
        self.0.set_vector(15, lane, &principal.twist);
    }

    /// Sets the values of one lane.
    pub fn set(&mut self, lane: usize, principal: &Principal<f64>) {
        for i in 0..3 {
            self.0.0[i][lane] = principal.gradient[i];
            self.0.0[12 + i][lane] = principal.flip[i];
            self.0.0[15 + i][lane] = principal.twist[i];
            for j in 0..3 {
                self.0.0[3 + 3 * i + j][lane] = principal.hessian.0[i][j];
            }
        }
    }

    /// Projects the tangents onto the positive semi-definite matrices by raising negative eigenvalues to zero.
    pub fn project(&mut self) {
        struct Project<'a>(&'a mut PrincipalPoints);
        impl Kernel for Project<'_> {
            type Output = ();
            #[inline(always)]
            fn run<R: Simd>(self) {
                for lane in (0..LANES).step_by(R::WIDTH) {
                    let mut principal = self.0.load::<R>(lane);
                    principal.project();
                    self.0.store(lane, &principal);
                }
            }
        }
        dispatch(Project(self));
    }
}

impl Inversion {
    /// Returns true if any of these points may have a stretch below the threshold. Cheap: `σ₃ = J / σ₁σ₂ ≥ 2J / ‖F‖²`,
    /// as `σ₁σ₂ ≤ ½(σ₁² + σ₂²)`.
    pub(super) fn may_act(self, f: &Points<9>) -> bool {
        struct Below<'a>(&'a Points<9>, f64);
        impl Kernel for Below<'_> {
            type Output = bool;
            #[inline(always)]
            fn run<R: Simd>(self) -> bool {
                let mut any = false;
                for lane in (0..LANES).step_by(R::WIDTH) {
                    let f = self.0.matrix::<R>(0, lane);
                    any |= R::any((f.determinant() * 2.0).less(f.double_dot(&f) * self.1));
                }
                any
            }
        }
        self.threshold().is_some_and(|threshold| dispatch(Below(f, threshold)))
    }

    /// Returns the stretches, with those below the threshold raised to it. A NaN stays a NaN.
    pub(super) fn raised(self, sigma: &Points<3>) -> Points<3> {
        let min = self.threshold().unwrap_or(f64::NEG_INFINITY);
        Points(sigma.0.map(|of| of.map(|stretch| if stretch < min { min } else { stretch })))
    }
}
