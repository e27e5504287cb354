//! Volume, mass, center of mass, inertia, lumped masses and mass matrices compared with exact rational arithmetic
//! (Python fractions; the hexahedron by Boole's rule, exact for its degree 5), rounded to double. Tolerance: 1e-13,
//! relative to the size of the quantity.

use std::sync::Arc;

use pliant::io;
use pliant::mass::MassMatrix;
use pliant::math::{Mat3, Vec3};
use pliant::mesh::{ElementKind, MeshData, VolumeMesh};
use pliant::sparse::BlockPattern;

const TOLERANCE: f64 = 1e-13;

struct Exact {
    density: f64,
    volume: f64,
    center_of_mass: [f64; 3],
    inertia: [[f64; 3]; 3],
    lumped: Vec<f64>,
    volumes: [f64; 2],
}

fn assert_close(what: &str, found: f64, exact: f64, scale: f64) {
    assert!((found - exact).abs() <= TOLERANCE * scale.abs(), "{what}: {found} instead of {exact}");
}

fn verify(mesh: &VolumeMesh, exact: &Exact) {
    assert_close("volume", mesh.volume(), exact.volume, exact.volume);
    let found = mesh.mass_properties(&[exact.density]);
    let mass = exact.density * exact.volume;
    assert_close("mass", found.mass, mass, mass);
    for axis in 0..3 {
        let size = mesh.bounding_box()[1].abs().max_element();
        assert_close("center of mass", found.center_of_mass[axis], exact.center_of_mass[axis], size);
    }
    let inertia = Mat3::from_cols_array_2d(&exact.inertia);
    let largest = inertia.to_cols_array().into_iter().fold(0.0, f64::max);
    for (found, exact) in found.inertia.to_cols_array().into_iter().zip(inertia.to_cols_array()) {
        assert_close("inertia", found, exact, largest);
    }
    let lumped = mesh.lumped_masses(&[exact.density]);
    assert_eq!(lumped.len(), exact.lumped.len());
    for (found, &exact) in lumped.iter().zip(&exact.lumped) {
        assert_close("lumped mass", *found, exact, exact);
    }
    let matrix = consistent_mass(mesh, exact.density);
    assert_close("mass of the matrix", matrix.total(), mass, mass);
    for (found, &exact) in matrix.row_sums().iter().zip(&exact.lumped) {
        assert_close("row sum of the mass matrix", *found, exact, exact);
    }
    let range = mesh.quality().volume;
    assert_close("smallest element", range.min, exact.volumes[0], exact.volumes[0]);
    assert_close("largest element", range.max, exact.volumes[1], exact.volumes[1]);
}

fn consistent_mass(mesh: &VolumeMesh, density: f64) -> MassMatrix {
    let pattern = Arc::new(BlockPattern::from_cliques(mesh.vertex_count(), mesh.elements()));
    MassMatrix::consistent(mesh, &[density], &pattern).unwrap()
}

fn mesh(kind: ElementKind, vertices: &[[f64; 3]], elements: &[u32]) -> VolumeMesh {
    let vertices = vertices.iter().copied().map(Vec3::from).collect();
    let checked = VolumeMesh::check(MeshData::new(vertices, kind, elements.to_vec())).unwrap();
    assert!(checked.report.is_empty());
    checked.mesh
}

#[test]
fn distorted_cube_of_five_tets_is_exact() {
    let cube = mesh(
        ElementKind::Tet4,
        &[
            [0.0915, 0.0924, 0.0046],
            [0.9357, -0.1338, -0.035],
            [-0.0275, 0.8636, -0.1354],
            [1.1498, 1.0457, -0.0796],
            [-0.0195, 0.1423, 1.1193],
            [1.1033, -0.0323, 0.9979],
            [0.053, 0.8682, 1.0167],
            [0.9314, 1.1139, 0.8693],
        ],
        &[0, 1, 2, 4, 3, 2, 1, 7, 5, 4, 7, 1, 6, 7, 4, 2, 1, 2, 4, 7],
    );
    let exact = Exact {
        density: 1200.0,
        volume: 1.0303686053725,
        center_of_mass: [0.5285856014920469, 0.495920973942392, 0.45933929311425414],
        inertia: [
            [222.3363993144317, 0.683172578057696, 7.345662698735407],
            [0.683172578057696, 221.5050118252132, 9.956027361558135],
            [7.345662698735407, 9.956027361558135, 201.06880391122917],
        ],
        lumped: vec![
            34.7472279534,
            273.0585348,
            242.00300991015,
            65.0607522811,
            244.04982933065,
            67.1075717016,
            36.05204681175,
            274.36335365835,
        ],
        volumes: [0.115824093178, 0.35380994287966666],
    };
    verify(&cube, &exact);
}

#[test]
fn one_distorted_hex_is_exact() {
    let hex = mesh(
        ElementKind::Hex8,
        &[
            [0.1, -0.05, 0.0],
            [1.2, 0.1, -0.1],
            [1.05, 0.9, 0.1],
            [-0.1, 1.1, 0.05],
            [0.0, 0.1, 0.9],
            [0.95, -0.1, 1.15],
            [1.1, 1.2, 1.0],
            [0.05, 0.95, 1.25],
        ],
        &[0, 1, 2, 3, 4, 5, 6, 7],
    );
    let exact = Exact {
        density: 1000.0,
        volume: 22201.0 / 19200.0,
        center_of_mass: [0.5479008453072685, 0.527349218503671, 0.5450915123943366],
        inertia: [
            [213.95317529095104, 9.399101228489615, -0.5756426970113229],
            [9.399101228489615, 220.79441075372162, -12.944227109604515],
            [-0.5756426970113229, -12.944227109604515, 212.96716791161862],
        ],
        lumped: vec![
            142.9560185185185,
            145.0703125,
            140.42592592592592,
            149.51388888888889,
            136.38252314814815,
            151.15972222222223,
            147.1634837962963,
            143.63020833333334,
        ],
        volumes: [22201.0 / 19200.0; 2],
    };
    verify(&hex, &exact);
    // Upper triangle of the consistent mass, row by row, for which 2×2×2 Gauss points would not suffice.
    #[rustfmt::skip]
    let upper = [
        42.26070601851852, 21.34340277777778, 10.699059606481482, 22.136762152777777, 19.997063078703704, 10.638237847222221, 5.34837962962963, 10.532407407407407,
        42.993923611111114, 20.653689236111113, 10.699059606481482, 10.638237847222221, 22.522786458333332, 10.870833333333334, 5.34837962962963,
        39.57607060185185, 21.446846064814814, 5.34837962962963, 10.870833333333334, 21.030656828703705, 10.800390625,
        46.30714699074074, 10.532407407407407, 5.34837962962963, 10.800390625, 22.242896412037037,
        37.93857060185185, 21.266927083333332, 10.668851273148148, 19.992086226851853,
        47.115711805555556, 22.727994791666667, 10.668851273148148,
        44.12146990740741, 21.59490740740741,
        42.45028935185185,
    ];
    let matrix = consistent_mass(&hex, exact.density);
    for (found, exact) in matrix.values().iter().zip(upper) {
        assert_close("consistent mass", *found, exact, exact);
    }
}

#[test]
fn distorted_beam_of_1080_tets_is_exact() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let beam = io::read_volume(folder.join("beam_tet_distorted.node")).unwrap().mesh;
    let masses = std::fs::read_to_string(folder.join("beam_tet_distorted.masses")).unwrap();
    let exact = Exact {
        density: 1000.0,
        volume: 10.0,
        center_of_mass: [5.0, 0.5, 0.5],
        inertia: [[5000.0 / 3.0, 0.0, 0.0], [0.0, 505_000.0 / 6.0, 0.0], [0.0, 0.0, 505_000.0 / 6.0]],
        lumped: masses.lines().map(|line| line.parse().unwrap()).collect(),
        volumes: [0.003974054985549868, 0.016858023448467582],
    };
    verify(&beam, &exact);
}

#[test]
fn a_body_far_away_keeps_its_inertia() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let beam = io::read_volume(folder.join("beam_tet_distorted.node")).unwrap().mesh;
    let offset = Vec3::new(4096.0, -8192.0, 1024.0);
    let far = beam.transformed(pliant::math::Affine3::from_translation(offset)).unwrap();
    let (near, far) = (beam.mass_properties(&[1000.0]), far.mass_properties(&[1000.0]));
    // Translation rounds the coordinates to 1e-12 m.
    assert!((far.center_of_mass - offset - near.center_of_mass).length() < 1e-11);
    let worst = (far.inertia - near.inertia).to_cols_array().into_iter().map(f64::abs).fold(0.0, f64::max);
    assert!(worst < 1e-6, "{worst}");
}
