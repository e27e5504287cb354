//! Resolution of references after the last line: nodes of elements, members of sets, regions.

use std::collections::HashMap;

use super::super::error::ReadError;
use super::super::raw::{Labels, RawMesh};
use super::line::CellShape;
use super::read::{Instance, LateMembers, Reader, SourceLine};
use super::sets::{Later, range};
use crate::math::{Affine3, Vec3};

/// Maximum ratio of set members to nodes and elements, for sets given by ranges and by other sets: a short file could
/// otherwise require unbounded memory. The second constant is the number of members allowed in any case.
const MEMBERS_EACH: usize = 64;
const MIN_MEMBERS: usize = 1 << 20;

/// Maximum total number of nodes and elements of all instances, if there are more than [`MEMBERS_EACH`] instances.
const MAX_COPIED: usize = 1 << 23;

/// Remaining number of set members that a file may define without listing them one by one.
pub(super) struct Budget(usize);

impl Budget {
    pub fn spend(&mut self, members: usize, source_line: SourceLine, reader: &Reader) -> Result<(), ReadError> {
        let Some(left) = self.0.checked_sub(members) else {
            let expected = format!("sets with at most {MEMBERS_EACH} times the total number of nodes and elements");
            return Err(reader.error(source_line, expected, "more"));
        };
        self.0 = left;
        Ok(())
    }
}

impl Reader {
    pub(super) fn finish(mut self) -> Result<RawMesh, ReadError> {
        let things = self.vertices.len() + self.elements.len();
        let mut budget = Budget(MIN_MEMBERS.max(MEMBERS_EACH.saturating_mul(things)));
        self.find_corners()?;
        self.find_members(&mut budget)?;
        let volume = self.elements.iter().any(|(shape, _)| shape.is_volume());
        let mut raw = RawMesh { notes: self.notes(volume), units_are_unknown: true, ..RawMesh::default() };
        self.regions(&mut raw, &mut budget)?;
        let copies = self.instances.len().max(1);
        let total = copies.saturating_mul(things);
        if total > MAX_COPIED && copies > MEMBERS_EACH {
            let found = format!("{copies}, with {total} nodes and elements");
            return Err(ReadError::whole(self.path(), "fewer instances", found));
        }
        self.sets(&mut raw);
        self.add_surfaces(&mut raw, &mut budget)?;
        for copy in 0..copies as u32 {
            for &(shape, index) in self.elements.iter().filter(|(shape, _)| !shape.is_volume()) {
                let face: Vec<u32> = self.corners(shape, index).iter().map(|v| self.vertex_in(copy, *v)).collect();
                raw.faces.push(&face, 0);
            }
        }
        for (cells, shape) in [(&mut raw.tets, CellShape::Tet), (&mut raw.hexes, CellShape::Hex)] {
            let own = std::mem::take(&mut self.cells[shape as usize]);
            let (nodes, tags) = (own.nodes.len(), own.tags.len());
            (cells.nodes, cells.tags) = (own.nodes, own.tags);
            for copy in 1..copies as u32 {
                for node in 0..nodes {
                    let vertex = self.vertex_in(copy, cells.nodes[node]);
                    cells.nodes.push(vertex);
                }
                cells.tags.extend_from_within(..tags);
            }
        }
        raw.vertices = self.placed_vertices();
        Ok(raw)
    }

    /// Returns the vertices of all instances, each in its placement.
    fn placed_vertices(&mut self) -> Vec<Vec3> {
        let vertices = std::mem::take(&mut self.vertices);
        match &self.instances[..] {
            [] => vertices,
            [only] if only.placement == Affine3::IDENTITY => vertices,
            all => {
                let placed = |own: &Instance| {
                    let placement = own.placement;
                    vertices.iter().map(move |p| placement.transform_point3(*p))
                };
                all.iter().flat_map(placed).collect()
            }
        }
    }

    /// Returns the mesh number of a vertex of an instance.
    pub(super) fn vertex_in(&self, instance: u32, vertex: u32) -> u32 {
        // Saturated numbers are out of range, which the mesh check reports.
        (self.node_labels.len() as u32).saturating_mul(instance).saturating_add(vertex)
    }

    /// Returns the mesh number of an element of an instance, among the elements of its shape.
    pub(super) fn element_in(&self, instance: u32, shape: CellShape, index: u32) -> u32 {
        (self.cells[shape as usize].tags.len() as u32).saturating_mul(instance).saturating_add(index)
    }

    fn corners(&self, shape: CellShape, index: u32) -> &[u32] {
        let (corners, index) = (shape.corners(), index as usize);
        &self.cells[shape as usize].nodes[corners * index..corners * (index + 1)]
    }

    /// Resolves corners of elements that are listed before their nodes.
    fn find_corners(&mut self) -> Result<(), ReadError> {
        for (shape, position, label, source_line) in std::mem::take(&mut self.late_corners) {
            let Some(vertex) = self.node_labels.get(label) else {
                return Err(self.error(source_line, "the number of a listed node", format!("`{label}`")));
            };
            self.cells[shape as usize].nodes[position] = vertex;
        }
        Ok(())
    }

    fn find_members(&mut self, budget: &mut Budget) -> Result<(), ReadError> {
        // Sorted once, when the first range needs them.
        let mut sorted: [Option<Vec<(i64, u32)>>; 2] = [None, None];
        for late in std::mem::take(&mut self.late_members) {
            let labels = if late.of_elements { &self.element_labels } else { &self.node_labels };
            let sorted = &mut sorted[usize::from(late.of_elements)];
            let found = self.late_members_of(&late, labels, sorted, budget)?;
            let groups = if late.of_elements { &mut self.element_sets } else { &mut self.node_sets };
            groups.all[late.group].members.extend(found);
        }
        Ok(())
    }

    fn late_members_of(
        &self,
        late: &LateMembers,
        labels: &Labels,
        sorted: &mut Option<Vec<(i64, u32)>>,
        budget: &mut Budget,
    ) -> Result<Vec<u32>, ReadError> {
        let (what, groups) = if late.of_elements { ("element", &self.element_sets) } else { ("node", &self.node_sets) };
        // Unknown elements may be of a skipped type.
        let skipped = !self.skipped_types.is_empty();
        match &late.members {
            Later::Label(label) => match labels.get(*label) {
                Some(index) => Ok(vec![index]),
                None if late.of_elements && skipped => Ok(Vec::new()),
                None => {
                    Err(self.error(late.source_line, format!("the number of a listed {what}"), format!("`{label}`")))
                }
            },
            Later::Range(first, last, step) => {
                let sorted = sorted.get_or_insert_with(|| labels.sorted());
                let (cost, found) = range(*first, *last, *step, labels, sorted);
                budget.spend(cost, late.source_line, self)?;
                Ok(found.collect())
            }
            Later::Set(name) => {
                let Some(set) = groups.find(name, late.instance) else {
                    if late.of_elements && skipped {
                        return Ok(Vec::new());
                    }
                    let expected = format!("the number of a listed {what} or the name of a set");
                    return Err(self.error(late.source_line, expected, format!("`{name}`")));
                };
                if set == late.group {
                    return Ok(Vec::new());
                }
                let members = &groups.all[set].members;
                budget.spend(members.len(), late.source_line, self)?;
                Ok(members.clone())
            }
            Later::NodesOf(name) => {
                let Some(set) = self.element_sets.find(name, late.instance) else {
                    if skipped {
                        return Ok(Vec::new());
                    }
                    return Err(self.error(late.source_line, "the name of an element set", format!("`{name}`")));
                };
                let members = &self.element_sets.all[set].members;
                budget.spend(members.len(), late.source_line, self)?;
                let elements = members.iter().map(|&element| self.elements[element as usize]);
                let mut nodes: Vec<u32> =
                    elements.flat_map(|(shape, index)| self.corners(shape, index).iter().copied()).collect();
                nodes.sort_unstable();
                nodes.dedup();
                Ok(nodes)
            }
        }
    }

    /// Creates one region per set with a section. Elements without a section belong to the region of their block's set.
    fn regions(&mut self, raw: &mut RawMesh, budget: &mut Budget) -> Result<(), ReadError> {
        for section in std::mem::take(&mut self.sections) {
            let Some(set) = self.element_sets.find(&section.elset, None) else {
                // Sections of skipped elements are irrelevant.
                if !self.skipped_types.is_empty() {
                    continue;
                }
                return Err(self.error(
                    section.source_line,
                    "the name of an element set",
                    format!("`{}`", section.elset),
                ));
            };
            budget.spend(self.element_sets.all[set].members.len(), section.source_line, self)?;
            let tag = set as i64 + 1;
            raw.region_names.insert(tag, self.element_sets.all[set].name.clone());
            if let Some(name) = &section.material {
                let Some(material) = self.materials.get(&name.to_ascii_uppercase()) else {
                    return Err(self.error(section.source_line, "the name of a *MATERIAL", format!("`{name}`")));
                };
                raw.materials.insert(tag, material.clone());
            }
            for &element in &self.element_sets.all[set].members {
                let (shape, index) = self.elements[element as usize];
                self.cells[shape as usize].tags[index as usize] = tag;
            }
        }
        let mut counts: HashMap<i64, usize> = HashMap::new();
        for cells in &self.cells[..2] {
            for &tag in &cells.tags {
                *counts.entry(tag).or_default() += 1;
            }
        }
        for &tag in counts.keys().filter(|tag| **tag != 0) {
            let group = &self.element_sets.all[tag as usize - 1];
            raw.region_names.entry(tag).or_insert_with(|| group.name.clone());
        }
        match counts.get(&0) {
            Some(orphans) if counts.len() > 1 => {
                let are = if *orphans == 1 {
                    "element is in no region and has"
                } else {
                    "elements are in no region and have"
                };
                raw.notes.push(format!("{orphans} {are} no material"));
                raw.region_names.insert(0, "unassigned".into());
            }
            _ => {}
        }
        Ok(())
    }

    fn sets(&self, raw: &mut RawMesh) {
        let face_of_shell = self.shell_faces();
        for group in &self.node_sets.all {
            for (name, instance) in self.node_sets.mesh_names(group, &self.instances) {
                let members = group.members.iter().map(|&vertex| self.vertex_in(instance, vertex));
                raw.vertex_sets.entry(name).or_default().extend(members);
            }
        }
        for (group, tag) in self.element_sets.all.iter().zip(1..) {
            for (name, instance) in self.element_sets.mesh_names(group, &self.instances) {
                let mut solids = Vec::new();
                let mut shells: Vec<u32> = Vec::new();
                let mut is_region = true;
                for &element in &group.members {
                    let (shape, index) = self.elements[element as usize];
                    if shape.is_volume() {
                        is_region &= self.cells[shape as usize].tags[index as usize] == tag;
                        solids.push(self.element_in(instance, shape, index));
                    } else {
                        // Next to a volume, shells are some of its faces.
                        shells.extend(
                            face_of_shell.get(&element).map(|face| face + instance * face_of_shell.len() as u32),
                        );
                    }
                }
                // A set that is identical to a region is not kept twice.
                let is_region = is_region && self.instances.len() < 2;
                if (solids.is_empty() && shells.is_empty()) || (!solids.is_empty() && !is_region) {
                    raw.element_sets.entry(name.clone()).or_default().extend(solids);
                }
                if !shells.is_empty() {
                    raw.face_groups.entry(name).or_default().extend(shells);
                }
            }
        }
        if self.instances.len() > 1 {
            for (instance, own) in (0..).zip(&self.instances) {
                let solids = self.elements.iter().filter(|(shape, _)| shape.is_volume());
                let all = solids.map(|&(shape, index)| self.element_in(instance, shape, index));
                raw.element_sets.entry(own.name.clone()).or_default().extend(all);
            }
        }
    }
}
