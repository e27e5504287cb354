//! What the experiments on tables have in common: a material, a step, a body under its weight, a deformation.

use pliant::material::{AnyLaw, Elasticity, Inversion, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::VolumeMesh;
use pliant::model::{Body, Hold, Model, ModelBuilder};
use pliant::system::{Definiteness, System, Weights};

use crate::bodies::Specimen;

/// Poisson's ratio.
pub const POISSON: f64 = 0.4;
/// In kg/m³.
pub const DENSITY: f64 = 1000.0;
/// A step of implicit schemes, in s.
pub const STEP: f64 = 0.01;

/// The set-up in words, for pages.
pub fn in_words() -> String {
    format!("ν = {POISSON}, ρ = {DENSITY} kg/m³, steps of {STEP} s")
}

/// A law that recovers from inversion as VegaFEM's do, but with an energy.
pub fn invertible(law: &str, young: f64) -> anyhow::Result<Elasticity> {
    let law: Elasticity = AnyLaw::new(law, YoungPoisson { young, poisson: POISSON })?.into();
    Ok(law.with_inversion(Inversion::Extrapolate { threshold: Inversion::DEFAULT_THRESHOLD })?)
}

/// A body that is held and has weight, to be built.
pub fn weighing(specimen: &Specimen, material: Elasticity) -> ModelBuilder {
    Model::builder()
        .body(Body::new(specimen.mesh.clone(), material, DENSITY))
        .hold(Hold::fixed(specimen.held.clone()))
        .gravity(Vec3::new(0.0, -9.81, 0.0))
}

/// A body of invertible St. Venant–Kirchhoff material as stiff as it should be, held, under its weight.
pub fn model(specimen: &Specimen) -> anyhow::Result<Model> {
    Ok(weighing(specimen, invertible("stvk", specimen.young)?).build()?)
}

/// Displacements that bend a body by about a third of a radian, with a little noise: no element is at rest, and none inverted.
pub fn bent(mesh: &VolumeMesh) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(1);
    let [low, high] = mesh.bounding_box();
    let length = (high - low).max_element();
    let edge = (mesh.volume() / mesh.element_count() as f64).cbrt();
    let displacement = |x: &Vec3| {
        let along = (*x - low) / length;
        let noise = 0.05 * edge * (Vec3::new(rng.f64(), rng.f64(), rng.f64()) - 0.5);
        (length * Vec3::new(-0.3 * along.x * along.y, 0.15 * along.x * along.x, 0.0) + noise).to_array()
    };
    mesh.vertices().iter().flat_map(displacement).collect()
}

/// Displacements at random, up to 0.7 times the edge of an element, which turn many inside out.
pub fn crushed(mesh: &VolumeMesh) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(5);
    let edge = (mesh.volume() / mesh.element_count() as f64).cbrt();
    (0..3 * mesh.vertex_count()).map(|_| 1.4 * edge * (rng.f64() - 0.5)).collect()
}

/// Make `M + h²K`, the matrix of backward Euler, at displacements `u`. Returns the right-hand side that forces there give, zero where
/// vertices are held.
pub fn backward_euler_matrix(model: &mut Model, u: &[f64], step: f64) -> Vec<f64> {
    let mut right = vec![0.0; u.len()];
    model.linearize(u, 0.0, Definiteness::Projected, &mut right);
    model.assemble(Weights { mass: 1.0, damping: 0.0, stiffness: step * step });
    right.iter_mut().zip(model.held()).for_each(|(b, held)| *b = if *held { 0.0 } else { step * *b });
    right
}

/// `x` beside `y`, as a part of the largest number of `y`.
pub fn difference(x: &[f64], y: &[f64]) -> f64 {
    let largest = y.iter().fold(0.0_f64, |most, y| most.max(y.abs()));
    x.iter().zip(y).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs())) / largest
}
