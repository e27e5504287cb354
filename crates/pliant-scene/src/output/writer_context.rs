//! State shared by all writers: visual geometry, validation of frames, and deformed surfaces.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Frame, SceneGeometry};
use pliant::files::WriteError;
use pliant::math::Vec3;
use pliant::mesh::VertexNormals;

/// Maximum distance from the origin \[m\]. Beyond it, single-precision numbers and their differences could overflow.
const FARTHEST: f64 = 1e30;

pub(super) struct WriterContext {
    path: PathBuf,
    format: &'static str,
    geometry: Arc<SceneGeometry>,
    /// Vertex normals of each body, computed on first use.
    normals: Vec<VertexNormals>,
    /// Number of the previous frame.
    last: Option<usize>,
}

/// Visual surface of a body in a frame.
pub(super) struct Pose {
    pub positions: Vec<Vec3>,
    /// Unit normals; arbitrary where the surface has none.
    pub normals: Vec<Vec3>,
}

impl WriterContext {
    pub fn new(path: &Path, format: &'static str, geometry: &Arc<SceneGeometry>) -> Result<Self, WriteError> {
        let context = Self { path: path.into(), format, geometry: geometry.clone(), normals: Vec::new(), last: None };
        if path.file_stem().is_none_or(|stem| stem.to_str().is_none()) {
            return Err(context.unsupported("a name that is empty or not Unicode"));
        }
        let near = |point: &Vec3| point.abs().max_element() <= FARTHEST;
        if !geometry
            .bodies()
            .iter()
            .all(|body| body.mesh().vertices().iter().chain(body.surface().vertices()).all(near))
        {
            return Err(context.unsupported("bodies farther than 1e30 m from the origin"));
        }
        Ok(context)
    }

    pub fn geometry(&self) -> &SceneGeometry {
        &self.geometry
    }

    /// Returns the path given by the user.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn format(&self) -> &'static str {
        self.format
    }

    /// Returns a path in the folder of the user's path: its file stem followed by `rest`.
    pub fn beside(&self, rest: &str) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!("{stem}{rest}"))
    }

    pub fn unsupported(&self, what: &'static str) -> WriteError {
        WriteError::Unsupported { path: self.path.clone(), format: self.format, what }
    }

    /// Checks that a frame fits the visual geometry and comes after the previous one.
    pub fn check(&self, frame: &Frame) -> Result<(), WriteError> {
        match self.defect(frame) {
            None => Ok(()),
            Some(what) => Err(self.error(frame, what)),
        }
    }

    pub fn error(&self, frame: &Frame, what: String) -> WriteError {
        WriteError::Frame { path: self.path.clone(), frame: frame.number, what }
    }

    /// Records that a frame has been written.
    pub fn done(&mut self, frame: &Frame) {
        self.last = Some(frame.number);
    }

    fn defect(&self, frame: &Frame) -> Option<String> {
        let (vertices, elements) = (self.geometry.vertex_count(), self.geometry.element_count());
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
        if let Some(found) = frame.contact.as_ref().map(|contact| contact.count(vertices)).filter(|&n| n != vertices) {
            return Some(format!("contact at {found} vertices, expected {vertices}"));
        }
        if !frame.time.is_finite() {
            return Some(format!("its time is {}", frame.time));
        }
        // NaN must fail too.
        let far = |u: &f64| u.is_nan() || u.abs() > FARTHEST;
        if let Some(at) = frame.u.iter().position(far) {
            return Some(format!("vertex {} has no finite position", at / 3));
        }
        if let Some(at) = frame.v.iter().position(|v| !v.is_finite()) {
            return Some(format!("vertex {} has no finite velocity", at / 3));
        }
        let last = self.last.filter(|&last| frame.number <= last)?;
        Some(format!("its number does not exceed that of the previous frame, {last}"))
    }

    /// Computes the positions of the visual surface of a body.
    pub fn positions(&self, body: usize, frame: &Frame) -> Vec<Vec3> {
        self.geometry.bodies()[body].surface_positions(&frame.u)
    }

    /// Computes the positions and normals of the visual surface of a body.
    pub fn pose(&mut self, body: usize, frame: &Frame) -> Pose {
        let positions = self.positions(body, frame);
        if self.normals.is_empty() {
            self.normals = self.geometry.bodies().iter().map(|body| VertexNormals::new(body.surface())).collect();
        }
        let mut normals = vec![Vec3::ZERO; positions.len()];
        self.normals[body].compute(&positions, &mut normals);
        // Programs that read the file may divide by the length.
        normals.iter_mut().filter(|normal| **normal == Vec3::ZERO).for_each(|normal| *normal = Vec3::Z);
        Pose { positions, normals }
    }
}

/// Frame counter of a single-file format.
pub(super) struct Count {
    pub expected: usize,
    pub written: usize,
}

impl Count {
    pub fn new(expected: usize) -> Self {
        Self { expected, written: 0 }
    }

    /// Returns an error if no further frame is expected.
    pub fn check_next(&self, path: &Path) -> Result<(), WriteError> {
        if self.written < self.expected { Ok(()) } else { Err(self.error(path, self.written + 1)) }
    }

    /// Returns an error if frames are missing.
    pub fn check_all(&self, path: &Path) -> Result<(), WriteError> {
        if self.written == self.expected { Ok(()) } else { Err(self.error(path, self.written)) }
    }

    fn error(&self, path: &Path, found: usize) -> WriteError {
        WriteError::FrameCount { path: path.into(), expected: self.expected, found }
    }
}
