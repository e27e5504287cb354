//! Notes on materials that deform strongly under their weight, or whose energy has more than one minimum.

use super::Scene;
use super::object::{MadeOf, Prepared};
use pliant::force::Weight;
use pliant::math::short_number;

/// Returns notes on the materials of objects, one sentence each.
pub(super) fn notes(scene: &Scene, objects: &[Prepared]) -> Vec<String> {
    objects.iter().flat_map(|object| under_weight(scene, object).into_iter().chain(second_minimum(object))).collect()
}

/// Returns a note if an object is too soft for its weight.
fn under_weight(scene: &Scene, object: &Prepared) -> Option<String> {
    let moduli = object.made_of.iter().filter_map(|region| region.moduli);
    let young = moduli.map(|moduli| moduli.young).reduce(f64::max)?;
    let weight = Weight::new(&object.mesh, &object.densities, scene.gravity())?;
    (weight.pressure > young).then(|| {
        format!(
            "the weight of `{}` compresses it strongly: density × gravity × height is {}, Young's modulus {}; use a stiffer or lighter material, or \
             less gravity",
            object.name,
            pressure(weight.pressure),
            pressure(young)
        )
    })
}

/// Poisson's ratio below which the energy of the law `stable-neo-hookean` has a second minimum.
///
/// For `F = s I` its derivative vanishes at `s = 1` and where `λ/μ = ¾ (3s − 1) / ((3s² + 1)(s² + s + 1))` with the
/// coefficients of the law. The right-hand side is at most 0.1526, near `s = 0.7`. The left-hand side is less than that
/// below this ratio.
const SECOND_MINIMUM: f64 = -0.85;

/// Returns a note if the energy of a law has a second minimum, in which the body is smaller than at rest.
fn second_minimum(object: &Prepared) -> Option<String> {
    let has_one = |region: &&MadeOf| {
        region.law == Some("stable-neo-hookean") && region.moduli.is_some_and(|moduli| moduli.poisson < SECOND_MINIMUM)
    };
    let region = object.made_of.iter().find(has_one)?;
    Some(format!(
        "Poisson's ratio of `{}` is {}: below {SECOND_MINIMUM} the energy of the law `stable-neo-hookean` has a second minimum, to which elements may \
         collapse; use the law `corotational` or `neo-hookean`",
        object.name, region.moduli?.poisson
    ))
}

/// Returns a pressure \[Pa\] as text with a suitable unit.
fn pressure(pascals: f64) -> String {
    let (factor, unit) = match pascals {
        1e9.. => (1e-9, "GPa"),
        1e6.. => (1e-6, "MPa"),
        1e3.. => (1e-3, "kPa"),
        _ => (1.0, "Pa"),
    };
    format!("{} {unit}", short_number(factor * pascals))
}
