//! Trajectories compared with other programs: a released bar (scikit-fem's matrices in scipy's recurrences), a thrown
//! body (felupe's forces), and VegaFEM's integrators. The headers of the files in `tests/data` describe their origin.

use crate::support::{self, assert_close, assert_within, section, sections};
use pliant::damping::Damping;
use pliant::force::{SpringCoefficients, Springs};
use pliant::integrator::{
    BackwardEuler, CentralDifferences, Integrator, LinearizedBackwardEuler, Newmark, NewtonParams, NewtonTangent,
    Static, SymplecticEuler,
};
use pliant::material::{AnyLaw, Corotational, CorotationalTangent, Inversion, Material, MooneyRivlin, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, ElementKind, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::solver::Direct;
use pliant::sparse::Triplets;
use pliant::system::{Combination, Conditions, Definiteness, State, System};

/// Returns parameters for Newton's method to full convergence, on systems with linear or smooth forces.
fn to_the_end() -> NewtonParams {
    NewtonParams { tolerance: 1e-11, tangent: NewtonTangent::Exact, line_search: false, ..NewtonParams::default() }
}

fn integrator(name: &str) -> Box<dyn Integrator<Assembly>> {
    match name {
        "newmark" => Box::new(Newmark::new(0.25, 0.5, to_the_end()).unwrap()),
        "backward_euler" => Box::new(BackwardEuler::new(to_the_end())),
        _ => panic!("no integrator {name}"),
    }
}

fn verify_release(kind: &str, run: &str) {
    let sections = sections("release.txt");
    let cells = if kind == "hex8" { Cells::Hex } else { Cells::Tet6 };
    let bar = generate::block([10.0, 1.0, 1.0], [20, 2, 2], cells).unwrap();
    let (clamp, end) = (bar.vertex_sets()["x-min"].clone(), bar.vertex_sets()["x-max"].clone());
    let law = AnyLaw::new("linear", YoungPoisson { young: 1e8, poisson: 0.3 }).unwrap();
    let mut builder = Model::builder().body(Body::new(bar, law, 1000.0)).fix(Fixed::new(clamp));
    if run.ends_with("lumped") {
        builder = builder.lumped_mass();
    }
    if run.ends_with("rayleigh") {
        builder = builder.damping(Damping::rayleigh(0.4, 2e-4).unwrap());
    }
    let mut model = Assembly::new(builder.build().unwrap());
    let mut solver = Direct::default();
    let mut state = model.rest_state();
    for row in &section(&sections, &format!("{kind} load")).rows {
        let first = 3 * row[0] as usize;
        model.model_mut().loads_mut()[first..first + 3].copy_from_slice(&row[1..]);
    }
    Static::default().solve(&mut model, &mut solver, &mut state).unwrap();
    model.model_mut().loads_mut().fill(0.0);

    let mut integrator = integrator(run.trim_end_matches("_lumped").trim_end_matches("_rayleigh"));
    let trajectory = section(&sections, &format!("{kind} {run} trajectory"));
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for (number, row) in trajectory.rows.iter().enumerate() {
        if number > 0 {
            for _ in 0..25 {
                integrator.step(&mut model, &mut solver, &mut state, 1e-3).unwrap();
            }
        }
        assert!((state.time - row[0]).abs() < 1e-12);
        let at = |vertex: u32| Vec3::from_slice(&state.q[3 * vertex as usize..]);
        let mean = end.iter().map(|&vertex| at(vertex)).sum::<Vec3>() / end.len() as f64;
        found.extend([at(20), mean].iter().flat_map(Vec3::to_array));
        expected.extend_from_slice(&row[1..7]);
        let now = model.model().observe(&state);
        let energies = [now.kinetic_energy, now.elastic_energy];
        assert_within(&format!("{kind} {run}, energies at {} s", row[0]), &energies, &row[7..], 2980.7, 1e-8);
    }
    assert_close(&format!("{kind} {run}, trajectory"), &found, &expected, 1e-8);
    let name = format!("{kind} {run} final");
    if let Some(last) = sections.iter().find(|section| section.head == name) {
        assert_close(&name, &state.q, &last.flat(), 1e-8);
    }
}

#[test]
fn released_bar_swings_by_newmark_as_in_scipy() {
    verify_release("tet4", "newmark");
    verify_release("hex8", "newmark");
    verify_release("tet4", "newmark_lumped");
    verify_release("hex8", "newmark_lumped");
}

#[test]
fn released_bar_with_rayleigh_damping_swings_as_in_scipy() {
    verify_release("tet4", "newmark_rayleigh");
    verify_release("hex8", "newmark_rayleigh");
}

#[test]
fn released_bar_swings_by_backward_euler_as_in_scipy() {
    verify_release("tet4", "backward_euler");
    verify_release("hex8", "backward_euler");
    verify_release("tet4", "backward_euler_lumped");
    verify_release("hex8", "backward_euler_lumped");
}

/// Checks that the center of mass follows `c₀ + v₀t + gt²/2`, or `c₀ + v₀nh + gh²n(n+1)/2` by backward Euler.
#[test]
fn thrown_body_flies_and_spins_as_in_felupe() {
    let sections = sections("free_fall.txt");
    for name in ["newmark", "backward_euler"] {
        let mesh = support::mesh(&sections, "", ElementKind::Tet4);
        let law = support::law("neo-hookean", &[384_615.384_615_384_6, 576_923.076_923_076_9]);
        let gravity = Vec3::new(0.0, -9.81, 0.0);
        let mut model =
            Assembly::new(Model::builder().body(Body::new(mesh, law, 1000.0)).gravity(gravity).build().unwrap());
        let mut state = model.rest_state();
        let (v, center) = (Vec3::new(1.0, 2.0, 0.5), Vec3::new(1.0, 0.5, 0.25));
        let vertices = model.model().bodies()[0].nodes();
        model.model().set_velocity(&mut state, vertices, v, Vec3::new(0.5, -0.3, 3.0), center);
        let spin = model.model().observe(&state).spin();
        assert_within("spin", &spin.to_array(), &[52.083_333_333_333_33, -106.25, 1250.0], 1250.0, 1e-12);
        let mut integrator = integrator(name);
        let mut solver = Direct::default();
        for n in 1..=200_i32 {
            integrator.step(&mut model, &mut solver, &mut state, 5e-3).unwrap();
            let (n, h) = (f64::from(n), 5e-3);
            let fallen = if name == "newmark" { n * n } else { n * (n + 1.0) };
            let exact = center + v * (n * h) + gravity * (0.5 * h * h * fallen);
            let found = model.model().observe(&state).center_of_mass;
            assert!((found - exact).length() < 1e-9, "{name}: {found} instead of {exact}");
        }
        let expected = |what: &str| section(&sections, &format!("{name} {what}")).flat();
        assert_close(&format!("{name}, u"), &state.q, &expected("u"), 1e-9);
        assert_close(&format!("{name}, v"), &state.v, &expected("v"), 1e-9);
    }
}

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.45 };

/// Returns the material that corresponds to VegaFEM's name of a law.
fn vegafem_law(name: &str) -> Material {
    let clamp = Inversion::Clamp { threshold: 0.1 };
    let shear = MODULI.young / (2.0 * (1.0 + MODULI.poisson));
    let bulk = MODULI.young / (3.0 * (1.0 - 2.0 * MODULI.poisson));
    let AnyLaw::Corotational(corotational) = AnyLaw::new("corotational", MODULI).unwrap() else { unreachable!() };
    match name {
        "linear" => AnyLaw::new("linear", MODULI).unwrap().into(),
        "corot" => AnyLaw::Corotational(Corotational { tangent: CorotationalTangent::Warped, ..corotational }).into(),
        "corot-exact" => {
            AnyLaw::Corotational(Corotational { tangent: CorotationalTangent::Exact, ..corotational }).into()
        }
        "stvk" => AnyLaw::new("stvk", MODULI).unwrap().into(),
        "inv-nh" => Material::from(AnyLaw::new("neo-hookean", MODULI).unwrap()).with_inversion(clamp).unwrap(),
        "inv-mr" => {
            let law = MooneyRivlin { mu01: shear / 4.0, mu10: shear / 4.0, v1: bulk / 2.0 };
            Material::from(AnyLaw::MooneyRivlin(law)).with_inversion(clamp).unwrap()
        }
        _ => panic!("no law {name}"),
    }
}

fn vegafem_builder(name: &str, cube: &VolumeMesh) -> ModelBuilder {
    let builder = Model::builder().fix(Fixed::new([0, 1, 2, 3]));
    if name == "massspring" {
        let springs = Springs::from_mesh(cube, &SpringCoefficients::new(1e5)).unwrap();
        // The particles in its trajectories are a thousand times lighter than given by the density in the file.
        return builder.body(Body::without_elasticity(cube.clone(), 1.0)).force(springs).lumped_mass();
    }
    builder.body(Body::new(cube.clone(), vegafem_law(name), 1000.0))
}

fn verify_vegafem(run: &str) {
    let sections = sections("vegafem_cube5_trajectories.txt");
    let cube = support::mesh(&support::sections("vegafem_cube5_elastic.txt"), "", ElementKind::Tet4);
    for law in ["linear", "corot", "corot-exact", "stvk", "inv-nh", "inv-mr", "massspring"] {
        let (alpha, mut beta) = (0.1, 0.01);
        let builder = vegafem_builder(law, &cube);
        let mut damping = Damping::rayleigh(alpha, beta).unwrap();
        if run == "symeuler" {
            beta = 0.0;
            damping = Damping::rayleigh(alpha, beta).unwrap();
        }
        if run == "central0" {
            damping =
                Damping::rayleigh(alpha, 0.0).unwrap().with_matrix(&stiffness_at_rest(law, &cube, beta), 8).unwrap();
        }
        let mut model = Assembly::new(builder.damping(damping).gravity(Vec3::new(80.0, -200.0, 40.0)).build().unwrap());
        let mut solver = Direct::default();
        let mut state = model.rest_state();
        state.a = Some(vec![0.0; model.dim()]);
        // VegaFEM takes one iteration by default, or up to twenty, without line search.
        let newton = NewtonParams { max_iterations: 20, ..to_the_end() };
        let mut integrator: Box<dyn Integrator<Assembly>> = match run {
            "newmark" => Box::new(Newmark::with_iterations(1)),
            "be" => Box::new(LinearizedBackwardEuler::new(Definiteness::Exact)),
            "newmark-newton20" => Box::new(Newmark::new(0.25, 0.5, newton).unwrap()),
            "be-newton20" => {
                let mut integrator = BackwardEuler::new(newton);
                integrator.damping_follows = true;
                Box::new(integrator)
            }
            "central0" => Box::new(CentralDifferences::default()),
            _ => Box::new(SymplecticEuler::default()),
        };
        let step = if run == "central0" || run == "symeuler" { 5e-4 } else { 1e-2 };
        if run == "central0" {
            start_as_vegafem(&mut model, &mut solver, &mut state, step);
        }
        let expected = section(&sections, &format!("{law} {run}")).flat();
        let mut found = Vec::new();
        for number in 1..=50 {
            integrator.step(&mut model, &mut solver, &mut state, step).unwrap_or_else(|e| panic!("{law} {run}: {e}"));
            if number % 10 == 0 {
                found.extend([4, 5, 7].iter().flat_map(|vertex| &state.q[3 * vertex..3 * vertex + 3]));
            }
        }
        // VegaFEM iterates to 1e-8, and corotational forces without their exact tangent converge slowly.
        let tolerance = if run == "be-newton20" { 1e-8 } else { 1e-11 };
        assert_close(&format!("{law}, {run}"), &found, &expected, tolerance);
    }
}

/// Starts as VegaFEM's central differences do, with `q₋ = q`: velocity and acceleration are those of half a step.
fn start_as_vegafem(model: &mut Assembly, solver: &mut Direct, state: &mut State, h: f64) {
    use pliant::solver::LinearSolver;
    let n = model.dim();
    let (mut force, mut a) = (vec![0.0; n], vec![0.0; n]);
    let stiffness = model.linearize(&state.q, &Conditions::START, Definiteness::Exact, &mut force).stiffness;
    let damping = model.damping(&state.q, &Conditions::START, &state.v, Some(&stiffness), &mut force);
    model.assemble(Combination::of_mass(1.0).and_damping(0.5 * h, &damping));
    force[..12].fill(0.0);
    solver.set_matrix(model.matrix()).unwrap();
    solver.solve(model.matrix(), &force, &mut a).unwrap();
    state.v = a.iter().map(|a| 0.5 * h * a).collect();
    state.a = Some(a);
}

fn stiffness_at_rest(law: &str, cube: &VolumeMesh, factor: f64) -> Triplets {
    let mut model = Assembly::new(vegafem_builder(law, cube).build().unwrap());
    let (rest, mut force) = (vec![0.0; 24], vec![0.0; 24]);
    let stiffness = model.linearize(&rest, &Conditions::START, Definiteness::Exact, &mut force).stiffness;
    let csr = stiffness.matrix().to_csr();
    let entries = (0..24).flat_map(|row| csr.row(row).map(move |(column, value)| (row as u32, column, factor * value)));
    Triplets { row_count: 24, column_count: 24, entries: entries.collect() }
}

#[test]
fn one_iteration_of_newmark_moves_a_cube_as_in_vegafem() {
    verify_vegafem("newmark");
}

#[test]
fn newmark_moves_a_cube_as_in_vegafem() {
    verify_vegafem("newmark-newton20");
}

#[test]
fn linearized_backward_euler_moves_a_cube_as_in_vegafem() {
    verify_vegafem("be");
}

#[test]
fn backward_euler_moves_a_cube_as_in_vegafem() {
    verify_vegafem("be-newton20");
}

#[test]
fn central_differences_move_a_cube_as_in_vegafem() {
    verify_vegafem("central0");
}

#[test]
fn symplectic_euler_moves_a_cube_as_in_vegafem() {
    verify_vegafem("symeuler");
}
