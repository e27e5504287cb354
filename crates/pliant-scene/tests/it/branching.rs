//! Simulations that are cloned, restored from a checkpoint, or changed while they run.

use pliant::files::Disk;
use pliant::force::{Handle, Handles, SpringCoefficients, Springs};
use pliant::integrator::{StaticParams, StepError};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, Model, ModelError};
use pliant::simulation::Simulation;
use pliant::solver::{LinearSolver, Operator, SolveError, SolveInfo};
use pliant::system::{Conditions, Definiteness, System};
use pliant_scene::scene::{SceneFile, Source};

/// Returns a simulation of a block that is fixed, pulled by a handle and damped.
fn simulation(settings: &str, more: &str) -> Simulation {
    let text = format!(
        r#"
{more}
[[object]]
mesh = {{ box = {{ size = [0.4, 0.2, 0.2], cells = [4, 2, 2] }} }}
material = {{ law = "stvk", young = 1e5, poisson = 0.3, density = 1000 }}

[[fixed]]
vertices = "x-min"

[[handle]]
vertices = "x-max"
stiffness = 50
damping = 1
motion = {{ keyframes = [{{ time = 0 }}, {{ time = 0.2, translate = [0.1, 0.05, 0] }}] }}

[damping]
mass = 0.1
stiffness = 0.001

[simulation]
duration = 1
{settings}
"#
    );
    let scene = SceneFile::parse(Source::new("test.toml", text)).unwrap();
    scene.build(&Disk).unwrap().simulation
}

fn steps(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.step().unwrap();
    }
}

const CASES: [(&str, &str); 14] = [
    ("step = 0.01\nintegrator = \"linearized-backward-euler\"", ""),
    ("step = 0.01\nintegrator = { linearized-backward-euler = { tangent = \"exact-first\" } }", ""),
    ("step = 0.01\nintegrator = \"backward-euler\"", ""),
    ("step = 0.01\nintegrator = \"newmark\"", ""),
    ("step = 1e-4\nintegrator = \"central-differences\"", ""),
    ("step = 1e-4\nintegrator = \"symplectic-euler\"\nmass = \"lumped\"", ""),
    ("step = 0.01\nintegrator = \"static\"", ""),
    ("step = 0.01\nsolver = \"direct\"", ""),
    ("step = 0.01\nsolver = \"direct-single\"", ""),
    ("step = 0.01\nsolver = \"block-jacobi\"", ""),
    ("step = 0.01\nsolver = \"incomplete-cholesky\"", ""),
    ("step = 0.01\nsolver = \"stale-factor\"", ""),
    ("step = 0.01\nintegrator = \"newmark\"", "reduced = { size = 8 }"),
    ("step = 0.01\nintegrator = \"exact-modes\"", "reduced = { size = 8 }"),
];

#[test]
fn a_copy_goes_on_the_same_to_the_last_bit() {
    for (settings, more) in CASES {
        let mut one = simulation(settings, more);
        steps(&mut one, 13);
        let mut other = one.clone();
        // Not interleaved, so that shared state would be noticed.
        steps(&mut one, 30);
        steps(&mut other, 30);
        assert_eq!(one.state(), other.state(), "{settings} {more}");
        assert_eq!(one.steps_done(), 43);
    }
}

#[test]
fn the_regularized_integrator_is_copied_too() {
    let settings = "step = 0.01\nintegrator = \"regularized\"";
    let text = format!(
        "[[object]]\nmesh = {{ box = {{ size = [0.4, 0.2, 0.2], cells = [4, 2, 2] }} }}\nmaterial = {{ young = 1e6, poisson = 0.3, density = \
         1000 }}\n[[fixed]]\nvertices = \"x-min\"\n[simulation]\nduration = 1\n{settings}\n"
    );
    let mut one = SceneFile::parse(Source::new("test.toml", text)).unwrap().build(&Disk).unwrap().simulation;
    steps(&mut one, 5);
    let mut other = one.clone();
    steps(&mut one, 20);
    steps(&mut other, 20);
    assert_eq!(one.state(), other.state());
}

#[test]
fn a_checkpoint_at_any_step_leads_to_the_same_result_to_the_last_bit() {
    for (settings, more) in CASES {
        let mut one = simulation(settings, more);
        steps(&mut one, 13);
        assert!(one.checkpoint().is_none(), "runs are resumed at other steps");
        let saved = one.checkpoint_here();
        steps(&mut one, 30);
        let mut fresh = simulation(settings, more);
        fresh.resume(saved.clone()).unwrap();
        steps(&mut fresh, 30);
        assert_eq!(one.state(), fresh.state(), "{settings} {more}");
        // Also for the one that has continued meanwhile.
        one.resume(saved).unwrap();
        steps(&mut one, 30);
        assert_eq!(one.state(), fresh.state(), "back: {settings} {more}");
    }
}

#[test]
fn a_copy_that_is_pulled_elsewhere_leaves_the_first_alone() {
    let mut one = simulation("step = 0.01", "");
    steps(&mut one, 5);
    let mut other = one.clone();
    let alone = {
        let mut alone = one.clone();
        steps(&mut alone, 10);
        alone.state().clone()
    };
    for handles in other.forces_mut_of::<Handles>() {
        handles.set_target(0, Vec3::new(0.0, 5.0, 0.0)).unwrap();
    }
    other.model_mut().set_gravity(Vec3::X).unwrap();
    steps(&mut other, 10);
    steps(&mut one, 10);
    assert_eq!(one.state(), &alone);
    assert_ne!(other.state(), &alone);
}

#[test]
fn equilibrium_is_where_forces_balance_and_time_stays() {
    let mut one = simulation("step = 0.01", "");
    steps(&mut one, 7);
    let time = one.time();
    let info = one.find_equilibrium(StaticParams::default()).unwrap();
    assert!(info.newton_iterations > 0);
    assert!(one.time() == time && one.state().v.iter().all(|v| *v == 0.0));
    let (state, fixed) = (one.state().clone(), one.model().fixed_mask().to_vec());
    let mut force = vec![0.0; state.q.len()];
    one.model().force(&state.q, &state.conditions_here(), &mut force);
    let left = force.iter().zip(fixed).filter(|(_, fixed)| !fixed).fold(0.0, |most: f64, (f, _)| most.max(f.abs()));
    assert!(left < 1e-6, "{left}");
    steps(&mut one, 3);
    let mut reduced = simulation("step = 0.01", "reduced = { size = 8 }");
    reduced.find_equilibrium(StaticParams::default()).unwrap();
}

fn model() -> Model {
    let mesh = generate::block([1.0, 0.2, 0.2], [5, 1, 1], Cells::Tet5).unwrap();
    let law = AnyLaw::new("stvk", YoungPoisson { young: 1e5, poisson: 0.3 }).unwrap();
    Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new([0, 6, 12])).build().unwrap()
}

#[test]
fn holds_at_the_same_vertices_are_moved_and_taken_away_alone() {
    let mut model = model();
    let first = model.fixed_ids()[0];
    let second = model.fix(Fixed::new([0, 1]).along([false, true, false])).unwrap();
    model.move_fixed(second, vec![Vec3::splat(0.5), Vec3::splat(0.25)]).unwrap();
    let place = |model: &Model| {
        let mut q = vec![7.0; model.dim()];
        model.prescribe(0.0, &mut q).unwrap();
        [Vec3::from_slice(&q), Vec3::from_slice(&q[3..])]
    };
    assert_eq!(place(&model), [Vec3::new(0.0, 0.5, 0.0), Vec3::new(7.0, 0.25, 7.0)]);
    let wrong = model.move_fixed(second, vec![Vec3::ZERO; 3]).unwrap_err();
    assert_eq!(wrong, ModelError::FixedOffsets { vertices: 2, offsets: 3 });
    assert!(model.move_fixed(second, vec![Vec3::NAN; 2]).is_err());
    assert_eq!(place(&model)[1].y, 0.25, "what is wrong changes nothing");
    assert_eq!(model.remove_fixed(second).unwrap().vertices, [0, 1]);
    assert_eq!(place(&model), [Vec3::ZERO, Vec3::splat(7.0)]);
    assert!(model.fixed_mask()[0] && !model.fixed_mask()[4]);
    assert_eq!(model.remove_fixed(second).unwrap_err(), ModelError::UnknownFixed);
    assert_eq!(model.move_fixed(second, Vec::new()).unwrap_err(), ModelError::UnknownFixed);
    // A new constraint does not reuse the old identifier, and releasing vertices removes only empty constraints.
    let third = model.fix(Fixed::new([3])).unwrap();
    assert!(third != second && model.fixed_ids() == [first, third]);
    model.release(&[3, 6]);
    assert_eq!(model.fixed_ids(), [first]);
    assert_eq!(model.fixed()[0].vertices, [0, 12]);
}

#[test]
fn forces_can_be_added_to_a_model_if_they_couple_nothing_new() {
    let mut model = model();
    let rest = model.rest().to_vec();
    model.add_force(Handles::new(&rest[..], [Handle::new(3, 100.0, rest[3] + Vec3::Y)]).unwrap()).unwrap();
    let mut force = vec![0.0; model.dim()];
    model.force(&vec![0.0; model.dim()], &Conditions::START, &mut force);
    assert!((force[10] - 100.0).abs() < 1e-9);
    let far = Springs::new(rest.clone(), &[[0, 5]], &SpringCoefficients::new(10.0)).unwrap();
    assert_eq!(model.add_force(far).unwrap_err(), ModelError::NotCoupled { vertices: [0, 5] });
    let other = Handles::new(&rest[1..], []).unwrap();
    assert_eq!(model.add_force(other).unwrap_err(), ModelError::Force { found: rest.len() - 1, expected: rest.len() });
    let near = Springs::new(rest.clone(), &[[0, 1]], &SpringCoefficients::new(10.0)).unwrap();
    model.add_force(near).unwrap();
    let u = vec![0.0; model.dim()];
    Assembly::new(model).linearize(&u, &Conditions::START, Definiteness::Exact, &mut force);
}

#[test]
fn moduli_are_those_of_the_laws_that_were_taken_away() {
    let mut model = model();
    let moduli = model.take_elasticity();
    assert_eq!(moduli.len(), 1);
    assert!((moduli[0].young - 1e5).abs() < 1e-6 && (moduli[0].poisson - 0.3).abs() < 1e-12);
    assert_eq!(model.internal_energy(&vec![0.1; model.dim()], &Conditions::START), 0.0);
    assert!(model.take_elasticity().is_empty());
}

/// Solver stopped by the user.
#[derive(Debug, Clone)]
struct Stopped {
    solver: Box<dyn LinearSolver<Operator>>,
    asked: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl LinearSolver<Operator> for Stopped {
    fn set_matrix(&mut self, _matrix: &Operator) -> Result<(), SolveError> {
        self.asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Err(SolveError::Stopped)
    }

    fn solve(&mut self, matrix: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        self.solver.solve(matrix, b, x)
    }

    fn forget(&mut self) {
        self.solver.forget();
    }
}

#[test]
fn a_step_that_is_stopped_is_not_tried_again() {
    for settings in [
        "step = 0.01",
        "step = 0.01\nintegrator = { linearized-backward-euler = { tangent = \"exact-first\" } }",
        "step = 0.01\nintegrator = \"linearized-backward-euler\"",
        "step = 0.01\nintegrator = \"newmark\"",
        "step = 0.01\nintegrator = \"static\"",
    ] {
        let mut one = simulation(settings, "");
        let asked = std::sync::Arc::default();
        one.wrap_solver(|solver| Box::new(Stopped { solver, asked: std::sync::Arc::clone(&asked) }));
        let before = one.state().clone();
        let error = one.step().unwrap_err();
        assert!(error.to_string().ends_with("stopped"), "{settings}: {error}");
        assert!(!matches!(error, StepError::Halving { .. }), "{settings}: {error}");
        assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1, "{settings}");
        assert_eq!(one.state(), &before);
    }
}

#[test]
fn sets_and_surfaces_of_bodies_are_numbered_through() {
    let ball = generate::ball(0.1, 4, Cells::Tet5).unwrap();
    let bar = generate::block([1.0, 0.2, 0.2], [2, 1, 1], Cells::Hex).unwrap();
    let law = AnyLaw::new("stvk", YoungPoisson { young: 1e5, poisson: 0.3 }).unwrap();
    let body = |mesh: &pliant::mesh::VolumeMesh| Body::new(mesh.clone(), law.clone(), 1000.0);
    let model = Model::builder().body(body(&ball)).body(body(&bar)).body(body(&ball)).build().unwrap();
    let (first, second) = (ball.vertex_count() as u32, (ball.vertex_count() + bar.vertex_count()) as u32);
    let sets = model.vertex_sets();
    assert_eq!(sets["x-min"], bar.vertex_sets()["x-min"].iter().map(|v| v + first).collect::<Vec<_>>());
    let surface = &ball.vertex_sets()["surface"];
    let both: Vec<u32> = surface.iter().copied().chain(surface.iter().map(|v| v + second)).collect();
    assert_eq!(sets["surface"], both);
    let mut outside = model.surface_vertices();
    outside.sort_unstable();
    let mut expected: Vec<u32> = both.into_iter().chain(first..second).collect();
    expected.sort_unstable();
    assert_eq!(outside, expected, "all vertices of the bar are on its surface");
}

#[test]
fn a_step_that_failed_leaves_nothing_behind() {
    for integrator in ["newmark", "backward-euler", "linearized-backward-euler", "central-differences"] {
        for more in ["", "reduced = { size = 6 }"] {
            let mut simulation =
                simulation(&format!("step = 0.005\nintegrator = \"{integrator}\"\nhalvings = 0"), more);
            let start = simulation.state().clone();
            simulation.step().unwrap();
            let expected = simulation.state().clone();
            let mut torn = start.clone();
            torn.q.iter_mut().enumerate().for_each(|(i, q)| *q = 1e155 * (i as f64).sin());
            simulation.begin_at(torn);
            simulation.step().unwrap_err();
            simulation.begin_at(start);
            simulation.step().unwrap_or_else(|error| panic!("{integrator} {more}: {error}"));
            assert_eq!(simulation.time(), expected.time);
            for (a, b) in simulation.state().q.iter().zip(&expected.q) {
                assert!((a - b).abs() < 1e-9, "{integrator} {more}: {a} and {b}");
            }
        }
    }
}
