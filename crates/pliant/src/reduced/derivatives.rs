//! Modal derivatives: how the shape of a mode changes when the body is bent along another (Barbič and James 2005).
//!
//! A static displacement that begins along the modes, `u = Σ φᵢ pᵢ + ½ Σ Φᵢⱼ pᵢ pⱼ + …`, is in equilibrium to second order under
//! the forces `Σ ω²ᵢ Mφᵢ pᵢ` if
//!
//! ```text
//! K Φᵢⱼ = −(H : φⱼ) φᵢ,    H = ∂K/∂u at rest.
//! ```
//!
//! A body that is free has no such equilibrium where the right-hand side turns it: then what accelerates it as a whole is taken out
//! of that, and rigid motion out of `Φᵢⱼ`.

use std::ops::ControlFlow;

use super::inverse::{Inverse, Stiffness};
use super::modes::{Modes, ModesError, check_memory};
use crate::force::{Elastic, StVkPolynomial};
use crate::material::{Definiteness, Linear, StVenantKirchhoff};
use crate::model::{Model, ModelBody};
use crate::system::System;

/// A modal derivative `Φᵢⱼ`, `i ≤ j`.
#[derive(Debug, Clone)]
pub struct ModalDerivative {
    /// `i` and `j`, from 0.
    pub modes: [usize; 2],
    /// Three numbers a vertex.
    pub shape: Vec<f64>,
}

/// The derivatives of the first `count` modes: `count (count + 1) / 2` of them. `watch` is told how many there are, and
/// may break off.
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
    let mut found = Vec::new();
    for j in 0..count {
        for i in 0..=j {
            if watch(found.len()).is_break() {
                return Err(ModesError::Stopped);
            }
            let (mut b, mut shape) = (vec![0.0; model.dim()], vec![0.0; model.dim()]);
            change.add(model, &modes.shapes[j], &modes.shapes[i], &mut b);
            b.iter_mut().for_each(|b| *b = -*b);
            inverse.solve(&b, &mut shape);
            found.push(ModalDerivative { modes: [i, j], shape });
        }
    }
    Ok(found)
}

/// The derivatives of the first modes of a model, `i ≤ j < count`.
pub fn modal_derivatives(
    model: &Model,
    modes: &Modes,
    count: usize,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<ModalDerivative>, ModesError> {
    let mut inverse = Inverse::new(model, Stiffness::Elastic)?;
    derivatives(model, &mut inverse, modes, count, watch)
}

/// `H` of the elasticity of a model.
struct StiffnessDerivative {
    of_bodies: Vec<OfBody>,
}

enum OfBody {
    /// None: the law is linear, or there is none.
    Zero,
    /// By its formula.
    StVk(Box<StVkPolynomial>),
    /// By differences of the stiffness.
    Differences,
}

/// How far bodies are bent to find differences, as a part of their size: errors are of the order of its square.
const BEND: f64 = 1e-4;

impl StiffnessDerivative {
    fn new(model: &Model) -> Self {
        let of_body = |body: &ModelBody| {
            let Some(elastic) = body.elastic() else { return OfBody::Zero };
            if elastic.materials().iter().all(|material| material.law::<Linear>().is_some()) {
                return OfBody::Zero;
            }
            let exact = stvk_laws(elastic).and_then(|laws| StVkPolynomial::new(body.mesh(), &laws).ok());
            exact.map_or(OfBody::Differences, |force| OfBody::StVk(Box::new(force)))
        };
        Self { of_bodies: model.bodies().iter().map(of_body).collect() }
    }

    /// `out + (H : a) b`.
    fn add(&self, model: &Model, a: &[f64], b: &[f64], out: &mut [f64]) {
        let largest = a.iter().fold(0.0, |most: f64, a| most.max(a.abs()));
        for (body, derivative) in model.bodies().iter().zip(&self.of_bodies) {
            let range = 3 * body.vertices().start..3 * body.vertices().end;
            match derivative {
                OfBody::StVk(force) => {
                    let rest = vec![0.0; range.len()];
                    force.stiffness_derivative(&rest, &a[range.clone()], &b[range.clone()], &mut out[range]);
                }
                OfBody::Differences if largest > 0.0 => {
                    let elastic = body.elastic().expect("a body with elasticity");
                    let epsilon = BEND * model.extent() / largest;
                    for sign in [1.0, -1.0] {
                        let u: Vec<f64> = a.iter().map(|a| sign * epsilon * a).collect();
                        let mut product = vec![0.0; out.len()];
                        elastic.add_stiffness_product(&u, Definiteness::Exact, b, &mut product);
                        let weight = sign / (2.0 * epsilon);
                        out.iter_mut().zip(&product).for_each(|(out, product)| *out += weight * product);
                    }
                }
                OfBody::Differences | OfBody::Zero => {}
            }
        }
    }
}

/// The laws of all regions, if they are all St. Venant–Kirchhoff.
pub(super) fn stvk_laws(elastic: &Elastic) -> Option<Vec<StVenantKirchhoff>> {
    elastic.materials().iter().map(|material| material.law().copied()).collect()
}
