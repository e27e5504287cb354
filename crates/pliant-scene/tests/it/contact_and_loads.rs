//! Obstacles, handles, pressure and surface loads, in motion and in equilibrium.

use std::sync::Arc;

use pliant::files::Disk;
use pliant::force::{
    Handle, Handles, NodalLoads, Obstacle, Obstacles, Patch, Pressure, dead_pressure, surface_force, surface_traction,
};
use pliant::integrator::{BackwardEuler, Integrator, LinearizedBackwardEuler, Newmark, Remedy, Static, StepError};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::{Mat3, Vec3};
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::motion::Keyframes;
use pliant::simulation::Simulation;
use pliant::solver::{Direct, SolverParams};
use pliant::system::State;
use pliant_scene::scene::{SceneFile, Source};

const G: f64 = 9.81;

fn block(cells: Cells) -> VolumeMesh {
    generate::block([0.4, 0.1, 0.4], [4, 1, 4], cells).unwrap()
}

fn law(name: &str) -> AnyLaw {
    AnyLaw::new(name, YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap()
}

/// Returns a block that has settled on the ground under gravity in the given direction.
fn on_ground(gravity: Vec3, ground: Obstacle) -> (Assembly, State) {
    let mesh = block(Cells::Tet5);
    let obstacles = Obstacles::new(mesh.vertices(), vec![ground]).unwrap();
    let builder = Model::builder().body(Body::new(mesh, law("corotational"), 1000.0)).force(obstacles);
    let mut assembly = Assembly::new(builder.gravity(Vec3::new(0.0, gravity.y, 0.0)).build().unwrap());
    let mut state = assembly.rest_state();
    let mut solver = Direct::default();
    let mut integrator = LinearizedBackwardEuler::default();
    for _ in 0..100 {
        integrator.step(&mut assembly, &mut solver, &mut state, 0.01).unwrap();
    }
    assembly.model_mut().set_gravity(gravity).unwrap();
    (assembly, state)
}

fn ground(friction: f64) -> Obstacle {
    let mut ground = Obstacle::plane(Vec3::ZERO, Vec3::Y, 1e5);
    ground.damping = 50.0;
    ground.friction = friction;
    ground
}

#[test]
fn a_sliding_block_stops_after_v_squared_over_two_mu_g() {
    let (mut assembly, mut state) = on_ground(Vec3::new(0.0, -G, 0.0), ground(0.3));
    let vertices = assembly.model().bodies()[0].nodes();
    assembly.model().set_velocity(&mut state, vertices, Vec3::X, Vec3::ZERO, Vec3::ZERO);
    let start = assembly.model().observe(&state).center_of_mass.x;
    let mut integrator = LinearizedBackwardEuler::default();
    let mut solver = SolverParams::default().build();
    for _ in 0..500 {
        integrator.step(&mut assembly, &mut *solver, &mut state, 1e-3).unwrap();
    }
    let now = assembly.model().observe(&state);
    let (way, exact) = (now.center_of_mass.x - start, 1.0 / (2.0 * 0.3 * G));
    println!("{way} instead of {exact}");
    assert!((way / exact - 1.0).abs() < 0.05, "{way} m instead of {exact} m");
    assert!(now.momentum.length() / now.mass < 2e-3, "{}", now.momentum);
}

#[test]
fn a_block_on_a_slope_slides_only_beyond_the_angle_of_friction() {
    let friction = 0.5_f64;
    for (slope, slides) in [(0.4_f64, false), (0.6, true)] {
        let gravity = G * Vec3::new(slope.sin(), -slope.cos(), 0.0);
        let (mut assembly, mut state) = on_ground(gravity, ground(friction));
        let (mut integrator, mut solver) = (LinearizedBackwardEuler::default(), Direct::default());
        for _ in 0..300 {
            integrator.step(&mut assembly, &mut solver, &mut state, 1e-3).unwrap();
        }
        let now = assembly.model().observe(&state);
        let speed = now.momentum.x / now.mass;
        let exact = if slides { 0.3 * G * (slope.sin() - friction * slope.cos()) } else { 0.0 };
        println!("slope {slope}: {speed} m/s instead of {exact}");
        assert!((speed - exact).abs() < 0.02 * 0.3 * G, "slope {slope}: {speed} m/s instead of {exact}");
    }
}

#[test]
fn a_belt_takes_a_block_along() {
    let mut belt = ground(0.4);
    belt.motion = Keyframes::translations([(0.0, Vec3::ZERO), (10.0, 5.0 * Vec3::X)]).unwrap().into();
    let (mut assembly, mut state) = on_ground(Vec3::new(0.0, -G, 0.0), belt);
    let (mut integrator, mut solver) = (BackwardEuler::default(), Direct::default());
    for _ in 0..50 {
        integrator.step(&mut assembly, &mut solver, &mut state, 0.01).unwrap();
    }
    let now = assembly.model().observe(&state);
    assert!((now.momentum.x / now.mass - 0.5).abs() < 0.01, "{}", now.momentum / now.mass);
}

#[test]
fn a_block_rests_in_a_bowl_that_carries_its_weight() {
    // Number of contact springs that carry the weight; in the bowl those at the rim.
    let mesh = block(Cells::Hex);
    let weight = 0.4 * 0.1 * 0.4 * 1000.0 * G;
    let hollow = Obstacle::hollow_ball(Vec3::new(0.2, 1.0, 0.2), 1.03, 1e6);
    let obstacles = Obstacles::new(mesh.vertices(), vec![hollow]).unwrap();
    let builder = Model::builder().body(Body::new(mesh, law("corotational"), 1000.0)).force(obstacles);
    let mut assembly = Assembly::new(builder.gravity(Vec3::new(0.0, -G, 0.0)).build().unwrap());
    let (mut state, mut integrator, mut solver) = (assembly.rest_state(), BackwardEuler::default(), Direct::default());
    for _ in 0..400 {
        integrator.step(&mut assembly, &mut solver, &mut state, 0.01).unwrap();
    }
    let now = assembly.model().observe(&state);
    assert!(now.momentum.length() < 1e-3, "{}", now.momentum);
    let push: Vec3 = -gradient(assembly.model(), &state);
    assert!((push.y / weight - 1.0).abs() < 1e-3, "{} N instead of {weight} N", push.y);
}

/// Returns the sum of the non-elastic forces of a model.
fn gradient(model: &Model, state: &State) -> Vec3 {
    let mut force = vec![0.0; state.q.len()];
    model.forces().for_each(|term| term.add_gradient(&state.q, &state.conditions_here(), &mut force));
    force.chunks_exact(3).map(Vec3::from_slice).sum()
}

#[test]
fn a_body_hangs_from_its_handles_where_springs_balance_its_weight() {
    let mesh = block(Cells::Tet5);
    let corners: Vec<u32> = (0..mesh.vertex_count() as u32)
        .filter(|&v| {
            let x = mesh.vertices()[v as usize];
            (x.x < 1e-9 || x.x > 0.4 - 1e-9) && (x.z < 1e-9 || x.z > 0.4 - 1e-9) && x.y > 0.05
        })
        .collect();
    assert_eq!(corners.len(), 4);
    let rest = mesh.vertices().to_vec();
    let handles = corners.iter().map(|&v| Handle::new(v, 1000.0, mesh.vertices()[v as usize]));
    let handles = Handles::new(mesh.vertices(), handles).unwrap();
    let builder = Model::builder().body(Body::new(mesh, law("corotational"), 1000.0)).force(handles);
    let mut assembly = Assembly::new(builder.gravity(Vec3::new(0.0, -G, 0.0)).build().unwrap());
    let mut state = assembly.rest_state();
    Static::default().solve(&mut assembly, &mut Direct::default(), &mut state).unwrap();
    let mean = corners.iter().map(|&v| state.q[3 * v as usize + 1]).sum::<f64>() / 4.0;
    let exact = -16.0 * G / 4000.0;
    assert!((mean / exact - 1.0).abs() < 1e-6, "{mean} instead of {exact}");

    // The handles are raised, and the body follows.
    let handles = assembly.model_mut().forces_mut_of::<Handles>().next().unwrap();
    for (number, &v) in corners.iter().enumerate() {
        handles.set_target(number, rest[v as usize] + 0.5 * Vec3::Y).unwrap();
    }
    Static::default().solve(&mut assembly, &mut Direct::default(), &mut state).unwrap();
    let raised = corners.iter().map(|&v| state.q[3 * v as usize + 1]).sum::<f64>() / 4.0;
    assert!((raised - mean - 0.5).abs() < 1e-6, "{raised}");
}

#[test]
fn pressure_all_around_shrinks_a_body_by_its_bulk_modulus() {
    let bulk = 1e6 / (3.0 * (1.0 - 0.6));
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = generate::block([1.0, 1.0, 1.0], [2, 2, 2], cells).unwrap();
        let sets = mesh.vertex_sets().clone();
        let pressure = 1e-4 * bulk;
        let force = Pressure::new(mesh.vertices(), &Patch::boundary(&mesh), pressure).unwrap();
        let model = Model::builder()
            .body(Body::new(mesh, law("linear"), 1000.0))
            .force(force)
            .fix(Fixed::new(sets["x-min"].clone()).along([true, false, false]))
            .fix(Fixed::new(sets["y-min"].clone()).along([false, true, false]))
            .fix(Fixed::new(sets["z-min"].clone()).along([false, false, true]))
            .build()
            .unwrap();
        let mut state = model.rest_state();
        let mut assembly = Assembly::new(model);
        Static::default().solve(&mut assembly, &mut Direct::default(), &mut state).unwrap();
        let change = assembly.model().observe(&state).volume - 1.0;
        // Linear elasticity, but the loaded faces have shrunk: accurate to the order of the strain.
        assert!((change / -1e-4 - 1.0).abs() < 2e-4, "{change}");
    }
}

/// Returns a linear elastic unit cube on three symmetry planes, with its equilibrium displacements under nodal forces.
fn sliding_cube(cells: Cells, forces: impl Fn(&VolumeMesh) -> Vec<f64>) -> (Vec<Vec3>, Vec<f64>) {
    let mesh = generate::block([1.0, 1.0, 1.0], [2, 2, 2], cells).unwrap();
    let (rest, sets) = (mesh.vertices().to_vec(), mesh.vertex_sets().clone());
    let forces = NodalLoads::constant(forces(&mesh)).unwrap();
    let model = Model::builder()
        .body(Body::new(mesh, law("linear"), 1000.0))
        .force(forces)
        .fix(Fixed::new(sets["x-min"].clone()).along([true, false, false]))
        .fix(Fixed::new(sets["y-min"].clone()).along([false, true, false]))
        .fix(Fixed::new(sets["z-min"].clone()).along([false, false, true]))
        .build()
        .unwrap();
    let mut state = model.rest_state();
    let mut assembly = Assembly::new(model);
    Static::default().solve(&mut assembly, &mut Direct::default(), &mut state).unwrap();
    (rest, state.q)
}

/// Checks `tr ε = −p/κ`, `ε = −p/(3κ) I`: exact for any pressure, because the law is linear and the load is dead.
#[test]
fn dead_pressure_all_around_shrinks_a_linear_cube_by_exactly_pressure_over_bulk_modulus() {
    let bulk = 1e6 / (3.0 * (1.0 - 0.6));
    for cells in [Cells::Tet5, Cells::Tet6, Cells::Hex] {
        let (rest, u) =
            sliding_cube(cells, |mesh| dead_pressure(mesh.vertices(), &Patch::boundary(mesh), 0.1 * bulk).unwrap());
        for (x, u) in rest.iter().zip(u.chunks_exact(3)) {
            let exact = -0.1 / 3.0 * *x;
            assert!((Vec3::from_slice(u) - exact).length() < 1e-10, "{u:?} instead of {exact}");
        }
    }
}

/// Checks `ε_xx = −p/E`, `ε_yy = ε_zz = ν p/E`.
#[test]
fn dead_pressure_on_one_face_compresses_a_linear_block_by_exactly_pressure_over_young() {
    for cells in [Cells::Tet5, Cells::Tet6, Cells::Hex] {
        let (rest, u) = sliding_cube(cells, |mesh| {
            let patch = Patch::within(mesh, &mesh.vertex_sets()["x-max"]).unwrap();
            dead_pressure(mesh.vertices(), &patch, 1e5).unwrap()
        });
        for (x, u) in rest.iter().zip(u.chunks_exact(3)) {
            let exact = Vec3::new(-0.1 * x.x, 0.03 * x.y, 0.03 * x.z);
            assert!((Vec3::from_slice(u) - exact).length() < 1e-10, "{u:?} instead of {exact}");
        }
    }
}

/// Checks that gas in a cavity has positive pressure and pushes the wall outward: the wall's normals point into the
/// cavity.
#[test]
fn positive_pressure_on_the_wall_of_a_cavity_inflates_the_body() {
    let mesh = generate::block([3.0; 3], [3, 3, 3], Cells::Hex).unwrap();
    let shell: Vec<u32> = (0..27).filter(|element| *element != 13).collect();
    let mesh = mesh.extract(&shell).unwrap().mesh;
    let is_inside = |x: &Vec3| x.cmpgt(Vec3::splat(0.5)).all() && x.cmplt(Vec3::splat(2.5)).all();
    let wall: Vec<u32> = (0..).zip(mesh.vertices()).filter(|(_, x)| is_inside(x)).map(|(vertex, _)| vertex).collect();
    assert_eq!(wall.len(), 8);
    let (rest, corner) = (mesh.vertices().to_vec(), [0, 3, 12]);
    let patch = Patch::within(&mesh, &wall).unwrap();
    for is_dead in [false, true] {
        let builder = Model::builder().body(Body::new(mesh.clone(), law("stvk"), 1000.0)).fix(Fixed::new(corner));
        let builder = if is_dead {
            builder.force(NodalLoads::constant(dead_pressure(&rest, &patch, 1e4).unwrap()).unwrap())
        } else {
            builder.force(Pressure::new(&rest[..], &patch, 1e4).unwrap())
        };
        let mut assembly = Assembly::new(builder.build().unwrap());
        let mut state = assembly.rest_state();
        Static::default().solve(&mut assembly, &mut Direct::default(), &mut state).unwrap();
        let gained = Pressure::new(&rest[..], &patch, 1.0).unwrap().volume_change(&state.q);
        // The cavity is outside the body, so its enclosed volume is negative.
        assert!(gained < -0.005, "the cavity gains {} m³", -gained);
    }
}

#[test]
fn surface_traction_stretches_a_bar_by_stress_over_modulus() {
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = generate::block([2.0, 1.0, 1.0], [4, 2, 2], cells).unwrap();
        let sets = mesh.vertex_sets().clone();
        let patch = Patch::within(&mesh, &sets["x-max"]).unwrap();
        let traction = surface_traction(mesh.vertices(), &patch, Vec3::new(1e3, 0.0, 0.0)).unwrap();
        let force = surface_force(mesh.vertices(), &patch, Vec3::new(1e3, 0.0, 0.0)).unwrap();
        assert!(traction.iter().zip(&force).all(|(a, b)| (a - b).abs() < 1e-9), "an area of 1 m²");
        let model = Model::builder()
            .body(Body::new(mesh, law("linear"), 1000.0))
            .force(NodalLoads::constant(traction).unwrap())
            .fix(Fixed::new(sets["x-min"].clone()).along([true, false, false]))
            .fix(Fixed::new(sets["y-min"].clone()).along([false, true, false]))
            .fix(Fixed::new(sets["z-min"].clone()).along([false, false, true]))
            .build()
            .unwrap();
        let mut state = model.rest_state();
        let mut assembly = Assembly::new(model);
        Static::default().solve(&mut assembly, &mut Direct::default(), &mut state).unwrap();
        for (rest, u) in assembly.model().rest().iter().zip(state.q.chunks_exact(3)) {
            let exact = [1e-3 * rest.x, -3e-4 * rest.y, -3e-4 * rest.z];
            (0..3).for_each(|i| assert!((u[i] - exact[i]).abs() < 1e-12, "{u:?} instead of {exact:?}"));
        }
    }
}

/// Checks convergence for open patches, which have no energy: Newton's method then uses the residual.
#[test]
fn pressure_on_one_face_of_a_cantilever_is_found_to_balance() {
    let mesh = generate::block([1.0, 0.1, 0.2], [10, 1, 2], Cells::Hex).unwrap();
    let sets = mesh.vertex_sets().clone();
    let force = Pressure::new(mesh.vertices(), &Patch::within(&mesh, &sets["y-max"]).unwrap(), 100.0).unwrap();
    let builder = Model::builder().body(Body::new(mesh, law("stvk"), 1000.0)).force(force);
    let mut assembly = Assembly::new(builder.fix(Fixed::new(sets["x-min"].clone())).build().unwrap());
    let mut state = assembly.rest_state();
    Static::default().solve(&mut assembly, &mut Direct::default(), &mut state).unwrap();
    let reaction: Vec3 = assembly.model().reactions(&state).chunks_exact(3).map(Vec3::from_slice).sum();
    let push = -gradient(assembly.model(), &state);
    assert!((reaction + push).length() < 1e-7 * push.length(), "{reaction} and {push}");
    assert!(state.q.iter().any(|u| *u < -0.05), "it bends");
    // The pressure has followed the rotation of the face.
    assert!(push.y < 0.0 && push.x < -0.5, "{push}");
}

#[test]
fn a_dropped_block_comes_to_rest_with_every_implicit_integrator() {
    let integrators: [Box<dyn Integrator<Assembly>>; 3] = [
        Box::<LinearizedBackwardEuler>::default(),
        Box::<BackwardEuler>::default(),
        Box::new(Newmark::with_iterations(4)),
    ];
    for (number, mut integrator) in integrators.into_iter().enumerate() {
        let mesh = block(Cells::Tet5);
        let mut ground = Obstacle::plane(Vec3::new(0.0, -0.1, 0.0), Vec3::Y, 1e4);
        ground.damping = 100.0;
        ground.friction = 0.3;
        let obstacles = Obstacles::new(mesh.vertices(), vec![ground]).unwrap();
        let builder = Model::builder().body(Body::new(mesh, law("stable-neo-hookean"), 1000.0)).force(obstacles);
        let mut assembly = Assembly::new(builder.gravity(Vec3::new(0.0, -G, 0.0)).build().unwrap());
        let (mut state, mut solver) = (assembly.rest_state(), SolverParams::default().build());
        for _ in 0..400 {
            integrator.step(&mut assembly, &mut *solver, &mut state, 5e-3).unwrap();
        }
        let now = assembly.model().observe(&state);
        assert!(now.momentum.length() / now.mass < 1e-2, "integrator {number}: {}", now.momentum / now.mass);
        assert!((now.center_of_mass.y + 0.05).abs() < 2e-3, "integrator {number}: {}", now.center_of_mass);
    }
}

#[test]
fn a_ball_pushed_into_a_body_dents_it_by_what_it_is_pushed_with() {
    let mesh = generate::block([0.4, 0.2, 0.4], [8, 4, 8], Cells::Hex).unwrap();
    let sets = mesh.vertex_sets().clone();
    let mut ball = Obstacle::ball(Vec3::new(0.2, 0.35, 0.2), 0.15, 1e5);
    ball.motion = Keyframes::translations([(0.0, Vec3::ZERO), (0.5, -0.03 * Vec3::Y)]).unwrap().into();
    let obstacles = Obstacles::new(mesh.vertices(), vec![ball]).unwrap();
    let builder = Model::builder().body(Body::new(mesh, law("stable-neo-hookean"), 1000.0)).force(obstacles);
    let mut assembly = Assembly::new(builder.fix(Fixed::new(sets["y-min"].clone())).build().unwrap());
    let (mut state, mut integrator, mut solver) = (assembly.rest_state(), BackwardEuler::default(), Direct::default());
    for _ in 0..150 {
        integrator.step(&mut assembly, &mut solver, &mut state, 0.01).unwrap();
    }
    let push = -gradient(assembly.model(), &state);
    let reaction: Vec3 = assembly.model().reactions(&state).chunks_exact(3).map(Vec3::from_slice).sum();
    assert!(push.y < -50.0 && (push + reaction).length() < 1e-3 * push.length(), "{push} and {reaction}");
    let deepest = state.q.iter().skip(1).step_by(3).fold(0.0_f64, |most, y| most.min(*y));
    assert!(deepest < -0.02 && deepest > -0.03, "{deepest}");
}

#[test]
fn a_handle_that_moves_takes_a_free_body_along() {
    let mesh = block(Cells::Tet5);
    let mut handle = Handle::new(12, 500.0, mesh.vertices()[12]);
    handle.motion = Keyframes::translations([(0.0, Vec3::ZERO), (1.0, Vec3::new(0.5, 0.2, 0.0))]).unwrap().into();
    handle.damping = 20.0;
    let handles = Handles::new(mesh.vertices(), [handle]).unwrap();
    let builder = Model::builder().body(Body::new(mesh, law("corotational"), 1000.0)).force(handles);
    let mut assembly =
        Assembly::new(builder.damping(pliant::damping::Damping::rayleigh(2.0, 0.0).unwrap()).build().unwrap());
    let (mut state, mut integrator) = (assembly.rest_state(), LinearizedBackwardEuler::default());
    let mut solver = SolverParams::default().build();
    for _ in 0..800 {
        integrator.step(&mut assembly, &mut *solver, &mut state, 0.01).unwrap();
    }
    let moved = Vec3::from_slice(&state.q[36..]);
    assert!((moved - Vec3::new(0.5, 0.2, 0.0)).length() < 1e-3, "{moved}");
}

#[test]
fn pressure_acts_on_one_body_of_several() {
    let meshes = [block(Cells::Tet5), block(Cells::Hex)];
    let count = meshes[0].vertex_count() + meshes[1].vertex_count();
    let rest: Vec<Vec3> = meshes.iter().flat_map(VolumeMesh::vertices).copied().collect();
    let patch = Patch::boundary(&meshes[1]).among(meshes[0].vertex_count() as u32, count).unwrap();
    let inflated = Pressure::new(&rest[..], &patch, -1e4).unwrap();
    let mut builder = Model::builder().force(inflated);
    for mesh in meshes {
        builder = builder.body(Body::new(mesh, law("neo-hookean"), 1000.0));
    }
    let mut assembly = Assembly::new(builder.build().unwrap());
    let (mut state, mut integrator, mut solver) = (assembly.rest_state(), BackwardEuler::default(), Direct::default());
    for _ in 0..50 {
        integrator.step(&mut assembly, &mut solver, &mut state, 0.01).unwrap();
    }
    let volumes: Vec<f64> = assembly.model().bodies().iter().map(|body| body.volume(&state.q)).collect();
    assert!((volumes[0] - 0.016).abs() < 1e-15 && volumes[1] > 0.016 * 1.005, "{volumes:?}");
}

/// Simulates one body above the ground, with the default integrator unless `settings` override it.
fn above_ground(object: &str, settings: &str) -> Simulation {
    let text =
        format!("[[object]]\n{object}\n[[obstacle]]\nshape.plane = {{}}\n[simulation]\nduration = 1\n{settings}\n");
    SceneFile::parse(Source::new("test.toml", text)).unwrap().build(&Disk).unwrap().simulation
}

/// Scene with four forces that know rest positions: handles, springs, a pressure and obstacles.
fn with_all_forces(objects: &[&str]) -> Simulation {
    let object = |name: &&str| {
        format!(
            "[[object]]\nname = \"{name}\"\nmesh = {{ box = {{ size = [1, 0.2, 0.2], cells = [4, 1, 1] }} }}\nmaterial = \"rubber\"\n"
        )
    };
    let objects: String = objects.iter().map(object).collect();
    let text = format!(
        "{objects}\n[material.rubber]\nyoung = 1e5\npoisson = 0.4\ndensity = 1000\n[[handle]]\nobject = \"a\"\nvertices = \"x-max\"\nstiffness = 100\n\
         [[spring]]\nfrom_object = \"a\"\nfrom = {{ nearest = [0, 0, 0] }}\nto_object = \"a\"\nto = {{ nearest = [1, 0, 0] }}\nstiffness = 50\n\
         [[load]]\nobject = \"a\"\nvertices = \"x-min\"\nkind.pressure = 10\n[[obstacle]]\nshape.plane = {{}}\n[simulation]\nstep = 0.01\nduration = 1\n"
    );
    SceneFile::parse(Source::new("test.toml", text)).unwrap().build(&Disk).unwrap().simulation
}

#[test]
fn all_forces_of_a_scene_share_the_rest_positions_of_its_model() {
    for objects in [&["a"][..], &["a", "b"]] {
        let simulation = with_all_forces(objects);
        let model = simulation.model();
        assert_eq!(model.forces().count(), 4);
        // The mesh of a single body has the same positions as the model.
        let holders = 1 + model.forces().count() + usize::from(objects.len() == 1);
        let found = Arc::strong_count(model.shared_rest());
        assert!(found >= holders, "{objects:?}: {found} instead of {holders}");
    }
}

#[test]
fn thrown_balls_of_every_law_never_gain_energy_with_the_default_integrator() {
    for law in AnyLaw::ALL {
        for (speed, rate, across) in
            [(1.0, 240.0, 3), (5.0, 30.0, 4), (20.0, 60.0, 6), (40.0, 30.0, 3), (40.0, 60.0, 4)]
        {
            let object = format!(
                "mesh = {{ ball = {{ radius = 0.1, across = {across} }} }}\ntranslate = [0, 0.15, 0]\nvelocity = [0, -{speed}, 0]\n\
                 material = {{ law = \"{}\", young = \"1 MPa\", poisson = 0.4, density = 1000 }}",
                law.name
            );
            let case = format!("{}, {speed} m/s, steps of 1/{rate} s, {across} cells", law.name);
            let mut simulation = above_ground(&object, &format!("step = {}", 1.0 / rate));
            let start = simulation.observe();
            let mut lowest = start.total_energy();
            for _ in 0..(0.3 * rate) as usize {
                simulation.step().unwrap_or_else(|error| panic!("{case}: {error}"));
                let energy = simulation.observe().total_energy();
                // Gravity and the ground are conservative, so no work is added. Newton's tolerance allows a thousandth.
                assert!(energy <= lowest + 1e-6 * start.kinetic_energy, "{case}: {lowest} J, then {energy} J");
                lowest = lowest.min(energy);
            }
            assert!(lowest < start.total_energy() - 0.1 * start.kinetic_energy, "{case}: it has hit the ground");
        }
    }
}

/// Returns a cube of 0.2 m and 1 MPa that hits the ground with one corner first.
fn corner_first(cells: usize, law: &str, speed: f64) -> (Assembly, State) {
    let mut data = generate::block([0.2; 3], [cells; 3], Cells::Tet5).unwrap().into_data();
    // The diagonal of the cube points down.
    let (down, side) = (Vec3::ONE.normalize(), Vec3::new(1.0, -1.0, 0.0).normalize());
    let turn = Mat3::from_cols(side, -down, side.cross(-down)).transpose();
    data.vertices.iter_mut().for_each(|x| *x = turn * (*x - Vec3::splat(0.1)));
    let lowest = data.vertices.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    data.vertices.iter_mut().for_each(|x| x.y -= lowest - 0.02);
    let mesh = VolumeMesh::check(data).unwrap().mesh;
    let law = AnyLaw::new(law, YoungPoisson { young: 1e6, poisson: 0.4 }).unwrap();
    let stiffness = Obstacle::stiffness_for(&mesh, 1e6);
    let ground = Obstacles::new(mesh.vertices(), [Obstacle::plane(Vec3::ZERO, Vec3::Y, stiffness)]).unwrap();
    let builder = Model::builder().body(Body::new(mesh, law, 1000.0)).force(ground);
    let model = builder.gravity(-9.81 * Vec3::Y).build().unwrap();
    let mut state = model.rest_state();
    model.set_velocity(&mut state, 0..model.node_count(), -speed * Vec3::Y, Vec3::ZERO, Vec3::ZERO);
    (Assembly::new(model), state)
}

/// Checks the energy when an element at the corner snaps through: `V` is not convex there, so that backward Euler alone
/// would gain a fifth of the energy.
#[test]
fn a_stvk_cube_that_lands_on_its_corner_never_gains_energy_with_the_default_integrator() {
    let (mut assembly, mut state) = corner_first(5, "stvk", 1.0);
    let (mut integrator, mut solver) = (BackwardEuler::for_animation(), SolverParams::default().build());
    let start = assembly.model().observe(&state).total_energy();
    let mut substeps = 0;
    for _ in 0..30 {
        substeps += integrator.step(&mut assembly, &mut *solver, &mut state, 1.0 / 60.0).unwrap().substeps;
        let energy = assembly.model().observe(&state).total_energy();
        assert!(energy <= 1.001 * start, "{start} J, then {energy} J");
    }
    assert!(substeps > 0, "a step was split");
}

/// Checks the barrier of a law: beyond it the force is finite and may be small, but the energy is undefined.
#[test]
fn a_line_search_never_ends_behind_a_barrier_of_infinite_energy() {
    let (mut assembly, mut state) = corner_first(10, "neo-hookean-bower", 40.0);
    let (mut integrator, mut solver) = (BackwardEuler::for_animation(), SolverParams::default().build());
    for _ in 0..8 {
        integrator.step(&mut assembly, &mut *solver, &mut state, 1.0 / 30.0).unwrap();
        assert!(assembly.model().observe(&state).elastic_energy.is_finite());
    }
}

#[test]
fn prescribed_motion_that_inverts_elements_asks_for_smaller_steps_and_not_for_the_integrator_in_use() {
    let mesh = generate::block([0.4, 0.2, 0.2], [4, 2, 2], Cells::Tet5).unwrap();
    let sets = mesh.vertex_sets().clone();
    let pushed = Keyframes::translations([(0.0, Vec3::ZERO), (0.01, -0.6 * Vec3::X)]).unwrap();
    let model = Model::builder()
        .body(Body::new(mesh, law("neo-hookean"), 1000.0))
        .fix(Fixed::new(sets["x-min"].clone()))
        .fix(Fixed::prescribed(sets["x-max"].clone(), pushed))
        .build()
        .unwrap();
    let mut state = model.rest_state();
    let mut assembly = Assembly::new(model);
    let mut solver = SolverParams::default().build();
    let error = BackwardEuler::for_animation().step(&mut assembly, &mut *solver, &mut state, 0.01).unwrap_err();
    assert_eq!(error.remedies()[0], Remedy::SmallerStep, "{error}");
    assert!(!error.to_string().contains("backward-euler"), "{error}");
}

/// Soft cube of a law undefined for inverted elements, dropped from half a meter.
const DROPPED: &str = "mesh = { box = { size = [0.2, 0.2, 0.2], cells = [5, 5, 5] } }\ntranslate = [0, 0.5, 0]\n\
                       material = { law = \"neo-hookean\", young = \"20 kPa\", poisson = 0.4, density = 1000 }";

#[test]
fn a_soft_neo_hookean_cube_lands_with_the_default_integrator() {
    let mut simulation = above_ground(DROPPED, "step = \"1/60 s\"");
    for _ in 0..60 {
        simulation.step().unwrap();
    }
    let now = simulation.observe();
    assert!(now.center_of_mass.y > 0.02 && now.center_of_mass.y < 0.2, "{now:?}");
}

/// Ball of such a law, thrown at the ground so fast that the linearized integrator inverts elements.
const THROWN: &str = "mesh = { ball = { radius = 0.1, across = 6 } }\ntranslate = [0, 0.15, 0]\nvelocity = [0, -20, 0]\n\
                      material = { law = \"neo-hookean\", young = \"1 MPa\", poisson = 0.4, density = 1000 }";

#[test]
fn a_step_that_inverts_an_element_names_it_and_the_changes_that_help() {
    let linearized = "step = \"1/60 s\"\nintegrator = \"linearized-backward-euler\"\nhalvings = 0";
    let mut simulation = above_ground(THROWN, linearized);
    let error = (0..60).find_map(|_| simulation.step().err()).expect("the linearized integrator inverts elements");
    let StepError::Inverted { cause, .. } = &error else { panic!("{error}") };
    assert!(cause.volume_ratio <= 0.0 && cause.body == "object", "{cause:?}");
    let message = error.to_string();
    for part in
        [&format!("element {} of body `object` inverted", cause.element), "`backward-euler`", "`stable-neo-hookean`"]
    {
        assert!(message.contains(part), "{message}");
    }
    // The first remedy, the most likely one, helps here. Another law helps only if the linearized integrator converges.
    assert_eq!(error.remedies()[0], Remedy::Integrator("backward-euler"));
    let mut simulation = above_ground(THROWN, &linearized.replace("linearized-backward-euler", "backward-euler"));
    for _ in 0..20 {
        simulation.step().unwrap();
    }
}
