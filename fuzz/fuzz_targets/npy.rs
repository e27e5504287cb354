#![no_main]

use std::path::Path;

use pliant::files::Memory;
use pliant::matrix_io::read_array_from;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (name, files) = (Path::new("a.npy"), Memory::with("a.npy", bytes));
    drop(read_array_from(&files, name));
});
