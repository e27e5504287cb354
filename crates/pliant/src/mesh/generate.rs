//! Generators of simple bodies: block, beam, cylinder, ball and torus. Lengths are in meters; `y` is up.
//!
//! Each is built from hexahedra, optionally split into tetrahedra. Parts of the boundary are named face sets, and
//! vertex sets of the same names.

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_4, TAU};

use thiserror::Error;

use super::{ElementFace, ElementKind, FaceSets, HexSplit, MeshData, MeshError, Sets, SplitError, VolumeMesh};
use crate::math::Vec3;

/// Maximum number of hexahedra; larger requests are refused.
const MAX_CELLS: usize = 20_000_000;

/// Width of the core square of a disc, relative to the diameter.
const CORE: f64 = 0.5;

/// Roundness of the core square of a disc: 0 is a square, 1 a disc.
const CORE_ROUNDNESS: f64 = 0.5;

/// Elements to build a body from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// Hexahedra.
    Hex,
    /// Hexahedra, each split into five tetrahedra.
    Tet5,
    /// Hexahedra, each split into six tetrahedra.
    Tet6,
}

/// Reason why a body could not be generated.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum GenerateError {
    #[error("{what} is {value}, expected a positive length in meters")]
    Length { what: &'static str, value: f64 },
    #[error("{what} is {value}, expected at least {min}")]
    TooFew { what: &'static str, value: usize, min: usize },
    #[error("too many hexahedra: expected at most {MAX_CELLS}, found {cells} or more; use fewer cells")]
    TooMany { cells: usize },
    #[error("a body of these dimensions is degenerate: {what}")]
    Sizes { what: String },
    #[error("the tube radius {minor} must be smaller than the ring radius {major}")]
    FatTorus { major: f64, minor: f64 },
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// Generates a box from the origin to `size`, as a grid of `cells`.
///
/// Sets of vertices and of faces: `x-min`, `x-max`, `y-min`, `y-max`, `z-min`, `z-max`.
pub fn block(size: [f64; 3], cells: [usize; 3], kind: Cells) -> Result<VolumeMesh, GenerateError> {
    for (what, value) in ["the length", "the height", "the width"].into_iter().zip(size) {
        check_length(what, value)?;
    }
    for value in cells {
        check_count("the number of cells along an edge", value, 1)?;
    }
    check_total(cells)?;
    let [nx, ny, nz] = cells;
    let at = |i: usize, n: usize, length: f64| if i == n { length } else { length * (i as f64 / n as f64) };
    let vertex = |i: usize, j: usize, k: usize| ((k * (ny + 1) + j) * (nx + 1) + i) as u32;
    let mut vertices = Vec::with_capacity((nx + 1) * (ny + 1) * (nz + 1));
    let mut sets = Sets::new();
    for (k, j, i) in triples(nz + 1, ny + 1, nx + 1) {
        vertices.push(Vec3::new(at(i, nx, size[0]), at(j, ny, size[1]), at(k, nz, size[2])));
        for (axis, at, last) in [("x", i, nx), ("y", j, ny), ("z", k, nz)] {
            let sides = [("min", at == 0), ("max", at == last)];
            for (side, _) in sides.into_iter().filter(|side| side.1) {
                add_to_set(&mut sets, &format!("{axis}-{side}"), vertex(i, j, k));
            }
        }
    }
    let mut elements = Vec::with_capacity(8 * nx * ny * nz);
    let mut faces = FaceSets::new();
    for (element, (k, j, i)) in (0..).zip(triples(nz, ny, nx)) {
        let layer = |k| [vertex(i, j, k), vertex(i + 1, j, k), vertex(i + 1, j + 1, k), vertex(i, j + 1, k)];
        elements.extend(layer(k));
        elements.extend(layer(k + 1));
        let sides = [
            ("x-min", i == 0, 5),
            ("x-max", i + 1 == nx, 3),
            ("y-min", j == 0, 2),
            ("y-max", j + 1 == ny, 4),
            ("z-min", k == 0, 0),
            ("z-max", k + 1 == nz, 1),
        ];
        for (name, _, side) in sides.into_iter().filter(|side| side.1) {
            add_to_set(&mut faces, name, (element, side));
        }
    }
    finish(vertices, elements, sets, faces, kind)
}

/// Generates a beam along `x` from 0 to `length`, with its axis at `y = z = 0`. It has `across` cells along the shorter
/// side of its cross-section, and cells about as long as they are wide.
///
/// Sets of vertices and of faces: `start`, `end`.
pub fn beam(length: f64, height: f64, width: f64, across: usize, kind: Cells) -> Result<VolumeMesh, GenerateError> {
    check_length("the length", length)?;
    check_length("the height", height)?;
    check_length("the width", width)?;
    check_count("the number of cells across", across, 1)?;
    let edge = height.min(width) / across as f64;
    // The cast saturates, and a number that is too large is refused as such.
    let cells = [length, height, width].map(|side| ((side / edge).round() as usize).max(1));
    let mut data = block([length, height, width], cells, kind)?.into_data();
    data.vertices.iter_mut().for_each(|x| *x -= Vec3::new(0.0, 0.5 * height, 0.5 * width));
    let ends = [("start", "x-min"), ("end", "x-max")];
    data.vertex_sets =
        ends.into_iter().filter_map(|(name, side)| Some((name.to_owned(), data.vertex_sets.remove(side)?))).collect();
    data.face_sets =
        ends.into_iter().filter_map(|(name, side)| Some((name.to_owned(), data.face_sets.remove(side)?))).collect();
    Ok(VolumeMesh::check(data)?.mesh)
}

/// Generates a cylinder around the `y` axis from `y = 0` to `height`, with `across` cells along its diameter (at least
/// 3) and `layers` along its height.
///
/// Sets of vertices and of faces: `bottom`, `top`, `side`.
pub fn cylinder(
    radius: f64,
    height: f64,
    across: usize,
    layers: usize,
    kind: Cells,
) -> Result<VolumeMesh, GenerateError> {
    check_length("the radius", radius)?;
    check_length("the height", height)?;
    check_count("the number of layers", layers, 1)?;
    let disc = Disc::new(across, layers)?;
    let level = |layer: usize| if layer == layers { height } else { height * (layer as f64 / layers as f64) };
    let place = |[x, z]: [f64; 2], layer: usize| Vec3::new(radius * x, level(layer), radius * z);
    let (vertices, elements) = disc.sweep(layers, false, place);
    let mut sets = Sets::new();
    let plane = disc.points.len() as u32;
    sets.insert("bottom".into(), (0..plane).collect());
    sets.insert("top".into(), (layers as u32 * plane..(layers as u32 + 1) * plane).collect());
    sets.insert("side".into(), disc.rims(layers + 1));
    let quads = disc.quads.len() as u32;
    let mut faces = FaceSets::new();
    faces.insert("bottom".into(), (0..quads).map(|element| (element, 1)).collect());
    faces.insert(
        "top".into(),
        ((layers as u32 - 1) * quads..layers as u32 * quads).map(|element| (element, 0)).collect(),
    );
    faces.insert("side".into(), disc.rim_faces(layers));
    finish(vertices, elements, sets, faces, kind)
}

/// Generates a torus around the `y` axis: a tube of radius `minor`, bent into a ring of radius `major`. The tube has
/// `across` cells along its diameter (at least 3), the ring `sectors` cells (at least 3).
///
/// Sets of vertices and of faces: `surface`. Five tetrahedra per cell need an even number of sectors.
pub fn torus(major: f64, minor: f64, across: usize, sectors: usize, kind: Cells) -> Result<VolumeMesh, GenerateError> {
    check_length("the ring radius", major)?;
    check_length("the tube radius", minor)?;
    check_count("the number of sectors", sectors, 3)?;
    if minor >= major {
        return Err(GenerateError::FatTorus { major, minor });
    }
    let disc = Disc::new(across, sectors)?;
    let (vertices, elements) = disc.sweep(sectors, true, |[x, y], sector| {
        let (sin, cos) = (TAU * sector as f64 / sectors as f64).sin_cos();
        let r = major + minor * x;
        Vec3::new(r * cos, minor * y, -r * sin)
    });
    let mut sets = Sets::new();
    sets.insert("surface".into(), disc.rims(sectors));
    let faces = FaceSets::from([("surface".into(), disc.rim_faces(sectors))]);
    finish(vertices, elements, sets, faces, kind)
}

/// Generates a ball around the origin with `across` cells along its diameter (at least 3): a rounded cube in the center
/// and layers around it.
///
/// Sets of vertices and of faces: `surface`.
pub fn ball(radius: f64, across: usize, kind: Cells) -> Result<VolumeMesh, GenerateError> {
    check_length("the radius", radius)?;
    let (core, layers) = core_and_layers(across)?;
    check_total([across, across, across])?;
    // The grid of the cube, then each layer's copy of the grid's surface.
    let side = core + 1;
    let on_surface = |[i, j, k]: [usize; 3]| [i, j, k].iter().any(|&c| c == 0 || c == core);
    let grid: Vec<[usize; 3]> = triples(side, side, side).map(|(k, j, i)| [i, j, k]).collect();
    let mut shell = vec![u32::MAX; grid.len()];
    let mut vertices: Vec<Vec3> = Vec::new();
    let direction = |corner: [usize; 3]| Vec3::from(corner.map(|c| spread(c, core)));
    let rounded =
        |p: Vec3| p * (CORE * (1.0 - CORE_ROUNDNESS + CORE_ROUNDNESS * squareness(p.abs().max_element(), p.length())));
    let mut surface = Vec::new();
    for (g, &corner) in grid.iter().enumerate() {
        vertices.push(radius * rounded(direction(corner)));
        if on_surface(corner) {
            shell[g] = surface.len() as u32;
            surface.push(corner);
        }
    }
    for layer in 1..=layers {
        let t = layer as f64 / layers as f64;
        for &corner in &surface {
            let p = direction(corner);
            vertices.push(radius * ((1.0 - t) * rounded(p) + t * p.normalize()));
        }
    }
    let in_grid = |[i, j, k]: [usize; 3]| (k * side + j) * side + i;
    let vertex = |corner: [usize; 3], layer: usize| match layer {
        0 => in_grid(corner) as u32,
        _ => (grid.len() + (layer - 1) * surface.len()) as u32 + shell[in_grid(corner)],
    };
    let mut elements = Vec::new();
    let mut faces = Vec::new();
    for (k, j, i) in triples(core, core, core) {
        let layer = |k| [[i, j, k], [i + 1, j, k], [i + 1, j + 1, k], [i, j + 1, k]].map(|c| vertex(c, 0));
        elements.extend(layer(k));
        elements.extend(layer(k + 1));
    }
    for (axis, end) in [(0, 0), (0, core), (1, 0), (1, core), (2, 0), (2, core)] {
        for (a, b) in (0..core).flat_map(|a| (0..core).map(move |b| (a, b))) {
            let corner = |a: usize, b: usize| {
                let mut corner = [0; 3];
                (corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3]) = (end, a, b);
                corner
            };
            let mut quad = [corner(a, b), corner(a + 1, b), corner(a + 1, b + 1), corner(a, b + 1)];
            if end == 0 {
                quad.reverse();
            }
            for layer in 0..layers {
                elements.extend(quad.map(|c| vertex(c, layer)));
                elements.extend(quad.map(|c| vertex(c, layer + 1)));
            }
            faces.push(((elements.len() / 8 - 1) as u32, 1));
        }
    }
    let mut sets = Sets::new();
    sets.insert("surface".into(), ((vertices.len() - surface.len()) as u32..vertices.len() as u32).collect());
    finish(vertices, elements, sets, FaceSets::from([("surface".into(), faces)]), kind)
}

/// Unit disc of quadrilaterals: a rounded square in the center and rings around it.
struct Disc {
    points: Vec<[f64; 2]>,
    quads: Vec<[u32; 4]>,
    /// Number of points, and of quadrilaterals, on the rim; both come last.
    rim: usize,
}

impl Disc {
    /// Builds a disc with `across` quadrilaterals along the diameter, to be swept through `layers`.
    fn new(across: usize, layers: usize) -> Result<Self, GenerateError> {
        let (core, rings) = core_and_layers(across)?;
        check_total([across, across, layers])?;
        let side = core + 1;
        let on_grid = |i: usize, j: usize| {
            let (x, y) = (spread(i, core), spread(j, core));
            let square = squareness(x.abs().max(y.abs()), x.hypot(y));
            [x, y].map(|c| c * CORE * (1.0 - CORE_ROUNDNESS + CORE_ROUNDNESS * square))
        };
        let mut points: Vec<[f64; 2]> =
            (0..side).flat_map(|j| (0..side).map(move |i| (i, j))).map(|(i, j)| on_grid(i, j)).collect();
        let vertex = |i: usize, j: usize| (j * side + i) as u32;
        let cell = |i, j| [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
        let mut quads: Vec<[u32; 4]> =
            (0..core).flat_map(|j| (0..core).map(move |i| (i, j))).map(|(i, j)| cell(i, j)).collect();
        // Counter-clockwise around the square.
        let mut ring: Vec<u32> = (0..core)
            .map(|i| vertex(i, 0))
            .chain((0..core).map(|j| vertex(core, j)))
            .chain((0..core).map(|i| vertex(core - i, core)))
            .chain((0..core).map(|j| vertex(0, core - j)))
            .collect();
        let inner: Vec<[f64; 2]> = ring.iter().map(|&v| points[v as usize]).collect();
        for layer in 1..=rings {
            let t = layer as f64 / rings as f64;
            let first = points.len() as u32;
            points.extend(inner.iter().map(|&[x, y]| {
                let grow = 1.0 - t + t / x.hypot(y);
                [x * grow, y * grow]
            }));
            let next: Vec<u32> = (first..).take(inner.len()).collect();
            for a in 0..ring.len() {
                let b = (a + 1) % ring.len();
                quads.push([ring[a], next[a], next[b], ring[b]]);
            }
            ring = next;
        }
        Ok(Self { rim: inner.len(), points, quads })
    }

    /// Sweeps the disc: copies, placed in space by `place(point, copy)`, with `steps` layers of hexahedra between them.
    /// The last copy is joined to the first if `closed`.
    fn sweep(&self, steps: usize, closed: bool, place: impl Fn([f64; 2], usize) -> Vec3) -> (Vec<Vec3>, Vec<u32>) {
        let copies = if closed { steps } else { steps + 1 };
        let place = &place;
        let vertices = (0..copies).flat_map(|copy| self.points.iter().map(move |&p| place(p, copy))).collect();
        let mut elements = Vec::with_capacity(8 * steps * self.quads.len());
        let n = self.points.len() as u32;
        for step in 0..steps as u32 {
            let next = if step + 1 == copies as u32 { 0 } else { step + 1 };
            for quad in &self.quads {
                elements.extend(quad.map(|v| v + next * n));
                elements.extend(quad.map(|v| v + step * n));
            }
        }
        (vertices, elements)
    }

    /// Returns the faces on the rim after `steps` of a sweep.
    fn rim_faces(&self, steps: usize) -> Vec<ElementFace> {
        let n = self.quads.len();
        (1..=steps).flat_map(|step| (step * n - self.rim..step * n).map(|element| (element as u32, 3))).collect()
    }

    /// Returns the vertices on the rim of each of `copies`.
    fn rims(&self, copies: usize) -> Vec<u32> {
        let n = self.points.len();
        (1..=copies).flat_map(|copy| (copy * n - self.rim) as u32..(copy * n) as u32).collect()
    }
}

/// Distributes `across` cells between the core and the layers on its two sides.
fn core_and_layers(across: usize) -> Result<(usize, usize), GenerateError> {
    check_count("the number of cells across", across, 3)?;
    let layers = ((across + 1) / 4).max(1);
    Ok((across - 2 * layers, layers))
}

/// Returns point `i` of `n` cells along the side of a square, spaced at equal angles as seen from its center.
fn spread(i: usize, n: usize) -> f64 {
    (FRAC_PI_4 * (2.0 * i as f64 / n as f64 - 1.0)).tan()
}

/// Returns the factor that scales a point of a square or cube onto the inscribed circle or sphere.
fn squareness(largest: f64, length: f64) -> f64 {
    if length > 0.0 { largest / length } else { 1.0 }
}

fn triples(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))))
}

fn add_to_set<T>(sets: &mut BTreeMap<String, Vec<T>>, name: &str, member: T) {
    match sets.get_mut(name) {
        Some(set) => set.push(member),
        None => drop(sets.insert(name.into(), vec![member])),
    }
}

fn finish(
    vertices: Vec<Vec3>,
    elements: Vec<u32>,
    vertex_sets: Sets,
    face_sets: FaceSets,
    kind: Cells,
) -> Result<VolumeMesh, GenerateError> {
    let data = MeshData { vertex_sets, face_sets, ..MeshData::new(vertices, ElementKind::Hex8, elements) };
    let checked = VolumeMesh::check(data)?;
    // A generated mesh needs no repair, unless vertices coincide at this precision.
    if let Some(what) = checked.report.lines().into_iter().next() {
        return Err(GenerateError::Sizes { what });
    }
    let hexes = checked.mesh;
    match kind {
        Cells::Hex => Ok(hexes),
        Cells::Tet5 => Ok(hexes.split_hexes(HexSplit::Five)?),
        Cells::Tet6 => Ok(hexes.split_hexes(HexSplit::Six)?),
    }
}

fn check_length(what: &'static str, value: f64) -> Result<(), GenerateError> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(GenerateError::Length { what, value }) }
}

fn check_count(what: &'static str, value: usize, min: usize) -> Result<(), GenerateError> {
    if value >= min { Ok(()) } else { Err(GenerateError::TooFew { what, value, min }) }
}

fn check_total(cells: [usize; 3]) -> Result<(), GenerateError> {
    let total = cells.into_iter().fold(1, usize::saturating_mul);
    if total <= MAX_CELLS { Ok(()) } else { Err(GenerateError::TooMany { cells: total }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const KINDS: [Cells; 3] = [Cells::Hex, Cells::Tet5, Cells::Tet6];

    /// Asserts that the mesh is closed and connected, with nothing to report and nothing to reverse.
    fn assert_sound(mesh: &VolumeMesh) {
        assert!(VolumeMesh::check(mesh.clone().into_data()).unwrap().report.is_empty());
        let boundary = mesh.boundary();
        assert!(boundary.surface.report().is_closed() && boundary.overlapping_faces.is_empty());
        assert_eq!(mesh.components().1, 1);
    }

    #[test]
    fn sizes_that_numbers_cannot_tell_apart_are_an_error() {
        for made in [
            cylinder(1e12, 0.2, 8, 8, Cells::Hex),
            cylinder(1e-7, 0.2, 8, 1, Cells::Hex),
            block([1e-8, 1000.0, 1.0], [1, 2, 3], Cells::Hex),
        ] {
            assert!(matches!(made, Err(GenerateError::Sizes { .. })), "{made:?}");
        }
    }

    #[test]
    fn every_body_is_sound_at_every_resolution() {
        for kind in KINDS {
            for n in 3..=9 {
                assert_sound(&block([1.0, 2.0, 3.0], [n - 2, 2, 1], kind).unwrap());
                assert_sound(&beam(1.0, 0.2, 0.1, n - 2, kind).unwrap());
                assert_sound(&cylinder(0.5, 2.0, n, n, kind).unwrap());
                assert_sound(&ball(0.5, n, kind).unwrap());
                assert_sound(&torus(1.0, 0.3, n, 2 * n, kind).unwrap());
            }
        }
    }

    #[test]
    fn round_bodies_converge_to_their_volume_with_second_order() {
        let order = |exact: f64, volume: &dyn Fn(usize) -> f64| {
            let [coarse, fine] = [8, 32].map(|n| (volume(n) - exact).abs());
            (coarse / fine).log2() / 2.0
        };
        let orders = [
            order(4.0 / 3.0 * PI, &|n| ball(1.0, n, Cells::Hex).unwrap().volume()),
            order(PI * 2.0, &|n| cylinder(1.0, 2.0, n, 2, Cells::Tet5).unwrap().volume()),
            order(2.0 * PI * PI * 0.09, &|n| torus(1.0, 0.3, n, 3 * n, Cells::Hex).unwrap().volume()),
        ];
        for order in orders {
            assert!((order - 2.0).abs() < 0.15, "{orders:?}");
        }
    }

    #[test]
    fn elements_are_well_shaped() {
        for mesh in [ball(1.0, 12, Cells::Hex).unwrap(), cylinder(1.0, 2.0, 12, 12, Cells::Hex).unwrap()] {
            assert!(mesh.quality().shape.min > 0.5, "{:?}", mesh.quality().shape);
        }
        assert!(ball(1.0, 12, Cells::Tet5).unwrap().quality().shape.min > 0.25);
    }

    #[test]
    fn boundary_sets_are_where_their_names_say() {
        let bar = beam(1.0, 0.2, 0.2, 4, Cells::Tet5).unwrap();
        assert_eq!(bar.vertex_sets()["start"].len(), 25);
        assert!(bar.vertex_sets()["end"].iter().all(|&v| bar.vertices()[v as usize].x == 1.0));
        let can = cylinder(0.5, 2.0, 6, 3, Cells::Hex).unwrap();
        assert!(can.vertex_sets()["top"].iter().all(|&v| can.vertices()[v as usize].y == 2.0));
        let on_side = |v: &u32| can.vertices()[*v as usize].reject_from(Vec3::Y).length();
        assert!(can.vertex_sets()["side"].iter().all(|v| (on_side(v) - 0.5).abs() < 1e-14));
        for (mesh, distance) in
            [(ball(2.0, 6, Cells::Hex).unwrap(), None), (torus(1.0, 0.25, 5, 12, Cells::Hex).unwrap(), Some(1.0))]
        {
            let set = &mesh.vertex_sets()["surface"];
            assert_eq!(set.len(), mesh.boundary().vertices.len());
            for &v in set {
                let p = mesh.vertices()[v as usize];
                let from = distance.map_or(Vec3::ZERO, |r| r * Vec3::new(p.x, 0.0, p.z).normalize());
                assert!((p.distance(from) - if distance.is_some() { 0.25 } else { 2.0 }).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn face_sets_are_the_sides_that_their_names_say() {
        for kind in KINDS {
            let normals = |mesh: &VolumeMesh, name: &str| -> Vec<Vec3> {
                let corner = |v: u32| mesh.vertices()[v as usize];
                let set = mesh.face_sets()[name].iter();
                set.map(|&face| {
                    let x: Vec<Vec3> = mesh.face_vertices(face).map(corner).collect();
                    (x[1] - x[0]).cross(x[2] - x[0]).normalize()
                })
                .collect()
            };
            let area = |mesh: &VolumeMesh, name: &str| mesh.area_of_faces(&mesh.face_sets()[name]);
            let brick = block([1.0, 2.0, 3.0], [2, 1, 3], kind).unwrap();
            let sides = [
                ("x-min", Vec3::NEG_X, 6.0),
                ("x-max", Vec3::X, 6.0),
                ("y-min", Vec3::NEG_Y, 3.0),
                ("y-max", Vec3::Y, 3.0),
                ("z-min", Vec3::NEG_Z, 2.0),
                ("z-max", Vec3::Z, 2.0),
            ];
            for (name, normal, expected) in sides {
                assert!((area(&brick, name) - expected).abs() < 1e-13, "{name}");
                assert!(normals(&brick, name).iter().all(|n| n.distance(normal) < 1e-14), "{name}");
            }
            let bar = beam(1.0, 0.2, 0.3, 2, kind).unwrap();
            assert!((area(&bar, "end") - 0.06).abs() < 1e-14 && bar.face_sets().len() == 2);
            assert!(normals(&bar, "start").iter().all(|n| n.distance(Vec3::NEG_X) < 1e-14));
            let can = cylinder(0.5, 2.0, 5, 3, kind).unwrap();
            assert!(normals(&can, "top").iter().all(|n| n.distance(Vec3::Y) < 1e-14));
            assert!(normals(&can, "bottom").iter().all(|n| n.distance(Vec3::NEG_Y) < 1e-14));
            assert!(normals(&can, "side").iter().all(|n| n.y.abs() < 1e-14));
            for mesh in [can, ball(0.5, 5, kind).unwrap(), torus(1.0, 0.3, 4, 8, kind).unwrap(), brick] {
                let sum: f64 = mesh.face_sets().values().map(|set| mesh.area_of_faces(set)).sum();
                assert!((sum - mesh.boundary().surface.area()).abs() < 1e-12);
                for (name, set) in mesh.face_sets() {
                    assert_eq!(mesh.vertices_of_faces(set), mesh.vertex_sets()[name], "{name}");
                }
            }
        }
    }

    #[test]
    fn the_bar_of_five_tets_a_cube_has_its_known_size() {
        let bar = beam(1.0, 0.2, 0.2, 4, Cells::Tet5).unwrap();
        assert_eq!((bar.vertex_count(), bar.element_count()), (525, 1600));
    }

    #[test]
    fn impossible_bodies_are_refused_with_their_numbers() {
        assert!(matches!(block([1.0, -2.0, 1.0], [1; 3], Cells::Hex), Err(GenerateError::Length { value: -2.0, .. })));
        assert!(matches!(block([1.0; 3], [0, 1, 1], Cells::Hex), Err(GenerateError::TooFew { value: 0, .. })));
        assert!(matches!(block([1.0; 3], [usize::MAX, 2, 2], Cells::Hex), Err(GenerateError::TooMany { .. })));
        assert!(matches!(beam(1e300, 1e-9, 1.0, 1, Cells::Hex), Err(GenerateError::TooMany { .. })));
        assert!(matches!(ball(f64::NAN, 5, Cells::Hex), Err(GenerateError::Length { .. })));
        assert!(matches!(ball(1.0, 2, Cells::Hex), Err(GenerateError::TooFew { value: 2, min: 3, .. })));
        assert!(matches!(torus(1.0, 1.0, 5, 8, Cells::Hex), Err(GenerateError::FatTorus { .. })));
        assert!(matches!(torus(1.0, 0.2, 5, 9, Cells::Tet5), Err(GenerateError::Split(SplitError::OddRing { .. }))));
    }
}
