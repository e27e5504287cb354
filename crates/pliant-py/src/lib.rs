//! The Python package of Pliant: the library's meshes, materials, models and simulations as Python classes, with NumPy arrays for numbers.
//!
//! There is no physics here. Each file is the Python face of one part of the library; `arrays` says how arrays come in and go out, `errors` how errors
//! do, `work` how the interpreter is let go meanwhile.

#![allow(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "what documents a Python class is read in Python, and written as it is there"
)]
#![allow(clippy::needless_pass_by_value, reason = "arguments from Python come by value")]

mod arrays;
mod body;
mod embedding;
mod errors;
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
mod pin;
mod pressure;
mod quantity;
mod reduced;
mod running;
mod scene;
mod select;
mod simulation;
mod springs;
mod step_info;
mod surface;
mod work;

use pyo3::prelude::*;

/// What `import pliant` is made of.
#[pymodule]
mod _pliant {
    #[pymodule_export]
    use super::body::Body;
    #[pymodule_export]
    use super::embedding::Embedding;
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
    use super::pin::Pin;
    #[pymodule_export]
    use super::pressure::Pressure;
    #[pymodule_export]
    use super::reduced::ReducedModel;
    #[pymodule_export]
    use super::simulation::Simulation;
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
        // Arrays cannot be made without it, and the crate for them panics.
        module.py().import("numpy")?;
        super::arrays::into_list::<f64>(module.py(), Vec::new());
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Run the command `pliant` with these arguments, the name of the program first. Returns the exit status.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| pliant_cli::status(arguments))
    }
}
