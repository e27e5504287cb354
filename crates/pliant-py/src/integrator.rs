//! Time integrators.

use pliant_scene::scene::quantity::dimension;
use pliant_scene::scene::{self, IntegratorChoice, Located, Quantity, Settings, SolverChoice};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::small_count;
use crate::choices::choose;
use crate::errors::{Kind, OrRaise};
use crate::quantity::Amount;
use crate::{renamed, solver};

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
}

#[pymethods]
impl Integrator {
    /// Creates an integrator by its name in scene files, with steps of ``dt`` seconds. Options that the integrator does
    /// not have are errors.
    #[new]
    #[pyo3(
        signature = (integrator=None, dt=None, *, solver=None, halvings=6, **options),
        text_signature = "(integrator, dt, *, solver=\"auto\", halvings=6, **options)"
    )]
    fn new(
        integrator: Option<&str>,
        dt: Option<Amount<dimension::Time>>,
        solver: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = small_count)] halvings: u32,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        renamed::refuse_old("Integrator()", options)?;
        let integrator = renamed::required("Integrator()", "integrator", integrator)?;
        let dt = renamed::required("Integrator()", "dt", dt)?;
        let integrator: IntegratorChoice = choose(integrator, options)?;
        let solver = solver.map_or_else(|| Ok(SolverChoice::default()), solver::chosen)?;
        let settings = Settings {
            integrator: Located::new(integrator),
            solver: Located::new(solver),
            halvings,
            ..Settings::new(dt.quantity(), Quantity::new(0.0))
        };
        check(&settings)?;
        Ok(Self { settings })
    }

    /// Name of the integrator.
    #[getter]
    fn integrator(&self) -> &str {
        self.settings.integrator.name()
    }

    /// Time step, in s.
    #[getter]
    fn dt(&self) -> f64 {
        self.settings.step.si
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Integrator {}, dt={} s>", self.integrator(), self.dt())
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        Err(renamed::no_attribute("Integrator", name))
    }
}

/// Returns the settings of the default integrator, which are those of a scene that gives a step only.
pub fn default_settings(dt: Amount<dimension::Time>) -> PyResult<Settings> {
    let settings = Settings::new(dt.quantity(), Quantity::new(0.0));
    check(&settings)?;
    Ok(settings)
}

fn check(settings: &Settings) -> PyResult<()> {
    settings.step_count(&scene::Source::none()).map_err(|error| error.message).or_raise(Kind::Scene)?;
    solver::build(&settings.solver).map(drop)
}
