//! The hot path does not allocate: on one thread, and after setup, the memory in use never increases.

use std::ops::ControlFlow;

use pliant::damping::Damping;
use pliant::force::{Conditions, Definiteness, Elastic, Force, Obstacle, Obstacles, bind_all};
use pliant::integrator::{
    BackwardEuler, Bdf2, CentralDifferences, Integrator, LinearizedBackwardEuler, Newmark, SymplecticEuler,
};
use pliant::material::{AnyLaw, Inversion, Material, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::reduced::{ExactModes, ReducedModel, Reduction, ReductionParams};
use pliant::solver::{
    BlockJacobi, CgParams, Dense, LinearMap, Operator, SolverParams, StaleFactorParams, VertexFrames,
};
use pliant::sparse::BlockMatrix;
use pliant::system::{State, System};

use crate::{MEMORY, alone};

#[test]
fn energy_force_and_stiffness_allocate_nothing() {
    let _alone = alone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = generate::block([1.0, 1.0, 1.0], [8, 8, 8], cells).unwrap();
        for entry in AnyLaw::ALL {
            let moduli = YoungPoisson { young: 1e5, poisson: 0.4 };
            let law: Material = AnyLaw::new(entry.name, moduli).unwrap().into();
            let threshold = Inversion::DEFAULT_THRESHOLD;
            let law = law.clone().with_inversion(Inversion::Extrapolate { threshold }).unwrap_or(law);
            let mut elastic = Elastic::uniform(&mesh, law);
            let mut stiffness = BlockMatrix::zero(bind_all(mesh.vertex_count(), &mut [&mut elastic]));
            let mut rng = fastrand::Rng::with_seed(1);
            let u: Vec<f64> = (0..3 * mesh.vertex_count()).map(|_| 0.3 * (rng.f64() - 0.5)).collect();
            let mut force = vec![0.0; u.len()];
            let mut diagonal = vec![[0.0; 9]; mesh.vertex_count()];
            pool.install(|| {
                MEMORY.reset_peak_usage();
                let before = MEMORY.current_usage();
                let energy = elastic.energy(&u, &Conditions::START);
                elastic.add_gradient(&u, &Conditions::START, &mut force);
                elastic.add_gradient_and_stiffness(
                    &u,
                    &Conditions::START,
                    Definiteness::Exact,
                    &mut force,
                    &mut stiffness,
                );
                elastic.add_gradient_and_stiffness(
                    &u,
                    &Conditions::START,
                    Definiteness::Projected,
                    &mut force,
                    &mut stiffness,
                );
                elastic.add_stiffness_product(&u, Definiteness::Projected, &u, &mut force);
                elastic.add_gradient_and_diagonal(&u, Definiteness::Exact, &mut force, &mut diagonal);
                let after = MEMORY.peak_usage();
                assert!(energy > 0.0, "{} on {cells:?}", entry.name);
                assert_eq!(after, before, "{} on {cells:?}", entry.name);
            });
        }
    }
}

/// Checks that only factorizations allocate scratch memory, and steps that reuse the factor allocate none.
#[test]
fn setting_and_solving_systems_allocates_nothing() {
    let _alone = alone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mesh = generate::block([1.0, 1.0, 1.0], [6, 6, 6], Cells::Tet5).unwrap();
    let law = AnyLaw::new("corotational", YoungPoisson { young: 1e5, poisson: 0.4 }).unwrap();
    let mut elastic = Elastic::uniform(&mesh, law);
    let mut matrix = BlockMatrix::zero(bind_all(mesh.vertex_count(), &mut [&mut elastic]));
    let u = vec![0.0; 3 * mesh.vertex_count()];
    elastic.add_gradient_and_stiffness(&u, &Conditions::START, Definiteness::Exact, &mut u.clone(), &mut matrix);
    for vertex in 0..mesh.vertex_count() as u32 {
        matrix.add_block(vertex, vertex, &[[1e5, 0.0, 0.0], [0.0, 1e5, 0.0], [0.0, 0.0, 1e5]]);
    }
    let frames = VertexFrames::new(mesh.vertex_count(), &[(0, &mesh)]);
    let mut operator = Operator { u, frames: Some(std::sync::Arc::new(frames)), ..Operator::new(matrix) };
    let b: Vec<f64> = (0..operator.u.len()).map(|i| (i as f64).sin()).collect();
    let mut x = vec![0.0; b.len()];
    let cg = CgParams::default();
    for params in [
        SolverParams::default(),
        SolverParams::BlockJacobi(cg),
        SolverParams::IncompleteCholesky(cg),
        SolverParams::StaleFactor(StaleFactorParams::default()),
    ] {
        let mut solver = params.build();
        pool.install(|| {
            for step in 0..5 {
                // A motion small enough that the stale factor is kept.
                operator.u.iter_mut().enumerate().for_each(|(i, u)| *u += 1e-4 * (i as f64).cos());
                x.fill(0.0);
                MEMORY.reset_peak_usage();
                let before = MEMORY.current_usage();
                solver.set_matrix(&operator).unwrap();
                solver.solve(&operator, &b, &mut x).unwrap();
                let after = MEMORY.peak_usage();
                assert!(step == 0 || after == before, "{params:?} in step {step}: {}", after - before);
            }
        });
    }
}

#[test]
fn steps_allocate_nothing_after_the_first() {
    let _alone = alone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let integrators: [(&str, Box<dyn Integrator<Assembly>>); 6] = [
        ("linearized backward Euler", Box::<LinearizedBackwardEuler>::default()),
        ("backward Euler", Box::<BackwardEuler>::default()),
        ("BDF2", Box::<Bdf2>::default()),
        ("Newmark", Box::<Newmark>::default()),
        ("central differences", Box::<CentralDifferences<_>>::default()),
        ("symplectic Euler", Box::<SymplecticEuler>::default()),
    ];
    for (name, mut integrator) in integrators {
        let mesh = generate::block([1.0, 1.0, 1.0], [5, 5, 5], Cells::Tet5).unwrap();
        let clamp = mesh.vertex_sets()["x-min"].clone();
        let law = AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e5, poisson: 0.4 }).unwrap();
        let obstacles = Obstacles::new(mesh.vertices(), vec![Obstacle::plane(Vec3::ZERO, Vec3::Y, 1e4)]).unwrap();
        let model = Model::builder()
            .body(Body::new(mesh, law, 1000.0))
            .force(obstacles)
            .fix(Fixed::new(clamp))
            .gravity(Vec3::new(0.0, -9.81, 0.0))
            .damping(Damping::rayleigh(0.1, 1e-3).unwrap())
            .build()
            .unwrap();
        let mut state = model.rest_state();
        let mut assembly = Assembly::new(model);
        let mut solver = SolverParams::StaleFactor(StaleFactorParams::default()).build();
        pool.install(|| {
            for step in 0..6 {
                MEMORY.reset_peak_usage();
                let before = MEMORY.current_usage();
                let info = integrator.step(&mut assembly, &mut *solver, &mut state, 1e-4).unwrap();
                let after = MEMORY.peak_usage();
                assert!(step == 0 || after == before, "{name} in step {step}: {} bytes, {info:?}", after - before);
            }
        });
    }
}

#[test]
fn steps_of_reduced_models_allocate_nothing_after_the_first() {
    let _alone = alone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for law in ["linear", "stvk", "neo-hookean"] {
        let integrators: [(&str, Box<dyn Integrator<ReducedModel>>); 6] = [
            ("linearized backward Euler", Box::<LinearizedBackwardEuler>::default()),
            ("backward Euler", Box::<BackwardEuler>::default()),
            ("BDF2", Box::<Bdf2>::default()),
            ("Newmark", Box::<Newmark>::default()),
            ("central differences", Box::<CentralDifferences<_>>::default()),
            ("exact modes", Box::<ExactModes>::default()),
        ];
        for (name, mut integrator) in integrators {
            let mesh = generate::block([1.0, 0.2, 0.2], [10, 2, 2], Cells::Tet5).unwrap();
            let clamp = mesh.vertex_sets()["x-min"].clone();
            let law = AnyLaw::new(law, YoungPoisson { young: 1e5, poisson: 0.4 }).unwrap();
            let obstacles = Obstacles::new(mesh.vertices(), vec![Obstacle::plane(Vec3::ZERO, Vec3::Y, 1e4)]).unwrap();
            let model = Model::builder()
                .body(Body::new(mesh, law, 1000.0))
                .force(obstacles)
                .fix(Fixed::new(clamp))
                .gravity(Vec3::new(0.0, -9.81, 0.0))
                .damping(Damping::rayleigh(0.1, 1e-3).unwrap())
                .build()
                .unwrap();
            let params = ReductionParams::new(10);
            let (reduction, _) = Reduction::new(&model, &params, &mut |_| ControlFlow::Continue(())).unwrap();
            let mut reduced = ReducedModel::new(model, reduction).unwrap();
            let (mut state, mut solver) = (reduced.rest_state(), Dense::default());
            pool.install(|| {
                for step in 0..8 {
                    MEMORY.reset_peak_usage();
                    let before = MEMORY.current_usage();
                    integrator.step(&mut reduced, &mut solver, &mut state, 1e-4).unwrap();
                    let after = MEMORY.peak_usage();
                    // The first steps determine how many vertices touch the plane.
                    assert!(step < 3 || after == before, "{name} in step {step}: {} bytes", after - before);
                }
            });
        }
    }
}

#[test]
fn steps_without_a_matrix_allocate_nothing_after_the_first() {
    let _alone = alone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mesh = generate::block([1.0, 1.0, 1.0], [5, 5, 5], Cells::Tet5).unwrap();
    let clamp = mesh.vertex_sets()["x-min"].clone();
    let law = AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e5, poisson: 0.4 }).unwrap();
    let mut system = Model::builder()
        .body(Body::new(mesh, law, 1000.0))
        .fix(Fixed::new(clamp))
        .gravity(Vec3::new(0.0, -9.81, 0.0))
        .damping(Damping::rayleigh(0.1, 1e-3).unwrap())
        .build_matrix_free()
        .unwrap();
    let mut state = system.rest_state();
    let (mut integrator, mut solver) = (BackwardEuler::default(), BlockJacobi::default());
    pool.install(|| {
        for step in 0..6 {
            MEMORY.reset_peak_usage();
            let before = MEMORY.current_usage();
            let info = integrator.step(&mut system, &mut solver, &mut state, 1e-3).unwrap();
            let after = MEMORY.peak_usage();
            assert!(step == 0 || after == before, "step {step}: {} bytes, {info:?}", after - before);
        }
    });
}

#[test]
fn a_model_without_a_matrix_takes_little_more_than_half_the_memory() {
    fn memory_of<S: System<Matrix: LinearMap>>(build: impl FnOnce(ModelBuilder) -> S) -> usize {
        let mesh = generate::block([1.0, 1.0, 1.0], [20, 20, 20], Cells::Tet5).unwrap();
        let law = AnyLaw::new("stvk", YoungPoisson { young: 1e4, poisson: 0.4 }).unwrap();
        let before = MEMORY.current_usage();
        let damping = Damping::rayleigh(0.1, 1e-3).unwrap();
        let mut system = build(Model::builder().body(Body::new(mesh.clone(), law, 1000.0)).damping(damping));
        let mut state = State::new(system.dim());
        let (mut integrator, mut solver) = (LinearizedBackwardEuler::default(), BlockJacobi::default());
        integrator.step(&mut system, &mut solver, &mut state, 1e-3).unwrap();
        drop((state, integrator, solver));
        (MEMORY.current_usage() - before) / mesh.element_count()
    }
    let _alone = alone();
    let with = memory_of(|builder| Assembly::new(builder.build().unwrap()));
    let without = memory_of(|builder| builder.build_matrix_free().unwrap());
    println!("{with} bytes a tetrahedron with a matrix, {without} without");
    assert!(10 * without < 6 * with, "{without} of {with} bytes a tetrahedron");
}
