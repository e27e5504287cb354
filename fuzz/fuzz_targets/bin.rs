#![no_main]

use std::path::Path;

use pliant::files::Memory;
use pliant::simulation::Checkpoint;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    drop(Checkpoint::read(&Memory::with("a.bin", bytes), Path::new("a.bin")));
});
