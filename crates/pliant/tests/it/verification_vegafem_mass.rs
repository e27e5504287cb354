//! Consistent mass matrix of a cube of five tetrahedra, compared with VegaFEM 4.0. Tolerance: 1e-13 of the maximum
//! entry.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pliant::mass::MassMatrix;
use pliant::math::Vec3;
use pliant::mesh::{ElementKind, MeshData, VolumeMesh};
use pliant::sparse::BlockPattern;

const TOLERANCE: f64 = 1e-13;

/// Reads the lines of a reference file: their first word, and the numbers after it.
fn lines(file: &str) -> HashMap<String, Vec<f64>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let parsed = lines.filter_map(|(name, numbers)| {
        let numbers: Result<Vec<f64>, _> = numbers.split(' ').map(str::parse).collect();
        Some((name.into(), numbers.ok()?))
    });
    parsed.collect()
}

#[test]
fn consistent_mass_matches_vegafem() {
    let (cube, reference) = (lines("vegafem_cube5.txt"), lines("vegafem_cube5_mass.txt"));
    let vertices = cube["vertices"].chunks_exact(3).map(Vec3::from_slice).collect();
    let elements = cube["elements"].iter().map(|&vertex| vertex as u32).collect();
    let mesh = VolumeMesh::check(MeshData::new(vertices, ElementKind::Tet4, elements)).unwrap().mesh;
    let pattern = Arc::new(BlockPattern::from_cliques(mesh.vertex_count(), mesh.elements()));
    let mass = MassMatrix::consistent(&mesh, &[1000.0], &pattern).unwrap();

    let (w, expected) = (&reference["w"], &reference["product"]);
    let mut product = vec![0.0; w.len()];
    mass.mul(w, &mut product);
    let largest = expected.iter().fold(0.0, |most, number| f64::max(most, number.abs()));
    assert_eq!(product.len(), expected.len());
    for (i, (found, expected)) in product.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= TOLERANCE * largest, "entry {i} is {found} instead of {expected}");
    }

    let csr = mass.to_csr();
    let frobenius = csr.values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let diagonal = (0..csr.row_count()).flat_map(|row| csr.row(row).filter(move |entry| entry.0 as usize == row));
    let trace: f64 = diagonal.map(|(_, value)| value).sum();
    for (what, found) in [("frobenius", frobenius), ("trace", trace)] {
        let expected = reference[what][0];
        assert!((found - expected).abs() <= TOLERANCE * expected, "{what}: {found} instead of {expected}");
    }
}
