//! Quantities to record: `[[probe]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::BuildContext;
use super::{Located, SceneError, Selection};
use pliant::simulation::{self, Quantities};

/// Quantity to record, in addition to the columns of the whole scene.
///
/// ```toml
/// [[probe]]
/// name = "tip"
/// vertices = { nearest = [1, 0, 0] }
/// measure = "displacement"
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Prefix of its columns: `tip` gives `tip.x`, `tip.y` and `tip.z`.
    #[schemars(regex(pattern = r"^[^\x00-\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]+$"))]
    pub name: Located<String>,
    /// Name of the object; by default all objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Located<String>>,
    /// Vertices of the object; by default all.
    #[serde(default = "all_vertices", skip_serializing_if = "is_all")]
    pub vertices: Located<Selection>,
    /// Quantity to measure.
    #[serde(default)]
    pub measure: Measure,
}

fn all_vertices() -> Located<Selection> {
    Located::new(Selection::Named("all".into()))
}

fn is_all(vertices: &Located<Selection>) -> bool {
    *vertices == all_vertices()
}

/// Quantity that a probe measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Mean position of the vertices, in m.
    #[default]
    Position,
    /// Mean displacement of the vertices from rest, in m.
    Displacement,
    /// Mean velocity of the vertices, in m/s.
    Velocity,
    /// Total reaction force of fixed vertices, in N.
    Reaction,
    /// Volume of the object, in m³: `NAME`.
    Volume,
    /// Minimum, mean and maximum over the elements of their volume relative to rest: `NAME.min`, `NAME.mean` and
    /// `NAME.max`.
    VolumeRatio,
    /// Maximum von Mises stress recovered at the vertices of the object, in Pa: `NAME`.
    VonMises,
}

impl Located<Probe> {
    pub(super) fn build(&self, context: &BuildContext<'_>) -> Result<simulation::Probe, SceneError> {
        let name = self.name.value.clone();
        let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        if !is_plain || simulation::COLUMNS.contains(&name.as_str()) {
            let message = format!(
                "invalid probe name \"{name}\": expected letters, digits, _, - and ., and not a column of the scene"
            );
            return Err(context.error(self.name.span.as_ref(), message));
        }
        let of_bodies = matches!(self.measure, Measure::Volume | Measure::VolumeRatio | Measure::VonMises);
        let what = if of_bodies {
            if self.vertices.span.is_some() {
                let message = "this quantity is measured for whole objects; give `object` instead";
                return Err(context.error(self.vertices.span.as_ref(), message));
            }
            let bodies = match &self.object {
                Some(object) => vec![context.object(object)?],
                None => (0..context.object_count()).collect(),
            };
            match self.measure {
                Measure::Volume => Quantities::Volume(bodies),
                Measure::VolumeRatio => Quantities::VolumeRatio(bodies),
                _ => Quantities::VonMises(bodies),
            }
        } else {
            let vertices = context.select(self.object.as_ref(), &self.vertices)?;
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
