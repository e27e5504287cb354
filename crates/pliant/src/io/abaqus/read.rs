//! Reader of Abaqus files. It works line by line and defers references to later lines to the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::includes::Includes;
use super::super::input_output::Input;
use super::super::names::listed;
use super::super::raw::{Labels, RawMesh};
use super::line::{CellShape, ElementType, Keyword, element_type, fields, other_formulation, real, unquoted};
use super::sets::{Groups, Later};
use super::surfaces::{Surface, SurfaceLine};
use crate::files::{Location, ReadError, Scanner, Syntax, quote};
use crate::math::{Affine3, Vec3};
use crate::mesh::{MaterialData, Moduli};

/// Maximum number of names in a note.
const NAMES_LISTED: usize = 12;

/// Keywords that generate or move nodes and elements: a mesh read without them would be wrong.
const GENERATORS: &[&str] = &["NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM"];

pub(super) fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut reader = Reader::default();
    reader.file(input)?;
    reader.check_end()?;
    reader.finish()
}

/// Section to which the next data line belongs.
#[derive(Debug, Default, Clone, Copy)]
enum Section {
    #[default]
    None,
    Skipped,
    Nodes(Option<usize>),
    Elements(CellShape, Option<usize>),
    NodeSet(Members),
    ElementSet(Members),
    Surface,
    Density,
    Elastic,
    /// Lines after the first of a material's constants.
    MoreConstants,
    Translation,
    Rotation,
}

/// Options for reading the lines of a set.
#[derive(Debug, Clone, Copy)]
struct Members {
    group: usize,
    generate: bool,
    instance: Option<u32>,
}

/// Part of the model that the current lines describe.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Scope {
    #[default]
    Model,
    Part,
    Assembly,
    Instance,
    Step,
}

/// Placed copy of the part that contains the mesh.
#[derive(Debug)]
pub(super) struct Instance {
    pub name: String,
    pub placement: Affine3,
}

/// Location in the input, for errors that are found after reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct SourceLine {
    file: usize,
    line: u64,
}

/// Elements of one shape.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Vertex numbers; `u32::MAX` for nodes that are defined later in the file.
    pub nodes: Vec<u32>,
    /// Number of the set that the block of each element names, plus one; 0 without a set.
    pub tags: Vec<i64>,
}

/// Set members that are resolved at the end of the file.
#[derive(Debug)]
pub(super) struct LateMembers {
    pub of_elements: bool,
    pub group: usize,
    pub instance: Option<u32>,
    pub members: Later,
    pub source_line: SourceLine,
}

/// `*SOLID SECTION`.
#[derive(Debug)]
pub(super) struct SolidSection {
    pub elset: String,
    pub material: Option<String>,
    pub source_line: SourceLine,
}

#[derive(Debug, Default)]
pub(super) struct Reader {
    section: Section,
    scope: Scope,
    /// Number of the part or instance, counted from 1; 0 outside of them.
    scope_number: u32,
    scope_name: String,
    /// Scope number of the mesh, and the name of its part.
    mesh: Option<(u32, Option<String>)>,
    /// Location where the current scope was opened.
    scope_spot: Option<SourceLine>,
    assembly_spot: Option<SourceLine>,
    /// Names of the parts, by name in capitals.
    parts: BTreeMap<String, String>,
    /// Instances of parts without nodes, each with the name of its part.
    empty_instances: Vec<(String, String)>,
    /// Instances of the mesh.
    pub instances: Vec<Instance>,
    /// Number of the instance being read, if it is an instance of the mesh.
    placing: Option<usize>,
    /// Translation of the instance being read.
    translation: Vec3,
    rotation: Affine3,

    pub vertices: Vec<Vec3>,
    pub node_labels: Labels,
    pub cells: [Cells; CellShape::COUNT],
    /// Shape of each element, and its number among the elements of that shape.
    pub elements: Vec<(CellShape, u32)>,
    pub element_labels: Labels,
    /// Corners whose nodes are defined later: shape, position in `nodes`, label, place.
    pub late_corners: Vec<(CellShape, usize, i64, SourceLine)>,
    pub node_sets: Groups,
    pub element_sets: Groups,
    pub late_members: Vec<LateMembers>,
    pub sections: Vec<SolidSection>,
    pub surfaces: Vec<Surface>,
    /// Materials, by name in capitals.
    pub materials: BTreeMap<String, MaterialData>,
    material: Option<String>,
    /// Location of the keyword that announced the constants being read.
    constants_spot: Option<SourceLine>,

    /// All files; the first is the one that the user named.
    files: Vec<PathBuf>,
    includes: Includes,

    pub skipped_types: Vec<String>,
    /// Element types whose formulation Pliant replaces by its own.
    other_formulations: Vec<String>,
    cut_line: Option<String>,
    skipped_keywords: Vec<String>,
    skipped_assembly: bool,
    more_constants: bool,
    flat_nodes: usize,
    redefined_nodes: usize,
}

impl Reader {
    fn file(&mut self, input: &Input<'_>) -> Result<(), ReadError> {
        let outer = self.files.len();
        self.files.push(input.path.into());
        let mut scanner = input.scan(Syntax::default());
        let mut last = &b""[..];
        while scanner.seek_content() {
            let line = scanner.rest_of_line();
            last = line;
            if line.starts_with(b"*") {
                if !line.starts_with(b"**") {
                    let keyword = Keyword::parse(&whole_keyword(line, &mut scanner));
                    self.keyword(&keyword, &scanner, outer, input)?;
                }
            } else {
                self.data(line, &mut scanner, outer)?;
            }
            scanner.next_line();
        }
        // A truncated number is still a number.
        let is_kept = !matches!(self.section, Section::None | Section::Skipped) && !last.starts_with(b"**");
        if is_kept && !input.bytes.ends_with(b"\n") && !input.bytes.ends_with(b"\r") {
            self.cut_line = Some(quote(last));
        }
        Ok(())
    }

    /// Checks that the file does not end before the constants of a material, or inside a part, an instance or the
    /// assembly.
    fn check_end(&self) -> Result<(), ReadError> {
        self.check_constants("the end of the file, which may be cut off")?;
        let keyword = match self.scope {
            Scope::Model | Scope::Step => return Ok(()),
            Scope::Part => "*END PART",
            Scope::Assembly => "*END ASSEMBLY",
            Scope::Instance => "*END INSTANCE",
        };
        let Some(source_line) = self.scope_spot else { return Ok(()) };
        Err(self.error(source_line, format!("{keyword} after this"), "the end of the file, which may be cut off"))
    }

    /// Checks that no material lacks its constants at `next`.
    fn check_constants(&self, next: &str) -> Result<(), ReadError> {
        let expected = match self.section {
            Section::Density => "a density in the line after *DENSITY",
            Section::Elastic => "Young's modulus and Poisson's ratio in the line after *ELASTIC",
            _ => return Ok(()),
        };
        let Some(source_line) = self.constants_spot else { return Ok(()) };
        Err(self.error(source_line, expected, next))
    }

    fn keyword(
        &mut self,
        keyword: &Keyword,
        scanner: &Scanner<'_>,
        file: usize,
        input: &Input<'_>,
    ) -> Result<(), ReadError> {
        if keyword.name == "INCLUDE" {
            return self.include(keyword.expect("INPUT", scanner)?, scanner, input);
        }
        self.check_constants(&format!("*{}", keyword.name))?;
        self.section = Section::Skipped;
        if self.scope == Scope::Step {
            if keyword.name == "ENDSTEP" {
                self.scope = Scope::Model;
            }
            return Ok(());
        }
        let source_line = SourceLine { file, line: scanner.line() };
        self.constants_spot = Some(source_line);
        match keyword.name.as_str() {
            "NODE" if self.scope != Scope::Assembly => self.nodes(keyword, scanner)?,
            "ELEMENT" if self.scope != Scope::Assembly => self.element_block(keyword, scanner)?,
            "NODE" | "ELEMENT" => self.skipped_assembly = true,
            "NSET" => self.set(false, keyword, scanner, source_line)?,
            "ELSET" => self.set(true, keyword, scanner, source_line)?,
            "SURFACE" => self.surface(keyword, scanner)?,
            "SOLIDSECTION" => {
                let material = keyword.get("MATERIAL").map(str::to_owned);
                self.sections.push(SolidSection {
                    elset: keyword.expect("ELSET", scanner)?.into(),
                    material,
                    source_line,
                });
            }
            "MATERIAL" => {
                let name = keyword.expect("NAME", scanner)?;
                let material = MaterialData { name: name.into(), density: None, moduli: None };
                self.materials.entry(name.to_ascii_uppercase()).or_insert(material);
                self.material = Some(name.to_ascii_uppercase());
            }
            "DENSITY" => self.section = Section::Density,
            "ELASTIC" => match keyword.get("TYPE").map(str::to_ascii_uppercase).as_deref() {
                None | Some("ISOTROPIC" | "ISO") => self.section = Section::Elastic,
                Some(other) => remember(&mut self.skipped_keywords, format!("*ELASTIC, TYPE={other}")),
            },
            "PART" => {
                self.enter(Scope::Part, keyword, scanner, source_line)?;
                self.parts.insert(self.scope_name.to_ascii_uppercase(), self.scope_name.clone());
            }
            "INSTANCE" => self.enter_instance(keyword, scanner, source_line)?,
            "ASSEMBLY" => {
                self.assembly_spot = Some(source_line);
                self.leave_to(Scope::Assembly);
            }
            "ENDINSTANCE" => self.leave_to(Scope::Assembly),
            "ENDPART" | "ENDASSEMBLY" => self.leave_to(Scope::Model),
            "STEP" => {
                self.scope = Scope::Step;
                remember(&mut self.skipped_keywords, "*STEP".into());
            }
            "HEADING" | "PREPRINT" => {}
            name if GENERATORS.contains(&name) => {
                return Err(
                    scanner.error("explicitly listed nodes and elements", format!("*{name}, which is not supported"))
                );
            }
            name => remember(&mut self.skipped_keywords, format!("*{name}")),
        }
        match keyword.get("INPUT") {
            Some(name) if !matches!(self.section, Section::Skipped) => self.include(name, scanner, input),
            _ => Ok(()),
        }
    }

    fn data<'a>(&mut self, line: &'a [u8], scanner: &mut Scanner<'a>, file: usize) -> Result<(), ReadError> {
        match self.section {
            Section::None => return Err(scanner.error("a keyword such as *NODE", quote(line))),
            Section::Skipped => {}
            Section::Nodes(set) => self.node(line, set, scanner)?,
            Section::Elements(shape, set) => self.element(line, shape, set, scanner, file)?,
            Section::NodeSet(set) => self.members(line, set, false, scanner, file)?,
            Section::ElementSet(set) => self.members(line, set, true, scanner, file)?,
            Section::Surface => {
                let source_line = SourceLine { file, line: scanner.line() };
                if let Some(surface) = self.surfaces.last_mut() {
                    surface.lines.push(SurfaceLine::parse(line, surface.of_nodes, scanner, source_line)?);
                }
            }
            Section::Density => {
                let density = constant(line, 0, "a density", scanner)?;
                self.change_material(scanner, |material| material.density = Some(density))?;
            }
            Section::Elastic => {
                let young = constant(line, 0, "Young's modulus", scanner)?;
                let poisson = constant(line, 1, "Poisson's ratio", scanner)?;
                self.change_material(scanner, |material| material.moduli = Some(Moduli::Isotropic { young, poisson }))?;
            }
            Section::MoreConstants => self.more_constants = true,
            Section::Translation => {
                self.translation = vector(line, 0, scanner)?;
                self.section = Section::Rotation;
                self.place();
            }
            Section::Rotation => {
                self.rotation = rotation(line, scanner)?;
                self.section = Section::Skipped;
                self.place();
            }
        }
        Ok(())
    }

    fn include(&mut self, name: &str, scanner: &Scanner<'_>, input: &Input<'_>) -> Result<(), ReadError> {
        Includes::read(self, |reader| &mut reader.includes, name, scanner, input, Self::file)
    }

    fn enter(
        &mut self,
        scope: Scope,
        keyword: &Keyword,
        scanner: &Scanner<'_>,
        source_line: SourceLine,
    ) -> Result<(), ReadError> {
        self.scope_name = keyword.expect("NAME", scanner)?.into();
        self.scope = scope;
        self.scope_spot = Some(source_line);
        self.scope_number = self.scope_number.saturating_add(1);
        Ok(())
    }

    fn leave_to(&mut self, scope: Scope) {
        self.scope = scope;
        self.scope_spot = self.assembly_spot.filter(|_| scope == Scope::Assembly);
        self.scope_name.clear();
        self.placing = None;
    }

    fn enter_instance(
        &mut self,
        keyword: &Keyword,
        scanner: &Scanner<'_>,
        source_line: SourceLine,
    ) -> Result<(), ReadError> {
        self.enter(Scope::Instance, keyword, scanner, source_line)?;
        (self.translation, self.rotation) = (Vec3::ZERO, Affine3::IDENTITY);
        self.placing = None;
        self.section = Section::Translation;
        let part = keyword.expect("PART", scanner)?;
        let Some(part) = self.parts.get(&part.to_ascii_uppercase()).cloned() else {
            let parts = if self.parts.is_empty() {
                "there are no parts before this".into()
            } else {
                format!("the parts before this: {}", listed(self.parts.values().map(String::as_str)))
            };
            return Err(scanner.error("the name of a part", format!("{}; {parts}", quote(part.as_bytes()))));
        };
        let of_mesh = matches!(&self.mesh, Some((_, Some(mesh))) if mesh.eq_ignore_ascii_case(&part));
        if of_mesh {
            if self.instance(&self.scope_name).is_some() {
                let found = format!("`{}` again", self.scope_name);
                return Err(scanner.error("instances with different names", found));
            }
            self.add_instance();
        } else {
            self.empty_instances.push((self.scope_name.clone(), part));
        }
        Ok(())
    }

    fn add_instance(&mut self) {
        self.placing = Some(self.instances.len());
        self.instances.push(Instance { name: self.scope_name.clone(), placement: Affine3::IDENTITY });
        self.place();
    }

    /// Returns the number of the instance of the mesh with a name.
    pub fn instance(&self, name: &str) -> Option<u32> {
        let found = self.instances.iter().position(|instance| instance.name.eq_ignore_ascii_case(name));
        found.map(|number| number as u32)
    }

    /// Sets the placement of the current instance: translation, then rotation.
    fn place(&mut self) {
        if let Some(number) = self.placing {
            self.instances[number].placement = self.rotation * Affine3::from_translation(self.translation);
        }
    }

    /// Marks the current scope as the one with the mesh; an error if another scope has it.
    fn claim_mesh(&mut self, scanner: &Scanner<'_>) -> Result<(), ReadError> {
        let number = if self.scope == Scope::Model { 0 } else { self.scope_number };
        match &self.mesh {
            Some((other, _)) if *other == number => {}
            Some(_) => {
                let found = match self.scope {
                    Scope::Model => "more of it outside of the part".into(),
                    _ => format!("more of it in `{}`; several parts are not supported", self.scope_name),
                };
                return Err(scanner.error("the mesh in one part", found));
            }
            None => {
                self.mesh = Some((number, (self.scope == Scope::Part).then(|| self.scope_name.clone())));
                if self.scope == Scope::Instance {
                    self.empty_instances.pop();
                    self.add_instance();
                }
            }
        }
        Ok(())
    }

    fn nodes(&mut self, keyword: &Keyword, scanner: &Scanner<'_>) -> Result<(), ReadError> {
        self.claim_mesh(scanner)?;
        if let Some(system) = keyword.get("SYSTEM").filter(|system| !system.eq_ignore_ascii_case("R")) {
            return Err(scanner.error("rectangular coordinates", format!("SYSTEM={system}")));
        }
        self.section = Section::Nodes(keyword.get("NSET").map(|name| self.node_sets.define(name, None)));
        Ok(())
    }

    fn node(&mut self, line: &[u8], set: Option<usize>, scanner: &Scanner<'_>) -> Result<(), ReadError> {
        let mut fields = fields(line);
        let label = scanner.parse_integer(fields.next().unwrap_or_default(), "a node number")?;
        let mut coordinate = |what: &str, needed: bool| match fields.next() {
            Some(field) => real(field, what, scanner),
            None if needed => Err(scanner.error(what, "the end of the line")),
            None => {
                self.flat_nodes += 1;
                Ok(0.0)
            }
        };
        let (x, y) = (coordinate("an x coordinate", true)?, coordinate("a y coordinate", true)?);
        let position = Vec3::new(x, y, coordinate("a z coordinate", false)?);
        let vertex = if let Some(vertex) = self.node_labels.get(label) {
            // The last definition counts, as in Abaqus.
            self.redefined_nodes += 1;
            self.vertices[vertex as usize] = position;
            vertex
        } else {
            self.node_labels.push(label);
            self.vertices.push(position);
            (self.vertices.len() - 1) as u32
        };
        if let Some(set) = set {
            self.node_sets.all[set].members.push(vertex);
        }
        Ok(())
    }

    fn element_block(&mut self, keyword: &Keyword, scanner: &Scanner<'_>) -> Result<(), ReadError> {
        let name = keyword.expect("TYPE", scanner)?;
        let shape = match element_type(name) {
            ElementType::Kept(shape) => shape,
            ElementType::Skipped => {
                remember(&mut self.skipped_types, name.into());
                return Ok(());
            }
            ElementType::Unsupported(what) => {
                let expected = "solids of 4 or 8 nodes, such as C3D4 or C3D8";
                return Err(scanner.error(expected, format!("{}, {what}", quote(name.as_bytes()))));
            }
        };
        self.claim_mesh(scanner)?;
        if let Some(formulation) = other_formulation(name).filter(|_| shape.is_volume()) {
            remember(&mut self.other_formulations, format!("{name} ({formulation})"));
        }
        let set = keyword.get("ELSET").map(|name| self.element_sets.define(name, None));
        self.section = Section::Elements(shape, set);
        Ok(())
    }

    fn element<'a>(
        &mut self,
        mut line: &'a [u8],
        shape: CellShape,
        set: Option<usize>,
        scanner: &mut Scanner<'a>,
        file: usize,
    ) -> Result<(), ReadError> {
        let mut numbers = fields(line);
        let label = scanner.parse_integer(numbers.next().unwrap_or_default(), "an element number")?;
        let cells = &mut self.cells[shape as usize];
        let mut missing = shape.corners();
        loop {
            // A comma at the end of a line is followed by an empty field.
            for number in numbers.filter(|number| !number.is_empty()) {
                if missing == 0 {
                    let expected = format!("{} node numbers", shape.corners());
                    return Err(scanner.error(expected, format!("{} too", quote(number))));
                }
                let node = scanner.parse_integer(number, "a node number")?;
                let vertex = self.node_labels.get(node).unwrap_or_else(|| {
                    let source_line = SourceLine { file, line: scanner.line() };
                    self.late_corners.push((shape, cells.nodes.len(), node, source_line));
                    u32::MAX
                });
                cells.nodes.push(vertex);
                missing -= 1;
            }
            if missing == 0 {
                break;
            }
            if !line.ends_with(b",") {
                return Err(scanner.error("a node number", "the end of the line"));
            }
            line = continuation(scanner)?;
            numbers = fields(line);
        }
        cells.tags.push(set.map_or(0, |set| set as i64 + 1));
        let element = self.elements.len() as u32;
        self.elements.push((shape, cells.tags.len() as u32 - 1));
        if !self.element_labels.push(label) {
            return Err(scanner.error("an element number not used before", format!("`{label}`")));
        }
        if let Some(set) = set {
            self.element_sets.all[set].members.push(element);
        }
        Ok(())
    }

    fn set(
        &mut self,
        of_elements: bool,
        keyword: &Keyword,
        scanner: &Scanner<'_>,
        source_line: SourceLine,
    ) -> Result<(), ReadError> {
        let kind = if of_elements { "ELSET" } else { "NSET" };
        let name = keyword.expect(kind, scanner)?;
        let mut instance = None;
        if self.scope == Scope::Assembly {
            // Without an instance, the members are nodes of the assembly itself.
            instance = self.instance(keyword.get("INSTANCE").unwrap_or_default());
            if instance.is_none() {
                self.skipped_assembly = true;
                return Ok(());
            }
        }
        let groups = if of_elements { &mut self.element_sets } else { &mut self.node_sets };
        let members =
            Members { group: groups.define(name, instance), generate: keyword.get("GENERATE").is_some(), instance };
        if of_elements {
            self.section = Section::ElementSet(members);
            return Ok(());
        }
        self.section = Section::NodeSet(members);
        if let Some(elset) = keyword.get("ELSET") {
            self.later(false, members, Later::NodesOf(elset.into()), source_line);
        }
        Ok(())
    }

    fn surface(&mut self, keyword: &Keyword, scanner: &Scanner<'_>) -> Result<(), ReadError> {
        let kind = keyword.get("TYPE").map(str::to_ascii_uppercase);
        let of_nodes = match kind.as_deref() {
            _ if keyword.get("COMBINE").is_some() => {
                remember(&mut self.skipped_keywords, "*SURFACE, COMBINE".into());
                return Ok(());
            }
            None | Some("ELEMENT") => false,
            Some("NODE") => true,
            Some(other) => {
                remember(&mut self.skipped_keywords, format!("*SURFACE, TYPE={other}"));
                return Ok(());
            }
        };
        let name = keyword.expect("NAME", scanner)?.into();
        let assembly = self.scope == Scope::Assembly;
        self.surfaces.push(Surface { name, assembly, of_nodes, lines: Vec::new() });
        self.section = Section::Surface;
        Ok(())
    }

    fn members(
        &mut self,
        line: &[u8],
        set: Members,
        of_elements: bool,
        scanner: &Scanner<'_>,
        file: usize,
    ) -> Result<(), ReadError> {
        let what = if of_elements { "an element number" } else { "a node number" };
        let source_line = SourceLine { file, line: scanner.line() };
        if set.generate {
            let mut numbers = fields(line);
            let mut number = || scanner.parse_integer(numbers.next().unwrap_or_default(), what);
            let (first, last) = (number()?, number()?);
            let step = match numbers.next() {
                None | Some(b"") => 1,
                Some(field) => scanner.parse_integer(field, "a step")?,
            };
            if first > last || step < 1 {
                return Err(scanner.error("an ascending range", format!("{first} to {last} by {step}")));
            }
            self.later(of_elements, set, Later::Range(first, last, step), source_line);
            return Ok(());
        }
        for field in fields(line).filter(|field| !field.is_empty()) {
            if !matches!(field[0], b'0'..=b'9' | b'-' | b'+') {
                let name = String::from_utf8_lossy(field);
                self.later(of_elements, set, Later::Set(unquoted(&name).into()), source_line);
                continue;
            }
            let label = scanner.parse_integer(field, what)?;
            let (labels, groups) = if of_elements {
                (&self.element_labels, &mut self.element_sets)
            } else {
                (&self.node_labels, &mut self.node_sets)
            };
            match labels.get(label) {
                Some(index) => groups.all[set.group].members.push(index),
                None => self.later(of_elements, set, Later::Label(label), source_line),
            }
        }
        Ok(())
    }

    fn later(&mut self, of_elements: bool, set: Members, members: Later, source_line: SourceLine) {
        let Members { group, instance, .. } = set;
        self.late_members.push(LateMembers { of_elements, group, instance, members, source_line });
    }

    fn change_material(
        &mut self,
        scanner: &Scanner<'_>,
        change: impl FnOnce(&mut MaterialData),
    ) -> Result<(), ReadError> {
        self.section = Section::MoreConstants;
        let Some(material) = self.material.as_ref().and_then(|name| self.materials.get_mut(name)) else {
            return Err(scanner.error("*MATERIAL before its constants", "none"));
        };
        change(material);
        match material.defect() {
            None => Ok(()),
            Some(defect) => Err(scanner.error("a valid material", format!("one where {defect}"))),
        }
    }

    /// Returns notes on content of the file that is not kept.
    pub fn notes(&self, volume: bool) -> Vec<String> {
        let list = |names: &[String]| match names.split_at_checked(NAMES_LISTED) {
            Some((first, [_, ..])) => format!("{} and others", first.join(", ")),
            _ => names.join(", "),
        };
        let mut notes = Vec::new();
        if !self.skipped_types.is_empty() {
            notes.push(format!("elements of these types are not kept: {}", list(&self.skipped_types)));
        }
        if !self.skipped_keywords.is_empty() {
            notes.push(format!("these keywords are not kept: {}", list(&self.skipped_keywords)));
        }
        if self.skipped_assembly {
            notes.push("nodes, elements and sets of the assembly itself are not kept".into());
        }
        if !self.other_formulations.is_empty() {
            notes.push(format!(
                "these elements are treated as fully integrated displacement elements, which may be stiffer: {}",
                list(&self.other_formulations)
            ));
        }
        if let Some(line) = &self.cut_line {
            notes.push(format!("the last line, {line}, does not end with a line break: the file may be cut off there"));
        }
        if self.more_constants {
            notes.push("materials that depend on temperature or fields: only the first line is kept".into());
        }
        if volume && self.flat_nodes > 0 {
            let nodes = if self.flat_nodes == 1 { "node has" } else { "nodes have" };
            notes.push(format!("{} {nodes} no z coordinate: it is 0", self.flat_nodes));
        }
        if self.redefined_nodes > 0 {
            let nodes = if self.redefined_nodes == 1 { "node is" } else { "nodes are" };
            notes.push(format!("{} {nodes} listed again: the last position counts", self.redefined_nodes));
        }
        if !self.empty_instances.is_empty() {
            let instances = self.empty_instances.iter().map(|(name, part)| format!("`{name}` of part `{part}`"));
            let instances: Vec<String> = instances.collect();
            let instances = listed(instances.iter().map(String::as_str));
            notes.push(format!("these instances are not kept, as their parts have no elements: {instances}"));
        }
        notes
    }

    /// Returns the path of the file that the user named.
    pub fn path(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Creates an error at an earlier place.
    pub fn error(&self, source_line: SourceLine, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        let path = self.files.get(source_line.file).map_or(Path::new(""), PathBuf::as_path);
        ReadError::at(path, Location::Line(source_line.line), expected, found)
    }
}

/// Returns a keyword with its continuation lines: those after a line that ends in a comma, unless they are data.
fn whole_keyword(line: &[u8], scanner: &mut Scanner<'_>) -> Vec<u8> {
    let mut whole = line.to_vec();
    while whole.ends_with(b",") {
        let mut ahead = scanner.clone();
        ahead.next_line();
        let next = ahead.rest_of_line();
        if !next.first().is_some_and(u8::is_ascii_alphabetic) {
            break;
        }
        whole.extend_from_slice(next);
        *scanner = ahead;
    }
    whole
}

/// Returns the next data line of an element that spans several lines.
fn continuation<'a>(scanner: &mut Scanner<'a>) -> Result<&'a [u8], ReadError> {
    loop {
        scanner.next_line();
        if !scanner.seek_content() {
            return Err(scanner.error("a node number", "the end of the file"));
        }
        let line = scanner.rest_of_line();
        if !line.starts_with(b"*") {
            return Ok(line);
        }
        if !line.starts_with(b"**") {
            return Err(scanner.error("a node number", quote(line)));
        }
    }
}

fn constant(line: &[u8], column: usize, what: &str, scanner: &Scanner<'_>) -> Result<f64, ReadError> {
    real(fields(line).nth(column).unwrap_or_default(), what, scanner)
}

fn vector(line: &[u8], column: usize, scanner: &Scanner<'_>) -> Result<Vec3, ReadError> {
    let entry = |i| constant(line, column + i, "a coordinate", scanner);
    Ok(Vec3::new(entry(0)?, entry(1)?, entry(2)?))
}

/// Parses a rotation: two points of the axis and an angle in degrees.
fn rotation(line: &[u8], scanner: &Scanner<'_>) -> Result<Affine3, ReadError> {
    let (from, to) = (vector(line, 0, scanner)?, vector(line, 3, scanner)?);
    let angle = constant(line, 6, "an angle", scanner)?.to_radians();
    let Some(axis) = (to - from).try_normalize() else {
        return Err(scanner.error("two different points of an axis", "the same point twice"));
    };
    let turn = Affine3::from_axis_angle(axis, angle);
    Ok(Affine3::from_translation(from) * turn * Affine3::from_translation(-from))
}

/// Adds a name to a list for a note, unless the list is long enough.
fn remember(names: &mut Vec<String>, name: String) {
    // One name more than is listed shows that there are others.
    if names.len() <= NAMES_LISTED && !names.contains(&name) {
        names.push(name);
    }
}
