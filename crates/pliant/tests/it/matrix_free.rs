//! Matrix-free models move as models with an assembled stiffness matrix.

use pliant::damping::Damping;
use pliant::force::{Definiteness, Obstacle, Obstacles, SpringCoefficients, Springs};
use pliant::integrator::{
    BackwardEuler, CentralDifferences, Integrator, LinearizedBackwardEuler, Newmark, NewtonParams, NewtonTangent,
    Static, StaticParams,
};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, MatrixFree, Model, ModelBuilder};
use pliant::motion::Keyframes;
use pliant::solver::{BlockJacobi, CgParams, Direct, LinearMap, LinearSolver, Method, NotPositiveDefinite, SolveError};
use pliant::sparse::Triplets;
use pliant::system::{Combination, Conditions, State, System};

/// Returns a bar that is fixed at one end and falls onto the ground with the other.
fn bar(cells: Cells) -> ModelBuilder {
    let mesh = generate::block([1.0, 0.2, 0.2], [10, 2, 2], cells).unwrap();
    let law = AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e5, poisson: 0.4 }).unwrap();
    let mut ground = Obstacle::plane(Vec3::new(0.0, -0.2, 0.0), Vec3::Y, 1e4);
    ground.damping = 5.0;
    ground.friction = 0.3;
    Model::builder()
        .force(Obstacles::new(mesh.vertices(), vec![ground]).unwrap())
        .fix(Fixed::new(mesh.vertex_sets()["x-min"].clone()))
        .body(Body::new(mesh, law, 1000.0))
        .gravity(Vec3::new(0.0, -9.81, 0.0))
}

/// Returns a bar with all features of a model: springs inside and between bodies, Rayleigh damping and a custom damping
/// matrix, a second body, loads, prescribed motion, and vertices fixed along single axes.
fn crowded(cells: Cells) -> ModelBuilder {
    let mesh = generate::block([1.0, 0.2, 0.2], [10, 2, 2], cells).unwrap();
    let ball = generate::block([0.2, 0.2, 0.2], [2, 2, 2], cells).unwrap();
    let ball = ball.transformed(pliant::math::Affine3::from_translation(Vec3::new(1.1, 0.0, 0.0))).unwrap();
    let sets = mesh.vertex_sets();
    let count = (mesh.vertex_count() + ball.vertex_count()) as u32;
    let rest: Vec<Vec3> = mesh.vertices().iter().chain(ball.vertices()).copied().collect();
    let mut pairs: Vec<[u32; 2]> = Springs::mesh_pairs(&mesh).into_iter().step_by(7).collect();
    let other = mesh.vertex_count() as u32;
    pairs.extend([[0, other - 1], [other - 1, other], [other - 2, count - 1]]);
    let coefficients = SpringCoefficients { damping: 0.7.into(), ..SpringCoefficients::new(50.0) };
    let far = 3 * (count - 1);
    let entries = vec![(3, far, -2.5), (far, 3, -2.5), (3, 3, 2.5), (far, far, 2.5)];
    let own = Triplets { row_count: 3 * count as usize, column_count: 3 * count as usize, entries };
    let damping = Damping::rayleigh(0.3, 2e-3).unwrap().with_matrix(&own, count as usize).unwrap();
    let pull = Keyframes::translations([(0.0, Vec3::ZERO), (0.1, Vec3::new(0.02, 0.05, 0.0))]).unwrap();
    let law = AnyLaw::new("neo-hookean", YoungPoisson { young: 3e4, poisson: 0.3 }).unwrap();
    let last = sets["x-max"][0];
    bar_on(&rest)
        .fix(Fixed::prescribed(sets["x-min"].clone(), pull))
        .fix(Fixed::new(vec![last]).along([false, false, true]))
        .load(last, Vec3::new(1.0, 0.0, 0.5))
        .force(Springs::new(&rest[..], &pairs, &coefficients).unwrap())
        .damping(damping)
        .body(Body::new(mesh, AnyLaw::new("corotational", YoungPoisson { young: 1e5, poisson: 0.4 }).unwrap(), 1000.0))
        .body(Body::new(ball, law, 500.0))
}

fn bar_on(rest: &[Vec3]) -> ModelBuilder {
    let ground = Obstacle::plane(Vec3::new(0.0, -0.01, 0.0), Vec3::Y, 1e4);
    let ground = Obstacle { damping: 5.0, friction: 0.3, ..ground };
    let obstacles = Obstacles::new(rest, vec![ground]).unwrap();
    Model::builder().force(obstacles).gravity(Vec3::new(0.0, -9.81, 0.0))
}

fn precise() -> BlockJacobi {
    BlockJacobi::new(CgParams { tolerance: 1e-10, ..CgParams::default() })
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |most, (a, b)| if (a - b).is_nan() { f64::NAN } else { f64::max(most, (a - b).abs()) })
}

/// Returns random numbers.
fn vector(count: usize, size: f64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(3);
    (0..count).map(|_| size * (2.0 * rng.f64() - 1.0)).collect()
}

#[test]
fn a_swinging_bar_that_hits_the_ground_moves_as_with_a_matrix() {
    let (model, mut free) = (bar(Cells::Tet5).build().unwrap(), bar(Cells::Tet5).build_matrix_free().unwrap());
    let mut assembly = Assembly::new(model);
    let (mut expected, mut state) = (assembly.rest_state(), free.rest_state());
    let mut integrators = [LinearizedBackwardEuler::default(), LinearizedBackwardEuler::default()];
    let mut solvers = [precise(), precise()];
    let mut contacts = 0;
    for _ in 0..60 {
        integrators[0].step(&mut assembly, &mut solvers[0], &mut expected, 0.01).unwrap();
        let info = integrators[1].step(&mut free, &mut solvers[1], &mut state, 0.01).unwrap();
        assert!(info.solve.method == Method::BlockJacobi && info.linear_iterations > 0 && info.factorizations == 0);
        let difference = largest_difference(&state.q, &expected.q);
        assert!(difference < 1e-8, "{difference:e} m at {} s", state.time);
        let obstacles = free.model_mut().forces_mut_of::<Obstacles>();
        contacts += obstacles.map(|o| o.contacts(&state.q, state.time).len()).sum::<usize>();
    }
    assert!(contacts > 0);
    let (expected, found) = (assembly.model().observe(&expected), free.model().observe(&state));
    assert!((found.total_energy() - expected.total_energy()).abs() < 1e-6);
}

/// Checks that the model stores only nine numbers per vertex and per pair coupled by a non-elastic force.
#[test]
fn no_pair_of_vertices_is_stored_that_elements_alone_couple() {
    let (model, free) = (bar(Cells::Tet5).build().unwrap(), bar(Cells::Tet5).build_matrix_free().unwrap());
    let vertices = free.model().node_count();
    assert!(model.pattern().slot_count() > 4 * vertices);
    assert_eq!(free.model().pattern().slot_count(), vertices);
    // The consistent mass has one number per pair.
    assert_eq!(free.model().mass().pattern(), model.pattern());
    let crowd = crowded(Cells::Hex).lumped_mass().build_matrix_free().unwrap();
    let (springs, own) = (crowd.model().pattern().slot_count() - crowd.model().node_count(), 1);
    let count = Springs::mesh_pairs(crowd.model().bodies()[0].mesh()).len();
    assert_eq!(springs, count.div_ceil(7) + 3 + own);
    assert!(crowd.model().mass().is_diagonal());
}

#[test]
fn products_are_those_of_the_matrix_fixed_coordinates_included() {
    for (cells, is_lumped) in [(Cells::Tet5, false), (Cells::Tet5, true), (Cells::Hex, false)] {
        let builder = || if is_lumped { crowded(cells).lumped_mass() } else { crowded(cells) };
        let mut assembly = Assembly::new(builder().build().unwrap());
        let mut free = builder().build_matrix_free().unwrap();
        let n = assembly.dim();
        let (q, v, x) = (vector(n, 0.01), vector(n, 0.5), vector(n, 1.0));
        let later: Vec<f64> = q.iter().map(|q| 1.1 * q).collect();
        let expected = products(&mut assembly, &q, &later, &v, &x);
        let found = products(&mut free, &q, &later, &v, &x);
        assert_eq!(expected.len(), found.len());
        for (i, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let size = expected.iter().fold(0.0, |most, e| f64::max(most, e.abs()));
            let difference = largest_difference(expected, found);
            assert!(difference <= 1e-12 * size, "vector {i}, {cells:?}: {difference:e} of {size:e}");
        }
    }
}

/// Returns all forces and products of a system in some states.
fn products<S>(system: &mut S, q: &[f64], later: &[f64], v: &[f64], x: &[f64]) -> Vec<Vec<f64>>
where
    S: System<Matrix: LinearMap>,
{
    let (n, conditions) = (system.dim(), Conditions::at(0.05));
    let (mut all, mut blocks) = (Vec::new(), Vec::new());
    let (mut forces, mut drive, mut y) = ([vec![0.0; n], vec![0.0; n]], vec![0.0; n], vec![0.0; n]);
    // `D` and `K` of one state, then `K` of another, as in Newton's method.
    let first = system.linearize(q, &conditions, Definiteness::Projected, &mut forces[0]).stiffness;
    let damping = system.damping(q, &conditions, v, Some(&first), &mut drive);
    let second = system.linearize(later, &conditions, Definiteness::Projected, &mut forces[1]).stiffness;
    for stiffness in [&first, &second] {
        for (m, d, k) in [(1.3, 0.2, 0.07), (0.0, 1.0, 0.0), (1.3, 0.2, 1.0)] {
            let combination = Combination::of_mass(m).and_damping(d, &damping).and_stiffness(k, stiffness);
            system.mul(combination, x, &mut y);
            all.push(y.clone());
            system.assemble(combination);
            system.matrix().mul(x, &mut y);
            all.push(y.clone());
            system.matrix().diagonal_blocks(&mut blocks);
            all.push(blocks.as_flattened().to_vec());
        }
    }
    all.extend(forces);
    all.push(drive);
    all
}

#[test]
fn every_implicit_integrator_moves_it_as_with_a_matrix() {
    const EXPLICIT: usize = 4;
    const STATIC: usize = 5;
    fn run<S: System>(system: &mut S, solver: &mut dyn LinearSolver<S::Matrix>, integrator: usize) -> State {
        let newton = NewtonParams { tolerance: 1e-11, ..NewtonParams::default() };
        let mut state = State::new(system.dim());
        let dt = if integrator == EXPLICIT { 5e-4 } else { 5e-3 };
        let mut integrator: Box<dyn Integrator<S>> = match integrator {
            0 => Box::new(LinearizedBackwardEuler::new(Definiteness::Exact)),
            1 => Box::new(BackwardEuler::new(newton)),
            2 => {
                // Friction on the ground may prevent convergence, with and without a matrix.
                let few = NewtonParams { line_search: false, must_converge: false, max_iterations: 4, ..newton };
                let mut integrator = BackwardEuler::new(few);
                integrator.damping_follows = true;
                Box::new(integrator)
            }
            3 => Box::new(Newmark::new(0.3025, 0.6, newton).unwrap()),
            EXPLICIT => Box::<CentralDifferences<_>>::default(),
            _ => {
                let newton = NewtonParams { tangent: NewtonTangent::ExactFirst, ..newton };
                let params = StaticParams { newton, ..StaticParams::default() };
                Static::new(params).solve(system, solver, &mut state).unwrap();
                return state;
            }
        };
        for _ in 0..8 {
            integrator.step(system, solver, &mut state, dt).unwrap();
        }
        state
    }
    for cells in [Cells::Tet5, Cells::Hex] {
        for integrator in 0..=STATIC {
            // The second body of the crowd has no equilibrium.
            let builder = || if integrator == STATIC { bar(cells) } else { crowded(cells) };
            let expected = run(&mut Assembly::new(builder().build().unwrap()), &mut precise(), integrator);
            let found = run(&mut builder().build_matrix_free().unwrap(), &mut precise(), integrator);
            let moved = expected.q.iter().fold(0.0, |most, q| f64::max(most, q.abs()));
            let difference = largest_difference(&expected.q, &found.q);
            println!("{cells:?}, integrator {integrator}: {difference:e} of {moved:e} m");
            assert!(
                moved > 1e-4 && difference < 1e-8,
                "{cells:?}, integrator {integrator}: {difference:e} of {moved:e} m"
            );
        }
    }
}

#[test]
fn reactions_and_changes_of_the_model_are_those_with_a_matrix() {
    let (model, mut free) = (crowded(Cells::Tet5).build().unwrap(), crowded(Cells::Tet5).build_matrix_free().unwrap());
    let state = State { q: vector(model.dim(), 0.01), v: vector(model.dim(), 0.3), ..model.rest_state() };
    let expected = model.reactions(&state);
    let found = free.model().reactions(&state);
    let size = expected.iter().fold(0.0, |most, f| f64::max(most, f.abs()));
    assert!(size > 0.0 && largest_difference(&expected, &found) < 1e-11 * size);
    let before = free.revision();
    free.model_mut().fix(Fixed::new(vec![40])).unwrap();
    assert!(free.fixed_mask()[120] && free.revision() != before);
    free.model_mut().release(&[40]);
    assert!(!free.fixed_mask()[120]);
}

#[test]
fn the_motion_is_bitwise_the_same_on_one_and_on_four_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut free = crowded(Cells::Tet5).build_matrix_free().unwrap();
            let mut state = free.rest_state();
            let (mut integrator, mut solver) = (LinearizedBackwardEuler::default(), BlockJacobi::default());
            for _ in 0..5 {
                integrator.step(&mut free, &mut solver, &mut state, 0.01).unwrap();
            }
            state
        })
    };
    assert_eq!(on(1), on(4));
}

#[test]
fn singular_matrices_and_numbers_that_are_not_are_named() {
    let mut free = bar(Cells::Tet5).build_matrix_free().unwrap();
    let n = free.dim();
    let first_free = free.fixed_mask().iter().position(|fixed| !fixed).unwrap();
    let mut force = vec![0.0; n];
    let mut linearize = |free: &mut MatrixFree, q: &[f64]| {
        free.linearize(q, &Conditions::START, Definiteness::Exact, &mut force).stiffness
    };
    let solve = |free: &mut MatrixFree, combination: Combination<'_, MatrixFree>| {
        free.assemble(combination);
        let mut solver = BlockJacobi::default();
        solver.set_matrix(free.matrix())?;
        solver.solve(free.matrix(), &vec![1.0; n], &mut vec![0.0; n])
    };
    // Zero weights: fixed coordinates have a one on the diagonal, all others zero.
    let error = solve(&mut free, Combination::of_mass(0.0)).unwrap_err();
    assert_eq!(error, NotPositiveDefinite { vertex: first_free as u32 / 3, axis: first_free % 3 }.into());

    let mut q = vec![0.0; n];
    q[3 * 50 + 1] = f64::NAN;
    let stiffness = linearize(&mut free, &q);
    let error = solve(&mut free, Combination::of_mass(1.3).and_stiffness(0.07, &stiffness)).unwrap_err();
    assert!(matches!(error, SolveError::NotFinite { what: "the matrix", vertex, .. } if vertex <= 50), "{error}");

    // Inverted elements make the stiffness indefinite.
    let rest = free.model().rest().to_vec();
    let inverted: Vec<f64> = rest.iter().flat_map(|x| [0.0, 0.0, -1.4 * x.z]).collect();
    let stiffness = linearize(&mut free, &inverted);
    let error = solve(&mut free, Combination::of_stiffness(1.0, &stiffness)).unwrap_err();
    assert!(matches!(error, SolveError::NotPositiveDefinite(_) | SolveError::Indefinite { .. }), "{error}");
    assert!(error.to_string().contains("not positive definite"), "{error}");

    let stiffness = linearize(&mut free, &vec![0.0; n]);
    free.assemble(Combination::of_mass(1.3).and_stiffness(0.07, &stiffness));
    let mut solver = BlockJacobi::new(CgParams { max_iterations: 2, tolerance: 1e-10 });
    solver.set_matrix(free.matrix()).unwrap();
    let error = solver.solve(free.matrix(), &vector(n, 1.0), &mut vec![0.0; n]).unwrap_err();
    assert!(matches!(error, SolveError::NotConverged { iterations: 2, .. }), "{error}");
    let error = solver.solve(free.matrix(), &vec![f64::NAN; n], &mut vec![0.0; n]).unwrap_err();
    assert_eq!(error.to_string(), "the right-hand side is not finite at coordinate 0 of vertex 0");
}

#[test]
fn the_model_within_moves_with_a_matrix_when_it_is_assembled() {
    let run = |model: Model| {
        let mut assembly = Assembly::new(model);
        let mut state = assembly.rest_state();
        let (mut integrator, mut solver) = (LinearizedBackwardEuler::default(), Direct::default());
        for _ in 0..5 {
            integrator.step(&mut assembly, &mut solver, &mut state, 0.01).unwrap();
        }
        state
    };
    let free = crowded(Cells::Tet5).build_matrix_free().unwrap();
    let expected = run(crowded(Cells::Tet5).build().unwrap());
    assert_eq!(run(free.model().clone()), expected);
    // The model of the matrix-free system itself is not changed.
    assert!(free.model().pattern().slot_count() < free.model().mass().pattern().slot_count());
}
