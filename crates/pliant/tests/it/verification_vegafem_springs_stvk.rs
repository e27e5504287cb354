//! Energy, force and stiffness of a cube of five tetrahedra, slightly deformed (A) and with three inverted elements
//! (B), compared with VegaFEM 4.0: St. Venant–Kirchhoff as a polynomial, and springs on the edges. Tolerance: 1e-12 of
//! the maximum entry.

use std::collections::HashMap;

use pliant::force::{Conditions, Definiteness, Force, SpringCoefficients, Springs, StVkPolynomial, bind_all};
use pliant::material::{StVenantKirchhoff, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{ElementKind, MeshData, VolumeMesh};
use pliant::sparse::BlockMatrix;

const TOLERANCE: f64 = 1e-12;

struct Reference {
    state: String,
    u: Vec<f64>,
    energy: f64,
    force: Vec<f64>,
    /// Upper triangle, row by row.
    stiffness: Vec<f64>,
}

/// Returns the cube and the references of each model.
fn reference() -> (VolumeMesh, HashMap<String, Vec<Reference>>) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vegafem_cube5.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let numbers = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<f64>>();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let vertices = numbers(lines.next().unwrap().strip_prefix("vertices ").unwrap());
    let elements = lines.next().unwrap().strip_prefix("elements ").unwrap();
    let vertices = vertices.chunks_exact(3).map(Vec3::from_slice).collect();
    let elements = elements.split(' ').map(|word| word.parse().unwrap()).collect();
    let checked = VolumeMesh::check(MeshData::new(vertices, ElementKind::Tet4, elements)).unwrap();

    let mut references: HashMap<String, Vec<Reference>> = HashMap::new();
    let (mut state, mut u) = (String::new(), Vec::new());
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("state ") {
            state = name.into();
            u = numbers(lines.next().unwrap());
        } else {
            let model = line.strip_prefix("model ").unwrap();
            let mut next = || numbers(lines.next().unwrap());
            let (energy, force, stiffness) = (next()[0], next(), next());
            let reference = Reference { state: state.clone(), u: u.clone(), energy, force, stiffness };
            references.entry(model.into()).or_default().push(reference);
        }
    }
    (checked.mesh, references)
}

fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0, |most, number| f64::max(most, number.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / size;
        assert!(error <= TOLERANCE, "{what}: entry {i} is {found} instead of {expected}, off by {error:e}");
    }
}

fn verify(model: &str, force: impl Fn(&VolumeMesh) -> Box<dyn Force>) {
    let (mesh, mut references) = reference();
    let mut force = force(&mesh);
    let pattern = bind_all(mesh.vertex_count(), &mut [&mut *force]);
    let references = references.remove(model).unwrap();
    assert_eq!(references.len(), 2);
    for Reference { state, u, energy, force: expected_force, stiffness: expected_stiffness } in references {
        let mut found_force = vec![0.0; u.len()];
        let mut found_stiffness = BlockMatrix::zero(pattern.clone());
        force.add_gradient_and_stiffness(
            &u,
            &Conditions::START,
            Definiteness::Exact,
            &mut found_force,
            &mut found_stiffness,
        );
        let entry = |i: usize, j: usize| found_stiffness.block(i as u32 / 3, j as u32 / 3)[i % 3][j % 3];
        let places = (0..u.len()).flat_map(|i| (i..u.len()).map(move |j| (i, j)));
        let upper: Vec<f64> = places.map(|(i, j)| entry(i, j)).collect();
        assert_close(&format!("{model}, state {state}, energy"), &[force.energy(&u, &Conditions::START)], &[energy]);
        assert_close(&format!("{model}, state {state}, force"), &found_force, &expected_force);
        assert_close(&format!("{model}, state {state}, stiffness"), &upper, &expected_stiffness);
    }
}

#[test]
fn stvk_polynomial_matches_vegafem() {
    let law = StVenantKirchhoff::from_moduli(YoungPoisson { young: 1e6, poisson: 0.45 });
    verify("stvk", |mesh| Box::new(StVkPolynomial::new(mesh, &[law]).unwrap()));
}

#[test]
fn springs_on_the_edges_match_vegafem() {
    verify("mass-spring", |mesh| Box::new(Springs::from_mesh(mesh, &SpringCoefficients::new(1e5)).unwrap()));
}
