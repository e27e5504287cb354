//! Reduced elasticity of any law by evaluating elements: all of them, or a few that represent the others.
//!
//! `f = Uᵀ f(Uq)` and `K = Uᵀ K(Uq) U`. For a few elements, with `Uₑ` the rows of their vertices,
//! `f = Σ wₑ Uₑᵀ fₑ(Uₑq)`.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::basis::Basis;
use crate::force::{Conditions, Elastic, Force, bind_all};
use crate::material::Definiteness;
use crate::mesh::EditError;
use crate::model::{Model, ModelBody};
use crate::solver::DenseMatrix;
use crate::sparse::BlockMatrix;

/// Weighted elements of a model.
#[derive(Debug, Clone)]
pub struct ReducedElements {
    bodies: Vec<OfBody>,
    selection: Option<Vec<WeightedElement>>,
    r: usize,
}

/// Element that represents others around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedElement {
    /// Index of the body, from 0.
    pub body: u32,
    /// Element of its mesh.
    pub element: u32,
    /// Cubature weight.
    pub weight: f64,
}

#[derive(Debug, Clone)]
struct OfBody {
    elastic: Elastic,
    /// Rows of `U` at its vertices, column by column.
    rows: Vec<f64>,
    u: Vec<f64>,
    force: Vec<f64>,
    stiffness: BlockMatrix,
    product: Vec<f64>,
}

impl ReducedElements {
    /// Uses all elements of a model.
    #[allow(clippy::missing_panics_doc, reason = "a body has a material for each region")]
    pub fn all(model: &Model, basis: &Basis) -> Self {
        let of_body = |body: &ModelBody| {
            let materials = body.elastic()?.materials().to_vec();
            let elastic = Elastic::new(body.node_mesh(), materials).expect("as many materials as the body has");
            Some(OfBody::new(elastic, basis, body.nodes()))
        };
        Self { bodies: model.bodies().iter().filter_map(of_body).collect(), selection: None, r: basis.size() }
    }

    /// Uses a selection of elements of a model. The error names a body without such an element.
    pub fn selected(model: &Model, basis: &Basis, selection: &[WeightedElement]) -> Result<Self, EditError> {
        let mut bodies = Vec::new();
        for (number, body) in model.bodies().iter().enumerate() {
            let own: Vec<WeightedElement> = selection.iter().filter(|e| e.body as usize == number).copied().collect();
            if own.is_empty() {
                continue;
            }
            let numbers: Vec<u32> = own.iter().map(|element| element.element).collect();
            let (elastic, vertices) = extracted(body, &numbers)?;
            let weights: Vec<f64> = own.iter().map(|element| element.weight).collect();
            bodies.push(OfBody::new(elastic.with_element_weights(&weights), basis, vertices));
        }
        Ok(Self { bodies, selection: Some(selection.to_vec()), r: basis.size() })
    }

    /// Returns the selected elements, or `None` if all are evaluated.
    pub fn selection(&self) -> Option<&[WeightedElement]> {
        self.selection.as_deref()
    }

    pub(super) fn energy(&mut self, q: &[f64]) -> f64 {
        let of_body = |body: &mut OfBody| {
            body.displacements(q);
            body.elastic.energy(&body.u, &Conditions::START)
        };
        self.bodies.iter_mut().map(of_body).sum()
    }

    pub(super) fn force(&mut self, q: &[f64], force: &mut [f64]) {
        force.fill(0.0);
        for body in &mut self.bodies {
            body.displacements(q);
            body.force.fill(0.0);
            body.elastic.add_gradient(&body.u, &Conditions::START, &mut body.force);
            body.add_projected_force(force);
        }
    }

    pub(super) fn force_and_stiffness(
        &mut self,
        q: &[f64],
        definiteness: Definiteness,
        force: &mut [f64],
        stiffness: &mut DenseMatrix,
    ) {
        force.fill(0.0);
        stiffness.values_mut().fill(0.0);
        for body in &mut self.bodies {
            body.displacements(q);
            body.force.fill(0.0);
            body.stiffness.clear();
            body.elastic.add_gradient_and_stiffness(
                &body.u,
                &Conditions::START,
                definiteness,
                &mut body.force,
                &mut body.stiffness,
            );
            body.add_projected_force(force);
            let n = body.u.len();
            for (column, product) in body.rows.chunks_exact(n).zip(body.product.chunks_exact_mut(n)) {
                body.stiffness.mul(column, product);
            }
            let sum = MatMut::from_column_major_slice_mut(stiffness.values_mut(), self.r, self.r);
            let rows = MatRef::from_column_major_slice(&body.rows, n, self.r);
            let product = MatRef::from_column_major_slice(&body.product, n, self.r);
            matmul(sum, Accum::Add, rows.transpose(), product, 1.0, Par::Seq);
        }
    }
}

/// Returns the elasticity of some elements of a body, and their vertices in the model.
fn extracted(body: &ModelBody, elements: &[u32]) -> Result<(Elastic, impl Iterator<Item = usize> + use<>), EditError> {
    let part = body.node_mesh().extract(elements)?;
    let all = body.elastic().map(Elastic::materials).unwrap_or_default();
    let material = |name: &str| body.node_mesh().region_index(name).map(|region| all[region].clone());
    let materials = part.mesh.regions().iter().filter_map(|region| material(&region.name)).collect();
    let elastic = Elastic::new(&part.mesh, materials).expect("the regions of the part are regions of the body");
    let first = body.nodes().start;
    Ok((elastic, part.vertices.into_iter().map(move |vertex| first + vertex as usize)))
}

impl OfBody {
    fn new(mut elastic: Elastic, basis: &Basis, vertices: impl Iterator<Item = usize>) -> Self {
        let vertices: Vec<usize> = vertices.collect();
        let pattern = bind_all(vertices.len(), &mut [&mut elastic]);
        let of_column = |column: &Vec<f64>| -> Vec<f64> {
            vertices.iter().flat_map(|&vertex| column[3 * vertex..3 * vertex + 3].iter().copied()).collect()
        };
        let rows: Vec<f64> = basis.columns().iter().flat_map(of_column).collect();
        let n = 3 * vertices.len();
        Self {
            elastic,
            product: vec![0.0; rows.len()],
            rows,
            u: vec![0.0; n],
            force: vec![0.0; n],
            stiffness: BlockMatrix::zero(pattern),
        }
    }

    /// Sets the displacements to `U q`.
    fn displacements(&mut self, q: &[f64]) {
        self.u.fill(0.0);
        for (column, q) in self.rows.chunks_exact(self.u.len()).zip(q) {
            self.u.iter_mut().zip(column).for_each(|(u, column)| *u += q * column);
        }
    }

    /// Adds `Uᵀ f`.
    fn add_projected_force(&self, force: &mut [f64]) {
        for (column, force) in self.rows.chunks_exact(self.u.len()).zip(force) {
            *force += crate::solver::vector::dot(column, &self.force);
        }
    }
}
