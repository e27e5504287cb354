//! Bodies in affine motion: coordinates that are not vertices of a mesh.

use std::ops::ControlFlow;

use pliant::damping::Damping;
use pliant::force::{
    ContactPoints, Interpolated, Obstacle, Obstacles, Patch, PatchError, Pressure, SpringCoefficients, Springs,
};
use pliant::integrator::regularized::{Error as RegularizedError, RegularizedParams};
use pliant::integrator::{
    BackwardEuler, CentralDifferences, Integrator, Newmark, NewtonParams, NewtonTangent, Regularized, Static,
};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::{Affine3, Mat3, Vec3};
use pliant::mesh::{Cells, ControlNodes, Faces, Interpolation, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Kinematics, Model, ModelBody, ModelBuilder};
use pliant::reduced::{Reduction, ReductionError, ReductionParams};
use pliant::simulation::Simulation;
use pliant::solver::{BlockJacobi, CgParams, Direct, SolverParams};
use pliant::system::{Conditions, State};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// Returns a block off the origin and turned, so that nothing is aligned with the axes.
fn brick(cells: Cells) -> VolumeMesh {
    let turn = Mat3::from_axis_angle(Vec3::new(1.0, 2.0, 2.0) / 3.0, 0.4);
    let mesh = generate::block([0.6, 0.3, 0.2], [3, 2, 2], cells).unwrap();
    mesh.transformed(Affine3::from_mat3_translation(turn, Vec3::new(0.3, 1.0, -0.2))).unwrap()
}

fn rigid(cells: Cells, stiffness: f64) -> Body {
    Body::nearly_rigid(brick(cells), stiffness, 800.0).unwrap().named("brick")
}

fn soft(mesh: VolumeMesh) -> Body {
    let law = AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e5, poisson: 0.4 }).unwrap();
    Body::new(mesh, law, 1000.0).named("soft")
}

/// Returns the affine map of a body, from its control nodes.
fn map_of(body: &ModelBody, q: &[f64]) -> Affine3 {
    let rest = body.node_mesh().vertices();
    let x: Vec<Vec3> = rest.iter().zip(body.part(q).as_chunks::<3>().0).map(|(x, u)| *x + Vec3::from(*u)).collect();
    let edges = |x: &[Vec3]| Mat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let a = edges(&x) * edges(rest).inverse();
    Affine3::from_mat3_translation(a, x[0] - a * rest[0])
}

/// Returns `‖AᵀA − I‖`.
fn strain(a: Mat3) -> f64 {
    (a.transpose() * a - Mat3::IDENTITY).to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Returns a body that moves and turns, at rest positions.
fn thrown(body: Body, lumped: bool) -> (Assembly, State) {
    let builder = Model::builder().body(body);
    let model = if lumped { builder.lumped_mass() } else { builder }.build().unwrap();
    let mut state = model.rest_state();
    let center = model.observe(&state).center_of_mass;
    model.set_velocity(&mut state, 0..4, Vec3::new(1.0, 2.0, -0.5), Vec3::new(0.3, 1.0, 2.0), center);
    (Assembly::new(model), state)
}

#[test]
fn a_body_in_affine_motion_has_twelve_coordinates_and_the_mass_and_volume_of_its_mesh() {
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = brick(cells);
        let (assembly, state) = thrown(rigid(cells, 1e7), false);
        let (model, exact) = (assembly.model(), mesh.mass_properties(&[800.0]));
        assert_eq!((model.node_count(), model.dim()), (4, 12));
        let body = &model.bodies()[0];
        assert_eq!((body.kinematics(), body.nodes()), (Kinematics::Affine, 0..4));
        let found = model.observe(&state);
        assert!((found.mass / exact.mass - 1.0).abs() < 1e-13);
        assert!(found.center_of_mass.distance(exact.center_of_mass) < 1e-13);
        assert!((found.volume / mesh.volume() - 1.0).abs() < 1e-13);
        assert!((found.momentum - exact.mass * Vec3::new(1.0, 2.0, -0.5)).length() < 1e-12 * found.momentum.length());
        let spin = exact.inertia * Vec3::new(0.3, 1.0, 2.0);
        assert!((found.spin() - spin).length() < 1e-11 * spin.length());
        let kinetic = 0.5 * (exact.mass * 5.25 + spin.dot(Vec3::new(0.3, 1.0, 2.0)));
        assert!((found.kinetic_energy / kinetic - 1.0).abs() < 1e-12);
        for (position, rest) in body.positions(&state.q).iter().zip(mesh.vertices()) {
            assert!(position.distance(*rest) < 1e-15);
        }
        assert!(model.vertex_sets().is_empty() && model.surface_vertices().is_empty());
        assert!(model.warnings().is_empty());
    }
}

/// Checks `V = κ V ‖AᵀA − I‖²` [LanKaufmanLiJiangYang2022].
#[test]
fn the_energy_of_a_nearly_rigid_body_is_that_of_affine_body_dynamics_and_stresses_are_uniform() {
    let kappa = 3e5;
    let model = Model::builder().body(rigid(Cells::Tet5, kappa)).build().unwrap();
    let body = &model.bodies()[0];
    let a = Affine3::from_mat3_translation(
        Mat3::from_cols_array(&[1.1, 0.3, 0.0, -0.2, 0.9, 0.1, 0.05, 0.4, 1.2]),
        Vec3::new(3.0, 1.0, 2.0),
    );
    let moved = |map: Affine3| -> Vec<f64> {
        let rest = body.node_mesh().vertices();
        rest.iter().flat_map(|&x| (map.transform_point3(x) - x).to_array()).collect()
    };
    let q = moved(a);
    let expected = kappa * body.mesh().volume() * strain(a.matrix3).powi(2);
    let found = model.internal_energy(&q, &Conditions::START);
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} J instead of {expected} J");
    let turn = moved(Affine3::from_mat3(Mat3::from_axis_angle(Vec3::new(2.0, -1.0, 2.0) / 3.0, 2.2)));
    assert!(model.internal_energy(&turn, &Conditions::START) < 1e-20 * expected);
    // Every vertex of the mesh follows the map, and every element has the same state.
    for (position, &rest) in body.positions(&q).iter().zip(body.mesh().vertices()) {
        assert!(position.distance(a.transform_point3(rest)) < 1e-13);
    }
    assert!((body.volume(&q) / (a.matrix3.determinant() * body.mesh().volume()) - 1.0).abs() < 1e-12);
    let (elements, vertices) = (body.element_states(&q).unwrap(), body.nodal_states(&q).unwrap());
    assert_eq!((elements.len(), vertices.vertex_count()), (body.mesh().element_count(), body.mesh().vertex_count()));
    assert!(elements.iter().chain(&vertices.dominant()).all(|state| *state == elements[0]));
    assert!((elements[0].volume_ratio / a.matrix3.determinant() - 1.0).abs() < 1e-12);
}

#[test]
fn a_free_body_keeps_its_momentum_and_moves_as_a_rigid_body() {
    let (dt, steps) = (1e-3, 1000);
    let (mut assembly, mut state) = thrown(rigid(Cells::Tet5, 1e8), false);
    let start = assembly.model().observe(&state);
    let inertia = brick(Cells::Tet5).mass_properties(&[800.0]).inertia;
    let (mut integrator, mut solver) = (Newmark::with_iterations(10), Direct::default());
    // Euler's equations of a free rigid body, by the classical Runge–Kutta method.
    let (mut turn, momentum) = (Mat3::IDENTITY, start.spin());
    let rate = |r: Mat3| {
        let omega = r * (inertia.inverse() * (r.transpose() * momentum));
        Mat3::from_cols(omega.cross(r.x_axis), omega.cross(r.y_axis), omega.cross(r.z_axis))
    };
    for _ in 0..steps {
        integrator.step(&mut assembly, &mut solver, &mut state, dt).unwrap();
        let k1 = rate(turn);
        let k2 = rate(turn + k1 * (0.5 * dt));
        let k3 = rate(turn + k2 * (0.5 * dt));
        let k4 = rate(turn + k3 * dt);
        turn += (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (dt / 6.0);
    }
    let end = assembly.model().observe(&state);
    assert!((end.momentum - start.momentum).length() < 1e-9 * start.momentum.length());
    assert!((end.spin() - start.spin()).length() < 1e-4 * start.spin().length(), "{} {}", end.spin(), start.spin());
    let place = start.center_of_mass + Vec3::new(1.0, 2.0, -0.5);
    assert!(end.center_of_mass.distance(place) < 1e-9, "{}", end.center_of_mass);
    let a = map_of(&assembly.model().bodies()[0], &state.q).matrix3;
    assert!(strain(a) < 1e-4, "{}", strain(a));
    let error = (a - turn).to_cols_array().into_iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(error < 2e-4, "after turning by 2.3 rad, the rotation is off by {error}");
}

#[test]
fn central_differences_keep_the_angular_momentum_of_a_lumped_body_exactly() {
    let (mut assembly, mut state) = thrown(rigid(Cells::Hex, 1e6), true);
    let (mut integrator, mut solver) = (CentralDifferences::default(), Direct::default());
    let start = assembly.model().observe(&state);
    for _ in 0..4000 {
        let info = integrator.step(&mut assembly, &mut solver, &mut state, 1e-4).unwrap();
        assert_eq!(info.factorizations, 0);
    }
    let end = assembly.model().observe(&state);
    assert!((end.angular_momentum - start.angular_momentum).length() < 1e-9 * start.angular_momentum.length());
    assert!((end.total_energy() / start.total_energy() - 1.0).abs() < 1e-2);
}

/// Returns a body that falls onto the ground with its boundary vertices.
fn falling(lift: f64) -> (ModelBuilder, f64) {
    let mesh = generate::block([0.6, 0.3, 0.2], [3, 2, 2], Cells::Hex).unwrap();
    let turn = Mat3::from_rotation_z(0.1);
    let mesh = mesh.transformed(Affine3::from_mat3_translation(turn, Vec3::new(0.0, lift, 0.0))).unwrap();
    let weight = 9.81 * mesh.mass_properties(&[800.0]).mass;
    let control = ControlNodes::new(&mesh, &[800.0]).unwrap();
    let points = ContactPoints::of_boundary(&mesh, &control.vertices, control.mesh.vertices()).unwrap();
    let mut ground = Obstacle::plane(Vec3::ZERO, Vec3::Y, 1e5);
    (ground.damping, ground.friction) = (50.0, 0.5);
    let obstacles = Obstacles::for_vertices(control.mesh.vertices(), Vec::new(), [ground]).unwrap();
    let obstacles = obstacles.with_contact_points(points).unwrap();
    let body = Body::nearly_rigid(mesh, 1e7, 800.0).unwrap();
    (Model::builder().body(body).force(obstacles).gravity(GRAVITY), weight)
}

#[test]
fn a_body_falls_onto_the_ground_and_rests_on_it_with_its_weight() {
    let (builder, weight) = falling(0.2);
    let mut assembly = Assembly::new(builder.build().unwrap());
    let mut state = assembly.rest_state();
    let (mut integrator, mut solver) = (BackwardEuler::default(), Direct::default());
    for _ in 0..600 {
        integrator.step(&mut assembly, &mut solver, &mut state, 5e-3).unwrap();
    }
    let model = assembly.model();
    assert!(model.observe(&state).kinetic_energy < 1e-9);
    let obstacles = model.forces().find_map(|force| (force as &dyn std::any::Any).downcast_ref::<Obstacles>()).unwrap();
    let contacts = obstacles.contacts(&state.q, state.time);
    let total: Vec3 = contacts.iter().map(|contact| contact.push).sum();
    assert!((total - weight * Vec3::Y).length() < 1e-6 * weight, "{total} N carry {weight} N");
    // It lies flat on all vertices of one side.
    assert_eq!(contacts.len(), 12);
    let lowest = model.bodies()[0].positions(&state.q).iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    assert!(lowest < 0.0 && lowest > -2.0 * weight / 12.0 / 1e5, "{lowest}");
}

/// Returns a soft bar, fixed at one end, whose free end is tied by springs to a brick: a vertex of the boundary to a
/// vertex of the brick that is not a node.
fn hanging(stiffness: f64) -> ModelBuilder {
    let bar = generate::block([1.0, 0.2, 0.2], [5, 1, 1], Cells::Tet5).unwrap();
    let brick = brick(Cells::Hex);
    let fixed = bar.vertex_sets()["x-min"].clone();
    let tips = bar.vertex_sets()["x-max"].clone();
    let control = ControlNodes::new(&brick, &[800.0]).unwrap();
    let (first, count) = (bar.vertex_count() as u32, bar.vertex_count() + 4);
    // Points: the vertices of the bar, and then those of the brick.
    let rest: Vec<Vec3> = bar.vertices().iter().chain(brick.vertices()).copied().collect();
    let of_brick = control.vertices.numbered_from(first, count);
    let (mut nodes, mut weights) = (Vec::new(), Vec::new());
    for vertex in 0..first {
        nodes.extend([vertex; 4]);
        weights.extend([1.0, 0.0, 0.0, 0.0]);
    }
    for vertex in 0..of_brick.len() {
        nodes.extend_from_slice(of_brick.nodes(vertex));
        weights.extend_from_slice(of_brick.weights(vertex));
    }
    let points = Interpolation::new(4, nodes, weights, count);
    let pairs: Vec<[u32; 2]> = tips.iter().zip([0, 7, 20, 35]).map(|(&tip, corner)| [tip, first + corner]).collect();
    let coefficients = SpringCoefficients { damping: 2.0.into(), ..SpringCoefficients::new(2e3) };
    let springs = Springs::new(rest, &pairs, &coefficients).unwrap();
    Model::builder()
        .body(soft(bar))
        .body(Body::nearly_rigid(brick, stiffness, 800.0).unwrap().named("brick"))
        .force(Interpolated::new(springs, points))
        .fix(Fixed::new(fixed))
        .damping(Damping::rayleigh(3.0, 0.0).unwrap())
        .gravity(GRAVITY)
}

#[test]
fn a_soft_bar_carries_a_brick_by_springs_to_its_vertices() {
    let mut assembly = Assembly::new(hanging(1e6).build().unwrap());
    let mut state = assembly.rest_state();
    let (mut integrator, mut solver) = (BackwardEuler::default(), Direct::default());
    for _ in 0..400 {
        integrator.step(&mut assembly, &mut solver, &mut state, 0.05).unwrap();
    }
    let model = assembly.model();
    assert!(model.observe(&state).kinetic_energy < 1e-9, "{}", model.observe(&state).kinetic_energy);
    let reactions = model.reactions(&state);
    let total: Vec3 = reactions.as_chunks::<3>().0.iter().map(|f| Vec3::from(*f)).sum();
    let weight = 9.81 * model.observe(&state).mass;
    assert!((total - weight * Vec3::Y).length() < 1e-5 * weight, "{total} N carry {weight} N");
    assert!(strain(map_of(&model.bodies()[1], &state.q).matrix3) < 1e-2);
}

#[test]
fn matrix_free_and_assembled_models_move_alike_on_one_and_two_threads() {
    let tangent = NewtonParams { tangent: NewtonTangent::Exact, ..NewtonParams::default() };
    let on = |threads: usize, is_free: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut integrator = BackwardEuler::new(tangent);
            let mut state;
            if is_free {
                let mut system = hanging(1e5).build_matrix_free().unwrap();
                state = system.rest_state();
                let mut solver = BlockJacobi::new(CgParams { tolerance: 1e-12, ..CgParams::default() });
                for _ in 0..10 {
                    integrator.step(&mut system, &mut solver, &mut state, 0.01).unwrap();
                }
            } else {
                let mut system = Assembly::new(hanging(1e5).build().unwrap());
                state = system.rest_state();
                for _ in 0..10 {
                    integrator.step(&mut system, &mut Direct::default(), &mut state, 0.01).unwrap();
                }
            }
            state
        })
    };
    let (assembled, free) = (on(1, false), on(1, true));
    assert!(assembled == on(2, false) && free == on(2, true), "two threads give other bits than one");
    let largest = assembled.q.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
    assert!(assembled.q.iter().zip(&free.q).all(|(a, b)| (a - b).abs() < 1e-7 * largest));
}

#[test]
fn a_resumed_simulation_is_bitwise_that_without_interruption() {
    let simulation = || {
        let model = falling(0.01).0.build().unwrap();
        let state = model.rest_state();
        Simulation::new(model, BackwardEuler::default(), SolverParams::Direct.build(), state, 0.01).restarting_every(5)
    };
    let (mut whole, mut first, mut second) = (simulation(), simulation(), simulation());
    for _ in 0..20 {
        whole.step().unwrap();
    }
    for _ in 0..10 {
        first.step().unwrap();
    }
    let checkpoint = first.checkpoint().expect("at a multiple of five");
    second.resume(checkpoint.clone()).unwrap();
    for _ in 0..10 {
        second.step().unwrap();
    }
    assert_eq!(whole.state(), second.state());
    // The mesh of a deformable body has another fingerprint.
    let mesh = whole.model().bodies()[0].mesh().clone();
    let deformable = Model::builder().body(soft(mesh)).build().unwrap();
    assert_ne!(deformable.fingerprint(), whole.model().fingerprint());
}

#[test]
fn fixed_control_nodes_hold_the_body_and_carry_its_weight() {
    let builder = Model::builder().body(rigid(Cells::Tet5, 1e7)).fix(Fixed::new([0, 1, 2])).gravity(GRAVITY);
    let mut assembly = Assembly::new(builder.build().unwrap());
    let mut state = assembly.rest_state();
    Static::default().solve(&mut assembly, &mut Direct::default(), &mut state).unwrap();
    assert_eq!(state.q[..9], [0.0; 9]);
    let model = assembly.model();
    let total: Vec3 = model.reactions(&state).as_chunks::<3>().0.iter().map(|f| Vec3::from(*f)).sum();
    let weight = 9.81 * model.observe(&state).mass;
    // Fixed control nodes carry three quarters; the fourth hangs on the stiffness of the body.
    assert!((total - weight * Vec3::Y).length() < 1e-7 * weight, "{total} N carry {weight} N");
    assert!(state.q[9..].iter().any(|u| *u != 0.0));
}

#[test]
fn forces_at_vertices_become_forces_on_control_nodes() {
    let mut model = Model::builder().body(rigid(Cells::Tet5, 1e7)).build().unwrap();
    let body = &model.bodies()[0];
    let mut forces = vec![Vec3::ZERO; body.mesh().vertex_count()];
    forces[5] = Vec3::new(1.0, -2.0, 3.0);
    let (map, at, rest) = (body.interpolation().clone(), body.mesh().vertices()[5], model.rest().to_vec());
    map.add_transposed(&forces, model.loads_mut());
    let loads: Vec<Vec3> = model.loads().as_chunks::<3>().0.iter().map(|f| Vec3::from(*f)).collect();
    let (total, moment) = (loads.iter().sum::<Vec3>(), rest.iter().zip(&loads).map(|(x, f)| x.cross(*f)).sum::<Vec3>());
    assert!(total.distance(forces[5]) < 1e-14);
    assert!(moment.distance(at.cross(forces[5])) < 1e-14);
}

/// Under the pressure `p`, a homogeneous body of the energy `μ E:E` scales by `λ` with `μ (λ² − 1) = −p λ`.
#[test]
fn pressure_on_the_surface_compresses_the_body_as_its_law_says() {
    for cells in [Cells::Tet5, Cells::Hex] {
        let (mesh, kappa, pressure) = (brick(cells), 1e5, 3e5);
        let control = ControlNodes::new(&mesh, &[800.0]).unwrap();
        let boundary = mesh.boundary();
        let mut faces = Faces::default();
        for face in &boundary.faces {
            faces.push(&mesh.face_vertices(*face).collect::<Vec<u32>>());
        }
        let patch = Patch::new(mesh.vertex_count(), faces).unwrap();
        let load = Interpolated::new(Pressure::new(mesh.vertices(), &patch, pressure).unwrap(), control.vertices);
        let body = Body::nearly_rigid(mesh, kappa, 800.0).unwrap();
        let model = Model::builder().body(body).force(load).build().unwrap();
        let ratio = pressure / (4.0 * kappa);
        let scale = 0.5 * ((ratio * ratio + 4.0).sqrt() - ratio);
        let q: Vec<f64> = model.rest().iter().flat_map(|x| ((scale - 1.0) * *x).to_array()).collect();
        let (mut balance, mut alone) = (vec![0.0; 12], vec![0.0; 12]);
        model.internal_force(&q, &Conditions::START, &mut balance);
        model.forces().for_each(|force| force.add_gradient(&q, &Conditions::START, &mut alone));
        let largest = |f: &[f64]| f.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
        assert!(largest(&balance) < 1e-11 * largest(&alone), "{balance:?} of {alone:?}");
    }
}

#[test]
fn what_needs_vertices_as_nodes_names_the_body_that_has_none() {
    let body = rigid(Cells::Tet5, 1e7);
    let model = Model::builder().body(body.clone()).fix(Fixed::new([0, 1, 2])).build().unwrap();
    let patch = model.patch_named(&["surface".to_owned()]).unwrap_err();
    assert_eq!(patch, PatchError::NotNodes { body: "brick".into() });
    let reduction = Reduction::new(&model, &ReductionParams::new(1), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(reduction, Err(ReductionError::Affine { body }) if body == "brick"));
    let soft = Body::without_elasticity(brick(Cells::Tet5), 800.0).named("brick").affine();
    let without = Model::builder().body(soft).build().unwrap();
    let regularized = Regularized::new(&without, &RegularizedParams::new(1e6, 0.3)).unwrap_err();
    assert_eq!(regularized, RegularizedError::Affine { body: "brick".into() });
    let mut thin = generate::block([1.0, 1.0, 1e-7], [1, 1, 1], Cells::Hex).unwrap();
    thin = thin.transformed(Affine3::IDENTITY).unwrap();
    let error = Model::builder().body(Body::nearly_rigid(thin, 1e6, 1.0).unwrap().named("foil")).build().unwrap_err();
    assert!(error.to_string().starts_with("body `foil` is too thin for affine motions"), "{error}");
    let wrong = Model::builder().body(Body { densities: vec![1.0; 3], ..body }).build().unwrap_err();
    assert!(wrong.to_string().contains("3 densities for a mesh with 1 regions"), "{wrong}");
}
