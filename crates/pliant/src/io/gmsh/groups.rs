//! Elements and their physical groups, collected while reading.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::numbers::Source;
use crate::io::error::ReadError;
use crate::io::raw::{Labels, RawCells, RawMesh};
use crate::math::Vec3;
use crate::mesh::Sets;

/// Supported element kinds, with Gmsh's type numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Line = 1,
    Triangle = 2,
    Quad = 3,
    Tet = 4,
    Hex = 5,
    Point = 15,
}

/// Gmsh's names of its other element types.
const OTHERS: &[(i64, &str)] = &[
    (6, "6-node prisms"),
    (7, "5-node pyramids"),
    (8, "3-node lines"),
    (9, "6-node triangles"),
    (10, "9-node quadrangles"),
    (11, "10-node tetrahedra"),
    (12, "27-node hexahedra"),
    (13, "18-node prisms"),
    (14, "14-node pyramids"),
    (16, "8-node quadrangles"),
    (17, "20-node hexahedra"),
    (18, "15-node prisms"),
    (19, "13-node pyramids"),
    (20, "9-node triangles"),
    (21, "10-node triangles"),
    (26, "4-node lines"),
    (29, "20-node tetrahedra"),
    (36, "16-node quadrangles"),
    (92, "64-node hexahedra"),
];

impl Kind {
    /// Reads the next element type.
    pub fn read(source: &mut Source<'_>) -> Result<Self, ReadError> {
        const READ: [Kind; 6] = [Kind::Line, Kind::Triangle, Kind::Quad, Kind::Tet, Kind::Hex, Kind::Point];
        let number = source.int("the type of an element")?;
        if let Some(kind) = READ.into_iter().find(|&kind| kind as i64 == number) {
            return Ok(kind);
        }
        let Some((_, name)) = OTHERS.iter().find(|(other, _)| *other == number) else {
            return Err(source.error("the type of an element", format!("`{number}`")));
        };
        let expected = match number {
            6 | 7 => "tetrahedra or hexahedra",
            _ => "first-order elements, saved with Mesh.ElementOrder=1",
        };
        Err(source.error(expected, format!("{name} (type {number})")))
    }

    /// Returns the dimension, from 0 for a point to 3 for a volume.
    pub fn dimension(self) -> i64 {
        match self {
            Self::Point => 0,
            Self::Line => 1,
            Self::Triangle | Self::Quad => 2,
            Self::Tet | Self::Hex => 3,
        }
    }

    /// Returns the number of nodes.
    pub fn nodes(self) -> usize {
        match self {
            Self::Point => 1,
            Self::Line => 2,
            Self::Triangle => 3,
            Self::Quad | Self::Tet => 4,
            Self::Hex => 8,
        }
    }
}

/// Physical group or entity of the geometry: dimension and tag. Equal tags of different dimensions are independent.
pub(super) type Group = (i64, i64);

/// Groups of entities; entities without groups are not listed.
pub(super) type Entities = BTreeMap<Group, Vec<i64>>;

/// Content of a file before group names are applied, which may come last.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub names: BTreeMap<Group, String>,
    pub notes: Vec<String>,
    node_labels: Labels,
    raw: RawMesh,
    /// Nodes of points and lines that are in a group.
    points_and_lines: Vec<u32>,
    /// Members of groups other than the tag of a face or an element: ranges of `points_and_lines`, of the faces or of
    /// the elements. In version 4, members of entities. They are assigned to the groups of the entity at the end, so
    /// that an element in many groups is listed once until then.
    marked: BTreeMap<Group, Vec<Range<usize>>>,
}

impl Collected {
    /// Reserves memory for `count` nodes, a number that the file can store.
    pub fn reserve_nodes(&mut self, count: usize) {
        self.raw.vertices.reserve(count);
    }

    /// Reserves memory for `count` elements, a number that the file can store.
    pub fn reserve_elements(&mut self, kind: Kind, count: usize) {
        if let Some(cells) = self.cells(kind) {
            cells.nodes.reserve(count * kind.nodes());
            cells.tags.reserve(count);
        }
    }

    fn cells(&mut self, kind: Kind) -> Option<&mut RawCells> {
        match kind {
            Kind::Tet => Some(&mut self.raw.tets),
            Kind::Hex => Some(&mut self.raw.hexes),
            _ => None,
        }
    }

    /// Adds the label of the next node, just read from `source`.
    pub fn node_label(&mut self, label: i64, source: &Source<'_>) -> Result<(), ReadError> {
        if self.node_labels.push(label) {
            return Ok(());
        }
        Err(source.error("a node number not used before", format!("`{label}`")))
    }

    /// Reads the position of the next node.
    pub fn node_position(&mut self, source: &mut Source<'_>) -> Result<(), ReadError> {
        let [x, y, z] = ["an x coordinate", "a y coordinate", "a z coordinate"].map(|what| source.real(what));
        self.raw.vertices.push(Vec3::new(x?, y?, z?));
        Ok(())
    }

    pub fn node_count(&self) -> usize {
        self.raw.vertices.len()
    }

    /// Returns the node with a label that was just read from `source`.
    pub fn node(&self, label: i64, source: &Source<'_>) -> Result<u32, ReadError> {
        let node = self.node_labels.get(label);
        node.ok_or_else(|| source.error("the number of a node in $Nodes", format!("`{label}`")))
    }

    /// Adds an element with its first group, or 0.
    pub fn element(&mut self, kind: Kind, nodes: &[u32], group: i64) {
        match kind {
            Kind::Point | Kind::Line if group == 0 => {}
            Kind::Point | Kind::Line => self.points_and_lines.extend_from_slice(nodes),
            Kind::Triangle | Kind::Quad => self.raw.faces.push(nodes, group),
            Kind::Tet => self.raw.tets.push(nodes, group),
            Kind::Hex => self.raw.hexes.push(nodes, group),
        }
    }

    /// Adds an element of version 2, which has one group. An element in several groups is listed several times in a
    /// row.
    pub fn element_of_one_group(&mut self, kind: Kind, nodes: &[u32], group: i64) {
        let last = match kind {
            Kind::Tet if self.raw.tets.nodes.ends_with(nodes) => self.raw.tets.tags.last(),
            Kind::Hex if self.raw.hexes.nodes.ends_with(nodes) => self.raw.hexes.tags.last(),
            Kind::Triangle | Kind::Quad if self.is_last_face(nodes) => self.raw.faces.tags.last(),
            _ => None,
        };
        let again = group != 0 && last.is_some_and(|&last| last != 0 && last != group);
        if !again {
            self.element(kind, nodes, group);
        }
        if again || (kind.dimension() < 2 && group != 0) {
            self.mark(kind, 1, (kind.dimension(), group));
        }
    }

    fn is_last_face(&self, nodes: &[u32]) -> bool {
        let faces = &self.raw.faces.faces;
        !faces.is_empty() && faces.get(faces.len() - 1) == nodes
    }

    /// Marks the last `count` elements, all of this kind, as members of a group or an entity.
    pub fn mark(&mut self, kind: Kind, count: usize, group: Group) {
        let (end, count) = match kind {
            Kind::Point | Kind::Line => (self.points_and_lines.len(), count * kind.nodes()),
            Kind::Triangle | Kind::Quad => (self.raw.faces.tags.len(), count),
            Kind::Tet => (self.raw.tets.tags.len(), count),
            Kind::Hex => (self.raw.hexes.tags.len(), count),
        };
        let start = end - count;
        let ranges = self.marked.entry(group).or_default();
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => ranges.push(start..end),
        }
    }

    /// Returns the marked entities by group: nodes of points and curves, each once; numbers of faces; numbers of
    /// elements.
    fn members(&self, entities: Option<&Entities>) -> Members {
        let mut marked: BTreeMap<Group, Vec<&[Range<usize>]>> = BTreeMap::new();
        for (&(dimension, tag), ranges) in &self.marked {
            let itself = [tag];
            let groups = entities.map_or(&itself[..], |entities| further_groups(entities, (dimension, tag)));
            for &group in groups {
                marked.entry((dimension, group)).or_default().push(ranges);
            }
        }
        let mut found = Members::default();
        for ((dimension, tag), ranges) in marked {
            let members = ranges.into_iter().flatten().cloned().flatten();
            if dimension >= 2 {
                let groups = if dimension == 2 { &mut found.faces } else { &mut found.elements };
                groups.insert((dimension, tag), members.map(|number| number as u32).collect());
                continue;
            }
            let mut group: Vec<u32> = members.map(|at| self.points_and_lines[at]).collect();
            group.sort_unstable();
            group.dedup();
            group.shrink_to_fit();
            found.nodes.insert((dimension, tag), group);
        }
        found
    }

    /// Applies the names, and the groups of entities if the file has any.
    pub fn finish(mut self, entities: Option<&Entities>) -> RawMesh {
        let Members { nodes: mut vertices, mut faces, mut elements } = self.members(entities);
        let tags = if self.raw.tets.tags.is_empty() { &self.raw.hexes.tags } else { &self.raw.tets.tags };
        let regions: BTreeSet<i64> = tags.chunk_by(|a, b| a == b).map(|run| run[0]).collect();
        // A set has all elements of its group, including those whose region is this group.
        if elements.keys().any(|(_, tag)| regions.contains(tag)) {
            for (element, tag) in tags.iter().enumerate() {
                if let Some(set) = elements.get_mut(&(3, *tag)) {
                    set.push(element as u32);
                }
            }
        }
        let only_sets: BTreeSet<i64> =
            elements.keys().map(|&(_, tag)| tag).filter(|tag| !regions.contains(tag)).collect();
        self.raw.element_sets = sets(&self.names, elements);
        // A named group without elements becomes an empty set, or a note about a region.
        for &(dimension, tag) in self.names.keys().filter(|(dimension, _)| *dimension < 3) {
            let groups = if dimension == 2 { &mut faces } else { &mut vertices };
            groups.entry((dimension, tag)).or_default();
        }
        self.raw.vertex_sets = sets(&self.names, vertices);
        self.raw.face_groups = sets(&self.names, faces);
        for ((dimension, tag), name) in self.names {
            if dimension == 2 {
                self.raw.face_names.insert(tag, name);
            } else if dimension == 3 && !only_sets.contains(&tag) {
                self.raw.region_names.insert(tag, name);
            }
        }
        self.raw.notes = self.notes;
        self.raw
    }
}

/// Members of groups.
#[derive(Debug, Default)]
struct Members {
    nodes: BTreeMap<Group, Vec<u32>>,
    faces: BTreeMap<Group, Vec<u32>>,
    elements: BTreeMap<Group, Vec<u32>>,
}

/// Returns the groups of an entity that are not kept as the tag of its elements.
pub(super) fn further_groups(entities: &Entities, entity: Group) -> &[i64] {
    let groups = entities.get(&entity).map_or(&[][..], Vec::as_slice);
    if entity.0 < 2 { groups } else { groups.get(1..).unwrap_or_default() }
}

/// Returns the groups by name; groups with the same name form one set.
fn sets(names: &BTreeMap<Group, String>, groups: BTreeMap<Group, Vec<u32>>) -> Sets {
    let mut sets = Sets::new();
    for ((dimension, tag), members) in groups {
        let name = names.get(&(dimension, tag)).cloned().unwrap_or_else(|| match dimension {
            0 => format!("points-{tag}"),
            1 => format!("curve-{tag}"),
            2 => format!("surface-{tag}"),
            _ => format!("volume-{tag}"),
        });
        sets.entry(name).or_default().extend(members);
    }
    sets
}
