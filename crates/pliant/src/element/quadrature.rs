//! Quadrature points of an element.

use crate::math::{Mat3, Vec3};
use crate::mesh::{ElementKind, VolumeMesh, shape};

/// Returns the number of quadrature points of an element.
pub fn points_per_element(kind: ElementKind) -> usize {
    match kind {
        ElementKind::Tet4 => 1,
        ElementKind::Hex8 => 8,
    }
}

/// Returns the weight of each quadrature point of an element, and `∇N` of its nodes there. Weights of partially filled
/// elements are scaled by the fill fraction.
pub(crate) fn quadrature(mesh: &VolumeMesh, element: usize) -> Vec<(f64, [Vec3; 8])> {
    let (nodes, fill) = (mesh.element(element), mesh.element_fill(element));
    let corner = |node: usize| mesh.vertices()[nodes[node] as usize];
    let mut gradients = [Vec3::ZERO; 8];
    match mesh.kind() {
        ElementKind::Tet4 => {
            // N₁, N₂ and N₃ are the coordinates along the edges from node 0.
            let edges = shape::tet_edges(&std::array::from_fn(corner));
            let inverse = edges.inverse().transpose();
            gradients[1..4].copy_from_slice(&[inverse.x_axis, inverse.y_axis, inverse.z_axis]);
            gradients[0] = -(inverse.x_axis + inverse.y_axis + inverse.z_axis);
            vec![(fill * edges.determinant() / 6.0, gradients)]
        }
        ElementKind::Hex8 => {
            let corners = std::array::from_fn(corner);
            let point = |(xi, weight): (Vec3, f64)| {
                let jacobian: Mat3 = shape::hex_jacobian(&corners, xi);
                let to_rest = jacobian.inverse().transpose();
                (fill * weight * jacobian.determinant(), shape::hex_gradients(xi).map(|gradient| to_rest * gradient))
            };
            shape::gauss_2().map(point).collect()
        }
    }
}
