//! VTK's unstructured grids: the legacy format `.vtk` and its successor in XML, `.vtu`.
//!
//! Both name the same kinds of cells and hold the same arrays beside them, which is in `cells`.

mod cells;
mod data;
pub(super) mod legacy;
mod values;
pub(super) mod vtu;
pub(super) mod write;
mod xml;
