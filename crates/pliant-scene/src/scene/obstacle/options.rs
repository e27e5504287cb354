//! Definition of the shape of an obstacle of scenes.

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::OBSTACLE_SHAPES;
use crate::registry::{Boxed, Entry, Options, Registered, Registry, Tagged};
use crate::scene::{SceneError, Source};
use pliant::force::ObstacleShape;
use pliant::math::Vec3;

/// Shape of an obstacle of a scene, with its options.
pub type ObstacleShapeChoice = Tagged<dyn ObstacleShapeOptions>;

/// Options of the shape of an obstacle, which create it.
pub trait ObstacleShapeOptions: Options {
    /// Creates the shape.
    fn build(&self, context: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError>;
}

/// Context of shapes of obstacles besides their options.
#[derive(Debug, Clone, Copy)]
pub struct ObstacleShapeContext<'a> {
    /// Source of the scene, for errors.
    pub source: &'a Source,
    /// Location of the shape in the source.
    pub span: Option<&'a Range<usize>>,
    /// Unit vector that points up.
    pub up: Vec3,
}

impl ObstacleShapeContext<'_> {
    /// Creates an error that refers to the shape.
    pub fn error(&self, message: impl Into<String>) -> SceneError {
        self.source.error(self.span, message)
    }
}

impl Registered for dyn ObstacleShapeOptions {
    const KIND: &'static str = "ObstacleShape";
    const ABOUT: &'static str = "Shape of an obstacle.";

    fn registry() -> &'static Registry<Entry<Self>> {
        &OBSTACLE_SHAPES
    }
}

impl<O: ObstacleShapeOptions + DeserializeOwned + JsonSchema> Boxed<dyn ObstacleShapeOptions> for O {
    fn boxed(self) -> Box<dyn ObstacleShapeOptions> {
        Box::new(self)
    }
}
