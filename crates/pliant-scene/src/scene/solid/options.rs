//! Definition of an implicit solid.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::SOLIDS;
use crate::registry::{Boxed, Entry, Options, Registered, Registry, Tagged};
use pliant::geometry::{ImplicitSolid, ImplicitSolidError};

/// Implicit solid of a scene, with its options.
pub type SolidChoice = Tagged<dyn SolidOptions>;

/// Options of an implicit solid, which create it.
pub trait SolidOptions: Options {
    /// Creates the solid. Its parameters need not be checked.
    fn build(&self) -> Result<ImplicitSolid, SolidError>;
}

/// Error for an invalid solid of a scene.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum SolidError {
    #[error("the axis is {axis:?}, which has no direction")]
    Axis { axis: [f64; 3] },
    #[error(transparent)]
    ImplicitSolid(#[from] ImplicitSolidError),
}

impl SolidChoice {
    /// Creates the solid, and checks its parameters.
    pub fn checked(&self) -> Result<ImplicitSolid, SolidError> {
        let solid = self.build()?;
        solid.check()?;
        Ok(solid)
    }
}

/// Creates solids.
pub(super) fn all(solids: &[SolidChoice]) -> Result<Vec<ImplicitSolid>, SolidError> {
    solids.iter().map(|solid| solid.build()).collect()
}

impl Registered for dyn SolidOptions {
    const KIND: &'static str = "Solid";
    const ABOUT: &'static str = "Implicit solid, or a Boolean combination of several.";
    const HAS_NAME_FORM: bool = false;

    fn registry() -> &'static Registry<Entry<Self>> {
        &SOLIDS
    }
}

impl<O: SolidOptions + DeserializeOwned + JsonSchema> Boxed<dyn SolidOptions> for O {
    fn boxed(self) -> Box<dyn SolidOptions> {
        Box::new(self)
    }
}
