//! VTK's unstructured grids: the legacy format `.vtk` and its successor in XML, `.vtu`.
//!
//! Both share cell types and data arrays, which are implemented in `cells`.

mod cells;
mod data;
pub(super) mod legacy;
mod values;
pub(super) mod vtu;
pub(super) mod write;
mod xml;
