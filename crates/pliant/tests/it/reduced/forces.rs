//! Forces, stiffnesses and files of reduced models.

use std::ops::ControlFlow;

use super::setup::{bar, clamped, go, material, of_basis, on, random, some_basis};
use crate::support::{distance, largest};
use pliant::files::{Disk, Files};
use pliant::force::{Conditions, Definiteness, Force, Handle, Handles, Obstacle, Obstacles};
use pliant::integrator::{Integrator, Newmark};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, generate};
use pliant::model::{Body, Fixed, Model};
use pliant::reduced::{
    CubatureParams, Forces, Modes, ModesError, ModesParams, ReducedElasticity, ReducedElements, ReducedModel,
    Reduction, ReductionError, ReductionParams, StVkTensors,
};
use pliant::solver::{Dense, DenseMatrix};
use pliant::sparse::BlockMatrix;
use pliant::system::{Combination, System};

#[test]
fn the_polynomial_is_the_projected_model_to_rounding() {
    for cells in [Cells::Tet5, Cells::Hex] {
        // Two bodies, one of two materials with a negative Poisson's ratio in one of them.
        let two = bar(cells, [4, 2, 2]);
        let other = generate::block([0.5, 0.2, 0.2], [2, 1, 1], cells).unwrap();
        let moduli = YoungPoisson { young: 3e5, poisson: -0.2 };
        let soft = AnyLaw::new("stvk", moduli).unwrap();
        let clamp = two.vertex_sets()["x-min"].clone();
        let second = two.vertex_count() as u32;
        let fixed: Vec<u32> = clamp.into_iter().chain(second..second + 4).collect();
        let model = Model::builder()
            .body(Body::new(two, material("stvk", 1e5), 1000.0))
            .body(Body::new(other, soft, 500.0))
            .fix(Fixed::new(fixed))
            .build()
            .unwrap();
        let basis = some_basis(&model, 9);
        let mut tensors = StVkTensors::new(&model, &basis, &mut |_, _| ControlFlow::Continue(())).unwrap();
        let r = basis.size();
        // From small displacements to displacements that invert elements.
        for (seed, size) in [(1, 1e-6), (2, 0.1), (3, 3.0), (4, 40.0)] {
            let q = random(r, size, seed);
            let u = basis.expand(&q);
            let elastic = || model.bodies().iter().filter_map(|body| body.elastic());
            let (mut f, mut k) = (vec![0.0; u.len()], BlockMatrix::zero(model.pattern().clone()));
            for force in elastic() {
                force.add_gradient_and_stiffness(&u, &Conditions::START, Definiteness::Exact, &mut f, &mut k);
            }
            let energy: f64 = elastic().map(|force| force.energy(&u, &Conditions::START)).sum();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let expected_f: Vec<f64> = basis.columns().iter().map(|column| dot(column, &f)).collect();
            let mut product = vec![0.0; u.len()];
            let mut expected_k = Vec::new();
            for column in basis.columns() {
                k.mul(column, &mut product);
                expected_k.extend(basis.columns().iter().map(|row| dot(row, &product)));
            }
            let (mut found_f, mut found_k) = (vec![0.0; r], DenseMatrix::zero(r));
            tensors.force_and_stiffness(&q, &mut found_f, &mut found_k);
            let relative = |found: &[f64], expected: &[f64]| distance(found, expected) / largest(expected);
            assert!(relative(&found_f, &expected_f) < 1e-10, "{cells:?}, {size}");
            assert!(relative(found_k.values(), &expected_k) < 1e-10, "{cells:?}, {size}");
            assert!((tensors.energy(&q) / energy - 1.0).abs() < 1e-10, "{cells:?}, {size}");
            let mut alone = vec![0.0; r];
            tensors.force(&q, &mut alone);
            assert_eq!(alone, found_f);
        }
    }
}

/// Checks that force and stiffness of a reduced model are derivatives of its energy, for all forces and evaluations.
#[test]
fn forces_and_stiffnesses_are_derivatives() {
    for law in ["linear", "stvk", "neo-hookean", "corotational"] {
        for is_free in [false, true] {
            if is_free && law == "linear" {
                continue;
            }
            let mesh = bar(Cells::Tet5, [6, 2, 2]);
            let rest = mesh.vertices().to_vec();
            let clamp = mesh.vertex_sets()["x-min"].clone();
            let far = mesh.vertex_sets()["x-max"][0];
            let handle = Handle::new(far, 300.0, Vec3::new(1.2, 0.3, 0.1));
            let floor = Obstacle::plane(Vec3::new(0.0, 0.05, 0.0), Vec3::new(0.1, 1.0, 0.2), 500.0);
            let mut builder = Model::builder()
                .body(Body::new(mesh, material(law, 1e5), 1000.0))
                .gravity(Vec3::new(0.3, -9.0, 1.0))
                .force(Handles::new(&rest[..], [handle]).unwrap())
                .force(Obstacles::new(&rest[..], [floor]).unwrap());
            if !is_free {
                builder = builder.fix(Fixed::new(clamp));
            }
            let mut model = builder.build().unwrap();
            model.loads_mut()[3 * far as usize + 2] = 4.0;
            let forces = if law == "corotational" { Forces::Projection } else { Forces::Auto };
            let params = ReductionParams { forces, ..ReductionParams::new(8) };
            let (reduction, _) = Reduction::new(&model, &params, &mut on).unwrap();
            let mut reduced = ReducedModel::new(model, reduction).unwrap();
            assert_eq!(reduced.dim(), if is_free { 14 } else { 8 });
            let n = reduced.dim();
            if is_free {
                // Translated, rotated and bent.
                let mut state = reduced.rest_state();
                state.q = random(n, 0.1, 5);
                reduced.follow(&mut state, 0.01);
            }
            for seed in 0..3 {
                // The energy of this law is undefined for inverted elements.
                let q = random(n, if law == "neo-hookean" { 0.05 } else { 0.4 }, seed);
                let (mut f, mut behind, mut ahead) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
                let stiffness = reduced.linearize(&q, &Conditions::START, Definiteness::Exact, &mut f).stiffness;
                let stiffest = (0..n)
                    .map(|j| {
                        let mut column = vec![0.0; n];
                        let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
                        reduced.mul(Combination::of_stiffness(1.0, &stiffness), &unit, &mut column);
                        column
                    })
                    .collect::<Vec<_>>();
                let scale = stiffest.iter().map(|column| largest(column)).fold(0.0, f64::max);
                let epsilon = 1e-5;
                for j in 0..n {
                    let mut at = |sign: f64, force: &mut [f64]| {
                        let mut moved = q.clone();
                        moved[j] += sign * epsilon;
                        reduced.force(&moved, &Conditions::START, force);
                        reduced.energy(&moved, &Conditions::START).unwrap()
                    };
                    let slope = (at(1.0, &mut ahead) - at(-1.0, &mut behind)) / (2.0 * epsilon);
                    assert!((slope + f[j]).abs() < 1e-5 * scale, "{law} {is_free}: {slope} {}", -f[j]);
                    for i in 0..n {
                        let change = -(ahead[i] - behind[i]) / (2.0 * epsilon);
                        assert!(
                            (change - stiffest[j][i]).abs() < 1e-5 * scale,
                            "{law} {is_free} {i} {j}: {change} {}",
                            stiffest[j][i]
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_numbers() {
    let model = clamped("stvk", bar(Cells::Tet5, [3, 1, 1])).build().unwrap();
    let find = |count: usize| Modes::find(&model, &ModesParams::new(count), &mut go).unwrap_err().to_string();
    assert_eq!(find(0), "0 modes, expected at least 1 and at most the 36 that the model has");
    assert_eq!(find(37), "37 modes, expected at least 1 and at most the 36 that the model has");
    let stopped = Modes::find(&model, &ModesParams::new(3), &mut |_| ControlFlow::Break(()));
    assert_eq!(stopped.unwrap_err(), ModesError::Stopped);
    let reduce =
        |model: &Model, params: &ReductionParams| Reduction::new(model, params, &mut on).unwrap_err().to_string();
    let too_many = reduce(&model, &ReductionParams::new(400));
    assert!(too_many.starts_with("a basis of 400 vectors, expected at least 1 and at most 36,"), "{too_many}");
    let snapshots = ReductionParams { only_snapshots: true, ..ReductionParams::new(2) };
    assert_eq!(reduce(&model, &snapshots), "no snapshots to build a basis from");
    let wrong = ReductionParams { snapshots: vec![vec![0.0; 5]], ..snapshots };
    assert_eq!(reduce(&model, &wrong), "a vector has 5 numbers, expected 48: three per vertex");
    // Fixed at one vertex, it can still rotate.
    let mesh = bar(Cells::Tet5, [3, 1, 1]);
    let hinged = |vertices: Vec<u32>| {
        let body = Body::new(mesh.clone(), material("stvk", 1e5), 1000.0);
        Model::builder().body(body).fix(Fixed::new(vertices)).build().unwrap()
    };
    assert!(reduce(&hinged(vec![0]), &ReductionParams::new(3)).starts_with("the body has 3 rigid degrees of freedom"));
    assert!(
        reduce(&hinged(vec![0, 1]), &ReductionParams::new(3)).starts_with("the body has 1 rigid degrees of freedom")
    );
    let two = Model::builder()
        .body(Body::new(mesh.clone(), material("stvk", 1e5), 1000.0))
        .body(Body::new(mesh.clone(), material("stvk", 1e5), 1000.0))
        .build()
        .unwrap();
    assert!(reduce(&two, &ReductionParams::new(3)).starts_with("2 bodies, some of them free"));
    let none = Forces::Cubature(CubatureParams { elements: 0, ..CubatureParams::default() });
    let none = reduce(&model, &ReductionParams { forces: none, ..ReductionParams::new(3) });
    assert_eq!(none, "a cubature of at most 0 elements, expected at least 1");
    let wild = CubatureParams { poses: 0, ..CubatureParams::default() };
    let wild = reduce(&model, &ReductionParams { forces: Forces::Cubature(wild), ..ReductionParams::new(3) });
    assert!(wild.starts_with("the cubature selected no element at the 0 poses"), "{wild}");
    let loose = Model::builder().body(Body::without_elasticity(mesh.clone(), 1.0)).build().unwrap();
    assert!(reduce(&loose, &ReductionParams::new(3)).contains("has no elasticity"));
    // A reduction of another mesh, of other materials, with a prescribed motion.
    let (reduction, _) = Reduction::new(&model, &ReductionParams::new(3), &mut on).unwrap();
    let other = |model: Model| ReducedModel::new(model, reduction.clone()).unwrap_err();
    let finer = clamped("stvk", bar(Cells::Tet5, [4, 1, 1])).build().unwrap();
    assert!(matches!(other(finer), ReductionError::OtherMesh { .. }));
    let free = Model::builder().body(Body::new(mesh.clone(), material("stvk", 1e5), 1000.0)).build().unwrap();
    assert!(matches!(other(free), ReductionError::OtherMesh { .. }));
    let of_law = |law: &str| clamped(law, mesh.clone()).build().unwrap();
    assert!(matches!(other(of_law("neo-hookean")), ReductionError::OtherMaterial { .. }));
    ReducedModel::new(of_law("stvk"), reduction.clone()).unwrap();
    let lumped = clamped("stvk", mesh.clone()).lumped_mass().build().unwrap();
    assert!(matches!(other(lumped), ReductionError::OtherMaterial { .. }));
    let clamp = mesh.vertex_sets()["x-min"].clone();
    let motion = pliant::motion::Motion::Function(std::sync::Arc::new(|_, x| x));
    let body = Body::new(mesh.clone(), material("stvk", 1e5), 1000.0);
    let moving = Model::builder().body(body).fix(Fixed::prescribed(clamp, motion)).build().unwrap();
    assert!(matches!(other(moving), ReductionError::MovingFixed { .. }));
}

#[test]
fn cubature_stands_for_all_elements_with_a_few() {
    for (law, cells) in [("neo-hookean", Cells::Tet5), ("stable-neo-hookean", Cells::Hex)] {
        let mesh = generate::block([1.0, 0.15, 0.15], [20, 4, 4], cells).unwrap();
        let elements = mesh.element_count();
        let model = clamped(law, mesh).build().unwrap();
        let params = CubatureParams { elements: 120, ..CubatureParams::default() };
        let params = ReductionParams { forces: Forces::Cubature(params), ..ReductionParams::new(12) };
        let (reduction, info) = Reduction::new(&model, &params, &mut on).unwrap();
        let cubature = info.cubature.unwrap();
        assert!(cubature.elements <= 120 && 2 * cubature.elements < elements, "{cubature:?}");
        assert!(cubature.fitted < 0.02 && cubature.tested.unwrap() < 0.06, "{law} {cells:?}: {cubature:?}");
        let ReducedElasticity::Elements(few) = reduction.elasticity() else { panic!("elements") };
        assert!(few.selection().unwrap().iter().all(|element| element.weight > 0.0));
        // It swings as the model that evaluates all elements.
        let exact = of_basis(&model, reduction.basis(), &Forces::Projection);
        let tip = |reduction: Reduction| {
            let model = clamped(law, generate::block([1.0, 0.15, 0.15], [20, 4, 4], cells).unwrap());
            let model = model.gravity(Vec3::new(0.0, -9.81, 0.0)).build().unwrap();
            let mut reduced = ReducedModel::new(model, reduction).unwrap();
            let (mut state, mut integrator) = (reduced.rest_state(), Newmark::default());
            for _ in 0..60 {
                integrator.step(&mut reduced, &mut Dense::default(), &mut state, 0.01).unwrap();
            }
            reduced.expand(&state).q
        };
        let (found, expected) = (tip(reduction), tip(exact));
        let error = distance(&found, &expected) / largest(&expected);
        assert!(error < 0.03, "{law} {cells:?}: {error}");
        assert!(largest(&expected) > 0.1);
    }
}

#[test]
fn a_reduced_model_survives_its_file_and_what_is_broken_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.pliant");
    for (law, forces) in [
        ("stvk", Forces::Auto),
        ("linear", Forces::Auto),
        ("neo-hookean", Forces::Projection),
        ("neo-hookean", Forces::Cubature(CubatureParams { elements: 20, ..CubatureParams::default() })),
    ] {
        let build = || clamped(law, bar(Cells::Tet5, [4, 1, 1])).build().unwrap();
        let params = ReductionParams { forces, ..ReductionParams::new(5) };
        let (reduction, _) = Reduction::new(&build(), &params, &mut on).unwrap();
        reduction.write(&Disk, &path).unwrap();
        let read = Reduction::read(&Disk, &path, &build()).unwrap();
        assert_eq!(read.basis(), reduction.basis());
        assert_eq!((read.omega(), read.is_free()), (reduction.omega(), false));
        assert_eq!(read.elasticity().name(), reduction.elasticity().name());
        let force = |reduction: Reduction| {
            let mut force = vec![0.0; 5];
            ReducedModel::new(build(), reduction).unwrap().force(&random(5, 0.1, 1), &Conditions::START, &mut force);
            assert!(force.iter().all(|force| force.is_finite()));
            force
        };
        assert_eq!(force(read), force(reduction));
        let good = std::fs::read(&path).unwrap();
        let try_bytes = |bytes: &[u8]| {
            Disk.write(&path, bytes).unwrap();
            Reduction::read(&Disk, &path, &build())
        };
        for end in [0, 1, 7, 8, 11, 12, 20, 60, good.len() / 2, good.len() - 1] {
            assert!(matches!(try_bytes(&good[..end]), Err(ReductionError::Broken { .. })), "{end}");
        }
        for place in (0..good.len()).step_by(good.len() / 97) {
            let mut changed = good.clone();
            changed[place] ^= 0x10;
            assert!(try_bytes(&changed).is_err(), "{place}");
        }
        let error = try_bytes(b"solid something else altogether").unwrap_err().to_string();
        assert!(error.contains("model.pliant: not a complete reduced model: it does not begin with `PLIANTRM`"));
    }
}

#[test]
fn cubature_of_a_slender_beam_bends_as_it_should() {
    let mesh = generate::block([2.0, 0.05, 0.05], [40, 2, 2], Cells::Hex).unwrap();
    for gravity in [0.0002, 0.01] {
        let build = || {
            let model = clamped("stable-neo-hookean", mesh.clone());
            model.gravity(Vec3::new(0.0, -gravity, 0.0)).build().unwrap()
        };
        let tip = |forces: Forces| {
            let params = ReductionParams { forces, ..ReductionParams::new(20) };
            let (reduction, _) = Reduction::new(&build(), &params, &mut on).unwrap();
            let mut reduced = ReducedModel::new(build(), reduction).unwrap();
            let mut state = reduced.rest_state();
            let mut integrator = pliant::integrator::Static::default();
            integrator.solve(&mut reduced, &mut Dense::default(), &mut state).unwrap();
            let vertex = mesh.vertex_sets()["x-max"][0] as usize;
            Vec3::from_slice(&reduced.expand(&state).q[3 * vertex..])
        };
        let (few, all) = (tip(Forces::Auto), tip(Forces::Projection));
        assert!(all.y < -50.0 * gravity, "{all}");
        assert!(few.distance(all) < 0.01 * all.length(), "{few} {all}");
    }
}

#[test]
fn all_elements_with_unit_weights_are_all_elements() {
    let model = clamped("mooney-rivlin", bar(Cells::Tet5, [3, 2, 1])).build().unwrap();
    let basis = some_basis(&model, 4);
    let all = (0..model.bodies()[0].mesh().element_count() as u32)
        .map(|element| pliant::reduced::WeightedElement { body: 0, element, weight: 1.0 })
        .collect::<Vec<_>>();
    let reduction = of_basis(&model, &basis, &Forces::Projection);
    let selected = ReducedElements::selected(&model, reduction.basis(), &all).unwrap();
    assert_eq!(selected.selection().unwrap().len(), all.len());
    let missing = pliant::reduced::WeightedElement { body: 0, element: 1000, weight: 1.0 };
    assert!(ReducedElements::selected(&model, reduction.basis(), &[missing]).is_err());
}
