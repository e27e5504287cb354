//! Definition of a generator of meshes.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{GENERATORS, GeneratorContext, GeneratorError};
use crate::registry::{Boxed, Entry, Options, Registered, Registry, Tagged};
use pliant::mesh::VolumeMesh;

/// Generator of a mesh, with its options.
pub type GeneratorChoice = Tagged<dyn GeneratorOptions>;

/// Options of a generator, which generate a mesh.
pub trait GeneratorOptions: Options {
    /// Generates the mesh.
    fn generate(&self, context: &mut GeneratorContext<'_>) -> Result<VolumeMesh, GeneratorError>;

    /// Calls `visit` with the names of its files.
    fn visit_files(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let _ = visit;
    }
}

impl Registered for dyn GeneratorOptions {
    const KIND: &'static str = "Generator";
    const ABOUT: &'static str = "Generated mesh: a simple body, or the volume mesh of a surface or solid.";
    const HAS_NAME_FORM: bool = false;

    fn registry() -> &'static Registry<Entry<Self>> {
        &GENERATORS
    }
}

impl<O: GeneratorOptions + DeserializeOwned + JsonSchema> Boxed<dyn GeneratorOptions> for O {
    fn boxed(self) -> Box<dyn GeneratorOptions> {
        Box::new(self)
    }
}
