//! Triangles in front of the camera, ready to be drawn.

use glam::Vec3A;

use super::raster::SAMPLES;
use super::{Body, Scene};
use crate::view::Camera;
use crate::{Color, Vec3};

/// Crease angle between the faces at a vertex \[deg\].
const CREASE: f32 = 40.0;
/// Maximum number of faces at a vertex for crease detection. Beyond it all faces are smooth, so that a fan of very many
/// triangles takes linear time.
const MAX_FACES: usize = 64;
/// Maximum distance in units of the camera's distance. Geometry beyond it is skipped because of the limited single
/// precision.
const FARTHEST: f64 = 1e6;
/// Width of lines \[px\].
const LINE_WIDTH: f32 = 1.15;
/// Depth offset of lines towards the camera, relative to their depth.
const LINE_LIFT: f32 = 1.5e-3;

/// Corner of a triangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corner {
    /// Position in the picture, in samples from the left and from the top.
    pub sample: [f32; 2],
    /// Inverse depth.
    pub nearness: f32,
    /// Position in camera coordinates.
    pub position: Vec3A,
    /// Unit normal of the surface.
    pub normal: Vec3A,
    /// Value scaled to 0 to 1 between the ends of the color map: NaN if missing, 0 for a body without values.
    pub tone: f32,
}

impl Corner {
    /// Interpolates linearly between two corners.
    fn between(&self, other: &Self, t: f32) -> Self {
        Self {
            position: self.position.lerp(other.position, t),
            normal: self.normal.lerp(other.normal, t),
            tone: self.tone + t * (other.tone - self.tone),
            ..*self
        }
    }

    /// Returns the corner with its position in the picture filled in.
    fn projected(mut self, camera: &Camera) -> Self {
        let pixel = camera.pixel(self.position.as_dvec3());
        self.sample = pixel.map(|coordinate| (coordinate * SAMPLES as f64) as f32);
        self.nearness = 1.0 / self.position.z;
        self
    }
}

/// Triangle with its paint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangle {
    pub corners: [u32; 3],
    /// Index of the paint.
    pub paint: u32,
}

/// Source of a triangle's color; colors are linear RGB.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paint {
    /// Uniform color, lit.
    Plain(glam::Vec3),
    /// Color map of the tone, lit.
    Mapped,
    /// Uniform color, unlit and without shadow.
    Line(glam::Vec3),
}

/// All triangles of a scene in front of the camera.
#[derive(Debug, Default)]
pub(crate) struct Surfaces {
    pub corners: Vec<Corner>,
    pub triangles: Vec<Triangle>,
    pub paints: Vec<Paint>,
}

impl Surfaces {
    /// Collects all bodies and balls of a scene; `range` has the values at the ends of the color map.
    pub fn new(scene: &Scene, camera: &Camera, range: Option<[f64; 2]>) -> Self {
        let mut surfaces = Self::default();
        for body in &scene.bodies {
            surfaces.add_body(body, camera, range);
        }
        let (positions, triangles) = unit_ball();
        for ball in scene.balls.iter().filter(|ball| ball.center.is_finite() && ball.radius.is_finite()) {
            let positions: Vec<Vec3> = positions.iter().map(|&point| ball.center + ball.radius * point).collect();
            let body = Body { color: ball.color, ..Body::new(&positions, &triangles) };
            surfaces.add_body(&body, camera, None);
        }
        surfaces
    }

    /// Returns the three corners of a triangle.
    pub fn corners_of(&self, triangle: &Triangle) -> [&Corner; 3] {
        triangle.corners.map(|corner| &self.corners[corner as usize])
    }

    /// Returns the triangles that cast shadows.
    pub fn solid(&self) -> impl Iterator<Item = [&Corner; 3]> {
        let casts = |triangle: &&Triangle| !matches!(self.paints[triangle.paint as usize], Paint::Line(_));
        self.triangles.iter().filter(casts).map(|triangle| self.corners_of(triangle))
    }

    fn add_body(&mut self, body: &Body, camera: &Camera, range: Option<[f64; 2]>) {
        let seen: Vec<Option<Vec3A>> = body
            .positions
            .iter()
            .map(|&position| {
                let seen = camera.seen(position);
                (seen.abs().max_element() < FARTHEST && !seen.is_nan()).then(|| seen.as_vec3a())
            })
            .collect();
        let position = |vertex: u32| seen.get(vertex as usize).copied().flatten();
        let mapped = body.values.zip(range);
        let tone = |vertex: u32| mapped.map_or(0.0, |(values, range)| tone(values, vertex, range));
        let paint = if mapped.is_some() { Paint::Mapped } else { Paint::Plain(body.color.linear()) };
        let paint = self.paint(paint);

        let faces: Vec<Face> = body.triangles.iter().filter_map(|&vertices| Face::new(vertices, position)).collect();
        let around = FacesOfVertices::new(&faces, seen.len());
        for (number, face) in faces.iter().enumerate() {
            let corners = [0, 1, 2].map(|i| Corner {
                sample: [0.0; 2],
                nearness: 0.0,
                position: face.positions[i],
                normal: around.normal(&faces, number, face.vertices[i]),
                tone: tone(face.vertices[i]),
            });
            self.add_clipped(corners, paint, camera);
        }
        if !body.edges.is_empty() {
            let paint = self.paint(Paint::Line(line_color(body, mapped.is_some())));
            for edge in body.edges {
                if let [Some(a), Some(b)] = edge.map(position) {
                    self.add_line([a, b], paint, camera);
                }
            }
        }
    }

    fn paint(&mut self, paint: Paint) -> u32 {
        self.paints.push(paint);
        self.paints.len() as u32 - 1
    }

    /// Clips a triangle to the region in front of the camera and adds it.
    fn add_clipped(&mut self, corners: [Corner; 3], paint: u32, camera: &Camera) {
        let near = Camera::NEAR as f32;
        let before = corners.map(|corner| corner.position.z >= near);
        let first = self.corners.len() as u32;
        for i in 0..3 {
            let (a, b) = (&corners[i], &corners[(i + 1) % 3]);
            if before[i] {
                self.corners.push(a.projected(camera));
            }
            if before[i] != before[(i + 1) % 3] {
                let t = (near - a.position.z) / (b.position.z - a.position.z);
                let mut cut = a.between(b, t);
                cut.position.z = near;
                self.corners.push(cut.projected(camera));
            }
        }
        let end = self.corners.len() as u32;
        for last in first + 2..end {
            self.triangles.push(Triangle { corners: [first, last - 1, last], paint });
        }
    }

    /// Adds a line as two triangles that face the camera.
    fn add_line(&mut self, mut ends: [Vec3A; 2], paint: u32, camera: &Camera) {
        let near = Camera::NEAR as f32;
        if ends[0].z > ends[1].z {
            ends.swap(0, 1);
        }
        let [a, b] = ends;
        if b.z <= near {
            return;
        }
        let a = if a.z < near { a.lerp(b, (near - a.z) / (b.z - a.z)) } else { a };
        let blank = |position| Corner { sample: [0.0; 2], nearness: 0.0, position, normal: Vec3A::Z, tone: f32::NAN };
        let ends =
            [a, b].map(|position| blank(Vec3A::new(position.x, position.y, position.z.max(near))).projected(camera));
        let along = glam::Vec2::from(ends[1].sample) - glam::Vec2::from(ends[0].sample);
        let across = along.perp().normalize_or_zero() * (LINE_WIDTH * SAMPLES as f32 / 2.0);
        let first = self.corners.len() as u32;
        for (end, side) in [(0, across), (0, -across), (1, -across), (1, across)] {
            let mut corner: Corner = ends[end];
            corner.sample = (glam::Vec2::from(corner.sample) + side).to_array();
            corner.nearness *= 1.0 + LINE_LIFT;
            self.corners.push(corner);
        }
        self.triangles.push(Triangle { corners: [first, first + 1, first + 2], paint });
        self.triangles.push(Triangle { corners: [first, first + 2, first + 3], paint });
    }
}

/// Maps the value of a vertex to 0 to 1 between the ends of the color map.
fn tone(values: &[f64], vertex: u32, [low, high]: [f64; 2]) -> f32 {
    let Some(&value) = values.get(vertex as usize) else { return f32::NAN };
    if high <= low {
        return if value.is_nan() { f32::NAN } else { 0.5 };
    }
    // Halved, because the difference of the largest numbers overflows. The clamp is far beyond the ends of the color
    // map.
    (((value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)).clamp(-1e3, 1e3)) as f32
}

/// Returns a color darker than the body.
fn line_color(body: &Body, mapped: bool) -> glam::Vec3 {
    let color = if mapped { Color([70, 74, 82]) } else { body.color };
    0.22 * color.linear()
}

/// Triangle with a positive area.
#[derive(Debug)]
struct Face {
    vertices: [u32; 3],
    positions: [Vec3A; 3],
    /// Unit normal.
    normal: Vec3A,
    area: f32,
}

impl Face {
    fn new(vertices: [u32; 3], position: impl Fn(u32) -> Option<Vec3A>) -> Option<Self> {
        let [Some(a), Some(b), Some(c)] = vertices.map(position) else { return None };
        let area_vector = (b - a).cross(c - a);
        let area = area_vector.length();
        let normal = area_vector.try_normalize()?;
        Some(Self { vertices, positions: [a, b, c], normal, area })
    }
}

/// Faces around each vertex.
#[derive(Debug)]
struct FacesOfVertices {
    /// Start of each vertex's faces in `faces`.
    starts: Vec<u32>,
    faces: Vec<u32>,
    /// Mean normal of all faces at each vertex.
    smooth: Vec<Vec3A>,
}

impl FacesOfVertices {
    fn new(faces: &[Face], vertex_count: usize) -> Self {
        let mut starts = vec![0u32; vertex_count + 1];
        let mut smooth = vec![Vec3A::ZERO; vertex_count];
        for face in faces {
            for vertex in face.vertices {
                starts[vertex as usize + 1] += 1;
                smooth[vertex as usize] += face.area * face.normal;
            }
        }
        for vertex in 0..vertex_count {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next = starts.clone();
        let mut list = vec![0; 3 * faces.len()];
        for (number, face) in faces.iter().enumerate() {
            for vertex in face.vertices {
                list[next[vertex as usize] as usize] = number as u32;
                next[vertex as usize] += 1;
            }
        }
        Self { starts, faces: list, smooth }
    }

    /// Returns the normal of a face at one of its vertices: the mean over the faces there that form no crease with it.
    fn normal(&self, faces: &[Face], number: usize, vertex: u32) -> Vec3A {
        let own = faces[number].normal;
        let range = self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize;
        let sum = if range.len() > MAX_FACES {
            self.smooth[vertex as usize]
        } else {
            let smooth = CREASE.to_radians().cos();
            let around = self.faces[range].iter().map(|&face| &faces[face as usize]);
            around.filter(|face| face.normal.dot(own) > smooth).map(|face| face.area * face.normal).sum()
        };
        sum.normalize_or(own)
    }
}

/// Returns a unit sphere at the origin, fine enough to look round.
fn unit_ball() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    const RINGS: u32 = 40;
    const MERIDIANS: u32 = 80;
    let point = |ring: u32, meridian: u32| {
        let (sin, cos) = (f64::from(ring) / f64::from(RINGS) * std::f64::consts::PI).sin_cos();
        let (y, x) = (f64::from(meridian) / f64::from(MERIDIANS) * std::f64::consts::TAU).sin_cos();
        Vec3::new(sin * x, sin * y, cos)
    };
    let positions = (0..=RINGS).flat_map(|ring| (0..MERIDIANS).map(move |meridian| point(ring, meridian))).collect();
    let triangles = (0..RINGS)
        .flat_map(|ring| {
            (0..MERIDIANS).flat_map(move |meridian| {
                let next = (meridian + 1) % MERIDIANS;
                let [a, b] = [ring * MERIDIANS + meridian, ring * MERIDIANS + next];
                let [c, d] = [a + MERIDIANS, b + MERIDIANS];
                [[a, c, d], [a, d, b]]
            })
        })
        .collect();
    (positions, triangles)
}
