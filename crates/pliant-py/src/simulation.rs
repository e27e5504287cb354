//! Simulations: a model that goes through time.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyArray2};
use pliant::force::{Handle as Spring, Handles};
use pliant::io::Memory;
use pliant::math::Vec3;
use pliant::model::{Hold, HoldId};
use pliant::motion::Motion;
use pliant::simulation::{Checkpoint, Simulation as Inner};
use pliant::system::State;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyType};

use crate::arrays::{Numbers, frozen, index_list, into_rows, vector_rows};
use crate::errors::{Kind, OrRaise};
use crate::integrator::{Integrator, nowhere};
use crate::interrupt::{Interrupt, Interruptible};
use crate::mirror::Mirror;
use crate::model::{Model, static_params};
use crate::reduced::ReducedModel;
use crate::scene;
use crate::select;
use crate::work::{work, work_with};

/// A model that goes through time.
///
/// ``positions``, ``velocities`` and ``forces`` are arrays ``(n, 3)`` to read and to write: they follow the simulation, and what is written into them counts
/// from the next step on.
///
/// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
/// >>> rubber = pliant.materials.neo_hookean(young=1e6, poisson=0.45, density=1000)
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
    running: Mutex<Running>,
    interrupt: Interrupt,
    /// Of the model, which stay the same.
    rest: Vec<Vec3>,
    dt: f64,
}

#[derive(Debug)]
struct Running {
    inner: Inner,
    positions: Mirror,
    velocities: Mirror,
    forces: Mirror,
    handles: Vec<Group>,
    /// Handles that the scene has, which come before these.
    scene_handles: usize,
    /// The number that no handle has had yet.
    next: u64,
    /// How many steps the scene has.
    steps: Option<u64>,
}

/// Vertices of a handle.
#[derive(Debug, Clone)]
struct Group {
    number: u64,
    vertices: Vec<u32>,
}

#[pymethods]
impl Simulation {
    /// A model from rest on, or from other positions and velocities.
    ///
    /// Args:
    ///     model: a :class:`Model` or a :class:`ReducedModel`. It stays as it is.
    ///     integrator: how to step; see :mod:`pliant.integrators`.
    ///     gravity: acceleration, in m/s²; by default none.
    #[new]
    #[pyo3(signature = (model, integrator, *, gravity=None, positions=None, velocities=None))]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, PyAny>,
        integrator: &Bound<'_, Integrator>,
        gravity: Option<&Bound<'_, PyAny>>,
        positions: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (settings, source) = (&integrator.get().settings, nowhere());
        let dt = settings.step.si;
        let inner = if let Ok(model) = model.cast::<Model>() {
            let mut whole = model.get().inner.clone();
            let own_law = settings.scheme.value == pliant::scene::Scheme::Regularized;
            let moduli = if own_law { whole.take_elasticity() } else { Vec::new() };
            let scheme = work(py, || settings.integrator(&source, &whole, moduli)).map_err(|error| error.message);
            let solver = settings.solver(&source).map_err(|error| error.message).or_raise(Kind::Scene)?.build();
            Inner::new(whole, scheme.or_raise(Kind::Scene)?, solver, model.get().rest_state(), dt)
        } else if let Ok(model) = model.cast::<ReducedModel>() {
            let reduced = model.get().copy(py);
            let scheme = settings.reduced_integrator(&source, &reduced).map_err(|error| error.message);
            let (scheme, rest) = (scheme.or_raise(Kind::Scene)?, model.get().rest_state());
            work(py, || Inner::reduced(reduced, scheme, &rest, dt))
        } else {
            return Err(PyTypeError::new_err("model: expected a pliant.Model or a pliant.ReducedModel"));
        };
        let simulation = Self::of(inner, None);
        if let Some(gravity) = gravity.filter(|given| !given.is_none()) {
            simulation.set_gravity(py, gravity)?;
        }
        if let Some(positions) = positions.filter(|given| !given.is_none()) {
            simulation.set_positions(py, positions)?;
        }
        if let Some(velocities) = velocities.filter(|given| !given.is_none()) {
            simulation.set_velocities(py, velocities)?;
        }
        Ok(simulation)
    }

    /// A scene at its start: the path of a file, or a dictionary with its tables and keys. What it says of output is left alone.
    ///
    /// Args:
    ///     folder: where files are that the scene names; by default that of the scene, or the current one.
    ///
    /// >>> sim = pliant.Simulation.from_scene({
    /// ...     "object": [{"mesh": {"ball": {"radius": "5 cm"}},
    /// ...                 "material": {"young": "100 kPa", "poisson": 0.45, "density": 1000}}],
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

    /// Make ``count`` steps, and return what they took together. On an error it is where the last step that went well ended.
    #[pyo3(signature = (count=1))]
    fn step(slf: &Bound<'_, Self>, count: u64) -> PyResult<StepInfo> {
        let mut all = pliant::integrator::StepInfo::default();
        slf.get().advance(slf, count, None, 1, |info| all = all.and(info))?;
        Ok(StepInfo::from(&all))
    }

    /// Simulate for ``duration`` seconds, or to the end of the scene, and return how many steps that were.
    ///
    /// Args:
    ///     callback: called with the simulation after every ``every`` steps; if it returns False, that was the last.
    #[pyo3(signature = (duration=None, callback=None, *, every=1))]
    fn run(
        slf: &Bound<'_, Self>,
        duration: Option<f64>,
        callback: Option<&Bound<'_, PyAny>>,
        every: u64,
    ) -> PyResult<u64> {
        let this = slf.get();
        let (done, all) = this.with(slf.py(), |running| (running.inner.steps_done(), running.steps));
        let steps = match (duration, all) {
            (Some(duration), _) => {
                let wanted = duration / this.dt;
                if !(0.0..1e15).contains(&wanted) {
                    let message = format!("duration is {duration} s, expected a time that is not negative");
                    return Err(PyValueError::new_err(message));
                }
                // A duration that is a whole number of steps but for rounding has just these.
                (wanted * (1.0 - 1e-12)).ceil() as u64
            }
            (None, Some(all)) => all.saturating_sub(done),
            (None, None) => {
                return Err(PyTypeError::new_err("duration: expected a time, as there is no scene that has one"));
            }
        };
        if every == 0 {
            return Err(PyValueError::new_err("every is 0, expected at least 1"));
        }
        this.advance(slf, steps, callback.filter(|given| !given.is_none()), every, |_| {})
    }

    /// Go to equilibrium under the forces of this time; velocities become zero, and time stays.
    #[pyo3(signature = (*, load_steps=1, tolerance=None, iterations=None))]
    fn static_solve(
        &self,
        py: Python<'_>,
        load_steps: usize,
        tolerance: Option<f64>,
        iterations: Option<usize>,
    ) -> PyResult<StepInfo> {
        let params = static_params(load_steps, tolerance, iterations)?;
        self.push(py)?;
        let solved = self.with(py, |running| running.inner.find_equilibrium(params));
        self.pull(py)?;
        let info = solved.or_raise(Kind::Solve).map_err(|error| self.interrupt.or(error))?;
        Ok(StepInfo::from(&info))
    }

    /// Where the vertices are, in m, ``(n, 3)``: to read and to write.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.push(py)?;
        self.work_out(py, |_| true);
        let Running { inner, positions, .. } = &mut *self.lock(py);
        positions.view(py, self.rest.len(), position(&self.rest, inner.state()))
    }

    #[setter]
    fn set_positions(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        // A copy: it may be the very array that is written into.
        let value = Numbers::rows_of(value, "positions", self.rest.len(), "vertices")?.flat().to_vec();
        self.positions(py)?;
        self.lock(py).positions.write(py, value)?;
        self.push(py)?;
        Ok(())
    }

    /// How fast they are, in m/s, ``(n, 3)``: to read and to write.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.push(py)?;
        self.work_out(py, |_| true);
        let Running { inner, velocities, .. } = &mut *self.lock(py);
        let state = inner.state();
        velocities.view(py, self.rest.len(), |i| state.v[i])
    }

    #[setter]
    fn set_velocities(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = Numbers::rows_of(value, "velocities", self.rest.len(), "vertices")?.flat().to_vec();
        self.velocities(py)?;
        self.lock(py).velocities.write(py, value)?;
        self.push(py)?;
        Ok(())
    }

    /// Forces on the vertices beside all others, in N, ``(n, 3)``: to read and to write. They stay until they are changed.
    #[getter]
    fn forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.push(py)?;
        let Running { inner, forces, .. } = &mut *self.lock(py);
        let loads = inner.model().loads();
        forces.view(py, self.rest.len(), |i| loads[i])
    }

    #[setter]
    fn set_forces(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = Numbers::rows_of(value, "forces", self.rest.len(), "vertices")?.flat().to_vec();
        self.forces(py)?;
        self.lock(py).forces.write(py, value)?;
        self.push(py)?;
        Ok(())
    }

    /// How far the vertices are from rest, in m, ``(n, 3)``; a copy.
    #[getter]
    fn displacements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.push(py)?;
        Ok(into_rows(py, self.with(py, |running| running.inner.state().q.clone())))
    }

    /// Where they are at rest, in m, ``(n, 3)``; a copy.
    #[getter]
    fn rest_positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        vector_rows(py, &self.rest)
    }

    /// Acceleration by gravity, in m/s².
    #[getter]
    fn gravity(&self, py: Python<'_>) -> (f64, f64, f64) {
        self.with(py, |running| running.inner.model().gravity()).into()
    }

    #[setter]
    fn set_gravity(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let gravity = Numbers::vector(value, "gravity")?;
        self.with(py, |running| running.inner.model_mut().set_gravity(gravity)).or_raise(Kind::Model)
    }

    /// The time, in s.
    #[getter]
    fn time(&self, py: Python<'_>) -> f64 {
        self.with(py, |running| running.inner.time())
    }

    /// The length of a step, in s.
    #[getter]
    fn dt(&self) -> f64 {
        self.dt
    }

    /// How many steps have been made.
    #[getter]
    fn step_count(&self, py: Python<'_>) -> u64 {
        self.with(py, |running| running.inner.steps_done())
    }

    /// How many vertices there are.
    #[getter]
    fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    /// All energy together, in J; that of gravity and forces relative to rest.
    #[getter]
    fn energy(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.observe(py)?.total_energy)
    }

    /// What it is doing: energies, momentum, volume.
    fn observe(&self, py: Python<'_>) -> PyResult<Observation> {
        self.push(py)?;
        Ok(Observation::from(&self.with(py, |running| running.inner.observe())))
    }

    /// The forces with which pins and fixed vertices are held, in N, ``(n, 3)``.
    fn reactions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.push(py)?;
        let reactions = self.with(py, |running| running.inner.with_model(pliant::model::Model::reactions));
        Ok(into_rows(py, reactions))
    }

    /// The model as it is now, with its materials and pins; a copy.
    #[getter]
    fn model(&self, py: Python<'_>) -> Model {
        Model::of(self.with(py, |running| running.inner.model().clone()))
    }

    /// Hold vertices where they are now. The pin that is returned can be moved.
    ///
    /// Args:
    ///     vertices: a set's name, numbers or a mask.
    ///     axes: along which they are held.
    #[pyo3(signature = (vertices, *, axes="xyz"))]
    fn pin(slf: &Bound<'_, Self>, vertices: &Bound<'_, PyAny>, axes: &str) -> PyResult<Pin> {
        let (this, py) = (slf.get(), slf.py());
        let vertices = this.choose(py, vertices)?;
        let held = select::axes(axes)?;
        this.push(py)?;
        let id = this.with(py, |running| {
            running.check_whole()?;
            let hold = Hold::here(vertices, running.inner.state()).along(held);
            running.inner.model_mut().hold(hold).map_err(|error| error.to_string())
        });
        Ok(Pin { simulation: slf.clone().unbind(), id: id.or_raise(Kind::Model)? })
    }

    /// The pins: what the model or the scene has fixed, and those of :meth:`pin`. What the scene moves is not among them.
    #[getter]
    fn pins(slf: &Bound<'_, Self>) -> Vec<Pin> {
        let ids = slf.get().with(slf.py(), |running| {
            let model = running.inner.model();
            let still =
                model.holds().iter().zip(model.hold_ids()).filter(|(hold, _)| matches!(hold.motion, Motion::Still));
            still.map(|(_, id)| *id).collect::<Vec<_>>()
        });
        ids.into_iter().map(|id| Pin { simulation: slf.clone().unbind(), id }).collect()
    }

    /// Pull at vertices with springs whose other ends can be moved. They begin where the vertices are now.
    ///
    /// Args:
    ///     vertices: a set's name, numbers or a mask.
    ///     stiffness: of all springs together, in N/m.
    ///     damping: of all springs together, in N·s/m.
    #[pyo3(signature = (vertices, stiffness, *, damping=0.0))]
    fn handle(slf: &Bound<'_, Self>, vertices: &Bound<'_, PyAny>, stiffness: f64, damping: f64) -> PyResult<Handle> {
        let (this, py) = (slf.get(), slf.py());
        let vertices = this.choose(py, vertices)?;
        this.push(py)?;
        let number = this.with(py, |running| {
            running.add_springs(&this.rest, &vertices, stiffness, damping)?;
            let number = running.next;
            running.next += 1;
            running.handles.push(Group { number, vertices });
            Ok::<_, String>(number)
        });
        Ok(Handle { simulation: slf.clone().unbind(), number: number.or_raise(Kind::Model)? })
    }

    /// The handles of :meth:`handle`.
    #[getter]
    fn handles(slf: &Bound<'_, Self>) -> Vec<Handle> {
        let numbers =
            slf.get().with(slf.py(), |running| running.handles.iter().map(|group| group.number).collect::<Vec<_>>());
        numbers.into_iter().map(|number| Handle { simulation: slf.clone().unbind(), number }).collect()
    }

    /// Where it is and how it moves, as bytes for :meth:`restore`; pins, handles and forces are not part of it.
    ///
    /// Solvers begin anew after it, so that this simulation and one that is restored go on the same to the last bit.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.push(py)?;
        let (name, files) = (Path::new("checkpoint"), Memory::default());
        self.with(py, |running| running.inner.checkpoint_here().write(&files, name)).or_raise(Kind::Checkpoint)?;
        let bytes = files.contents().pop().map(|(_, bytes)| bytes).unwrap_or_default();
        Ok(PyBytes::new(py, &bytes))
    }

    /// Go back, or on, to a checkpoint of this simulation or one like it.
    fn restore(&self, py: Python<'_>, checkpoint: &[u8]) -> PyResult<()> {
        let name = Path::new("checkpoint");
        let checkpoint = Checkpoint::read(&Memory::with(name, checkpoint), name).or_raise(Kind::Checkpoint)?;
        self.push(py)?;
        self.with(py, |running| running.inner.resume(checkpoint)).or_raise(Kind::Checkpoint)?;
        self.pull(py)?;
        Ok(())
    }

    /// Another simulation that goes on from here, with pins, handles and forces, the same to the last bit.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.push(py)?;
        let running = self.with(py, |running| Running {
            inner: running.inner.clone(),
            positions: Mirror::default(),
            velocities: Mirror::default(),
            forces: Mirror::default(),
            handles: running.handles.clone(),
            ..*running
        });
        let (rest, interrupt) = (self.rest.clone(), self.interrupt.clone());
        Ok(Self { running: Mutex::new(running), interrupt, rest, dt: self.dt })
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (time, steps) = self.with(py, |running| (running.inner.time(), running.inner.steps_done()));
        format!("<pliant.Simulation at {time} s, after {steps} steps>")
    }
}

impl Simulation {
    fn of(mut inner: Inner, steps: Option<u64>) -> Self {
        let interrupt = Interrupt::default();
        let stop = interrupt.clone();
        inner.wrap_solver(|solver| Box::new(Interruptible { solver, interrupt: stop }));
        let (rest, dt) = (inner.model().rest().to_vec(), inner.dt());
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
        Self { running: Mutex::new(running), interrupt, rest, dt }
    }

    /// Never wait for another thread while Python waits for us: that thread may be waiting for Python.
    fn lock<'a>(&'a self, py: Python<'_>) -> MutexGuard<'a, Running> {
        use pyo3::sync::MutexExt;
        self.running.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Do something while other Python threads run.
    fn with<T: Send>(&self, py: Python<'_>, task: impl FnOnce(&mut Running) -> T + Send) -> T {
        work_with(py, &self.running, task)
    }

    /// Take over what Python has written into arrays.
    fn push(&self, py: Python<'_>) -> PyResult<()> {
        self.work_out(py, |running| running.positions.may_have_changes() || running.velocities.may_have_changes());
        self.lock(py).push(py, &self.rest)
    }

    /// Let arrays show what has changed.
    fn pull(&self, py: Python<'_>) -> PyResult<()> {
        self.work_out(py, |running| running.positions.is_seen(py) || running.velocities.is_seen(py));
        self.lock(py).pull(py, &self.rest)
    }

    /// Work out the state of all vertices, which a reduced model has not at hand, if it is needed.
    fn work_out(&self, py: Python<'_>, is_needed: impl FnOnce(&Running) -> bool) {
        let is_needed = is_needed(&self.lock(py));
        if is_needed {
            self.with(py, |running| {
                running.inner.state();
            });
        }
    }

    /// Make steps, and return how many were made.
    fn advance(
        &self,
        slf: &Bound<'_, Self>,
        steps: u64,
        callback: Option<&Bound<'_, PyAny>>,
        every: u64,
        mut watch: impl FnMut(&pliant::integrator::StepInfo),
    ) -> PyResult<u64> {
        let py = slf.py();
        self.push(py)?;
        for done in 1..=steps {
            let stepped = self.with(py, |running| running.inner.step());
            let outcome = match stepped {
                Ok(info) => {
                    watch(&info);
                    py.check_signals()
                }
                Err(error) => Err(self.interrupt.or(Kind::Solve.error(error))),
            };
            if let Err(error) = outcome {
                self.pull(py)?;
                return Err(error);
            }
            if let Some(callback) = callback.filter(|_| done.is_multiple_of(every)) {
                self.pull(py)?;
                let answer = callback.call1((slf,))?;
                // Comparisons of NumPy have a truth of their own.
                let is_truth =
                    answer.is_instance_of::<PyBool>() || answer.is_instance(&py.import("numpy")?.getattr("bool_")?)?;
                if is_truth && !answer.is_truthy()? {
                    return Ok(done);
                }
                self.push(py)?;
            }
        }
        self.pull(py)?;
        Ok(steps)
    }

    /// Vertices to hold or to pull at, at least one.
    fn choose(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let placed = |model: &pliant::model::Model| Model::of(model.clone());
        // Names of sets are rare, and a list is not worth a copy of the model.
        let chosen = if select::has_names(value) {
            self.with(py, |running| placed(running.inner.model())).choose(value, "vertices")?
        } else {
            let none = pliant::mesh::Sets::new();
            let (count, surface) = (self.rest.len(), &Vec::new);
            select::Choice { of: "vertices", count, sets: &none, surface }.choose(value, "vertices")?
        };
        select::not_empty(chosen, "vertices")
    }
}

impl Running {
    /// Take over what Python has written into arrays.
    fn push(&mut self, py: Python<'_>, rest: &[Vec3]) -> PyResult<()> {
        let mut changed: Option<State> = None;
        // The state of a reduced model is worked out only if someone has looked.
        if self.positions.may_have_changes() || self.velocities.may_have_changes() {
            let state = self.inner.state();
            let place = position(rest, state);
            self.positions.take_changes(py, &place, |i, x| {
                changed.get_or_insert_with(|| state.clone()).q[i] = x - rest[i / 3][i % 3];
            })?;
            self.velocities.take_changes(
                py,
                |i| state.v[i],
                |i, v| {
                    changed.get_or_insert_with(|| state.clone()).v[i] = v;
                },
            )?;
        }
        if let Some(mut state) = changed {
            // Accelerations were those of the state before.
            state.a = None;
            let inner = &mut self.inner;
            work(py, || {
                inner.set_state(state);
                inner.state();
            });
            self.pull(py, rest)?;
        }
        let mut loads = Vec::new();
        self.forces.take_changes(py, |i| self.inner.model().loads()[i], |i, force| loads.push((i, force)))?;
        if !loads.is_empty() {
            let all = self.inner.model_mut().loads_mut();
            loads.into_iter().for_each(|(i, force)| all[i] = force);
        }
        Ok(())
    }

    /// Let arrays show what has changed.
    fn pull(&mut self, py: Python<'_>, rest: &[Vec3]) -> PyResult<()> {
        let Self { inner, positions, velocities, .. } = self;
        positions.refresh(py, |i| position(rest, inner.state())(i))?;
        velocities.refresh(py, |i| inner.state().v[i])
    }

    fn check_whole(&self) -> Result<(), String> {
        match self.inner.reduced_model() {
            Some(_) => Err("what is held of a reduced model is what was held when it was made; use a handle".into()),
            None => Ok(()),
        }
    }

    fn add_springs(&mut self, rest: &[Vec3], vertices: &[u32], stiffness: f64, damping: f64) -> Result<(), String> {
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
            let none = Handles::new(rest, []).map_err(|error| error.to_string())?;
            model.add_force(none).map_err(|error| error.to_string())?;
        }
        let Some(handles) = model.forces_mut_of::<Handles>().next() else { return Ok(()) };
        let before = handles.list().len();
        for spring in springs {
            if let Err(error) = handles.push(spring) {
                // All of them or none.
                while handles.list().len() > before {
                    handles.remove(before).map_err(|error| error.to_string())?;
                }
                return Err(error.to_string());
            }
        }
        Ok(())
    }

    /// The springs of a handle, by their numbers.
    fn springs(&self, number: u64) -> Option<std::ops::Range<usize>> {
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

/// The coordinate of a vertex.
fn position<'a>(rest: &'a [Vec3], state: &'a State) -> impl Fn(usize) -> f64 + 'a {
    |i| rest[i / 3][i % 3] + state.q[i]
}

/// A target for each vertex: a row for each, or one for all.
fn targets(value: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<Vec3>> {
    let numbers = Numbers::any(value, "targets")?;
    match *numbers.shape() {
        [3] => Ok(vec![Vec3::from_slice(numbers.flat()); count]),
        [rows, 3] if rows == count => Ok(numbers.vectors().collect()),
        _ => Err(numbers.shape_error("targets", &format!("({count}, 3), a row for each of the {count} vertices"))),
    }
}

/// Vertices that are held, and can be moved. Made by :meth:`Simulation.pin`.
///
/// >>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
/// >>> model = pliant.Model(mesh, pliant.materials.stable_neo_hookean(young=1e5, poisson=0.4, density=1000), fixed="start")
/// >>> sim = pliant.Simulation(model, pliant.integrators.backward_euler(dt=1e-2))
/// >>> grip = sim.pin("end")
/// >>> for _ in range(5):
/// ...     grip.move((0, 0.01, 0))
/// ...     info = sim.step()
/// >>> bool(np.allclose(sim.positions[grip.vertices], mesh.vertices[grip.vertices] + (0, 0.05, 0)))
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Pin {
    simulation: Py<Simulation>,
    id: HoldId,
}

#[pymethods]
impl Pin {
    /// Which vertices.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(index_list(py, &self.hold(py)?.vertices))
    }

    /// Where they are held from the next step on, in m, ``(k, 3)``; to be set as a whole.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        frozen(vector_rows(py, &self.places(&self.hold(py)?)))
    }

    #[setter]
    fn set_targets(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let hold = self.hold(py)?;
        let targets = targets(value, hold.vertices.len())?;
        self.put(py, &hold, &targets)
    }

    /// Move them all by so much, in m.
    fn r#move(&self, py: Python<'_>, by: &Bound<'_, PyAny>) -> PyResult<()> {
        let by = Numbers::vector(by, "by")?;
        let hold = self.hold(py)?;
        let moved: Vec<Vec3> = self.places(&hold).into_iter().map(|place| place + by).collect();
        self.put(py, &hold, &moved)
    }

    /// Let them go; what other pins hold stays held.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |model| model.remove_hold(self.id).map(drop))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let hold = self.hold(py);
        hold.map_or("<pliant.Pin, released>".into(), |hold| format!("<pliant.Pin of {} vertices>", hold.vertices.len()))
    }
}

impl Pin {
    fn hold(&self, py: Python<'_>) -> PyResult<Hold> {
        let found = self.simulation.get().with(py, |running| {
            let model = running.inner.model();
            let place = model.hold_ids().iter().position(|id| *id == self.id);
            place.map(|place| model.holds()[place].clone()).ok_or("the pin was released")
        });
        found.or_raise(Kind::Model)
    }

    /// Where its vertices are held.
    fn places(&self, hold: &Hold) -> Vec<Vec3> {
        let rest = &self.simulation.get().rest;
        let offset = |n: usize| hold.offsets.get(n).copied().unwrap_or(Vec3::ZERO);
        hold.vertices.iter().enumerate().map(|(n, vertex)| rest[*vertex as usize] + offset(n)).collect()
    }

    fn put(&self, py: Python<'_>, hold: &Hold, targets: &[Vec3]) -> PyResult<()> {
        let rest = &self.simulation.get().rest;
        let offsets =
            hold.vertices.iter().zip(targets).map(|(&vertex, &target)| target - rest[vertex as usize]).collect();
        self.change(py, |model| model.move_hold(self.id, offsets))
    }

    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut pliant::model::Model) -> Result<(), pliant::model::ModelError> + Send,
    ) -> PyResult<()> {
        let changed = self.simulation.get().with(py, |running| {
            running.check_whole()?;
            change(running.inner.model_mut()).map_err(|error| error.to_string())
        });
        changed.or_raise(Kind::Model)
    }
}

/// Springs from vertices to points that can be moved. Made by :meth:`Simulation.handle`.
///
/// >>> mesh = pliant.Mesh.ball(0.1, across=4)
/// >>> model = pliant.Model(mesh, pliant.materials.stable_neo_hookean(young=1e5, poisson=0.4, density=1000))
/// >>> sim = pliant.Simulation(model, pliant.integrators.linearized_backward_euler(dt=1e-2))
/// >>> hand = sim.handle([0, 1, 2], stiffness=100)
/// >>> hand.move((0.1, 0, 0))
/// >>> hand.force.round(9)
/// array([10.,  0.,  0.])
/// >>> sim.run(0.1)
/// 10
/// >>> bool(sim.positions[:, 0].mean() > 0.01)
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Handle {
    simulation: Py<Simulation>,
    number: u64,
}

#[pymethods]
impl Handle {
    /// Which vertices.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(index_list(py, &self.list(py)?))
    }

    /// The other ends of the springs, in m, ``(k, 3)``; to be set as a whole.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let targets =
            self.with_springs(py, |springs, _| springs.iter().map(|spring| spring.target).collect::<Vec<_>>())?;
        frozen(vector_rows(py, &targets))
    }

    #[setter]
    fn set_targets(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let count = self.list(py)?.len();
        let targets = targets(value, count)?;
        self.change(py, |spring, n| spring.target = targets[n])
    }

    /// Move them all by so much, in m.
    fn r#move(&self, py: Python<'_>, by: &Bound<'_, PyAny>) -> PyResult<()> {
        let by = Numbers::vector(by, "by")?;
        self.change(py, |spring, _| spring.target += by)
    }

    /// The stiffness of all springs together, in N/m.
    #[getter]
    fn stiffness(&self, py: Python<'_>) -> PyResult<f64> {
        self.with_springs(py, |springs, _| springs.iter().map(|spring| spring.stiffness).sum())
    }

    #[setter]
    fn set_stiffness(&self, py: Python<'_>, value: f64) -> PyResult<()> {
        let count = self.list(py)?.len() as f64;
        self.change(py, |spring, _| spring.stiffness = value / count)
    }

    /// The damping of all springs together, in N·s/m.
    #[getter]
    fn damping(&self, py: Python<'_>) -> PyResult<f64> {
        self.with_springs(py, |springs, _| springs.iter().map(|spring| spring.damping).sum())
    }

    #[setter]
    fn set_damping(&self, py: Python<'_>, value: f64) -> PyResult<()> {
        let count = self.list(py)?.len() as f64;
        self.change(py, |spring, _| spring.damping = value / count)
    }

    /// The force with which the springs pull at the body now, together, in N; without damping.
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.simulation.get().push(py)?;
        let rest = &self.simulation.get().rest;
        let force = self.with_springs(py, |springs, state| {
            let pull = |spring: &Spring| {
                let vertex = spring.point[0].0 as usize;
                spring.stiffness * (spring.target - rest[vertex] - Vec3::from_slice(&state.q[3 * vertex..]))
            };
            springs.iter().map(pull).sum::<Vec3>()
        })?;
        Ok(crate::arrays::into_list(py, force.to_array().to_vec()))
    }

    /// Take them away.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        let released = self.simulation.get().with(py, |running| {
            let range = running.springs(self.number).ok_or("the handle was released")?;
            let Some(handles) = running.inner.model_mut().forces_mut_of::<Handles>().next() else { return Ok(()) };
            range.clone().try_for_each(|_| handles.remove(range.start).map(drop)).map_err(|error| error.to_string())?;
            running.handles.retain(|handle| handle.number != self.number);
            Ok::<_, String>(())
        });
        released.or_raise(Kind::Model)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let list = self.list(py);
        list.map_or("<pliant.Handle, released>".into(), |list| format!("<pliant.Handle at {} vertices>", list.len()))
    }
}

impl Handle {
    fn list(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let simulation = self.simulation.get();
        let list = simulation.with(py, |running| {
            let group = running.handles.iter().find(|group| group.number == self.number);
            group.map(|group| group.vertices.clone()).ok_or("the handle was released")
        });
        list.or_raise(Kind::Model)
    }

    /// Look at the springs.
    fn with_springs<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&[Spring], &State) -> T + Send) -> PyResult<T> {
        let seen = self.simulation.get().with(py, |running| {
            let range = running.springs(self.number).ok_or("the handle was released")?;
            let state = running.inner.state().clone();
            let handles = running.inner.forces_mut_of::<Handles>();
            Ok::<_, String>(look(handles.first().map_or(&[][..], |handles| &handles.list()[range]), &state))
        });
        seen.or_raise(Kind::Model)
    }

    /// Change the springs, all of them or none.
    fn change(&self, py: Python<'_>, change: impl Fn(&mut Spring, usize) + Sync) -> PyResult<()> {
        let changed = self.simulation.get().with(py, |running| {
            let range = running.springs(self.number).ok_or("the handle was released")?;
            let mut forces = running.inner.forces_mut_of::<Handles>();
            let Some(handles) = forces.first_mut() else { return Ok(()) };
            let before = handles.list()[range.clone()].to_vec();
            for (n, number) in range.clone().enumerate() {
                let mut spring = before[n].clone();
                change(&mut spring, n);
                if let Err(error) = handles.replace(number, spring) {
                    for (number, old) in range.zip(before) {
                        handles.replace(number, old).map_err(|error| error.to_string())?;
                    }
                    return Err(error.to_string());
                }
            }
            Ok::<_, String>(())
        });
        changed.or_raise(Kind::Model)
    }
}

/// What steps took.
#[pyclass(frozen, get_all, module = "pliant")]
#[derive(Debug)]
pub struct StepInfo {
    /// How often forces were linearised and a system solved.
    newton_iterations: usize,
    /// Iterations of the linear solver.
    linear_iterations: usize,
    /// Factorisations of matrices.
    factorizations: usize,
    /// Into how many steps failing ones were split; 0 if none failed.
    substeps: usize,
    /// What is left of the balance of forces, as a part of the forces, where the scheme iterates.
    residual: f64,
    /// How the last linear system was solved.
    method: String,
    /// Seconds spent on forces and matrices.
    assembling: f64,
    /// Seconds spent in the linear solver.
    solving: f64,
}

impl From<&pliant::integrator::StepInfo> for StepInfo {
    fn from(info: &pliant::integrator::StepInfo) -> Self {
        Self {
            newton_iterations: info.newton_iterations,
            linear_iterations: info.linear_iterations,
            factorizations: info.factorizations,
            substeps: info.substeps,
            residual: info.residual,
            method: info.solve.method.to_string(),
            assembling: info.assembling.as_secs_f64(),
            solving: info.solving.as_secs_f64(),
        }
    }
}

#[pymethods]
impl StepInfo {
    fn __repr__(&self) -> String {
        format!(
            "<pliant.StepInfo: {} Newton iterations, {} linear iterations, {} factorizations, {}>",
            self.newton_iterations, self.linear_iterations, self.factorizations, self.method
        )
    }
}

/// What a simulation is doing, in SI units.
#[pyclass(frozen, get_all, module = "pliant")]
#[derive(Debug)]
pub struct Observation {
    /// The time, in s.
    time: f64,
    /// ``½ vᵀMv``, in J.
    kinetic_energy: f64,
    /// Of the elasticity of all bodies, in J.
    elastic_energy: f64,
    /// Of gravity, in J, relative to rest.
    gravitational_energy: f64,
    /// Of forces and handles, in J.
    other_energy: f64,
    /// All together, in J.
    total_energy: f64,
    /// Of all bodies, in kg.
    mass: f64,
    /// Of all bodies, in m³.
    volume: f64,
    /// Where the centre of mass is, in m.
    centre_of_mass: (f64, f64, f64),
    /// Of all bodies, in kg m/s.
    momentum: (f64, f64, f64),
    /// About the origin, in kg m²/s.
    angular_momentum: (f64, f64, f64),
}

impl From<&pliant::model::Observation> for Observation {
    fn from(seen: &pliant::model::Observation) -> Self {
        Self {
            time: seen.time,
            kinetic_energy: seen.kinetic_energy,
            elastic_energy: seen.elastic_energy,
            gravitational_energy: seen.gravitational_energy,
            other_energy: seen.other_energy,
            total_energy: seen.total_energy(),
            mass: seen.mass,
            volume: seen.volume,
            centre_of_mass: seen.centre_of_mass.into(),
            momentum: seen.momentum.into(),
            angular_momentum: seen.angular_momentum.into(),
        }
    }
}

#[pymethods]
impl Observation {
    fn __repr__(&self) -> String {
        format!("<pliant.Observation at {} s: energy {} J, volume {} m³>", self.time, self.total_energy, self.volume)
    }
}
