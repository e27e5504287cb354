//! A moment of what is shown, and what a page sees of it.

use std::sync::Arc;

use axum::body::Bytes;
use pliant::math::Vec3;
use pliant::model::Observation;
use pliant::output::{CastBody, Frame, Shown};
use serde::Serialize;

use crate::pace::Stats;
use crate::protocol::{Arrays, Plane, message};
use crate::session::ViewerId;
use crate::stage::{ObstacleShown, Stage};

/// All that any page may want to know of a moment. It is a copy: the simulation may go on.
#[derive(Debug)]
pub struct Moment {
    pub facts: Facts,
    pub frame: Frame,
    pub pulls: Vec<PullShown>,
    pub balls: Vec<BallShown>,
    /// Vertices that the scene holds, and those pinned by hand.
    pub held: Arc<[u32]>,
    pub pinned: Arc<[u32]>,
    /// The last input of each page that has been obeyed.
    pub inputs: Vec<(ViewerId, u64)>,
}

/// What all pages are told alike.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Facts {
    pub time: f64,
    pub step: u64,
    pub playing: bool,
    pub speed: Option<f64>,
    pub span: [f64; 2],
    pub stats: Option<Stats>,
    pub energies: Option<Energies>,
    pub volume: f64,
    pub rest_volume: f64,
    pub obstacles: Vec<ObstacleShown>,
    pub failure: Option<Failure>,
    pub viewers: usize,
}

/// In J.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Energies {
    pub kinetic: f64,
    pub elastic: f64,
    pub gravitational: f64,
    pub other: f64,
    pub total: f64,
}

impl From<&Observation> for Energies {
    fn from(seen: &Observation) -> Self {
        Self {
            kinetic: seen.kinetic_energy,
            elastic: seen.elastic_energy,
            gravitational: seen.gravitational_energy,
            other: seen.other_energy,
            total: seen.total_energy(),
        }
    }
}

/// Why it does not continue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// Counts failures, so that pages can tell a failure from one before that reads the same.
    pub number: u64,
    pub message: String,
    /// True if the step succeeded, but energy appeared without work being done.
    pub is_gain: bool,
    /// Length of the step that failed \[s\].
    pub step: f64,
    /// Changes with which the simulation continues.
    pub choices: Vec<Choice>,
    /// Whether more choices may come.
    pub is_trying: bool,
}

/// A button: its text, and the command that it sends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    pub label: String,
    pub command: serde_json::Value,
}

/// Someone pulls.
#[derive(Debug, Clone)]
pub struct PullShown {
    pub viewer: ViewerId,
    pub point: Vec3,
    pub target: Vec3,
    pub force: Vec3,
}

/// Someone pushes.
#[derive(Debug, Clone)]
pub struct BallShown {
    pub viewer: ViewerId,
    pub centre: Vec3,
    pub radius: f64,
}

/// What a page looks at.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct View {
    pub colour: Option<Shown>,
    pub slice: Option<Plane>,
}

impl View {
    pub fn new(colour: &str, slice: Option<Plane>) -> Result<Self, String> {
        let shown = Shown::ALL.into_iter().find(|shown| shown.name() == colour);
        if shown.is_none() && colour != "none" {
            let known = Shown::ALL.map(Shown::name).join(", ");
            return Err(format!("there is no colour `{colour}`, only none, {known}"));
        }
        if slice.is_some_and(|plane| Vec3::from_array(plane.normal).try_normalize().is_none()) {
            return Err("the normal of the slice has no direction".into());
        }
        Ok(Self { colour: shown, slice })
    }

    /// Whether it needs what only elements know.
    pub fn needs_fields(&self) -> bool {
        self.colour.is_some_and(Shown::needs_fields)
    }
}

impl Moment {
    /// What a page sees of it.
    pub fn message(&self, stage: &Stage, view: &View, viewer: ViewerId, number: u64) -> Bytes {
        #[derive(Serialize)]
        struct Header<'a> {
            number: u64,
            input: u64,
            #[serde(flatten)]
            facts: &'a Facts,
            pulls: Vec<Pulled>,
            balls: Vec<Ball>,
            colour: Option<&'static str>,
            range: Option<[f64; 2]>,
            slice: Option<Plane>,
        }
        #[derive(Serialize)]
        struct Pulled {
            point: [f64; 3],
            target: [f64; 3],
            force: [f64; 3],
            mine: bool,
        }
        #[derive(Serialize)]
        struct Ball {
            centre: [f64; 3],
            radius: f64,
            mine: bool,
        }
        let origin = stage.origin;
        let relative = |place: Vec3| (place - origin).to_array();
        let pulled = |pull: &PullShown| Pulled {
            point: relative(pull.point),
            target: relative(pull.target),
            force: pull.force.to_array(),
            mine: pull.viewer == viewer,
        };
        let ball =
            |ball: &BallShown| Ball { centre: relative(ball.centre), radius: ball.radius, mine: ball.viewer == viewer };
        let mut arrays = Arrays::default();
        let bodies = stage.cast.bodies();
        let positions = bodies.iter().flat_map(|body| body.surface_positions(&self.frame.u));
        arrays.places("positions", positions, origin);
        // At the vertices of the meshes, of each body.
        let values: Option<Vec<Vec<f64>>> =
            view.colour.and_then(|shown| bodies.iter().map(|body| body.vertex_values(shown, &self.frame)).collect());
        if let Some(values) = &values {
            let on_surface = bodies.iter().zip(values).flat_map(|(body, values)| body.surface_values(values));
            arrays.numbers("values", on_surface.map(|value| value as f32));
        }
        arrays.places("held", self.places(stage, &self.held), origin);
        arrays.places("pinned", self.places(stage, &self.pinned), origin);
        if let Some(plane) = &view.slice {
            self.add_slice(stage, plane, values.as_deref(), &mut arrays);
        }
        let header = Header {
            number,
            input: self.inputs.iter().find(|(own, _)| *own == viewer).map_or(0, |(_, input)| *input),
            facts: &self.facts,
            pulls: self.pulls.iter().map(pulled).collect(),
            balls: self.balls.iter().map(ball).collect(),
            colour: values.as_ref().and(view.colour).map(Shown::name),
            range: values.as_deref().and_then(range),
            slice: view.slice,
        };
        message("frame", &header, &arrays)
    }

    /// Where vertices of the model are.
    fn places<'a>(&'a self, stage: &'a Stage, vertices: &'a [u32]) -> impl Iterator<Item = Vec3> + 'a {
        vertices.iter().map(|&vertex| {
            let vertex = vertex as usize;
            let after = stage.cast.bodies().partition_point(|body| body.vertices().start <= vertex);
            let body = &stage.cast.bodies()[after - 1];
            body.mesh().vertices()[vertex - body.vertices().start] + Vec3::from_slice(&self.frame.u[3 * vertex..])
        })
    }

    fn add_slice(&self, stage: &Stage, plane: &Plane, values: Option<&[Vec<f64>]>, arrays: &mut Arrays) {
        let (point, normal) = (Vec3::from_array(plane.point) + stage.origin, Vec3::from_array(plane.normal));
        let (mut places, mut numbers) = (Vec::new(), Vec::new());
        let (mut triangles, mut regions, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (body, first)) in stage.cast.bodies().iter().zip(&stage.firsts).enumerate() {
            let positions = mesh_positions(body, &self.frame.u);
            let slice = body.mesh().slice(&positions, point, normal.normalize());
            let first_place = places.len() as u32;
            places.extend(slice.points.iter().map(|own| own.between(|vertex| positions[vertex as usize])));
            if let Some(values) = values {
                let own = &values[number];
                numbers.extend(slice.points.iter().map(|at| at.between(|vertex| own[vertex as usize]) as f32));
            }
            for (corners, element) in &slice.triangles {
                triangles.extend(corners.map(|corner| corner + first_place));
                regions.push(first.region as u32 + body.mesh().element_region()[*element as usize]);
            }
            edges.extend(slice.edges.iter().flatten().map(|corner| corner + first_place));
        }
        arrays.places("slice_positions", places, stage.origin);
        arrays.indices("slice_triangles", triangles);
        arrays.indices("slice_edges", edges);
        arrays.indices("slice_regions", regions);
        if values.is_some() {
            arrays.numbers("slice_values", numbers);
        }
    }
}

/// Where the vertices of the mesh of a body are.
fn mesh_positions(body: &CastBody, u: &[f64]) -> Vec<Vec3> {
    let (u, _) = u.as_chunks::<3>();
    body.mesh().vertices().iter().zip(&u[body.vertices()]).map(|(x, u)| *x + Vec3::from_array(*u)).collect()
}

/// The least and the largest number that is known.
fn range(values: &[Vec<f64>]) -> Option<[f64; 2]> {
    let known = values.iter().flatten().copied().filter(|value| value.is_finite());
    known.fold(None, |range, value| match range {
        None => Some([value; 2]),
        Some([low, high]) => Some([f64::min(low, value), f64::max(high, value)]),
    })
}
