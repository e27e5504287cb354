//! Material as regularized constraints on strains \[ServinLacoursiereMelin2006\].

mod condensed;
mod form;
mod integrator;
mod params;
mod refinement;
mod saddle;
mod schur;
mod strain;

pub use integrator::Regularized;
pub use params::{Elimination, Error, Moduli, RegularizedParams, Strain};
