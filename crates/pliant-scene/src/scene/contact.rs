//! Contact points of objects on obstacles, and notes on contacts that are not detected.

use std::sync::Arc;

use super::build::BuildContext;
use super::object::Prepared;
use super::{Contact, Scene, SceneError};
use pliant::contact::{PairBehavior, PairRule, intersects_itself};
use pliant::force::{ContactPoints, ObstacleGeometry, Obstacles, ObstaclesError, Spacing};
use pliant::math::{Vec3, short_number};
use pliant::mesh::{Embedding, Interpolation, SurfaceMesh, VolumeMesh};
use pliant::model::{ContactSkin, Model, ModelBuilder};

/// Maximum distance by which the bounding box of a skin may lie inside that of the mesh, for contact with the skin.
/// Relative to the mean edge length at the boundary of the mesh.
const COVERED: f64 = 3.0;

/// Ratio of length to thickness from which a body can fold onto itself.
const SLENDER: f64 = 15.0;

/// Creates an empty set of obstacles that act on the skins of objects, and on the boundary vertices of objects without
/// a skin.
pub(super) fn obstacles(rest: &Arc<[Vec3]>, objects: &[Prepared], first: &[u32]) -> Result<Obstacles, ObstaclesError> {
    let (mut vertices, mut carried) = (Vec::new(), Vec::new());
    for (object, &first) in objects.iter().zip(first) {
        match contact_points(object, first, rest) {
            Some(Ok(points)) => carried.push(points),
            Some(Err(_)) | None => vertices.extend(object.mesh.boundary().vertices.into_iter().map(|v| v + first)),
        }
    }
    let obstacles = Obstacles::for_vertices(rest.clone(), vertices, [])?;
    carried.into_iter().try_fold(obstacles, Obstacles::with_contact_points)
}

/// Returns the contact points on the skin of an object, or the reason why it has none; `None` without a skin.
fn contact_points(object: &Prepared, first: u32, rest: &[Vec3]) -> Option<Result<ContactPoints, String>> {
    let (surface, embedding) = object.skin.as_ref()?;
    Some(fitted(&object.mesh, surface, embedding, first, rest))
}

fn fitted(
    mesh: &VolumeMesh,
    surface: &SurfaceMesh,
    embedding: &Embedding,
    first: u32,
    rest: &[Vec3],
) -> Result<ContactPoints, String> {
    let boundary = mesh.boundary().surface;
    let edge = Spacing::of_faces(&boundary).mean_edge;
    let ([low, high], [own_low, own_high]) = (surface.bounding_box(), mesh.bounding_box());
    let gap = (low - own_low).max(own_high - high).max_element();
    if gap > COVERED * edge {
        return Err(format!("its skin covers only part of the mesh, and ends up to {} m inside it", short_number(gap)));
    }
    let nodes = (first..first + mesh.vertex_count() as u32).collect();
    let vertices = Interpolation::of_nodes(nodes, rest.len());
    ContactPoints::new(mesh, surface, embedding, &vertices, rest).map_err(|error| error.to_string())
}

/// Returns a note of one sentence for each contact that is not detected.
pub(super) fn notes(scene: &Scene, objects: &[Prepared], model: &Model) -> Vec<String> {
    let mut notes = Vec::new();
    let obstacles = model.penalty_obstacles_at(0.0);
    if !obstacles.is_empty() {
        for (object, body) in objects.iter().zip(model.bodies()) {
            let points = model
                .forces()
                .filter_map(|force| (force as &dyn std::any::Any).downcast_ref::<Obstacles>())
                .flat_map(Obstacles::contact_points)
                .find(|points| body.nodes().contains(&(points.interpolation().nodes(0)[0] as usize)));
            let first = body.nodes().start as u32;
            if let (None, Some(Err(why))) = (points, contact_points(object, first, model.rest())) {
                notes.push(format!("contact acts on the mesh of `{}` and not on its skin: {why}", object.name));
            }
            let spacing =
                points.map_or_else(|| Spacing::of_faces(&object.mesh.boundary().surface), ContactPoints::spacing);
            notes.extend(passing(&obstacles, &object.name, spacing));
        }
    }
    if model.contact().is_none() {
        notes.extend(collisions(scene, objects));
        return notes;
    }
    for object in objects.iter().filter(|object| is_entangled(object)) {
        notes.push(format!(
            "the surface of `{}` intersects itself at the start, so that it does not collide with itself",
            object.name
        ));
    }
    notes
}

/// Returns a note on balls that pass or sink in between the contact points of an object.
fn passing(obstacles: &[ObstacleGeometry], object: &str, spacing: Spacing) -> Option<String> {
    let radius = |geometry: &ObstacleGeometry| match geometry {
        ObstacleGeometry::Ball { radius, is_hollow: false, .. } => Some(*radius),
        _ => None,
    };
    let small = (1..).zip(obstacles).filter_map(|(number, obstacle)| Some((number, radius(obstacle)?)));
    let small: Vec<(usize, f64)> = small.filter(|(_, radius)| *radius < spacing.max_edge).collect();
    let &(number, radius) = small.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let others = match small.len() {
        1 => String::new(),
        more => format!(" and {} others", more - 1),
    };
    let Spacing { max_edge, gap, .. } = spacing;
    let consequence = if radius <= gap {
        format!("passes between points up to {} m apart", short_number(max_edge))
    } else {
        let depth = radius - (radius * radius - gap * gap).sqrt();
        format!("sinks in by up to {} m between points up to {} m apart", short_number(depth), short_number(max_edge))
    };
    Some(format!(
        "obstacle {number} of {}{others}: a ball of radius {} m {consequence}: contact acts on points of `{object}`, not on its faces; make its cells {} times smaller, or the ball larger",
        obstacles.len(),
        short_number(radius),
        (max_edge / radius).ceil().max(2.0)
    ))
}

/// Returns true if objects may meet each other, an obstacle or themselves.
pub(super) fn may_collide(scene: &Scene, objects: &[Prepared]) -> bool {
    scene.obstacles.iter().any(|obstacle| !obstacle.is_penalty()) || meeting(scene, objects).is_some()
}

/// Objects that may meet.
enum Meeting {
    Objects(Vec<String>),
    Pieces { object: String, count: usize },
    Slender { object: String, length: f64 },
}

/// Returns which objects may collide with each other or themselves.
fn meeting(scene: &Scene, objects: &[Prepared]) -> Option<Meeting> {
    if objects.len() > 1 {
        return Some(Meeting::Objects(objects.iter().map(|object| object.name.clone()).collect()));
    }
    let object = objects.first()?;
    let count = object.mesh.components().1;
    if count > 1 {
        return Some(Meeting::Pieces { object: object.name.clone(), count });
    }
    let is_moved = !scene.obstacles.is_empty() || scene.fixed.iter().any(|fixed| fixed.motion.is_some());
    if !is_moved || !scene.simulation.integrator.has_inertia() {
        return None;
    }
    let [low, high] = object.mesh.bounding_box();
    let length = (high - low).max_element();
    let thickness = thickness(length, object.mesh.volume(), object.mesh.boundary().surface.area());
    (length / thickness > SLENDER).then(|| Meeting::Slender { object: object.name.clone(), length })
}

/// Returns a note on bodies that may collide with each other or themselves, which is not computed.
fn collisions(scene: &Scene, objects: &[Prepared]) -> Option<String> {
    let not_here = match &scene.contact {
        None => "bodies do not collide with each other without `[contact]`",
        Some(_) => "bodies do not collide with each other with this integrator or method of contact",
    };
    Some(match meeting(scene, objects)? {
        Meeting::Objects(names) => {
            let listed: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
            let more = if names.len() > listed.len() { ", …" } else { "" };
            format!("{not_here}: {}{more} pass through one another", listed.join(", "))
        }
        Meeting::Pieces { object, count } => {
            format!("{not_here}: the {count} separate pieces of `{object}` pass through one another")
        }
        Meeting::Slender { object, length } => format!(
            "{not_here}, nor with themselves: `{object}` is slender, with a bounding box {} m long, and if it folds, it passes through itself",
            short_number(length)
        ),
    })
}

/// Adds contact by barriers to a model.
pub(super) fn add_barriers(
    scene: &Scene,
    context: &BuildContext<'_>,
    objects: &[Prepared],
    mut builder: ModelBuilder,
) -> Result<ModelBuilder, SceneError> {
    let usual = Contact::default();
    let settings = scene.contact.as_ref().map_or(&usual, |contact| &contact.value);
    let mut params = settings.params(context.source)?;
    // A spring of stiffness `k` between the ends of an edge `l` is as stiff as an element with `E = k/l`.
    let edge = objects.iter().map(|object| Spacing::of_faces(&object.mesh.boundary().surface).mean_edge);
    let edge = edge.filter(|edge| *edge > 0.0).fold(f64::INFINITY, f64::min);
    params.young = Some(scene.network_stiffness() / edge).filter(|young| *young > 0.0);
    for object in objects.iter().filter(|object| is_entangled(object)) {
        params.pairs.push(PairRule { bodies: [object.name.clone(), object.name.clone()], rule: PairBehavior::Ignored });
    }
    builder = builder.contact(params);
    for (number, obstacle) in scene.obstacles.iter().enumerate().filter(|(_, obstacle)| !obstacle.is_penalty()) {
        builder = builder.collider(obstacle.collider(number, settings, context)?);
    }
    for (number, (object, &first)) in objects.iter().zip(context.first_vertices()).enumerate() {
        if let Some((surface, embedding)) = &object.skin
            && contact_points(object, first, &context.rest).is_some_and(|points| points.is_ok())
        {
            let nodes = (first..first + object.mesh.vertex_count() as u32).collect();
            let vertices = Interpolation::of_nodes(nodes, context.rest.len());
            builder = builder.contact_skin(ContactSkin {
                body: number,
                vertices: surface.vertices().to_vec(),
                triangles: surface.triangles().collect(),
                interpolation: embedding.interpolation().compose(&vertices),
            });
        }
    }
    Ok(builder.contact_start(context.start.iter().flat_map(Vec3::to_array).collect()))
}

/// Returns true if the surface of an object intersects itself at the start, so that its contact with itself is
/// undefined.
fn is_entangled(object: &Prepared) -> bool {
    let places: Vec<Vec3> = object.mesh.vertices().iter().zip(&object.start).map(|(x, u)| *x + *u).collect();
    if let Some((surface, embedding)) = &object.skin {
        let mut vertices = vec![Vec3::ZERO; surface.vertices().len()];
        embedding.interpolate(&places, &mut vertices);
        return intersects_itself(&vertices, &surface.triangles().collect::<Vec<_>>());
    }
    let boundary = object.mesh.boundary();
    let vertices: Vec<Vec3> = boundary.vertices.iter().map(|&vertex| places[vertex as usize]).collect();
    intersects_itself(&vertices, &boundary.surface.triangles().collect::<Vec<_>>())
}

/// Returns the shortest side of the box with this longest side, volume and surface area. It is exact for rods and
/// plates, and an estimate for other bodies.
fn thickness(length: f64, volume: f64, area: f64) -> f64 {
    // The sides w and t of the cross section have `w t` and `w + t = w t (1/w + 1/t)`.
    let product = volume / length;
    let half_sum = 0.5 * product * (0.5 * area / volume - length.recip());
    half_sum - (half_sum * half_sum - product).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thickness_of_rods_and_plates_is_their_shortest_side() {
        for [x, y, z] in [[1.0, 0.1, 0.1], [2.0, 1.0, 0.01], [3.0, 0.2, 0.1], [1.0, 1.0, 0.05]] {
            let found = thickness(x, x * y * z, 2.0 * (x * y + y * z + z * x));
            assert!((found - z).abs() < 1e-6 * z, "{x} × {y} × {z}: {found}");
        }
    }
}
