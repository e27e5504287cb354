//! Rigid motions.

use std::collections::BTreeMap;

use super::columns::{combine, orthonormalize};
use super::eigen::Eigen;
use crate::math::Vec3;
use crate::model::Model;
use crate::solver::DenseMatrix;
use crate::solver::vector::dot;
use crate::sparse::BlockMatrix;

/// Stiffness, relative to that of the moving elements, below which it is rounding error.
const NO_STIFFNESS: f64 = 1e-13;

/// Maximum number of unconnected parts of a model.
pub(super) const MAX_PARTS: usize = 64;

/// Returns the linearized rigid motions that neither Dirichlet conditions nor a stiffness resist, orthonormal in the
/// mass.
///
/// There are six for a free body and none for a fixed one. The error is the number of parts if there are more than
/// [`MAX_PARTS`].
pub(super) fn rigid_motions(model: &Model, stiffness: &BlockMatrix) -> Result<Vec<Vec<f64>>, usize> {
    let parts = parts(model);
    if parts.len() > MAX_PARTS {
        return Err(parts.len());
    }
    let mut fields = Vec::new();
    for part in &parts {
        let center = part.iter().map(|&vertex| model.rest()[vertex as usize]).sum::<Vec3>() / part.len() as f64;
        for number in 0..6 {
            let mut field = vec![0.0; model.dim()];
            for &vertex in part {
                let x = model.rest()[vertex as usize] - center;
                let axis = Vec3::AXES[number % 3];
                let motion = if number < 3 { axis } else { axis.cross(x) };
                field[3 * vertex as usize..][..3].copy_from_slice(&motion.to_array());
            }
            fields.push(field);
        }
    }
    let mass = model.mass();
    let fields = orthonormalize(fields, &|x, y| mass.mul(x, y), 1e-9);
    // Energy of each pair of motions in the stiffness and at fixed coordinates.
    let products: Vec<Vec<f64>> = fields
        .iter()
        .map(|field| {
            let mut product = vec![0.0; field.len()];
            stiffness.mul(field, &mut product);
            product
        })
        .collect();
    let diagonal = diagonal_of(stiffness);
    let fixed = model.fixed_mask();
    let mut resistance = DenseMatrix::zero(fields.len());
    // Parts may differ greatly in stiffness: each is scaled by its own.
    let scales: Vec<f64> =
        fields.iter().map(|a| (0..a.len()).map(|k| diagonal[k] * a[k] * a[k]).sum::<f64>().sqrt()).collect();
    for (i, a) in fields.iter().enumerate() {
        for (j, b) in fields.iter().enumerate() {
            let of_fixed: f64 = (0..a.len()).filter(|&k| fixed[k]).map(|k| diagonal[k] * a[k] * b[k]).sum();
            let scale = scales[i] * scales[j];
            resistance[(i, j)] = if scale > 0.0 { (dot(a, &products[j]) + of_fixed) / scale } else { 0.0 };
        }
    }
    let Some(eigen) = Eigen::new(&resistance) else { return Ok(Vec::new()) };
    let loose = (0..fields.len()).filter(|&i| eigen.values[i].abs() <= NO_STIFFNESS);
    let unscaled = |i: usize| {
        let parts = eigen.vector(i).iter().zip(&scales);
        parts.map(|(x, scale)| if *scale > 0.0 { x / scale } else { *x }).collect::<Vec<f64>>()
    };
    let loose: Vec<Vec<f64>> = loose.map(unscaled).collect();
    let mut motions = combine(&fields, loose.iter().map(Vec::as_slice));
    for motion in &mut motions {
        motion.iter_mut().zip(fixed).filter(|(_, fixed)| **fixed).for_each(|(x, _)| *x = 0.0);
    }
    Ok(orthonormalize(motions, &|x, y| mass.mul(x, y), 1e-9))
}

/// Returns the absolute values of the diagonal of a matrix.
fn diagonal_of(matrix: &BlockMatrix) -> Vec<f64> {
    let (blocks, _) = matrix.values().as_chunks::<9>();
    let pattern = matrix.pattern();
    let of_vertex = |vertex: usize| [0, 4, 8].map(|entry| blocks[pattern.row(vertex).start][entry].abs());
    (0..pattern.node_count()).flat_map(of_vertex).collect()
}

/// Returns the vertices of each part that is connected by elements.
fn parts(model: &Model) -> Vec<Vec<u32>> {
    let mut parent: Vec<u32> = (0..model.node_count() as u32).collect();
    let mut is_used = vec![false; model.node_count()];
    for body in model.bodies() {
        let first = body.nodes().start as u32;
        for element in body.node_mesh().elements() {
            for &vertex in element {
                is_used[(vertex + first) as usize] = true;
                let (a, b) = (root(&mut parent, element[0] + first), root(&mut parent, vertex + first));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
    }
    let mut parts = BTreeMap::<u32, Vec<u32>>::new();
    for vertex in (0..model.node_count() as u32).filter(|&vertex| is_used[vertex as usize]) {
        parts.entry(root(&mut parent, vertex)).or_default().push(vertex);
    }
    parts.into_values().collect()
}

/// Returns the root of a vertex in the union-find forest: the smallest vertex known to be in the same part.
fn root(parent: &mut [u32], mut vertex: u32) -> u32 {
    while parent[vertex as usize] != vertex {
        parent[vertex as usize] = parent[parent[vertex as usize] as usize];
        vertex = parent[vertex as usize];
    }
    vertex
}
