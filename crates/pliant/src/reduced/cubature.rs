//! A few elements that stand for all (An, Kim and James 2008).
//!
//! The reduced force is an integral over the body, and a weighted sum of a few elements approximates it for the shapes that
//! the basis allows. Which, and with which weights, is fitted to the forces at some shapes, the poses: with `gₑᵗ = Ω⁻¹Uₑᵀfₑ(Uqᵗ)` the
//! part of element `e` at pose `t` and `fᵗ` the sum of all parts, both divided by `|fᵗ|`, `min Σₜ |Σₑ wₑ gₑᵗ − fᵗ|²` for `w ≥ 0`. Forces are divided by
//! the frequencies, `Ω = diag(ω)`, so that the soft directions, in which a body moves most, count as much as the stiff ones, in which it pushes most.

use std::ops::ControlFlow;

use super::basis::Basis;
use super::elements::{ReducedElements, WeightedElement};
use super::nnls;
use crate::force::{Elastic, Force};
use crate::mesh::{MeshData, VolumeMesh};
use crate::model::{Model, ModelBody};
use crate::solver::vector::norm;
use crate::system::System;

/// How elements are chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct CubatureParams {
    /// The most elements.
    pub elements: usize,
    /// It is enough when the forces at the poses are met to this part.
    pub tolerance: f64,
    /// How many poses forces are fitted at, beside the snapshots that the basis is made of.
    pub poses: usize,
    /// How far the body moves in a pose, as a part of its size.
    pub amplitude: f64,
}

impl Default for CubatureParams {
    fn default() -> Self {
        Self { elements: 300, tolerance: 5e-4, poses: 60, amplitude: 0.2 }
    }
}

/// How well the elements that were chosen stand for all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CubatureInfo {
    /// How many there are.
    pub elements: usize,
    /// How many poses there were at which the law has forces.
    pub poses: usize,
    /// The error of the forces at the poses that they were fitted to, as a part of the forces: root mean square.
    pub fitted: f64,
    /// The same at poses that were not used, if there were any.
    pub tested: Option<f64>,
}

/// The most numbers of the parts of candidates: a quarter of a gigabyte.
const MOST_NUMBERS: usize = 1 << 25;

/// Which part of the poses is kept to test the result.
const TESTED: usize = 5;

/// A shape, and the elastic force of the whole body there, divided by the frequencies.
struct Pose {
    q: Vec<f64>,
    force: Vec<f64>,
}

/// Choose elements. `watch` is told how many there are, and may break off: then there is no result.
pub(super) fn choose(
    model: &Model,
    basis: &Basis,
    omega_squared: &[f64],
    given: Vec<Vec<f64>>,
    params: &CubatureParams,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Option<(Vec<WeightedElement>, CubatureInfo)> {
    let mut rng = fastrand::Rng::with_seed(2);
    let mut all = ReducedElements::all(model, basis);
    let r = basis.size();
    let random = (0..params.poses).map(|_| pose(basis, omega_squared, params.amplitude * model.extent(), &mut rng));
    let shapes: Vec<Vec<f64>> = given.into_iter().chain(random).collect();
    let (mut fitted, mut tested) = (Vec::new(), Vec::new());
    for (number, q) in shapes.into_iter().enumerate() {
        if watch(0).is_break() {
            return None;
        }
        let mut force = vec![0.0; r];
        all.force(&q, &mut force);
        force.iter_mut().zip(omega_squared).for_each(|(force, square)| *force /= square.sqrt());
        // A law may have no forces where a pose turns elements inside out.
        let size = norm(&force);
        if size > 0.0 && size.is_finite() {
            let poses = if number % TESTED == 1 { &mut tested } else { &mut fitted };
            poses.push(Pose { q, force });
        }
    }
    let candidates = candidates(model, MOST_NUMBERS / (r * fitted.len().max(1)), &mut rng);
    let columns = parts(model, basis, omega_squared, &candidates, &fitted);
    let unit = |pose: &Pose| {
        let size = norm(&pose.force);
        pose.force.iter().map(|force| force / size).collect::<Vec<_>>()
    };
    let target: Vec<f64> = fitted.iter().flat_map(unit).collect();
    let nnls_params = nnls::Params { most: params.elements, tolerance: params.tolerance };
    let found = nnls::solve(&columns, &target, &nnls_params, watch)?;
    let element = |&(column, weight): &(usize, f64)| {
        let (body, element) = candidates[column];
        WeightedElement { body, element, weight }
    };
    let chosen: Vec<WeightedElement> = found.columns.iter().map(element).collect();
    let poses = fitted.len() + tested.len();
    let tested = error_at(model, basis, omega_squared, &chosen, &tested);
    let info = CubatureInfo { elements: chosen.len(), poses, fitted: found.residual, tested };
    Some((chosen, info))
}

/// A random shape, as strongly excited in all directions: amplitudes fall with the frequency.
fn pose(basis: &Basis, omega_squared: &[f64], size: f64, rng: &mut fastrand::Rng) -> Vec<f64> {
    // The sum of uniform numbers is nearly normal.
    let mut normal = || (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
    let mut q: Vec<f64> = omega_squared.iter().map(|square| normal() / square.max(f64::MIN_POSITIVE).sqrt()).collect();
    let largest = basis.expand(&q).chunks_exact(3).map(norm).fold(0.0, f64::max);
    let scale = if largest > 0.0 { size * rng.f64().max(0.05) / largest } else { 0.0 };
    q.iter_mut().for_each(|q| *q *= scale);
    q
}

/// At most so many elements of all bodies, at random.
fn candidates(model: &Model, most: usize, rng: &mut fastrand::Rng) -> Vec<(u32, u32)> {
    let elastic = model.bodies().iter().enumerate().filter(|(_, body)| body.elastic().is_some());
    let mut all: Vec<(u32, u32)> = elastic
        .flat_map(|(number, body)| (0..body.mesh().element_count() as u32).map(move |element| (number as u32, element)))
        .collect();
    rng.shuffle(&mut all);
    all.truncate(most);
    all.sort_unstable();
    all
}

/// `gₑᵗ / |fᵗ|` of each candidate, for all poses.
fn parts(
    model: &Model,
    basis: &Basis,
    omega_squared: &[f64],
    candidates: &[(u32, u32)],
    poses: &[Pose],
) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(basis.size() * poses.len()); candidates.len()];
    let mut first = 0;
    for group in candidates.chunk_by(|a, b| a.0 == b.0) {
        let body = &model.bodies()[group[0].0 as usize];
        let elements: Vec<u32> = group.iter().map(|(_, element)| *element).collect();
        let elastic = isolated(body, &elements);
        let nodes = body.mesh().kind().nodes();
        // The vertex of the model that each vertex of the elements is.
        let vertices: Vec<usize> = elements
            .iter()
            .flat_map(|&element| body.mesh().element(element as usize))
            .map(|&vertex| body.vertices().start + vertex as usize)
            .collect();
        for Pose { q, force: sum } in poses {
            let all = basis.expand(q);
            let u: Vec<f64> =
                vertices.iter().flat_map(|&vertex| all[3 * vertex..3 * vertex + 3].iter().copied()).collect();
            let mut force = vec![0.0; u.len()];
            elastic.add_force(&u, &mut force);
            let size = norm(sum);
            for (number, (vertices, force)) in
                vertices.chunks_exact(nodes).zip(force.chunks_exact(3 * nodes)).enumerate()
            {
                let part = |(column, square): (&Vec<f64>, &f64)| {
                    let at = vertices.iter().flat_map(|&vertex| &column[3 * vertex..3 * vertex + 3]);
                    at.zip(force).map(|(u, f)| u * f).sum::<f64>() / (size * square.sqrt())
                };
                columns[first + number].extend(basis.columns().iter().zip(omega_squared).map(part));
            }
        }
        first += group.len();
    }
    columns
}

/// The elasticity of some elements that share no vertices, so that the force on each can be told.
fn isolated(body: &ModelBody, elements: &[u32]) -> Elastic {
    let mesh = body.mesh();
    let corners = || elements.iter().flat_map(|&element| mesh.element(element as usize));
    let vertices = corners().map(|&vertex| mesh.vertices()[vertex as usize]).collect();
    let data = MeshData {
        regions: mesh.regions().to_vec(),
        element_region: elements.iter().map(|&element| mesh.element_region()[element as usize]).collect(),
        ..MeshData::new(vertices, mesh.kind(), (0..corners().count() as u32).collect())
    };
    let mesh = VolumeMesh::check(data).expect("elements of a mesh that was checked").mesh;
    let materials = body.elastic().expect("a body with elasticity").materials().to_vec();
    Elastic::new(&mesh, materials).expect("the regions of the body")
}

/// The error of the forces of some elements, as a part of the forces: root mean square.
fn error_at(
    model: &Model,
    basis: &Basis,
    omega_squared: &[f64],
    chosen: &[WeightedElement],
    poses: &[Pose],
) -> Option<f64> {
    let mut few = ReducedElements::selected(model, basis, chosen).ok()?;
    let mut sum = 0.0;
    for Pose { q, force: expected } in poses {
        let mut force = vec![0.0; q.len()];
        few.force(q, &mut force);
        let scaled = force.iter_mut().zip(omega_squared).zip(expected);
        scaled.for_each(|((force, square), expected)| *force = *force / square.sqrt() - expected);
        sum += (norm(&force) / norm(expected)).powi(2);
    }
    (!poses.is_empty()).then(|| (sum / poses.len() as f64).sqrt())
}
