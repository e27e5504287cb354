//! Motions that deform nothing.

use super::columns::{combine, orthonormalize};
use super::eigen::Eigen;
use crate::math::Vec3;
use crate::model::Model;
use crate::solver::DenseMatrix;
use crate::solver::vector::dot;
use crate::system::{System, Weights};

/// What is below this part of the stiffness of the elements that move is rounding.
const NO_STIFFNESS: f64 = 1e-11;

/// More loose parts than this are not one body any more.
pub(super) const MOST_PARTS: usize = 64;

/// The rigid motions, to first order, that neither the holds of a model nor its stiffness, as it was linearised last, resist:
/// orthonormal with its mass. Six for a body that is free; none for one that is held. The error is the number of parts, if
/// there are more than [`MOST_PARTS`].
pub(super) fn rigid_motions(model: &mut Model) -> Result<Vec<Vec<f64>>, usize> {
    let parts = parts(model);
    if parts.len() > MOST_PARTS {
        return Err(parts.len());
    }
    let mut fields = Vec::new();
    for part in &parts {
        let centre = part.iter().map(|&vertex| model.rest()[vertex as usize]).sum::<Vec3>() / part.len() as f64;
        for number in 0..6 {
            let mut field = vec![0.0; model.dim()];
            for &vertex in part {
                let x = model.rest()[vertex as usize] - centre;
                let axis = Vec3::AXES[number % 3];
                let motion = if number < 3 { axis } else { axis.cross(x) };
                field[3 * vertex as usize..][..3].copy_from_slice(&motion.to_array());
            }
            fields.push(field);
        }
    }
    let mass = model.mass().clone();
    let fields = orthonormalize(fields, &|x, y| mass.mul(x, y), 1e-9);
    // How much each motion, and each pair of them, stretches or moves what is held.
    let products: Vec<Vec<f64>> = fields
        .iter()
        .map(|field| {
            let mut product = vec![0.0; field.len()];
            model.mul(Weights { stiffness: 1.0, ..Weights::default() }, field, &mut product);
            product
        })
        .collect();
    let diagonal = stiffness_diagonal(model);
    let held = model.held();
    let mut resistance = DenseMatrix::zero(fields.len());
    let mut scale: f64 = 0.0;
    for (i, a) in fields.iter().enumerate() {
        scale = scale.max((0..a.len()).map(|k| diagonal[k] * a[k] * a[k]).sum());
        for (j, b) in fields.iter().enumerate() {
            let of_holds: f64 = (0..a.len()).filter(|&k| held[k]).map(|k| diagonal[k] * a[k] * b[k]).sum();
            resistance[(i, j)] = dot(a, &products[j]) + of_holds;
        }
    }
    let Some(eigen) = Eigen::new(&resistance) else { return Ok(Vec::new()) };
    let loose = (0..fields.len()).filter(|&i| eigen.values[i].abs() <= NO_STIFFNESS * scale);
    let mut motions = combine(&fields, loose.map(|i| eigen.vector(i)));
    let held = model.held();
    for motion in &mut motions {
        motion.iter_mut().zip(held).filter(|(_, held)| **held).for_each(|(x, _)| *x = 0.0);
    }
    Ok(orthonormalize(motions, &|x, y| mass.mul(x, y), 1e-9))
}

/// The diagonal of the stiffness that was linearised last, three numbers a vertex; where there is none, that of the mass.
fn stiffness_diagonal(model: &Model) -> Vec<f64> {
    let (blocks, _) = model.stiffness().values().as_chunks::<9>();
    let pattern = model.pattern();
    (0..model.vertex_count())
        .flat_map(|vertex| {
            let block = blocks[pattern.row(vertex).start];
            [block[0].abs(), block[4].abs(), block[8].abs()]
        })
        .collect()
}

/// The vertices of each part of the bodies that hangs together by elements.
fn parts(model: &Model) -> Vec<Vec<u32>> {
    let mut parent: Vec<u32> = (0..model.vertex_count() as u32).collect();
    fn root(parent: &mut [u32], mut vertex: u32) -> u32 {
        while parent[vertex as usize] != vertex {
            parent[vertex as usize] = parent[parent[vertex as usize] as usize];
            vertex = parent[vertex as usize];
        }
        vertex
    }
    let mut is_used = vec![false; model.vertex_count()];
    for body in model.bodies() {
        let first = body.vertices().start as u32;
        for element in body.mesh().elements() {
            let a = root(&mut parent, element[0] + first);
            for &vertex in element {
                is_used[(vertex + first) as usize] = true;
                let b = root(&mut parent, vertex + first);
                parent[a.max(b) as usize] = a.min(b);
                parent[a as usize] = a.min(b);
                let low = a.min(b);
                parent[b as usize] = low;
            }
        }
    }
    let mut parts = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for vertex in (0..model.vertex_count() as u32).filter(|&vertex| is_used[vertex as usize]) {
        parts.entry(root(&mut parent, vertex)).or_default().push(vertex);
    }
    parts.into_values().collect()
}
