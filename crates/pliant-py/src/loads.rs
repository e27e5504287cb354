//! Pressures and tractions on surfaces, in Python syntax: `{faces: value}` or `(faces, value)`.

use pliant::force::{NodalLoads, Patch, Pressure, ScheduledLoad, dead_pressure, surface_traction};
use pliant::math::Vec3;
use pliant::model::Model;
use pliant::motion::Amplitude;
use pliant_scene::scene::quantity::dimension;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyTuple};

use crate::errors::{Kind, OrRaise};
use crate::quantity::{amount, vector};
use crate::select::items;

/// Pressures and tractions on patches of the surface.
#[derive(Default)]
pub struct SurfaceLoads {
    pressures: Vec<(Patch, f64)>,
    tractions: Vec<(Patch, Vec3)>,
}

impl SurfaceLoads {
    /// Reads the arguments `pressure` and `traction`; `patch` resolves face selections.
    pub fn read(
        pressure: Option<&Bound<'_, PyAny>>,
        traction: Option<&Bound<'_, PyAny>>,
        patch: impl Fn(&Bound<'_, PyAny>, &str) -> PyResult<Patch>,
    ) -> PyResult<Self> {
        let mut loads = Self::default();
        for (faces, value) in pairs(pressure, "pressure")? {
            loads.pressures.push((patch(&faces, "pressure")?, amount::<dimension::Pressure>(&value, "pressure")?));
        }
        for (faces, value) in pairs(traction, "traction")? {
            loads.tractions.push((patch(&faces, "traction")?, vector::<dimension::Pressure>(&value, "traction")?));
        }
        Ok(loads)
    }

    /// Adds the loads to a model, scaled by a time-dependent amplitude.
    pub fn add_to(self, model: &mut Model, follower: bool, amplitude: &Amplitude) -> Result<(), String> {
        let rest = model.shared_rest().clone();
        let mut dead = NodalLoads::new(rest.len());
        let mut push = |forces: &[f64]| {
            let load = ScheduledLoad::from_nodal(forces, amplitude.clone());
            dead.push(load).map(drop).map_err(|error| error.to_string())
        };
        for (patch, traction) in &self.tractions {
            push(&surface_traction(&rest, patch, *traction).map_err(|error| error.to_string())?)?;
        }
        for (patch, pressure) in &self.pressures {
            if follower {
                let force = Pressure::new(rest.clone(), patch, *pressure)
                    .and_then(|force| force.with_amplitude(amplitude.clone()))
                    .map_err(|error| error.to_string())?;
                model.add_force(force).map_err(|error| error.to_string())?;
            } else {
                push(&dead_pressure(&rest, patch, *pressure).map_err(|error| error.to_string())?)?;
            }
        }
        if !dead.scheduled().is_empty() {
            model.add_force(dead).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Returns the pairs of selection and value of a dictionary, or of a single pair.
fn pairs<'py>(value: Option<&Bound<'py, PyAny>>, what: &str) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    if let Ok(table) = value.cast::<PyMapping>() {
        return items(table);
    }
    let pair = value.cast::<PyTuple>().ok().and_then(|pair| pair.extract().ok());
    let wrong = || PyTypeError::new_err(format!("{what}: expected {{faces: value}}, or (faces, value)"));
    Ok(vec![pair.ok_or_else(wrong)?])
}

/// Reads a time-dependent amplitude, given as pairs of time and factor.
pub fn schedule(value: Option<Vec<(Bound<'_, PyAny>, f64)>>) -> PyResult<Amplitude> {
    let Some(frames) = value else { return Ok(Amplitude::default()) };
    let frame = |(time, factor): (Bound<'_, PyAny>, f64)| Ok((amount::<dimension::Time>(&time, "schedule")?, factor));
    let frames = frames.into_iter().map(frame).collect::<PyResult<Vec<_>>>()?;
    Amplitude::keyframes(frames).map_err(|error| format!("schedule: {error}")).or_raise(Kind::Model)
}
