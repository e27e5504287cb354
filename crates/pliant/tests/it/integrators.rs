//! Every integrator on a user-defined system: order, energy, failure.

use crate::pendulums::Pendulums;
use pliant::integrator::{
    BackwardEuler, Bdf2, CentralDifferences, ExplicitEuler, Halving, Integrator, LinearizedBackwardEuler, Newmark,
    NewtonParams, NewtonTangent, Static, StepError, SymplecticEuler, stability,
};
use pliant::solver::{Dense, DenseMatrix};
use pliant::system::{Combination, Conditions, Definiteness, Linearization, State, System};

type BoxedIntegrator = Box<dyn Integrator<Pendulums>>;
type MakeIntegrator = fn() -> BoxedIntegrator;

fn precise() -> NewtonParams {
    NewtonParams { tolerance: 1e-12, ..NewtonParams::default() }
}

/// Returns all integrators with their orders.
fn integrators() -> Vec<(&'static str, f64, MakeIntegrator)> {
    vec![
        ("linearized backward Euler", 1.0, || Box::new(LinearizedBackwardEuler::new(Definiteness::Exact))),
        ("backward Euler", 1.0, || Box::new(BackwardEuler::new(precise()))),
        ("BDF2", 2.0, || Box::new(Bdf2::new(precise()))),
        ("Newmark", 2.0, || Box::new(Newmark::default())),
        ("Newmark with one iteration", 2.0, || Box::new(Newmark::with_iterations(1))),
        ("Newmark, γ = 0.7", 1.0, || {
            Box::new(
                Newmark::new(0.4, 0.7, NewtonParams { tangent: NewtonTangent::Exact, line_search: false, ..precise() })
                    .unwrap(),
            )
        }),
        ("central differences", 2.0, || Box::new(CentralDifferences::default())),
        ("symplectic Euler", 1.0, || Box::<SymplecticEuler>::default()),
        ("explicit Euler", 1.0, || Box::<ExplicitEuler>::default()),
    ]
}

fn run(integrator: &mut dyn Integrator<Pendulums>, chain: &mut Pendulums, state: &mut State, dt: f64, steps: usize) {
    let mut solver = Dense::default();
    for _ in 0..steps {
        integrator.step(chain, &mut solver, state, dt).unwrap();
    }
}

/// Returns the order of convergence: the slope of log error over log step size, fitted to four step sizes.
fn slope(steps: &[f64], errors: &[f64]) -> f64 {
    let n = steps.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = steps.iter().zip(errors).map(|(h, e)| (h.ln(), e.ln())).unzip();
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    covariance / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>()
}

#[test]
fn errors_fall_with_the_step_as_the_order_of_each_integrator_says() {
    for friction in [0.0, 0.5] {
        let mut chain = Pendulums::new(5);
        chain.friction = friction;
        let mut exact = chain.lifted(1.5);
        let mut reference = Newmark::new(0.25, 0.5, NewtonParams { line_search: false, ..precise() }).unwrap();
        run(&mut reference, &mut chain, &mut exact, 1.0 / 16384.0, 16384);
        for (name, order, integrator) in integrators() {
            let counts = [256_u32, 512, 1024, 2048];
            let errors = counts.map(|count| {
                let mut state = chain.lifted(1.5);
                run(&mut *integrator(), &mut chain, &mut state, 1.0 / f64::from(count), count as usize);
                assert!((state.time - 1.0).abs() < 1e-12);
                let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                (difference(&state.q, &exact.q) + difference(&state.v, &exact.v)).sqrt()
            });
            let found = slope(&counts.map(|count| 1.0 / f64::from(count)), &errors);
            println!("{name}, friction {friction}: order {found:.3}, errors {errors:?}");
            assert!((found - order).abs() < 0.08, "{name}, friction {friction}: order {found:.3}, expected {order}");
        }
    }
}

#[test]
fn energy_of_symplectic_euler_stays_within_bounds_over_a_hundred_thousand_steps() {
    let mut chain = Pendulums::new(3);
    let mut state = chain.lifted(1.0);
    let start = chain.total_energy(&state);
    let mut integrator = SymplecticEuler::default();
    let mut worst = [0.0_f64; 2];
    let mut solver = Dense::default();
    for half in 0..2 {
        for _ in 0..50_000 {
            integrator.step(&mut chain, &mut solver, &mut state, 0.01).unwrap();
            worst[half] = worst[half].max((chain.total_energy(&state) / start - 1.0).abs());
        }
    }
    println!("largest change of energy in each half: {worst:?}");
    assert!(worst[0] < 0.05 && worst[1] < 1.5 * worst[0], "{worst:?}");
}

#[test]
fn backward_euler_never_gains_energy_from_any_start_at_any_step() {
    let mut rng = fastrand::Rng::with_seed(4);
    for dt in [1e-3, 0.1, 3.0] {
        let mut chain = Pendulums::new(6);
        chain.friction = 0.1 * rng.f64();
        let mut state = chain.lifted(0.0);
        state.q.iter_mut().for_each(|q| *q = 7.0 * (rng.f64() - 0.5));
        state.v.iter_mut().for_each(|v| *v = 7.0 * (rng.f64() - 0.5));
        let (mut integrator, mut solver) = (BackwardEuler::default(), Dense::default());
        let mut energy = chain.total_energy(&state);
        for _ in 0..200 {
            integrator.step(&mut chain, &mut solver, &mut state, dt).unwrap();
            let now = chain.total_energy(&state);
            assert!(now <= energy + 1e-9, "{energy} became {now} in a step of {dt} s");
            energy = now;
        }
    }
}

#[test]
fn a_pendulum_upside_down_falls_to_the_stable_equilibrium() {
    let mut chain = Pendulums::new(4);
    let mut state = chain.lifted(2.8);
    let info = Static::default().solve(&mut chain, &mut Dense::default(), &mut state).unwrap();
    assert!(state.q.iter().all(|q| q.abs() < 1e-9), "{:?}", state.q);
    assert!(info.newton_iterations < 20);
}

/// Returns the maximum angular frequency of three pendulums: `ω² = g + k (2 − 2 cos(2π/3))` with free ends.
#[test]
fn explicit_integrators_know_their_largest_stable_step() {
    let mut chain = Pendulums::new(3);
    let exact = (9.81 + 3.0 * chain.coupling).sqrt();
    let found = stability(&mut chain, &mut Dense::default(), &State::new(3), 0.01).unwrap();
    assert!((found.frequency / exact - 1.0).abs() < 0.01, "{} instead of {exact}", found.frequency);
    assert!(found.is_stable() && found.max_step < 2.0 / exact);

    // Small oscillations are unstable at 1.1 times the limit, and stable at 0.9 times.
    for (factor, explodes) in [(1.1, true), (0.9, false)] {
        for integrator in
            [&mut SymplecticEuler::default() as &mut dyn Integrator<Pendulums>, &mut CentralDifferences::default()]
        {
            let mut state = chain.lifted(1e-6);
            let mut solver = Dense::default();
            for _ in 0..200 {
                let info = integrator.step(&mut chain, &mut solver, &mut state, factor * 2.0 / exact).unwrap();
                assert_eq!(info.stability.unwrap().is_stable(), !explodes);
            }
            assert_eq!(state.q.iter().any(|q| q.abs() > 1e-4), explodes, "{:?}", state.q);
        }
    }
}

/// Chain of pendulums whose evaluation fails near an angle.
#[derive(Debug)]
struct Breaking {
    chain: Pendulums,
    limit: f64,
}

impl Breaking {
    /// Returns true if an angle is beyond the limit.
    fn is_broken(&self, q: &[f64]) -> bool {
        q.iter().any(|q| q.abs() > self.limit)
    }
}

/// Returns the matrix of the chain that is that of the system.
fn of_chain(combination: Combination<'_, Breaking>) -> Combination<'_, Pendulums> {
    let Combination { mass, damping, stiffness } = combination;
    Combination { mass, damping, stiffness }
}

impl System for Breaking {
    type Stiffness = DenseMatrix;
    type Damping = f64;
    type Matrix = DenseMatrix;

    fn dim(&self) -> usize {
        self.chain.dim()
    }

    fn energy(&mut self, q: &[f64], conditions: &Conditions<'_>) -> Option<f64> {
        let is_broken = self.is_broken(q);
        self.chain.energy(q, conditions).map(|energy| if is_broken { f64::NAN } else { energy })
    }

    fn force(&mut self, q: &[f64], conditions: &Conditions<'_>, force: &mut [f64]) -> f64 {
        let scale = self.chain.force(q, conditions, force);
        if self.is_broken(q) {
            force[1] = f64::NAN;
        }
        scale
    }

    fn linearize(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        force: &mut [f64],
    ) -> Linearization<DenseMatrix> {
        let linearization = self.chain.linearize(q, conditions, definiteness, force);
        self.force(q, conditions, force);
        linearization
    }

    fn damping(
        &mut self,
        q: &[f64],
        conditions: &Conditions<'_>,
        v: &[f64],
        stiffness: Option<&DenseMatrix>,
        drive: &mut [f64],
    ) -> f64 {
        self.chain.damping(q, conditions, v, stiffness, drive)
    }

    fn mul(&mut self, combination: Combination<'_, Self>, x: &[f64], y: &mut [f64]) {
        self.chain.mul(of_chain(combination), x, y);
    }

    fn assemble(&mut self, combination: Combination<'_, Self>) {
        self.chain.assemble(of_chain(combination));
    }

    fn matrix(&self) -> &DenseMatrix {
        self.chain.matrix()
    }
}

#[test]
fn a_step_that_fails_leaves_the_state_untouched_and_says_where() {
    let integrators: [Box<dyn Integrator<Breaking>>; 6] = [
        Box::<LinearizedBackwardEuler>::default(),
        Box::<BackwardEuler>::default(),
        Box::<Bdf2>::default(),
        Box::<Newmark>::default(),
        Box::<CentralDifferences<_>>::default(),
        Box::<SymplecticEuler>::default(),
    ];
    for mut integrator in integrators {
        let mut system = Breaking { chain: Pendulums::new(3), limit: 1.0 };
        let mut state = State { q: vec![1.1, 0.0, 0.0], ..State::new(3) };
        let before = state.clone();
        let error = integrator.step(&mut system, &mut Dense::default(), &mut state, 0.01).unwrap_err();
        assert!(error.to_string().contains("the force is not finite at coordinate 1"), "{integrator:?}: {error}");
        assert_eq!(state, before);
        for dt in [0.0, -1.0, f64::NAN] {
            let error = integrator.step(&mut system, &mut Dense::default(), &mut state, dt).unwrap_err();
            assert!(matches!(error, StepError::TimeStep { .. }), "{error}");
        }
        state.v[2] = f64::INFINITY;
        let error = integrator.step(&mut system, &mut Dense::default(), &mut state, 0.01).unwrap_err();
        assert!(error.to_string().starts_with("the velocity is not finite at coordinate 2"), "{error}");
        state.v.pop();
        let error = integrator.step(&mut system, &mut Dense::default(), &mut state, 0.01).unwrap_err();
        assert_eq!(error.to_string(), "the state has 2 coordinates, expected 3");
    }
}

#[test]
fn halving_gets_past_what_a_whole_step_does_not() {
    // Gravity reverses these pendulums at 0.99 rad, but a long step overshoots.
    let start = State { v: vec![3.0; 3], ..State::new(3) };
    let mut system = Breaking { chain: Pendulums::new(3), limit: 1.1 };
    let mut state = start.clone();
    let failed = CentralDifferences::default().step(&mut system, &mut Dense::default(), &mut state, 0.8).unwrap_err();
    assert!(matches!(failed, StepError::NotFinite { .. }), "{failed}");
    assert_eq!(state, start);

    let mut halving = Halving::new(CentralDifferences::default(), 6);
    let info = halving.step(&mut system, &mut Dense::default(), &mut state, 0.8).unwrap();
    assert!(info.substeps >= 3, "{}", info.substeps);
    assert_eq!(state.time, 0.8);

    system.limit = 0.1;
    let mut state = start.clone();
    let error = halving.step(&mut system, &mut Dense::default(), &mut state, 0.8).unwrap_err();
    assert!(error.to_string().starts_with("after 6 halvings of the step"), "{error}");
    assert_eq!(state, start);
}

#[test]
fn impossible_coefficients_of_newmark_are_named() {
    let error = Newmark::new(0.0, 0.5, precise()).unwrap_err().to_string();
    assert_eq!(error, "Newmark's β is 0 and γ 0.5, expected β > 0 and γ ≥ 0; for β = 0 use central differences");
    assert!(Newmark::new(f64::NAN, 0.5, precise()).is_err() && Newmark::new(0.25, -0.1, precise()).is_err());
}
