//! Quantities that can be shown as colors.

use super::{BodyGeometry, FieldValues, Frame};
use pliant::math::Vec3;

/// Scalar quantity at vertices that can be shown as colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorField {
    /// Magnitude of the displacement \[m\].
    Displacement,
    /// Magnitude of the velocity \[m/s\].
    Speed,
    /// Von Mises stress recovered at vertices \[Pa\].
    VonMises,
    /// Volume relative to the volume at rest.
    VolumeRatio,
    /// Elastic energy density \[J/m³\].
    Energy,
}

impl ColorField {
    /// All quantities.
    pub const ALL: [Self; 5] = [Self::Displacement, Self::Speed, Self::VonMises, Self::VolumeRatio, Self::Energy];

    /// Returns the name used in scenes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Displacement => "displacement",
            Self::Speed => "speed",
            Self::VonMises => "von-mises",
            Self::VolumeRatio => "volume-ratio",
            Self::Energy => "energy",
        }
    }

    /// Returns the label used in legends.
    pub fn label(self) -> &'static str {
        match self {
            Self::Displacement => "displacement",
            Self::Speed => "speed",
            Self::VonMises => "nodal von Mises stress",
            Self::VolumeRatio => "volume ratio",
            Self::Energy => "energy",
        }
    }

    /// Returns the unit; empty for a ratio.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Displacement => "m",
            Self::Speed => "m/s",
            Self::VonMises => "Pa",
            Self::VolumeRatio => "",
            Self::Energy => "J/m³",
        }
    }

    /// Returns true if the quantity is computed from the strain and requires the [`fields`](Frame::fields) of a frame.
    pub fn needs_fields(self) -> bool {
        matches!(self, Self::VonMises | Self::VolumeRatio | Self::Energy)
    }
}

impl BodyGeometry {
    /// Returns the values at the vertices of its mesh, or `None` if they require [`Fields`](super::Fields) that the
    /// frame lacks.
    ///
    /// # Panics
    /// If the frame is not one of the model.
    pub fn vertex_values(&self, shown: ColorField, frame: &Frame) -> Option<Vec<f64>> {
        let lengths = |numbers: &[f64]| -> Vec<f64> {
            let own = &numbers.as_chunks::<3>().0[self.vertices()];
            own.iter().map(|vector| Vec3::from_array(*vector).length()).collect()
        };
        let own = |of: fn(&FieldValues) -> &[f32]| -> Option<Vec<f64>> {
            let values = &of(&frame.fields.as_ref()?.vertices)[self.vertices()];
            Some(values.iter().map(|&value| f64::from(value)).collect())
        };
        match shown {
            ColorField::Displacement => Some(lengths(&frame.u)),
            ColorField::Speed => Some(lengths(&frame.v)),
            ColorField::VonMises => own(|values| &values.von_mises),
            ColorField::VolumeRatio => own(|values| &values.volume_ratio),
            ColorField::Energy => own(|values| &values.energy_density),
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
            let von_mises = body.vertex_values(ColorField::VonMises, &frame).unwrap();
            let ratios = body.vertex_values(ColorField::VolumeRatio, &frame).unwrap();
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
        for shown in ColorField::ALL {
            assert_eq!(body.vertex_values(shown, &frame).is_none(), shown.needs_fields(), "{}", shown.name());
        }
        let speeds = body.vertex_values(ColorField::Speed, &frame).unwrap();
        let vertex = body.vertices().start;
        assert_eq!(speeds[0], Vec3::from_slice(&frame.v[3 * vertex..]).length());
    }
}
