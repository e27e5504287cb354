//! Gyroids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SolidError, SolidOptions};
use crate::scene::bounds;
use crate::scene::quantity::Length;
use pliant::geometry::ImplicitSolid;

/// The sheet of a gyroid, which is infinite: intersect it with a bounded solid.
///
/// ```toml
/// [[object]]
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
///
/// [object.mesh.filled]
/// cells = 12
/// of.intersection = [
///     { gyroid = { period = 0.6, thickness = 0.2 } },
///     { ball = { radius = 0.5 } },
/// ]
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gyroid {
    /// Period of the gyroid.
    #[schemars(transform = bounds::positive)]
    pub period: Length,
    /// Approximate thickness of the sheet.
    #[schemars(transform = bounds::positive)]
    pub thickness: Length,
}

impl SolidOptions for Gyroid {
    fn build(&self) -> Result<ImplicitSolid, SolidError> {
        Ok(ImplicitSolid::Gyroid { period: self.period.si, thickness: self.thickness.si })
    }
}
