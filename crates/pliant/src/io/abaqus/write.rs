//! Writer of one flat file, without parts.

use std::collections::HashMap;

use super::super::WriteOptions;
use super::super::input_output::Output;
use super::super::names::Names;
use crate::files::{WriteError, put};
use crate::math::Vec3;
use crate::mesh::{ElementKind, MaterialData, Moduli, Region, SurfaceMesh, VolumeMesh};

pub(super) fn write_volume(output: &mut Output, mesh: &VolumeMesh, _: &WriteOptions) -> Result<(), WriteError> {
    let mut element_names = Names::ignoring_case();
    let regions: Vec<String> =
        mesh.regions().iter().map(|region| take(&mut element_names, "region", &region.name, output)).collect();
    let used = first_elements(mesh);
    for (region, name) in (0..).zip(&regions) {
        if !used.contains_key(&region) {
            output.note(format!("region {name} has no elements and was not written"));
        }
    }
    put_vertices(output.main(), mesh.vertices(), mesh.element_count());
    put_elements(output.main(), mesh, &regions, &used);
    let mut node_names = Names::ignoring_case();
    for (name, set) in mesh.vertex_sets() {
        let name = take(&mut node_names, "vertex set", name, output);
        put_set(output.main(), "NSET", &name, set);
    }
    for (name, set) in mesh.element_sets() {
        let name = take(&mut element_names, "element set", name, output);
        put_set(output.main(), "ELSET", &name, set);
    }
    let mut surface_names = Names::ignoring_case();
    for (name, set) in mesh.face_sets() {
        let name = take(&mut surface_names, "face set", name, output);
        let out = output.main();
        put!(out, "*SURFACE, TYPE=ELEMENT, NAME={name}\n");
        for &(element, side) in set {
            put!(out, "{}, S{}\n", u64::from(element) + 1, side + 1);
        }
    }
    put_materials(output, mesh, &regions, &used);
    Ok(())
}

pub(super) fn write_surface(output: &mut Output, surface: &SurfaceMesh, _: &WriteOptions) -> Result<(), WriteError> {
    let faces = output.faces_up_to(4, surface);
    let out = output.main();
    put_vertices(out, surface.vertices(), faces.len());
    let mut corners = 0;
    for (f, face) in faces.iter().enumerate() {
        if face.len() != corners {
            corners = face.len();
            put!(out, "*ELEMENT, TYPE=S{corners}\n");
        }
        put_element(out, f, face);
    }
    Ok(())
}

/// Returns the first element of each region in use.
fn first_elements(mesh: &VolumeMesh) -> HashMap<u32, usize> {
    let mut first = HashMap::new();
    for (e, &region) in mesh.element_region().iter().enumerate() {
        first.entry(region).or_insert(e);
    }
    first
}

fn put_vertices(out: &mut Vec<u8>, vertices: &[Vec3], elements: usize) {
    put!(out, "*HEADING\n{} nodes, {elements} elements\n*NODE\n", vertices.len());
    for (v, p) in vertices.iter().enumerate() {
        put!(out, "{}, {:?}, {:?}, {:?}\n", v + 1, p.x, p.y, p.z);
    }
}

/// Writes the elements in order, with a new block wherever the region changes.
fn put_elements(out: &mut Vec<u8>, mesh: &VolumeMesh, regions: &[String], used: &HashMap<u32, usize>) {
    let kind = match mesh.kind() {
        ElementKind::Tet4 => "C3D4",
        ElementKind::Hex8 => "C3D8",
    };
    let mut in_order: Vec<(u32, usize)> = used.iter().map(|(&region, &first)| (region, first)).collect();
    in_order.sort_unstable();
    if !in_order.is_sorted_by_key(|&(_, first)| first) {
        // The reader orders regions by the first mention of their sets.
        for &(region, first) in &in_order {
            put_set(out, "ELSET", &regions[region as usize], &[first as u32]);
        }
    }
    let mut last = None;
    for (e, (nodes, &region)) in mesh.elements().zip(mesh.element_region()).enumerate() {
        if last.replace(region) != Some(region) {
            put!(out, "*ELEMENT, TYPE={kind}, ELSET={}\n", regions[region as usize]);
        }
        put_element(out, e, nodes);
    }
}

fn put_element(out: &mut Vec<u8>, element: usize, nodes: &[u32]) {
    put!(out, "{}", element + 1);
    for &v in nodes {
        put!(out, ", {}", u64::from(v) + 1);
    }
    put!(out, "\n");
}

fn put_set(out: &mut Vec<u8>, keyword: &str, name: &str, members: &[u32]) {
    put!(out, "*{keyword}, {keyword}={name}\n");
    for line in members.chunks(16) {
        for (i, &member) in line.iter().enumerate() {
            put!(out, "{}{}", if i == 0 { "" } else { ", " }, u64::from(member) + 1);
        }
        put!(out, "\n");
    }
}

fn put_materials(output: &mut Output, mesh: &VolumeMesh, regions: &[String], used: &HashMap<u32, usize>) {
    let mut names = Names::ignoring_case();
    // Different materials of each name, with the names under which they were written.
    let mut written: HashMap<&str, Vec<(&MaterialData, String)>> = HashMap::new();
    for (r, Region { material, .. }) in mesh.regions().iter().enumerate() {
        let (Some(material), true) = (material, used.contains_key(&(r as u32))) else { continue };
        let same_name = written.entry(&material.name).or_default();
        let name = if let Some((_, name)) = same_name.iter().find(|(other, _)| *other == material) {
            name.clone()
        } else {
            let name = take(&mut names, "material", &material.name, output);
            put_material(output, material, &name);
            same_name.push((material, name.clone()));
            name
        };
        put!(output.main(), "*SOLID SECTION, ELSET={}, MATERIAL={name}\n", regions[r]);
    }
}

fn put_material(output: &mut Output, material: &MaterialData, name: &str) {
    let out = output.main();
    put!(out, "*MATERIAL, NAME={name}\n");
    if let Some(density) = material.density {
        put!(out, "*DENSITY\n{density:?},\n");
    }
    match material.moduli {
        Some(Moduli::Isotropic { young, poisson }) => put!(out, "*ELASTIC\n{young:?}, {poisson:?}\n"),
        None => {}
        Some(Moduli::MooneyRivlin { .. }) => {
            output.note(format!(
                "only isotropic moduli are written: those of material {name}, Mooney-Rivlin, were dropped"
            ));
        }
        Some(Moduli::Orthotropic { .. }) => {
            output.note(format!(
                "only isotropic moduli are written: those of material {name}, orthotropic, were dropped"
            ));
        }
    }
}

/// Returns a unique name that is valid in Abaqus, in quotes if necessary.
fn take(names: &mut Names, what: &str, name: &str, output: &mut Output) -> String {
    let clean: String = name.chars().map(|c| if c == '"' || c.is_control() { '_' } else { c }).collect();
    let written = names.take(if clean.is_empty() { "unnamed" } else { &clean });
    output.name(what, name, &written);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if written.chars().all(plain) && written.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return written;
    }
    format!("\"{written}\"")
}
