//! Non-negative least squares: `min |Ax − b|` for `x ≥ 0` by an active-set method \[LawsonHanson1974\], with a
//! limit on the number of nonzeros.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::solver::vector::{add_scaled, dot, norm};
use crate::solver::{Dense, DenseMatrix, LinearSolver};

pub(super) struct NnlsParams {
    /// Maximum number of nonzeros.
    pub most: usize,
    /// Tolerance of `|Ax − b|` relative to `|b|`.
    pub tolerance: f64,
}

pub(super) struct Solution {
    /// Columns with `x > 0`.
    pub columns: Vec<(usize, f64)>,
    /// Relative residual `|Ax − b| / |b|`.
    pub residual: f64,
}

/// Solves for a matrix given by its columns. `watch` receives the number of active columns, and may stop the iteration:
/// then the result is `None`.
pub(super) fn solve(
    columns: &[Vec<f64>],
    b: &[f64],
    params: &NnlsParams,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Option<Solution> {
    let size = norm(b);
    let mut active: Vec<usize> = Vec::new();
    let mut x: Vec<f64> = Vec::new();
    // AᵀA of the active columns, and Aᵀb.
    let mut gram: Vec<Vec<f64>> = Vec::new();
    let projections: Vec<f64> = columns.par_iter().map(|column| dot(column, b)).collect();
    let mut residual = b.to_vec();
    // Rejected columns are not tried again until a column leaves the active set.
    let mut refused = vec![false; columns.len()];
    // The residual decreases with every accepted column; the limit guards against rounding errors.
    for _ in 0..params.most.saturating_mul(4) {
        if watch(active.len()).is_break() {
            return None;
        }
        if size == 0.0 || norm(&residual) <= params.tolerance * size || active.len() >= params.most {
            break;
        }
        let is_free = |column: usize| !refused[column] && !active.contains(&column);
        let gains: Vec<f64> = columns
            .par_iter()
            .enumerate()
            .map(|(number, column)| {
                let square = dot(column, column);
                if square > 0.0 && is_free(number) { dot(column, &residual) / square.sqrt() } else { 0.0 }
            })
            .collect();
        let Some(best) = (0..columns.len()).max_by(|&a, &b| gains[a].total_cmp(&gains[b])) else { break };
        if gains[best] <= 1e-12 * size {
            break;
        }
        for (row, &other) in gram.iter_mut().zip(&active) {
            row.push(dot(&columns[other], &columns[best]));
        }
        active.push(best);
        x.push(0.0);
        gram.push(active.iter().map(|&other| dot(&columns[other], &columns[best])).collect());
        let before = active.len();
        if !settle(&mut active, &mut x, &mut gram, &projections) || !active.contains(&best) {
            refused[best] = true;
            if let Some(at) = active.iter().position(|&column| column == best) {
                remove(at, &mut active, &mut x, &mut gram);
            }
        } else if active.len() < before {
            refused.fill(false);
        }
        residual.copy_from_slice(b);
        for (&column, x) in active.iter().zip(&x) {
            add_scaled(-x, &columns[column], &mut residual);
        }
    }
    let residual = if size > 0.0 { norm(&residual) / size } else { 0.0 };
    Some(Solution { columns: active.into_iter().zip(x).filter(|(_, x)| *x > 0.0).collect(), residual })
}

/// Moves to the least-squares solution of the active columns, removing those that would become negative. Returns false
/// if the columns are linearly dependent.
fn settle(active: &mut Vec<usize>, x: &mut Vec<f64>, gram: &mut Vec<Vec<f64>>, projections: &[f64]) -> bool {
    let mut solver = Dense::default();
    loop {
        let n = active.len();
        if n == 0 {
            return true;
        }
        let mut matrix = DenseMatrix::zero(n);
        for (i, row) in gram.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                matrix[(i, j)] = *entry;
            }
        }
        let b: Vec<f64> = active.iter().map(|&column| projections[column]).collect();
        let mut wanted = vec![0.0; n];
        let solved = solver.set_matrix(&matrix).and_then(|()| solver.solve(&matrix, &b, &mut wanted));
        if solved.is_err() || wanted.iter().any(|x| !x.is_finite()) {
            return false;
        }
        if wanted.iter().all(|x| *x > 0.0) {
            *x = wanted;
            return true;
        }
        // Step until the first of the columns that would become negative reaches zero.
        let ratio = |i: usize| x[i] / (x[i] - wanted[i]);
        let first = (0..n).filter(|&i| wanted[i] <= 0.0).min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
        let Some(first) = first else { return false };
        let part = ratio(first).clamp(0.0, 1.0);
        for (x, wanted) in x.iter_mut().zip(&wanted) {
            *x += part * (wanted - *x);
        }
        remove(first, active, x, gram);
    }
}

fn remove(at: usize, active: &mut Vec<usize>, x: &mut Vec<f64>, gram: &mut Vec<Vec<f64>>) {
    active.remove(at);
    x.remove(at);
    gram.remove(at);
    for row in gram {
        row.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(rows: usize, columns: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = fastrand::Rng::with_seed(seed);
        (0..columns).map(|_| (0..rows).map(|_| rng.f64() - 0.3).collect()).collect()
    }

    fn sum(columns: &[Vec<f64>], x: &[(usize, f64)]) -> Vec<f64> {
        let mut b = vec![0.0; columns[0].len()];
        for &(column, x) in x {
            b.iter_mut().zip(&columns[column]).for_each(|(b, a)| *b += x * a);
        }
        b
    }

    #[test]
    fn a_sum_of_few_columns_is_found_again() {
        let columns = random(60, 40, 1);
        let expected = [(3, 2.0), (17, 0.5), (30, 7.0)];
        let b = sum(&columns, &expected);
        let found = solve(&columns, &b, &NnlsParams { most: 20, tolerance: 1e-12 }, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        assert!(found.residual < 1e-10, "{:e}", found.residual);
        for (column, x) in &found.columns {
            let expected = expected.iter().find(|(number, _)| number == column).map_or(0.0, |(_, x)| *x);
            assert!((x - expected).abs() < 1e-8, "column {column}: {x}");
        }
    }

    /// Checks the Karush–Kuhn–Tucker conditions: no gradient component is positive, and those of active columns are
    /// zero.
    #[test]
    fn no_other_choice_is_better() {
        for seed in 0..20 {
            let columns = random(30, 50, seed);
            let b = &random(30, 1, seed + 100)[0];
            let found =
                solve(&columns, b, &NnlsParams { most: 50, tolerance: 0.0 }, &mut |_| ControlFlow::Continue(()))
                    .unwrap();
            assert!(found.columns.iter().all(|(_, x)| *x > 0.0));
            let product = sum(&columns, &found.columns);
            let residual: Vec<f64> = b.iter().zip(&product).map(|(b, p)| b - p).collect();
            for (number, column) in columns.iter().enumerate() {
                let gain = dot(column, &residual);
                let is_used = found.columns.iter().any(|(column, _)| *column == number);
                assert!(gain < 1e-9 && (!is_used || gain > -1e-9), "{seed}, column {number}: {gain:e}");
            }
        }
    }

    #[test]
    fn the_number_of_columns_is_bounded_and_columns_that_repeat_do_no_harm() {
        let mut columns = random(30, 20, 7);
        let again = columns.clone();
        columns.extend(again);
        columns.push(vec![0.0; 30]);
        let b = &random(30, 1, 8)[0];
        let found =
            solve(&columns, b, &NnlsParams { most: 3, tolerance: 0.0 }, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(found.columns.len() <= 3 && found.residual < 1.0);
        let all =
            solve(&columns, b, &NnlsParams { most: 60, tolerance: 0.0 }, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(all.residual <= found.residual);
        let none =
            solve(&columns, &[0.0; 30], &NnlsParams { most: 3, tolerance: 0.0 }, &mut |_| ControlFlow::Continue(()))
                .unwrap();
        assert!(none.columns.is_empty() && none.residual == 0.0);
    }
}
