//! Validation of meshes: repairs or reports harmless defects, and names the others.

use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use super::faces::{FaceSets, two_sided};
use super::orientation::Verdict;
use super::{ElementKind, MeshData, Region, Sets, VolumeMesh};
use crate::math::Vec3;

/// Maximum magnitude of a coordinate. Larger ones overflow in the inertia, a fifth power of a length; elements smaller
/// than its inverse vanish.
pub(super) const MAX_COORDINATE: f64 = 1e50;

/// Maximum number of defects that an error lists; the others are counted.
const DEFECTS_LISTED: usize = 20;

/// Reason why a mesh cannot be simulated. Vertices and elements are numbered from 0.
#[derive(Debug, Clone, PartialEq, Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "defect", rename_all = "kebab-case"))]
#[allow(missing_docs, reason = "the message says what each number is")]
#[non_exhaustive]
pub enum Defect {
    #[error("the mesh has no elements")]
    NoElements,
    #[error("too many vertices: expected at most {limit}, found {count}", limit = u32::MAX)]
    TooManyVertices { count: usize },
    #[error("too many vertex numbers of elements: expected at most {limit}, found {count}", limit = u32::MAX / 8)]
    TooManyElements { count: usize },
    #[error("incomplete element: expected a multiple of {nodes} vertex numbers, found {count}")]
    Ragged { count: usize, nodes: usize },
    #[error(
        "face {face} has {corners} corners and is not convex: expected at most {max}; cut it into smaller polygons"
    )]
    LargeFace { face: u32, corners: usize, max: usize },
    #[error("vertex {vertex} is at ({x:e}, {y:e}, {z:e}): expected finite coordinates below {MAX_COORDINATE:e}")]
    BadPosition { vertex: u32, x: f64, y: f64, z: f64 },
    #[error("element {element} uses vertex {vertex}, but the {count} vertices are numbered 0 to {last}", last = i64::try_from(*count).unwrap_or(i64::MAX) - 1)]
    VertexOutOfRange { element: u32, vertex: u32, count: usize },
    #[error("element {element} uses vertex {vertex} more than once")]
    RepeatedVertex { element: u32, vertex: u32 },
    #[error("element {element} has no volume: {volume:.3e} m³ with a longest edge of {longest_edge:.3e} m")]
    NoVolume { element: u32, volume: f64, longest_edge: f64 },
    #[error(
        "element {element} is partially inverted: its Jacobian is {negative:.3e} at one quadrature point and {positive:.3e} at another"
    )]
    InsideOut { element: u32, negative: f64, positive: f64 },
    #[error("region numbers: expected one for each of {elements} elements, found {given}")]
    RegionCount { given: usize, elements: usize },
    #[error("element {element} is in region {region}: expected a number below {count}")]
    RegionOutOfRange { element: u32, region: u32, count: usize },
    #[error("region `{region}`: the fill fraction is {fill}, expected more than 0 and at most 1")]
    BadFill { region: String, fill: f64 },
    #[error("two regions are called `{name}`")]
    RegionNameTwice { name: String },
    #[error("region `{region}`: invalid material: {why}")]
    BadMaterial { region: String, why: String },
    #[error("{what} set `{name}`: number {index} is out of range: expected a number below {count}")]
    SetOutOfRange { what: &'static str, name: String, index: u32, count: usize },
    #[error(
        "face set `{name}`: there is no side {side} of element {element}: expected elements 0 to {last} and sides 0 to {}",
        sides - 1
    )]
    FaceOutOfRange { name: String, element: u32, side: u8, last: usize, sides: usize },
    #[error("{finding}; `VolumeMesh::check` accepts this and reports it")]
    Finding { finding: String },
}

/// Defects of a mesh that cannot be simulated: the first of them, and their total number.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MeshError {
    /// The first twenty defects.
    pub defects: Vec<Defect>,
    /// Total number of defects.
    pub total: usize,
}

impl std::error::Error for MeshError {}

impl std::fmt::Display for MeshError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, defect) in self.defects.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{defect}")?;
        }
        if self.total > self.defects.len() {
            write!(f, "\nand {} more", self.total - self.defects.len())?;
        }
        Ok(())
    }
}

impl From<Defect> for MeshError {
    fn from(defect: Defect) -> Self {
        Self { defects: vec![defect], total: 1 }
    }
}

/// Repairs and other findings of the check of a valid mesh. Numbers count from 0.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CheckReport {
    /// Elements that had the wrong winding, which was reversed.
    pub flipped_elements: Vec<u32>,
    /// Vertices that no element uses. They are kept, so that the user's numbering is preserved.
    pub unused_vertices: Vec<u32>,
    /// Vertices that coincide with an earlier one: `(earlier, later)`. The body is cut open there.
    pub coincident_vertices: Vec<(u32, u32)>,
    /// Elements with the vertices of an earlier one: `(earlier, later)`. Their stiffness and mass count twice.
    pub duplicate_elements: Vec<(u32, u32)>,
    /// Hexahedra with a degenerate corner: its three edges are coplanar. They can be simulated, but not accurately.
    pub degenerate_corner_elements: Vec<u32>,
    /// Hexahedra that fold over near a corner, with the minimum Jacobian found there \[m³\]. It is positive at all
    /// quadrature points, so that they can be simulated.
    pub folded_elements: Vec<(u32, f64)>,
    /// Face sets that contain faces from both sides, with the number of those faces. Tractions count twice there,
    /// pressures cancel.
    pub two_sided_face_sets: Vec<(String, usize)>,
}

impl CheckReport {
    /// Returns true if there are no findings.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns one sentence per finding.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |count: usize, first: String, one: &str, many: &str| match count {
            0 => {}
            1 => lines.push(format!("1 {one} ({first})")),
            _ => lines.push(format!("{count} {many} (first: {first})")),
        };
        let first = |list: &[u32]| list.first().map_or(String::new(), u32::to_string);
        let pair = |list: &[(u32, u32)]| list.first().map_or(String::new(), |(a, b)| format!("{b} like {a}"));
        say(
            self.flipped_elements.len(),
            first(&self.flipped_elements),
            "element had the wrong winding and was flipped",
            "elements had the wrong winding and were flipped",
        );
        say(
            self.unused_vertices.len(),
            first(&self.unused_vertices),
            "vertex is used by no element",
            "vertices are used by no element",
        );
        say(
            self.coincident_vertices.len(),
            pair(&self.coincident_vertices),
            "vertex coincides with another: the body may be cut open there",
            "vertices coincide with others: the body may be cut open there",
        );
        say(
            self.duplicate_elements.len(),
            pair(&self.duplicate_elements),
            "element is listed twice: its mass and stiffness count twice",
            "elements are listed twice: their mass and stiffness count twice",
        );
        say(
            self.degenerate_corner_elements.len(),
            first(&self.degenerate_corner_elements),
            "hexahedron has a degenerate corner, where its Jacobian is zero",
            "hexahedra have a degenerate corner, where their Jacobian is zero",
        );
        let lowest = |list: &[(u32, f64)]| {
            let lowest = list.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
            lowest.map_or(String::new(), |(element, jacobian)| format!("{element}, {jacobian:.3e} m³"))
        };
        match self.folded_elements.len() {
            0 => {}
            1 => lines.push(format!(
                "1 hexahedron has a negative Jacobian near a corner, though none at a quadrature point ({})",
                lowest(&self.folded_elements)
            )),
            many => lines.push(format!(
                "{many} hexahedra have a negative Jacobian near a corner, though none at a quadrature point (lowest: {})",
                lowest(&self.folded_elements)
            )),
        }
        for (name, count) in &self.two_sided_face_sets {
            let faces = if *count == 1 { "face" } else { "faces" };
            lines.push(format!(
                "face set `{name}` has {count} {faces} from both sides: tractions on it count twice, pressures cancel"
            ));
        }
        lines
    }
}

/// Checked mesh and the findings of the check.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Mesh after the repairs.
    pub mesh: VolumeMesh,
    /// Repairs and other findings.
    pub report: CheckReport,
}

/// Collector of defects, up to the number worth listing.
#[derive(Default)]
struct Defects {
    listed: Vec<Defect>,
    total: usize,
}

impl Defects {
    fn push(&mut self, defect: Defect) {
        if self.listed.len() < DEFECTS_LISTED {
            self.listed.push(defect);
        }
        self.total += 1;
    }

    fn into_result(self) -> Result<(), MeshError> {
        if self.total == 0 { Ok(()) } else { Err(MeshError { defects: self.listed, total: self.total }) }
    }
}

/// Part of a checked mesh that an operation changes, and may thereby break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Regions and sets.
    Labels,
    /// Numbers of vertices and elements too, but no position of a corner of an element.
    Numbers,
    /// Positions too, and the corners of elements. Elements have distinct vertices in range.
    Geometry,
}

/// Checks that the sizes of a mesh are in range. Returns the number of elements.
fn check_sizes(data: &MeshData, vertex_count: usize) -> Result<usize, MeshError> {
    let nodes = data.kind.nodes();
    if data.elements.is_empty() {
        return Err(Defect::NoElements.into());
    }
    if !data.elements.len().is_multiple_of(nodes) {
        return Err(Defect::Ragged { count: data.elements.len(), nodes }.into());
    }
    if u32::try_from(vertex_count).is_err() {
        return Err(Defect::TooManyVertices { count: vertex_count }.into());
    }
    // u32 also counts the faces of all elements, and the elements of a mesh refined once.
    if data.elements.len() > u32::MAX as usize / 8 {
        return Err(Defect::TooManyElements { count: data.elements.len() }.into());
    }
    Ok(data.elements.len() / nodes)
}

impl VolumeMesh {
    /// Checks `data` and builds a mesh from it, or returns all its defects.
    ///
    /// Use it once, for data from outside. Operations on a mesh check only what they may break;
    /// [`with_labels`](Self::with_labels) exchanges regions and sets.
    pub fn check(mut data: MeshData) -> Result<Checked, MeshError> {
        let elements = check_sizes(&data, data.vertices.len())?;
        if data.regions.is_empty() {
            data.regions.push(Region::named(super::BODY));
        }
        if data.element_region.is_empty() {
            data.element_region = vec![0; elements];
        }

        let mut defects = Defects::default();
        check_positions(&data.vertices, &mut defects);
        check_indices(&data, &mut defects);
        let vertex_count = data.vertices.len();
        check_labels(&mut data, elements, vertex_count, &mut defects);
        defects.into_result()?;

        let mut report = CheckReport::default();
        let vertices = std::mem::take(&mut data.vertices);
        orient(&mut data, &vertices, &mut report)?;
        report.unused_vertices = unused(vertices.len(), &data.elements);
        report.coincident_vertices = coincident(&vertices);
        report.duplicate_elements = match data.kind {
            ElementKind::Tet4 => duplicates::<4>(&data.elements),
            ElementKind::Hex8 => duplicates::<8>(&data.elements),
        };
        report.two_sided_face_sets = two_sided_sets(&data);
        Ok(Checked { mesh: Self::of_valid(data, vertices.into()), report })
    }

    /// Builds a mesh from a checked one that was changed, and checks only what that may have broken. Unused, coincident
    /// and duplicate parts are not searched for again, and are not in the report.
    pub(super) fn derive(mut data: MeshData, vertices: Arc<[Vec3]>, change: Change) -> Result<Checked, MeshError> {
        let elements = check_sizes(&data, vertices.len())?;
        let mut defects = Defects::default();
        let mut report = CheckReport::default();
        if change == Change::Geometry {
            check_positions(&vertices, &mut defects);
        }
        check_labels(&mut data, elements, vertices.len(), &mut defects);
        defects.into_result()?;
        match change {
            Change::Labels => report.two_sided_face_sets = two_sided_sets(&data),
            Change::Numbers => {}
            Change::Geometry => orient(&mut data, &vertices, &mut report)?,
        }
        Ok(Checked { mesh: Self::of_valid(data, vertices), report })
    }

    fn of_valid(data: MeshData, vertices: Arc<[Vec3]>) -> Self {
        let MeshData { vertices: _, kind, elements, regions, element_region, vertex_sets, element_sets, face_sets } =
            data;
        Self { vertices, kind, elements, regions, element_region, vertex_sets, element_sets, face_sets }
    }

    /// Returns true if an element folds over near a corner, as [`CheckReport::folded_elements`] lists them.
    pub(super) fn is_folded(&self, element: usize) -> bool {
        self.kind == ElementKind::Hex8
            && matches!(Verdict::of_hex(&self.hex(element)), Verdict::Good { lowest: Some(_), .. })
    }
}

fn check_positions(vertices: &[Vec3], defects: &mut Defects) {
    for (vertex, p) in vertices.iter().enumerate() {
        // Written so that NaN fails it.
        let fine = p.to_array().iter().all(|x| x.abs() <= MAX_COORDINATE);
        if !fine {
            defects.push(Defect::BadPosition { vertex: vertex as u32, x: p.x, y: p.y, z: p.z });
        }
    }
}

fn check_indices(data: &MeshData, defects: &mut Defects) {
    let count = data.vertices.len();
    for (element, nodes) in data.elements.chunks_exact(data.kind.nodes()).enumerate() {
        let element = element as u32;
        if let Some(&vertex) = nodes.iter().find(|&&v| v as usize >= count) {
            defects.push(Defect::VertexOutOfRange { element, vertex, count });
        } else if let Some(&vertex) = nodes.iter().enumerate().find(|(i, v)| nodes[..*i].contains(v)).map(|(_, v)| v) {
            defects.push(Defect::RepeatedVertex { element, vertex });
        }
    }
}

fn check_regions(data: &MeshData, elements: usize, defects: &mut Defects) {
    if data.element_region.len() != elements {
        defects.push(Defect::RegionCount { given: data.element_region.len(), elements });
    }
    let count = data.regions.len();
    for (element, &region) in data.element_region.iter().enumerate() {
        if region as usize >= count {
            defects.push(Defect::RegionOutOfRange { element: element as u32, region, count });
        }
    }
    let mut names: Vec<&str> = data.regions.iter().map(|region| region.name.as_str()).collect();
    names.sort_unstable();
    for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
        defects.push(Defect::RegionNameTwice { name: pair[0].to_owned() });
    }
    for region in &data.regions {
        if !(region.fill > 0.0 && region.fill <= 1.0) {
            defects.push(Defect::BadFill { region: region.name.clone(), fill: region.fill });
        }
        if let Some(why) = region.material.as_ref().and_then(super::MaterialData::defect) {
            defects.push(Defect::BadMaterial { region: region.name.clone(), why });
        }
    }
}

/// Checks regions and sets, and sorts the sets.
fn check_labels(data: &mut MeshData, elements: usize, vertex_count: usize, defects: &mut Defects) {
    check_regions(data, elements, defects);
    tidy_sets(&mut data.vertex_sets, "vertex", vertex_count, defects);
    tidy_sets(&mut data.element_sets, "element", elements, defects);
    tidy_face_sets(&mut data.face_sets, data.kind, elements, defects);
}

/// Returns the face sets with faces from both sides, and the number of those faces.
fn two_sided_sets(data: &MeshData) -> Vec<(String, usize)> {
    let two_sided = |set: &[_]| two_sided(data.kind, &data.elements, set);
    let counts = data.face_sets.iter().map(|(name, set)| (name.clone(), two_sided(set)));
    counts.filter(|(_, count)| *count > 0).collect()
}

fn tidy_sets(sets: &mut Sets, what: &'static str, count: usize, defects: &mut Defects) {
    for (name, set) in sets {
        set.sort_unstable();
        set.dedup();
        if let Some(&index) = set.last().filter(|&&last| last as usize >= count) {
            defects.push(Defect::SetOutOfRange { what, name: name.clone(), index, count });
        }
    }
}

fn tidy_face_sets(sets: &mut FaceSets, kind: ElementKind, elements: usize, defects: &mut Defects) {
    let sides = kind.faces().len();
    for (name, set) in sets {
        set.sort_unstable();
        set.dedup();
        let is_wrong = |face: &&(u32, u8)| face.0 as usize >= elements || usize::from(face.1) >= sides;
        if let Some(&(element, side)) = set.iter().find(is_wrong) {
            let (name, last) = (name.clone(), elements - 1);
            defects.push(Defect::FaceOutOfRange { name, element, side, last, sides });
        }
    }
}

/// Exchanges the first two sides of reversed elements in face sets.
fn turn_faces(sets: &mut FaceSets, turned: &[u32]) {
    for set in sets.values_mut() {
        for (element, side) in &mut *set {
            if *side < 2 && turned.binary_search(element).is_ok() {
                *side = 1 - *side;
            }
        }
        set.sort_unstable();
    }
}

/// Gives every element positive volume, or returns the reasons why that is impossible.
fn orient(data: &mut MeshData, vertices: &[Vec3], report: &mut CheckReport) -> Result<(), MeshError> {
    let mut defects = Defects::default();
    for (element, nodes) in data.elements.chunks_exact_mut(data.kind.nodes()).enumerate() {
        let element = element as u32;
        let verdict = match data.kind {
            ElementKind::Tet4 => Verdict::of_tet(&std::array::from_fn(|i| vertices[nodes[i] as usize])),
            ElementKind::Hex8 => Verdict::of_hex(&std::array::from_fn(|i| vertices[nodes[i] as usize])),
        };
        if let Verdict::Good { rewind, flat_corner, lowest } = verdict {
            if rewind {
                match data.kind {
                    ElementKind::Tet4 => nodes.swap(2, 3),
                    ElementKind::Hex8 => nodes.rotate_left(4),
                }
                report.flipped_elements.push(element);
            }
            if flat_corner {
                report.degenerate_corner_elements.push(element);
            }
            if let Some(lowest) = lowest {
                report.folded_elements.push((element, lowest));
            }
        }
        match verdict {
            Verdict::Good { .. } => {}
            Verdict::NoVolume { volume, longest_edge } => {
                defects.push(Defect::NoVolume { element, volume, longest_edge });
            }
            Verdict::InsideOut { negative, positive } => {
                defects.push(Defect::InsideOut { element, negative, positive });
            }
        }
    }
    if !report.flipped_elements.is_empty() {
        turn_faces(&mut data.face_sets, &report.flipped_elements);
    }
    defects.into_result()
}

fn unused(vertices: usize, elements: &[u32]) -> Vec<u32> {
    let mut used = vec![false; vertices];
    for &v in elements {
        used[v as usize] = true;
    }
    (0..vertices as u32).filter(|&v| !used[v as usize]).collect()
}

fn coincident(vertices: &[Vec3]) -> Vec<(u32, u32)> {
    // Adding zero makes -0 and 0 equal.
    repeated(vertices.par_iter().map(|p| p.to_array().map(|x| (x + 0.0).to_bits())))
}

fn duplicates<const N: usize>(elements: &[u32]) -> Vec<(u32, u32)> {
    repeated(elements.as_chunks::<N>().0.par_iter().map(|nodes| {
        let mut key = *nodes;
        key.sort_unstable();
        key
    }))
}

/// Returns the repeated keys as `(first, later)`, in the order of the later.
fn repeated<K: Ord + Send>(keys: impl IndexedParallelIterator<Item = K>) -> Vec<(u32, u32)> {
    let mut sorted: Vec<(K, u32)> = keys.enumerate().map(|(i, key)| (key, i as u32)).collect();
    sorted.par_sort_unstable();
    let mut pairs: Vec<(u32, u32)> = sorted
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|same| same[1..].iter().map(|(_, later)| (same[0].1, *later)))
        .collect();
    pairs.sort_unstable_by_key(|&(_, later)| later);
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::shape::{self, HEX_CORNERS};
    use super::*;

    fn unit_tet() -> MeshData {
        MeshData::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], ElementKind::Tet4, vec![0, 1, 2, 3])
    }

    fn unit_hex() -> MeshData {
        let vertices = HEX_CORNERS.map(|c| 0.5 * (c + Vec3::ONE)).to_vec();
        MeshData::new(vertices, ElementKind::Hex8, (0..8).collect())
    }

    fn defect_of(data: MeshData) -> Defect {
        VolumeMesh::check(data).unwrap_err().defects.remove(0)
    }

    #[test]
    fn good_elements_pass_without_a_word() {
        for data in [unit_tet(), unit_hex()] {
            assert!(VolumeMesh::check(data).unwrap().report.is_empty());
        }
    }

    #[test]
    fn wrong_winding_is_turned_and_reported() {
        let mut tet = unit_tet();
        tet.elements.swap(0, 1);
        let mut hex = unit_hex();
        hex.elements.rotate_left(4);
        for (data, volume) in [(tet, 1.0 / 6.0), (hex, 1.0)] {
            let checked = VolumeMesh::check(data).unwrap();
            assert_eq!(checked.report.flipped_elements, [0]);
            assert!((checked.mesh.volume() - volume).abs() < 1e-15);
            assert!(checked.report.lines()[0].contains("wrong winding"));
        }
    }

    #[test]
    fn flat_tet_is_named_also_far_from_the_origin() {
        let mut data = unit_tet();
        data.vertices[3] = Vec3::new(0.3, 0.3, 0.0);
        for offset in [0.0, 1e6] {
            let mut moved = data.clone();
            moved.vertices.iter_mut().for_each(|v| *v += Vec3::splat(offset));
            assert!(matches!(defect_of(moved), Defect::NoVolume { element: 0, .. }));
        }
    }

    #[test]
    fn a_thin_but_real_sliver_is_no_defect() {
        let mut data = unit_tet();
        data.vertices[3] = Vec3::new(0.3, 0.3, 1e-9);
        assert!(VolumeMesh::check(data).is_ok());
    }

    #[test]
    fn hex_with_a_corner_pushed_through_is_inside_out() {
        let mut data = unit_hex();
        data.vertices[6] = Vec3::splat(0.2);
        assert!(matches!(defect_of(data), Defect::InsideOut { element: 0, .. }));
    }

    #[test]
    fn hex_with_two_swapped_vertices_is_inside_out() {
        let mut data = unit_hex();
        data.elements.swap(5, 6);
        assert!(matches!(defect_of(data), Defect::InsideOut { .. } | Defect::NoVolume { .. }));
    }

    #[test]
    fn hex_with_a_flat_corner_is_reported_and_kept() {
        let mut data = unit_hex();
        // Corner 2 on the line from 1 to 3 turns a right angle into a straight one.
        data.vertices[2] = Vec3::new(0.5, 0.5, 0.0);
        data.vertices[6] = Vec3::new(0.5, 0.5, 1.0);
        let checked = VolumeMesh::check(data).unwrap();
        assert_eq!(checked.report.degenerate_corner_elements, [0]);
    }

    #[test]
    fn every_accepted_hex_is_positive_at_all_quadrature_points_and_reported_where_it_is_negative() {
        let mut rng = fastrand::Rng::with_seed(8);
        let (mut accepted, mut folded, mut refused) = (0, 0, 0);
        for _ in 0..3000 {
            let mut data = unit_hex();
            data.vertices.iter_mut().for_each(|v| *v += 0.9 * Vec3::new(rng.f64(), rng.f64(), rng.f64()));
            let corners: [Vec3; 8] = data.vertices.clone().try_into().unwrap();
            let det = |xi| shape::hex_jacobian(&corners, xi).determinant();
            let grid = (0..=10).flat_map(|i| (0..=10).flat_map(move |j| (0..=10).map(move |k| [i, j, k])));
            let worst = grid.map(|c| det(Vec3::from(c.map(f64::from)) / 5.0 - 1.0)).fold(f64::INFINITY, f64::min);
            let rules = shape::gauss_2().chain(shape::gauss_3());
            let at_points = rules.map(|(xi, _)| det(xi)).fold(f64::INFINITY, f64::min);
            match VolumeMesh::check(data) {
                Err(_) => {
                    refused += 1;
                    assert!(at_points <= 1e-14, "refused though {at_points} is the lowest: {corners:?}");
                }
                Ok(checked) => {
                    assert!(at_points > 0.0, "{at_points} in {corners:?}");
                    let report = checked.report;
                    accepted += 1;
                    if worst < -1e-12 {
                        folded += 1;
                        assert!(report.folded_elements[0].1 < 0.0, "{worst}: {report:?}");
                        assert!(report.lines()[0].contains("has a negative Jacobian near a corner"));
                    }
                }
            }
        }
        assert!(accepted > 500 && folded > 500 && refused > 50, "{accepted} {folded} {refused}");
    }

    #[test]
    fn faces_that_do_not_exist_are_named_with_their_numbers() {
        let mut data = unit_tet();
        data.face_sets.insert("load".into(), vec![(0, 3), (1, 0)]);
        let wrong = "face set `load`: there is no side 0 of element 1: expected elements 0 to 0 and sides 0 to 3";
        assert_eq!(defect_of(data.clone()).to_string(), wrong);
        data.face_sets.insert("load".into(), vec![(0, 4)]);
        assert!(matches!(defect_of(data), Defect::FaceOutOfRange { element: 0, side: 4, sides: 4, .. }));
    }

    #[test]
    fn faces_stay_the_same_when_their_element_is_turned() {
        let mut tet = unit_tet();
        tet.elements.swap(0, 1);
        let mut hex = unit_hex();
        hex.elements.rotate_left(4);
        for mut data in [tet, hex] {
            let sides = data.kind.faces().len();
            data.face_sets = (0..sides).map(|side| (side.to_string(), vec![(0, side as u8)])).collect();
            let vertices_of = |side: usize| -> Vec<u32> {
                let mut own: Vec<u32> = data.kind.faces()[side].iter().map(|&c| data.elements[c]).collect();
                own.sort_unstable();
                own
            };
            let before: Vec<Vec<u32>> = (0..sides).map(vertices_of).collect();
            let mesh = VolumeMesh::check(data).unwrap().mesh;
            for (side, before) in before.iter().enumerate() {
                assert_eq!(mesh.vertices_of_faces(&mesh.face_sets()[&side.to_string()]), *before);
            }
        }
    }

    #[test]
    fn faces_from_both_sides_are_reported() {
        let mut data = unit_tet();
        data.vertices.push(Vec3::ONE);
        data.elements.extend([1, 2, 3, 4]);
        data.face_sets.insert("both".into(), vec![(1, 0), (0, 2), (0, 2)]);
        data.face_sets.insert("one".into(), vec![(0, 2), (0, 1)]);
        let checked = VolumeMesh::check(data).unwrap();
        assert_eq!(checked.mesh.face_sets()["both"], [(0, 2), (1, 0)]);
        assert_eq!(checked.report.two_sided_face_sets, [("both".to_owned(), 1)]);
        assert!(checked.report.lines()[0].starts_with("face set `both` has 1 face from both sides"));
    }

    #[test]
    fn flattened_hex_has_no_volume() {
        let mut data = unit_hex();
        data.vertices.iter_mut().for_each(|v| v.z = 0.0);
        assert!(matches!(defect_of(data), Defect::NoVolume { element: 0, .. }));
    }

    #[test]
    fn each_defect_is_named_with_its_numbers() {
        let mut data = unit_tet();
        data.elements[2] = 9;
        assert_eq!(defect_of(data), Defect::VertexOutOfRange { element: 0, vertex: 9, count: 4 });

        let mut data = unit_tet();
        data.elements[2] = 1;
        assert_eq!(defect_of(data), Defect::RepeatedVertex { element: 0, vertex: 1 });

        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            let mut data = unit_tet();
            data.vertices[1].y = bad;
            assert!(matches!(defect_of(data), Defect::BadPosition { vertex: 1, .. }));
        }

        let mut data = unit_tet();
        data.elements.pop();
        assert_eq!(defect_of(data), Defect::Ragged { count: 3, nodes: 4 });

        let mut data = unit_tet();
        data.elements.clear();
        assert_eq!(defect_of(data), Defect::NoElements);

        let mut data = unit_tet();
        data.element_region = vec![3];
        assert_eq!(defect_of(data), Defect::RegionOutOfRange { element: 0, region: 3, count: 1 });

        let mut data = unit_tet();
        data.regions = vec![Region::named("a"), Region::named("a")];
        assert_eq!(defect_of(data), Defect::RegionNameTwice { name: "a".into() });

        let mut data = unit_tet();
        data.vertex_sets.insert("clamp".into(), vec![3, 4]);
        assert!(matches!(defect_of(data), Defect::SetOutOfRange { index: 4, count: 4, .. }));
    }

    #[test]
    fn many_defects_are_counted_and_the_first_twenty_listed() {
        let mut data = unit_tet();
        data.elements = [7, 7, 7, 7].repeat(1000);
        let error = VolumeMesh::check(data).unwrap_err();
        assert_eq!((error.defects.len(), error.total), (20, 1000));
        assert!(error.to_string().ends_with("and 980 more"));
    }

    #[test]
    fn unused_vertices_and_duplicates_are_reported() {
        let mut data = unit_tet();
        data.vertices.extend([Vec3::splat(5.0), Vec3::new(-0.0, 0.0, 0.0)]);
        data.elements.extend([1, 0, 3, 2]);
        let report = VolumeMesh::check(data).unwrap().report;
        assert_eq!(report.unused_vertices, [4, 5]);
        assert_eq!(report.coincident_vertices, [(0, 5)]);
        assert_eq!(report.duplicate_elements, [(0, 1)]);
        assert_eq!(report.lines().len(), 3);
    }

    #[test]
    fn sets_are_sorted_and_without_repetition() {
        let mut data = unit_tet();
        data.vertex_sets.insert("clamp".into(), vec![3, 1, 3]);
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        assert_eq!(mesh.vertex_sets()["clamp"], [1, 3]);
    }
}
