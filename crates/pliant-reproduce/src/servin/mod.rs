//! Servin, Lacoursière and Melin 2006: elasticity as regularized constraints.

mod setup;

pub mod cube;
pub mod energy;
pub mod scaling;
pub mod support;
pub mod theory;
pub mod twist;
