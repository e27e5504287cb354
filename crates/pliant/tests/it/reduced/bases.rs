//! Modes, modal derivatives and bases.

use std::path::Path;

use super::setup::{bar, clamped, go, material, on, some_basis};
use crate::support::{distance, largest};
use pliant::files::Disk;
use pliant::force::{Conditions, Definiteness, Elastic, Force, bind_all};
use pliant::integrator::{Integrator, Newmark};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::reduced::{
    Basis, Forces, Modes, ModesParams, ReducedElasticity, ReducedModel, Reduction, ReductionParams, modal_derivatives,
};
use pliant::solver::{Dense, Direct};
use pliant::sparse::BlockMatrix;

#[test]
fn modal_derivatives_solve_their_equation() {
    for (law, tolerance) in [("stvk", 1e-6), ("neo-hookean", 1e-5), ("mooney-rivlin", 1e-5), ("linear", 0.0)] {
        for is_free in [false, true] {
            let mesh = bar(Cells::Tet5, [5, 2, 2]);
            let clamp = mesh.vertex_sets()["x-min"].clone();
            let mut builder = Model::builder().body(Body::new(mesh.clone(), material(law, 1e5), 1000.0));
            if !is_free {
                builder = builder.fix(Fixed::new(clamp));
            }
            let model = builder.build().unwrap();
            let modes = Modes::find(&model, &ModesParams::new(4), &mut go).unwrap();
            let found = modal_derivatives(&model, &modes, 3, &mut go).unwrap();
            assert_eq!(found.len(), 6);
            let mut elastic = Elastic::uniform(&mesh, material(law, 1e5));
            let pattern = bind_all(mesh.vertex_count(), &mut [&mut elastic]);
            let stiffness = |u: &[f64]| {
                let mut k = BlockMatrix::zero(pattern.clone());
                elastic.add_gradient_and_stiffness(
                    u,
                    &Conditions::START,
                    Definiteness::Exact,
                    &mut vec![0.0; u.len()],
                    &mut k,
                );
                k
            };
            let product = |k: &BlockMatrix, x: &[f64]| {
                let mut y = vec![0.0; x.len()];
                k.mul(x, &mut y);
                y
            };
            let at_rest = stiffness(&vec![0.0; model.dim()]);
            for derivative in &found {
                let [i, j] = derivative.modes.map(|mode| &modes.shapes[mode]);
                let epsilon = 1e-5 / largest(j);
                let bent = |sign: f64| stiffness(&j.iter().map(|x| sign * epsilon * x).collect::<Vec<_>>());
                let (ahead, behind) = (product(&bent(1.0), i), product(&bent(-1.0), i));
                let mut expected: Vec<f64> =
                    ahead.iter().zip(&behind).map(|(a, b)| -(a - b) / (2.0 * epsilon)).collect();
                for motion in &modes.rigid {
                    // The resultant is balanced by inertia.
                    let part: f64 = motion.iter().zip(&expected).map(|(m, e)| m * e).sum();
                    let mut inertia = vec![0.0; expected.len()];
                    model.mass().mul(motion, &mut inertia);
                    expected.iter_mut().zip(&inertia).for_each(|(e, inertia)| *e -= part * inertia);
                    let mut moved = vec![0.0; expected.len()];
                    model.mass().mul(&derivative.shape, &mut moved);
                    let rigid: f64 = motion.iter().zip(&moved).map(|(m, d)| m * d).sum();
                    assert!(rigid.abs() <= 1e-9 * largest(&derivative.shape), "{law}: {rigid:e}");
                }
                let mut solved = product(&at_rest, &derivative.shape);
                for (number, fixed) in model.fixed_mask().iter().enumerate() {
                    if *fixed {
                        (solved[number], expected[number]) = (0.0, 0.0);
                    }
                }
                let size = largest(&expected);
                assert!(distance(&solved, &expected) <= tolerance * size, "{law} {is_free} {:?}", derivative.modes);
            }
        }
    }
}

#[test]
fn frequencies_that_symmetric_bodies_have_several_times_are_all_found() {
    // A cube has frequencies of multiplicity two and three. With all modes requested, the Krylov space is complete.
    let mesh = generate::block([1.0; 3], [4; 3], Cells::Hex).unwrap();
    let model = Model::builder().body(Body::new(mesh, material("linear", 1e5), 1000.0)).build().unwrap();
    let all = Modes::find(&model, &ModesParams::new(model.dim() - 6), &mut go).unwrap();
    let some = Modes::find(&model, &ModesParams::new(40), &mut go).unwrap();
    assert_eq!((all.rigid.len(), some.rigid.len()), (6, 6));
    let of_all = all.frequencies();
    let triples = of_all.windows(3).filter(|f| f[2] / f[0] - 1.0 < 1e-9).count();
    assert!(triples > 10, "{triples}");
    for (number, (found, expected)) in some.frequencies().iter().zip(&of_all).enumerate() {
        assert!((found / expected - 1.0).abs() < 1e-8, "mode {number}: {found} Hz, expected {expected}");
    }
    assert!(some.info.solves < 200, "{:?}", some.info);
    // Orthonormal, and the same in every run.
    let basis = Basis::new(&model, some.shapes.clone()).unwrap();
    assert!(basis.orthonormality(model.mass()) < 1e-12);
    for (shape, column) in some.shapes.iter().zip(basis.columns()) {
        assert!(distance(shape, column) < 1e-9 * largest(shape));
    }
    let again = Modes::find(&model, &ModesParams::new(40), &mut go).unwrap();
    assert_eq!(again.shapes, some.shapes);
}

/// Checks equal cantilevers of square section: every bending frequency has a multiplicity of twice the number of beams,
/// more than a block of three vectors finds at first.
#[test]
fn frequencies_that_are_there_many_times_are_all_found() {
    let mesh = generate::block([1.0, 0.2, 0.2], [6, 1, 1], Cells::Hex).unwrap();
    let clamp = mesh.vertex_sets()["x-min"].clone();
    let alone = Model::builder().body(Body::new(mesh.clone(), material("linear", 1e5), 1000.0));
    let alone = alone.fix(Fixed::new(clamp.clone())).build().unwrap();
    let one = Modes::find(&alone, &ModesParams::new(6), &mut go).unwrap();
    for (beams, count) in [(4, 24), (12, 26), (30, 20)] {
        let mut builder = Model::builder();
        for beam in 0..beams {
            let fixed: Vec<u32> = clamp.iter().map(|vertex| vertex + beam * mesh.vertex_count() as u32).collect();
            builder = builder.body(Body::new(mesh.clone(), material("linear", 1e5), 1000.0)).fix(Fixed::new(fixed));
        }
        let all = Modes::find(&builder.build().unwrap(), &ModesParams::new(count), &mut go).unwrap();
        for (number, found) in all.frequencies().iter().enumerate() {
            let expected = one.frequencies()[number / beams as usize];
            assert!((found / expected - 1.0).abs() < 1e-8, "{beams} beams, mode {number}: {found} Hz, not {expected}");
        }
    }
}

/// Checks the modes of a free body with its rigid motions, as other programs write them: only deformations become basis
/// vectors.
#[test]
fn rigid_motions_among_the_vectors_of_a_basis_are_left_out() {
    let mesh = bar(Cells::Tet5, [5, 2, 2]);
    let build = || Model::builder().body(Body::new(mesh.clone(), material("stvk", 1e5), 1000.0)).build().unwrap();
    let model = build();
    let modes = Modes::find(&model, &ModesParams::new(5), &mut go).unwrap();
    let vectors: Vec<Vec<f64>> = modes.rigid.iter().chain(&modes.shapes).cloned().collect();
    let (reduction, info) = Reduction::of_vectors(&model, vectors, &Forces::Auto, &mut on).unwrap();
    assert_eq!((info.basis.from, reduction.basis().size()), (11, 5));
    for (found, expected) in reduction.omega().iter().zip(&modes.omega) {
        assert!((found / expected - 1.0).abs() < 1e-9);
    }
    for rigid in &modes.rigid {
        assert!(largest(&reduction.basis().project(model.mass(), rigid)) < 1e-12);
    }
    // Vertices without elements do not constrain it.
    let data = pliant::mesh::MeshData {
        vertices: mesh.vertices().iter().copied().chain([Vec3::new(9.0, 9.0, 9.0)]).collect(),
        ..pliant::mesh::MeshData::new(Vec::new(), mesh.kind(), mesh.connectivity().to_vec())
    };
    let loose = VolumeMesh::check(data).unwrap().mesh;
    let model = Model::builder().body(Body::new(loose, material("stvk", 1e5), 1000.0)).build().unwrap();
    let (reduction, _) = Reduction::new(&model, &ReductionParams::new(5), &mut on).unwrap();
    assert!(reduction.is_free());
}

#[test]
fn modal_derivatives_of_a_slender_free_body_are_exact_too() {
    let mesh = generate::block([1.0, 0.01, 0.01], [100, 1, 1], Cells::Hex).unwrap();
    let model = Model::builder().body(Body::new(mesh, material("stvk", 1e5), 1000.0)).build().unwrap();
    let modes = Modes::find(&model, &ModesParams::new(2), &mut go).unwrap();
    let found = modal_derivatives(&model, &modes, 2, &mut go).unwrap();
    let rest = vec![0.0; model.dim()];
    let polynomial = pliant::force::StVkPolynomial::new(
        model.bodies()[0].mesh(),
        &[pliant::material::StVenantKirchhoff::from_moduli(YoungPoisson { young: 1e5, poisson: 0.35 })],
    );
    let polynomial = polynomial.unwrap();
    for derivative in &found {
        let [i, j] = derivative.modes.map(|mode| &modes.shapes[mode]);
        let (mut expected, mut solved) = (rest.clone(), rest.clone());
        polynomial.stiffness_derivative(&rest, i, j, &mut expected);
        expected.iter_mut().for_each(|x| *x = -*x);
        for motion in &modes.rigid {
            let part: f64 = motion.iter().zip(&expected).map(|(m, e)| m * e).sum();
            let mut inertia = rest.clone();
            model.mass().mul(motion, &mut inertia);
            expected.iter_mut().zip(&inertia).for_each(|(e, inertia)| *e -= part * inertia);
        }
        let elastic = model.bodies()[0].elastic().unwrap();
        elastic.add_stiffness_product(&rest, Definiteness::Exact, &derivative.shape, &mut solved);
        assert!(distance(&solved, &expected) < 1e-8 * largest(&expected), "{:?}", derivative.modes);
    }
}

#[test]
fn modes_do_not_depend_on_the_number_of_threads() {
    let mesh = generate::block([2.0, 0.5, 0.6], [40, 10, 12], Cells::Tet5).unwrap();
    let model = clamped("stvk", mesh).build().unwrap();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let params = ReductionParams { modes: Some(4), ..ReductionParams::new(6) };
            let (reduction, _) = Reduction::new(&model, &params, &mut on).unwrap();
            let ReducedElasticity::StVk(tensors) = reduction.elasticity().clone() else { panic!("a polynomial") };
            (reduction.basis().clone(), tensors)
        })
    };
    assert!(with(1) == with(4));
}

/// Checks the lowest frequencies of a rod, a cantilever and a ball against closed forms.
#[test]
fn frequencies_are_those_of_theory() {
    // A rod without lateral contraction: longitudinal waves at c = √(E/ρ), f = (2n − 1) c / 4L if one end is fixed,
    // f = n c / 2L if free.
    let law = || AnyLaw::new("linear", YoungPoisson { young: 1e5, poisson: 0.0 }).unwrap();
    let rod = generate::block([1.0, 0.02, 0.02], [60, 1, 1], Cells::Hex).unwrap();
    let speed = 10.0;
    let end = rod.vertex_sets()["x-min"].clone();
    let sideways = (0..rod.vertex_count() as u32).collect::<Vec<_>>();
    let guided = || {
        Model::builder()
            .body(Body::new(rod.clone(), law(), 1000.0))
            .fix(Fixed::new(sideways.clone()).along([false, true, true]))
    };
    let fixed = Modes::find(&guided().fix(Fixed::new(end)).build().unwrap(), &ModesParams::new(4), &mut go).unwrap();
    let free = Modes::find(&guided().build().unwrap(), &ModesParams::new(4), &mut go).unwrap();
    assert_eq!((fixed.rigid.len(), free.rigid.len()), (0, 1));
    for n in 1..=4 {
        let (fixed, free) = (fixed.frequencies()[n - 1], free.frequencies()[n - 1]);
        let (odd, n) = ((2 * n - 1) as f64, n as f64);
        assert!((fixed / (odd * speed / 4.0) - 1.0).abs() < 2e-3 * n, "{fixed}");
        assert!((free / (n * speed / 2.0) - 1.0).abs() < 2e-3 * n, "{free}");
    }
    // A cantilever: f = (1.8751², 4.6941², 7.8548²)/2π √(EI/ρA)/L². Bending frequencies have multiplicity two. The
    // elements lock, and also shear.
    let beam = generate::block([1.0, 0.02, 0.02], [120, 2, 2], Cells::Hex).unwrap();
    let end = beam.vertex_sets()["x-min"].clone();
    let model = Model::builder().body(Body::new(beam, law(), 1000.0)).fix(Fixed::new(end)).build().unwrap();
    let modes = Modes::find(&model, &ModesParams::new(6), &mut go).unwrap();
    let scale = speed * 0.02 / 12.0_f64.sqrt() / std::f64::consts::TAU;
    for (pair, root) in [1.875_104_f64, 4.694_091, 7.854_757].into_iter().enumerate() {
        for number in [2 * pair, 2 * pair + 1] {
            let found = modes.frequencies()[number];
            assert!(
                (found / (root * root * scale) - 1.0).abs() < 0.12,
                "{number}: {found} Hz, {}",
                root * root * scale
            );
        }
    }
    // A ball: the lowest modes are torsional and spheroidal of degree two, with multiplicity five: k R = 2.501 and, at
    // ν = 0.25, 2.640 (Love 1882; [Lamb1882]), with k the shear wave number.
    let law = AnyLaw::new("linear", YoungPoisson { young: 1e5, poisson: 0.25 }).unwrap();
    let ball = generate::ball(1.0, 20, Cells::Hex).unwrap();
    let model = Model::builder().body(Body::new(ball, law, 1000.0)).build().unwrap();
    let modes = Modes::find(&model, &ModesParams::new(10), &mut go).unwrap();
    let shear = (1e5 / 2.5 / 1000.0_f64).sqrt();
    for (number, omega) in modes.omega.iter().enumerate() {
        let expected = if number < 5 { 2.501 } else { 2.640 };
        assert!((omega / shear / expected - 1.0).abs() < 0.02, "mode {number}: kR = {}", omega / shear);
    }
}

#[test]
fn a_basis_of_snapshots_follows_what_they_show() {
    let build = || clamped("stvk", bar(Cells::Tet5, [8, 2, 2])).gravity(Vec3::new(0.0, -9.81, 0.0)).build().unwrap();
    let mut full = Assembly::new(build());
    let (mut state, mut integrator, mut solver) = (full.rest_state(), Newmark::default(), Direct::default());
    let mut snapshots = Vec::new();
    for _ in 0..60 {
        integrator.step(&mut full, &mut solver, &mut state, 0.01).unwrap();
        snapshots.push(state.q.clone());
    }
    let params = ReductionParams { snapshots: snapshots.clone(), only_snapshots: true, ..ReductionParams::new(12) };
    let (reduction, info) = Reduction::new(full.model(), &params, &mut on).unwrap();
    assert!(info.modes.is_none() && info.basis.from == 60 && info.basis.kept > 0.9999, "{:?}", info.basis);
    assert!(info.basis.orthonormality < 1e-12);
    assert!(info.basis.singular_values.windows(2).all(|s| s[0] >= s[1]));
    let follow = |reduction: Reduction| {
        let mut reduced = ReducedModel::new(build(), reduction).unwrap();
        let (mut few, mut integrator, mut dense) = (reduced.rest_state(), Newmark::default(), Dense::default());
        let mut worst: f64 = 0.0;
        for snapshot in &snapshots {
            integrator.step(&mut reduced, &mut dense, &mut few, 0.01).unwrap();
            worst = worst.max(distance(&reduced.expand(&few).q, snapshot));
        }
        worst / largest(&snapshots.concat())
    };
    let error = follow(reduction);
    assert!(error < 0.01, "{error}");
    // Combined with modes: the basis contains both.
    let mixed = ReductionParams { only_snapshots: false, modes: Some(6), ..ReductionParams { size: 14, ..params } };
    let (reduction, info) = Reduction::new(full.model(), &mixed, &mut on).unwrap();
    assert_eq!(info.basis.from, 6 + 21 + 60);
    let error = follow(reduction);
    assert!(error < 0.03, "{error}");
}

#[test]
fn bases_go_to_numpy_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("basis.npy");
    let model = clamped("stvk", bar(Cells::Tet5, [4, 1, 1])).build().unwrap();
    let basis = some_basis(&model, 3);
    basis.write(&Disk, &path).unwrap();
    let vectors = Basis::read_vectors(&Disk, &path, model.node_count()).unwrap();
    assert_eq!(vectors, basis.columns());
    let error = Basis::read_vectors(&Disk, &path, 7).unwrap_err().to_string();
    assert!(error.ends_with("basis.npy: a basis of 60 rows, expected 21: three per vertex"), "{error}");
    assert!(Basis::read_vectors(&Disk, Path::new("nowhere.npy"), 7).is_err());
}

/// Checks that a beam in millimeters, meters and kilometers has the same basis vectors.
#[test]
fn a_basis_does_not_depend_on_units() {
    let kept = |size: f64, young: f64, density: f64| {
        let mesh = generate::block([size, 0.1 * size, 0.1 * size], [12, 2, 2], Cells::Hex).unwrap();
        let clamp = mesh.vertex_sets()["x-min"].clone();
        let law = AnyLaw::new("stvk", YoungPoisson { young, poisson: 0.3 }).unwrap();
        let model = Model::builder().body(Body::new(mesh, law, density)).fix(Fixed::new(clamp)).build().unwrap();
        let (reduction, info) = Reduction::new(&model, &ReductionParams::new(15), &mut on).unwrap();
        let lowest = info.modes.unwrap().omega[0];
        assert!((reduction.omega()[0] / lowest - 1.0).abs() < 1e-6, "{size} m: {} of {lowest}", reduction.omega()[0]);
        reduction.omega().iter().map(|omega| omega / lowest).collect::<Vec<_>>()
    };
    let expected = kept(1.0, 1e6, 1000.0);
    for (size, young, density) in [(1e-3, 1e6, 1000.0), (1e3, 1e6, 1000.0), (1.0, 1e-3, 1e-6), (1.0, 2e11, 7800.0)] {
        assert!(
            distance(&kept(size, young, density), &expected) < 1e-4 * largest(&expected),
            "{size} {young} {density}"
        );
    }
}
