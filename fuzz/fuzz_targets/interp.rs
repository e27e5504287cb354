#![no_main]

use std::path::Path;

use pliant::mesh::{Cells, generate};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).expect("a block");
    drop(pliant::io::read_interp_from(&pliant::files::Memory::with("p.interp", bytes), Path::new("p.interp"), &mesh));
});
