//! Beams along `x` that are fixed at one end, and their equilibria.

use anyhow::Context;
use pliant::force::{Patch, surface_force};
use pliant::integrator::{Static, StepError};
use pliant::material::{AnyLaw, Material, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::solver::{SolveError, SolverParams};
use pliant::system::State;

use crate::{Page, Stopped};

/// Name of the vertex set at the fixed end.
pub const FIXED: &str = "x-min";
/// Name of the vertex set at the free end.
pub const FREE: &str = "x-max";

/// Returns the name of an element type in tables.
pub fn kind_name(kind: Cells) -> &'static str {
    match kind {
        Cells::Hex => "hexes",
        Cells::Tet5 => "tets, 5 per cell",
        Cells::Tet6 => "tets, 6 per cell",
    }
}

/// Creates a beam of this length and square cross section, with `across` cubic cells across.
pub fn mesh(length: f64, width: f64, across: usize, kind: Cells) -> anyhow::Result<VolumeMesh> {
    let along = (length / width * across as f64).round() as usize;
    Ok(generate::block([length, width, width], [along, across, across], kind)?)
}

/// Returns the law called `name` without modification.
pub fn bare_law(name: &str, moduli: YoungPoisson) -> anyhow::Result<Material> {
    Ok(AnyLaw::new(name, moduli)?.into())
}

/// Returns the vertices of a set of a mesh.
pub fn set<'a>(mesh: &'a VolumeMesh, name: &str) -> anyhow::Result<&'a [u32]> {
    Ok(mesh.vertex_sets().get(name).with_context(|| format!("the mesh has no vertex set {name}"))?)
}

/// Creates a model of a beam that is clamped at one end.
pub fn clamped(mesh: VolumeMesh, material: Material, density: f64) -> anyhow::Result<Model> {
    let fixed = Fixed::new(set(&mesh, FIXED)?.to_vec());
    Ok(Model::builder().body(Body::new(mesh, material, density)).fix(fixed).build()?)
}

/// Returns the nodal loads of a force \[N\] distributed evenly over the free end.
pub fn end_force(mesh: &VolumeMesh, force: Vec3) -> anyhow::Result<Vec<f64>> {
    let end = Patch::within(mesh, set(mesh, FREE)?)?;
    Ok(surface_force(mesh.vertices(), &end, force)?)
}

/// Returns the mean displacement of some vertices \[m\].
pub fn mean_displacement(state: &State, vertices: &[u32]) -> Vec3 {
    let all = vertices.iter().map(|&vertex| Vec3::from_slice(&state.q[3 * vertex as usize..]));
    all.sum::<Vec3>() / vertices.len() as f64
}

/// Solves for equilibrium under the current load. Returns an error with the context `what` if none is found.
pub fn settle(page: &Page<'_>, what: &str, assembly: &mut Assembly, state: &mut State) -> anyhow::Result<()> {
    page.now(what)?;
    match Static::default().solve(assembly, &mut *SolverParams::Direct.build(), state) {
        Ok(_) => Ok(()),
        Err(StepError::Solve { source: SolveError::Stopped, .. }) => Err(Stopped.into()),
        Err(error) => Err(error).with_context(|| what.to_owned()),
    }
}
