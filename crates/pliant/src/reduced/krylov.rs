//! The largest eigenvalues of `A = (K − σM)⁻¹M`, which is symmetric in the inner product of `M`: a band Lanczos process with full
//! orthogonalisation and thick restarts, the symmetric case of Krylov–Schur (Stewart 2002; Wu and Simon 2000).
//!
//! It starts with several vectors, so that frequencies that a symmetric body has twice or three times are found as often as they
//! are there. Frequencies that are there more often may escape it: so it looks again at what is left, from other vectors, until nothing is found there that
//! should have been among the first.

use std::ops::ControlFlow;

use super::columns::{combine, orthogonalize};
use super::eigen::Eigen;
use crate::solver::DenseMatrix;
use crate::solver::vector::dot;

/// How many vectors it starts with.
const BAND: usize = 3;

/// How often the eigenvalues of the projection are looked at, in new vectors.
const LOOK_EVERY: usize = 4;

/// What is known of `A`.
pub(super) struct Problem<'a> {
    /// `y = M x`.
    pub mass: &'a dyn Fn(&[f64], &mut [f64]),
    /// `y = (K − σM)⁻¹ b`.
    pub solve: &'a mut dyn FnMut(&[f64], &mut [f64]),
    /// Directions that are known already, orthonormal with `M`: they are left out.
    pub known: &'a [Vec<f64>],
    /// Which coordinates cannot move; may be empty.
    pub held: &'a [bool],
    pub dim: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Params {
    /// How many pairs are wanted.
    pub count: usize,
    /// `|Aφ − νφ| ≤ tolerance ν`.
    pub tolerance: f64,
    /// The most products with `A`.
    pub most_products: usize,
}

/// Pairs `Aφ = νφ`, the largest `ν` first, `φ` orthonormal with `M`.
pub(super) struct Pairs {
    pub values: Vec<f64>,
    pub vectors: Vec<Vec<f64>>,
    /// How often `A` was applied, and the process restarted.
    pub products: usize,
    pub restarts: usize,
}

/// Why it ended without what was wanted.
pub(super) enum Failure {
    /// It was told to.
    Stopped,
    /// How far it came before it gave up.
    NotConverged { products: usize, converged: usize, residual: f64 },
}

/// The process: `A V = V T` but for what the last vectors, to which `A` was not applied yet, have of it.
struct Process<'a, 'b> {
    problem: &'a mut Problem<'b>,
    v: Vec<Vec<f64>>,
    /// `T`, column by column: what `A vⱼ` has of each vector.
    t: Vec<Vec<f64>>,
    rng: fastrand::Rng,
    products: usize,
    /// The largest that a product with `A` was, to tell rounding from the rest.
    largest: f64,
}

/// How many vectors it has at most for so many pairs.
pub(super) fn most_vectors(count: usize) -> usize {
    count.saturating_mul(2).saturating_add(10 * BAND)
}

/// How exactly what is left is looked at: enough to know whether it has a larger `ν`.
const LOOK_TOLERANCE: f64 = 1e-2;

/// How much larger a `ν` must be than the least that was found, to have been missed and not to be another like it.
const LARGER: f64 = 1.0 + 1e-5;

/// The largest pairs of `A`. `watch` is told how many products there were, and may break off.
pub(super) fn largest(
    problem: &mut Problem<'_>,
    params: &Params,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Pairs, Failure> {
    let mut found = first_pairs(problem, params, 1, watch)?;
    for seed in 2.. {
        let mut known = problem.known.to_vec();
        known.extend(found.vectors.iter().cloned());
        let held = problem.held.iter().filter(|held| **held).count();
        if problem.dim - held - known.len() == 0 || found.values.len() < params.count {
            break;
        }
        let Problem { mass, held, dim, .. } = *problem;
        let mut left = Problem { mass, solve: &mut *problem.solve, known: &known, held, dim };
        let before = found.products;
        let mut watch_more = |products: usize| watch(before + products);
        let look = Params { count: 1, tolerance: LOOK_TOLERANCE, ..*params };
        let seen = first_pairs(&mut left, &look, seed, &mut watch_more)?;
        found.products += seen.products;
        let least = found.values.last().copied().unwrap_or(0.0);
        if seen.values.first().is_none_or(|value| *value <= LARGER * least) {
            break;
        }
        let missed = Params { count: BAND, ..*params };
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

/// The largest pairs that the process finds from vectors of its own.
fn first_pairs(
    problem: &mut Problem<'_>,
    params: &Params,
    seed: u64,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Pairs, Failure> {
    let space = problem.dim - problem.held.iter().filter(|held| **held).count() - problem.known.len();
    let most_vectors = most_vectors(params.count).min(space);
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
        // All directions there are have been found.
        let spans_all = applied == process.v.len();
        let is_full = process.v.len() >= most_vectors;
        if !spans_all && (applied < params.count || !(is_full || applied.is_multiple_of(LOOK_EVERY))) {
            continue;
        }
        let Some(eigen) = process.ritz() else {
            return Err(Failure::NotConverged { products: process.products, converged: 0, residual: f64::NAN });
        };
        // The best last.
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
        if process.products >= params.most_products {
            return Err(Failure::NotConverged { products: process.products, converged, residual: residual(converged) });
        }
        if is_full && most_vectors < space {
            let kept = (params.count + (most_vectors - BAND - params.count) / 2).min(applied - 1);
            process.restart(&eigen, kept);
            restarts += 1;
        }
    }
}

impl Process<'_, '_> {
    /// Apply `A` to the first vector that it was not applied to yet.
    fn expand(&mut self) {
        let n = self.problem.dim;
        let (mut product, mut w) = (vec![0.0; n], vec![0.0; n]);
        let number = self.t.len();
        (self.problem.mass)(&self.v[number], &mut product);
        self.clear_held(&mut product);
        (self.problem.solve)(&product, &mut w);
        self.clear_held(&mut w);
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
            // What is left is rounding: the vectors span a space of their own. Look elsewhere.
            column.push(0.0);
            self.push_random();
        }
        self.t.push(column);
    }

    /// A new vector in a random direction, if there is one.
    fn push_random(&mut self) {
        let n = self.problem.dim;
        for _ in 0..3 {
            let mut x: Vec<f64> = (0..n).map(|_| self.rng.f64() - 0.5).collect();
            self.clear_held(&mut x);
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

    fn clear_held(&self, x: &mut [f64]) {
        x.iter_mut().zip(self.problem.held).filter(|(_, held)| **held).for_each(|(x, _)| *x = 0.0);
    }

    /// The eigenvalues of the projection of `A` on the vectors that it was applied to.
    fn ritz(&self) -> Option<Eigen> {
        let m = self.t.len();
        let mut projection = DenseMatrix::zero(m);
        let entry = |i: usize, j: usize| self.t[j].get(i).copied();
        for j in 0..m {
            for i in j..m {
                // Where both are known they differ by rounding.
                let (a, b) = (entry(i, j), entry(j, i));
                projection[(i, j)] = match (a, b) {
                    (Some(a), Some(b)) => 0.5 * (a + b),
                    (a, b) => a.or(b).unwrap_or(0.0),
                };
            }
        }
        Eigen::new(&projection)
    }

    /// What `A` makes of `V s` that is not in the space of the vectors that it was applied to.
    fn residual(&self, s: &[f64]) -> f64 {
        let m = self.t.len();
        let outside = |i: usize| (0..m).map(|j| self.t[j].get(i).unwrap_or(&0.0) * s[j]).sum::<f64>();
        (m..self.v.len()).map(|i| outside(i).powi(2)).sum::<f64>().sqrt()
    }

    /// Go on with the best directions so far, and with the vectors that `A` was not applied to.
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
