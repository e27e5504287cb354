//! SIGGRAPH course of Sifakis and Barbič 2012.

mod batch;
pub mod energies;
pub mod forces;
