//! After the last line: nodes of elements, members of sets, regions.

use std::collections::HashMap;

use super::super::error::ReadError;
use super::super::raw::{Labels, RawMesh};
use super::line::Shape;
use super::read::{LateMembers, Reader, Spot};
use super::sets::{Later, range};

/// How many times as many members as there are nodes and elements the sets may have that are given by ranges and by
/// other sets, so that a short file cannot ask for endless memory; and how many in any case.
const MEMBERS_EACH: usize = 64;
const MEMBERS_LEAST: usize = 1 << 20;

/// What is left to spend on members of sets that a file does not list one by one.
struct Budget(usize);

impl Budget {
    fn spend(&mut self, members: usize, spot: Spot, reader: &Reader) -> Result<(), ReadError> {
        let Some(left) = self.0.checked_sub(members) else {
            let expected = format!("sets with at most {MEMBERS_EACH} times the nodes and elements in all");
            return Err(reader.error(spot, expected, "more"));
        };
        self.0 = left;
        Ok(())
    }
}

impl Reader {
    pub(super) fn finish(mut self) -> Result<RawMesh, ReadError> {
        let things = self.vertices.len() + self.elements.len();
        let mut budget = Budget(MEMBERS_LEAST.max(MEMBERS_EACH.saturating_mul(things)));
        self.find_corners()?;
        self.find_members(&mut budget)?;
        let volume = self.elements.iter().any(|(shape, _)| shape.is_volume());
        let mut raw = RawMesh { notes: self.notes(volume), ..RawMesh::default() };
        self.regions(&mut raw, &mut budget)?;
        self.sets(&mut raw);
        for &(shape, index) in &self.elements {
            if !shape.is_volume() {
                raw.faces.push(self.corners(shape, index), 0);
            }
        }
        raw.vertices = self.placed_vertices();
        let [tets, hexes, ..] = self.cells;
        (raw.tets.nodes, raw.tets.tags) = (tets.nodes, tets.tags);
        (raw.hexes.nodes, raw.hexes.tags) = (hexes.nodes, hexes.tags);
        Ok(raw)
    }

    fn corners(&self, shape: Shape, index: u32) -> &[u32] {
        let (corners, index) = (shape.corners(), index as usize);
        &self.cells[shape as usize].nodes[corners * index..corners * (index + 1)]
    }

    /// Elements may be listed before their nodes.
    fn find_corners(&mut self) -> Result<(), ReadError> {
        for (shape, position, label, spot) in std::mem::take(&mut self.late_corners) {
            let Some(vertex) = self.node_labels.get(label) else {
                return Err(self.error(spot, "the number of a listed node", format!("`{label}`")));
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
        // What is not found may be of a type that was skipped.
        let skipped = !self.skipped_types.is_empty();
        match &late.members {
            Later::Label(label) => match labels.get(*label) {
                Some(index) => Ok(vec![index]),
                None if late.of_elements && skipped => Ok(Vec::new()),
                None => Err(self.error(late.spot, format!("the number of a listed {what}"), format!("`{label}`"))),
            },
            Later::Range(first, last, step) => {
                let sorted = sorted.get_or_insert_with(|| labels.sorted());
                let (cost, found) = range(*first, *last, *step, labels, sorted);
                budget.spend(cost, late.spot, self)?;
                Ok(found.collect())
            }
            Later::Set(name) => {
                let Some(set) = groups.find(name, late.assembly) else {
                    if late.of_elements && skipped {
                        return Ok(Vec::new());
                    }
                    let expected = format!("the number of a listed {what} or the name of a set");
                    return Err(self.error(late.spot, expected, format!("`{name}`")));
                };
                if set == late.group {
                    return Ok(Vec::new());
                }
                let members = &groups.all[set].members;
                budget.spend(members.len(), late.spot, self)?;
                Ok(members.clone())
            }
            Later::NodesOf(name) => {
                let Some(set) = self.element_sets.find(name, late.assembly) else {
                    if skipped {
                        return Ok(Vec::new());
                    }
                    return Err(self.error(late.spot, "the name of an element set", format!("`{name}`")));
                };
                let members = &self.element_sets.all[set].members;
                budget.spend(members.len(), late.spot, self)?;
                let elements = members.iter().map(|&element| self.elements[element as usize]);
                let mut nodes: Vec<u32> =
                    elements.flat_map(|(shape, index)| self.corners(shape, index).iter().copied()).collect();
                nodes.sort_unstable();
                nodes.dedup();
                Ok(nodes)
            }
        }
    }

    /// A region for each set with a section; for elements without one, the set of their block.
    fn regions(&mut self, raw: &mut RawMesh, budget: &mut Budget) -> Result<(), ReadError> {
        for section in std::mem::take(&mut self.sections) {
            let Some(set) = self.element_sets.find(&section.elset, false) else {
                // The section of elements that were skipped concerns nobody.
                if !self.skipped_types.is_empty() {
                    continue;
                }
                return Err(self.error(section.spot, "the name of an element set", format!("`{}`", section.elset)));
            };
            budget.spend(self.element_sets.all[set].members.len(), section.spot, self)?;
            let tag = set as i64 + 1;
            raw.region_names.insert(tag, self.element_sets.all[set].name.clone());
            if let Some(name) = &section.material {
                let Some(material) = self.materials.get(&name.to_ascii_uppercase()) else {
                    return Err(self.error(section.spot, "the name of a *MATERIAL", format!("`{name}`")));
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
                raw.notes.push(format!("{orphans} elements are in no region and have no material"));
                raw.region_names.insert(0, "unassigned".into());
            }
            _ => {}
        }
        Ok(())
    }

    fn sets(&self, raw: &mut RawMesh) {
        for group in &self.node_sets.all {
            raw.vertex_sets.insert(self.node_sets.mesh_name(group), group.members.clone());
        }
        for (group, tag) in self.element_sets.all.iter().zip(1..) {
            let name = self.element_sets.mesh_name(group);
            let mut solids = Vec::new();
            let mut shells = false;
            let mut is_region = true;
            for &element in &group.members {
                let (shape, index) = self.elements[element as usize];
                if shape.is_volume() {
                    is_region &= self.cells[shape as usize].tags[index as usize] == tag;
                    solids.push(index);
                } else {
                    // Beside a volume, shells mark its boundary.
                    let vertices = raw.vertex_sets.entry(name.clone()).or_default();
                    vertices.extend_from_slice(self.corners(shape, index));
                    shells = true;
                }
            }
            // A set that a region took whole is that region.
            if (solids.is_empty() && !shells) || (!solids.is_empty() && !is_region) {
                raw.element_sets.insert(name, solids);
            }
        }
    }
}
