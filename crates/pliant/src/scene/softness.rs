//! Notes on materials that deform strongly under the weight of their object, or have more than one shape at rest.

use super::Scene;
use super::object::{MadeOf, Prepared};
use crate::force::Weight;
use crate::math::short_number;

/// Collects what is worth knowing about the materials of objects, one sentence each.
pub(super) fn notes(scene: &Scene, objects: &[Prepared]) -> Vec<String> {
    objects.iter().flat_map(|object| under_weight(scene, object).into_iter().chain(second_minimum(object))).collect()
}

/// Reports an object that is softer than its weight.
fn under_weight(scene: &Scene, object: &Prepared) -> Option<String> {
    let moduli = object.made_of.iter().filter_map(|region| region.moduli);
    let young = moduli.map(|moduli| moduli.young).reduce(f64::max)?;
    let weight = Weight::new(&object.mesh, &object.densities, scene.gravity())?;
    (weight.pressure > young).then(|| {
        format!(
            "the weight of `{}` compresses it strongly: density × gravity × height is {}, Young's modulus {}; a stiffer or lighter material, or less \
             gravity, keeps its shape",
            object.name,
            pressure(weight.pressure),
            pressure(young)
        )
    })
}

/// Poisson's ratio below which the energy of the law `stable-neo-hookean` has a second minimum.
///
/// For `F = s I` its derivative vanishes at `s = 1` and where `λ/μ = ¾ (3s − 1) / ((3s² + 1)(s² + s + 1))` with the coefficients of the law. The right-hand
/// side is at most 0.1526, near `s = 0.7`, and the left-hand side is less than that below this ratio.
const SECOND_MINIMUM: f64 = -0.85;

/// Reports a law that has a second minimum of its energy, in which the body is smaller than at rest.
fn second_minimum(object: &Prepared) -> Option<String> {
    let has_one = |region: &&MadeOf| {
        region.law == Some("stable-neo-hookean") && region.moduli.is_some_and(|moduli| moduli.poisson < SECOND_MINIMUM)
    };
    let region = object.made_of.iter().find(has_one)?;
    Some(format!(
        "Poisson's ratio of `{}` is {}: below {SECOND_MINIMUM} the energy of the law `stable-neo-hookean` has a second minimum, to which elements may \
         collapse; the law `corotational` or `neo-hookean` helps",
        object.name, region.moduli?.poisson
    ))
}

/// Returns a pressure \[Pa\] with a unit that fits it.
fn pressure(pascals: f64) -> String {
    let (factor, unit) = match pascals {
        1e9.. => (1e-9, "GPa"),
        1e6.. => (1e-6, "MPa"),
        1e3.. => (1e-3, "kPa"),
        _ => (1.0, "Pa"),
    };
    format!("{} {unit}", short_number(factor * pascals))
}
