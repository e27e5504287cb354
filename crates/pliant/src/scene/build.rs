//! From a scene to a simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::act::{Impulse, Loads, SpringList, add_loads};
use super::contact;
use super::object::{Prepared, Reader};
use super::select::{Choice, FaceChoice, ObjectFace};
use super::softness;
use super::{
    At, MadeOf, Mass, Motion, ReducedChoice, Scene, SceneError, SceneFile, Scheme, Selection, Source, hint, quantity,
};
use crate::force::{Geometric, GeometricStiffness, Handles, NodalLoads, Obstacle, Patch, PatchError, Springs};
use crate::io::{Files, read_bou_from};
use crate::math::Vec3;
use crate::mesh::{Embedding, Faces, Sets, SurfaceMesh, VolumeMesh};
use crate::model::{Body, Model, ModelError, locking_warning};
use crate::reduced::{ReducedModel, Reduction, ReductionError};
use crate::simulation::{Recorder, Simulation};
use crate::system::{State, System};

/// A scene, ready to be simulated.
#[derive(Debug)]
pub struct Built {
    /// At its start.
    pub simulation: Simulation,
    /// How many steps it has.
    pub steps: u64,
    /// After how many steps there is a frame.
    pub frame_every: u64,
    /// After how many steps numbers are recorded.
    pub record_every: u64,
    /// What records them.
    pub recorder: Recorder,
    /// What the regions of all bodies are made of, one body after the other.
    pub made_of: Vec<MadeOf>,
    /// For each body a detailed surface, if it has one.
    pub skins: Vec<Option<(SurfaceMesh, Embedding)>>,
    /// Notes and [warnings](Model::warnings) for the user, one sentence each, to be shown before the simulation starts.
    pub notes: Vec<String>,
}

/// Frames per second of films, of which the first is taken that is a whole number of steps.
const FRAME_RATES: [f64; 4] = [30.0, 25.0, 24.0, 60.0];

/// How much stiffer than a spring of a network obstacles are, if nothing else is said.
const OBSTACLE_STIFFNESS: f64 = 10.0;

/// All objects in their places.
pub(super) struct Stage<'a> {
    pub source: &'a Source,
    pub files: &'a dyn Files,
    pub up: Vec3,
    /// Where all vertices are at rest.
    pub rest: Vec<Vec3>,
    /// How far from there they are at the start.
    pub start: Vec<Vec3>,
    objects: &'a [Prepared],
    /// The first vertex of each object.
    first: Vec<u32>,
    /// The sets of all objects together.
    sets: Sets,
    scene: &'a Scene,
}

impl<'a> Stage<'a> {
    fn new(
        scene: &'a Scene,
        source: &'a Source,
        files: &'a dyn Files,
        objects: &'a [Prepared],
    ) -> Result<Self, SceneError> {
        let (mut rest, mut start, mut first, mut sets) = (Vec::new(), Vec::new(), Vec::new(), Sets::new());
        for object in objects {
            let offset = u32::try_from(rest.len())
                .map_err(|_| source.error(None, format!("{} vertices are too many", rest.len())))?;
            first.push(offset);
            rest.extend_from_slice(object.mesh.vertices());
            start.extend_from_slice(&object.start);
            for (name, set) in object.mesh.named_vertices() {
                sets.entry(name).or_default().extend(set.iter().map(|vertex| vertex + offset));
            }
        }
        // Some shapes name their surface; that of the others is meant too.
        if let Some(surface) = sets.get_mut("surface") {
            for (object, offset) in objects.iter().zip(&first) {
                if !object.mesh.named_vertices().contains_key("surface") {
                    surface.extend(object.mesh.boundary().vertices.iter().map(|vertex| vertex + offset));
                }
            }
        }
        Ok(Self { source, files, up: scene.up.direction(), rest, start, objects, first, sets, scene })
    }

    pub fn error(&self, span: Option<&Range<usize>>, message: impl Into<String>) -> SceneError {
        self.source.error(span, message)
    }

    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// The number of the object with a name.
    pub fn object(&self, name: &At<String>) -> Result<usize, SceneError> {
        let names = || self.objects.iter().map(|object| object.name.as_str());
        names().position(|own| own == name.value).ok_or_else(|| {
            let hint = hint(name, names());
            let known = names().collect::<Vec<_>>().join(", ");
            self.error(name.span.as_ref(), format!("there is no object `{}`{hint} There are {known}", name.value))
        })
    }

    /// Vertices of an object or of all, by their numbers in the model.
    pub fn select(&self, object: Option<&At<String>>, selection: &At<Selection>) -> Result<Vec<u32>, SceneError> {
        let object = object.map(|name| self.object(name)).transpose()?;
        let offset = object.map_or(0, |object| self.first[object]);
        let chosen = self.with_choice(object, |choice| selection.choose(choice));
        let chosen = chosen.map_err(|message| self.error(selection.span.as_ref(), message))?;
        Ok(chosen.into_iter().map(|vertex| vertex + offset).collect())
    }

    /// Faces of an object or of all: exactly those of face sets, and those of the boundary between the vertices of all else.
    pub fn faces(&self, object: Option<&At<String>>, selection: &At<Selection>) -> Result<Patch, SceneError> {
        let object = object.map(|name| self.object(name)).transpose()?;
        let objects = object.map_or(0..self.objects.len(), |object| object..object + 1);
        let mesh = |object: usize| &self.objects[object].mesh;
        let mut sets: BTreeMap<String, Vec<ObjectFace>> = BTreeMap::new();
        for name in objects.clone().flat_map(|object| mesh(object).face_sets().keys()) {
            if !sets.contains_key(name) {
                // In objects that have no face set of the name, what else has it.
                let named = |object: usize| mesh(object).faces_named(name).unwrap_or_default();
                let faces =
                    objects.clone().flat_map(|object| named(object).into_iter().map(move |face| (object, face)));
                sets.insert(name.clone(), faces.collect());
            }
        }
        let boundary = || {
            objects.clone().flat_map(|object| mesh(object).boundary().faces.into_iter().map(move |face| (object, face)))
        };
        let offset = object.map_or(0, |object| self.first[object]);
        let within = |vertices: &[u32]| {
            let mut found = Vec::new();
            for object in objects.clone() {
                let first = self.first[object] - offset;
                let own = first..first + mesh(object).vertex_count() as u32;
                let local: Vec<u32> = vertices.iter().filter(|v| own.contains(v)).map(|v| v - first).collect();
                if !local.is_empty() {
                    found.extend(mesh(object).faces_within(&local).into_iter().map(|face| (object, face)));
                }
            }
            found
        };
        let faces = FaceChoice { sets: &sets, boundary: &|| boundary().collect(), within: &within };
        let wrong = |message: String| self.error(selection.span.as_ref(), message);
        let found = self.with_choice(object, |choice| selection.find_faces(choice, &faces)).map_err(wrong)?;
        if found.is_empty() {
            if selection.names_faces(&faces) {
                return Err(wrong("no face is selected by this".into()));
            }
            let vertices = self.with_choice(object, |choice| selection.choose(choice)).map_err(wrong)?.len();
            return Err(wrong(PatchError::NoFace { faces: boundary().count(), vertices }.to_string()));
        }
        let mut polygons = Faces::default();
        for (object, face) in found {
            let first = self.first[object];
            polygons.push(&mesh(object).face_vertices(face).map(|vertex| vertex + first).collect::<Vec<_>>());
        }
        Patch::new(self.rest.len(), polygons).map_err(|error| wrong(error.to_string()))
    }

    /// Calls `choose` with the vertices of an object, or of all, to choose from.
    fn with_choice<T>(
        &self,
        object: Option<usize>,
        choose: impl FnOnce(&Choice<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let surface_of = |object: usize| {
            let offset = self.first[object];
            self.objects[object].mesh.boundary().vertices.into_iter().map(move |vertex| vertex + offset)
        };
        let file = |name: &str| {
            let count = object.map_or(self.rest.len(), |object| self.objects[object].mesh.vertex_count());
            read_bou_from(self.files, &self.source.folder.join(name), count).map_err(|error| error.to_string())
        };
        let own_sets = object.map(|object| self.objects[object].mesh.named_vertices());
        let sets = own_sets.as_ref().unwrap_or(&self.sets);
        let (points, offset) = match object {
            Some(object) => (self.objects[object].mesh.vertices(), self.first[object]),
            None => (&self.rest[..], 0),
        };
        let surface = || match object {
            Some(object) => surface_of(object).map(|vertex| vertex - offset).collect(),
            None => (0..self.objects.len()).flat_map(surface_of).collect(),
        };
        choose(&Choice { what: "vertex", points, sets, surface: &surface, file: &file })
    }

    /// Where a vertex is at the start.
    pub fn place(&self, vertex: u32) -> Vec3 {
        self.rest[vertex as usize] + self.start[vertex as usize]
    }

    /// The middle of vertices at the start: that of a box around them.
    pub fn middle(&self, vertices: &[u32]) -> Vec3 {
        let places = || vertices.iter().map(|&vertex| self.place(vertex));
        let (low, high) = (places().fold(Vec3::INFINITY, Vec3::min), places().fold(Vec3::NEG_INFINITY, Vec3::max));
        0.5 * (low + high)
    }

    /// A motion about a middle, if nothing else is said of where.
    pub fn motion(
        &self,
        motion: Option<&Motion>,
        middle: impl Fn() -> Vec3,
    ) -> Result<crate::motion::Motion, SceneError> {
        motion.map_or(Ok(crate::motion::Motion::Still), |motion| motion.build(self.source, middle()))
    }

    /// The meshes, each with its first vertex.
    pub fn meshes(&self) -> impl Iterator<Item = (&VolumeMesh, u32)> {
        self.objects.iter().map(|object| &object.mesh).zip(self.first.iter().copied())
    }

    /// For obstacles whose stiffness is not given, in N/m.
    pub fn obstacle_stiffness(&self) -> f64 {
        obstacle_stiffness(self.scene, self.objects.iter().map(|object| (&object.mesh, &object.made_of[..])))
    }
}

/// Returns the stiffness [N/m] per vertex of obstacles whose stiffness is not given.
///
/// An element of edge `l` of the stiffest object pushes back with about `E l` per length, a network with the stiffness of a spring, and obstacles with ten
/// times that. An object softer than its weight needs a [stiffness](Obstacle::stiffness_for_weight) that carries it.
pub fn obstacle_stiffness<'a>(scene: &Scene, objects: impl Iterator<Item = (&'a VolumeMesh, &'a [MadeOf])>) -> f64 {
    let of_object = |(mesh, made_of): (&VolumeMesh, &[MadeOf])| {
        let young = made_of.iter().filter_map(|region| region.moduli).map(|moduli| moduli.young).fold(0.0, f64::max);
        let usual = Obstacle::stiffness_for(mesh, young);
        let densities: Vec<f64> = made_of.iter().map(|region| region.density).collect();
        let of_weight = || Obstacle::stiffness_for_weight(mesh, young, &densities, scene.gravity());
        // Networks have no modulus that could be compared with the weight.
        if young > 0.0 { usual.max(of_weight()) } else { usual }
    };
    objects.map(of_object).fold(OBSTACLE_STIFFNESS * scene.network_stiffness(), f64::max)
}

impl SceneFile {
    /// Builds the model alone, for analyses without time steps, and returns it with the notes of [`Built::notes`].
    pub fn model(&self, files: &dyn Files) -> Result<(Model, Vec<String>), SceneError> {
        let objects = self.read_objects(files, true)?;
        let stage = Stage::new(&self.scene, &self.source, files, &objects)?;
        let model = self.build_model(&stage, &objects)?.0;
        let notes = self.notes_on(&model, &objects);
        Ok((model, notes))
    }

    /// Collects what the user should know before the scene is simulated, one sentence each.
    fn notes_on(&self, model: &Model, objects: &[Prepared]) -> Vec<String> {
        let of_objects = objects.iter().flat_map(|object| &object.notes);
        let mut notes: Vec<String> = self.notes.iter().chain(of_objects).cloned().collect();
        notes.extend(model.warnings());
        // Integrators with a law of their own use the same elements.
        let own = |object: &Prepared| {
            let poisson = object.moduli.iter().map(|moduli| moduli.poisson).fold(f64::NEG_INFINITY, f64::max);
            locking_warning(&object.name, object.mesh.kind(), poisson)
        };
        notes.extend(objects.iter().filter_map(own));
        notes.extend(softness::notes(&self.scene, objects));
        notes.extend(contact::notes(&self.scene, objects, model));
        notes
    }

    /// Make a simulation of it, with the files that it names.
    pub fn build(&self, files: &dyn Files) -> Result<Built, SceneError> {
        self.build_with(files, None)
    }

    /// The reduced model that the scene asks for: read from its file, or made here.
    pub fn reduction(&self, files: &dyn Files) -> Result<Option<Reduction>, SceneError> {
        let Some(choice) = &self.scene.reduced else { return Ok(None) };
        self.reduction_of(choice, files, &self.model(files)?.0).map(Some)
    }

    fn reduction_of(
        &self,
        choice: &At<ReducedChoice>,
        files: &dyn Files,
        model: &Model,
    ) -> Result<Reduction, SceneError> {
        let made = ReducedChoice::reduction(choice, self, files, model);
        made.map_err(|error| self.source.error(choice.span.as_ref(), error.to_string()))
    }

    /// Make a simulation of it with a reduced model that was made before, of the same meshes, materials and holds. If none is given and the scene asks for one, it is
    /// made here.
    pub fn build_with(&self, files: &dyn Files, reduction: Option<Reduction>) -> Result<Built, SceneError> {
        let (scene, source) = (&self.scene, &self.source);
        let objects = self.read_objects(files, self.needs_mass())?;
        let stage = Stage::new(scene, source, files, &objects)?;
        let steps = scene.simulation.step_count(source)?;
        let dt = scene.simulation.step.si;
        let (model, impulses) = self.build_model(&stage, &objects)?;
        let state = self.start(&model, &objects, &impulses);
        let mut notes = self.notes_on(&model, &objects);
        let simulation = if let Some(choice) = &scene.reduced {
            let reduction = reduction.map_or_else(|| self.reduction_of(choice, files, &model), Ok)?;
            self.reduced_simulation(choice, reduction, model, &state, &mut notes)?
        } else {
            let moduli = objects.iter().flat_map(|object| object.moduli.iter().copied()).collect();
            let integrator = scene.simulation.integrator(source, &model, moduli)?;
            Simulation::new(model, integrator, scene.simulation.solver(source)?.build(), state, dt)
        };
        let restart = &scene.simulation.restart_every;
        if restart.value == 0 {
            return Err(source.error(restart.span.as_ref(), "0 steps, expected at least 1"));
        }
        let mut names = BTreeSet::new();
        let mut probes = Vec::new();
        for probe in &scene.probes {
            if !names.insert(probe.name.value.clone()) {
                let message = format!("there are two probes `{}`", probe.name.value);
                return Err(source.error(probe.name.span.as_ref(), message));
            }
            probes.push(probe.build(&stage)?);
        }
        let recorder = Recorder::new(probes);
        let columns = recorder.columns();
        if let Some(twice) = columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name)) {
            let probe = scene.probes.iter().rfind(|probe| twice.1.starts_with(&probe.name.value));
            let span = probe.and_then(|probe| probe.name.span.as_ref());
            return Err(source.error(span, format!("there would be two columns `{}`", twice.1)));
        }
        scene.expect.iter().try_for_each(|expect| expect.check(&columns, source))?;
        scene.output.check(source)?;
        let frame_every = self.frame_every(dt, steps, &mut notes)?;
        let record_every = match &scene.output.record_every {
            Some(every) if every.value == 0 => {
                return Err(source.error(every.span.as_ref(), "0 steps, expected at least 1"));
            }
            Some(every) => every.value.into(),
            None if scene.reduced.is_some() => frame_every,
            None => 1,
        };
        Ok(Built {
            simulation: simulation.restarting_every(restart.value.into()),
            steps,
            frame_every,
            record_every,
            recorder,
            notes,
            made_of: objects.iter().flat_map(|object| object.made_of.iter().cloned()).collect(),
            skins: objects.into_iter().map(|object| object.skin).collect(),
        })
    }

    /// The reduced model of a file, at the state that is nearest to the start.
    fn reduced_simulation(
        &self,
        choice: &At<ReducedChoice>,
        reduction: Reduction,
        model: Model,
        start: &State,
        notes: &mut Vec<String>,
    ) -> Result<Simulation, SceneError> {
        /// What the start may differ by from what the scene says, as a part of it, without a word.
        const SAME: f64 = 1e-3;
        let (source, settings) = (&self.source, &self.scene.simulation);
        let wrong = |error: ReductionError| source.error(choice.span.as_ref(), error.to_string());
        let reduced = ReducedModel::new(model, reduction).map_err(wrong)?;
        let integrator = settings.reduced_integrator(source, &reduced)?;
        let simulation = Simulation::reduced(reduced, integrator, start, settings.step.si);
        let met = simulation.state();
        for (what, wanted, met) in [("displacements", &start.q, &met.q), ("velocities", &start.v, &met.v)] {
            let size = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
            let wanted_size = size(&mut wanted.iter().copied());
            let missed = size(&mut wanted.iter().zip(met).map(|(a, b)| a - b));
            // What is at rest is met but for rounding.
            if wanted_size > 0.0 && missed > SAME * wanted_size {
                let part = 100.0 * missed / wanted_size;
                notes.push(format!("the reduced model starts with {what} that are {part:.1} % off those of the scene"));
            }
        }
        Ok(simulation)
    }

    /// After how many steps there is a frame.
    fn frame_every(&self, dt: f64, steps: u64, notes: &mut Vec<String>) -> Result<u64, SceneError> {
        let every = |rate: f64| (1.0 / (rate * dt)).round().clamp(1.0, 1e15);
        let met = |rate: f64| 1.0 / (every(rate) * dt);
        let is_met = |rate: f64| (met(rate) / rate - 1.0).abs() < 1e-6;
        let Some(rate) = &self.scene.output.frame_rate else {
            let usual = FRAME_RATES.into_iter().find(|&rate| is_met(rate)).unwrap_or(FRAME_RATES[0]);
            // What is over in an instant is shown in as many frames as a second would be.
            return Ok(every(usual * (1.0 / (steps as f64 * dt)).max(1.0)) as u64);
        };
        if !(rate.si > 0.0) {
            let message = format!("{} frames a second, expected a positive number", rate.si);
            return Err(self.source.error(rate.span.as_ref(), message));
        }
        if !is_met(rate.si) {
            notes.push(format!(
                "frames are a whole number of steps apart: {:.4} per second instead of {}; a step of 1/{} s meets it",
                met(rate.si),
                rate.si,
                rate.si * (1.0 / (rate.si * dt)).ceil().max(1.0)
            ));
        }
        Ok(every(rate.si) as u64)
    }

    /// Returns true if the simulation depends on densities: all but statics without gravity and without motion at the start.
    fn needs_mass(&self) -> bool {
        let scene = &self.scene;
        scene.simulation.scheme.value != Scheme::Static
            || scene.reduced.is_some()
            || scene.gravity() != Vec3::ZERO
            || scene.loads.iter().any(|load| load.impulse.is_some())
            || scene.objects.iter().any(|object| {
                let is_moving = [quantity::vec3(&object.velocity), quantity::vec3(&object.spin)] != [Vec3::ZERO; 2];
                is_moving || object.velocities.is_some()
            })
    }

    fn read_objects(&self, files: &dyn Files, needs_mass: bool) -> Result<Vec<Prepared>, SceneError> {
        let (scene, source) = (&self.scene, &self.source);
        if scene.objects.is_empty() {
            return Err(source.error(None, "the scene has no object"));
        }
        let scheme_has_law = scene.simulation.scheme.value == Scheme::Regularized;
        let reader = Reader { scene, source, files, scheme_has_law, needs_mass };
        let mut names = BTreeSet::new();
        let mut objects = Vec::new();
        for (number, object) in scene.objects.iter().enumerate() {
            let usual = || if scene.objects.len() == 1 { "object".into() } else { format!("object-{}", number + 1) };
            let name = object.name.as_ref().map_or_else(usual, |name| name.value.clone());
            if !names.insert(name.clone()) {
                let span = object.name.as_ref().and_then(|name| name.span.as_ref());
                return Err(source.error(span, format!("there are two objects `{name}`")));
            }
            objects.push(reader.read(object, name)?);
        }
        Ok(objects)
    }

    fn build_model(&self, stage: &Stage<'_>, objects: &[Prepared]) -> Result<(Model, Vec<Impulse>), SceneError> {
        let scene = &self.scene;
        let mut builder = Model::builder().gravity(scene.gravity()).damping(scene.damping.build(stage)?);
        if scene.simulation.mass == Mass::Lumped {
            builder = builder.lumped_mass();
        }
        for object in objects {
            builder = builder.body(Body {
                name: object.name.clone(),
                mesh: object.mesh.clone(),
                materials: object.materials.clone(),
                densities: object.densities.clone(),
            });
        }
        let mut held = vec![[None; 3]; stage.rest.len()];
        for (number, hold) in scene.holds.iter().enumerate() {
            let built = hold.build(stage)?;
            for &vertex in &built.vertices {
                for axis in (0..3).filter(|&axis| built.axes[axis]) {
                    let before = held[vertex as usize][axis].replace(number);
                    if let Some(before) = before.filter(|&before| scene.holds[before].motion != hold.motion) {
                        let message = format!(
                            "vertex {vertex} is held here, and by hold {} of {}, which moves it otherwise",
                            before + 1,
                            scene.holds.len()
                        );
                        return Err(stage.error(hold.vertices.span.as_ref(), message));
                    }
                }
            }
            builder = builder.hold(built);
        }
        if !scene.handles.is_empty() {
            let mut handles = Handles::new(&stage.rest, []).map_err(|error| stage.error(None, error.to_string()))?;
            scene.handles.iter().try_for_each(|handle| handle.build(stage, &mut handles))?;
            builder = builder.force(handles);
        }
        let mut springs = SpringList::default();
        for ((object, (mesh, first)), at) in scene.objects.iter().zip(stage.meshes()).zip(0..) {
            if let Some(network) = &object.network {
                for [a, b] in Springs::mesh_pairs(mesh) {
                    let length = mesh.vertices()[a as usize].distance(mesh.vertices()[b as usize]);
                    springs.push([a + first, b + first], length, network.stiffness.si, network.damping.si);
                }
            }
            if let Some(parts) = &object.parts {
                let wrong = |message: String| stage.error(parts.span.as_ref(), message);
                if objects.len() > 1 {
                    return Err(wrong("`parts` are for scenes of one object".into()));
                }
                let stiffness =
                    GeometricStiffness { edge: parts.edge.si, area: parts.area.si, volume: parts.volume.si };
                let force = Geometric::new(&objects[at].mesh, stiffness).map_err(|error| wrong(error.to_string()))?;
                builder = builder.force(force);
            }
        }
        for spring in &scene.springs {
            spring.build(stage, &mut springs)?;
        }
        if !springs.pairs.is_empty() {
            let network = scene.objects.iter().find_map(|object| object.network.as_ref());
            let span = scene.springs.first().and_then(|spring| spring.span.as_ref());
            let span = span.or(network.and_then(|network| network.span.as_ref()));
            builder = builder.force(springs.build(&stage.rest).map_err(|error| stage.error(span, error.to_string()))?);
        }
        let nodal = NodalLoads::new(stage.rest.len());
        let mut loads = Loads { nodal, pressures: Vec::new(), impulses: Vec::new() };
        scene.loads.iter().try_for_each(|load| load.build(stage, &scene.simulation, &mut loads))?;
        let impulses = std::mem::take(&mut loads.impulses);
        let has_loads = !loads.nodal.scheduled().is_empty();
        builder = add_loads(builder, loads, has_loads);
        if !scene.obstacles.is_empty() {
            let mut obstacles = contact::obstacles(&stage.rest, objects, &stage.first)
                .map_err(|error| stage.error(None, error.to_string()))?;
            for obstacle in &scene.obstacles {
                let built = obstacle.build(stage)?;
                obstacles.push(built).map_err(|error| stage.error(obstacle.span.as_ref(), error.to_string()))?;
            }
            builder = builder.force(obstacles);
        }
        let model = builder.build().map_err(|error: ModelError| stage.error(None, error.to_string()))?;
        Ok((model, impulses))
    }

    /// Where everything is at the start, and how it moves.
    fn start(&self, model: &Model, objects: &[Prepared], impulses: &[Impulse]) -> State {
        let mut state = model.rest_state();
        for (u, start) in state.q.chunks_exact_mut(3).zip(objects.iter().flat_map(|object| &object.start)) {
            u.copy_from_slice(&start.to_array());
        }
        for ((object, prepared), body) in self.scene.objects.iter().zip(objects).zip(model.bodies()) {
            let (v, spin) = (quantity::vec3(&object.velocity), quantity::vec3(&object.spin));
            if v != Vec3::ZERO || spin != Vec3::ZERO {
                let masses = prepared.mesh.lumped_masses(&prepared.densities);
                let places = prepared.mesh.vertices().iter().zip(&prepared.start).map(|(x, u)| *x + *u);
                let moment: Vec3 = places.zip(&masses).map(|(x, mass)| *mass * x).sum();
                model.set_velocity(&mut state, body.vertices(), v, spin, moment / masses.iter().sum::<f64>());
            }
        }
        for (prepared, body) in objects.iter().zip(model.bodies()) {
            for (vertex, velocity) in body.vertices().zip(&prepared.velocities) {
                for axis in 0..3 {
                    if !model.held().get(3 * vertex + axis).is_some_and(|held| *held) {
                        state.v[3 * vertex + axis] += velocity[axis];
                    }
                }
            }
        }
        let masses = objects.iter().flat_map(|object| object.mesh.lumped_masses(&object.densities));
        let masses: Vec<f64> = if impulses.is_empty() { Vec::new() } else { masses.collect() };
        for (vertices, impulse) in impulses {
            let all: f64 = vertices.iter().map(|&vertex| masses[vertex as usize]).sum();
            for &vertex in vertices {
                model.add_impulse(&mut state, vertex, *impulse * (masses[vertex as usize] / all));
            }
        }
        state
    }
}
