//! Benchmark of stress and tangent of each law at one point: the constitutive part of a stiffness matrix.
//!
//! `cargo bench -p pliant --bench laws`. The widest SIMD registers are detected at run time, so an ordinary build shows
//! what users get. Divide the time by the 4096 points.

use divan::{Bencher, black_box, counter::ItemsCount};
use pliant::material::{AnyLaw, Law, LawVisitor, YoungPoisson};
use pliant::math::{Kernel, Lanes, Matrix, Simd, dispatch};

fn main() {
    divan::main();
}

/// Number of points, few enough to stay in the cache.
const POINTS: usize = 4096;

/// Built-in laws given as formulas, for comparison with the hand-written ones.
const FORMULAS: [(&str, &str); 3] = [
    ("formula: neo-hookean", "mu/2*(I1-3) - mu*ln(J) + lambda/2*ln(J)^2"),
    ("formula: mooney-rivlin", "lambda*(J^(-4/3)*I2 - 3) + mu*(J^(-2/3)*I1 - 3) + lambda*(J-1)^2"),
    ("formula: corotational", "mu*((l1-1)^2 + (l2-1)^2 + (l3-1)^2) + lambda/2*(l1 + l2 + l3 - 3)^2"),
];

fn names() -> impl Iterator<Item = &'static str> {
    AnyLaw::ALL.iter().map(|law| law.name).chain(FORMULAS.map(|(name, _)| name))
}

fn law(name: &str) -> AnyLaw {
    let moduli = YoungPoisson { young: 1e6, poisson: 0.4 };
    match FORMULAS.iter().find(|formula| formula.0 == name) {
        Some((_, text)) => AnyLaw::formula(text, &[("mu", moduli.mu()), ("lambda", moduli.lambda())]).unwrap(),
        None => AnyLaw::new(name, moduli).unwrap(),
    }
}

/// Returns deformation gradients near rest: for each entry, the values at all points.
fn states() -> Vec<Vec<f64>> {
    let mut rng = fastrand::Rng::with_seed(1);
    (0..9).map(|n| (0..POINTS).map(|_| f64::from(u8::from(n % 4 == 0)) + 0.2 * rng.f64()).collect()).collect()
}

/// Kernel that computes the stress, and optionally the tangent, at all states. It returns a sum, so that the compiler
/// omits nothing.
struct Evaluate<'a, L> {
    law: &'a L,
    states: &'a [Vec<f64>],
    tangent: bool,
}

impl<L: Law> Kernel for Evaluate<'_, L> {
    type Output = f64;

    #[inline(always)]
    fn run<R: Simd>(self) -> f64 {
        let mut sum = R::from(0.0);
        for point in (0..POINTS).step_by(R::WIDTH) {
            let mut f: Matrix<R> = Matrix::zero();
            for n in 0..9 {
                f.0[n / 3][n % 3] = R::load(&self.states[n][point..]);
            }
            if self.tangent {
                let (p, a) = self.law.stress_and_tangent(&f);
                sum += p.double_dot(&p);
                for i in 0..9 {
                    for j in 0..9 {
                        sum += a[i][j];
                    }
                }
            } else {
                let p = self.law.stress(&f);
                sum += p.double_dot(&p);
            }
        }
        let mut lanes = vec![0.0; R::WIDTH];
        sum.store(&mut lanes);
        lanes.iter().sum()
    }
}

struct Bench<'a, 'b> {
    bencher: Bencher<'a, 'b>,
    tangent: bool,
    registers: bool,
}

impl LawVisitor for Bench<'_, '_> {
    type Output = ();

    fn visit<L: Law + 'static>(self, law: &L) {
        let states = states();
        let (tangent, registers) = (self.tangent, self.registers);
        self.bencher.counter(ItemsCount::new(POINTS)).bench_local(|| {
            let kernel = Evaluate { law: black_box(law), states: &states, tangent };
            if registers { dispatch(kernel) } else { kernel.run::<Lanes<1, false>>() }
        });
    }
}

fn bench(bencher: Bencher<'_, '_>, name: &str, tangent: bool, registers: bool) {
    law(name).visit(Bench { bencher, tangent, registers });
}

#[divan::bench(args = names())]
fn stress(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, name, false, true);
}

#[divan::bench(args = names())]
fn stress_and_tangent(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, name, true, true);
}

#[divan::bench(args = names())]
fn stress_and_tangent_one_at_a_time(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, name, true, false);
}
