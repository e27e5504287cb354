//! Internal forces: additive terms of the potential energy, each with its gradient and stiffness. One file per force.
//!
//! Displacements and gradients are flat vectors with three numbers per node. A force contributes the gradient
//! `∂V/∂u` of its energy to `M ü + D u̇ + ∂V/∂u = f_ext`, which is opposite to the force on a node.

mod conditions;
mod elastic;
mod geometric;
mod gradients;
mod handles;
mod interpolated;
mod inverted;
mod loads;
mod obstacle;
mod patch;
mod pressure;
mod recovery;
mod springs;
mod stress;
mod stvk_polynomial;
mod surface_contact;
#[cfg(test)]
mod testing;
mod third_derivative;

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use dyn_clone::DynClone;

use crate::contact::StepLimit;
use crate::math::{Mat3, Vec3};
use crate::motion::NotFinite;
use crate::sparse::{BlockMatrix, BlockPattern, LowRank};

pub use crate::contact::StepMotion;
pub use crate::material::Definiteness;
pub use conditions::Conditions;
pub use elastic::{Elastic, MaterialCount};
pub use geometric::{Geometric, GeometricError, GeometricStiffness};
pub use handles::{Handle, Handles, HandlesError};
pub use interpolated::Interpolated;
pub use inverted::InvertedElement;
pub use loads::{LoadsError, NodalLoads, ScheduledLoad, surface_force, surface_traction};
pub use obstacle::{
    Ball, Contact, ContactPoints, ContactPointsError, Curvature, HollowBall, Obstacle, ObstacleGeometry, ObstacleShape,
    Obstacles, ObstaclesError, Placement, Plane, ShapeError, Spacing, SurfacePoint, Weight,
};
pub use patch::{Patch, PatchError};
pub use pressure::{Pressure, PressureError, dead_pressure};
pub use recovery::NodalStates;
pub use springs::{PerSpring, Spring, SpringCoefficients, Springs, SpringsError};
pub use stress::StressState;
pub use stvk_polynomial::{StVkPolynomial, StVkPolynomialError};
pub use surface_contact::{ContactReport, SurfaceContact};
pub use third_derivative::{ThirdDerivative, ThirdDerivativeBlock};

/// Term `V(u)` of the potential energy, with its gradient `∂V/∂u` and stiffness `K = ∂²V/∂u²`.
///
/// A force is not changed by a step: everything that varies besides `u` and `v` is in the [`Conditions`]. Methods panic
/// if a vector does not have three numbers per node, a matrix does not have the bound pattern, or the conditions do
/// not have [`history_len`](Self::history_len) history variables.
pub trait Force: Any + Debug + DynClone + Send + Sync {
    /// Returns the number of nodes.
    fn node_count(&self) -> usize;

    /// Calls `add` with each group of nodes that the force couples, and with each node on which it acts alone.
    /// Couplings that change while bodies move are left to [`add_varying_stiffness`](Self::add_varying_stiffness).
    fn cliques(&self, add: &mut dyn FnMut(&[u32]));

    /// Binds the force to a pattern: computes where it adds to matrices of that pattern. Call it before any method that
    /// takes a matrix, with a pattern that has all [`cliques`](Self::cliques).
    fn bind(&mut self, pattern: &Arc<BlockPattern>);

    /// Checks that prescribed motions and amplitudes are finite at a time \[s\]. Integrators call it for each step, as
    /// a function of time may be undefined or overflow after the first one.
    fn check_time(&self, _time: f64) -> Result<(), NotFinite> {
        Ok(())
    }

    /// Returns the energy `V(u)` \[J\].
    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64;

    /// Adds `∂V/∂u` to `gradient`.
    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]);

    /// Adds `∂V/∂u` to `gradient` and `K(u)` to `stiffness`, in one pass.
    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    );

    /// Adds the part of `K(u)` that couples nodes outside of the pattern, such as those of bodies in contact.
    fn add_varying_stiffness(
        &self,
        _u: &[f64],
        _conditions: &Conditions<'_>,
        _definiteness: Definiteness,
        _stiffness: &mut LowRank,
    ) {
    }

    /// Returns true if the force depends on [`StepMotion::lagged`], as friction of contacts does.
    fn is_lagged(&self) -> bool {
        false
    }

    /// Returns true if the force depends on [`Conditions::progress`], as moving colliders do.
    fn is_moved(&self) -> bool {
        false
    }

    /// Adds the change of the gradient, to first order, when the progress changes to `end_progress` and `u` does not.
    /// It predicts what moving colliders push.
    fn add_gradient_of_motion(
        &self,
        _u: &[f64],
        _conditions: &Conditions<'_>,
        _end_progress: f64,
        _gradient: &mut [f64],
    ) {
    }

    /// Returns true if the energy is infinite or undefined beyond some [limit](Self::limit_step) of a motion. Only
    /// integrators that respect it can be used.
    fn limits_steps(&self) -> bool {
        false
    }

    /// Returns a fraction of a motion from `u` along `direction`, and from the progress of the conditions to
    /// `end_progress`, beyond which the energy may be infinite or undefined, such as that of surfaces that meet.
    ///
    /// With `by_islands`, the progress does not change, and parts of the system that are independent of each other are
    /// shortened separately, in `direction`.
    fn limit_step(
        &self,
        _u: &[f64],
        _direction: &mut [f64],
        _conditions: &Conditions<'_>,
        _end_progress: f64,
        _by_islands: bool,
    ) -> StepLimit {
        StepLimit { fraction: 1.0, bodies: None }
    }

    /// Returns true if the force has an energy. Otherwise `∂V/∂u` stands for a nonconservative force, `K` is the
    /// symmetric part of its derivative, and the energy is zero.
    fn has_energy(&self) -> bool {
        true
    }

    /// Returns true if the force has a velocity-dependent part; see [`add_damping`](Self::add_damping).
    fn has_damping(&self) -> bool {
        false
    }

    /// Adds `D(u, v) (v − v̄)` to `gradient`: the gradient, with respect to `v`, of the energy that friction inside a
    /// body or against objects that move at `v̄` dissipates.
    fn add_dissipation_gradient(&self, _u: &[f64], _conditions: &Conditions<'_>, _v: &[f64], _gradient: &mut [f64]) {}

    /// Adds the damping matrix `D(u, v)` to `damping`. It is symmetric and positive semi-definite.
    fn add_damping(&self, _u: &[f64], _conditions: &Conditions<'_>, _v: &[f64], _damping: &mut BlockMatrix) {}

    /// Returns the number of history variables, such as plastic strains or anchors of friction.
    ///
    /// They belong to the [`State`](crate::system::State). The conditions of a step contain their values at its start,
    /// so that energies, gradients and stiffnesses are functions of `u` alone, and a failed step changes nothing.
    fn history_len(&self) -> usize {
        0
    }

    /// Sets the history variables to those of the undeformed body.
    fn init_history(&self, _history: &mut [f64]) {}

    /// Sets `history` to the history variables at the end of a step that leads to `u`. It is called once for every
    /// accepted step; `history` contains the values at the start.
    fn update_history(&self, _u: &[f64], _conditions: &Conditions<'_>, _history: &mut [f64]) {}
}

dyn_clone::clone_trait_object!(Force);

/// Creates the pattern of all nodes that these forces couple, and binds them to it.
pub fn bind_all(node_count: usize, forces: &mut [&mut dyn Force]) -> Arc<BlockPattern> {
    bind_all_with(node_count, forces, |_| {})
}

/// Creates the pattern as in [`bind_all`], with additional cliques from `more`, for instance those of a damping matrix.
pub fn bind_all_with(
    node_count: usize,
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
    let pattern = Arc::new(BlockPattern::from_cliques(node_count, cliques));
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

/// Asserts that a vector has three numbers per node.
fn check_length(vector: &[f64], node_count: usize) {
    assert_eq!(vector.len(), 3 * node_count, "three numbers for each of {node_count} nodes");
}

/// Asserts that a matrix has the pattern to which a force is bound.
fn check_bound(pattern: Option<&Arc<BlockPattern>>, matrix: &BlockMatrix) {
    let is_bound = pattern.is_some_and(|pattern| Arc::ptr_eq(pattern, matrix.pattern()));
    assert!(is_bound, "the matrix does not have the pattern that the force is bound to");
}

/// Returns the three numbers of a node in a flat vector.
#[inline(always)]
fn at(flat: &[f64], node: u32) -> Vec3 {
    Vec3::from_slice(&flat[3 * node as usize..])
}

/// Returns a block of a matrix, row by row.
#[inline(always)]
fn rows(block: Mat3) -> [f64; 9] {
    block.transpose().to_cols_array()
}
