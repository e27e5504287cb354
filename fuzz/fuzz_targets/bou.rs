#![no_main]

use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    drop(pliant::io::read_bou_from(&pliant::files::Memory::with("fixed.bou", bytes), Path::new("fixed.bou"), 100));
});
