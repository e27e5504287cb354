//! Reduced St. Venant–Kirchhoff elasticity: a polynomial with precomputed coefficients \[BarbicJames2005\].
//!
//! With `u = Σ qᵢ φᵢ` and `Gᵢ = ∂φᵢ/∂X`, the strain is `E = Σ qᵢ Tᵢ + ½ Σ qᵢ qⱼ Sᵢⱼ`, where `Tᵢ = sym Gᵢ` and
//! `Sᵢⱼ = sym GᵢᵀGⱼ`. The energy `V = ½ ∫ E:C:E` is a polynomial of degree four in `q`. Its derivatives at rest are
//! symmetric in all indices:
//!
//! ```text
//! V₂ᵢⱼ   = ∫ Tᵢ:C:Tⱼ
//! V₃ᵢⱼₖ  = ∫ Tᵢ:C:Sⱼₖ + Tⱼ:C:Sᵢₖ + Tₖ:C:Sᵢⱼ
//! V₄ᵢⱼₖₗ = ∫ Sᵢⱼ:C:Sₖₗ + Sᵢₖ:C:Sⱼₗ + Sᵢₗ:C:Sⱼₖ
//! ```
//!
//! All of these integrals are entries of one matrix `∫ BᵀCB`, with `B` the strains `T` and `S` side by side. It is
//! computed by products of dense matrices, for some quadrature points at a time.
//!
//! Stiffness, force and energy are combinations of the same three terms:
//!
//! ```text
//! K = V₂ + V₃q + ½V₄qq,    f = (V₂ + ½V₃q + ⅙V₄qq) q,    V = ½ qᵀ(V₂ + ⅓V₃q + ¹⁄₁₂V₄qq) q.
//! ```
//!
//! `V₄qq` is nearly all of the work. For each pair `i ≤ j`, it is the product of a row of a symmetric matrix, of pairs
//! by pairs, with the products `qₖqₗ`. That is `r⁴/4` multiplications, and half as many numbers to read.

use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::basis::Basis;
use super::derivatives::stvk_laws;
use crate::element::quadrature;
use crate::math::{Kernel, Mat3, Simd, Vec3, dispatch, fused, outer};
use crate::model::Model;
use crate::solver::DenseMatrix;

/// Derivatives of the energy at rest, from which energy, force and stiffness are computed.
#[derive(Debug, Clone, PartialEq)]
pub struct StVkTensors {
    r: usize,
    /// `V₂` of the pairs `i ≤ j`.
    second: Vec<f64>,
    /// `V₃` of the pairs `i ≤ j`, each for all `k`.
    third: Vec<f64>,
    /// `V₄` of the pairs `i ≤ j` and `k ≤ l`, the second not before the first: the upper triangle of a symmetric
    /// matrix, row by row.
    fourth: Vec<f64>,
    scratch: Scratch,
}

/// Values at some `q`, for all pairs.
#[derive(Debug, Clone, PartialEq, Default)]
struct Scratch {
    /// `qₖqₗ`, half of it for `k = l`.
    products: Vec<f64>,
    /// `V₃q` and `½V₄qq`.
    linear: Vec<f64>,
    quadratic: Vec<f64>,
}

/// Number of quadrature points integrated at a time.
const POINTS: usize = 64;
/// Number of strain components: the diagonal, then `xy`, `yz`, `zx`.
const STRAINS: usize = 6;
/// Number of columns of `∫ BᵀCB` per task.
const WIDTH: usize = 48;

/// Returns the number of pairs `i ≤ j`.
pub(super) fn pair_count(r: usize) -> usize {
    r * (r + 1) / 2
}

/// Returns the index of the pair of `i` and `j`.
fn pair(r: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    i * r + j - i * (i + 1) / 2
}

/// Returns the start of row `a` in the upper triangle of a matrix of `n` rows.
fn row_start(n: usize, a: usize) -> usize {
    a * n - a * a.saturating_sub(1) / 2
}

impl StVkTensors {
    /// Computes the coefficients. Returns `None` unless all materials are St. Venant–Kirchhoff, or if `watch` stops the
    /// computation. `watch` receives the number of elements integrated, and the total.
    pub fn new(model: &Model, basis: &Basis, watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>) -> Option<Self> {
        let r = basis.size();
        let n = r + pair_count(r);
        let total: usize = model.bodies().iter().map(|body| body.node_mesh().element_count()).sum();
        let mut integrals: Vec<Vec<f64>> =
            (0..n).step_by(WIDTH).map(|first| vec![0.0; (n - first) * WIDTH.min(n - first)]).collect();
        let mut panel = vec![0.0; 2 * STRAINS * POINTS * n];
        let mut done = 0;
        for body in model.bodies() {
            let laws = stvk_laws(body.elastic()?)?;
            let mesh = body.node_mesh();
            let first_vertex = body.nodes().start;
            let points_per = crate::element::points_per_element(mesh.kind());
            let elements: Vec<usize> = (0..mesh.element_count()).collect();
            for chunk in elements.chunks(POINTS / points_per) {
                if watch(done, total).is_break() {
                    return None;
                }
                let rows = STRAINS * chunk.len() * points_per;
                let (strains, stresses) = panel[..2 * rows * n].split_at_mut(rows * n);
                let per_element = STRAINS * points_per * n;
                let of_elements = strains.par_chunks_mut(per_element).zip(stresses.par_chunks_mut(per_element));
                of_elements.zip(chunk).for_each(|((strains, stresses), &element)| {
                    let nodes = mesh.element(element);
                    let law = laws[mesh.element_region()[element] as usize];
                    let points = quadrature(mesh, element);
                    let rows = strains.chunks_exact_mut(STRAINS * n).zip(stresses.chunks_exact_mut(STRAINS * n));
                    for ((strains, stresses), (weight, gradients)) in rows.zip(points) {
                        let gradient = |column: &[f64]| {
                            let at = |node: u32| Vec3::from_slice(&column[3 * (first_vertex + node as usize)..]);
                            let terms =
                                nodes.iter().zip(&gradients).map(|(&node, gradient)| outer(at(node), *gradient));
                            terms.fold(Mat3::ZERO, |sum, term| sum + term)
                        };
                        let g: Vec<Mat3> = basis.columns().iter().map(|column| gradient(column)).collect();
                        set_strains(&g, strains);
                        set_stresses(weight, law.mu, law.lambda, strains, stresses);
                    }
                });
                let strains = MatRef::from_column_major_slice(strains, n, rows);
                let stresses = MatRef::from_column_major_slice(stresses, n, rows);
                integrals.par_iter_mut().enumerate().for_each(|(block, sum)| {
                    let first = block * WIDTH;
                    let width = WIDTH.min(n - first);
                    let sum = MatMut::from_column_major_slice_mut(sum, n - first, width);
                    let (left, right) = (strains.subrows(first, n - first), stresses.subrows(first, width));
                    matmul(sum, Accum::Add, left, right.transpose(), 1.0, Par::Seq);
                });
                done += chunk.len();
            }
        }
        let integral = |a: usize, b: usize| {
            let (a, b) = (a.min(b), a.max(b));
            let (block, first) = (a / WIDTH, a / WIDTH * WIDTH);
            integrals[block][(a - first) * (n - first) + b - first]
        };
        let coefficients = coefficients_of(r, integral);
        drop(integrals);
        Self::from_coefficients(r, coefficients)
    }

    /// Returns the number of coordinates.
    pub fn size(&self) -> usize {
        self.r
    }

    /// Returns `V₂`, `V₃` and `V₄` for indices in ascending order, each number once.
    pub(super) fn coefficients(&self) -> [Vec<f64>; 3] {
        let (r, p) = (self.r, pair_count(self.r));
        let (mut third, mut fourth) = (Vec::new(), Vec::new());
        for i in 0..r {
            for j in i..r {
                let row = pair(r, i, j);
                third.extend_from_slice(&self.third[row * r + j..(row + 1) * r]);
                for k in j..r {
                    let first = row_start(p, row) + pair(r, k, k) - row;
                    fourth.extend_from_slice(&self.fourth[first..first + r - k]);
                }
            }
        }
        [self.second.clone(), third, fourth]
    }

    /// Returns the lengths of the [`coefficients`](Self::coefficients) for `r` coordinates, or `None` on overflow.
    pub(super) fn coefficient_counts(r: usize) -> Option<[usize; 3]> {
        let second = r.checked_mul(r.checked_add(1)?)? / 2;
        let third = second.checked_mul(r.checked_add(2)?)? / 3;
        let fourth = third.checked_mul(r.checked_add(3)?)? / 4;
        Some([second, third, fourth])
    }

    /// Creates the tensors from [`coefficients`](Self::coefficients), or returns `None` if their lengths are wrong.
    pub(super) fn from_coefficients(r: usize, [second, third, fourth]: [Vec<f64>; 3]) -> Option<Self> {
        if Self::coefficient_counts(r)? != [second.len(), third.len(), fourth.len()] {
            return None;
        }
        // Start of the entries whose first indices are i ≤ j (≤ k).
        let (mut third_start, mut fourth_start) = (vec![0; pair_count(r)], vec![0; pair_count(r) * r]);
        let (mut third_next, mut fourth_next) = (0, 0);
        for i in 0..r {
            for j in i..r {
                let row = pair(r, i, j);
                third_start[row] = third_next;
                third_next += r - j;
                for k in j..r {
                    fourth_start[row * r + k] = fourth_next;
                    fourth_next += r - k;
                }
            }
        }
        let third_of = |mut at: [usize; 3]| {
            at.sort_unstable();
            third[third_start[pair(r, at[0], at[1])] + at[2] - at[1]]
        };
        let fourth_of = |mut at: [usize; 4]| {
            at.sort_unstable();
            fourth[fourth_start[pair(r, at[0], at[1]) * r + at[2]] + at[3] - at[2]]
        };
        let pairs: Vec<[usize; 2]> = (0..r).flat_map(|i| (i..r).map(move |j| [i, j])).collect();
        let full_third = pairs.iter().flat_map(|&[i, j]| (0..r).map(move |k| [i, j, k])).map(third_of).collect();
        let rows = pairs.iter().enumerate();
        let all = rows.flat_map(|(a, &[i, j])| pairs[a..].iter().map(move |&[k, l]| [i, j, k, l]));
        let full_fourth = all.map(fourth_of).collect();
        Some(Self { r, second, third: full_third, fourth: full_fourth, scratch: Scratch::default() })
    }

    /// Computes `V₃q` and `½V₄qq`.
    fn contract(&mut self, q: &[f64]) {
        let (r, p) = (self.r, pair_count(self.r));
        assert_eq!(q.len(), r, "expected one number per basis vector");
        let Scratch { products, linear, quadratic } = &mut self.scratch;
        products.clear();
        for i in 0..r {
            products.push(0.5 * q[i] * q[i]);
            products.extend(q[i + 1..].iter().map(|x| q[i] * x));
        }
        linear.resize(p, 0.0);
        quadratic.resize(p, 0.0);
        quadratic.fill(0.0);
        dispatch(Contract { r, q, third: &self.third, fourth: &self.fourth, products, linear, quadratic });
    }

    /// Returns the energy `V` \[J\].
    ///
    /// # Panics
    /// If there is not one number per basis vector.
    pub fn energy(&mut self, q: &[f64]) -> f64 {
        self.contract(q);
        let entry = |p: usize| self.second[p] + self.scratch.linear[p] / 3.0 + self.scratch.quadratic[p] / 6.0;
        let mut sum = 0.0;
        let mut p = 0;
        for i in 0..self.r {
            for j in i..self.r {
                sum += if i == j { 0.5 } else { 1.0 } * entry(p) * q[i] * q[j];
                p += 1;
            }
        }
        sum
    }

    /// Computes the force `f = ∂V/∂q`.
    ///
    /// # Panics
    /// If there is not one number per basis vector.
    pub fn force(&mut self, q: &[f64], force: &mut [f64]) {
        self.contract(q);
        self.set_force(q, force);
    }

    /// Computes the force `f` and the stiffness `K = ∂f/∂q`.
    ///
    /// # Panics
    /// If there is not one number per basis vector.
    pub fn force_and_stiffness(&mut self, q: &[f64], force: &mut [f64], stiffness: &mut DenseMatrix) {
        self.contract(q);
        self.set_force(q, force);
        let r = self.r;
        let values = stiffness.values_mut();
        let mut p = 0;
        for i in 0..r {
            for j in i..r {
                let entry = self.second[p] + self.scratch.linear[p] + self.scratch.quadratic[p];
                values[i * r + j] = entry;
                values[j * r + i] = entry;
                p += 1;
            }
        }
    }

    fn set_force(&self, q: &[f64], force: &mut [f64]) {
        let entry = |p: usize| self.second[p] + 0.5 * self.scratch.linear[p] + self.scratch.quadratic[p] / 3.0;
        force.fill(0.0);
        let mut p = 0;
        for i in 0..self.r {
            force[i] += entry(p) * q[i];
            p += 1;
            for j in i + 1..self.r {
                let entry = entry(p);
                force[i] += entry * q[j];
                force[j] += entry * q[i];
                p += 1;
            }
        }
    }
}

/// Computes the derivatives of the energy from the entries of `∫ BᵀCB`, whose first `r` rows are those of `T`. Each
/// number is computed once, so that permutations of indices are bitwise equal.
fn coefficients_of(r: usize, integral: impl Fn(usize, usize) -> f64 + Sync) -> [Vec<f64>; 3] {
    let of_pair = |i: usize, j: usize| r + pair(r, i, j);
    let pairs: Vec<[usize; 2]> = (0..r).flat_map(|i| (i..r).map(move |j| [i, j])).collect();
    let second = pairs.iter().map(|&[i, j]| integral(i, j)).collect();
    let third = |&[i, j]: &[usize; 2]| {
        let of = |k: usize| integral(i, of_pair(j, k)) + integral(j, of_pair(i, k)) + integral(k, of_pair(i, j));
        (j..r).map(of).collect::<Vec<_>>()
    };
    let third = pairs.iter().flat_map(third).collect();
    let fourth = |&[i, j]: &[usize; 2]| {
        let of = |(k, l): (usize, usize)| {
            integral(of_pair(i, j), of_pair(k, l))
                + integral(of_pair(i, k), of_pair(j, l))
                + integral(of_pair(i, l), of_pair(j, k))
        };
        (j..r).flat_map(|k| (k..r).map(move |l| (k, l))).map(of).collect::<Vec<_>>()
    };
    [second, third, pairs.par_iter().flat_map_iter(fourth).collect()]
}

/// Computes the strains `Tᵢ` and `Sᵢⱼ`: one column of all of them per strain component.
fn set_strains(g: &[Mat3], strains: &mut [f64]) {
    let n = strains.len() / STRAINS;
    let mut set = |at: usize, x: Mat3| {
        let [a, b, c] = [x.x_axis, x.y_axis, x.z_axis];
        let numbers = [a.x, b.y, c.z, 0.5 * (a.y + b.x), 0.5 * (b.z + c.y), 0.5 * (c.x + a.z)];
        for (number, x) in numbers.into_iter().enumerate() {
            strains[number * n + at] = x;
        }
    };
    for (i, g) in g.iter().enumerate() {
        set(i, *g);
    }
    let mut at = g.len();
    for i in 0..g.len() {
        for j in i..g.len() {
            set(at, g[i].transpose() * g[j]);
            at += 1;
        }
    }
}

/// Computes `w C:E` of strains, scaled so that the dot product with the components of another strain is `w E':C:E`.
fn set_stresses(w: f64, mu: f64, lambda: f64, strains: &[f64], stresses: &mut [f64]) {
    let n = strains.len() / STRAINS;
    for at in 0..n {
        let e: [f64; STRAINS] = std::array::from_fn(|number| strains[number * n + at]);
        let pressure = lambda * (e[0] + e[1] + e[2]);
        for number in 0..3 {
            stresses[number * n + at] = w * (2.0 * mu * e[number] + pressure);
            stresses[(number + 3) * n + at] = w * 4.0 * mu * e[number + 3];
        }
    }
}

struct Contract<'a> {
    r: usize,
    q: &'a [f64],
    third: &'a [f64],
    fourth: &'a [f64],
    products: &'a [f64],
    linear: &'a mut [f64],
    quadratic: &'a mut [f64],
}

/// Number of independent sums, which the compiler vectorizes.
const SUMS: usize = 16;

impl Kernel for Contract<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let Self { r, q, third, fourth, products, linear, quadratic } = self;
        for (linear, row) in linear.iter_mut().zip(third.chunks_exact(r)) {
            let mut sums = [0.0; 8];
            let ((row, row_tail), (q, q_tail)) = (row.as_chunks::<8>(), q.as_chunks::<8>());
            for (row, q) in row.iter().zip(q) {
                for s in 0..8 {
                    sums[s] = fused::<R>(row[s], q[s], sums[s]);
                }
            }
            for (s, (row, q)) in row_tail.iter().zip(q_tail).enumerate() {
                sums[s] = fused::<R>(*row, *q, sums[s]);
            }
            *linear = sums.iter().sum();
        }
        // Each entry of the triangle counts for its row and, except for the diagonal, for its column. Two rows at a
        // time.
        let p = products.len();
        let mut rest = fourth;
        let mut a = 0;
        while a + 1 < p {
            let (first, after) = rest.split_at(p - a);
            let (second, after) = after.split_at(p - a - 1);
            rest = after;
            let (x0, x1) = (products[a], products[a + 1]);
            let mut own = [first[0] * x0 + first[1] * x1, first[1] * x0 + second[0] * x1];
            let ((m0, t0), (m1, t1)) = (first[2..].as_chunks::<SUMS>(), second[1..].as_chunks::<SUMS>());
            let ((x, x_tail), (y, y_tail)) =
                (products[a + 2..].as_chunks::<SUMS>(), quadratic[a + 2..].as_chunks_mut::<SUMS>());
            // Only the first SUMS / WIDTH of these are used.
            let (mut sums0, mut sums1) = ([R::from(0.0); SUMS], [R::from(0.0); SUMS]);
            let (wide_x0, wide_x1) = (R::from(x0), R::from(x1));
            for (((m0, m1), x), y) in m0.iter().zip(m1).zip(x).zip(y) {
                for (s, lane) in (0..SUMS).step_by(R::WIDTH).enumerate() {
                    let (m0, m1, x) = (R::load(&m0[lane..]), R::load(&m1[lane..]), R::load(&x[lane..]));
                    sums0[s] = m0.mul_add(x, sums0[s]);
                    sums1[s] = m1.mul_add(x, sums1[s]);
                    let sum = m1.mul_add(wide_x1, R::load(&y[lane..]));
                    m0.mul_add(wide_x0, sum).store(&mut y[lane..]);
                }
            }
            let (mut of_first, mut of_second) = ([0.0; SUMS], [0.0; SUMS]);
            for (s, lane) in (0..SUMS).step_by(R::WIDTH).enumerate() {
                sums0[s].store(&mut of_first[lane..]);
                sums1[s].store(&mut of_second[lane..]);
            }
            for (s, (((m0, m1), x), y)) in t0.iter().zip(t1).zip(x_tail).zip(y_tail).enumerate() {
                of_first[s] = fused::<R>(*m0, *x, of_first[s]);
                of_second[s] = fused::<R>(*m1, *x, of_second[s]);
                *y = fused::<R>(*m0, x0, fused::<R>(*m1, x1, *y));
            }
            own[0] += of_first.iter().sum::<f64>();
            own[1] += of_second.iter().sum::<f64>();
            quadratic[a] += own[0];
            quadratic[a + 1] += own[1];
            a += 2;
        }
        if a < p {
            quadratic[a] += rest[0] * products[a];
        }
    }
}
