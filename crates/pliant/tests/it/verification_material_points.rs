//! Energy, stress and tangent of every law at given deformation gradients, compared with 80-digit arithmetic (mpmath).
//! Inverted and flat states are included where the law is defined. Tolerance: 1e-12 of 1 MPa, the stiffness of these
//! materials.

use pliant::material::{
    Corotational, Law, Linear, MooneyRivlin, NeoHookean, NeoHookeanBower, StVenantKirchhoff, StableNeoHookean,
};
use pliant::math::Matrix;

const TOLERANCE: f64 = 1e-12 * 1e6;

struct Point {
    label: String,
    f: Matrix<f64>,
    energy: f64,
    stress: Vec<f64>,
    tangent: Vec<f64>,
}

/// Returns the coefficients of the law called `name`, and its points.
fn reference(name: &str) -> (Vec<f64>, Vec<Point>) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/material_points.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let numbers = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<f64>>();
    let head = format!("law {name} ");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&head));
    let coefficients = numbers(&lines.next().unwrap()[head.len()..]);
    let mut points = Vec::new();
    while let Some(label) = lines.next().and_then(|line| line.strip_prefix("point ")) {
        let mut next = || numbers(lines.next().unwrap());
        let mut f = Matrix::zero();
        f.0.as_flattened_mut().copy_from_slice(&next());
        points.push(Point { label: label.into(), f, energy: next()[0], stress: next(), tangent: next() });
    }
    assert!(points.len() >= 8, "{name}: {} points", points.len());
    (coefficients, points)
}

fn verify<L: Law>(name: &str, law: impl Fn(&[f64]) -> L) {
    let (coefficients, points) = reference(name);
    let law = law(&coefficients);
    // Energies here are relative to rest, unlike one of the formulas.
    let rest = points.iter().find(|point| point.label == "identity").unwrap().energy;
    for Point { label, f, energy, stress, tangent } in points {
        let check = |what: &str, found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
                let error = (found - expected).abs();
                assert!(error <= TOLERANCE, "{name}, {label}: entry {i} of {what} is {found} instead of {expected}");
            }
        };
        check("ψ", &[law.energy(&f)], &[energy - rest]);
        check("P", law.stress(&f).0.as_flattened(), &stress);
        check("dP/dF", law.tangent(&f).as_flattened(), &tangent);
    }
}

#[test]
fn linear_matches_80_digit_arithmetic() {
    verify("linear", |c| Linear { mu: c[0], lambda: c[1] });
}

#[test]
fn corotational_matches_80_digit_arithmetic() {
    verify("corotational", |c| Corotational::new(c[0], c[1]));
}

#[test]
fn stvk_matches_80_digit_arithmetic() {
    verify("stvk", |c| StVenantKirchhoff { mu: c[0], lambda: c[1] });
}

#[test]
fn neo_hookean_matches_80_digit_arithmetic() {
    verify("neo-hookean", |c| NeoHookean { mu: c[0], lambda: c[1] });
}

#[test]
fn neo_hookean_bower_matches_80_digit_arithmetic() {
    verify("neo-hookean-bower", |c| NeoHookeanBower { mu: c[0], lambda: c[1] });
}

#[test]
fn stable_neo_hookean_matches_80_digit_arithmetic() {
    verify("stable-neo-hookean", |c| StableNeoHookean { mu: c[0], lambda: c[1] });
}

#[test]
fn mooney_rivlin_matches_80_digit_arithmetic() {
    verify("mooney-rivlin", |c| MooneyRivlin { mu01: c[0], mu10: c[1], v1: c[2] });
}
