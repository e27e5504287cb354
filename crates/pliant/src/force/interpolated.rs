//! Forces on points that are interpolated from nodes.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Conditions, Definiteness, Force, bind_all, check_bound, check_length};
use crate::math::{Mat3, Vec3};
use crate::mesh::Interpolation;
use crate::motion::NotFinite;
use crate::sparse::{BlockMatrix, BlockPattern, LowRank};

/// Force on points that are weighted sums of nodes, `V(u) = Vₚ(W u)`, with
///
/// - the gradient `Wᵀ ∂Vₚ`;
/// - the stiffness `Wᵀ Kₚ W`, and damping likewise.
///
/// It lets any force act on the vertices of a body in [affine motion](crate::model::Kinematics::Affine) or of an
/// embedded surface: springs between two surfaces, handles, pressure. The force itself is created for the points, with
/// their rest positions.
#[derive(Debug)]
pub struct Interpolated {
    force: Box<dyn Force>,
    map: Interpolation,
    /// Pattern of the points that the force couples.
    points: Arc<BlockPattern>,
    /// Pattern that the nodes are bound to.
    pattern: Option<Arc<BlockPattern>>,
    /// First target of each slot of the pattern of the points, and the total number.
    starts: Vec<usize>,
    targets: Vec<Target>,
    /// Memory of evaluations, taken while in use. A concurrent caller allocates its own.
    scratch: Mutex<Scratch>,
}

/// Part of a block of nodes that is a block of points times a factor.
#[derive(Debug, Clone, Copy)]
struct Target {
    slot: usize,
    factor: f64,
    /// Adds the transpose.
    is_transposed: bool,
}

/// Displacements, velocities, gradient and matrix of the points.
#[derive(Debug, Default)]
struct Scratch {
    u: Vec<f64>,
    v: Vec<f64>,
    gradient: Vec<f64>,
    matrix: Option<BlockMatrix>,
    varying: LowRank,
}

impl Interpolated {
    /// Creates a force on the points of a map from nodes.
    ///
    /// # Panics
    /// If the force is not for as many points.
    pub fn new(force: impl Force + 'static, map: Interpolation) -> Self {
        assert_eq!(force.node_count(), map.len(), "the force must be for the points of the map");
        let mut force: Box<dyn Force> = Box::new(force);
        let points = bind_all(map.len(), &mut [&mut *force]);
        Self { force, map, points, pattern: None, starts: Vec::new(), targets: Vec::new(), scratch: Mutex::default() }
    }

    /// Returns the force on the points.
    pub fn force(&self) -> &dyn Force {
        &*self.force
    }

    /// Returns the points as weighted sums of nodes.
    pub fn interpolation(&self) -> &Interpolation {
        &self.map
    }

    /// Calls `evaluate` with the force and memory that contains the displacements of the points.
    fn with_points<T>(&self, u: &[f64], evaluate: impl FnOnce(&dyn Force, &mut Scratch) -> T) -> T {
        let lock = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = std::mem::take(&mut *lock());
        self.set_points(u, &mut scratch.u);
        let result = evaluate(&*self.force, &mut scratch);
        *lock() = scratch;
        result
    }

    fn set_points(&self, nodes: &[f64], points: &mut Vec<f64>) {
        check_length(nodes, self.map.node_count());
        points.clear();
        points.extend((0..self.map.len()).flat_map(|point| self.map.at(point, nodes).to_array()));
    }

    /// Adds `Wᵀ f` in the order of the points, on one thread.
    fn add_to_nodes(&self, points: &[f64], sum: &mut [f64]) {
        check_length(sum, self.map.node_count());
        let (points, _) = points.as_chunks::<3>();
        let (sum, _) = sum.as_chunks_mut::<3>();
        for (point, force) in points.iter().enumerate().filter(|(_, force)| **force != [0.0; 3]) {
            for (node, weight) in self.map.row(point) {
                let sum = &mut sum[node as usize];
                *sum = (Vec3::from_array(*sum) + weight * Vec3::from_array(*force)).to_array();
            }
        }
    }

    /// Adds `Wᵀ K W`, skipping blocks that are zero.
    fn add_matrix_to_nodes(&self, points: &BlockMatrix, sum: &mut BlockMatrix) {
        check_bound(self.pattern.as_ref(), sum);
        let (blocks, _) = points.values().as_chunks::<9>();
        let (sum, _) = sum.values_mut().as_chunks_mut::<9>();
        for (slot, block) in blocks.iter().enumerate().filter(|(_, block)| **block != [0.0; 9]) {
            let transposed = Mat3::from_cols_array(block).transpose().to_cols_array();
            for &Target { slot, factor, is_transposed } in &self.targets[self.starts[slot]..self.starts[slot + 1]] {
                let block = if is_transposed { &transposed } else { block };
                sum[slot].iter_mut().zip(block).for_each(|(sum, entry)| *sum += factor * entry);
            }
        }
    }

    /// Calls `add` with the position of each pair of nodes in the upper triangle that a pair of points couples.
    fn for_pairs(&self, [p, q]: [usize; 2], mut add: impl FnMut([u32; 2], f64, bool)) {
        for (i, a) in self.map.row(p) {
            for (j, b) in self.map.row(q) {
                // The block of the points (q, p) is the transpose of that of (p, q).
                if i <= j {
                    add([i, j], a * b, false);
                }
                if p != q && j <= i {
                    add([j, i], a * b, true);
                }
            }
        }
    }
}

impl Clone for Interpolated {
    fn clone(&self) -> Self {
        Self {
            force: self.force.clone(),
            map: self.map.clone(),
            points: self.points.clone(),
            pattern: self.pattern.clone(),
            starts: self.starts.clone(),
            targets: self.targets.clone(),
            scratch: Mutex::default(),
        }
    }
}

/// Returns the matrix of the points, with zeros.
fn cleared<'a>(matrix: &'a mut Option<BlockMatrix>, pattern: &Arc<BlockPattern>) -> &'a mut BlockMatrix {
    let matrix = matrix.get_or_insert_with(|| BlockMatrix::zero(pattern.clone()));
    matrix.clear();
    matrix
}

/// Sets `numbers` to zeros, three per point.
fn zeros(numbers: &mut Vec<f64>, count: usize) {
    numbers.clear();
    numbers.resize(3 * count, 0.0);
}

impl Force for Interpolated {
    fn node_count(&self) -> usize {
        self.map.node_count()
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        let mut nodes = Vec::new();
        self.force.cliques(&mut |points| {
            nodes.clear();
            nodes.extend(points.iter().flat_map(|&point| self.map.nodes(point as usize)));
            nodes.sort_unstable();
            nodes.dedup();
            add(&nodes);
        });
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        assert_eq!(pattern.node_count(), self.map.node_count(), "a pattern of the same nodes");
        let (mut starts, mut targets) = (vec![0], Vec::new());
        for p in 0..self.points.node_count() {
            for slot in self.points.row(p) {
                let q = self.points.columns()[slot] as usize;
                self.for_pairs([p, q], |[i, j], factor, is_transposed| {
                    let slot = pattern.slot(i, j).expect("the pattern has all pairs of the cliques");
                    targets.push(Target { slot, factor, is_transposed });
                });
                starts.push(targets.len());
            }
        }
        (self.starts, self.targets) = (starts, targets);
        self.pattern = Some(pattern.clone());
    }

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.force.check_time(time)
    }

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        self.with_points(u, |force, points| force.energy(&points.u, conditions))
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        self.with_points(u, |force, points| {
            zeros(&mut points.gradient, self.map.len());
            force.add_gradient(&points.u, conditions, &mut points.gradient);
            self.add_to_nodes(&points.gradient, gradient);
        });
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.with_points(u, |force, points| {
            zeros(&mut points.gradient, self.map.len());
            let matrix = cleared(&mut points.matrix, &self.points);
            force.add_gradient_and_stiffness(&points.u, conditions, definiteness, &mut points.gradient, matrix);
            self.add_to_nodes(&points.gradient, gradient);
            self.add_matrix_to_nodes(matrix, stiffness);
        });
    }

    fn add_varying_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        stiffness: &mut LowRank,
    ) {
        self.with_points(u, |force, points| {
            points.varying.clear();
            force.add_varying_stiffness(&points.u, conditions, definiteness, &mut points.varying);
            for term in points.varying.terms() {
                let mut vector: Vec<(u32, Vec3)> = Vec::new();
                for &(point, q) in term.vector {
                    for (node, weight) in self.map.row(point as usize) {
                        match vector.iter_mut().find(|(other, _)| *other == node) {
                            Some((_, sum)) => *sum += weight * q,
                            None => vector.push((node, weight * q)),
                        }
                    }
                }
                stiffness.push(term.factor, vector);
            }
        });
    }

    fn has_energy(&self) -> bool {
        self.force.has_energy()
    }

    fn has_damping(&self) -> bool {
        self.force.has_damping()
    }

    fn add_dissipation_gradient(&self, u: &[f64], conditions: &Conditions<'_>, v: &[f64], gradient: &mut [f64]) {
        self.with_points(u, |force, points| {
            self.set_points(v, &mut points.v);
            zeros(&mut points.gradient, self.map.len());
            force.add_dissipation_gradient(&points.u, conditions, &points.v, &mut points.gradient);
            self.add_to_nodes(&points.gradient, gradient);
        });
    }

    fn add_damping(&self, u: &[f64], conditions: &Conditions<'_>, v: &[f64], damping: &mut BlockMatrix) {
        self.with_points(u, |force, points| {
            self.set_points(v, &mut points.v);
            let matrix = cleared(&mut points.matrix, &self.points);
            force.add_damping(&points.u, conditions, &points.v, matrix);
            self.add_matrix_to_nodes(matrix, damping);
        });
    }

    fn history_len(&self) -> usize {
        self.force.history_len()
    }

    fn init_history(&self, history: &mut [f64]) {
        self.force.init_history(history);
    }

    fn update_history(&self, u: &[f64], conditions: &Conditions<'_>, history: &mut [f64]) {
        self.with_points(u, |force, points| force.update_history(&points.u, conditions, history));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_damping, check_derivatives, check_threads, random, resultants};
    use super::super::{SpringCoefficients, Springs};
    use super::*;

    /// Returns points that are nodes, inside, outside and repeated, with the rest positions of nodes and points.
    fn points() -> (Interpolation, Vec<Vec3>, Vec<Vec3>) {
        let rest: Vec<Vec3> = random(21, 1.0, 40).as_chunks::<3>().0.iter().map(|x| Vec3::from_array(*x)).collect();
        let nodes = vec![0, 0, 0, 0, 1, 2, 3, 4, 3, 5, 4, 6, 2, 1, 0, 3, 6, 6, 5, 2];
        let mut weights = random(20, 0.6, 41);
        weights[..4].copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
        for row in weights.chunks_mut(4) {
            row[3] += 1.0 - row.iter().sum::<f64>();
        }
        let map = Interpolation::new(4, nodes, weights, 7);
        let mut points = vec![Vec3::ZERO; 5];
        map.interpolate(&rest, &mut points);
        (map, rest, points)
    }

    fn springs(points: &[Vec3]) -> Springs {
        let pairs = [[0, 1], [0, 2], [1, 2], [2, 3], [1, 4], [0, 4]];
        let coefficients = SpringCoefficients { damping: 3.0.into(), ..SpringCoefficients::new(50.0) };
        Springs::new(points, &pairs, &coefficients).unwrap()
    }

    #[test]
    fn springs_between_points_have_the_gradient_stiffness_and_damping_of_their_energy() {
        let (map, rest, points) = points();
        let mut force = Interpolated::new(springs(&points), map.clone());
        for size in [0.01, 0.2] {
            let u = random(21, size, 42);
            let (f, _) = check_derivatives(&mut force, &Conditions::START, &u);
            let (total, moment) = resultants(&rest, &u, &f);
            let scale = f.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
            assert!(total.length() < 1e-12 * scale && moment.length() < 1e-12 * scale, "{total} {moment}");
            let v = random(21, 1.0, 43);
            check_damping(&mut force, &Conditions::START, &u, [&v, &[0.0; 21]]);
            let mut moved = vec![Vec3::ZERO; 5];
            map.interpolate_flat(&u, &mut moved);
            let moved: Vec<f64> = moved.iter().flat_map(Vec3::to_array).collect();
            let (on_points, conditions) = (springs(&points).energy(&moved, &Conditions::START), Conditions::START);
            assert_eq!(force.energy(&u, &conditions), on_points);
        }
        check_threads(&force, 7);
    }

    #[test]
    fn a_map_of_nodes_changes_nothing() {
        let (_, rest, _) = points();
        let mut direct = springs(&rest);
        let mut through = Interpolated::new(springs(&rest), Interpolation::of_nodes((0..7).collect(), 7));
        let u = random(21, 0.3, 44);
        let evaluate = |force: &mut dyn Force| {
            let pattern = bind_all(7, &mut [force]);
            let (mut f, mut k) = (vec![0.0; 21], BlockMatrix::zero(pattern));
            force.add_gradient_and_stiffness(&u, &Conditions::START, Definiteness::Exact, &mut f, &mut k);
            (f, k)
        };
        assert_eq!(evaluate(&mut direct), evaluate(&mut through));
    }
}
