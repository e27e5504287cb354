//! Models: bodies with their elasticity, mass and damping.

use std::path::PathBuf;
use std::time::Instant;

use numpy::{PyArray1, PyArray2, PyArrayDyn};
use pliant::contact::{Collider, ContactParams, PairBehavior, PairRule, intersects_itself};
use pliant::damping::Damping;
use pliant::force::{Conditions, Obstacles, Patch, StressState};
use pliant::integrator::{Static, StaticParams};
use pliant::material::Definiteness;
use pliant::math::{Mat3, Vec3};
use pliant::mesh::Sets;
use pliant::model;
use pliant::motion::Amplitude;
use pliant::reduced::{
    CubatureParams, Forces, Modes, ModesParams, Reduction, ReductionError, ReductionParams, StiffnessDerivative,
};
use pliant::sparse::Csr;
use pliant::system::State;
use pliant_scene::scene::quantity::dimension;
use pliant_scene::scene::{Contact, ContactMethod, SolverChoice, Source, part_from_value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{Numbers, count, into_list, into_rows, into_shape, optional_count, vector_rows};
use crate::body::Body;
use crate::choices::json_of;
use crate::errors::{Kind, OrRaise, read_error, warn};
use crate::interrupt::{self, Interruptible};
use crate::loads::SurfaceLoads;
use crate::mesh::Mesh;
use crate::obstacle::Obstacle;
use crate::quantity::{Amount, vector};
use crate::reduced::ReducedModel;
use crate::renamed;
use crate::select::Choice;
use crate::solver;
use crate::springs::Springs;
use crate::work::work;

/// Bodies with their elasticity, mass, damping and boundary conditions. Immutable.
///
/// Displacements ``u`` are arrays ``(n, 3)`` of float64 in m, one row per vertex; flat arrays of ``3 n`` numbers are
/// accepted too. Matrices are ``scipy.sparse.csr_array`` with ``3 n`` rows: ``K @ u.ravel()``. The equation of motion
/// is ``M ü + D u̇ + f(u) = forces``, with ``f`` the :meth:`internal_force`.
///
/// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
/// >>> steel = pliant.materials.linear(young=200e9, poisson=0.3, density=7800)
/// >>> model = pliant.Model(mesh, steel, fixed="start")
/// >>> u = np.zeros((model.vertex_count, 3))
/// >>> f, K, M = model.internal_force(u), model.stiffness(u), model.mass()
/// >>> f.shape, K.shape, M.shape
/// ((189, 3), (567, 567), (567, 567))
/// >>> bool(abs(M.sum() / 3 - 78) < 1e-9)
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Model {
    pub inner: model::Model,
    /// Sets of all bodies.
    sets: Sets,
    /// Name of the elastic law, if a material specifies one.
    pub law: Option<String>,
    /// Time of moving obstacles and handles \[s\]: that of the simulation that the model was copied from.
    time: f64,
    /// History variables of the forces at that time.
    history: Vec<f64>,
}

#[pymethods]
impl Model {
    /// Creates a model from a mesh with its material, or from several bodies.
    ///
    /// Args:
    ///     mesh: a :class:`Mesh`, or a list of :class:`Body`.
    ///     material: a :class:`Material`, or one for each region: ``{"shell": steel, "core": rubber}``. None uses those
    ///         of the mesh file.
    ///     fixed: fixed vertices: the name of a set, indices, a mask or a list of these; or with the fixed axes,
    ///         ``{"x-min": "x"}`` or ``[([0, 1], "x")]``. An empty list fixes nothing.
    ///     damping: ``(α, β)`` of Rayleigh damping ``αM + βK``, in 1/s and s.
    ///     mass: ``"consistent"`` or ``"lumped"``.
    ///     springs: :class:`Springs` between vertices, or a list of them.
    ///     obstacles: an :class:`Obstacle` for contact with the surface, or a list of them.
    ///     contact: True if bodies collide with each other, with themselves and with obstacles, by barriers: they never
    ///         pass through one another, and start apart. A dictionary has the keys of ``[contact]`` in scene files.
    ///         False: bodies do not collide with each other, and obstacles act by penalties.
    ///
    /// Materials need no density for statics without gravity.
    ///
    /// >>> cube = pliant.Mesh.box((0.1, 0.1, 0.1), (2, 2, 2))
    /// >>> rubber = pliant.materials.neo_hookean(young="100 kPa", poisson=0.3, density=1000)
    /// >>> heights = {"a": 0.001, "b": 0.102}
    /// >>> bodies = [pliant.Body(cube.translated((0, y, 0)), rubber, name=name) for name, y in heights.items()]
    /// >>> ice = {"friction": 0.5, "pair": [{"between": ["a", "obstacle-1"], "friction": 0.02}]}
    /// >>> model = pliant.Model(bodies, obstacles=pliant.Obstacle.plane(), contact=ice)
    /// >>> sim = pliant.Simulation(model, dt="50 ms", gravity=(0, -9.81, 0))
    /// >>> steps = sim.run("1 s")
    /// >>> bool(sim.contacts.gaps.min() > 0)
    /// True
    #[new]
    #[pyo3(signature = (
        mesh, material=None, *, fixed=None, damping=None, mass="consistent", springs=None, obstacles=None, contact=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        mesh: &Bound<'_, PyAny>,
        material: Option<&Bound<'_, PyAny>>,
        fixed: Option<&Bound<'_, PyAny>>,
        damping: Option<(Amount<dimension::Rate>, Amount<dimension::Time>)>,
        mass: &str,
        springs: Option<&Bound<'_, PyAny>>,
        obstacles: Option<&Bound<'_, PyAny>>,
        contact: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let law;
        let bodies = if let Ok(mesh) = mesh.cast::<Mesh>() {
            let body = Body::new(py, mesh, material, "body")?;
            law = body.law;
            vec![body.inner]
        } else {
            let wrong = |_| PyTypeError::new_err("mesh: expected a pliant.Mesh or a list of pliant.Body");
            let list: Vec<Py<Body>> = mesh.extract().map_err(wrong)?;
            if material.is_some() {
                return Err(PyTypeError::new_err("material: expected none, since bodies have materials"));
            }
            law = list.iter().find_map(|body| body.get().law.clone());
            work(py, || list.iter().map(|body| body.get().inner.clone()).collect::<Vec<_>>())
        };
        for (number, body) in bodies.iter().enumerate() {
            if bodies[..number].iter().any(|other| other.name == body.name) {
                let message = format!("two bodies are named `{}`, expected unique names", body.name);
                return Err(Kind::Model.error(message));
            }
        }
        let (alpha, beta) = damping.map_or((0.0, 0.0), |(alpha, beta)| (alpha.si, beta.si));
        let damping = Damping::rayleigh(alpha, beta).or_raise(Kind::Model)?;
        let springs: Vec<Py<Springs>> = one_or_several(springs, "springs: expected pliant.Springs, or a list of them")?;
        let obstacles: Vec<Py<Obstacle>> =
            one_or_several(obstacles, "obstacles: expected a pliant.Obstacle, or a list of them")?;
        let rest = model::rest_positions(bodies.iter().map(|body| &body.mesh));
        let springs = springs.iter().map(|springs| springs.get().force(&rest)).collect::<PyResult<Vec<_>>>()?;
        let lumped = match mass {
            "consistent" => false,
            "lumped" => true,
            _ => {
                let message = format!("mass is {mass:?}, expected \"consistent\" or \"lumped\"");
                return Err(PyValueError::new_err(message));
            }
        };
        let contact = contact_settings(contact)?;
        let (colliders, penalties): (Vec<_>, Vec<_>) =
            obstacles.into_iter().enumerate().partition(|(_, one)| contact.is_some() && !one.get().is_penalty());
        let barriers = contact.map(|settings| barriers(&settings, &bodies, &colliders)).transpose()?;
        let builder = work(py, || {
            let mut builder = model::Model::builder().damping(damping).shared_rest(rest);
            if lumped {
                builder = builder.lumped_mass();
            }
            let builder = bodies.into_iter().fold(builder, model::ModelBuilder::body);
            springs.into_iter().fold(builder, model::ModelBuilder::force)
        });
        let build = |builder: model::ModelBuilder| {
            let inner = work(py, || {
                let mut model = builder.build().map_err(|error| error.to_string())?;
                if !penalties.is_empty() {
                    add_obstacles(&mut model, &penalties)?;
                }
                Ok::<_, String>(model)
            });
            Ok::<_, PyErr>(Self::of(inner.or_raise(Kind::Model)?, law.clone()))
        };
        let Some(Barriers { params, colliders, notes }) = barriers else {
            let mut model = build(builder)?;
            warn(py, &model.inner.warnings())?;
            if let Some(fixed) = fixed {
                for fixed in model.with_choice(py, |choice| choice.fixed(fixed))? {
                    model.inner.fix(fixed).or_raise(Kind::Model)?;
                }
            }
            return Ok(model);
        };
        // Contact depends on what is fixed, and fixed vertices are selected in a model.
        let fixed = match fixed {
            Some(fixed) => build(builder.clone())?.with_choice(py, |choice| choice.fixed(fixed))?,
            None => Vec::new(),
        };
        let builder = fixed.into_iter().fold(builder.contact(params), model::ModelBuilder::fix);
        let model = build(colliders.into_iter().fold(builder, model::ModelBuilder::collider))?;
        warn(py, &model.inner.warnings())?;
        warn(py, &notes)?;
        Ok(model)
    }

    /// Number of vertices.
    #[getter]
    fn vertex_count(&self) -> usize {
        self.inner.node_count()
    }

    /// Rest positions of the vertices, in m, ``(n, 3)``.
    #[getter]
    fn rest_positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        vector_rows(py, self.inner.rest())
    }

    /// First and past-the-end vertex index of each body, by name.
    #[getter]
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bodies = PyDict::new(py);
        for body in self.inner.bodies() {
            bodies.set_item(body.name(), (body.nodes().start, body.nodes().end))?;
        }
        Ok(bodies)
    }

    /// Mask of the fixed coordinates, ``(n, 3)`` of bool.
    #[getter]
    fn fixed<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<bool>> {
        crate::arrays::into_table(py, self.inner.fixed_mask().to_vec(), 3)
    }

    /// Returns the mass attributed to each vertex, in kg, ``(n,)``.
    #[getter]
    fn vertex_masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.inner.check_mass("vertex_masses").or_raise(Kind::Model)?;
        Ok(into_list(py, self.inner.node_masses().to_vec()))
    }

    /// Returns the vertex indices of a selection: the name of a set, ``"surface"``, ``"all"``, indices or a mask.
    fn select<'py>(&self, py: Python<'py>, vertices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.choose(vertices, "vertices").map(|chosen| crate::arrays::index_list(py, &chosen))
    }

    /// Returns the elastic energy, in J, including springs and obstacles.
    #[pyo3(signature = (u=None))]
    fn energy(&self, py: Python<'_>, u: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
        self.at(u, |u| work(py, || self.inner.internal_energy(u, &self.conditions())))
    }

    /// Returns the internal force, in N, ``(n, 3)``: the gradient of the energy. In equilibrium it equals the external
    /// force. Where ``inversion="clamp"`` or ``frame="qr"`` act, the forces of a material have no potential.
    ///
    /// No other thread may write to ``u`` meanwhile.
    #[pyo3(signature = (u=None))]
    fn internal_force<'py>(
        &self,
        py: Python<'py>,
        u: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut force = vec![0.0; self.inner.dim()];
        self.at(u, |u| work(py, || self.inner.internal_force(u, &self.conditions(), &mut force)))?;
        Ok(into_rows(py, force))
    }

    /// Returns the minimum time of ``count`` evaluations of the force in Rust, in s, as a reference for calls from
    /// Python.
    fn _time_internal_force(&self, py: Python<'_>, u: &Bound<'_, PyAny>, count: usize) -> PyResult<f64> {
        let mut force = vec![0.0; self.inner.dim()];
        let mut time = |u: &[f64]| {
            let start = Instant::now();
            self.inner.internal_force(u, &self.conditions(), &mut force);
            start.elapsed().as_secs_f64()
        };
        self.at(Some(u), |u| work(py, || (0..count).map(|_| time(u)).fold(f64::INFINITY, f64::min)))
    }

    /// Returns the tangent stiffness, in N/m: a symmetric ``scipy.sparse.csr_array`` with ``3 n`` rows. Fixed vertices
    /// are included.
    ///
    /// Args:
    ///     projected: project each element matrix onto the positive semi-definite matrices.
    #[pyo3(signature = (u=None, *, projected=false))]
    fn stiffness<'py>(
        &self,
        py: Python<'py>,
        u: Option<&Bound<'py, PyAny>>,
        projected: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let definiteness = if projected { Definiteness::Projected } else { Definiteness::Exact };
        let csr =
            self.at(u, |u| work(py, || self.inner.internal_stiffness(u, &self.conditions(), definiteness).to_csr()))?;
        into_csr(py, csr)
    }

    /// Returns the mass matrix, in kg: a ``scipy.sparse.csr_array`` with ``3 n`` rows.
    fn mass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.inner.check_mass("the mass matrix").or_raise(Kind::Model)?;
        into_csr(py, work(py, || self.inner.mass().to_csr()))
    }

    /// Returns the damping matrix at displacements and velocities, in N·s/m: a ``scipy.sparse.csr_array`` with ``3 n``
    /// rows.
    #[pyo3(signature = (u=None, v=None))]
    fn damping<'py>(
        &self,
        py: Python<'py>,
        u: Option<&Bound<'py, PyAny>>,
        v: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.inner.damping().mass() != 0.0 {
            self.inner.check_mass("mass-proportional damping").or_raise(Kind::Model)?;
        }
        let v = self.numbers(v, "v")?;
        let csr = self.at(u, |u| {
            let rest;
            let v = if let Some(v) = &v {
                v.flat()
            } else {
                rest = vec![0.0; u.len()];
                &rest
            };
            // Most models have none, and mass-proportional damping of a lumped mass is diagonal.
            work(py, || self.inner.damping_matrix(u, &self.conditions(), v).to_csr().without_zeros())
        })?;
        into_csr(py, csr)
    }

    /// Returns the directional derivative of the stiffness along ``a``, times ``b``: ``Σ ∂Kᵢⱼ/∂uₖ bⱼ aₖ``, ``(n, 3)``.
    /// It is symmetric in ``a`` and ``b``.
    ///
    /// It is exact for linear and plain St. Venant–Kirchhoff materials, and a fourth-order difference quotient for
    /// others.
    fn stiffness_derivative<'py>(
        &self,
        py: Python<'py>,
        u: Option<&Bound<'py, PyAny>>,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = self.inner.node_count();
        let (a, b) = (Numbers::rows_of(a, "a", n, "vertices")?, Numbers::rows_of(b, "b", n, "vertices")?);
        let (a, b) = (a.flat(), b.flat());
        let mut out = vec![0.0; self.inner.dim()];
        let model = &self.inner;
        self.at(u, |u| work(py, || StiffnessDerivative::new(model).add(model, u, a, b, &mut out)))?;
        Ok(into_rows(py, out))
    }

    /// Returns the stress of each element, or at each vertex, in Pa, ``(m, 3, 3)``.
    ///
    /// The stress of an element is its mean. At vertices it is recovered: extrapolated from the Gauss points of
    /// hexahedra, and for tetrahedra fitted to the adjacent elements (superconvergent patch recovery). Nothing is
    /// averaged across regions. A vertex shared by several regions has the stress of the region with the maximum von
    /// Mises stress there. If ``region`` is given, it has the stress of that region, with NaN at vertices outside of
    /// it. The stress of linear materials is ``σ = λ tr(ε) I + 2με``.
    ///
    /// Args:
    ///     measure: ``"cauchy"``, ``"first-piola"`` or ``"second-piola"``.
    ///     at: ``"elements"`` or ``"vertices"``.
    ///     region: name of a region, for values at vertices.
    #[pyo3(signature = (u, measure="cauchy", *, at="elements", region=None))]
    fn stress<'py>(
        &self,
        py: Python<'py>,
        u: &Bound<'py, PyAny>,
        measure: &str,
        at: &str,
        region: Option<&str>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let stress: fn(&StressState) -> Mat3 = match measure {
            "cauchy" => |state| state.cauchy,
            "first-piola" => |state| state.first_piola,
            "second-piola" => |state| state.second_piola,
            _ => {
                let message =
                    format!("measure is {measure:?}, expected \"cauchy\", \"first-piola\" or \"second-piola\"");
                return Err(PyValueError::new_err(message));
            }
        };
        let states = self.states(py, u, at, region)?;
        let rows = |state: &StressState| stress(state).transpose().to_cols_array();
        Ok(into_shape(py, states.iter().flat_map(rows).collect(), &[states.len(), 3, 3]))
    }

    /// Returns the von Mises stress of each element, or at each vertex, in Pa, ``(m,)``; see :meth:`stress`.
    #[pyo3(signature = (u, *, at="elements", region=None))]
    fn von_mises<'py>(
        &self,
        py: Python<'py>,
        u: &Bound<'py, PyAny>,
        at: &str,
        region: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(into_list(py, self.states(py, u, at, region)?.iter().map(StressState::von_mises).collect()))
    }

    /// Returns the deformation of each element, or at each vertex: ``volume_ratio`` ``(m,)``, ``stretches`` ``(m, 3)``,
    /// ``green_strain`` ``(m, 3, 3)``, ``strain`` ``(m, 3, 3)`` and ``energy_density`` ``(m,)`` in J/m³. ``strain`` is
    /// the small strain ``ε`` for linear materials and the Green strain for all others. At vertices, strains are
    /// recovered as in :meth:`stress`, and the other quantities are means over the adjacent elements.
    #[pyo3(signature = (u, *, at="elements", region=None))]
    fn strain<'py>(
        &self,
        py: Python<'py>,
        u: &Bound<'py, PyAny>,
        at: &str,
        region: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let states = self.states(py, u, at, region)?;
        let table = PyDict::new(py);
        let list = |number: fn(&StressState) -> f64| into_list(py, states.iter().map(number).collect());
        table.set_item("volume_ratio", list(|state| state.volume_ratio))?;
        table.set_item("energy_density", list(|state| state.energy_density))?;
        table.set_item(
            "stretches",
            into_rows(py, states.iter().flat_map(|state| state.stretches.to_array()).collect()),
        )?;
        let tensors = |tensor: fn(&StressState) -> Mat3| {
            let numbers = states.iter().flat_map(|state| tensor(state).to_cols_array()).collect();
            into_shape(py, numbers, &[states.len(), 3, 3])
        };
        table.set_item("green_strain", tensors(|state| state.green_strain))?;
        table.set_item("strain", tensors(|state| state.strain))?;
        Ok(table)
    }

    /// Returns the displacements in static equilibrium, ``(n, 3)``.
    ///
    /// Args:
    ///     forces: forces on the vertices, in N, ``(n, 3)``.
    ///     gravity: acceleration, in m/s²; needs a density.
    ///     pressure: ``{faces: pressure}`` or ``(faces, pressure)``, in Pa; positive values push onto the faces.
    ///         ``faces`` is the name of a face set or a list of names, for exactly these faces; ``"surface"``; the
    ///         array of :meth:`Mesh.faces` or :attr:`Mesh.face_sets`, for models of one body; or vertices, for the
    ///         faces of the surface all of whose vertices are among them.
    ///     traction: ``{faces: (x, y, z)}`` or ``(faces, (x, y, z))``: force per area at rest, in Pa, in a fixed
    ///         direction.
    ///     follower: True if pressure follows the deformed normals and areas of the faces; False makes it a dead load.
    ///     prescribed: ``{vertex: displacement}`` or ``(vertices, displacements)``; NaN or None leaves a coordinate
    ///         free. Rows for a set are in the order of :meth:`select`.
    ///     start: initial displacements.
    ///     load_steps: minimum number of increments of loads and displacements. Increments that fail are halved.
    ///     tolerance: residual relative to the forces.
    ///     iterations: maximum number of Newton iterations per load increment.
    ///     solver: name of a linear solver, or one of :mod:`pliant.solvers`; by default ``"auto"``.
    ///
    /// >>> mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2), elements="hex")
    /// >>> model = pliant.Model(mesh, pliant.materials.linear(young=1e6, poisson=0.3, density=1000),
    /// ...                      fixed={"x-min": "x", "y-min": "y", "z-min": "z"})
    /// >>> u = model.static_solve(prescribed=("x-max", (0.01, None, None)))
    /// >>> bool(np.allclose(u.max(axis=0), (0.01, 0, 0))), bool(np.allclose(u.min(axis=0), (0, -0.003, -0.003)))
    /// (True, True)
    /// >>> u = model.static_solve(pressure={"x-max": "10 kPa"}, follower=False)  # −p/E along x, ν p/E across
    /// >>> bool(np.allclose(u[-1], (-0.01, 0.003, 0.003)))
    /// True
    /// >>> u = model.static_solve(traction=("x-max", ("10 kPa", 0, 0)))
    /// >>> bool(np.allclose(u[-1], (0.01, -0.003, -0.003)))
    /// True
    #[pyo3(signature = (
        *, forces=None, gravity=None, pressure=None, traction=None, follower=true, prescribed=None, start=None, load_steps=1,
        tolerance=None, iterations=None, solver=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn static_solve<'py>(
        &self,
        py: Python<'py>,
        forces: Option<&Bound<'py, PyAny>>,
        gravity: Option<&Bound<'py, PyAny>>,
        pressure: Option<&Bound<'py, PyAny>>,
        traction: Option<&Bound<'py, PyAny>>,
        follower: bool,
        prescribed: Option<&Bound<'py, PyAny>>,
        start: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = count)] load_steps: usize,
        tolerance: Option<f64>,
        #[pyo3(from_py_with = optional_count)] iterations: Option<usize>,
        solver: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let loads = Loads { forces, gravity, pressure, traction, follower, prescribed };
        let model = self.loaded(py, &loads)?;
        let mut state = model.rest_state();
        if let Some(start) = self.numbers(start, "start")? {
            state.q.copy_from_slice(start.flat());
        }
        let params = static_params(load_steps, tolerance, iterations)?;
        let solver = solver.map_or_else(|| Ok(SolverChoice::default()), solver::chosen)?;
        let mut solver = Interruptible(solver::build(&solver)?);
        let solved = work(py, || {
            let mut assembly = model::Assembly::new(model);
            Static::new(params).solve(&mut assembly, &mut solver, &mut state).map(drop)
        });
        interrupt::outcome(solved.or_raise(Kind::Solve))?;
        Ok(into_rows(py, state.q))
    }

    /// Returns the reaction forces at fixed and prescribed vertices for an equilibrium ``u``, in N, ``(n, 3)``. The
    /// arguments are those of :meth:`static_solve`.
    #[pyo3(signature = (
        u, *, forces=None, gravity=None, pressure=None, traction=None, follower=true, prescribed=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn reactions<'py>(
        &self,
        py: Python<'py>,
        u: &Bound<'py, PyAny>,
        forces: Option<&Bound<'py, PyAny>>,
        gravity: Option<&Bound<'py, PyAny>>,
        pressure: Option<&Bound<'py, PyAny>>,
        traction: Option<&Bound<'py, PyAny>>,
        follower: bool,
        prescribed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let loads = Loads { forces, gravity, pressure, traction, follower, prescribed };
        let model = self.loaded(py, &loads)?;
        let mut state = model.rest_state();
        self.at(Some(u), |u| state.q.copy_from_slice(u))?;
        Ok(into_rows(py, work(py, || model.reactions(&state))))
    }

    /// Returns the lowest natural frequencies in Hz, ``(count,)``, and the mode shapes, ``(count, n, 3)``,
    /// mass-orthonormal.
    ///
    /// Rigid-body modes are omitted.
    ///
    /// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2, elements="hex")
    /// >>> model = pliant.Model(mesh, pliant.materials.linear(young=1e6, poisson=0.3, density=1000), fixed="start")
    /// >>> frequencies, shapes = model.modes(3)
    /// >>> frequencies.shape, shapes.shape
    /// ((3,), (3, 189, 3))
    fn modes<'py>(&self, py: Python<'py>, #[pyo3(from_py_with = count)] count: usize) -> PyResult<Bound<'py, PyTuple>> {
        self.inner.check_mass("modes").or_raise(Kind::Model)?;
        let modes = work(py, || Modes::find(&self.inner, &ModesParams::new(count), &mut |_| interrupt::check()));
        let modes = interrupt::outcome(modes.or_raise(Kind::Solve))?;
        let shapes = modes.shapes.iter().flatten().copied().collect();
        let shape = [modes.shapes.len(), self.inner.node_count(), 3];
        (into_list(py, modes.frequencies()), into_shape(py, shapes, &shape)).into_pyobject(py)
    }

    /// Returns a reduced model with ``size`` basis vectors, built from modes and modal derivatives.
    ///
    /// Args:
    ///     modes: number of modes in the basis; by default two fifths of ``size``.
    ///     derivatives: number of modes whose derivatives are included; by default all.
    ///     snapshots: displacements ``(k, n, 3)`` that the basis includes too.
    ///     only_snapshots: use no modes.
    ///     basis: custom basis vectors, ``(size, n, 3)``, instead of the above.
    ///     forces: ``"auto"``, ``"projection"`` or ``"cubature"``.
    #[pyo3(signature = (
        size, *, modes=None, derivatives=None, snapshots=None, only_snapshots=false, basis=None, forces="auto"
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn reduce(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = count)] size: usize,
        #[pyo3(from_py_with = optional_count)] modes: Option<usize>,
        #[pyo3(from_py_with = optional_count)] derivatives: Option<usize>,
        snapshots: Option<&Bound<'_, PyAny>>,
        only_snapshots: bool,
        basis: Option<&Bound<'_, PyAny>>,
        forces: &str,
    ) -> PyResult<ReducedModel> {
        self.inner.check_mass("a reduced model").or_raise(Kind::Model)?;
        let forces = match forces {
            "auto" => Forces::Auto,
            "projection" => Forces::Projection,
            "cubature" => Forces::Cubature(CubatureParams::default()),
            _ => {
                let message = format!("forces are {forces:?}, expected \"auto\", \"projection\" or \"cubature\"");
                return Err(PyValueError::new_err(message));
            }
        };
        let basis = basis.map(|given| self.fields(given, "basis")).transpose()?;
        let snapshots = snapshots.map(|given| self.fields(given, "snapshots"));
        let params = ReductionParams {
            size,
            modes,
            derivatives,
            snapshots: snapshots.transpose()?.unwrap_or_default(),
            only_snapshots,
            forces: forces.clone(),
        };
        if let Some(basis) = &basis {
            let others = modes.is_some() || derivatives.is_some() || only_snapshots || !params.snapshots.is_empty();
            if others {
                let message = "basis: modes, derivatives and snapshots have no effect with a custom basis";
                return Err(PyTypeError::new_err(message));
            }
            if basis.len() != size {
                let message = format!("basis has {} vectors, expected {size}", basis.len());
                return Err(PyValueError::new_err(message));
            }
        }
        let made = work(py, || {
            let mut watch = |_| interrupt::check();
            match basis {
                Some(vectors) => Reduction::of_vectors(&self.inner, vectors, &forces, &mut watch),
                None => Reduction::new(&self.inner, &params, &mut watch),
            }
        });
        let (reduction, _) = interrupt::outcome(made.or_raise(Kind::Solve))?;
        self.reduced(py, reduction)
    }

    /// Reads a reduced model of this model from a file.
    fn read_reduced(&self, py: Python<'_>, path: PathBuf) -> PyResult<ReducedModel> {
        let read = work(py, || Reduction::read(&pliant::files::Disk, &path, &self.inner));
        let reduction = read.map_err(|error| match error {
            ReductionError::Read(error) => read_error(&error),
            error => Kind::Model.error(error),
        })?;
        self.reduced(py, reduction)
    }

    fn __repr__(&self) -> String {
        let bodies = self.inner.bodies();
        let elements: usize = bodies.iter().map(|body| body.mesh().element_count()).sum();
        let count = if bodies.len() == 1 { String::new() } else { format!("{} bodies, ", bodies.len()) };
        format!("<pliant.Model: {count}{} vertices, {elements} elements>", self.inner.node_count())
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        Err(renamed::no_attribute("Model", name))
    }
}

impl Model {
    fn of(inner: model::Model, law: Option<String>) -> Self {
        let (sets, history) = (inner.vertex_sets(), inner.rest_state().history);
        Self { inner, sets, law, time: 0.0, history }
    }

    /// Returns the model of a simulation at a state, without gravity and loads.
    pub fn unloaded(mut inner: model::Model, state: &State) -> Self {
        inner.set_gravity(Vec3::ZERO).expect("zero is finite");
        inner.loads_mut().fill(0.0);
        let model = Self::of(inner, Some("the law of its materials".into()));
        Self { time: state.time, history: state.history.clone(), ..model }
    }

    fn conditions(&self) -> Conditions<'_> {
        Conditions::at(self.time).with_history(&self.history)
    }

    fn with_choice<T>(&self, py: Python<'_>, choose: impl FnOnce(&Choice<'_>) -> T) -> T {
        let surface = || Ok(work(py, || self.inner.surface_vertices()));
        choose(&Choice { of: "vertices", count: self.inner.node_count(), sets: &self.sets, surface: Some(&surface) })
    }

    pub fn choose(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u32>> {
        self.with_choice(value.py(), |choice| choice.choose(value, what))
    }

    /// Reads three numbers per vertex, if given.
    fn numbers<'py>(&self, value: Option<&Bound<'py, PyAny>>, what: &str) -> PyResult<Option<Numbers<'py>>> {
        value.map(|value| Numbers::rows_of(value, what, self.inner.node_count(), "vertices")).transpose()
    }

    /// Evaluates a function at displacements, or at rest if none are given.
    fn at<T>(&self, u: Option<&Bound<'_, PyAny>>, measure: impl FnOnce(&[f64]) -> T) -> PyResult<T> {
        Ok(match self.numbers(u, "u")? {
            Some(u) => measure(u.flat()),
            None => measure(&vec![0.0; self.inner.dim()]),
        })
    }

    /// Reads several displacement fields.
    fn fields(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<Vec<f64>>> {
        let numbers = Numbers::any(value, what)?;
        let n = self.inner.node_count();
        match *numbers.shape() {
            [_, rows, 3] if rows == n => {}
            _ => return Err(numbers.shape_error(what, &format!("(k, {n}, 3)"))),
        }
        Ok(numbers.flat().chunks_exact(3 * n).map(<[f64]>::to_vec).collect())
    }

    /// Returns the surface faces of a selection.
    pub fn patch(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<Patch> {
        let faces = self.with_choice(value.py(), |choice| choice.faces(value, what))?;
        let patch = work(value.py(), || faces.patch(&self.inner));
        patch.map_err(|error| format!("{what}: {error}")).or_raise(Kind::Mesh)
    }

    /// Returns a copy with loads.
    fn loaded(&self, py: Python<'_>, loads: &Loads<'_, '_>) -> PyResult<model::Model> {
        let mut model = work(py, || self.inner.clone());
        if let Some(gravity) = loads.gravity {
            model.set_gravity(vector::<dimension::Acceleration>(gravity, "gravity")?).or_raise(Kind::Model)?;
        }
        if let Some(forces) = self.numbers(loads.forces, "forces")? {
            model.loads_mut().copy_from_slice(forces.flat());
        }
        let surface = SurfaceLoads::read(loads.pressure, loads.traction, |faces, what| self.patch(faces, what))?;
        let follower = loads.follower;
        work(py, || surface.add_to(&mut model, follower, &Amplitude::default())).or_raise(Kind::Model)?;
        if let Some(prescribed) = loads.prescribed {
            for fixed in self.with_choice(py, |choice| choice.prescribed(prescribed))? {
                model.fix(fixed).or_raise(Kind::Model)?;
            }
        }
        Ok(model)
    }

    fn states(
        &self,
        py: Python<'_>,
        u: &Bound<'_, PyAny>,
        at: &str,
        region: Option<&str>,
    ) -> PyResult<Vec<StressState>> {
        let of_vertices = match at {
            "elements" => false,
            "vertices" => true,
            _ => {
                let message = format!("at is {at:?}, expected \"elements\" or \"vertices\"");
                return Err(PyValueError::new_err(message));
            }
        };
        if let Some(body) = self.inner.bodies().iter().find(|body| body.elastic().is_none()) {
            return Err(
                Kind::Model.error(format!("body `{}` has no elastic law, and therefore no stress", body.name()))
            );
        }
        let index = |body: &model::ModelBody| region.and_then(|name| body.mesh().region_index(name));
        if let Some(name) = region {
            if !of_vertices {
                return Err(PyValueError::new_err(
                    "region: expected at=\"vertices\", since each element has one region",
                ));
            }
            if !self.inner.bodies().iter().any(|body| index(body).is_some()) {
                let regions = self.inner.bodies().iter().flat_map(|body| body.mesh().regions());
                let known = regions.map(|region| format!("`{}`", region.name)).collect::<Vec<_>>().join(", ");
                return Err(Kind::Model.error(format!("unknown region `{name}`; expected one of {known}")));
            }
        }
        self.at(Some(u), |u| {
            work(py, || {
                let mut states = Vec::new();
                for (elastic, body) in self.inner.bodies().iter().filter_map(|body| Some((body.elastic()?, body))) {
                    if of_vertices {
                        let nodal = elastic.nodal_states(body.mesh(), u);
                        states.extend(match (region, index(body)) {
                            (None, _) => nodal.dominant(),
                            (Some(_), index) => nodal.of_region(index.map_or(u32::MAX, |index| index as u32)),
                        });
                    } else {
                        states.extend(elastic.element_states(u));
                    }
                }
                states
            })
        })
    }

    fn reduced(&self, py: Python<'_>, reduction: Reduction) -> PyResult<ReducedModel> {
        let model = work(py, || pliant::reduced::ReducedModel::new(self.inner.clone(), reduction.clone()));
        Ok(ReducedModel::new(model.or_raise(Kind::Model)?, reduction))
    }

    /// Returns the state at rest.
    pub fn rest_state(&self) -> State {
        self.inner.rest_state()
    }
}

/// Loads on a model, as given in Python.
struct Loads<'a, 'py> {
    forces: Option<&'a Bound<'py, PyAny>>,
    gravity: Option<&'a Bound<'py, PyAny>>,
    pressure: Option<&'a Bound<'py, PyAny>>,
    traction: Option<&'a Bound<'py, PyAny>>,
    follower: bool,
    prescribed: Option<&'a Bound<'py, PyAny>>,
}

/// Reads one object of a class, or a list of them; `None` is an empty list.
fn one_or_several<T: pyo3::PyClass>(value: Option<&Bound<'_, PyAny>>, wrong: &'static str) -> PyResult<Vec<Py<T>>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    if let Ok(one) = value.cast::<T>() {
        return Ok(vec![one.clone().unbind()]);
    }
    let list = value.try_iter().and_then(|list| list.map(|one| Ok(one?.cast_into::<T>()?.unbind())).collect());
    list.map_err(|_: PyErr| PyTypeError::new_err(wrong))
}

/// Reads the argument `contact`; `None` if contact is not by barriers.
fn contact_settings(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Contact>> {
    let Some(value) = value else { return Ok(None) };
    if let Ok(is_on) = value.extract::<bool>() {
        return Ok(is_on.then(Contact::default));
    }
    let table = value.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err("contact: expected True, False or a dictionary with the keys of `[contact]`")
    })?;
    let settings: Contact =
        part_from_value(json_of(table)?, "contact").map_err(|error| error.message).or_raise(Kind::Scene)?;
    let is_penalty = settings.method.as_ref().is_some_and(|method| method.value == ContactMethod::Penalty);
    Ok(Some(settings).filter(|_| !is_penalty))
}

/// Barrier contact of a model.
struct Barriers {
    params: ContactParams,
    colliders: Vec<Collider>,
    /// Notes for the user.
    notes: Vec<String>,
}

fn barriers(settings: &Contact, bodies: &[model::Body], obstacles: &[(usize, Py<Obstacle>)]) -> PyResult<Barriers> {
    let mut params = settings.params(&Source::none()).map_err(|error| error.message).or_raise(Kind::Scene)?;
    let colliders = obstacles.iter().map(|(number, obstacle)| obstacle.get().collider(*number, settings));
    let colliders = colliders.collect::<PyResult<Vec<_>>>()?;
    let mut names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
    for collider in &colliders {
        if names.contains(&collider.name.as_str()) {
            let message =
                format!("obstacles: another body or obstacle is named `{}`, expected unique names", collider.name);
            return Err(Kind::Model.error(message));
        }
        names.push(&collider.name);
    }
    let mut notes = Vec::new();
    let is_entangled = |body: &&model::Body| {
        let surface = body.mesh.boundary().surface;
        intersects_itself(surface.vertices(), &surface.triangles().collect::<Vec<_>>())
    };
    for body in bodies.iter().filter(is_entangled) {
        params.pairs.push(PairRule { bodies: [body.name.clone(), body.name.clone()], rule: PairBehavior::Ignored });
        notes.push(format!(
            "the surface of `{}` intersects itself at rest, so that it does not collide with itself",
            body.name
        ));
    }
    Ok(Barriers { params, colliders, notes })
}

/// Adds obstacles with penalty contact for the surface vertices.
fn add_obstacles(model: &mut model::Model, obstacles: &[(usize, Py<Obstacle>)]) -> Result<(), String> {
    let usual = model.obstacle_stiffness();
    let list = obstacles.iter().map(|(_, obstacle)| obstacle.get().with_stiffness(usual));
    let list = list.collect::<Result<Vec<_>, _>>()?;
    let force = Obstacles::for_vertices(model.shared_rest().clone(), model.surface_vertices(), list);
    model.add_force(force.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

/// Returns the parameters of the static solver.
pub fn static_params(load_steps: usize, tolerance: Option<f64>, iterations: Option<usize>) -> PyResult<StaticParams> {
    let mut params = StaticParams { load_steps, ..StaticParams::default() };
    if load_steps == 0 {
        return Err(PyValueError::new_err("load_steps is 0, expected at least 1"));
    }
    if let Some(tolerance) = tolerance {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(PyValueError::new_err(format!(
                "tolerance is {tolerance}, expected a number above 0 and below 1"
            )));
        }
        params.newton.tolerance = tolerance;
    }
    if let Some(iterations) = iterations {
        if iterations == 0 {
            return Err(PyValueError::new_err("iterations is 0, expected at least 1"));
        }
        params.newton.max_iterations = iterations;
    }
    Ok(params)
}

/// Converts a matrix to SciPy, which takes over its memory.
fn into_csr(py: Python<'_>, csr: Csr) -> PyResult<Bound<'_, PyAny>> {
    let rows = csr.row_count();
    let make = py.import("pliant._interop")?.getattr("csr")?;
    let values = into_list(py, csr.values);
    if csr.columns.len() < i32::MAX as usize {
        let columns: Vec<i32> = csr.columns.into_iter().map(|column| column as i32).collect();
        let starts: Vec<i32> = csr.row_starts.into_iter().map(|start| start as i32).collect();
        make.call1((values, into_list(py, columns), into_list(py, starts), rows))
    } else {
        let columns: Vec<i64> = csr.columns.into_iter().map(i64::from).collect();
        let starts: Vec<i64> = csr.row_starts.into_iter().map(|start| start as i64).collect();
        make.call1((values, into_list(py, columns), into_list(py, starts), rows))
    }
}
