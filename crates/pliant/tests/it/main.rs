//! Integration tests of the library: one binary, so that it is linked once.
//!
//! Tests run in parallel in one process. A test that counts the memory of the whole process belongs in `tests/memory`.

#[path = "../support/mod.rs"]
mod support;

mod affine;
mod bdf2;
mod colliders;
mod contact;
mod dynamics;
mod elastic;
mod formats;
mod friction;
mod fuzz_targets;
mod history;
mod integrators;
mod language;
mod layering;
mod matrix_free;
mod meshing;
mod pendulums;
mod reduced;
mod references;
mod regularized;
mod undefined_motions;
mod varying_couplings;
mod verification_bar;
mod verification_cantilever;
mod verification_formulas;
mod verification_mass_properties;
mod verification_material_points;
mod verification_modes;
mod verification_patch;
mod verification_trajectories;
mod verification_uniaxial;
mod verification_vegafem;
mod verification_vegafem_mass;
mod verification_vegafem_springs_stvk;
