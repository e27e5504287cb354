//! Python package of Pliant: meshes, materials, models and simulations of the library as Python classes, with NumPy
//! arrays for numbers.
//!
//! It contains no physics. Each file wraps one part of the library. `arrays` converts arrays, `errors` converts errors,
//! and `work` releases the interpreter during computations.

#![allow(clippy::doc_markdown, clippy::doc_link_with_quotes, reason = "docs of Python classes are Python docstrings")]
#![allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]

mod arrays;
mod body;
mod choices;
mod contacts;
mod embedding;
mod errors;
mod fixed;
mod generate;
mod handle;
mod integrator;
mod interrupt;
mod loads;
mod material;
mod mesh;
mod mirror;
mod model;
mod observation;
mod obstacle;
mod pressure;
mod quantity;
mod reduced;
mod renamed;
mod running;
mod scene;
mod select;
mod simulation;
mod solver;
mod springs;
mod step_info;
mod surface;
mod work;

use pyo3::prelude::*;

/// Compiled module behind `import pliant`.
#[pymodule]
mod _pliant {
    #[pymodule_export]
    use super::body::Body;
    #[pymodule_export]
    use super::choices::choices;
    #[pymodule_export]
    use super::contacts::Contacts;
    #[pymodule_export]
    use super::embedding::Embedding;
    #[pymodule_export]
    use super::fixed::Fixed;
    #[pymodule_export]
    use super::generate::generate;
    #[pymodule_export]
    use super::handle::Handle;
    #[pymodule_export]
    use super::integrator::Integrator;
    #[pymodule_export]
    use super::material::Material;
    #[pymodule_export]
    use super::mesh::Mesh;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::observation::Observation;
    #[pymodule_export]
    use super::obstacle::Obstacle;
    #[pymodule_export]
    use super::pressure::Pressure;
    #[pymodule_export]
    use super::reduced::ReducedModel;
    #[pymodule_export]
    use super::renamed::renamed;
    #[pymodule_export]
    use super::simulation::Simulation;
    #[pymodule_export]
    use super::solver::Solver;
    #[pymodule_export]
    use super::springs::Springs;
    #[pymodule_export]
    use super::step_info::StepInfo;
    #[pymodule_export]
    use super::surface::Surface;
    #[pymodule_export]
    use super::work::{after_fork, at_exit, set_threads, threads};

    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::interrupt::find_main_thread(module.py())?;
        // Arrays need NumPy, and the numpy crate panics without it.
        module.py().import("numpy")?;
        super::arrays::into_list::<f64>(module.py(), Vec::new());
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs the command `pliant` with these arguments, which start with the name of the program. Returns the exit
    /// status.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| pliant_cli::status(arguments))
    }
}
