//! Elastic force of whole bodies: properties of every law on every element.

use std::sync::Arc;

use pliant::force::{
    Definiteness, Elastic, Force, Geometric, GeometricStiffness, SpringCoefficients, Springs, StVkPolynomial, bind_all,
};
use pliant::material::{
    AnyLaw, ByEnergy, Corotational, CorotationalTangent, Energy, Inversion, Law, Material, NeoHookean,
    StVenantKirchhoff, YoungPoisson,
};
use pliant::math::{Affine3, Mat3, Matrix, Real, Vec3};
use pliant::mesh::{Cells, ElementKind, MeshData, Region, VolumeMesh, generate};
use pliant::sparse::BlockMatrix;

const MODULI: YoungPoisson = YoungPoisson { young: 1e5, poisson: 0.4 };

/// Returns a distorted body of a soft and a stiff region, with randomly numbered vertices.
fn body(cells: Cells) -> VolumeMesh {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut data = generate::block([1.0, 0.6, 0.5], [4, 3, 2], cells).unwrap().into_data();
    for x in &mut data.vertices {
        *x += 0.03 * Vec3::new(rng.f64() - 0.5, rng.f64() - 0.5, rng.f64() - 0.5);
    }
    let mut order: Vec<u32> = (0..data.vertices.len() as u32).collect();
    rng.shuffle(&mut order);
    let mut vertices = data.vertices.clone();
    for (old, &new) in order.iter().enumerate() {
        vertices[new as usize] = data.vertices[old];
    }
    data.vertices = vertices;
    data.elements.iter_mut().for_each(|v| *v = order[*v as usize]);
    let elements = data.elements.len() / data.kind.nodes();
    data.regions = vec![Region::named("soft"), Region::named("stiff")];
    data.element_region = (0..elements).map(|element| u32::from(element % 3 == 0)).collect();
    data.vertex_sets.clear();
    data.element_sets.clear();
    VolumeMesh::check(data).unwrap().mesh
}

/// User-defined law: neo-Hookean with fibers along x, `k/4 (|F eₓ|² − 1)²`.
#[derive(Debug, Clone)]
struct Fibers;

impl Energy for Fibers {
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R {
        let stretch = f.column(0);
        let excess = stretch[0].squared() + stretch[1].squared() + stretch[2].squared() - 1.0;
        NeoHookean::from_moduli(MODULI).energy(f) + excess.squared() * (0.25 * 1e5)
    }
}

fn materials() -> Vec<(String, Material)> {
    let mut all = Vec::new();
    for entry in AnyLaw::ALL {
        let law: Material = AnyLaw::new(entry.name, MODULI).unwrap().into();
        if let Ok(law) = law.clone().with_inversion(Inversion::Extrapolate { threshold: 0.2 }) {
            all.push((format!("{}, inversion handled", entry.name), law));
        }
        all.push((entry.name.to_owned(), law));
    }
    all.push(("user-defined".to_owned(), Material::new(ByEnergy::new(Fibers))));
    all
}

/// Returns the elastic force of a body with `material` in one region and another law in the other.
fn elastic(mesh: &VolumeMesh, material: &Material) -> (Elastic, BlockMatrix) {
    let stiff = AnyLaw::new("stvk", YoungPoisson { young: 4e5, poisson: 0.2 }).unwrap();
    let mut elastic = Elastic::new(mesh, vec![material.clone(), stiff.into()]).unwrap();
    let pattern = bind_all(mesh.vertex_count(), &mut [&mut elastic]);
    (elastic, BlockMatrix::zero(pattern))
}

fn random_displacements(mesh: &VolumeMesh, size: f64, seed: u64) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..3 * mesh.vertex_count()).map(|_| size * (rng.f64() - 0.5)).collect()
}

fn displaced(mesh: &VolumeMesh, position: impl Fn(Vec3) -> Vec3) -> Vec<f64> {
    mesh.vertices().iter().flat_map(|&x| (position(x) - x).to_array()).collect()
}

fn force(elastic: &Elastic, u: &[f64]) -> Vec<f64> {
    let mut force = vec![0.0; u.len()];
    elastic.add_force(u, &mut force);
    force
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |a: f64, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b.abs()) })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Calls `check` with every law on tets and hexes.
fn for_each(check: impl Fn(&str, &VolumeMesh, &Material)) {
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = body(cells);
        for (name, material) in materials() {
            check(&format!("{name} on {cells:?}"), &mesh, &material);
        }
    }
}

/// Returns moderate displacements and, where the material allows it, displacements that invert many elements.
fn states(mesh: &VolumeMesh, name: &str) -> Vec<Vec<f64>> {
    let mut all = vec![random_displacements(mesh, 0.02, 1), random_displacements(mesh, 0.06, 2)];
    let defined = ["linear", "corotational", "stvk", "stable"].iter().any(|law| name.starts_with(law));
    if defined || name.contains("handled") {
        all.push(random_displacements(mesh, 0.5, 3));
    }
    all
}

#[test]
fn the_force_is_the_gradient_of_the_energy_and_the_stiffness_that_of_the_force() {
    for_each(|name, mesh, material| {
        let (elastic, mut stiffness) = elastic(mesh, material);
        for (i, u) in states(mesh, name).iter().enumerate() {
            let w = random_displacements(mesh, 1.0, 10 + i as u64);
            let moved = |step: f64| u.iter().zip(&w).map(|(u, w)| u + step * w).collect::<Vec<_>>();
            let mut f = vec![0.0; u.len()];
            stiffness.clear();
            elastic.add_force_and_stiffness(u, Definiteness::Exact, &mut f, &mut stiffness);
            assert_eq!(f, force(&elastic, u), "{name}: one force, with and without stiffness");
            let mut kw = vec![0.0; u.len()];
            stiffness.mul(&w, &mut kw);
            let (scale, mut best) = (largest(&kw), [f64::INFINITY; 2]);
            for step in [1e-3, 1e-4, 1e-5, 1e-6] {
                let (plus, minus) = (moved(step), moved(-step));
                let slope = (elastic.energy(&plus) - elastic.energy(&minus)) / (2.0 * step);
                best[0] = f64::min(best[0], (slope - dot(&f, &w)).abs() / (scale * w.len() as f64).sqrt());
                let (above, below) = (force(&elastic, &plus), force(&elastic, &minus));
                let errors: Vec<f64> = (0..u.len()).map(|k| (above[k] - below[k]) / (2.0 * step) - kw[k]).collect();
                best[1] = f64::min(best[1], largest(&errors) / scale);
            }
            assert!(best[0] < 1e-6 && best[1] < 1e-6, "{name}, state {i}: {best:?}");
        }
    });
}

#[test]
fn the_stiffness_is_symmetric_and_a_translation_meets_no_resistance() {
    for_each(|name, mesh, material| {
        let (elastic, mut stiffness) = elastic(mesh, material);
        let u = random_displacements(mesh, 0.05, 4);
        elastic.add_force_and_stiffness(&u, Definiteness::Exact, &mut vec![0.0; u.len()], &mut stiffness);
        for vertex in 0..mesh.vertex_count() as u32 {
            let block = stiffness.block(vertex, vertex);
            assert!((0..3).all(|i| (0..3).all(|j| block[i][j] == block[j][i])), "{name}: diagonal block {vertex}");
        }
        let translation: Vec<f64> = (0..u.len()).map(|k| [1.0, -2.0, 0.5][k % 3]).collect();
        let mut resistance = vec![0.0; u.len()];
        stiffness.mul(&translation, &mut resistance);
        assert!(largest(&resistance) < 1e-12 * largest(stiffness.values()), "{name}");
    });
}

#[test]
fn rigid_motions_give_no_force_and_no_energy() {
    for_each(|name, mesh, material| {
        let (elastic, _) = elastic(mesh, material);
        let scale = MODULI.young;
        let moved = displaced(mesh, |x| x + Vec3::new(3.0, -1.0, 2.0));
        assert!(largest(&force(&elastic, &moved)) < 1e-12 * scale, "{name}");
        if !name.starts_with("linear") {
            let turn = Affine3::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 2.1);
            let turned = displaced(mesh, |x| turn.transform_point3(x) + Vec3::X);
            assert!(largest(&force(&elastic, &turned)) < 1e-12 * scale, "{name}");
            assert!(elastic.energy(&turned).abs() < 1e-12 * scale, "{name}");
        }
    });
}

#[test]
fn forces_have_no_sum_and_no_moment() {
    for_each(|name, mesh, material| {
        let (elastic, _) = elastic(mesh, material);
        for u in states(mesh, name) {
            let f = force(&elastic, &u);
            let (mut sum, mut moment) = (Vec3::ZERO, Vec3::ZERO);
            for (v, x) in mesh.vertices().iter().enumerate() {
                let at = |a: &[f64]| Vec3::from_slice(&a[3 * v..]);
                sum += at(&f);
                moment += (*x + at(&u)).cross(at(&f));
            }
            assert!(sum.length() < 1e-12 * largest(&f), "{name}: {sum}");
            // Linear elasticity is not invariant under rotations.
            assert!(name.starts_with("linear") || moment.length() < 1e-11 * largest(&f), "{name}: {moment}");
        }
    });
}

#[test]
fn products_by_elements_and_diagonal_blocks_alone_are_those_of_the_matrix() {
    for_each(|name, mesh, material| {
        let (elastic, mut stiffness) = elastic(mesh, material);
        // Neither needs a sparsity pattern.
        let loose = Elastic::new(mesh, elastic.materials().to_vec()).unwrap();
        for u in states(mesh, name) {
            for definiteness in [Definiteness::Exact, Definiteness::Projected] {
                let x = random_displacements(mesh, 1.0, 20);
                let (mut f, mut expected) = (vec![0.0; u.len()], vec![0.0; u.len()]);
                stiffness.clear();
                elastic.add_force_and_stiffness(&u, definiteness, &mut f, &mut stiffness);
                stiffness.mul(&x, &mut expected);
                // Results are added to existing values.
                let mut product = vec![1.0; u.len()];
                loose.add_stiffness_product(&u, definiteness, &x, &mut product);
                let errors: Vec<f64> = (0..u.len()).map(|i| product[i] - 1.0 - expected[i]).collect();
                assert!(largest(&errors) <= 1e-12 * largest(stiffness.values()), "{name}: {:e}", largest(&errors));
                let (mut force, mut diagonal) = (vec![0.0; u.len()], vec![[0.0; 9]; mesh.vertex_count()]);
                loose.add_force_and_diagonal(&u, definiteness, &mut force, &mut diagonal);
                assert_eq!(force, f, "{name}: one force, with all blocks and with some");
                for (vertex, block) in diagonal.iter().enumerate() {
                    let expected = stiffness.block(vertex as u32, vertex as u32);
                    let errors: Vec<f64> = block.iter().zip(expected.as_flattened()).map(|(a, b)| a - b).collect();
                    assert!(largest(&errors) <= 1e-12 * largest(stiffness.values()), "{name}: {errors:?}");
                    assert!((0..3).all(|i| (0..i).all(|j| block[3 * i + j] == block[3 * j + i])), "{name}");
                }
            }
        }
    });
}

#[test]
fn every_number_is_bitwise_the_same_on_one_and_on_four_threads() {
    for (cells, n) in [(Cells::Tet6, 12), (Cells::Hex, 14)] {
        let mesh = generate::block([1.0, 1.0, 1.0], [n, n, n], cells).unwrap();
        let u = random_displacements(&mesh, 0.1 / n as f64, 5);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let law = AnyLaw::new("stable-neo-hookean", MODULI).unwrap();
                let mut elastic = Elastic::uniform(&mesh, law);
                let mut stiffness = BlockMatrix::zero(bind_all(mesh.vertex_count(), &mut [&mut elastic]));
                let mut f = vec![0.0; u.len()];
                elastic.add_force_and_stiffness(&u, Definiteness::Projected, &mut f, &mut stiffness);
                elastic.add_stiffness_product(&u, Definiteness::Exact, &u, &mut f);
                let mut diagonal = vec![[0.0; 9]; mesh.vertex_count()];
                elastic.add_force_and_diagonal(&u, Definiteness::Exact, &mut f, &mut diagonal);
                (elastic.energy(&u).to_bits(), f, stiffness, diagonal)
            })
        };
        let (one, four) = (on(1), on(4));
        assert_eq!(one.0, four.0);
        assert_eq!(one.1, four.1);
        assert_eq!(one.2.values(), four.2.values());
        assert_eq!(one.3, four.3);
    }
}

#[test]
fn the_projected_stiffness_has_no_negative_curvature_and_is_the_exact_one_at_rest() {
    for_each(|name, mesh, material| {
        let (elastic, mut stiffness) = elastic(mesh, material);
        let mut exact = BlockMatrix::zero(stiffness.pattern().clone());
        let mut f = vec![0.0; 3 * mesh.vertex_count()];
        for u in states(mesh, name) {
            stiffness.clear();
            elastic.add_force_and_stiffness(&u, Definiteness::Projected, &mut f, &mut stiffness);
            let mut kw = vec![0.0; u.len()];
            for seed in 0..20 {
                let w = random_displacements(mesh, 1.0, 100 + seed);
                stiffness.mul(&w, &mut kw);
                assert!(dot(&w, &kw) >= 0.0, "{name}");
            }
        }
        let rest = vec![0.0; f.len()];
        stiffness.clear();
        elastic.add_force_and_stiffness(&rest, Definiteness::Projected, &mut f, &mut stiffness);
        elastic.add_force_and_stiffness(&rest, Definiteness::Exact, &mut f, &mut exact);
        let scale = largest(exact.values());
        exact.add_scaled(-1.0, &stiffness);
        assert!(largest(exact.values()) < 1e-12 * scale, "{name}");
    });
}

#[test]
fn two_regions_of_one_law_are_one_body() {
    let mesh = body(Cells::Tet6);
    let law: Material = AnyLaw::new("neo-hookean", MODULI).unwrap().into();
    let two = Elastic::new(&mesh, vec![law.clone(), law.clone()]).unwrap();
    let data = MeshData { regions: Vec::new(), element_region: Vec::new(), ..mesh.clone().into_data() };
    let one = Elastic::uniform(&VolumeMesh::check(data).unwrap().mesh, law);
    let u = random_displacements(&mesh, 0.05, 6);
    let (a, b) = (force(&two, &u), force(&one, &u));
    let errors: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    assert!(largest(&errors) < 1e-13 * largest(&a));
    assert_eq!(
        Elastic::new(&mesh, Vec::new()).unwrap_err().to_string(),
        "0 materials for a mesh with 2 regions, expected one per region"
    );
}

/// Checks that the energy of a smooth deformation converges under refinement to the same value for tets and hexes.
#[test]
fn tets_and_hexes_agree_in_the_limit() {
    let bend = |x: Vec3| x + Vec3::new(-0.4 * x.x * x.y, 0.3 * x.x * x.x, 0.2 * x.x * x.z);
    for (name, material) in materials() {
        let energy = |n: usize, cells: Cells| {
            let mesh = generate::block([1.0, 0.5, 0.5], [2 * n, n, n], cells).unwrap();
            Elastic::uniform(&mesh, material.clone()).energy(&displaced(&mesh, bend))
        };
        let differences = [4, 8].map(|n| energy(n, Cells::Tet5) / energy(n, Cells::Hex) - 1.0);
        let order = (differences[0] / differences[1]).log2();
        assert!((1.8..2.2).contains(&order) && differences[1].abs() < 0.02, "{name}: {differences:?}");
    }
}

/// Checks that in a homogeneous deformation the force on a face is the stress times its area, for all elements.
#[test]
fn a_homogeneous_deformation_is_met_by_the_stress_of_the_law() {
    let slope = Mat3::from_cols(Vec3::new(1.1, 0.05, -0.02), Vec3::new(0.1, 0.9, 0.0), Vec3::new(0.0, 0.03, 1.05));
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = generate::block([1.0, 1.0, 1.0], [3, 3, 3], cells).unwrap();
        let law = Corotational { tangent: CorotationalTangent::Warped, ..Corotational::from_moduli(MODULI) };
        let elastic = Elastic::uniform(&mesh, AnyLaw::Corotational(law));
        let f = force(&elastic, &displaced(&mesh, |x| slope * x));
        let (low, high) = mesh.vertices().iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x.x), h.max(x.x)));
        let (mut on_face, mut inside) = (Vec3::ZERO, 0.0_f64);
        for (v, x) in mesh.vertices().iter().enumerate() {
            let at = Vec3::from_slice(&f[3 * v..]);
            let free = [x.x, x.y, x.z].iter().all(|c| c - low > 1e-9 && high - c > 1e-9);
            if high - x.x < 1e-9 {
                on_face += at;
            } else if free {
                inside = inside.max(at.length());
            }
        }
        let rows = slope.transpose().to_cols_array_2d();
        let p = law.stress(&Matrix(rows)).0;
        let expected = Vec3::new(p[0][0], p[1][0], p[2][0]);
        assert!((on_face - expected).length() < 1e-12 * expected.length(), "{on_face} instead of {expected}");
        assert!(inside < 1e-12 * expected.length());
    }
}

/// Checks that displacements of another mesh are rejected.
#[test]
fn every_force_refuses_displacements_of_another_length() {
    let mesh = generate::block([1.0, 1.0, 1.0], [2, 2, 2], Cells::Tet5).unwrap();
    let stvk = StVenantKirchhoff::from_moduli(MODULI);
    let stiffness = GeometricStiffness { edge: 1.0, area: 1.0, volume: 1.0 };
    let forces: [Box<dyn Force>; 4] = [
        Box::new(Elastic::uniform(&mesh, AnyLaw::StVenantKirchhoff(stvk))),
        Box::new(Springs::from_mesh(&mesh, &SpringCoefficients::new(1.0)).unwrap()),
        Box::new(Geometric::new(&mesh, stiffness).unwrap()),
        Box::new(StVkPolynomial::new(&mesh, &[stvk]).unwrap()),
    ];
    let n = 3 * mesh.vertex_count();
    let panics = |run: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err();
    for force in &forces {
        assert_eq!(force.energy(&vec![0.0; n]), 0.0, "{force:?}");
        for wrong in [n - 3, n + 3] {
            let u = vec![0.0; wrong];
            assert!(panics(&|| assert!(force.energy(&u).is_finite())), "{wrong} instead of {n}: {force:?}");
            assert!(panics(&|| force.add_force(&u, &mut vec![0.0; n])), "{wrong} instead of {n}: {force:?}");
        }
    }
}

#[test]
fn a_matrix_of_another_pattern_is_refused() {
    let mesh = body(Cells::Hex);
    assert_eq!(mesh.kind(), ElementKind::Hex8);
    let (elastic, stiffness) = elastic(&mesh, &AnyLaw::new("linear", MODULI).unwrap().into());
    let mut other = BlockMatrix::zero(Arc::new((**stiffness.pattern()).clone()));
    let mut f = vec![0.0; 3 * mesh.vertex_count()];
    let run = std::panic::AssertUnwindSafe(|| {
        elastic.add_force_and_stiffness(&vec![0.0; f.len()], Definiteness::Exact, &mut f.clone(), &mut other);
        f.clear();
    });
    assert!(std::panic::catch_unwind(run).is_err());
}
