//! Definition of a kind of load.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{LOADS, LoadContext, Loads};
use crate::registry::{Boxed, Entry, Options, Registered, Registry, Tagged};
use crate::scene::SceneError;
use crate::scene::quantity::Time;

/// Kind of a load of a scene, with its options.
pub type LoadChoice = Tagged<dyn LoadOptions>;

/// Options of a kind of load, which add it to those of a scene.
pub trait LoadOptions: Options {
    /// Adds the load.
    fn add(&self, context: &LoadContext<'_>, loads: &mut Loads) -> Result<(), SceneError>;

    /// Returns true if it can have a time-dependent factor.
    fn has_schedule(&self) -> bool {
        true
    }

    /// Returns true if it is distributed by mass, so that densities are required.
    fn needs_mass(&self) -> bool {
        false
    }

    /// Keeps the times at which it acts when another time step replaces `step`.
    fn keep_times(&mut self, step: Time) {
        let _ = step;
    }

    /// Calls `visit` with the names of its files.
    fn visit_files(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let _ = visit;
    }
}

impl Registered for dyn LoadOptions {
    const KIND: &'static str = "LoadKind";
    const ABOUT: &'static str = "Kind of a load, with its value.";

    fn registry() -> &'static Registry<Entry<Self>> {
        &LOADS
    }
}

impl<O: LoadOptions + DeserializeOwned + JsonSchema> Boxed<dyn LoadOptions> for O {
    fn boxed(self) -> Box<dyn LoadOptions> {
        Box::new(self)
    }
}
