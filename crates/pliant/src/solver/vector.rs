//! Parallel vector operations of conjugate gradients. Sums are partitioned by the length alone, so that they are
//! bitwise the same for any number of threads.

use rayon::prelude::*;

use crate::math::{Kernel, Simd, dispatch, fused};

/// Numbers per parallel task: enough to amortize its overhead.
const GRAIN: usize = 8192;

/// Number of simultaneous partial sums, which the compiler puts into vector registers.
const SUMS: usize = 16;

/// Calls two functions, in parallel if there are several threads.
pub(super) fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    if rayon::current_num_threads() == 1 { (a(), b()) } else { rayon::join(a, b) }
}

/// Returns the dot product `a · b`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() <= GRAIN {
        return dispatch(Dot { a, b });
    }
    let middle = a.len() / 2;
    let ((a, c), (b, d)) = (a.split_at(middle), b.split_at(middle));
    let (low, high) = both(|| dot(a, b), || dot(c, d));
    low + high
}

/// Returns the norm `|a|`.
pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Computes `x += αp` and `r −= αq`. Returns the new `r · r`.
pub(super) fn advance(alpha: f64, p: &[f64], q: &[f64], x: &mut [f64], r: &mut [f64]) -> f64 {
    if x.len() <= GRAIN {
        return dispatch(Advance { alpha, p, q, x, r });
    }
    let middle = x.len() / 2;
    let ((p0, p1), (q0, q1)) = (p.split_at(middle), q.split_at(middle));
    let ((x0, x1), (r0, r1)) = (x.split_at_mut(middle), r.split_at_mut(middle));
    let (low, high) = both(|| advance(alpha, p0, q0, x0, r0), || advance(alpha, p1, q1, x1, r1));
    low + high
}

/// Computes `p = z + βp`.
pub(super) fn redirect(beta: f64, z: &[f64], p: &mut [f64]) {
    each_chunk(p, z, |p, z| p.iter_mut().zip(z).for_each(|(p, z)| *p = z + beta * *p));
}

/// Computes `y += αx`.
pub(crate) fn add_scaled(alpha: f64, x: &[f64], y: &mut [f64]) {
    each_chunk(y, x, |y, x| y.iter_mut().zip(x).for_each(|(y, x)| *y += alpha * x));
}

/// Computes `r = b − q`.
pub(super) fn difference(b: &[f64], q: &[f64], r: &mut [f64]) {
    r.copy_from_slice(b);
    add_scaled(-1.0, q, r);
}

fn each_chunk(to: &mut [f64], from: &[f64], work: impl Fn(&mut [f64], &[f64]) + Sync + Send) {
    if to.len() <= GRAIN || rayon::current_num_threads() == 1 {
        work(to, from);
    } else {
        to.par_chunks_mut(GRAIN).zip(from.par_chunks(GRAIN)).for_each(|(to, from)| work(to, from));
    }
}

struct Dot<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl Kernel for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<R: Simd>(self) -> f64 {
        let ((a, a_tail), (b, b_tail)) = (self.a.as_chunks::<SUMS>(), self.b.as_chunks::<SUMS>());
        let mut sums = [0.0; SUMS];
        for (a, b) in a.iter().zip(b) {
            for s in 0..SUMS {
                sums[s] = fused::<R>(a[s], b[s], sums[s]);
            }
        }
        for (s, (a, b)) in a_tail.iter().zip(b_tail).enumerate() {
            sums[s] = fused::<R>(*a, *b, sums[s]);
        }
        sums.iter().sum()
    }
}

struct Advance<'a> {
    alpha: f64,
    p: &'a [f64],
    q: &'a [f64],
    x: &'a mut [f64],
    r: &'a mut [f64],
}

impl Kernel for Advance<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<R: Simd>(self) -> f64 {
        let alpha = self.alpha;
        for (x, p) in self.x.iter_mut().zip(self.p) {
            *x = fused::<R>(alpha, *p, *x);
        }
        let ((r, r_tail), (q, q_tail)) = (self.r.as_chunks_mut::<SUMS>(), self.q.as_chunks::<SUMS>());
        let mut sums = [0.0; SUMS];
        for (r, q) in r.iter_mut().zip(q) {
            for s in 0..SUMS {
                r[s] = fused::<R>(-alpha, q[s], r[s]);
                sums[s] = fused::<R>(r[s], r[s], sums[s]);
            }
        }
        for (s, (r, q)) in r_tail.iter_mut().zip(q_tail).enumerate() {
            *r = fused::<R>(-alpha, *q, *r);
            sums[s] = fused::<R>(*r, *r, sums[s]);
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_updates_are_right_and_bitwise_the_same_on_any_number_of_threads() {
        let numbers = |seed: f64, count: usize| (0..count).map(|i| (seed * i as f64).sin()).collect::<Vec<_>>();
        for count in [0, 1, 17, GRAIN, 5 * GRAIN + 3] {
            let (p, q) = (numbers(0.7, count), numbers(1.3, count));
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let (mut x, mut r) = (numbers(0.1, count), numbers(0.2, count));
                    let square = advance(0.3, &p, &q, &mut x, &mut r);
                    redirect(0.5, &x, &mut r);
                    add_scaled(2.0, &p, &mut r);
                    (square, dot(&p, &q), x, r)
                })
            };
            let (square, product, x, r) = on(1);
            let (x0, r0) = (numbers(0.1, count), numbers(0.2, count));
            let expected: f64 = p.iter().zip(&q).map(|(p, q)| p * q).sum();
            assert!((product - expected).abs() < 1e-9);
            let advanced = |i: usize| r0[i] - 0.3 * q[i];
            let expected: f64 = (0..count).map(|i| advanced(i).powi(2)).sum();
            assert!((square - expected).abs() < 1e-9 * (1.0 + expected));
            for i in 0..count {
                assert!((x[i] - (x0[i] + 0.3 * p[i])).abs() < 1e-15);
                assert!((r[i] - (x[i] + 0.5 * advanced(i) + 2.0 * p[i])).abs() < 1e-14);
            }
            assert_eq!(on(4), (square, product, x, r));
        }
    }
}
