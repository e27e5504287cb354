//! Names of earlier versions, whose errors name the new ones.

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Renamed attributes, keywords and values: owner, old name, new name. A keyword is owned by its function, which ends
/// in `()`, and a value by its keyword, which ends in `=`.
const RENAMED: &[(&str, &str, &str)] = &[
    ("pliant", "Pin", "Fixed"),
    ("Simulation", "pin", "fix"),
    ("Simulation", "pins", "fixed"),
    ("Model", "held", "fixed"),
    ("Observation", "centre_of_mass", "center_of_mass"),
    ("Integrator", "scheme", "integrator"),
    ("Integrator()", "scheme", "integrator"),
    ("Obstacle.ball()", "centre", "center"),
    ("Obstacle.hollow_ball()", "centre", "center"),
    ("Mesh.torus()", "major", "ring_radius"),
    ("Mesh.torus()", "minor", "tube_radius"),
    ("solver=", "old-factor", "stale-factor"),
    ("integrators", "quasi_static", "static"),
];

/// Keywords of earlier versions whose values are given in another way now: owner, keyword and the new way. The owner is
/// a function, or a kind of choices.
const MOVED: &[(&str, &str, &str)] = &[
    ("Integrator()", "solver_tolerance", "give solver=pliant.solvers.auto(tolerance=…)"),
    ("Integrator()", "solver_iterations", "give solver=pliant.solvers.auto(iterations=…)"),
];

/// Returns all renamed attributes, keywords and values: owner, old name and new name.
#[pyfunction]
#[pyo3(name = "_renamed")]
pub fn renamed() -> Vec<(&'static str, &'static str, &'static str)> {
    RENAMED.to_vec()
}

/// Returns the end of a message about an unknown name: the new name, if the unknown one is of an earlier version.
pub fn hint(owner: &str, name: &str) -> String {
    let found = RENAMED.iter().find(|(known, old, _)| *known == owner && *old == name);
    found.map_or_else(String::new, |(_, _, new)| format!("; it is called '{new}' now"))
}

/// Returns the error for an attribute that a class does not have.
pub fn no_attribute(class: &str, name: &str) -> PyErr {
    PyAttributeError::new_err(format!("'pliant.{class}' object has no attribute '{name}'{}", hint(class, name)))
}

/// Returns the way in which the value of a keyword of an earlier version is given now.
fn moved(owner: &str, name: &str) -> Option<String> {
    let found = MOVED.iter().find(|(known, old, _)| *known == owner && *old == name);
    found.map(|(_, _, now)| (*now).to_owned())
}

/// Refuses keywords of earlier versions among the options of a function.
pub fn refuse_old(function: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    for name in options.into_iter().flat_map(PyDictMethods::keys) {
        let name: String = name.extract()?;
        let hint = moved(function, &name).map_or_else(|| hint(function, &name), |now| format!("; {now}"));
        if !hint.is_empty() {
            return Err(PyTypeError::new_err(format!("{function} got an unexpected keyword argument '{name}'{hint}")));
        }
    }
    Ok(())
}

/// Returns a required argument, which is optional only so that [`refuse_old`] can name the new name of a keyword.
pub fn required<T>(function: &str, name: &str, value: Option<T>) -> PyResult<T> {
    value.ok_or_else(|| PyTypeError::new_err(format!("{function} missing 1 required positional argument: '{name}'")))
}
