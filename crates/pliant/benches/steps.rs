//! Benchmark of time steps of a swinging bar, with every integrator and solver, on one and two threads.
//! `cargo bench -p pliant --bench steps [MAX_VERTICES]`.

use std::time::Instant;

use pliant::integrator::{
    BackwardEuler, CentralDifferences, Integrator, LinearizedBackwardEuler, Newmark, StepInfo, SymplecticEuler,
};
use pliant::material::{AnyLaw, Corotational, CorotationalTangent, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::solver::{CgParams, Precision, SolverParams, StaleFactorParams};
use pliant::system::{Conditions, Definiteness, State, System};

/// Returns a bar fixed on the left, under its weight.
fn bar(size: [f64; 3], cells: [usize; 3], law: &str, lumped: bool) -> Assembly {
    let mesh = generate::block(size, cells, Cells::Tet5).unwrap();
    let clamp = mesh.vertex_sets()["x-min"].clone();
    let moduli = YoungPoisson { young: 1e6, poisson: 0.45 };
    let law = match law {
        // As in VegaFEM and MuJoCo.
        "warped" => {
            let tangent = CorotationalTangent::Warped;
            AnyLaw::Corotational(Corotational { tangent, ..Corotational::from_moduli(moduli) })
        }
        law => AnyLaw::new(law, moduli).unwrap(),
    };
    let builder = Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new(clamp));
    let builder = if lumped { builder.lumped_mass() } else { builder };
    Assembly::new(builder.gravity(Vec3::new(0.0, -9.81, 0.0)).build().unwrap())
}

/// Prints the mean time per step. The first step, which includes the symbolic analysis, is not counted.
fn measure(
    name: &str,
    assembly: &mut Assembly,
    integrator: &mut dyn Integrator<Assembly>,
    params: SolverParams,
    dt: f64,
    steps: usize,
) {
    let mut solver = params.build();
    let mut state = assembly.rest_state();
    integrator.step(assembly, &mut *solver, &mut state, dt).unwrap();
    let (mut sum, mut slowest) = (StepInfo::default(), 0.0_f64);
    let start = Instant::now();
    for _ in 0..steps {
        let begin = Instant::now();
        let info = integrator.step(assembly, &mut *solver, &mut state, dt).unwrap();
        slowest = slowest.max(begin.elapsed().as_secs_f64());
        sum = sum.and(&info);
    }
    let per_step = |seconds: f64| 1e3 * seconds / steps as f64;
    println!(
        "  {name:44} {:8.2} ms per step (forces {:7.2}, solver {:8.2}; slowest {:7.1}), {:4.1} Newton, {:6.1} CG, {:3} factors, \
         {:4} MB, turned {:.2} rad",
        per_step(start.elapsed().as_secs_f64()),
        per_step(sum.assembling.as_secs_f64()),
        per_step(sum.solving.as_secs_f64()),
        1e3 * slowest,
        sum.newton_iterations as f64 / steps as f64,
        sum.linear_iterations as f64 / steps as f64,
        sum.factorizations,
        sum.solve.memory >> 20,
        turn(assembly.model(), &state)
    );
}

/// Returns the rotation angle of the end of the bar \[rad\], measured at its upper edge.
fn turn(model: &Model, state: &State) -> f64 {
    let positions = model.positions(state);
    let far = model.rest().iter().fold(0.0_f64, |far, rest| far.max(rest.x));
    let near_end: Vec<usize> =
        (0..positions.len()).filter(|&v| model.rest()[v].x > 0.9 * far && model.rest()[v].y == 0.0).collect();
    let Some((&first, &last)) =
        near_end.iter().min_by(|&&a, &&b| model.rest()[a].x.total_cmp(&model.rest()[b].x)).zip(near_end.last())
    else {
        return 0.0;
    };
    let along = positions[last] - positions[first];
    along.y.atan2(along.x).abs()
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let most: usize = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(48_000);
    let old = StaleFactorParams::default();
    let in_single = StaleFactorParams { precision: Precision::Single, ..old };
    let not_turned = StaleFactorParams { rotate: false, ..old };
    let guess_zero = StaleFactorParams { extrapolate: false, ..old };
    let solvers = [
        ("auto", SolverParams::default(), 100),
        ("stale factor, 32 bits", SolverParams::StaleFactor(in_single), 100),
        ("stale factor, no rotation", SolverParams::StaleFactor(not_turned), 100),
        ("stale factor, zero guess", SolverParams::StaleFactor(guess_zero), 100),
        ("direct, single precision", SolverParams::DirectSingle(CgParams::default()), 4),
        ("direct", SolverParams::Direct, 4),
        ("block IC(0)", SolverParams::IncompleteCholesky(CgParams::default()), 10),
    ];
    for across in [4, 8, 16, 20] {
        let cells = [5 * across, across, across];
        let mut assembly = bar([1.0, 0.2, 0.2], cells, "warped", false);
        let vertices = assembly.model().node_count();
        if vertices > most {
            break;
        }
        let tets = 5 * cells.iter().product::<usize>();
        println!("bar of {vertices} vertices, {tets} tetrahedra, steps of 1/100 s");
        let mut force = vec![0.0; assembly.dim()];
        let rest = assembly.rest_state();
        let start = Instant::now();
        for _ in 0..10 {
            let evaluated = assembly.linearize(&rest.q, &Conditions::START, Definiteness::Projected, &mut force);
            assembly.recycle_stiffness(evaluated.stiffness);
        }
        println!("  assembly alone {:.2} ms", 100.0 * start.elapsed().as_secs_f64());
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for (name, params, steps) in solvers {
                let name = format!("linearized backward Euler, {name}, {threads} thread(s)");
                pool.install(|| {
                    measure(&name, &mut assembly, &mut LinearizedBackwardEuler::default(), params, 0.01, steps);
                });
            }
        }
        let auto = SolverParams::default();
        measure("backward Euler, auto", &mut assembly, &mut BackwardEuler::default(), auto, 0.01, 10);
        measure("Newmark, one iteration, auto", &mut assembly, &mut Newmark::with_iterations(1), auto, 0.01, 20);
        let mut lumped = bar([1.0, 0.2, 0.2], cells, "warped", true);
        measure("central differences, lumped mass", &mut lumped, &mut CentralDifferences::default(), auto, 1e-5, 20);
        measure("symplectic Euler, lumped mass", &mut lumped, &mut SymplecticEuler::default(), auto, 1e-5, 20);
        let mut other = bar([1.0, 0.2, 0.2], cells, "stable-neo-hookean", false);
        measure(
            "stable neo-Hookean, linearized, auto",
            &mut other,
            &mut LinearizedBackwardEuler::default(),
            auto,
            0.01,
            50,
        );
    }
}
