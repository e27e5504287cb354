#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use pliant::files::Memory;
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::mesh::{Cells, generate};
use pliant::model::{Body, Fixed, Model};
use pliant::reduced::Reduction;

/// The model of the seed.
static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let mesh = generate::block([2.0, 1.0, 1.0], [2, 1, 1], Cells::Tet5).unwrap();
    let clamp = mesh.vertex_sets()["x-min"].clone();
    let law = AnyLaw::new("stvk", YoungPoisson { young: 1e5, poisson: 0.3 }).unwrap();
    Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new(clamp)).build().unwrap()
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    drop(Reduction::read(&Memory::with("a.pliant", bytes), Path::new("a.pliant"), &MODEL));
});
