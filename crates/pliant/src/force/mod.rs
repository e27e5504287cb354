//! Internal forces: additive terms of the potential energy, each with its gradient and stiffness. One file per force.
//!
//! Displacements and forces are flat vectors with three numbers per vertex. Forces have the sign of
//! `M ü + D u̇ + f(u) = f_ext`: they are the gradient of the energy, opposite to the force on a vertex.

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
pub use obstacle::{
    Contact, ContactPoints, ContactPointsError, Obstacle, ObstacleShape, Obstacles, ObstaclesError, Side, Spacing,
    Weight,
};
pub use patch::{Patch, PatchError};
pub use pressure::{Pressure, PressureError, dead_pressure};
pub use recovery::NodalStates;
pub use springs::{PerSpring, Spring, SpringCoefficients, Springs, SpringsError};
pub use stress::StressState;
pub use stvk_polynomial::{StVkPolynomial, StVkPolynomialError};
pub use third_derivative::{ThirdDerivative, ThirdDerivativeBlock};

/// Term `V(u)` of the potential energy, with `f = ∂V/∂u` and `K = ∂f/∂u`.
///
/// Methods panic if a vector does not have three numbers per vertex, or a matrix does not have the bound pattern.
pub trait Force: Any + Debug + DynClone + Send + Sync {
    /// Returns the number of vertices.
    fn vertex_count(&self) -> usize;

    /// Calls `add` with each group of vertices that the force couples, and with each vertex on which it acts alone.
    fn cliques(&self, add: &mut dyn FnMut(&[u32]));

    /// Binds the force to a pattern: computes where it adds to matrices of that pattern. Call it before any method that
    /// takes a matrix, with a pattern that has all [`cliques`](Self::cliques).
    fn bind(&mut self, pattern: &Arc<BlockPattern>);

    /// Returns the energy `V(u)` \[J\].
    fn energy(&self, u: &[f64]) -> f64;

    /// Adds `f(u)` to `force`.
    fn add_force(&self, u: &[f64], force: &mut [f64]);

    /// Adds `f(u)` to `force` and `K(u)` to `stiffness`, in one pass.
    fn add_force_and_stiffness(
        &self,
        u: &[f64],
        definiteness: Definiteness,
        force: &mut [f64],
        stiffness: &mut BlockMatrix,
    );

    /// Returns true if the force has an energy. Otherwise `f` is nonconservative, `K` is the symmetric part of its
    /// derivative, and the energy is zero.
    fn has_energy(&self) -> bool {
        true
    }

    /// Returns true if the force has a velocity-dependent part; see [`add_damping`](Self::add_damping).
    fn has_damping(&self) -> bool {
        false
    }

    /// Adds the damping force `D(u, v) (v − v̄)` to `force`, from friction inside a body or against objects that move
    /// at `v̄`.
    fn add_damping_force(&self, _u: &[f64], _v: &[f64], _force: &mut [f64]) {}

    /// Adds the damping matrix `D(u, v)` to `damping`. It is symmetric and positive semi-definite.
    fn add_damping(&self, _u: &[f64], _v: &[f64], _damping: &mut BlockMatrix) {}

    /// Sets the time, if the cause of the force moves or changes.
    fn set_time(&mut self, _time: f64) {}

    /// Sets the load factor, from 0 to 1, if the force is a load on the body rather than a property of it.
    fn set_load_factor(&mut self, _factor: f64) {}
}

dyn_clone::clone_trait_object!(Force);

/// Creates the pattern of all vertices that these forces couple, and binds them to it.
pub fn bind_all(vertex_count: usize, forces: &mut [&mut dyn Force]) -> Arc<BlockPattern> {
    bind_all_with(vertex_count, forces, |_| {})
}

/// Creates the pattern as in [`bind_all`], with additional cliques from `more`, for instance those of a damping matrix.
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

/// Length relative to that at rest below which a direction is not distinguishable from rounding.
const NO_DIRECTION: f64 = 1e-12;

/// Number of cliques per chunk: large enough that the overhead per task is negligible, and small enough that small
/// bodies keep several threads busy.
const CHUNK: usize = 256;

/// Splits `clique_count` cliques into consecutive chunks, for [`Scatter::new`](crate::sparse::Scatter::new).
fn chunks(clique_count: usize) -> Vec<Range<usize>> {
    (0..clique_count).step_by(CHUNK).map(|start| start..clique_count.min(start + CHUNK)).collect()
}

/// Asserts that a vector has three numbers per vertex.
fn check_length(vector: &[f64], vertex_count: usize) {
    assert_eq!(vector.len(), 3 * vertex_count, "three numbers for each of {vertex_count} vertices");
}

/// Asserts that a matrix has the pattern to which a force is bound.
fn check_bound(pattern: Option<&Arc<BlockPattern>>, matrix: &BlockMatrix) {
    let is_bound = pattern.is_some_and(|pattern| Arc::ptr_eq(pattern, matrix.pattern()));
    assert!(is_bound, "the matrix does not have the pattern that the force is bound to");
}

/// Returns the three numbers of a vertex in a flat vector.
#[inline(always)]
fn at(flat: &[f64], vertex: u32) -> Vec3 {
    Vec3::from_slice(&flat[3 * vertex as usize..])
}

/// Returns a block of a matrix, row by row.
#[inline(always)]
fn rows(block: Mat3) -> [f64; 9] {
    block.transpose().to_cols_array()
}
