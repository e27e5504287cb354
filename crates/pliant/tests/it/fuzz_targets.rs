//! Every reader has a fuzz target and seeds.

use std::fs;
use std::path::Path;

use pliant::io::FORMATS;

#[test]
fn every_reader_has_a_fuzz_target_and_a_seed_corpus() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    let formats = FORMATS.iter().filter(|format| format.can_read()).map(|format| format.extensions[0]);
    for name in formats.chain(["bou", "interp", "mtx", "npy", "dat", "u", "toml", "config", "bin", "pliant"]) {
        assert!(fuzz.join(format!("fuzz_targets/{name}.rs")).exists(), "no fuzz target `{name}`");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "fuzz/Cargo.toml does not list `{name}`");
        let seeds = fs::read_dir(fuzz.join("corpus").join(name)).map_or(0, Iterator::count);
        assert!(seeds > 0, "no seeds for `{name}`");
    }
}
