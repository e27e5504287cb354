//! Camera and projection.

use crate::{PictureError, Size, Vec3};

/// Axis that points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Up {
    /// `+y`.
    #[default]
    Y,
    /// `+z`.
    Z,
}

impl Up {
    /// Returns the upward unit vector.
    pub fn direction(self) -> Vec3 {
        match self {
            Self::Y => Vec3::Y,
            Self::Z => Vec3::Z,
        }
    }

    /// Returns two horizontal unit vectors: to the front, and to the right as seen from above.
    fn horizontal(self) -> [Vec3; 2] {
        match self {
            Self::Y => [Vec3::Z, Vec3::X],
            Self::Z => [-Vec3::Y, Vec3::X],
        }
    }

    /// Returns the unit vector at this azimuth and elevation \[deg\].
    pub(crate) fn towards(self, azimuth: f64, elevation: f64) -> Vec3 {
        let [front, right] = self.horizontal();
        let (sin, cos) = azimuth.to_radians().sin_cos();
        let (rise, level) = elevation.to_radians().sin_cos();
        level * (cos * front + sin * right) + rise * self.direction()
    }
}

/// Axis-aligned bounding box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Minimum coordinates.
    pub low: Vec3,
    /// Maximum coordinates.
    pub high: Vec3,
}

impl Bounds {
    /// Returns the bounding box of all finite points, or `None` if there are no finite points.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Option<Self> {
        let finite = points.into_iter().filter(|point| point.is_finite());
        finite.map(|point| Self { low: point, high: point }).reduce(Self::with)
    }

    /// Returns the bounding box of both boxes.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn corners(self) -> impl Iterator<Item = Vec3> {
        let Self { low, high } = self;
        (0..8u32).map(move |number| {
            let side = |bit: u32, low, high| if number >> bit & 1 == 0 { low } else { high };
            Vec3::new(side(0, low.x, high.x), side(1, low.y, high.y), side(2, low.z, high.z))
        })
    }
}

/// Camera that looks at a target point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Point at the center of the picture.
    pub target: Vec3,
    /// Distance of the camera from the target.
    pub distance: f64,
    /// Azimuth of the camera about the upward axis \[deg\]. At 0 it is in front of the target (`+z`, or `−y` if `z` is
    /// up), at 90 to the right (`+x`).
    pub azimuth: f64,
    /// Elevation of the camera above the target \[deg\], from −89 to 89.
    pub elevation: f64,
    /// Axis that is vertical in the picture.
    pub up: Up,
    /// Vertical field of view \[deg\], from 1 to 150.
    pub field_of_view: f64,
}

/// Viewing direction and margins for a camera fitted to boxes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Framing {
    /// Azimuth \[deg\], see [`View::azimuth`].
    pub azimuth: f64,
    /// Elevation \[deg\], see [`View::elevation`].
    pub elevation: f64,
    /// Upward axis, see [`View::up`].
    pub up: Up,
    /// Vertical field of view \[deg\], see [`View::field_of_view`].
    pub field_of_view: f64,
    /// Free fractions of the width on the left and right, and of the height above and below.
    pub margin: [f64; 2],
}

impl Default for Framing {
    /// Returns a view from the front right and slightly above, with room for a legend.
    fn default() -> Self {
        Self { azimuth: 30.0, elevation: 20.0, up: Up::Y, field_of_view: 28.0, margin: [0.13, 0.12] }
    }
}

impl View {
    /// Returns the nearest camera that sees all boxes. Given the boxes of all frames of an animation, it need not move.
    ///
    /// Missing and non-finite boxes are ignored. If none remain, the camera looks at the origin.
    pub fn fitting(boxes: impl IntoIterator<Item = Option<Bounds>>, size: Size, framing: &Framing) -> Self {
        const MAX: f64 = 1e100;
        let Framing { azimuth, elevation, up, field_of_view, margin } = *framing;
        let view = Self { target: Vec3::ZERO, distance: 5.0, azimuth, elevation, up, field_of_view };
        let free = |margin: f64| 1.0 - 2.0 * margin.clamp(0.0, 0.45);
        let tangent = (field_of_view.clamp(1.0, 150.0).to_radians() / 2.0).tan();
        let tangents = [tangent * size.aspect() * free(margin[0]), tangent * free(margin[1])];
        let axes = view.axes();
        // The camera `c` sees the point `p` if `|p_x − c_x| ≤ τ (p_z − c_z)`, with `z` forward. This holds if `c_x + τ
        // c_z` is at most the minimum of `p_x + τ p_z` and `c_x − τ c_z` at least the maximum of `p_x − τ p_z`.
        // Likewise for `y`.
        let mut min = [f64::INFINITY; 2];
        let mut greatest = [f64::NEG_INFINITY; 2];
        let mut depths = [f64::INFINITY, f64::NEG_INFINITY];
        let usable = |bounds: &Bounds| {
            [bounds.low, bounds.high].iter().all(|corner| corner.abs().max_element() <= MAX && !corner.is_nan())
        };
        let mut extent = 0.0_f64;
        for bounds in boxes.into_iter().flatten().filter(usable) {
            extent = extent.max(bounds.low.abs().max_element()).max(bounds.high.abs().max_element());
            for corner in bounds.corners() {
                let depth = corner.dot(axes[2]);
                depths = [depths[0].min(depth), depths[1].max(depth)];
                for i in 0..2 {
                    let across = corner.dot(axes[i]);
                    min[i] = min[i].min(across + tangents[i] * depth);
                    greatest[i] = greatest[i].max(across - tangents[i] * depth);
                }
            }
        }
        if depths[0] > depths[1] {
            return view;
        }
        let behind = |i: usize| (min[i] - greatest[i]) / (2.0 * tangents[i]);
        let middle = |i: usize| f64::midpoint(min[i], greatest[i]);
        // A box without extent also needs a positive distance.
        let room = if extent > 0.0 { 1e-6 * extent } else { 1.0 };
        let camera = behind(0).min(behind(1)).min(depths[0] - room);
        let focus = f64::midpoint(depths[0], depths[1]);
        let target = middle(0) * axes[0] + middle(1) * axes[1] + focus * axes[2];
        Self { target, distance: focus - camera, ..view }
    }

    /// Returns the camera axes: right, up and forward.
    fn axes(&self) -> [Vec3; 3] {
        let forwards = -self.up.towards(self.azimuth, self.elevation.clamp(-89.0, 89.0));
        let right = forwards.cross(self.up.direction()).normalize_or(Vec3::X);
        [right, right.cross(forwards), forwards]
    }

    /// Returns the projection from points to pixels.
    pub(crate) fn camera(&self, size: Size) -> Result<Camera, PictureError> {
        let check = |name, value: f64, good: bool, expected| {
            if good { Ok(()) } else { Err(PictureError::View { name, value, expected }) }
        };
        let largest = self.target.abs().max_element();
        check("target", largest, self.target.is_finite() && largest <= 1e120, "finite")?;
        check("distance", self.distance, self.distance > 1e-120 && self.distance < 1e120, "positive and finite")?;
        check("azimuth", self.azimuth, self.azimuth.is_finite(), "finite")?;
        check("elevation", self.elevation, (-89.0..=89.0).contains(&self.elevation), "from −89 to 89 degrees")?;
        let angle = self.field_of_view;
        check("field of view", angle, (1.0..=150.0).contains(&angle), "from 1 to 150 degrees")?;
        let axes = self.axes();
        let focal = f64::from(size.height()) / 2.0 / (angle.to_radians() / 2.0).tan();
        Ok(Camera {
            position: self.target - self.distance * axes[2],
            axes,
            distance: self.distance,
            focal,
            middle: [f64::from(size.width()) / 2.0, f64::from(size.height()) / 2.0],
        })
    }

    /// Projects a point to pixels from the left and from the top of a picture of this size. Returns `None` behind the
    /// camera.
    pub fn pixel_of(&self, point: Vec3, size: Size) -> Result<Option<[f64; 2]>, PictureError> {
        let camera = self.camera(size)?;
        let seen = camera.seen(point);
        Ok((seen.is_finite() && seen.z > Camera::NEAR).then(|| camera.pixel(seen)))
    }
}

/// Projection of a view onto a picture of given size.
#[derive(Debug, Clone)]
pub(crate) struct Camera {
    pub position: Vec3,
    /// Camera axes: right, up and forward.
    pub axes: [Vec3; 3],
    /// Distance to the target. It is the unit of length of all drawn geometry, so that single precision suffices.
    pub distance: f64,
    /// Focal length \[px\]: the distance of a screen with pixels of unit size.
    pub focal: f64,
    middle: [f64; 2],
}

impl Camera {
    /// Near clipping distance in units of the distance to the target.
    pub const NEAR: f64 = 0.01;

    /// Transforms a point to camera coordinates, in units of the distance to the target.
    pub fn seen(&self, point: Vec3) -> Vec3 {
        let offset = (point - self.position) / self.distance;
        Vec3::from(self.axes.map(|axis| axis.dot(offset)))
    }

    /// Transforms a direction to camera coordinates.
    pub fn seen_direction(&self, direction: Vec3) -> Vec3 {
        Vec3::from(self.axes.map(|axis| axis.dot(direction)))
    }

    /// Projects a point in front of the camera to pixels.
    pub fn pixel(&self, seen: Vec3) -> [f64; 2] {
        [self.middle[0] + self.focal * seen.x / seen.z, self.middle[1] - self.focal * seen.y / seen.z]
    }

    /// Returns the point at depth one that projects to a pixel.
    pub fn ray(&self, [x, y]: [f64; 2]) -> Vec3 {
        let per_pixel = 1.0 / self.focal;
        Vec3::new((x - self.middle[0]) * per_pixel, (self.middle[1] - y) * per_pixel, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_box(random: &mut fastrand::Rng) -> Bounds {
        let size = 10f64.powi(random.i32(-6..6));
        let mut point = || size * (Vec3::new(random.f64(), random.f64(), random.f64()) - 0.3);
        let (a, b) = (point(), point());
        Bounds { low: a.min(b), high: a.max(b) }
    }

    #[test]
    fn a_fitted_view_sees_every_box_and_touches_its_margin() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let boxes: Vec<Bounds> = (0..5).map(|_| random_box(&mut random)).collect();
            let framing = Framing {
                azimuth: 360.0 * random.f64(),
                elevation: 170.0 * random.f64() - 85.0,
                up: if random.bool() { Up::Y } else { Up::Z },
                ..Framing::default()
            };
            let size = Size::new(random.u32(100..2000), random.u32(100..2000)).unwrap();
            let view = View::fitting(boxes.iter().copied().map(Some), size, &framing);
            let [wide, high] = [f64::from(size.width()), f64::from(size.height())];
            let mut used = [0.0_f64; 2];
            for corner in boxes.iter().flat_map(|bounds| bounds.corners()) {
                let [x, y] = view.pixel_of(corner, size).unwrap().expect("in front of the camera");
                used = [used[0].max((x / wide - 0.5).abs()), used[1].max((y / high - 0.5).abs())];
            }
            let slack = [used[0] - (0.5 - framing.margin[0]), used[1] - (0.5 - framing.margin[1])];
            assert!(slack[0].max(slack[1]).abs() < 1e-6, "{slack:?} {view:?}");
        }
    }

    #[test]
    fn degenerate_boxes_give_a_view_that_works() {
        let size = Size::new(40, 30).unwrap();
        let point = |x| Some(Bounds { low: Vec3::splat(x), high: Vec3::splat(x) });
        for boxes in [vec![], vec![None], vec![point(0.0)], vec![point(1e9)], vec![point(f64::NAN), point(1e300)]] {
            let view = View::fitting(boxes.clone(), size, &Framing::default());
            assert!(view.camera(size).is_ok(), "{boxes:?} {view:?}");
        }
    }

    #[test]
    fn views_that_no_camera_can_have_are_errors() {
        let size = Size::new(40, 30).unwrap();
        let good = View::fitting([], size, &Framing::default());
        for bad in [
            View { distance: 0.0, ..good },
            View { distance: f64::NAN, ..good },
            View { azimuth: f64::INFINITY, ..good },
            View { elevation: 90.0, ..good },
            View { field_of_view: 180.0, ..good },
            View { target: Vec3::splat(f64::NAN), ..good },
        ] {
            assert!(matches!(bad.camera(size), Err(PictureError::View { .. })), "{bad:?}");
        }
    }

    #[test]
    fn azimuth_turns_to_the_right_and_up_is_up() {
        let size = Size::new(200, 200).unwrap();
        let framing = |up, azimuth| Framing { azimuth, elevation: 0.0, up, ..Framing::default() };
        let unit = Some(Bounds { low: -Vec3::ONE, high: Vec3::ONE });
        for (up, right) in [(Up::Y, Vec3::X), (Up::Z, Vec3::X)] {
            let view = View::fitting([unit], size, &framing(up, 0.0));
            let [x, _] = view.pixel_of(right, size).unwrap().unwrap();
            let [_, y] = view.pixel_of(up.direction(), size).unwrap().unwrap();
            assert!(x > 120.0 && y < 80.0, "{up:?} {x} {y}");
            let from_the_right = View::fitting([unit], size, &framing(up, 90.0));
            let camera = from_the_right.camera(size).unwrap();
            assert!(camera.position.x > 2.0, "{camera:?}");
        }
    }
}
