//! Capabilities and speed of VegaFEM \[SinSchroederBarbic2013\].

mod beam;
mod collapse;
pub mod frame_budget;
pub mod integrators;
pub mod laws;
pub mod locking;
pub mod max_step;
pub mod mesh_refinement;
pub mod recovery;
pub mod setting;
pub mod solvers;
pub mod step_refinement;
pub mod stiffness;
pub mod stretching;
pub mod threads;
