#![no_main]

use std::path::Path;

use pliant::files::Memory;
use pliant::matrix_io::{read_array_from, read_matrix_from};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (name, files) = (Path::new("a.mtx"), Memory::with("a.mtx", bytes));
    drop(read_matrix_from(&files, name));
    drop(read_array_from(&files, name));
});
