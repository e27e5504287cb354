//! Polar and singular value decompositions of 3×3 matrices, without branches, so that they run over lanes.

use super::Real;
use super::matrix::{Matrix, Vector, cross, dot, scaled};

/// Maximum number of Jacobi sweeps. The method converges quadratically; for 3×3 in double precision five always
/// suffice.
const SWEEPS: usize = 5;

/// Convergence tolerance, relative to `‖F‖²`. A sweep leaves products of columns about as large as the largest before
/// it times the tangent of the largest angle. Below this value, the next sweep would change nothing.
const CONVERGED: f64 = 1e-17;

/// Replacement for zero in a denominator: far below any relevant length, far above the underflow of squares.
const TINY: f64 = 1e-150;

/// Singular value decomposition `F = U Σ Vᵀ` with rotations `U` and `V` (determinant +1) and `σ₁ ≥ σ₂ ≥ |σ₃|`. `σ₃` is
/// negative if `F` is inverted.
#[derive(Debug, Clone, Copy)]
pub struct SignedSvd<R> {
    /// Left rotation.
    pub u: Matrix<R>,
    /// Principal stretches.
    pub sigma: Vector<R>,
    /// Right rotation.
    pub v: Matrix<R>,
}

impl<R: Real> SignedSvd<R> {
    /// Decomposes `f` by one-sided Jacobi rotations. `V` rotates its columns until they are orthogonal
    /// \[Hestenes1958\], and `U` contains the normalized columns.
    #[inline(always)]
    pub fn new(f: &Matrix<R>) -> Self {
        let (mut b, mut v) = (*f, Matrix::identity());
        let limit = f.double_dot(f) * CONVERGED;
        for _ in 0..SWEEPS {
            let [tan_01, off_01] = rotate(&mut b, &mut v, 0, 1);
            let [tan_02, off_02] = rotate(&mut b, &mut v, 0, 2);
            let [tan_12, off_12] = rotate(&mut b, &mut v, 1, 2);
            let left = tan_01.max(tan_02).max(tan_12) * off_01.max(off_02).max(off_12);
            if !R::any(limit.less(left)) {
                break;
            }
        }
        order(&mut b, &mut v, 0, 1);
        order(&mut b, &mut v, 0, 2);
        order(&mut b, &mut v, 1, 2);
        let [b0, b1, b2] = [b.column(0), b.column(1), b.column(2)];
        let length0 = dot(b0, b0).sqrt();
        // For a body flattened to a point, any direction is valid.
        let none0 = length0.less(R::from(TINY));
        let u0 = select(none0, [R::from(1.0), R::from(0.0), R::from(0.0)], scaled(b0, (length0 + TINY).recip()));
        let along = dot(u0, b1);
        let across = [b1[0] - along * u0[0], b1[1] - along * u0[1], b1[2] - along * u0[2]];
        let length1 = dot(across, across).sqrt();
        // For a body flattened to a line, the second direction is rounding error: any perpendicular direction is valid.
        let none1 = length1.less(length0 * 1e-15 + TINY);
        let u1 = select(none1, perpendicular(u0), scaled(across, (length1 + TINY).recip()));
        let u2 = cross(u0, u1);
        Self { u: Matrix::from_columns([u0, u1, u2]), sigma: [length0, dot(u1, b1), dot(u2, b2)], v }
    }

    /// Returns the rotation `U Vᵀ`, the nearest to `F` among all rotations.
    #[inline(always)]
    pub fn rotation(&self) -> Matrix<R> {
        self.u.times_transpose(&self.v)
    }

    /// Computes `U diag(d) Vᵀ`.
    #[inline(always)]
    pub fn compose(&self, d: Vector<R>) -> Matrix<R> {
        let mut scaled = self.u;
        for i in 0..3 {
            for j in 0..3 {
                scaled.0[i][j] *= d[j];
            }
        }
        scaled.times_transpose(&self.v)
    }
}

/// Computes the rotation nearest to `f`, also if `f` is inverted, at a fifth of the cost of a [`SignedSvd`].
///
/// It is the derivative of `s = σ₁ + σ₂ + σ₃`, the largest root of `(s² − a)² − 8Js − 4b` with `a = ‖F‖²`, `b = ½(a² −
/// ‖FᵀF‖²)` and `J = det F`. Differentiating the equation gives `R = (½(s² + a) F + s cof F − F FᵀF) / (½s(s² − a) −
/// J)`, whose denominator is `(σ₁+σ₂)(σ₂+σ₃)(σ₁+σ₃)`. Where that is small, the rotation is ill-conditioned and is
/// computed by the decomposition.
#[inline(always)]
pub fn nearest_rotation<R: Real>(f: &Matrix<R>) -> Matrix<R> {
    /// Minimum denominator, relative to `‖F‖³`, at which the quotient keeps thirteen digits.
    const MIN_DENOMINATOR: f64 = 0.01;
    let c = f.transpose_times(f);
    let a = c.trace();
    let b = (a * a - c.double_dot(&c)) * 0.5;
    let j = f.determinant();
    // Newton's method from above, where the quartic is convex, decreases to the root without overshooting.
    let mut s = (a * 3.0).sqrt();
    for _ in 0..20 {
        let excess = s * s - a;
        let change = (excess * excess - j * s * 8.0 - b * 4.0) / (excess * s * 4.0 - j * 8.0 + TINY);
        s -= change;
        // The error after this step is about the square of the change.
        if !R::any((s * 1e-9).less(change.abs())) {
            break;
        }
    }
    let denominator = s * (s * s - a) * 0.5 - j;
    let factor = denominator.recip();
    let linear = *f * (((s * s + a) * 0.5) * factor);
    let quotient = linear + f.cofactor() * (s * factor) - (*f * c) * factor;
    let ill = denominator.less(a * a.sqrt() * MIN_DENOMINATOR + TINY);
    if !R::any(ill) {
        return quotient;
    }
    let decomposed = SignedSvd::new(f).rotation();
    let mut r = quotient;
    for i in 0..3 {
        r.0[i] = select(ill, decomposed.0[i], quotient.0[i]);
    }
    r
}

/// Makes columns `p` and `q` of `b` orthogonal by a Jacobi rotation, and rotates those of `v` as well. Returns the
/// magnitudes of the tangent of the angle and of the scalar product that the columns had.
#[inline(always)]
fn rotate<R: Real>(b: &mut Matrix<R>, v: &mut Matrix<R>, p: usize, q: usize) -> [R; 2] {
    let (x, y) = (b.column(p), b.column(q));
    let (off, difference) = (dot(x, y), dot(y, y) - dot(x, x));
    // The tangent of the angle is the smaller of the two solutions: 2a / (d ± √(d² + 4a²)), with the sign of d.
    let root = (difference * difference + off * off * 4.0).sqrt();
    let denominator = difference.abs() + root + TINY;
    let tan = off * 2.0 / R::select(difference.less(R::from(0.0)), -denominator, denominator);
    let cos = (tan * tan + 1.0).sqrt().recip();
    let sin = tan * cos;
    for i in 0..3 {
        let (x, y) = (b.0[i][p], b.0[i][q]);
        b.0[i][p] = cos * x - sin * y;
        b.0[i][q] = sin * x + cos * y;
        let (x, y) = (v.0[i][p], v.0[i][q]);
        v.0[i][p] = cos * x - sin * y;
        v.0[i][q] = sin * x + cos * y;
    }
    [tan.abs(), off.abs()]
}

/// Exchanges columns `p < q` if the later is longer. One changes its sign, so that `v` remains a rotation.
#[inline(always)]
fn order<R: Real>(b: &mut Matrix<R>, v: &mut Matrix<R>, p: usize, q: usize) {
    let (x, y) = (b.column(p), b.column(q));
    let exchange = dot(x, x).less(dot(y, y));
    for m in [b, v] {
        for row in &mut m.0 {
            let (x, y) = (row[p], row[q]);
            row[p] = R::select(exchange, y, x);
            row[q] = R::select(exchange, -x, y);
        }
    }
}

#[inline(always)]
fn select<R: Real>(mask: R::Mask, yes: Vector<R>, no: Vector<R>) -> Vector<R> {
    [R::select(mask, yes[0], no[0]), R::select(mask, yes[1], no[1]), R::select(mask, yes[2], no[2])]
}

/// Returns a unit vector perpendicular to the unit vector `a`, from the axis along which `a` has its smallest
/// component.
#[inline(always)]
fn perpendicular<R: Real>(a: Vector<R>) -> Vector<R> {
    let zero = R::from(0.0);
    let by_x = [zero, a[2], -a[1]];
    let by_y = [-a[2], zero, a[0]];
    let x_small = (a[0] * a[0]).less(R::from(0.5));
    let across = select(x_small, by_x, by_y);
    scaled(across, dot(across, across).sqrt().recip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Lanes;

    fn random(rng: &mut fastrand::Rng) -> Matrix<f64> {
        let mut m = Matrix::zero();
        m.0.as_flattened_mut().iter_mut().for_each(|x| *x = 4.0 * rng.f64() - 2.0);
        m
    }

    fn distance(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
        let d = *a - *b;
        d.double_dot(&d).sqrt()
    }

    fn assert_svd(f: &Matrix<f64>, scale: f64) {
        let svd = SignedSvd::new(f);
        let identity = Matrix::identity();
        for rotation in [svd.u, svd.v] {
            assert!(distance(&rotation.times_transpose(&rotation), &identity) < 1e-14, "{f:?} {svd:?}");
            assert!((rotation.determinant() - 1.0).abs() < 1e-14);
        }
        assert!(distance(&svd.compose(svd.sigma), f) <= 1e-14 * scale, "{f:?} {svd:?}");
        let [a, b, c] = svd.sigma;
        assert!(a >= b - 1e-15 * scale && b >= c.abs() - 1e-15 * scale, "{:?}", svd.sigma);
        assert!(c * f.determinant() >= -1e-14 * scale.powi(4), "the sign of the last stretch");
    }

    #[test]
    fn random_inverted_flat_and_rotated_matrices_are_decomposed() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let f = random(&mut rng);
            assert_svd(&f, 4.0);
            // Rank two, rank one, and almost so.
            let mut flat = f;
            flat.0[2] = scaled(flat.0[1], rng.f64() * 1e-3);
            assert_svd(&flat, 4.0);
            flat.0[1] = scaled(flat.0[0], -0.5);
            flat.0[2] = scaled(flat.0[0], 1e-9);
            assert_svd(&flat, 4.0);
            // Nearly a rotation, with equal stretches.
            let r = SignedSvd::new(&f).rotation();
            assert_svd(&r, 1.0);
            assert_svd(&(r + f * 1e-9), 1.0);
            assert_svd(&-r, 1.0);
        }
        assert_svd(&Matrix::zero(), 1.0);
        assert_svd(&Matrix::identity(), 1.0);
        assert_svd(&(Matrix::identity() * 1e-30), 1e-30);
        assert_svd(&(Matrix::identity() * 1e30), 1e30);
    }

    #[test]
    fn the_rotation_of_a_stretched_rotation_is_found() {
        let mut rng = fastrand::Rng::with_seed(2);
        for _ in 0..1000 {
            let r = SignedSvd::new(&random(&mut rng)).rotation();
            let half = random(&mut rng);
            let stretch = half.times_transpose(&half) + Matrix::identity() * 0.1;
            assert!(distance(&SignedSvd::new(&(r * stretch)).rotation(), &r) < 1e-12);
        }
    }

    #[test]
    fn the_nearest_rotation_is_that_of_the_decomposition() {
        let mut rng = fastrand::Rng::with_seed(5);
        for i in 0..20_000 {
            let mut f = random(&mut rng);
            if i % 4 == 1 {
                // Nearly a rotation, then flat, then nearly a line.
                f = SignedSvd::new(&f).rotation() + f * 1e-3;
            } else if i % 4 == 2 {
                f.0[2] = scaled(f.0[1], rng.f64());
            } else if i % 4 == 3 {
                f.0[1] = scaled(f.0[0], 1e-7);
            }
            let svd = SignedSvd::new(&f);
            let gap = (svd.sigma[1] + svd.sigma[2]) / svd.sigma[0];
            let error = distance(&nearest_rotation(&f), &svd.rotation());
            assert!(error < 3e-15 / gap.min(0.01) && (error < 1e-12 || gap < 1e-2), "{error} at {:?}", svd.sigma);
        }
        let zero = nearest_rotation(&Matrix::<f64>::zero());
        assert!((zero.determinant() - 1.0).abs() < 1e-14);
        assert_eq!(nearest_rotation(&Matrix::<f64>::identity()), Matrix::identity());
    }

    #[test]
    fn lanes_give_what_scalars_give() {
        type L = Lanes<8, false>;
        let mut rng = fastrand::Rng::with_seed(3);
        let matrices: [Matrix<f64>; 8] =
            std::array::from_fn(|i| if i == 3 { Matrix::zero() } else { random(&mut rng) });
        let mut lanes: Matrix<L> = Matrix::zero();
        for (i, row) in lanes.0.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = Lanes(std::array::from_fn(|lane| matrices[lane].0[i][j]));
            }
        }
        let svd = SignedSvd::new(&lanes);
        for (lane, f) in matrices.iter().enumerate() {
            let one = SignedSvd::new(f);
            for i in 0..3 {
                assert_eq!(svd.sigma[i].0[lane], one.sigma[i]);
                for j in 0..3 {
                    assert_eq!(svd.u.0[i][j].0[lane], one.u.0[i][j]);
                    assert_eq!(svd.v.0[i][j].0[lane], one.v.0[i][j]);
                }
            }
        }
    }
}
