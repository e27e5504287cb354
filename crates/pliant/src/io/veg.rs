//! Text meshes of VegaFEM, `.veg`.
//!
//! ```text
//! *VERTICES            *ELEMENTS        *MATERIAL rubber         *SET shell     *REGION
//! 4 3 0 0              TET              ENU, 1000, 1e6, 0.45     1, 2, 3,       shell, rubber
//! 1 0.0 0.0 0.0        1 4 0
//! …                    1 1 2 3 4        *INCLUDE other-file
//! ```
//! Numbers may start at 0 or 1. Sets consist of elements; the set `allElements` always exists. An element takes the
//! material of the last region that contains it. White space in names is ignored.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::includes::Includes;
use super::input_output::{Input, Output};
use super::names::Names;
use super::raw::{Labels, RawMesh};
use super::{Feature, Format, WriteOptions};
use crate::files::{Location, ReadError, Scanner, Syntax, WriteError, put, quote};
use crate::math::Vec3;
use crate::mesh::{Adjacency, BODY, ElementKind, MaterialData, Moduli, Region, VolumeMesh};

pub(super) const FORMAT: Format = Format {
    name: "VegaFEM",
    extensions: &["veg"],
    about: "text; regions, materials, element sets, includes",
    binary: false,
    features: &[Feature::Hexahedra, Feature::Regions, Feature::RegionNames, Feature::Materials, Feature::ElementSets],
    read: Some(read),
    write_volume: Some(write),
    write_surface: None,
};

const SYNTAX: Syntax = Syntax { comment: Some(b'#'), commas: true };

/// Set of all elements that VegaFEM defines; a region of it is the body.
const ALL: &str = "allElements";

fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut reader = Reader::default();
    reader.file(input)?;
    reader.finish(input.path)
}

/// Section to which the next line belongs.
#[derive(Debug, Default, PartialEq)]
enum Section {
    #[default]
    None,
    VertexHeader,
    Vertices,
    ElementKind,
    ElementHeader,
    Elements,
    MaterialData(String),
    Set(String),
    Region,
}

/// `*REGION` line, with its place for errors that are found after reading.
#[derive(Debug)]
struct RegionLine {
    set: String,
    material: String,
    path: PathBuf,
    line: u64,
}

#[derive(Debug, Default)]
struct Reader {
    section: Section,
    vertices: Vec<Vec3>,
    vertex_labels: Labels,
    vertices_promised: usize,
    /// Declared number of attributes and markers after the coordinates, which are ignored.
    vertex_extras: usize,
    kind: Option<ElementKind>,
    elements: Vec<u32>,
    element_labels: Labels,
    elements_promised: usize,
    element_extras: usize,
    materials: BTreeMap<String, MaterialData>,
    sets: BTreeMap<String, Vec<u32>>,
    regions: Vec<RegionLine>,
    includes: Includes,
}

impl Reader {
    fn file(&mut self, input: &Input<'_>) -> Result<(), ReadError> {
        let mut scanner = input.scan(SYNTAX);
        while scanner.seek_content() {
            self.line(&mut scanner, input)?;
            scanner.next_line();
        }
        Ok(())
    }

    fn line(&mut self, scanner: &mut Scanner<'_>, input: &Input<'_>) -> Result<(), ReadError> {
        let mut ahead = scanner.clone();
        if let Some(keyword) = ahead.word_in_line().filter(|word| word.starts_with(b"*")) {
            *scanner = ahead;
            return self.keyword(keyword, scanner, input);
        }
        match &self.section {
            Section::None => Err(scanner.error("a keyword such as *VERTICES", quote(scanner.clone().rest_of_line()))),
            Section::VertexHeader => {
                self.vertices_promised = scanner.count("vertices", "0 0 0 0\n".len())?;
                let dimensions = scanner.integer_in_line("the number of dimensions")?;
                if dimensions != 3 {
                    return Err(scanner.error("3 dimensions", format!("{dimensions}")));
                }
                self.vertex_extras = extras(scanner)?;
                self.vertices.reserve(self.vertices_promised);
                self.section = Section::Vertices;
                Ok(())
            }
            Section::Vertices => self.vertex(scanner),
            Section::ElementKind => {
                let word = scanner.expect("TET or CUBIC")?;
                self.kind = Some(match word.to_ascii_uppercase().as_slice() {
                    b"TET" | b"TETS" => ElementKind::Tet4,
                    b"CUBIC" => ElementKind::Hex8,
                    _ => return Err(scanner.error("TET or CUBIC", quote(word))),
                });
                self.section = Section::ElementHeader;
                Ok(())
            }
            Section::ElementHeader => {
                let nodes = self.nodes();
                self.elements_promised = scanner.count("elements", 2 * (nodes + 1))?;
                let given = scanner.integer_in_line("the number of vertices of an element")?;
                if given != nodes as i64 {
                    return Err(scanner.error(format!("{nodes} vertices per element"), format!("{given}")));
                }
                self.element_extras = extras(scanner)?;
                self.elements.reserve(nodes * self.elements_promised);
                self.section = Section::Elements;
                Ok(())
            }
            Section::Elements => self.element(scanner),
            Section::MaterialData(name) => {
                let material = material(name.clone(), scanner)?;
                if self.materials.contains_key(&material.name) {
                    return Err(scanner.error("a material name not used before", format!("`{}` again", material.name)));
                }
                self.materials.insert(material.name.clone(), material);
                self.section = Section::None;
                Ok(())
            }
            Section::Set(name) => {
                let set = self.sets.entry(name.clone()).or_default();
                while let Some(word) = scanner.word_in_line() {
                    let label = scanner.parse_integer(word, "an element number")?;
                    set.push(self.element_labels.find(label, "element", scanner)?);
                }
                Ok(())
            }
            Section::Region => {
                let expected = "the name of a set, a comma and the name of a material";
                let line = scanner.rest_of_line();
                let Some(comma) = line.iter().position(|&b| b == b',') else {
                    return Err(scanner.error(expected, quote(line)));
                };
                let (set, material) = (name(&line[..comma]), name(&line[comma + 1..]));
                let (path, line) = (input.path.into(), scanner.line());
                self.regions.push(RegionLine { set, material, path, line });
                self.section = Section::None;
                Ok(())
            }
        }
    }

    fn keyword(&mut self, word: &[u8], scanner: &mut Scanner<'_>, input: &Input<'_>) -> Result<(), ReadError> {
        if word.eq_ignore_ascii_case(b"*INCLUDE") {
            return self.include(scanner, input);
        }
        self.end_section(scanner)?;
        self.section = match word.to_ascii_uppercase().as_slice() {
            b"*VERTICES" if self.vertices.is_empty() => Section::VertexHeader,
            b"*ELEMENTS" if self.elements.is_empty() => Section::ElementKind,
            b"*VERTICES" | b"*ELEMENTS" => return Err(scanner.error("this section only once", quote(word))),
            b"*MATERIAL" => Section::MaterialData(name(scanner.rest_of_line())),
            b"*SET" => {
                let name = name(scanner.rest_of_line());
                if self.sets.insert(name.clone(), Vec::new()).is_some() {
                    return Err(scanner.error("a set name not used before", format!("`{name}` again")));
                }
                Section::Set(name)
            }
            b"*REGION" => Section::Region,
            _ => {
                let expected = "*VERTICES, *ELEMENTS, *MATERIAL, *SET, *REGION or *INCLUDE";
                return Err(scanner.error(expected, quote(word)));
            }
        };
        Ok(())
    }

    /// Checks that the section is complete.
    fn end_section(&mut self, scanner: &Scanner<'_>) -> Result<(), ReadError> {
        let missing = match &self.section {
            Section::None | Section::Set(_) => None,
            Section::VertexHeader => Some("the number of vertices".into()),
            Section::ElementKind => Some("TET or CUBIC".into()),
            Section::ElementHeader => Some("the number of elements".into()),
            Section::MaterialData(name) => Some(format!("the constants of material `{name}`")),
            Section::Region => Some("the name of a set and of a material".into()),
            Section::Vertices => (self.vertices.len() < self.vertices_promised)
                .then(|| format!("{} vertices, after {}", self.vertices_promised, self.vertices.len())),
            Section::Elements => (self.element_labels.len() < self.elements_promised)
                .then(|| format!("{} elements, after {}", self.elements_promised, self.element_labels.len())),
        };
        missing.map_or(Ok(()), |missing| Err(scanner.error(missing, "the end of the section")))
    }

    fn include(&mut self, scanner: &mut Scanner<'_>, input: &Input<'_>) -> Result<(), ReadError> {
        let file = scanner.rest_of_line();
        let Ok(file) = std::str::from_utf8(file) else {
            return Err(scanner.error("the name of a file", quote(file)));
        };
        Includes::read(self, |reader| &mut reader.includes, file, scanner, input, Self::file)
    }

    fn vertex(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ReadError> {
        if self.vertices.len() == self.vertices_promised {
            return Err(scanner.error(format!("the end of the {} vertices", self.vertices_promised), "another line"));
        }
        let label = scanner.integer_in_line("a vertex number")?;
        if !self.vertex_labels.push(label) {
            return Err(scanner.error("a vertex number not used before", format!("`{label}`")));
        }
        let [x, y, z] =
            ["an x coordinate", "a y coordinate", "a z coordinate"].map(|what| scanner.number_in_line(what));
        self.vertices.push(Vec3::new(x?, y?, z?));
        end_of_line(scanner, "three coordinates", self.vertex_extras)
    }

    fn element(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ReadError> {
        if self.element_labels.len() == self.elements_promised {
            return Err(scanner.error(format!("the end of the {} elements", self.elements_promised), "another line"));
        }
        let label = scanner.integer_in_line("an element number")?;
        if !self.element_labels.push(label) {
            return Err(scanner.error("an element number not used before", format!("`{label}`")));
        }
        for _ in 0..self.nodes() {
            let vertex = scanner.integer_in_line("a vertex number")?;
            self.elements.push(self.vertex_labels.find(vertex, "vertex", scanner)?);
        }
        let expected = if self.nodes() == 4 { "four vertex numbers" } else { "eight vertex numbers" };
        end_of_line(scanner, expected, self.element_extras)
    }

    fn nodes(&self) -> usize {
        self.kind.map_or(0, ElementKind::nodes)
    }

    /// Assigns regions, whose sets and materials may be defined after them.
    fn finish(mut self, path: &Path) -> Result<RawMesh, ReadError> {
        self.end_section(&Scanner::new(path, b"", SYNTAX))?;
        let Some(kind) = self.kind else {
            return Err(ReadError::whole(path, "a section *ELEMENTS", "none"));
        };
        let count = self.element_labels.len();
        let mut raw = RawMesh { vertices: self.vertices, ..RawMesh::default() };
        let mut tags = vec![0; count];
        // Backward, because the last region of an element counts; each set once, even if several regions name it.
        let mut region_of_set: HashMap<&str, i64> = HashMap::new();
        let mut all_taken = false;
        for (i, region) in self.regions.iter().enumerate().rev() {
            let tag = i as i64 + 1;
            let at = |expected: &str, found: &str| {
                ReadError::at(&region.path, Location::Line(region.line), expected, format!("`{found}`"))
            };
            let Some(material) = self.materials.get(&region.material) else {
                return Err(at("the name of a *MATERIAL", &region.material));
            };
            let set = self.sets.get(&region.set);
            if set.is_none() && region.set != ALL {
                return Err(at("the name of a *SET", &region.set));
            }
            raw.region_names.insert(tag, if region.set == ALL { BODY } else { &region.set }.into());
            raw.materials.insert(tag, material.clone());
            if all_taken || region_of_set.insert(&region.set, tag).is_some() {
                continue;
            }
            match set {
                Some(set) => set.iter().map(|&e| e as usize).for_each(|e| take_tag(&mut tags[e], tag)),
                None => tags.iter_mut().for_each(|e| take_tag(e, tag)),
            }
            all_taken = region.set == ALL;
        }
        if self.regions.is_empty() && self.materials.len() == 1 {
            raw.notes.push("there is no *REGION: the one material was given to all elements".into());
            raw.materials.extend(self.materials.into_values().map(|material| (0, material)));
        } else if !self.regions.is_empty() && tags.contains(&0) {
            let orphans = tags.iter().filter(|&&tag| tag == 0).count();
            raw.notes.push(format!("{orphans} elements are in no region and have no material"));
            raw.region_names.insert(0, "unassigned".into());
        }
        // A set that equals its region is not kept twice.
        raw.element_sets = self
            .sets
            .iter()
            .filter(|(name, set)| {
                let tag = region_of_set.get(name.as_str());
                tag.is_none() || set.iter().any(|&e| Some(&tags[e as usize]) != tag)
            })
            .map(|(name, set)| (name.clone(), set.clone()))
            .collect();
        let cells = match kind {
            ElementKind::Tet4 => &mut raw.tets,
            ElementKind::Hex8 => &mut raw.hexes,
        };
        (cells.nodes, cells.tags) = (self.elements, tags);
        Ok(raw)
    }
}

/// Sets the tag of an element that has none yet.
fn take_tag(element: &mut i64, tag: i64) {
    if *element == 0 {
        *element = tag;
    }
}

/// Reads the number of attributes and markers per line from the rest of a header.
fn extras(scanner: &mut Scanner<'_>) -> Result<usize, ReadError> {
    let mut extras = 0_usize;
    while let Some(word) = scanner.word_in_line() {
        let count = scanner.parse_integer(word, "a number of attributes")?;
        extras = extras.saturating_add(usize::try_from(count).unwrap_or(0));
    }
    Ok(extras)
}

/// Checks that only the declared numbers follow: a decimal comma, for example, turns one number into two.
fn end_of_line(scanner: &mut Scanner<'_>, expected: &str, extras: usize) -> Result<(), ReadError> {
    let mut found = 0;
    while let Some(word) = scanner.word_in_line() {
        found += 1;
        if found > extras {
            return Err(scanner.error(expected, format!("{} too", quote(word))));
        }
    }
    Ok(())
}

/// Returns a name without white space, which VegaFEM ignores.
fn name(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect()
}

/// Parses the line after `*MATERIAL`.
fn material(name: String, scanner: &mut Scanner<'_>) -> Result<MaterialData, ReadError> {
    let kind = scanner.expect("ENU, MOONEYRIVLIN or ORTHOTROPIC")?;
    let mut next = |what: &str| scanner.number_in_line(what);
    let density = Some(next("a density")?);
    let moduli = match kind.to_ascii_uppercase().as_slice() {
        b"ENU" => Moduli::Isotropic { young: next("Young's modulus")?, poisson: next("Poisson's ratio")? },
        b"MOONEYRIVLIN" => Moduli::MooneyRivlin { mu01: next("mu01")?, mu10: next("mu10")?, v1: next("v1")? },
        kind if kind.starts_with(b"ORTHOTROPIC") => {
            let form = &kind[b"ORTHOTROPIC".len()..];
            let young = [next("E1")?, next("E2")?, next("E3")?];
            let [e1, e2, e3] = young;
            let (poisson, shear) = match form {
                b"" | b"_N3G3R9" | b"_N3G3" => {
                    ([next("nu12")?, next("nu23")?, next("nu31")?], [next("G12")?, next("G23")?, next("G31")?])
                }
                b"_N1G1R9" | b"_N1G1" | b"_N1R9" | b"_N1" => {
                    // One ratio and one factor for all axes: [LiBarbic2014, section 3].
                    let nu = next("nu")?;
                    let g = if form.starts_with(b"_N1G1") { next("G")? } else { 1.0 };
                    let pairs = [(e1, e2), (e2, e3), (e3, e1)];
                    (
                        pairs.map(|(a, b)| nu * (a / b).sqrt()),
                        pairs.map(|(a, b)| g * (a * b).sqrt() / (2.0 * (1.0 + nu))),
                    )
                }
                _ => {
                    return Err(
                        scanner.error("ORTHOTROPIC with _N3G3R9, _N3G3, _N1G1R9, _N1G1, _N1R9 or _N1", quote(kind))
                    );
                }
            };
            let mut axes = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            if form.is_empty() || form.ends_with(b"R9") {
                for entry in &mut axes {
                    *entry = next("an entry of the rotation")?;
                }
            }
            Moduli::Orthotropic { young, poisson, shear, axes }
        }
        _ => return Err(scanner.error("ENU, MOONEYRIVLIN or ORTHOTROPIC", quote(kind))),
    };
    let material = MaterialData { name, density, moduli: Some(moduli) };
    match material.defect() {
        None => Ok(material),
        Some(defect) => Err(scanner.error("a valid material", format!("one where {defect}"))),
    }
}

/// VegaFEM's default material.
const DEFAULT_DENSITY: f64 = 1000.0;
const DEFAULT_MODULI: Moduli = Moduli::Isotropic { young: 1e9, poisson: 0.45 };

fn write(output: &mut Output, mesh: &VolumeMesh, _: &WriteOptions) -> Result<(), WriteError> {
    let out = output.main();
    put!(out, "# {} vertices, {} elements\n\n", mesh.vertex_count(), mesh.element_count());
    put!(out, "*VERTICES\n{} 3 0 0\n", mesh.vertex_count());
    for (v, p) in mesh.vertices().iter().enumerate() {
        put!(out, "{} {:?} {:?} {:?}\n", v + 1, p.x, p.y, p.z);
    }
    let kind = match mesh.kind() {
        ElementKind::Tet4 => "TET",
        ElementKind::Hex8 => "CUBIC",
    };
    put!(out, "\n*ELEMENTS\n{kind}\n{} {} 0\n", mesh.element_count(), mesh.kind().nodes());
    for (e, nodes) in mesh.elements().enumerate() {
        put!(out, "{}", e + 1);
        for v in nodes {
            put!(out, " {}", v + 1);
        }
        put!(out, "\n");
    }
    let materials = write_materials(output, mesh);
    let mut names = Names::default();
    names.take(ALL);
    let members = Adjacency::from_pairs(mesh.regions().len(), || {
        mesh.element_region().iter().zip(0..).map(|(&region, element)| (region, element))
    });
    for (r, region) in mesh.regions().iter().enumerate() {
        let set = if mesh.regions().len() == 1 && region.name == BODY {
            ALL.to_owned()
        } else {
            let set = take(&mut names, "region", &region.name, output);
            put_set(output.main(), &set, members.of(r));
            set
        };
        put!(output.main(), "\n*REGION\n{set}, {}\n", materials[r]);
    }
    for (name, set) in mesh.element_sets() {
        let name = take(&mut names, "element set", name, output);
        put_set(output.main(), &name, set);
    }
    Ok(())
}

/// Writes each material once and notes default values. Returns the name of the material of each region.
fn write_materials(output: &mut Output, mesh: &VolumeMesh) -> Vec<String> {
    let (mut without_density, mut without_moduli, mut incompressible) = (0, 0, 0);
    let mut names = Names::default();
    // Materials written under each name; different materials may share a name.
    let mut written: HashMap<&str, Vec<(&Option<MaterialData>, String)>> = HashMap::new();
    let mut of_regions = Vec::with_capacity(mesh.regions().len());
    for Region { material, .. } in mesh.regions() {
        let density = material.as_ref().and_then(|material| material.density);
        let moduli = material.as_ref().and_then(|material| material.moduli.as_ref());
        without_density += usize::from(density.is_none());
        without_moduli += usize::from(moduli.is_none());
        incompressible += usize::from(matches!(moduli, Some(Moduli::Isotropic { poisson: 0.5, .. })));
        let name = material.as_ref().map_or("default", |material| &material.name);
        let same_name = written.entry(name).or_default();
        if let Some((_, name)) = same_name.iter().find(|(other, _)| *other == material) {
            of_regions.push(name.clone());
            continue;
        }
        let name = take(&mut names, "material", name, output);
        put_material(output.main(), &name, density.unwrap_or(DEFAULT_DENSITY), moduli.unwrap_or(&DEFAULT_MODULI));
        same_name.push((material, name.clone()));
        of_regions.push(name);
    }
    let made_up = [(without_density, "a density", "1000 kg/m³"), (without_moduli, "moduli", "1 GPa and 0.45")];
    for (count, what, value) in made_up.into_iter().filter(|(count, ..)| *count > 0) {
        let all = mesh.regions().len();
        output.note(format!("VegaFEM needs {what} everywhere: {count} of {all} regions got its default, {value}"));
    }
    if incompressible > 0 {
        output.note(format!("VegaFEM refuses Poisson's ratio 0.5, which {incompressible} regions have"));
    }
    of_regions
}

/// Returns a unique name in one word, without characters of VegaFEM's syntax.
fn take(names: &mut Names, what: &str, name: &str, output: &mut Output) -> String {
    let word: String = name.chars().map(|c| if c.is_whitespace() || ",#*".contains(c) { '_' } else { c }).collect();
    let written = names.take(if word.is_empty() { "unnamed" } else { &word });
    output.name(what, name, &written);
    written
}

fn put_set(out: &mut Vec<u8>, name: &str, members: &[u32]) {
    put!(out, "\n*SET {name}\n");
    for line in members.chunks(10) {
        for element in line {
            put!(out, "{}, ", element + 1);
        }
        put!(out, "\n");
    }
}

fn put_material(out: &mut Vec<u8>, name: &str, density: f64, moduli: &Moduli) {
    put!(out, "\n*MATERIAL {name}\n");
    match moduli {
        Moduli::Isotropic { young, poisson } => put!(out, "ENU, {density:?}, {young:?}, {poisson:?}\n"),
        Moduli::MooneyRivlin { mu01, mu10, v1 } => {
            put!(out, "MOONEYRIVLIN, {density:?}, {mu01:?}, {mu10:?}, {v1:?}\n");
        }
        Moduli::Orthotropic { young, poisson, shear, axes } => {
            put!(out, "ORTHOTROPIC_N3G3R9, {density:?}");
            for value in young.iter().chain(poisson).chain(shear).chain(axes) {
                put!(out, ", {value:?}");
            }
            put!(out, "\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Loaded, Mesh, read_from, write_to};
    use super::*;
    use crate::files::Memory;
    use crate::mesh::{Cells, MeshData, generate};

    const TWO_TETS: &str = "# a comment\r
*VERTICES
5 3 0 0
0 0 0 0
1 1, 0, 0
2 0 1 0
3 0 0 1
4 1 1 1

*ELEMENTS
TET
2 4 0
0 0 1 2 3
1 1 2 3 4

*MATERIAL hard  stuff
ENU, 1000, 25E5, 0.45
*MATERIAL soft
MOONEYRIVLIN, 900, 1, 2, 3
*SET shell
1,
*SET both
0, 1
*REGION
allElements, soft
*REGION
shell, hard stuff
";

    fn read(text: &str) -> Result<Loaded, ReadError> {
        read_from(&Memory::with("m.veg", text), Path::new("m.veg"))
    }

    #[test]
    fn the_last_region_of_an_element_gives_its_material() {
        let mesh = read(TWO_TETS).unwrap().volume();
        assert_eq!(mesh.element_region(), [0, 1]);
        let region = |i: usize| (mesh.regions()[i].name.as_str(), mesh.regions()[i].material.clone().unwrap());
        assert_eq!(region(1), ("shell", MaterialData::isotropic("hardstuff", 1000.0, 25e5, 0.45)));
        let (name, soft) = region(0);
        assert_eq!((name, soft.density), ("body", Some(900.0)));
        assert_eq!(soft.moduli, Some(Moduli::MooneyRivlin { mu01: 1.0, mu10: 2.0, v1: 3.0 }));
        assert_eq!(mesh.element_sets().iter().collect::<Vec<_>>(), [(&"both".to_string(), &vec![0, 1])]);
    }

    #[test]
    fn numbers_may_start_at_zero_or_one() {
        let one_based = TWO_TETS
            .replace("0 0 0 0\n1 1, 0, 0\n2 0 1 0\n3 0 0 1\n4 1 1 1", "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1")
            .replace("0 0 1 2 3\n1 1 2 3 4", "1 1 2 3 4\n2 2 3 4 5")
            .replace("*SET shell\n1,", "*SET shell\n2,")
            .replace("*SET both\n0, 1", "*SET both\n1, 2");
        assert_eq!(read(&one_based).unwrap().volume(), read(TWO_TETS).unwrap().volume());
    }

    #[test]
    fn orthotropic_constants_follow_from_one_ratio_and_one_factor() {
        let text = TWO_TETS.replace("MOONEYRIVLIN, 900, 1, 2, 3", "ORTHOTROPIC_N1G1, 900, 4, 1, 16, 0.25, 3");
        let mesh = read(&text).unwrap().volume();
        let Some(Moduli::Orthotropic { young, poisson, shear, axes }) =
            mesh.regions()[0].material.clone().unwrap().moduli
        else {
            panic!("expected an orthotropic material")
        };
        assert_eq!((young, poisson, shear), ([4.0, 1.0, 16.0], [0.5, 0.0625, 0.5], [2.4, 4.8, 9.6]));
        assert_eq!(axes, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn an_included_file_is_read_in_place() {
        let outer = TWO_TETS.replace("*SET shell\n1,", "*SET shell\n*INCLUDE parts/shell.txt");
        let files = Memory::with("dir/m.veg", outer).and("dir/parts/shell.txt", "# all\n1,\n");
        let mesh = read_from(&files, Path::new("dir/m.veg")).unwrap().volume();
        assert_eq!(mesh, read(TWO_TETS).unwrap().volume());
    }

    #[test]
    fn include_loops_and_missing_includes_are_errors_with_a_line() {
        let files = Memory::with("a.veg", "\n*INCLUDE b.veg\n").and("b.veg", "*INCLUDE a.veg\n");
        let message = read_from(&files, Path::new("a.veg")).unwrap_err().to_string();
        assert_eq!(message, "b.veg, line 1: expected includes without cycles, found `a.veg` again");
        let deep = (0..20)
            .fold(Memory::default(), |files, i| files.and(format!("{i}.veg"), format!("*INCLUDE {}.veg", i + 1)));
        let message = read_from(&deep, Path::new("0.veg")).unwrap_err().to_string();
        assert_eq!(message, "16.veg, line 1: expected at most 16 levels of includes, found `17.veg` too");
        let message = read("*INCLUDE none.txt").unwrap_err().to_string();
        assert!(message.starts_with("m.veg, line 1: expected a readable file `none.txt` to include"), "{message}");
    }

    #[test]
    fn broken_files_are_explained_with_the_line() {
        let broken = |from: &str, to: &str| {
            assert!(TWO_TETS.contains(from), "{from}");
            read(&TWO_TETS.replacen(from, to, 1)).unwrap_err().to_string()
        };
        for (from, to, message) in [
            ("5 3 0 0", "6 3 0 0", "line 10: expected 6 vertices, after 5, found the end of the section"),
            ("5 3 0 0", "4 3 0 0", "line 8: expected the end of the 4 vertices, found another line"),
            ("5 3 0 0", "-5 3 0 0", "line 3: expected the number of vertices, found `-5`"),
            ("5 3 0 0", "4000000000 3 0 0", "line 3: expected 4000000000 vertices, found only"),
            ("5 3 0 0", "5 2 0 0", "line 3: expected 3 dimensions, found 2"),
            ("2 0 1 0", "2 0 1", "line 6: expected a z coordinate, found the end of the line"),
            ("2 0 1 0", "2 0 1e400 0", "line 6: expected a y coordinate, found `1e400`, which is beyond"),
            ("2 0 1 0", "2 0 nan 0", "line 6: expected a y coordinate, a finite number, found `nan`"),
            ("2 0 1 0", "2 0 1,5 0", "line 6: expected three coordinates, found `0` too"),
            ("*MATERIAL soft", "*MATERIAL hardstuff", "line 19: expected a material name not used before"),
            ("*SET both", "*SET shell", "line 22: expected a set name not used before, found `shell` again"),
            ("2 0 1 0", "1 0 1 0", "line 6: expected a vertex number not used before, found `1`"),
            ("TET", "BRICK", "line 11: expected TET or CUBIC, found `BRICK`"),
            ("2 4 0", "2 8 0", "line 12: expected 4 vertices per element, found 8"),
            ("1 1 2 3 4", "1 1 2 3 9", "line 14: expected the number of a listed vertex, found `9`"),
            ("1 1 2 3 4", "1 1 2 3 4 0", "line 14: expected four vertex numbers, found `0` too"),
            ("25E5, 0.45", "25E5", "line 17: expected Poisson's ratio, found the end of the line"),
            ("25E5, 0.45", "25E5, 0.6", "line 17: expected a valid material, found one where Poisson's ratio is 0.6"),
            ("MOONEYRIVLIN", "OGDEN", "line 19: expected ENU, MOONEYRIVLIN or ORTHOTROPIC, found `OGDEN`"),
            ("*SET both\n0, 1", "*SET both\n0, 7", "line 23: expected the number of a listed element, found `7`"),
            ("allElements, soft", "everything, soft", "line 25: expected the name of a *SET, found `everything`"),
            ("allElements, soft", "allElements, wood", "line 25: expected the name of a *MATERIAL, found `wood`"),
            ("*SET both", "*SETS both", "line 22: expected *VERTICES, *ELEMENTS, *MATERIAL"),
            ("*VERTICES\n5", "5", "line 2: expected a keyword such as *VERTICES, found `5 3 0 0`"),
        ] {
            let found = broken(from, to);
            assert!(found.starts_with(&format!("m.veg, {message}")), "{from:?} as {to:?}: {found}");
        }
    }

    #[test]
    fn elements_in_no_region_are_reported() {
        let loaded = read(&TWO_TETS.replace("*REGION\nallElements, soft\n", "")).unwrap();
        assert_eq!(loaded.notes, ["1 elements are in no region and have no material"]);
        assert_eq!(loaded.volume().regions()[0], Region::named("unassigned"));
    }

    #[test]
    fn regions_materials_and_sets_are_written_and_read_back() {
        for cells in [Cells::Tet5, Cells::Hex] {
            let mut data: MeshData = generate::block([1.0; 3], [2, 1, 1], cells).unwrap().into_data();
            let count = data.elements.len() / data.kind.nodes();
            let orthotropic = Moduli::Orthotropic {
                young: [1.0, 2.0, 3.0],
                poisson: [0.1, 0.2, 0.3],
                shear: [4.0, 5.0, 6.0],
                axes: [0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            };
            data.regions = vec![
                Region::of("a", MaterialData::isotropic("rubber", 1000.0, 1e6, 0.45)),
                Region::of("b", MaterialData { name: "wood".into(), density: Some(500.0), moduli: Some(orthotropic) }),
            ];
            data.element_region = (0..count as u32).map(|e| e % 2).collect();
            data.element_sets.insert("first".into(), vec![0]);
            data.vertex_sets.clear();
            data.face_sets.clear();
            let mesh = VolumeMesh::check(data).unwrap().mesh;
            let files = Memory::default();
            let path = Path::new("out.veg");
            let notes = write_to(&files, path, &Mesh::Volume(mesh.clone()), &WriteOptions::default()).unwrap();
            assert!(notes.is_empty(), "{notes:?}");
            assert_eq!(read_from(&files, path).unwrap().volume(), mesh);
        }
    }

    #[test]
    fn names_that_do_not_fit_are_changed_said_and_never_mixed_up() {
        let mut data = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap().into_data();
        let region = |name: &str, material: Option<MaterialData>| Region { material, ..Region::named(name) };
        let stuff = |name: &str, young| Some(MaterialData::isotropic(name, 1000.0, young, 0.3));
        let no_density = MaterialData { density: None, ..MaterialData::isotropic("light", 1.0, 7.0, 0.3) };
        data.regions = vec![
            region("left part", stuff("hard stuff", 1.0)),
            region("left_part", stuff("hard_stuff", 2.0)),
            region("c", stuff("default", 3.0)),
            region("d", None),
            region("e", Some(no_density)),
        ];
        data.element_region = vec![0, 1, 2, 3, 4];
        data.vertex_sets.clear();
        data.face_sets.clear();
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let files = Memory::default();
        let notes = write_to(&files, Path::new("m.veg"), &Mesh::Volume(mesh), &WriteOptions::default()).unwrap();
        let notes = notes.join("\n");
        for words in [
            "a density everywhere: 2 of 5 regions",
            "moduli everywhere: 1 of 5 regions",
            "region `left part` as `left_part`",
            "region `left_part` as `left_part_2`",
            "material `hard stuff` as `hard_stuff`",
            "material `hard_stuff` as `hard_stuff_2`",
        ] {
            assert!(notes.contains(words), "{words} is missing in {notes}");
        }
        let back = read_from(&files, Path::new("m.veg")).unwrap().volume();
        let young = |i: usize| match back.regions()[i].material.as_ref().unwrap().moduli {
            Some(Moduli::Isotropic { young, .. }) => young,
            _ => panic!("expected an isotropic material"),
        };
        assert_eq!([0, 1, 2, 3, 4].map(young), [1.0, 2.0, 3.0, 1e9, 7.0]);
    }

    #[test]
    fn announced_attributes_are_skipped() {
        let text = TWO_TETS
            .replace("5 3 0 0\n0 0 0 0", "5 3 1 0\n0 0 0 0 77")
            .replace("2 4 0\n0 0 1 2 3", "2 4 1\n0 0 1 2 3 5");
        assert_eq!(read(&text).unwrap().volume(), read(TWO_TETS).unwrap().volume());
    }

    #[test]
    fn a_missing_material_is_said_and_filled_in() {
        let mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
        let files = Memory::default();
        let notes = write_to(&files, Path::new("m.veg"), &Mesh::Volume(mesh), &WriteOptions::default()).unwrap();
        assert!(notes[0].contains("vertex sets: x-max, x-min"));
        assert!(notes[1].contains("face sets: x-max, x-min"), "{notes:?}");
        assert!(notes[2].contains("a density everywhere: 1 of 1 regions got its default, 1000 kg/m³"));
        assert!(notes[3].contains("moduli everywhere"));
        let back = read_from(&files, Path::new("m.veg")).unwrap().volume();
        assert_eq!(back.densities(), Ok(vec![1000.0]));
    }
}
