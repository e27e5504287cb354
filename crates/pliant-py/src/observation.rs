//! What is measured of a simulation.

use pyo3::prelude::*;

/// What a simulation is doing, in SI units.
#[pyclass(frozen, get_all, module = "pliant")]
#[derive(Debug)]
pub struct Observation {
    /// The time, in s.
    time: f64,
    /// ``½ vᵀMv``, in J.
    kinetic_energy: f64,
    /// Of the elasticity of all bodies, in J.
    elastic_energy: f64,
    /// Of gravity, in J, relative to rest.
    gravitational_energy: f64,
    /// Of forces and handles, in J.
    other_energy: f64,
    /// All together, in J.
    pub total_energy: f64,
    /// Of all bodies, in kg.
    mass: f64,
    /// Of all bodies, in m³.
    volume: f64,
    /// Where the centre of mass is, in m.
    centre_of_mass: (f64, f64, f64),
    /// Of all bodies, in kg m/s.
    momentum: (f64, f64, f64),
    /// About the origin, in kg m²/s.
    angular_momentum: (f64, f64, f64),
}

impl From<&pliant::model::Observation> for Observation {
    fn from(seen: &pliant::model::Observation) -> Self {
        Self {
            time: seen.time,
            kinetic_energy: seen.kinetic_energy,
            elastic_energy: seen.elastic_energy,
            gravitational_energy: seen.gravitational_energy,
            other_energy: seen.other_energy,
            total_energy: seen.total_energy(),
            mass: seen.mass,
            volume: seen.volume,
            centre_of_mass: seen.centre_of_mass.into(),
            momentum: seen.momentum.into(),
            angular_momentum: seen.angular_momentum.into(),
        }
    }
}

#[pymethods]
impl Observation {
    fn __repr__(&self) -> String {
        format!("<pliant.Observation at {} s: energy {} J, volume {} m³>", self.time, self.total_energy, self.volume)
    }
}
