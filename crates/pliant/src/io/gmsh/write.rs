//! Writing.

use std::collections::{BTreeMap, HashMap};

use super::FORMAT;
use super::groups::Kind;
use super::numbers::Sink;
use super::v4::MAX_GROUPS;
use super::{v2, v4};
use crate::files::{WriteError, put, quote};
use crate::io::input_output::Output;
use crate::io::{Encoding, GmshVersion, WriteOptions};
use crate::math::Vec3;
use crate::mesh::{ElementFace, ElementKind, SurfaceMesh, VolumeMesh};

/// Elements of the same groups: an entity in Gmsh's terms.
pub(super) struct Part {
    pub dimension: usize,
    /// Number, unique among the parts of its dimension.
    pub number: usize,
    /// Physical groups of the part.
    pub tags: Vec<usize>,
    /// Lower and upper corner of its bounding box.
    pub corners: [Vec3; 2],
}

/// Element to write.
pub(super) struct Cell<'a> {
    pub kind: Kind,
    pub part: u32,
    pub nodes: &'a [u32],
}

/// Physical group to write: dimension, tag and name.
type NamedGroup<'a> = (usize, usize, &'a str);

pub(super) fn write_volume(output: &mut Output, mesh: &VolumeMesh, options: &WriteOptions) -> Result<(), WriteError> {
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

pub(super) fn write_surface(output: &mut Output, mesh: &SurfaceMesh, options: &WriteOptions) -> Result<(), WriteError> {
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
pub(super) fn put_section(out: &mut Vec<u8>, binary: bool, name: &str, fill: impl FnOnce(&mut Sink<'_>)) {
    put!(out, "${name}\n");
    let mut sink = Sink { out, binary };
    fill(&mut sink);
    sink.end_numbers();
    put!(out, "$End{name}\n");
}
