//! Types of elements of simple bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use pliant::mesh::Cells;

/// Type of the elements of a simple body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Elements {
    /// Five tetrahedra per cell.
    #[default]
    Tet5,
    /// Six tetrahedra per cell.
    Tet6,
    /// A hexahedron per cell.
    Hex,
}

impl Elements {
    /// Returns the elements of a cell.
    pub(super) fn cells(self) -> Cells {
        match self {
            Self::Tet5 => Cells::Tet5,
            Self::Tet6 => Cells::Tet6,
            Self::Hex => Cells::Hex,
        }
    }
}

/// Returns the number of cells along `length`, at least one, if there are `across` along `width`.
pub(super) fn cells_along(length: f64, width: f64, across: u32) -> usize {
    ((length / width * f64::from(across)).round() as usize).max(1)
}
