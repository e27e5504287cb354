//! Impulses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoadContext, LoadOptions, Loads};
use crate::scene::quantity::{dimension, vec3};
use crate::scene::{SceneError, Vector};

/// Total impulse at the start, distributed by mass, so that all free vertices get the same velocity. The share of fixed
/// vertices is lost.
///
/// ```toml
/// [[load]]
/// kind = { impulse = [0, "5 N s", 0] }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImpulseLoad {
    /// Total impulse.
    pub value: Vector<dimension::Impulse>,
}

impl LoadOptions for ImpulseLoad {
    fn add(&self, context: &LoadContext<'_>, loads: &mut Loads) -> Result<(), SceneError> {
        loads.impulses.push((context.vertices()?, vec3(&self.value)));
        Ok(())
    }

    fn has_schedule(&self) -> bool {
        false
    }

    fn needs_mass(&self) -> bool {
        true
    }
}
