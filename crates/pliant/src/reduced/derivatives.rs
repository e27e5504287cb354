//! Modal derivatives: the change of a mode's shape along another mode \[BarbicJames2005\].
//!
//! A static displacement tangent to the modes, `u = Σ φᵢ pᵢ + ½ Σ Φᵢⱼ pᵢ pⱼ + …`, is in equilibrium to second order
//! under the forces `Σ ω²ᵢ Mφᵢ pᵢ` if
//!
//! ```text
//! K Φᵢⱼ = −(H : φⱼ) φᵢ,    H = ∂K/∂u at rest.
//! ```
//!
//! A free body has no such equilibrium if the right-hand side has a resultant force or torque. The rigid-body part is
//! then removed from the right-hand side, and rigid motion from `Φᵢⱼ`.

use std::ops::ControlFlow;

use super::inverse::{Inverse, Stiffness};
use super::modes::{Modes, ModesError, check_memory};
use crate::force::{Elastic, StVkPolynomial};
use crate::material::{Definiteness, Linear, StVenantKirchhoff};
use crate::math::Vec3;
use crate::model::{Model, ModelBody};

/// Modal derivative `Φᵢⱼ`, `i ≤ j`.
#[derive(Debug, Clone)]
pub struct ModalDerivative {
    /// Indices `i` and `j`, from 0.
    pub modes: [usize; 2],
    /// Shape, three numbers per vertex.
    pub shape: Vec<f64>,
}

/// Computes the `count (count + 1) / 2` derivatives of the first `count` modes. `watch` receives their number so far,
/// and may stop the computation.
pub(super) fn derivatives(
    model: &Model,
    inverse: &mut Inverse,
    modes: &Modes,
    count: usize,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<ModalDerivative>, ModesError> {
    let count = count.min(modes.shapes.len());
    check_memory(count.saturating_mul(count.saturating_add(1)) / 2, model.dim())?;
    let change = StiffnessDerivative::new(model);
    let rest = vec![0.0; model.dim()];
    let mut found = Vec::new();
    for j in 0..count {
        for i in 0..=j {
            if watch(found.len()).is_break() {
                return Err(ModesError::Stopped);
            }
            let (mut b, mut shape) = (vec![0.0; model.dim()], vec![0.0; model.dim()]);
            change.add(model, &rest, &modes.shapes[j], &modes.shapes[i], &mut b);
            b.iter_mut().for_each(|b| *b = -*b);
            inverse.solve(&b, &mut shape);
            found.push(ModalDerivative { modes: [i, j], shape });
        }
    }
    Ok(found)
}

/// Computes the modal derivatives of a model, `i ≤ j < count`.
pub fn modal_derivatives(
    model: &Model,
    modes: &Modes,
    count: usize,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<ModalDerivative>, ModesError> {
    let mut inverse = Inverse::new(model, Stiffness::Elastic)?;
    derivatives(model, &mut inverse, modes, count, watch)
}

/// Stiffness derivative `H = ∂K/∂u` of the elasticity of a model.
#[derive(Debug)]
pub struct StiffnessDerivative {
    of_bodies: Vec<OfBody>,
}

#[derive(Debug)]
enum OfBody {
    /// Zero: no law, or a linear one.
    Zero,
    /// Analytic formula.
    StVk(Box<StVkPolynomial>),
    /// Finite differences of the stiffness.
    Differences,
}

/// Strain of the edges for finite differences. The error is of the order of its fourth power, plus rounding divided by
/// it.
const BEND: f64 = 1e-3;

/// Fourth-order difference quotient: offsets (in units of `h`) and weights.
const STENCIL: [(f64, f64); 4] = [(1.0, 8.0 / 12.0), (-1.0, -8.0 / 12.0), (2.0, -1.0 / 12.0), (-2.0, 1.0 / 12.0)];

impl StiffnessDerivative {
    /// Prepares the derivative: analytic for St. Venant–Kirchhoff, finite differences for other laws.
    pub fn new(model: &Model) -> Self {
        let of_body = |body: &ModelBody| {
            let Some(elastic) = body.elastic() else { return OfBody::Zero };
            if elastic.materials().iter().all(|material| material.law::<Linear>().is_some()) {
                return OfBody::Zero;
            }
            let exact = stvk_laws(elastic).and_then(|laws| StVkPolynomial::new(body.node_mesh(), &laws).ok());
            exact.map_or(OfBody::Differences, |force| OfBody::StVk(Box::new(force)))
        };
        Self { of_bodies: model.bodies().iter().map(of_body).collect() }
    }

    /// Adds `(H(u) : a) b` to `out`: the derivative of the stiffness along `a`, times `b`. It is symmetric in `a` and
    /// `b`.
    ///
    /// # Panics
    /// If a vector does not have three numbers per vertex of the model.
    pub fn add(&self, model: &Model, u: &[f64], a: &[f64], b: &[f64], out: &mut [f64]) {
        for (body, derivative) in model.bodies().iter().zip(&self.of_bodies) {
            let range = 3 * body.nodes().start..3 * body.nodes().end;
            match derivative {
                OfBody::StVk(force) => {
                    let part = |whole: &'_ [f64]| whole[range.clone()].to_vec();
                    force.stiffness_derivative(&part(u), &part(a), &part(b), &mut out[range.clone()]);
                }
                OfBody::Differences => {
                    let elastic = body.elastic().expect("a body with elasticity");
                    let strain = largest_strain(body, &a[range]);
                    if strain == 0.0 {
                        // Nothing deforms along `a`.
                        continue;
                    }
                    let epsilon = BEND / strain;
                    for (place, weight) in STENCIL {
                        let bent: Vec<f64> = u.iter().zip(a).map(|(u, a)| u + place * epsilon * a).collect();
                        let mut product = vec![0.0; out.len()];
                        elastic.add_stiffness_product(&bent, Definiteness::Exact, b, &mut product);
                        let weight = weight / epsilon;
                        out.iter_mut().zip(&product).for_each(|(out, product)| *out += weight * product);
                    }
                }
                OfBody::Zero => {}
            }
        }
    }
}

/// Returns the maximum of relative displacement divided by length over all edges, for any direction of the
/// displacement.
fn largest_strain(body: &ModelBody, a: &[f64]) -> f64 {
    let mesh = body.node_mesh();
    let at = |vertex: u32| Vec3::from_slice(&a[3 * vertex as usize..]);
    let strain = |element: &[u32], [i, j]: [usize; 2]| {
        let (i, j) = (element[i], element[j]);
        (at(i) - at(j)).length() / (mesh.vertices()[i as usize] - mesh.vertices()[j as usize]).length()
    };
    // A maximum that propagates NaN.
    let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let of_element = |element: &[u32]| mesh.kind().edges().iter().map(|edge| strain(element, *edge)).fold(0.0, larger);
    mesh.elements().map(of_element).fold(0.0, larger)
}

/// Returns the laws of all regions if they are all St. Venant–Kirchhoff.
pub(super) fn stvk_laws(elastic: &Elastic) -> Option<Vec<StVenantKirchhoff>> {
    elastic.materials().iter().map(|material| material.law().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::mesh::{Cells, generate};
    use crate::model::Body;

    fn model(law: &str) -> Model {
        let mesh = generate::block([1.0, 0.2, 0.2], [20, 4, 4], Cells::Tet5).unwrap();
        let law = AnyLaw::new(law, YoungPoisson { young: 1e4, poisson: 0.3 }).unwrap();
        Model::builder().body(Body::new(mesh, law, 1000.0)).build().unwrap()
    }

    fn wave(model: &Model, size: f64, frequency: f64) -> Vec<f64> {
        (0..model.dim()).map(|i| size * (frequency * i as f64).sin()).collect()
    }

    #[test]
    fn differences_are_near_the_formula_in_bent_states_and_along_single_vertices() {
        let model = model("stvk");
        let u = wave(&model, 0.01, 0.7);
        let mut spike = vec![0.0; model.dim()];
        spike[301] = 2.0;
        let exact = StiffnessDerivative::new(&model);
        let differences = StiffnessDerivative { of_bodies: vec![OfBody::Differences] };
        for (a, b) in [(wave(&model, 1.0, 0.3), wave(&model, 1.0, 1.1)), (spike, wave(&model, 1.0, 1.1))] {
            let (mut formula, mut found) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            exact.add(&model, &u, &a, &b, &mut formula);
            differences.add(&model, &u, &a, &b, &mut found);
            let scale = formula.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
            let worst = formula.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-9 * scale, "{:e}", worst / scale);
        }
    }

    #[test]
    fn the_derivative_of_other_laws_is_symmetric_and_that_of_linear_ones_zero() {
        for law in ["neo-hookean", "corotational", "mooney-rivlin", "linear"] {
            let model = model(law);
            let u = wave(&model, 0.002, 0.7);
            let (a, b) = (wave(&model, 1.0, 0.3), wave(&model, 1.0, 1.1));
            let (mut ab, mut ba) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            let derivative = StiffnessDerivative::new(&model);
            derivative.add(&model, &u, &a, &b, &mut ab);
            derivative.add(&model, &u, &b, &a, &mut ba);
            let scale = ab.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
            assert_eq!(scale == 0.0, law == "linear");
            assert!(ab.iter().zip(&ba).all(|(x, y)| (x - y).abs() <= 1e-7 * scale), "{law}");
        }
    }
}
