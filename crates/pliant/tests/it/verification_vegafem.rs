//! Energy, force and stiffness of a cube of five tetrahedra compared with VegaFEM 4.0, in a state A of moderate strain
//! and a state B with three inverted tetrahedra. Its laws, inversion threshold and compression resistance are settings
//! here. The formulas and the mesh are the same, so only rounding differs. Tolerance: 1e-12.
//!
//! In state B some of VegaFEM's stiffness matrices are not the derivatives of its forces, and are not reproduced. These
//! are the stiffness of the exact corotational law, which is compared with finite differences instead, and of the
//! clamped laws (`inv-`). The derivative of a clamped stress is not symmetric, so that a symmetric stiffness matrix can
//! only approximate it.

use crate::support::{self, Statics, assert_close, section, sections};
use pliant::force::{Conditions, Force};
use pliant::material::{AnyLaw, Corotational, CorotationalTangent, Inversion, Material, MooneyRivlin, YoungPoisson};
use pliant::mesh::ElementKind;
use pliant::sparse::BlockMatrix;

const TOLERANCE: f64 = 1e-12;

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.45 };

fn law(name: &str) -> AnyLaw {
    AnyLaw::new(name, MODULI).unwrap()
}

/// Returns a law with clamped stretches, as VegaFEM clamps them in all laws that are functions of stretches.
fn clamped(law: AnyLaw) -> Material {
    Material::from(law).with_inversion(Inversion::Clamp { threshold: 0.1 }).unwrap()
}

fn resisting(material: Material) -> Material {
    material.with_compression_resistance(500.0).unwrap()
}

/// Verifies the law that VegaFEM calls `name`: its stiffness in the states `stiffness_in`, everything else in both.
fn verify(name: &str, material: &Material, stiffness_in: &[&str]) {
    let sections = sections("vegafem_cube5_elastic.txt");
    let cube = support::mesh(&sections, "", ElementKind::Tet4);
    let mut statics = Statics::new(&cube, material.clone(), |_| false);
    for state in ["A", "B"] {
        let u = section(&sections, &format!("{state} displacement")).flat();
        let expected = |what: &str| section(&sections, &format!("{state} {name} {what}")).flat();
        let what = |of: &str| format!("{name}, state {state}, {of}");
        assert_close(
            &what("energy"),
            &[statics.elastic.energy(&u, &Conditions::START)],
            &expected("energy"),
            TOLERANCE,
        );
        let alone = statics.force(&u);
        let (force, stiffness) = statics.force_and_stiffness(&u);
        assert_close(&what("force"), &force, &expected("force"), TOLERANCE);
        // Some laws of VegaFEM violate this.
        assert_eq!(force, alone, "the force is the same with and without stiffness");
        if stiffness_in.contains(&state) {
            assert_close(&what("stiffness"), &dense(stiffness), &expected("stiffness"), TOLERANCE);
        }
    }
}

/// Returns all entries, row by row.
fn dense(matrix: &BlockMatrix) -> Vec<f64> {
    let n = 3 * matrix.pattern().node_count() as u32;
    let entry = |i: u32, j: u32| matrix.block(i / 3, j / 3)[i as usize % 3][j as usize % 3];
    (0..n).flat_map(|i| (0..n).map(move |j| entry(i, j))).collect()
}

#[test]
fn linear_force_and_stiffness_are_those_of_vegafem() {
    verify("linear", &law("linear").into(), &["A", "B"]);
}

#[test]
fn warped_corotational_force_and_stiffness_are_those_of_vegafem() {
    let corotational = Corotational { tangent: CorotationalTangent::Warped, ..Corotational::from_moduli(MODULI) };
    verify("corot", &AnyLaw::Corotational(corotational).into(), &["A", "B"]);
}

#[test]
fn exact_corotational_force_is_that_of_vegafem_and_stiffness_its_derivative() {
    let material = Material::from(law("corotational"));
    verify("corot-exact", &material, &["A"]);
    let sections = sections("vegafem_cube5_elastic.txt");
    let cube = support::mesh(&sections, "", ElementKind::Tet4);
    let mut statics = Statics::new(&cube, material, |_| false);
    let u = section(&sections, "B displacement").flat();
    let w: Vec<f64> = (0..u.len()).map(|i| (0.7 * i as f64 + 0.3).sin()).collect();
    let mut product = vec![0.0; u.len()];
    statics.force_and_stiffness(&u).1.mul(&w, &mut product);
    // With this step, truncation and rounding errors are both below 1e-9.
    let h = 1e-6;
    let moved = |by: f64| statics.force(&u.iter().zip(&w).map(|(u, w)| u + by * w).collect::<Vec<_>>());
    let difference: Vec<f64> = moved(h).iter().zip(moved(-h)).map(|(plus, minus)| (plus - minus) / (2.0 * h)).collect();
    assert_close("corot-exact, state B, stiffness against differences", &product, &difference, 1e-8);
}

#[test]
fn stvk_force_and_stiffness_are_those_of_vegafem() {
    verify("stvk", &law("stvk").into(), &["A", "B"]);
}

#[test]
fn invertible_stvk_force_is_that_of_vegafem() {
    let material = clamped(law("stvk"));
    verify("inv-stvk", &material, &["A"]);
    verify("inv-stvk-cr", &resisting(material), &["A"]);
}

#[test]
fn invertible_neo_hookean_force_is_that_of_vegafem() {
    let material = clamped(law("neo-hookean"));
    verify("inv-nh", &material, &["A"]);
    verify("inv-nh-cr", &resisting(material), &["A"]);
}

#[test]
fn invertible_mooney_rivlin_force_is_that_of_vegafem() {
    let quarter = MODULI.mu() / 4.0;
    let law = MooneyRivlin { mu01: quarter, mu10: quarter, v1: MODULI.bulk() / 2.0 };
    let material = clamped(AnyLaw::MooneyRivlin(law));
    verify("inv-mr", &material, &["A"]);
    verify("inv-mr-cr", &resisting(material), &["A"]);
}
