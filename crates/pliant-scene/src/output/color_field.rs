//! Quantities that can be shown as colors.

use super::{BodyGeometry, ContactFields, FieldValues, Frame};
use crate::registry::{Named, Registry};
use pliant::math::Vec3;

/// Every quantity, each registered by one entry. Scenes, the command and the viewer list them.
pub static COLOR_FIELDS: Registry<ColorField> = Registry::new("color field", BUILT_IN);

const BUILT_IN: &[ColorField] = &[
    ColorField::DISPLACEMENT,
    ColorField {
        name: "speed",
        about: "Magnitude of the velocity, in m/s",
        label: "speed",
        unit: "m/s",
        values: Values::Vector(|frame| &frame.v),
    },
    ColorField {
        name: "von-mises",
        about: "Von Mises stress recovered at vertices, in Pa. It is not averaged across regions: at interfaces the \
                larger value is shown",
        label: "nodal von Mises stress",
        unit: "Pa",
        values: Values::Field(|values| &values.von_mises),
    },
    ColorField {
        name: "volume-ratio",
        about: "Volume relative to the rest volume",
        label: "volume ratio",
        unit: "",
        values: Values::Field(|values| &values.volume_ratio),
    },
    ColorField {
        name: "energy",
        about: "Elastic energy density, in J/m³",
        label: "energy",
        unit: "J/m³",
        values: Values::Field(|values| &values.energy_density),
    },
    ColorField {
        name: "contact-pressure",
        about: "Contact pressure, in Pa: zero out of contact, and without barrier contact",
        label: "contact pressure",
        unit: "Pa",
        values: Values::Contact(|contact| &contact.pressure),
    },
];

/// Scalar quantity at vertices that can be shown as colors.
#[derive(Debug)]
pub struct ColorField {
    /// Name in scenes, on the command line and in the protocol of the viewer.
    pub name: &'static str,
    /// Description, without a period at its end.
    pub about: &'static str,
    /// Label in legends.
    pub label: &'static str,
    /// Unit; empty for a ratio.
    pub unit: &'static str,
    values: Values,
}

/// Source of the values of a quantity.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// Magnitudes of vectors, three numbers per vertex of the model.
    Vector(fn(&Frame) -> &[f64]),
    /// Numbers computed from the strain, one per vertex of the model.
    Field(fn(&FieldValues) -> &[f32]),
    /// Numbers of contact, one per vertex of the model; zero without contact.
    Contact(fn(&ContactFields) -> &[f32]),
}

impl PartialEq for ColorField {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Named for ColorField {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl ColorField {
    /// Creates a quantity that is the magnitude of a vector, three numbers per vertex of the model. `about` is its
    /// description without a period at its end.
    pub const fn of_vectors(
        name: &'static str,
        about: &'static str,
        label: &'static str,
        unit: &'static str,
        vectors: fn(&Frame) -> &[f64],
    ) -> Self {
        Self { name, about, label, unit, values: Values::Vector(vectors) }
    }

    /// Magnitude of the displacement.
    pub const DISPLACEMENT: Self = Self {
        name: "displacement",
        about: "Magnitude of the displacement, in m",
        label: "displacement",
        unit: "m",
        values: Values::Vector(|frame| &frame.u),
    };

    /// Returns the quantity with this name, or `None` if it is unknown.
    pub fn named(name: &str) -> Option<&'static Self> {
        COLOR_FIELDS.get(name)
    }

    /// Returns true if the quantity is computed from strain or contact, and requires a frame with
    /// [`fields`](Frame::fields).
    pub fn needs_fields(&self) -> bool {
        matches!(self.values, Values::Field(_) | Values::Contact(_))
    }
}

impl BodyGeometry {
    /// Returns the values at the vertices of its mesh, or `None` if they require [`Fields`](super::Fields) that the
    /// frame lacks.
    ///
    /// # Panics
    /// If the frame is not one of the model.
    pub fn vertex_values(&self, shown: &ColorField, frame: &Frame) -> Option<Vec<f64>> {
        match shown.values {
            Values::Vector(of) => {
                let own = &of(frame).as_chunks::<3>().0[self.vertices()];
                Some(own.iter().map(|vector| Vec3::from_array(*vector).length()).collect())
            }
            Values::Field(of) => {
                let values = &of(&frame.fields.as_ref()?.vertices)[self.vertices()];
                Some(values.iter().map(|&value| f64::from(value)).collect())
            }
            Values::Contact(of) => {
                frame.fields.as_ref()?;
                let Some(contact) = &frame.contact else { return Some(vec![0.0; self.vertices().len()]) };
                Some(of(contact)[self.vertices()].iter().map(|&value| f64::from(value)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bend, two_bodies};
    use super::super::{Frame, SceneGeometry};
    use super::*;

    #[test]
    fn numbers_are_those_recovered_at_the_vertices_of_each_body() {
        let model = two_bodies();
        let geometry = SceneGeometry::new(&model);
        let state = bend(&model, 0.4);
        let frame = Frame::new(&model, &state, 0, true);
        for (body, own) in geometry.bodies().iter().zip(model.bodies()) {
            let states = own.nodal_states(&state.q).unwrap().dominant();
            let von_mises = body.vertex_values(ColorField::named("von-mises").unwrap(), &frame).unwrap();
            let ratios = body.vertex_values(ColorField::named("volume-ratio").unwrap(), &frame).unwrap();
            for (vertex, state) in states.iter().enumerate() {
                assert_eq!(von_mises[vertex], f64::from(state.von_mises() as f32));
                assert_eq!(ratios[vertex], f64::from(state.volume_ratio as f32));
            }
            assert_eq!(states.len(), von_mises.len());
        }
    }

    #[test]
    fn lengths_need_no_fields_and_stresses_do() {
        let model = two_bodies();
        let geometry = SceneGeometry::new(&model);
        let frame = Frame::new(&model, &bend(&model, 0.4), 0, false);
        let body = &geometry.bodies()[1];
        for shown in COLOR_FIELDS.iter() {
            assert_eq!(body.vertex_values(shown, &frame).is_none(), shown.needs_fields(), "{}", shown.name);
        }
        let speeds = body.vertex_values(ColorField::named("speed").unwrap(), &frame).unwrap();
        let vertex = body.vertices().start;
        assert_eq!(speeds[0], Vec3::from_slice(&frame.v[3 * vertex..]).length());
    }
}
