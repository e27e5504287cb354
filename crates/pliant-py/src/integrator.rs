//! Time integrators.

use pliant_scene::scene::quantity::dimension;
use pliant_scene::scene::{self, IntegratorKind, Located, Quantity, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

use crate::arrays::{optional_small_count, small_count};
use crate::errors::{Kind, OrRaise};
use crate::quantity::Amount;
use crate::renamed;

/// Time integrator with its linear solver. See :mod:`pliant.integrators` for one function per integrator.
///
/// >>> pliant.Integrator("newmark", 1e-3)
/// <pliant.Integrator newmark, dt=0.001 s>
/// >>> pliant.Integrator("newmark", 0.0)
/// Traceback (most recent call last):
///     ...
/// pliant.errors.SceneError: the time step is 0 s, expected a positive time
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Integrator {
    pub settings: Settings,
    pub integrator: String,
}

#[pymethods]
impl Integrator {
    /// Creates an integrator by its name in scene files, with steps of ``dt`` seconds. Options that the integrator does
    /// not have are errors.
    #[new]
    #[pyo3(signature = (
        integrator=None, dt=None, *, solver="auto", solver_tolerance=None, solver_iterations=None, halvings=6, tangent=None,
        iterations=None, tolerance=None, line_search=None, must_converge=None, damping=None, beta=None, gamma=None,
        damping_time=None, strain=None, form=None, **unknown
    ), text_signature = "(integrator, dt, *, solver=\"auto\", solver_tolerance=None, solver_iterations=None, \
        halvings=6, tangent=None, iterations=None, tolerance=None, line_search=None, must_converge=None, damping=None, \
        beta=None, gamma=None, damping_time=None, strain=None, form=None)")]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        integrator: Option<&str>,
        dt: Option<Amount<dimension::Time>>,
        solver: &str,
        solver_tolerance: Option<f64>,
        #[pyo3(from_py_with = optional_small_count)] solver_iterations: Option<u32>,
        #[pyo3(from_py_with = small_count)] halvings: u32,
        tangent: Option<&str>,
        #[pyo3(from_py_with = optional_small_count)] iterations: Option<u32>,
        tolerance: Option<f64>,
        line_search: Option<bool>,
        must_converge: Option<bool>,
        damping: Option<&str>,
        beta: Option<f64>,
        gamma: Option<f64>,
        damping_time: Option<Amount<dimension::Time>>,
        strain: Option<&str>,
        form: Option<&str>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        renamed::refuse("Integrator()", unknown)?;
        let integrator = renamed::required("Integrator()", "integrator", integrator)?;
        let dt = renamed::required("Integrator()", "dt", dt)?;
        let kind: IntegratorKind = chosen(Kind::Scene, "integrator", integrator)?;
        let tangent = tangent.map(|name| chosen(Kind::Scene, "tangent", name)).transpose()?;
        let linearized = kind == IntegratorKind::LinearizedBackwardEuler;
        let has_newton = iterations.is_some()
            || tolerance.is_some()
            || line_search.is_some()
            || must_converge.is_some()
            || damping.is_some()
            || (tangent.is_some() && !linearized);
        let usual = scene::Newton::default();
        let newton = scene::Newton {
            iterations: iterations.unwrap_or(usual.iterations),
            tolerance,
            tangent: if linearized { None } else { tangent },
            line_search,
            must_converge,
            damping: damping.map(|name| chosen(Kind::Scene, "damping", name)).transpose()?,
        };
        let usual = scene::Newmark::default();
        let newmark = scene::Newmark { beta: beta.unwrap_or(usual.beta), gamma: gamma.unwrap_or(usual.gamma) };
        let regularized = scene::Regularized {
            damping_time: damping_time.map(Amount::quantity),
            strain: strain.map(|name| chosen(Kind::Scene, "strain", name)).transpose()?.unwrap_or_default(),
            form: form.map(|name| chosen(Kind::Scene, "form", name)).transpose()?.unwrap_or_default(),
        };
        let has_regularized = damping_time.is_some() || strain.is_some() || form.is_some();
        let settings = Settings {
            step: Located::new(dt.quantity()),
            duration: Located::new(Quantity::new(0.0)),
            integrator: Located::new(kind),
            halvings,
            tangent: tangent.filter(|_| linearized).map(Located::new),
            newton: has_newton.then(|| Located::new(newton)),
            newmark: (beta.is_some() || gamma.is_some()).then(|| Located::new(newmark)),
            regularized: has_regularized.then(|| Located::new(regularized)),
            solver: chosen(Kind::Scene, "solver", solver)?,
            solver_tolerance: solver_tolerance.map(Located::new),
            solver_iterations: solver_iterations.map(Located::new),
            mass: scene::Mass::default(),
            restart_every: Located::new(pliant::simulation::Simulation::RESTART_EVERY as u32),
        };
        let source = scene::Source::none();
        settings.check_options(&source).map_err(|error| error.message).or_raise(Kind::Scene)?;
        settings.step_count(&source).map_err(|error| error.message).or_raise(Kind::Scene)?;
        settings.solver(&source).map_err(|error| error.message).or_raise(Kind::Scene)?;
        Ok(Self { settings, integrator: integrator.to_owned() })
    }

    /// Name of the integrator.
    #[getter]
    fn integrator(&self) -> &str {
        &self.integrator
    }

    /// Time step, in s.
    #[getter]
    fn dt(&self) -> f64 {
        self.settings.step.si
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Integrator {}, dt={} s>", self.integrator, self.dt())
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        Err(renamed::no_attribute("Integrator", name))
    }
}

/// Returns the settings of the default integrator, which are those of a scene that gives a step only.
pub fn default_settings(dt: Amount<dimension::Time>) -> PyResult<Settings> {
    let settings = Settings::new(dt.quantity(), Quantity::new(0.0));
    settings.step_count(&scene::Source::none()).map_err(|error| error.message).or_raise(Kind::Scene)?;
    Ok(settings)
}

/// Parses a choice by its name in scene files.
pub fn chosen<'de, T: Deserialize<'de>>(kind: Kind, what: &str, name: &'de str) -> PyResult<T> {
    let read = T::deserialize(StrDeserializer::<Error>::new(name));
    read.map_err(|error| format!("{what}: {error}{}", renamed::hint(&format!("{what}="), name))).or_raise(kind)
}
