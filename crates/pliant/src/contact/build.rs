//! All surfaces that take part in contact, and their checks.

use std::collections::HashMap;

use thiserror::Error;

use super::collider::ColliderMesh;
use super::energy::{ContactEnergy, Crossing};
use super::shape::{ShapeCollider, ShapeKind};
use super::{
    Collider, ColliderError, ColliderMotion, ColliderShape, CollisionBody, CollisionSurface, CollisionSurfaceError,
    ContactParams, ContactParamsError, PairBehavior, SurfaceMotion,
};
use crate::math::Vec3;
use crate::motion::Motion;

/// Surfaces of bodies and colliders with the parameters of their contact.
#[derive(Debug, Clone, Default)]
pub struct ContactSurfaces<'a> {
    /// Bodies.
    pub bodies: Vec<CollisionBody<'a>>,
    /// Colliders.
    pub colliders: &'a [Collider],
    /// Parameters.
    pub params: ContactParams,
}

/// Reason why surfaces cannot be in contact.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum ContactError {
    #[error(transparent)]
    Params(#[from] ContactParamsError),
    #[error(transparent)]
    Collider(#[from] ColliderError),
    #[error(transparent)]
    Surface(#[from] CollisionSurfaceError),
    #[error(
        "the contact pressure of `{body}` does not follow from a Young's modulus: it has none; set the contact pressure"
    )]
    Pressure { body: String },
    #[error(
        "{between} intersect at the start, in {count} places, up to {depth:.2e} m deep: {examples}; contact needs a start without intersections: move them apart, or exclude the pair"
    )]
    Intersecting { between: String, count: usize, depth: f64, examples: String },
    #[error(
        "{between} touch at the start, in {count} places: {examples}; contact needs a gap: move one of them by {shift:.2e} m"
    )]
    Touching { between: String, count: usize, shift: f64, examples: String },
}

impl ContactSurfaces<'_> {
    /// Builds the contact energy.
    pub fn build(self) -> Result<ContactEnergy, ContactError> {
        let Self { bodies, colliders, params } = self;
        params.check()?;
        if params.pressure.is_none()
            && let Some(body) = bodies.iter().find(|body| !(body.young > 0.0))
        {
            return Err(ContactError::Pressure { body: body.name.to_owned() });
        }
        let mut shapes = Vec::new();
        let mut meshes: Vec<(&Collider, ColliderMesh)> = Vec::new();
        for collider in colliders {
            collider.shape.check(&collider.name)?;
            if let Some(friction) = &collider.friction {
                friction.check()?;
            }
            match collider.shape.mesh() {
                Some(mesh) => meshes.push((collider, mesh)),
                None => shapes.push(shape_of(collider)?),
            }
        }
        let mut bodies: Vec<CollisionBody<'_>> = bodies;
        bodies.extend(meshes.iter().map(|(collider, mesh)| CollisionBody {
            name: &collider.name,
            rest: &mesh.vertices,
            motion: SurfaceMotion::Prescribed(collider.motion.clone()),
            triangles: &mesh.triangles,
            edges: &mesh.edges,
            radius: mesh.radius,
            young: 0.0,
            is_prescribed: true,
        }));
        let mut surface = CollisionSurface::new(&bodies)?;
        let names: Vec<&str> =
            bodies.iter().map(|body| body.name).chain(shapes.iter().map(|shape| shape.name.as_str())).collect();
        let find = |name: &str| {
            let found: Vec<u32> =
                (0..).zip(&names).filter(|(_, own)| **own == name).map(|(number, _)| number).collect();
            if found.is_empty() {
                let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                return Err(ContactParamsError::Unknown { name: name.to_owned(), known });
            }
            Ok(found)
        };
        let mut frictions = HashMap::new();
        for (collider, friction) in colliders.iter().filter_map(|c| Some((c, c.friction?))) {
            for number in find(&collider.name)? {
                (0..names.len() as u32).for_each(|other| {
                    frictions.insert([number.min(other), number.max(other)], friction);
                });
            }
        }
        for pair in &params.pairs {
            let [first, second] = [find(&pair.bodies[0])?, find(&pair.bodies[1])?];
            for (&a, &b) in first.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
                let key = [a.min(b), a.max(b)];
                match pair.rule {
                    PairBehavior::Friction(friction) => drop(frictions.insert(key, friction)),
                    PairBehavior::Ignored => drop(surface.excluded.insert(key)),
                }
            }
        }
        Ok(ContactEnergy::with_shapes(surface, shapes, frictions, params))
    }
}

fn shape_of(collider: &Collider) -> Result<ShapeCollider, ContactError> {
    let (origin, kind) = match &collider.shape {
        ColliderShape::HalfSpace { point, normal } => (*point, ShapeKind::HalfSpace(normal.normalize())),
        ColliderShape::HollowBall { center, radius } => (*center, ShapeKind::HollowBall(*radius)),
        _ => unreachable!("all other shapes have meshes"),
    };
    let motion: Motion = match &collider.motion {
        ColliderMotion::Points(motion) => motion.clone(),
        ColliderMotion::Sequence(sequence) => {
            let (name, points) = (collider.name.clone(), sequence.first().len());
            return Err(ColliderError::Points { name, points, vertices: 0 }.into());
        }
    };
    Ok(ShapeCollider { name: collider.name.clone(), origin, kind, motion })
}

/// Gap at the start, relative to the range of the barrier, up to which surfaces count as touching: forces would be too
/// large to be meant.
const TOUCHING: f64 = 1e-3;

/// Number of examples in messages.
const LISTED: usize = 3;

impl ContactEnergy {
    /// Returns an error if surfaces meet at displacements `u`, with colliders where they are at a time \[s\].
    pub fn check_start(&self, u: &[f64], time: f64) -> Result<(), ContactError> {
        let surface = self.surface();
        let name = |vertex: u32| {
            let (body, vertex) = surface.locate(vertex);
            format!("vertex {vertex} of the surface of `{}`", surface.name(body))
        };
        let between = |pairs: &mut dyn Iterator<Item = [usize; 2]>| {
            let mut pairs: Vec<[usize; 2]> = pairs.map(|[a, b]| [a.min(b), a.max(b)]).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let named = |[a, b]: &[usize; 2]| {
                let [first, second] = [self.name(*a), self.name(*b)];
                if a == b { format!("parts of `{first}`") } else { format!("`{first}` and `{second}`") }
            };
            let more =
                if pairs.len() > LISTED { format!(" and {} other pairs", pairs.len() - LISTED) } else { String::new() };
            pairs.iter().take(LISTED).map(named).collect::<Vec<_>>().join(", ") + &more
        };
        let crossings = self.crossings(u, time);
        let inside = self.penetrations(u, time);
        if !crossings.is_empty() || inside.iter().any(|(.., depth)| *depth > 0.0) {
            let bodies = |crossing: &Crossing| [crossing.edge[0], crossing.triangle[0]].map(|v| surface.locate(v).0);
            let mut pairs = crossings
                .iter()
                .map(bodies)
                .chain(inside.iter().map(|(vertex, collider, _)| [surface.locate(*vertex).0, *collider]));
            let crossed = crossings.iter().map(|Crossing { edge, triangle }| {
                format!(
                    "the edge from {} to {} with the triangle at {}",
                    name(edge[0]),
                    name(edge[1]),
                    name(triangle[0])
                )
            });
            let behind = inside.iter().map(|(vertex, collider, depth)| {
                format!("{} is {depth:.2e} m inside `{}`", name(*vertex), self.name(*collider))
            });
            let places = self.contacts(u, time).places.clone();
            let depth = crossings.iter().map(|crossing| depth_of(crossing, &places));
            return Err(ContactError::Intersecting {
                between: between(&mut pairs),
                count: crossings.len() + inside.len(),
                depth: depth.chain(inside.iter().map(|(.., depth)| *depth)).fold(0.0, f64::max),
                examples: crossed.chain(behind).take(LISTED).collect::<Vec<_>>().join("; "),
            });
        }
        let contacts = self.contacts(u, time);
        let is_touching = |gap: f64, range: f64| gap <= TOUCHING * range;
        let touching: Vec<_> = contacts
            .pairs
            .iter()
            .filter(|active| is_touching(active.gap(), self.range(&active.pair.vertices)))
            .collect();
        let on_shapes: Vec<_> =
            contacts.shapes.iter().filter(|active| is_touching(active.gap, self.range(&[active.vertex]))).collect();
        if touching.is_empty() && on_shapes.is_empty() {
            return Ok(());
        }
        let mut pairs = touching
            .iter()
            .map(|active| self.bodies(&active.pair))
            .chain(on_shapes.iter().map(|active| [surface.locate(active.vertex).0, active.collider]));
        let listed = touching
            .iter()
            .map(|active| {
                let [a, b] = active.pair.ends();
                format!("{} and {}", name(a), name(b))
            })
            .chain(
                on_shapes.iter().map(|active| format!("{} and `{}`", name(active.vertex), self.name(active.collider))),
            );
        let gaps = touching.iter().map(|active| active.gap()).chain(on_shapes.iter().map(|active| active.gap));
        let range = surface.ranges.iter().copied().filter(|range| range.is_finite()).fold(0.0, f64::max);
        Err(ContactError::Touching {
            between: between(&mut pairs),
            count: touching.len() + on_shapes.len(),
            shift: range - gaps.fold(0.0, f64::min),
            examples: listed.take(LISTED).collect::<Vec<_>>().join("; "),
        })
    }
}

/// Returns the distance that the nearer end of an edge has from the plane of a triangle that it crosses.
fn depth_of(crossing: &Crossing, places: &[Vec3]) -> f64 {
    let [a, b, c] = crossing.triangle.map(|v| places[v as usize]);
    let normal = (b - a).cross(c - a).normalize_or_zero();
    crossing.edge.map(|v| normal.dot(places[v as usize] - a).abs()).into_iter().fold(f64::INFINITY, f64::min)
}
