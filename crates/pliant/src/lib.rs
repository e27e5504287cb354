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
//! - [`contact`]: distances of surfaces, the potential that keeps them apart, and collision detection.
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
//! # Examples
//!
//! A bar that is fixed at one end swings under its weight:
//!
//! ```
//! use pliant::prelude::*;
//!
//! let bar = generate::block([1.0, 0.2, 0.2], [10, 2, 2], Cells::Tet5)?;
//! let clamp = bar.vertex_sets()["x-min"].clone();
//! let rubber = AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e6, poisson: 0.45 })?;
//! let model = Model::builder()
//!     .body(Body::new(bar, rubber, 1000.0))
//!     .fix(Fixed::new(clamp))
//!     .gravity(Vec3::new(0.0, -9.81, 0.0))
//!     .build()?;
//!
//! let mut state = model.rest_state();
//! let mut assembly = Assembly::new(model);
//! let mut solver = SolverParams::default().build();
//! let mut integrator = BackwardEuler::default();
//! for _ in 0..10 {
//!     integrator.step(&mut assembly, &mut solver, &mut state, 0.01)?;
//! }
//! assert!(assembly.model().observe(&state).center_of_mass.y < 0.1 - 0.02);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Simulation`](simulation::Simulation) keeps model, integrator, solver and state together, and adds checkpoints
//! and an energy balance. A [`VolumeMesh`](mesh::VolumeMesh) also comes from arrays, from files ([`io`]) or from a
//! surface ([`meshing`]).
//!
//! # Features
//!
//! | feature | default | content |
//! |---|---|---|
//! | `formats` | yes | [`io`], [`matrix_io`], [`files::Disk`], files of reduced bases |
//! | `meshing` | yes | [`meshing`] |
//! | `serde` | no | serialization of meshes, their materials, and the reports about them |
//!
//! With `default-features = false`, models, laws, forces, solvers, integrators and reduced models remain, and files in
//! the formats of Pliant itself (checkpoints, reductions) in any [`Files`](files::Files).

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub mod contact;
pub mod damping;
pub mod element;
pub mod files;
pub mod force;
pub mod geometry;
pub mod integrator;
#[cfg(feature = "formats")]
pub mod io;
pub mod mass;
pub mod material;
pub mod math;
#[cfg(feature = "formats")]
pub mod matrix_io;
pub mod mesh;
#[cfg(feature = "meshing")]
pub mod meshing;
pub mod model;
pub mod motion;
pub mod prelude;
pub mod reduced;
pub mod simulation;
pub mod solver;
pub mod sparse;
pub mod system;
