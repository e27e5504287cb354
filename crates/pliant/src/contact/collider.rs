//! Colliders: rigid or moving surfaces that bodies collide with, whose motion is prescribed.

use std::sync::Arc;

use thiserror::Error;

use super::Friction;
use crate::math::{Mat3, Vec3};
use crate::motion::{Motion, NotFinite};

/// Surface that bodies collide with, whose motion is prescribed. Colliders do not collide with each other.
#[derive(Debug, Clone)]
pub struct Collider {
    /// Name, for messages and for coefficients of friction.
    pub name: String,
    /// Shape without motion.
    pub shape: ColliderShape,
    /// Motion.
    pub motion: ColliderMotion,
    /// Friction with all bodies; by default that of the contact.
    pub friction: Option<Friction>,
}

impl Collider {
    /// Creates a collider at rest.
    pub fn new(name: impl Into<String>, shape: ColliderShape) -> Self {
        Self { name: name.into(), shape, motion: ColliderMotion::default(), friction: None }
    }

    /// Sets the motion.
    #[must_use]
    pub fn moving(self, motion: impl Into<ColliderMotion>) -> Self {
        Self { motion: motion.into(), ..self }
    }

    /// Sets the friction with all bodies.
    #[must_use]
    pub fn with_friction(self, friction: Friction) -> Self {
        Self { friction: Some(friction), ..self }
    }
}

/// Shape of a collider.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ColliderShape {
    /// Solid half-space behind the plane through `point`.
    HalfSpace {
        /// Point on the plane \[m\].
        point: Vec3,
        /// Vector that points out of the solid.
        normal: Vec3,
    },
    /// Solid ball.
    Ball {
        /// Center \[m\].
        center: Vec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// Everything outside of a ball, which encloses the bodies.
    HollowBall {
        /// Center \[m\].
        center: Vec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// Points within a distance of a line segment.
    Capsule {
        /// Ends of the segment \[m\].
        ends: [Vec3; 2],
        /// Distance \[m\].
        radius: f64,
    },
    /// Box.
    Box {
        /// Center \[m\].
        center: Vec3,
        /// Lengths of the edges \[m\].
        size: Vec3,
        /// Unit vectors along the edges.
        axes: Mat3,
    },
    /// Triangles and edges, which need not enclose anything. Bodies collide with both sides of them.
    Surface {
        /// Positions of the vertices \[m\].
        vertices: Vec<Vec3>,
        /// Triangles of the vertices.
        triangles: Vec<[u32; 3]>,
        /// Edges of the vertices that belong to no triangle.
        edges: Vec<[u32; 2]>,
    },
}

/// Invalid shape of a collider.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum ColliderError {
    #[error("`{name}`: the {what} is {value}, expected a finite number greater than zero")]
    NotPositive { name: String, what: &'static str, value: f64 },
    #[error("`{name}`: the {what} is {value}, expected finite numbers")]
    NotFinite { name: String, what: &'static str, value: Vec3 },
    #[error("`{name}`: {points} moving points for {vertices} vertices, expected one for each")]
    Points { name: String, points: usize, vertices: usize },
    #[error("`{name}`: the surface has no triangle and no edge")]
    Empty { name: String },
}

/// Vertices, triangles and edges of a collider, with a radius around them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColliderMesh {
    pub vertices: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub edges: Vec<[u32; 2]>,
    pub radius: f64,
}

/// Triangles of a box with the vertices `4i + 2j + k`, `i, j, k ∈ {0, 1}`, seen from outside.
const BOX_TRIANGLES: [[u32; 3]; 12] = [
    [0, 1, 3],
    [0, 3, 2],
    [4, 6, 7],
    [4, 7, 5],
    [0, 4, 5],
    [0, 5, 1],
    [2, 3, 7],
    [2, 7, 6],
    [0, 2, 6],
    [0, 6, 4],
    [1, 5, 7],
    [1, 7, 3],
];

impl ColliderShape {
    /// Returns the center, or a point of the plane \[m\].
    pub fn origin(&self) -> Vec3 {
        match self {
            Self::HalfSpace { point, .. } => *point,
            Self::Ball { center, .. } | Self::HollowBall { center, .. } | Self::Box { center, .. } => *center,
            Self::Capsule { ends: [start, end], .. } => 0.5 * (*start + *end),
            Self::Surface { vertices, .. } => {
                let low = vertices.iter().copied().fold(Vec3::INFINITY, Vec3::min);
                let high = vertices.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
                if vertices.is_empty() { Vec3::ZERO } else { 0.5 * (low + high) }
            }
        }
    }

    /// Returns an error with the name of the collider if a number is not valid.
    pub(crate) fn check(&self, name: &str) -> Result<(), ColliderError> {
        let name = || name.to_owned();
        let finite = |what: &'static str, value: Vec3| {
            if value.is_finite() { Ok(()) } else { Err(ColliderError::NotFinite { name: name(), what, value }) }
        };
        let positive = |what: &'static str, value: f64| {
            let is_valid = value > 0.0 && value.is_finite();
            if is_valid { Ok(()) } else { Err(ColliderError::NotPositive { name: name(), what, value }) }
        };
        match self {
            Self::HalfSpace { point, normal } => {
                finite("point", *point)?;
                finite("normal", *normal)?;
                positive("length of the normal", normal.length())
            }
            Self::Ball { center, radius } | Self::HollowBall { center, radius } => {
                finite("center", *center)?;
                positive("radius", *radius)
            }
            Self::Capsule { ends, radius } => {
                ends.iter().try_for_each(|end| finite("end", *end))?;
                positive("radius", *radius)
            }
            Self::Box { center, size, .. } => {
                finite("center", *center)?;
                size.to_array().iter().try_for_each(|&size| positive("size", size))
            }
            Self::Surface { vertices, triangles, edges } => {
                vertices.iter().try_for_each(|x| finite("position of a vertex", *x))?;
                if triangles.is_empty() && edges.is_empty() {
                    return Err(ColliderError::Empty { name: name() });
                }
                Ok(())
            }
        }
    }

    /// Returns the triangles and edges of the shape with the radius around them, or `None` if it has none.
    pub(crate) fn mesh(&self) -> Option<ColliderMesh> {
        Some(match self {
            Self::HalfSpace { .. } | Self::HollowBall { .. } => return None,
            Self::Ball { center, radius } => {
                ColliderMesh { vertices: vec![*center], radius: *radius, ..ColliderMesh::default() }
            }
            Self::Capsule { ends, radius } => ColliderMesh {
                vertices: ends.to_vec(),
                edges: vec![[0, 1]],
                radius: *radius,
                ..ColliderMesh::default()
            },
            Self::Box { center, size, axes } => {
                let corner = |number: u32| {
                    let side = |bit: u32| f64::from(number >> bit & 1) - 0.5;
                    *center + *axes * (*size * Vec3::new(side(2), side(1), side(0)))
                };
                ColliderMesh {
                    vertices: (0..8).map(corner).collect(),
                    triangles: BOX_TRIANGLES.to_vec(),
                    ..ColliderMesh::default()
                }
            }
            Self::Surface { vertices, triangles, edges } => ColliderMesh {
                vertices: vertices.clone(),
                triangles: triangles.clone(),
                edges: edges.clone(),
                radius: 0.0,
            },
        })
    }
}

/// Prescribed motion of a collider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ColliderMotion {
    /// Motion of all points as a function of time.
    Points(Motion),
    /// Positions of all vertices at given times.
    Sequence(Arc<PointSequence>),
}

impl Default for ColliderMotion {
    fn default() -> Self {
        Self::Points(Motion::Still)
    }
}

impl From<Motion> for ColliderMotion {
    fn from(motion: Motion) -> Self {
        Self::Points(motion)
    }
}

impl From<PointSequence> for ColliderMotion {
    fn from(sequence: PointSequence) -> Self {
        Self::Sequence(Arc::new(sequence))
    }
}

impl ColliderMotion {
    /// Returns true unless the collider stands still.
    pub(crate) fn is_moving(&self) -> bool {
        !matches!(self, Self::Points(Motion::Still))
    }

    /// Returns the number of points, if it is given.
    pub(crate) fn point_count(&self) -> Option<usize> {
        match self {
            Self::Points(_) => None,
            Self::Sequence(sequence) => Some(sequence.frames[0].len()),
        }
    }

    /// Computes the positions of points at a time \[s\].
    pub(crate) fn place(&self, time: f64, rest: &[Vec3], out: &mut [Vec3]) {
        match self {
            Self::Points(Motion::Still) => out.copy_from_slice(rest),
            Self::Points(motion) => {
                out.iter_mut().zip(rest).for_each(|(out, &rest)| *out = rest + motion.displacement(time, rest));
            }
            Self::Sequence(sequence) => sequence.place(time, out),
        }
    }

    /// Returns an error with the name of the collider if a position at a time \[s\] is not finite.
    pub(crate) fn check(&self, name: &str, time: f64, rest: &[Vec3]) -> Result<(), NotFinite> {
        match self {
            Self::Points(motion) => rest.iter().try_for_each(|&rest| {
                NotFinite::check(motion.displacement(time, rest), time, || format!("the motion of `{name}`"))
            }),
            // Frames are checked when the sequence is created.
            Self::Sequence(_) => Ok(()),
        }
    }
}

/// Positions of points at given times, with linear interpolation between them; at rest before the first and after the
/// last.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSequence {
    times: Vec<f64>,
    frames: Vec<Vec<Vec3>>,
}

/// Error for an invalid sequence of positions.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum PointSequenceError {
    #[error("{times} times for {frames} frames, expected at least one frame, and one time for each")]
    Count { times: usize, frames: usize },
    #[error("frame {frame} is at {time} s, expected a time after that of the frame before it")]
    Order { frame: usize, time: f64 },
    #[error("frame {frame} has {found} points, expected {expected} as in the first one")]
    Points { frame: usize, found: usize, expected: usize },
    #[error("point {point} of frame {frame} is not finite")]
    NotFinite { frame: usize, point: usize },
}

impl PointSequence {
    /// Creates a sequence from times \[s\] and the positions of all points at each of them \[m\].
    pub fn new(times: Vec<f64>, frames: Vec<Vec<Vec3>>) -> Result<Self, PointSequenceError> {
        if times.is_empty() || times.len() != frames.len() {
            return Err(PointSequenceError::Count { times: times.len(), frames: frames.len() });
        }
        let mut last = f64::NEG_INFINITY;
        for (frame, (&time, points)) in times.iter().zip(&frames).enumerate() {
            if !(time > last && time.is_finite()) {
                return Err(PointSequenceError::Order { frame, time });
            }
            last = time;
            if points.len() != frames[0].len() {
                return Err(PointSequenceError::Points { frame, found: points.len(), expected: frames[0].len() });
            }
            if let Some(point) = points.iter().position(|x| !x.is_finite()) {
                return Err(PointSequenceError::NotFinite { frame, point });
            }
        }
        Ok(Self { times, frames })
    }

    /// Returns the positions in the first frame.
    pub fn first(&self) -> &[Vec3] {
        &self.frames[0]
    }

    fn place(&self, time: f64, out: &mut [Vec3]) {
        let after = self.times.partition_point(|&t| t <= time);
        let before = after.saturating_sub(1);
        let after = after.min(self.times.len() - 1);
        let span = self.times[after] - self.times[before];
        let part = if span > 0.0 { (time - self.times[before]) / span } else { 0.0 };
        for ((out, a), b) in out.iter_mut().zip(&self.frames[before]).zip(&self.frames[after]) {
            *out = a.lerp(*b, part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_have_outward_triangles_that_enclose_their_volume() {
        let axes = Mat3::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
        let shape = ColliderShape::Box { center: Vec3::new(1.0, 2.0, 3.0), size: Vec3::new(0.1, 0.2, 0.5), axes };
        let mesh = shape.mesh().unwrap();
        let volume: f64 = mesh
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| mesh.vertices[v as usize] - Vec3::new(1.0, 2.0, 3.0));
                a.dot(b.cross(c)) / 6.0
            })
            .sum();
        assert!((volume - 0.01).abs() < 1e-12, "{volume}");
    }

    #[test]
    fn sequences_are_linear_between_frames_and_at_rest_outside() {
        let frame = |x: f64| vec![Vec3::new(x, 0.0, 0.0), Vec3::new(x, 1.0, 0.0)];
        let sequence = PointSequence::new(vec![1.0, 2.0, 4.0], vec![frame(0.0), frame(1.0), frame(5.0)]).unwrap();
        let motion = ColliderMotion::from(sequence);
        for (time, x) in [(0.0, 0.0), (1.0, 0.0), (1.5, 0.5), (2.0, 1.0), (3.0, 3.0), (4.0, 5.0), (9.0, 5.0)] {
            let mut out = [Vec3::ZERO; 2];
            motion.place(time, &[Vec3::ZERO; 2], &mut out);
            assert_eq!(out.to_vec(), frame(x), "{time}");
        }
        let error = PointSequence::new(vec![0.0, 0.0], vec![frame(0.0), frame(1.0)]).unwrap_err();
        assert_eq!(error, PointSequenceError::Order { frame: 1, time: 0.0 });
        let error = PointSequence::new(vec![0.0, 1.0], vec![frame(0.0), vec![Vec3::ZERO]]).unwrap_err();
        assert_eq!(error, PointSequenceError::Points { frame: 1, found: 1, expected: 2 });
        let lost = vec![Vec3::ZERO, Vec3::new(0.0, f64::NAN, 0.0)];
        let error = PointSequence::new(vec![0.0, 1.0], vec![frame(0.0), lost]).unwrap_err();
        assert_eq!(error, PointSequenceError::NotFinite { frame: 1, point: 1 });
    }
}
