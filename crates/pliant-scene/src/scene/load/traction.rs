//! Tractions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoadContext, LoadOptions, Loads};
use crate::scene::quantity::{dimension, vec3};
use crate::scene::{SceneError, Vector};
use pliant::force::surface_traction;

/// Force per area of the undeformed surface, in a fixed direction: a dead load.
///
/// ```toml
/// [[load]]
/// vertices = "end"
/// kind = { traction = ["1 kPa", 0, 0] }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traction {
    /// Force per area.
    pub value: Vector<dimension::Pressure>,
}

impl LoadOptions for Traction {
    fn add(&self, context: &LoadContext<'_>, loads: &mut Loads) -> Result<(), SceneError> {
        let forces = surface_traction(context.rest(), &context.faces()?, vec3(&self.value));
        context.add_nodal(&forces.map_err(|error| context.error(&error))?, loads)
    }
}
