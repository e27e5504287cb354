//! Simulations: models integrated in time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::PyArray2;
use pliant::files::Memory;
use pliant::force::{self, Handles, Patch};
use pliant::math::Vec3;
use pliant::mesh::Sets;
use pliant::motion::Motion;
use pliant::simulation::{Checkpoint, Simulation as Inner};
use pliant_scene::scene::quantity::dimension;
use pliant_scene::scene::{INTEGRATORS, Source};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyType};

use crate::arrays::{Numbers, count, into_rows, optional_count, vector_rows};
use crate::contacts::Contacts;
use crate::errors::{Kind, OrRaise, warn};
use crate::fixed::Fixed;
use crate::handle::Handle;
use crate::integrator::{self, Integrator};
use crate::interrupt::{self, Interruptible};
use crate::loads;
use crate::mirror::Mirror;
use crate::model::{Model, static_params};
use crate::observation::Observation;
use crate::pressure::Pressure;
use crate::quantity::{Amount, vector};
use crate::reduced::ReducedModel;
use crate::renamed;
use crate::running::{Group, MirroredArray, Running};
use crate::scene;
use crate::select;
use crate::solver;
use crate::step_info::StepInfo;
use crate::work::{Shared, work};

/// Model that is integrated in time.
///
/// ``positions``, ``velocities`` and ``forces`` are arrays ``(n, 3)`` to read and to write. They follow the simulation,
/// and changes to them take effect in the next step.
///
/// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
/// >>> rubber = pliant.materials.neo_hookean(young=1e6, poisson=0.4, density=1000)
/// >>> model = pliant.Model(mesh, rubber, fixed="start")
/// >>> sim = pliant.Simulation(model, pliant.integrators.newmark(dt=1e-3), gravity=(0, -9.81, 0))
/// >>> for _ in range(10):
/// ...     info = sim.step()
/// >>> sim
/// <pliant.Simulation at 0.01 s, after 10 steps>
/// >>> bool(sim.positions[-1, 1] < mesh.vertices[-1, 1])
/// True
/// >>> bool(abs(sim.energy) < 1e-6)
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Simulation {
    pub running: Shared<Running>,
    /// Rest positions of the model, which are constant.
    pub rest: Arc<[Vec3]>,
    sets: Sets,
    dt: f64,
}

#[pymethods]
impl Simulation {
    /// Creates a simulation of a model, at rest or with given positions and velocities.
    ///
    /// Args:
    ///     model: a :class:`Model` or a :class:`ReducedModel`. It is not modified.
    ///     integrator: see :mod:`pliant.integrators`; by default ``backward_euler``, as in scenes.
    ///     dt: time step of the default integrator, in s; only without ``integrator``.
    ///     gravity: acceleration, in m/s²; by default none.
    ///     pressure: ``{faces: pressure}``, in Pa, as in :meth:`Model.static_solve`; positive values push onto the
    ///         faces.
    ///     traction: ``{faces: (x, y, z)}``, in Pa.
    ///     follower: True if pressure follows the deformed surface; False makes it a dead load.
    ///     schedule: factor of pressure and traction over time: ``[(time, factor), …]``, linear in between; by
    ///         default 1.
    ///     positions: initial positions, in m; by default the rest positions.
    ///     velocities: initial velocities, in m/s; by default zero.
    ///     accelerations: initial accelerations, in m/s², for ``newmark`` and ``central_differences``; by default
    ///         computed from the forces.
    ///
    /// >>> mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2))
    /// >>> rubber = pliant.materials.stable_neo_hookean(young="1 MPa", poisson=0.4, density="1.1 g/cm^3")
    /// >>> model = pliant.Model(mesh, rubber, fixed="y-min", damping=(20, 0))
    /// >>> sim = pliant.Simulation(model, dt="10 ms", pressure={"y-max": "50 kPa"}, schedule=[(0, 0), ("0.5 s", 1)])
    /// >>> steps = sim.run("1 s")
    /// >>> bool(-0.05 < sim.displacements[mesh.select("y-max"), 1].mean() < -0.03)
    /// True
    #[new]
    #[pyo3(signature = (
        model, integrator=None, *, dt=None, gravity=None, pressure=None, traction=None, follower=true, schedule=None, positions=None, velocities=None,
        accelerations=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, PyAny>,
        integrator: Option<&Bound<'_, Integrator>>,
        dt: Option<Amount<dimension::Time>>,
        gravity: Option<&Bound<'_, PyAny>>,
        pressure: Option<&Bound<'_, PyAny>>,
        traction: Option<&Bound<'_, PyAny>>,
        follower: bool,
        schedule: Option<Vec<(Bound<'_, PyAny>, f64)>>,
        positions: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
        accelerations: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let source = Source::none();
        let default;
        let settings = match (integrator, dt) {
            (Some(integrator), None) => &integrator.get().settings,
            (None, Some(dt)) => {
                default = integrator::default_settings(dt)?;
                &default
            }
            (Some(_), Some(_)) => return Err(PyTypeError::new_err("dt: the integrator already has a time step")),
            (None, None) => return Err(PyTypeError::new_err("expected a time step `dt`, or an integrator")),
        };
        let dt = settings.step.si;
        let inner = if let Ok(model) = model.cast::<Model>() {
            let given = model.get();
            if settings.integrator.has_inertia() {
                given.inner.check_mass("motion").or_raise(Kind::Model)?;
            }
            if given.inner.contact().is_some() && !settings.integrator.supports_contact() {
                let all = INTEGRATORS.iter().filter_map(|entry| Some((entry.name(), entry.default_options()?)));
                let others: Vec<&str> =
                    all.filter(|(_, options)| options.supports_contact()).map(|(name, _)| name).collect();
                let (name, others) = (settings.integrator.name(), others.join(", "));
                let message = format!("integrator: {name} does not support barrier contact, expected one of {others}");
                return Err(PyValueError::new_err(message));
            }
            let mut whole = work(py, || given.inner.clone());
            let has_law = settings.integrator.has_law();
            if has_law && let Some(law) = &given.law {
                let name = settings.integrator.name();
                let message = format!(
                    "`{name}` has a built-in law, and {law} would have no effect; give materials without a law"
                );
                return Err(Kind::Scene.error(message));
            }
            let moduli = if has_law { whole.take_elasticity() } else { Vec::new() };
            let integrator = work(py, || settings.integrator(&source, &whole, moduli)).map_err(|error| error.message);
            let solver = solver::build(&settings.solver)?;
            Inner::new(whole, integrator.or_raise(Kind::Scene)?, solver, model.get().rest_state(), dt)
        } else if let Ok(model) = model.cast::<ReducedModel>() {
            let reduced = model.get().copy(py)?;
            let integrator = settings.reduced_integrator(&source, &reduced).map_err(|error| error.message);
            let (integrator, rest) = (integrator.or_raise(Kind::Scene)?, reduced.model().rest_state());
            work(py, || Inner::reduced(reduced, integrator, &rest, dt))
        } else {
            return Err(PyTypeError::new_err("model: expected a pliant.Model or a pliant.ReducedModel"));
        };
        let simulation = Self::of(inner, None);
        if let Some(gravity) = gravity {
            simulation.set_gravity(py, gravity)?;
        }
        if schedule.is_some() && pressure.is_none() && traction.is_none() {
            let message = "schedule: no load to scale; give `pressure` or `traction` too";
            return Err(PyValueError::new_err(message));
        }
        let amplitude = loads::schedule(schedule)?;
        let surface = loads::SurfaceLoads::read(pressure, traction, |faces, what| simulation.patch(faces, what))?;
        let added =
            simulation.running.work(py, |running| surface.add_to(running.inner.model_mut(), follower, &amplitude));
        added?.or_raise(Kind::Model)?;
        if let Some(positions) = positions {
            simulation.set_positions(py, positions)?;
        }
        if let Some(velocities) = velocities {
            simulation.set_velocities(py, velocities)?;
        }
        if let Some(accelerations) = accelerations {
            if !settings.integrator.uses_accelerations() {
                let all = INTEGRATORS.iter().filter_map(|entry| Some((entry.name(), entry.default_options()?)));
                let others: Vec<&str> =
                    all.filter(|(_, options)| options.uses_accelerations()).map(|(name, _)| name).collect();
                let (name, others) = (settings.integrator.name(), others.join(" and "));
                let message = format!("accelerations: not used by {name}, only by {others}");
                return Err(PyValueError::new_err(message));
            }
            simulation.set_accelerations(py, accelerations)?;
        }
        Ok(simulation)
    }

    /// Creates a simulation from a scene at its start: the path of a file, or a dictionary with its tables and keys.
    /// Its output settings are ignored.
    ///
    /// Args:
    ///     folder: folder of files that the scene names; by default that of the scene, or the current one.
    ///
    /// >>> sim = pliant.Simulation.from_scene({
    /// ...     "object": [{"mesh": {"ball": {"radius": "5 cm"}},
    /// ...                 "material": {"young": "100 kPa", "poisson": 0.4, "density": 1000}}],
    /// ...     "simulation": {"step": "10 ms", "duration": "50 ms"},
    /// ... })
    /// >>> sim.run()
    /// 5
    #[classmethod]
    #[pyo3(signature = (scene, *, folder=None))]
    fn from_scene(class: &Bound<'_, PyType>, scene: &Bound<'_, PyAny>, folder: Option<PathBuf>) -> PyResult<Self> {
        let built = scene::build(class.py(), scene, folder)?;
        Ok(Self::of(built.simulation, Some(built.steps)))
    }

    /// Makes ``count`` steps and returns their total work. After an error, the state is that of the last successful
    /// step.
    #[pyo3(signature = (count=1))]
    fn step(slf: &Bound<'_, Self>, #[pyo3(from_py_with = count)] count: usize) -> PyResult<StepInfo> {
        let mut all = pliant::integrator::StepInfo::default();
        slf.get().advance(slf, count as u64, None, 1, |info| all = all.and(info))?;
        Ok(StepInfo::from(&all))
    }

    /// Simulates for ``duration`` seconds, or to the end of the scene, and returns the number of steps.
    ///
    /// Args:
    ///     callback: called with the simulation after every ``every`` steps; the simulation stops if it returns False.
    #[pyo3(signature = (duration=None, callback=None, *, every=1))]
    fn run(
        slf: &Bound<'_, Self>,
        duration: Option<Amount<dimension::Time>>,
        callback: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = count)] every: usize,
    ) -> PyResult<u64> {
        let this = slf.get();
        let (done, all) = this.running.look(slf.py(), |running| (running.inner.steps_done(), running.steps))?;
        let steps = match (duration.map(|duration| duration.si), all) {
            (Some(duration), _) => {
                let wanted = duration / this.dt;
                if !(0.0..1e15).contains(&wanted) {
                    let message = format!("duration is {duration} s, expected a finite, non-negative time");
                    return Err(PyValueError::new_err(message));
                }
                // A duration that is a whole number of steps up to rounding has exactly that number.
                (wanted * (1.0 - 1e-12)).ceil() as u64
            }
            (None, Some(all)) => all.saturating_sub(done),
            (None, None) => {
                return Err(PyTypeError::new_err("duration: expected a time, since there is no scene that defines it"));
            }
        };
        if let Some(callback) = callback.filter(|given| !given.is_callable()) {
            return Err(PyTypeError::new_err(format!("callback is {}, expected a function", callback.repr()?)));
        }
        if every == 0 {
            return Err(PyValueError::new_err("every is 0, expected at least 1"));
        }
        this.advance(slf, steps, callback, every as u64, |_| {})
    }

    /// Solves for equilibrium under the current forces; velocities become zero, and the time does not change.
    #[pyo3(signature = (*, load_steps=1, tolerance=None, iterations=None))]
    fn static_solve(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = count)] load_steps: usize,
        tolerance: Option<f64>,
        #[pyo3(from_py_with = optional_count)] iterations: Option<usize>,
    ) -> PyResult<StepInfo> {
        let params = static_params(load_steps, tolerance, iterations)?;
        self.push(py)?;
        let solved = self.running.work(py, |running| running.moving().find_equilibrium(params))?;
        self.pull(py)?;
        interrupt::outcome(solved.or_raise(Kind::Solve)).map(|info| StepInfo::from(&info))
    }

    /// Positions of the vertices, in m, ``(n, 3)``; read and write.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, MirroredArray::Positions)
    }

    #[setter]
    fn set_positions(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, MirroredArray::Positions, value, "positions")
    }

    /// Velocities of the vertices, in m/s, ``(n, 3)``; read and write.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, MirroredArray::Velocities)
    }

    #[setter]
    fn set_velocities(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, MirroredArray::Velocities, value, "velocities")
    }

    /// Accelerations of the vertices, in m/s², ``(n, 3)``; a copy, assigned as a whole. None if the integrator has not
    /// computed them: at the start, and after positions or velocities were set.
    #[getter]
    fn accelerations<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.push(py)?;
        Ok(self.running.work(py, |running| running.inner.state().a.clone())?.map(|a| into_rows(py, a)))
    }

    #[setter]
    fn set_accelerations(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = Numbers::rows_of(value, "accelerations", self.rest.len(), "vertices")?.flat().to_vec();
        self.push(py)?;
        let set = self.running.work(py, |running| {
            if running.inner.reduced_model().is_some() {
                return Err("a reduced model computes its accelerations");
            }
            let mut state = running.inner.state().clone();
            state.a = Some(value);
            running.inner.set_state(state);
            Ok(())
        });
        set?.or_raise(Kind::Model)
    }

    /// Additional forces on the vertices, in N, ``(n, 3)``; read and write. They persist until they are changed.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, MirroredArray::Forces)
    }

    #[setter]
    fn set_forces(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, MirroredArray::Forces, value, "forces")
    }

    /// Displacements of the vertices, in m, ``(n, 3)``; a copy.
    #[getter]
    fn displacements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.push(py)?;
        Ok(into_rows(py, self.running.work(py, |running| running.inner.state().q.clone())?))
    }

    /// Rest positions of the vertices, in m, ``(n, 3)``; a copy.
    #[getter]
    fn rest_positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        vector_rows(py, &self.rest)
    }

    /// Gravitational acceleration, in m/s².
    #[getter]
    fn gravity(&self, py: Python<'_>) -> PyResult<(f64, f64, f64)> {
        self.running.look(py, |running| running.inner.model().gravity().into())
    }

    #[setter]
    fn set_gravity(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let gravity = vector::<dimension::Acceleration>(value, "gravity")?;
        self.running.look(py, |running| running.inner.model_mut().set_gravity(gravity))?.or_raise(Kind::Model)
    }

    /// Coefficients ``(α, β)`` of Rayleigh damping ``αM + βK``, in 1/s and s.
    #[getter]
    fn damping(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        self.running.look(py, |running| {
            let damping = running.inner.model().damping();
            (damping.mass(), damping.stiffness())
        })
    }

    #[setter]
    fn set_damping(&self, py: Python<'_>, value: (Amount<dimension::Rate>, Amount<dimension::Time>)) -> PyResult<()> {
        let (alpha, beta) = (value.0.si, value.1.si);
        self.running.look(py, |running| running.inner.model_mut().set_rayleigh(alpha, beta))?.or_raise(Kind::Model)
    }

    /// Time, in s.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.running.look(py, |running| running.inner.time())
    }

    /// Time step, in s.
    #[getter]
    fn dt(&self) -> f64 {
        self.dt
    }

    /// Number of steps made.
    #[getter]
    fn step_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.running.look(py, |running| running.inner.steps_done())
    }

    /// Number of vertices.
    #[getter]
    fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    /// Total energy, in J; gravity and forces contribute relative to rest.
    #[getter]
    fn energy(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.observe(py)?.inner.total_energy())
    }

    /// Measures energies, momentum and volume.
    fn observe(&self, py: Python<'_>) -> PyResult<Observation> {
        self.push(py)?;
        Ok(Observation::from(&self.running.work(py, |running| running.inner.observe())?))
    }

    /// Returns the reaction forces at fixed vertices, in N, ``(n, 3)``.
    fn reactions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.push(py)?;
        self.check_law(py, "reactions")?;
        let reactions = self.running.work(py, |running| running.inner.model().reactions(running.inner.state()));
        Ok(into_rows(py, reactions?))
    }

    /// Contacts between bodies and obstacles, with their points and forces. Friction is that of sliding at the current
    /// velocities. Requires barrier contact: ``contact`` of :class:`Model`, or of a scene.
    #[getter]
    fn contacts(&self, py: Python<'_>) -> PyResult<Contacts> {
        self.push(py)?;
        let found = self.running.work(py, |running| {
            let model = running.inner.model();
            let energy = model.contact_energy()?;
            let names = (0..energy.body_count()).map(|body| energy.name(body).to_owned()).collect();
            Some(Contacts::new(names, model.point_contacts(running.inner.state())?))
        });
        found?
            .ok_or_else(|| Kind::Model.error("contacts: the model has no barrier contact; create it with contact=True"))
    }

    /// Copy of the current model with its materials, fixed vertices, handles, springs and obstacles, without gravity
    /// and forces.
    #[getter]
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        self.check_law(py, "models")?;
        self.running.work(py, |running| Model::unloaded(running.inner.model().clone(), running.inner.state()))
    }

    /// Fixes vertices at their current positions. Returns the constraint, which can be moved and released.
    ///
    /// Args:
    ///     vertices: the name of a set, indices or a mask.
    ///     axes: fixed axes.
    #[pyo3(signature = (vertices, *, axes="xyz"))]
    fn fix(slf: &Bound<'_, Self>, vertices: &Bound<'_, PyAny>, axes: &str) -> PyResult<Fixed> {
        let (this, py) = (slf.get(), slf.py());
        let vertices = this.choose(py, vertices)?;
        let axes = select::axes(axes)?;
        this.push(py)?;
        let id = this.running.look(py, |running| {
            running.check_whole()?;
            let fixed = pliant::model::Fixed::here(vertices, running.inner.state()).along(axes);
            running.inner.model_mut().fix(fixed).map_err(|error| error.to_string())
        });
        Ok(Fixed { simulation: slf.clone().unbind(), id: id?.or_raise(Kind::Model)? })
    }

    /// Fixed vertices of the model or the scene, and those of :meth:`fix`. Vertices that the scene moves are not
    /// included.
    #[getter]
    fn fixed(slf: &Bound<'_, Self>) -> PyResult<Vec<Fixed>> {
        let ids = slf.get().running.look(slf.py(), |running| {
            let model = running.inner.model();
            let still =
                model.fixed().iter().zip(model.fixed_ids()).filter(|(fixed, _)| matches!(fixed.motion, Motion::Still));
            still.map(|(_, id)| *id).collect::<Vec<_>>()
        })?;
        Ok(ids.into_iter().map(|id| Fixed { simulation: slf.clone().unbind(), id }).collect())
    }

    /// Attaches springs with movable ends to vertices. The ends start at the current positions of the vertices.
    ///
    /// Args:
    ///     vertices: the name of a set, indices or a mask.
    ///     stiffness: total stiffness of the springs, in N/m.
    ///     damping: total damping of the springs, in N·s/m.
    #[pyo3(signature = (vertices, stiffness, *, damping=None))]
    fn handle(
        slf: &Bound<'_, Self>,
        vertices: &Bound<'_, PyAny>,
        stiffness: Amount<dimension::Stiffness>,
        damping: Option<Amount<dimension::Viscosity>>,
    ) -> PyResult<Handle> {
        let (this, py) = (slf.get(), slf.py());
        let (stiffness, damping) = (stiffness.si, damping.map_or(0.0, |damping| damping.si));
        for (what, value) in [("stiffness", stiffness), ("damping", damping)] {
            check_coefficient(what, value)?;
        }
        let vertices = this.choose(py, vertices)?;
        this.push(py)?;
        let number = this.running.work(py, |running| {
            running.add_springs(&this.rest, &vertices, stiffness, damping)?;
            let number = running.next;
            running.next += 1;
            running.handles.push(Group { number, vertices });
            Ok::<_, String>(number)
        });
        Ok(Handle { simulation: slf.clone().unbind(), number: number?.or_raise(Kind::Model)? })
    }

    /// Follower pressures, which can be changed while the simulation runs: those of the scene, or those of ``pressure``
    /// in order.
    #[getter]
    fn pressures(slf: &Bound<'_, Self>) -> PyResult<Vec<Pressure>> {
        let this = slf.get();
        let count = this.running.look(slf.py(), |running| running.inner.forces_mut_of::<force::Pressure>().len())?;
        Ok((0..count).map(|number| Pressure { simulation: slf.clone().unbind(), number }).collect())
    }

    /// Handles created by :meth:`handle`.
    #[getter]
    fn handles(slf: &Bound<'_, Self>) -> PyResult<Vec<Handle>> {
        let numbers = slf
            .get()
            .running
            .look(slf.py(), |running| running.handles.iter().map(|group| group.number).collect::<Vec<_>>())?;
        Ok(numbers.into_iter().map(|number| Handle { simulation: slf.clone().unbind(), number }).collect())
    }

    /// Returns the state as bytes for :meth:`restore`, without fixed vertices, handles and forces.
    ///
    /// Solvers are reset, so that this simulation and a restored one continue bit-identically.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.push(py)?;
        let (name, files) = (Path::new("checkpoint"), Memory::default());
        self.running
            .look(py, |running| running.inner.checkpoint_here().write(&files, name))?
            .or_raise(Kind::Checkpoint)?;
        let bytes = files.contents().pop().map(|(_, bytes)| bytes).unwrap_or_default();
        Ok(PyBytes::new(py, &bytes))
    }

    /// Restores a checkpoint of this simulation or of an equivalent one.
    fn restore(&self, py: Python<'_>, checkpoint: &[u8]) -> PyResult<()> {
        let name = Path::new("checkpoint");
        let checkpoint = Checkpoint::read(&Memory::with(name, checkpoint), name).or_raise(Kind::Checkpoint)?;
        self.push(py)?;
        self.running.work(py, |running| running.moving().resume(checkpoint))?.or_raise(Kind::Checkpoint)?;
        self.pull(py)?;
        Ok(())
    }

    /// Returns a copy that continues bit-identically, with fixed vertices, handles and forces.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.push(py)?;
        let running = self.running.work(py, |running| Running {
            inner: running.inner.clone(),
            positions: Mirror::default(),
            velocities: Mirror::default(),
            forces: Mirror::default(),
            handles: running.handles.clone(),
            ..*running
        })?;
        let (rest, sets) = (self.rest.clone(), self.sets.clone());
        Ok(Self { running: Shared::new(running), rest, sets, dt: self.dt })
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (time, steps) = self.running.look(py, |running| (running.inner.time(), running.inner.steps_done()))?;
        Ok(format!("<pliant.Simulation at {time} s, after {steps} steps>"))
    }

    #[allow(clippy::unused_self, reason = "a method of Python")]
    fn __getattr__(&self, name: &str) -> PyResult<Py<PyAny>> {
        Err(renamed::no_attribute("Simulation", name))
    }
}

impl Simulation {
    fn of(mut inner: Inner, steps: Option<u64>) -> Self {
        inner.wrap_solver(|solver| Box::new(Interruptible(solver)));
        let (rest, dt) = (inner.model().shared_rest().clone(), inner.dt());
        let sets = inner.model().vertex_sets();
        let scene_handles = inner.forces_mut_of::<Handles>().first().map_or(0, |handles| handles.list().len());
        let running = Running {
            inner,
            positions: Mirror::default(),
            velocities: Mirror::default(),
            forces: Mirror::default(),
            next: 0,
            handles: Vec::new(),
            scene_handles,
            steps,
        };
        Self { running: Shared::new(running), rest, sets, dt }
    }

    /// Takes over changes that Python has made to the arrays.
    pub fn push(&self, py: Python<'_>) -> PyResult<()> {
        self.work_out(py, |_, running| running.positions.may_have_changes() || running.velocities.may_have_changes())?;
        self.running.with_python(py, |py, running| running.push(py, &self.rest))?
    }

    /// Updates the arrays after changes.
    fn pull(&self, py: Python<'_>) -> PyResult<()> {
        self.work_out(py, |py, running| running.positions.is_seen(py) || running.velocities.is_seen(py))?;
        self.running.with_python(py, |py, running| running.pull(py, &self.rest))?
    }

    /// Computes the full state of a reduced model, if it is needed.
    fn work_out(&self, py: Python<'_>, is_needed: impl FnOnce(Python<'_>, &Running) -> bool) -> PyResult<()> {
        if self.running.with_python(py, |py, running| is_needed(py, running))? {
            self.running.work(py, |running| {
                running.inner.state();
            })?;
        }
        Ok(())
    }

    /// Returns an array that mirrors a quantity, and through which it can be set.
    fn array<'py>(&self, py: Python<'py>, shown: MirroredArray) -> PyResult<Bound<'py, PyAny>> {
        self.push(py)?;
        self.work_out(py, |_, _| true)?;
        self.running.with_python(py, |py, running| running.view(py, &self.rest, shown))?
    }

    /// Sets a mirrored quantity, as if it were written into the array.
    fn set_array(&self, py: Python<'_>, shown: MirroredArray, value: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
        // A copy, since it may be the array that is written to.
        let value = Numbers::rows_of(value, what, self.rest.len(), "vertices")?.flat().to_vec();
        self.push(py)?;
        self.work_out(py, |_, _| true)?;
        self.running.with_python(py, |py, running| {
            running.view(py, &self.rest, shown)?;
            running.mirror(shown).write(py, value)?;
            running.push(py, &self.rest)
        })?
    }

    /// Makes steps and returns their number.
    fn advance(
        &self,
        slf: &Bound<'_, Self>,
        steps: u64,
        callback: Option<&Bound<'_, PyAny>>,
        every: u64,
        mut watch: impl FnMut(&pliant::integrator::StepInfo),
    ) -> PyResult<u64> {
        let py = slf.py();
        for done in 1..=steps {
            self.push(py)?;
            let (stepped, gain) = self.running.work(py, |running| {
                let moving = running.moving();
                (moving.step(), moving.take_energy_gain().map(|gain| (moving.time(), gain)))
            })?;
            let stepped = stepped.or_raise(Kind::Solve).and_then(|info| {
                watch(&info);
                py.check_signals()
            });
            // Warnings may be turned into exceptions, after the step was made.
            let warned = gain.map_or(Ok(()), |(time, gain)| warn(py, &[format!("{time:.4} s: {gain}")]));
            let stepped = stepped.and(warned);
            if let Err(error) = interrupt::outcome(stepped) {
                self.pull(py)?;
                return Err(error);
            }
            if let Some(callback) = callback.filter(|_| done.is_multiple_of(every)) {
                self.pull(py)?;
                let answer = callback.call1((slf,))?;
                self.push(py)?;
                // Comparisons in NumPy return NumPy booleans.
                let is_truth =
                    answer.is_instance_of::<PyBool>() || answer.is_instance(&py.import("numpy")?.getattr("bool_")?)?;
                if is_truth && !answer.is_truthy()? {
                    return Ok(done);
                }
            }
        }
        self.pull(py)?;
        Ok(steps)
    }

    /// Returns an error if the integrator has a built-in law, for which a quantity is not available.
    fn check_law(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        let brings_law = self.running.look(py, |running| running.inner.is_regularized())?;
        if brings_law {
            return Err(
                Kind::Model.error(format!("this integrator has a built-in law, for which {what} are not available"))
            );
        }
        Ok(())
    }

    fn with_choice<T>(&self, py: Python<'_>, choose: impl FnOnce(&select::Choice<'_>) -> T) -> T {
        let surface = || self.running.work(py, |running| running.inner.model().surface_vertices());
        choose(&select::Choice { of: "vertices", count: self.rest.len(), sets: &self.sets, surface: Some(&surface) })
    }

    /// Returns the selected vertices, at least one.
    fn choose(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        select::not_empty(self.with_choice(py, |choice| choice.choose(value, "vertices"))?, "vertices")
    }

    /// Returns the surface faces of a selection.
    fn patch(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<Patch> {
        let py = value.py();
        let faces = self.with_choice(py, |choice| choice.faces(value, what))?;
        let patch = self.running.work(py, |running| faces.patch(running.inner.model()));
        patch?.map_err(|error| format!("{what}: {error}")).or_raise(Kind::Mesh)
    }
}

/// Checks a coefficient of springs.
pub fn check_coefficient(what: &str, value: f64) -> PyResult<()> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Kind::Model.error(format!("the {what} is {value}, expected a finite, non-negative number")))
}
