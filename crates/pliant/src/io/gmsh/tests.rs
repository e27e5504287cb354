//! Tests of both versions.

use std::path::Path;

use crate::files::{Memory, ReadError};
use crate::io::{Encoding, GmshVersion, Loaded, Mesh, WriteOptions, read_from, write_to};
use crate::math::Vec3;
use crate::mesh::{ElementFace, ElementKind, Faces, MeshData, Region, SurfaceMesh, VolumeMesh};

fn load(bytes: impl Into<Vec<u8>>) -> Result<Loaded, ReadError> {
    read_from(&Memory::with("m.msh", bytes), Path::new("m.msh"))
}

fn volume(bytes: impl Into<Vec<u8>>) -> VolumeMesh {
    match load(bytes).unwrap_or_else(|error| panic!("{error}")).mesh {
        Mesh::Volume(mesh) => mesh,
        Mesh::Surface(_) => panic!("expected a volume"),
    }
}

fn message(bytes: impl Into<Vec<u8>>) -> String {
    load(bytes).unwrap_err().to_string()
}

/// Two tetrahedra in two regions, one of them also in a further group; a named curve, points, and two surfaces.
const V2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
    $PhysicalNames\n5\n3 7 \"soft\"\n3 3 \"a \"hard\" part\"\n3 9 \"all\"\n2 3 \"left\"\n1 4 \"soft\"\n$EndPhysicalNames\n\
    $Nodes\n6\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n50 1 1 1\n5 9 9 9\n$EndNodes\n\
    $Elements\n10\n\
    1 15 2 2 1 10\n2 1 2 4 1 10 20\n3 1 2 0 2 20 30\n4 2 2 3 1 10 20 30\n5 2 2 8 1 10 20 30\n6 2 0 10 20 40\n\
    7 4 2 7 1 10 20 30 40\n8 4 2 9 1 10 20 30 40\n9 4 3 3 1 0 20 30 40 50\n10 4 3 9 1 0 20 30 40 50\n$EndElements\n";

/// Mesh of `V2` in version 4.1. A block of nodes has parameters, and a bounding box exceeds the range of numbers.
const V4_1: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n\
    $Entities\n1 2 2 2\n1 0 0 0 1 2 \n1 0 0 0 1 1 1 1 -4 2 1 -2\n2 0 0 0 1 1 1 0 0\n\
    1 0 0 0 1 1 1 2 3 8 0\n2 0 0 0 1 1 1 0 0\n\
    1 0 0 0 1 1 1 2 7 9 1 -1\n2 -1e999 0 0 1e999 0 0 2 3 9 0\n$EndEntities\n\
    $Nodes\n2 6 5 50\n2 1 1 2\n10\n20\n0 0 0 0.5 0.5\n1 0 0 inf 0.5\n3 1 0 4\n30 40\n50 5\n0 1 0\n0 0 1\n1 1 1\n9 9 9\n$EndNodes\n\
    $Elements\n7 7 1 7\n0 1 15 1\n1 10 \n1 1 1 1\n2 10 20 \n1 2 1 1\n3 20 30\n2 1 2 1\n4 10 20 30\n2 2 2 1\n6 10 20 40\n\
    3 1 4 1\n7 10 20 30 40\n3 2 4 1\n9 20 30 40 50\n$EndElements\n\
    $NodeData\n1\n\"u\"\n$EndNodeData\n\
    $PhysicalNames\n5\n3 7 \"soft\"\n3 3 \"a \"hard\" part\"\n3 9 \"all\"\n2 3 \"left\"\n1 4 \"soft\"\n$EndPhysicalNames\n";

#[test]
fn groups_become_regions_and_sets_in_every_version() {
    let v4_0 = V4_1
        .replace("4.1 0 8", "4.0 0 8")
        .replace("1 0 0 0 1 2 \n", "1 0 0 0 0 0 0 1 2 \n")
        .replace("2 6 5 50\n2 1 1 2\n10\n20\n0 0 0 0.5 0.5\n1 0", "2 6\n1 2 1 2\n10 0 0 0 0.5 0.5\n20 1 0")
        .replace("3 1 0 4\n30 40\n50 5\n0 1 0\n0 0 1\n1 1 1\n9", "1 3 0 4\n30 0 1 0\n40 0 0 1\n50 1 1 1\n5 9")
        .replace("7 7 1 7\n0 1 15 1", "7 7\n1 0 15 1")
        .replace("\n2 1 2 1\n", "\n1 2 2 1\n")
        .replace("\n1 2 1 1\n", "\n2 1 1 1\n")
        .replace("3 1 4 1", "1 3 4 1")
        .replace("3 2 4 1", "2 3 4 1");
    for text in [V2, V4_1, &v4_0, &V4_1.replace('\n', "\r\n")] {
        let mesh = volume(text);
        assert_eq!(mesh.vertices().len(), 6);
        assert_eq!(mesh.connectivity(), [0, 1, 2, 3, 1, 2, 3, 4]);
        assert_eq!(mesh.regions(), [Region::named("a \"hard\" part"), Region::named("soft")]);
        assert_eq!(mesh.element_region(), [1, 0]);
        let sets: Vec<(&str, &[u32])> = mesh.vertex_sets().iter().map(|(n, s)| (n.as_str(), &s[..])).collect();
        assert_eq!(sets, [("points-2", &[0][..]), ("soft", &[0, 1])]);
        let sides: Vec<(&str, &[ElementFace])> = mesh.face_sets().iter().map(|(n, s)| (n.as_str(), &s[..])).collect();
        assert_eq!(sides, [("left", &[(0, 0)][..]), ("surface-8", &[(0, 0)])]);
        assert_eq!(mesh.element_sets()["all"], [0, 1]);
        assert_eq!(mesh.element_sets().len(), 1);
    }
    assert_eq!(load(V4_1).unwrap().notes[0], "the content of $NodeData is not kept");
}

#[test]
fn a_group_that_is_a_region_and_a_set_has_all_its_elements() {
    let mesh = volume(V2.replace("9 4 3 3 1 0 20 30 40 50", "9 4 3 9 1 0 20 30 40 50").replace("10 4 3 9", "10 4 3 3"));
    assert_eq!(mesh.regions()[1].name, "all");
    assert_eq!(mesh.element_region(), [0, 1]);
    assert_eq!(mesh.element_sets()["all"], [0, 1]);
    assert_eq!(mesh.element_sets()["a \"hard\" part"], [1]);
}

#[test]
fn groups_of_partitioned_entities_count() {
    let partitioned =
        "$PartitionedEntities\n2\n1\n9 1\n0 0 0 1\n5 3 1 2 1 2 0 0 0 1 1 1 1 7 0\n$EndPartitionedEntities\n$Nodes";
    let text = V4_1.replace("$Nodes", partitioned).replace("3 1 4 1\n", "3 5 4 1\n");
    assert_eq!(volume(text).regions()[1].name, "soft");
}

/// Pieces of a binary file.
enum Piece {
    Text(&'static str),
    Ints(&'static [i32]),
    Sizes(&'static [u64]),
    Reals(&'static [f64]),
}
use Piece::{Ints, Reals, Sizes, Text};

fn encode(pieces: &[Piece], little: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let number = |mut bytes: Vec<u8>| {
        if !little {
            bytes.reverse();
        }
        bytes
    };
    for piece in pieces {
        match piece {
            Text(text) => out.extend(text.bytes()),
            Ints(list) => list.iter().for_each(|x| out.extend(number(x.to_le_bytes().into()))),
            Sizes(list) => list.iter().for_each(|x| out.extend(number(x.to_le_bytes().into()))),
            Reals(list) => list.iter().for_each(|x| out.extend(number(x.to_le_bytes().into()))),
        }
    }
    out
}

const BINARY_V2: &[Piece] = &[
    Text("$MeshFormat\n2.2 1 8\n"),
    Ints(&[1]),
    Text("\n$EndMeshFormat\n$NodeData\n1\n"),
    Ints(&[0x2445, 7]),
    Text("$EndNodes $EndNodeData\n$PhysicalNames\n1\n3 2 \"b\"\n$EndPhysicalNames\n$Nodes\n4\n"),
    Ints(&[1]),
    Reals(&[0.0, 0.0, 0.1]),
    Ints(&[2]),
    Reals(&[1.0, 0.0, 0.0]),
    Ints(&[3]),
    Reals(&[0.0, 1.0, 0.0]),
    Ints(&[4]),
    Reals(&[0.0, 0.0, 1.0]),
    Text("\n$EndNodes\n$Elements\n2\n"),
    Ints(&[2, 1, 2, 1, 5, 1, 1, 2, 3, 4, 1, 2, 2, 2, 1, 1, 2, 3, 4]),
    Text("\n$EndElements\n"),
];

const BINARY_V4: &[Piece] = &[
    Text("$MeshFormat\n4.1 1 8\n"),
    Ints(&[1]),
    Text("\n$EndMeshFormat\n$PhysicalNames\n1\n3 2 \"b\"\n$EndPhysicalNames\n$Entities\n"),
    Sizes(&[0, 0, 1, 1]),
    Ints(&[1]),
    Reals(&[0.0; 6]),
    Sizes(&[1]),
    Ints(&[5]),
    Sizes(&[0]),
    Ints(&[1]),
    Reals(&[0.0; 6]),
    Sizes(&[1]),
    Ints(&[2]),
    Sizes(&[1]),
    Ints(&[-1]),
    Text("\n$EndEntities\n$Nodes\n"),
    Sizes(&[1, 4, 1, 4]),
    Ints(&[3, 1, 0]),
    Sizes(&[4, 1, 2, 3, 4]),
    Reals(&[0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
    Text("\n$EndNodes\n$Elements\n"),
    Sizes(&[2, 2, 1, 2]),
    Ints(&[2, 1, 2]),
    Sizes(&[1, 1, 1, 2, 3]),
    Ints(&[3, 1, 4]),
    Sizes(&[1, 2, 1, 2, 3, 4]),
    Text("\n$EndElements\n"),
];

#[test]
fn both_orders_of_bytes_are_read() {
    for pieces in [BINARY_V2, BINARY_V4] {
        for little in [true, false] {
            let mesh = volume(encode(pieces, little));
            assert_eq!(mesh.vertices()[0], Vec3::new(0.0, 0.0, 0.1));
            assert_eq!(mesh.connectivity(), [0, 1, 2, 3]);
            assert_eq!(mesh.regions(), [Region::named("b")]);
            assert_eq!(mesh.face_sets()["surface-5"], [(0, 0)]);
        }
    }
}

fn tets() -> MeshData {
    let vertices = vec![Vec3::ZERO, Vec3::new(0.1, 1e-300, 0.0), Vec3::Y, Vec3::Z, Vec3::ONE / 3.0 + Vec3::X];
    let mut data = MeshData::new(vertices, ElementKind::Tet4, vec![0, 1, 2, 3, 1, 2, 3, 4, 0, 1, 2, 4]);
    data.regions = vec![Region::named("z \"first\""), Region::named("a second"), Region::named("third")];
    data.element_region = vec![1, 0, 2];
    data.vertex_sets.insert("clamp".into(), vec![0, 3]);
    data.vertex_sets.insert("third".into(), vec![3]);
    data.vertex_sets.insert("empty".into(), vec![]);
    // One face in several sets, one between two tetrahedra as seen from the second, and a name that others have
    // too.
    data.face_sets.insert("clamp".into(), vec![(0, 1), (0, 3)]);
    data.face_sets.insert("z \"first\"".into(), vec![(0, 3), (1, 0), (2, 1)]);
    data.face_sets.insert("none".into(), vec![]);
    data
}

fn hexes() -> MeshData {
    let corner = |i: u32| Vec3::new(f64::from(i % 2), f64::from(i / 2 % 2), f64::from(i / 4));
    MeshData::new((0..8).map(corner).collect(), ElementKind::Hex8, vec![0, 1, 3, 2, 4, 5, 7, 6])
}

const ENCODINGS: [Encoding; 2] = [Encoding::Usual, Encoding::Binary];

fn write_and_read(mesh: &Mesh, gmsh: GmshVersion, encoding: Encoding) -> (Mesh, Vec<String>) {
    let (files, path) = (Memory::default(), Path::new("m.msh"));
    let notes = write_to(&files, path, mesh, &WriteOptions { encoding, gmsh }).unwrap();
    (read_from(&files, path).unwrap().mesh, notes)
}

#[test]
fn what_is_written_is_read_back_equal() {
    for data in [tets(), hexes()] {
        let mesh = Mesh::Volume(VolumeMesh::check(data).unwrap().mesh);
        for gmsh in [GmshVersion::V2_2, GmshVersion::V4_1] {
            for encoding in ENCODINGS {
                assert_eq!(write_and_read(&mesh, gmsh, encoding), (mesh.clone(), vec![]), "{gmsh:?} {encoding:?}");
            }
        }
    }
}

#[test]
fn version_4_1_holds_element_sets_and_2_2_says_that_it_does_not() {
    let mut data = tets();
    data.element_sets.insert("third".into(), vec![0, 1]);
    data.element_sets.insert("core".into(), vec![1, 2]);
    let mesh = Mesh::Volume(VolumeMesh::check(data).unwrap().mesh);
    for encoding in ENCODINGS {
        assert_eq!(write_and_read(&mesh, GmshVersion::V4_1, encoding), (mesh.clone(), vec![]));
        let (_, notes) = write_and_read(&mesh, GmshVersion::V2_2, encoding);
        assert_eq!(notes, ["Gmsh 2.2 does not store element sets: core, third dropped"]);
    }
}

#[test]
fn an_element_is_in_at_most_a_hundred_groups() {
    let with_sets = |count: usize| {
        let mut data = tets();
        data.element_sets = (0..count).map(|set| (format!("set {set}"), vec![0, 1, 2])).collect();
        Mesh::Volume(VolumeMesh::check(data).unwrap().mesh)
    };
    // One group is the region.
    let max = with_sets(99);
    assert_eq!(write_and_read(&max, GmshVersion::V4_1, Encoding::Usual), (max, vec![]));
    let error = write_to(&Memory::default(), Path::new("m.msh"), &with_sets(100), &WriteOptions::default());
    assert_eq!(error.unwrap_err().to_string(), "m.msh: Gmsh cannot store an element in a hundred element sets");
}

#[test]
fn what_cannot_be_fixed_is_noted() {
    let mut data = tets();
    data.element_sets.insert("nothing".into(), vec![]);
    data.regions[0].name = "two\nlines".into();
    let mesh = Mesh::Volume(VolumeMesh::check(data).unwrap().mesh);
    let (back, notes) = write_and_read(&mesh, GmshVersion::V4_1, Encoding::Usual);
    assert!(notes[0].contains("without elements such as `nothing`"), "{notes:?}");
    assert!(notes[1].contains("the lines of `two\\nlines` were joined"), "{notes:?}");
    let Mesh::Volume(back) = back else { panic!("expected a volume") };
    assert_eq!(back.regions()[0].name, "two lines");
}

#[test]
fn surfaces_keep_triangles_and_quads_and_cut_the_rest() {
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::ONE, Vec3::Y, Vec3::NEG_X];
    let faces: Faces = [&[0, 1, 2][..], &[0, 1, 2, 3], &[2, 3, 4], &[0, 1, 2, 3, 4]].into_iter().collect();
    let mesh = Mesh::Surface(SurfaceMesh::new(vertices, faces).unwrap());
    for gmsh in [GmshVersion::V2_2, GmshVersion::V4_1] {
        for encoding in ENCODINGS {
            let (Mesh::Surface(back), notes) = write_and_read(&mesh, gmsh, encoding) else { panic!("no surface") };
            let faces: Vec<&[u32]> = back.faces().iter().collect();
            assert_eq!(faces[..3], [&[0, 1, 2][..], &[0, 1, 2, 3], &[2, 3, 4]]);
            assert_eq!(faces[3..], [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
            assert_eq!(notes, ["1 polygon with more than 4 corners was cut into triangles"]);
        }
    }
}

#[test]
fn broken_text_is_refused_with_its_place() {
    let cases = [
        (V2, "2.2 0 8", "1.0 0 8", "line 2: expected Gmsh's format version 2.2, 4.0 or 4.1, found version 1"),
        (V2, "2.2 0 8", "2.2 2 8", "line 2: expected 0 for text or 1 for binary, found `2`"),
        (
            V2,
            "$MeshFormat\n",
            "$NOD\n",
            "line 1: expected Gmsh's format version 2.2, 4.0 or 4.1, found version 1, which begins with $NOD",
        ),
        (V2, "$MeshFormat\n", "hello\n", "line 1: expected the start of a section such as $Nodes, found `hello`"),
        (V2, "\n5\n3 7", "\n5\n4 7", "line 6: expected a dimension from 0 to 3, found `4`"),
        (
            V2,
            "3 7 \"soft\"",
            "3 7",
            "line 6: expected the name of a physical group in quotes, found the end of the line",
        ),
        (V2, "\n6\n10", "\n-6\n10", "line 13: expected the number of nodes, found `-6`"),
        (V2, "\n6\n10", "\n600000\n10", "line 13: expected 600000 nodes, found only"),
        (V2, "20 1 0 0", "20 1 0", "line 15: expected a z coordinate, found the end of the line"),
        (V2, "20 1 0 0", "20 1 0 nan", "line 15: expected a z coordinate, a finite number, found `nan`"),
        (V2, "20 1 0 0", "10 1 0 0", "line 15: expected a node number not used before, found `10`"),
        (V2, "20 1 0 0", "20 1 0 0 0", "line 15: expected the end of a node, found `0` too"),
        (V2, "$EndNodes\n", "7 0 0 0\n$EndNodes\n", "line 20: expected $EndNodes, found `7`"),
        (V2, "$EndNodes\n", "", "line 20: expected $EndNodes, found `$Elements`"),
        (V2, "40 50\n10", "40 51\n10", "line 31: expected the number of a node in $Nodes, found `51`"),
        (V2, "9 4 3", "9 4 -3", "line 31: expected the number of tags of an element, found `-3`"),
        (
            V2,
            "9 4 3",
            "9 11 3",
            "line 31: expected first-order elements, saved with Mesh.ElementOrder=1, found 10-node tetrahedra (type 11)",
        ),
        (V2, "9 4 3", "9 6 3", "line 31: expected tetrahedra or hexahedra, found 6-node prisms (type 6)"),
        (V2, "9 4 3", "9 99 3", "line 31: expected the type of an element, found `99`"),
        (V2, "$EndElements\n", "", "expected $EndElements, found the end of the file"),
        (
            V2,
            "$EndElements\n",
            "$EndElements\n$Periodic\n1",
            "line 34: expected $EndPeriodic after $Periodic, found the end of the file",
        ),
        (V2, "$EndElements\n", "$EndElements\n$Nodes\n", "line 34: expected one section of nodes, found another one"),
        (V2, "$Nodes", "$Nothing", "line 12: expected $EndNothing after $Nothing, found the end of the file"),
        (V4_1, "1 0 0 0 1 2 \n", "1 0 0 0 101 2 \n", "line 6: expected at most 100 physical groups, found 101"),
        (V4_1, "1 0 0 0 1 2 \n", "1 0 0 0 1 2 7\n", "line 6: expected the end of an entity, found `7` too"),
        (V4_1, "2 6 5 50", "2 7 5 50", "expected 7 nodes, found 6 in all blocks"),
        (V4_1, "3 1 0 4\n", "3 1 0 4000\n", "line 21: expected 4000 nodes in a block, found only"),
        (
            V4_1,
            "3 2 4 1\n",
            "2 2 4 1\n",
            "expected elements of an entity of dimension 2, found elements of dimension 3",
        ),
        (V4_1, "3 2 4 1\n", "3 2 11 1\n", "found 10-node tetrahedra (type 11)"),
        (V4_1, "9 20 30 40 50", "9 20 30 40", "expected a node number, found the end of the line"),
        (V4_1, "7 7 1 7", "7 9223372036854775807 1 7", "expected 9223372036854775807 elements, found only"),
    ];
    for (text, old, new, expected) in cases {
        assert!(text.contains(old), "{old}");
        let found = message(text.replacen(old, new, 1));
        assert!(found.starts_with("m.msh") && found.contains(expected), "{old} -> {new}:\n{found}\n{expected}");
    }
    let no_elements = &V2[..V2.find("$Elements").unwrap()];
    assert_eq!(message(no_elements), "m.msh: expected a section $Elements, found none");
}

#[test]
fn broken_binary_is_refused_with_its_byte() {
    let v4 = encode(BINARY_V4, true);
    let find = |bytes: &[u8], text: &str| bytes.windows(text.len()).position(|w| w == text.as_bytes()).unwrap();
    let nodes = find(&v4, "$Nodes\n") + 7;
    let patched = |at: usize, bytes: &[u8]| {
        let mut copy = v4.clone();
        copy[at..at + bytes.len()].copy_from_slice(bytes);
        message(copy)
    };
    let at = |byte: usize, rest: &str| format!("m.msh, byte {byte}: expected {rest}");
    assert_eq!(patched(20, &[2]), at(20, "the number 1 in four bytes, found `\\x02\\x00\\x00\\x00`"));
    assert_eq!(patched(nodes, &[0xff; 8]), at(nodes, "the number of blocks, found `18446744073709551615`"));
    let first_x = nodes + 32 + 12 + 40;
    let nan = f64::NAN.to_le_bytes();
    assert_eq!(patched(first_x, &nan), at(first_x, "an x coordinate, a finite number, found `NaN`"));
    let last_node = v4.len() - "\n$EndElements\n".len() - 8;
    assert_eq!(patched(last_node, &[5]), at(last_node, "the number of a node in $Nodes, found `5`"));
    assert!(message(&v4[..last_node + 3]).contains("8 bytes of a node number, found only 3 until the end"));
    let v2 = encode(BINARY_V2, false);
    for cut in 0..v2.len() - 1 {
        assert!(load(&v2[..cut]).is_err(), "{cut}");
    }
}
