//! What colours can show.

use super::{CastBody, FieldValues, Frame};
use crate::math::Vec3;

/// A number at each vertex, for colours to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// How far it has moved, in m.
    Displacement,
    /// How fast it moves, in m/s.
    Speed,
    /// The von Mises stress recovered at vertices, in Pa.
    VonMises,
    /// The volume as a part of that at rest.
    VolumeRatio,
    /// The elastic energy, in J/m³.
    Energy,
}

impl Shown {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Displacement, Self::Speed, Self::VonMises, Self::VolumeRatio, Self::Energy];

    /// As scenes write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Displacement => "displacement",
            Self::Speed => "speed",
            Self::VonMises => "von-mises",
            Self::VolumeRatio => "volume-ratio",
            Self::Energy => "energy",
        }
    }

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Displacement => "displacement",
            Self::Speed => "speed",
            Self::VonMises => "nodal von Mises stress",
            Self::VolumeRatio => "volume, of rest",
            Self::Energy => "energy",
        }
    }

    /// What it is measured in; nothing if it is a part.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Displacement => "m",
            Self::Speed => "m/s",
            Self::VonMises => "Pa",
            Self::VolumeRatio => "",
            Self::Energy => "J/m³",
        }
    }

    /// Returns true if it is computed from strain, and so needs the [`fields`](Frame::fields) of a frame.
    pub fn needs_fields(self) -> bool {
        matches!(self, Self::VonMises | Self::VolumeRatio | Self::Energy)
    }
}

impl CastBody {
    /// Returns numbers at the vertices of its mesh, those of [`Fields`](super::Fields) at vertices; `None` if the frame does not have them.
    ///
    /// # Panics
    /// If the frame is not one of the model.
    pub fn vertex_values(&self, shown: Shown, frame: &Frame) -> Option<Vec<f64>> {
        let lengths = |numbers: &[f64]| -> Vec<f64> {
            let own = &numbers.as_chunks::<3>().0[self.vertices()];
            own.iter().map(|vector| Vec3::from_array(*vector).length()).collect()
        };
        let own = |of: fn(&FieldValues) -> &[f32]| -> Option<Vec<f64>> {
            let values = &of(&frame.fields.as_ref()?.vertices)[self.vertices()];
            Some(values.iter().map(|&value| f64::from(value)).collect())
        };
        match shown {
            Shown::Displacement => Some(lengths(&frame.u)),
            Shown::Speed => Some(lengths(&frame.v)),
            Shown::VonMises => own(|values| &values.von_mises),
            Shown::VolumeRatio => own(|values| &values.volume_ratio),
            Shown::Energy => own(|values| &values.energy_density),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bend, two_bodies};
    use super::super::{Cast, Frame};
    use super::*;

    #[test]
    fn numbers_are_those_recovered_at_the_vertices_of_each_body() {
        let model = two_bodies();
        let cast = Cast::new(&model);
        let state = bend(&model, 0.4);
        let frame = Frame::new(&model, &state, 0, true);
        for (body, own) in cast.bodies().iter().zip(model.bodies()) {
            let states = own.nodal_states(&state.q).unwrap().dominant();
            let von_mises = body.vertex_values(Shown::VonMises, &frame).unwrap();
            let ratios = body.vertex_values(Shown::VolumeRatio, &frame).unwrap();
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
        let cast = Cast::new(&model);
        let frame = Frame::new(&model, &bend(&model, 0.4), 0, false);
        let body = &cast.bodies()[1];
        for shown in Shown::ALL {
            assert_eq!(body.vertex_values(shown, &frame).is_none(), shown.needs_fields(), "{}", shown.name());
        }
        let speeds = body.vertex_values(Shown::Speed, &frame).unwrap();
        let vertex = body.vertices().start;
        assert_eq!(speeds[0], Vec3::from_slice(&frame.v[3 * vertex..]).length());
    }
}
