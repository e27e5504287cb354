//! Construction of a simulation from a scene.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::act::SpringList;
use super::contact;
use super::load::{Impulse, Loads};
use super::object::{Prepared, Reader};
use super::select::{Choice, FaceChoice, ObjectFace};
use super::softness;
use super::{
    ContactMethod, Located, MadeOf, Mass, Motion, ReducedChoice, Scene, SceneError, SceneFile, Selection, Source, hint,
    quantity,
};
use pliant::files::Files;
use pliant::force::{Geometric, GeometricStiffness, Handles, NodalLoads, Obstacle, Patch, PatchError, Springs};
use pliant::io::read_bou_from;
use pliant::math::Vec3;
use pliant::mesh::{Embedding, Faces, Sets, SurfaceMesh, VolumeMesh};
use pliant::model::{Body, Kinematics, Model, ModelError, locking_warning, rest_positions};
use pliant::reduced::{ReducedModel, Reduction, ReductionError};
use pliant::simulation::{Recorder, Simulation};
use pliant::system::State;

/// Scene that is ready to be simulated.
#[derive(Debug)]
pub struct Built {
    /// Simulation at its start.
    pub simulation: Simulation,
    /// Total number of steps.
    pub steps: u64,
    /// Number of steps between frames.
    pub frame_every: u64,
    /// Number of steps between recorded rows.
    pub record_every: u64,
    /// Recorder of probes.
    pub recorder: Recorder,
    /// Materials of the regions of all bodies, in the order of the bodies.
    pub made_of: Vec<MadeOf>,
    /// Detailed surface of each body, if it has one.
    pub skins: Vec<Option<(SurfaceMesh, Embedding)>>,
    /// Notes and [warnings](Model::warnings) for the user, one sentence each, to be shown before the simulation starts.
    pub notes: Vec<String>,
}

/// Default frame rates \[1/s\]: the first one whose interval is a whole number of steps is used.
const FRAME_RATES: [f64; 4] = [30.0, 25.0, 24.0, 60.0];

/// Default stiffness of obstacles, relative to a spring of a network.
const OBSTACLE_STIFFNESS: f64 = 10.0;

/// Objects at their initial positions, with their vertices numbered together.
pub(super) struct BuildContext<'a> {
    pub source: &'a Source,
    pub files: &'a dyn Files,
    pub up: Vec3,
    /// Rest positions of all vertices \[m\].
    pub rest: Arc<[Vec3]>,
    /// Initial displacements of all vertices \[m\].
    pub start: Vec<Vec3>,
    objects: &'a [Prepared],
    /// First vertex of each object.
    first: Vec<u32>,
    /// Vertex sets of all objects, merged by name.
    sets: Sets,
    scene: &'a Scene,
}

impl<'a> BuildContext<'a> {
    fn new(
        scene: &'a Scene,
        source: &'a Source,
        files: &'a dyn Files,
        objects: &'a [Prepared],
    ) -> Result<Self, SceneError> {
        let (mut start, mut first, mut sets) = (Vec::new(), Vec::new(), Sets::new());
        for object in objects {
            let offset = u32::try_from(start.len())
                .map_err(|_| source.error(None, format!("too many vertices: {}", start.len())))?;
            first.push(offset);
            start.extend_from_slice(&object.start);
            for (name, set) in object.mesh.named_vertices() {
                sets.entry(name).or_default().extend(set.iter().map(|vertex| vertex + offset));
            }
        }
        // Some shapes have a set named `surface`. The name also includes the surfaces of the other objects.
        if let Some(surface) = sets.get_mut("surface") {
            for (object, offset) in objects.iter().zip(&first) {
                if !object.mesh.named_vertices().contains_key("surface") {
                    surface.extend(object.mesh.boundary().vertices.iter().map(|vertex| vertex + offset));
                }
            }
        }
        let rest = rest_positions(objects.iter().map(|object| &object.mesh));
        Ok(Self { source, files, up: scene.up.direction(), rest, start, objects, first, sets, scene })
    }

    pub fn error(&self, span: Option<&Range<usize>>, message: impl Into<String>) -> SceneError {
        self.source.error(span, message)
    }

    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// Returns the index of the object with a name.
    pub fn object(&self, name: &Located<String>) -> Result<usize, SceneError> {
        let names = || self.objects.iter().map(|object| object.name.as_str());
        names().position(|own| own == name.value).ok_or_else(|| {
            let hint = hint(name, names());
            let known = names().collect::<Vec<_>>().join(", ");
            self.error(name.span.as_ref(), format!("there is no object `{}`{hint} There are {known}", name.value))
        })
    }

    /// Returns the selected vertices of one or all objects, by their indices in the model.
    pub fn select(
        &self,
        object: Option<&Located<String>>,
        selection: &Located<Selection>,
    ) -> Result<Vec<u32>, SceneError> {
        let object = object.map(|name| self.object(name)).transpose()?;
        let offset = object.map_or(0, |object| self.first[object]);
        let chosen = self.with_choice(object, |choice| selection.choose(choice));
        let chosen = chosen.map_err(|message| self.error(selection.span.as_ref(), message))?;
        Ok(chosen.into_iter().map(|vertex| vertex + offset).collect())
    }

    /// Returns the selected faces of one or all objects: exactly those of face sets, or else the boundary faces between
    /// the selected vertices.
    pub fn faces(&self, object: Option<&Located<String>>, selection: &Located<Selection>) -> Result<Patch, SceneError> {
        let object = object.map(|name| self.object(name)).transpose()?;
        let objects = object.map_or(0..self.objects.len(), |object| object..object + 1);
        let mesh = |object: usize| &self.objects[object].mesh;
        let mut sets: BTreeMap<String, Vec<ObjectFace>> = BTreeMap::new();
        for name in objects.clone().flat_map(|object| mesh(object).face_sets().keys()) {
            if !sets.contains_key(name) {
                // Objects without a face set of this name contribute whatever else has the name.
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
                return Err(wrong("the selection contains no face".into()));
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

    /// Calls `choose` with the vertices of one or all objects.
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

    /// Returns the initial position of a vertex \[m\].
    pub fn place(&self, vertex: u32) -> Vec3 {
        self.rest[vertex as usize] + self.start[vertex as usize]
    }

    /// Returns the center of the bounding box of vertices at their initial positions.
    pub fn middle(&self, vertices: &[u32]) -> Vec3 {
        let places = || vertices.iter().map(|&vertex| self.place(vertex));
        let (low, high) = (places().fold(Vec3::INFINITY, Vec3::min), places().fold(Vec3::NEG_INFINITY, Vec3::max));
        0.5 * (low + high)
    }

    /// Returns a motion, with `middle` as the default center of rotation.
    pub fn motion(
        &self,
        motion: Option<&Motion>,
        middle: impl Fn() -> Vec3,
    ) -> Result<pliant::motion::Motion, SceneError> {
        motion.map_or(Ok(pliant::motion::Motion::Still), |motion| motion.build(self.source, middle()))
    }

    /// Returns the coefficient of friction of contacts that do not have their own.
    pub fn contact_friction(&self) -> f64 {
        self.scene.contact.as_ref().map_or(0.0, |contact| contact.friction.value)
    }

    /// Returns the first vertex of each object.
    pub fn first_vertices(&self) -> &[u32] {
        &self.first
    }

    /// Returns the meshes, each with the index of its first vertex.
    pub fn meshes(&self) -> impl Iterator<Item = (&VolumeMesh, u32)> {
        self.objects.iter().map(|object| &object.mesh).zip(self.first.iter().copied())
    }

    /// Returns the default stiffness of obstacles \[N/m\].
    pub fn obstacle_stiffness(&self) -> f64 {
        obstacle_stiffness(self.scene, self.objects.iter().map(|object| (&object.mesh, &object.made_of[..])))
    }
}

/// Returns the default stiffness of obstacles \[N/m\] per vertex.
///
/// An element with edge length `l` of the stiffest object has a stiffness of about `E l`, and a network that of a
/// spring. Obstacles are ten times as stiff. An object too soft for its weight needs a
/// [stiffness](Obstacle::stiffness_for_weight) that supports it.
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
    /// Builds the model alone, for an analysis without time steps, and returns it with the notes of [`Built::notes`].
    pub fn model(&self, files: &dyn Files) -> Result<(Model, Vec<String>), SceneError> {
        let objects = self.read_objects(files, true)?;
        let context = BuildContext::new(&self.scene, &self.source, files, &objects)?;
        let model = self.build_model(&context, &objects)?.0;
        let notes = self.notes_on(&model, &objects);
        Ok((model, notes))
    }

    /// Returns notes for the user before the scene is simulated, one sentence each.
    fn notes_on(&self, model: &Model, objects: &[Prepared]) -> Vec<String> {
        let of_objects = objects.iter().flat_map(|object| &object.notes);
        let mut notes: Vec<String> = self.notes.iter().chain(of_objects).cloned().collect();
        notes.extend(model.warnings());
        // Integrators with a built-in law use the same elements.
        let own = |object: &Prepared| {
            let poisson = object.moduli.iter().map(|moduli| moduli.poisson).fold(f64::NEG_INFINITY, f64::max);
            locking_warning(&object.name, object.mesh.kind(), poisson)
        };
        notes.extend(objects.iter().filter_map(own));
        notes.extend(softness::notes(&self.scene, objects));
        notes.extend(contact::notes(&self.scene, objects, model));
        notes
    }

    /// Builds the simulation, reading the files that the scene names.
    pub fn build(&self, files: &dyn Files) -> Result<Built, SceneError> {
        self.build_with(files, None)
    }

    /// Returns the reduced model that the scene requests, read from its file or computed.
    pub fn reduction(&self, files: &dyn Files) -> Result<Option<Reduction>, SceneError> {
        let Some(choice) = &self.scene.reduced else { return Ok(None) };
        self.reduction_of(choice, files, &self.model(files)?.0).map(Some)
    }

    fn reduction_of(
        &self,
        choice: &Located<ReducedChoice>,
        files: &dyn Files,
        model: &Model,
    ) -> Result<Reduction, SceneError> {
        let made = ReducedChoice::reduction(choice, self, files, model);
        made.map_err(|error| self.source.error(choice.span.as_ref(), error.to_string()))
    }

    /// Builds the simulation with a given reduction of the same meshes, materials and fixed vertices. If it is absent
    /// and the scene requests one, it is read or computed.
    pub fn build_with(&self, files: &dyn Files, reduction: Option<Reduction>) -> Result<Built, SceneError> {
        let (scene, source) = (&self.scene, &self.source);
        let objects = self.read_objects(files, self.needs_mass())?;
        let context = BuildContext::new(scene, source, files, &objects)?;
        let steps = scene.simulation.step_count(source)?;
        let dt = scene.simulation.step.si;
        let (model, impulses) = self.build_model(&context, &objects)?;
        let state = self.start(&model, &objects, &impulses);
        let mut notes = self.notes_on(&model, &objects);
        let simulation = if let Some(choice) = &scene.reduced {
            let reduction = reduction.map_or_else(|| self.reduction_of(choice, files, &model), Ok)?;
            self.reduced_simulation(choice, reduction, model, &state, &mut notes)?
        } else {
            let moduli = objects.iter().flat_map(|object| object.moduli.iter().copied()).collect();
            let integrator = scene.simulation.integrator(source, &model, moduli)?;
            Simulation::new(model, integrator, scene.simulation.solver(source)?, state, dt)
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
            probes.push(probe.build(&context, simulation.model().contact_energy())?);
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

    /// Builds the simulation of a reduced model, starting from the projection of the initial state.
    fn reduced_simulation(
        &self,
        choice: &Located<ReducedChoice>,
        reduction: Reduction,
        model: Model,
        start: &State,
        notes: &mut Vec<String>,
    ) -> Result<Simulation, SceneError> {
        /// Relative difference between the initial state and its projection that is not reported.
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
            // A state at rest is represented exactly, except for rounding.
            if wanted_size > 0.0 && missed > SAME * wanted_size {
                let part = 100.0 * missed / wanted_size;
                notes.push(format!(
                    "the reduced model starts with {what} that differ from those of the scene by {part:.1} %"
                ));
            }
        }
        Ok(simulation)
    }

    /// Returns the number of steps between frames.
    fn frame_every(&self, dt: f64, steps: u64, notes: &mut Vec<String>) -> Result<u64, SceneError> {
        let every = |rate: f64| (1.0 / (rate * dt)).round().clamp(1.0, 1e15);
        let met = |rate: f64| 1.0 / (every(rate) * dt);
        let is_met = |rate: f64| (met(rate) / rate - 1.0).abs() < 1e-6;
        let Some(rate) = &self.scene.output.frame_rate else {
            let usual = FRAME_RATES.into_iter().find(|&rate| is_met(rate)).unwrap_or(FRAME_RATES[0]);
            // Simulations shorter than a second get as many frames as a second would have.
            return Ok(every(usual * (1.0 / (steps as f64 * dt)).max(1.0)) as u64);
        };
        if !(rate.si > 0.0) {
            let message = format!("{} frames per second, expected a positive number", rate.si);
            return Err(self.source.error(rate.span.as_ref(), message));
        }
        if !is_met(rate.si) {
            notes.push(format!(
                "frames are a whole number of steps apart: {:.4} per second instead of {}; a step of 1/{} s gives the exact rate",
                met(rate.si),
                rate.si,
                rate.si * (1.0 / (rate.si * dt)).ceil().max(1.0)
            ));
        }
        Ok(every(rate.si) as u64)
    }

    /// Returns true if contact is by barriers.
    fn uses_barriers(&self, objects: &[Prepared]) -> bool {
        let scene = &self.scene;
        let Some(contact) = &scene.contact else { return false };
        match contact.method.as_ref().map(|method| method.value) {
            Some(method) => method == ContactMethod::Barrier,
            None => {
                scene.simulation.integrator.supports_contact()
                    && scene.reduced.is_none()
                    && contact::may_collide(scene, objects)
            }
        }
    }

    /// Returns true if the simulation depends on densities: always, except for statics without gravity and without
    /// initial velocities.
    fn needs_mass(&self) -> bool {
        let scene = &self.scene;
        scene.simulation.integrator.has_inertia()
            || scene.reduced.is_some()
            || scene.gravity() != Vec3::ZERO
            || scene.loads.iter().any(|load| load.kind.needs_mass())
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
        let integrator_has_law = scene.simulation.integrator.has_law();
        let reader = Reader { scene, source, files, integrator_has_law, needs_mass };
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

    fn build_model(
        &self,
        context: &BuildContext<'_>,
        objects: &[Prepared],
    ) -> Result<(Model, Vec<Impulse>), SceneError> {
        let scene = &self.scene;
        let damping = scene.damping.build(context)?;
        let mut builder = Model::builder().gravity(scene.gravity()).damping(damping).shared_rest(context.rest.clone());
        if scene.simulation.mass == Mass::Lumped {
            builder = builder.lumped_mass();
        }
        for object in objects {
            builder = builder.body(Body {
                name: object.name.clone(),
                mesh: object.mesh.clone(),
                materials: object.materials.clone(),
                densities: object.densities.clone(),
                kinematics: Kinematics::Deformable,
            });
        }
        let mut fixed_by = vec![[None; 3]; context.rest.len()];
        for (number, fixed) in scene.fixed.iter().enumerate() {
            let built = fixed.build(context)?;
            for &vertex in &built.vertices {
                for axis in (0..3).filter(|&axis| built.axes[axis]) {
                    let before = fixed_by[vertex as usize][axis].replace(number);
                    if let Some(before) = before.filter(|&before| scene.fixed[before].motion != fixed.motion) {
                        let message = format!(
                            "vertex {vertex} is fixed here and by `[[fixed]]` {} of {}, which has another motion",
                            before + 1,
                            scene.fixed.len()
                        );
                        return Err(context.error(fixed.vertices.span.as_ref(), message));
                    }
                }
            }
            builder = builder.fix(built);
        }
        if !scene.handles.is_empty() {
            let mut handles =
                Handles::new(context.rest.clone(), []).map_err(|error| context.error(None, error.to_string()))?;
            scene.handles.iter().try_for_each(|handle| handle.build(context, &mut handles))?;
            builder = builder.force(handles);
        }
        let mut springs = SpringList::default();
        for ((object, (mesh, first)), at) in scene.objects.iter().zip(context.meshes()).zip(0..) {
            if let Some(network) = &object.network {
                for [a, b] in Springs::mesh_pairs(mesh) {
                    let length = mesh.vertices()[a as usize].distance(mesh.vertices()[b as usize]);
                    springs.push([a + first, b + first], length, network.stiffness.si, network.damping.si);
                }
            }
            if let Some(parts) = &object.parts {
                let wrong = |message: String| context.error(parts.span.as_ref(), message);
                if objects.len() > 1 {
                    return Err(wrong("`parts` requires a scene with one object".into()));
                }
                let stiffness =
                    GeometricStiffness { edge: parts.edge.si, area: parts.area.si, volume: parts.volume.si };
                let force = Geometric::new(&objects[at].mesh, stiffness).map_err(|error| wrong(error.to_string()))?;
                builder = builder.force(force);
            }
        }
        for spring in &scene.springs {
            spring.build(context, &mut springs)?;
        }
        if !springs.pairs.is_empty() {
            let network = scene.objects.iter().find_map(|object| object.network.as_ref());
            let span = scene.springs.first().and_then(|spring| spring.span.as_ref());
            let span = span.or(network.and_then(|network| network.span.as_ref()));
            builder =
                builder.force(springs.build(&context.rest).map_err(|error| context.error(span, error.to_string()))?);
        }
        let nodal = NodalLoads::new(context.rest.len());
        let mut loads = Loads { nodal, forces: Vec::new(), impulses: Vec::new() };
        scene.loads.iter().try_for_each(|load| load.build(context, &scene.simulation, &mut loads))?;
        let impulses = std::mem::take(&mut loads.impulses);
        builder = loads.add_to(builder);
        let uses_barriers = self.uses_barriers(objects);
        let penalties: Vec<_> = scene.obstacles.iter().filter(|o| !uses_barriers || o.is_penalty()).collect();
        if !penalties.is_empty() {
            let mut obstacles = contact::obstacles(&context.rest, objects, &context.first)
                .map_err(|error| context.error(None, error.to_string()))?;
            for obstacle in penalties {
                let built = obstacle.build(context)?;
                obstacles.push(built).map_err(|error| context.error(obstacle.span.as_ref(), error.to_string()))?;
            }
            builder = builder.force(obstacles);
        }
        if uses_barriers {
            builder = contact::add_barriers(scene, context, objects, builder)?;
        }
        let model = builder.build().map_err(|error: ModelError| context.error(None, error.to_string()))?;
        Ok((model, impulses))
    }

    /// Returns the initial state: displacements and velocities.
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
                model.set_velocity(&mut state, body.nodes(), v, spin, moment / masses.iter().sum::<f64>());
            }
        }
        for (prepared, body) in objects.iter().zip(model.bodies()) {
            for (vertex, velocity) in body.nodes().zip(&prepared.velocities) {
                for axis in 0..3 {
                    if !model.fixed_mask().get(3 * vertex + axis).is_some_and(|fixed| *fixed) {
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
