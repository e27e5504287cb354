//! Bodies for the integrator of the paper, and equivalent elastic bodies for other integrators.

use pliant::integrator::Regularized;
use pliant::integrator::regularized::{Elimination, Moduli, RegularizedParams, Strain};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::VolumeMesh;
use pliant::model::{Assembly, Body, Fixed, Model, ModelBuilder, ModelError};
use pliant::system::State;

use crate::Page;
use crate::measure::{Outcome, march};

pub use crate::bodies::GRAVITY;

/// Time step of the interactive simulations of the paper \[s\].
pub const INTERACTIVE: f64 = 0.015;

/// Homogeneous elastic body with its boundary conditions.
#[derive(Debug, Clone)]
pub struct Setup {
    pub mesh: VolumeMesh,
    pub moduli: YoungPoisson,
    /// Density of each region \[kg/m³\].
    pub densities: Vec<f64>,
    pub fixed: Vec<Fixed>,
    /// Gravitational acceleration \[m/s²\].
    pub gravity: Vec3,
    /// True if the mass matrix is lumped.
    pub lumped: bool,
}

impl Setup {
    /// Creates a model without elasticity, which the integrator of the paper adds.
    pub fn bare(&self) -> Result<Model, ModelError> {
        self.around(Body::without_elasticity(self.mesh.clone(), 0.0)).build()
    }

    /// Creates a model with St. Venant–Kirchhoff forces, which have the same energy.
    pub fn elastic(&self) -> anyhow::Result<Model> {
        let law = AnyLaw::new("stvk", self.moduli)?;
        Ok(self.around(Body::new(self.mesh.clone(), law, 0.0)).build()?)
    }

    /// Returns the default parameters of the integrator of the paper.
    pub fn params(&self) -> RegularizedParams {
        RegularizedParams {
            moduli: Moduli::Uniform(self.moduli),
            damping_time: None,
            strain: Strain::Nonlinear,
            form: Elimination::Condensed,
        }
    }

    fn around(&self, body: Body) -> ModelBuilder {
        let body = Body { densities: self.densities.clone(), ..body };
        let builder = Model::builder().body(body).gravity(self.gravity);
        let builder = self.fixed.iter().cloned().fold(builder, ModelBuilder::fix);
        if self.lumped { builder.lumped_mass() } else { builder }
    }
}

/// Advances to equilibrium with steps of 100 s and `γ = 1`. Each is a Newton iteration without the geometric stiffness.
pub fn settle(
    page: &Page<'_>,
    what: &str,
    assembly: &mut Assembly,
    params: &RegularizedParams,
    state: &mut State,
    steps: usize,
) -> anyhow::Result<()> {
    let h = 100.0;
    let params = RegularizedParams { damping_time: Some(0.5 * h), ..params.clone() };
    let mut stepper = Regularized::new(assembly.model(), &params)?.into();
    match march(page, what, assembly, &mut stepper, state, h, steps, |_, _| {})? {
        Outcome::Finished => Ok(()),
        Outcome::Exploded { why, .. } => anyhow::bail!("{what}: no equilibrium found: {why}"),
    }
}

/// Returns the difference of the saddle system and the Schur complement from the condensed system, after `steps` steps
/// of 15 ms.
pub fn forms_apart(page: &Page<'_>, setup: &Setup, steps: usize) -> anyhow::Result<f64> {
    let mut states: Vec<State> = Vec::new();
    for form in [Elimination::Condensed, Elimination::Schur, Elimination::Saddle] {
        let mut assembly = Assembly::new(setup.bare()?);
        let params = RegularizedParams { form, ..setup.params() };
        let mut stepper = Regularized::new(assembly.model(), &params)?.into();
        let mut state = assembly.rest_state();
        let what = format!("{form:?}");
        let outcome = march(page, &what, &mut assembly, &mut stepper, &mut state, INTERACTIVE, steps, |_, _| {})?;
        if let Outcome::Exploded { why, .. } = outcome {
            anyhow::bail!("{what}: {why}");
        }
        states.push(state);
    }
    Ok(states[1..].iter().map(|state| difference(&states[0], state)).fold(0.0, f64::max))
}

/// Returns the maximum difference of positions relative to the maximum displacement, or infinity if that is zero.
pub fn difference(a: &State, b: &State) -> f64 {
    let largest = a.q.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    let apart = a.q.iter().zip(&b.q).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()));
    if largest > 0.0 { apart / largest } else { f64::INFINITY }
}

/// Returns the positions of the vertices of a cross section at rest and in a state.
fn section(model: &Model, state: &State, x: f64) -> Vec<(Vec3, Vec3)> {
    let rest = model.rest().iter().copied();
    rest.zip(model.positions(state)).filter(|(rest, _)| (rest.x - x).abs() < 1e-9).collect()
}

/// Mean motion of a cross section.
#[derive(Debug, Clone, Copy)]
pub struct SectionMotion {
    /// Mean position along the axis \[m\].
    pub place: f64,
    /// Best-fit rotation about the axis \[rad\].
    pub turn: f64,
    /// Best-fit scale factor.
    pub size: f64,
}

impl SectionMotion {
    /// Computes the motion of the vertices that are at `x` at rest.
    pub fn at(model: &Model, state: &State, x: f64) -> Self {
        let section = section(model, state, x);
        let count = section.len() as f64;
        let sum = |a: (Vec3, Vec3), b: &(Vec3, Vec3)| (a.0 + b.0 / count, a.1 + b.1 / count);
        let (center, moved) = section.iter().fold((Vec3::ZERO, Vec3::ZERO), sum);
        let (mut same, mut turned, mut square) = (0.0, 0.0, 0.0);
        for (rest, now) in section {
            let (r, n) = (rest - center, now - moved);
            same += r.y * n.y + r.z * n.z;
            turned += r.y * n.z - r.z * n.y;
            square += r.y * r.y + r.z * r.z;
        }
        Self { place: moved.x, turn: turned.atan2(same), size: same.hypot(turned) / square }
    }
}
