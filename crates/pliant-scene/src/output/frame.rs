//! Snapshot of a simulation.

use pliant::force::StressState;
use pliant::model::{Kinematics, Model, ModelBody};
use pliant::system::State;

/// Snapshot of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Number of the frame, which appears in file names. The first frame may have any number.
    pub number: usize,
    /// Time \[s\].
    pub time: f64,
    /// Displacements \[m\], three components per vertex of the mesh of each body in turn.
    pub u: Vec<f64>,
    /// Velocities \[m/s\], three components per vertex of the mesh of each body in turn.
    pub v: Vec<f64>,
    /// Stress and strain, if requested.
    pub fields: Option<Fields>,
    /// Forces of constraints on vertices \[N\], three components per vertex, if known; NaN on bodies in affine motion,
    /// whose constraints act on control nodes.
    pub reactions: Option<Vec<f64>>,
    /// Contact at vertices, if requested and if bodies collide by barriers.
    pub contact: Option<ContactFields>,
}

/// Contact at the vertices of the meshes of all bodies, one body after the other; see
/// [`VertexContact`](pliant::model::VertexContact). Single precision suffices for display.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContactFields {
    /// Contact pressure \[Pa\]; zero out of contact.
    pub pressure: Vec<f32>,
    /// Contact force per area at rest, with friction \[Pa\]; zero out of contact.
    pub traction: Vec<[f32; 3]>,
    /// Gap \[m\]; NaN out of contact, which programs leave out of the range of colors.
    pub gap: Vec<f32>,
}

/// Stress and strain of all bodies, one body after the other. Unknown values are NaN: in bodies without built-in
/// elasticity and at vertices without elements. Single precision suffices for display.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fields {
    /// Means over each element.
    pub elements: FieldValues,
    /// Values recovered at each vertex; see [`NodalStates`](pliant::force::NodalStates). Nothing is averaged across
    /// regions: a vertex shared by several has the values of the region with the maximum von Mises stress there.
    pub vertices: FieldValues,
}

/// Stress and strain at elements or at vertices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FieldValues {
    /// Cauchy stress, for the linear law its engineering stress: xx, yy, zz, xy, yz, xz \[Pa\].
    pub stress: Vec<[f32; 6]>,
    /// Green strain, for the linear law the small strain: xx, yy, zz, xy, yz, xz, shear not doubled.
    pub strain: Vec<[f32; 6]>,
    /// Von Mises stress \[Pa\].
    pub von_mises: Vec<f32>,
    /// Volume ratio `J`.
    pub volume_ratio: Vec<f32>,
    /// Energy density `ψ` per volume at rest \[J/m³\].
    pub energy_density: Vec<f32>,
}

impl Frame {
    /// Copies a state of a model, with stress, strain and contact if requested.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn new(model: &Model, state: &State, number: usize, with_fields: bool) -> Self {
        let fields = with_fields.then(|| Fields::new(model, &state.q));
        let (u, v) = (model.at_vertices(&state.q), model.at_vertices(&state.v));
        let contact = if with_fields { ContactFields::new(model, state) } else { None };
        Self { number, time: state.time, u, v, fields, reactions: None, contact }
    }

    /// Adds the [reactions](Model::reactions) at constraints.
    ///
    /// # Panics
    /// If the state is not one of this model.
    #[must_use]
    pub fn with_reactions(self, model: &Model, state: &State) -> Self {
        let of_nodes = model.reactions(state);
        let of_body = |body: &ModelBody| match body.kinematics() {
            Kinematics::Deformable => body.part(&of_nodes).to_vec(),
            _ => vec![f64::NAN; 3 * body.mesh().vertex_count()],
        };
        Self { reactions: Some(model.bodies().iter().flat_map(of_body).collect()), ..self }
    }
}

impl ContactFields {
    /// Computes contact at a state of a model, or returns `None` if bodies do not collide by barriers.
    ///
    /// # Panics
    /// If the state is not one of this model.
    pub fn new(model: &Model, state: &State) -> Option<Self> {
        let contact = model.vertex_contact(state)?;
        let single = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect();
        Some(Self {
            pressure: single(&contact.pressure),
            traction: contact.traction.iter().map(|vector| vector.to_array().map(|number| number as f32)).collect(),
            gap: single(&contact.gap),
        })
    }

    /// Returns `expected` if all quantities have that number of values, otherwise the number that differs.
    pub(super) fn count(&self, expected: usize) -> usize {
        let counts = [self.pressure.len(), self.traction.len(), self.gap.len()];
        counts.into_iter().find(|&count| count != expected).unwrap_or(expected)
    }
}

impl Fields {
    /// Computes stress and strain of a model at displacements `u`.
    ///
    /// # Panics
    /// If there are not three displacements per node.
    pub fn new(model: &Model, u: &[f64]) -> Self {
        let mut fields = Self::default();
        for body in model.bodies() {
            if let (Some(elements), Some(nodal)) = (body.element_states(u), body.nodal_states(u)) {
                elements.iter().for_each(|state| fields.elements.push(state));
                nodal.dominant().iter().for_each(|state| fields.vertices.push(state));
            } else {
                fields.elements.push_unknown(body.mesh().element_count());
                fields.vertices.push_unknown(body.mesh().vertex_count());
            }
        }
        fields
    }
}

impl FieldValues {
    fn push(&mut self, state: &StressState) {
        let components = |m: &pliant::math::Mat3| {
            [m.x_axis.x, m.y_axis.y, m.z_axis.z, m.x_axis.y, m.y_axis.z, m.x_axis.z].map(|value| value as f32)
        };
        self.stress.push(components(&state.cauchy));
        self.strain.push(components(&state.strain));
        self.von_mises.push(state.von_mises() as f32);
        self.volume_ratio.push(state.volume_ratio as f32);
        self.energy_density.push(state.energy_density as f32);
    }

    fn push_unknown(&mut self, count: usize) {
        let count = self.von_mises.len() + count;
        self.stress.resize(count, [f32::NAN; 6]);
        self.strain.resize(count, [f32::NAN; 6]);
        for field in [&mut self.von_mises, &mut self.volume_ratio, &mut self.energy_density] {
            field.resize(count, f32::NAN);
        }
    }

    /// Returns `expected` if all quantities have that number of values, otherwise the number that differs.
    pub(super) fn count(&self, expected: usize) -> usize {
        let scalars = [self.von_mises.len(), self.volume_ratio.len(), self.energy_density.len()];
        let counts = scalars.into_iter().chain([self.stress.len(), self.strain.len()]);
        counts.into_iter().find(|&count| count != expected).unwrap_or(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bend, two_bodies};
    use super::*;
    use pliant::mesh::{Cells, generate};
    use pliant::model::Body;

    #[test]
    fn fields_are_those_of_the_elements_and_vertices_and_unknown_without_elasticity() {
        let model = two_bodies();
        let state = bend(&model, 0.3);
        let Fields { elements, vertices } = Fields::new(&model, &state.q);
        let elastic = |body: usize| model.bodies()[body].elastic().unwrap().element_states(&state.q);
        let states: Vec<StressState> = elastic(0).into_iter().chain(elastic(1)).collect();
        let nodal = |body: usize| model.bodies()[body].nodal_states(&state.q).unwrap().dominant();
        let at_vertices: Vec<StressState> = nodal(0).into_iter().chain(nodal(1)).collect();
        for (values, states) in [(elements, states), (vertices, at_vertices)] {
            assert_eq!(values.count(states.len()), states.len());
            for (index, state) in states.iter().enumerate() {
                assert_eq!(values.stress[index][0], state.cauchy.x_axis.x as f32);
                assert_eq!(values.stress[index][4], state.cauchy.y_axis.z as f32);
                assert_eq!(values.strain[index][3], state.green_strain.x_axis.y as f32);
                assert_eq!(values.von_mises[index], state.von_mises() as f32);
            }
        }
        let mesh = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
        let model = Model::builder().body(Body::without_elasticity(mesh, 1.0)).build().unwrap();
        let fields = Fields::new(&model, &model.rest_state().q);
        assert_eq!((fields.elements.count(5), fields.vertices.count(8)), (5, 8));
        assert!(fields.elements.stress[4][5].is_nan() && fields.vertices.energy_density[0].is_nan());
    }
}
