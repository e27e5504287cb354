//! Solid things that bodies run into.

use pliant::force::{self, Shape, Side};
use pliant::math::Vec3;
use pliant::motion::Keyframes;
use pliant::scene::quantity::dimension;
use pyo3::prelude::*;

use crate::errors::{Kind, OrRaise};
use crate::quantity::{Amount, amount, vector};

/// Something solid that bodies run into: a plane, a ball or the inside of a hollow ball, with friction. For ``obstacles`` of :class:`Model`.
///
/// Only vertices of the surface touch obstacles, so an obstacle should be larger than the edges of the mesh.
///
/// >>> ground = pliant.Obstacle.plane((0, 0, 0), (0, 1, 0), friction=0.5)
/// >>> ball = pliant.Mesh.ball(0.1, across=4).translated((0, 0.12, 0))
/// >>> rubber = pliant.materials.stable_neo_hookean(young="100 kPa", poisson=0.4, density="1 g/cm^3")
/// >>> model = pliant.Model(ball, rubber, damping=(1, 0), obstacles=[ground])
/// >>> sim = pliant.Simulation(model, pliant.integrators.backward_euler(dt="5 ms"), gravity=(0, -9.81, 0))
/// >>> sim.run("0.3 s")
/// 60
/// >>> bool(0.08 < sim.observe().centre_of_mass[1] < 0.12)
/// True
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Obstacle {
    /// With a stiffness of 0 if none was given.
    inner: force::Obstacle,
    stiffness: Option<f64>,
}

#[pymethods]
impl Obstacle {
    /// The half-space behind a plane.
    ///
    /// Args:
    ///     point: a point of the plane, in m.
    ///     normal: points to where bodies may be; of any length.
    ///     stiffness: push on each vertex by depth, in N/m; by default ten times that of an element of the stiffest body.
    ///     damping: slows down vertices that go in or out, in N·s/m.
    ///     friction: coefficient of friction.
    ///     friction_speed: sliding speed below which friction decreases in proportion, in m/s; by default 1 mm/s.
    ///     motion: keyframes of its translation, ``[(time, (x, y, z)), …]`` in s and m; by default it stands still.
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
        let shape = Shape::Plane { point, normal: Vec3::from_array(normal) };
        Self::new(shape, stiffness, damping, friction, friction_speed, motion)
    }

    /// A solid ball. The other arguments are those of :meth:`plane`.
    ///
    /// Args:
    ///     centre: its center, in m.
    ///     radius: its radius, in m.
    #[staticmethod]
    #[pyo3(signature = (
        centre, radius, *, stiffness=None, damping=None, friction=0.0, friction_speed=None, motion=None
    ))]
    fn ball(
        centre: &Bound<'_, PyAny>,
        radius: Amount<dimension::Length>,
        stiffness: Option<Amount<dimension::Stiffness>>,
        damping: Option<Amount<dimension::Viscosity>>,
        friction: f64,
        friction_speed: Option<Amount<dimension::Speed>>,
        motion: Option<Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
    ) -> PyResult<Self> {
        let centre = vector::<dimension::Length>(centre, "centre")?;
        let shape = Shape::Sphere { centre, radius: radius.si, side: Side::Outside };
        Self::new(shape, stiffness, damping, friction, friction_speed, motion)
    }

    /// Everything around a ball, which keeps bodies inside it. The other arguments are those of :meth:`plane`.
    ///
    /// Args:
    ///     centre: its center, in m.
    ///     radius: its radius, in m.
    #[staticmethod]
    #[pyo3(signature = (
        centre, radius, *, stiffness=None, damping=None, friction=0.0, friction_speed=None, motion=None
    ))]
    fn hollow_ball(
        centre: &Bound<'_, PyAny>,
        radius: Amount<dimension::Length>,
        stiffness: Option<Amount<dimension::Stiffness>>,
        damping: Option<Amount<dimension::Viscosity>>,
        friction: f64,
        friction_speed: Option<Amount<dimension::Speed>>,
        motion: Option<Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
    ) -> PyResult<Self> {
        let centre = vector::<dimension::Length>(centre, "centre")?;
        let shape = Shape::Sphere { centre, radius: radius.si, side: Side::Inside };
        Self::new(shape, stiffness, damping, friction, friction_speed, motion)
    }

    fn __repr__(&self) -> String {
        match self.inner.shape {
            Shape::Plane { point, normal } => format!("<pliant.Obstacle plane at {point}, normal {normal}>"),
            Shape::Sphere { centre, radius, side } => {
                let kind = if side == Side::Inside { "hollow ball" } else { "ball" };
                format!("<pliant.Obstacle {kind} at {centre} m, radius {radius} m>")
            }
        }
    }
}

impl Obstacle {
    fn new(
        shape: Shape,
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
        // Refuses what is not possible here, not in the model.
        force::Obstacles::new(&[], [inner.clone()]).or_raise(Kind::Model)?;
        Ok(Self { inner, stiffness })
    }

    /// The obstacle of the library, with a stiffness for those that have none.
    pub fn with_stiffness(&self, usual: f64) -> force::Obstacle {
        force::Obstacle { stiffness: self.stiffness.unwrap_or(usual), ..self.inner.clone() }
    }
}
