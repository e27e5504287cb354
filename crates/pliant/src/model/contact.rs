//! Contact of the bodies of a model with each other, themselves and colliders.

use super::{Fixed, Kinematics, Model, ModelBody};
use crate::contact::{Collider, CollisionBody, ContactError, ContactParams, ContactSurfaces, Islands, SurfaceMotion};
use crate::force::{Elastic, SurfaceContact};
use crate::math::Vec3;
use crate::mesh::Interpolation;
use crate::system::State;

/// Surface of a body that collides in place of the boundary of its mesh.
#[derive(Debug, Clone)]
pub struct ContactSkin {
    /// Number of the body.
    pub body: usize,
    /// Positions of the vertices at rest \[m\].
    pub vertices: Vec<Vec3>,
    /// Triangles of the vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Vertices as weighted sums of the nodes of the model.
    pub interpolation: Interpolation,
}

/// Contact at the vertices of the meshes of all bodies, one body after the other.
///
/// Where a skin collides in place of the boundary of a mesh, its forces and areas are distributed to the vertices of
/// the elements around it. The gap at a vertex is then the smallest of its points of the skin.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VertexContact {
    /// Contact pressure \[Pa\]; zero out of contact.
    pub pressure: Vec<f64>,
    /// Contact force per area at rest, with friction \[Pa\]; zero out of contact.
    pub traction: Vec<Vec3>,
    /// Gap \[m\]; NaN out of contact.
    pub gap: Vec<f64>,
    /// Area at rest of the colliding surface around each vertex \[m²\].
    pub area: Vec<f64>,
}

impl Model {
    /// Returns contact at the vertices of the meshes of all bodies, if bodies collide. Friction is that of sliding at
    /// the velocities of the state. All numbers are NaN on skins of bodies in affine motion.
    pub fn vertex_contact(&self, state: &State) -> Option<VertexContact> {
        let (report, surface) = (self.contact_report(state)?, self.contact_energy()?.surface());
        let mut all = VertexContact::default();
        for (number, body) in self.bodies.iter().enumerate() {
            let (first, count) = (all.gap.len(), body.mesh.vertex_count());
            all.pressure.resize(first + count, 0.0);
            all.traction.resize(first + count, Vec3::ZERO);
            all.gap.resize(first + count, f64::NAN);
            all.area.resize(first + count, 0.0);
            let boundary = match body.kinematics {
                Kinematics::Deformable => Vec::new(),
                Kinematics::Affine => {
                    let boundary = body.mesh.boundary();
                    if boundary.surface.vertices() != surface.rest_of(number) {
                        all.pressure[first..].fill(f64::NAN);
                        all.traction[first..].fill(Vec3::NAN);
                        all.area[first..].fill(f64::NAN);
                        continue;
                    }
                    boundary.vertices
                }
            };
            for (own, vertex) in surface.vertices_of(number).enumerate() {
                let area = surface.area_of(vertex as u32);
                let mut add = |to: usize, weight: f64| {
                    all.area[first + to] += weight * area;
                    all.pressure[first + to] += weight * area * report.pressure[vertex];
                    all.traction[first + to] += weight * area * report.traction[vertex];
                    if weight > 0.0 && report.gap[vertex].is_finite() {
                        all.gap[first + to] = all.gap[first + to].min(report.gap[vertex]);
                    }
                };
                if let Some(&to) = boundary.get(own) {
                    add(to as usize, 1.0);
                } else {
                    // Weights of points outside of their element may be negative.
                    let nodes = || surface.nodes(vertex as u32).map(|(node, weight)| (node, weight.max(0.0)));
                    let sum: f64 = nodes().map(|(_, weight)| weight).sum();
                    nodes().for_each(|(node, weight)| add(node as usize - body.nodes.start, weight / sum));
                }
            }
            for vertex in first..first + count {
                if all.area[vertex] > 0.0 {
                    all.pressure[vertex] /= all.area[vertex];
                    all.traction[vertex] /= all.area[vertex];
                }
            }
        }
        Some(all)
    }
}

/// Creates the contact of all bodies that have a material, or that no Dirichlet condition fixes.
pub(super) fn contact_of(
    bodies: &[ModelBody],
    colliders: &[Collider],
    skins: &[ContactSkin],
    params: ContactParams,
    (gravity, fixed): (Vec3, &[Fixed]),
    node_count: usize,
) -> Result<SurfaceContact, ContactError> {
    struct Part {
        vertices: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
        points: Interpolation,
    }
    let part = |(number, body): (usize, &ModelBody)| {
        if let Some(skin) = skins.iter().find(|skin| skin.body == number) {
            return Part {
                vertices: skin.vertices.clone(),
                triangles: skin.triangles.clone(),
                points: skin.interpolation.clone(),
            };
        }
        let boundary = body.mesh.boundary();
        Part {
            vertices: boundary.surface.vertices().to_vec(),
            triangles: boundary.surface.triangles().collect(),
            points: body.vertices.select(&boundary.vertices),
        }
    };
    let parts: Vec<Part> = bodies.iter().enumerate().map(part).collect();
    let mut is_fixed = vec![false; node_count];
    for fixed in fixed.iter().filter(|fixed| fixed.axes == [true; 3]) {
        fixed.vertices.iter().for_each(|&node| is_fixed[node as usize] = true);
    }
    let stiffest = bodies.iter().map(|body| stiffness_of(body, gravity)).fold(0.0, f64::max);
    let usual = params.young.unwrap_or(stiffest);
    let surfaces = parts.iter().zip(bodies).map(|(part, body)| CollisionBody {
        name: body.name(),
        rest: &part.vertices,
        motion: SurfaceMotion::Nodes(part.points.clone()),
        triangles: &part.triangles,
        edges: &[],
        radius: 0.0,
        // Bodies that other forces keep together are as stiff as the others.
        young: Some(stiffness_of(body, gravity)).filter(|young| *young > 0.0).unwrap_or(usual),
        is_prescribed: body.nodes().all(|node| is_fixed[node]),
    });
    let energy = ContactSurfaces { bodies: surfaces.collect(), colliders, params }.build()?;
    let mut islands = Islands::new(node_count);
    for body in bodies {
        let first = body.nodes.start as u32;
        for element in body.node_mesh.elements() {
            islands.join(&element.iter().map(|node| node + first).collect::<Vec<_>>());
        }
    }
    Ok(SurfaceContact::new(energy, islands, node_count))
}

/// Returns Young's modulus of a body, or the pressure of its weight if that is greater \[Pa\].
fn stiffness_of(body: &ModelBody, gravity: Vec3) -> f64 {
    let materials = body.elastic().map_or(&[][..], Elastic::materials);
    let young = materials.iter().map(|material| material.moduli().young).fold(0.0, f64::max);
    let density = body.densities.iter().copied().fold(0.0, f64::max);
    let [low, high] = body.mesh.bounding_box();
    if young > 0.0 { young.max(density * gravity.length() * (high - low).length()) } else { 0.0 }
}
