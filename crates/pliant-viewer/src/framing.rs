//! The box that the first view shows: bodies, obstacles near them, and where bodies will fall.

use pliant::force::ObstacleGeometry;
use pliant::math::Vec3;
use pliant::model::Model;
use pliant::system::State;
use pliant_scene::output::BodyGeometry;

use crate::display_scene::{DisplayScene, is_free};

/// Maximum diagonal of the first view relative to the size of the bodies: in a larger view they would be too small.
const MAX_REACH: f64 = 20.0;

/// Distance up to which a plane below a fixed body belongs to the first view, relative to the size of the bodies.
const NEAR: f64 = 2.0;

/// Number of sampled points of a trajectory.
const SAMPLES: u32 = 32;

/// Axis-aligned box \[m\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub low: Vec3,
    pub high: Vec3,
}

impl Bounds {
    /// Returns the bounding box of points, or `None` without points.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Option<Self> {
        let grow = |bounds: Option<Self>, point: Vec3| {
            let Self { low, high } = bounds.unwrap_or(Self { low: point, high: point });
            Some(Self { low: low.min(point), high: high.max(point) })
        };
        points.into_iter().filter(|point| point.is_finite()).fold(None, grow)
    }

    /// Returns the box around two boxes.
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn moved(self, by: Vec3) -> Self {
        Self { low: self.low + by, high: self.high + by }
    }

    fn diagonal(self) -> f64 {
        (self.high - self.low).length()
    }

    /// Returns the box around both, or itself if bodies of a size \[m\] would be too small in that.
    pub fn including(self, other: Self, size: f64) -> Self {
        let union = self.union(other);
        if union.diagonal() <= MAX_REACH * size { union } else { self }
    }

    /// Returns the minimum coordinate of the box along a direction.
    fn min_along(self, direction: Vec3) -> f64 {
        let half = 0.5 * (self.high - self.low);
        (0.5 * (self.low + self.high)).dot(direction) - half.dot(direction.abs())
    }
}

/// Returns the box of the first view of a simulation in its initial state. Free bodies are followed as rigid bodies
/// along their ballistic trajectory to the first plane that they meet.
pub fn first_view(display: &DisplayScene, model: &Model, state: &State) -> Option<Bounds> {
    let bodies: Vec<(&BodyGeometry, Bounds)> = display
        .geometry
        .bodies()
        .iter()
        .filter_map(|body| Some((body, Bounds::of(body.surface_positions(&state.q))?)))
        .collect();
    let shapes = model.obstacles_at(state.time);
    let mut view = bodies.iter().map(|(_, bounds)| *bounds).reduce(Bounds::union)?;
    let size = view.diagonal().max(display.size);
    for (body, bounds) in &bodies {
        let more = if is_free(model, body) {
            landing(*bounds, velocity(model, state, body), model.gravity(), &shapes)
        } else {
            below(*bounds, &shapes, NEAR * size)
        };
        view = more.map_or(view, |more| view.including(more, size));
    }
    for shape in &shapes {
        let bounds = match shape {
            ObstacleGeometry::Ball { center, radius, .. } => {
                Some(Bounds { low: center - radius, high: center + radius })
            }
            ObstacleGeometry::Surface(surface) => Bounds::of(surface.vertices().iter().copied()),
            ObstacleGeometry::Plane { .. } => None,
        };
        view = bounds.map_or(view, |bounds| view.including(bounds, size));
    }
    Some(view)
}

/// Returns the velocity of the center of mass of a body [m/s].
fn velocity(model: &Model, state: &State, body: &BodyGeometry) -> Vec3 {
    let masses = &model.node_masses()[body.vertices()];
    let (v, _) = state.v.as_chunks::<3>();
    let momentum: Vec3 = masses.iter().zip(&v[body.vertices()]).map(|(mass, v)| *mass * Vec3::from_array(*v)).sum();
    momentum / masses.iter().sum::<f64>().max(f64::MIN_POSITIVE)
}

/// Returns the box around the trajectory to the first plane, or `None` if it meets no plane.
fn landing(bounds: Bounds, velocity: Vec3, gravity: Vec3, shapes: &[ObstacleGeometry]) -> Option<Bounds> {
    let time = shapes
        .iter()
        .filter_map(|shape| match *shape {
            ObstacleGeometry::Plane { point, normal } => {
                let normal = normal.try_normalize()?;
                let height = bounds.min_along(normal) - point.dot(normal);
                first_root(0.5 * gravity.dot(normal), velocity.dot(normal), height)
            }
            _ => None,
        })
        .min_by(f64::total_cmp)?;
    let at = |sample: u32| {
        let t = time * f64::from(sample) / f64::from(SAMPLES);
        bounds.moved(t * velocity + 0.5 * t * t * gravity)
    };
    (0..=SAMPLES).map(at).reduce(Bounds::union)
}

/// Returns the first time `t ≥ 0` at which `a t² + b t + c` is not positive.
fn first_root(a: f64, b: f64, c: f64) -> Option<f64> {
    if c <= 0.0 {
        return Some(0.0);
    }
    let discriminant = b * b - 4.0 * a * c;
    // Without cancellation: the smaller positive root, for `c > 0`.
    let root = 2.0 * c / (-b + discriminant.max(0.0).sqrt());
    (discriminant >= 0.0 && root > 0.0 && root.is_finite()).then_some(root)
}

/// Returns the box including its projections onto nearby planes.
fn below(bounds: Bounds, shapes: &[ObstacleGeometry], near: f64) -> Option<Bounds> {
    let on_plane = |shape: &ObstacleGeometry| match *shape {
        ObstacleGeometry::Plane { point, normal } => {
            let normal = normal.try_normalize()?;
            let height = bounds.min_along(normal) - point.dot(normal);
            (0.0..=near).contains(&height).then(|| bounds.moved(-height * normal))
        }
        _ => None,
    };
    shapes.iter().filter_map(on_plane).reduce(Bounds::union)
}

#[cfg(test)]
mod tests {
    use pliant::files::Disk;
    use pliant_scene::output::SceneGeometry;
    use pliant_scene::scene::{SceneFile, Source};

    use super::*;

    fn view_of(text: &str) -> Bounds {
        let built = SceneFile::parse(Source::new("scene.toml", text)).unwrap().build(&Disk).unwrap();
        let display = DisplayScene::new(SceneGeometry::new(built.simulation.model()));
        first_view(&display, built.simulation.model(), built.simulation.state()).unwrap()
    }

    fn cube(more: &str) -> String {
        format!(
            "[simulation]\nstep = 0.01\nduration = 1\n[[object]]\nmesh = {{ box = {{ size = [1, 1, 1], cells = [1, 1, 1] }} }}\n\
             material = {{ young = 1e5, poisson = 0.3, density = 1000 }}\n{more}"
        )
    }

    #[test]
    fn the_first_view_has_the_place_on_the_ground_where_a_body_falls() {
        let Bounds { low, high } = view_of(&cube("translate = [0, 5, 0]\n[[obstacle]]\nshape.plane = {}\n"));
        assert!(low.y.abs() < 1e-9 && (high.y - 6.0).abs() < 1e-9, "{low} to {high}");
        assert_eq!((low.x, high.x), (0.0, 1.0));
    }

    #[test]
    fn a_thrown_body_is_followed_over_its_apex_to_the_ground() {
        let text = "translate = [0, 2, 0]\nvelocity = [3, 4, 0]\n[[obstacle]]\nshape.plane = {}\n";
        let (thrown, rest) = (view_of(&cube(text)), view_of(&cube("translate = [0, 2, 0]\n")));
        // Closed forms: the apex is v²/2g higher, the landing after (v + √(v² + 2 g h))/g.
        let g = pliant_scene::scene::EARTH;
        let time = (4.0 + (16.0 + 2.0 * g * rest.low.y).sqrt()) / g;
        assert!((thrown.high.x - rest.high.x - 3.0 * time).abs() < 1e-9, "{thrown:?}");
        assert!((thrown.high.y - rest.high.y - 8.0 / g).abs() < 1e-2, "{thrown:?}");
        assert!(thrown.low.y.abs() < 1e-9, "{thrown:?}");
    }

    #[test]
    fn what_is_too_far_away_does_not_make_the_bodies_small() {
        let far = view_of(&cube("translate = [0, 500, 0]\n[[obstacle]]\nshape.plane = {}\n"));
        assert!(far.diagonal() < 2.0, "{far:?}");
        // Moving up without gravity, it never meets the ground.
        let up = view_of(&format!(
            "gravity = [0, 0, 0]\n{}",
            cube("velocity = [0, 5, 0]\n[[obstacle]]\nshape.plane = {}\n")
        ));
        assert!(up.high.y < 2.0, "{up:?}");
    }

    #[test]
    fn balls_and_the_ground_below_fixed_bodies_are_in_the_first_view() {
        let text = "translate = [0, 2, 0]\n[[fixed]]\nvertices = \"x-min\"\n[[obstacle]]\nshape.plane = {}\n\
                    [[obstacle]]\nshape.ball = { center = [4, 1, 0], radius = 1 }\n";
        let view = view_of(&cube(text));
        assert!(view.low.y.abs() < 1e-9 && view.high.x >= 5.0, "{view:?}");
    }

    #[test]
    fn roots_are_the_first_not_negative_ones() {
        assert_eq!(first_root(0.0, 0.0, -1.0), Some(0.0));
        assert_eq!(first_root(0.0, 0.0, 1.0), None);
        assert_eq!(first_root(0.0, -2.0, 1.0), Some(0.5));
        assert_eq!(first_root(0.0, 2.0, 1.0), None);
        assert_eq!(first_root(-1.0, 0.0, 4.0), Some(2.0));
        assert_eq!(first_root(1.0, -3.0, 2.0), Some(1.0));
        assert_eq!(first_root(1.0, 3.0, 2.0), None);
    }
}
