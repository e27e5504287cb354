//! Setup shared by the experiments on tables: material, step, body under its weight, deformation.

use pliant::material::{AnyLaw, Inversion, Material, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::VolumeMesh;
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder};
use pliant::system::{Combination, Conditions, Definiteness, System};

use crate::bodies::{DENSITY, GRAVITY, Specimen};

/// Poisson's ratio.
pub const POISSON: f64 = 0.4;
/// Time step of implicit integrators \[s\].
pub const STEP: f64 = 0.01;

/// Describes the setup for pages.
pub fn in_words() -> String {
    format!("ν = {POISSON}, ρ = {DENSITY} kg/m³, steps of {STEP} s")
}

/// Returns a law that recovers from inversion as VegaFEM's do, but with an energy.
pub fn invertible(law: &str, young: f64) -> anyhow::Result<Material> {
    let law: Material = AnyLaw::new(law, YoungPoisson { young, poisson: POISSON })?.into();
    Ok(law.with_inversion(Inversion::Extrapolate { threshold: Inversion::DEFAULT_THRESHOLD })?)
}

/// Returns a builder of a model with one body, fixed and under gravity.
pub fn weighing(specimen: &Specimen, material: Material) -> ModelBuilder {
    Model::builder()
        .body(Body::new(specimen.mesh.clone(), material, DENSITY))
        .fix(Fixed::new(specimen.fixed.clone()))
        .gravity(Vec3::new(0.0, -GRAVITY, 0.0))
}

/// Creates a model of a body of invertible St. Venant–Kirchhoff material with its Young's modulus, fixed and under
/// gravity.
pub fn model(specimen: &Specimen) -> anyhow::Result<Model> {
    Ok(weighing(specimen, invertible("stvk", specimen.young)?).build()?)
}

/// Returns displacements that bend a body by about a third of a radian, with a little noise. No element is at rest or
/// inverted.
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

/// Returns random displacements of up to 0.7 times the edge of an element, which invert many elements.
pub fn crushed(mesh: &VolumeMesh) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(5);
    let edge = (mesh.volume() / mesh.element_count() as f64).cbrt();
    (0..3 * mesh.vertex_count()).map(|_| 1.4 * edge * (rng.f64() - 0.5)).collect()
}

/// Assembles `M + h²K`, the matrix of backward Euler, at displacements `u`. Returns the right-hand side due to the
/// forces there, zero for fixed vertices.
pub fn backward_euler_matrix(assembly: &mut Assembly, u: &[f64], step: f64) -> Vec<f64> {
    let mut right = vec![0.0; u.len()];
    let stiffness = assembly.linearize(u, &Conditions::START, Definiteness::Projected, &mut right).stiffness;
    assembly.assemble(Combination::of_mass(1.0).and_stiffness(step * step, &stiffness));
    right.iter_mut().zip(assembly.fixed_mask()).for_each(|(b, fixed)| *b = if *fixed { 0.0 } else { step * *b });
    right
}

/// Returns the maximum difference of `x` and `y` relative to the maximum of `y`.
pub fn difference(x: &[f64], y: &[f64]) -> f64 {
    let largest = y.iter().fold(0.0_f64, |max, y| max.max(y.abs()));
    x.iter().zip(y).fold(0.0_f64, |max, (x, y)| max.max((x - y).abs())) / largest
}
