//! Numbers to record: `[[probe]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::Stage;
use super::{At, SceneError, Selection};
use crate::simulation::{self, Quantities};

/// Numbers to record at some vertices, beside those of the whole scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What its columns begin with: `tip` gives `tip.x`, `tip.y` and `tip.z`.
    #[schemars(regex(pattern = r"^[^\x00-\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]+$"))]
    pub name: At<String>,
    /// Which object; by default all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<At<String>>,
    /// Which of its vertices; by default all.
    #[serde(default = "all_vertices", skip_serializing_if = "is_all")]
    pub vertices: At<Selection>,
    /// What of them.
    #[serde(default)]
    pub measure: Measure,
}

fn all_vertices() -> At<Selection> {
    At::new(Selection::Named("all".into()))
}

fn is_all(vertices: &At<Selection>) -> bool {
    *vertices == all_vertices()
}

/// What a probe measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The mean place of the vertices, in m.
    #[default]
    Position,
    /// Their mean displacement from rest, in m.
    Displacement,
    /// Their mean velocity, in m/s.
    Velocity,
    /// The force of holds on them in all, in N.
    Reaction,
    /// The volume of the object, in m³: `NAME`.
    Volume,
    /// The least, mean and largest volume of its elements as parts of those at rest: `NAME.least`, `NAME.mean` and `NAME.largest`.
    VolumeRatio,
    /// The maximum of the von Mises stress recovered at the vertices of the object, in Pa: `NAME`.
    VonMises,
}

impl At<Probe> {
    pub(super) fn build(&self, stage: &Stage<'_>) -> Result<simulation::Probe, SceneError> {
        let name = self.name.value.clone();
        let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        if !is_plain || simulation::COLUMNS.contains(&name.as_str()) {
            let message = format!(
                "a probe cannot be called \"{name}\": expected letters, digits, _, - and ., and not a column of the scene"
            );
            return Err(stage.error(self.name.span.as_ref(), message));
        }
        let of_bodies = matches!(self.measure, Measure::Volume | Measure::VolumeRatio | Measure::VonMises);
        let what = if of_bodies {
            if self.vertices.span.is_some() {
                let message = "this is measured of whole objects: give `object` instead";
                return Err(stage.error(self.vertices.span.as_ref(), message));
            }
            let bodies = match &self.object {
                Some(object) => vec![stage.object(object)?],
                None => (0..stage.object_count()).collect(),
            };
            match self.measure {
                Measure::Volume => Quantities::Volume(bodies),
                Measure::VolumeRatio => Quantities::VolumeRatio(bodies),
                _ => Quantities::VonMises(bodies),
            }
        } else {
            let vertices = stage.select(self.object.as_ref(), &self.vertices)?;
            match self.measure {
                Measure::Displacement => Quantities::Displacement(vertices),
                Measure::Velocity => Quantities::Velocity(vertices),
                Measure::Reaction => Quantities::Reaction(vertices),
                _ => Quantities::Position(vertices),
            }
        };
        Ok(simulation::Probe { name, what })
    }
}
