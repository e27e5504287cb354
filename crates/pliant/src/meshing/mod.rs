//! Volume meshing of surfaces: from imperfect (open, self-intersecting, non-manifold) triangles to elements.
//!
//! [`Surface`] takes any triangles, orients and cleans them as far as possible, and reports the defects.
//! [`tetrahedralize`] fills it, or any other [`Solid`](crate::geometry::Solid), with tetrahedra of good dihedral
//! angles. [`cage()`] makes a coarser mesh that contains the whole surface, and [`voxelize`] one of cubes.
//!
//! # Examples
//!
//! A solid given by a formula:
//!
//! ```
//! use pliant::geometry::ImplicitSolid;
//! use pliant::math::Vec3;
//! use pliant::meshing::{MeshingParams, tetrahedralize};
//!
//! let ball = ImplicitSolid::ball(Vec3::ZERO, 1.0);
//! let body = tetrahedralize(&ball, &MeshingParams { cells: 12, ..MeshingParams::default() })?;
//! assert!((body.mesh.volume() / 4.18879 - 1.0).abs() < 0.03);
//! # Ok::<(), pliant::meshing::MeshingError>(())
//! ```
//!
//! A surface, here that of a torus of hexahedra, and a cage around it:
//!
//! ```
//! use pliant::meshing::{MeshingParams, Surface, cage, fill_surface};
//! use pliant::prelude::*;
//!
//! let ring = generate::torus(0.5, 0.2, 6, 32, Cells::Hex)?;
//! let mesh = ring.boundary().surface;
//! let surface = Surface::new(&mesh)?;
//! let params = MeshingParams { cells: 16, ..MeshingParams::default() };
//! let (body, thin) = fill_surface(&surface, &params)?;
//! assert!((body.mesh.volume() / ring.volume() - 1.0).abs() < 0.1 && thin.is_none());
//! assert!(cage(&mesh, &surface, &params)?.mesh.volume() > ring.volume());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cage;
mod carry;
mod clean;
mod error;
mod facing;
mod fill;
mod filled;
mod lattice;
mod params;
mod resolution;
mod stencil;
mod stop;
mod stuffing;
mod surface;
mod thin;
mod voxels;

pub use cage::{Cage, CageInfo, cage};
pub use carry::{carrying_limits, fused_pieces};
pub use error::MeshingError;
pub use filled::fill_surface;
pub use params::{Body, Info, MeshingParams};
pub use resolution::Resolution;
pub use stop::stoppable;
pub use stuffing::{ANGLES, tetrahedralize};
pub use surface::{Findings, Surface};
pub use thin::{Thin, thin_parts};
pub use voxels::{Voxels, voxelize};
