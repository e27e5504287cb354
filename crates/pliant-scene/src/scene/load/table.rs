//! The table `[[load]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoadChoice, LoadContext, Loads};
use crate::scene::build::BuildContext;
use crate::scene::quantity::Time;
use crate::scene::{Located, SceneError, Selection, Settings};

/// A load on some vertices or faces.
///
/// ```toml
/// [[load]]
/// vertices = "end"
/// kind = { force = [0, "-20 N", 0] }
/// schedule = [[0, 0], ["1 s", 1]]
///
/// [[load]]
/// vertices = "surface"
/// kind = { pressure = { value = "2 kPa", follower = false } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Name of the object; by default all objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Located<String>>,
    /// Selection of its vertices. Tractions and pressures act on the boundary faces between them. If this names a face
    /// set, they act on exactly its faces.
    #[serde(default = "all_vertices")]
    pub vertices: Located<Selection>,
    /// Selection of its faces, instead of `vertices`: a face set, or any selection of vertices for the faces between
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faces: Option<Located<Selection>>,
    /// Kind of the load, with its value.
    pub kind: Located<LoadChoice>,
    /// Time-dependent factor: pairs of time and factor, with linear interpolation between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Located<Vec<(Time, f64)>>>,
}

fn all_vertices() -> Located<Selection> {
    Located::new(Selection::Named("all".into()))
}

impl Load {
    /// Returns a load on all vertices.
    pub fn new(kind: LoadChoice) -> Self {
        Self { object: None, vertices: all_vertices(), faces: None, kind: Located::new(kind), schedule: None }
    }

    pub(in super::super) fn build(
        &self,
        context: &BuildContext<'_>,
        settings: &Settings,
        loads: &mut Loads,
    ) -> Result<(), SceneError> {
        if let Some(faces) = self.faces.as_ref().filter(|_| self.vertices != all_vertices()) {
            return Err(
                context.error(faces.span.as_ref(), "both `vertices` and `faces`, expected one of them in a load")
            );
        }
        if let Some(schedule) = self.schedule.as_ref().filter(|_| !self.kind.has_schedule()) {
            let message =
                format!("a load of kind `{}` acts at the start and cannot have a `schedule`", self.kind.name());
            return Err(context.error(schedule.span.as_ref(), message));
        }
        self.kind.add(&LoadContext::new(context, settings, self)?, loads)
    }
}
