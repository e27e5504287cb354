//! Common checks of every format: data survive a round trip, lost data are reported, and truncation is an error.

use std::path::{Path, PathBuf};

use pliant::io::{
    Encoding, FORMATS, Feature, Files, Format, GmshVersion, Memory, Mesh, WriteOptions, read_from, write_to,
};
use pliant::mesh::{Cells, ElementKind, MaterialData, Region, SurfaceMesh, VolumeMesh, generate};

const ENCODINGS: [Encoding; 3] = [Encoding::Usual, Encoding::Text, Encoding::Binary];

fn options() -> impl Iterator<Item = WriteOptions> {
    let versions = [GmshVersion::V2_2, GmshVersion::V4_1];
    ENCODINGS.into_iter().flat_map(move |encoding| versions.map(|gmsh| WriteOptions { encoding, gmsh }))
}

/// Returns a mesh with all features: awkward coordinates, two regions with materials, sets of vertices and elements.
fn rich(cells: Cells) -> VolumeMesh {
    let mut data = generate::block([1.0, 0.7, 0.3], [3, 2, 2], cells).unwrap().into_data();
    let mut rng = fastrand::Rng::with_seed(11);
    for v in &mut data.vertices {
        *v += 0.02 * pliant::math::Vec3::new(rng.f64(), rng.f64(), rng.f64());
    }
    data.vertices[0].x = -1e-300;
    data.vertices[1].y = 1.0 / 3.0 * 1e-5;
    let count = data.elements.len() / data.kind.nodes();
    data.regions = ["core", "shell"]
        .map(|name| Region::of(name, MaterialData::isotropic(format!("{name}-stuff"), 1000.0, 1.0 / 3.0 * 1e6, 0.3)))
        .to_vec();
    data.element_region = (0..count as u32).map(|e| u32::from(e % 3 == 1)).collect();
    data.element_sets.insert("evens".into(), (0..count as u32).filter(|e| e % 2 == 0).collect());
    VolumeMesh::check(data).unwrap().mesh
}

/// Returns the part of `mesh` that a format with only `features` keeps.
fn reduced(mesh: &VolumeMesh, features: &[Feature]) -> VolumeMesh {
    let mut data = mesh.clone().into_data();
    let lacks = |feature| !features.contains(&feature);
    if lacks(Feature::Regions) {
        data.regions = Vec::new();
        data.element_region = Vec::new();
    }
    for (i, region) in data.regions.iter_mut().enumerate() {
        if lacks(Feature::RegionNames) {
            region.name = format!("region-{}", i + 1);
        }
        if lacks(Feature::Materials) {
            region.material = None;
        }
    }
    if lacks(Feature::VertexSets) {
        data.vertex_sets.clear();
    }
    if lacks(Feature::ElementSets) {
        data.element_sets.clear();
    }
    if lacks(Feature::FaceSets) {
        data.face_sets.clear();
    } else if lacks(Feature::FaceSetNames) {
        let numbered = |(set, number)| (format!("surface-{number}"), set);
        data.face_sets = std::mem::take(&mut data.face_sets).into_values().zip(1..).map(numbered).collect();
    }
    VolumeMesh::check(data).unwrap().mesh
}

fn name(format: &Format) -> PathBuf {
    PathBuf::from(format!("dir/mesh.{}", format.extensions[0]))
}

fn volume(files: &Memory, path: &Path) -> VolumeMesh {
    let loaded = read_from(files, path).unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.report.is_empty(), "{}: {:?}", path.display(), loaded.report);
    match loaded.mesh {
        Mesh::Volume(mesh) => mesh,
        Mesh::Surface(_) => panic!("{}: expected a volume", path.display()),
    }
}

/// Returns the features that a format stores with these options. Gmsh 2.2 cannot put an element into two groups.
fn stored(format: &Format, options: WriteOptions) -> Vec<Feature> {
    let old_gmsh = format.extensions.contains(&"msh") && options.gmsh == GmshVersion::V2_2;
    format.features.iter().copied().filter(|feature| !(old_gmsh && *feature == Feature::ElementSets)).collect()
}

#[test]
fn volumes_are_read_back_as_they_were_written() {
    for format in FORMATS.iter().filter(|f| f.can_read() && f.can_write_volume()) {
        for cells in [Cells::Tet5, Cells::Hex] {
            if cells == Cells::Hex && !format.features.contains(&Feature::Hexahedra) {
                continue;
            }
            for options in options() {
                let mesh = rich(cells);
                let (files, path) = (Memory::default(), name(format));
                write_to(&files, &path, &Mesh::Volume(mesh.clone()), &options).unwrap();
                let (back, expected) = (volume(&files, &path), reduced(&mesh, &stored(format, options)));
                // Derived sets, such as boundary markers, may be added. The given sets must be present.
                for (set, members) in expected.vertex_sets() {
                    assert_eq!(back.vertex_sets().get(set), Some(members), "{} {options:?} set {set}", format.name);
                }
                let (mut back, mut expected) = (back.into_data(), expected.into_data());
                back.vertex_sets.clear();
                expected.vertex_sets.clear();
                let [back, expected] = [back, expected].map(|data| VolumeMesh::check(data).unwrap().mesh);
                assert!(back.vertices() == expected.vertices(), "{} {options:?}: coordinates changed", format.name);
                assert_eq!(back, expected, "{} {options:?}", format.name);
            }
        }
    }
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    for format in FORMATS.iter().filter(|f| f.can_write_volume()) {
        let mesh = rich(Cells::Tet5);
        let options = WriteOptions::default();
        let notes = write_to(&Memory::default(), &name(format), &Mesh::Volume(mesh), &options).unwrap().join("\n");
        let lost = [
            (Feature::RegionNames, "core, shell"),
            (Feature::Materials, "materials: 2 dropped"),
            (Feature::VertexSets, "vertex sets: x-max, x-min"),
            (Feature::ElementSets, "element sets: evens"),
            (Feature::FaceSets, "does not store face sets: x-max, x-min"),
        ];
        for (feature, words) in lost {
            assert_eq!(notes.contains(words), !format.features.contains(&feature), "{}: {notes}", format.name);
        }
        let numbers = format.features.contains(&Feature::FaceSets) && !format.features.contains(&Feature::FaceSetNames);
        assert_eq!(notes.contains("numbers face sets: x-max is surface-1, x-min is surface-2"), numbers, "{notes}");
    }
}

#[test]
fn numbers_of_regions_survive_in_formats_that_number_them() {
    let mut data = rich(Cells::Tet5).into_data();
    data.regions = vec![Region::named("region-10"), Region::named("region-20")];
    data.vertex_sets.clear();
    data.element_sets.clear();
    let mesh = VolumeMesh::check(data).unwrap().mesh;
    for format in FORMATS.iter().filter(|f| f.can_read() && f.can_write_volume()) {
        let (files, path) = (Memory::default(), name(format));
        let notes = write_to(&files, &path, &mesh, &WriteOptions::default()).unwrap();
        assert!(!notes.iter().any(|note| note.contains("region-10")), "{}: {notes:?}", format.name);
        assert_eq!(volume(&files, &path).regions()[1].name, "region-20", "{}", format.name);
    }
}

#[test]
fn a_single_name_that_gets_lost_is_said() {
    let mut data = rich(Cells::Tet5).into_data();
    data.regions = vec![Region::named("rubber")];
    data.element_region.clear();
    let mesh = VolumeMesh::check(data).unwrap().mesh;
    for format in FORMATS.iter().filter(|f| f.can_write_volume()) {
        let notes = write_to(&Memory::default(), &name(format), &mesh, &WriteOptions::default()).unwrap();
        let said = notes.iter().any(|note| note.contains("the names rubber were dropped"));
        assert_eq!(said, !format.features.contains(&Feature::RegionNames), "{}: {notes:?}", format.name);
    }
}

#[test]
fn asking_for_binary_where_there_is_none_is_answered() {
    for format in FORMATS.iter().filter(|f| f.can_write_volume()) {
        let options = WriteOptions { encoding: Encoding::Binary, ..WriteOptions::default() };
        let notes = write_to(&Memory::default(), &name(format), &rich(Cells::Tet5), &options).unwrap();
        assert_eq!(notes.iter().any(|note| note.contains("is always text")), !format.binary, "{}", format.name);
    }
}

#[test]
fn hexahedra_are_refused_where_only_tetrahedra_fit() {
    for format in FORMATS.iter().filter(|f| f.can_write_volume() && !f.features.contains(&Feature::Hexahedra)) {
        let error =
            write_to(&Memory::default(), &name(format), &Mesh::Volume(rich(Cells::Hex)), &WriteOptions::default());
        assert!(error.unwrap_err().to_string().contains("split them into tetrahedra"));
    }
}

#[test]
fn surfaces_are_read_back_as_they_were_written() {
    let quads = generate::ball(1.0, 4, Cells::Hex).unwrap().boundary().surface;
    let triangles = generate::ball(1.0, 4, Cells::Tet5).unwrap().boundary().surface;
    for format in FORMATS.iter().filter(|f| f.can_read() && f.can_write_surface()) {
        for encoding in ENCODINGS {
            let only_triangles = ["stl", "node"].contains(&format.extensions[0]);
            let rounds = format.extensions.contains(&"stl") && encoding == Encoding::Binary;
            for surface in [&triangles, &quads] {
                let (files, path) = (Memory::default(), name(format));
                let options = WriteOptions { encoding, ..WriteOptions::default() };
                write_to(&files, &path, &Mesh::Surface(surface.clone()), &options).unwrap();
                let Mesh::Surface(back) = read_from(&files, &path).unwrap_or_else(|e| panic!("{e}")).mesh else {
                    panic!("{}: expected a surface", format.name)
                };
                if rounds || only_triangles {
                    assert_similar(surface, &back);
                } else {
                    assert_eq!(*surface, back, "{} {encoding:?}", format.name);
                }
            }
        }
    }
}

/// Asserts equal shapes, except for vertex numbering, rounding, and quadrilaterals split into triangles.
fn assert_similar(a: &SurfaceMesh, b: &SurfaceMesh) {
    assert_eq!(a.vertices().len(), b.vertices().len());
    assert_eq!(a.triangles().count(), b.triangles().count());
    assert!(b.report().is_closed());
    assert!((a.enclosed_volume() - b.enclosed_volume()).abs() < 1e-6);
}

#[test]
fn a_volume_in_a_surface_format_gives_its_closed_boundary() {
    for format in FORMATS.iter().filter(|f| !f.can_write_volume() && f.can_read()) {
        let (files, path) = (Memory::default(), name(format));
        let notes = write_to(&files, &path, &Mesh::Volume(rich(Cells::Tet5)), &WriteOptions::default()).unwrap();
        assert!(notes[0].contains("only the boundary was written"), "{notes:?}");
        let Mesh::Surface(surface) = read_from(&files, &path).unwrap().mesh else { panic!("expected a surface") };
        assert!(surface.report().is_closed());
        assert!((surface.enclosed_volume() - rich(Cells::Tet5).volume()).abs() < 1e-12);
    }
}

/// Returns the length of the required beginning of a file. The rest is optional, and nothing in the file indicates
/// whether it was truncated.
fn needed(format: &Format, bytes: &[u8]) -> usize {
    let until = |word: &[u8]| bytes.windows(word.len()).position(|window| window == word).unwrap_or(bytes.len());
    let end = match format.extensions[0] {
        // Lists of vertices, faces and elements without their lengths.
        "obj" | "inp" => 0,
        // Then any number of sets, materials and regions.
        "veg" => until(b"*MATERIAL"),
        // Then any number of cell and point data arrays.
        "vtk" => until(b"\nCELL_DATA"),
        _ => bytes.len(),
    };
    match std::str::from_utf8(&bytes[..end]) {
        // The last number of a text may have had more digits.
        Ok(text) => text.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 2),
        Err(_) => end,
    }
}

#[test]
fn what_is_cut_off_is_an_error() {
    let volume = Mesh::Volume(rich(Cells::Tet5));
    let surface = generate::block([1.0, 0.7, 0.3], [2, 1, 1], Cells::Hex).unwrap().boundary().surface;
    let surface = Mesh::Surface(surface);
    for format in FORMATS.iter().filter(|f| f.can_read()) {
        let meshes = [&volume, &surface].into_iter().filter(|mesh| format.can_write_surface() || **mesh == volume);
        for (mesh, options) in meshes.flat_map(|mesh| options().map(move |options| (mesh, options))) {
            let (whole, path) = (Memory::default(), name(format));
            write_to(&whole, &path, mesh, &options).unwrap();
            let loaded = read_from(&whole, &path).unwrap();
            for (file, bytes) in whole.contents() {
                for length in 0..needed(format, &bytes) {
                    whole.write(&file, &bytes[..length]).unwrap();
                    // If only white space, a closing keyword or ignored data are truncated, the mesh is the same. A
                    // missing but required end of file is reported.
                    let is_reported = |notes: &[String]| notes.iter().any(|note| note.contains("may be missing"));
                    let fine =
                        read_from(&whole, &path).map_or(true, |cut| cut.mesh == loaded.mesh || is_reported(&cut.notes));
                    assert!(fine, "{options:?}: {length} bytes of {} of {}", bytes.len(), file.display());
                }
                whole.write(&file, &bytes).unwrap();
            }
        }
    }
}

#[test]
fn windows_line_ends_change_nothing() {
    for format in FORMATS.iter().filter(|f| f.can_read() && f.can_write_volume()) {
        let (files, path) = (Memory::default(), name(format));
        let options = WriteOptions { encoding: Encoding::Text, ..WriteOptions::default() };
        write_to(&files, &path, &Mesh::Volume(rich(Cells::Tet5)), &options).unwrap();
        let windows = Memory::default();
        for (path, bytes) in files.contents() {
            let text = String::from_utf8(bytes).unwrap().replace('\n', "\r\n");
            windows.write(&path, text.as_bytes()).unwrap();
        }
        assert_eq!(volume(&windows, &path), volume(&files, &path), "{}", format.name);
    }
}

#[test]
fn extensions_are_known_in_any_case_and_unknown_ones_are_explained() {
    assert_eq!(Format::of(Path::new("A.VEG")).unwrap().name, "VegaFEM");
    let error = read_from(&Memory::with("mesh.xyz", "1"), Path::new("mesh.xyz")).unwrap_err().to_string();
    assert!(error.starts_with("mesh.xyz: expected a file that ends in one of .veg"), "{error}");
    assert!(read_from(&Memory::default(), Path::new("no-extension")).is_err());
    let mut extensions: Vec<_> = FORMATS.iter().flat_map(|format| format.extensions).collect();
    let all = extensions.len();
    extensions.sort_unstable();
    extensions.dedup();
    assert_eq!(extensions.len(), all, "two formats claim one extension");
}

#[test]
fn empty_files_and_directories_are_errors_that_say_so() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS.iter().filter(|f| f.can_read()) {
        for extension in format.extensions {
            let path = folder.path().join(format!("empty.{extension}"));
            for content in ["", "\r\n \n"] {
                std::fs::write(&path, content).unwrap();
                let error = pliant::io::read(&path).unwrap_err().to_string();
                assert!(error.contains("an empty file"), "{error}");
            }
            let directory = folder.path().join(format!("directory.{extension}"));
            std::fs::create_dir(&directory).unwrap();
            let error = pliant::io::read(&directory).unwrap_err().to_string();
            assert!(error.contains("expected a file, found a directory"), "{error}");
            let missing = folder.path().join(format!("missing.{extension}"));
            assert!(pliant::io::read(&missing).unwrap_err().to_string().contains(missing.to_str().unwrap()));
        }
    }
    #[cfg(unix)]
    {
        let endless = folder.path().join("endless.veg");
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        let error = pliant::io::read(&endless).unwrap_err().to_string();
        assert!(error.contains("a device or pipe"), "{error}");
    }
}

#[test]
fn a_written_file_replaces_the_old_one_whole_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.veg");
    std::fs::write(&path, "old").unwrap();
    pliant::io::write(&path, &Mesh::Volume(rich(Cells::Tet5)), &WriteOptions::default()).unwrap();
    assert_eq!(pliant::io::read_volume(&path).unwrap().mesh.kind(), ElementKind::Tet4);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(
        pliant::io::write(folder.path().join("none/m.veg"), &Mesh::Volume(rich(Cells::Tet5)), &WriteOptions::default())
            .is_err()
    );
}
