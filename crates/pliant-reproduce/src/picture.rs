//! Pictures of bodies side by side.

use pliant::math::Vec3;
use pliant::mesh::SurfaceMesh;
use pliant::model::Model;
use pliant::system::State;
use pliant_pictures::{Body, Bounds, Color, Framing, Image, Scene, Size, View};

/// Surface of a body at an instant.
#[derive(Debug, Clone)]
pub struct PosedSurface {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
}

impl PosedSurface {
    /// Takes the first body of a model in a state, translated by `offset`.
    pub fn new(model: &Model, state: &State, offset: Vec3) -> Self {
        let surface = model.bodies()[0].mesh().boundary();
        let all = model.positions(state);
        let positions = surface.vertices.iter().map(|&v| all[v as usize] + offset).collect();
        Self::of_surface(&surface.surface, positions)
    }

    /// Takes a surface with the given vertex positions.
    pub fn of_surface(surface: &SurfaceMesh, positions: Vec<Vec3>) -> Self {
        let triangles: Vec<[u32; 3]> = surface.triangles().collect();
        let mut edges: Vec<[u32; 2]> = surface
            .faces()
            .iter()
            .flat_map(|face| (0..face.len()).map(move |i| [face[i], face[(i + 1) % face.len()]]))
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        Self { positions, triangles, edges }
    }

    /// Returns the surface translated by `offset`.
    #[must_use]
    pub fn moved(mut self, offset: Vec3) -> Self {
        self.positions.iter_mut().for_each(|position| *position += offset);
        self
    }

    /// Returns the surface without edges, which would cover a fine surface.
    #[must_use]
    pub fn without_edges(self) -> Self {
        Self { edges: Vec::new(), ..self }
    }
}

/// Draws bodies with their edges, seen from the front and slightly above.
pub fn draw(surfaces: &[PosedSurface], caption: &str, [width, height]: [u32; 2]) -> anyhow::Result<Image> {
    let size = Size::new(width, height)?;
    let boxes = surfaces.iter().map(|surface| Bounds::of(surface.positions.iter().copied()));
    let framing = Framing { azimuth: 20.0, elevation: 15.0, ..Framing::default() };
    let view = View::fitting(boxes, size, &framing);
    let bodies = surfaces.iter().enumerate().map(|(number, surface)| Body {
        positions: &surface.positions,
        triangles: &surface.triangles,
        values: None,
        color: Color::distinct(number),
        edges: &surface.edges,
    });
    let scene = Scene { bodies: bodies.collect(), caption: caption.into(), ..Scene::new(view, size) };
    Ok(scene.draw()?)
}
