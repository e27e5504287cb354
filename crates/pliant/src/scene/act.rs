//! What acts on bodies: holds, handles, springs, loads, obstacles, damping.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::Stage;
use super::quantity::{Length, Pressure, Rate, Speed, Stiffness, Time, Viscosity, dimension, vec3};
use super::{At, Motion, SceneError, Selection, Settings, Vector, bounds};
use crate::force::{self, NodalLoads, ScheduledLoad, Springs, dead_pressure, surface_force, surface_traction};
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
    #[schemars(regex(pattern = "^[xyz]+$"))]
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
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: At<Stiffness>,
    /// Of all springs together.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
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
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: At<Stiffness>,
    /// Of the spring.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub damping: Viscosity,
    /// How long it is when it does not pull; by default the distance of its ends at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub length: Option<Length>,
}

/// Something that pushes. Give one of `force`, `traction`, `pressure`, `impulse` and `steps`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Which object; by default all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<At<String>>,
    /// Which of its vertices; tractions and pressures act on the faces of the boundary between them. Where this names a face set, they act
    /// on exactly its faces.
    #[serde(default = "all_vertices")]
    pub vertices: At<Selection>,
    /// Which of its faces, instead of `vertices`: a face set, or what else selects vertices, for the faces between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faces: Option<At<Selection>>,
    /// A force in all: spread over the faces between the vertices by area, or if there is none over the vertices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<At<Vector<dimension::Force>>>,
    /// Force per area of the undeformed surface, in a fixed direction: a dead load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traction: Option<At<Vector<dimension::Pressure>>>,
    /// Force per area normal to the surface; positive pushes onto it, as in Abaqus, Ansys and FEBio. Negative is suction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<At<Pressure>>,
    /// For a `pressure`: `true`, the default, makes it a follower load, normal to the deformed surface and on its deformed area; `false` makes it a
    /// dead load, with the normals and areas of the undeformed surface. All other loads are dead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follower: Option<At<bool>>,
    /// A kick at the start, in all: shared by mass, so that free vertices all get the same velocity. What goes to held ones is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impulse: Option<At<Vector<dimension::Impulse>>>,
    /// A file of forces for each step: a column a step, three rows for each vertex of the scene; or such a matrix of VegaFEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<At<String>>,
    /// How long each column of `steps` acts; by default a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub interval: Option<At<Time>>,
    /// A factor that changes with time: pairs of time and factor, straight from one to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<At<Vec<(Time, f64)>>>,
}

fn all_vertices() -> At<Selection> {
    At::new(Selection::Named("all".into()))
}

fn is_all(selection: &At<Selection>) -> bool {
    matches!(&selection.value, Selection::Named(name) if name == "all")
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
    /// The push on each vertex in it, by depth; by default ten times that of an element of the stiffest object. Where an object carries a
    /// surface, points of that are pushed instead, and share the stiffness by area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: Option<Stiffness>,
    /// What slows down a vertex that goes in or out.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub damping: Viscosity,
    /// The coefficient of friction.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub friction: f64,
    /// What slides more slowly than this meets less friction, in proportion; by default 1 mm/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
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
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
}

/// Damping of all bodies, after Rayleigh: `αM + βK`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Damping {
    /// `α`: slows down all motion, as air does.
    #[schemars(transform = bounds::not_negative)]
    pub mass: Rate,
    /// `β`: slows down deformation.
    #[schemars(transform = bounds::not_negative)]
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
        if let Some(follower) = self.follower.as_ref().filter(|follower| follower.value && self.pressure.is_none()) {
            let message = "only a `pressure` can be a follower load; all other loads are dead";
            return Err(stage.error(follower.span.as_ref(), message));
        }
        let amplitude = self.amplitude(stage)?;
        let selection = self.faces.as_ref().unwrap_or(&self.vertices);
        if let Some(faces) = self.faces.as_ref().filter(|_| !is_all(&self.vertices)) {
            return Err(stage.error(faces.span.as_ref(), "both `vertices` and `faces`, expected one of them in a load"));
        }
        let wrong = |span: Span<'_>, error: &dyn std::fmt::Display| stage.error(span, error.to_string());
        if let Some(force) = &self.force {
            let forces = self.spread(stage, selection, vec3(force))?;
            let load = ScheduledLoad { forces, amplitude };
            loads.nodal.push(load).map_err(|error| wrong(force.span.as_ref(), &error))?;
        } else if let Some(traction) = &self.traction {
            let patch = stage.faces(self.object.as_ref(), selection)?;
            let forces = surface_traction(&stage.rest, &patch, vec3(traction));
            let forces = forces.map_err(|error| wrong(traction.span.as_ref(), &error))?;
            let load = ScheduledLoad::from_nodal(&forces, amplitude);
            loads.nodal.push(load).map_err(|error| wrong(traction.span.as_ref(), &error))?;
        } else if let Some(pressure) = &self.pressure {
            let patch = stage.faces(self.object.as_ref(), selection)?;
            if self.follower.as_ref().is_none_or(|follower| follower.value) {
                let force = force::Pressure::new(&stage.rest, &patch, pressure.si)
                    .and_then(|force| force.with_amplitude(amplitude))
                    .map_err(|error| wrong(pressure.span.as_ref(), &error))?;
                loads.pressures.push(force);
            } else {
                let forces = dead_pressure(&stage.rest, &patch, pressure.si);
                let forces = forces.map_err(|error| wrong(pressure.span.as_ref(), &error))?;
                let load = ScheduledLoad::from_nodal(&forces, amplitude);
                loads.nodal.push(load).map_err(|error| wrong(pressure.span.as_ref(), &error))?;
            }
        } else if let Some(impulse) = &self.impulse {
            if let Some(schedule) = &self.schedule {
                return Err(stage.error(schedule.span.as_ref(), "an impulse is at the start and has no schedule"));
            }
            loads.impulses.push((stage.select(self.object.as_ref(), selection)?, vec3(impulse)));
        } else if let Some(steps) = &self.steps {
            stage.select(self.object.as_ref(), selection)?;
            self.add_steps(stage, steps, simulation, loads)?;
        }
        Ok(())
    }

    /// Spreads a force over the faces by area, or over the vertices if there are no faces between them.
    fn spread(
        &self,
        stage: &Stage<'_>,
        selection: &At<Selection>,
        force: Vec3,
    ) -> Result<Vec<(u32, Vec3)>, SceneError> {
        let patch = match stage.faces(self.object.as_ref(), selection) {
            Err(error) if self.faces.is_some() => return Err(error),
            patch => patch.ok(),
        };
        if let Some(forces) = patch.and_then(|patch| surface_force(&stage.rest, &patch, force).ok()) {
            return Ok(ScheduledLoad::from_nodal(&forces, Amplitude::default()).forces);
        }
        let vertices = stage.select(self.object.as_ref(), selection)?;
        let share = force / vertices.len() as f64;
        Ok(vertices.into_iter().map(|vertex| (vertex, share)).collect())
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
