//! Generators of meshes: `mesh = { … }`. One file per generator with its options, and a line in [`GENERATORS`].

mod ball;
mod beam;
mod block;
mod cage;
mod context;
mod cylinder;
mod elements;
mod filled;
mod options;
mod source;
mod torus;
mod voxels;

use crate::registry::{Entry, Registry};

pub use ball::Ball;
pub use beam::Beam;
pub use block::Block;
pub use cage::Cage;
pub use context::{Generated, GeneratorContext, GeneratorError, ReadSurface};
pub use cylinder::Cylinder;
pub use elements::Elements;
pub use filled::Filled;
pub use options::{GeneratorChoice, GeneratorOptions};
pub use source::MeshSource;
pub use torus::Torus;
pub use voxels::Voxels;

/// Generators of meshes.
pub static GENERATORS: Registry<Entry<dyn GeneratorOptions>> = Registry::new(
    "generator",
    &[
        Entry::new::<Block>("box"),
        Entry::new::<Beam>("beam"),
        Entry::new::<Cylinder>("cylinder"),
        Entry::new::<Ball>("ball"),
        Entry::new::<Torus>("torus"),
        Entry::new::<Filled>("filled").with_main("of"),
        Entry::new::<Cage>("cage").with_main("surface"),
        Entry::new::<Voxels>("voxels").with_main("surface"),
    ],
);
