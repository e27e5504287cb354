//! Unions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::all;
use super::{SolidChoice, SolidError, SolidOptions};
use pliant::geometry::ImplicitSolid;

/// Union of solids.
///
/// ```toml
/// [[object]]
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
///
/// [object.mesh.filled]
/// cells = 12
/// of.union = [
///     { ball = { radius = 0.5 } },
///     { ball = { radius = 0.5, center = [0.5, 0, 0] } },
/// ]
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Union {
    /// Solids to combine.
    pub of: Vec<SolidChoice>,
}

impl SolidOptions for Union {
    fn build(&self) -> Result<ImplicitSolid, SolidError> {
        Ok(ImplicitSolid::Union(all(&self.of)?))
    }
}
