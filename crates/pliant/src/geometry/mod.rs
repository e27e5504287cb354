//! Geometric primitives and queries: triangles, triangle trees, inside tests, and implicit solids.
//!
//! A [`Solid`] answers the queries of a mesher: is this point inside, and where does this edge leave? There are two
//! kinds. A [`ImplicitSolid`] is an implicit function, or a Boolean combination of several. An [`Enclosed`] is the
//! interior of a triangle surface, which may have holes or self-intersections. Inside is where its generalized winding
//! number is at least one half.
//!
//! ```
//! use pliant::geometry::{ImplicitSolid, Solid};
//! use pliant::math::Vec3;
//!
//! let cup = ImplicitSolid::ball(Vec3::ZERO, 1.0).minus(ImplicitSolid::ball(Vec3::new(0.0, 0.5, 0.0), 0.9));
//! assert!(cup.contains(Vec3::new(0.0, -0.8, 0.0)));
//! assert!(!cup.contains(Vec3::ZERO));
//! ```

mod bounds;
mod enclosed;
mod implicit;
mod solid;
mod tree;
mod triangle;
mod winding;

pub use bounds::{bounding_box, box_around};
pub use enclosed::{Enclosed, Thickened};
pub use implicit::{ImplicitSolid, ImplicitSolidError};
pub use solid::{Solid, SolidSample};
pub use tree::{Nearest, TriangleTree};
pub use triangle::{Triangle, area_vector, crosses, nearest_on_triangle, solid_angle};
pub use winding::WindingTree;
