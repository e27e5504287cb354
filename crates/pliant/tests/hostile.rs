//! Broken files of every format: an error or a mesh, never a panic, and never memory out of proportion to the file.
//!
//! The seeds are those of the fuzz targets. Mutations are random but the same on every run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use peak_alloc::PeakAlloc;
use pliant::io::{Encoding, FORMATS, Files, Memory, Mesh, WriteOptions, read_from, write_to};
use pliant::mesh::{Cells, generate};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Memory is counted for the whole process: tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// Bytes of memory for each byte of a file: a mesh as text is at most a few times larger in memory, and is held up to
/// three times while it is checked.
const PROPORTION: usize = 60;

/// What may be used whatever the size of the file: messages and tables.
const CONSTANT: usize = 1 << 20;

const MUTATIONS: usize = 10_000;

struct Seed {
    path: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
}

fn take_turn() -> MutexGuard<'static, ()> {
    // The memory of the pool of threads is not a file's.
    rayon::join(|| {}, || {});
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Each seed with the files beside it, which it may include.
fn seeds() -> Vec<Seed> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let sorted = |folder: &Path| {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let mut seeds = Vec::new();
    for folder in sorted(&corpus) {
        let files: Vec<(PathBuf, Vec<u8>)> = sorted(&folder)
            .into_iter()
            .map(|path| (PathBuf::from(path.file_name().unwrap()), fs::read(&path).unwrap()))
            .collect();
        for (path, _) in &files {
            seeds.push(Seed { path: path.clone(), files: files.clone() });
        }
    }
    assert!(seeds.len() > 20, "the seed corpus is missing");
    seeds
}

fn with(seed: &Seed, bytes: &[u8]) -> Memory {
    let files = Memory::default();
    for (path, content) in &seed.files {
        files.write(path, if *path == seed.path { bytes } else { content }).unwrap();
    }
    files
}

/// Read, and measure what it took.
fn read(seed: &Seed, bytes: &[u8]) -> Result<(), String> {
    let files = with(seed, bytes);
    let total: usize = seed.files.iter().map(|(_, content)| content.len()).sum::<usize>() + bytes.len();
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let result = read_from(&files, &seed.path);
    let used = ALLOCATOR.peak_usage().saturating_sub(before);
    assert!(used <= CONSTANT + PROPORTION * total, "{}: {used} bytes of memory for {total}", seed.path.display());
    result.map(drop).map_err(|error| error.to_string())
}

fn mutate(rng: &mut fastrand::Rng, original: &[u8]) -> Vec<u8> {
    const NASTY: [&[u8]; 18] = [
        b"-1",
        b"0",
        b"1",
        b"4294967295",
        b"4294967296",
        b"18446744073709551615",
        b"9223372036854775807",
        b"-9223372036854775808",
        b"99999999999999999999999",
        b"nan",
        b"inf",
        b"1e400",
        b"1e-400",
        b"\xff\xfe",
        b"\0",
        b"*",
        b",",
        b"\n",
    ];
    let mut bytes = original.to_vec();
    for _ in 0..rng.usize(1..4) {
        let length = bytes.len().max(1);
        let at = rng.usize(0..length).min(bytes.len());
        let until = (at + rng.usize(1..16)).min(bytes.len());
        match rng.usize(0..8) {
            0 => bytes.truncate(at),
            1 => bytes.iter_mut().skip(at).take(1).for_each(|b| *b ^= 1 << rng.u8(0..8)),
            2 => bytes.iter_mut().skip(at).take(8).for_each(|b| *b = rng.u8(..)),
            3 => drop(bytes.drain(at..until)),
            4 => {
                let copy = bytes[at..until].to_vec();
                bytes.splice(at..at, copy);
            }
            5 => {
                let binary = [u64::MAX, 1 << 31, 1 << 32, 1 << 62, u64::from(rng.u32(..))];
                let number = binary[rng.usize(0..binary.len())].to_le_bytes();
                bytes.iter_mut().skip(at).zip(number).for_each(|(b, n)| *b = n);
            }
            _ => {
                // A whole number or word replaced: mutations that keep the file's form reach deepest.
                let is_word = |b: u8| b.is_ascii_graphic() && b != b',';
                let start = (0..at).rev().take_while(|&i| is_word(bytes[i])).last().unwrap_or(at);
                let end = (at..bytes.len()).find(|&i| !is_word(bytes[i])).unwrap_or(bytes.len());
                bytes.splice(start..end, NASTY[rng.usize(0..NASTY.len())].iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn broken_files_of_every_format_are_errors_and_bounded() {
    let _turn = take_turn();
    for (i, seed) in seeds().iter().enumerate() {
        let (_, original) = seed.files.iter().find(|(path, _)| *path == seed.path).unwrap();
        // Included parts and lists of fixed vertices are no meshes by themselves.
        if pliant::io::Format::of(&seed.path).is_none() {
            continue;
        }
        read(seed, original).unwrap_or_else(|error| panic!("the seed itself is broken: {error}"));
        for length in 0..original.len() {
            drop(read(seed, &original[..length]));
        }
        let mut rng = fastrand::Rng::with_seed(i as u64);
        for _ in 0..MUTATIONS {
            let broken = mutate(&mut rng, original);
            if let Err(message) = read(seed, &broken) {
                assert!(message.contains("expected") || message.contains("cannot be simulated"), "{message}");
                assert!(message.len() < 10_000, "a message of {} bytes", message.len());
            }
        }
    }
}

#[test]
fn reading_takes_a_small_multiple_of_the_memory_of_the_mesh() {
    let _turn = take_turn();
    let mesh = generate::block([1.0; 3], [24, 24, 24], Cells::Tet5).unwrap();
    let size = size_of_val(mesh.vertices()) + size_of_val(mesh.connectivity()) + size_of_val(mesh.element_region());
    for format in FORMATS.iter().filter(|format| format.can_read() && format.can_write_volume()) {
        for encoding in [Encoding::Text, Encoding::Binary] {
            let path = PathBuf::from(format!("mesh.{}", format.extensions[0]));
            let files = Memory::default();
            let options = WriteOptions { encoding, ..WriteOptions::default() };
            write_to(&files, &path, &Mesh::Volume(mesh.clone()), &options).unwrap();
            ALLOCATOR.reset_peak_usage();
            let before = ALLOCATOR.current_usage();
            let loaded = read_from(&files, &path).unwrap();
            let multiple = ALLOCATOR.peak_usage().saturating_sub(before) as f64 / size as f64;
            println!("{} {encoding:?}: {multiple:.1}", format.name);
            // The file itself, once or twice as large as the mesh, the mesh, and what it takes to check it.
            assert!(multiple < 7.0, "{} {encoding:?}: {multiple} times the memory of the mesh", format.name);
            drop(loaded);
        }
    }
}

#[test]
fn garbage_is_an_error_in_every_format() {
    let _turn = take_turn();
    let mut rng = fastrand::Rng::with_seed(1);
    for format in FORMATS.iter().filter(|format| format.can_read()) {
        for extension in format.extensions {
            for _ in 0..200 {
                let bytes: Vec<u8> = (0..rng.usize(1..400)).map(|_| rng.u8(..)).collect();
                let path = PathBuf::from(format!("garbage.{extension}"));
                let error = read_from(&Memory::with(path.clone(), bytes), &path).unwrap_err().to_string();
                assert!(error.starts_with("garbage."), "{error}");
            }
        }
    }
}
