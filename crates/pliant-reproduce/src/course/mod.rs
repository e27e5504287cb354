//! Sifakis and Barbič 2012: the SIGGRAPH course.

mod batch;
pub mod energies;
pub mod forces;
