//! Bodies in contact with colliders of all shapes, that stand still, move, and are blocked.

use pliant::contact::{Collider, ColliderMotion, ColliderShape, ContactError, ContactParams, Friction, PointSequence};
use pliant::integrator::{
    BackwardEuler, Bdf2, ExplicitEuler, Halving, Integrator, Newmark, NewtonParams, StepError, StepInfo,
};
use pliant::math::{Mat3, Vec3};
use pliant::mesh::{ElementKind, MeshData, VolumeMesh};
use pliant::model::{Assembly, Body, Model, ModelBuilder, ModelError};
use pliant::motion::{Keyframes, Motion};
use pliant::solver::{Direct, SolverParams};
use pliant::system::{State, System};

use crate::contact::{center, kuhn_box, neo_hookean};

const H: f64 = 0.01;

/// Cube of 0.1 m whose lower face is at z = 0.
fn cube() -> Body {
    Body::new(kuhn_box([3; 3], Vec3::splat(0.1), Vec3::new(-0.05, -0.05, 0.0)), neo_hookean(1e5, 0.3), 1000.0)
        .named("cube")
}

fn model(colliders: impl IntoIterator<Item = Collider>, gravity: f64) -> Model {
    let builder = Model::builder().body(cube()).gravity(-gravity * Vec3::Z).contact(ContactParams::default());
    colliders.into_iter().fold(builder, ModelBuilder::collider).build().unwrap()
}

/// Asserts that no surface crosses another, and that no vertex is inside a half-space or outside a hollow ball.
fn assert_apart(model: &Model, state: &State) {
    let clock = state.history.first().copied().unwrap_or(state.time);
    let energy = model.contact_energy().unwrap();
    assert_eq!(energy.crossings(&state.q, clock), []);
    assert_eq!(energy.penetrations(&state.q, clock), []);
}

fn run(model: Model, steps: usize) -> (Assembly, State) {
    let mut state = model.rest_state();
    let (mut assembly, mut solver) = (Assembly::new(model), SolverParams::default().build());
    for _ in 0..steps {
        BackwardEuler::for_animation().step(&mut assembly, &mut solver, &mut state, H).unwrap();
        assert_apart(assembly.model(), &state);
    }
    (assembly, state)
}

fn half_space(point: Vec3, normal: Vec3) -> Collider {
    Collider::new("plane", ColliderShape::HalfSpace { point, normal })
}

fn solid_box(center: Vec3, size: Vec3) -> Collider {
    Collider::new("box", ColliderShape::Box { center, size, axes: Mat3::IDENTITY })
}

fn along_z(distance: f64, duration: f64) -> Motion {
    Keyframes::translations([(0.0, Vec3::ZERO), (duration, distance * Vec3::Z)]).unwrap().into()
}

#[test]
fn a_cube_rests_on_every_shape_with_its_weight() {
    let below = -5e-3;
    let sheet = ColliderShape::Surface {
        vertices: vec![
            Vec3::new(-0.2, -0.2, below),
            Vec3::new(0.3, -0.2, below),
            Vec3::new(-0.2, 0.3, below),
            Vec3::new(0.3, 0.3, below),
        ],
        triangles: vec![[0, 1, 2], [1, 3, 2]],
        edges: Vec::new(),
    };
    let bars = ColliderShape::Surface {
        vertices: [-0.03, 0.03].into_iter().flat_map(|x| [-0.2, 0.2].map(|y| Vec3::new(x, y, below))).collect(),
        triangles: Vec::new(),
        edges: vec![[0, 1], [2, 3]],
    };
    let shapes = [
        ColliderShape::HalfSpace { point: below * Vec3::Z, normal: Vec3::Z },
        ColliderShape::Box { center: Vec3::new(0.0, 0.0, below - 0.1), size: Vec3::splat(0.2), axes: Mat3::IDENTITY },
        ColliderShape::HollowBall { center: Vec3::new(0.0, 0.0, 0.5), radius: 0.51 },
        ColliderShape::Ball { center: Vec3::new(0.0, 0.0, below - 2.0), radius: 2.0 },
        sheet,
        bars,
    ];
    for shape in shapes {
        let (assembly, state) = run(model([Collider::new("ground", shape.clone())], 9.81), 60);
        let force = assembly.model().contact_report(&state).unwrap();
        let [([0, 1], force)] = force.forces[..] else { panic!("{shape:?}: {:?}", force.forces) };
        assert!((force.z - 9.81).abs() < 0.05 && force.truncate().length() < 0.05, "{shape:?}: {force}");
    }
}

#[test]
fn a_capsule_is_not_penetrated_by_a_cube_that_falls_on_it() {
    let ends = [Vec3::new(0.0, -0.3, -0.04), Vec3::new(0.0, 0.3, -0.04)];
    let capsule = Collider::new("capsule", ColliderShape::Capsule { ends, radius: 0.03 });
    let (assembly, state) = run(model([capsule, half_space(-0.2 * Vec3::Z, Vec3::Z)], 9.81), 50);
    // The axis of the capsule is at least its radius away from all vertices.
    let model = assembly.model();
    for x in model.positions(&state) {
        assert!(Vec3::new(x.x, 0.0, x.z + 0.04).length() > 0.03);
    }
}

#[test]
fn a_cube_is_pressed_by_a_piston_without_intersection_and_the_work_of_the_piston_is_counted() {
    let floor = half_space(-1e-3 * Vec3::Z, Vec3::Z);
    let piston = solid_box(Vec3::new(0.0, 0.0, 0.152), Vec3::new(0.3, 0.3, 0.1)).moving(along_z(-0.06, 0.3));
    let (assembly, state) = run(model([floor, piston], 0.0), 30);
    let report = assembly.model().contact_report(&state).unwrap();
    let on_cube: Vec<f64> = report.forces.iter().map(|(_, force)| force.z).collect();
    // 60 % of its height under lateral freedom: the stress is at least that of linear elasticity.
    assert!(on_cube.len() == 2 && (on_cube[0] + on_cube[1]).abs() < 0.05 * on_cube[0].abs(), "{on_cube:?}");
    assert!(on_cube[0].abs() > 1e5 * 0.5 * 0.01, "{on_cube:?}");
    assert_eq!(state.history, [state.time]);
}

#[test]
fn a_piston_that_cannot_move_on_yields_and_catches_up_or_is_an_error() {
    // It would press the cube through the floor, and returns.
    let motion = Keyframes::translations([(0.0, Vec3::ZERO), (0.2, -0.12 * Vec3::Z), (0.4, Vec3::ZERO)]).unwrap();
    let blocked = || {
        let floor = half_space(-1e-3 * Vec3::Z, Vec3::Z);
        let piston =
            solid_box(Vec3::new(0.0, 0.0, 0.152), Vec3::new(0.3, 0.3, 0.1)).moving(Motion::from(motion.clone()));
        model([floor, piston], 0.0)
    };
    let model = blocked();
    let mut state = model.rest_state();
    let (mut assembly, mut solver) = (Assembly::new(model), SolverParams::default().build());
    let mut integrator = BackwardEuler::for_animation();
    let (mut was_blocked, mut last) = (false, StepInfo::default());
    for _ in 0..42 {
        last = integrator.step(&mut assembly, &mut solver, &mut state, H).unwrap();
        assert_apart(assembly.model(), &state);
        was_blocked |= last.is_blocked();
    }
    assert!(was_blocked && !last.is_blocked());
    assert_eq!(state.history, [state.time]);
    // The same as an error, that names the bodies.
    let model = blocked();
    let mut state = model.rest_state();
    let mut assembly = Assembly::new(model);
    let mut integrator = BackwardEuler::new(NewtonParams { yields: false, ..BackwardEuler::for_animation().params });
    let error = (0..42).find_map(|_| integrator.step(&mut assembly, &mut solver, &mut state, H).err()).unwrap();
    assert!(matches!(&error, StepError::Blocked { between: Some(_), .. }), "{error}");
    assert!(error.to_string().contains("`cube`"), "{error}");
    assert_apart(assembly.model(), &state);
}

#[test]
fn a_sequence_of_positions_lifts_a_cube() {
    let frame =
        |z: f64| [-0.2, 0.3].into_iter().flat_map(|x| [-0.2, 0.3].map(|y| Vec3::new(x, y, z))).collect::<Vec<_>>();
    let sequence = PointSequence::new(vec![0.0, 0.5], vec![frame(-2e-3), frame(0.05)]).unwrap();
    let shape =
        ColliderShape::Surface { vertices: frame(-2e-3), triangles: vec![[0, 2, 1], [1, 2, 3]], edges: Vec::new() };
    let lift = Collider::new("lift", shape.clone()).moving(sequence);
    let (assembly, state) = run(model([lift], 9.81), 70);
    let height = center(assembly.model(), &state, 0..64).z;
    assert!((height - 0.1).abs() < 0.01, "{height}");
    let short = PointSequence::new(vec![0.0], vec![vec![Vec3::ZERO; 3]]).unwrap();
    let build = Model::builder().body(cube()).contact(ContactParams::default());
    let error = build.collider(Collider::new("lift", shape).moving(short)).build().unwrap_err();
    assert_eq!(error.to_string(), "`lift` has 3 moving points for 4 vertices");
}

#[test]
fn a_far_body_changes_nothing_to_the_last_bit() {
    let run = |far: bool| {
        let builder = Model::builder().body(cube()).gravity(-9.81 * Vec3::Z).contact(ContactParams::default());
        let builder = builder.collider(half_space(-5e-3 * Vec3::Z, Vec3::Z));
        let other = kuhn_box([2; 3], Vec3::splat(0.5), Vec3::new(100.0, 0.0, 0.02));
        let other = Body::new(other, neo_hookean(1e6, 0.3), 500.0).named("far");
        let model = if far { builder.body(other) } else { builder }.build().unwrap();
        let mut state = model.rest_state();
        // It moves fast in its own place.
        state.v.iter_mut().skip(3 * 64).step_by(3).for_each(|v| *v = 3.0);
        let mut assembly = Assembly::new(model);
        let params = NewtonParams {
            max_iterations: 12,
            min_iterations: 12,
            tolerance: 1e-30,
            must_converge: false,
            ..NewtonParams::default()
        };
        let mut solver = Direct::default();
        for _ in 0..12 {
            BackwardEuler::new(params).step(&mut assembly, &mut solver, &mut state, H).unwrap();
        }
        state.q[..3 * 64].to_vec()
    };
    let (alone, with_far) = (run(false), run(true));
    let off = alone.iter().zip(&with_far).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-12, "{off}");
}

#[test]
fn implicit_integrators_keep_bodies_apart_and_others_refuse_contact() {
    let drop = || model([half_space(-5e-3 * Vec3::Z, Vec3::Z)], 9.81);
    let newmark = NewtonParams { line_search: true, ..BackwardEuler::for_animation().params };
    let integrators: [Box<dyn Integrator<Assembly>>; 3] = [
        Box::new(BackwardEuler::for_animation()),
        Box::new(Bdf2::for_animation()),
        Box::new(Newmark::new(0.3025, 0.6, newmark).unwrap()),
    ];
    for mut integrator in integrators {
        let model = drop();
        let mut state = model.rest_state();
        let (mut assembly, mut solver) = (Assembly::new(model), SolverParams::default().build());
        for _ in 0..40 {
            integrator.step(&mut assembly, &mut solver, &mut state, H).unwrap();
            assert_apart(assembly.model(), &state);
        }
        let height = center(assembly.model(), &state, 0..64).z;
        assert!((0.03..0.052).contains(&height), "{height}");
    }
    let model = drop();
    let mut state = model.rest_state();
    let mut assembly = Assembly::new(model);
    assert!(assembly.limits_steps());
    let error = ExplicitEuler::default().step(&mut assembly, &mut Direct::default(), &mut state, 1e-5).unwrap_err();
    assert!(matches!(error, StepError::Contact { .. }), "{error}");
}

#[test]
fn starts_inside_a_collider_and_invalid_shapes_are_errors_that_name_it() {
    let build = |collider: Collider| {
        Model::builder().body(cube()).contact(ContactParams::default()).collider(collider).build().unwrap_err()
    };
    let error = build(half_space(0.03 * Vec3::Z, Vec3::Z));
    assert!(
        matches!(error, ModelError::Contact(ContactError::Intersecting { depth, .. }) if (depth - 0.03).abs() < 1e-12),
        "{error}"
    );
    assert!(error.to_string().starts_with("`cube` and `plane` intersect at the start, in 16 places"), "{error}");
    let error = build(half_space(Vec3::ZERO, Vec3::Z));
    assert!(
        matches!(error, ModelError::Contact(ContactError::Touching { count: 16, shift, .. }) if shift > 0.0),
        "{error}"
    );
    let error = build(Collider::new("ball", ColliderShape::Ball { center: Vec3::ZERO, radius: -1.0 }));
    assert_eq!(error.to_string(), "`ball`: the radius is -1, expected a finite number greater than zero");
    let error = build(half_space(Vec3::ZERO, Vec3::ZERO));
    assert!(error.to_string().contains("length of the normal is 0"), "{error}");
    let motion =
        ColliderMotion::from(Motion::Function(std::sync::Arc::new(|time, _| Vec3::splat(1.0 / (time - 0.05)))));
    let model = Model::builder().body(cube()).contact(ContactParams::default());
    let model = model.collider(half_space(-20.0 * Vec3::Z, Vec3::Z).moving(motion)).build().unwrap();
    let mut state = State { time: 0.04, ..model.rest_state() };
    let error = BackwardEuler::for_animation()
        .step(&mut Assembly::new(model), &mut Direct::default(), &mut state, H)
        .unwrap_err();
    assert!(error.to_string().contains("the motion of `plane`"), "{error}");
}

/// Returns a tetrahedron with random corners, at least a tenth as thick as long.
fn random_tetrahedron(random: &mut fastrand::Rng, center: Vec3) -> VolumeMesh {
    loop {
        let corners: [Vec3; 4] =
            std::array::from_fn(|_| center + 0.05 * (Vec3::new(random.f64(), random.f64(), random.f64()) - 0.5));
        let [a, b, c, d] = corners;
        let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
        if volume.abs() > 2e-6 {
            let order = if volume > 0.0 { [0, 1, 2, 3] } else { [0, 2, 1, 3] };
            return VolumeMesh::check(MeshData::new(corners.to_vec(), ElementKind::Tet4, order.to_vec())).unwrap().mesh;
        }
    }
}

#[test]
fn random_tetrahedra_thrown_into_a_box_never_intersect() {
    let mut random = fastrand::Rng::with_seed(11);
    let friction = Friction { static_coefficient: 0.6, kinetic_coefficient: 0.4, speed: 1e-3 };
    let mut builder = Model::builder().gravity(-9.81 * Vec3::Z);
    builder = builder.contact(ContactParams { friction, ..ContactParams::default() });
    for number in 0..27 {
        let center = 0.06 * Vec3::new(f64::from(number % 3), f64::from(number / 3 % 3), f64::from(number / 9)) + 0.04;
        let young = 10_f64.powf(4.0 + 2.0 * random.f64());
        let body = Body::new(random_tetrahedron(&mut random, center), neo_hookean(young, 0.3), 1000.0);
        builder = builder.body(body.named(format!("tetrahedron-{number}")));
    }
    for axis in 0..3 {
        let normal = Vec3::AXES[axis];
        builder = builder.collider(half_space(Vec3::ZERO, normal)).collider(half_space(0.2 * normal, -normal));
    }
    // A sheet of random triangles in between, as an obstacle of bad quality.
    let sheet: Vec<Vec3> = (0..9).map(|_| 0.2 * Vec3::new(random.f64(), random.f64(), 0.02)).collect();
    let shape = ColliderShape::Surface {
        vertices: sheet,
        triangles: vec![[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [1, 1, 5]],
        edges: vec![[2, 6]],
    };
    let model = builder.collider(Collider::new("soup", shape)).build().unwrap();
    let mut state = model.rest_state();
    state.v.iter_mut().for_each(|v| *v = 6.0 * (random.f64() - 0.5));
    let (mut assembly, mut solver) = (Assembly::new(model), SolverParams::default().build());
    let mut integrator = Halving::new(BackwardEuler::for_animation(), 6);
    for _ in 0..100 {
        integrator.step(&mut assembly, &mut solver, &mut state, H).unwrap();
        assert_apart(assembly.model(), &state);
        assert!(assembly.find_inverted(&state.q).is_none());
    }
}
