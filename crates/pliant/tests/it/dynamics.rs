//! Dynamics of bodies: order, energy, momentum, recovery, fixed vertices, threads.

use pliant::damping::Damping;
use pliant::force::{Handle, Handles};
use pliant::integrator::{
    BackwardEuler, Bdf2, CentralDifferences, ExplicitEuler, Halving, Integrator, LinearizedBackwardEuler, Newmark,
    NewtonParams, NewtonTangent, Static, StaticParams, StepError, StepInfo, SymplecticEuler,
};
use pliant::material::{AnyLaw, Inversion, Material, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, MeshData, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::motion::{Keyframes, Motion, Pose};
use pliant::solver::{CgParams, Direct, LinearSolver, Operator, SolverParams, StaleFactorParams};
use pliant::system::{Combination, Definiteness, State, System};

type BoxedIntegrator = Box<dyn Integrator<Assembly>>;
type MakeIntegrator = fn() -> BoxedIntegrator;

const SOFT: YoungPoisson = YoungPoisson { young: 1e5, poisson: 0.4 };

fn law(name: &str) -> Material {
    AnyLaw::new(name, SOFT).unwrap().into()
}

fn block(cells: Cells) -> VolumeMesh {
    generate::block([1.0, 0.5, 0.5], [4, 2, 2], cells).unwrap()
}

fn precise() -> NewtonParams {
    NewtonParams { tolerance: 1e-12, ..NewtonParams::default() }
}

fn exact() -> NewtonParams {
    NewtonParams { tangent: NewtonTangent::Exact, line_search: false, ..precise() }
}

fn steps(model: &mut Assembly, integrator: &mut dyn Integrator<Assembly>, state: &mut State, dt: f64, count: usize) {
    let mut solver = Direct::default();
    for _ in 0..count {
        integrator.step(model, &mut solver, state, dt).unwrap();
    }
}

/// Returns a body stretched by a quarter along `x` and fixed at one end.
fn stretched(model: &Model) -> State {
    let mut state = model.rest_state();
    for (vertex, rest) in model.rest().iter().enumerate() {
        state.q[3 * vertex] = 0.25 * rest.x;
    }
    state
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn errors_of_a_swinging_body_fall_as_the_order_of_each_integrator_says() {
    let mesh = generate::block([1.0, 0.5, 0.5], [2, 1, 1], Cells::Tet5).unwrap();
    let clamp = mesh.vertex_sets()["x-min"].clone();
    let build = || {
        let damping = Damping::rayleigh(0.5, 1e-3).unwrap();
        let body = Body::new(mesh.clone(), law("neo-hookean"), 1000.0);
        Model::builder().body(body).fix(Fixed::new(clamp.clone())).damping(damping).build().unwrap()
    };
    let duration = 0.1;
    let mut model = Assembly::new(build());
    let mut reference = stretched(model.model());
    steps(&mut model, &mut Newmark::new(0.25, 0.5, exact()).unwrap(), &mut reference, duration / 16384.0, 16384);
    let integrators: [(&str, f64, MakeIntegrator); 6] = [
        ("linearized backward Euler", 1.0, || Box::new(LinearizedBackwardEuler::new(Definiteness::Exact))),
        // With the damping of each iterate: the damping at the start is projected, which changes the problem.
        ("backward Euler", 1.0, || {
            let mut integrator = BackwardEuler::new(exact());
            integrator.damping_follows = true;
            Box::new(integrator)
        }),
        ("BDF2", 2.0, || {
            let mut integrator = Bdf2::new(exact());
            integrator.damping_follows = true;
            Box::new(integrator)
        }),
        ("Newmark", 2.0, || Box::new(Newmark::new(0.25, 0.5, exact()).unwrap())),
        ("central differences", 2.0, || Box::<CentralDifferences<_>>::default()),
        ("symplectic Euler", 1.0, || Box::<SymplecticEuler>::default()),
    ];
    for (name, order, integrator) in integrators {
        let errors = [512_u32, 1024, 2048].map(|count| {
            let mut state = stretched(model.model());
            steps(
                &mut Assembly::new(build()),
                &mut *integrator(),
                &mut state,
                duration / f64::from(count),
                count as usize,
            );
            distance(&state.q, &reference.q)
        });
        let found = (errors[0] / errors[2]).log2() / 2.0;
        println!("{name}: order {found:.3}, errors {errors:?}");
        assert!((found - order).abs() < 0.1, "{name}: order {found:.3}, expected {order}, errors {errors:?}");
    }
}

#[test]
fn newmark_keeps_the_energy_of_a_linear_body_to_rounding() {
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = block(cells);
        let clamp = mesh.vertex_sets()["x-min"].clone();
        let body = Body::new(mesh, law("linear"), 1000.0);
        let mut model = Assembly::new(Model::builder().body(body).fix(Fixed::new(clamp)).build().unwrap());
        let mut state = stretched(model.model());
        let start = model.model().observe(&state).total_energy();
        let mut integrator = Newmark::new(0.25, 0.5, exact()).unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..20 {
            steps(&mut model, &mut integrator, &mut state, 0.01, 25);
            worst = worst.max((model.model().observe(&state).total_energy() / start - 1.0).abs());
        }
        assert!(worst < 1e-10, "energy changed by {worst:.1e}");
    }
}

#[test]
fn backward_euler_never_gains_energy_however_a_body_is_deformed() {
    let mut rng = fastrand::Rng::with_seed(3);
    for name in ["stable-neo-hookean", "corotational"] {
        let mesh = block(Cells::Tet5);
        let clamp = mesh.vertex_sets()["x-min"].clone();
        let builder = Model::builder().body(Body::new(mesh, law(name), 1000.0)).fix(Fixed::new(clamp));
        let mut model = Assembly::new(builder.gravity(Vec3::new(0.0, -9.81, 0.0)).build().unwrap());
        let mut state = model.rest_state();
        state.q.iter_mut().for_each(|q| *q = 0.6 * (rng.f64() - 0.5));
        model.prescribe(0.0, &mut state.q).unwrap();
        let (mut integrator, mut solver) = (BackwardEuler::default(), Direct::default());
        let mut energy = model.model().observe(&state).total_energy();
        for _ in 0..60 {
            integrator.step(&mut model, &mut solver, &mut state, 1.0 / 60.0).unwrap();
            let now = model.model().observe(&state).total_energy();
            assert!(now <= energy + 1e-9 * energy.abs(), "{name}: {energy} J became {now} J");
            energy = now;
        }
    }
}

fn thrown(builder_is_lumped: bool) -> (Assembly, State) {
    let body = Body::new(block(Cells::Tet5), law("stable-neo-hookean"), 1000.0);
    let builder = Model::builder().body(body);
    let model = if builder_is_lumped { builder.lumped_mass() } else { builder }.build().unwrap();
    let mut state = model.rest_state();
    let vertices = model.bodies()[0].nodes();
    model.set_velocity(
        &mut state,
        vertices,
        Vec3::new(1.0, 2.0, -0.5),
        Vec3::new(0.3, 1.0, 2.0),
        Vec3::new(0.5, 0.25, 0.25),
    );
    (Assembly::new(model), state)
}

#[test]
fn momentum_of_a_free_body_is_kept_for_twenty_seconds() {
    let integrators: [BoxedIntegrator; 3] = [
        Box::<LinearizedBackwardEuler>::default(),
        Box::<BackwardEuler>::default(),
        Box::new(Newmark::with_iterations(2)),
    ];
    for mut integrator in integrators {
        let (mut model, mut state) = thrown(false);
        let start = model.model().observe(&state);
        steps(&mut model, &mut *integrator, &mut state, 1.0 / 60.0, 1200);
        let end = model.model().observe(&state);
        let change = (end.momentum - start.momentum).length() / start.momentum.length();
        let place = start.center_of_mass + Vec3::new(1.0, 2.0, -0.5) * 20.0;
        println!("momentum changed by {change:.1e}, place by {:.1e}", (end.center_of_mass - place).length());
        assert!(change < 1e-8, "{change}");
        assert!((end.center_of_mass - place).length() < 1e-6);
    }
}

#[test]
fn spin_of_a_free_body_is_kept_by_symplectic_euler_and_central_differences() {
    let integrators: [BoxedIntegrator; 2] =
        [Box::<SymplecticEuler>::default(), Box::<CentralDifferences<_>>::default()];
    for mut integrator in integrators {
        let (mut model, mut state) = thrown(true);
        let mut solver = Direct::default();
        let start = model.model().observe(&state);
        for _ in 0..4000 {
            let info = integrator.step(&mut model, &mut solver, &mut state, 1e-3).unwrap();
            assert!(info.stability.unwrap().is_stable());
            assert_eq!(info.factorizations, 0, "a lumped mass needs no factor");
        }
        let end = model.model().observe(&state);
        // Positions and velocities belong to the same time only up to the order of the integrator in symplectic Euler,
        // but x × p is its invariant all the same.
        assert!((end.angular_momentum - start.angular_momentum).length() < 1e-9 * start.angular_momentum.length());
        assert!((end.total_energy() / start.total_energy() - 1.0).abs() < 0.01);
    }
}

/// Returns every law defined for inverted elements, directly or by inversion handling, with a suitable integrator.
///
/// A clamped law has no energy, and an extrapolated law needs one to be stable at such steps. Thresholds are those of
/// VegaFEM, except for StVK, whose stress is maximal at a stretch of 1/√3 and decreases below. The neo-Hookean law
/// cannot be extrapolated from such a start: with `J > e` at the threshold its energy has no lower bound.
fn invertible() -> Vec<(String, Material, BoxedIntegrator)> {
    let mut laws: Vec<(String, Material, BoxedIntegrator)> = vec![];
    laws.push(("corotational".to_owned(), law("corotational"), Box::<LinearizedBackwardEuler>::default()));
    laws.push((
        "stable-neo-hookean".to_owned(),
        law("stable-neo-hookean"),
        Box::new(BackwardEuler::with_iterations(1)),
    ));
    for (name, threshold) in [("stvk", 0.5), ("neo-hookean", 0.1), ("neo-hookean-bower", 0.1), ("mooney-rivlin", 0.1)] {
        let material = law(name).with_inversion(Inversion::Clamp { threshold }).unwrap();
        laws.push((format!("{name}, clamped"), material, Box::<LinearizedBackwardEuler>::default()));
    }
    for (name, threshold) in [("stvk", 0.6), ("neo-hookean-bower", 0.5), ("mooney-rivlin", 0.5)] {
        let material = law(name).with_inversion(Inversion::Extrapolate { threshold }).unwrap();
        laws.push((format!("{name}, extrapolated"), material, Box::new(BackwardEuler::with_iterations(1))));
    }
    laws
}

#[test]
fn scrambled_flattened_and_turned_out_bodies_return_to_their_shape() {
    let cube = generate::block([1.0, 0.5, 0.5], [1, 1, 1], Cells::Tet5).unwrap();
    let bar = block(Cells::Tet5);
    for (name, material, mut integrator) in invertible() {
        let mut recover = |what: &str, mesh: &VolumeMesh, place: &mut dyn FnMut(Vec3) -> Vec3| {
            let damping = Damping::rayleigh(1.0, 0.01).unwrap();
            let body = Body::new(mesh.clone(), material.clone(), 1000.0);
            let mut model = Assembly::new(Model::builder().body(body).damping(damping).build().unwrap());
            let mut state = model.rest_state();
            state.q = model.model().rest().iter().flat_map(|&rest| (place(rest) - rest).to_array()).collect();
            let mut solver = Direct::default();
            for number in 0..600 {
                integrator
                    .step(&mut model, &mut solver, &mut state, 1.0 / 60.0)
                    .unwrap_or_else(|error| panic!("{name}, {what}, step {number}: {error}"));
            }
            // Up to a rigid motion, all edges have their rest length, and no element is inverted.
            let positions = model.model().positions(&state);
            let length = |at: &[Vec3], [a, b]: [u32; 2]| (at[a as usize] - at[b as usize]).length();
            let strain = |edge: [u32; 2]| (length(&positions, edge) / length(model.model().rest(), edge) - 1.0).abs();
            let worst = mesh.edges().into_iter().map(strain).fold(0.0, f64::max);
            let states = model.model().bodies()[0].elastic().unwrap().element_states(&state.q);
            let inverted = states.iter().filter(|state| state.volume_ratio <= 0.0).count();
            println!("{name}, {what}: edges differ by {worst:.1e}, {inverted} elements are inverted");
            assert!(worst < 1e-3 && inverted == 0, "{name}, {what}: {worst}, {inverted} inverted");
        };
        recover("flattened", &bar, &mut |rest| Vec3::new(rest.x, 0.0, rest.z));
        recover("inside out", &bar, &mut |rest| Vec3::new(-rest.x, rest.y, rest.z));
        for seed in 0..5 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut anywhere = |_: Vec3| Vec3::new(rng.f64(), 0.5 * rng.f64(), 0.5 * rng.f64());
            recover(&format!("scrambled cube {seed}"), &cube, &mut anywhere);
        }
        // Larger scrambled bodies sometimes end in knots: elements that wind around an edge twice without being
        // inverted. A law that prevents collapse of elements then preserves the knot too.
        if ["corotational", "stable-neo-hookean", "stvk, clamped", "stvk, extrapolated"].contains(&&*name) {
            let mut rng = fastrand::Rng::with_seed(0);
            let mut anywhere = |_: Vec3| Vec3::new(rng.f64(), 0.5 * rng.f64(), 0.5 * rng.f64());
            recover("scrambled bar", &bar, &mut anywhere);
        }
    }
}

/// Checks `w/L` of the tip under a transverse end load `P`, for `PL²/EI` = 1, 2, 5, against the elliptic integrals of
/// the elastica.
#[test]
fn slender_cantilever_bends_to_the_elastica() {
    let exact = [(1.0, 0.301_72), (2.0, 0.493_46), (5.0, 0.713_79)];
    let moduli = YoungPoisson { young: 1e6, poisson: 0.0 };
    let (length, thickness) = (50.0, 1.0);
    let inertia = thickness * f64::powi(thickness, 3) / 12.0;
    let deflections = [2, 4, 8].map(|across: usize| {
        let mesh = generate::block([length, thickness, thickness], [50 * across, across, 1], Cells::Hex).unwrap();
        let (clamp, end) = (mesh.vertex_sets()["x-min"].clone(), mesh.vertex_sets()["x-max"].clone());
        let law = AnyLaw::new("stvk", moduli).unwrap();
        let mut model =
            Assembly::new(Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new(clamp)).build().unwrap());
        let (mut state, mut solver) = (model.rest_state(), Direct::default());
        exact.map(|(load, _)| {
            let force = load * moduli.young * inertia / (length * length);
            model.model_mut().loads_mut().fill(0.0);
            // The traction is constant over the end face: half as much at its edges.
            let weight = |vertex: u32, rest: &[Vec3]| {
                let y = rest[vertex as usize].y;
                if y < 1e-9 || y > thickness - 1e-9 { 0.5 } else { 1.0 }
            };
            let rest = model.model().rest().to_vec();
            let total: f64 = end.iter().map(|&vertex| weight(vertex, &rest)).sum();
            for &vertex in &end {
                model.model_mut().loads_mut()[3 * vertex as usize + 1] = -force * weight(vertex, &rest) / total;
            }
            Static::new(StaticParams { load_steps: 2, ..StaticParams::default() })
                .solve(&mut model, &mut solver, &mut state)
                .unwrap();
            let mean = end.iter().map(|&vertex| -state.q[3 * vertex as usize + 1]).sum::<f64>() / end.len() as f64;
            mean / length
        })
    });
    for (i, (load, exact)) in exact.into_iter().enumerate() {
        let found = deflections.map(|mesh| mesh[i]);
        let errors = found.map(|found| (found / exact - 1.0).abs());
        // Errors are quadratic in the element size: Richardson extrapolation to the limit of fine meshes.
        let limit = found[2] + (found[2] - found[1]) / 3.0;
        println!("PL²/EI = {load}: {found:?}, extrapolated {limit:.5}, exact {exact}");
        assert!(errors[1] < 0.35 * errors[0] && errors[2] < 0.35 * errors[1], "{errors:?}");
        // A beam fifty times as long as thick also shears, by 0.6 (t/L)² of its deflection.
        assert!((limit / exact - 1.0).abs() < 1e-3, "{limit} instead of {exact}");
    }
}

#[test]
fn reactions_carry_the_weight_of_a_hanging_body() {
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = block(cells);
        let clamp = mesh.vertex_sets()["x-min"].clone();
        let builder = Model::builder().body(Body::new(mesh, law("neo-hookean"), 1000.0)).fix(Fixed::new(clamp));
        let mut model = Assembly::new(builder.gravity(Vec3::new(3.0, -9.81, 0.0)).build().unwrap());
        let mut state = model.rest_state();
        Static::default().solve(&mut model, &mut Direct::default(), &mut state).unwrap();
        let reactions = model.model().reactions(&state);
        let sum: Vec3 = reactions.chunks_exact(3).map(Vec3::from_slice).sum();
        let weight = 250.0 * Vec3::new(3.0, -9.81, 0.0);
        assert!((sum + weight).length() < 1e-6 * weight.length(), "{sum} instead of {}", -weight);
    }
}

#[test]
fn coordinates_fixed_one_by_one_slide_along_the_others() {
    // On three symmetry planes, pulled along x: uniaxial tension, as in an unbounded bar.
    let mesh = block(Cells::Hex);
    let sets = mesh.vertex_sets().clone();
    let moduli = YoungPoisson { young: 1e5, poisson: 0.3 };
    let body = Body::new(mesh, AnyLaw::new("linear", moduli).unwrap(), 1000.0);
    let pull = Keyframes::translations([(0.0, Vec3::ZERO), (1.0, 0.01 * Vec3::X)]).unwrap();
    let mut model = Assembly::new(
        Model::builder()
            .body(body)
            .fix(Fixed::new(sets["x-min"].clone()).along([true, false, false]))
            .fix(Fixed::new(sets["y-min"].clone()).along([false, true, false]))
            .fix(Fixed::new(sets["z-min"].clone()).along([false, false, true]))
            .fix(Fixed::prescribed(sets["x-max"].clone(), pull).along([true, false, false]))
            .build()
            .unwrap(),
    );
    let mut state = State { time: 1.0, ..model.rest_state() };
    Static::default().solve(&mut model, &mut Direct::default(), &mut state).unwrap();
    for (rest, u) in model.model().rest().iter().zip(state.q.chunks_exact(3)) {
        let exact = [0.01 * rest.x, -0.003 * rest.y, -0.003 * rest.z];
        assert!(distance(u, &exact) < 1e-12, "{u:?} instead of {exact:?}");
    }
    let force: f64 = sets["x-max"].iter().map(|&vertex| model.model().reactions(&state)[3 * vertex as usize]).sum();
    assert!((force / (1e5 * 0.01 * 0.25) - 1.0).abs() < 1e-10);
}

#[test]
fn a_twisted_end_is_where_its_keyframes_say_with_every_integrator() {
    let mesh = block(Cells::Tet5);
    let sets = mesh.vertex_sets().clone();
    let half_turn = Pose { translation: Vec3::ZERO, rotation: Vec3::new(std::f64::consts::PI, 0.0, 0.0) };
    let center = Vec3::new(1.0, 0.25, 0.25);
    let twist = Keyframes::new(center, vec![(0.0, Pose::default()), (0.5, half_turn)]).unwrap();
    let integrators: [BoxedIntegrator; 5] = [
        Box::<LinearizedBackwardEuler>::default(),
        Box::<BackwardEuler>::default(),
        Box::new(Newmark::new(0.3025, 0.6, NewtonParams { tangent: NewtonTangent::Projected, ..exact() }).unwrap()),
        Box::<CentralDifferences<_>>::default(),
        Box::<Bdf2>::default(),
    ];
    for (number, mut integrator) in integrators.into_iter().enumerate() {
        let mut model = Assembly::new(
            Model::builder()
                .body(Body::new(mesh.clone(), law("corotational"), 1000.0))
                .fix(Fixed::new(sets["x-min"].clone()))
                .fix(Fixed::prescribed(sets["x-max"].clone(), twist.clone()))
                .damping(Damping::rayleigh(2.0, 0.0).unwrap())
                .lumped_mass()
                .build()
                .unwrap(),
        );
        let mut state = model.rest_state();
        let (dt, count) = if number == 3 { (1e-3, 1000) } else { (0.01, 100) };
        steps(&mut model, &mut *integrator, &mut state, dt, count);
        for &vertex in &sets["x-max"] {
            let rest = model.model().rest()[vertex as usize];
            let turned = Vec3::new(rest.x, 0.5 - rest.y, 0.5 - rest.z);
            let found = rest + Vec3::from_slice(&state.q[3 * vertex as usize..]);
            assert!((found - turned).length() < 1e-12, "integrator {number}: {found} instead of {turned}");
            assert!(
                state.v[3 * vertex as usize..][..3].iter().all(|v| v.abs() < 1e-9),
                "integrator {number} comes to rest"
            );
        }
        // The middle rotates by half of that.
        let middle =
            model.model().rest().iter().position(|rest| (*rest - Vec3::new(0.5, 0.0, 0.0)).length() < 1e-9).unwrap();
        let found = model.model().positions(&state)[middle];
        assert!((found - Vec3::new(0.5, 0.5, 0.0)).length() < 0.12, "integrator {number}: {found}");
    }
}

#[test]
fn two_bodies_of_different_elements_move_as_each_does_alone() {
    let build = |bodies: &[Cells]| {
        let mut builder = Model::builder().gravity(Vec3::new(0.0, -9.81, 0.0));
        let mut first = 0;
        for &cells in bodies {
            let mesh = block(cells);
            let clamp: Vec<u32> = mesh.vertex_sets()["x-min"].iter().map(|vertex| first + vertex).collect();
            first += mesh.vertex_count() as u32;
            builder = builder.body(Body::new(mesh, law("stable-neo-hookean"), 1000.0)).fix(Fixed::new(clamp));
        }
        builder.build().unwrap()
    };
    let run = |bodies: &[Cells]| {
        let mut model = Assembly::new(build(bodies));
        let mut state = model.rest_state();
        steps(&mut model, &mut LinearizedBackwardEuler::default(), &mut state, 0.01, 30);
        let now = model.model().observe(&state);
        (state.q, now)
    };
    let (both, now) = run(&[Cells::Tet5, Cells::Hex]);
    let ((first, a), (second, b)) = (run(&[Cells::Tet5]), run(&[Cells::Hex]));
    assert!(distance(&both[..first.len()], &first) < 1e-10 && distance(&both[first.len()..], &second) < 1e-10);
    assert!((now.total_energy() - a.total_energy() - b.total_energy()).abs() < 1e-9 * now.kinetic_energy.abs());
    assert!((now.volume - a.volume - b.volume).abs() < 1e-12);
}

#[test]
fn vertices_fixed_and_released_between_steps_need_no_new_analysis() {
    let mesh = block(Cells::Tet5);
    let sets = mesh.vertex_sets().clone();
    let builder = Model::builder().body(Body::new(mesh, law("stable-neo-hookean"), 1000.0));
    let mut model = Assembly::new(
        builder.fix(Fixed::new(sets["x-min"].clone())).gravity(Vec3::new(0.0, -9.81, 0.0)).build().unwrap(),
    );
    let (mut integrator, mut solver, mut state) =
        (LinearizedBackwardEuler::default(), Direct::default(), model.rest_state());
    let mut run = |model: &mut Assembly, state: &mut State, count: usize| {
        let infos = (0..count).map(|_| integrator.step(model, &mut solver, state, 0.01).unwrap().solve.analyses);
        infos.max().unwrap()
    };
    assert_eq!(run(&mut model, &mut state, 10), 1);
    model.model_mut().fix(Fixed::here(sets["x-max"].clone(), &state)).unwrap();
    let end = 3 * sets["x-max"][0] as usize;
    let place = state.q[end..end + 3].to_vec();
    assert_eq!(run(&mut model, &mut state, 10), 1);
    assert_eq!(state.q[end..end + 3], place);
    model.model_mut().release(&sets["x-min"]);
    model.model_mut().release(&sets["x-max"]);
    assert!(model.fixed_mask().iter().all(|fixed| !fixed));
    let before = model.model().observe(&state).momentum;
    assert_eq!(run(&mut model, &mut state, 10), 1);
    let gained = model.model().observe(&state).momentum - before;
    assert!((gained - Vec3::new(0.0, -9.81 * 250.0 * 0.1, 0.0)).length() < 1e-6, "{gained}");
    assert!(
        model
            .model_mut()
            .fix(Fixed::new([1_000_000]))
            .unwrap_err()
            .to_string()
            .starts_with("vertex 1000000 is to be fixed, but")
    );
}

#[test]
fn impulses_change_momentum_by_themselves() {
    let model = Model::builder().body(Body::new(block(Cells::Tet5), law("linear"), 1000.0)).build().unwrap();
    let mut state = model.rest_state();
    model.add_impulse(&mut state, 5, Vec3::new(1.0, 2.0, 3.0));
    model.add_impulse(&mut state, 7, Vec3::new(0.0, -2.0, 0.5));
    let momentum = model.observe(&state).momentum;
    assert!((momentum - Vec3::new(1.0, 0.0, 3.5)).length() < 1e-13, "{momentum}");
}

#[test]
fn vertices_of_no_element_stay_where_they_are() {
    let mut data: MeshData = block(Cells::Tet5).into_data();
    data.vertices.push(Vec3::splat(3.0));
    let mesh = VolumeMesh::check(data).unwrap().mesh;
    let builder =
        Model::builder().body(Body::new(mesh, law("corotational"), 1000.0)).gravity(Vec3::new(0.0, -9.81, 0.0));
    let mut model = Assembly::new(builder.build().unwrap());
    let mut state = model.rest_state();
    steps(&mut model, &mut LinearizedBackwardEuler::default(), &mut state, 0.01, 10);
    assert_eq!(state.q[state.q.len() - 3..], [0.0; 3]);
    assert!(state.q[1] < -0.01);
}

#[test]
fn a_free_body_in_statics_is_an_error_that_says_so() {
    let body = Body::new(block(Cells::Tet5), law("stvk"), 1000.0);
    let mut model = Assembly::new(Model::builder().body(body).gravity(Vec3::NEG_Y).build().unwrap());
    let mut state = model.rest_state();
    let error = Static::default().solve(&mut model, &mut Direct::default(), &mut state).unwrap_err().to_string();
    assert!(error.contains("fix every body so that it can neither move nor turn"), "{error}");
    assert_eq!(state, model.rest_state());
}

#[test]
fn newton_counts_and_factorizations_are_few() {
    let mesh = block(Cells::Tet5);
    let clamp = mesh.vertex_sets()["x-min"].clone();
    let body = Body::new(mesh, law("stvk"), 1000.0);
    let builder = Model::builder().body(body).fix(Fixed::new(clamp)).gravity(Vec3::new(0.0, -9.81, 0.0));
    let mut model = Assembly::new(builder.build().unwrap());
    let (mut state, mut solver) = (model.rest_state(), Direct::default());
    let info = Static::default().solve(&mut model, &mut solver, &mut state).unwrap();
    assert!(info.newton_iterations <= 7 && info.shortened <= 1, "{info:?}");
    assert_eq!(info.factorizations, info.newton_iterations);

    let mut state = model.rest_state();
    let (mut full, mut linearized) = (BackwardEuler::default(), LinearizedBackwardEuler::default());
    for _ in 0..20 {
        let info = full.step(&mut model, &mut solver, &mut state, 0.01).unwrap();
        assert!(info.newton_iterations <= 6 && info.shortened == 0, "{info:?}");
    }
    let info = linearized.step(&mut model, &mut solver, &mut state, 0.01).unwrap();
    assert_eq!((info.newton_iterations, info.factorizations), (1, 1));
    assert_eq!(info.solve.analyses, 1);

    // A constant matrix is factored once.
    model.model_mut().set_rayleigh(0.3, 0.0).unwrap();
    let mut central = CentralDifferences::default();
    let counts: Vec<usize> =
        (0..10).map(|_| central.step(&mut model, &mut solver, &mut state, 1e-4).unwrap().factorizations).collect();
    assert_eq!(counts[1..].iter().sum::<usize>(), 0, "{counts:?}");
}

#[test]
fn motion_is_bitwise_the_same_on_one_and_several_threads_with_every_solver() {
    let solvers = [
        SolverParams::default(),
        SolverParams::Direct,
        SolverParams::DirectSingle(CgParams::default()),
        SolverParams::BlockJacobi(CgParams::default()),
        SolverParams::IncompleteCholesky(CgParams::default()),
        SolverParams::StaleFactor(StaleFactorParams::default()),
    ];
    for params in solvers {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mesh = generate::block([1.0, 0.25, 0.25], [16, 4, 4], Cells::Tet5).unwrap();
                let clamp = mesh.vertex_sets()["x-min"].clone();
                let builder = Model::builder().body(Body::new(mesh, law("stable-neo-hookean"), 1000.0));
                let mut model =
                    Assembly::new(builder.fix(Fixed::new(clamp)).gravity(Vec3::new(0.0, -9.81, 0.0)).build().unwrap());
                let mut state = model.rest_state();
                let mut solver: Box<dyn LinearSolver<Operator>> = params.build();
                let mut integrator = LinearizedBackwardEuler::default();
                for _ in 0..15 {
                    integrator.step(&mut model, &mut *solver, &mut state, 0.01).unwrap();
                }
                state
            })
        };
        assert_eq!(run(1), run(2), "{params:?}");
    }
}

/// User-defined integrator, applied to a built-in model.
#[derive(Debug, Clone)]
struct Leapfrog;

impl Integrator<Assembly> for Leapfrog {
    fn step(
        &mut self,
        model: &mut Assembly,
        _solver: &mut dyn LinearSolver<Operator>,
        state: &mut State,
        dt: f64,
    ) -> Result<StepInfo, StepError> {
        let mut a = vec![0.0; model.dim()];
        state.q.iter_mut().zip(&state.v).for_each(|(q, v)| *q += 0.5 * dt * v);
        model.force(&state.q, &state.conditions(0.5 * dt), &mut a);
        assert!(model.divide(Combination::of_mass(1.0), &mut a));
        state.v.iter_mut().zip(&a).for_each(|(v, a)| *v += dt * a);
        state.q.iter_mut().zip(&state.v).for_each(|(q, v)| *q += 0.5 * dt * v);
        state.time += dt;
        Ok(StepInfo::default())
    }
}

#[test]
fn a_integrator_of_a_users_own_steps_a_model() {
    let (mut model, mut state) = thrown(true);
    let start = model.model().observe(&state);
    steps(&mut model, &mut Leapfrog, &mut state, 1e-3, 500);
    let end = model.model().observe(&state);
    assert!((end.total_energy() / start.total_energy() - 1.0).abs() < 1e-3);
    assert!((end.momentum - start.momentum).length() < 1e-10);
}

#[test]
fn a_motion_may_be_any_function_of_time() {
    let mesh = block(Cells::Hex);
    let all: Vec<u32> = (0..mesh.vertex_count() as u32).collect();
    let shake = Motion::Function(std::sync::Arc::new(|time, rest| Vec3::new(0.0, rest.x * (3.0 * time).sin(), 0.0)));
    let body = Body::new(mesh, law("stvk"), 1000.0);
    let mut model = Assembly::new(Model::builder().body(body).fix(Fixed::prescribed(all, shake)).build().unwrap());
    let mut state = model.rest_state();
    steps(&mut model, &mut BackwardEuler::default(), &mut state, 0.1, 7);
    for (rest, u) in model.model().rest().iter().zip(state.q.chunks_exact(3)) {
        assert_eq!(u[1], rest.x * f64::sin(3.0 * state.time));
    }
}

/// Checks that a stiff bar shaken along its axis at its base moves with the base, with any integrator: inertia acts on
/// the vertices next to the base as it does everywhere else.
#[test]
fn a_shaken_base_takes_a_body_along_with_every_integrator() {
    let mesh = generate::block([0.4, 0.1, 0.1], [4, 1, 1], Cells::Hex).unwrap();
    let base = mesh.vertex_sets()["x-min"].clone();
    let law = AnyLaw::new("linear", YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap();
    let acceleration = 5.0;
    // In the frame of the base, this equals gravity in the opposite direction.
    let builder = Model::builder().body(Body::new(mesh.clone(), law.clone(), 1000.0)).fix(Fixed::new(base.clone()));
    let mut at_rest = Assembly::new(builder.gravity(Vec3::new(-acceleration, 0.0, 0.0)).build().unwrap());
    let mut still = at_rest.rest_state();
    Static::default().solve(&mut at_rest, &mut Direct::default(), &mut still).unwrap();
    let end = at_rest.model().rest().iter().position(|rest| rest.x > 0.4 - 1e-9).unwrap();
    let exact = still.q[3 * end];
    let motion =
        Motion::Function(std::sync::Arc::new(move |time, _| Vec3::new(0.5 * acceleration * time * time, 0.0, 0.0)));
    let integrators: [(&str, f64, BoxedIntegrator); 7] = [
        ("linearized backward Euler", 1e-3, Box::<LinearizedBackwardEuler>::default()),
        ("backward Euler", 1e-3, Box::<BackwardEuler>::default()),
        ("BDF2", 1e-3, Box::<Bdf2>::default()),
        ("Newmark", 1e-3, Box::<Newmark>::default()),
        ("central differences", 2e-4, Box::<CentralDifferences<_>>::default()),
        ("symplectic Euler", 2e-4, Box::<SymplecticEuler>::default()),
        ("explicit Euler", 2e-5, Box::<ExplicitEuler>::default()),
    ];
    for (name, dt, mut integrator) in integrators {
        let mut model = Assembly::new(
            Model::builder()
                .body(Body::new(mesh.clone(), law.clone(), 1000.0))
                .fix(Fixed::prescribed(base.clone(), motion.clone()))
                .damping(Damping::rayleigh(0.0, 2e-3).unwrap())
                .build()
                .unwrap(),
        );
        let mut state = model.rest_state();
        let count = (0.3 / dt).round() as usize;
        steps(&mut model, &mut *integrator, &mut state, dt, count);
        let stretch = state.q[3 * end] - state.q[3 * base[0] as usize];
        println!("{name}: {stretch:.4e} m instead of {exact:.4e} m");
        assert!((stretch / exact - 1.0).abs() < 0.01, "{name}: {stretch} m instead of {exact} m");
        let pull: f64 = base.iter().map(|&vertex| model.model().reactions(&state)[3 * vertex as usize]).sum();
        if state.a.is_some() {
            assert!(
                (pull / (4.0 * acceleration) - 1.0).abs() < 0.02,
                "{name}: {pull} N instead of {}",
                4.0 * acceleration
            );
        }
    }
}

#[test]
fn damping_that_is_taken_away_is_gone() {
    let run = |damped_before: bool, integrator: &mut dyn Integrator<Assembly>| {
        let mesh = block(Cells::Tet5);
        let clamp = mesh.vertex_sets()["x-min"].clone();
        let mut model = Assembly::new(
            Model::builder()
                .body(Body::new(mesh, law("corotational"), 1000.0))
                .fix(Fixed::new(clamp))
                .damping(Damping::rayleigh(0.0, if damped_before { 0.05 } else { 0.0 }).unwrap())
                .build()
                .unwrap(),
        );
        let mut state = model.rest_state();
        steps(&mut model, integrator, &mut state, 1e-3, 2);
        model.model_mut().set_rayleigh(0.0, 0.0).unwrap();
        let mut state = stretched(model.model());
        steps(&mut model, integrator, &mut state, 1e-3, 20);
        state.q
    };
    let integrators: [MakeIntegrator; 5] = [
        || Box::<LinearizedBackwardEuler>::default(),
        || Box::<BackwardEuler>::default(),
        || Box::<Bdf2>::default(),
        || Box::<Newmark>::default(),
        || Box::<CentralDifferences<_>>::default(),
    ];
    for integrator in integrators {
        assert_eq!(run(true, &mut *integrator()), run(false, &mut *integrator()));
    }
}

#[test]
fn halved_steps_get_a_body_past_a_plate_that_moves_too_fast() {
    let mesh = block(Cells::Tet5);
    let sets = mesh.vertex_sets().clone();
    let push = Keyframes::translations([(0.0, Vec3::ZERO), (0.1, -0.9 * Vec3::X)]).unwrap();
    let mut model = Assembly::new(
        Model::builder()
            .body(Body::new(mesh, law("neo-hookean"), 1000.0))
            .fix(Fixed::new(sets["x-min"].clone()))
            .fix(Fixed::prescribed(sets["x-max"].clone(), push))
            .build()
            .unwrap(),
    );
    let (mut state, mut solver) = (model.rest_state(), Direct::default());
    let error = BackwardEuler::default().step(&mut model, &mut solver, &mut state, 0.1).unwrap_err();
    assert_eq!(state, model.rest_state(), "{error}");
    let info = Halving::new(BackwardEuler::default(), 8).step(&mut model, &mut solver, &mut state, 0.1).unwrap();
    assert!(info.substeps > 1, "{info:?}");
    assert!((model.model().observe(&state).time - 0.1).abs() < 1e-15);
    let states = model.model().bodies()[0].elastic().unwrap().element_states(&state.q);
    assert!(states.iter().all(|state| state.volume_ratio > 0.0));
}

#[test]
fn what_is_fixed_where_it_was_turns_from_there() {
    let mesh = block(Cells::Hex);
    let grip = mesh.vertex_sets()["x-max"].clone();
    let half_turn = Pose { translation: Vec3::ZERO, rotation: Vec3::new(0.0, 0.0, std::f64::consts::PI) };
    let motion = Keyframes::new(Vec3::new(2.0, 0.0, 0.0), vec![(0.0, Pose::default()), (1.0, half_turn)]).unwrap();
    let mut model = Assembly::new(Model::builder().body(Body::new(mesh, law("corotational"), 1000.0)).build().unwrap());
    let mut state = model.rest_state();
    state.q.iter_mut().skip(1).step_by(3).for_each(|y| *y = 0.3);
    model.model_mut().fix(Fixed { motion: motion.into(), ..Fixed::here(grip.clone(), &state) }).unwrap();
    let mut q = state.q.clone();
    model.prescribe(1.0, &mut q).unwrap();
    for &vertex in &grip {
        let before = model.model().rest()[vertex as usize] + Vec3::new(0.0, 0.3, 0.0);
        let now = model.model().rest()[vertex as usize] + Vec3::from_slice(&q[3 * vertex as usize..]);
        assert!((now - Vec3::new(4.0 - before.x, -before.y, before.z)).length() < 1e-12, "{now}");
    }
}

#[test]
fn forces_and_holds_that_do_not_fit_a_model_are_named() {
    let mesh = block(Cells::Hex);
    let body = || Body::new(block(Cells::Hex), law("corotational"), 1000.0);
    let springs = || pliant::force::Springs::from_mesh(&mesh, &pliant::force::SpringCoefficients::new(1.0)).unwrap();
    let two = Model::builder().body(body()).body(body());
    let error = |builder: pliant::model::ModelBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(error(two.force(springs())), "a force is for 45 vertices, but the model has 90");
    assert_eq!(error(Model::builder()), "the model has no body");
    assert_eq!(
        error(Model::builder().body(body()).load(45, Vec3::X)),
        "a load is on vertex 45, but the model has 45 vertices"
    );
    assert!(error(Model::builder().body(body()).gravity(Vec3::NAN)).starts_with("gravity is [NaN"));
    let light = Body::new(block(Cells::Hex), law("corotational"), 0.0);
    assert!(error(Model::builder().body(light)).starts_with("body `body`: the density of region"));
    let none = Body { materials: vec![law("stvk"); 3], ..body() };
    assert!(error(Model::builder().body(none)).starts_with("body `body`: 3 materials for a mesh with 1 region"));
}

#[test]
fn central_differences_notice_that_a_damper_is_taken_away() {
    let mesh = generate::block([1.0, 0.2, 0.2], [5, 1, 1], Cells::Tet5).unwrap();
    let law = AnyLaw::new("stvk", YoungPoisson { young: 1e4, poisson: 0.3 }).unwrap();
    let rest = mesh.vertices().to_vec();
    let handle = Handle { damping: 500.0, ..Handle::new(5, 10.0, rest[5]) };
    let builder = Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new([0, 6, 12, 18]));
    let builder = builder.force(Handles::new(&rest[..], [handle]).unwrap()).gravity(Vec3::new(0.0, -9.81, 0.0));
    let mut model = Assembly::new(builder.build().unwrap());
    let (mut integrator, mut solver) = (CentralDifferences::default(), SolverParams::Direct.build());
    let mut state = model.rest_state();
    for _ in 0..10 {
        integrator.step(&mut model, &mut *solver, &mut state, 1e-4).unwrap();
    }
    model.model_mut().forces_mut_of().for_each(Handles::clear);
    let (mut other, mut fresh) = (state.clone(), SolverParams::Direct.build());
    let mut new_integrator = CentralDifferences::default();
    for _ in 0..10 {
        integrator.step(&mut model, &mut *solver, &mut state, 1e-4).unwrap();
    }
    for _ in 0..10 {
        new_integrator.step(&mut model, &mut *fresh, &mut other, 1e-4).unwrap();
    }
    let worst = state.q.iter().zip(&other.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-14, "{worst:e}");
}
