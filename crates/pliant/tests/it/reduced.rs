//! Reduced models compared with the full models.

use std::ops::ControlFlow;
use std::path::Path;

use crate::support::{distance, largest};
use pliant::damping::Damping;
use pliant::files::{Disk, Files};
use pliant::force::{Conditions, Definiteness, Elastic, Force, Handle, Handles, Obstacle, Obstacles, bind_all};
use pliant::integrator::{BackwardEuler, Integrator, LinearizedBackwardEuler, Newmark, SymplecticEuler};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::{Mat3, Vec3};
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::reduced::{
    Basis, CubatureParams, ExactModes, FloatingFrame, Forces, Modes, ModesError, ModesParams, Progress,
    ReducedElasticity, ReducedElements, ReducedModel, Reduction, ReductionError, ReductionParams, StVkTensors,
    modal_derivatives,
};
use pliant::solver::{Dense, DenseMatrix, Direct};
use pliant::sparse::BlockMatrix;
use pliant::system::{Combination, State, System};

fn go(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn material(law: &str, young: f64) -> AnyLaw {
    AnyLaw::new(law, YoungPoisson { young, poisson: 0.35 }).unwrap()
}

fn bar(cells: Cells, n: [usize; 3]) -> VolumeMesh {
    generate::block([1.0, 0.2, 0.3], n, cells).unwrap()
}

fn clamped(law: &str, mesh: VolumeMesh) -> ModelBuilder {
    let clamp = mesh.vertex_sets()["x-min"].clone();
    Model::builder().body(Body::new(mesh, material(law, 1e5), 1000.0)).fix(Fixed::new(clamp))
}

fn random(count: usize, size: f64, seed: u64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| size * (2.0 * rng.f64() - 1.0)).collect()
}

/// Returns the complete basis of a model: all its free degrees of freedom.
fn complete(model: &Model) -> Basis {
    let unit = |i: usize| {
        let mut vector = vec![0.0; model.dim()];
        vector[i] = 1.0;
        vector
    };
    let free = (0..model.dim()).filter(|&i| !model.fixed_mask()[i]);
    Basis::new(model, free.map(unit).collect()).unwrap()
}

/// Returns the reduction of a model to a basis.
fn of_basis(model: &Model, basis: &Basis, forces: &Forces) -> Reduction {
    Reduction::of_vectors(model, basis.columns().to_vec(), forces, &mut on).unwrap().0
}

/// Returns a basis of smooth vectors and a random one.
fn some_basis(model: &Model, r: usize) -> Basis {
    let waves = (0..r).map(|k| {
        let phase = random(6, 3.0, k as u64);
        let at = |x: &Vec3| {
            let s = phase[0] * x.x + phase[1] * x.y + phase[2] * x.z;
            [(s + phase[3]).sin(), (2.0 * s + phase[4]).cos(), (3.0 * s + phase[5]).sin()]
        };
        model.rest().iter().flat_map(at).collect()
    });
    let rough = random(model.dim(), 1.0, 99);
    Basis::new(model, waves.chain([rough]).collect()).unwrap()
}

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

fn spinning(law: &str, forces: Forces, omega: Vec3) -> (Model, ReducedModel, State) {
    let build = || {
        let mesh = generate::block([1.0, 0.3, 0.2], [10, 3, 2], Cells::Hex).unwrap();
        Model::builder().body(Body::new(mesh, material(law, 1e5), 1000.0)).build().unwrap()
    };
    let model = build();
    let params = ReductionParams { forces, ..ReductionParams::new(14) };
    let (reduction, _) = Reduction::new(&model, &params, &mut on).unwrap();
    assert!(reduction.is_free());
    let mut reduced = ReducedModel::new(build(), reduction).unwrap();
    let mut state = model.rest_state();
    let center = Vec3::new(0.5, 0.15, 0.1);
    model.set_velocity(&mut state, 0..model.node_count(), Vec3::new(0.3, 1.0, -0.5), omega, center);
    let few = reduced.project(&state);
    (model, reduced, few)
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
