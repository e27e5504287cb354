//! Rigid obstacles.

use pliant::force::{self, ObstacleShape, Side};
use pliant::math::Vec3;
use pliant::motion::Keyframes;
use pliant_scene::scene::quantity::dimension;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Kind, OrRaise};
use crate::quantity::{Amount, amount, vector};
use crate::renamed;

/// Rigid obstacle with friction: a half-space, a ball, or the outside of a ball. For ``obstacles`` of :class:`Model`.
///
/// Only surface vertices are in contact with obstacles, so an obstacle should be larger than the edges of the mesh.
///
/// >>> ground = pliant.Obstacle.plane((0, 0, 0), (0, 1, 0), friction=0.5)
/// >>> ball = pliant.Mesh.ball(0.1, across=4).translated((0, 0.12, 0))
/// >>> rubber = pliant.materials.stable_neo_hookean(young="100 kPa", poisson=0.4, density="1 g/cm^3")
/// >>> model = pliant.Model(ball, rubber, damping=(1, 0), obstacles=[ground])
/// >>> sim = pliant.Simulation(model, pliant.integrators.backward_euler(dt="5 ms"), gravity=(0, -9.81, 0))
/// >>> sim.run("0.3 s")
/// 60
/// >>> bool(0.08 < sim.observe().center_of_mass[1] < 0.12)
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Obstacle {
    /// Obstacle of the library, with a stiffness of 0 if none was given.
    inner: force::Obstacle,
    stiffness: Option<f64>,
}

#[pymethods]
impl Obstacle {
    /// Creates the half-space behind a plane.
    ///
    /// Args:
    ///     point: a point of the plane, in m.
    ///     normal: normal of any length, towards the bodies.
    ///     stiffness: force on each vertex per penetration depth, in N/m; by default ten times the stiffness of an
    ///         element of the stiffest body.
    ///     damping: damping of the normal velocity of vertices in contact, in N·s/m.
    ///     friction: coefficient of friction.
    ///     friction_speed: sliding speed below which friction is proportional to it, in m/s; by default 1 mm/s.
    ///     motion: keyframes of its translation, ``[(time, (x, y, z)), …]`` in s and m; by default at rest.
    #[staticmethod]
    #[pyo3(signature = (
        point, normal, *, stiffness=None, damping=None, friction=0.0, friction_speed=None, motion=None
    ))]
    fn plane(
        point: &Bound<'_, PyAny>,
        normal: [f64; 3],
        stiffness: Option<Amount<dimension::Stiffness>>,
        damping: Option<Amount<dimension::Viscosity>>,
        friction: f64,
        friction_speed: Option<Amount<dimension::Speed>>,
        motion: Option<Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
    ) -> PyResult<Self> {
        let point = vector::<dimension::Length>(point, "point")?;
        let shape = ObstacleShape::Plane { point, normal: Vec3::from_array(normal) };
        Self::new(shape, stiffness, damping, friction, friction_speed, motion)
    }

    /// Creates a solid ball. The other arguments are those of :meth:`plane`.
    ///
    /// Args:
    ///     center: center, in m.
    ///     radius: radius, in m.
    #[staticmethod]
    #[pyo3(signature = (
        center=None, radius=None, *, stiffness=None, damping=None, friction=0.0, friction_speed=None, motion=None,
        **unknown
    ), text_signature = "(center, radius, *, stiffness=None, damping=None, friction=0.0, friction_speed=None, \
        motion=None)")]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn ball(
        center: Option<&Bound<'_, PyAny>>,
        radius: Option<Amount<dimension::Length>>,
        stiffness: Option<Amount<dimension::Stiffness>>,
        damping: Option<Amount<dimension::Viscosity>>,
        friction: f64,
        friction_speed: Option<Amount<dimension::Speed>>,
        motion: Option<Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        renamed::refuse("Obstacle.ball()", unknown)?;
        let center = renamed::required("Obstacle.ball()", "center", center)?;
        let radius = renamed::required("Obstacle.ball()", "radius", radius)?;
        let center = vector::<dimension::Length>(center, "center")?;
        let shape = ObstacleShape::Sphere { center, radius: radius.si, side: Side::Outside };
        Self::new(shape, stiffness, damping, friction, friction_speed, motion)
    }

    /// Creates the outside of a ball, which confines bodies to its interior. The other arguments are those of
    /// :meth:`plane`.
    ///
    /// Args:
    ///     center: center, in m.
    ///     radius: radius, in m.
    #[staticmethod]
    #[pyo3(signature = (
        center=None, radius=None, *, stiffness=None, damping=None, friction=0.0, friction_speed=None, motion=None,
        **unknown
    ), text_signature = "(center, radius, *, stiffness=None, damping=None, friction=0.0, friction_speed=None, \
        motion=None)")]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn hollow_ball(
        center: Option<&Bound<'_, PyAny>>,
        radius: Option<Amount<dimension::Length>>,
        stiffness: Option<Amount<dimension::Stiffness>>,
        damping: Option<Amount<dimension::Viscosity>>,
        friction: f64,
        friction_speed: Option<Amount<dimension::Speed>>,
        motion: Option<Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        renamed::refuse("Obstacle.hollow_ball()", unknown)?;
        let center = renamed::required("Obstacle.hollow_ball()", "center", center)?;
        let radius = renamed::required("Obstacle.hollow_ball()", "radius", radius)?;
        let center = vector::<dimension::Length>(center, "center")?;
        let shape = ObstacleShape::Sphere { center, radius: radius.si, side: Side::Inside };
        Self::new(shape, stiffness, damping, friction, friction_speed, motion)
    }

    fn __repr__(&self) -> String {
        match self.inner.shape {
            ObstacleShape::Plane { point, normal } => format!("<pliant.Obstacle plane at {point}, normal {normal}>"),
            ObstacleShape::Sphere { center, radius, side } => {
                let kind = if side == Side::Inside { "hollow ball" } else { "ball" };
                format!("<pliant.Obstacle {kind} at {center} m, radius {radius} m>")
            }
        }
    }
}

impl Obstacle {
    fn new(
        shape: ObstacleShape,
        stiffness: Option<Amount<dimension::Stiffness>>,
        damping: Option<Amount<dimension::Viscosity>>,
        friction: f64,
        friction_speed: Option<Amount<dimension::Speed>>,
        motion: Option<Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
    ) -> PyResult<Self> {
        let stiffness = stiffness.map(|stiffness| stiffness.si);
        let mut inner = force::Obstacle::new(shape, stiffness.unwrap_or(0.0));
        inner.damping = damping.map_or(0.0, |damping| damping.si);
        inner.friction = friction;
        if let Some(speed) = friction_speed {
            inner.friction_speed = speed.si;
        }
        if let Some(frames) = motion {
            let frame = |(time, by): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                Ok((amount::<dimension::Time>(&time, "motion")?, vector::<dimension::Length>(&by, "motion")?))
            };
            let frames = frames.into_iter().map(frame).collect::<PyResult<Vec<_>>>()?;
            inner.motion = Keyframes::translations(frames).or_raise(Kind::Model)?.into();
        }
        // Invalid arguments are errors here, not in the model.
        force::Obstacles::new(&[], [inner.clone()]).or_raise(Kind::Model)?;
        Ok(Self { inner, stiffness })
    }

    /// Returns the obstacle of the library, with a default stiffness if none was given.
    pub fn with_stiffness(&self, usual: f64) -> force::Obstacle {
        force::Obstacle { stiffness: self.stiffness.unwrap_or(usual), ..self.inner.clone() }
    }
}
