//! Contact of the bodies of a model with each other and themselves.

use super::{ModelBody, ModelError};
use crate::contact::{CollisionBody, CollisionSurface, ContactEnergy, ContactParams, Crossing};
use crate::force::SurfaceContact;

/// Creates the contact of all bodies. Those without elasticity are obstacles.
pub(super) fn contact_of(
    bodies: &[ModelBody],
    params: ContactParams,
    node_count: usize,
) -> Result<SurfaceContact, ModelError> {
    for (what, value) in [("the contact range", params.range), ("the contact pressure", params.pressure)] {
        if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
            return Err(ModelError::ContactParams { what, value });
        }
    }
    let parts: Vec<_> = bodies.iter().map(|body| (body.mesh.boundary(), body)).collect();
    let triangles: Vec<Vec<[u32; 3]>> =
        parts.iter().map(|(boundary, _)| boundary.surface.triangles().collect()).collect();
    let surfaces = parts.iter().zip(&triangles).map(|((boundary, body), triangles)| {
        let materials = body.elastic().map_or(&[][..], |elastic| elastic.materials());
        CollisionBody {
            rest: boundary.surface.vertices(),
            points: body.vertices.select(&boundary.vertices),
            triangles,
            young: materials.iter().map(|material| material.moduli().young).fold(0.0, f64::max),
            density: body.densities.iter().copied().fold(0.0, f64::max),
            is_obstacle: body.elastic().is_none(),
        }
    });
    let surface = CollisionSurface::new(&surfaces.collect::<Vec<_>>()).map_err(ModelError::CollisionSurface)?;
    let energy = ContactEnergy::new(surface, params);
    check_start(&energy, &parts.iter().map(|(_, body)| body.name()).collect::<Vec<_>>(), node_count)?;
    Ok(SurfaceContact::new(energy, node_count))
}

/// Returns an error if surfaces meet in the undeformed configuration.
fn check_start(energy: &ContactEnergy, names: &[&str], node_count: usize) -> Result<(), ModelError> {
    /// Number of pairs that are listed.
    const LISTED: usize = 3;
    let u = vec![0.0; 3 * node_count];
    let surface = energy.surface();
    let name = |vertex: u32| {
        let (body, vertex) = surface.locate(vertex);
        format!("vertex {vertex} of the surface of `{}`", names[body])
    };
    let crossings = energy.crossings(&u);
    if !crossings.is_empty() {
        let listed = crossings.iter().take(LISTED).map(|Crossing { edge, triangle }| {
            format!("the edge from {} with the triangle at {}", name(edge[0]), name(triangle[0]))
        });
        return Err(ModelError::Intersecting {
            count: crossings.len(),
            examples: listed.collect::<Vec<_>>().join("; "),
        });
    }
    let touching: Vec<_> =
        energy.active_pairs(&u, 0.0).into_iter().filter(|active| !active.potential.energy.is_finite()).collect();
    if !touching.is_empty() {
        let listed = touching.iter().take(LISTED).map(|active| {
            let [a, .., b] = active.pair.vertices;
            format!("{} and {}", name(a), name(b))
        });
        return Err(ModelError::Touching { count: touching.len(), examples: listed.collect::<Vec<_>>().join("; ") });
    }
    Ok(())
}
