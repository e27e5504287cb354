//! Bodies of a model and their visual surfaces.

use std::ops::Range;

use thiserror::Error;

use super::body_color;
use pliant::io::Names;
use pliant::math::Vec3;
use pliant::mesh::{ElementFace, Embedding, Interpolation, SurfaceMesh, VolumeMesh};
use pliant::model::Model;

/// Visual geometry of the bodies of a model. It is a copy, independent of the model.
#[derive(Debug, Clone)]
pub struct SceneGeometry {
    bodies: Vec<BodyGeometry>,
    vertex_count: usize,
    element_count: usize,
}

/// Visual geometry of a body.
#[derive(Debug, Clone)]
pub struct BodyGeometry {
    name: String,
    mesh: VolumeMesh,
    vertices: Range<usize>,
    surface: SurfaceMesh,
    has_visual: bool,
    /// Vertices of the surface as weighted sums of the vertices of the mesh.
    map: Interpolation,
}

/// Error of attaching a detailed surface to a body.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum VisualError {
    #[error("body {body}: out of range: the model has {count} bodies, counted from 0")]
    NoBody { body: usize, count: usize },
    #[error("embedding: expected {vertices} points, one per vertex of the surface, found {points}")]
    Points { vertices: usize, points: usize },
    #[error("embedding: made for another mesh than the mesh of body `{body}`")]
    OtherMesh { body: String },
}

impl SceneGeometry {
    /// Creates the visual geometry of a model: each body with the boundary of its mesh. Duplicate names get numbers.
    pub fn new(model: &Model) -> Self {
        let mut names = Names::default();
        let (mut vertex_count, mut element_count) = (0, 0);
        let body = |body: &pliant::model::ModelBody| {
            let boundary = body.mesh().boundary();
            element_count += body.mesh().element_count();
            let first = vertex_count;
            vertex_count += body.mesh().vertex_count();
            BodyGeometry {
                name: names.take(body.name()),
                mesh: body.mesh().clone(),
                vertices: first..vertex_count,
                surface: boundary.surface,
                has_visual: false,
                map: Interpolation::of_nodes(boundary.vertices, body.mesh().vertex_count()),
            }
        };
        let bodies = model.bodies().iter().map(body).collect();
        Self { bodies, vertex_count, element_count }
    }

    /// Replaces the boundary of a body's mesh by a detailed surface embedded in the mesh.
    pub fn attach_visual(
        &mut self,
        body: usize,
        surface: SurfaceMesh,
        embedding: Embedding,
    ) -> Result<(), VisualError> {
        let count = self.bodies.len();
        let body = self.bodies.get_mut(body).ok_or(VisualError::NoBody { body, count })?;
        let (vertices, points) = (surface.vertices().len(), embedding.len());
        if vertices != points {
            return Err(VisualError::Points { vertices, points });
        }
        let (mesh, map) = (&body.mesh, embedding.interpolation());
        let fits = |(point, &element): (usize, &u32)| {
            (element as usize) < mesh.element_count() && mesh.element(element as usize) == map.nodes(point)
        };
        if map.node_count() != mesh.vertex_count() || !embedding.elements().iter().enumerate().all(fits) {
            return Err(VisualError::OtherMesh { body: body.name.clone() });
        }
        body.map = embedding.into_interpolation();
        body.surface = surface;
        body.has_visual = true;
        Ok(())
    }

    /// Returns the bodies, in the order of the model.
    pub fn bodies(&self) -> &[BodyGeometry] {
        &self.bodies
    }

    /// Returns the sRGB colors of the regions of each body. The first region has the color of its body, [`body_color`];
    /// further regions take the colors after those of all bodies.
    pub fn region_colors(&self) -> Vec<Vec<[u8; 3]>> {
        let mut further = (self.bodies.len()..).map(body_color);
        let of_body = |(number, body): (usize, &BodyGeometry)| {
            let others = body.mesh.regions().len().saturating_sub(1);
            std::iter::once(body_color(number)).chain(further.by_ref().take(others)).collect()
        };
        self.bodies.iter().enumerate().map(of_body).collect()
    }

    /// Returns the total number of vertices of the meshes of all bodies.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Returns the total number of elements of the meshes of all bodies.
    pub fn element_count(&self) -> usize {
        self.element_count
    }
}

impl BodyGeometry {
    /// Returns the name, which is unique among the bodies.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the mesh at rest.
    pub fn mesh(&self) -> &VolumeMesh {
        &self.mesh
    }

    /// Returns the range of the vertices of its mesh among those of all meshes.
    pub fn vertices(&self) -> Range<usize> {
        self.vertices.clone()
    }

    /// Returns the region of each triangle of the surface. All triangles of a detailed surface are in the first region.
    pub fn triangle_regions(&self) -> Vec<u32> {
        if self.has_visual() {
            return vec![0; self.surface.triangles().count()];
        }
        let region = |face: &ElementFace| self.mesh.element_region()[face.0 as usize];
        let faces = self.mesh.boundary().faces;
        let counts = self.surface.faces().iter().map(|corners| corners.len() - 2);
        faces.iter().zip(counts).flat_map(|(face, count)| std::iter::repeat_n(region(face), count)).collect()
    }

    /// Returns the edges of the faces of the surface, in ascending order.
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

    /// Returns the vertices of all meshes that move a vertex of the surface, with weights that sum to 1. All belong to
    /// one element.
    ///
    /// # Panics
    /// If `vertex` is out of range.
    pub fn tie(&self, vertex: usize) -> Vec<(u32, f64)> {
        let first = self.vertices.start as u32;
        self.map.row(vertex).map(|(own, weight)| (first + own, weight)).collect()
    }

    /// Returns the visual surface at rest.
    pub fn surface(&self) -> &SurfaceMesh {
        &self.surface
    }

    /// Interpolates values at the vertices of the mesh to the vertices of the surface.
    ///
    /// # Panics
    /// If there is not one value per vertex.
    pub fn surface_values(&self, values: &[f64]) -> Vec<f64> {
        self.map.interpolate_numbers(values)
    }

    /// Returns true if the visual surface is a detailed surface, not the boundary of the mesh.
    pub fn has_visual(&self) -> bool {
        self.has_visual
    }

    /// Computes the positions of the vertices of the surface from the displacements of the vertices of all meshes.
    ///
    /// # Panics
    /// If there are not three displacements per vertex.
    pub fn surface_positions(&self, u: &[f64]) -> Vec<Vec3> {
        let u = &u[3 * self.vertices.start..3 * self.vertices.end];
        let rest = self.surface.vertices();
        let mut positions = vec![Vec3::ZERO; rest.len()];
        self.map.interpolate_flat(u, &mut positions);
        positions.iter_mut().zip(rest).for_each(|(position, rest)| *position += *rest);
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bend, two_bodies};
    use super::*;
    use crate::output::Frame;
    use pliant::math::Mat3;
    use pliant::mesh::{Cells, generate};
    use pliant::model::Body;
    use pliant::system::State;

    #[test]
    fn bodies_of_one_name_are_told_apart() {
        let geometry = SceneGeometry::new(&two_bodies());
        let names: Vec<&str> = geometry.bodies().iter().map(BodyGeometry::name).collect();
        assert_eq!(names, ["body", "body_2"]);
        assert_eq!(geometry.vertex_count(), geometry.bodies()[1].vertices().end);
    }

    #[test]
    fn the_boundary_follows_its_vertices() {
        let model = two_bodies();
        let geometry = SceneGeometry::new(&model);
        let state = bend(&model, 0.7);
        let positions = model.positions(&state);
        for body in geometry.bodies() {
            let shown = body.surface_positions(&state.q);
            let own = &positions[body.vertices()];
            assert!(shown.iter().all(|p| own.contains(p)));
            assert_eq!(body.surface_positions(&vec![0.0; state.q.len()]), body.surface().vertices());
        }
    }

    #[test]
    fn surfaces_of_a_body_in_affine_motion_follow_its_control_nodes() {
        let ball = generate::ball(0.3, 4, Cells::Tet5).unwrap();
        let block = generate::block([1.0, 0.2, 0.2], [3, 1, 1], Cells::Hex).unwrap();
        let rigid = Body::nearly_rigid(ball, 1e6, 1000.0).unwrap();
        let model = Model::builder().body(rigid).body(Body::without_elasticity(block, 1.0)).build().unwrap();
        let turn = Mat3::from_axis_angle(Vec3::new(1.0, 2.0, 2.0) / 3.0, 0.7);
        let moved = |x: Vec3| turn * x + Vec3::new(1.0, 2.0, 3.0);
        let q = model.rest().iter().flat_map(|&x| (moved(x) - x).to_array()).collect();
        let state = State { q, ..model.rest_state() };
        let frame = Frame::new(&model, &state, 0, true).with_reactions(&model, &state);
        let mut geometry = SceneGeometry::new(&model);
        let inner = generate::ball(0.2, 6, Cells::Tet5).unwrap().boundary().surface;
        let embedding = Embedding::new(geometry.bodies()[0].mesh(), inner.vertices()).unwrap();
        for with_detail in [false, true] {
            if with_detail {
                geometry.attach_visual(0, inner.clone(), embedding.clone()).unwrap();
            }
            for body in geometry.bodies() {
                let positions = body.surface_positions(&frame.u);
                assert!(positions.iter().zip(body.surface().vertices()).all(|(p, x)| p.distance(moved(*x)) < 1e-14));
            }
        }
        let (vertices, elements) = (geometry.vertex_count(), geometry.element_count());
        assert_eq!((frame.u.len(), frame.v.len()), (3 * vertices, 3 * vertices));
        let fields = frame.fields.unwrap();
        assert_eq!((fields.vertices.count(vertices), fields.elements.count(elements)), (vertices, elements));
        let (reactions, own) = (frame.reactions.unwrap(), geometry.bodies()[0].vertices());
        assert!(reactions.iter().enumerate().all(|(i, force)| force.is_nan() == own.contains(&(i / 3))));
    }

    #[test]
    fn a_surface_that_does_not_fit_is_refused() {
        let mut geometry = SceneGeometry::new(&two_bodies());
        let surface = generate::ball(0.1, 4, Cells::Tet5).unwrap().boundary().surface;
        let meshes: Vec<VolumeMesh> = geometry.bodies().iter().map(|body| body.mesh().clone()).collect();
        let embed = |mesh: usize, points: &[Vec3]| Embedding::new(&meshes[mesh], points).unwrap();
        let good = embed(0, surface.vertices());
        assert_eq!(
            geometry.attach_visual(2, surface.clone(), good.clone()),
            Err(VisualError::NoBody { body: 2, count: 2 })
        );
        let (vertices, few) = (surface.vertices().len(), embed(0, &surface.vertices()[1..]));
        assert_eq!(
            geometry.attach_visual(0, surface.clone(), few),
            Err(VisualError::Points { vertices, points: vertices - 1 })
        );
        let other = geometry.attach_visual(0, surface.clone(), embed(1, surface.vertices()));
        assert_eq!(other, Err(VisualError::OtherMesh { body: "body".into() }));
        geometry.attach_visual(0, surface, good).unwrap();
    }
}
