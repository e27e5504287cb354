//! SIGGRAPH course on FEM simulation \[SifakisBarbic2012\].

mod batch;
pub mod energies;
pub mod forces;
