//! Benchmark of reduced models against the full model: time per step, and time of the reduction, for a swinging bar of
//! 50 000 tetrahedra. `cargo bench -p pliant --bench reduced`.

use std::ops::ControlFlow;
use std::time::Instant;

use pliant::integrator::{Integrator, LinearizedBackwardEuler, Newmark};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::reduced::{Forces, Modes, ModesParams, ReducedModel, Reduction, ReductionParams};
use pliant::solver::{Dense, SolverParams};

fn bar(law: &str, cells: [usize; 3]) -> Model {
    let mesh = generate::block([1.0, 0.2, 0.2], cells, Cells::Tet5).unwrap();
    let clamp = mesh.vertex_sets()["x-min"].clone();
    let law = AnyLaw::new(law, YoungPoisson { young: 1e6, poisson: 0.4 }).unwrap();
    let builder = Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new(clamp));
    builder.gravity(Vec3::new(0.0, -9.81, 0.0)).build().unwrap()
}

const DT: f64 = 0.001;

/// Returns the time per step of the full model \[ms\].
fn whole(law: &str) -> f64 {
    let mut assembly = Assembly::new(bar(law, [100, 10, 10]));
    let (mut state, mut solver) = (assembly.rest_state(), SolverParams::default().build());
    let mut integrator = LinearizedBackwardEuler::default();
    let mut step = || integrator.step(&mut assembly, &mut *solver, &mut state, DT).unwrap().newton_iterations;
    step();
    let start = Instant::now();
    assert_eq!((0..50).map(|_| step()).sum::<usize>(), 50);
    1e3 * start.elapsed().as_secs_f64() / 50.0
}

/// Returns the time per step of a reduced model with each integrator \[µs\], and the time of the reduction \[s\].
fn reduced(law: &str, size: usize, forces: Forces) -> ([f64; 2], f64) {
    let steps = if forces == Forces::Projection { 20 } else { 2000 };
    let model = bar(law, [100, 10, 10]);
    let start = Instant::now();
    let params = ReductionParams { forces, ..ReductionParams::new(size) };
    let (reduction, _) = Reduction::new(&model, &params, &mut |_| ControlFlow::Continue(())).unwrap();
    let made = start.elapsed().as_secs_f64();
    let mut model = ReducedModel::new(model, reduction).unwrap();
    let mut time = |integrator: &mut dyn Integrator<ReducedModel>| {
        let (mut state, mut solver) = (model.rest_state(), Dense::default());
        let mut step = || integrator.step(&mut model, &mut solver, &mut state, DT).unwrap().newton_iterations;
        step();
        let start = Instant::now();
        assert!((0..steps).map(|_| step()).sum::<usize>() >= steps as usize);
        1e6 * start.elapsed().as_secs_f64() / f64::from(steps)
    };
    ([time(&mut LinearizedBackwardEuler::default()), time(&mut Newmark::default())], made)
}

fn steps() {
    for law in ["stvk", "neo-hookean"] {
        let full = whole(law);
        println!("{law}: 50 000 tetrahedra, 12 221 vertices, steps of 1 ms; full model {full:.2} ms per step");
        println!("     r  forces       linearized  Newmark µs    speedup  setup [s]");
        let methods: &[_] = if law == "stvk" { &[("polynomial", Forces::Auto)] } else { &[("cubature", Forces::Auto)] };
        for (name, forces) in methods {
            for size in [10, 20, 30, 50] {
                let ([linearized, newmark], made) = reduced(law, size, forces.clone());
                let faster = 1e3 * full / linearized;
                println!("  {size:4}  {name:11}  {linearized:10.1}  {newmark:10.1}  {faster:8.0}×  {made:9.2}");
            }
        }
        let ([linearized, newmark], made) = reduced(law, 30, Forces::Projection);
        let faster = 1e3 * full / linearized;
        println!("    30  projection   {linearized:10.1}  {newmark:10.1}  {faster:8.1}×  {made:9.2}");
    }
}

fn modes() {
    println!("20 modes of a bar fixed at one end");
    for across in [8, 12, 15] {
        let model = bar("linear", [5 * across, across, across]);
        let start = Instant::now();
        let modes = Modes::find(&model, &ModesParams::new(20), &mut |_| ControlFlow::Continue(())).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let worst = modes.residuals.iter().copied().fold(0.0, f64::max);
        println!(
            "  {:6} vertices: {seconds:6.2} s, {} solves, residuals below {worst:.0e}",
            model.node_count(),
            modes.info.solves
        );
    }
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    for threads in [1, 2] {
        println!("{threads} threads");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            steps();
            modes();
        });
    }
}
