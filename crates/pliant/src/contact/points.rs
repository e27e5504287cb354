//! Contacts as points with their forces, for results.

use super::distance::PairKind;
use super::energy::{ContactEnergy, Contacts};
use super::sliding::FrictionContacts;
use crate::math::Vec3;

/// Contact of two bodies or colliders at a point.
///
/// A surface that rests on another has several contacts per vertex: with the triangles and edges around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointContact {
    /// Numbers of the bodies or colliders, in ascending order. Both are the same if a body is in contact with itself.
    pub bodies: [usize; 2],
    /// Point of the first body that is nearest to the second \[m\].
    pub point: Vec3,
    /// Unit normal that points from the second body to the first.
    pub normal: Vec3,
    /// Gap between the surfaces \[m\].
    pub gap: f64,
    /// Force on the first body by the second \[N\]. The force on the second is opposite.
    pub force: Vec3,
}

impl ContactEnergy {
    /// Returns each contact as a point with its force, with friction if it is given for the same contacts.
    pub fn point_contacts(&self, contacts: &Contacts, friction: Option<&FrictionContacts>) -> Vec<PointContact> {
        let mut gradients = Vec::new();
        if let Some(friction) = friction {
            friction.gradients(|bodies, vertex, gradient| gradients.push((bodies, vertex, gradient)));
        }
        // Contacts with friction are in the order of all contacts.
        let mut rest = &gradients[..];
        let mut take = |bodies: [usize; 2], vertices: &[u32]| {
            let mut found = [Vec3::ZERO; 4];
            let own = rest.get(..vertices.len()).unwrap_or_default();
            let is_same = own.len() == vertices.len()
                && own.iter().zip(vertices).all(|(own, vertex)| own.0 == bodies && own.1 == *vertex);
            if is_same {
                own.iter().zip(&mut found).for_each(|(own, found)| *found = own.2);
                rest = &rest[own.len()..];
            }
            found
        };
        let mut points = Vec::new();
        for active in &contacts.pairs {
            let [a, b] = self.bodies(&active.pair);
            let closest = active.potential.closest();
            let (normal, gradient) = (closest.offset.normalize_or_zero(), active.potential.gradient());
            let friction = take([a, b], &active.pair.vertices);
            let first = match active.pair.kind {
                PairKind::PointTriangle => 0..1,
                PairKind::EdgeEdge => 0..2,
            };
            let is_swapped = a > b;
            let (own, sign) = if is_swapped { (first.end..4, -1.0) } else { (first, 1.0) };
            let place = |i: usize| contacts.places[active.pair.vertices[i] as usize];
            points.push(PointContact {
                bodies: [a.min(b), a.max(b)],
                point: sign * own.clone().map(|i| closest.coefficients[i] * place(i)).sum::<Vec3>(),
                normal: sign * normal,
                gap: active.gap(),
                force: -own.map(|i| gradient[i] + friction[i]).sum::<Vec3>(),
            });
        }
        for active in &contacts.shapes {
            let bodies = [self.surface().locate(active.vertex).0, active.collider];
            let friction = take(bodies, &[active.vertex]);
            points.push(PointContact {
                bodies,
                point: active.x,
                normal: active.normal,
                gap: active.gap,
                force: -active.gradient() - friction[0],
            });
        }
        points
    }
}
