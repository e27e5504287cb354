//! Forces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoadContext, LoadOptions, Loads};
use crate::scene::quantity::{dimension, vec3};
use crate::scene::{SceneError, Vector};
use pliant::force::{ScheduledLoad, surface_force};
use pliant::math::Vec3;
use pliant::motion::Amplitude;

/// Total force, spread over the faces between the vertices by area, or over the vertices if no faces are between them.
///
/// ```toml
/// [[load]]
/// vertices = "end"
/// kind = { force = [0, "-20 N", 0] }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Force {
    /// Total force.
    pub value: Vector<dimension::Force>,
}

impl LoadOptions for Force {
    fn add(&self, context: &LoadContext<'_>, loads: &mut Loads) -> Result<(), SceneError> {
        let load = ScheduledLoad { forces: spread(context, vec3(&self.value))?, amplitude: context.amplitude() };
        loads.nodal.push(load).map(drop).map_err(|error| context.error(&error))
    }
}

/// Spreads a force over the faces by area, or over the vertices if there are no faces between them.
fn spread(context: &LoadContext<'_>, force: Vec3) -> Result<Vec<(u32, Vec3)>, SceneError> {
    let patch = match context.faces() {
        Err(error) if context.selects_faces() => return Err(error),
        patch => patch.ok(),
    };
    if let Some(forces) = patch.and_then(|patch| surface_force(context.rest(), &patch, force).ok()) {
        return Ok(ScheduledLoad::from_nodal(&forces, Amplitude::default()).forces);
    }
    let vertices = context.vertices()?;
    let share = force / vertices.len() as f64;
    Ok(vertices.into_iter().map(|vertex| (vertex, share)).collect())
}
