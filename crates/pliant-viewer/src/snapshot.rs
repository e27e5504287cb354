//! Snapshot of a session, and the frame that a page sees of it.

use std::sync::Arc;

use axum::body::Bytes;
use pliant::math::Vec3;
use pliant::model::Observation;
use pliant_scene::output::{BodyGeometry, COLOR_FIELDS, ColorField, Frame};
use serde::Serialize;

use crate::display_scene::{DisplayScene, ObstacleView};
use crate::pace::Stats;
use crate::protocol::{Arrays, Plane, message};
use crate::session::ViewerId;

/// Snapshot with all data that pages may request. It is a copy, so that the simulation can continue.
#[derive(Debug)]
pub struct Snapshot {
    pub status: Status,
    pub frame: Frame,
    pub pulls: Vec<PullView>,
    pub balls: Vec<BallView>,
    /// Vertices that the scene fixes.
    pub fixed: Arc<[u32]>,
    /// Vertices pinned by users.
    pub pinned: Arc<[u32]>,
    /// Number of the last processed input of each page.
    pub inputs: Vec<(ViewerId, u64)>,
}

/// Data that is equal for all pages.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Status {
    pub time: f64,
    pub step: u64,
    pub playing: bool,
    pub speed: Option<f64>,
    pub span: [f64; 2],
    pub stats: Option<Stats>,
    pub energies: Option<Energies>,
    pub volume: f64,
    pub rest_volume: f64,
    pub obstacles: Vec<ObstacleView>,
    pub failure: Option<Failure>,
    pub viewers: usize,
}

/// Energies \[J\].
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

/// Reason why the simulation does not continue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// Number of the failure, so that pages can distinguish failures with equal messages.
    pub number: u64,
    pub message: String,
    /// True if the step succeeded, but energy increased without external work.
    pub is_gain: bool,
    /// Length of the step that failed \[s\].
    pub step: f64,
    /// Changes with which the simulation continues.
    pub choices: Vec<Choice>,
    /// True while more choices are being tried.
    pub is_trying: bool,
}

/// Button: its label, and the command that it sends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    pub label: String,
    pub command: serde_json::Value,
}

/// Pull of a user.
#[derive(Debug, Clone)]
pub struct PullView {
    pub viewer: ViewerId,
    pub point: Vec3,
    pub target: Vec3,
    pub force: Vec3,
}

/// Ball of a user.
#[derive(Debug, Clone)]
pub struct BallView {
    pub viewer: ViewerId,
    pub center: Vec3,
    pub radius: f64,
}

/// Colors and slice that a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct View {
    pub color: Option<&'static ColorField>,
    pub slice: Option<Plane>,
}

impl View {
    pub fn new(color: &str, slice: Option<Plane>) -> Result<Self, String> {
        let shown = ColorField::named(color);
        if shown.is_none() && color != "none" {
            let known = COLOR_FIELDS.iter().map(|shown| shown.name).collect::<Vec<_>>().join(", ");
            return Err(format!("color: unknown name `{color}`, expected one of none, {known}"));
        }
        if slice.is_some_and(|plane| Vec3::from_array(plane.normal).try_normalize().is_none()) {
            return Err("normal of the slice: expected a nonzero vector".into());
        }
        Ok(Self { color: shown, slice })
    }

    /// Returns true if the view needs element fields.
    pub fn needs_fields(&self) -> bool {
        self.color.is_some_and(ColorField::needs_fields)
    }
}

impl Snapshot {
    /// Returns the frame for a page.
    pub fn message(&self, display: &DisplayScene, view: &View, viewer: ViewerId, number: u64) -> Bytes {
        #[derive(Serialize)]
        struct Header<'a> {
            number: u64,
            input: u64,
            #[serde(flatten)]
            status: &'a Status,
            pulls: Vec<Pulled>,
            balls: Vec<Ball>,
            color: Option<&'static str>,
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
            center: [f64; 3],
            radius: f64,
            mine: bool,
        }
        let origin = display.origin;
        let relative = |place: Vec3| (place - origin).to_array();
        let pulled = |pull: &PullView| Pulled {
            point: relative(pull.point),
            target: relative(pull.target),
            force: pull.force.to_array(),
            mine: pull.viewer == viewer,
        };
        let ball =
            |ball: &BallView| Ball { center: relative(ball.center), radius: ball.radius, mine: ball.viewer == viewer };
        let mut arrays = Arrays::default();
        let bodies = display.geometry.bodies();
        let positions = bodies.iter().flat_map(|body| body.surface_positions(&self.frame.u));
        arrays.places("positions", positions, origin);
        // Values at the mesh vertices of each body.
        let values: Option<Vec<Vec<f64>>> =
            view.color.and_then(|shown| bodies.iter().map(|body| body.vertex_values(shown, &self.frame)).collect());
        if let Some(values) = &values {
            let on_surface = bodies.iter().zip(values).flat_map(|(body, values)| body.surface_values(values));
            arrays.numbers("values", on_surface.map(|value| value as f32));
        }
        arrays.places("fixed", self.places(display, &self.fixed), origin);
        arrays.places("pinned", self.places(display, &self.pinned), origin);
        if let Some(plane) = &view.slice {
            self.add_slice(display, plane, values.as_deref(), &mut arrays);
        }
        let header = Header {
            number,
            input: self.inputs.iter().find(|(own, _)| *own == viewer).map_or(0, |(_, input)| *input),
            status: &self.status,
            pulls: self.pulls.iter().map(pulled).collect(),
            balls: self.balls.iter().map(ball).collect(),
            color: values.as_ref().and(view.color).map(|shown| shown.name),
            range: values.as_deref().and_then(range),
            slice: view.slice,
        };
        message("frame", &header, &arrays)
    }

    /// Returns the current positions of vertices of the model.
    fn places<'a>(&'a self, display: &'a DisplayScene, vertices: &'a [u32]) -> impl Iterator<Item = Vec3> + 'a {
        vertices.iter().map(|&vertex| {
            let vertex = vertex as usize;
            let after = display.geometry.bodies().partition_point(|body| body.vertices().start <= vertex);
            let body = &display.geometry.bodies()[after - 1];
            body.mesh().vertices()[vertex - body.vertices().start] + Vec3::from_slice(&self.frame.u[3 * vertex..])
        })
    }

    fn add_slice(&self, display: &DisplayScene, plane: &Plane, values: Option<&[Vec<f64>]>, arrays: &mut Arrays) {
        let (point, normal) = (Vec3::from_array(plane.point) + display.origin, Vec3::from_array(plane.normal));
        let (mut places, mut numbers) = (Vec::new(), Vec::new());
        let (mut triangles, mut regions, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (body, first)) in display.geometry.bodies().iter().zip(&display.firsts).enumerate() {
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
        arrays.places("slice_positions", places, display.origin);
        arrays.indices("slice_triangles", triangles);
        arrays.indices("slice_edges", edges);
        arrays.indices("slice_regions", regions);
        if values.is_some() {
            arrays.numbers("slice_values", numbers);
        }
    }
}

/// Returns the current positions of the mesh vertices of a body.
fn mesh_positions(body: &BodyGeometry, u: &[f64]) -> Vec<Vec3> {
    let (u, _) = u.as_chunks::<3>();
    body.mesh().vertices().iter().zip(&u[body.vertices()]).map(|(x, u)| *x + Vec3::from_array(*u)).collect()
}

/// Returns the minimum and maximum of the finite values.
fn range(values: &[Vec<f64>]) -> Option<[f64; 2]> {
    let known = values.iter().flatten().copied().filter(|value| value.is_finite());
    known.fold(None, |range, value| match range {
        None => Some([value; 2]),
        Some([low, high]) => Some([f64::min(low, value), f64::max(high, value)]),
    })
}
