//! `*SURFACE`: sides of elements. Each line has an element or an element set, and the side.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::error::ReadError;
use super::super::names::listed;
use super::super::raw::RawMesh;
use super::super::scan::{Scanner, quote};
use super::finish::Budget;
use super::line::{CellShape, fields, unquoted};
use super::read::{Reader, SourceLine};
use crate::mesh::{ElementFace, ElementKind, free_faces};

/// Surface as defined in the file.
#[derive(Debug)]
pub(super) struct Surface {
    pub name: String,
    /// True if it is defined in the assembly, which has a namespace separate from the part.
    pub assembly: bool,
    /// True if it consists of nodes instead of sides.
    pub of_nodes: bool,
    pub lines: Vec<SurfaceLine>,
}

/// Line of a surface.
#[derive(Debug)]
pub(super) struct SurfaceLine {
    /// Number of an element or node, or the name of a set.
    member: String,
    side: Side,
    source_line: SourceLine,
}

/// Side of an element.
#[derive(Debug, Clone, Copy)]
enum Side {
    /// Numbered side; `S1` is 0.
    Number(u8),
    /// Unspecified: all sides that no other element shares.
    Free,
    /// `SPOS` or `SNEG` of a shell.
    Shell,
}

impl SurfaceLine {
    pub fn parse(
        line: &[u8],
        of_nodes: bool,
        scanner: &Scanner<'_>,
        source_line: SourceLine,
    ) -> Result<Self, ReadError> {
        let mut fields = fields(line);
        let member = String::from_utf8_lossy(fields.next().unwrap_or_default());
        let side = fields.next().unwrap_or_default();
        let number =
            side.split_first().filter(|(letter, _)| letter.eq_ignore_ascii_case(&b'S')).map(|(_, number)| number);
        let side = match (side.to_ascii_uppercase().as_slice(), number) {
            // The area after a node is not kept.
            _ if of_nodes => Side::Free,
            (b"", _) => Side::Free,
            (b"SPOS" | b"SNEG", _) => Side::Shell,
            (_, Some([digit @ b'1'..=b'6'])) => Side::Number(digit - b'1'),
            _ => return Err(scanner.error("a side S1 to S6, SPOS or SNEG", quote(side))),
        };
        Ok(Self { member: unquoted(&member).into(), side, source_line })
    }
}

impl Reader {
    /// Returns the number of each shell among the faces, which are in element order.
    pub(super) fn shell_faces(&self) -> HashMap<u32, u32> {
        let shells = (0..).zip(&self.elements).filter(|(_, (shape, _))| !shape.is_volume());
        shells.zip(0..).map(|((element, _), face)| (element, face)).collect()
    }

    /// Adds surfaces of sides as face sets, and surfaces of nodes as vertex sets.
    pub(super) fn add_surfaces(&self, raw: &mut RawMesh, budget: &mut Budget) -> Result<(), ReadError> {
        let part_names: HashSet<String> =
            self.surfaces.iter().filter(|own| !own.assembly).map(|own| own.name.to_ascii_uppercase()).collect();
        raw.notes.extend(self.joined_surfaces());
        let face_of_shell = self.shell_faces();
        let mut free: [Option<HashSet<ElementFace>>; 2] = [None, None];
        let several = self.instances.len() > 1;
        // With several instances, a surface of the part occurs once per instance.
        let copies = self.surfaces.iter().flat_map(|surface| {
            let instances = if several && !surface.assembly { self.instances.len() as u32 } else { 1 };
            (0..instances).map(move |instance| (surface, instance))
        });
        for (surface, instance) in copies {
            let twice = surface.assembly && part_names.contains(&surface.name.to_ascii_uppercase());
            let name = if twice && !several {
                format!("Assembly.{}", surface.name)
            } else if several && !surface.assembly {
                format!("{}.{}", self.instances[instance as usize].name, surface.name)
            } else {
                surface.name.clone()
            };
            if surface.of_nodes {
                raw.notes.push(format!(
                    "the surface {} consists of nodes: it is kept as a vertex set",
                    quote(name.as_bytes())
                ));
            }
            let (mut sides, mut faces, mut vertices) = (Vec::new(), Vec::<u32>::new(), Vec::new());
            for line in &surface.lines {
                let members = self.members_of(line, surface, instance, budget)?;
                if surface.of_nodes {
                    vertices.extend(members.into_iter().map(|(vertex, instance)| self.vertex_in(instance, vertex)));
                    continue;
                }
                for (element, instance) in members {
                    let (shape, index) = self.elements[element as usize];
                    let number = self.element_in(instance, shape, index);
                    let kind = match shape {
                        CellShape::Tet => ElementKind::Tet4,
                        CellShape::Hex => ElementKind::Hex8,
                        CellShape::Triangle | CellShape::Quadrilateral => {
                            let copies = instance * face_of_shell.len() as u32;
                            faces.extend(face_of_shell.get(&element).map(|face| face + copies));
                            continue;
                        }
                    };
                    match line.side {
                        Side::Number(side) if usize::from(side) < kind.faces().len() => sides.push((number, side)),
                        Side::Number(side) => {
                            let expected = format!("a side S1 to S{} of {}", kind.faces().len(), kind.plural());
                            return Err(self.error(line.source_line, expected, format!("`S{}`", side + 1)));
                        }
                        Side::Shell => {
                            return Err(self.error(
                                line.source_line,
                                "a side such as S1 of a solid",
                                "a side of a shell",
                            ));
                        }
                        Side::Free => {
                            let nodes = &self.cells[shape as usize].nodes;
                            let free = free[shape as usize]
                                .get_or_insert_with(|| free_faces(kind, nodes).into_iter().collect());
                            let own = (0..kind.faces().len() as u8).filter(|&side| free.contains(&(index, side)));
                            sides.extend(own.map(|side| (number, side)));
                        }
                    }
                }
            }
            if surface.of_nodes {
                raw.vertex_sets.entry(name).or_default().extend(vertices);
                continue;
            }
            if !faces.is_empty() {
                raw.face_groups.entry(name.clone()).or_default().extend(faces);
            }
            raw.face_sets.entry(name).or_default().extend(sides);
        }
        Ok(())
    }

    /// Returns a note on surfaces that several blocks define, which are joined.
    fn joined_surfaces(&self) -> Option<String> {
        let mut blocks: BTreeMap<(&str, bool, bool), usize> = BTreeMap::new();
        for surface in &self.surfaces {
            *blocks.entry((&surface.name, surface.assembly, surface.of_nodes)).or_default() += 1;
        }
        let joined: Vec<String> = blocks
            .into_iter()
            .filter(|(_, count)| *count > 1)
            .map(|((name, ..), count)| format!("{} ({count} blocks)", quote(name.as_bytes())))
            .collect();
        let names = listed(joined.iter().map(String::as_str));
        (!joined.is_empty()).then(|| format!("several *SURFACE blocks have the same name and are joined: {names}"))
    }

    /// Returns the elements or nodes of a surface line, each with its instance. Members from a part belong to
    /// `instance`.
    fn members_of(
        &self,
        line: &SurfaceLine,
        surface: &Surface,
        instance: u32,
        budget: &mut Budget,
    ) -> Result<Vec<(u32, u32)>, ReadError> {
        let (what, labels, groups) = if surface.of_nodes {
            ("node", &self.node_labels, &self.node_sets)
        } else {
            ("element", &self.element_labels, &self.element_sets)
        };
        // In the assembly, `instance.name` refers to `name` in the part.
        let qualified = line.member.split_once('.').and_then(|(name, own)| Some((self.instance(name)?, own)));
        let (instance, member) = qualified.unwrap_or((instance, line.member.as_str()));
        let is_ambiguous = surface.assembly && qualified.is_none() && self.instances.len() > 1;
        let expected = || {
            if is_ambiguous {
                return "a set of the assembly, INSTANCE.NUMBER or INSTANCE.SET, as there are several instances".into();
            }
            format!("the number of a listed {what} or the name of a set")
        };
        let skipped = !self.skipped_types.is_empty() && !surface.of_nodes;
        if let Ok(label) = member.parse::<i64>() {
            return match labels.get(label).filter(|_| !is_ambiguous) {
                Some(index) => Ok(vec![(index, instance)]),
                None if skipped && !is_ambiguous => Ok(Vec::new()),
                None => Err(self.error(line.source_line, expected(), format!("`{label}`"))),
            };
        }
        // A set of the assembly may have members in each instance.
        let mut found: Vec<(usize, u32)> = Vec::new();
        if surface.assembly && qualified.is_none() {
            let own = |instance| Some((groups.find(member, Some(instance))?, instance));
            found.extend((0..self.instances.len() as u32).filter_map(own));
        }
        if found.is_empty() && !is_ambiguous {
            found.extend(groups.find(member, None).map(|set| (set, instance)));
        }
        if found.is_empty() && !skipped {
            return Err(self.error(line.source_line, expected(), quote(member.as_bytes())));
        }
        let mut members = Vec::new();
        for (set, instance) in found {
            let own = &groups.all[set].members;
            budget.spend(own.len(), line.source_line, self)?;
            members.extend(own.iter().map(|&member| (member, instance)));
        }
        Ok(members)
    }
}
