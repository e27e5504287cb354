//! Motions and amplitudes that are finite at first, and undefined later: a step reports the first such time.

use std::ops::ControlFlow;
use std::sync::Arc;

use pliant::force::{Handle, Handles, Interpolated, NodalLoads, Obstacle, Obstacles, Patch, Pressure, ScheduledLoad};
use pliant::integrator::regularized::RegularizedParams;
use pliant::integrator::{
    BackwardEuler, Bdf2, CentralDifferences, ExplicitEuler, Fallback, Halving, Integrator, LinearizedBackwardEuler,
    Newmark, QuasiStatic, Regularized, StepError, SymplecticEuler,
};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, Interpolation, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::motion::{Amplitude, Motion};
use pliant::reduced::{ReducedModel, Reduction, ReductionParams};
use pliant::simulation::{Simulation, Stepper};
use pliant::solver::{BlockJacobi, CgParams, SolverParams};
use pliant::system::State;

/// Time after which functions are undefined \[s\].
const END: f64 = 0.035;
const STEP: f64 = 0.01;

const SOFT: YoungPoisson = YoungPoisson { young: 1e4, poisson: 0.3 };

fn mesh() -> VolumeMesh {
    generate::block([0.4, 0.1, 0.1], [4, 1, 1], Cells::Tet5).unwrap()
}

fn factor(time: f64) -> f64 {
    (END - time).sqrt() / END.sqrt()
}

fn motion() -> Motion {
    Motion::Function(Arc::new(|time, _| Vec3::new(0.0, 0.0, 1e-3 * factor(time))))
}

/// Name of a source of undefined numbers, its name in messages, and a function that adds it.
type Source = (&'static str, fn(ModelBuilder, &VolumeMesh) -> ModelBuilder);

const SOURCES: [Source; 6] = [
    ("the amplitude of load 0", |builder, mesh| {
        let mut loads = NodalLoads::new(mesh.vertex_count());
        let load = ScheduledLoad::new(&mesh.vertex_sets()["x-max"], 1e-3 * Vec3::Z, Amplitude::function(factor));
        loads.push(load).unwrap();
        builder.force(loads)
    }),
    ("the amplitude of the pressure", |builder, mesh| {
        let patch = Patch::named(mesh, "x-max").unwrap();
        let pressure = Pressure::new(mesh.shared_vertices().clone(), &patch, 1.0).unwrap();
        builder.force(pressure.with_amplitude(Amplitude::function(factor)).unwrap())
    }),
    ("the motion of handle 0", |builder, mesh| {
        let vertex = mesh.vertex_sets()["x-max"][0];
        let handle = Handle { motion: motion(), ..Handle::new(vertex, 1.0, mesh.vertices()[vertex as usize]) };
        builder.force(Handles::new(mesh.shared_vertices().clone(), [handle]).unwrap())
    }),
    ("the motion of handle 0", |builder, mesh| {
        let (vertex, count) = (mesh.vertex_sets()["x-max"][0], mesh.vertex_count());
        let handle = Handle { motion: motion(), ..Handle::new(vertex, 1.0, mesh.vertices()[vertex as usize]) };
        let handles = Handles::new(mesh.shared_vertices().clone(), [handle]).unwrap();
        builder.force(Interpolated::new(handles, Interpolation::of_nodes((0..count as u32).collect(), count)))
    }),
    ("the motion of obstacle 0", |builder, mesh| {
        let floor = Obstacle { motion: motion(), ..Obstacle::plane(-0.01 * Vec3::Z, Vec3::Z, 1e3) };
        builder.force(Obstacles::new(mesh.shared_vertices().clone(), [floor]).unwrap())
    }),
    ("the motion of fixed vertex", |builder, mesh| {
        builder.fix(Fixed::prescribed(mesh.vertex_sets()["x-max"].clone(), motion()))
    }),
];

fn builder(mesh: &VolumeMesh) -> ModelBuilder {
    let law = AnyLaw::new("linear", SOFT).unwrap();
    Model::builder().body(Body::new(mesh.clone(), law, 1000.0)).fix(Fixed::new(mesh.vertex_sets()["x-min"].clone()))
}

/// Steps until an error, and checks that it gives the name and the first undefined time and leaves a finite state.
fn stops(name: &str, what: &str, mut simulation: Simulation) {
    let error = loop {
        let before = simulation.state().clone();
        match simulation.step() {
            Ok(_) => assert!(simulation.time() < END, "{name}, {what}: no error at {} s", simulation.time()),
            Err(error) => {
                assert_eq!(*simulation.state(), before, "{name}, {what}");
                break error;
            }
        }
    };
    let state = simulation.state();
    let numbers = state.q.iter().chain(&state.v).chain(state.a.iter().flatten());
    assert!(numbers.copied().all(f64::is_finite), "{name}, {what}");
    let StepError::Undefined { time, cause } = &error else { panic!("{name}, {what}: {error}") };
    assert!(cause.what.starts_with(what) && cause.value.contains("NaN"), "{name}, {what}: {error}");
    // Integrators with accelerations look one step ahead.
    assert!(cause.time > END && cause.time < END + STEP && cause.time - time < 2.01 * STEP, "{name}, {what}: {error}");
    let expected = format!("at {} s, expected a finite value", cause.time);
    assert!(error.to_string().ends_with(&expected) && error.remedies().is_empty(), "{error}");
}

#[test]
fn a_motion_that_becomes_undefined_stops_every_integrator_with_its_time() {
    let integrators: [fn() -> Stepper; 9] = [
        || BackwardEuler::for_animation().into(),
        || LinearizedBackwardEuler::default().into(),
        || Bdf2::for_animation().into(),
        || Newmark::default().into(),
        || CentralDifferences::default().into(),
        || SymplecticEuler::default().into(),
        || ExplicitEuler::default().into(),
        || QuasiStatic::default().into(),
        || Halving::new(Fallback::new(BackwardEuler::default(), Newmark::default()), 4).into(),
    ];
    let mesh = mesh();
    for (what, add) in SOURCES {
        for (number, integrator) in integrators.iter().enumerate() {
            let model = add(builder(&mesh), &mesh).build().unwrap();
            let state = model.rest_state();
            let name = format!("integrator {number}");
            stops(&name, what, Simulation::new(model, integrator(), SolverParams::Direct.build(), state, STEP));
        }
        let body = Body::without_elasticity(mesh.clone(), 1000.0);
        let fixed = Fixed::new(mesh.vertex_sets()["x-min"].clone());
        let model = add(Model::builder().body(body).fix(fixed), &mesh).build().unwrap();
        let regularized = Regularized::new(&model, &RegularizedParams::new(SOFT.young, SOFT.poisson)).unwrap();
        let state = model.rest_state();
        let simulation = Simulation::new(model, regularized, SolverParams::Direct.build(), state, STEP);
        stops("regularized", what, simulation);
    }
}

#[test]
fn a_motion_that_becomes_undefined_stops_reduced_and_matrix_free_models_too() {
    let mesh = mesh();
    for (what, add) in &SOURCES[..4] {
        let model = add(builder(&mesh), &mesh).build().unwrap();
        let (reduction, _) =
            Reduction::new(&model, &ReductionParams::new(3), &mut |_| ControlFlow::Continue(())).unwrap();
        let state = model.rest_state();
        let reduced = ReducedModel::new(model, reduction).unwrap();
        let integrator = Box::new(Newmark::default());
        stops("reduced", what, Simulation::reduced(reduced, integrator, &state, STEP));
    }
    for (what, add) in SOURCES {
        let mut system = add(builder(&mesh), &mesh).build_matrix_free().unwrap();
        let mut state = system.model().rest_state();
        let (mut integrator, mut solver) = (LinearizedBackwardEuler::default(), BlockJacobi::new(CgParams::default()));
        let error = (0..5).find_map(|_| integrator.step(&mut system, &mut solver, &mut state, STEP).err()).unwrap();
        assert!(matches!(&error, StepError::Undefined { cause, .. } if cause.what.starts_with(what)), "{error}");
    }
}

/// The difference of these keyframes overflows between them.
#[test]
fn keyframes_that_overflow_between_their_times_stop_with_the_time() {
    let huge = Amplitude::keyframes([(0.0, 0.0), (0.02, -f64::MAX), (0.03, f64::MAX)]).unwrap();
    let mut loads = NodalLoads::new(mesh().vertex_count());
    loads.push(ScheduledLoad::new(&[0], Vec3::ZERO, huge)).unwrap();
    let mut system = Assembly::new(builder(&mesh()).force(loads).build().unwrap());
    let mut state = State { time: 0.015, ..system.rest_state() };
    let mut solver = SolverParams::Direct.build();
    let error = BackwardEuler::default().step(&mut system, &mut *solver, &mut state, STEP).unwrap_err();
    assert!(matches!(&error, StepError::Undefined { cause, .. } if cause.time == 0.025), "{error}");
}

#[test]
fn wrappers_of_an_integrator_have_inertia_if_it_has() {
    fn has_inertia(integrator: &dyn Integrator<Assembly>) -> bool {
        integrator.has_inertia()
    }
    assert!(!has_inertia(&Halving::new(QuasiStatic::default(), 2)));
    assert!(!has_inertia(&Fallback::new(QuasiStatic::default(), QuasiStatic::default())));
    assert!(has_inertia(&Halving::new(BackwardEuler::default(), 2)));
}
