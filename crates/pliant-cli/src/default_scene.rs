//! A scene for a mesh that comes without one: dropped on the ground.

use std::path::Path;

use pliant::io::{Mesh, read};
use pliant::math::Vec3;
use pliant::mesh::{Moduli, Region};
use pliant::scene::{EARTH, SceneFile, Source};

use crate::fill::in_millimetres;
use crate::table::number_to;

/// Along the longest side of the cage of a surface.
const CELLS: u32 = 16;

/// What weighs nothing is given the density of water, in kg/m³.
pub const DENSITY: f64 = 1000.0;

/// Poisson's ratio of what has no stiffness of its own.
pub const POISSON: f64 = 0.4;

/// Young's modulus of what has none, in Pa: so that a body sags by a thirtieth of its size under its weight.
pub fn soft_young([low, high]: [Vec3; 2]) -> f64 {
    let young = 30.0 * DENSITY * EARTH * size([low, high]);
    rounded(young).parse().unwrap_or(young)
}

/// The mean side of a box.
fn size([low, high]: [Vec3; 2]) -> f64 {
    (high - low).length() / 3_f64.sqrt()
}

/// Drop a mesh on the ground. Times go with the size of the body, so that a pea and a whale look alike.
pub fn for_mesh(path: &Path, notes: &mut Vec<String>) -> anyhow::Result<SceneFile> {
    let loaded = read(path)?;
    let [low, high] = match &loaded.mesh {
        Mesh::Volume(mesh) => mesh.bounding_box(),
        Mesh::Surface(surface) => surface.bounding_box(),
    };
    let size = size([low, high]);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // What JSON puts between quotes, TOML reads.
    let (mesh_name, title) =
        (serde_json::to_string(&name)?, serde_json::to_string(&format!("{name} dropped on the ground"))?);
    // A surface is put into a cage, which carries it.
    let (mesh_source, regions) = match &loaded.mesh {
        Mesh::Volume(mesh) => (mesh_name, mesh.regions()),
        Mesh::Surface(_) => {
            notes.extend(in_millimetres(low, high));
            notes.push(format!("the file is a surface: it is carried by a cage of tetrahedra, {CELLS} cells long"));
            (format!("{{ cage = {{ surface = {mesh_name}, cells = {CELLS} }} }}"), &[][..])
        }
    };
    let has_density = |region: &Region| region.material.as_ref().is_some_and(|own| own.density.is_some());
    let mut material = Vec::new();
    if regions.is_empty() || !regions.iter().all(has_density) {
        material.push(format!("density = {DENSITY}"));
        notes.push(format!("the file gives no density: {DENSITY} kg/m³ is taken"));
    }
    let has_moduli = |region: &Region| {
        let moduli = region.material.as_ref().and_then(|own| own.moduli.as_ref());
        moduli.is_some_and(|moduli| !matches!(moduli, Moduli::Orthotropic { .. }))
    };
    if regions.is_empty() || !regions.iter().all(has_moduli) {
        let young = rounded(soft_young([low, high]));
        material.push(format!("young = {young}\npoisson = {POISSON}"));
        notes.push(format!(
            "the file gives no isotropic stiffness: a soft one is taken, Young's modulus {young} Pa, Poisson's ratio {POISSON}"
        ));
    }
    let material =
        if material.is_empty() { String::new() } else { format!("\n[object.material]\n{}\n", material.join("\n")) };
    // Fifteen times what it takes to fall by its own size is long enough to come to rest.
    let duration = 15.0 * (size / EARTH).sqrt();
    let ground = [0.5 * (low.x + high.x), low.y - 0.5 * size, 0.5 * (low.z + high.z)];
    let text = format!(
        "title = {title}

[[object]]
mesh = {mesh_source}
{material}
[[obstacle]]
plane = {{ point = {ground:?} }}
friction = 0.5

[damping]
stiffness = {}

[simulation]
step = {}
duration = {}

[output]
frame_rate = {}
",
        rounded(duration / 2000.0),
        rounded(duration / 400.0),
        rounded(duration),
        rounded(100.0 / duration),
    );
    Ok(SceneFile::parse(Source::new(path.with_extension("toml"), text))?)
}

/// A number to be read by people.
fn rounded(x: f64) -> String {
    number_to(x, 1)
}
