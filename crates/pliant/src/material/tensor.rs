//! Terms of 9×9 tangents, in the order of `vec(F)`: row and column `3i + j` belong to `Fᵢⱼ`.

use crate::math::matrix::Matrix9;
use crate::math::{Matrix, Real};

/// Tangent under construction.
#[derive(Debug, Clone, Copy)]
pub struct Tangent<R>(pub Matrix9<R>);

impl<R: Real> Tangent<R> {
    /// Returns the zero tangent.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[R::from(0.0); 9]; 9])
    }

    /// Adds `s δᵢₖδⱼₗ`, the derivative of `s F`.
    #[inline(always)]
    pub fn add_identity(&mut self, s: R) {
        for n in 0..9 {
            self.0[n][n] += s;
        }
    }

    /// Adds `s XᵢⱼYₖₗ`.
    #[inline(always)]
    pub fn add_outer(&mut self, s: R, x: &Matrix<R>, y: &Matrix<R>) {
        for i in 0..3 {
            for j in 0..3 {
                let sx = s * x.0[i][j];
                for k in 0..3 {
                    for l in 0..3 {
                        let entry = &mut self.0[3 * i + j][3 * k + l];
                        *entry = sx.mul_add(y.0[k][l], *entry);
                    }
                }
            }
        }
    }

    /// Adds `s (XᵢⱼYₖₗ + YᵢⱼXₖₗ)`.
    #[inline(always)]
    pub fn add_symmetric_outer(&mut self, s: R, x: &Matrix<R>, y: &Matrix<R>) {
        self.add_outer(s, x, y);
        self.add_outer(s, y, x);
    }

    /// Adds `s XᵢₗYₖⱼ`, the derivative of `X Fᵀ Y` if `s = 1`.
    #[inline(always)]
    pub fn add_crossed(&mut self, s: R, x: &Matrix<R>, y: &Matrix<R>) {
        for i in 0..3 {
            for l in 0..3 {
                let sx = s * x.0[i][l];
                for k in 0..3 {
                    for j in 0..3 {
                        let entry = &mut self.0[3 * i + j][3 * k + l];
                        *entry = sx.mul_add(y.0[k][j], *entry);
                    }
                }
            }
        }
    }

    /// Adds `Xᵢₖδⱼₗ`, the derivative of `X F`.
    #[inline(always)]
    pub fn add_left(&mut self, x: &Matrix<R>) {
        for i in 0..3 {
            for k in 0..3 {
                for j in 0..3 {
                    self.0[3 * i + j][3 * k + j] += x.0[i][k];
                }
            }
        }
    }

    /// Adds `δᵢₖXₗⱼ`, the derivative of `F X`.
    #[inline(always)]
    pub fn add_right(&mut self, x: &Matrix<R>) {
        for i in 0..3 {
            for j in 0..3 {
                for l in 0..3 {
                    self.0[3 * i + j][3 * i + l] += x.0[l][j];
                }
            }
        }
    }

    /// Adds `s ∂cof(F)/∂F`, whose entries are `s Σ εᵢₖₘ εⱼₗₙ Fₘₙ`.
    #[inline(always)]
    pub fn add_cofactor_derivative(&mut self, s: R, f: &Matrix<R>) {
        for i in 0..3 {
            let (k1, k2) = ((i + 1) % 3, (i + 2) % 3);
            for j in 0..3 {
                let (l1, l2) = ((j + 1) % 3, (j + 2) % 3);
                let row = &mut self.0[3 * i + j];
                row[3 * k1 + l1] += s * f.0[k2][l2];
                row[3 * k2 + l2] += s * f.0[k1][l1];
                row[3 * k1 + l2] -= s * f.0[k2][l1];
                row[3 * k2 + l1] -= s * f.0[k1][l2];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the derivative of `map` at `f` by central differences, exact up to rounding for cubic maps.
    fn derivative(f: &Matrix<f64>, map: impl Fn(&Matrix<f64>) -> Matrix<f64>) -> Matrix9<f64> {
        let h = 1e-4;
        let mut all = [[0.0; 9]; 9];
        for column in 0..9 {
            let (mut plus, mut minus) = (*f, *f);
            plus.0.as_flattened_mut()[column] += h;
            minus.0.as_flattened_mut()[column] -= h;
            let difference = map(&plus) - map(&minus);
            for row in 0..9 {
                all[row][column] = difference.0.as_flattened()[row] / (2.0 * h);
            }
        }
        all
    }

    #[test]
    fn every_piece_is_the_derivative_that_it_says() {
        let mut rng = fastrand::Rng::with_seed(4);
        let mut random = || {
            let mut m = Matrix::zero();
            m.0.as_flattened_mut().iter_mut().for_each(|x| *x = 2.0 * rng.f64() - 1.0);
            m
        };
        for _ in 0..20 {
            let (f, x, y) = (random(), random(), random());
            let check = |what: &str, add: &dyn Fn(&mut Tangent<f64>), map: &dyn Fn(&Matrix<f64>) -> Matrix<f64>| {
                let mut tangent = Tangent::zero();
                add(&mut tangent);
                let expected = derivative(&f, map);
                for (a, b) in tangent.0.as_flattened().iter().zip(expected.as_flattened()) {
                    assert!((a - b).abs() < 1e-9, "{what}: {a} instead of {b}");
                }
            };
            check("identity", &|t| t.add_identity(3.0), &|f| *f * 3.0);
            check("outer", &|t| t.add_outer(2.0, &x, &y), &|f| x * (2.0 * f.double_dot(&y)));
            check("symmetric outer", &|t| t.add_symmetric_outer(2.0, &x, &y), &|f| {
                x * (2.0 * f.double_dot(&y)) + y * (2.0 * f.double_dot(&x))
            });
            check("crossed", &|t| t.add_crossed(2.0, &x, &y), &|f| x * f.transpose() * y * 2.0);
            check("left", &|t| t.add_left(&x), &|f| x * *f);
            check("right", &|t| t.add_right(&x), &|f| *f * x);
            check("cofactor", &|t| t.add_cofactor_derivative(2.0, &f), &|f| f.cofactor() * 2.0);
        }
    }
}
