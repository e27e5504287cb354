//! What is shown: the bodies of a model and their surfaces.

use std::ops::Range;

use thiserror::Error;

use super::body_color;
use crate::io::Names;
use crate::math::Vec3;
use crate::mesh::{ElementFace, Embedding, SurfaceMesh, VolumeMesh};
use crate::model::Model;

/// The bodies of a model as they are shown. It is a copy: the model may go on, or go away.
#[derive(Debug, Clone)]
pub struct Cast {
    bodies: Vec<CastBody>,
    vertex_count: usize,
    element_count: usize,
}

/// A body as it is shown.
#[derive(Debug, Clone)]
pub struct CastBody {
    name: String,
    mesh: VolumeMesh,
    vertices: Range<usize>,
    surface: SurfaceMesh,
    carrier: Carrier,
}

/// What moves the vertices of a surface.
#[derive(Debug, Clone)]
enum Carrier {
    /// They are vertices of the mesh.
    Vertices(Vec<u32>),
    Embedding(Embedding),
}

/// Why a surface cannot stand for a body.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum DressError {
    #[error("there is no body {body}: there are {count}, counted from 0")]
    NoBody { body: usize, count: usize },
    #[error("the surface has {vertices} vertices, but {points} points are embedded")]
    Points { vertices: usize, points: usize },
    #[error("the surface is not embedded into the mesh of body `{body}`, but into another")]
    OtherMesh { body: String },
}

impl Cast {
    /// The bodies of a model, each with the boundary of its mesh. Names that several bodies have get numbers.
    pub fn new(model: &Model) -> Self {
        let mut names = Names::default();
        let mut element_count = 0;
        let body = |body: &crate::model::ModelBody| {
            let boundary = body.mesh().boundary();
            element_count += body.mesh().element_count();
            CastBody {
                name: names.take(body.name()),
                mesh: body.mesh().clone(),
                vertices: body.vertices(),
                surface: boundary.surface,
                carrier: Carrier::Vertices(boundary.vertices),
            }
        };
        let bodies = model.bodies().iter().map(body).collect();
        Self { bodies, vertex_count: model.vertex_count(), element_count }
    }

    /// Show a detailed surface, which the mesh of the body carries along, instead of the boundary of the mesh.
    pub fn dress(&mut self, body: usize, surface: SurfaceMesh, embedding: Embedding) -> Result<(), DressError> {
        let count = self.bodies.len();
        let body = self.bodies.get_mut(body).ok_or(DressError::NoBody { body, count })?;
        let (vertices, points) = (surface.vertices().len(), embedding.len());
        if vertices != points {
            return Err(DressError::Points { vertices, points });
        }
        let ties = embedding.vertices().chunks_exact(body.mesh.kind().nodes());
        let elements = embedding.elements().iter().map(|&element| element as usize);
        let fits =
            |(tie, element): (&[u32], usize)| element < body.mesh.element_count() && body.mesh.element(element) == tie;
        if ties.len() != points || !ties.zip(elements).all(fits) {
            return Err(DressError::OtherMesh { body: body.name.clone() });
        }
        body.surface = surface;
        body.carrier = Carrier::Embedding(embedding);
        Ok(())
    }

    /// The bodies, in the order of the model.
    pub fn bodies(&self) -> &[CastBody] {
        &self.bodies
    }

    /// Returns the sRGB colors of the regions of each body. The first region has the color of its body, [`body_color`];
    /// further regions take the colors after those of all bodies.
    pub fn region_colors(&self) -> Vec<Vec<[u8; 3]>> {
        let mut further = (self.bodies.len()..).map(body_color);
        let of_body = |(number, body): (usize, &CastBody)| {
            let others = body.mesh.regions().len().saturating_sub(1);
            std::iter::once(body_color(number)).chain(further.by_ref().take(others)).collect()
        };
        self.bodies.iter().enumerate().map(of_body).collect()
    }

    /// How many vertices the meshes of all bodies have.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// How many elements the meshes of all bodies have.
    pub fn element_count(&self) -> usize {
        self.element_count
    }
}

impl CastBody {
    /// What it is called; no two bodies have the same name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The body at rest.
    pub fn mesh(&self) -> &VolumeMesh {
        &self.mesh
    }

    /// Which vertices of the model are those of its mesh.
    pub fn vertices(&self) -> Range<usize> {
        self.vertices.clone()
    }

    /// For each triangle of the surface the region that it is of; of a detailed surface, the first.
    pub fn triangle_regions(&self) -> Vec<u32> {
        if self.is_dressed() {
            return vec![0; self.surface.triangles().count()];
        }
        let region = |face: &ElementFace| self.mesh.element_region()[face.0 as usize];
        let faces = self.mesh.boundary().faces;
        let counts = self.surface.faces().iter().map(|corners| corners.len() - 2);
        faces.iter().zip(counts).flat_map(|(face, count)| std::iter::repeat_n(region(face), count)).collect()
    }

    /// The edges of the faces of the surface, ascending.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for corners in self.surface.faces().iter() {
            let next = corners.iter().cycle().skip(1);
            edges.extend(corners.iter().zip(next).map(|(&a, &b)| [a.min(b), a.max(b)]));
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// What moves a vertex of the surface: vertices of the model, with weights that add up to 1. All are of one element.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn tie(&self, vertex: usize) -> Vec<(u32, f64)> {
        let first = self.vertices.start as u32;
        match &self.carrier {
            Carrier::Vertices(vertices) => vec![(first + vertices[vertex], 1.0)],
            Carrier::Embedding(embedding) => embedding.tie(vertex).map(|(own, weight)| (first + own, weight)).collect(),
        }
    }

    /// The surface that is shown, at rest.
    pub fn surface(&self) -> &SurfaceMesh {
        &self.surface
    }

    /// Numbers at the vertices of the surface, given those at the vertices of its mesh.
    ///
    /// # Panics
    /// If there is not one a vertex.
    pub fn surface_values(&self, values: &[f64]) -> Vec<f64> {
        match &self.carrier {
            Carrier::Vertices(vertices) => vertices.iter().map(|&vertex| values[vertex as usize]).collect(),
            Carrier::Embedding(embedding) => {
                let at = |point| embedding.tie(point).map(|(vertex, weight)| weight * values[vertex as usize]).sum();
                (0..embedding.len()).map(at).collect()
            }
        }
    }

    /// Whether a detailed surface stands for it, and not the boundary of its mesh.
    pub fn is_dressed(&self) -> bool {
        matches!(self.carrier, Carrier::Embedding(_))
    }

    /// Where the vertices of the surface are, given the displacements of all vertices of the model.
    ///
    /// # Panics
    /// If there are not three displacements a vertex.
    pub fn surface_positions(&self, u: &[f64]) -> Vec<Vec3> {
        let (u, _) = u.as_chunks::<3>();
        let u = &u[self.vertices.clone()];
        let rest = self.surface.vertices();
        match &self.carrier {
            Carrier::Vertices(vertices) => {
                let displacements = vertices.iter().map(|&vertex| Vec3::from_array(u[vertex as usize]));
                rest.iter().zip(displacements).map(|(rest, u)| *rest + u).collect()
            }
            Carrier::Embedding(embedding) => {
                let u: Vec<Vec3> = u.iter().copied().map(Vec3::from_array).collect();
                let mut positions = vec![Vec3::ZERO; rest.len()];
                embedding.interpolate(&u, &mut positions);
                positions.iter_mut().zip(rest).for_each(|(position, rest)| *position += *rest);
                positions
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bend, two_bodies};
    use super::*;
    use crate::mesh::{Cells, generate};

    #[test]
    fn bodies_of_one_name_are_told_apart() {
        let cast = Cast::new(&two_bodies());
        let names: Vec<&str> = cast.bodies().iter().map(CastBody::name).collect();
        assert_eq!(names, ["body", "body_2"]);
        assert_eq!(cast.vertex_count(), cast.bodies()[1].vertices().end);
    }

    #[test]
    fn the_boundary_follows_its_vertices() {
        let model = two_bodies();
        let cast = Cast::new(&model);
        let state = bend(&model, 0.7);
        let positions = model.positions(&state);
        for body in cast.bodies() {
            let shown = body.surface_positions(&state.q);
            let own = &positions[body.vertices()];
            assert!(shown.iter().all(|p| own.contains(p)));
            assert_eq!(body.surface_positions(&vec![0.0; state.q.len()]), body.surface().vertices());
        }
    }

    #[test]
    fn a_surface_that_does_not_fit_is_refused() {
        let mut cast = Cast::new(&two_bodies());
        let surface = generate::ball(0.1, 4, Cells::Tet5).unwrap().boundary().surface;
        let meshes: Vec<VolumeMesh> = cast.bodies().iter().map(|body| body.mesh().clone()).collect();
        let embed = |mesh: usize, points: &[Vec3]| Embedding::new(&meshes[mesh], points).unwrap();
        let good = embed(0, surface.vertices());
        assert_eq!(cast.dress(2, surface.clone(), good.clone()), Err(DressError::NoBody { body: 2, count: 2 }));
        let (vertices, few) = (surface.vertices().len(), embed(0, &surface.vertices()[1..]));
        assert_eq!(cast.dress(0, surface.clone(), few), Err(DressError::Points { vertices, points: vertices - 1 }));
        let other = cast.dress(0, surface.clone(), embed(1, surface.vertices()));
        assert_eq!(other, Err(DressError::OtherMesh { body: "body".into() }));
        cast.dress(0, surface, good).unwrap();
    }
}
