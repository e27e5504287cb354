//! Surfaces from files.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ObstacleShapeContext, ObstacleShapeOptions};
use crate::scene::SceneError;
use pliant::contact::ColliderShape;
use pliant::force::ObstacleShape;
use pliant::io::{self, read_from};
use pliant::math::Vec3;

/// The surface of a mesh file, closed or open; of a volume mesh, its boundary. Objects collide with both of its sides.
///
/// ```toml
/// [contact]
/// friction = 0.5
///
/// [[obstacle]]
/// shape = { mesh = { file = "bowl.obj", scale = 0.01 } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Name of the file.
    pub file: String,
    /// Factor by which positions are multiplied.
    #[serde(default = "one")]
    pub scale: f64,
    /// Translation after that, in m.
    #[serde(default)]
    pub translate: [f64; 3],
}

fn one() -> f64 {
    1.0
}

impl ObstacleShapeOptions for Mesh {
    fn build(&self, context: ObstacleShapeContext<'_>) -> Result<Arc<dyn ObstacleShape>, SceneError> {
        Err(context.needs_barrier("a mesh"))
    }

    fn collider(&self, context: ObstacleShapeContext<'_>) -> Result<ColliderShape, SceneError> {
        let path = context.source.folder.join(&self.file);
        let read = read_from(context.files, &path).map_err(|error| context.error(error.to_string()))?;
        let surface = match read.mesh {
            io::Mesh::Surface(surface) => surface,
            io::Mesh::Volume(volume) => volume.boundary().surface,
        };
        let place = |x: &Vec3| self.scale * *x + Vec3::from_array(self.translate);
        Ok(ColliderShape::Surface {
            vertices: surface.vertices().iter().map(place).collect(),
            triangles: surface.triangles().collect(),
            edges: Vec::new(),
        })
    }

    fn visit_files(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.file);
    }
}
