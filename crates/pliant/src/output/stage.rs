//! What all writers share: the cast, the check of frames, and the surfaces as they are in a frame.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Cast, Frame};
use crate::io::WriteError;
use crate::math::Vec3;
use crate::mesh::VertexNormals;

/// Farther than this from the origin, in m, nothing is: beyond it numbers in single precision, and differences of them, overflow.
const FARTHEST: f64 = 1e30;

pub(super) struct Stage {
    path: PathBuf,
    format: &'static str,
    cast: Arc<Cast>,
    /// One for each body, made when first asked for.
    normals: Vec<VertexNormals>,
    /// The number of the frame before.
    last: Option<usize>,
}

/// The shown surface of a body in a frame.
pub(super) struct Pose {
    pub positions: Vec<Vec3>,
    /// Of length one, also where the surface has none.
    pub normals: Vec<Vec3>,
}

impl Stage {
    pub fn new(path: &Path, format: &'static str, cast: &Arc<Cast>) -> Result<Self, WriteError> {
        let stage = Self { path: path.into(), format, cast: cast.clone(), normals: Vec::new(), last: None };
        if path.file_stem().is_none_or(|stem| stem.to_str().is_none()) {
            return Err(stage.unsupported("a name that is empty or not Unicode"));
        }
        let near = |point: &Vec3| point.abs().max_element() <= FARTHEST;
        if !cast.bodies().iter().all(|body| body.mesh().vertices().iter().chain(body.surface().vertices()).all(near)) {
            return Err(stage.unsupported("bodies so far from the origin"));
        }
        Ok(stage)
    }

    pub fn cast(&self) -> &Cast {
        &self.cast
    }

    /// What the user named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn format(&self) -> &'static str {
        self.format
    }

    /// A file beside the one that the user named, whose name starts with its name and goes on with `rest`.
    pub fn beside(&self, rest: &str) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!("{stem}{rest}"))
    }

    pub fn unsupported(&self, what: &'static str) -> WriteError {
        WriteError::Unsupported { path: self.path.clone(), format: self.format, what }
    }

    /// See that a frame fits the cast and comes after the last one.
    pub fn check(&self, frame: &Frame) -> Result<(), WriteError> {
        match self.defect(frame) {
            None => Ok(()),
            Some(what) => Err(self.error(frame, what)),
        }
    }

    pub fn error(&self, frame: &Frame, what: String) -> WriteError {
        WriteError::Frame { path: self.path.clone(), frame: frame.number, what }
    }

    /// A frame has been written.
    pub fn done(&mut self, frame: &Frame) {
        self.last = Some(frame.number);
    }

    fn defect(&self, frame: &Frame) -> Option<String> {
        let (vertices, elements) = (self.cast.vertex_count(), self.cast.element_count());
        let reactions = frame.reactions.iter().map(|reactions| ("reactions", reactions));
        for (what, numbers) in [("displacements", &frame.u), ("velocities", &frame.v)].into_iter().chain(reactions) {
            if numbers.len() != 3 * vertices {
                return Some(format!("{} {what}, expected {}", numbers.len(), 3 * vertices));
            }
        }
        if let Some(fields) = &frame.fields {
            let counts = [("elements", &fields.elements, elements), ("vertices", &fields.vertices, vertices)];
            for (what, values, expected) in counts {
                let found = values.count(expected);
                if found != expected {
                    return Some(format!("fields for {found} {what}, expected {expected}"));
                }
            }
        }
        if !frame.time.is_finite() {
            return Some(format!("its time is {}", frame.time));
        }
        // NaN is not below either.
        let far = |u: &f64| u.is_nan() || u.abs() > FARTHEST;
        if let Some(at) = frame.u.iter().position(far) {
            return Some(format!("vertex {} is not at a finite place", at / 3));
        }
        if let Some(at) = frame.v.iter().position(|v| !v.is_finite()) {
            return Some(format!("vertex {} has no finite velocity", at / 3));
        }
        let last = self.last.filter(|&last| frame.number <= last)?;
        Some(format!("it comes after frame {last}, expected larger and larger numbers"))
    }

    /// Where the shown surface of a body is.
    pub fn positions(&self, body: usize, frame: &Frame) -> Vec<Vec3> {
        self.cast.bodies()[body].surface_positions(&frame.u)
    }

    /// The same with normals.
    pub fn pose(&mut self, body: usize, frame: &Frame) -> Pose {
        let positions = self.positions(body, frame);
        if self.normals.is_empty() {
            self.normals = self.cast.bodies().iter().map(|body| VertexNormals::new(body.surface())).collect();
        }
        let mut normals = vec![Vec3::ZERO; positions.len()];
        self.normals[body].compute(&positions, &mut normals);
        // Readers may divide by the length.
        normals.iter_mut().filter(|normal| **normal == Vec3::ZERO).for_each(|normal| *normal = Vec3::Z);
        Pose { positions, normals }
    }
}

/// Counts the frames of a format that has all in one file.
pub(super) struct Count {
    pub expected: usize,
    pub written: usize,
}

impl Count {
    pub fn new(expected: usize) -> Self {
        Self { expected, written: 0 }
    }

    /// Whether one more is expected.
    pub fn check_next(&self, path: &Path) -> Result<(), WriteError> {
        if self.written < self.expected { Ok(()) } else { Err(self.error(path, self.written + 1)) }
    }

    /// Whether all are there.
    pub fn check_all(&self, path: &Path) -> Result<(), WriteError> {
        if self.written == self.expected { Ok(()) } else { Err(self.error(path, self.written)) }
    }

    fn error(&self, path: &Path, found: usize) -> WriteError {
        WriteError::FrameCount { path: path.into(), expected: self.expected, found }
    }
}
