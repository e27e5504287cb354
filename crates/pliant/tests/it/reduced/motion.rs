//! Motion of reduced models compared with that of the full models.

use super::setup::{bar, clamped, complete, material, of_basis, on, random, spinning};
use crate::support::{distance, largest};
use pliant::damping::Damping;
use pliant::force::{Handle, Handles, Obstacle, Obstacles};
use pliant::integrator::{BackwardEuler, Integrator, LinearizedBackwardEuler, Newmark, SymplecticEuler};
use pliant::math::{Mat3, Vec3};
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::reduced::{ExactModes, FloatingFrame, Forces, ReducedModel, Reduction, ReductionParams};
use pliant::solver::{Dense, Direct};
use pliant::system::State;

/// Integrator of the full model and the same one of the reduced model.
type Integrators = (Box<dyn Integrator<Assembly>>, Box<dyn Integrator<ReducedModel>>);

/// Checks that a reduced model with a complete basis equals the full model, with handles, contact, friction and
/// damping, for any integrator.
#[test]
fn in_all_directions_a_reduced_model_moves_as_the_model() {
    for (law, cells) in [("stvk", Cells::Tet5), ("neo-hookean", Cells::Hex), ("linear", Cells::Tet5)] {
        let build = |friction: f64| {
            let mesh = bar(cells, [3, 1, 1]);
            let rest = mesh.vertices().to_vec();
            let far = mesh.vertex_sets()["x-max"].clone();
            let handle = Handle::new(far[1], 200.0, Vec3::new(1.1, 0.3, 0.2));
            let height = if friction > 0.0 { -0.02 } else { -10.0 };
            let floor = Obstacle::plane(Vec3::new(0.0, height, 0.0), Vec3::Y, 5000.0);
            let mut model = clamped(law, mesh)
                .gravity(Vec3::new(0.0, -9.81, 2.0))
                .damping(Damping::rayleigh(0.3, 0.002).unwrap())
                .force(Handles::new(&rest[..], [Handle { damping: 3.0, ..handle }]).unwrap())
                .force(Obstacles::new(&rest[..], [Obstacle { friction, damping: 4.0 * friction, ..floor }]).unwrap())
                .build()
                .unwrap();
            model.loads_mut()[3 * far[0] as usize] = 5.0;
            model
        };
        let integrators: [Integrators; 4] = [
            (Box::new(LinearizedBackwardEuler::default()), Box::new(LinearizedBackwardEuler::default())),
            (Box::new(BackwardEuler::default()), Box::new(BackwardEuler::default())),
            (Box::new(Newmark::default()), Box::new(Newmark::default())),
            (Box::new(SymplecticEuler::default()), Box::new(SymplecticEuler::default())),
        ];
        for (number, (mut full_integrator, mut reduced_integrator)) in integrators.into_iter().enumerate() {
            // Contact that begins and ends is hard for Newton's method.
            let friction = if number == 2 { 0.0 } else { 0.5 };
            let model = build(friction);
            let basis = complete(&model);
            // With the exact projection per element where the integrator requests it.
            let forces = if law == "linear" { Forces::Auto } else { Forces::Projection };
            let reduction = of_basis(&model, &basis, &forces);
            let mut reduced = ReducedModel::new(build(friction), reduction).unwrap();
            let (mut full, mut few) = (model.rest_state(), reduced.rest_state());
            let mut assembly = Assembly::new(model);
            let dt = if number == 3 { 2e-4 } else { 0.01 };
            let (mut direct, mut dense) = (Direct::default(), Dense::default());
            for _ in 0..40 {
                full_integrator.step(&mut assembly, &mut direct, &mut full, dt).unwrap();
                reduced_integrator.step(&mut reduced, &mut dense, &mut few, dt).unwrap();
            }
            let expanded = reduced.expand(&few);
            let moved = largest(&full.q);
            assert!(moved > if number == 3 { 1e-5 } else { 0.01 });
            // Newton's iterations stop at a residual, which is measured in different coordinates.
            let tolerance = if number == 1 || number == 2 { 1e-5 } else { 1e-8 };
            let error = distance(&expanded.q, &full.q) / moved;
            assert!(error < tolerance, "{law}, integrator {number}: {error:e}");
        }
    }
}

#[test]
fn in_all_directions_the_polynomial_moves_as_the_model() {
    let model = clamped("stvk", bar(Cells::Tet5, [3, 1, 1])).gravity(Vec3::new(0.0, -9.81, 2.0)).build().unwrap();
    let reduction = of_basis(&model, &complete(&model), &Forces::Auto);
    assert_eq!(reduction.elasticity().name(), "polynomial");
    let again = clamped("stvk", bar(Cells::Tet5, [3, 1, 1])).gravity(Vec3::new(0.0, -9.81, 2.0)).build().unwrap();
    let mut reduced = ReducedModel::new(again, reduction).unwrap();
    let (mut full, mut few) = (model.rest_state(), reduced.rest_state());
    let mut assembly = Assembly::new(model);
    let (mut of_full, mut of_few) = (Newmark::default(), Newmark::default());
    let (mut direct, mut dense) = (Direct::default(), Dense::default());
    for _ in 0..100 {
        of_full.step(&mut assembly, &mut direct, &mut full, 0.01).unwrap();
        of_few.step(&mut reduced, &mut dense, &mut few, 0.01).unwrap();
    }
    let moved = largest(&full.q);
    assert!(moved > 0.1);
    assert!(distance(&reduced.expand(&few).q, &full.q) < 1e-6 * moved);
}

/// Simulates a soft cantilever that swings under its weight. Returns the maximum error of its tip relative to the
/// maximum displacement of the full model, the maximum volume ratio, and that displacement.
fn swing(mesh: &VolumeMesh, law: &str, reduction: &ReductionParams) -> (f64, f64, f64) {
    let young = 4e6;
    let build = |law: &str| {
        let clamp = mesh.vertex_sets()["x-min"].clone();
        Model::builder()
            .body(Body::new(mesh.clone(), material(law, young), 1000.0))
            .fix(Fixed::new(clamp))
            .gravity(Vec3::new(0.0, -9.81, 0.0))
            .build()
            .unwrap()
    };
    let mut full = Assembly::new(build("stvk"));
    let (reduction, _) = Reduction::new(&build(law), reduction, &mut on).unwrap();
    let mut reduced = ReducedModel::new(build(law), reduction).unwrap();
    let (mut state, mut few) = (full.rest_state(), reduced.rest_state());
    let (mut direct, mut dense) = (Direct::default(), Dense::default());
    let (mut of_full, mut of_few) = (Newmark::default(), Newmark::default());
    let tip = mesh.vertex_sets()["x-max"][0] as usize;
    let (mut worst, mut farthest, mut volume): (f64, f64, f64) = (0.0, 0.0, 0.0);
    for _ in 0..150 {
        of_full.step(&mut full, &mut direct, &mut state, 0.01).unwrap();
        of_few.step(&mut reduced, &mut dense, &mut few, 0.01).unwrap();
        let expanded = reduced.expand(&few);
        let at = |q: &[f64]| Vec3::from_slice(&q[3 * tip..]);
        worst = worst.max(at(&state.q).distance(at(&expanded.q)));
        farthest = farthest.max(at(&state.q).length());
        volume = volume.max(reduced.model().bodies()[0].volume(&expanded.q) / mesh.volume());
    }
    (worst / farthest, volume, farthest)
}

#[test]
fn modes_and_derivatives_follow_a_swing_that_modes_alone_blow_up() {
    let mesh = generate::block([1.0, 0.1, 0.1], [16, 2, 2], Cells::Hex).unwrap();
    let (error, volume, moved) = swing(&mesh, "stvk", &ReductionParams::new(20));
    assert!(moved > 0.35, "it bends by a third of its length: {moved}");
    assert!(error < 0.02, "{error}");
    assert!(volume < 1.05, "{volume}");
    // Without modal derivatives, rotation inflates the body: Barbič and James 2005, figure 3.
    let only_modes = ReductionParams { modes: Some(20), derivatives: Some(0), ..ReductionParams::new(20) };
    let (error, volume, _) = swing(&mesh, "linear", &only_modes);
    assert!(volume > 1.2, "{volume}");
    assert!(error > 0.1, "{error}");
}

#[test]
fn modes_of_a_linear_law_are_stepped_exactly() {
    let build = || {
        let mut model = clamped("linear", bar(Cells::Tet5, [6, 2, 2]))
            .gravity(Vec3::new(0.0, -9.81, 0.0))
            .damping(Damping::rayleigh(0.5, 0.003).unwrap())
            .build()
            .unwrap();
        model.loads_mut()[70] = 3.0;
        model
    };
    let (reduction, _) = Reduction::new(&build(), &ReductionParams::new(6), &mut on).unwrap();
    assert_eq!(reduction.elasticity().name(), "linear");
    let run = |steps: u32, integrator: &mut dyn Integrator<ReducedModel>| {
        let mut reduced = ReducedModel::new(build(), reduction.clone()).unwrap();
        let mut state = reduced.rest_state();
        state.v[1] = 0.2;
        for _ in 0..steps {
            integrator.step(&mut reduced, &mut Dense::default(), &mut state, 1.0 / f64::from(steps)).unwrap();
        }
        assert!((state.time - 1.0).abs() < 1e-12);
        state.q
    };
    let (one, many) = (run(1, &mut ExactModes::default()), run(1000, &mut ExactModes::default()));
    assert!(distance(&one, &many) < 1e-11 * largest(&many));
    let newmark = run(20_000, &mut Newmark::default());
    assert!(distance(&one, &newmark) < 1e-5 * largest(&one), "{:e}", distance(&one, &newmark));
}

/// Checks that damping other than Rayleigh damping acts as a force, to first order in the step size.
#[test]
fn exact_modes_feel_dampers_and_refuse_free_bodies() {
    let build = |damping: f64| {
        let mesh = bar(Cells::Tet5, [6, 2, 2]);
        let (rest, far) = (mesh.vertices().to_vec(), mesh.vertex_sets()["x-max"][0]);
        let handle = Handle { damping, ..Handle::new(far, 1.0, rest[far as usize]) };
        clamped("linear", mesh)
            .gravity(Vec3::new(0.0, -9.81, 0.0))
            .force(Handles::new(&rest[..], [handle]).unwrap())
            .build()
            .unwrap()
    };
    let (reduction, _) = Reduction::new(&build(0.0), &ReductionParams::new(6), &mut on).unwrap();
    let run = |damping: f64, integrator: &mut dyn Integrator<ReducedModel>| {
        let mut reduced = ReducedModel::new(build(damping), reduction.clone()).unwrap();
        let mut state = reduced.rest_state();
        for _ in 0..4000 {
            integrator.step(&mut reduced, &mut Dense::default(), &mut state, 0.25e-3).unwrap();
        }
        state.q
    };
    let (free, exact) = (run(0.0, &mut ExactModes::default()), run(20.0, &mut ExactModes::default()));
    let newmark = run(20.0, &mut Newmark::default());
    assert!(distance(&exact, &newmark) < 0.01 * largest(&newmark), "{:e}", distance(&exact, &newmark));
    assert!(distance(&exact, &free) > 0.1 * largest(&newmark));
    let (_, mut reduced, mut few) = spinning("stvk", Forces::Auto, Vec3::Z);
    let error = ExactModes::default().step(&mut reduced, &mut Dense::default(), &mut few, 0.01).unwrap_err();
    assert_eq!(error.to_string(), "exact modes require fixed vertices; this body is free");
}

/// Checks that with a complete basis a floating frame moves as the full model, except for errors of first order in the
/// step size. The momentum is exact.
#[test]
fn a_free_body_keeps_its_momentum_and_bulges_as_it_spins() {
    let build = || {
        let mesh = generate::block([1.0, 0.3, 0.2], [4, 1, 1], Cells::Hex).unwrap();
        Model::builder().body(Body::new(mesh, material("stvk", 1e5), 1000.0)).build().unwrap()
    };
    let run = |dt: f64| {
        let model = build();
        let reduction = of_basis(&model, &complete(&model), &Forces::Auto);
        assert!(reduction.is_free());
        assert_eq!(reduction.basis().size(), model.dim() - 6);
        let mut reduced = ReducedModel::new(build(), reduction).unwrap();
        let mut state = model.rest_state();
        let (velocity, omega) = (Vec3::new(0.3, 1.0, -0.5), Vec3::new(0.4, 0.3, 5.0));
        model.set_velocity(&mut state, 0..model.node_count(), velocity, omega, Vec3::new(0.5, 0.15, 0.1));
        let mut few = reduced.project(&state);
        let before = model.observe(&state);
        let seen = model.observe(&reduced.expand(&few));
        assert!((before.momentum - seen.momentum).length() < 1e-9 && (before.spin() - seen.spin()).length() < 1e-9);
        assert!((before.kinetic_energy / seen.kinetic_energy - 1.0).abs() < 1e-9);
        let mut assembly = Assembly::new(model);
        let (mut of_full, mut of_few) = (Newmark::default(), FloatingFrame(Newmark::default()));
        let (mut direct, mut dense) = (Direct::default(), Dense::default());
        let (mut worst, mut longest): (f64, f64) = (0.0, 0.0);
        for _ in 0..(1.0 / dt).round() as usize {
            of_full.step(&mut assembly, &mut direct, &mut state, dt).unwrap();
            of_few.step(&mut reduced, &mut dense, &mut few, dt).unwrap();
            worst = worst.max(distance(&reduced.expand(&few).q, &state.q));
            let positions = assembly.model().positions(&state);
            let length = |positions: &[Vec3]| positions[0].distance(*positions.last().unwrap());
            longest = longest.max(length(&positions) / length(assembly.model().rest()) - 1.0);
        }
        let after = assembly.model().observe(&reduced.expand(&few));
        assert!((after.momentum - before.momentum).length() < 1e-9 * before.momentum.length());
        assert!((after.spin() - before.spin()).length() < 1e-9 * before.spin().length(), "{}", after.spin());
        assert!((after.center_of_mass - before.center_of_mass - velocity).length() < 1e-9);
        // The centrifugal force makes it longer by a few percent.
        assert!(longest > 0.02, "{longest}");
        (worst, (after.total_energy() / before.total_energy() - 1.0).abs())
    };
    let ((coarse, coarse_energy), (fine, fine_energy)) = (run(0.002), run(0.0005));
    assert!(coarse < 0.06 && fine < 0.3 * coarse, "{coarse} {fine}");
    assert!(coarse_energy < 0.02 && fine_energy < 0.3 * coarse_energy, "{coarse_energy} {fine_energy}");
}

/// Checks spin about the axes of minimum, intermediate and maximum inertia, and about a general axis: energy is
/// conserved for many turns, in steps of up to a fiftieth of a radian.
#[test]
fn a_spinning_body_gains_no_energy() {
    for spin in [Vec3::new(6.0, 0.1, 0.1), Vec3::new(0.1, 6.0, 0.1), Vec3::new(0.1, 0.1, 6.0), Vec3::new(0.0, 3.0, 9.0)]
    {
        for dt in [0.002, 0.001] {
            let (model, mut reduced, mut few) = spinning("stvk", Forces::Auto, spin);
            let (mut integrator, mut dense) = (FloatingFrame(Newmark::default()), Dense::default());
            let energy = |reduced: &mut ReducedModel, state: &State| {
                model.observe(&reduced.expand(state)).kinetic_energy + reduced.elastic_energy(state)
            };
            let start = energy(&mut reduced, &few);
            let (mut least, mut most) = (start, start);
            for _ in 0..(10.0 / dt) as usize {
                integrator.step(&mut reduced, &mut dense, &mut few, dt).unwrap();
                let now = energy(&mut reduced, &few);
                (least, most) = (least.min(now), most.max(now));
            }
            let (low, high) = (least / start, most / start);
            assert!(low > 0.98 && high < 1.01, "spin {spin}, steps of {dt} s: {low} to {high}");
        }
    }
}

#[test]
fn the_error_of_a_spinning_body_falls_with_the_step() {
    let turn = |dt: f64| {
        let (_, mut reduced, mut few) = spinning("stvk", Forces::Auto, Vec3::new(1.0, 2.0, 4.0));
        let (mut integrator, mut dense) = (FloatingFrame(Newmark::default()), Dense::default());
        for _ in 0..(0.25 / dt).round() as usize {
            integrator.step(&mut reduced, &mut dense, &mut few, dt).unwrap();
        }
        reduced.expand(&few).q
    };
    let [coarse, fine, finest] = [0.0025, 0.00125, 0.0003125].map(turn);
    let (first, second) = (distance(&coarse, &finest), distance(&fine, &finest));
    // Between first order, (h − h/8) to (h/2 − h/8), and second.
    assert!((1.9..4.9).contains(&(first / second)), "{first} {second}");
}

/// Checks a body dropped on a plane: it lands, tumbles and comes to rest as the full model does.
#[test]
fn a_free_body_lands_on_the_ground_as_the_whole_model() {
    let tilt = Mat3::from_rotation_z(0.5) * Mat3::from_rotation_x(0.3);
    let build = |cells: [usize; 3]| {
        let mesh = generate::block([1.0, 0.4, 0.4], cells, Cells::Hex).unwrap();
        let map = pliant::math::Affine3::from_mat3_translation(tilt, Vec3::new(0.0, 0.6, 0.0));
        let mesh = mesh.transformed(map).unwrap();
        let rest = mesh.vertices().to_vec();
        let floor = Obstacle { friction: 0.4, damping: 5.0, ..Obstacle::plane(Vec3::ZERO, Vec3::Y, 2e4) };
        Model::builder()
            .body(Body::new(mesh, material("stvk", 2e5), 1000.0))
            .gravity(Vec3::new(0.0, -9.81, 0.0))
            .damping(Damping::rayleigh(0.0, 0.004).unwrap())
            .force(Obstacles::new(&rest[..], [floor]).unwrap())
            .build()
            .unwrap()
    };
    let drop = |cells: [usize; 3], reduction: Reduction, dt: f64| {
        let mut full = Assembly::new(build(cells));
        let mut reduced = ReducedModel::new(build(cells), reduction).unwrap();
        let (mut state, mut few) = (full.rest_state(), reduced.rest_state());
        let mut of_full = LinearizedBackwardEuler::default();
        let mut of_few = FloatingFrame(LinearizedBackwardEuler::default());
        let (mut direct, mut dense) = (Direct::default(), Dense::default());
        let mut worst: f64 = 0.0;
        for step in 0..(2.0 / dt).round() as usize {
            of_full.step(&mut full, &mut direct, &mut state, dt).unwrap();
            of_few.step(&mut reduced, &mut dense, &mut few, dt).unwrap();
            if (step as f64) < 0.6 / dt {
                worst = worst.max(distance(&reduced.expand(&few).q, &state.q));
            }
        }
        let (end, expected) = (full.model().observe(&reduced.expand(&few)), full.model().observe(&state));
        assert!(end.kinetic_energy < 20.0 && expected.kinetic_energy < 20.0, "{end:?} {expected:?}");
        assert!(end.center_of_mass.y < 0.25, "flat on the ground: {}", end.center_of_mass);
        assert!((end.center_of_mass.y - expected.center_of_mass.y).abs() < 0.02, "{end:?} {expected:?}");
        worst
    };
    // With a complete basis: as the full model, except for the time discretization error.
    let small = [3, 1, 1];
    let all = || of_basis(&build(small), &complete(&build(small)), &Forces::Auto);
    let (coarse, fine) = (drop(small, all(), 0.002), drop(small, all(), 0.0005));
    assert!(coarse < 0.03 && fine < 0.7 * coarse, "{coarse} {fine}");
    // With few basis vectors its corners are stiffer, but it lands.
    let (few, _) = Reduction::new(&build([8, 3, 3]), &ReductionParams::new(15), &mut on).unwrap();
    let worst = drop([8, 3, 3], few, 0.002);
    assert!(worst < 0.4, "{worst}");
}

#[test]
fn states_go_from_the_whole_model_and_back() {
    // Fixed: states in the span of the basis are recovered.
    let model = clamped("stvk", bar(Cells::Tet5, [6, 2, 2])).build().unwrap();
    let (reduction, _) = Reduction::new(&model, &ReductionParams::new(6), &mut on).unwrap();
    let mut reduced = ReducedModel::new(model, reduction).unwrap();
    let state = State { q: random(6, 0.3, 1), v: random(6, 1.0, 2), ..reduced.rest_state() };
    let again = reduced.project(&reduced.expand(&state));
    assert!(distance(&again.q, &state.q) < 1e-12 && distance(&again.v, &state.v) < 1e-12);
    // Free: translated, rotated and bent.
    let (_, mut reduced, mut few) = spinning("stvk", Forces::Auto, Vec3::new(1.0, -2.0, 3.0));
    let mut integrator = FloatingFrame(Newmark::default());
    for _ in 0..300 {
        integrator.step(&mut reduced, &mut Dense::default(), &mut few, 0.002).unwrap();
    }
    let full = reduced.expand(&few);
    let placement = reduced.placement().unwrap();
    let again = reduced.project(&full);
    let nearest = reduced.placement().unwrap();
    // The basis vectors neither translate nor rotate the body, so the frame is the best-fitting rigid placement.
    let turned = (nearest.rotation - placement.rotation).to_cols_array();
    assert!(largest(&turned) < 1e-12 && (nearest.center - placement.center).length() < 1e-12, "{turned:?}");
    let back = reduced.expand(&again);
    assert!(distance(&back.q, &full.q) < 1e-12, "{:e}", distance(&back.q, &full.q));
    assert!(distance(&back.v, &full.v) < 1e-11, "{:e}", distance(&back.v, &full.v));
}
