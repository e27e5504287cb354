//! Benchmark of stress and tangent of each law at one point: the constitutive part of a stiffness matrix.
//!
//! `cargo bench -p pliant --bench laws`. The widest SIMD registers are detected at run time, so an ordinary build shows
//! what users get. Divide the time by the 4096 points.

use divan::{Bencher, black_box, counter::ItemsCount};
use pliant::material::{AnyLaw, Definiteness, LANES, Law, LawVisitor, Material, Points, YoungPoisson};
use pliant::math::Matrix;

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

/// Returns deformation gradients near rest.
fn states() -> Vec<Points<9>> {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut states = vec![Points::ZERO; POINTS / LANES];
    for state in &mut states {
        for (n, entries) in state.0.iter_mut().enumerate() {
            entries.fill_with(|| f64::from(u8::from(n % 4 == 0)) + 0.2 * rng.f64());
        }
    }
    states
}

/// Visitor that times a law at one point at a time, as it would run without vector registers.
struct OneAtATime<'a, 'b>(Bencher<'a, 'b>);

impl LawVisitor for OneAtATime<'_, '_> {
    type Output = ();

    fn visit<L: Law + 'static>(self, law: &L) {
        let gradient = |state: &Points<9>, lane: usize| {
            Matrix(std::array::from_fn(|i| std::array::from_fn(|j| state.0[3 * i + j][lane])))
        };
        let states = states();
        let states: Vec<Matrix<f64>> =
            states.iter().flat_map(|state| (0..LANES).map(move |lane| gradient(state, lane))).collect();
        self.0.counter(ItemsCount::new(POINTS)).bench_local(|| {
            let law = black_box(law);
            for f in &states {
                black_box(law.stress_and_tangent(f));
            }
        });
    }
}

#[divan::bench(args = names())]
fn stress(bencher: Bencher<'_, '_>, name: &str) {
    let (material, states) = (Material::from(law(name)), states());
    let mut stresses = vec![Points::ZERO; states.len()];
    bencher.counter(ItemsCount::new(POINTS)).bench_local(|| material.stresses(black_box(&states), &mut stresses));
}

#[divan::bench(args = names())]
fn stress_and_tangent(bencher: Bencher<'_, '_>, name: &str) {
    let (material, states) = (Material::from(law(name)), states());
    let (mut stresses, mut tangents) = (vec![Points::ZERO; states.len()], vec![Points::ZERO; states.len()]);
    bencher.counter(ItemsCount::new(POINTS)).bench_local(|| {
        material.stresses_and_tangents(Definiteness::Exact, black_box(&states), &mut stresses, &mut tangents);
    });
}

#[divan::bench(args = names())]
fn stress_and_tangent_one_at_a_time(bencher: Bencher<'_, '_>, name: &str) {
    law(name).visit(OneAtATime(bencher));
}
