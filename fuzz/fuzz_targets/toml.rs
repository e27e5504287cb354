#![no_main]

use std::path::Path;

use pliant::files::Memory;
use pliant_scene::scene::SceneFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    drop(SceneFile::read(&Memory::with("a.toml", bytes), Path::new("a.toml")));
});
