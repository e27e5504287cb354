//! Bodies for the stepper of the paper, and the same bodies with the same elasticity for other schemes.

use pliant::integrator::Regularized;
use pliant::integrator::regularized::{Form, Moduli, Params, Strain};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::VolumeMesh;
use pliant::model::{Body, Hold, Model, ModelBuilder, ModelError};
use pliant::system::State;

use crate::Page;
use crate::measure::{Outcome, march};

/// In m/s².
pub const GRAVITY: f64 = 9.81;

/// The step at which the paper is interactive, in s.
pub const INTERACTIVE: f64 = 0.015;

/// A body of one elasticity that is held.
#[derive(Debug, Clone)]
pub struct Setup {
    pub mesh: VolumeMesh,
    pub moduli: YoungPoisson,
    /// One for each region, in kg/m³.
    pub densities: Vec<f64>,
    pub holds: Vec<Hold>,
    /// In m/s².
    pub gravity: Vec3,
    /// Whether the mass is lumped at the vertices.
    pub lumped: bool,
}

impl Setup {
    /// For the stepper of the paper, which brings the elasticity.
    pub fn bare(&self) -> Result<Model, ModelError> {
        self.around(Body::without_elasticity(self.mesh.clone(), 0.0)).build()
    }

    /// With the same energy as a force, that of St. Venant and Kirchhoff.
    pub fn elastic(&self) -> anyhow::Result<Model> {
        let law = AnyLaw::new("stvk", self.moduli)?;
        Ok(self.around(Body::new(self.mesh.clone(), law, 0.0)).build()?)
    }

    /// How the stepper of the paper works by default.
    pub fn params(&self) -> Params {
        Params {
            moduli: Moduli::Uniform(self.moduli),
            damping_time: None,
            strain: Strain::Nonlinear,
            form: Form::Condensed,
        }
    }

    fn around(&self, body: Body) -> ModelBuilder {
        let body = Body { densities: self.densities.clone(), ..body };
        let builder = Model::builder().body(body).gravity(self.gravity);
        let builder = self.holds.iter().cloned().fold(builder, ModelBuilder::hold);
        if self.lumped { builder.lumped_mass() } else { builder }
    }
}

/// Go to equilibrium by steps of 100 s with `γ = 1`: each is a step of Newton's method, without the part of the stiffness that comes from stress.
pub fn settle(
    page: &Page<'_>,
    what: &str,
    model: &mut Model,
    params: &Params,
    state: &mut State,
    steps: usize,
) -> anyhow::Result<()> {
    let h = 100.0;
    let mut scheme = Regularized::new(model, &Params { damping_time: Some(0.5 * h), ..params.clone() })?;
    match march(page, what, model, &mut scheme, state, h, steps, |_, _| {})? {
        Outcome::Finished => Ok(()),
        Outcome::Exploded { why, .. } => anyhow::bail!("{what} does not settle: {why}"),
    }
}

/// How far the saddle system and the Schur complement end from the condensed system after some steps of 15 ms.
pub fn forms_apart(page: &Page<'_>, setup: &Setup, steps: usize) -> anyhow::Result<f64> {
    let mut states: Vec<State> = Vec::new();
    for form in [Form::Condensed, Form::Schur, Form::Saddle] {
        let mut model = setup.bare()?;
        let mut scheme = Regularized::new(&model, &Params { form, ..setup.params() })?;
        let mut state = model.rest_state();
        let what = format!("{form:?}");
        let outcome = march(page, &what, &mut model, &mut scheme, &mut state, INTERACTIVE, steps, |_, _| {})?;
        if let Outcome::Exploded { why, .. } = outcome {
            anyhow::bail!("{what}: {why}");
        }
        states.push(state);
    }
    Ok(states[1..].iter().map(|state| difference(&states[0], state)).fold(0.0, f64::max))
}

/// The largest difference of positions, as a part of the largest displacement; infinite if there is none.
pub fn difference(a: &State, b: &State) -> f64 {
    let largest = a.q.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let apart = a.q.iter().zip(&b.q).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    if largest > 0.0 { apart / largest } else { f64::INFINITY }
}

/// Where the vertices of a section are at rest and in a state.
fn section(model: &Model, state: &State, x: f64) -> Vec<(Vec3, Vec3)> {
    let rest = model.rest().iter().copied();
    rest.zip(model.positions(state)).filter(|(rest, _)| (rest.x - x).abs() < 1e-9).collect()
}

/// How a section has moved on the whole.
#[derive(Debug, Clone, Copy)]
pub struct SectionMotion {
    /// Its mean position along the axis, in m.
    pub place: f64,
    /// The turn about the axis that fits best, in rad.
    pub turn: f64,
    /// And the factor of size.
    pub size: f64,
}

impl SectionMotion {
    /// Of the vertices that are at `x` at rest.
    pub fn at(model: &Model, state: &State, x: f64) -> Self {
        let section = section(model, state, x);
        let count = section.len() as f64;
        let sum = |a: (Vec3, Vec3), b: &(Vec3, Vec3)| (a.0 + b.0 / count, a.1 + b.1 / count);
        let (centre, moved) = section.iter().fold((Vec3::ZERO, Vec3::ZERO), sum);
        let (mut same, mut turned, mut square) = (0.0, 0.0, 0.0);
        for (rest, now) in section {
            let (r, n) = (rest - centre, now - moved);
            same += r.y * n.y + r.z * n.z;
            turned += r.y * n.z - r.z * n.y;
            square += r.y * r.y + r.z * r.z;
        }
        Self { place: moved.x, turn: turned.atan2(same), size: same.hypot(turned) / square }
    }
}
