//! Quadrature points of elements, a common representation of tetrahedra and hexahedra.
//!
//! At a point, `F = I + Σ uₐ ∇Nₐᵀ`. An integral over an element is a weighted sum over its quadrature points. A
//! tetrahedron, where `F` is constant, has one point. A hexahedron has the 2×2×2 Gauss points.
//!
//! Elements are stored in groups of [`LANES`](crate::material::LANES), side by side in the lanes of SIMD registers. The
//! elements of a group share a material and are close in space. Incomplete groups are padded with lanes of zero weight.

mod groups;
mod order;
mod quadrature;

pub use groups::Elements;
pub use quadrature::points_per_element;
pub(crate) use quadrature::quadrature;
