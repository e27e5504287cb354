//! Elasticity as regularized constraints \[ServinLacoursiereMelin2006\].

mod setup;

pub mod cube;
pub mod energy;
pub mod scaling;
pub mod support;
pub mod theory;
pub mod twist;
