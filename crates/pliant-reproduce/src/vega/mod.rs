//! Sin, Schroeder and Barbič 2012: what VegaFEM can do, and how fast.

mod beam;
mod collapse;
pub mod largest_step;
pub mod locking;
pub mod mesh_refinement;
pub mod recovery;
pub mod step_refinement;
pub mod stretching;
