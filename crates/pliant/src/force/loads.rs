//! Forces on vertices that depend on time only.

use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use super::{Conditions, Definiteness, Force, Patch, at, check_length};
use crate::math::{Vec3, par_sum};
use crate::motion::{Amplitude, NotFinite};
use crate::sparse::{BlockMatrix, BlockPattern};

/// Force on vertices times a time-dependent factor.
#[derive(Debug, Clone)]
pub struct ScheduledLoad {
    /// Vertices, each with the force on it \[N\], in the direction in which it pushes.
    pub forces: Vec<(u32, Vec3)>,
    /// Factor as a function of time.
    pub amplitude: Amplitude,
}

impl ScheduledLoad {
    /// Creates a load with an equal force \[N\] on each of these vertices.
    pub fn new(vertices: &[u32], force: Vec3, amplitude: Amplitude) -> Self {
        Self { forces: vertices.iter().map(|&vertex| (vertex, force)).collect(), amplitude }
    }

    /// Creates a load from forces on all vertices, three numbers each, as returned by [`surface_traction`].
    ///
    /// # Panics
    /// If there are not three numbers per vertex.
    pub fn from_nodal(forces: &[f64], amplitude: Amplitude) -> Self {
        let (forces, rest) = forces.as_chunks::<3>();
        assert!(rest.is_empty(), "three numbers per vertex");
        let forces = forces.iter().enumerate().map(|(vertex, force)| (vertex as u32, Vec3::from_array(*force)));
        Self { forces: forces.filter(|(_, force)| *force != Vec3::ZERO).collect(), amplitude }
    }

    fn check_time(&self, number: usize, time: f64) -> Result<(), NotFinite> {
        self.amplitude.check(time, || format!("the amplitude of load {number}"))
    }
}

/// Error in the definition of a load.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum LoadsError {
    #[error("{found} numbers are given as loads of {vertex_count} vertices, expected three per vertex")]
    Length { found: usize, vertex_count: usize },
    #[error("the load of vertex {vertex} is {force}, expected finite numbers")]
    NotFinite { vertex: u32, force: Vec3 },
    #[error("load {load} is on vertex {vertex}, but there are {vertex_count} vertices")]
    Vertex { load: usize, vertex: u32, vertex_count: usize },
    #[error(transparent)]
    Amplitude(#[from] NotFinite),
    #[error("load {load} does not exist; the number of loads is {count}")]
    Missing { load: usize, count: usize },
    #[error("the patch is for a body with {patch} vertices, but {vertices} rest positions are given")]
    Patch { patch: usize, vertices: usize },
    #[error("the faces have an area of {area} m², over which no force can be distributed")]
    Area { area: f64 },
}

/// Dead loads: nodal forces `F(t)` \[N\] that neither rotate nor change with the body, in the direction in which they
/// push.
///
/// The energy is `V = −F·u`, so that the force, its gradient, is `−F`, and the stiffness is zero. `F` is the sum of the
/// constant loads and the scheduled loads times their factors, all times the load factor.
#[derive(Debug, Clone)]
pub struct NodalLoads {
    constant: Vec<f64>,
    scheduled: Vec<ScheduledLoad>,
}

impl NodalLoads {
    /// Creates an empty load on `vertex_count` vertices.
    pub fn new(vertex_count: usize) -> Self {
        Self { constant: vec![0.0; 3 * vertex_count], scheduled: Vec::new() }
    }

    /// Creates constant loads, three numbers per vertex \[N\].
    pub fn constant(forces: Vec<f64>) -> Result<Self, LoadsError> {
        let mut loads = Self::new(forces.len() / 3);
        loads.set_constant(forces)?;
        Ok(loads)
    }

    /// Sets the constant loads, three numbers per vertex \[N\].
    pub fn set_constant(&mut self, forces: Vec<f64>) -> Result<(), LoadsError> {
        self.check_forces(&forces)?;
        self.constant = forces;
        Ok(())
    }

    /// Adds to the constant loads, three numbers per vertex \[N\].
    pub fn add_constant(&mut self, forces: &[f64]) -> Result<(), LoadsError> {
        self.check_forces(forces)?;
        self.constant.iter_mut().zip(forces).for_each(|(sum, force)| *sum += force);
        Ok(())
    }

    /// Adds a scheduled load and returns its index.
    pub fn push(&mut self, load: ScheduledLoad) -> Result<usize, LoadsError> {
        let (number, vertex_count) = (self.scheduled.len(), self.constant.len() / 3);
        for &(vertex, force) in &load.forces {
            if vertex as usize >= vertex_count {
                return Err(LoadsError::Vertex { load: number, vertex, vertex_count });
            }
            if !force.is_finite() {
                return Err(LoadsError::NotFinite { vertex, force });
            }
        }
        load.check_time(number, 0.0)?;
        self.scheduled.push(load);
        Ok(number)
    }

    /// Removes a scheduled load. The indices of later loads decrease by one.
    pub fn remove(&mut self, load: usize) -> Result<ScheduledLoad, LoadsError> {
        let count = self.scheduled.len();
        if load >= count {
            return Err(LoadsError::Missing { load, count });
        }
        Ok(self.scheduled.remove(load))
    }

    /// Returns the scheduled loads.
    pub fn scheduled(&self) -> &[ScheduledLoad] {
        &self.scheduled
    }

    /// Returns `F`, three numbers per vertex \[N\].
    pub fn total(&self, conditions: &Conditions<'_>) -> Vec<f64> {
        let mut gradient = vec![0.0; self.constant.len()];
        self.add_gradient(&self.constant, conditions, &mut gradient);
        gradient.iter_mut().for_each(|force| *force = -*force);
        gradient
    }

    fn check_forces(&self, forces: &[f64]) -> Result<(), LoadsError> {
        if forces.len() != self.constant.len() {
            return Err(LoadsError::Length { found: forces.len(), vertex_count: self.constant.len() / 3 });
        }
        match forces.iter().position(|force| !force.is_finite()) {
            None => Ok(()),
            Some(place) => {
                let vertex = place / 3;
                let force = Vec3::from_slice(&forces[3 * vertex..]);
                Err(LoadsError::NotFinite { vertex: vertex as u32, force })
            }
        }
    }
}

/// Returns the nodal forces \[N\] of a traction \[Pa\] on the undeformed patch, three numbers per vertex: `∫ Nᵢ t dA`.
pub fn surface_traction(rest: &[Vec3], patch: &Patch, traction: Vec3) -> Result<Vec<f64>, LoadsError> {
    let areas = areas(rest, patch)?;
    let forces: Vec<f64> = areas.iter().flat_map(|&area| (area * traction).to_array()).collect();
    match areas.iter().position(|&area| !(area * traction).is_finite()) {
        None => Ok(forces),
        Some(vertex) => Err(LoadsError::NotFinite { vertex: vertex as u32, force: areas[vertex] * traction }),
    }
}

/// Returns the nodal forces \[N\] of a total force \[N\] distributed uniformly over the undeformed patch.
pub fn surface_force(rest: &[Vec3], patch: &Patch, force: Vec3) -> Result<Vec<f64>, LoadsError> {
    let area: f64 = areas(rest, patch)?.iter().sum();
    if !(area.is_finite() && area > 0.0) {
        return Err(LoadsError::Area { area });
    }
    surface_traction(rest, patch, force / area)
}

fn areas(rest: &[Vec3], patch: &Patch) -> Result<Vec<f64>, LoadsError> {
    if rest.len() != patch.vertex_count() {
        return Err(LoadsError::Patch { patch: patch.vertex_count(), vertices: rest.len() });
    }
    Ok(patch.vertex_areas(rest))
}

impl Force for NodalLoads {
    fn node_count(&self) -> usize {
        self.constant.len() / 3
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        let (constant, _) = self.constant.as_chunks::<3>();
        for (vertex, _) in (0..).zip(constant).filter(|(_, load)| **load != [0.0; 3]) {
            add(&[vertex]);
        }
        for (vertex, _) in self.scheduled.iter().flat_map(|load| &load.forces) {
            add(&[*vertex]);
        }
    }

    fn bind(&mut self, _pattern: &Arc<BlockPattern>) {}

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.scheduled.iter().enumerate().try_for_each(|(number, load)| load.check_time(number, time))
    }

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        check_length(u, self.constant.len() / 3);
        let constant = conditions.load_factor * par_sum(0.0, u.len(), |i| self.constant[i] * u[i]);
        let of_load = |load: &ScheduledLoad| {
            let work: f64 = load.forces.iter().map(|&(vertex, force)| force.dot(at(u, vertex))).sum();
            conditions.load_factor * load.amplitude.factor(conditions.time) * work
        };
        -(constant + self.scheduled.iter().map(of_load).sum::<f64>())
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        /// Minimum number of values per task.
        const GRAIN: usize = 16384;
        check_length(u, self.constant.len() / 3);
        check_length(gradient, self.constant.len() / 3);
        let factor = conditions.load_factor;
        gradient.par_chunks_mut(GRAIN).zip(self.constant.par_chunks(GRAIN)).for_each(|(sums, loads)| {
            sums.iter_mut().zip(loads).for_each(|(sum, load)| *sum -= factor * load);
        });
        for load in &self.scheduled {
            let factor = factor * load.amplitude.factor(conditions.time);
            for &(vertex, force) in &load.forces {
                let sum = at(gradient, vertex) - factor * force;
                sum.write_to_slice(&mut gradient[3 * vertex as usize..]);
            }
        }
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        _definiteness: Definiteness,
        gradient: &mut [f64],
        _stiffness: &mut BlockMatrix,
    ) {
        self.add_gradient(u, conditions, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::mesh::{Cells, generate};

    #[test]
    fn the_force_is_minus_the_load_and_the_energy_minus_its_work() {
        let mut loads = NodalLoads::constant(vec![1.0, 2.0, 3.0, 0.0, 0.0, -5.0]).unwrap();
        let u = [0.1, 0.0, 1.0, 7.0, 7.0, 2.0];
        assert!((loads.energy(&u, &Conditions::START) - (-0.1 - 3.0 + 10.0)).abs() < 1e-15);
        let (force, stiffness) = check_derivatives(&mut loads, &Conditions::START, &u);
        assert_eq!(force, [-1.0, -2.0, -3.0, 0.0, 0.0, 5.0]);
        assert!(stiffness.values().iter().all(|&entry| entry == 0.0));
    }

    #[test]
    fn scheduled_loads_follow_their_amplitude_and_all_the_load_factor() {
        let mut loads = NodalLoads::constant(vec![1.0; 9]).unwrap();
        let ramp = Amplitude::keyframes([(1.0, 0.0), (3.0, 1.0)]).unwrap();
        assert_eq!(loads.push(ScheduledLoad::new(&[2, 0], 10.0 * Vec3::X, ramp)).unwrap(), 0);
        let wave = Amplitude::function(|t| t * t);
        assert_eq!(loads.push(ScheduledLoad::new(&[2], Vec3::Z, wave)).unwrap(), 1);
        assert_eq!(loads.total(&Conditions::at(0.0)), [1.0; 9]);
        let all = Conditions::at(2.0);
        assert_eq!(loads.total(&all), [6.0, 1.0, 1.0, 1.0, 1.0, 1.0, 6.0, 1.0, 5.0]);
        let half = Conditions { load_factor: 0.5, ..all };
        assert_eq!(loads.total(&half), [3.0, 0.5, 0.5, 0.5, 0.5, 0.5, 3.0, 0.5, 2.5]);
        loads.set_constant(vec![0.0; 9]).unwrap();
        loads.remove(1).unwrap();
        assert_eq!(loads.total(&half), [2.5, 0.0, 0.0, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0]);
        loads.add_constant(&[2.0; 9]).unwrap();
        let total = loads.total(&half);
        assert_eq!((total[0], total[8], loads.scheduled().len()), (3.5, 1.0, 1));
    }

    #[test]
    fn a_traction_adds_up_to_itself_times_the_area_with_the_moment_of_the_middle() {
        for cells in [Cells::Tet5, Cells::Tet6, Cells::Hex] {
            let mesh = generate::block([1.0, 2.0, 3.0], [2, 3, 4], cells).unwrap();
            let rest = mesh.vertices();
            let patch = Patch::within(&mesh, &mesh.vertex_sets()["x-max"]).unwrap();
            let traction = Vec3::new(5.0, -7.0, 11.0);
            let spread = surface_traction(rest, &patch, traction).unwrap();
            let total = surface_force(rest, &patch, 6.0 * traction).unwrap();
            assert!(spread.iter().zip(&total).all(|(a, b)| (a - b).abs() < 1e-13));
            let (sum, moment) = resultants(rest, &vec![0.0; spread.len()], &spread);
            assert!((sum - 6.0 * traction).length() < 1e-12);
            assert!((moment - Vec3::new(1.0, 1.0, 1.5).cross(6.0 * traction)).length() < 1e-12);
            let scheduled = ScheduledLoad::from_nodal(&spread, Amplitude::default());
            assert_eq!(scheduled.forces.len(), mesh.vertex_sets()["x-max"].len());
            let mut loads = NodalLoads::new(mesh.vertex_count());
            loads.push(scheduled).unwrap();
            assert_eq!(loads.total(&Conditions::START), spread);
        }
    }

    #[test]
    fn results_are_bitwise_equal_on_one_and_four_threads() {
        check_threads(&NodalLoads::constant(random(30_000, 1.0, 1)).unwrap(), 10_000);
    }

    #[test]
    fn impossible_loads_are_named_with_their_numbers_and_change_nothing() {
        let mut loads = NodalLoads::constant(vec![1.0; 6]).unwrap();
        let wrong = loads.set_constant(vec![0.0; 5]).unwrap_err().to_string();
        assert_eq!(wrong, "5 numbers are given as loads of 2 vertices, expected three per vertex");
        assert!(NodalLoads::constant(vec![0.0; 5]).is_err());
        let wrong = loads.add_constant(&[0.0, 0.0, 0.0, 0.0, f64::NAN, 1.0]).unwrap_err().to_string();
        assert_eq!(wrong, "the load of vertex 1 is [0, NaN, 1], expected finite numbers");
        let far = ScheduledLoad::new(&[0, 2], Vec3::X, Amplitude::default());
        let wrong = loads.push(far).unwrap_err().to_string();
        assert_eq!(wrong, "load 0 is on vertex 2, but there are 2 vertices");
        let endless = ScheduledLoad::new(&[0], Vec3::X, Amplitude::function(|t| 1.0 / t));
        let wrong = loads.push(endless).unwrap_err().to_string();
        assert_eq!(wrong, "the amplitude of load 0 is inf at 0 s, expected a finite value");
        assert_eq!(loads.remove(0).unwrap_err().to_string(), "load 0 does not exist; the number of loads is 0");
        assert_eq!(loads.total(&Conditions::START), [1.0; 6]);

        let flat = Patch::new(3, crate::mesh::Faces::uniform(3, vec![0, 1, 2])).unwrap();
        let line = [Vec3::ZERO, Vec3::X, 2.0 * Vec3::X];
        let wrong = surface_force(&line, &flat, Vec3::X).unwrap_err().to_string();
        assert_eq!(wrong, "the faces have an area of 0 m², over which no force can be distributed");
        let wrong = surface_traction(&line[..2], &flat, Vec3::X).unwrap_err().to_string();
        assert_eq!(wrong, "the patch is for a body with 3 vertices, but 2 rest positions are given");
        assert!(surface_traction(&line, &flat, Vec3::NAN).unwrap_err().to_string().contains("load of vertex 0"));
    }
}
