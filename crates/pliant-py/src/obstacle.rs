//! Rigid obstacles.

use pliant::contact::{Collider, ColliderShape, ContactParams, ContactSurfaces, Friction};
use pliant::files::Disk;
use pliant::force;
use pliant::motion::{Keyframes, Motion};
use pliant_scene::scene::quantity::dimension;
use pliant_scene::scene::{Contact, ObstacleShapeChoice, ObstacleShapeContext, Source, Up};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::choices::choose;
use crate::errors::{Kind, OrRaise};
use crate::quantity::{Amount, amount, vector};
use crate::renamed;

/// Rigid obstacle with friction. For ``obstacles`` of :class:`Model`. It has one function per shape of ``[[obstacle]]``
/// in scene files, with the options of the shape and the keywords of ``Obstacle``.
///
/// Bodies of models with ``contact`` never pass through obstacles. Otherwise, only surface vertices are in contact, by
/// a penalty, so an obstacle should be larger than the edges of the mesh. The shapes ``box``, ``capsule``, ``cylinder``
/// and ``mesh`` require ``contact``.
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
    /// Obstacle of penalty contact, with a stiffness of 0 if none was given, or `None` if its shape has no penalty.
    penalty: Option<force::Obstacle>,
    /// Shape of barrier contact, or the reason why it has no such contact.
    collider: Result<ColliderShape, String>,
    name: Option<String>,
    motion: Motion,
    stiffness: Option<f64>,
    has_damping: bool,
    friction: Option<f64>,
    friction_speed: Option<f64>,
    choice: ObstacleShapeChoice,
}

#[pymethods]
impl Obstacle {
    /// Creates an obstacle.
    ///
    /// Args:
    ///     shape: name of a shape in scene files. Options of the shape are keywords. There is also one function per
    ///         shape, such as :meth:`plane`.
    ///     stiffness: force of penalty contact on each vertex per penetration depth, in N/m; by default ten times the
    ///         stiffness of an element of the stiffest body. With it, contact is a penalty also in models with
    ///         ``contact``.
    ///     damping: damping of penalty contact, of the normal velocity of vertices, in N·s/m.
    ///     friction: coefficient of friction; by default that of ``contact`` of the model, or zero.
    ///     friction_speed: sliding speed below which friction is proportional to it, in m/s; by default 1 mm/s.
    ///     motion: keyframes of its translation, ``[(time, (x, y, z)), …]`` in s and m; by default at rest.
    ///     name: name for pairs of ``contact`` and :class:`Contacts`; by default ``"obstacle-1"`` and so on.
    #[new]
    #[pyo3(signature = (
        shape, *, stiffness=None, damping=None, friction=None, friction_speed=None, motion=None, name=None, **options
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        shape: &str,
        stiffness: Option<Amount<dimension::Stiffness>>,
        damping: Option<Amount<dimension::Viscosity>>,
        friction: Option<f64>,
        friction_speed: Option<Amount<dimension::Speed>>,
        motion: Option<Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>,
        name: Option<String>,
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
        let friction_speed = friction_speed.map(|speed| speed.si);
        let collider = choice.collider(context).map_err(|error| error.message);
        let penalty = if let Ok(shape) = choice.build(context) {
            let penalty = force::Obstacle {
                shape,
                motion: motion.clone(),
                stiffness: stiffness.as_ref().map_or(0.0, |stiffness| stiffness.si),
                damping: damping.as_ref().map_or(0.0, |damping| damping.si),
                friction: friction.unwrap_or(0.0),
                friction_speed: friction_speed.unwrap_or(force::Obstacle::FRICTION_SPEED),
            };
            // Invalid arguments are errors here, not in the model.
            force::Obstacles::new([], [penalty.clone()]).or_raise(Kind::Model)?;
            Some(penalty)
        } else if stiffness.is_some() || damping.is_some() {
            return Err(Kind::Model.error(format!(
                "stiffness and damping are those of penalty contact, which the shape `{}` does not have",
                choice.name()
            )));
        } else {
            None
        };
        let obstacle = Self {
            penalty,
            collider,
            name,
            motion,
            stiffness: stiffness.map(|stiffness| stiffness.si),
            has_damping: damping.is_some(),
            friction,
            friction_speed,
            choice,
        };
        if obstacle.penalty.is_none() {
            let colliders = [obstacle.collider(0, &Contact::default())?];
            let surfaces =
                ContactSurfaces { bodies: Vec::new(), colliders: &colliders, params: ContactParams::default() };
            surfaces.build().or_raise(Kind::Model)?;
        }
        Ok(obstacle)
    }

    /// Name for contact, or None for the default one.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
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
    /// Returns true if its contact is a penalty also in models with barrier contact.
    pub fn is_penalty(&self) -> bool {
        self.stiffness.is_some() || self.has_damping
    }

    /// Returns the obstacle of penalty contact, with a default stiffness if none was given.
    pub fn with_stiffness(&self, usual: f64) -> Result<force::Obstacle, String> {
        let Some(penalty) = &self.penalty else {
            return Err(format!(
                "obstacles: the shape `{}` works with barrier contact only; create the model with contact=True",
                self.choice.name()
            ));
        };
        Ok(force::Obstacle { stiffness: self.stiffness.unwrap_or(usual), ..penalty.clone() })
    }

    /// Returns the collider of barrier contact. `number` is the index of the obstacle.
    pub fn collider(&self, number: usize, settings: &Contact) -> PyResult<Collider> {
        let shape = self.collider.as_ref().map_err(Clone::clone).or_raise(Kind::Model)?.clone();
        let friction = self.friction.map(|friction| Friction {
            speed: self.friction_speed.unwrap_or(Friction::SPEED),
            ..settings.friction_of(friction, None)
        });
        let name = self.name.clone().unwrap_or_else(|| format!("obstacle-{}", number + 1));
        Ok(Collider { name, shape, motion: self.motion.clone().into(), friction })
    }
}
