//! Solids given by formulas, and put together.
//!
//! Each has a function that is negative inside and changes by no more than the way that one goes, so that its value is a
//! lower bound of the distance to the surface.

use thiserror::Error;

use super::{Solid, bounding_box};
use crate::math::{Affine3, Vec3};

/// A solid given by a formula. Lengths are in metres.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// All points nearer to `centre` than `radius`.
    Ball {
        /// Its middle.
        centre: Vec3,
        /// Of the ball.
        radius: f64,
    },
    /// A ring around the y axis, its middle at the origin.
    Torus {
        /// From the middle of the ring to the middle of its tube.
        ring_radius: f64,
        /// Of the tube.
        tube_radius: f64,
    },
    /// A box around the origin with rounded edges.
    RoundedBox {
        /// Its length along x, y and z.
        size: Vec3,
        /// Of the edges; 0 leaves them sharp.
        radius: f64,
    },
    /// All points nearer to a segment than `radius`.
    Capsule {
        /// Where the segment starts.
        start: Vec3,
        /// Where it ends.
        end: Vec3,
        /// Around it.
        radius: f64,
    },
    /// The sheet around Schoen's gyroid, `sin x cos y + sin y cos z + sin z cos x = 0`, without end: cut it out of something.
    Gyroid {
        /// After how far it repeats itself.
        period: f64,
        /// Of the sheet, about.
        thickness: f64,
    },
    /// What is in any of them.
    Union(Vec<Form>),
    /// What is in all of them.
    Intersection(Vec<Form>),
    /// What is in the first and not in the second.
    Difference(Box<Form>, Box<Form>),
    /// A form turned about the origin and then moved; without scaling.
    Moved(Box<Form>, Affine3),
}

/// Why a form is none.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum FormError {
    #[error("{what} is {value}, expected a positive length")]
    Length { what: &'static str, value: f64 },
    #[error("a torus with a ring radius of {ring} and a tube radius of {tube} has no hole")]
    FatTorus { ring: f64, tube: f64 },
    #[error("edges with a radius of {radius} do not fit a box that is {shortest} thin")]
    ThickEdges { radius: f64, shortest: f64 },
    #[error("{what} of no forms is nothing")]
    NoForms { what: &'static str },
    #[error("the form has no end: intersect it with something that has, a gyroid with a box for example")]
    Endless,
    #[error("there is no point that is in all of the forms that are intersected")]
    Empty,
    #[error("a form can be turned and moved, not scaled or mirrored: the determinant of its map is {determinant}")]
    NotRigid { determinant: f64 },
    #[error("a coordinate of the form is not finite")]
    NotFinite,
}

impl Form {
    /// A ball.
    pub fn ball(centre: Vec3, radius: f64) -> Self {
        Self::Ball { centre, radius }
    }

    /// This and the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::Union(vec![self, other])
    }

    /// What is in this and in the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::Intersection(vec![self, other])
    }

    /// This without the other.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self::Difference(Box::new(self), Box::new(other))
    }

    /// This, turned and moved.
    #[must_use]
    pub fn moved(self, map: Affine3) -> Self {
        Self::Moved(Box::new(self), map)
    }

    /// Whether all numbers make sense, and the form ends somewhere.
    pub fn check(&self) -> Result<(), FormError> {
        self.check_parts()?;
        let [low, high] = self.bounds();
        if !(high - low).is_finite() {
            return Err(FormError::Endless);
        }
        if low.cmplt(high).all() { Ok(()) } else { Err(FormError::Empty) }
    }

    fn check_parts(&self) -> Result<(), FormError> {
        let positive = |what, value: f64| {
            if value > 0.0 && value.is_finite() { Ok(()) } else { Err(FormError::Length { what, value }) }
        };
        let finite = |points: &[Vec3]| {
            if points.iter().all(|p| p.is_finite()) { Ok(()) } else { Err(FormError::NotFinite) }
        };
        match self {
            Self::Ball { centre, radius } => {
                finite(&[*centre])?;
                positive("the radius of a ball", *radius)
            }
            Self::Torus { ring_radius, tube_radius } => {
                positive("the ring radius of a torus", *ring_radius)?;
                positive("the tube radius of a torus", *tube_radius)?;
                let (ring, tube) = (*ring_radius, *tube_radius);
                if tube < ring { Ok(()) } else { Err(FormError::FatTorus { ring, tube }) }
            }
            Self::RoundedBox { size, radius } => {
                size.to_array().into_iter().try_for_each(|side| positive("a side of a box", side))?;
                let (radius, shortest) = (*radius, size.min_element());
                if !(radius >= 0.0) {
                    return Err(FormError::Length { what: "the radius of edges", value: radius });
                }
                if !(0.0..=0.5 * shortest).contains(&radius) {
                    return Err(FormError::ThickEdges { radius, shortest });
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
            Self::Union(forms) if forms.is_empty() => Err(FormError::NoForms { what: "a union" }),
            Self::Intersection(forms) if forms.is_empty() => Err(FormError::NoForms { what: "an intersection" }),
            Self::Union(forms) | Self::Intersection(forms) => forms.iter().try_for_each(Self::check_parts),
            Self::Difference(from, what) => {
                from.check_parts()?;
                what.check_parts()
            }
            Self::Moved(form, map) => {
                let determinant = map.matrix3.determinant();
                let product = map.matrix3.transpose() * map.matrix3;
                if !map.is_finite() || !product.abs_diff_eq(crate::math::Mat3::IDENTITY, 1e-9) || determinant < 0.0 {
                    return Err(FormError::NotRigid { determinant });
                }
                form.check_parts()
            }
        }
    }

    /// The thinnest that any form in it is by itself. What is cut out of another may leave less.
    pub fn thickness(&self) -> f64 {
        match self {
            Self::Ball { radius, .. } | Self::Capsule { radius, .. } => 2.0 * radius,
            Self::Torus { tube_radius, .. } => 2.0 * tube_radius,
            Self::RoundedBox { size, .. } => size.min_element(),
            Self::Gyroid { thickness, period } => thickness.min(0.5 * period),
            Self::Union(forms) | Self::Intersection(forms) => {
                forms.iter().map(Self::thickness).fold(f64::INFINITY, f64::min)
            }
            Self::Difference(from, what) => from.thickness().min(what.thickness()),
            Self::Moved(form, _) => form.thickness(),
        }
    }

    /// Negative inside, positive outside, and never more than the distance to the surface.
    pub fn distance(&self, p: Vec3) -> f64 {
        match self {
            Self::Ball { centre, radius } => p.distance(*centre) - radius,
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
                // On the surface |∇g| is 3/2 k in the mean; everywhere it is at most √6 k.
                (g.abs() - 0.75 * k * thickness) / (6.0_f64.sqrt() * k)
            }
            Self::Union(forms) => forms.iter().map(|form| form.distance(p)).fold(f64::INFINITY, f64::min),
            Self::Intersection(forms) => forms.iter().map(|form| form.distance(p)).fold(f64::NEG_INFINITY, f64::max),
            Self::Difference(from, what) => from.distance(p).max(-what.distance(p)),
            Self::Moved(form, map) => form.distance(map.matrix3.transpose() * (p - map.translation)),
        }
    }
}

impl Solid for Form {
    fn bounds(&self) -> [Vec3; 2] {
        match self {
            Self::Ball { centre, radius } => [*centre - *radius, *centre + *radius],
            Self::Torus { ring_radius, tube_radius } => {
                let reach = Vec3::new(ring_radius + tube_radius, *tube_radius, ring_radius + tube_radius);
                [-reach, reach]
            }
            Self::RoundedBox { size, .. } => [-0.5 * *size, 0.5 * *size],
            Self::Capsule { start, end, radius } => [start.min(*end) - *radius, start.max(*end) + *radius],
            Self::Gyroid { .. } => [Vec3::NEG_INFINITY, Vec3::INFINITY],
            Self::Union(forms) => bounding_box(forms.iter().flat_map(Self::bounds)),
            Self::Intersection(forms) => {
                let everywhere = [Vec3::NEG_INFINITY, Vec3::INFINITY];
                forms.iter().map(Self::bounds).fold(everywhere, |a, b| [a[0].max(b[0]), a[1].min(b[1])])
            }
            Self::Difference(from, _) => from.bounds(),
            Self::Moved(form, map) => {
                let [low, high] = form.bounds();
                if !(high - low).is_finite() {
                    return [low, high];
                }
                let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
                let m = map.matrix3;
                let reach = m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z;
                let centre = map.transform_point3(centre);
                [centre - reach, centre + reach]
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

    fn forms() -> Vec<Form> {
        let ball = Form::ball(Vec3::new(0.1, 0.2, 0.0), 0.8);
        let cube = Form::RoundedBox { size: Vec3::new(1.0, 1.2, 1.5), radius: 0.1 };
        let turn = Affine3::from_mat3_translation(Mat3::from_rotation_y(0.7), Vec3::new(0.1, 0.0, -0.2));
        vec![
            ball.clone(),
            Form::Torus { ring_radius: 0.6, tube_radius: 0.25 },
            cube.clone(),
            Form::Capsule { start: Vec3::new(-0.5, 0.0, 0.1), end: Vec3::new(0.4, 0.3, 0.0), radius: 0.3 },
            Form::Gyroid { period: 0.9, thickness: 0.1 }.and(cube.clone()),
            ball.clone().or(cube.clone()),
            cube.clone().minus(ball),
            cube.moved(turn),
        ]
    }

    #[test]
    fn no_form_changes_faster_than_one_goes_and_all_are_in_their_bounds() {
        let mut rng = fastrand::Rng::with_seed(8);
        let mut point = || 1.5 * (2.0 * Vec3::new(rng.f64(), rng.f64(), rng.f64()) - Vec3::ONE);
        for form in forms() {
            form.check().unwrap();
            let [low, high] = form.bounds();
            let mut inside = 0;
            for _ in 0..4000 {
                let (p, q) = (point(), point());
                let q = p + 0.2 * (q - p);
                assert!((form.distance(p) - form.distance(q)).abs() <= p.distance(q) + 1e-12, "{form:?}");
                if form.contains(p) {
                    inside += 1;
                    assert!(p.cmpge(low).all() && p.cmple(high).all(), "{form:?}");
                }
                if form.is_uniform(p.min(q), p.max(q)) {
                    assert_eq!(form.contains(p), form.contains(q));
                }
            }
            assert!(inside > 20, "{form:?}");
        }
    }

    #[test]
    fn edges_leave_a_ball_where_they_should() {
        let ball = Form::ball(Vec3::ZERO, 1.0);
        let [inside, outside] = [Vec3::ZERO, Vec3::new(0.0, 3.0, 4.0)].map(|place| ball.probe(place));
        let exit = ball.exit(inside, outside);
        assert!((exit - 0.2).abs() < 1e-15, "{exit}");
    }

    #[test]
    fn impossible_forms_are_named_with_their_numbers() {
        let cube = Form::RoundedBox { size: Vec3::ONE, radius: 0.0 };
        let refused = |form: Form| form.check().unwrap_err();
        assert!(matches!(refused(Form::ball(Vec3::ZERO, -1.0)), FormError::Length { value: -1.0, .. }));
        assert!(matches!(refused(Form::ball(Vec3::NAN, 1.0)), FormError::NotFinite));
        assert!(matches!(refused(Form::Torus { ring_radius: 1.0, tube_radius: 2.0 }), FormError::FatTorus { .. }));
        assert!(matches!(refused(Form::RoundedBox { size: Vec3::ONE, radius: 0.6 }), FormError::ThickEdges { .. }));
        assert!(matches!(refused(Form::Gyroid { period: 1.0, thickness: 0.1 }), FormError::Endless));
        assert!(matches!(refused(Form::Union(vec![])), FormError::NoForms { .. }));
        let apart = Form::ball(Vec3::ZERO, 1.0).and(Form::ball(5.0 * Vec3::X, 1.0));
        assert!(matches!(refused(apart), FormError::Empty));
        let double = Affine3::from_scale(Vec3::splat(2.0));
        assert!(matches!(refused(cube.clone().moved(double)), FormError::NotRigid { .. }));
        assert!(cube.check().is_ok());
    }
}
