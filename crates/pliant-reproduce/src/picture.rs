//! Bodies side by side in a picture.

use pliant::math::Vec3;
use pliant::mesh::SurfaceMesh;
use pliant::model::Model;
use pliant::system::State;
use pliant_pictures::{Body, Bounds, Colour, Framing, Image, Scene, Size, View};

/// What a body looked like at some moment.
#[derive(Debug, Clone)]
pub struct Shot {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
}

impl Shot {
    /// The first body of a model in a state, moved by `offset` to stand beside others.
    pub fn new(model: &Model, state: &State, offset: Vec3) -> Self {
        let surface = model.bodies()[0].mesh().boundary();
        let all = model.positions(state);
        let positions = surface.vertices.iter().map(|&v| all[v as usize] + offset).collect();
        Self::of_surface(&surface.surface, positions)
    }

    /// A surface whose vertices are at these places.
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

    /// The same elsewhere.
    #[must_use]
    pub fn moved(mut self, offset: Vec3) -> Self {
        self.positions.iter_mut().for_each(|position| *position += offset);
        self
    }

    /// The same without its edges, which of a fine surface would leave nothing to be seen.
    #[must_use]
    pub fn without_edges(self) -> Self {
        Self { edges: Vec::new(), ..self }
    }
}

/// Draw bodies with their edges, seen from the front and somewhat above.
pub fn draw(shots: &[Shot], caption: &str, [width, height]: [u32; 2]) -> anyhow::Result<Image> {
    let size = Size::new(width, height)?;
    let boxes = shots.iter().map(|shot| Bounds::of(shot.positions.iter().copied()));
    let framing = Framing { azimuth: 20.0, elevation: 15.0, ..Framing::default() };
    let view = View::fitting(boxes, size, &framing);
    let bodies = shots.iter().enumerate().map(|(number, shot)| Body {
        positions: &shot.positions,
        triangles: &shot.triangles,
        values: None,
        colour: Colour::distinct(number),
        edges: &shot.edges,
    });
    let scene = Scene { bodies: bodies.collect(), caption: caption.into(), ..Scene::new(view, size) };
    Ok(scene.draw()?)
}
