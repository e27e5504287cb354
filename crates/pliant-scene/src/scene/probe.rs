//! Quantities to record: `[[probe]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::BuildContext;
use super::{Located, SceneError, Selection, hint};
use pliant::contact::ContactEnergy;
use pliant::simulation::{self, ContactBodies, Quantities};

/// Quantity to record, in addition to the columns of the whole scene.
///
/// ```toml
/// [[probe]]
/// name = "tip"
/// vertices = { nearest = [1, 0, 0] }
/// measure = "displacement"
///
/// [[probe]]
/// name = "support"
/// measure = "contact-force"
/// object = "object"
/// with = "floor"
///
/// [contact]
/// friction = 0.5
///
/// [[obstacle]]
/// name = "floor"
/// shape = { plane = { point = [0, "-1 m", 0] } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Prefix of its columns: `tip` gives `tip.x`, `tip.y` and `tip.z`.
    #[schemars(regex(pattern = r"^[^\x00-\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]+$"))]
    pub name: Located<String>,
    /// Name of the object; by default all objects. For contact, it may also be that of an obstacle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Located<String>>,
    /// Name of the other object or obstacle of a contact; by default all that `object` meets. The name of `object` is
    /// its contact with itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Located<String>>,
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
    /// Contact force on `object` by `with`, or by all that it meets, with friction, in N: `NAME.x`, `NAME.y` and
    /// `NAME.z`. As the other quantities of contact, it requires barrier contact.
    ContactForce,
    /// Number of contacts, of pairs of a vertex and a face, and of two edges: `NAME`.
    ContactCount,
    /// Smallest gap of all contacts, in m: `NAME`. It is infinite without contacts.
    ContactGap,
    /// Power that friction of all contacts dissipates, in W: `NAME`.
    FrictionPower,
}

impl Located<Probe> {
    pub(super) fn build(
        &self,
        context: &BuildContext<'_>,
        contact: Option<&ContactEnergy>,
    ) -> Result<simulation::Probe, SceneError> {
        let name = self.name.value.clone();
        let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        if !is_plain || simulation::COLUMNS.contains(&name.as_str()) {
            let message = format!(
                "invalid probe name \"{name}\": expected letters, digits, _, - and ., and not a column of the scene"
            );
            return Err(context.error(self.name.span.as_ref(), message));
        }
        let of_contact = matches!(
            self.measure,
            Measure::ContactForce | Measure::ContactCount | Measure::ContactGap | Measure::FrictionPower
        );
        let of_bodies = matches!(self.measure, Measure::Volume | Measure::VolumeRatio | Measure::VonMises);
        if (of_bodies || of_contact) && self.vertices.span.is_some() {
            let message = "this quantity is measured for whole objects; give `object` instead";
            return Err(context.error(self.vertices.span.as_ref(), message));
        }
        if let Some(with) = self.with.as_ref().filter(|_| !of_contact) {
            let message = "only quantities of contact have `with`; remove it, or choose another `measure`";
            return Err(context.error(with.span.as_ref(), message));
        }
        let what = if of_contact {
            self.contact(context, contact)?
        } else if of_bodies {
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

    /// Returns the measured quantity of contact.
    fn contact(&self, context: &BuildContext<'_>, contact: Option<&ContactEnergy>) -> Result<Quantities, SceneError> {
        let Some(contact) = contact else {
            let message = "quantities of contact require barrier contact, which this scene does not have: set \
                           `method = \"barrier\"` in `[contact]`, with an integrator that supports it";
            return Err(context.error(self.span.as_ref(), message));
        };
        let number = |name: &Located<String>| {
            contact.find(&name.value).ok_or_else(|| {
                let names = || (0..contact.body_count()).map(|body| contact.name(body));
                let (hint, known) = (hint(name, names()), names().collect::<Vec<_>>().join(", "));
                let message =
                    format!("there is no object or obstacle `{}` in contact{hint} There are {known}", name.value);
                context.error(name.span.as_ref(), message)
            })
        };
        let object = self.object.as_ref().map(number).transpose()?;
        let with = self.with.as_ref().map(number).transpose()?;
        let bodies = match (object, with) {
            (None, None) => ContactBodies::All,
            (Some(object), None) => ContactBodies::Of(object),
            (Some(object), Some(with)) => ContactBodies::Between(object, with),
            (None, Some(_)) => {
                let span = self.with.as_ref().and_then(|with| with.span.as_ref());
                return Err(context.error(span, "`with` requires `object`, the other side of the contact"));
            }
        };
        match self.measure {
            Measure::ContactForce => {
                let message = "a contact force requires `object`, the name of an object or obstacle that it acts on";
                let on = object.ok_or_else(|| context.error(self.span.as_ref(), message))?;
                Ok(Quantities::ContactForce { on, by: with })
            }
            Measure::ContactCount => Ok(Quantities::ContactCount(bodies)),
            Measure::ContactGap => Ok(Quantities::ContactGap(bodies)),
            _ if bodies != ContactBodies::All => {
                let message = "the power of friction is that of all contacts; remove `object` and `with`";
                Err(context.error(self.span.as_ref(), message))
            }
            _ => Ok(Quantities::FrictionPower),
        }
    }
}
