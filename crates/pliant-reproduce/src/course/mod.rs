//! Sifakis and Barbič 2012: the SIGGRAPH course.

pub mod energies;
