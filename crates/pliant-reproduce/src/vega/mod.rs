//! Sin, Schroeder and Barbič 2012: what VegaFEM can do, and how fast.

pub mod frame_budget;
pub mod integrators;
pub mod laws;
pub mod setting;
pub mod solvers;
pub mod stiffness;
pub mod threads;
