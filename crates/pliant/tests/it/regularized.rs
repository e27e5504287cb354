//! Integrator of Servin, Lacoursière and Melin, "Interactive simulation of elastic deformable materials" (2006).

use std::sync::Arc;

use pliant::damping::Damping;
use pliant::force::{SpringCoefficients, Springs};
use pliant::integrator::regularized::{Elimination, Error, Moduli, RegularizedParams, Strain};
use pliant::integrator::{
    Integrator, LinearizedBackwardEuler, Newmark, Regularized, StepError, StepInfo, SymplecticEuler,
};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::motion::{Keyframes, Motion, Pose};
use pliant::solver::{Cholesky, LinearSolver, Operator, SolveError, SolveInfo, Symbolic};
use pliant::system::{State, System};

/// Direct solver for the integrators used for comparison.
#[derive(Debug, Clone, Default)]
struct Direct(Option<Cholesky<f64>>);

impl LinearSolver<Operator> for Direct {
    fn set_matrix(&mut self, operator: &Operator) -> Result<(), SolveError> {
        if self.0.is_none() {
            self.0 = Some(Cholesky::new(Arc::new(Symbolic::new(operator.matrix.pattern().clone())?)));
        }
        Ok(self.0.as_mut().expect("an analysis").factor(&operator.matrix)?)
    }

    fn solve(&mut self, _: &Operator, b: &[f64], x: &mut [f64]) -> Result<SolveInfo, SolveError> {
        self.0.as_mut().expect("a matrix").solve(b, x);
        Ok(SolveInfo { factorizations: 1, ..SolveInfo::default() })
    }

    fn forget(&mut self) {}
}

const YOUNG: f64 = 1e5;
const POISSON: f64 = 0.25;

/// Returns a cube of 8 particles and 5 tetrahedra with edges of 1 m and a mass of 8 kg, which hangs from an edge with
/// its center at the height of the edge.
fn hung(body: impl FnOnce(VolumeMesh) -> Body) -> Model {
    let mesh = generate::block([1.0; 3], [1; 3], Cells::Tet5).unwrap();
    let edge: Vec<u32> = (0..8).filter(|&v| mesh.vertices()[v as usize].truncate() == Vec3::Y.truncate()).collect();
    assert_eq!(edge.len(), 2);
    let gravity = -9.81 * Vec3::new(1.0, 1.0, 0.0).normalize();
    Model::builder().body(body(mesh)).fix(Fixed::new(edge)).gravity(gravity).lumped_mass().build().unwrap()
}

fn bare_cube() -> Model {
    hung(|mesh| Body::without_elasticity(mesh, 8.0))
}

fn elastic_cube() -> Model {
    let law = AnyLaw::new("stvk", YoungPoisson { young: YOUNG, poisson: POISSON }).unwrap();
    hung(|mesh| Body::new(mesh, law, 8.0))
}

/// Returns the rotation of the cube's center about the edge \[deg\].
fn angle(model: &Model, state: &State) -> f64 {
    let arm = model.observe(state).center_of_mass - Vec3::new(0.0, 1.0, 0.5);
    let (start, down) = (Vec3::new(1.0, -1.0, 0.0).normalize(), Vec3::new(-1.0, -1.0, 0.0).normalize());
    arm.dot(down).atan2(arm.dot(start)).to_degrees()
}

/// Angles and positions at every 0.1 s of the first swing.
type Swing = (Vec<f64>, Vec<Vec<Vec3>>);

/// Returns the first swing of a model in steps of `h`.
fn swing(
    model: Model,
    h: f64,
    mut step: impl FnMut(&mut Assembly, &mut State) -> Result<StepInfo, StepError>,
) -> Result<Swing, StepError> {
    let mut model = Assembly::new(model);
    let mut state = model.rest_state();
    let (mut angles, mut positions) = (Vec::new(), Vec::new());
    for _ in 0..13 {
        for _ in 0..(0.1 / h).round() as usize {
            step(&mut model, &mut state)?;
        }
        angles.push(angle(model.model(), &state));
        positions.push(model.model().positions(&state));
    }
    Ok((angles, positions))
}

/// Returns the first swing of the elastic cube by an integrator for comparison.
fn swing_by(integrator: &mut dyn Integrator<Assembly>, h: f64) -> Result<Swing, StepError> {
    let mut solver = Direct::default();
    swing(elastic_cube(), h, |model, state| integrator.step(model, &mut solver, state, h))
}

/// Reproduces the comparison of section 3 of the paper, with Newmark's integrator at steps of 0.5 ms as the reference.
#[test]
fn a_swinging_cube_explodes_or_slows_down_with_others_but_not_with_constraints() {
    let (reference, _) = swing_by(&mut Newmark::default(), 0.0005).unwrap();
    let worst = |angles: &[f64]| {
        assert_eq!(angles.len(), reference.len());
        angles.iter().zip(&reference).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
    };
    // Explicit integrators require steps below 2/ω.
    let exploded = swing_by(&mut SymplecticEuler::default(), 0.05);
    assert!(matches!(exploded, Err(StepError::NotFinite { .. })));
    // Linearized backward Euler is stable, but has rotated a third less after 0.5 s and almost half less after 0.7 s.
    let with = |h: f64| swing_by(&mut LinearizedBackwardEuler::default(), h).unwrap().0;
    let slow = with(0.05);
    assert!((0.62..0.70).contains(&(slow[4] / reference[4])), "{}", slow[4] / reference[4]);
    assert!((0.48..0.56).contains(&(slow[6] / reference[6])), "{}", slow[6] / reference[6]);
    assert!(worst(&with(0.005)) < 7.0);
    for form in FORMS {
        let with = |h: f64| {
            let model = bare_cube();
            let mut integrator =
                Regularized::new(&model, &RegularizedParams { form, ..RegularizedParams::new(YOUNG, POISSON) })
                    .unwrap();
            swing(model, h, |model, state| integrator.step(model, state, h)).unwrap()
        };
        let ((coarse, at_coarse), (fine, at_fine)) = (with(0.05), with(0.005));
        assert!(worst(&coarse) < 4.0, "{form:?}: {}°", worst(&coarse));
        assert!(worst(&fine) < 0.6, "{form:?}: {}°", worst(&fine));
        let apart = at_coarse.iter().flatten().zip(at_fine.iter().flatten()).map(|(a, b)| (*a - *b).length());
        let apart = apart.fold(0.0, f64::max);
        assert!(apart < 0.12, "{form:?}: {apart} m apart");
    }
}

fn run(model: &mut Assembly, integrator: &mut Regularized, state: &mut State, h: f64, steps: usize) {
    for _ in 0..steps {
        integrator.step(model, state, h).unwrap();
    }
}

const FORMS: [Elimination; 3] = [Elimination::Condensed, Elimination::Schur, Elimination::Saddle];

/// Returns a beam with a prescribed rotation of one end, a corner fixed along one axis, gravity, a load and damping.
fn busy() -> ModelBuilder {
    let mesh = generate::block([2.0, 1.0, 1.0], [4, 2, 2], Cells::Tet6).unwrap();
    let end = mesh.vertex_sets()["x-min"].clone();
    let corner = mesh.vertex_sets()["x-max"][0];
    let pose = Pose { translation: Vec3::new(0.2, 0.1, 0.0), rotation: Vec3::new(0.5, 0.0, 0.3) };
    let keyframes = Keyframes::new(Vec3::splat(0.5), vec![(0.0, Pose::default()), (1.0, pose)]).unwrap();
    Model::builder()
        .body(Body::without_elasticity(mesh, 1000.0))
        .fix(Fixed::prescribed(end, Motion::Keyframes(keyframes)))
        .fix(Fixed::new([corner]).along([false, true, false]))
        .load(corner + 1, Vec3::new(100.0, -50.0, 30.0))
        .gravity(Vec3::new(0.0, -9.81, 0.0))
        .damping(Damping::rayleigh(0.3, 0.0).unwrap())
}

fn disturbed(model: &Model, size: f64) -> State {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut state = model.rest_state();
    state.q.iter_mut().for_each(|q| *q = size * (rng.f64() - 0.5));
    state.v.iter_mut().for_each(|v| *v = rng.f64() - 0.5);
    let time = state.time;
    model.prescribe(time, &mut state.q).unwrap();
    state
}

/// Returns the maximum difference of positions and velocities, relative to the maximum displacement and velocity.
fn difference(a: &State, b: &State) -> f64 {
    let largest = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    (apart(&a.q, &b.q) / largest(&a.q)).max(apart(&a.v, &b.v) / largest(&a.v))
}

/// Takes five steps of a busy model from a random state.
fn five_steps(lumped: bool, params: &RegularizedParams, tolerance: f64) -> State {
    let mut model = Assembly::new(if lumped { busy().lumped_mass() } else { busy() }.build().unwrap());
    let mut integrator = Regularized::new(model.model(), params).unwrap();
    let mut state = disturbed(model.model(), 0.02);
    for _ in 0..5 {
        let info = integrator.step(&mut model, &mut state, 0.01).unwrap();
        assert!(info.solve.residual < tolerance, "{params:?}: {info:?}");
    }
    // Fixed coordinates have exactly their prescribed values.
    let mut fixed = state.q.clone();
    model.prescribe(state.time, &mut fixed).unwrap();
    assert_eq!(fixed, state.q);
    state
}

#[test]
fn all_forms_give_the_same_steps() {
    for strain in [Strain::Nonlinear, Strain::Linear] {
        for (young, poisson, damping_time, tolerance) in [
            (1e5, 0.3, None, 1e-12),
            (1e7, 0.45, Some(0.01), 1e-12),
            (1e4, -0.5, Some(0.0), 1e-12),
            // Large multipliers cancel here, which amplifies rounding.
            (1e5, 0.5, None, 1e-6),
            (f64::INFINITY, 0.3, None, 1e-6),
        ] {
            for (lumped, forms) in [(true, &FORMS[..]), (false, &[Elimination::Condensed, Elimination::Saddle])] {
                let run = |form: Elimination| {
                    let params =
                        RegularizedParams { damping_time, strain, form, ..RegularizedParams::new(young, poisson) };
                    five_steps(lumped, &params, tolerance)
                };
                let expected = run(forms[0]);
                for form in &forms[1..] {
                    let error = difference(&expected, &run(*form));
                    assert!(error < tolerance, "{strain:?} {young} {poisson} {form:?}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn steps_are_bitwise_the_same_on_one_and_on_four_threads() {
    for form in FORMS {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| five_steps(true, &RegularizedParams { form, ..RegularizedParams::new(1e5, 0.3) }, 1e-12))
        };
        assert_eq!(on(1), on(4), "{form:?}");
    }
}

#[test]
fn bodies_have_the_moduli_of_their_regions() {
    let moduli = [YoungPoisson { young: 1e4, poisson: 0.3 }, YoungPoisson { young: 1e6, poisson: 0.1 }];
    let mesh = || generate::block([1.0; 3], [2, 1, 1], Cells::Tet5).unwrap();
    let run = |bodies: &[YoungPoisson]| {
        let mut builder = Model::builder().gravity(-9.81 * Vec3::Y);
        for number in 0..bodies.len() as u32 {
            let body = Body::without_elasticity(mesh(), 100.0);
            builder = builder.body(body).fix(Fixed::new([12 * number]));
        }
        let mut model = Assembly::new(builder.build().unwrap());
        let params =
            RegularizedParams { moduli: Moduli::PerRegion(bodies.to_vec()), ..RegularizedParams::new(1.0, 0.0) };
        let mut integrator = Regularized::new(model.model(), &params).unwrap();
        let mut state = model.rest_state();
        run(&mut model, &mut integrator, &mut state, 0.01, 10);
        state.q
    };
    let (both, alone) = (run(&moduli), moduli.map(|moduli| run(&[moduli])).concat());
    assert_eq!(both.len(), alone.len());
    assert!(both.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(both[..36].iter().zip(&both[36..]).any(|(a, b)| (a - b).abs() > 1e-3));
}

#[test]
fn tetrahedra_that_are_fixed_whole_move_rigid_bodies_along() {
    for form in FORMS {
        let mesh = generate::block([1.0; 3], [1; 3], Cells::Tet5).unwrap();
        let pose = Pose { translation: Vec3::new(0.0, 0.3, 0.0), rotation: Vec3::new(0.2, 0.4, -0.3) };
        let keyframes = Keyframes::new(Vec3::ZERO, vec![(0.0, Pose::default()), (1.0, pose)]).unwrap();
        let motion = Motion::Keyframes(keyframes);
        let fixed = Fixed::prescribed(mesh.element(0).to_vec(), motion.clone());
        let body = Body::without_elasticity(mesh, 1000.0);
        let mut model = Assembly::new(Model::builder().body(body).fix(fixed).lumped_mass().build().unwrap());
        let params = RegularizedParams { form, ..RegularizedParams::new(f64::INFINITY, 0.5) };
        let mut integrator = Regularized::new(model.model(), &params).unwrap();
        let mut state = model.rest_state();
        run(&mut model, &mut integrator, &mut state, 0.01, 100);
        for (x, rest) in model.model().positions(&state).iter().zip(model.model().rest()) {
            let expected = *rest + motion.displacement(1.0, *rest);
            assert!((*x - expected).length() < 1e-3, "{form:?}: {x} {expected}");
        }
    }
}

#[test]
fn a_free_body_keeps_momentum_and_angular_momentum_at_any_step() {
    for (form, lumped) in [
        (Elimination::Condensed, false),
        (Elimination::Condensed, true),
        (Elimination::Schur, true),
        (Elimination::Saddle, false),
    ] {
        let mesh = generate::block([1.0, 0.6, 0.3], [3, 2, 1], Cells::Tet5).unwrap();
        let builder = Model::builder().body(Body::without_elasticity(mesh, 100.0));
        let mut model = Assembly::new(if lumped { builder.lumped_mass() } else { builder }.build().unwrap());
        let mut integrator =
            Regularized::new(model.model(), &RegularizedParams { form, ..RegularizedParams::new(1e6, 0.3) }).unwrap();
        let mut state = disturbed(model.model(), 0.0);
        let all = 0..model.model().node_count();
        model.model().set_velocity(
            &mut state,
            all,
            Vec3::new(1.0, 2.0, 0.0),
            Vec3::new(3.0, -1.0, 4.0),
            Vec3::splat(0.3),
        );
        let before = model.model().observe(&state);
        for _ in 0..100 {
            integrator.step(&mut model, &mut state, 0.02).unwrap();
        }
        let after = model.model().observe(&state);
        assert!((after.momentum - before.momentum).length() < 1e-10 * before.momentum.length());
        let change = (after.angular_momentum - before.angular_momentum).length();
        assert!(change < 1e-10 * before.angular_momentum.length(), "{form:?}: {change:e}");
    }
}

/// Returns the angles of the compound pendulum that the rigid cube becomes \[deg\], computed with small steps.
fn pendulum(model: &Model, samples: usize) -> Vec<f64> {
    let pivot = Vec3::new(0.0, 1.0, 0.0);
    let (mut moment, mut first, mut mass) = (0.0, Vec3::ZERO, 0.0);
    for (x, m) in model.rest().iter().zip(model.mass().row_sums()) {
        let arm = (*x - pivot).truncate();
        moment += m * arm.length_squared();
        first += m * (*x - pivot);
        mass += m;
    }
    let arm = (first / mass).truncate().length();
    let (mut angle, mut speed) = (0.0_f64, 0.0);
    let (h, per_sample) = (1e-5, 10_000);
    let mut angles = Vec::new();
    for _ in 0..samples {
        for _ in 0..per_sample {
            speed += h * mass * 9.81 * arm / moment * (angle + 0.5 * h * speed).cos();
            angle += h * speed;
        }
        angles.push(angle.to_degrees());
    }
    angles
}

/// Returns the maximum relative change of the length of an edge.
fn stretch(model: &Model, state: &State) -> f64 {
    let x = model.positions(state);
    let mut worst = 0.0_f64;
    for element in model.bodies()[0].mesh().elements() {
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let [a, b] = [element[i], element[j]].map(|v| v as usize);
            let rest = (model.rest()[a] - model.rest()[b]).length();
            worst = worst.max(((x[a] - x[b]).length() / rest - 1.0).abs());
        }
    }
    worst
}

#[test]
fn rigid_and_incompressible_cubes_swing_as_pendulums_and_keep_their_lengths() {
    let h = 0.015;
    for form in FORMS {
        for (young, poisson) in [(1e12, 0.5), (1e12, 0.2), (f64::INFINITY, 0.5), (f64::INFINITY, 0.2)] {
            let mut model = Assembly::new(bare_cube());
            let mut integrator =
                Regularized::new(model.model(), &RegularizedParams { form, ..RegularizedParams::new(young, poisson) })
                    .unwrap();
            let mut state = model.rest_state();
            let expected = pendulum(model.model(), 12);
            for number in 1..=80 {
                integrator.step(&mut model, &mut state, h).unwrap();
                assert!(
                    stretch(model.model(), &state) < 0.008,
                    "{form:?} {young} {poisson}: {}",
                    stretch(model.model(), &state)
                );
                if number % 20 == 0 {
                    let (found, expected) = (angle(model.model(), &state), expected[3 * number / 20 - 1]);
                    assert!((found - expected).abs() < 1.5, "{form:?} {young} {poisson}: {found}° {expected}°");
                }
            }
            // Continues for half a minute: only the integrator dissipates, a few percent of the energy.
            for _ in 0..2000 {
                integrator.step(&mut model, &mut state, h).unwrap();
                assert!(
                    stretch(model.model(), &state) < 0.008,
                    "{form:?} {young} {poisson}: {}",
                    stretch(model.model(), &state)
                );
            }
            let after = model.model().observe(&state);
            let (lost, most) = (-after.total_energy(), after.mass * 9.81 * 0.5_f64.sqrt());
            assert!((0.0..0.1 * most).contains(&lost), "{form:?}: {lost} J of {most} J");
            assert!((after.volume - 1.0).abs() < 0.01);
        }
    }
}

#[test]
fn a_rigid_body_of_many_tetrahedra_spins_on_though_its_constraints_depend_on_each_other() {
    for form in FORMS {
        let mesh = generate::block([1.5, 1.0, 0.5], [3, 2, 1], Cells::Tet6).unwrap();
        let builder = Model::builder().body(Body::without_elasticity(mesh, 100.0));
        let mut model = Assembly::new(builder.lumped_mass().build().unwrap());
        let params = RegularizedParams { form, ..RegularizedParams::new(f64::INFINITY, 0.3) };
        let mut integrator = Regularized::new(model.model(), &params).unwrap();
        let mut state = model.rest_state();
        let all = 0..model.model().node_count();
        model.model().set_velocity(&mut state, all, Vec3::ZERO, Vec3::new(1.0, -2.0, 3.0), Vec3::new(0.75, 0.5, 0.25));
        let before = model.model().observe(&state);
        for _ in 0..200 {
            let info = integrator.step(&mut model, &mut state, 0.015).unwrap();
            // Large multipliers cancel, which amplifies rounding.
            assert!(info.solve.residual < 1e-6, "{form:?}: {}", info.solve.residual);
            assert!(stretch(model.model(), &state) < 0.006, "{form:?}: {}", stretch(model.model(), &state));
        }
        let after = model.model().observe(&state);
        let change = (after.angular_momentum - before.angular_momentum).length() / before.angular_momentum.length();
        assert!(change < 1e-9, "{form:?}: {change:e}");
        let kept = after.kinetic_energy / before.kinetic_energy;
        assert!((0.97..1.0).contains(&kept), "{form:?}: {kept}");
    }
}

#[test]
fn a_soft_body_keeps_its_volume_at_a_poisson_ratio_of_one_half() {
    for form in FORMS {
        let change = |poisson: f64| {
            let mut model = Assembly::new(bare_cube());
            let mut integrator =
                Regularized::new(model.model(), &RegularizedParams { form, ..RegularizedParams::new(1e3, poisson) })
                    .unwrap();
            let mut state = model.rest_state();
            let mut worst = 0.0_f64;
            for _ in 0..200 {
                integrator.step(&mut model, &mut state, 0.015).unwrap();
                worst = worst.max((model.model().observe(&state).volume - 1.0).abs());
            }
            worst
        };
        assert!(change(0.5) < 0.02 && change(0.2) > 3.0 * change(0.5));
    }
}

/// Returns the area of the end at `x = length` that belongs to each vertex.
fn end_areas(mesh: &VolumeMesh, length: f64) -> Vec<(u32, f64)> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    let x = |v: u32| mesh.vertices()[v as usize];
    for element in mesh.elements() {
        let face: Vec<u32> = element.iter().copied().filter(|&v| x(v).x > length - 1e-9).collect();
        if let [a, b, c] = face[..] {
            let area = 0.5 * (x(b) - x(a)).cross(x(c) - x(a)).length();
            [a, b, c].iter().for_each(|&v| areas[v as usize] += area / 3.0);
        }
    }
    (0..).zip(areas).filter(|(_, area)| *area > 0.0).collect()
}

/// Finds equilibrium by steps with `γ = 1` that are large compared to all periods.
fn settle(model: Model, params: RegularizedParams, steps: usize) -> (State, usize) {
    let h = 100.0;
    let mut integrator =
        Regularized::new(&model, &RegularizedParams { damping_time: Some(0.5 * h), ..params }).unwrap();
    let mut model = Assembly::new(model);
    let mut state = model.rest_state();
    let mut factorizations = 0;
    for _ in 0..steps {
        factorizations += integrator.step(&mut model, &mut state, h).unwrap().factorizations;
    }
    (state, factorizations)
}

#[test]
fn a_beam_that_is_pulled_gets_longer_by_fl_over_ea() {
    let (length, side, young, force) = (1.0, 0.2, 1e6, 40.0);
    for (across, clamped) in [(1, false), (2, false), (2, true)] {
        let mesh = generate::block([length, side, side], [5 * across, across, across], Cells::Tet5).unwrap();
        let set = |name: &str| mesh.vertex_sets()[name].clone();
        let mut builder = Model::builder();
        if clamped {
            builder = builder.fix(Fixed::new(set("x-min")));
        } else {
            // Frictionless walls on three sides: the stress is uniform.
            for (name, axes) in
                [("x-min", [true, false, false]), ("y-min", [false, true, false]), ("z-min", [false, false, true])]
            {
                builder = builder.fix(Fixed::new(set(name)).along(axes));
            }
        }
        let end = end_areas(&mesh, length);
        for &(vertex, area) in &end {
            builder = builder.load(vertex, Vec3::X * force * area / (side * side));
        }
        let model = builder.body(Body::without_elasticity(mesh, 1000.0)).build().unwrap();
        let (state, _) = settle(model, RegularizedParams::new(young, 0.3), 30);
        let found = end.iter().map(|&(vertex, _)| state.q[3 * vertex as usize]).sum::<f64>() / end.len() as f64;
        let expected = force * length / (young * side * side);
        assert!((found / expected - 1.0).abs() < if clamped { 0.05 } else { 2e-3 });
    }
}

#[test]
fn a_square_bar_that_is_twisted_turns_by_t_over_gj() {
    let (length, young, poisson, torque) = (4.0, 1e6, 0.3, 100.0);
    let shear = young / (2.0 * (1.0 + poisson));
    // St. Venant's torsion constant of a unit square.
    let expected = torque / (shear * 0.140577);
    let mut last = f64::INFINITY;
    for across in [2, 4, 8] {
        let mesh = generate::block([length, 1.0, 1.0], [4 * across, across, across], Cells::Tet5).unwrap();
        let arm = |v: u32| mesh.vertices()[v as usize] - Vec3::new(mesh.vertices()[v as usize].x, 0.5, 0.5);
        let end = end_areas(&mesh, length);
        let polar: f64 = end.iter().map(|&(v, area)| area * arm(v).length_squared()).sum();
        let mut builder = Model::builder().fix(Fixed::new(mesh.vertex_sets()["x-min"].clone()));
        for &(vertex, area) in &end {
            builder = builder.load(vertex, torque * area / polar * Vec3::X.cross(arm(vertex)));
        }
        let model = builder.body(Body::without_elasticity(mesh.clone(), 1000.0)).build().unwrap();
        let (state, factorizations) =
            settle(model, RegularizedParams { strain: Strain::Linear, ..RegularizedParams::new(young, poisson) }, 20);
        assert_eq!(factorizations, 1);
        // Mean rotation of a section, away from both ends.
        let turn = |x: f64| {
            let section = (0..mesh.vertex_count() as u32).filter(|&v| (mesh.vertices()[v as usize].x - x).abs() < 1e-9);
            let (mut moment, mut polar) = (0.0, 0.0);
            for v in section {
                moment += arm(v).cross(Vec3::from_slice(&state.q[3 * v as usize..])).x;
                polar += arm(v).length_squared();
            }
            moment / polar
        };
        let error = (turn(2.5) - turn(1.5)) / expected - 1.0;
        assert!(error < 0.0, "linear tetrahedra are too stiff");
        assert!(error.abs() < 0.5 * last, "{across} cells across: {error}");
        last = error.abs();
    }
    assert!(last < 0.08);
}

#[test]
fn linear_strain_is_factored_once_until_the_step_or_the_holds_change() {
    for form in FORMS {
        let mut model = Assembly::new(busy().lumped_mass().build().unwrap());
        let params = RegularizedParams { strain: Strain::Linear, form, ..RegularizedParams::new(1e6, 0.3) };
        let mut integrator = Regularized::new(model.model(), &params).unwrap();
        let mut state = model.rest_state();
        let mut count = |model: &mut Assembly, state: &mut State, steps: usize, h: f64| {
            (0..steps).map(|_| integrator.step(model, state, h).unwrap().factorizations).sum::<usize>()
        };
        assert_eq!(count(&mut model, &mut state, 100, 0.01), 1);
        assert_eq!(count(&mut model, &mut state, 10, 0.005), 1);
        model.model_mut().release(&[0]);
        assert_eq!(count(&mut model, &mut state, 10, 0.005), 1);
        let mut integrator =
            Regularized::new(model.model(), &RegularizedParams { strain: Strain::Nonlinear, ..params }).unwrap();
        assert_eq!(integrator.step(&mut model, &mut state, 0.01).unwrap().factorizations, 1);
        assert_eq!(integrator.step(&mut model, &mut state, 0.01).unwrap().factorizations, 1);
    }
}

#[test]
fn stiff_springs_beside_the_constraints_do_not_limit_the_step() {
    let mesh = generate::block([1.0; 3], [1; 3], Cells::Tet5).unwrap();
    let stiff = SpringCoefficients { rest_length: Some(1.0.into()), stiffness: 1e8.into(), damping: 10.0.into() };
    let springs = Springs::new(mesh.vertices(), &[[0, 7], [1, 6]], &stiff).unwrap();
    let mut model = Assembly::new(
        Model::builder()
            .body(Body::without_elasticity(mesh, 8.0))
            .force(springs)
            .fix(Fixed::new([0]))
            .gravity(-9.81 * Vec3::Y)
            .lumped_mass()
            .build()
            .unwrap(),
    );
    let schur = RegularizedParams { form: Elimination::Schur, ..RegularizedParams::new(1e5, 0.3) };
    assert_eq!(Regularized::new(model.model(), &schur).unwrap_err(), Error::Coupled { pairs: 2 });
    let [condensed, saddle] = [Elimination::Condensed, Elimination::Saddle].map(|form| {
        let mut integrator =
            Regularized::new(model.model(), &RegularizedParams { form, ..RegularizedParams::new(1e5, 0.3) }).unwrap();
        let mut state = model.rest_state();
        run(&mut model, &mut integrator, &mut state, 0.05, 10);
        let soon = state.clone();
        run(&mut model, &mut integrator, &mut state, 0.05, 190);
        let x = model.model().positions(&state);
        assert!(((x[0] - x[7]).length() - 1.0).abs() < 1e-4, "{form:?}");
        soon
    });
    let error = difference(&condensed, &saddle);
    assert!(error < 1e-7, "{error:e}");
}

#[test]
fn parameters_and_models_that_cannot_be_are_errors_with_numbers() {
    let model = bare_cube();
    let error = |params: RegularizedParams| Regularized::new(&model, &params).unwrap_err().to_string();
    assert_eq!(
        error(RegularizedParams::new(-1.0, 0.3)),
        "Young's modulus of region `body` of body `body` is -1, expected a positive number of Pa"
    );
    assert!(error(RegularizedParams::new(f64::NAN, 0.3)).contains("is NaN"));
    for poisson in [0.500001, -1.0, f64::NAN] {
        assert!(
            error(RegularizedParams::new(1.0, poisson))
                .contains(&format!("is {poisson}, expected more than -1 and at most 0.5"))
        );
    }
    assert!(
        error(RegularizedParams { damping_time: Some(-1.0), ..RegularizedParams::new(1.0, 0.3) })
            .contains("damping time is -1 s")
    );
    let moduli = Moduli::PerRegion(vec![YoungPoisson { young: 1.0, poisson: 0.0 }; 2]);
    assert!(
        error(RegularizedParams { moduli, ..RegularizedParams::new(1.0, 0.3) })
            .contains("one per region of the bodies without an elastic force (1), found 2")
    );
    let consistent = busy().build().unwrap();
    let schur = RegularizedParams { form: Elimination::Schur, ..RegularizedParams::new(1.0, 0.3) };
    assert!(matches!(Regularized::new(&consistent, &schur).unwrap_err(), Error::Coupled { .. }));
    assert_eq!(Regularized::new(&elastic_cube(), &RegularizedParams::new(1.0, 0.3)).unwrap_err(), Error::NoBody);
    let hexes = generate::block([1.0; 3], [1; 3], Cells::Hex).unwrap();
    let hexes = Model::builder().body(Body::without_elasticity(hexes, 1.0)).build().unwrap();
    let error = Regularized::new(&hexes, &RegularizedParams::new(1.0, 0.3)).unwrap_err();
    assert_eq!(error, Error::Hexahedra { body: "body".to_owned() });
}

#[test]
fn a_step_that_fails_leaves_the_state_as_it_was() {
    let mut model = Assembly::new(bare_cube());
    let mut integrator = Regularized::new(model.model(), &RegularizedParams::new(1e5, 0.3)).unwrap();
    let mut state = disturbed(model.model(), 0.01);
    integrator.step(&mut model, &mut state, 0.01).unwrap();
    let before = state.clone();
    assert!(matches!(integrator.step(&mut model, &mut state, -1.0), Err(StepError::TimeStep { dt: -1.0 })));
    model.model_mut().loads_mut()[4] = f64::NAN;
    assert!(matches!(integrator.step(&mut model, &mut state, 0.01), Err(StepError::NotFinite { .. })));
    model.model_mut().loads_mut()[4] = 1e308;
    let error = integrator.step(&mut model, &mut state, 1e3).unwrap_err();
    assert!(
        matches!(error, StepError::NotFinite { .. } | StepError::Strain { .. } | StepError::Solve { .. }),
        "{error}"
    );
    assert_eq!(before, state);
    model.model_mut().loads_mut()[4] = 0.0;
    integrator.step(&mut model, &mut state, 0.01).unwrap();
}
