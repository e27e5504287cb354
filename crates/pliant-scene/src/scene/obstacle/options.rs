//! Definition of the shape of an obstacle of scenes.

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::OBSTACLE_SHAPES;
use crate::registry::{Boxed, Entry, Options, Registered, Registry, Tagged};
use crate::scene::{SceneError, Source};
use pliant::contact::ColliderShape;
use pliant::files::Files;
use pliant::force::ObstacleShape;
use pliant::math::Vec3;

/// Shape of an obstacle of a scene, with its options.
pub type ObstacleShapeChoice = Tagged<dyn ObstacleShapeOptions>;

/// Options of the shape of an obstacle, which create it.
pub trait ObstacleShapeOptions: Options {
    /// Creates the shape for penalty contact.
    fn build(&self, context: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError>;

    /// Creates the shape for barrier contact.
    fn collider(&self, context: ObstacleShapeContext<'_>) -> Result<ColliderShape, SceneError> {
        Err(context.error("this shape supports penalty contact only; give the obstacle a `stiffness`"))
    }

    /// Calls `visit` with every file name of the options.
    fn visit_files(&mut self, _visit: &mut dyn FnMut(&mut String)) {}
}

/// Context of shapes of obstacles besides their options.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ObstacleShapeContext<'a> {
    /// Source of the scene, for errors.
    pub source: &'a Source,
    /// Location of the shape in the source.
    pub span: Option<&'a Range<usize>>,
    /// Unit vector that points up.
    pub up: Vec3,
    /// Files that shapes are read from.
    pub files: &'a dyn Files,
}

impl std::fmt::Debug for ObstacleShapeContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObstacleShapeContext").field("span", &self.span).field("up", &self.up).finish_non_exhaustive()
    }
}

impl<'a> ObstacleShapeContext<'a> {
    /// Creates the context of shapes at a location of a source.
    pub fn new(source: &'a Source, span: Option<&'a Range<usize>>, up: Vec3, files: &'a dyn Files) -> Self {
        Self { source, span, up, files }
    }

    /// Returns the error of a shape that has no penalty contact.
    pub fn needs_barrier(&self, what: &str) -> SceneError {
        self.error(format!(
            "{what} has no penalty contact; add `[contact]` to the scene for barrier contact, with the integrator \
             `backward-euler`, `bdf2`, `newmark` or `static`, and give the obstacle no `stiffness` and no `damping`"
        ))
    }

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
