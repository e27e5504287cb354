#![no_main]

use std::path::Path;

use pliant::files::Memory;
use pliant_scene::scene::SceneFile;

/// Line that separates the files of a scene: the first one, `b.toml` and `parts/c.toml`.
const SEPARATOR: &[u8] = b"#---\n";

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut texts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
        texts.push(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
    }
    texts.push(rest);
    let names = ["a.toml", "b.toml", "parts/c.toml"];
    let files = names.iter().zip(texts).fold(Memory::default(), |files, (name, text)| files.and(*name, text));
    if let Ok(file) = SceneFile::read(&files, Path::new("a.toml")) {
        // The result of merging is a scene without other files.
        let written = Memory::with("a.toml", file.scene.to_toml());
        SceneFile::read(&written, Path::new("a.toml")).expect("a scene that was written can be read");
    }
});
