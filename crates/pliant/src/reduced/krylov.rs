//! Largest eigenvalues of `A = (K − σM)⁻¹M`, which is symmetric in the inner product of `M`.
//!
//! The method is band Lanczos with full orthogonalization and thick restarts, the symmetric case of Krylov–Schur
//! \[Stewart2002; WuSimon2000\].
//!
//! It starts with several vectors to find the double and triple eigenvalues of symmetric bodies with their full
//! multiplicity. Higher multiplicities may be missed. The iteration is therefore repeated from other vectors in the
//! orthogonal complement, until it finds no eigenvalue there that belongs among the largest.

use std::ops::ControlFlow;

use super::columns::{combine, orthogonalize};
use super::eigen::Eigen;
use crate::solver::DenseMatrix;
use crate::solver::vector::dot;

/// Number of starting vectors.
const BAND: usize = 3;

/// Number of new vectors between evaluations of the Ritz values.
const LOOK_EVERY: usize = 4;

/// Eigenvalue problem of `A`.
pub(super) struct Problem<'a> {
    /// Computes `y = M x`.
    pub mass: &'a dyn Fn(&[f64], &mut [f64]),
    /// Computes `y = (K − σM)⁻¹ b`.
    pub solve: &'a mut dyn FnMut(&[f64], &mut [f64]),
    /// Deflated vectors, orthonormal in `M`.
    pub known: &'a [Vec<f64>],
    /// Fixed coordinates; may be empty.
    pub fixed: &'a [bool],
    pub dim: usize,
}

#[derive(Clone, Copy)]
pub(super) struct KrylovParams {
    /// Number of pairs.
    pub count: usize,
    /// Tolerance: `|Aφ − νφ| ≤ tolerance ν`.
    pub tolerance: f64,
    /// Maximum number of products with `A`.
    pub max_products: usize,
}

/// Eigenpairs `Aφ = νφ` in descending order of `ν`, with `φ` orthonormal in `M`.
pub(super) struct Pairs {
    pub values: Vec<f64>,
    pub vectors: Vec<Vec<f64>>,
    /// Number of products with `A`, and of restarts.
    pub products: usize,
    pub restarts: usize,
}

/// Failure of the iteration.
pub(super) enum Failure {
    /// Stopped by the caller.
    Stopped,
    /// Too few pairs have converged.
    NotConverged { products: usize, converged: usize, residual: f64 },
}

/// State of the iteration: `A V = V T`, except for the components along the last vectors, to which `A` was not applied
/// yet.
struct Process<'a, 'b> {
    problem: &'a mut Problem<'b>,
    v: Vec<Vec<f64>>,
    /// `T`, column by column: the components of `A vⱼ` along each vector.
    t: Vec<Vec<f64>>,
    rng: fastrand::Rng,
    products: usize,
    /// Largest norm of a product with `A`, the scale of rounding errors.
    largest: f64,
}

/// Returns the maximum number of vectors for `count` pairs.
pub(super) fn max_vectors(count: usize) -> usize {
    count.saturating_mul(2).saturating_add(10 * BAND)
}

/// Tolerance in the orthogonal complement: enough to know if it has a larger `ν`.
const LOOK_TOLERANCE: f64 = 1e-2;

/// Ratio to the smallest `ν` found above which another one was missed and is not a repetition of it.
const LARGER: f64 = 1.0 + 1e-5;

/// Finds the largest eigenpairs of `A`. `watch` receives the number of products so far, and may stop the iteration.
pub(super) fn largest(
    problem: &mut Problem<'_>,
    params: &KrylovParams,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Pairs, Failure> {
    let mut found = first_pairs(problem, params, 1, watch)?;
    for seed in 2.. {
        let mut known = problem.known.to_vec();
        known.extend(found.vectors.iter().cloned());
        let fixed = problem.fixed.iter().filter(|fixed| **fixed).count();
        if problem.dim - fixed - known.len() == 0 || found.values.len() < params.count {
            break;
        }
        let Problem { mass, fixed, dim, .. } = *problem;
        let mut left = Problem { mass, solve: &mut *problem.solve, known: &known, fixed, dim };
        let before = found.products;
        let mut watch_more = |products: usize| watch(before + products);
        let look = KrylovParams { count: 1, tolerance: LOOK_TOLERANCE, ..*params };
        let seen = first_pairs(&mut left, &look, seed, &mut watch_more)?;
        found.products += seen.products;
        let least = found.values.last().copied().unwrap_or(0.0);
        if seen.values.first().is_none_or(|value| *value <= LARGER * least) {
            break;
        }
        let missed = KrylovParams { count: BAND, ..*params };
        let missed = first_pairs(&mut left, &missed, seed, &mut watch_more)?;
        found.products += missed.products;
        found.restarts += missed.restarts;
        let mut all: Vec<(f64, Vec<f64>)> = found.values.drain(..).zip(found.vectors.drain(..)).collect();
        all.extend(missed.values.into_iter().zip(missed.vectors));
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.truncate(params.count);
        (found.values, found.vectors) = all.into_iter().unzip();
    }
    Ok(found)
}

/// Finds the largest eigenpairs from random starting vectors.
fn first_pairs(
    problem: &mut Problem<'_>,
    params: &KrylovParams,
    seed: u64,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Pairs, Failure> {
    let space = problem.dim - problem.fixed.iter().filter(|fixed| **fixed).count() - problem.known.len();
    let max_vectors = max_vectors(params.count).min(space);
    let mut process = Process {
        problem,
        v: Vec::new(),
        t: Vec::new(),
        rng: fastrand::Rng::with_seed(seed),
        products: 0,
        largest: 0.0,
    };
    for _ in 0..BAND.min(space) {
        process.push_random();
    }
    let mut restarts = 0;
    loop {
        if watch(process.products).is_break() {
            return Err(Failure::Stopped);
        }
        process.expand();
        let applied = process.t.len();
        // The vectors span the whole space.
        let spans_all = applied == process.v.len();
        let is_full = process.v.len() >= max_vectors;
        if !spans_all && (applied < params.count || !(is_full || applied.is_multiple_of(LOOK_EVERY))) {
            continue;
        }
        let Some(eigen) = process.ritz() else {
            return Err(Failure::NotConverged { products: process.products, converged: 0, residual: f64::NAN });
        };
        // The largest eigenvalues are last.
        let best = |i: usize| applied - 1 - i;
        let residual = |i: usize| process.residual(eigen.vector(best(i))) / eigen.values[best(i)].abs();
        let count = params.count.min(applied);
        let converged = (0..count).take_while(|&i| residual(i) <= params.tolerance).count();
        if converged == count || spans_all {
            return Ok(Pairs {
                values: (0..count).map(|i| eigen.values[best(i)]).collect(),
                vectors: combine(&process.v[..applied], (0..count).map(|i| eigen.vector(best(i)))),
                products: process.products,
                restarts,
            });
        }
        if process.products >= params.max_products {
            return Err(Failure::NotConverged { products: process.products, converged, residual: residual(converged) });
        }
        if is_full && max_vectors < space {
            let kept = (params.count + (max_vectors - BAND - params.count) / 2).min(applied - 1);
            process.restart(&eigen, kept);
            restarts += 1;
        }
    }
}

impl Process<'_, '_> {
    /// Applies `A` to the first vector that it was not applied to yet.
    fn expand(&mut self) {
        let n = self.problem.dim;
        let (mut product, mut w) = (vec![0.0; n], vec![0.0; n]);
        let number = self.t.len();
        (self.problem.mass)(&self.v[number], &mut product);
        self.clear_fixed(&mut product);
        (self.problem.solve)(&product, &mut w);
        self.clear_fixed(&mut w);
        self.products += 1;
        (self.problem.mass)(&w, &mut product);
        self.largest = self.largest.max(dot(&w, &product).max(0.0).sqrt());
        orthogonalize(self.problem.known, self.problem.mass, &mut w, &mut product);
        let mut column = orthogonalize(&self.v, self.problem.mass, &mut w, &mut product);
        let left = dot(&w, &product).max(0.0).sqrt();
        if left > 1e-14 * self.largest {
            w.iter_mut().for_each(|w| *w /= left);
            column.push(left);
            self.v.push(w);
        } else {
            // The remainder is rounding error: the vectors span an invariant subspace. Continue with another vector.
            column.push(0.0);
            self.push_random();
        }
        self.t.push(column);
    }

    /// Adds a random vector if the space is not spanned yet.
    fn push_random(&mut self) {
        let n = self.problem.dim;
        for _ in 0..3 {
            let mut x: Vec<f64> = (0..n).map(|_| self.rng.f64() - 0.5).collect();
            self.clear_fixed(&mut x);
            let mut product = vec![0.0; n];
            (self.problem.mass)(&x, &mut product);
            let before = dot(&x, &product).sqrt();
            orthogonalize(self.problem.known, self.problem.mass, &mut x, &mut product);
            orthogonalize(&self.v, self.problem.mass, &mut x, &mut product);
            let size = dot(&x, &product).max(0.0).sqrt();
            if size > 1e-10 * before {
                x.iter_mut().for_each(|x| *x /= size);
                self.v.push(x);
                return;
            }
        }
    }

    fn clear_fixed(&self, x: &mut [f64]) {
        x.iter_mut().zip(self.problem.fixed).filter(|(_, fixed)| **fixed).for_each(|(x, _)| *x = 0.0);
    }

    /// Returns the eigendecomposition of the projection of `A` onto the vectors that it was applied to.
    fn ritz(&self) -> Option<Eigen> {
        let m = self.t.len();
        let mut projection = DenseMatrix::zero(m);
        let entry = |i: usize, j: usize| self.t[j].get(i).copied();
        for j in 0..m {
            for i in j..m {
                // Both may be known and differ by rounding.
                let (a, b) = (entry(i, j), entry(j, i));
                projection[(i, j)] = match (a, b) {
                    (Some(a), Some(b)) => 0.5 * (a + b),
                    (a, b) => a.or(b).unwrap_or(0.0),
                };
            }
        }
        Eigen::new(&projection)
    }

    /// Returns the residual of the Ritz vector `V s`: the norm of `A V s` outside of the span of the vectors that `A`
    /// was applied to.
    fn residual(&self, s: &[f64]) -> f64 {
        let m = self.t.len();
        let outside = |i: usize| (0..m).map(|j| self.t[j].get(i).unwrap_or(&0.0) * s[j]).sum::<f64>();
        (m..self.v.len()).map(|i| outside(i).powi(2)).sum::<f64>().sqrt()
    }

    /// Restarts with the best Ritz vectors, and with the vectors that `A` was not applied to.
    fn restart(&mut self, eigen: &Eigen, kept: usize) {
        let m = self.t.len();
        let best: Vec<usize> = (0..kept).map(|i| m - 1 - i).collect();
        let mut v = combine(&self.v[..m], best.iter().map(|&i| eigen.vector(i)));
        let t = (0..kept).map(|i| {
            let s = eigen.vector(best[i]);
            let mut column = vec![0.0; kept];
            column[i] = eigen.values[best[i]];
            let outside = |row: usize| (0..m).map(|j| self.t[j].get(row).unwrap_or(&0.0) * s[j]).sum::<f64>();
            column.extend((m..self.v.len()).map(outside));
            column
        });
        let t = t.collect();
        v.extend(self.v.drain(m..));
        (self.v, self.t) = (v, t);
    }
}
