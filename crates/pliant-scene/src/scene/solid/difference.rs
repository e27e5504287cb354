//! Differences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::all;
use super::{SolidChoice, SolidError, SolidOptions};
use pliant::geometry::ImplicitSolid;

/// Difference of solids.
///
/// ```toml
/// [[object]]
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
///
/// [object.mesh.filled]
/// cells = 12
///
/// [object.mesh.filled.of.difference]
/// of = { ball = { radius = 0.5 } }
/// without = [{ capsule = { start = [-1, 0, 0], end = [1, 0, 0], radius = 0.2 } }]
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Solid to subtract from.
    pub of: SolidChoice,
    /// Solids to subtract.
    pub without: Vec<SolidChoice>,
}

impl SolidOptions for Difference {
    fn build(&self) -> Result<ImplicitSolid, SolidError> {
        let solid = self.of.build()?;
        Ok(if self.without.is_empty() { solid } else { solid.minus(ImplicitSolid::Union(all(&self.without)?)) })
    }
}
