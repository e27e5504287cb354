//! Contact of bodies with each other and themselves.

use pliant::contact::ContactParams;
use pliant::force::{Conditions, SurfaceContact};
use pliant::integrator::{BackwardEuler, Halving, Integrator, StepInfo};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::{Affine3, Vec3};
use pliant::mesh::{ElementKind, MeshData, VolumeMesh};
use pliant::model::{Assembly, Body, Fixed, Model, ModelError};
use pliant::solver::{CgParams, Direct, LinearSolver, Operator, SolverParams, StaleFactorParams};
use pliant::system::State;

fn contact(model: &Model) -> &SurfaceContact {
    let of_type = |force| (force as &dyn std::any::Any).downcast_ref::<SurfaceContact>();
    model.forces().find_map(of_type).expect("a model with contact")
}

fn neo_hookean(young: f64, poisson: f64) -> AnyLaw {
    AnyLaw::new("neo-hookean", YoungPoisson { young, poisson }).unwrap()
}

/// Returns a box of cubes, each of six tetrahedra around a diagonal.
fn kuhn_box(cells: [u32; 3], size: Vec3, corner: Vec3) -> VolumeMesh {
    let [nx, ny, nz] = cells;
    let number = |[i, j, k]: [u32; 3]| (i * (ny + 1) + j) * (nz + 1) + k;
    let step = size / Vec3::new(f64::from(nx), f64::from(ny), f64::from(nz));
    let (mut vertices, mut elements) = (Vec::new(), Vec::new());
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                vertices.push(corner + Vec3::new(f64::from(i), f64::from(j), f64::from(k)) * step);
                if i < nx && j < ny && k < nz {
                    let corner = |c: u32| number([i + c / 4, j + c / 2 % 2, k + c % 2]);
                    for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
                        elements.extend([0, b, a, 7].map(corner));
                    }
                }
            }
        }
    }
    VolumeMesh::check(MeshData::new(vertices, ElementKind::Tet4, elements)).unwrap().mesh
}

/// Returns a fixed box of 1 m, whose top is at z = 0.
fn ground() -> Body {
    let mesh = kuhn_box([1; 3], Vec3::new(1.0, 1.0, 0.1), Vec3::new(-0.5, -0.5, -0.1));
    Body::without_elasticity(mesh, 1.0).named("ground")
}

/// Two cubes of rubber: the upper, turned by 20°, falls onto the lower, and that onto the ground.
fn two_cubes(params: ContactParams) -> Model {
    let cube = |center: Vec3, degrees: f64| {
        let mesh = kuhn_box([2; 3], Vec3::splat(0.1), Vec3::new(-0.05, -0.05, 0.0));
        let place = Affine3::from_translation(center) * Affine3::from_rotation_z(degrees.to_radians());
        Body::new(mesh.transformed(place).unwrap(), neo_hookean(1e5, 0.3), 1000.0)
    };
    let lower = cube(Vec3::new(0.0, 0.0, 0.01), 0.0).named("lower");
    let upper = cube(Vec3::new(0.02, 0.01, 0.125), 20.0).named("upper");
    let builder = Model::builder().body(lower).body(upper).body(ground()).lumped_mass();
    let fixed = Fixed::new((54..62).collect::<Vec<u32>>());
    builder.fix(fixed).gravity(-9.81 * Vec3::Z).contact(params).build().unwrap()
}

fn positions(model: &Model, state: &State) -> Vec<Vec3> {
    let moved = |(vertex, rest): (usize, &Vec3)| *rest + Vec3::from_slice(&state.q[3 * vertex..]);
    model.rest().iter().enumerate().map(moved).collect()
}

fn step(assembly: &mut Assembly, solver: &mut dyn LinearSolver<Operator>, state: &mut State, h: f64) -> StepInfo {
    let info = Halving::new(BackwardEuler::default(), 6).step(assembly, solver, state, h).unwrap();
    assert_eq!(contact(assembly.model()).contact_energy().crossings(&state.q), []);
    info
}

#[test]
fn two_falling_cubes_follow_the_trajectory_of_another_program() {
    // Positions of the first and last vertex of each cube, from a Newton solver in NumPy with the contact of ipctk
    // 1.6.1 and the same barrier; every step converged to 1e-7 m/s.
    #[rustfmt::skip]
    let expected = [
        (10, 1e-06, [Vec3::new(-0.0504654836865, -0.050465483689, 0.00099421207224), Vec3::new(0.0502321268656, 0.0502321268656, 0.0984518074037), Vec3::new(-0.00988362387301, -0.0540856382056, 0.11151125), Vec3::new(0.049883623873, 0.0740856382056, 0.21151125)]),
        (20, 1e-06, [Vec3::new(-0.0522147226569, -0.0512760418888, 0.00100060292333), Vec3::new(0.0512047019839, 0.0511243717039, 0.0938463484329), Vec3::new(-0.0119085517431, -0.0556709352816, 0.0999446998167), Vec3::new(0.05282308479, 0.0758686044193, 0.192149279264)]),
        (50, 1e-05, [Vec3::new(-0.0586973176131, -0.054255746367, 0.00100324581882), Vec3::new(0.0422965799523, 0.0468309265565, 0.0978201793814), Vec3::new(-0.00293321810616, -0.0519270416428, 0.101760054264), Vec3::new(0.0603333271975, 0.078401422006, 0.196879083904)]),
        (100, 1e-05, [Vec3::new(-0.089281080494, -0.0728492078428, 0.000966398306261), Vec3::new(0.000540100562635, 0.0367603405883, 0.100315555617), Vec3::new(0.0180807820857, -0.041592805822, 0.0945923798977), Vec3::new(0.116018283637, 0.0922409998033, 0.144493121698)]),
    ];
    let model = two_cubes(ContactParams { range: Some(1e-3), pressure: Some(1e4) });
    let mut state = model.rest_state();
    let (mut assembly, mut solver) = (Assembly::new(model), Direct::default());
    let mut iterations = 0;
    for number in 1..=100 {
        iterations += step(&mut assembly, &mut solver, &mut state, 0.005).newton_iterations;
        if let Some((_, tolerance, places)) = expected.iter().find(|(step, ..)| *step == number) {
            let found = positions(assembly.model(), &state);
            for (vertex, place) in [0, 26, 27, 53].into_iter().zip(places) {
                let error = found[vertex].distance(*place);
                assert!(error < *tolerance, "vertex {vertex} at step {number}: {error}");
            }
        }
    }
    // The other program, with projected Hessians of 12 by 12 numbers, takes 521.
    assert!(iterations <= 521, "{iterations}");
}

#[test]
fn a_cube_rests_on_the_ground_with_its_weight() {
    for params in [ContactParams::default(), ContactParams { range: Some(2e-3), pressure: Some(1e5) }] {
        let cube = kuhn_box([2; 3], Vec3::splat(0.1), Vec3::new(-0.06, -0.05, 0.001));
        let builder = Model::builder().body(Body::new(cube, neo_hookean(1e5, 0.3), 1000.0)).body(ground());
        let fixed = Fixed::new((27..35).collect::<Vec<u32>>());
        let model = builder.fix(fixed).gravity(-9.81 * Vec3::Z).contact(params).build().unwrap();
        let mut state = model.rest_state();
        let (mut assembly, mut solver) = (Assembly::new(model), Direct::default());
        for _ in 0..60 {
            step(&mut assembly, &mut solver, &mut state, 0.05);
        }
        let conditions = Conditions { dt: 0.05, ..Conditions::at(state.time) };
        let [on_cube, on_ground] = contact(assembly.model()).forces_on_bodies(&state.q, &conditions)[..] else {
            panic!()
        };
        assert!((on_cube.z - 9.81).abs() < 1e-4, "{on_cube}");
        assert!((on_cube + on_ground).length() < 1e-12);
        // It neither hovers nor sinks in: the gap is less than the range.
        let lowest = positions(assembly.model(), &state)[..27].iter().map(|x| x.z).fold(1.0, f64::min);
        assert!(0.0 < lowest && lowest < params.range.unwrap_or(1.8e-4), "{lowest}");
    }
}

/// Two cubes without gravity that meet head on, in parallel or turned.
fn collision(turn: f64) -> (Assembly, State) {
    let cube = |corner| kuhn_box([2; 3], Vec3::splat(0.1), corner);
    let right = cube(Vec3::new(-0.05, -0.05, -0.05)).transformed(
        Affine3::from_translation(Vec3::new(0.12, 0.013, 0.007))
            * Affine3::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), turn),
    );
    let builder = Model::builder()
        .body(Body::new(cube(Vec3::new(-0.07, -0.05, -0.05)), neo_hookean(1e5, 0.3), 1000.0))
        .body(Body::new(right.unwrap(), neo_hookean(1e5, 0.3), 1000.0));
    let model = builder.contact(ContactParams::default()).build().unwrap();
    let mut state = model.rest_state();
    for vertex in 0..27 {
        state.v[3 * vertex] = 1.0;
        state.v[3 * (27 + vertex)] = -1.0;
    }
    (Assembly::new(model), state)
}

#[test]
fn collisions_conserve_momentum_and_do_not_gain_energy() {
    for turn in [0.0, 0.7] {
        let (mut assembly, mut state) = collision(turn);
        let mut solver = Direct::default();
        let mut energy = f64::INFINITY;
        let mut has_met = false;
        for _ in 0..60 {
            step(&mut assembly, &mut solver, &mut state, 1e-3);
            let model = assembly.model();
            let conditions = Conditions { dt: 1e-3, ..Conditions::at(state.time) };
            let momentum: Vec3 =
                model.node_masses().iter().zip(state.v.chunks(3)).map(|(m, v)| *m * Vec3::from_slice(v)).sum();
            // Of 2 kg m/s in opposite directions, to the tolerance of the balance of forces.
            assert!(momentum.length() < 1e-7, "{momentum}");
            let mut product = vec![0.0; state.v.len()];
            model.mass().mul(&state.v, &mut product);
            let kinetic = 0.5 * product.iter().zip(&state.v).map(|(p, v)| p * v).sum::<f64>();
            let now = kinetic + model.internal_energy(&state.q, &conditions);
            assert!(now <= energy * (1.0 + 1e-9), "{now} after {energy}");
            energy = now;
            has_met |= !contact(model).contact_energy().active_pairs(&state.q, 1e-3).is_empty();
        }
        assert!(has_met && state.v[0] < 0.0 && state.v[3 * 27] > 0.0, "they bounce back");
    }
}

#[test]
fn every_solver_and_number_of_threads_gives_the_same_collision() {
    let run = |solver: &mut dyn LinearSolver<Operator>| {
        let (mut assembly, mut state) = collision(0.7);
        for _ in 0..25 {
            step(&mut assembly, solver, &mut state, 1e-3);
        }
        state
    };
    let expected = run(&mut Direct::default());
    let on = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for threads in [1, 2, 3] {
        assert_eq!(on(threads).install(|| run(&mut Direct::default())), expected);
    }
    let cg = CgParams::default();
    for params in [
        SolverParams::default(),
        SolverParams::DirectSingle(cg),
        SolverParams::BlockJacobi(cg),
        SolverParams::IncompleteCholesky(cg),
        SolverParams::StaleFactor(StaleFactorParams { cg, ..StaleFactorParams::default() }),
    ] {
        let found = run(&mut *params.build());
        let error = found.q.iter().zip(&expected.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-6, "{params:?}: {error}");
    }
}

#[test]
fn a_fast_cube_does_not_pass_a_thin_plate() {
    for speed in [10.0, 300.0] {
        let cube = kuhn_box([1; 3], Vec3::splat(0.02), Vec3::new(-0.01, -0.01, 0.005));
        let plate = kuhn_box([4, 4, 1], Vec3::new(0.2, 0.2, 1e-3), Vec3::new(-0.1, -0.1, -1e-3));
        let builder = Model::builder()
            .body(Body::new(
                cube,
                AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e6, poisson: 0.4 }).unwrap(),
                1000.0,
            ))
            .body(Body::without_elasticity(plate, 1.0));
        let fixed = Fixed::new((8..58).collect::<Vec<u32>>());
        let model = builder.fix(fixed).contact(ContactParams::default()).build().unwrap();
        let mut state = model.rest_state();
        (0..8).for_each(|vertex| state.v[3 * vertex + 2] = -speed);
        let (mut assembly, mut solver) = (Assembly::new(model), Direct::default());
        for _ in 0..10 {
            step(&mut assembly, &mut solver, &mut state, 1e-3);
            assert!(positions(assembly.model(), &state)[..8].iter().all(|x| x.z > 0.0), "{speed}");
        }
    }
}

/// Returns a U of rubber with a slot of 8 mm, lying on its side, and plates below and above it.
fn horseshoe() -> Model {
    let arm = |z| kuhn_box([8, 2, 1], Vec3::new(0.08, 0.02, 0.01), Vec3::new(0.0, 0.0, z));
    let [lower, upper] = [arm(0.001), arm(0.019)];
    // The bend couples the ends of the arms by springs of the same material: a block between them.
    let bend = kuhn_box([1, 2, 1], Vec3::new(0.01, 0.02, 0.008), Vec3::new(0.0, 0.0, 0.011));
    let mesh = [lower, bend, upper];
    let (mut vertices, mut elements): (Vec<Vec3>, Vec<u32>) = (Vec::new(), Vec::new());
    for part in &mesh {
        let numbers: Vec<u32> = part
            .vertices()
            .iter()
            .map(|x| {
                let found = vertices.iter().position(|y| y.distance(*x) < 1e-9);
                found.unwrap_or_else(|| {
                    vertices.push(*x);
                    vertices.len() - 1
                }) as u32
            })
            .collect();
        elements.extend(part.connectivity().iter().map(|v| numbers[*v as usize]));
    }
    let count = vertices.len() as u32;
    let mesh = VolumeMesh::check(MeshData::new(vertices, ElementKind::Tet4, elements)).unwrap().mesh;
    let plate =
        |z| Body::without_elasticity(kuhn_box([1; 3], Vec3::new(0.2, 0.2, 0.01), Vec3::new(-0.06, -0.09, z)), 1.0);
    Model::builder()
        .body(Body::new(mesh, neo_hookean(1e5, 0.3), 1000.0))
        .body(plate(-0.01))
        .body(plate(0.03))
        .fix(Fixed::new((count..count + 8).collect::<Vec<u32>>()))
        .fix(Fixed::new((count + 8..count + 16).collect::<Vec<u32>>()))
        .contact(ContactParams::default())
        .build()
        .unwrap()
}

#[test]
fn arms_of_a_pressed_horseshoe_meet_and_do_not_pass_each_other() {
    let model = horseshoe();
    let plate = model.fixed_ids()[1];
    let mut state = model.rest_state();
    let (mut assembly, mut solver) = (Assembly::new(model), Direct::default());
    let mut is_folded = false;
    for number in 1..=30 {
        let down = vec![Vec3::new(0.0, 0.0, -5e-4 * f64::from(number)); 8];
        assembly.model_mut().move_fixed(plate, down).unwrap();
        step(&mut assembly, &mut solver, &mut state, 0.01);
        let pairs = contact(assembly.model()).contact_energy().active_pairs(&state.q, 0.01);
        let surface = contact(assembly.model()).contact_energy().surface();
        is_folded |= pairs.iter().any(|active| active.pair.vertices.iter().all(|v| surface.locate(*v).0 == 0));
    }
    assert!(is_folded);
}

#[test]
fn surfaces_that_intersect_or_touch_at_rest_are_an_error_that_names_them() {
    let cube = |name: &str, x: f64| {
        let mesh = kuhn_box([1; 3], Vec3::splat(0.1), Vec3::new(x, 0.003, 0.002));
        Body::new(mesh, neo_hookean(1e5, 0.3), 1000.0).named(name)
    };
    let build = |x: f64| {
        let builder = Model::builder().body(cube("left", 0.0)).body(cube("right", x));
        builder.contact(ContactParams::default()).build().map(drop)
    };
    assert_eq!(build(0.101), Ok(()));
    let error = build(0.05).unwrap_err();
    assert!(matches!(error, ModelError::Intersecting { .. } | ModelError::Touching { .. }), "{error}");
    let error = build(0.1).unwrap_err();
    assert!(matches!(error, ModelError::Touching { count, .. } if count > 0), "{error}");
    let shifted =
        Body::new(kuhn_box([1; 3], Vec3::splat(0.1), Vec3::new(0.05, 0.04, 0.03)), neo_hookean(1e5, 0.3), 1000.0);
    let error = Model::builder().body(cube("left", 0.0)).body(shifted.named("right")).contact(ContactParams::default());
    let error = error.build().unwrap_err().to_string();
    assert!(error.starts_with("surfaces intersect at rest, in ") && error.contains("`left`"), "{error}");
    for params in
        [ContactParams { range: Some(0.0), pressure: None }, ContactParams { range: None, pressure: Some(f64::NAN) }]
    {
        let error = Model::builder().body(cube("left", 0.0)).contact(params).build().unwrap_err();
        assert!(matches!(error, ModelError::ContactParams { .. }), "{error}");
    }
}
