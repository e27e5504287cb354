//! Implicit solids and their Boolean combinations.
//!
//! Each has a function that is negative inside and Lipschitz continuous with constant 1. Its value is therefore a lower
//! bound of the distance to the surface.

use thiserror::Error;

use super::{Solid, bounding_box};
use crate::math::{Affine3, Vec3};

/// Implicit solid. Lengths are in meters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ImplicitSolid {
    /// Points that are closer to `center` than `radius`.
    Ball {
        /// Center of the ball.
        center: Vec3,
        /// Radius of the ball.
        radius: f64,
    },
    /// Torus around the y axis, centered at the origin.
    Torus {
        /// Distance from the center of the torus to the center of its tube.
        ring_radius: f64,
        /// Radius of the tube.
        tube_radius: f64,
    },
    /// Box with rounded edges, centered at the origin.
    RoundedBox {
        /// Edge lengths along x, y and z.
        size: Vec3,
        /// Fillet radius of the edges; 0 leaves them sharp.
        radius: f64,
    },
    /// Points that are closer to a segment than `radius`.
    Capsule {
        /// Start of the segment.
        start: Vec3,
        /// End of the segment.
        end: Vec3,
        /// Radius around the segment.
        radius: f64,
    },
    /// Sheet around Schoen's gyroid, `sin x cos y + sin y cos z + sin z cos x = 0`. It is unbounded: intersect it with
    /// a bounded solid.
    Gyroid {
        /// Period of the gyroid.
        period: f64,
        /// Approximate thickness of the sheet.
        thickness: f64,
    },
    /// Points in any of the solids.
    Union(Vec<ImplicitSolid>),
    /// Points in all of the solids.
    Intersection(Vec<ImplicitSolid>),
    /// Points in the first solid and not in the second.
    Difference(Box<ImplicitSolid>, Box<ImplicitSolid>),
    /// Solid rotated about the origin and then translated, without scaling.
    Moved(Box<ImplicitSolid>, Affine3),
}

/// Reason why a solid is invalid.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum ImplicitSolidError {
    #[error("{what} is {value}, expected a positive length")]
    Length { what: &'static str, value: f64 },
    #[error("a torus with a ring radius of {ring} and a tube radius of {tube} has no hole")]
    FatTorus { ring: f64, tube: f64 },
    #[error("an edge radius of {radius} does not fit a box whose shortest side is {shortest}")]
    ThickEdges { radius: f64, shortest: f64 },
    #[error("{what} needs at least one solid")]
    NoSolids { what: &'static str },
    #[error("the solid is unbounded; intersect it with a bounded one, for example a gyroid with a box")]
    Endless,
    #[error("the intersection of the solids is empty")]
    Empty,
    #[error(
        "a solid can be rotated and translated, not scaled or mirrored: the determinant of its map is {determinant}"
    )]
    NotRigid { determinant: f64 },
    #[error("a coordinate of the solid is not finite")]
    NotFinite,
}

impl ImplicitSolid {
    /// Returns a ball.
    pub fn ball(center: Vec3, radius: f64) -> Self {
        Self::Ball { center, radius }
    }

    /// Returns the union of both solids.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::Union(vec![self, other])
    }

    /// Returns the intersection of both solids.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::Intersection(vec![self, other])
    }

    /// Returns this solid minus the other.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self::Difference(Box::new(self), Box::new(other))
    }

    /// Returns this solid, rotated and translated.
    #[must_use]
    pub fn moved(self, map: Affine3) -> Self {
        Self::Moved(Box::new(self), map)
    }

    /// Checks that all parameters are valid and that the solid is bounded and not empty.
    pub fn check(&self) -> Result<(), ImplicitSolidError> {
        self.check_parts()?;
        let [low, high] = self.bounds();
        if !(high - low).is_finite() {
            return Err(ImplicitSolidError::Endless);
        }
        if low.cmplt(high).all() { Ok(()) } else { Err(ImplicitSolidError::Empty) }
    }

    fn check_parts(&self) -> Result<(), ImplicitSolidError> {
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() { Ok(()) } else { Err(ImplicitSolidError::Length { what, value }) }
        };
        let finite = |points: &[Vec3]| {
            if points.iter().all(|p| p.is_finite()) { Ok(()) } else { Err(ImplicitSolidError::NotFinite) }
        };
        match self {
            Self::Ball { center, radius } => {
                finite(&[*center])?;
                positive("the radius of a ball", *radius)
            }
            Self::Torus { ring_radius, tube_radius } => {
                positive("the ring radius of a torus", *ring_radius)?;
                positive("the tube radius of a torus", *tube_radius)?;
                let (ring, tube) = (*ring_radius, *tube_radius);
                if tube < ring { Ok(()) } else { Err(ImplicitSolidError::FatTorus { ring, tube }) }
            }
            Self::RoundedBox { size, radius } => {
                size.to_array().into_iter().try_for_each(|side| positive("a side of a box", side))?;
                let (radius, shortest) = (*radius, size.min_element());
                if !(radius >= 0.0) {
                    return Err(ImplicitSolidError::Length { what: "the radius of edges", value: radius });
                }
                if !(0.0..=0.5 * shortest).contains(&radius) {
                    return Err(ImplicitSolidError::ThickEdges { radius, shortest });
                }
                Ok(())
            }
            Self::Capsule { start, end, radius } => {
                finite(&[*start, *end])?;
                positive("the radius of a capsule", *radius)
            }
            Self::Gyroid { period, thickness } => {
                positive("the period of a gyroid", *period)?;
                positive("the thickness of a gyroid", *thickness)
            }
            Self::Union(solids) if solids.is_empty() => Err(ImplicitSolidError::NoSolids { what: "a union" }),
            Self::Intersection(solids) if solids.is_empty() => {
                Err(ImplicitSolidError::NoSolids { what: "an intersection" })
            }
            Self::Union(solids) | Self::Intersection(solids) => solids.iter().try_for_each(Self::check_parts),
            Self::Difference(from, what) => {
                from.check_parts()?;
                what.check_parts()
            }
            Self::Moved(solid, map) => {
                let determinant = map.matrix3.determinant();
                let product = map.matrix3.transpose() * map.matrix3;
                if !map.is_finite() || !product.abs_diff_eq(crate::math::Mat3::IDENTITY, 1e-9) || determinant < 0.0 {
                    return Err(ImplicitSolidError::NotRigid { determinant });
                }
                solid.check_parts()
            }
        }
    }

    /// Returns the minimum thickness of its primitives. Boolean operations may leave thinner features.
    pub fn thickness(&self) -> f64 {
        match self {
            Self::Ball { radius, .. } | Self::Capsule { radius, .. } => 2.0 * radius,
            Self::Torus { tube_radius, .. } => 2.0 * tube_radius,
            Self::RoundedBox { size, .. } => size.min_element(),
            Self::Gyroid { thickness, period } => thickness.min(0.5 * period),
            Self::Union(solids) | Self::Intersection(solids) => {
                solids.iter().map(Self::thickness).fold(f64::INFINITY, f64::min)
            }
            Self::Difference(from, what) => from.thickness().min(what.thickness()),
            Self::Moved(solid, _) => solid.thickness(),
        }
    }

    /// Returns a lower bound of the signed distance to the surface: negative inside, positive outside.
    pub fn distance(&self, p: Vec3) -> f64 {
        match self {
            Self::Ball { center, radius } => p.distance(*center) - radius,
            Self::Torus { ring_radius, tube_radius } => (p.x.hypot(p.z) - ring_radius).hypot(p.y) - tube_radius,
            Self::RoundedBox { size, radius } => {
                let beyond = p.abs() - (0.5 * *size - *radius);
                beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0) - radius
            }
            Self::Capsule { start, end, radius } => {
                let (along, from) = (*end - *start, p - *start);
                let square = along.length_squared();
                let t = if square > 0.0 { (from.dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
                (from - t * along).length() - radius
            }
            Self::Gyroid { period, thickness } => {
                let k = std::f64::consts::TAU / period;
                let q = k * p;
                let g = q.x.sin() * q.y.cos() + q.y.sin() * q.z.cos() + q.z.sin() * q.x.cos();
                // On the surface |∇g| is 3/2 k on average; it is at most √6 k everywhere.
                (g.abs() - 0.75 * k * thickness) / (6.0_f64.sqrt() * k)
            }
            Self::Union(solids) => solids.iter().map(|solid| solid.distance(p)).fold(f64::INFINITY, f64::min),
            Self::Intersection(solids) => {
                solids.iter().map(|solid| solid.distance(p)).fold(f64::NEG_INFINITY, f64::max)
            }
            Self::Difference(from, what) => from.distance(p).max(-what.distance(p)),
            Self::Moved(solid, map) => solid.distance(map.matrix3.transpose() * (p - map.translation)),
        }
    }
}

impl Solid for ImplicitSolid {
    fn bounds(&self) -> [Vec3; 2] {
        match self {
            Self::Ball { center, radius } => [*center - *radius, *center + *radius],
            Self::Torus { ring_radius, tube_radius } => {
                let reach = Vec3::new(ring_radius + tube_radius, *tube_radius, ring_radius + tube_radius);
                [-reach, reach]
            }
            Self::RoundedBox { size, .. } => [-0.5 * *size, 0.5 * *size],
            Self::Capsule { start, end, radius } => [start.min(*end) - *radius, start.max(*end) + *radius],
            Self::Gyroid { .. } => [Vec3::NEG_INFINITY, Vec3::INFINITY],
            Self::Union(solids) => bounding_box(solids.iter().flat_map(Self::bounds)),
            Self::Intersection(solids) => {
                let everywhere = [Vec3::NEG_INFINITY, Vec3::INFINITY];
                solids.iter().map(Self::bounds).fold(everywhere, |a, b| [a[0].max(b[0]), a[1].min(b[1])])
            }
            Self::Difference(from, _) => from.bounds(),
            Self::Moved(solid, map) => {
                let [low, high] = solid.bounds();
                if !(high - low).is_finite() {
                    return [low, high];
                }
                let (center, half) = (0.5 * (low + high), 0.5 * (high - low));
                let m = map.matrix3;
                let reach = m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z;
                let center = map.transform_point3(center);
                [center - reach, center + reach]
            }
        }
    }

    fn contains(&self, point: Vec3) -> bool {
        self.distance(point) <= 0.0
    }

    fn is_uniform(&self, low: Vec3, high: Vec3) -> bool {
        self.distance(0.5 * (low + high)).abs() > 0.5 * (high - low).length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Mat3;

    fn solids() -> Vec<ImplicitSolid> {
        let ball = ImplicitSolid::ball(Vec3::new(0.1, 0.2, 0.0), 0.8);
        let cube = ImplicitSolid::RoundedBox { size: Vec3::new(1.0, 1.2, 1.5), radius: 0.1 };
        let turn = Affine3::from_mat3_translation(Mat3::from_rotation_y(0.7), Vec3::new(0.1, 0.0, -0.2));
        vec![
            ball.clone(),
            ImplicitSolid::Torus { ring_radius: 0.6, tube_radius: 0.25 },
            cube.clone(),
            ImplicitSolid::Capsule { start: Vec3::new(-0.5, 0.0, 0.1), end: Vec3::new(0.4, 0.3, 0.0), radius: 0.3 },
            ImplicitSolid::Gyroid { period: 0.9, thickness: 0.1 }.and(cube.clone()),
            ball.clone().or(cube.clone()),
            cube.clone().minus(ball),
            cube.moved(turn),
        ]
    }

    #[test]
    fn no_form_changes_faster_than_one_goes_and_all_are_in_their_bounds() {
        let mut rng = fastrand::Rng::with_seed(8);
        let mut point = || 1.5 * (2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE);
        for solid in solids() {
            solid.check().unwrap();
            let [low, high] = solid.bounds();
            let mut inside = 0;
            for _ in 0..4000 {
                let (p, q) = (point(), point());
                let q = p + 0.2 * (q - p);
                assert!((solid.distance(p) - solid.distance(q)).abs() <= p.distance(q) + 1e-12, "{solid:?}");
                if solid.contains(p) {
                    inside += 1;
                    assert!(p.cmpge(low).all() && p.cmple(high).all(), "{solid:?}");
                }
                if solid.is_uniform(p.min(q), p.max(q)) {
                    assert_eq!(solid.contains(p), solid.contains(q));
                }
            }
            assert!(inside > 20, "{solid:?}");
        }
    }

    #[test]
    fn edges_leave_a_ball_where_they_should() {
        let ball = ImplicitSolid::ball(Vec3::ZERO, 1.0);
        let [inside, outside] = [Vec3::ZERO, Vec3::new(0.0, 3.0, 4.0)].map(|place| ball.sample(place));
        let exit = ball.exit(inside, outside);
        assert!((exit - 0.2).abs() < 1e-15, "{exit}");
    }

    #[test]
    fn impossible_forms_are_named_with_their_numbers() {
        let cube = ImplicitSolid::RoundedBox { size: Vec3::ONE, radius: 0.0 };
        let refused = |solid: ImplicitSolid| solid.check().unwrap_err();
        assert!(matches!(
            refused(ImplicitSolid::ball(Vec3::ZERO, -1.0)),
            ImplicitSolidError::Length { value: -1.0, .. }
        ));
        assert!(matches!(refused(ImplicitSolid::ball(Vec3::NAN, 1.0)), ImplicitSolidError::NotFinite));
        assert!(matches!(
            refused(ImplicitSolid::Torus { ring_radius: 1.0, tube_radius: 2.0 }),
            ImplicitSolidError::FatTorus { .. }
        ));
        assert!(matches!(
            refused(ImplicitSolid::RoundedBox { size: Vec3::ONE, radius: 0.6 }),
            ImplicitSolidError::ThickEdges { .. }
        ));
        assert!(matches!(refused(ImplicitSolid::Gyroid { period: 1.0, thickness: 0.1 }), ImplicitSolidError::Endless));
        assert!(matches!(refused(ImplicitSolid::Union(vec![])), ImplicitSolidError::NoSolids { .. }));
        let apart = ImplicitSolid::ball(Vec3::ZERO, 1.0).and(ImplicitSolid::ball(5.0 * Vec3::X, 1.0));
        assert!(matches!(refused(apart), ImplicitSolidError::Empty));
        let double = Affine3::from_scale(Vec3::splat(2.0));
        assert!(matches!(refused(cube.clone().moved(double)), ImplicitSolidError::NotRigid { .. }));
        assert!(cube.check().is_ok());
    }
}
