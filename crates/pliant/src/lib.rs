//! Pliant simulates 3D deformable solids with the finite element method.
//!
//! The modules, each using only those before it:
//!
//! - [`math`]: 3-vectors, 3×3 matrices, sums that do not depend on the number of threads.
//! - [`geometry`]: triangles and trees of them, what is inside of a surface, solids given by formulas.
//! - [`mesh`]: [`VolumeMesh`](mesh::VolumeMesh), checked when built; queries, operations, generators, embedding.
//! - [`meshing`]: tetrahedra, cages and voxels of surfaces.
//! - [`io`]: mesh files, chosen by extension.
//! - [`material`]: elastic laws, each with its energy, stress and tangent, and the proof that they fit.
//! - [`sparse`]: symmetric matrices of 3×3 blocks.
//! - [`matrix_io`]: vectors and matrices in files, for NumPy, SciPy and others.
//! - [`element`]: elements as quadrature points.
//! - [`motion`]: keyframes and functions of time.
//! - [`force`]: terms of the potential energy of a body, with their force and stiffness.
//! - [`mass`]: the mass matrix, consistent or lumped.
//! - [`damping`]: Rayleigh damping and the user's own.
//! - [`system`]: what integrators see of a mechanical system.
//! - [`solver`]: linear systems, by factorisation and by conjugate gradients.
//! - [`model`]: bodies, what acts on them and what holds them.
//! - [`integrator`]: steps in time, and to equilibrium.
//! - [`reduced`]: natural modes, and models that move in a few directions.
//! - [`output`]: animations of a model in files, for ParaView, Blender and Houdini.
//! - [`simulation`]: a model, a scheme and a solver that go through time together.
//! - [`scene`]: scenes in files.
//! - [`run`]: scenes simulated into folders, which can be interrupted and go on.
//!
//! ```
//! use pliant::mesh::{Cells, generate};
//!
//! let bar = generate::block([1.0, 0.2, 0.2], [20, 4, 4], Cells::Tet5)?;
//! assert_eq!(bar.element_count(), 20 * 4 * 4 * 5);
//! assert!((bar.volume() - 0.04).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub mod damping;
pub mod element;
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
pub mod output;
pub mod reduced;
pub mod run;
pub mod scene;
pub mod simulation;
pub mod solver;
pub mod sparse;
pub mod system;
