//! Internal energy `V(u)`, force `f = ∂V/∂u` and stiffness `K = ∂f/∂u` of a model, without gravity and loads.

use super::Model;
use crate::damping::Damping;
use crate::force::{Conditions, Definiteness};
use crate::sparse::BlockMatrix;

/// Internal quantities: elasticity and all other forces of the model. Fixed vertices are not treated specially. The
/// sign is that of `M ü + D u̇ + f(u) = f_ext`.
impl Model {
    /// Returns the internal energy `V(u)` \[J\], excluding forces without a potential.
    ///
    /// # Panics
    /// If there are not three displacements per vertex.
    pub fn internal_energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        let conservative = self.all_forces_with_history().filter(|(force, _)| force.has_energy());
        conservative.map(|(force, range)| force.energy(u, &conditions.of_part(range))).sum()
    }

    /// Computes the internal force `f(u)` \[N\], the gradient of the internal energy.
    ///
    /// # Panics
    /// If there are not three numbers per vertex.
    pub fn internal_force(&self, u: &[f64], conditions: &Conditions<'_>, force: &mut [f64]) {
        force.fill(0.0);
        for (term, range) in self.all_forces_with_history() {
            term.add_gradient(u, &conditions.of_part(range), force);
        }
    }

    /// Returns the tangent stiffness `K(u)` \[N/m\], or its projection onto the positive semi-definite matrices,
    /// without [couplings that vary](crate::force::Force::add_varying_stiffness).
    ///
    /// # Panics
    /// If there are not three displacements per vertex.
    pub fn internal_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
    ) -> BlockMatrix {
        if !self.is_assembled {
            let mut assembled = self.clone();
            assembled.bind();
            return assembled.internal_stiffness(u, conditions, definiteness);
        }
        let mut stiffness = BlockMatrix::zero(self.pattern().clone());
        let mut force = vec![0.0; u.len()];
        for (term, range) in self.all_forces_with_history() {
            let conditions = conditions.of_part(range);
            term.add_gradient_and_stiffness(u, &conditions, definiteness, &mut force, &mut stiffness);
        }
        stiffness
    }

    /// Returns the part of the [stiffness](Self::internal_stiffness) that is due to the elasticity of bodies.
    pub(crate) fn elastic_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
    ) -> BlockMatrix {
        let count = self.bodies.iter().filter(|body| body.elastic().is_some()).count();
        let mut stiffness = BlockMatrix::zero(self.pattern().clone());
        let mut force = vec![0.0; u.len()];
        for (term, range) in self.all_forces_with_history().take(count) {
            let conditions = conditions.of_part(range);
            term.add_gradient_and_stiffness(u, &conditions, definiteness, &mut force, &mut stiffness);
        }
        stiffness
    }

    /// Returns the damping matrix `D(u, v)` \[N·s/m\]: [`Damping`] and the friction of forces.
    ///
    /// # Panics
    /// If there are not three numbers per vertex.
    pub fn damping_matrix(&self, u: &[f64], conditions: &Conditions<'_>, v: &[f64]) -> BlockMatrix {
        let needs_stiffness = self.damping.stiffness() != 0.0;
        if needs_stiffness && !self.is_assembled {
            let mut assembled = self.clone();
            assembled.bind();
            return assembled.damping_matrix(u, conditions, v);
        }
        let zero = || BlockMatrix::zero(self.pattern().clone());
        let stiffness =
            if needs_stiffness { self.internal_stiffness(u, conditions, Definiteness::Exact) } else { zero() };
        let mut damping = zero();
        Damping::add_to(&self.damping, &self.mass, &stiffness, &mut damping);
        for (force, range) in self.forces_with_history().filter(|(force, _)| force.has_damping()) {
            force.add_damping(u, &conditions.of_part(range), v, &mut damping);
        }
        damping
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::{Handle, Handles};
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::math::Vec3;
    use crate::mesh::{Cells, generate};
    use crate::model::{Assembly, Body, Fixed};
    use crate::system::{Combination, System};

    fn model() -> Model {
        let mesh = generate::block([1.0, 0.5, 0.5], [2, 1, 1], Cells::Tet5).unwrap();
        let handle = Handle { damping: 3.0, ..Handle::new(1, 50.0, Vec3::new(2.0, 0.1, 0.0)) };
        let handles = Handles::new(mesh.vertices(), [handle]).unwrap();
        let law = AnyLaw::new("stvk", YoungPoisson { young: 1e4, poisson: 0.3 }).unwrap();
        let builder = Model::builder().body(Body::new(mesh, law, 1000.0)).force(handles).fix(Fixed::new([0]));
        let damping = Damping::rayleigh(0.2, 0.01).unwrap();
        builder.gravity(Vec3::new(0.0, -9.81, 0.0)).load(2, Vec3::X).damping(damping).build().unwrap()
    }

    fn displacements(model: &Model) -> Vec<f64> {
        (0..model.dim()).map(|i| 0.05 * (3.7 * i as f64).sin()).collect()
    }

    #[test]
    fn force_is_the_gradient_of_the_energy_and_stiffness_that_of_the_force() {
        let model = model();
        let u = displacements(&model);
        let a: Vec<f64> = (0..u.len()).map(|i| (1.3 * i as f64).cos()).collect();
        let h = 1e-5;
        let at = |sign: f64| u.iter().zip(&a).map(|(u, a)| u + sign * h * a).collect::<Vec<_>>();
        let force_at = |u: &[f64]| {
            let mut force = vec![f64::NAN; u.len()];
            model.internal_force(u, &Conditions::START, &mut force);
            force
        };
        let slope = (model.internal_energy(&at(1.0), &Conditions::START)
            - model.internal_energy(&at(-1.0), &Conditions::START))
            / (2.0 * h);
        let along: f64 = force_at(&u).iter().zip(&a).map(|(f, a)| f * a).sum();
        assert!((slope - along).abs() < 1e-7 * along.abs(), "{slope} {along}");
        let mut product = vec![0.0; u.len()];
        model.internal_stiffness(&u, &Conditions::START, Definiteness::Exact).mul(&a, &mut product);
        let (high, low) = (force_at(&at(1.0)), force_at(&at(-1.0)));
        let scale = product.iter().fold(0.0, |most: f64, k| most.max(k.abs()));
        for i in 0..u.len() {
            assert!(((high[i] - low[i]) / (2.0 * h) - product[i]).abs() < 1e-7 * scale);
        }
    }

    #[test]
    fn what_integrators_see_is_internal_force_with_gravity_and_loads_and_the_same_damping() {
        let model = model();
        let mut system = Assembly::new(model.clone());
        let u = displacements(&model);
        let v: Vec<f64> = u.iter().map(|u| 2.0 * u + 0.1).collect();
        let (mut all, mut internal) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        let stiffness = system.linearize(&u, &Conditions::START, Definiteness::Exact, &mut all).stiffness;
        model.internal_force(&u, &Conditions::START, &mut internal);
        for i in 0..u.len() {
            let gravity = if i % 3 == 1 { -9.81 * model.node_masses()[i / 3] } else { 0.0 };
            let load = if i == 6 { 1.0 } else { 0.0 };
            assert!((all[i] + internal[i] - gravity - load).abs() < 1e-11, "{i}");
        }
        let (mut seen, mut own) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        let damping = system.damping(&u, &Conditions::START, &v, Some(&stiffness), &mut all);
        system.mul(Combination::of_damping(1.0, &damping), &v, &mut seen);
        model.damping_matrix(&u, &Conditions::START, &v).mul(&v, &mut own);
        let scale = seen.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
        assert!(seen.iter().zip(&own).all(|(a, b)| (a - b).abs() < 1e-13 * scale));
    }
}
