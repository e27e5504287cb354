//! Interactive simulation that users can pull, pin, push and change while it runs.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use pliant::files::Disk;
use pliant::force::Obstacles;
use pliant::math::Vec3;
use pliant::reduced::Reduction;
use pliant::simulation::Simulation;
use pliant::system::State;
use pliant_scene::output::{Frame, SceneGeometry, VisualError};
use pliant_scene::scene::{MadeOf, MaterialSettings, Scene, SceneError, SceneFile, obstacle_stiffness};
use thiserror::Error;

use crate::changes::{self, Changes};
use crate::display_scene::{self, BallSize, DisplayScene, Pull, is_free};
use crate::framing;
use crate::history::History;
use crate::pace::{Pace, Timings};
use crate::protocol::{Command, MaterialParameters, MaterialSteering, SavedScene, Settings};
use crate::remedy::FailedStep;
use crate::session::{Answer, Due, Show, ViewerId};
use crate::snapshot::{Energies, Snapshot, Status};
use crate::touch::Interaction;

/// Reason why a scene cannot be shown.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum LiveError {
    #[error(transparent)]
    Scene(#[from] SceneError),
    #[error(transparent)]
    Visual(#[from] VisualError),
    #[error("the forces for pulling and pushing cannot be added to the scene: {0}")]
    Interaction(String),
}

/// Scene that is simulated in real time.
pub struct Live {
    /// Scene as it was read.
    pub(crate) file: SceneFile,
    pub(crate) made_of: Vec<MadeOf>,
    pub(crate) reduction: Option<Reduction>,
    pub(crate) changes: Changes,
    /// Changes that have been applied to the simulation.
    pub(crate) applied_changes: Changes,
    pub(crate) simulation: Simulation,
    start: State,
    steps: u64,
    display: Arc<DisplayScene>,
    display_message: Bytes,
    pub(crate) touch: Interaction,
    pub(crate) history: History,
    pace: Pace,
    timings: Timings,
    is_playing: bool,
    /// Number of requested single steps.
    single_steps: u32,
    pub(crate) failure: Option<FailedStep>,
    /// Number of failures so far.
    failures: u64,
    fixed: Arc<[u32]>,
    pull_stiffness: f64,
    inputs: BTreeMap<ViewerId, u64>,
    notes: Vec<String>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("title", &self.file.title()).field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl Live {
    /// Creates a simulation of a scene in its initial state. It plays as soon as a page is connected.
    pub fn new(file: SceneFile) -> Result<Self, LiveError> {
        let reduction = file.reduction(&Disk)?;
        let mut built = file.build_with(&Disk, reduction.clone())?;
        let mut geometry = SceneGeometry::new(built.simulation.model());
        for (body, skin) in built.skins.into_iter().enumerate() {
            if let Some((surface, embedding)) = skin {
                geometry.attach_visual(body, surface, embedding)?;
            }
        }
        let display = Arc::new(DisplayScene::new(geometry));
        let model = built.simulation.model();
        let mass: f64 = model.node_masses().iter().sum();
        let stiffness = pull_stiffness(mass, display.size, &built.made_of);
        let info = display_scene::SceneInfo {
            title: file.title(),
            about: file.scene.about.clone(),
            mode: "live",
            up: file.scene.up,
            reduced: built.simulation.reduced_model().map(|reduced| reduced.basis().size()),
            pull: Pull { stiffness },
            ball: BallSize { radius: 0.08 * display.size },
            timeline: None,
            view: framing::first_view(&display, model, built.simulation.state()),
        };
        let display_message = display.message(&info, model);
        let mut touch = Interaction::new(
            PULL_DAMPING * mass.sqrt(),
            contact_stiffness(&file.scene, &display, &built.made_of, stiffness),
        );
        let fixed = fixed_vertices(&built.simulation);
        let start = built.simulation.state().clone();
        touch.attach(&mut built.simulation).map_err(LiveError::Interaction)?;
        let mut live = Self {
            made_of: built.made_of,
            reduction,
            changes: Changes::default(),
            applied_changes: Changes::default(),
            simulation: built.simulation,
            start,
            steps: 0,
            display,
            display_message,
            touch,
            history: History::default(),
            pace: Pace::new(),
            timings: Timings::default(),
            is_playing: true,
            single_steps: 0,
            failure: None,
            failures: 0,
            fixed,
            pull_stiffness: stiffness,
            inputs: BTreeMap::new(),
            notes: built.notes,
            file,
        };
        live.history.remember(0, &live.start);
        Ok(live)
    }

    /// Returns notes on the scene and warnings, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Starts paused.
    #[must_use]
    pub fn paused(self) -> Self {
        Self { is_playing: false, ..self }
    }

    /// Plays at `factor` times real time, from a thousandth to a thousand.
    #[must_use]
    pub fn at_speed(mut self, factor: f64) -> Self {
        self.pace.speed = Some(factor.clamp(1e-3, 1e3));
        self
    }

    fn hear(&mut self, viewer: ViewerId, input: u64) {
        let largest = self.inputs.entry(viewer).or_default();
        *largest = input.max(*largest);
    }

    fn play(&mut self) {
        self.failure = None;
        self.is_playing = true;
        self.pace.restart();
        self.timings.clear();
    }

    fn step(&mut self) {
        let began = Instant::now();
        if let Err(error) = self.touch.advance(&mut self.simulation) {
            return self.fail(error, false);
        }
        match self.simulation.step() {
            Ok(info) => {
                self.steps += 1;
                self.timings.add(began, self.simulation.dt(), info);
                // The full state of a reduced model is computed on demand.
                if self.history.go_on(self.simulation.time()) {
                    self.history.remember(self.steps, self.simulation.state());
                }
                if let Some(gain) = self.simulation.take_energy_gain() {
                    self.pause_for_gain(gain.to_string());
                }
            }
            Err(error) => self.fail(error.to_string(), true),
        }
    }

    /// Pauses after a gain of energy, with remedies that prevent it.
    fn pause_for_gain(&mut self, message: String) {
        self.failures += 1;
        let failed = FailedStep::new(self.failures, message, self.simulation.dt(), self.other_steps());
        self.failure = Some(failed.of_gain());
        (self.is_playing, self.single_steps) = (false, 0);
    }

    /// Pauses with a message. A failed step leaves the state unchanged.
    fn fail(&mut self, message: String, has_remedies: bool) {
        self.failures += 1;
        let remedies = if has_remedies { self.remedies() } else { Vec::new() };
        self.failure = Some(FailedStep::new(self.failures, message, self.simulation.dt(), remedies));
        (self.is_playing, self.single_steps) = (false, 0);
    }

    /// Jumps to a state. Pinned vertices are fixed at their positions in this state; elsewhere they would tear the
    /// body.
    fn go_to(&mut self, steps: u64, state: State) -> Result<(), String> {
        self.steps = steps;
        self.failure = None;
        if !self.touch.pinned().is_empty() {
            self.touch.repin(self.simulation.model_mut(), &state)?;
        }
        self.simulation.begin_at(state);
        self.pace.restart();
        Ok(())
    }

    fn reset(&mut self) -> Result<(), String> {
        self.history.clear();
        self.timings.clear();
        self.history.remember(0, &self.start);
        self.go_to(0, self.start.clone())
    }

    fn seek(&mut self, time: f64) -> Result<(), String> {
        self.is_playing = false;
        let Some(past) = self.history.nearest(time).cloned() else { return Ok(()) };
        self.go_to(past.step, past.state)
    }

    /// Applies the changes to the simulation. On error the simulation stays unchanged, and the changes are reverted.
    fn apply_changes(&mut self) -> Result<(), String> {
        if self.changes == self.applied_changes {
            return Ok(());
        }
        let applied =
            if self.changes.needs_new_simulation(&self.applied_changes) { self.rebuild() } else { self.adjust() };
        match applied {
            // An earlier failure occurred without these changes.
            Ok(()) => (self.applied_changes, self.failure) = (self.changes.clone(), None),
            Err(_) => self.changes = self.applied_changes.clone(),
        }
        applied
    }

    /// Applies changes that need no rebuild.
    fn adjust(&mut self) -> Result<(), String> {
        let scene = self.changes.applied(&self.file.scene, &self.made_of);
        let changed: Vec<usize> = (0..self.made_of.len())
            .filter(|index| self.changes.materials.get(index) != self.applied_changes.materials.get(index))
            .collect();
        let brings_law = self.simulation.is_regularized();
        if brings_law && !changed.is_empty() {
            return self.rebuild();
        }
        // All fallible conversions first.
        let mut elasticities = Vec::new();
        let regions = self.regions();
        for &index in &changed {
            let (body, region) = regions[index];
            let own = &self.simulation.model().bodies()[body].mesh().regions()[region];
            let material = self.changes.material(index, &self.made_of[index]);
            elasticities.push((body, region, material.elasticity(own).map_err(|error| error.to_string())?));
        }
        let model = self.simulation.model_mut();
        model.set_gravity(scene.gravity()).map_err(|error| error.to_string())?;
        let damping = &scene.damping;
        model.set_rayleigh(damping.mass.si, damping.stiffness.si).map_err(|error| error.to_string())?;
        let outdated = model.warnings();
        for (body, region, elasticity) in elasticities {
            if let Some(elastic) = model.bodies_mut()[body].elastic_mut() {
                elastic.set_material(region, elasticity);
            }
        }
        let warnings = model.warnings();
        self.notes.retain(|note| !outdated.contains(note));
        self.notes.extend(warnings);
        if !changed.is_empty() {
            self.stiffen_obstacles()?;
        }
        Ok(())
    }

    /// Adapts the stiffness of obstacles to that of the bodies, except where the scene gives it.
    fn stiffen_obstacles(&mut self) -> Result<(), String> {
        let made_of = self.made_of_now();
        let stiffness = self.contact_stiffness(&made_of);
        self.touch.ball_stiffness = stiffness;
        let given: Vec<bool> = self.file.scene.obstacles.iter().map(|own| own.stiffness.is_some()).collect();
        let mut forces = self.simulation.forces_mut_of::<Obstacles>();
        // The last group of obstacles are the balls of the users.
        let Some(obstacles) = forces.first_mut().filter(|own| own.list().len() == given.len()) else { return Ok(()) };
        for (number, _) in given.iter().enumerate().filter(|(_, given)| !**given) {
            let obstacle = pliant::force::Obstacle { stiffness, ..obstacles.list()[number].clone() };
            obstacles.replace(number, obstacle).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn contact_stiffness(&self, made_of: &[MadeOf]) -> f64 {
        contact_stiffness(&self.file.scene, &self.display, made_of, self.pull_stiffness)
    }

    /// Returns the materials of all regions with the changes.
    fn made_of_now(&self) -> Vec<MadeOf> {
        let now =
            |(index, region): (usize, &MadeOf)| MadeOf { moduli: self.changes.moduli(index, region), ..region.clone() };
        self.made_of.iter().enumerate().map(now).collect()
    }

    /// Rebuilds the simulation and continues from its current state.
    fn rebuild(&mut self) -> Result<(), String> {
        let mut built = self.build(&self.changes)?;
        self.touch.ball_stiffness = self.contact_stiffness(&self.made_of_now());
        self.touch.attach(&mut built.simulation)?;
        // The new integrator computes its initial accelerations, and no step of it precedes.
        built.simulation.begin_at(State { a: None, previous: None, ..self.simulation.state().clone() });
        (self.simulation, self.notes) = (built.simulation, built.notes);
        self.pace.restart();
        self.timings.clear();
        Ok(())
    }

    fn set_material(&mut self, steering: MaterialSteering) -> Result<(), String> {
        let MaterialSteering { index, law, young, poisson, inversion } = steering;
        let count = self.made_of.len();
        let region = self
            .made_of
            .get(index)
            .ok_or_else(|| format!("material {index} does not exist; the number of materials is {count}"))?;
        if let Some(why_not) = self.why_not(region) {
            return Err(why_not);
        }
        let mut change = self.changes.materials.get(&index).cloned().unwrap_or_default();
        change.law = law.or(change.law);
        change.young = young.map(|young| young.si).or(change.young);
        change.poisson = poisson.map(|poisson| poisson.0).or(change.poisson);
        change.inversion = inversion.or(change.inversion);
        let changes_moduli = change.young.is_some() || change.poisson.is_some();
        if region.law == Some("formula") && change.law.is_none() && changes_moduli {
            return Err("this material is a formula without moduli; choose a law first".into());
        }
        let changed = Changes { materials: [(index, change.clone())].into(), ..Changes::default() };
        let (body, number) = self.regions()[index];
        let own = &self.simulation.model().bodies()[body].mesh().regions()[number];
        // Errors are reported to the page that requested the change, and other changes are kept.
        changed.material(index, region).elasticity(own).map_err(|error| error.to_string())?;
        self.changes.materials.insert(index, change);
        Ok(())
    }

    /// Returns the body of each region, and the index of the region in it.
    fn regions(&self) -> Vec<(usize, usize)> {
        let bodies = self.simulation.model().bodies().iter().enumerate();
        bodies.flat_map(|(body, own)| (0..own.mesh().regions().len()).map(move |region| (body, region))).collect()
    }

    /// Returns the reason why a material cannot be changed.
    fn why_not(&self, region: &MadeOf) -> Option<String> {
        if self.reduction.is_some() {
            Some("a reduced model depends on its materials; `pliant reduce` builds one with other materials".into())
        } else if region.moduli.is_none() {
            Some("this body consists of springs and has no elastic law".into())
        } else {
            None
        }
    }

    fn why_no_pins(&self) -> Option<String> {
        let reduced = self.simulation.reduced_model()?;
        Some(format!(
            "a reduced model of {} basis vectors keeps the fixed vertices that it was built with",
            reduced.basis().size()
        ))
    }

    /// Returns the boundary vertices of a body within `radius` of a point, or the nearest one; only those that
    /// `is_meant` accepts.
    fn near(&self, body: usize, point: Vec3, radius: f64, is_meant: impl Fn(u32) -> bool) -> Vec<u32> {
        let body = &self.display.geometry.bodies()[body];
        let state = self.simulation.state();
        let first = body.vertices().start as u32;
        let distance = |vertex: u32| {
            let u = Vec3::from_slice(&state.q[3 * vertex as usize..]);
            (body.mesh().vertices()[(vertex - first) as usize] + u).distance(point)
        };
        let boundary = body.mesh().boundary().vertices.into_iter().map(|vertex| vertex + first);
        let all: Vec<(u32, f64)> =
            boundary.filter(|vertex| is_meant(*vertex)).map(|vertex| (vertex, distance(vertex))).collect();
        let within: Vec<u32> =
            all.iter().filter(|(_, distance)| *distance <= radius).map(|(vertex, _)| *vertex).collect();
        if within.is_empty() {
            return all.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(vertex, _)| *vertex).into_iter().collect();
        }
        within
    }

    fn pin(&mut self, triangle: u32, weights: [f64; 3], radius: f64, pins: bool) -> Result<(), String> {
        if let Some(why_not) = self.why_no_pins() {
            return Err(why_not);
        }
        let surface_point = self.display.surface_point(triangle, weights)?;
        let state = self.simulation.state();
        let positions = self.display.geometry.bodies()[surface_point.body].surface_positions(&state.q);
        let point = surface_point
            .corners
            .iter()
            .zip(surface_point.weights)
            .map(|(&corner, weight)| weight * positions[corner])
            .sum();
        let pinned: HashSet<u32> = self.touch.pinned().iter().copied().collect();
        let chosen = if pins {
            self.near(surface_point.body, point, radius, |vertex| self.fixed.binary_search(&vertex).is_err())
        } else {
            self.near(surface_point.body, point, radius, |vertex| pinned.contains(&vertex))
        };
        let state = state.clone();
        let model = self.simulation.model_mut();
        if pins {
            self.touch.pin(model, &chosen, &state)
        } else {
            let chosen: HashSet<u32> = chosen.into_iter().collect();
            self.touch.unpin(model, |vertex| chosen.contains(&vertex))
        }
    }

    fn throw(&mut self, triangle: u32, velocity: Vec3) -> Result<(), String> {
        let surface_point = self.display.surface_point(triangle, [1.0, 0.0, 0.0])?;
        let body = &self.display.geometry.bodies()[surface_point.body];
        if !is_free(self.simulation.model(), body) {
            return Err(format!("`{}` is fixed: only free bodies can be thrown", body.name()));
        }
        let mut state = self.simulation.state().clone();
        let (v, _) = state.v.as_chunks_mut::<3>();
        v[body.vertices()].iter_mut().for_each(|v| *v = (Vec3::from_array(*v) + velocity).to_array());
        state.forget();
        self.simulation.set_state(state);
        Ok(())
    }

    /// Returns the scene with all changes. Its paths are absolute, so that any folder of this machine can contain it.
    fn save(&self) -> SavedScene {
        let mut scene = self.changes.applied(&self.file.scene, &self.made_of);
        let pins = self.touch.pinned();
        if !pins.is_empty() {
            scene.fixed.push(changes::fix(pins.to_vec()));
        }
        let folder = &self.file.source.folder;
        scene.for_each_file(|name| {
            let path = folder.join(&*name);
            *name = std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned();
        });
        let stem = self.file.source.path.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy().into_owned());
        let text = format!("# {stem} with the changes made in the viewer.\n\n{}", scene.to_toml());
        SavedScene { name: format!("{stem}-changed.toml"), text }
    }

    fn material_parameters(&self, index: usize, region: &MadeOf) -> MaterialParameters {
        let brings_law = self.simulation.is_regularized();
        let moduli = self.changes.moduli(index, region);
        let usual = || region.moduli.map(|_| MaterialSettings::USUAL_LAW.to_owned());
        let has_one = self.made_of.iter().filter(|own| own.object == region.object).count() == 1;
        MaterialParameters {
            index,
            name: if has_one { region.object.clone() } else { format!("{}: {}", region.object, region.region) },
            law: if brings_law { None } else { self.changes.law(index, region).or_else(usual) },
            young: moduli.map(|moduli| moduli.young),
            poisson: moduli.map(|moduli| moduli.poisson),
            inversion: (!brings_law && moduli.is_some()).then(|| self.changes.inversion(index, region)),
            density: region.density,
            why_not: self.why_not(region),
        }
    }
}

impl Show for Live {
    fn display(&self) -> (Arc<DisplayScene>, Bytes) {
        (self.display.clone(), self.display_message.clone())
    }

    fn execute(&mut self, viewer: ViewerId, command: Command) -> Result<Answer, String> {
        let place = |place: [f64; 3]| Vec3::from_array(place) + self.display.origin;
        match command {
            // These are handled by the task of the page.
            Command::Seen { .. } | Command::View { .. } | Command::Read { .. } => {}
            Command::Play => self.play(),
            Command::Pause => (self.is_playing, self.single_steps) = (false, 0),
            Command::Step => {
                (self.is_playing, self.failure) = (false, None);
                self.single_steps += 1;
            }
            Command::Reset => self.reset()?,
            Command::Seek { time } => self.seek(time)?,
            Command::Speed { factor } => self.pace.set_speed(factor)?,
            Command::Grab { pull, triangle, weights, target, stiffness, input } => {
                let (target, surface_point) = (place(target), self.display.surface_point(triangle, weights)?);
                let anchor = self.display.anchor(&surface_point);
                self.touch.grab(&mut self.simulation, (viewer, pull), anchor, target, stiffness)?;
                self.hear(viewer, input);
            }
            Command::Drag { pull, target, stiffness, input } => {
                let target = place(target);
                self.touch.drag(&mut self.simulation, (viewer, pull), target, stiffness)?;
                self.hear(viewer, input);
            }
            Command::Release { pull } => self.touch.release(&mut self.simulation, viewer, pull)?,
            Command::Pin { triangle, weights, radius } => self.pin(triangle, weights, radius, true)?,
            Command::Unpin { triangle, weights, radius } => self.pin(triangle, weights, radius, false)?,
            Command::UnpinAll if self.touch.pinned().is_empty() => {}
            Command::UnpinAll => self.touch.unpin(self.simulation.model_mut(), |_| true)?,
            Command::Ball { center, radius } => {
                let center = place(center);
                self.touch.put_ball(&mut self.simulation, viewer, center, radius)?;
            }
            Command::NoBall => self.touch.take_ball(&mut self.simulation, viewer)?,
            Command::Throw { triangle, velocity } => self.throw(triangle, Vec3::from_array(velocity))?,
            Command::SetMaterial(steering) => self.set_material(steering)?,
            Command::Set(steering) => {
                let mut changes = self.changes.clone();
                changes.steer(&steering)?;
                self.changes = changes;
            }
            Command::Remedy(remedy) => {
                self.changes = self.changes_with(&remedy)?;
                self.apply_changes()?;
                if let Some(time) = remedy.from {
                    self.seek(time)?;
                }
                self.play();
            }
            Command::UndoChanges => {
                self.changes = Changes::default();
                if !self.touch.pinned().is_empty() {
                    self.touch.unpin(self.simulation.model_mut(), |_| true)?;
                }
            }
            Command::Save => {
                self.apply_changes()?;
                return Ok(Answer::Scene(self.save()));
            }
        }
        Ok(Answer::Done)
    }

    fn settle(&mut self) -> Result<(), String> {
        self.apply_changes()
    }

    fn leave(&mut self, viewer: ViewerId) {
        self.inputs.remove(&viewer);
        if let Err(error) = self.touch.leave(&mut self.simulation, viewer) {
            self.fail(error, false);
        }
    }

    fn due(&mut self, now: Instant) -> Due {
        if self.single_steps > 0 || self.failure.as_ref().is_some_and(FailedStep::is_trying) {
            return Due::Time(now);
        }
        if !self.is_playing {
            return Due::Never;
        }
        Due::Time(self.pace.due(self.simulation.time() + self.simulation.dt(), now))
    }

    fn advance(&mut self) {
        if let Some(remedies) = self.failure.as_mut().and_then(FailedStep::next) {
            let found = self.first_that_works(remedies);
            let now = self.simulation.time();
            if let Some(failure) = &mut self.failure {
                failure.offer(found, now);
            }
            return;
        }
        self.single_steps = self.single_steps.saturating_sub(1);
        self.step();
    }

    fn snapshot(&mut self, with_fields: bool, viewers: usize) -> Snapshot {
        let seen = self.simulation.observe();
        let (model, state) = (self.simulation.model(), self.simulation.state());
        let balls = self.touch.balls();
        let mut obstacles = model.obstacles_at(state.time);
        // The last group of obstacles are the balls of the users.
        obstacles.truncate(obstacles.len() - balls.len());
        let status = Status {
            time: state.time,
            step: self.steps,
            playing: self.is_playing,
            speed: self.pace.speed,
            span: self.history.span().unwrap_or([state.time; 2]),
            stats: self.timings.stats(),
            energies: Some(Energies::from(&seen)),
            volume: seen.volume,
            rest_volume: self.display.rest_volume,
            obstacles: self.display.obstacle_views(&obstacles),
            failure: self.failure.as_ref().map(|failure| failure.shown.clone()),
            viewers,
        };
        Snapshot {
            status,
            pulls: self.touch.pulls(model.rest(), state),
            balls,
            fixed: self.fixed.clone(),
            pinned: self.touch.pinned(),
            inputs: self.inputs.iter().map(|(viewer, input)| (*viewer, *input)).collect(),
            frame: Frame::new(model, state, 0, with_fields),
        }
    }

    fn settings(&self) -> Settings {
        let scene = self.applied_changes.applied(&self.file.scene, &self.made_of);
        Settings {
            materials: self.made_of.iter().enumerate().map(|(n, region)| self.material_parameters(n, region)).collect(),
            solver: self.reduction.is_none().then(|| scene.simulation.solver.name().to_owned()),
            pins: self.touch.pinned().len(),
            changed: scene != self.file.scene || !self.touch.pinned().is_empty(),
            why_no_pins: self.why_no_pins(),
            notes: self.notes.clone(),
            ..Settings::of_scene(&scene, self.simulation.dt())
        }
    }
}

/// Damping of pulls relative to critical damping of the total mass.
const PULL_DAMPING: f64 = 0.6;

/// Returns the stiffness of pulls [N/m]: the larger of one that lifts the bodies by a tenth of their size and one that
/// dents their material.
fn pull_stiffness(mass: f64, size: f64, made_of: &[MadeOf]) -> f64 {
    let young = made_of.iter().filter_map(|region| region.moduli).map(|moduli| moduli.young).fold(0.0, f64::max);
    (10.0 * pliant_scene::scene::EARTH * mass / size).max(1e-3 * young * size)
}

/// Returns the stiffness per vertex of balls and of obstacles without a given one [N/m], or `usual` if the materials do
/// not determine it.
fn contact_stiffness(scene: &Scene, display: &DisplayScene, made_of: &[MadeOf], usual: f64) -> f64 {
    let mut rest = made_of;
    let objects = display.geometry.bodies().iter().map(|body| {
        let (own, others) = rest.split_at(body.mesh().regions().len());
        rest = others;
        (body.mesh(), own)
    });
    let stiffness = obstacle_stiffness(scene, objects);
    if stiffness > 0.0 { stiffness } else { usual }
}

/// Returns the vertices that the scene fixes.
pub fn fixed_vertices(simulation: &Simulation) -> Arc<[u32]> {
    let mut fixed: Vec<u32> =
        simulation.model().fixed().iter().flat_map(|fixed| fixed.vertices.iter().copied()).collect();
    fixed.sort_unstable();
    fixed.dedup();
    fixed.into()
}
