//! Initial guess of a solution from previous solutions.

use super::LinearMap;
use super::vector::{add_scaled, dot};

/// Number of stored solutions. Each costs a matrix product, a seventh of an iteration or less. In 60 steps of a
/// swinging bar of 23,409 vertices, three took 4.1 iterations per step and two factorizations, five took 3.0 and one.
const KEPT: usize = 5;

/// Previous solutions. The guess is their best combination in the norm of the matrix \[Fischer1998\]. For smooth motion
/// this is an extrapolation. For a system unrelated to the last it is about zero.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    /// Solutions, newest first.
    solutions: [Vec<f64>; KEPT],
    count: usize,
    products: [Vec<f64>; KEPT],
}

impl History {
    pub fn forget(&mut self) {
        self.count = 0;
    }

    pub fn memory(&self) -> usize {
        self.solutions.iter().chain(&self.products).map(|vector| size_of_val(&**vector)).sum()
    }

    pub fn push(&mut self, x: &[f64]) {
        if self.solutions[0].len() != x.len() {
            for vector in self.solutions.iter_mut().chain(&mut self.products) {
                vector.resize(x.len(), 0.0);
            }
            self.count = 0;
        }
        self.solutions.rotate_right(1);
        self.solutions[0].copy_from_slice(x);
        self.count = KEPT.min(self.count + 1);
    }

    /// Improves `x` and its residual `r` by a combination of the solutions.
    pub fn improve(&mut self, matrix: &impl LinearMap, r: &mut [f64], x: &mut [f64]) {
        if self.solutions[0].len() != x.len() {
            return;
        }
        // Make each solution conjugate to the previous ones. The remainder must exceed rounding errors.
        let mut squares = [0.0; KEPT];
        let mut coefficients = [[0.0; KEPT]; KEPT];
        for k in 0..self.count {
            matrix.mul(&self.solutions[k], &mut self.products[k]);
            coefficients[k][k] = 1.0;
            let whole = dot(&self.solutions[k], &self.products[k]);
            let (before, own) = self.products.split_at_mut(k);
            squares[k] = whole;
            for j in 0..k {
                if squares[j] == 0.0 {
                    continue;
                }
                // The previous products are those of conjugate combinations.
                let part = dot(&self.solutions[k], &before[j]) / squares[j];
                squares[k] -= part * part * squares[j];
                add_scaled(-part, &before[j], &mut own[0]);
                for i in 0..k {
                    coefficients[k][i] -= part * coefficients[j][i];
                }
            }
            if squares[k].is_nan() || squares[k] <= LEAST * whole {
                squares[k] = 0.0;
                continue;
            }
            // Earlier steps do not change the product of a conjugate combination with the residual.
            let product: f64 = (0..=k).map(|i| coefficients[k][i] * dot(&self.solutions[i], r)).sum();
            let step = product / squares[k];
            if !step.is_finite() {
                squares[k] = 0.0;
                continue;
            }
            add_scaled(-step, &own[0], r);
            for i in 0..=k {
                add_scaled(step * coefficients[k][i], &self.solutions[i], x);
            }
        }
    }
}

/// Minimum squared fraction of a solution that differs from the previous ones by more than rounding.
const LEAST: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::testing::bar;

    #[test]
    fn a_combination_of_what_was_solved_is_found_and_anything_else_left_alone() {
        let matrix = bar([6, 2, 2], 1e5, 0.01, 0.2).matrix;
        let n = 3 * matrix.pattern().node_count();
        let vector = |seed: f64| (0..n).map(|i| (seed * i as f64).sin()).collect::<Vec<f64>>();
        let mut history = History::default();
        let (first, second) = (vector(0.3), vector(1.1));
        history.push(&first);
        history.push(&second);
        // A repeated solution adds nothing.
        history.push(&second);
        let expected: Vec<f64> = first.iter().zip(&second).map(|(a, b)| 2.0 * b - a).collect();
        let (mut r, mut x) = (vec![0.0; n], vec![0.0; n]);
        matrix.mul(&expected, &mut r);
        let size = dot(&r, &r);
        history.improve(&matrix, &mut r, &mut x);
        assert!(dot(&r, &r) < 1e-18 * size);
        assert!(x.iter().zip(&expected).all(|(x, expected)| (x - expected).abs() < 1e-9));
        // The resulting residual is that of the guess.
        let b = vector(2.7);
        let (mut r, mut x, mut product) = (b.clone(), vec![0.0; n], vec![0.0; n]);
        history.improve(&matrix, &mut r, &mut x);
        matrix.mul(&x, &mut product);
        assert!((0..n).all(|i| (b[i] - product[i] - r[i]).abs() < 1e-9));
        history.forget();
        let before = x.clone();
        history.improve(&matrix, &mut r, &mut x);
        assert_eq!(x, before);
    }
}
