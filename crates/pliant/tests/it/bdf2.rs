//! The second-order backward differentiation formula: recurrence, order, damping, its previous step, contact.

use crate::pendulums::Pendulums;
use pliant::contact::ContactParams;
use pliant::force::SurfaceContact;
use pliant::integrator::{BackwardEuler, Bdf2, Halving, Integrator, Newmark, NewtonParams, Static, StepError};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::motion::{Motion, NotFinite};
use pliant::simulation::Simulation;
use pliant::solver::{Dense, DenseMatrix, Direct, SolverParams};
use pliant::system::{Combination, Conditions, Definiteness, Linearization, PreviousStep, State, System};

fn precise() -> NewtonParams {
    NewtonParams { tolerance: 1e-13, ..NewtonParams::default() }
}

/// Row of linear springs between masses of a consistent matrix, with damping `c M`. The first coordinate may follow a
/// prescribed motion.
#[derive(Debug)]
struct Row {
    stiffness: f64,
    friction: f64,
    fixed: Vec<bool>,
    motion: fn(f64) -> f64,
    matrix: DenseMatrix,
}

impl Row {
    fn new(count: usize, stiffness: f64) -> Self {
        let matrix = DenseMatrix::zero(count);
        Self { stiffness, friction: 0.0, fixed: vec![false; count], motion: |_| 0.0, matrix }
    }

    /// Returns the entry of `M` or `K`, with these numbers on and next to the diagonal.
    fn entry(i: usize, j: usize, [diagonal, next]: [f64; 2]) -> f64 {
        match i.abs_diff(j) {
            0 => diagonal,
            1 => next,
            _ => 0.0,
        }
    }

    fn mass(i: usize, j: usize) -> f64 {
        Self::entry(i, j, [2.0 / 3.0, 1.0 / 6.0])
    }

    /// Returns `xᵀ M x` and `xᵀ K x`.
    fn products(&self, x: &[f64]) -> [f64; 2] {
        let of = |entries: [f64; 2]| {
            let row = |i: usize| (0..x.len()).map(|j| Self::entry(i, j, entries) * x[j]).sum::<f64>();
            (0..x.len()).map(|i| x[i] * row(i)).sum::<f64>()
        };
        [of([2.0 / 3.0, 1.0 / 6.0]), of([2.0 * self.stiffness, -self.stiffness])]
    }
}

impl System for Row {
    type Stiffness = f64;
    type Damping = f64;
    type Matrix = DenseMatrix;

    fn dim(&self) -> usize {
        self.fixed.len()
    }

    fn energy(&mut self, q: &[f64], _: &Conditions<'_>) -> Option<f64> {
        Some(0.5 * self.products(q)[1])
    }

    fn force(&mut self, q: &[f64], _: &Conditions<'_>, force: &mut [f64]) -> f64 {
        for i in 0..q.len() {
            let row = |j: usize| Self::entry(i, j, [2.0 * self.stiffness, -self.stiffness]) * q[j];
            force[i] = -(0..q.len()).map(row).sum::<f64>();
        }
        0.0
    }

    fn linearize(&mut self, q: &[f64], c: &Conditions<'_>, _: Definiteness, force: &mut [f64]) -> Linearization<f64> {
        Linearization { scale: self.force(q, c, force), stiffness: self.stiffness }
    }

    fn damping(&mut self, _: &[f64], _: &Conditions<'_>, _: &[f64], _: Option<&f64>, _: &mut [f64]) -> f64 {
        self.friction
    }

    fn mul(&mut self, combination: Combination<'_, Self>, x: &[f64], y: &mut [f64]) {
        let Combination { mass, damping, stiffness } = combination;
        let (mass, k) = (mass + damping.map_or(0.0, |(d, c)| d * c), stiffness.map_or(0.0, |(k, s)| k * s));
        for i in 0..x.len() {
            let entry = |j: usize| mass * Self::mass(i, j) + Self::entry(i, j, [2.0 * k, -k]);
            y[i] = (0..x.len()).map(|j| entry(j) * x[j]).sum();
        }
    }

    fn assemble(&mut self, combination: Combination<'_, Self>) {
        let n = self.dim();
        let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..n {
            unit[j] = 1.0;
            self.mul(combination, &unit, &mut column);
            unit[j] = 0.0;
            for i in 0..n {
                let is_fixed = self.fixed[i] || self.fixed[j];
                self.matrix[(i, j)] = if is_fixed { f64::from(u8::from(i == j)) } else { column[i] };
            }
        }
    }

    fn matrix(&self) -> &DenseMatrix {
        &self.matrix
    }

    fn fixed_mask(&self) -> &[bool] {
        &self.fixed
    }

    fn prescribe(&self, time: f64, q: &mut [f64]) -> Result<(), NotFinite> {
        for (q, fixed) in q.iter_mut().zip(&self.fixed) {
            if *fixed {
                *q = (self.motion)(time);
            }
        }
        Ok(())
    }
}

/// Steps through these lengths.
fn run<S: System<Matrix = DenseMatrix>>(
    system: &mut S,
    mut integrator: impl Integrator<S>,
    mut state: State,
    steps: impl IntoIterator<Item = f64>,
) -> State {
    for dt in steps {
        integrator.step(system, &mut Dense::default(), &mut state, dt).unwrap();
    }
    state
}

/// Returns step lengths that add up to `duration`, each up to 2.3 times as long as the one before it.
fn uneven(count: usize, duration: f64) -> Vec<f64> {
    let lengths: Vec<f64> = (0..count).map(|i| [1.0, 2.3, 1.1, 2.0, 0.3, 0.6][i % 6]).collect();
    let sum: f64 = lengths.iter().sum();
    lengths.into_iter().map(|length| length * duration / sum).collect()
}

/// Checks an oscillator `q̈ = −ω² q`, for which `z = q + i v/ω` obeys `ż = −iω z`, against the recurrence of the
/// formula for `z`, in complex numbers.
#[test]
fn oscillator_follows_the_closed_form_recurrence_at_even_and_uneven_steps() {
    for omega in [0.5, 3.0, 200.0] {
        // One mass of ⅔ on a spring of stiffness 2k.
        let mut row = Row::new(1, omega * omega / 3.0);
        for lengths in [vec![0.1; 40], uneven(40, 4.0), vec![0.01, 0.1, 0.1, 0.03, 0.05, 0.2, 0.2]] {
            let mut state = State { q: vec![1.0], v: vec![0.5 * omega], ..State::new(1) };
            let (mut integrator, mut solver) = (Bdf2::new(precise()), Dense::default());
            let (mut z, mut change, mut last) = ([1.0, 0.5], [0.0; 2], None);
            for h in lengths {
                // Restarts after a step that was shorter by more than 2.4.
                let ratio = last.map(|last| h / last).filter(|ratio| *ratio <= 2.4).unwrap_or(0.0);
                let (beta, tau) = (ratio * ratio / (1.0 + 2.0 * ratio), h * (1.0 + ratio) / (1.0 + 2.0 * ratio));
                // z₊ (1 + iωτ) = z + β Δz
                let right = [z[0] + beta * change[0], z[1] + beta * change[1]];
                let (y, size) = (omega * tau, 1.0 + (omega * tau).powi(2));
                let next = [(right[0] + y * right[1]) / size, (right[1] - y * right[0]) / size];
                (change, z, last) = ([next[0] - z[0], next[1] - z[1]], next, Some(h));
                integrator.step(&mut row, &mut solver, &mut state, h).unwrap();
                // The imaginary part of ż = −iω z has the sign of −q.
                let found = [state.q[0], state.v[0] / omega];
                for (found, expected) in found.iter().zip(z) {
                    assert!((found - expected).abs() < 1e-12, "ω = {omega}, h = {h}: {found} {expected}");
                }
            }
        }
    }
}

/// Returns the distance of two states in positions and velocities.
fn distance(a: &State, b: &State) -> f64 {
    let squares = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    (squares(&a.q, &b.q) + squares(&a.v, &b.v)).sqrt()
}

#[test]
fn it_is_of_second_order_with_moving_ends_damping_and_uneven_steps() {
    for friction in [0.0, 0.7] {
        let mut row = Row::new(5, 4.0);
        row.friction = friction;
        row.fixed[0] = true;
        // The motion starts at once.
        row.motion = |time| 0.3 * (3.0 * time).sin();
        let start = State { v: vec![0.9, 0.0, 0.0, 1.0, 0.0], ..State::new(5) };
        let reference = Newmark::new(0.25, 0.5, NewtonParams { line_search: false, ..precise() }).unwrap();
        let exact = run(&mut row, reference, start.clone(), vec![2.0 / 16384.0; 16384]);
        for even in [true, false] {
            let errors = [192, 384, 768].map(|count| {
                let lengths = if even { vec![2.0 / count as f64; count] } else { uneven(count, 2.0) };
                let end = run(&mut row, Bdf2::new(precise()), start.clone(), lengths);
                assert!((end.time - 2.0).abs() < 1e-12);
                distance(&end, &exact)
            });
            let order = (errors[0] / errors[2]).log2() / 2.0;
            println!("friction {friction}, even {even}: order {order:.3}, errors {errors:?}");
            assert!((order - 2.0).abs() < 0.08 && errors[2] < 1e-3, "{friction} {even}: {order:.3} {errors:?}");
        }
    }
}

#[test]
fn it_is_of_second_order_through_halved_steps_of_a_nonlinear_system() {
    let mut chain = Pendulums::new(4);
    chain.friction = 0.3;
    let reference = Newmark::new(0.25, 0.5, NewtonParams { line_search: false, ..precise() }).unwrap();
    let start = chain.lifted(1.5);
    let exact = run(&mut chain, reference, start.clone(), vec![1.0 / 16384.0; 16384]);
    // One step of eight is divided as by halving, with lengths that double again.
    let parts = [1.0, 1.0, 0.125, 0.125, 0.25, 0.5, 1.0, 1.0, 1.0, 0.5, 0.5, 1.0];
    let errors = [32, 64, 128].map(|count| {
        let lengths = (0..12 * count).map(|i| parts[i % 12] / (8.0 * count as f64));
        distance(&run(&mut chain, Bdf2::new(precise()), start.clone(), lengths), &exact)
    });
    let order = (errors[0] / errors[2]).log2() / 2.0;
    assert!((order - 2.0).abs() < 0.1, "order {order:.3}, errors {errors:?}");
}

/// The norm `|y|² + |2y − y₋|²` of two successive states never increases, with the energy norm
/// `|y|² = |q|²_K + |v|²_M`: the formula is G-stable.
#[test]
fn the_energy_of_linear_systems_decays_at_any_step() {
    let mut random = fastrand::Rng::with_seed(8);
    for dt in [1e-3, 0.05, 1.0, 30.0] {
        let mut row = Row::new(6, 50.0 * random.f64());
        row.friction = 0.1 * random.f64();
        let mut number = || random.f64() - 0.5;
        let mut state =
            State { q: (0..6).map(|_| number()).collect(), v: (0..6).map(|_| number()).collect(), ..State::new(6) };
        let (mut integrator, mut solver) = (Bdf2::new(precise()), Dense::default());
        let energy = |row: &Row, q: &[f64], v: &[f64]| row.products(q)[1] + row.products(v)[0];
        let start = energy(&row, &state.q, &state.v);
        let mut norm = f64::INFINITY;
        for _ in 0..300 {
            let before = state.clone();
            integrator.step(&mut row, &mut solver, &mut state, dt).unwrap();
            let beyond = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| 2.0 * a - b).collect::<Vec<f64>>();
            let (q, v) = (beyond(&state.q, &before.q), beyond(&state.v, &before.v));
            let now = energy(&row, &state.q, &state.v) + energy(&row, &q, &v);
            assert!(now <= norm * (1.0 + 1e-12), "{norm} became {now} in a step of {dt} s");
            norm = now;
            // Far below, squares underflow.
            if norm < 1e-100 {
                break;
            }
        }
        let end = energy(&row, &state.q, &state.v);
        assert!(end < start, "{end} of {start}");
    }
}

#[test]
fn fast_motion_is_damped_at_once_where_the_trapezoidal_rule_rings_and_slow_motion_hardly() {
    let start = State { q: vec![1.0], ..State::new(1) };
    // ωh = 1e5.
    let mut stiff = Row::new(1, 1e14 / 3.0);
    let end = run(&mut stiff, Bdf2::new(precise()), start.clone(), [0.01; 3]);
    assert!(end.q[0].abs() < 1e-9 && end.v[0].abs() < 1e-9 * 1e7, "{end:?}");
    let newmark = Newmark::new(0.25, 0.5, NewtonParams { line_search: false, ..precise() }).unwrap();
    assert!(run(&mut stiff, newmark, start.clone(), [0.01; 3]).q[0].abs() > 0.99);
    // ωh = 0.05, for ten periods: the amplitude decays by (ωh)⁴/4 and (ωh)²/2 in a step.
    let mut slow = Row::new(1, 1.0 / 3.0);
    let amplitude = |state: State| state.q[0].hypot(state.v[0]);
    let steps = vec![0.05; 1256];
    let found = amplitude(run(&mut slow, Bdf2::new(precise()), start.clone(), steps.clone()));
    let expected = (-1256.0 * 0.05_f64.powi(4) / 4.0).exp();
    assert!((found - expected).abs() < 2e-3, "{found} {expected}");
    assert!(amplitude(run(&mut slow, BackwardEuler::new(precise()), start, steps)) < 0.22);
}

/// Cantilever that swings, with a base that is shaken.
fn simulation(integrator: impl Integrator<Assembly> + 'static) -> Simulation {
    let mesh = generate::block([1.0, 0.2, 0.2], [4, 1, 1], Cells::Tet5).unwrap();
    let base = mesh.vertex_sets()["x-min"].clone();
    let law = AnyLaw::new("neo-hookean", YoungPoisson { young: 1e5, poisson: 0.4 }).unwrap();
    let shaken = |time: f64, _: Vec3| Vec3::new(0.0, 0.01 * (9.0 * time).sin(), 0.0);
    let model = Model::builder()
        .body(Body::new(mesh, law, 1000.0))
        .fix(Fixed::prescribed(base, Motion::Function(std::sync::Arc::new(shaken))))
        .gravity(-9.81 * Vec3::Y)
        .build()
        .unwrap();
    let start = model.rest_state();
    Simulation::new(model, integrator, SolverParams::Direct.build(), start, 0.01).restarting_every(4)
}

#[test]
fn checkpoints_and_copies_continue_with_the_same_bits() {
    let mut first = simulation(Bdf2::for_animation());
    for _ in 0..8 {
        first.step().unwrap();
    }
    assert_eq!(first.state().previous.as_ref().map(|previous| previous.dt), Some(0.01));
    let (checkpoint, mut copy) = (first.checkpoint_here(), first.clone());
    let mut resumed = simulation(Bdf2::for_animation());
    resumed.resume(checkpoint.clone()).unwrap();
    let mut without = checkpoint;
    without.state.previous = None;
    let mut restarted = simulation(Bdf2::for_animation());
    restarted.resume(without).unwrap();
    for _ in 0..6 {
        for simulation in [&mut first, &mut copy, &mut resumed, &mut restarted] {
            simulation.step().unwrap();
        }
    }
    assert_eq!(first.state(), copy.state());
    assert_eq!(first.state(), resumed.state());
    assert_ne!(first.state().q, restarted.state().q);
}

#[test]
fn the_previous_step_is_forgotten_when_something_else_changes_the_state() {
    let mut simulation = simulation(Bdf2::default());
    for _ in 0..2 {
        simulation.step().unwrap();
    }
    let model = simulation.model().clone();
    let state = simulation.state().clone();
    let changed = |change: &mut dyn FnMut(&mut State)| {
        let mut state = state.clone();
        change(&mut state);
        (state.previous.is_some(), state.a.is_some())
    };
    assert_eq!(changed(&mut |_| {}), (true, true));
    assert_eq!(changed(&mut State::forget), (false, false));
    assert_eq!(changed(&mut |state| model.add_impulse(state, 5, Vec3::X)), (false, false));
    assert_eq!(changed(&mut |state| model.set_velocity(state, 0..9, Vec3::X, Vec3::ZERO, Vec3::ZERO)), (false, false));
    let mut assembly = Assembly::new(model.clone());
    let mut solve = |state: &mut State| {
        Static::default().solve(&mut assembly, &mut Direct::default(), state).unwrap();
    };
    assert_eq!(changed(&mut solve), (false, false));
    let mut assembly = Assembly::new(model);
    let mut by = |integrator: &mut dyn Integrator<Assembly>| {
        changed(&mut |state| {
            integrator.step(&mut assembly, &mut Direct::default(), state, 0.01).unwrap();
        })
    };
    assert_eq!(by(&mut BackwardEuler::default()), (false, true));
    assert_eq!(by(&mut Newmark::default()), (false, true));
    assert_eq!(by(&mut Halving::new(Bdf2::default(), 2)), (true, true));
}

#[test]
fn failed_steps_and_broken_states_change_nothing() {
    let mut simulation = simulation(Bdf2::default());
    simulation.step().unwrap();
    let mut assembly = Assembly::new(simulation.model().clone());
    let mut state = simulation.state().clone();
    let strict = NewtonParams { max_iterations: 1, tolerance: 1e-15, ..NewtonParams::default() };
    let before = state.clone();
    let mut step = |state: &mut State| {
        Halving::new(Bdf2::new(strict), 2).step(&mut assembly, &mut Direct::default(), state, 0.05).unwrap_err()
    };
    assert!(matches!(step(&mut state), StepError::Halving { .. }));
    assert_eq!(state, before);
    let broken = |change: fn(&mut PreviousStep)| {
        let mut state = before.clone();
        change(state.previous.as_mut().unwrap());
        state
    };
    let error = step(&mut broken(|previous| previous.dq.truncate(1))).to_string();
    assert_eq!(error, format!("the state has 1 coordinates, expected {}", before.q.len()));
    let lost: [fn(&mut PreviousStep); 2] = [|step| step.dv[4] = f64::NAN, |step| step.dq[4] = f64::INFINITY];
    for change in lost {
        let error = step(&mut broken(change)).to_string();
        assert!(error.starts_with("the previous step is not finite at y of vertex 1"), "{error}");
    }
    assert!(matches!(step(&mut broken(|previous| previous.dt = 0.0)), StepError::State { .. }));
}

#[test]
fn a_cube_that_falls_on_the_ground_bounces_without_crossing_it_and_comes_to_rest() {
    let block = |size: [f64; 3], corner: Vec3| {
        let mesh = generate::block(size, [2, 2, 1], Cells::Tet5).unwrap();
        mesh.transformed(pliant::math::Affine3::from_translation(corner)).unwrap()
    };
    let law = AnyLaw::new("neo-hookean", YoungPoisson { young: 1e5, poisson: 0.3 }).unwrap();
    let cube = Body::new(block([0.1; 3], Vec3::new(-0.06, -0.05, 0.02)), law, 1000.0);
    let ground = Body::without_elasticity(block([1.0, 1.0, 0.1], Vec3::new(-0.5, -0.5, -0.1)), 1.0).named("ground");
    let vertices = cube.mesh.vertices().len();
    let all = vertices + ground.mesh.vertices().len();
    let model = Model::builder()
        .body(cube)
        .body(ground)
        .fix(Fixed::new((vertices as u32..all as u32).collect::<Vec<u32>>()))
        .gravity(-9.81 * Vec3::Z)
        .contact(ContactParams { range: Some(1e-3), pressure: Some(1e4), ..ContactParams::default() })
        .build()
        .unwrap();
    let mut state = model.rest_state();
    let (mut assembly, mut solver) = (Assembly::new(model), Direct::default());
    let mut integrator = Halving::new(Bdf2::default(), 6);
    let (mut fastest, mut highest) = (0.0_f64, f64::NEG_INFINITY);
    for step in 0..400 {
        integrator.step(&mut assembly, &mut solver, &mut state, 0.005).unwrap();
        let mut forces = assembly.model().forces();
        let contact = forces.find_map(|force| (force as &dyn std::any::Any).downcast_ref::<SurfaceContact>()).unwrap();
        assert_eq!(contact.contact_energy().crossings(&state.q, state.time), []);
        let lift = assembly.model().observe(&state).center_of_mass.z;
        if step >= 200 {
            fastest = state.v.iter().fold(fastest, |fastest, v| fastest.max(v.abs()));
            highest = highest.max(lift);
        }
    }
    println!("fastest {fastest}, highest {highest}");
    assert!(fastest < 0.05, "{fastest} m/s");
}
