//! Beams along `x` that are held at one end, and where they come to rest.

use anyhow::Context;
use pliant::force::{Patch, surface_force};
use pliant::integrator::{Static, StepError};
use pliant::material::{AnyLaw, Elasticity, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Body, Hold, Model};
use pliant::solver::{SolveError, SolverParams};
use pliant::system::State;

use crate::{Page, Stopped};

/// The set of vertices at one end of a body.
pub const HELD: &str = "x-min";
/// The set at the other.
pub const FREE: &str = "x-max";

/// What elements are called in tables.
pub fn kind_name(kind: Cells) -> &'static str {
    match kind {
        Cells::Hex => "hexes",
        Cells::Tet5 => "tets, 5 a cell",
        Cells::Tet6 => "tets, 6 a cell",
    }
}

/// A beam of this length and square section, with so many cells across and cells that are cubes.
pub fn mesh(length: f64, width: f64, across: usize, kind: Cells) -> anyhow::Result<VolumeMesh> {
    let along = (length / width * across as f64).round() as usize;
    Ok(generate::block([length, width, width], [along, across, across], kind)?)
}

/// The law called `name`, with nothing added to it.
pub fn bare_law(name: &str, moduli: YoungPoisson) -> anyhow::Result<Elasticity> {
    Ok(AnyLaw::new(name, moduli)?.into())
}

/// The vertices of a set of a mesh.
pub fn set<'a>(mesh: &'a VolumeMesh, name: &str) -> anyhow::Result<&'a [u32]> {
    Ok(mesh.vertex_sets().get(name).with_context(|| format!("a mesh without the set {name}"))?)
}

/// A model of a beam that is clamped at its end.
pub fn clamped(mesh: VolumeMesh, material: Elasticity, density: f64) -> anyhow::Result<Model> {
    let held = Hold::fixed(set(&mesh, HELD)?.to_vec());
    Ok(Model::builder().body(Body::new(mesh, material, density)).hold(held).build()?)
}

/// The loads that spread a force, in N, evenly over the free end.
pub fn end_force(mesh: &VolumeMesh, force: Vec3) -> anyhow::Result<Vec<f64>> {
    let end = Patch::within(mesh, set(mesh, FREE)?)?;
    Ok(surface_force(mesh.vertices(), &end, force)?)
}

/// How far some vertices have moved on average, in m.
pub fn mean_displacement(state: &State, vertices: &[u32]) -> Vec3 {
    let all = vertices.iter().map(|&vertex| Vec3::from_slice(&state.q[3 * vertex as usize..]));
    all.sum::<Vec3>() / vertices.len() as f64
}

/// Go to equilibrium under the present load. What does not find one is an error of the model, which `what` names.
pub fn settle(page: &Page<'_>, what: &str, model: &mut Model, state: &mut State) -> anyhow::Result<()> {
    page.now(what)?;
    match Static::default().solve(model, &mut *SolverParams::Direct.build(), state) {
        Ok(_) => Ok(()),
        Err(StepError::Solve { source: SolveError::Stopped, .. }) => Err(Stopped.into()),
        Err(error) => Err(error).with_context(|| what.to_owned()),
    }
}
