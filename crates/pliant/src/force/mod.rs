//! Internal forces: each an additive term of the potential energy, with its gradient and stiffness. One file a force.
//!
//! Displacements and forces are flat: three numbers a vertex. Forces have the sign of `M ü + D u̇ + f(u) = f_ext`: they are the
//! gradient of the energy, the negative of the push that a vertex feels.

mod elastic;
mod geometric;
mod gradients;
mod handles;
mod inverted;
mod loads;
mod obstacle;
mod patch;
mod pressure;
mod recovery;
mod springs;
mod stress;
mod stvk_polynomial;
#[cfg(test)]
mod testing;
mod third_derivative;

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use dyn_clone::DynClone;

use crate::math::{Mat3, Vec3};
use crate::sparse::{BlockMatrix, BlockPattern};

pub use crate::material::Definiteness;
pub use elastic::{Elastic, MaterialCount};
pub use geometric::{Geometric, GeometricError, GeometricStiffness};
pub use handles::{Handle, Handles, HandlesError};
pub use inverted::InvertedElement;
pub use loads::{LoadsError, NodalLoads, ScheduledLoad, surface_force, surface_traction};
pub(crate) use obstacle::Weight;
pub use obstacle::{
    Contact, ContactPoints, ContactPointsError, Obstacle, Obstacles, ObstaclesError, Shape, Side, Spacing,
};
pub use patch::{Patch, PatchError};
pub use pressure::{Pressure, PressureError, dead_pressure};
pub use recovery::NodalStates;
pub use springs::{PerSpring, Spring, SpringCoefficients, Springs, SpringsError};
pub use stress::Strained;
pub use stvk_polynomial::{StVkPolynomial, StVkPolynomialError};
pub use third_derivative::{ThirdDerivative, ThirdDerivativeBlock};

/// A term `V(u)` of the potential energy, with `f = ∂V/∂u` and `K = ∂f/∂u`.
///
/// Methods panic if a vector has not three numbers a vertex, or a matrix is not of the pattern that the force is bound to.
pub trait Force: Any + Debug + DynClone + Send + Sync {
    /// How many vertices it is for.
    fn vertex_count(&self) -> usize;

    /// Call `add` with each group of vertices that the force couples, and with each vertex alone that it acts on alone.
    fn cliques(&self, add: &mut dyn FnMut(&[u32]));

    /// Find out where in matrices of this pattern the force adds. To be called before any method that takes a matrix, with
    /// a pattern that has all [`cliques`](Self::cliques).
    fn bind(&mut self, pattern: &Arc<BlockPattern>);

    /// `V(u)`, in J.
    fn energy(&self, u: &[f64]) -> f64;

    /// `force + f(u)`.
    fn add_force(&self, u: &[f64], force: &mut [f64]);

    /// `force + f(u)` and `stiffness + K(u)`, in one pass.
    fn add_force_and_stiffness(
        &self,
        u: &[f64],
        definiteness: Definiteness,
        force: &mut [f64],
        stiffness: &mut BlockMatrix,
    );

    /// Whether there is such an energy. If not, `f` is a force without potential, `K` the symmetric part of its derivative, and
    /// the energy zero.
    fn has_energy(&self) -> bool {
        true
    }

    /// Whether friction depends on velocities: [`add_damping`](Self::add_damping) adds something.
    fn has_damping(&self) -> bool {
        false
    }

    /// `force + D(u, v) (v − v̄)`, the force of friction inside a body or against things that move at `v̄`.
    fn add_damping_force(&self, _u: &[f64], _v: &[f64], _force: &mut [f64]) {}

    /// `damping + D(u, v)`: symmetric, and not negative in any direction.
    fn add_damping(&self, _u: &[f64], _v: &[f64], _damping: &mut BlockMatrix) {}

    /// Go to a time, if what causes the force moves or changes.
    fn set_time(&mut self, _time: f64) {}

    /// Exert only a part of the force, from 0 to 1, if it is a load on the body and no property of it.
    fn set_load_factor(&mut self, _factor: f64) {}
}

dyn_clone::clone_trait_object!(Force);

/// The pattern of what these forces couple, to which they are then bound.
pub fn bind_all(vertex_count: usize, forces: &mut [&mut dyn Force]) -> Arc<BlockPattern> {
    bind_all_with(vertex_count, forces, |_| {})
}

/// The same with what something else couples, which `more` calls its argument with: for instance a damping matrix.
pub fn bind_all_with(
    vertex_count: usize,
    forces: &mut [&mut dyn Force],
    more: impl FnOnce(&mut dyn FnMut(&[u32])),
) -> Arc<BlockPattern> {
    let (mut nodes, mut ends) = (Vec::new(), Vec::new());
    let mut add = |clique: &[u32]| {
        nodes.extend_from_slice(clique);
        ends.push(nodes.len());
    };
    for force in &*forces {
        force.cliques(&mut add);
    }
    more(&mut add);
    let starts = std::iter::once(&0).chain(&ends);
    let cliques = starts.zip(&ends).map(|(&start, &end)| &nodes[start..end]);
    let pattern = Arc::new(BlockPattern::from_cliques(vertex_count, cliques));
    for force in forces {
        force.bind(&pattern);
    }
    pattern
}

/// What is smaller than this part of its size at rest has no direction that could be told from rounding.
const NO_DIRECTION: f64 = 1e-12;

/// How many cliques are worked on together: enough that handing them to a thread costs nothing, few enough that small
/// bodies keep several threads busy.
const CHUNK: usize = 256;

/// So many cliques in chunks of consecutive ones, for [`Scatter::new`](crate::sparse::Scatter::new).
fn chunks(clique_count: usize) -> Vec<Range<usize>> {
    (0..clique_count).step_by(CHUNK).map(|start| start..clique_count.min(start + CHUNK)).collect()
}

/// Check that a vector has three numbers for each vertex.
fn check_length(vector: &[f64], vertex_count: usize) {
    assert_eq!(vector.len(), 3 * vertex_count, "three numbers for each of {vertex_count} vertices");
}

/// Check that a matrix is of the pattern that a force is bound to.
fn check_bound(pattern: Option<&Arc<BlockPattern>>, matrix: &BlockMatrix) {
    let is_bound = pattern.is_some_and(|pattern| Arc::ptr_eq(pattern, matrix.pattern()));
    assert!(is_bound, "a matrix of the pattern that this is bound to");
}

/// The three numbers of a vertex in a flat vector.
#[inline(always)]
fn at(flat: &[f64], vertex: u32) -> Vec3 {
    Vec3::from_slice(&flat[3 * vertex as usize..])
}

/// The block of a matrix, row by row.
#[inline(always)]
fn rows(block: Mat3) -> [f64; 9] {
    block.transpose().to_cols_array()
}
