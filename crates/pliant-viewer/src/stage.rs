//! What is shown: the surfaces of all bodies, as one.

use axum::body::Bytes;
use pliant::force::Shape;
use pliant::material::AnyLaw;
use pliant::math::Vec3;
use pliant::model::Model;
use pliant::output::{Cast, CastBody, Shown, body_color};
use pliant::scene::Up;
use serde::Serialize;

use crate::changes;
use crate::framing::Bounds;
use crate::protocol::{Arrays, Choice, message};

/// The bodies, and where their surfaces are among those of all.
#[derive(Debug)]
pub struct Stage {
    pub cast: Cast,
    /// What places in messages are relative to: single precision suffices there, however far from the origin the bodies are.
    pub origin: Vec3,
    /// The diagonal of the box around all bodies, in m.
    pub size: f64,
    pub firsts: Vec<First>,
}

/// The first of what is a body's among those of all.
#[derive(Debug, Clone, Copy)]
pub struct First {
    pub vertex: usize,
    pub triangle: usize,
    pub region: usize,
}

/// A point of the surface of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    pub body: usize,
    /// Vertices of its surface.
    pub corners: [usize; 3],
    pub weights: [f64; 3],
}

/// What the page is told beside the bodies.
#[derive(Debug, Serialize)]
pub struct Facts {
    pub title: String,
    pub about: Option<String>,
    pub mode: &'static str,
    #[serde(serialize_with = "up_name")]
    pub up: Up,
    pub reduced: Option<usize>,
    pub pull: Pull,
    pub ball: BallSize,
    pub timeline: Option<Timeline>,
    /// Box that the first view shows, in the coordinates of the scene.
    #[serde(skip)]
    pub view: Option<Bounds>,
}

#[derive(Debug, Serialize)]
pub struct Pull {
    pub stiffness: f64,
}

#[derive(Debug, Serialize)]
pub struct BallSize {
    pub radius: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Timeline {
    pub frames: usize,
    pub interval: f64,
}

fn up_name<S: serde::Serializer>(up: &Up, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match up {
        Up::Y => "y",
        Up::Z => "z",
    })
}

impl Stage {
    pub fn new(cast: Cast) -> Self {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let mut next = First { vertex: 0, triangle: 0, region: 0 };
        let mut firsts = Vec::new();
        for body in cast.bodies() {
            let [own_low, own_high] = body.surface().bounding_box();
            (low, high) = (low.min(own_low), high.max(own_high));
            firsts.push(next);
            next = First {
                vertex: next.vertex + body.surface().vertices().len(),
                triangle: next.triangle + body.surface().triangles().count(),
                region: next.region + body.mesh().regions().len(),
            };
        }
        Self { origin: 0.5 * (low + high), size: (high - low).length(), firsts, cast }
    }

    /// Where a triangle of all surfaces is, with the weights of a point in it made sound.
    pub fn spot(&self, triangle: u32, weights: [f64; 3]) -> Result<Spot, String> {
        let triangle = triangle as usize;
        let body = self.firsts.partition_point(|first| first.triangle <= triangle).wrapping_sub(1);
        let found = self
            .cast
            .bodies()
            .get(body)
            .and_then(|own| own.surface().triangles().nth(triangle - self.firsts[body].triangle));
        let corners = found.ok_or_else(|| format!("there is no triangle {triangle}"))?.map(|vertex| vertex as usize);
        let sum: f64 = weights.iter().map(|weight| weight.clamp(0.0, 1.0)).sum();
        if !(sum > 1e-3) {
            return Err(format!("the weights in the triangle are {weights:?}, expected numbers that add up to 1"));
        }
        Ok(Spot { body, corners, weights: weights.map(|weight| weight.clamp(0.0, 1.0) / sum) })
    }

    /// What moves a spot: vertices of one element, with weights. On a detailed surface it is the nearest of its vertices that is meant.
    pub fn anchor(&self, spot: &Spot) -> Vec<(u32, f64)> {
        let body = &self.cast.bodies()[spot.body];
        if body.is_dressed() {
            let largest = (0..3).max_by(|&a, &b| spot.weights[a].total_cmp(&spot.weights[b])).unwrap_or(0);
            return body.tie(spot.corners[largest]);
        }
        let tie = |(corner, weight): (&usize, &f64)| (body.tie(*corner)[0].0, *weight);
        spot.corners.iter().zip(&spot.weights).map(tie).filter(|(_, weight)| *weight > 0.0).collect()
    }

    /// The message that begins a connection.
    pub fn message(&self, facts: &Facts, model: &Model) -> Bytes {
        #[derive(Serialize)]
        struct Header<'a> {
            #[serde(flatten)]
            facts: &'a Facts,
            version: &'static str,
            origin: [f64; 3],
            size: f64,
            view: Option<[[f64; 3]; 2]>,
            vertices: usize,
            elements: usize,
            element_kind: String,
            bodies: Vec<BodyShown<'a>>,
            regions: Vec<RegionShown<'a>>,
            laws: Vec<Choice>,
            schemes: Vec<Choice>,
            solvers: Vec<Choice>,
            colours: Vec<ColourShown>,
        }
        #[derive(Serialize)]
        struct BodyShown<'a> {
            name: &'a str,
            dressed: bool,
            regions: Vec<&'a str>,
            first_vertex: usize,
            vertices: usize,
            first_triangle: usize,
            triangles: usize,
            first_edge: usize,
            edges: usize,
            free: bool,
            color: String,
        }
        #[derive(Serialize)]
        struct RegionShown<'a> {
            body: usize,
            name: &'a str,
            color: String,
        }
        #[derive(Serialize)]
        struct ColourShown {
            name: &'static str,
            label: &'static str,
            unit: &'static str,
        }
        let (mut triangles, mut triangle_regions, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bodies, mut regions, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        let mut colors = self.cast.region_colors().into_iter();
        for (number, (body, first)) in self.cast.bodies().iter().zip(&self.firsts).enumerate() {
            let own_edges = body.edges();
            let names: Vec<&str> = body.mesh().regions().iter().map(|region| region.name.as_str()).collect();
            bodies.push(BodyShown {
                name: body.name(),
                dressed: body.is_dressed(),
                regions: names.clone(),
                first_vertex: first.vertex,
                vertices: body.surface().vertices().len(),
                first_triangle: first.triangle,
                triangles: body.surface().triangles().count(),
                first_edge: edges.len() / 2,
                edges: own_edges.len(),
                free: is_free(model, body),
                color: hex(body_color(number)),
            });
            let named = names.into_iter().zip(colors.next().unwrap_or_default());
            regions.extend(named.map(|(name, color)| RegionShown { body: number, name, color: hex(color) }));
            triangles.extend(body.surface().triangles().flatten().map(|vertex| vertex + first.vertex as u32));
            triangle_regions.extend(body.triangle_regions().iter().map(|region| region + first.region as u32));
            edges.extend(own_edges.into_iter().flatten().map(|vertex| vertex + first.vertex as u32));
            let kind = body.mesh().kind();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let laws = AnyLaw::ALL.iter().map(|law| Choice { name: law.name.into(), about: law.about.into() }).collect();
        let header = Header {
            facts,
            version: env!("CARGO_PKG_VERSION"),
            origin: self.origin.to_array(),
            size: self.size,
            view: facts.view.map(|Bounds { low, high }| [low, high].map(|corner| (corner - self.origin).to_array())),
            vertices: self.cast.vertex_count(),
            elements: self.cast.element_count(),
            element_kind: kinds.iter().map(|kind| kind.plural()).collect::<Vec<_>>().join(" and "),
            bodies,
            regions,
            laws,
            schemes: changes::schemes(facts.reduced.is_some()),
            solvers: changes::solvers(facts.reduced.is_some()),
            colours: Shown::ALL
                .map(|shown| ColourShown { name: shown.name(), label: shown.label(), unit: shown.unit() })
                .into(),
        };
        let mut arrays = Arrays::default();
        let rest = self.cast.bodies().iter().flat_map(|body| body.surface().vertices().iter().copied());
        arrays.places("rest", rest, self.origin);
        arrays.indices("triangles", triangles);
        arrays.indices("triangle_regions", triangle_regions);
        arrays.indices("edges", edges);
        message("stage", &header, &arrays)
    }
}

/// Formats an sRGB color as `#rrggbb`.
fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Whether nothing holds a body.
pub fn is_free(model: &Model, body: &CastBody) -> bool {
    let vertices = body.vertices();
    !model.holds().iter().any(|hold| hold.vertices.iter().any(|&vertex| vertices.contains(&(vertex as usize))))
}

/// Something that bodies run into, for the page.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ObstacleShown {
    Plane { point: [f64; 3], normal: [f64; 3] },
    Ball { centre: [f64; 3], radius: f64, hollow: bool },
}

impl ObstacleShown {
    pub fn new(shape: &Shape, origin: Vec3) -> Self {
        match *shape {
            Shape::Plane { point, normal } => {
                Self::Plane { point: (point - origin).to_array(), normal: normal.to_array() }
            }
            Shape::Sphere { centre, radius, side } => {
                Self::Ball { centre: (centre - origin).to_array(), radius, hollow: side == pliant::force::Side::Inside }
            }
        }
    }
}
