//! What colours can show.

use super::{CastBody, Frame};
use crate::math::Vec3;

/// A number at each vertex, for colours to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// How far it has moved, in m.
    Displacement,
    /// How fast it moves, in m/s.
    Speed,
    /// The von Mises stress, in Pa.
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
            Self::VonMises => "von Mises stress",
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

    /// Whether it is known of elements, and so needs the [`fields`](Frame::fields) of a frame.
    pub fn needs_fields(self) -> bool {
        matches!(self, Self::VonMises | Self::VolumeRatio | Self::Energy)
    }
}

impl CastBody {
    /// Numbers at the vertices of its mesh; what elements have is averaged there. None if the frame does not have these.
    ///
    /// # Panics
    /// If the frame is not one of the model.
    pub fn vertex_values(&self, shown: Shown, frame: &Frame) -> Option<Vec<f64>> {
        let lengths = |numbers: &[f64]| -> Vec<f64> {
            let own = &numbers.as_chunks::<3>().0[self.vertices()];
            own.iter().map(|vector| Vec3::from_array(*vector).length()).collect()
        };
        let fields = || frame.fields.as_ref();
        Some(match shown {
            Shown::Displacement => lengths(&frame.u),
            Shown::Speed => lengths(&frame.v),
            Shown::VonMises => self.averaged(&fields()?.von_mises),
            Shown::VolumeRatio => self.averaged(&fields()?.volume_ratio),
            Shown::Energy => self.averaged(&fields()?.energy_density),
        })
    }

    /// Numbers of all elements of the model, averaged at the vertices of this body. Those of vertices without elements are not known.
    fn averaged(&self, values: &[f32]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.mesh().vertex_count()];
        for (element, value) in self.mesh().elements().zip(&values[self.first_element()..]) {
            for &vertex in element {
                let (sum, count) = &mut sums[vertex as usize];
                *sum += f64::from(*value);
                *count += 1.0;
            }
        }
        sums.into_iter().map(|(sum, count)| sum / count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bend, two_bodies};
    use super::super::{Cast, Frame};
    use super::*;

    #[test]
    fn numbers_of_elements_are_averaged_at_the_vertices_of_their_own_body() {
        let model = two_bodies();
        let cast = Cast::new(&model);
        let frame = Frame::new(&model, &bend(&model, 0.4), 0, true);
        let fields = frame.fields.as_ref().unwrap();
        let mut first = 0;
        for body in cast.bodies() {
            let values = body.vertex_values(Shown::VolumeRatio, &frame).unwrap();
            let around: Vec<f64> = (0..body.mesh().element_count())
                .filter(|&element| body.mesh().element(element).contains(&3))
                .map(|element| f64::from(fields.volume_ratio[first + element]))
                .collect();
            let mean = around.iter().sum::<f64>() / around.len() as f64;
            assert!((values[3] - mean).abs() < 1e-12, "{} and {mean}", values[3]);
            first += body.mesh().element_count();
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
