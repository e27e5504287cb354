//! Gmsh meshes, `.msh`, versions 2.2, 4.0 and 4.1, text and binary; 2.2 and 4.1 are written.
//!
//! ```text
//! $MeshFormat            $PhysicalNames          $Nodes           $Elements
//! 2.2 0 8                2                       4                2
//! $EndMeshFormat         3 1 "soft tissue"       1 0.0 0.0 0.0    1 4 2 1 1 1 2 3 4
//!                        0 1 "clamp"             …                2 15 2 1 1 3
//!                        $EndPhysicalNames       $EndNodes        $EndElements
//! ```
//! The header contains the version, whether the numbers of sections are binary, and the size of some of them. The
//! integer 1 after it shows the byte order. Names of sections and groups are always text.
//!
//! A physical group has a dimension and a tag, and a name if it is listed in `$PhysicalNames`. Groups of volumes are
//! regions. If an element is in several, the first is its region and the others are element sets. Groups of surfaces
//! are face sets. Groups of points and curves are vertex sets. Groups with the same name form one set.

mod groups;
mod numbers;
mod v2;
mod v4;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::error::{ReadError, WriteError};
use super::files::{Input, Output, put};
use super::raw::RawMesh;
use super::scan::{Syntax, quote};
use super::{Encoding, Feature, Format, GmshVersion, WriteOptions};
use crate::math::Vec3;
use crate::mesh::{ElementFace, ElementKind, SurfaceMesh, VolumeMesh};

use groups::{Collected, Entities, Kind};
use numbers::{Coding, Sink, Source};
use v4::{Layout, MAX_GROUPS};

pub(super) const FORMAT: Format = Format {
    name: "Gmsh",
    extensions: &["msh"],
    about: "text and binary; 2.2, 4.0 (only read) and 4.1; physical groups as regions and sets of faces, vertices and elements",
    binary: true,
    features: &[
        Feature::Hexahedra,
        Feature::Regions,
        Feature::RegionNames,
        Feature::VertexSets,
        Feature::ElementSets,
        Feature::FaceSets,
        Feature::FaceSetNames,
    ],
    read: Some(read),
    write_volume: Some(write_volume),
    write_surface: Some(write_surface),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V2,
    V4(Layout),
}

/// Maximum number of skipped sections in a note.
const MAX_NAMED: usize = 8;

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut source = Source::new(input.path, input.scan(Syntax::default()));
    let version = read_format(&mut source)?;
    let mut file = Collected::default();
    let mut entities = Entities::default();
    let (mut nodes_read, mut elements_read) = (false, false);
    let mut skipped: BTreeSet<&str> = BTreeSet::new();
    while let Some(section) = source.section()? {
        match (section, version) {
            ("$PhysicalNames", _) => read_names(&mut source, &mut file)?,
            ("$Entities" | "$PartitionedEntities", Version::V4(layout)) => {
                layout.read_entities(&mut source, &mut entities, section == "$PartitionedEntities")?;
            }
            ("$Nodes" | "$ParametricNodes", _) => {
                if nodes_read {
                    return Err(source.error("one section of nodes", "another one"));
                }
                nodes_read = true;
                match version {
                    Version::V2 => v2::read_nodes(&mut source, &mut file, section == "$ParametricNodes")?,
                    Version::V4(layout) => layout.read_nodes(&mut source, &mut file)?,
                }
            }
            ("$Elements", _) => {
                if !nodes_read || elements_read {
                    let found = if nodes_read { "another one" } else { "it before $Nodes" };
                    return Err(source.error("one section $Elements after $Nodes", found));
                }
                elements_read = true;
                match version {
                    Version::V2 => v2::read_elements(&mut source, &mut file)?,
                    Version::V4(layout) => layout.read_elements(&mut source, &mut file, &entities)?,
                }
            }
            _ => {
                source.skip_section(section)?;
                if section != "$Comments" {
                    skipped.insert(section);
                }
                continue;
            }
        }
        source.end_section(section)?;
    }
    if !elements_read {
        let missing = if nodes_read { "a section $Elements" } else { "the sections $Nodes and $Elements" };
        return Err(ReadError::whole(input.path, missing, "none"));
    }
    if !skipped.is_empty() {
        let names: Vec<&str> = skipped.iter().copied().take(MAX_NAMED).collect();
        let more = if skipped.len() > MAX_NAMED { " and others" } else { "" };
        file.notes.push(format!("the content of {}{more} is not kept", names.join(", ")));
    }
    Ok(file.finish(matches!(version, Version::V4(_)).then_some(&entities)))
}

/// Reads the section `$MeshFormat`, which comes first; only comments may precede it.
fn read_format(source: &mut Source<'_>) -> Result<Version, ReadError> {
    loop {
        match source.section()? {
            Some("$MeshFormat") => break,
            Some("$Comments") => source.skip_section("$Comments")?,
            Some(name @ ("$NOD" | "$ELM")) => {
                let found = format!("version 1, which begins with {name}");
                return Err(source.error("Gmsh's format version 2.2, 4.0 or 4.1", found));
            }
            Some(name) => return Err(source.error("the section $MeshFormat first", quote(name.as_bytes()))),
            None => return Err(source.error("the section $MeshFormat", "the end of the file")),
        }
    }
    let number = source.text_number("the version of the format")?;
    let version = match number {
        2.0..3.0 => Version::V2,
        4.0 => Version::V4(Layout::V4_0),
        4.1 => Version::V4(Layout::V4_1),
        _ => return Err(source.error("Gmsh's format version 2.2, 4.0 or 4.1", format!("version {number}"))),
    };
    let binary = source.text_integer("0 for text or 1 for binary")?;
    let size = source.text_integer("the size of numbers in bytes")?;
    match (binary, size) {
        (0, _) => {}
        (1, 8) => read_byte_order(source)?,
        (1, _) => return Err(source.error("numbers of 8 bytes", format!("{size}"))),
        _ => return Err(source.error("0 for text or 1 for binary", format!("`{binary}`"))),
    }
    source.end_section("$MeshFormat")?;
    Ok(version)
}

fn read_byte_order(source: &mut Source<'_>) -> Result<(), ReadError> {
    source.set_coding(Coding::Binary { little: true });
    source.begin_numbers();
    match source.take(4, "the byte order")? {
        [1, 0, 0, 0] => {}
        [0, 0, 0, 1] => source.set_coding(Coding::Binary { little: false }),
        other => return Err(source.error("the number 1 in four bytes", quote(other))),
    }
    Ok(())
}

/// Reads the section `$PhysicalNames`.
fn read_names(source: &mut Source<'_>, file: &mut Collected) -> Result<(), ReadError> {
    let count = source.text_integer("the number of physical names")?;
    let min = "0 1 a\n".len();
    for _ in 0..source.checked(count, "physical names", [min, min])? {
        let dimension = source.text_integer("the dimension of a physical group")?;
        if !(0..=3).contains(&dimension) {
            return Err(source.error("a dimension from 0 to 3", format!("`{dimension}`")));
        }
        let tag = source.text_integer("the number of a physical group")?;
        let name = source.rest_of_line();
        if name.is_empty() {
            return Err(source.error("the name of a physical group in quotes", "the end of the line"));
        }
        // Gmsh does not escape quotes in names: the last one on the line ends it.
        let name = name.strip_prefix(b"\"").map_or(name, |name| name.strip_suffix(b"\"").unwrap_or(name));
        file.names.insert((dimension, tag), String::from_utf8_lossy(name).into_owned());
    }
    Ok(())
}

/// Elements of the same groups: an entity in Gmsh's terms.
struct Part {
    dimension: usize,
    /// Number, unique among the parts of its dimension.
    number: usize,
    /// Physical groups of the part.
    tags: Vec<usize>,
    /// Lower and upper corner of its bounding box.
    corners: [Vec3; 2],
}

/// Element to write.
struct Cell<'a> {
    kind: Kind,
    part: u32,
    nodes: &'a [u32],
}

/// Physical group to write: dimension, tag and name.
type NamedGroup<'a> = (usize, usize, &'a str);

fn write_volume(output: &mut Output, mesh: &VolumeMesh, options: &WriteOptions) -> Result<(), WriteError> {
    let holds_element_sets = options.gmsh == GmshVersion::V4_1;
    let element_sets: Vec<(&String, &Vec<u32>)> = mesh.element_sets().iter().collect();
    if !holds_element_sets && !element_sets.is_empty() {
        let names: Vec<&str> = element_sets.iter().map(|(name, _)| name.as_str()).collect();
        output.note(format!("Gmsh 2.2 does not store element sets: {} dropped", names.join(", ")));
    } else if let Some((name, _)) = element_sets.iter().find(|(_, set)| set.is_empty()) {
        output.note(format!("Gmsh does not store element sets without elements such as `{name}`"));
    }
    let element_sets: Vec<_> =
        element_sets.into_iter().filter(|(_, set)| holds_element_sets && !set.is_empty()).collect();

    // Regions come first, so that their tags are the smallest and in ascending order.
    let regions = mesh.regions().len();
    let mut groups: Vec<NamedGroup<'_>> = Vec::new();
    groups.extend(mesh.vertex_sets().keys().zip(1..).map(|(name, tag)| (0, tag, name.as_str())));
    groups.extend(mesh.face_sets().keys().zip(1..).map(|(name, tag)| (2, tag, name.as_str())));
    groups.extend(mesh.regions().iter().zip(1..).map(|(region, tag)| (3, tag, region.name.as_str())));
    groups.extend(element_sets.iter().zip(regions + 1..).map(|((name, _), tag)| (3, tag, name.as_str())));

    let (mut parts, mut cells) = (Vec::new(), Vec::new());
    for (set, tag) in mesh.vertex_sets().values().zip(1..).filter(|(set, _)| !set.is_empty()) {
        let corners = [mesh.vertices()[set[0] as usize]; 2];
        let part = parts.len() as u32;
        parts.push(Part { dimension: 0, number: tag, tags: vec![tag], corners });
        cells.extend(set.chunks_exact(1).map(|nodes| Cell { kind: Kind::Point, part, nodes }));
    }
    let faces = grouped_faces(mesh);
    if faces.iter().any(|(_, tags, _)| tags.len() > MAX_GROUPS) {
        let what = "a face in more than a hundred face sets";
        return Err(WriteError::Unsupported { path: output.path().into(), format: FORMAT.name, what });
    }
    put_faces(mesh, &faces, options.gmsh, &mut parts, &mut cells);
    let kind = match mesh.kind() {
        ElementKind::Tet4 => Kind::Tet,
        ElementKind::Hex8 => Kind::Hex,
    };
    let sets: Vec<&[u32]> = element_sets.iter().map(|(_, set)| set.as_slice()).collect();
    let Some((volumes, volume_of)) = volume_parts(mesh, &sets) else {
        let what = "an element in a hundred element sets";
        return Err(WriteError::Unsupported { path: output.path().into(), format: FORMAT.name, what });
    };
    let before = parts.len() as u32;
    parts.extend(volumes);
    cells.extend(mesh.elements().zip(volume_of).map(|(nodes, volume)| Cell { kind, part: before + volume, nodes }));
    write(output, *options, &groups, mesh.vertices(), &parts, &cells);
    Ok(())
}

/// Face with the tags of its sets and its vertices.
type GroupedFace = (ElementFace, Vec<usize>, Vec<u32>);

/// Returns the faces of all face sets, sorted by the sets that contain them.
fn grouped_faces(mesh: &VolumeMesh) -> Vec<GroupedFace> {
    let mut tags: BTreeMap<ElementFace, Vec<usize>> = BTreeMap::new();
    for (set, tag) in mesh.face_sets().values().zip(1..) {
        set.iter().for_each(|&face| tags.entry(face).or_default().push(tag));
    }
    let mut faces: Vec<GroupedFace> =
        tags.into_iter().map(|(face, tags)| (face, tags, mesh.face_vertices(face).collect())).collect();
    faces.sort_by(|a, b| (&a.1, a.0).cmp(&(&b.1, b.0)));
    faces
}

/// Adds the faces as cells. In version 4.1, faces of the same sets form one entity. In version 2.2, an element has one
/// group, so that a face is listed once for each of its sets, in a row.
fn put_faces<'a>(
    mesh: &VolumeMesh,
    faces: &'a [GroupedFace],
    version: GmshVersion,
    parts: &mut Vec<Part>,
    cells: &mut Vec<Cell<'a>>,
) {
    let kind = match mesh.kind() {
        ElementKind::Tet4 => Kind::Triangle,
        ElementKind::Hex8 => Kind::Quad,
    };
    for (same, number) in faces.chunk_by(|a, b| a.1 == b.1).zip(1..) {
        let mut corners = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        for p in same.iter().flat_map(|face| &face.2).map(|&v| mesh.vertices()[v as usize]) {
            corners = [corners[0].min(p), corners[1].max(p)];
        }
        let first = parts.len() as u32;
        let tags = &same[0].1;
        let split = if version == GmshVersion::V2_2 { 1 } else { tags.len() };
        let entity = |tags: &[usize]| Part { dimension: 2, number, tags: tags.to_vec(), corners };
        parts.extend(tags.chunks(split).map(entity));
        for (_, _, nodes) in same {
            cells.extend((first..parts.len() as u32).map(|part| Cell { kind, part, nodes }));
        }
    }
}

/// Divides the elements into parts by region and sets, and returns the part of each; `None` if one is in too many sets.
fn volume_parts(mesh: &VolumeMesh, sets: &[&[u32]]) -> Option<(Vec<Part>, Vec<u32>)> {
    let corners = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    let part = |tags| Part { dimension: 3, number: 0, tags, corners };
    let mut parts: Vec<Part> = (1..=mesh.regions().len()).map(|tag| part(vec![tag])).collect();
    let mut part_of = mesh.element_region().to_vec();
    for (set, tag) in sets.iter().zip(mesh.regions().len() + 1..) {
        // Each set divides the parts that it intersects.
        let mut divided: HashMap<u32, u32> = HashMap::new();
        for &element in *set {
            let old = &mut part_of[element as usize];
            if !divided.contains_key(old) {
                let mut tags = parts[*old as usize].tags.clone();
                if tags.len() == MAX_GROUPS {
                    return None;
                }
                tags.push(tag);
                divided.insert(*old, parts.len() as u32);
                parts.push(part(tags));
            }
            *old = divided[old];
        }
    }
    // Parts without elements are removed; the others are numbered in order of appearance.
    let mut kept: Vec<Part> = Vec::new();
    for (part, nodes) in part_of.iter_mut().zip(mesh.elements()) {
        let old = &mut parts[*part as usize];
        if old.number == 0 {
            old.number = kept.len() + 1;
            kept.push(Part { dimension: 3, number: old.number, tags: old.tags.clone(), corners });
        }
        *part = old.number as u32 - 1;
        let [low, high] = &mut kept[*part as usize].corners;
        for &v in nodes {
            let p = mesh.vertices()[v as usize];
            (*low, *high) = (low.min(p), high.max(p));
        }
    }
    Some((kept, part_of))
}

fn write_surface(output: &mut Output, mesh: &SurfaceMesh, options: &WriteOptions) -> Result<(), WriteError> {
    let faces = output.faces_up_to(4, mesh);
    let cells: Vec<Cell<'_>> = faces
        .iter()
        .map(|nodes| Cell { kind: if nodes.len() == 3 { Kind::Triangle } else { Kind::Quad }, part: 0, nodes })
        .collect();
    let parts = [Part { dimension: 2, number: 1, tags: Vec::new(), corners: mesh.bounding_box() }];
    write(output, *options, &[], mesh.vertices(), &parts, &cells);
    Ok(())
}

fn write(
    output: &mut Output,
    options: WriteOptions,
    groups: &[NamedGroup<'_>],
    vertices: &[Vec3],
    parts: &[Part],
    cells: &[Cell<'_>],
) {
    if let Some((.., name)) = groups.iter().find(|(.., name)| name.contains('\n')) {
        output.note(format!("Gmsh stores only single-line names: the lines of {} were joined", quote(name.as_bytes())));
    }
    let out = output.main();
    let binary = options.encoding == Encoding::Binary;
    let version = match options.gmsh {
        GmshVersion::V2_2 => "2.2",
        GmshVersion::V4_1 => "4.1",
    };
    put!(out, "$MeshFormat\n{version} {} 8\n", u8::from(binary));
    if binary {
        out.extend(1_i32.to_le_bytes());
        out.push(b'\n');
    }
    put!(out, "$EndMeshFormat\n");
    if !groups.is_empty() {
        put!(out, "$PhysicalNames\n{}\n", groups.len());
        for (dimension, tag, name) in groups {
            put!(out, "{dimension} {tag} \"{}\"\n", name.replace('\n', " "));
        }
        put!(out, "$EndPhysicalNames\n");
    }
    match options.gmsh {
        GmshVersion::V2_2 => v2::write(out, binary, vertices, parts, cells),
        GmshVersion::V4_1 => v4::write(out, binary, vertices, parts, cells),
    }
}

/// Writes a section of numbers.
fn put_section(out: &mut Vec<u8>, binary: bool, name: &str, fill: impl FnOnce(&mut Sink<'_>)) {
    put!(out, "${name}\n");
    let mut sink = Sink { out, binary };
    fill(&mut sink);
    sink.end_numbers();
    put!(out, "$End{name}\n");
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Loaded, Memory, Mesh, read_from, write_to};
    use super::*;
    use crate::mesh::{Faces, MeshData, Region};

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
            let sides: Vec<(&str, &[ElementFace])> =
                mesh.face_sets().iter().map(|(n, s)| (n.as_str(), &s[..])).collect();
            assert_eq!(sides, [("left", &[(0, 0)][..]), ("surface-8", &[(0, 0)])]);
            assert_eq!(mesh.element_sets()["all"], [0, 1]);
            assert_eq!(mesh.element_sets().len(), 1);
        }
        assert_eq!(load(V4_1).unwrap().notes[0], "the content of $NodeData is not kept");
    }

    #[test]
    fn a_group_that_is_a_region_and_a_set_has_all_its_elements() {
        let mesh =
            volume(V2.replace("9 4 3 3 1 0 20 30 40 50", "9 4 3 9 1 0 20 30 40 50").replace("10 4 3 9", "10 4 3 3"));
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
            (
                V2,
                "$EndElements\n",
                "$EndElements\n$Nodes\n",
                "line 34: expected one section of nodes, found another one",
            ),
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
}
