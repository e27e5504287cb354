#![no_main]

const NODE: &[u8] = b"4 3 0 1\n0 0 0 0 1\n1 1 0 0 1\n2 0 1 0 2\n3 0 0 1 2\n";
const ELE: &[u8] = b"1 4 1\n0 0 1 2 3 7\n";
const FACE: &[u8] = b"1 1\n0 0 1 2 3\n";

// The bytes take the part of each of the three files in turn.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    pliant_fuzz::read("mesh.node", bytes, &[("mesh.ele", ELE), ("mesh.face", FACE)]);
    pliant_fuzz::read("mesh.ele", bytes, &[("mesh.node", NODE), ("mesh.face", FACE)]);
    pliant_fuzz::read("mesh.face", bytes, &[("mesh.node", NODE), ("mesh.ele", ELE)]);
});
