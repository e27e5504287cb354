//! Optimized cubature: a few weighted elements that represent all \[AnKimJames2008\].
//!
//! The reduced force is an integral over the body. A weighted sum of a few elements approximates it for the shapes that
//! the basis allows. The elements and weights are fitted to the forces at training shapes, the poses.
//!
//! With `gₑᵗ = Ω⁻¹Uₑᵀfₑ(Uqᵗ)` the contribution of element `e` at pose `t` and `fᵗ` their sum, both divided by `|fᵗ|`,
//! the fit is `min Σₜ |Σₑ wₑ gₑᵗ − fᵗ|²` for `w ≥ 0`. Forces are divided by the frequencies, `Ω = diag(ω)`. Soft
//! coordinates, where displacements are large, then count as much as stiff ones, where forces are large.

use std::ops::ControlFlow;

use super::basis::Basis;
use super::elements::{ReducedElements, WeightedElement};
use super::nnls;
use crate::force::{Conditions, Elastic, Force};
use crate::mesh::{MeshData, VolumeMesh};
use crate::model::{Model, ModelBody};
use crate::solver::vector::norm;

/// Parameters of the cubature.
#[derive(Debug, Clone, PartialEq)]
pub struct CubatureParams {
    /// Maximum number of elements.
    pub elements: usize,
    /// Tolerance of the forces at the poses, relative to the forces.
    pub tolerance: f64,
    /// Number of random poses, in addition to the snapshots of the basis.
    pub poses: usize,
    /// Maximum displacement in a pose, as a fraction of the size of the body.
    pub amplitude: f64,
}

impl Default for CubatureParams {
    fn default() -> Self {
        Self { elements: 300, tolerance: 5e-4, poses: 60, amplitude: 0.2 }
    }
}

/// Quality of a cubature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CubatureInfo {
    /// Number of elements.
    pub elements: usize,
    /// Number of poses with finite, nonzero forces.
    pub poses: usize,
    /// Root-mean-square error of the forces at the training poses, relative to the forces.
    pub fitted: f64,
    /// Root-mean-square error at poses not used for the fit; `None` without such poses.
    pub tested: Option<f64>,
}

/// Maximum number of entries of the candidate matrix: a quarter of a gigabyte.
const MAX_NUMBERS: usize = 1 << 25;

/// Interval of poses reserved for testing: one in this many.
const TESTED: usize = 5;

/// Shape, and the elastic force of the whole body there, divided by the frequencies.
struct Pose {
    q: Vec<f64>,
    force: Vec<f64>,
}

/// Selects elements. `watch` receives their number so far, and may stop the selection: then the result is `None`.
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
        // A law may have no forces where a pose inverts elements.
        let size = norm(&force);
        if size > 0.0 && size.is_finite() {
            let poses = if number % TESTED == 1 { &mut tested } else { &mut fitted };
            poses.push(Pose { q, force });
        }
    }
    let candidates = candidates(model, MAX_NUMBERS / (r * fitted.len().max(1)), &mut rng);
    let columns = parts(model, basis, omega_squared, &candidates, &fitted);
    let unit = |pose: &Pose| {
        let size = norm(&pose.force);
        pose.force.iter().map(|force| force / size).collect::<Vec<_>>()
    };
    let target: Vec<f64> = fitted.iter().flat_map(unit).collect();
    let nnls_params = nnls::NnlsParams { most: params.elements, tolerance: params.tolerance };
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

/// Returns a random shape with amplitudes inversely proportional to frequency, so that all coordinates are equally
/// excited.
fn pose(basis: &Basis, omega_squared: &[f64], size: f64, rng: &mut fastrand::Rng) -> Vec<f64> {
    // A sum of uniform random numbers is nearly normal.
    let mut normal = || (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
    let mut q: Vec<f64> = omega_squared.iter().map(|square| normal() / square.max(f64::MIN_POSITIVE).sqrt()).collect();
    let largest = basis.expand(&q).chunks_exact(3).map(norm).fold(0.0, f64::max);
    let scale = if largest > 0.0 { size * rng.f64().max(0.05) / largest } else { 0.0 };
    q.iter_mut().for_each(|q| *q *= scale);
    q
}

/// Returns at most `most` random elements of all bodies.
fn candidates(model: &Model, most: usize, rng: &mut fastrand::Rng) -> Vec<(u32, u32)> {
    let elastic = model.bodies().iter().enumerate().filter(|(_, body)| body.elastic().is_some());
    let mut all: Vec<(u32, u32)> = elastic
        .flat_map(|(number, body)| {
            (0..body.node_mesh().element_count() as u32).map(move |element| (number as u32, element))
        })
        .collect();
    rng.shuffle(&mut all);
    all.truncate(most);
    all.sort_unstable();
    all
}

/// Returns `gₑᵗ / |fᵗ|` of each candidate for all poses.
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
        let nodes = body.node_mesh().kind().nodes();
        // Vertices of the elements, by their numbers in the model.
        let vertices: Vec<usize> = elements
            .iter()
            .flat_map(|&element| body.node_mesh().element(element as usize))
            .map(|&vertex| body.nodes().start + vertex as usize)
            .collect();
        for Pose { q, force: sum } in poses {
            let all = basis.expand(q);
            let u: Vec<f64> =
                vertices.iter().flat_map(|&vertex| all[3 * vertex..3 * vertex + 3].iter().copied()).collect();
            let mut force = vec![0.0; u.len()];
            elastic.add_gradient(&u, &Conditions::START, &mut force);
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

/// Returns the elasticity of separate copies of elements that share no vertices, so that the force of each is known.
fn isolated(body: &ModelBody, elements: &[u32]) -> Elastic {
    let mesh = body.node_mesh();
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

/// Returns the root-mean-square error of the forces of selected elements, relative to the forces.
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
