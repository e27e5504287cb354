//! Friction of contacts.

use pliant::contact::{Collider, ColliderShape, ContactParams, Friction, PairBehavior, PairRule};
use pliant::integrator::{BackwardEuler, Integrator, NewtonParams};
use pliant::math::{Mat3, Vec3};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::motion::Keyframes;
use pliant::solver::Direct;
use pliant::system::State;

use crate::contact::{center, kuhn_box, neo_hookean};

/// Block of 9 × 9 × 4 cm at a height above z = 0.
fn block_at(height: f64) -> Body {
    Body::new(
        kuhn_box([3, 3, 2], Vec3::new(0.09, 0.09, 0.04), Vec3::new(-0.45, -0.045, height)),
        neo_hookean(1e6, 0.3),
        1000.0,
    )
    .named("block")
}

/// Gravity on a slope about the y axis.
fn on_slope(degrees: f64) -> Vec3 {
    let angle = degrees.to_radians();
    9.81 * Vec3::new(angle.sin(), 0.0, -angle.cos())
}

fn converged() -> BackwardEuler {
    BackwardEuler::new(NewtonParams { tolerance: 1e-8, max_iterations: 300, ..NewtonParams::default() })
}

fn run(model: Model, steps: usize, h: f64, mut after: impl FnMut(usize, &Model, &State)) {
    let mut state = model.rest_state();
    let (mut assembly, mut solver, mut integrator) = (Assembly::new(model), Direct::default(), converged());
    for step in 1..=steps {
        integrator.step(&mut assembly, &mut solver, &mut state, h).unwrap();
        after(step, assembly.model(), &state);
    }
}

#[test]
fn blocks_on_a_slope_slide_and_stick_as_in_another_program() {
    // Center along the slope and its height, from a Newton solver in NumPy with the contact and friction of ipctk
    // 1.6.1: the same barrier, normal forces lagged to a fixed point, 20°, h = 10 ms.
    #[rustfmt::skip]
    let expected = [
        (0.2, [(1, -0.40485354086298175, 0.02097369849503586), (50, -0.21228121382144088, 0.02097406369556672)]),
        (0.35, [(1, -0.40498403348866774, 0.020974088056249434), (50, -0.38800488569595076, 0.02097427719324179)]),
        (0.4, [(1, -0.4049872259911761, 0.02097422050794419), (50, -0.4046430244791581, 0.020974303950035522)]),
    ];
    for (mu, rows) in expected {
        let ground =
            Body::without_elasticity(kuhn_box([1; 3], Vec3::new(1.0, 1.0, 0.1), Vec3::new(-0.5, -0.5, -0.1)), 1.0);
        let params = ContactParams {
            range: Some(1e-3),
            pressure: Some(1e5),
            friction: Friction::new(mu),
            ..ContactParams::default()
        };
        let model = Model::builder()
            .body(block_at(0.00095))
            .body(ground.named("ground"))
            .fix(Fixed::new((48..56).collect::<Vec<u32>>()))
            .gravity(on_slope(20.0))
            .lumped_mass()
            .contact(params)
            .build()
            .unwrap();
        run(model, 50, 0.01, |step, model, state| {
            if let Some((_, x, z)) = rows.iter().find(|(number, ..)| *number == step) {
                let found = center(model, state, 0..48);
                assert!((found.x - x).abs() < 2e-6 && (found.z - z).abs() < 1e-6, "{mu}, step {step}: {found} {x} {z}");
            }
        });
    }
}

/// Block on a half-space.
fn on_half_space(gravity: Vec3, friction: Friction, motion: Option<Keyframes>) -> Model {
    let ground = Collider::new("ground", ColliderShape::HalfSpace { point: Vec3::ZERO, normal: Vec3::Z });
    let ground = motion.into_iter().fold(ground, |ground, motion| ground.moving(pliant::motion::Motion::from(motion)));
    Model::builder()
        .body(block_at(1e-4))
        .gravity(gravity)
        .contact(ContactParams::default())
        .collider(ground.with_friction(friction))
        .build()
        .unwrap()
}

#[test]
fn blocks_stick_on_a_half_space_if_and_only_if_friction_exceeds_the_slope() {
    let (angle, h) = (20.0_f64.to_radians(), 0.01);
    for mu in [0.35, 0.38] {
        let mut speeds = Vec::new();
        run(on_half_space(on_slope(20.0), Friction::new(mu), None), 50, h, |_, _, state| {
            speeds.push(state.v.chunks(3).take(48).map(|v| v[0]).sum::<f64>() / 48.0);
        });
        if mu < angle.tan() {
            let acceleration = (speeds[49] - speeds[29]) / 0.2;
            let expected = 9.81 * (angle.sin() - mu * angle.cos());
            assert!((acceleration - expected).abs() < 0.01 * expected, "{mu}: {acceleration} {expected}");
        } else {
            // Creep below the cone of friction.
            let expected = 1e-3 * (1.0 - (1.0 - angle.tan() / mu).sqrt());
            assert!((speeds[49] - expected).abs() < 0.01 * expected, "{mu}: {} {expected}", speeds[49]);
        }
    }
}

#[test]
fn sliding_blocks_stop_after_the_distance_of_coulombs_law() {
    let (h, mu, speed) = (0.01, 0.4, 1.0);
    let model = on_half_space(-9.81 * Vec3::Z, Friction::new(mu), None);
    let mut state = model.rest_state();
    (0..48).for_each(|vertex| state.v[3 * vertex] = speed);
    let (mut assembly, mut solver, mut integrator) = (Assembly::new(model), Direct::default(), converged());
    for _ in 0..60 {
        integrator.step(&mut assembly, &mut solver, &mut state, h).unwrap();
    }
    let moved = center(assembly.model(), &state, 0..48).x + 0.405;
    let expected = speed * speed / (2.0 * mu * 9.81) - 0.5 * speed * h;
    assert!((moved - expected).abs() < 0.01 * expected, "{moved} {expected}");
}

#[test]
fn a_moving_plane_carries_a_block_along_with_at_most_the_friction_force() {
    // A belt at 0.5 m/s: the block accelerates by μ g until it moves along.
    let belt = Keyframes::translations([(0.0, Vec3::ZERO), (1.0, 0.5 * Vec3::X)]).unwrap();
    let model = on_half_space(-9.81 * Vec3::Z, Friction::new(0.3), Some(belt));
    let mut speeds = Vec::new();
    run(model, 30, 0.01, |_, _, state| {
        speeds.push(state.v.chunks(3).take(48).map(|v| v[0]).sum::<f64>() / 48.0);
    });
    assert!((speeds[9] - 0.3 * 9.81 * 0.1).abs() < 0.02, "{}", speeds[9]);
    assert!((speeds[29] - 0.5).abs() < 5e-3, "{}", speeds[29]);
}

#[test]
fn rules_for_pairs_and_colliders_win_over_the_friction_of_the_contact() {
    let wall = Collider::new(
        "wall",
        ColliderShape::Box { center: Vec3::new(5.0, 0.0, 0.0), size: Vec3::ONE, axes: Mat3::IDENTITY },
    );
    let rule = |names: [&str; 2], rule| PairRule { bodies: names.map(str::to_owned), rule };
    let params = ContactParams {
        friction: Friction::new(0.1),
        pairs: vec![rule(["block", "other"], PairBehavior::Friction(Friction::new(0.7)))],
        ..ContactParams::default()
    };
    let other = kuhn_box([1; 3], Vec3::splat(0.1), Vec3::new(1.0, 0.0, 0.0));
    let build = |params: ContactParams| {
        Model::builder()
            .body(block_at(1e-4))
            .body(Body::new(other.clone(), neo_hookean(1e6, 0.3), 1000.0).named("other"))
            .contact(params)
            .collider(wall.clone().with_friction(Friction::new(0.5)))
            .build()
    };
    let model = build(params.clone()).unwrap();
    let energy = model.contact_energy().unwrap();
    let [block, other, wall] = ["block", "other", "wall"].map(|name| energy.find(name).unwrap());
    assert_eq!(energy.friction(other, block).kinetic_coefficient, 0.7);
    assert_eq!(energy.friction(block, block).kinetic_coefficient, 0.1);
    assert_eq!(energy.friction(wall, other).kinetic_coefficient, 0.5);
    let pairs = vec![rule(["block", "nobody"], PairBehavior::Ignored)];
    let error = build(ContactParams { pairs, ..params }).unwrap_err().to_string();
    assert!(error.contains("`nobody`") && error.contains("`block`, `other`, `wall`"), "{error}");
}
