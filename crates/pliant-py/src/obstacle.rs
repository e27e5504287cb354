//! Rigid obstacles.

use pliant::files::Disk;
use pliant::force;
use pliant::motion::{Keyframes, Motion};
use pliant_scene::scene::quantity::dimension;
use pliant_scene::scene::{ObstacleShapeChoice, ObstacleShapeContext, Source, Up};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::choices::choose;
use crate::errors::{Kind, OrRaise};
use crate::quantity::{Amount, amount, vector};
use crate::renamed;

/// Rigid obstacle with friction. For ``obstacles`` of :class:`Model`. It has one function per shape of ``[[obstacle]]``
/// in scene files, with the options of the shape and the keywords of ``Obstacle``.
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
    has_stiffness: bool,
    choice: ObstacleShapeChoice,
}

#[pymethods]
impl Obstacle {
    /// Creates an obstacle.
    ///
    /// Args:
    ///     shape: name of a shape in scene files. Options of the shape are keywords. There is also one function per
    ///         shape, such as :meth:`plane`.
    ///     stiffness: force on each vertex per penetration depth, in N/m; by default ten times the stiffness of an
    ///         element of the stiffest body.
    ///     damping: damping of the normal velocity of vertices in contact, in N·s/m.
    ///     friction: coefficient of friction.
    ///     friction_speed: sliding speed below which friction is proportional to it, in m/s; by default 1 mm/s.
    ///     motion: keyframes of its translation, ``[(time, (x, y, z)), …]`` in s and m; by default at rest.
    #[new]
    #[pyo3(signature = (
        shape, *, stiffness=None, damping=None, friction=0.0, friction_speed=None, motion=None, **options
    ))]
    fn new(
        shape: &str,
        stiffness: Option<Amount<dimension::Stiffness>>,
        damping: Option<Amount<dimension::Viscosity>>,
        friction: f64,
        friction_speed: Option<Amount<dimension::Speed>>,
        motion: Option<Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        renamed::refuse_old(&format!("Obstacle.{}()", shape.replace('-', "_")), options)?;
        let choice: ObstacleShapeChoice = choose(shape, options)?;
        let source = Source::none();
        let context = ObstacleShapeContext::new(&source, None, Up::default().direction(), &Disk);
        let motion = match motion {
            None => Motion::Still,
            Some(frames) => {
                let frame = |(time, by): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                    Ok((amount::<dimension::Time>(&time, "motion")?, vector::<dimension::Length>(&by, "motion")?))
                };
                let frames = frames.into_iter().map(frame).collect::<PyResult<Vec<_>>>()?;
                Keyframes::translations(frames).or_raise(Kind::Model)?.into()
            }
        };
        let inner = force::Obstacle {
            shape: choice.build(context).map_err(|error| error.message).or_raise(Kind::Model)?,
            motion,
            stiffness: stiffness.map_or(0.0, |stiffness| stiffness.si),
            damping: damping.map_or(0.0, |damping| damping.si),
            friction,
            friction_speed: friction_speed.map_or(force::Obstacle::FRICTION_SPEED, |speed| speed.si),
        };
        // Invalid arguments are errors here, not in the model.
        force::Obstacles::new([], [inner.clone()]).or_raise(Kind::Model)?;
        Ok(Self { inner, has_stiffness: stiffness.is_some(), choice })
    }

    /// Name of the shape.
    #[getter]
    fn shape(&self) -> &str {
        self.choice.name()
    }

    fn __repr__(&self) -> PyResult<String> {
        let options = serde_json::to_value(&self.choice).or_raise(Kind::Model)?;
        let options: Vec<String> = options[self.choice.name()]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!(", {name}={value}"))
            .collect();
        Ok(format!("<pliant.Obstacle {}{}>", self.choice.name(), options.concat()))
    }
}

impl Obstacle {
    /// Returns the obstacle of the library, with a default stiffness if none was given.
    pub fn with_stiffness(&self, usual: f64) -> force::Obstacle {
        force::Obstacle {
            stiffness: if self.has_stiffness { self.inner.stiffness } else { usual },
            ..self.inner.clone()
        }
    }
}
