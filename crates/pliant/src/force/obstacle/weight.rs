//! Weight of a body, for obstacles that support it.

use super::Obstacle;
use crate::math::Vec3;
use crate::mesh::VolumeMesh;

/// Depth to which a body sinks into an obstacle under its weight, relative to its height.
const SINKING: f64 = 0.01;

/// Fraction of the boundary vertices on which a body rests: one side of six.
const RESTING: f64 = 1.0 / 6.0;

/// Weight of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// Force \[N\].
    force: f64,
    /// Extent along gravity \[m\].
    height: f64,
    /// Density times gravity times height \[Pa\], which is about the maximum stress under the weight.
    pub pressure: f64,
}

impl Weight {
    /// Returns the weight of a body with densities \[kg/m³\] for its regions, or `None` if it is weightless.
    pub fn new(mesh: &VolumeMesh, densities: &[f64], gravity: Vec3) -> Option<Self> {
        let down = gravity.try_normalize()?;
        if densities.len() != mesh.regions().len() {
            return None;
        }
        let mass = mesh.mass_properties(densities).mass;
        let volume = mesh.mass_properties(&vec![1.0; densities.len()]).mass;
        let heights = || mesh.vertices().iter().map(|x| x.dot(down));
        let height = heights().fold(f64::NEG_INFINITY, f64::max) - heights().fold(f64::INFINITY, f64::min);
        let force = mass * gravity.length();
        (force > 0.0 && height > 0.0).then(|| Self { force, height, pressure: force / volume * height })
    }
}

impl Obstacle {
    /// Returns the stiffness per vertex \[N/m\] for contact with a body that is very soft relative to its weight, and 0
    /// for other bodies.
    ///
    /// A body of density `ρ` and extent `L` along gravity `g` is very soft if `ρ|g|L > E`. With this stiffness it sinks
    /// in by a hundredth of `L` when it rests on a sixth of its boundary vertices. [`Obstacle::stiffness_for`] alone,
    /// which is proportional to `E`, would let it sink through the obstacle.
    pub fn stiffness_for_weight(mesh: &VolumeMesh, young: f64, densities: &[f64], gravity: Vec3) -> f64 {
        let Some(weight) = Weight::new(mesh, densities, gravity).filter(|weight| weight.pressure > young) else {
            return 0.0;
        };
        let resting = (RESTING * mesh.boundary().vertices.len() as f64).max(1.0);
        weight.force / (SINKING * weight.height * resting)
    }
}
