//! A moment of a simulation.

use crate::force::Strained;
use crate::model::{Model, ModelBody};
use crate::system::State;

/// A moment of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Counted from any number; it is in the names of files.
    pub number: usize,
    /// In s.
    pub time: f64,
    /// Displacements, three numbers for each vertex of the model, in m.
    pub u: Vec<f64>,
    /// Velocities, as many, in m/s.
    pub v: Vec<f64>,
    /// What is known of each element, if that was asked for.
    pub fields: Option<Fields>,
}

/// How each element is strained: the elements of all bodies, one body after the other. For bodies without elasticity of
/// their own the numbers are not known, which is NaN. Single precision suffices to be looked at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fields {
    /// Cauchy stress: xx, yy, zz, xy, yz, xz, in Pa.
    pub stress: Vec<[f32; 6]>,
    /// Von Mises stress, in Pa.
    pub von_mises: Vec<f32>,
    /// `J`, the volume as a part of that at rest.
    pub volume_ratio: Vec<f32>,
    /// `ψ`, J/m³ of volume at rest.
    pub energy_density: Vec<f32>,
}

impl Frame {
    /// A state of a model, with the stresses in its elements if asked for.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn new(model: &Model, state: &State, number: usize, with_fields: bool) -> Self {
        let fields = with_fields.then(|| Fields::new(model, &state.q));
        Self { number, time: state.time, u: state.q.clone(), v: state.v.clone(), fields }
    }
}

impl Fields {
    /// The stresses in the elements of a model at displacements `u`.
    ///
    /// # Panics
    /// If there are not three displacements a vertex.
    pub fn new(model: &Model, u: &[f64]) -> Self {
        let mut fields = Self::default();
        for body in model.bodies() {
            match body.elastic() {
                Some(elastic) => elastic.element_states(u).iter().for_each(|state| fields.push(state)),
                None => fields.push_unknown(body),
            }
        }
        fields
    }

    fn push(&mut self, state: &Strained) {
        let c = &state.cauchy;
        let stress = [c.x_axis.x, c.y_axis.y, c.z_axis.z, c.x_axis.y, c.y_axis.z, c.x_axis.z];
        self.stress.push(stress.map(|s| s as f32));
        self.von_mises.push(state.von_mises() as f32);
        self.volume_ratio.push(state.volume_ratio as f32);
        self.energy_density.push(state.energy_density as f32);
    }

    fn push_unknown(&mut self, body: &ModelBody) {
        let count = self.von_mises.len() + body.mesh().element_count();
        self.stress.resize(count, [f32::NAN; 6]);
        for field in [&mut self.von_mises, &mut self.volume_ratio, &mut self.energy_density] {
            field.resize(count, f32::NAN);
        }
    }

    /// How many elements it is for, if all parts agree, or else the number of one that does not agree with `expected`.
    pub(super) fn element_count(&self, expected: usize) -> usize {
        let counts = [self.stress.len(), self.von_mises.len(), self.volume_ratio.len(), self.energy_density.len()];
        counts.into_iter().find(|&count| count != expected).unwrap_or(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bend, two_bodies};
    use super::*;
    use crate::mesh::{Cells, generate};
    use crate::model::Body;

    #[test]
    fn fields_are_those_of_the_elements_and_unknown_without_elasticity() {
        let model = two_bodies();
        let state = bend(&model, 0.3);
        let fields = Fields::new(&model, &state.q);
        let elastic = |body: usize| model.bodies()[body].elastic().unwrap().element_states(&state.q);
        let states: Vec<Strained> = elastic(0).into_iter().chain(elastic(1)).collect();
        assert_eq!(fields.element_count(states.len()), states.len());
        for (element, state) in states.iter().enumerate() {
            assert_eq!(fields.stress[element][0], state.cauchy.x_axis.x as f32);
            assert_eq!(fields.stress[element][4], state.cauchy.y_axis.z as f32);
            assert_eq!(fields.von_mises[element], state.von_mises() as f32);
        }
        let mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
        let model = Model::builder().body(Body::without_elasticity(mesh, 1.0)).build().unwrap();
        let fields = Fields::new(&model, &model.rest_state().q);
        assert_eq!(fields.element_count(5), 5);
        assert!(fields.stress[4][5].is_nan() && fields.energy_density[0].is_nan());
    }
}
