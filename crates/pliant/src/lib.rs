//! Pliant simulates 3D deformable solids with the finite element method.
//!
//! Each module uses only those listed before it:
//!
//! - [`math`]: 3-vectors, 3×3 matrices, and sums that do not depend on the number of threads.
//! - [`geometry`]: triangles, bounding volume hierarchies, point-in-surface tests, implicit solids.
//! - [`mesh`]: [`VolumeMesh`](mesh::VolumeMesh), checked when built; queries, operations, generators, embedding.
//! - [`files`]: where files come from and go to, and their errors.
//! - [`meshing`]: volume meshing of surfaces with tetrahedra, cages and voxels.
//! - [`io`]: mesh files, chosen by extension.
//! - [`material`]: elastic laws, each with energy, stress and tangent, and a check that these are consistent.
//! - [`sparse`]: symmetric matrices of 3×3 blocks.
//! - [`matrix_io`]: vector and matrix files for NumPy, SciPy and other programs.
//! - [`element`]: quadrature points of elements.
//! - [`motion`]: keyframes and functions of time.
//! - [`force`]: terms of the potential energy, with their forces and stiffnesses.
//! - [`mass`]: the mass matrix, consistent or lumped.
//! - [`damping`]: Rayleigh damping and custom damping matrices.
//! - [`system`]: the interface between integrators and mechanical systems.
//! - [`solver`]: linear solvers, by factorization and by conjugate gradients.
//! - [`model`]: bodies with their loads and boundary conditions.
//! - [`integrator`]: time integrators and equilibrium solvers.
//! - [`reduced`]: natural modes and reduced-order models.
//! - [`simulation`]: a model with its integrator and solver.
//!
//! Scene files, runs into folders, animations and pictures are in the crate `pliant-scene`.
//!
//! ```
//! use pliant::mesh::{Cells, generate};
//!
//! let bar = generate::block([1.0, 0.2, 0.2], [20, 4, 4], Cells::Tet5)?;
//! assert_eq!(bar.element_count(), 20 * 4 * 4 * 5);
//! assert!((bar.volume() - 0.04).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub mod damping;
pub mod element;
pub mod files;
pub mod force;
pub mod geometry;
pub mod integrator;
pub mod io;
pub mod mass;
pub mod material;
pub mod math;
pub mod matrix_io;
pub mod mesh;
pub mod meshing;
pub mod model;
pub mod motion;
pub mod reduced;
pub mod simulation;
pub mod solver;
pub mod sparse;
pub mod system;
