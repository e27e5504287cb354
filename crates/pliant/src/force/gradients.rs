//! Gradients of the shape functions of elements at their quadrature points.

use crate::element::{points_per_element, quadrature};
use crate::math::Vec3;
use crate::mesh::VolumeMesh;

/// Quadrature data for integrals over the elements of a mesh: `∫ g(∇N) dV ≈ Σ w g(∇N)`.
///
/// A tetrahedron, where gradients are constant, has one point. A hexahedron has 2×2×2 Gauss points.
#[derive(Debug, Clone)]
pub(super) struct ElementGradients {
    /// Vertices of each element, ascending.
    pub nodes: Vec<u32>,
    /// Gradients `∇N` with respect to rest positions \[1/m\]: for each element, for each point, for each of its nodes.
    pub gradients: Vec<Vec3>,
    /// Weights `w` \[m³\]: for each element, for each point.
    pub weights: Vec<f64>,
    pub nodes_per_element: usize,
    pub points_per_element: usize,
}

impl ElementGradients {
    pub fn new(mesh: &VolumeMesh) -> Self {
        let nodes_per_element = mesh.kind().nodes();
        let points_per_element = points_per_element(mesh.kind());
        let mut all = Self {
            nodes: Vec::with_capacity(mesh.connectivity().len()),
            gradients: Vec::with_capacity(mesh.connectivity().len() * points_per_element),
            weights: Vec::with_capacity(mesh.element_count() * points_per_element),
            nodes_per_element,
            points_per_element,
        };
        for (number, element) in mesh.elements().enumerate() {
            let mut order: Vec<usize> = (0..nodes_per_element).collect();
            order.sort_unstable_by_key(|&node| element[node]);
            all.nodes.extend(order.iter().map(|&node| element[node]));
            for (weight, gradients) in quadrature(mesh, number) {
                all.gradients.extend(order.iter().map(|&node| gradients[node]));
                all.weights.push(weight);
            }
        }
        all
    }

    /// Returns the data of an empty mesh.
    pub fn none() -> Self {
        Self {
            nodes: Vec::new(),
            gradients: Vec::new(),
            weights: Vec::new(),
            nodes_per_element: 4,
            points_per_element: 1,
        }
    }

    /// Returns the weights of element `index` and the gradients of its `N` shape functions at each of its points.
    #[inline(always)]
    pub fn of<const N: usize>(&self, index: usize) -> impl Iterator<Item = (f64, &[Vec3; N])> {
        let points = self.points_per_element * index..self.points_per_element * (index + 1);
        let (gradients, _) = self.gradients[N * points.start..N * points.end].as_chunks::<N>();
        self.weights[points].iter().copied().zip(gradients)
    }
}
