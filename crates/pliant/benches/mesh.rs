//! Benchmark of mesh preparation: reading and checking a mesh, filling a surface, embedding a surface.
//!
//! `cargo bench -p pliant --bench mesh` runs all benchmarks, or with an argument those whose name contains it.

use std::path::PathBuf;

use divan::{Bencher, black_box, counter::BytesCount, counter::ItemsCount};
use pliant::files::{Files, Memory};
use pliant::geometry::ImplicitSolid;
use pliant::io::{Encoding, FORMATS, Mesh, WriteOptions, read_from, write_to};
use pliant::math::Vec3;
use pliant::mesh::{Cells, Embedding, SurfaceMesh, VertexNormals, VolumeMesh, generate};
use pliant::meshing::{MeshingParams, Surface, cage, fill_surface, tetrahedralize};

fn main() {
    divan::main();
}

/// Returns a mesh of 1,026,895 tetrahedra and 216,000 vertices.
fn million() -> VolumeMesh {
    generate::block([1.0; 3], [59, 59, 59], Cells::Tet5).unwrap().renumbered().0
}

/// Returns the extension of each format for volume meshes, with its encodings, text and binary.
fn files() -> Vec<(&'static str, &'static str)> {
    let binary = ["msh", "vtk", "vtu"];
    let formats = FORMATS.iter().filter(|f| f.can_read() && f.can_write_volume()).map(|f| f.extensions[0]);
    formats
        .flat_map(|e| ["text", "binary"].map(|encoding| (e, encoding)))
        .filter(|(e, encoding)| *encoding == "text" || binary.contains(e))
        .collect()
}

#[divan::bench(args = files().into_iter().map(|(e, encoding)| format!("{e} {encoding}")), sample_count = 3, sample_size = 1)]
fn read_a_million_tets(bencher: Bencher<'_, '_>, file: &str) {
    let (extension, encoding) = file.split_once(' ').unwrap();
    let encoding = if encoding == "text" { Encoding::Text } else { Encoding::Binary };
    let (files, path) = (Memory::default(), PathBuf::from(format!("m.{extension}")));
    let options = WriteOptions { encoding, ..WriteOptions::default() };
    write_to(&files, &path, &Mesh::Volume(million()), &options).unwrap();
    let bytes: usize = files.contents().iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(files.read(&path).is_ok());
    bencher.counter(BytesCount::new(bytes)).bench_local(|| read_from(black_box(&files), &path).unwrap());
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn check_a_million_tets(bencher: Bencher<'_, '_>) {
    let mesh = million();
    bencher
        .counter(ItemsCount::new(mesh.element_count()))
        .with_inputs(|| mesh.clone().into_data())
        .bench_local_values(VolumeMesh::check);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn boundary_of_a_million_tets(bencher: Bencher<'_, '_>) {
    let mesh = million();
    bencher.counter(ItemsCount::new(mesh.element_count())).bench_local(|| black_box(&mesh).boundary());
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn renumber_a_million_tets(bencher: Bencher<'_, '_>) {
    let mesh = million();
    bencher.counter(ItemsCount::new(mesh.element_count())).bench_local(|| black_box(&mesh).renumbered());
}

/// Returns a ball of about 50,000 elements and 100,000 points near its surface, half of them outside.
fn ball_and_points(cells: Cells) -> (VolumeMesh, Vec<Vec3>) {
    let across = if cells == Cells::Hex { 44 } else { 25 };
    let mut rng = fastrand::Rng::with_seed(5);
    let points = std::iter::repeat_with(|| 2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE)
        .filter(|p| p.length() < 1.0)
        .take(100_000)
        .map(|p| p.normalize() * (0.9 + 0.2 * p.length()))
        .collect();
    (generate::ball(1.0, across, cells).unwrap(), points)
}

#[divan::bench(args = ["tets", "hexes"], sample_count = 5, sample_size = 1)]
fn embed_100k_points_in_50k_elements(bencher: Bencher<'_, '_>, kind: &str) {
    let (mesh, points) = ball_and_points(if kind == "hexes" { Cells::Hex } else { Cells::Tet5 });
    bencher.counter(ItemsCount::new(points.len())).bench_local(|| Embedding::new(black_box(&mesh), &points).unwrap());
}

#[divan::bench(args = [25_000, 100_000])]
fn interpolate_points(bencher: Bencher<'_, '_>, count: usize) {
    let (mesh, mut points) = ball_and_points(Cells::Tet5);
    points.truncate(count);
    let embedding = Embedding::new(&mesh, &points).unwrap();
    let mut out = vec![Vec3::ZERO; points.len()];
    bencher
        .counter(ItemsCount::new(points.len()))
        .bench_local(|| embedding.interpolate(black_box(mesh.vertices()), &mut out));
}

#[divan::bench]
fn normals_of_a_surface_of_100k_vertices(bencher: Bencher<'_, '_>) {
    let surface = generate::ball(1.0, 258, Cells::Hex).map(|mesh| mesh.boundary().surface).unwrap();
    let mut normals = vec![Vec3::ZERO; surface.vertices().len()];
    let mut compute = VertexNormals::new(&surface);
    bencher
        .counter(ItemsCount::new(normals.len()))
        .bench_local(|| compute.compute(black_box(surface.vertices()), &mut normals));
}

/// Returns the surface of a ring with knobs, about 250,000 triangles.
fn detailed_surface() -> SurfaceMesh {
    let ring = ImplicitSolid::Torus { ring_radius: 1.0, tube_radius: 0.35 };
    let knobs = (0..12).map(|i| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / 12.0).sin_cos();
        ImplicitSolid::ball(Vec3::new(1.2 * cos, 0.2, 1.2 * sin), 0.25)
    });
    let solid = ImplicitSolid::Union(std::iter::once(ring).chain(knobs).collect());
    tetrahedralize(&solid, &MeshingParams { cells: 210, grading: 5 }).unwrap().mesh.boundary().surface
}

/// Fills the triangles of a file with tetrahedra, including all reports.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn fill_a_surface_of_250k_triangles_with_50k_tets(bencher: Bencher<'_, '_>) {
    let surface = detailed_surface();
    let fill = || fill_surface(&Surface::new(&surface).unwrap(), &MeshingParams { cells: 35, grading: 0 }).unwrap();
    println!("\n{} triangles, {} tetrahedra", surface.faces().len(), fill().0.mesh.element_count());
    bencher.counter(ItemsCount::new(surface.faces().len())).bench_local(fill);
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn cage_a_surface_of_250k_triangles(bencher: Bencher<'_, '_>) {
    let surface = detailed_surface();
    let make = || cage(&surface, &Surface::new(&surface).unwrap(), &MeshingParams { cells: 16, grading: 0 }).unwrap();
    bencher.counter(ItemsCount::new(surface.faces().len())).bench_local(make);
}
