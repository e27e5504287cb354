//! Boundary conditions, springs and damping.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::BuildContext;
use super::quantity::{Length, Rate, Stiffness, Time, Viscosity, dimension, vec3};
use super::{Located, Motion, SceneError, Selection, Vector, bounds};
use pliant::force::{self, Springs};
use pliant::math::Vec3;
use pliant::model;

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

impl Located<Damping> {
    pub(super) fn build(&self, context: &BuildContext<'_>) -> Result<pliant::damping::Damping, SceneError> {
        pliant::damping::Damping::rayleigh(self.mass.si, self.stiffness.si)
            .map_err(|error| context.error(self.span.as_ref(), error.to_string()))
    }
}
