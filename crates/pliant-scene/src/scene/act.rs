//! Loads and boundary conditions: fixed vertices, handles, springs, loads, obstacles, damping.

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::BuildContext;
use super::quantity::{Length, Pressure, Rate, Speed, Stiffness, Time, Viscosity, dimension, vec3};
use super::{Located, Motion, SceneError, Selection, Settings, Vector, bounds};
use pliant::force::{self, NodalLoads, ScheduledLoad, Springs, dead_pressure, surface_force, surface_traction};
use pliant::math::Vec3;
use pliant::matrix_io;
use pliant::model::{self, ModelBuilder};
use pliant::motion::Amplitude;

/// Fixed vertices (Dirichlet conditions), or vertices with a prescribed motion.
///
/// ```toml
/// [[fixed]]
/// vertices = "start"
///
/// [[fixed]]
/// vertices = "end"
/// axes = "yz"
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// Name of the object; by default all objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Located<String>>,
    /// Selection of its vertices.
    pub vertices: Located<Selection>,
    /// Fixed coordinates, some of `"xyz"`; the others are free.
    #[serde(default = "all_axes")]
    #[schemars(regex(pattern = "^[xyz]+$"))]
    pub axes: Located<String>,
    /// Prescribed motion; by default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<Motion>,
}

fn all_axes() -> Located<String> {
    Located::new("xyz".into())
}

/// Springs of zero rest length from vertices to their initial positions or a target, which may move.
///
/// ```toml
/// [[handle]]
/// vertices = "end"
/// stiffness = "200 N/m"
/// target = ["1 m", "20 cm", 0]
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handle {
    /// Name of the object; by default all objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Located<String>>,
    /// Selection of its vertices.
    pub vertices: Located<Selection>,
    /// Total stiffness of all springs.
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: Located<Stiffness>,
    /// Total damping of all springs.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub damping: Viscosity,
    /// Target position of the center of the vertices; by default its initial position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Vector<dimension::Length>>,
    /// Motion of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<Motion>,
}

/// A spring between two vertices.
///
/// ```toml
/// [[spring]]
/// from = { nearest = [0, 0, 0] }
/// to = { nearest = [1, 0, 0] }
/// stiffness = "50 N/m"
/// length = "80 cm"
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpringLink {
    /// Object at one end; by default any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_object: Option<Located<String>>,
    /// Vertex at one end: a selection of one vertex, such as `{ nearest = [0, 0, 0] }`.
    pub from: Located<Selection>,
    /// Object at the other end; by default any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_object: Option<Located<String>>,
    /// Vertex at the other end.
    pub to: Located<Selection>,
    /// Stiffness of the spring.
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: Located<Stiffness>,
    /// Damping of the spring.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub damping: Viscosity,
    /// Rest length; by default the distance between the ends in the undeformed configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub length: Option<Length>,
}

/// A load. Give one of `force`, `traction`, `pressure`, `impulse` and `steps`.
///
/// ```toml
/// [[load]]
/// vertices = "end"
/// force = [0, "-20 N", 0]
/// schedule = [[0, 0], ["1 s", 1]]
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Name of the object; by default all objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Located<String>>,
    /// Selection of its vertices. Tractions and pressures act on the boundary faces between them. If this names a face
    /// set, they act on exactly its faces.
    #[serde(default = "all_vertices")]
    pub vertices: Located<Selection>,
    /// Selection of its faces, instead of `vertices`: a face set, or any selection of vertices for the faces between
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faces: Option<Located<Selection>>,
    /// Total force, spread over the faces between the vertices by area, or over the vertices if no faces are between
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<Located<Vector<dimension::Force>>>,
    /// Force per area of the undeformed surface, in a fixed direction: a dead load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traction: Option<Located<Vector<dimension::Pressure>>>,
    /// Force per area normal to the surface. Positive values push onto it, as in Abaqus, Ansys and FEBio; negative
    /// values are suction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Located<Pressure>>,
    /// Follower load, for a `pressure`: `true`, the default, makes it act along the normals and areas of the deformed
    /// surface; `false` makes it a dead load, with the normals and areas of the undeformed surface. All other loads are
    /// dead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follower: Option<Located<bool>>,
    /// Total impulse at the start, distributed by mass, so that all free vertices get the same velocity. The share of
    /// fixed vertices is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impulse: Option<Located<Vector<dimension::Impulse>>>,
    /// File of nodal forces for each step: one column per step and three rows per vertex of the scene, or such a matrix
    /// of VegaFEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Located<String>>,
    /// Duration of each column of `steps`; by default one step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub interval: Option<Located<Time>>,
    /// Time-dependent factor: pairs of time and factor, with linear interpolation between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Located<Vec<(Time, f64)>>>,
}

fn all_vertices() -> Located<Selection> {
    Located::new(Selection::Named("all".into()))
}

fn is_all(selection: &Located<Selection>) -> bool {
    matches!(&selection.value, Selection::Named(name) if name == "all")
}

/// A rigid obstacle that bodies collide with: give one of `plane`, `ball` and `hollow_ball`. Bodies do not collide with
/// each other.
///
/// ```toml
/// [[obstacle]]
/// plane = { point = [0, "-1 m", 0] }
/// friction = 0.4
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// Half-space behind a plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<Located<Plane>>,
    /// A ball.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ball: Option<Located<Ball>>,
    /// Everything outside a ball.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hollow_ball: Option<Located<Ball>>,
    /// Penalty stiffness per vertex: contact force per penetration depth. By default ten times that of an element of
    /// the stiffest object. If an object has a skin, its contact points are on that surface, and share the stiffness by
    /// area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: Option<Stiffness>,
    /// Damping of the normal velocity of a vertex in contact.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub damping: Viscosity,
    /// Coefficient of friction.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub friction: f64,
    /// Sliding speed below which friction decreases in proportion to the speed; by default 1 mm/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub friction_speed: Option<Speed>,
    /// Motion of the obstacle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<Motion>,
}

/// A plane.
///
/// ```toml
/// [[obstacle]]
/// plane = { point = [0, "-1 m", 0], normal = [0.5, 1, 0] }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// A point on the plane; by default the origin.
    #[serde(default)]
    pub point: Vector<dimension::Length>,
    /// Normal vector, which points out of the obstacle; by default up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
}

/// A ball.
///
/// ```toml
/// [[obstacle]]
/// ball = { center = [0.5, "-50 cm", 0], radius = "20 cm" }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Center of the ball.
    pub center: Vector<dimension::Length>,
    /// Radius of the ball.
    #[schemars(transform = bounds::positive)]
    pub radius: Length,
}

/// Rayleigh damping of all bodies: `αM + βK`.
///
/// ```toml
/// [damping]
/// mass = "0.5 /s"
/// stiffness = "1 ms"
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Damping {
    /// Mass-proportional coefficient `α`: damps all motion, as air does.
    #[schemars(transform = bounds::not_negative)]
    pub mass: Rate,
    /// Stiffness-proportional coefficient `β`: damps deformation.
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: Time,
}

type Span<'a> = Option<&'a Range<usize>>;

impl Fixed {
    pub(super) fn build(&self, context: &BuildContext<'_>) -> Result<model::Fixed, SceneError> {
        let vertices = context.select(self.object.as_ref(), &self.vertices)?;
        let mut axes = [false; 3];
        for letter in self.axes.chars() {
            let Some(axis) = "xyz".find(letter) else {
                let message = format!("the axes are \"{}\", expected some of \"xyz\"", self.axes.value);
                return Err(context.error(self.axes.span.as_ref(), message));
            };
            axes[axis] = true;
        }
        if axes == [false; 3] {
            return Err(context.error(self.axes.span.as_ref(), "no axis, expected some of \"xyz\""));
        }
        let motion = context.motion(self.motion.as_ref(), || context.middle(&vertices))?;
        // Fixed at their initial positions.
        let offsets = vertices.iter().map(|&vertex| context.start[vertex as usize]).collect();
        Ok(model::Fixed { vertices, axes, motion, offsets })
    }
}

impl Handle {
    pub(super) fn build(&self, context: &BuildContext<'_>, handles: &mut force::Handles) -> Result<(), SceneError> {
        let vertices = context.select(self.object.as_ref(), &self.vertices)?;
        let middle = context.middle(&vertices);
        let shift = self.target.as_ref().map_or(Vec3::ZERO, |target| vec3(target) - middle);
        if !(self.stiffness.si >= 0.0) {
            let message = format!("the stiffness is {} N/m, expected a non-negative value", self.stiffness.si);
            return Err(context.error(self.stiffness.span.as_ref(), message));
        }
        let share = 1.0 / vertices.len() as f64;
        for &vertex in &vertices {
            let target = context.place(vertex) + shift;
            let motion = context.motion(self.motion.as_ref(), || middle + shift)?;
            let handle = force::Handle {
                damping: share * self.damping.si,
                motion,
                ..force::Handle::new(vertex, share * self.stiffness.si, target)
            };
            handles.push(handle).map_err(|error| context.error(self.stiffness.span.as_ref(), error.to_string()))?;
        }
        Ok(())
    }
}

/// Pairs of vertices connected by springs, with their coefficients.
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

    pub fn build(self, rest: &Arc<[Vec3]>) -> Result<Springs, force::SpringsError> {
        let coefficients = force::SpringCoefficients {
            rest_length: Some(self.lengths.into()),
            stiffness: self.stiffness.into(),
            damping: self.damping.into(),
        };
        Springs::new(rest.clone(), &self.pairs, &coefficients)
    }
}

impl SpringLink {
    pub(super) fn build(&self, context: &BuildContext<'_>, springs: &mut SpringList) -> Result<(), SceneError> {
        let end = |object: Option<&Located<String>>, selection: &Located<Selection>| {
            let chosen = context.select(object, selection)?;
            if let [vertex] = chosen[..] {
                return Ok(vertex);
            }
            let message = format!("{} vertices, expected one: a spring has two ends", chosen.len());
            Err(context.error(selection.span.as_ref(), message))
        };
        let pair = [end(self.from_object.as_ref(), &self.from)?, end(self.to_object.as_ref(), &self.to)?];
        let apart = || context.rest[pair[0] as usize].distance(context.rest[pair[1] as usize]);
        let length = self.length.map_or_else(apart, |length| length.si);
        springs.push(pair, length, self.stiffness.si, self.damping.si);
        Ok(())
    }
}

/// Vertices, and the impulse \[N s\] that they share.
pub(super) type Impulse = (Vec<u32>, Vec3);

/// Loads of a scene, by kind.
pub(super) struct Loads {
    pub nodal: NodalLoads,
    pub pressures: Vec<force::Pressure>,
    /// Impulses, each with the vertices that share it.
    pub impulses: Vec<Impulse>,
}

impl Located<Load> {
    pub(super) fn build(
        &self,
        context: &BuildContext<'_>,
        simulation: &Settings,
        loads: &mut Loads,
    ) -> Result<(), SceneError> {
        let given = [
            self.force.is_some(),
            self.traction.is_some(),
            self.pressure.is_some(),
            self.impulse.is_some(),
            self.steps.is_some(),
        ];
        let count = given.iter().filter(|given| **given).count();
        if count != 1 {
            let message =
                format!("found {count} of force, traction, pressure, impulse and steps in a load, expected one");
            return Err(context.error(self.span.as_ref(), message));
        }
        if let (Some(interval), None) = (&self.interval, &self.steps) {
            return Err(context.error(interval.span.as_ref(), "`interval` has no effect without `steps`"));
        }
        if let Some(follower) = self.follower.as_ref().filter(|follower| follower.value && self.pressure.is_none()) {
            let message = "only a `pressure` can be a follower load; all other loads are dead";
            return Err(context.error(follower.span.as_ref(), message));
        }
        let amplitude = self.amplitude(context)?;
        let selection = self.faces.as_ref().unwrap_or(&self.vertices);
        if let Some(faces) = self.faces.as_ref().filter(|_| !is_all(&self.vertices)) {
            return Err(
                context.error(faces.span.as_ref(), "both `vertices` and `faces`, expected one of them in a load")
            );
        }
        let wrong = |span: Span<'_>, error: &dyn std::fmt::Display| context.error(span, error.to_string());
        if let Some(force) = &self.force {
            let forces = self.spread(context, selection, vec3(force))?;
            let load = ScheduledLoad { forces, amplitude };
            loads.nodal.push(load).map_err(|error| wrong(force.span.as_ref(), &error))?;
        } else if let Some(traction) = &self.traction {
            let patch = context.faces(self.object.as_ref(), selection)?;
            let forces = surface_traction(&context.rest, &patch, vec3(traction));
            let forces = forces.map_err(|error| wrong(traction.span.as_ref(), &error))?;
            let load = ScheduledLoad::from_nodal(&forces, amplitude);
            loads.nodal.push(load).map_err(|error| wrong(traction.span.as_ref(), &error))?;
        } else if let Some(pressure) = &self.pressure {
            let patch = context.faces(self.object.as_ref(), selection)?;
            if self.follower.as_ref().is_none_or(|follower| follower.value) {
                let force = force::Pressure::new(context.rest.clone(), &patch, pressure.si)
                    .and_then(|force| force.with_amplitude(amplitude))
                    .map_err(|error| wrong(pressure.span.as_ref(), &error))?;
                loads.pressures.push(force);
            } else {
                let forces = dead_pressure(&context.rest, &patch, pressure.si);
                let forces = forces.map_err(|error| wrong(pressure.span.as_ref(), &error))?;
                let load = ScheduledLoad::from_nodal(&forces, amplitude);
                loads.nodal.push(load).map_err(|error| wrong(pressure.span.as_ref(), &error))?;
            }
        } else if let Some(impulse) = &self.impulse {
            if let Some(schedule) = &self.schedule {
                return Err(
                    context.error(schedule.span.as_ref(), "an impulse acts at the start and cannot have a `schedule`")
                );
            }
            loads.impulses.push((context.select(self.object.as_ref(), selection)?, vec3(impulse)));
        } else if let Some(steps) = &self.steps {
            context.select(self.object.as_ref(), selection)?;
            self.add_steps(context, steps, simulation, loads)?;
        }
        Ok(())
    }

    /// Spreads a force over the faces by area, or over the vertices if there are no faces between them.
    fn spread(
        &self,
        context: &BuildContext<'_>,
        selection: &Located<Selection>,
        force: Vec3,
    ) -> Result<Vec<(u32, Vec3)>, SceneError> {
        let patch = match context.faces(self.object.as_ref(), selection) {
            Err(error) if self.faces.is_some() => return Err(error),
            patch => patch.ok(),
        };
        if let Some(forces) = patch.and_then(|patch| surface_force(&context.rest, &patch, force).ok()) {
            return Ok(ScheduledLoad::from_nodal(&forces, Amplitude::default()).forces);
        }
        let vertices = context.select(self.object.as_ref(), selection)?;
        let share = force / vertices.len() as f64;
        Ok(vertices.into_iter().map(|vertex| (vertex, share)).collect())
    }

    fn amplitude(&self, context: &BuildContext<'_>) -> Result<Amplitude, SceneError> {
        let Some(schedule) = &self.schedule else { return Ok(Amplitude::default()) };
        let frames = schedule.iter().map(|(time, factor)| (time.si, *factor));
        Amplitude::keyframes(frames).map_err(|error| context.error(schedule.span.as_ref(), error.to_string()))
    }

    fn add_steps(
        &self,
        context: &BuildContext<'_>,
        file: &Located<String>,
        simulation: &Settings,
        loads: &mut Loads,
    ) -> Result<(), SceneError> {
        let wrong = |message: String| context.error(file.span.as_ref(), message);
        let interval = self.interval.as_ref().map_or(simulation.step.si, |interval| interval.si);
        if interval <= 0.0 {
            let message = format!("the interval is {interval} s, expected a positive time");
            return Err(context.error(self.interval.as_ref().and_then(|own| own.span.as_ref()), message));
        }
        let path = context.source.folder.join(&file.value);
        let array = matrix_io::read_array_from(context.files, &path).map_err(|error| wrong(error.to_string()))?;
        let (rows, columns) = (array.row_count(), array.column_count());
        if rows != 3 * context.rest.len() {
            let message = format!(
                "{}: {rows} rows, expected {}, three for each of {} vertices",
                path.display(),
                3 * context.rest.len(),
                context.rest.len()
            );
            return Err(wrong(message));
        }
        let schedule = self.amplitude(context)?;
        for column in 0..columns {
            let forces: Vec<f64> = (0..rows).map(|row| array.values()[row * columns + column]).collect();
            // Implicit integrators take the forces at the end of a step, explicit ones those at its start.
            let during = (column as f64 * interval, (column + 1) as f64 * interval);
            let slack = simulation.step.si * if simulation.integrator.is_explicit() { -1e-6 } else { 1e-6 };
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

impl Located<Obstacle> {
    pub(super) fn build(&self, context: &BuildContext<'_>) -> Result<force::Obstacle, SceneError> {
        let stiffness = self.stiffness.map_or_else(|| context.obstacle_stiffness(), |stiffness| stiffness.si);
        let (obstacle, middle) = match (&self.plane, &self.ball, &self.hollow_ball) {
            (Some(plane), None, None) => {
                let point = vec3(&plane.point);
                let normal = plane.normal.map_or(context.up, Vec3::from_array);
                (force::Obstacle::plane(point, normal, stiffness), point)
            }
            (None, Some(ball), None) => {
                (force::Obstacle::ball(vec3(&ball.center), ball.radius.si, stiffness), vec3(&ball.center))
            }
            (None, None, Some(ball)) => {
                (force::Obstacle::hollow_ball(vec3(&ball.center), ball.radius.si, stiffness), vec3(&ball.center))
            }
            _ => {
                let message = "expected one of plane, ball and hollow_ball in an obstacle";
                return Err(context.error(self.span.as_ref(), message));
            }
        };
        Ok(force::Obstacle {
            damping: self.damping.si,
            friction: self.friction,
            friction_speed: self.friction_speed.map_or(force::Obstacle::FRICTION_SPEED, |speed| speed.si),
            motion: context.motion(self.motion.as_ref(), || middle)?,
            ..obstacle
        })
    }
}

impl Located<Damping> {
    pub(super) fn build(&self, context: &BuildContext<'_>) -> Result<pliant::damping::Damping, SceneError> {
        pliant::damping::Damping::rayleigh(self.mass.si, self.stiffness.si)
            .map_err(|error| context.error(self.span.as_ref(), error.to_string()))
    }
}

/// Adds loads to a model.
pub(super) fn add_loads(mut builder: ModelBuilder, loads: Loads, has_loads: bool) -> ModelBuilder {
    if has_loads {
        builder = builder.force(loads.nodal);
    }
    loads.pressures.into_iter().fold(builder, ModelBuilder::force)
}
