//! Bodies with the sizes of the papers' meshes, in other shapes: as many vertices, another animal.
//!
//! Odd constants were tuned so that meshes have the intended counts, which a test checks.

use std::collections::HashMap;
use std::f64::consts::TAU;

use pliant::geometry::{ImplicitSolid, Solid};
use pliant::math::{Affine3, Mat3, Vec3};
use pliant::mesh::{Cells, ElementKind, MeshData, SurfaceMesh, VolumeMesh, generate};
use pliant::meshing::{MeshingParams, tetrahedralize};

/// Gravitational acceleration \[m/s²\].
pub const GRAVITY: f64 = 9.81;

/// Density of bodies where the paper gives none, or where it does not matter \[kg/m³\].
pub const DENSITY: f64 = 1000.0;

/// Body with its fixed vertices.
#[derive(Debug, Clone)]
pub struct Specimen {
    /// Name in tables.
    pub name: &'static str,
    /// Mesh of tetrahedra or cubes.
    pub mesh: VolumeMesh,
    /// Fixed vertices: feet, ends or a tail.
    pub fixed: Vec<u32>,
    /// Young's modulus \[Pa\] with which it sways under its weight and carries it.
    pub young: f64,
    /// Solid inside the mesh, which is shown instead of it.
    solid: ImplicitSolid,
    /// Cells along the longest side of the solid's bounding box.
    detail: usize,
}

impl Specimen {
    /// Returns a detailed surface of more than ten thousand vertices, all inside the mesh.
    pub fn surface(&self) -> anyhow::Result<SurfaceMesh> {
        detailed(&self.solid, self.detail)
    }
}

/// Creates an animal with a long neck and a long tail, of 344 vertices, fixed at its feet. It is about 1.7 m long.
pub fn dinosaur() -> anyhow::Result<Specimen> {
    let solid = |growth| capsules(&DINOSAUR, growth);
    let mesh = tetrahedralize(&solid(0.1003), &MeshingParams { cells: 11, grading: 0 })?.mesh;
    let fixed = below(&mesh, 0.1);
    Ok(Specimen { name: "dinosaur", mesh, fixed, young: 1e6, solid: solid(0.05), detail: 90 })
}

/// Start, end and radius of each part \[m\]: trunk, neck, head, tail, and four legs.
const DINOSAUR: [([f64; 3], [f64; 3], f64); 9] = [
    ([-0.16, 0.42, 0.0], [0.16, 0.44, 0.0], 0.17),
    ([0.18, 0.48, 0.0], [0.46, 0.80, 0.0], 0.085),
    ([0.44, 0.82, 0.0], [0.60, 0.78, 0.0], 0.095),
    ([-0.20, 0.42, 0.0], [-0.50, 0.32, 0.0], 0.11),
    ([-0.50, 0.32, 0.0], [-0.85, 0.24, 0.0], 0.075),
    ([0.16, 0.40, 0.11], [0.18, 0.08, 0.13], 0.08),
    ([0.16, 0.40, -0.11], [0.18, 0.08, -0.13], 0.08),
    ([-0.18, 0.40, 0.11], [-0.17, 0.08, 0.13], 0.08),
    ([-0.18, 0.40, -0.11], [-0.17, 0.08, -0.13], 0.08),
];

/// Creates a bridge of tetrahedra: a deck suspended from two arches, fixed at both ends. It is 12 m long.
pub fn bridge() -> anyhow::Result<Specimen> {
    let bridge = Bridge { arch: 0.2, hanger: 0.18, hangers: 4, deck: 0.4 };
    let mesh = tetrahedralize(&bridge.solid(0.065), &MeshingParams { cells: 41, grading: 0 })?.mesh;
    let fixed = at_ends(&mesh);
    Ok(Specimen { name: "bridge", mesh, fixed, young: 1e8, solid: bridge.solid(-0.06), detail: 120 })
}

/// Creates a bridge of cubes, with more and thinner hangers.
pub fn bridge_of_cubes() -> anyhow::Result<Specimen> {
    let solid = Bridge { arch: 0.1125, hanger: 0.0625, hangers: 9, deck: 0.18 }.solid(0.0);
    let mesh = cubes(&solid, 59)?;
    let fixed = at_ends(&mesh);
    Ok(Specimen { name: "bridge of cubes", mesh, fixed, young: 1e8, solid, detail: 120 })
}

/// Creates a crane of cubes: a lattice tower with a jib, fixed at its foot. It is 14 m high.
pub fn crane() -> anyhow::Result<Specimen> {
    let (solid, detail) = (crane_solid(0.0315), 120);
    let mesh = cubes(&solid, 64)?;
    let fixed = below(&mesh, 0.0);
    Ok(Specimen { name: "crane of cubes", mesh, fixed, young: 3e8, solid, detail })
}

/// Creates a long winding body with a head, of tetrahedra, fixed at its tail. It is 2.4 m long.
pub fn dragon() -> anyhow::Result<Specimen> {
    let mesh = tetrahedralize(&dragon_solid(0.0079), &MeshingParams { cells: 88, grading: 0 })?.mesh;
    let fixed = (0..).zip(mesh.vertices()).filter(|(_, x)| x.x < -1.0).map(|(v, _)| v).collect();
    Ok(Specimen { name: "dragon", mesh, fixed, young: 5e6, solid: dragon_solid(0.0), detail: 130 })
}

/// Creates a bar of tetrahedra with `along` × `across` × `across` cells, fixed at one end. It is 1 m long.
///
/// With 8 cells across it has the 3,321 vertices and 12,800 tetrahedra with which other programs were measured.
pub fn bar(along: usize, across: usize) -> anyhow::Result<Specimen> {
    let width = across as f64 / along as f64;
    let mesh = generate::block([1.0, width, width], [along, across, across], Cells::Tet5)?;
    let fixed = mesh.vertex_sets().get("x-min").cloned().unwrap_or_default();
    let center = Affine3::from_mat3_translation(Mat3::IDENTITY, 0.5 * Vec3::new(1.0, width, width));
    let solid = ImplicitSolid::RoundedBox { size: Vec3::new(1.0, width, width), radius: 0.0 }.moved(center);
    Ok(Specimen { name: "bar", mesh, fixed, young: 1e6, solid, detail: 4 * along })
}

/// Bridge: a deck suspended from two arches. Lengths are in m.
struct Bridge {
    /// Radius of the arches \[m\].
    arch: f64,
    /// Radius of the hangers and of the struts between the arches \[m\].
    hanger: f64,
    /// Number of hangers per arch.
    hangers: i32,
    /// Thickness of the deck \[m\].
    deck: f64,
}

impl Bridge {
    /// Returns the union of all parts, grown by `growth` in all directions.
    fn solid(&self, growth: f64) -> ImplicitSolid {
        let height = |x: f64| 2.4 * (1.0 - (x / 5.7).powi(2));
        let mut parts = Vec::new();
        for z in [-0.95, 0.95] {
            for n in -6..6 {
                let [a, b] = [n, n + 1].map(|n| 0.95 * f64::from(n));
                parts.push(([a, height(a), z], [b, height(b), z], self.arch));
            }
            for n in 1..=self.hangers {
                let x = 11.4 * (f64::from(n) / f64::from(self.hangers + 1) - 0.5);
                parts.push(([x, 0.0, z], [x, height(x), z], self.hanger));
            }
        }
        for x in [-1.9, 0.0, 1.9] {
            parts.push(([x, height(x), -0.95], [x, height(x), 0.95], self.hanger));
        }
        let size = Vec3::new(12.0, self.deck, 2.4) + 2.0 * growth;
        let below = Affine3::from_translation(Vec3::new(0.0, -0.5 * self.deck, 0.0));
        let deck = ImplicitSolid::RoundedBox { size, radius: 0.4 * self.deck + growth }.moved(below);
        capsules(&parts, growth).or(deck)
    }
}

/// Returns a tower of four legs with rings and diagonals, and a jib of three chords joined by a zigzag.
fn crane_solid(growth: f64) -> ImplicitSolid {
    const STOREYS: i32 = 5;
    let mut parts = Vec::new();
    let corners = [[-1.1, -1.1], [1.1, -1.1], [1.1, 1.1], [-1.1, 1.1]];
    let top = 2.4 * f64::from(STOREYS);
    for side in 0..4 {
        let ([ax, az], [bx, bz]) = (corners[side], corners[(side + 1) % 4]);
        parts.push(([ax, 0.0, az], [ax, top, az], 0.2));
        for storey in 0..STOREYS {
            let [low, high] = [storey, storey + 1].map(|n| 2.4 * f64::from(n));
            parts.push(([ax, high, az], [bx, high, bz], 0.14));
            parts.push(([ax, low, az], [bx, high, bz], 0.14));
        }
    }
    // The jib: two chords below and one above, joined by a zigzag.
    let (ridge, end) = (top + 1.7, 11.0);
    for z in [-1.1, 1.1] {
        parts.push(([-5.0, top, z], [end, top, z], 0.17));
        for n in -2..5 {
            let [a, b] = [n, n + 1].map(|n| 2.2 * f64::from(n));
            parts.push(([a, top, z], [0.5 * (a + b), ridge, 0.0], 0.14));
            parts.push(([0.5 * (a + b), ridge, 0.0], [b, top, z], 0.14));
        }
    }
    parts.push(([-3.3, ridge, 0.0], [9.9, ridge, 0.0], 0.17));
    for x in [-5.0, -2.8, 3.3, 5.5, 7.7, 9.9, end] {
        parts.push(([x, top, -1.1], [x, top, 1.1], 0.14));
    }
    // Counterweight.
    parts.push(([-4.6, top - 0.5, -0.6], [-4.6, top - 0.5, 0.6], 0.6));
    capsules(&parts, growth)
}

/// Returns a body along a widening helix, with thorns and a head with two horns.
fn dragon_solid(growth: f64) -> ImplicitSolid {
    const PIECES: i32 = 60;
    let spine = |t: f64| {
        let (sin, cos) = (2.25 * TAU * t).sin_cos();
        let wide = 0.15 + 0.3 * t;
        [2.0 * t - 1.2, wide * sin, wide * cos]
    };
    let mut parts = Vec::new();
    for n in 0..PIECES {
        let [a, b] = [n, n + 1].map(|n| f64::from(n) / f64::from(PIECES));
        parts.push((spine(a), spine(b), 0.07 + 0.11 * (std::f64::consts::PI * a).sin() + 0.03 * a));
        // A crest of thorns along the back.
        if n % 4 == 2 {
            let [x, y, z] = spine(a);
            let out = 1.0 + 0.17 / y.hypot(z) + 0.05;
            parts.push(([x, y, z], [x, out * y, out * z], 0.045));
        }
    }
    let [x, y, z] = spine(1.0);
    parts.push(([x, y, z], [x + 0.16, y + 0.08, z], 0.17));
    parts.push(([x + 0.16, y + 0.08, z], [x + 0.42, y + 0.02, z], 0.10));
    for side in [-0.1, 0.1] {
        parts.push(([x + 0.06, y + 0.15, z + side], [x - 0.12, y + 0.40, z + 2.0 * side], 0.05));
    }
    capsules(&parts, growth)
}

/// Returns the union of capsules, given by start, end and radius, with radii grown by `growth`.
fn capsules(parts: &[([f64; 3], [f64; 3], f64)], growth: f64) -> ImplicitSolid {
    let capsule = |&(start, end, radius): &([f64; 3], [f64; 3], f64)| ImplicitSolid::Capsule {
        start: start.into(),
        end: end.into(),
        radius: radius + growth,
    };
    ImplicitSolid::Union(parts.iter().map(capsule).collect())
}

fn detailed(solid: &ImplicitSolid, cells: usize) -> anyhow::Result<SurfaceMesh> {
    Ok(tetrahedralize(solid, &MeshingParams { cells, grading: 6 })?.mesh.boundary().surface)
}

/// Returns all cubes of a lattice that may intersect a solid. The lattice has `cells` cells along the longest side of
/// the solid's bounding box.
fn cubes(solid: &ImplicitSolid, cells: usize) -> anyhow::Result<VolumeMesh> {
    let [low, high] = solid.bounds();
    let edge = (high - low).max_element() / cells as f64;
    let counts = ((high - low) / edge).to_array().map(|n| (n - 1e-9).ceil() as usize);
    let mut numbers = HashMap::new();
    let (mut vertices, mut elements) = (Vec::new(), Vec::new());
    for [i, j, k] in
        (0..counts[2]).flat_map(|k| (0..counts[1]).flat_map(move |j| (0..counts[0]).map(move |i| [i, j, k])))
    {
        let corner = |[i, j, k]: [usize; 3]| low + edge * Vec3::new(i as f64, j as f64, k as f64);
        if !is_met(solid, corner([i, j, k]), edge, 4) {
            continue;
        }
        let around = [[0, 0], [1, 0], [1, 1], [0, 1]];
        for (layer, [x, y]) in [0, 1].into_iter().flat_map(|layer| around.map(|xy| (layer, xy))) {
            let site = [i + x, j + y, k + layer];
            elements.push(*numbers.entry(site).or_insert_with(|| {
                vertices.push(corner(site));
                vertices.len() as u32 - 1
            }));
        }
    }
    Ok(VolumeMesh::check(MeshData::new(vertices, ElementKind::Hex8, elements))?.mesh)
}

/// Returns true unless an octree subdivision proves that a cube is outside a solid.
fn is_met(solid: &ImplicitSolid, low: Vec3, edge: f64, depth: usize) -> bool {
    if solid.is_uniform(low, low + edge) {
        return solid.contains(low);
    }
    let half = 0.5 * edge;
    depth == 0
        || (0..8).any(|eighth| {
            let at = |bit: usize| if eighth >> bit & 1 == 1 { half } else { 0.0 };
            is_met(solid, low + Vec3::new(at(0), at(1), at(2)), half, depth - 1)
        })
}

/// Returns the vertices at most at a height.
fn below(mesh: &VolumeMesh, height: f64) -> Vec<u32> {
    (0..).zip(mesh.vertices()).filter(|(_, x)| x.y <= height).map(|(v, _)| v).collect()
}

/// Returns the vertices at both ends of a bridge.
fn at_ends(mesh: &VolumeMesh) -> Vec<u32> {
    (0..).zip(mesh.vertices()).filter(|(_, x)| x.x.abs() > 5.7).map(|(v, _)| v).collect()
}

#[cfg(test)]
mod tests {
    use pliant::mesh::Embedding;

    use super::*;

    /// Compares the counts with those of the original bodies.
    #[test]
    fn bodies_are_as_large_as_those_of_the_papers_and_contain_their_surfaces() {
        type Make = fn() -> anyhow::Result<Specimen>;
        let wanted: [(Make, usize, usize); 4] =
            [(dinosaur, 344, 1100), (bridge, 4000, 12_827), (bridge_of_cubes, 3923, 1736), (crane, 9875, 5571)];
        for (make, vertices, elements) in wanted {
            let made = make().unwrap();
            let near = |count: usize, wanted: usize, part: f64| (count as f64 / wanted as f64 - 1.0).abs() < part;
            let (found, counts) = (made.mesh.vertex_count(), made.mesh.element_count());
            assert!(near(found, vertices, 0.01) && near(counts, elements, 0.05), "{}: {found}, {counts}", made.name);
            assert!(!made.fixed.is_empty() && made.mesh.components().1 == 1, "{}", made.name);
        }
        for made in [dinosaur().unwrap(), bridge().unwrap()] {
            let surface = made.surface().unwrap();
            assert!(surface.vertices().len() > 10_000 && surface.report().is_closed(), "{}", made.name);
            assert!(Embedding::new(&made.mesh, surface.vertices()).unwrap().outside().is_empty(), "{}", made.name);
        }
        assert_eq!(dinosaur().unwrap().mesh.vertex_count(), 344);
        let count = dragon().unwrap().mesh.vertex_count();
        assert!(count.abs_diff(46_700) < 467, "the dragon has {count}");
    }
}
