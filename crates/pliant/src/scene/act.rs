//! What acts on bodies: holds, handles, springs, loads, obstacles, damping.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::Stage;
use super::quantity::{Length, Pressure, Rate, Speed, Stiffness, Time, Viscosity, dimension, vec3};
use super::{At, Motion, SceneError, Selection, Settings, Vector};
use crate::force::{self, NodalLoads, Patch, ScheduledLoad, Springs, surface_force, surface_traction};
use crate::math::Vec3;
use crate::matrix_io;
use crate::model::{self, ModelBuilder};
use crate::motion::Amplitude;

/// Vertices that are fixed, or moved whatever the forces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Which object; by default all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<At<String>>,
    /// Which of its vertices.
    pub vertices: At<Selection>,
    /// Which of their coordinates, some of `"xyz"`; the others are free.
    #[serde(default = "all_axes")]
    pub axes: At<String>,
    /// How they are moved; by default not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<Motion>,
}

fn all_axes() -> At<String> {
    At::new("xyz".into())
}

/// Springs of no length from vertices to where they are at the start, which may move along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handle {
    /// Which object; by default all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<At<String>>,
    /// Which of its vertices.
    pub vertices: At<Selection>,
    /// Of all springs together.
    pub stiffness: At<Stiffness>,
    /// Of all springs together.
    #[serde(default)]
    pub damping: Viscosity,
    /// Where to pull the middle of the vertices; by default where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Vector<dimension::Length>>,
    /// How the target moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<Motion>,
}

/// A spring between two vertices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpringLink {
    /// The object at one end; by default any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_object: Option<At<String>>,
    /// The vertex at one end: a selection of one, such as `{ nearest = [0, 0, 0] }`.
    pub from: At<Selection>,
    /// The object at the other end; by default any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_object: Option<At<String>>,
    /// The vertex at the other end.
    pub to: At<Selection>,
    /// Of the spring.
    pub stiffness: At<Stiffness>,
    /// Of the spring.
    #[serde(default)]
    pub damping: Viscosity,
    /// How long it is when it does not pull; by default the distance of its ends at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Length>,
}

/// Something that pushes. Give one of `force`, `traction`, `pressure`, `impulse` and `steps`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Which object; by default all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<At<String>>,
    /// Which of its vertices; tractions and pressures act on the faces of the boundary between them.
    #[serde(default = "all_vertices")]
    pub vertices: At<Selection>,
    /// A force in all: spread over the faces between the vertices by area, or if there is none over the vertices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<At<Vector<dimension::Force>>>,
    /// Force per area at rest, in a direction that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traction: Option<At<Vector<dimension::Pressure>>>,
    /// At right angles to the surface as it moves; positive pulls outward, as from within a balloon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<At<Pressure>>,
    /// A kick at the start, in all: shared by mass, so that free vertices all get the same velocity. What goes to held ones is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impulse: Option<At<Vector<dimension::Impulse>>>,
    /// A file of forces for each step: a column a step, three rows for each vertex of the scene; or such a matrix of VegaFEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<At<String>>,
    /// How long each column of `steps` acts; by default a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<At<Time>>,
    /// A factor that changes with time: pairs of time and factor, straight from one to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<At<Vec<(Time, f64)>>>,
}

fn all_vertices() -> At<Selection> {
    At::new(Selection::Named("all".into()))
}

/// Something solid that bodies run into: give one of `plane`, `ball` and `hollow_ball`. Bodies do not meet each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// All behind a plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<At<Plane>>,
    /// A ball.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ball: Option<At<Ball>>,
    /// All around a ball.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hollow_ball: Option<At<Ball>>,
    /// The push on each vertex in it, by depth; by default ten times that of an element of the stiffest object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<Stiffness>,
    /// What slows down a vertex that goes in or out.
    #[serde(default)]
    pub damping: Viscosity,
    /// The coefficient of friction.
    #[serde(default)]
    pub friction: f64,
    /// What slides more slowly than this meets less friction, in proportion; by default 1 mm/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction_speed: Option<Speed>,
    /// How it moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<Motion>,
}

/// A plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// A point of it; by default the origin.
    #[serde(default)]
    pub point: Vector<dimension::Length>,
    /// Points to where bodies may be; by default up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
}

/// A ball.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Its middle.
    pub centre: Vector<dimension::Length>,
    /// Its radius.
    pub radius: Length,
}

/// Damping of all bodies, after Rayleigh: `αM + βK`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Damping {
    /// `α`: slows down all motion, as air does.
    pub mass: Rate,
    /// `β`: slows down deformation.
    pub stiffness: Time,
}

type Span<'a> = Option<&'a Range<usize>>;

impl Hold {
    pub(super) fn build(&self, stage: &Stage<'_>) -> Result<model::Hold, SceneError> {
        let vertices = stage.select(self.object.as_ref(), &self.vertices)?;
        let mut axes = [false; 3];
        for letter in self.axes.chars() {
            let Some(axis) = "xyz".find(letter) else {
                let message = format!("the axes are \"{}\", expected some of \"xyz\"", self.axes.value);
                return Err(stage.error(self.axes.span.as_ref(), message));
            };
            axes[axis] = true;
        }
        if axes == [false; 3] {
            return Err(stage.error(self.axes.span.as_ref(), "no axis, expected some of \"xyz\""));
        }
        let motion = stage.motion(self.motion.as_ref(), || stage.middle(&vertices))?;
        // Held where they begin.
        let offsets = vertices.iter().map(|&vertex| stage.start[vertex as usize]).collect();
        Ok(model::Hold { vertices, axes, motion, offsets })
    }
}

impl Handle {
    pub(super) fn build(&self, stage: &Stage<'_>, handles: &mut force::Handles) -> Result<(), SceneError> {
        let vertices = stage.select(self.object.as_ref(), &self.vertices)?;
        let middle = stage.middle(&vertices);
        let shift = self.target.as_ref().map_or(Vec3::ZERO, |target| vec3(target) - middle);
        if !(self.stiffness.si >= 0.0) {
            let message = format!("the stiffness is {} N/m, expected one that is not negative", self.stiffness.si);
            return Err(stage.error(self.stiffness.span.as_ref(), message));
        }
        let share = 1.0 / vertices.len() as f64;
        for &vertex in &vertices {
            let target = stage.place(vertex) + shift;
            let motion = stage.motion(self.motion.as_ref(), || middle + shift)?;
            let handle = force::Handle {
                damping: share * self.damping.si,
                motion,
                ..force::Handle::new(vertex, share * self.stiffness.si, target)
            };
            handles.push(handle).map_err(|error| stage.error(self.stiffness.span.as_ref(), error.to_string()))?;
        }
        Ok(())
    }
}

/// The coefficients of springs between pairs of vertices.
#[derive(Debug, Default)]
pub(super) struct SpringList {
    pub pairs: Vec<[u32; 2]>,
    pub lengths: Vec<f64>,
    pub stiffness: Vec<f64>,
    pub damping: Vec<f64>,
}

impl SpringList {
    pub fn push(&mut self, pair: [u32; 2], length: f64, stiffness: f64, damping: f64) {
        self.pairs.push(pair);
        self.lengths.push(length);
        self.stiffness.push(stiffness);
        self.damping.push(damping);
    }

    pub fn build(self, rest: &[Vec3]) -> Result<Springs, force::SpringsError> {
        let coefficients = force::SpringCoefficients {
            rest_length: Some(self.lengths.into()),
            stiffness: self.stiffness.into(),
            damping: self.damping.into(),
        };
        Springs::new(rest, &self.pairs, &coefficients)
    }
}

impl SpringLink {
    pub(super) fn build(&self, stage: &Stage<'_>, springs: &mut SpringList) -> Result<(), SceneError> {
        let end = |object: Option<&At<String>>, selection: &At<Selection>| {
            let chosen = stage.select(object, selection)?;
            if let [vertex] = chosen[..] {
                return Ok(vertex);
            }
            let message = format!("{} vertices, expected one: a spring has two ends", chosen.len());
            Err(stage.error(selection.span.as_ref(), message))
        };
        let pair = [end(self.from_object.as_ref(), &self.from)?, end(self.to_object.as_ref(), &self.to)?];
        let apart = || stage.rest[pair[0] as usize].distance(stage.rest[pair[1] as usize]);
        let length = self.length.map_or_else(apart, |length| length.si);
        springs.push(pair, length, self.stiffness.si, self.damping.si);
        Ok(())
    }
}

/// Vertices, and the impulse that they share, in N s.
pub(super) type Impulse = (Vec<u32>, Vec3);

/// What loads add up to.
pub(super) struct Loads {
    pub nodal: NodalLoads,
    pub pressures: Vec<force::Pressure>,
    /// Each with the vertices that share it.
    pub impulses: Vec<Impulse>,
}

impl At<Load> {
    pub(super) fn build(&self, stage: &Stage<'_>, simulation: &Settings, loads: &mut Loads) -> Result<(), SceneError> {
        let given = [
            self.force.is_some(),
            self.traction.is_some(),
            self.pressure.is_some(),
            self.impulse.is_some(),
            self.steps.is_some(),
        ];
        let count = given.iter().filter(|given| **given).count();
        if count != 1 {
            let message = format!("{count} of force, traction, pressure, impulse and steps, expected one in a load");
            return Err(stage.error(self.span.as_ref(), message));
        }
        if let (Some(interval), None) = (&self.interval, &self.steps) {
            return Err(stage.error(interval.span.as_ref(), "without `steps` an `interval` does nothing"));
        }
        let amplitude = self.amplitude(stage)?;
        let vertices = stage.select(self.object.as_ref(), &self.vertices)?;
        let wrong = |span: Span<'_>, error: &dyn std::fmt::Display| stage.error(span, error.to_string());
        if let Some(force) = &self.force {
            let forces = spread(stage, &vertices, vec3(force));
            let load = ScheduledLoad { forces, amplitude };
            loads.nodal.push(load).map_err(|error| wrong(force.span.as_ref(), &error))?;
        } else if let Some(traction) = &self.traction {
            let patch = stage.patch(&vertices).map_err(|error| wrong(self.vertices.span.as_ref(), &error))?;
            let forces = surface_traction(&stage.rest, &patch, vec3(traction));
            let forces = forces.map_err(|error| wrong(traction.span.as_ref(), &error))?;
            let load = ScheduledLoad::from_nodal(&forces, amplitude);
            loads.nodal.push(load).map_err(|error| wrong(traction.span.as_ref(), &error))?;
        } else if let Some(pressure) = &self.pressure {
            let patch = stage.patch(&vertices).map_err(|error| wrong(self.vertices.span.as_ref(), &error))?;
            let force = force::Pressure::new(&stage.rest, &patch, pressure.si)
                .and_then(|force| force.with_amplitude(amplitude))
                .map_err(|error| wrong(pressure.span.as_ref(), &error))?;
            loads.pressures.push(force);
        } else if let Some(impulse) = &self.impulse {
            if let Some(schedule) = &self.schedule {
                return Err(stage.error(schedule.span.as_ref(), "an impulse is at the start and has no schedule"));
            }
            loads.impulses.push((vertices, vec3(impulse)));
        } else if let Some(steps) = &self.steps {
            self.add_steps(stage, steps, simulation, loads)?;
        }
        Ok(())
    }

    fn amplitude(&self, stage: &Stage<'_>) -> Result<Amplitude, SceneError> {
        let Some(schedule) = &self.schedule else { return Ok(Amplitude::default()) };
        let frames = schedule.iter().map(|(time, factor)| (time.si, *factor));
        Amplitude::keyframes(frames).map_err(|error| stage.error(schedule.span.as_ref(), error.to_string()))
    }

    fn add_steps(
        &self,
        stage: &Stage<'_>,
        file: &At<String>,
        simulation: &Settings,
        loads: &mut Loads,
    ) -> Result<(), SceneError> {
        let wrong = |message: String| stage.error(file.span.as_ref(), message);
        let interval = self.interval.as_ref().map_or(simulation.step.si, |interval| interval.si);
        if interval <= 0.0 {
            let message = format!("the interval is {interval} s, expected a positive time");
            return Err(stage.error(self.interval.as_ref().and_then(|own| own.span.as_ref()), message));
        }
        let path = stage.source.folder.join(&file.value);
        let array = matrix_io::read_array_from(stage.files, &path).map_err(|error| wrong(error.to_string()))?;
        let (rows, columns) = (array.row_count(), array.column_count());
        if rows != 3 * stage.rest.len() {
            let message = format!(
                "{}: {rows} rows, expected {}, three for each of {} vertices",
                path.display(),
                3 * stage.rest.len(),
                stage.rest.len()
            );
            return Err(wrong(message));
        }
        let schedule = self.amplitude(stage)?;
        for column in 0..columns {
            let forces: Vec<f64> = (0..rows).map(|row| array.values()[row * columns + column]).collect();
            // Implicit schemes take the forces at the end of a step, explicit ones those at its start.
            let during = (column as f64 * interval, (column + 1) as f64 * interval);
            let slack = simulation.step.si * if simulation.scheme.is_explicit() { -1e-6 } else { 1e-6 };
            let schedule = schedule.clone();
            let amplitude = Amplitude::function(move |time| {
                let is_on = time > during.0 + slack && time <= during.1 + slack;
                if is_on { schedule.factor(time) } else { 0.0 }
            });
            loads
                .nodal
                .push(ScheduledLoad::from_nodal(&forces, amplitude))
                .map_err(|error| wrong(error.to_string()))?;
        }
        Ok(())
    }
}

/// A force spread over the faces between vertices, or if there is none over the vertices.
fn spread(stage: &Stage<'_>, vertices: &[u32], force: Vec3) -> Vec<(u32, Vec3)> {
    let over_faces = stage.patch(vertices).ok().and_then(|patch| surface_force(&stage.rest, &patch, force).ok());
    match over_faces {
        Some(forces) => ScheduledLoad::from_nodal(&forces, Amplitude::default()).forces,
        None => vertices.iter().map(|&vertex| (vertex, force / vertices.len() as f64)).collect(),
    }
}

impl At<Obstacle> {
    pub(super) fn build(&self, stage: &Stage<'_>) -> Result<force::Obstacle, SceneError> {
        let stiffness = self.stiffness.map_or_else(|| stage.obstacle_stiffness(), |stiffness| stiffness.si);
        let (obstacle, middle) = match (&self.plane, &self.ball, &self.hollow_ball) {
            (Some(plane), None, None) => {
                let point = vec3(&plane.point);
                let normal = plane.normal.map_or(stage.up, Vec3::from_array);
                (force::Obstacle::plane(point, normal, stiffness), point)
            }
            (None, Some(ball), None) => {
                (force::Obstacle::ball(vec3(&ball.centre), ball.radius.si, stiffness), vec3(&ball.centre))
            }
            (None, None, Some(ball)) => {
                (force::Obstacle::hollow_ball(vec3(&ball.centre), ball.radius.si, stiffness), vec3(&ball.centre))
            }
            _ => {
                let message = "expected one of plane, ball and hollow_ball in an obstacle";
                return Err(stage.error(self.span.as_ref(), message));
            }
        };
        Ok(force::Obstacle {
            damping: self.damping.si,
            friction: self.friction,
            friction_speed: self.friction_speed.map_or(force::Obstacle::FRICTION_SPEED, |speed| speed.si),
            motion: stage.motion(self.motion.as_ref(), || middle)?,
            ..obstacle
        })
    }
}

impl At<Damping> {
    pub(super) fn build(&self, stage: &Stage<'_>) -> Result<crate::damping::Damping, SceneError> {
        crate::damping::Damping::rayleigh(self.mass.si, self.stiffness.si)
            .map_err(|error| stage.error(self.span.as_ref(), error.to_string()))
    }
}

/// Add loads to a model.
pub(super) fn add_loads(mut builder: ModelBuilder, loads: Loads, has_loads: bool) -> ModelBuilder {
    if has_loads {
        builder = builder.force(loads.nodal);
    }
    loads.pressures.into_iter().fold(builder, ModelBuilder::force)
}

/// The faces of the boundary between vertices of any objects.
pub(super) fn patch_between(stage: &Stage<'_>, vertices: &[u32]) -> Result<Patch, force::PatchError> {
    let mut faces = crate::mesh::Faces::default();
    let mut last = None;
    for (mesh, first) in stage.meshes() {
        let own = first..first + mesh.vertex_count() as u32;
        let local: Vec<u32> =
            vertices.iter().filter(|vertex| own.contains(vertex)).map(|vertex| vertex - first).collect();
        if local.is_empty() {
            continue;
        }
        match Patch::within(mesh, &local).and_then(|patch| patch.among(first, stage.rest.len())) {
            Ok(patch) => patch.faces().iter().for_each(|face| faces.push(face)),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) if faces.is_empty() => Err(error),
        _ => Patch::new(stage.rest.len(), faces),
    }
}
