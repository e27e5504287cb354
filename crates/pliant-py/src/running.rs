//! State of a simulation between calls from Python, with the arrays that mirror it.

use std::sync::Arc;

use pliant::force::{Handle as Spring, Handles};
use pliant::math::Vec3;
use pliant::simulation::Simulation as Inner;
use pliant::system::State;
use pyo3::prelude::*;

use crate::mirror::Mirror;
use crate::work::work;

/// Simulation of the library, with the arrays that mirror it.
#[derive(Debug)]
pub struct Running {
    pub inner: Inner,
    pub positions: Mirror,
    pub velocities: Mirror,
    pub forces: Mirror,
    pub handles: Vec<Group>,
    /// Number of handles of the scene, which precede those of Python.
    pub scene_handles: usize,
    /// Next unused handle number.
    pub next: u64,
    /// Number of steps of the scene.
    pub steps: Option<u64>,
}

/// Vertices of a handle.
#[derive(Debug, Clone)]
pub struct Group {
    pub number: u64,
    pub vertices: Vec<u32>,
}

/// Quantity that an array mirrors.
#[derive(Debug, Clone, Copy)]
pub enum MirroredArray {
    Positions,
    Velocities,
    Forces,
}

impl Running {
    /// Returns mutable access to the simulation; arrays no longer mirror it.
    pub fn moving(&mut self) -> &mut Inner {
        self.positions.forget();
        self.velocities.forget();
        &mut self.inner
    }

    pub fn mirror(&mut self, shown: MirroredArray) -> &mut Mirror {
        match shown {
            MirroredArray::Positions => &mut self.positions,
            MirroredArray::Velocities => &mut self.velocities,
            MirroredArray::Forces => &mut self.forces,
        }
    }

    pub fn view<'py>(&mut self, py: Python<'py>, rest: &[Vec3], shown: MirroredArray) -> PyResult<Bound<'py, PyAny>> {
        let Self { inner, positions, velocities, forces, .. } = self;
        match shown {
            MirroredArray::Positions => positions.view(py, rest.len(), position(rest, inner.state())),
            MirroredArray::Velocities => velocities.view(py, rest.len(), |i| inner.state().v[i]),
            MirroredArray::Forces => forces.view(py, rest.len(), |i| inner.model().loads()[i]),
        }
    }

    /// Takes over changes that Python has made to the arrays.
    pub fn push(&mut self, py: Python<'_>, rest: &[Vec3]) -> PyResult<()> {
        let mut changed: Option<State> = None;
        // The full state of a reduced model is computed only if Python has a view.
        if self.positions.may_have_changes() || self.velocities.may_have_changes() {
            let state = self.inner.state();
            let place = position(rest, state);
            self.positions.take_changes(py, &place, |i, x| {
                changed.get_or_insert_with(|| state.clone()).q[i] = x - rest[i / 3][i % 3];
            })?;
            let v = |i: usize| state.v[i];
            self.velocities.take_changes(py, v, |i, v| changed.get_or_insert_with(|| state.clone()).v[i] = v)?;
        }
        if let Some(mut state) = changed {
            // Accelerations and the previous step led to another state.
            state.forget();
            let inner = &mut self.inner;
            work(py, || {
                inner.set_state(state);
                inner.state();
            });
            self.pull(py, rest)?;
        }
        let mut loads = Vec::new();
        let load = |i: usize| self.inner.model().loads()[i];
        self.forces.take_changes(py, load, |i, force| loads.push((i, force)))?;
        if !loads.is_empty() {
            let all = self.inner.model_mut().loads_mut();
            loads.into_iter().for_each(|(i, force)| all[i] = force);
        }
        Ok(())
    }

    /// Updates the arrays after changes.
    pub fn pull(&mut self, py: Python<'_>, rest: &[Vec3]) -> PyResult<()> {
        let Self { inner, positions, velocities, .. } = self;
        positions.refresh(py, |i| position(rest, inner.state())(i))?;
        velocities.refresh(py, |i| inner.state().v[i])
    }

    pub fn check_whole(&self) -> Result<(), String> {
        match self.inner.reduced_model() {
            Some(_) => Err("the fixed vertices of a reduced model cannot be changed; use a handle".into()),
            None => Ok(()),
        }
    }

    pub fn add_springs(
        &mut self,
        rest: &Arc<[Vec3]>,
        vertices: &[u32],
        stiffness: f64,
        damping: f64,
    ) -> Result<(), String> {
        let state = self.inner.state();
        let place = |vertex: u32| rest[vertex as usize] + Vec3::from_slice(&state.q[3 * vertex as usize..]);
        let count = vertices.len() as f64;
        let (stiffness, damping) = (stiffness / count, damping / count);
        let springs: Vec<Spring> = vertices
            .iter()
            .map(|&vertex| Spring { damping, ..Spring::new(vertex, stiffness, place(vertex)) })
            .collect();
        let model = self.inner.model_mut();
        if model.forces_mut_of::<Handles>().next().is_none() {
            let none = Handles::new(rest.clone(), []).map_err(|error| error.to_string())?;
            model.add_force(none).map_err(|error| error.to_string())?;
        }
        let handles = model.forces_mut_of::<Handles>().next().expect("the force exists, even without handles");
        let before = handles.list().len();
        for spring in springs {
            if let Err(error) = handles.push(spring) {
                // All springs or none.
                while handles.list().len() > before {
                    handles.remove(before).map_err(|error| error.to_string())?;
                }
                return Err(error.to_string());
            }
        }
        Ok(())
    }

    /// Returns the index range of the springs of a handle.
    pub fn springs(&self, number: u64) -> Option<std::ops::Range<usize>> {
        let mut first = self.scene_handles;
        for group in &self.handles {
            if group.number == number {
                return Some(first..first + group.vertices.len());
            }
            first += group.vertices.len();
        }
        None
    }
}

/// Returns a function from coordinate indices to positions.
fn position<'a>(rest: &'a [Vec3], state: &'a State) -> impl Fn(usize) -> f64 + 'a {
    |i| rest[i / 3][i % 3] + state.q[i]
}
