//! Corrupted files of every format give an error or a mesh, never a panic, and never memory out of proportion to the
//! file.
//!
//! The seeds are those of the fuzz targets. Mutations are random but the same on every run.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use pliant::files::{Files, Memory, ReadError};
use pliant::io::{
    Encoding, FORMATS, Format, GmshVersion, Mesh, WriteOptions, read_bou_from, read_from, read_interp_from, write_to,
};
use pliant::matrix_io::{read_array_from, read_matrix_from};
use pliant::mesh::{Cells, VolumeMesh, generate};

use crate::{MEMORY, alone};

/// Maximum memory per byte of a file \[bytes\]: a text mesh takes at most a few times its size, and checking keeps up
/// to three copies. Doubled for files designed to use as much memory as possible.
const PROPORTION: usize = 60;

/// Memory allowed for any file size \[bytes\]: messages and tables.
const CONSTANT: usize = 1 << 20;

const MUTATIONS: usize = 10_000;

struct Seed {
    /// File to corrupt.
    path: PathBuf,
    /// File to read: this one, or one that includes it.
    main: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// Returns each seed with the files next to it, which it may include.
fn seeds() -> Vec<Seed> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let sorted = |folder: &Path| {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let mut seeds = Vec::new();
    // Scenes, checkpoints and reduced models are not meshes. `scene.rs`, `vega_config.rs`, `checkpoint.rs` and
    // `reduced/file.rs` corrupt them.
    let is_mesh = |folder: &PathBuf| !["toml", "config", "bin", "pliant"].iter().any(|name| folder.ends_with(name));
    for folder in sorted(&corpus).into_iter().filter(is_mesh) {
        let files: Vec<(PathBuf, Vec<u8>)> = sorted(&folder)
            .into_iter()
            .map(|path| (PathBuf::from(path.file_name().unwrap()), fs::read(&path).unwrap()))
            .collect();
        for (path, _) in &files {
            let main = if Kind::of(path).is_some() { path } else { including(path, &files) };
            seeds.push(Seed { path: path.clone(), main: main.clone(), files: files.clone() });
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

/// Returns the file that includes another.
fn including<'a>(part: &Path, files: &'a [(PathBuf, Vec<u8>)]) -> &'a PathBuf {
    let name = part.to_str().unwrap();
    let found = files.iter().find(|(_, content)| String::from_utf8_lossy(content).contains(name));
    found.map_or_else(|| panic!("nothing reads the seed {name}"), |(path, _)| path)
}

/// Reader of a seed.
#[derive(Clone, Copy)]
enum Kind {
    Mesh,
    FixedVertices,
    Interpolation,
    Numbers,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "bou" => Some(Self::FixedVertices),
            "interp" => Some(Self::Interpolation),
            "mtx" | "npy" | "dat" | "u" => Some(Self::Numbers),
            _ => Format::of(path).map(|_| Self::Mesh),
        }
    }

    /// Returns the mesh, if the file contains one.
    fn read(self, files: &Memory, path: &Path) -> Result<Option<Mesh>, ReadError> {
        match self {
            Self::Mesh => read_from(files, path).map(|loaded| Some(loaded.mesh)),
            Self::FixedVertices => read_bou_from(files, path, 100).map(|_| None),
            Self::Interpolation => {
                let mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
                read_interp_from(files, path, &mesh).map(|_| None)
            }
            Self::Numbers => match read_array_from(files, path) {
                // A Matrix Market file is one or the other.
                Err(_) if path.extension().is_some_and(|extension| extension == "mtx") => {
                    read_matrix_from(files, path).map(|_| None)
                }
                result => result.map(|_| None),
            },
        }
    }
}

/// Reads a file and returns its memory per byte of the files, besides the free allowance.
fn measured(files: &Memory, path: &Path) -> (Result<Option<Mesh>, String>, usize) {
    let total: usize = files.contents().iter().map(|(_, content)| content.len()).sum();
    let kind = Kind::of(path).unwrap();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = kind.read(files, path);
    let used = MEMORY.peak_usage().saturating_sub(before);
    (result.map_err(|error| error.to_string()), used.saturating_sub(CONSTANT).div_ceil(total.max(1)))
}

fn read(seed: &Seed, bytes: &[u8]) -> Result<Option<Mesh>, String> {
    let (result, proportion) = measured(&with(seed, bytes), &seed.main);
    assert!(proportion <= PROPORTION, "{}: {proportion} bytes of memory per byte", seed.path.display());
    result
}

/// Performs common operations on a mesh, which must not panic. Each call writes it in the next format.
fn exercise(mesh: &Mesh, turn: usize) {
    let surface = match mesh {
        Mesh::Volume(volume) => {
            volume.quality();
            volume.components();
            volume.bandwidth();
            volume.volume();
            volume.boundary().surface
        }
        Mesh::Surface(surface) => surface.clone(),
    };
    surface.report();
    surface.enclosed_volume();
    let format = &FORMATS[turn % FORMATS.len()];
    let path = PathBuf::from(format!("again.{}", format.extensions[0]));
    for (encoding, gmsh) in [(Encoding::Text, GmshVersion::V2_2), (Encoding::Binary, GmshVersion::V4_1)] {
        let files = Memory::default();
        if write_to(&files, &path, mesh, &WriteOptions { encoding, gmsh }).is_ok() && format.can_read() {
            drop(read_from(&files, &path));
        }
    }
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
                // Replaces a whole number or word: mutations that keep the syntax valid reach deepest.
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
    let _alone = alone();
    let mut turn = 0;
    for (i, seed) in seeds().iter().enumerate() {
        let (_, original) = seed.files.iter().find(|(path, _)| *path == seed.path).unwrap();
        read(seed, original).unwrap_or_else(|error| panic!("the seed itself is broken: {error}"));
        for length in 0..original.len() {
            drop(read(seed, &original[..length]));
        }
        let mut rng = fastrand::Rng::with_seed(i as u64);
        for _ in 0..MUTATIONS {
            let broken = mutate(&mut rng, original);
            match read(seed, &broken) {
                Ok(None) => {}
                Ok(Some(mesh)) => {
                    turn += 1;
                    exercise(&mesh, turn);
                }
                Err(message) => {
                    let explains = ["expected", "cannot be simulated"].iter().any(|words| message.contains(words));
                    assert!(explains, "{message}");
                    assert!(message.len() < 10_000, "a message of {} bytes", message.len());
                }
            }
        }
    }
}

#[test]
fn reading_takes_a_small_multiple_of_the_memory_of_the_mesh() {
    let _alone = alone();
    let mesh = generate::block([1.0; 3], [24, 24, 24], Cells::Tet5).unwrap();
    let size = size_of_val(mesh.vertices()) + size_of_val(mesh.connectivity()) + size_of_val(mesh.element_region());
    for format in FORMATS.iter().filter(|format| format.can_read() && format.can_write_volume()) {
        for encoding in [Encoding::Text, Encoding::Binary] {
            let path = PathBuf::from(format!("mesh.{}", format.extensions[0]));
            let files = Memory::default();
            let options = WriteOptions { encoding, ..WriteOptions::default() };
            write_to(&files, &path, &Mesh::Volume(mesh.clone()), &options).unwrap();
            MEMORY.reset_peak_usage();
            let before = MEMORY.current_usage();
            let loaded = read_from(&files, &path).unwrap();
            let multiple = MEMORY.peak_usage().saturating_sub(before) as f64 / size as f64;
            println!("{} {encoding:?}: {multiple:.1}", format.name);
            // The file, once or twice as large as the mesh, plus the mesh, plus the memory of its checks.
            assert!(multiple < 7.0, "{} {encoding:?}: {multiple} times the memory of the mesh", format.name);
            drop(loaded);
        }
    }
}

#[test]
fn garbage_is_an_error_in_every_format() {
    let _alone = alone();
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

/// Returns a file that includes another a thousand times.
fn many_includes() -> (Memory, &'static str) {
    let head = "*VERTICES\n4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n*ELEMENTS\nTET\n1 4 0\n0 0 1 2 3\n*SET s\n";
    let main = head.to_owned() + &"*INCLUDE set.txt\n".repeat(1000);
    (Memory::with("m.veg", main).and("set.txt", "0,".repeat(100_000)), "m.veg")
}

/// Returns a VTU file with compressed arrays of one repeated byte, and a number of meaningless bytes.
fn vtu(
    points: usize,
    cells: usize,
    padding: usize,
    arrays: &[(&str, &str, &str, u8, usize)],
) -> (Memory, &'static str) {
    let (mut tags, mut data) = (Vec::new(), Vec::new());
    for (section, kind, name, byte, count) in arrays {
        let components = if *section == "Points" { " NumberOfComponents='3'" } else { "" };
        let form = format!("{components} format='appended' offset='{}'", data.len());
        tags.push(format!("<{section}><DataArray type='{kind}' Name='{name}'{form}/></{section}>"));
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![*byte; *count]).unwrap();
        let packed = encoder.finish().unwrap();
        for word in [1, *count, 0, packed.len()] {
            data.extend((word as u64).to_le_bytes());
        }
        data.extend(packed);
    }
    let tags = tags.concat();
    let mut file = format!(
        "<VTKFile type='UnstructuredGrid' header_type='UInt64' compressor='vtkZLibDataCompressor'><UnstructuredGrid>\
         <Piece NumberOfPoints='{points}' NumberOfCells='{cells}'>{tags}</Piece></UnstructuredGrid>\
         <AppendedData encoding='raw'>_"
    )
    .into_bytes();
    file.extend(data);
    file.extend(vec![0; padding]);
    (Memory::with("m.vtu", file), "m.vtu")
}

/// Returns a Gmsh file with many elements of one entity that is in a hundred groups.
fn many_groups(dimension: usize, kind: usize, nodes: &str) -> (Memory, &'static str) {
    let (elements, mut counts) = (30_000, [0; 4]);
    counts[dimension] = 1;
    let corners = if dimension == 0 { "0 0 0" } else { "0 0 0 1 1 1" };
    let groups = (1..=100).map(|group| group.to_string()).collect::<Vec<_>>().join(" ");
    let list = format!("7 {nodes}\n").repeat(elements);
    let file = format!(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n{} {} {} {}\n1 {corners} 100 {groups} {}\n$EndEntities\n\
         $Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n\
         $Elements\n2 {} 1 1\n{dimension} 1 {kind} {elements}\n{list}3 9 4 1\n1 1 2 3 4\n$EndElements\n",
        counts[0],
        counts[1],
        counts[2],
        counts[3],
        if dimension == 0 { "" } else { "0" },
        elements + 1
    );
    (Memory::with("m.msh", file), "m.msh")
}

#[test]
fn files_made_to_grow_in_memory_do_not() {
    let _alone = alone();
    // Cells without corners, points, strings: at most one byte each in the file.
    let many = 1 << 20;
    let [offsets, types, nodes] = [("offsets", many), ("types", many), ("connectivity", 0)]
        .map(|(name, count)| ("Cells", "UInt8", name, 0, count));
    let cells = [offsets, types, nodes];
    let points = [("Points", "Float32", "points", 0, 12 * many), ("PointData", "UInt8", "set:all", 1, many)];
    let names = [("FieldData", "String", "region_names", 0, many)];
    let cases = [
        ("includes", many_includes()),
        ("cells", vtu(0, many, 0, &cells)),
        ("fewer cells", vtu(0, many, many / 4, &cells)),
        ("points", vtu(many, 0, 0, &points)),
        ("fewer points", vtu(many, 0, many / 2, &points)),
        ("names", vtu(0, 0, 0, &names)),
        ("fewer names", vtu(0, 0, 2 * many, &names)),
        ("point groups", many_groups(0, 15, "1")),
        ("curve groups", many_groups(1, 1, "1 2")),
        ("surface groups", many_groups(2, 2, "1 2 3")),
        ("volume groups", many_groups(3, 4, "1 2 3 4")),
    ];
    for (name, (files, path)) in cases {
        let (result, proportion) = measured(&files, Path::new(path));
        println!("{name}: {proportion} {:?}", result.map(drop));
        assert!(proportion <= 2 * PROPORTION, "{name}: {proportion} bytes of memory for each");
    }
}

#[test]
fn an_element_in_too_many_sets_for_gmsh_is_refused_before_they_are_listed() {
    let _alone = alone();
    let mut data = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap().into_data();
    data.element_sets = (0..3000).map(|set| (format!("set {set}"), vec![0])).collect();
    let mesh = Mesh::Volume(VolumeMesh::check(data).unwrap().mesh);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let error = write_to(&Memory::default(), Path::new("m.msh"), &mesh, &WriteOptions::default()).unwrap_err();
    let used = MEMORY.peak_usage().saturating_sub(before);
    assert!(error.to_string().contains("a hundred element sets"), "{error}");
    assert!(used <= CONSTANT, "{used} bytes of memory");
}
