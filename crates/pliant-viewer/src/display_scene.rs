//! Scene geometry of the viewer: the surfaces of all bodies as one mesh.

use axum::body::Bytes;
use pliant::force::ObstacleGeometry;
use pliant::material::AnyLaw;
use pliant::math::Vec3;
use pliant::model::Model;
use pliant_scene::output::{BodyGeometry, COLOR_FIELDS, SceneGeometry, body_color};
use pliant_scene::scene::Up;
use serde::Serialize;

use crate::changes;
use crate::framing::Bounds;
use crate::protocol::{Arrays, Choice, message};

/// Bodies, with the offsets of their surfaces in the combined arrays.
#[derive(Debug)]
pub struct DisplayScene {
    pub geometry: SceneGeometry,
    /// Origin of the positions in messages: single precision suffices there, however far from zero the bodies are.
    pub origin: Vec3,
    /// Diagonal of the bounding box of all bodies \[m\].
    pub size: f64,
    /// Volume of all bodies at rest \[m³\].
    pub rest_volume: f64,
    pub firsts: Vec<First>,
}

/// Offsets of a body in the combined arrays.
#[derive(Debug, Clone, Copy)]
pub struct First {
    pub vertex: usize,
    pub triangle: usize,
    pub region: usize,
}

/// Point on the surface of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    pub body: usize,
    /// Vertices of the triangle on the surface of the body.
    pub corners: [usize; 3],
    pub weights: [f64; 3],
}

/// Data of the `display` message besides the bodies.
#[derive(Debug, Serialize)]
pub struct SceneInfo {
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

/// Header of the first message of a connection.
#[derive(Serialize)]
struct Header<'a> {
    #[serde(flatten)]
    info: &'a SceneInfo,
    version: &'static str,
    origin: [f64; 3],
    size: f64,
    view: Option<[[f64; 3]; 2]>,
    vertices: usize,
    elements: usize,
    element_kind: String,
    bodies: Vec<BodyHeader<'a>>,
    regions: Vec<RegionHeader<'a>>,
    laws: Vec<Choice>,
    inversions: Vec<Choice>,
    integrators: Vec<Choice>,
    solvers: Vec<Choice>,
    colors: Vec<ColorHeader>,
}

/// Body in the header, with its ranges in the arrays.
#[derive(Serialize)]
struct BodyHeader<'a> {
    name: &'a str,
    has_visual: bool,
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

/// Region in the header.
#[derive(Serialize)]
struct RegionHeader<'a> {
    body: usize,
    name: &'a str,
    color: String,
}

/// Color field in the header.
#[derive(Serialize)]
struct ColorHeader {
    name: &'static str,
    label: &'static str,
    unit: &'static str,
}

impl DisplayScene {
    pub fn new(geometry: SceneGeometry) -> Self {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let mut next = First { vertex: 0, triangle: 0, region: 0 };
        let mut firsts = Vec::new();
        for body in geometry.bodies() {
            let [own_low, own_high] = body.surface().bounding_box();
            (low, high) = (low.min(own_low), high.max(own_high));
            firsts.push(next);
            next = First {
                vertex: next.vertex + body.surface().vertices().len(),
                triangle: next.triangle + body.surface().triangles().count(),
                region: next.region + body.mesh().regions().len(),
            };
        }
        let rest_volume = geometry.bodies().iter().map(|body| body.mesh().volume()).sum();
        Self { origin: 0.5 * (low + high), size: (high - low).length(), rest_volume, firsts, geometry }
    }

    /// Returns obstacles as pages show them.
    pub fn obstacle_views(&self, obstacles: &[ObstacleGeometry]) -> Vec<ObstacleView> {
        obstacles.iter().map(|shape| ObstacleView::new(shape, self.origin)).collect()
    }

    /// Returns the point with barycentric `weights` in a triangle of the combined surfaces. The weights are checked and
    /// normalized.
    pub fn surface_point(&self, triangle: u32, weights: [f64; 3]) -> Result<SurfacePoint, String> {
        let triangle = triangle as usize;
        let body = self.firsts.partition_point(|first| first.triangle <= triangle).wrapping_sub(1);
        let found = self
            .geometry
            .bodies()
            .get(body)
            .and_then(|own| own.surface().triangles().nth(triangle - self.firsts[body].triangle));
        let corners = found.ok_or_else(|| format!("triangle {triangle} does not exist"))?.map(|vertex| vertex as usize);
        let sum: f64 = weights.iter().map(|weight| weight.clamp(0.0, 1.0)).sum();
        if !(sum > 1e-3) {
            return Err(format!("weights in the triangle: expected numbers that sum to 1, found {weights:?}"));
        }
        Ok(SurfacePoint { body, corners, weights: weights.map(|weight| weight.clamp(0.0, 1.0) / sum) })
    }

    /// Returns the vertices of the element that moves a point, with weights. On a detailed surface, the nearest surface
    /// vertex is used.
    pub fn anchor(&self, surface_point: &SurfacePoint) -> Vec<(u32, f64)> {
        let body = &self.geometry.bodies()[surface_point.body];
        if body.has_visual() {
            let largest =
                (0..3).max_by(|&a, &b| surface_point.weights[a].total_cmp(&surface_point.weights[b])).unwrap_or(0);
            return body.tie(surface_point.corners[largest]);
        }
        let tie = |(corner, weight): (&usize, &f64)| (body.tie(*corner)[0].0, *weight);
        surface_point.corners.iter().zip(&surface_point.weights).map(tie).filter(|(_, weight)| *weight > 0.0).collect()
    }

    /// Returns the first message of a connection.
    pub fn message(&self, info: &SceneInfo, model: &Model) -> Bytes {
        let (mut triangles, mut triangle_regions, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bodies, mut regions, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        let mut colors = self.geometry.region_colors().into_iter();
        for (number, (body, first)) in self.geometry.bodies().iter().zip(&self.firsts).enumerate() {
            let own_edges = body.edges();
            let names: Vec<&str> = body.mesh().regions().iter().map(|region| region.name.as_str()).collect();
            bodies.push(BodyHeader {
                name: body.name(),
                has_visual: body.has_visual(),
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
            regions.extend(named.map(|(name, color)| RegionHeader { body: number, name, color: hex(color) }));
            triangles.extend(body.surface().triangles().flatten().map(|vertex| vertex + first.vertex as u32));
            triangle_regions.extend(body.triangle_regions().iter().map(|region| region + first.region as u32));
            edges.extend(own_edges.into_iter().flatten().map(|vertex| vertex + first.vertex as u32));
            let kind = body.mesh().kind();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let laws = AnyLaw::ALL.iter().map(|law| Choice::new(law.name, law.about)).collect();
        let header = Header {
            info,
            version: env!("CARGO_PKG_VERSION"),
            origin: self.origin.to_array(),
            size: self.size,
            view: info.view.map(|Bounds { low, high }| [low, high].map(|corner| (corner - self.origin).to_array())),
            vertices: self.geometry.vertex_count(),
            elements: self.geometry.element_count(),
            element_kind: kinds.iter().map(|kind| kind.plural()).collect::<Vec<_>>().join(" and "),
            bodies,
            regions,
            laws,
            inversions: changes::inversions(),
            integrators: changes::integrators(info.reduced.is_some()),
            solvers: changes::solvers(info.reduced.is_some()),
            colors: COLOR_FIELDS
                .iter()
                .map(|shown| ColorHeader { name: shown.name, label: shown.label, unit: shown.unit })
                .collect(),
        };
        let mut arrays = Arrays::default();
        let rest = self.geometry.bodies().iter().flat_map(|body| body.surface().vertices().iter().copied());
        arrays.places("rest", rest, self.origin);
        arrays.indices("triangles", triangles);
        arrays.indices("triangle_regions", triangle_regions);
        arrays.indices("edges", edges);
        message("display", &header, &arrays)
    }
}

/// Formats an sRGB color as `#rrggbb`.
fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Returns true if no vertex of a body is fixed.
pub fn is_free(model: &Model, body: &BodyGeometry) -> bool {
    let vertices = body.vertices();
    !model.fixed().iter().any(|fixed| fixed.vertices.iter().any(|&vertex| vertices.contains(&(vertex as usize))))
}

/// Obstacle as the page shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ObstacleView {
    Plane { point: [f64; 3], normal: [f64; 3] },
    Ball { center: [f64; 3], radius: f64, hollow: bool },
    Surface { vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]> },
}

impl ObstacleView {
    /// Returns the obstacle relative to the origin of the page.
    pub fn new(geometry: &ObstacleGeometry, origin: Vec3) -> Self {
        let local = |x: Vec3| (x - origin).to_array();
        match geometry {
            ObstacleGeometry::Plane { point, normal } => {
                Self::Plane { point: local(*point), normal: normal.to_array() }
            }
            ObstacleGeometry::Ball { center, radius, is_hollow } => {
                Self::Ball { center: local(*center), radius: *radius, hollow: *is_hollow }
            }
            ObstacleGeometry::Surface(surface) => Self::Surface {
                vertices: surface.vertices().iter().copied().map(local).collect(),
                triangles: surface.triangles().collect(),
            },
        }
    }
}
