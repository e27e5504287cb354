//! Pressures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoadContext, LoadOptions, Loads};
use crate::scene::SceneError;
use crate::scene::quantity::Pressure;
use pliant::force::{self, dead_pressure};

/// Force per area normal to the surface. Positive values push onto it, as in Abaqus, Ansys and FEBio; negative values
/// are suction.
///
/// ```toml
/// [[load]]
/// vertices = "surface"
/// kind = { pressure = "2 kPa" }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PressureLoad {
    /// Pressure.
    pub value: Pressure,
    /// True for a follower load, along the normals and areas of the deformed surface; false for a dead load, with the
    /// normals and areas of the undeformed surface. All other loads are dead.
    #[serde(default = "follows", skip_serializing_if = "is_true")]
    pub follower: bool,
}

fn follows() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_true(value: &bool) -> bool {
    *value
}

impl LoadOptions for PressureLoad {
    fn add(&self, context: &LoadContext<'_>, loads: &mut Loads) -> Result<(), SceneError> {
        let patch = context.faces()?;
        if !self.follower {
            let forces = dead_pressure(context.rest(), &patch, self.value.si);
            return context.add_nodal(&forces.map_err(|error| context.error(&error))?, loads);
        }
        let force = force::Pressure::new(context.rest().clone(), &patch, self.value.si)
            .and_then(|force| force.with_amplitude(context.amplitude()))
            .map_err(|error| context.error(&error))?;
        loads.forces.push(Box::new(force));
        Ok(())
    }
}
