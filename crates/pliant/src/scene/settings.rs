//! Steps in time: `[simulation]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Time;
use super::{At, SceneError, Source, bounds};
use crate::integrator::regularized::{self, Moduli};
use crate::integrator::{
    BackwardEuler, CentralDifferences, ExplicitEuler, Fallback, Halving, Integrator, LinearizedBackwardEuler,
    NewtonParams, QuasiStatic, Static, StaticParams, SymplecticEuler,
};
use crate::material::YoungPoisson;
use crate::model::Model;
use crate::reduced::{ExactModes, ReducedModel};
use crate::solver::{AutoParams, CgParams, OldFactorParams, SolverParams};
use crate::system::{Definiteness, System};

/// Steps in time, and how they are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The length of a time step.
    #[schemars(transform = bounds::positive)]
    pub step: At<Time>,
    /// How long to simulate; the last step ends there or just behind.
    #[schemars(transform = bounds::not_negative)]
    pub duration: At<Time>,
    /// How steps are made.
    #[serde(default)]
    pub scheme: At<Scheme>,
    /// When a step fails, how often it may be halved.
    #[serde(default = "default_halvings")]
    pub halvings: u32,
    /// Of the linearized scheme: which derivative of the forces is used; by default one that is not negative in any direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tangent: Option<At<Tangent>>,
    /// Of schemes that iterate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newton: Option<At<Newton>>,
    /// Of Newmark's scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newmark: Option<At<Newmark>>,
    /// Of the regularized scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regularized: Option<At<Regularized>>,
    /// How linear systems are solved.
    #[serde(default)]
    pub solver: Solver,
    /// The residual to which iterative solvers go, as a part of the right-hand side; by default 1e-6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::fraction)]
    pub solver_tolerance: Option<At<f64>>,
    /// How many iterations an iterative solver may spend on a system; by default 5000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub solver_iterations: Option<At<u32>>,
    /// Where the mass of elements is.
    #[serde(default)]
    pub mass: Mass,
    /// After how many steps solvers begin anew, so that a run can be resumed there with the same result to the last bit.
    #[serde(default = "default_restart")]
    #[schemars(range(min = 1))]
    pub restart_every: At<u32>,
}

fn default_halvings() -> u32 {
    Settings::HALVINGS
}

fn default_restart() -> At<u32> {
    At::new(Settings::RESTART_EVERY)
}

/// How steps are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Backward Euler with Newton iterations and a line search: stable at any step and for any law; first order, loses energy. Steps in which energy
    /// rises without work are split. Rolling bodies gain and lose up to a few percent of their kinetic energy from step to step. One or two
    /// iterations per step in smooth motion, more in contact.
    #[default]
    BackwardEuler,
    /// Backward Euler linearized once per step, without a line search: for smooth motion, moderate steps and comparisons. Stiff contact, fast
    /// impacts and large rotations per step can make its energy grow without bound.
    LinearizedBackwardEuler,
    /// Newmark's scheme, second order, which keeps energy.
    Newmark,
    /// Central differences, explicit: small steps without linear systems if the mass is lumped.
    CentralDifferences,
    /// Symplectic Euler, explicit.
    SymplecticEuler,
    /// Euler's scheme, explicit: stable only with damping.
    ExplicitEuler,
    /// The stepper of Servin et al. for stiff, rigid and incompressible bodies of tetrahedra; brings its own law.
    Regularized,
    /// Equilibrium at the end of every step: no inertia, time is only a parameter of loads and motions.
    Static,
    /// The modes of a reduced model that is held, each in closed form: exact at any step for a linear law under constant loads, explicit for all else.
    ExactModes,
}

impl Scheme {
    /// Whether steps are made with the forces of their start, and not with those of their end.
    pub(super) fn is_explicit(self) -> bool {
        matches!(self, Self::CentralDifferences | Self::SymplecticEuler | Self::ExplicitEuler | Self::ExactModes)
    }
}

/// How forces are balanced in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Newton {
    /// The most iterations.
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// Residual at which iterations end, relative to the forces. By default 1e-3 for backward Euler, which makes at least one iteration per step,
    /// and 1e-9 for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::fraction)]
    pub tolerance: Option<f64>,
    /// Which derivative of the forces is used; by default that which suits the scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tangent: Option<Tangent>,
    /// Whether steps are shortened until the energy falls; by default where the scheme has such an energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_search: Option<bool>,
    /// Whether it is an error when the iterations end before the residual is below the tolerance. By default it is, except for backward Euler
    /// without a `tolerance`, whose line search keeps unconverged steps stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_converge: Option<bool>,
    /// State at which stiffness-proportional damping `βK` is evaluated; by default at the start of the step for backward Euler, and at the
    /// iterate for Newmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<DampingState>,
}

/// State at which stiffness-proportional damping `βK` is evaluated in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DampingState {
    /// At the start of the step, with `K` projected onto the positive semi-definite matrices: damping never adds energy.
    Start,
    /// At each Newton iterate, with the exact `K`, as in VegaFEM. The step then has no energy to minimize: there is no line search.
    Iterate,
}

impl Default for Newton {
    fn default() -> Self {
        Self {
            iterations: NewtonParams::default().most_iterations as u32,
            tolerance: None,
            tangent: None,
            line_search: None,
            must_converge: None,
            damping: None,
        }
    }
}

/// A derivative of the forces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tangent {
    /// The derivative.
    Exact,
    /// One near it that is not negative in any direction.
    Projected,
    /// The derivative while it serves.
    ExactFirst,
}

/// The parameters of Newmark's scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Newmark {
    /// `β`.
    #[schemars(transform = bounds::positive)]
    pub beta: f64,
    /// `γ`; ½ is second order, more loses energy.
    #[schemars(transform = bounds::not_negative)]
    pub gamma: f64,
}

impl Default for Newmark {
    fn default() -> Self {
        Self { beta: 0.25, gamma: 0.5 }
    }
}

/// The parameters of the regularized scheme.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Regularized {
    /// Within what time strains decay; by default two steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub damping_time: Option<Time>,
    /// Which strain is kept small.
    pub strain: Strain,
    /// Which unknowns are eliminated first.
    pub form: Form,
}

/// A strain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Strain {
    /// Right for any rotation.
    #[default]
    Nonlinear,
    /// Right for small rotations.
    Linear,
}

/// A form of the regularized system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Multipliers are eliminated: by far the fastest.
    #[default]
    Condensed,
    /// Velocities are eliminated; needs a lumped mass.
    Schur,
    /// Nothing is.
    Saddle,
}

/// How linear systems are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Whichever suits the matrix.
    #[default]
    Auto,
    /// A factor of every matrix, in double precision.
    Direct,
    /// A factor of every matrix, in single precision, corrected by conjugate gradients.
    DirectSingle,
    /// Conjugate gradients with the inverses of the diagonal blocks.
    BlockJacobi,
    /// Conjugate gradients with an incomplete factor.
    IncompleteCholesky,
    /// Conjugate gradients with an old factor that turns with the body.
    OldFactor,
}

impl Solver {
    /// Its parameters, with those of conjugate gradients where it has them.
    pub fn params(self, cg: CgParams) -> SolverParams {
        match self {
            Self::Auto => SolverParams::Auto(AutoParams { cg, ..AutoParams::default() }),
            Self::Direct => SolverParams::Direct,
            Self::DirectSingle => SolverParams::DirectSingle(cg),
            Self::BlockJacobi => SolverParams::BlockJacobi(cg),
            Self::IncompleteCholesky => SolverParams::IncompleteCholesky(cg),
            Self::OldFactor => SolverParams::OldFactor(OldFactorParams { cg, ..OldFactorParams::default() }),
        }
    }
}

/// Where mass is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mass {
    /// Spread over elements.
    #[default]
    Consistent,
    /// At the vertices.
    Lumped,
}

/// More steps would take years.
const MOST_STEPS: f64 = 1e12;

impl Settings {
    /// How often a step may be halved, if nothing else is said.
    pub(super) const HALVINGS: u32 = 6;
    /// After how many steps solvers begin anew, if nothing else is said.
    pub(super) const RESTART_EVERY: u32 = 100;

    /// How many steps there are.
    pub fn step_count(&self, source: &Source) -> Result<u64, SceneError> {
        let (step, duration) = (self.step.si, self.duration.si);
        if !(step > 0.0 && step.is_finite()) {
            let message = format!("the time step is {step} s, expected a positive time");
            return Err(source.error(self.step.span.as_ref(), message));
        }
        if !(duration >= 0.0 && duration.is_finite()) {
            let message = format!("the duration is {duration} s, expected a time that is not negative");
            return Err(source.error(self.duration.span.as_ref(), message));
        }
        // A duration that is a whole number of steps but for rounding has just these.
        let steps = (duration / step * (1.0 - 1e-12)).ceil();
        if steps > MOST_STEPS {
            let message = format!("{duration} s are {steps:e} steps of {step} s, expected at most {MOST_STEPS:e}");
            return Err(source.error(self.duration.span.as_ref(), message));
        }
        Ok(steps as u64)
    }

    /// The parameters of the linear solver.
    pub fn solver(&self, source: &Source) -> Result<SolverParams, SceneError> {
        let mut cg = CgParams::default();
        if let Some(tolerance) = &self.solver_tolerance {
            if !(tolerance.value > 0.0 && tolerance.value < 1.0) {
                let message = format!("the tolerance is {}, expected a number above 0 and below 1", tolerance.value);
                return Err(source.error(tolerance.span.as_ref(), message));
            }
            cg.tolerance = tolerance.value;
        }
        if let Some(iterations) = &self.solver_iterations {
            if iterations.value == 0 {
                return Err(source.error(iterations.span.as_ref(), "0 iterations, expected at least 1"));
            }
            cg.most_iterations = iterations.value as usize;
        }
        Ok(self.solver.params(cg))
    }

    /// The scheme. `moduli` are those of the regions of bodies without elasticity.
    pub fn integrator(
        &self,
        source: &Source,
        model: &Model,
        moduli: Vec<YoungPoisson>,
    ) -> Result<Box<dyn Integrator<Model>>, SceneError> {
        self.check_options(source)?;
        let wrong = |message: String| source.error(self.scheme.span.as_ref(), message);
        match self.scheme.value {
            Scheme::Regularized => {
                let Regularized { damping_time, strain, form } =
                    self.regularized.as_ref().map_or(Regularized::default(), |own| own.value.clone());
                let params = regularized::Params {
                    moduli: Moduli::PerRegion(moduli),
                    damping_time: damping_time.map(|time| time.si),
                    strain: match strain {
                        Strain::Nonlinear => regularized::Strain::Nonlinear,
                        Strain::Linear => regularized::Strain::Linear,
                    },
                    form: match form {
                        Form::Condensed => regularized::Form::Condensed,
                        Form::Schur => regularized::Form::Schur,
                        Form::Saddle => regularized::Form::Saddle,
                    },
                };
                let scheme = crate::integrator::Regularized::new(model, &params);
                Ok(Box::new(scheme.map_err(|error| wrong(error.to_string()))?))
            }
            Scheme::ExactModes => Err(wrong("`exact-modes` is for reduced models: see the key `reduced`".into())),
            _ => self.scheme_of_any(source),
        }
    }

    /// The scheme, for a reduced model.
    pub fn reduced_integrator(
        &self,
        source: &Source,
        model: &ReducedModel,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        self.check_options(source)?;
        let wrong = |message: &str| Err(source.error(self.scheme.span.as_ref(), message));
        let tolerance = self.solver_tolerance.as_ref().map(|own| &own.span);
        let iterations = self.solver_iterations.as_ref().map(|own| &own.span);
        let solver = (self.solver != Solver::Auto).then_some(&None);
        for (name, given) in [("solver", solver), ("solver_tolerance", tolerance), ("solver_iterations", iterations)] {
            if let Some(span) = given {
                let message = format!(
                    "`{name}` is not for reduced models, whose matrices are small and dense, and would do nothing"
                );
                return Err(source.error(span.as_ref(), message));
            }
        }
        match self.scheme.value {
            Scheme::Regularized => wrong("`regularized` has a law of its own, and is not for reduced models"),
            Scheme::ExactModes if model.placement().is_some() => {
                wrong("`exact-modes` is for bodies that are held; this one is free")
            }
            Scheme::Static if model.placement().is_some() => {
                wrong("`static` is for bodies that are held; this reduced one is free")
            }
            Scheme::ExactModes => Ok(Box::new(ExactModes::default())),
            _ => self.scheme_of_any(source),
        }
    }

    /// Schemes for any system.
    fn scheme_of_any<S: System + 'static>(&self, source: &Source) -> Result<Box<dyn Integrator<S>>, SceneError> {
        let halvings = self.halvings as usize;
        Ok(match self.scheme.value {
            Scheme::LinearizedBackwardEuler => {
                let exact = || LinearizedBackwardEuler::new(Definiteness::Exact);
                let projected = || LinearizedBackwardEuler::new(Definiteness::Projected);
                match self.tangent.as_ref().map_or(Tangent::Projected, |own| own.value) {
                    Tangent::Exact => Box::new(Halving::new(exact(), halvings)),
                    Tangent::Projected => Box::new(Halving::new(projected(), halvings)),
                    Tangent::ExactFirst => Box::new(Halving::new(Fallback::new(exact(), projected()), halvings)),
                }
            }
            Scheme::BackwardEuler => {
                let mut scheme = BackwardEuler::for_animation();
                // Far fewer iterations where a body is bent and twisted: in a beam that is turned by a whole turn, a twelfth.
                scheme.params.tangent = crate::integrator::Tangent::ExactFirst;
                self.set_newton(&mut scheme.params, source)?;
                if let Some(newton) = &self.newton {
                    scheme.damping_follows = newton.damping == Some(DampingState::Iterate);
                    if scheme.damping_follows && newton.line_search == Some(true) {
                        let message = "`damping = \"iterate\"` has no energy that a line search could lower; leave out `line_search`";
                        return Err(source.error(newton.span.as_ref(), message));
                    }
                    scheme.params.line_search &= !scheme.damping_follows;
                }
                Box::new(Halving::new(scheme, halvings))
            }
            Scheme::Newmark => {
                let mut params = crate::integrator::Newmark::default().params;
                self.set_newton(&mut params, source)?;
                let damping = self.newton.as_ref().and_then(|newton| newton.damping);
                let Newmark { beta, gamma } = self.newmark.as_ref().map_or(Newmark::default(), |own| own.value.clone());
                let span = self.newmark.as_ref().and_then(|own| own.span.as_ref());
                let mut scheme = crate::integrator::Newmark::new(beta, gamma, params)
                    .map_err(|error| source.error(span, error.to_string()))?;
                scheme.set_damping_follows(damping != Some(DampingState::Start));
                Box::new(Halving::new(scheme, halvings))
            }
            Scheme::CentralDifferences => Box::new(CentralDifferences::default()),
            Scheme::SymplecticEuler => Box::new(SymplecticEuler::default()),
            Scheme::ExplicitEuler => Box::new(ExplicitEuler::default()),
            Scheme::Static => {
                let mut params = StaticParams::default();
                self.set_newton(&mut params.newton, source)?;
                Box::new(QuasiStatic(Static::new(params)))
            }
            Scheme::Regularized | Scheme::ExactModes => {
                return Err(source.error(self.scheme.span.as_ref(), "this scheme is not for this kind of model"));
            }
        })
    }

    /// Parameters of another scheme than the one in use would do nothing.
    pub fn check_options(&self, source: &Source) -> Result<(), SceneError> {
        let scheme = self.scheme.value;
        let iterates = matches!(scheme, Scheme::BackwardEuler | Scheme::Newmark | Scheme::Static);
        let linearized = scheme == Scheme::LinearizedBackwardEuler;
        let options = [
            ("tangent", self.tangent.as_ref().map(|own| &own.span), linearized),
            ("newton", self.newton.as_ref().map(|own| &own.span), iterates),
            ("newmark", self.newmark.as_ref().map(|own| &own.span), scheme == Scheme::Newmark),
            ("regularized", self.regularized.as_ref().map(|own| &own.span), scheme == Scheme::Regularized),
        ];
        for (name, given, applies) in options {
            if let (Some(span), false) = (given, applies) {
                let message = format!("`{name}` is not for the scheme that is chosen, and would do nothing");
                return Err(source.error(span.as_ref(), message));
            }
        }
        Ok(())
    }

    fn set_newton(&self, params: &mut NewtonParams, source: &Source) -> Result<(), SceneError> {
        let Some(newton) = &self.newton else { return Ok(()) };
        let wrong = |message: String| Err(source.error(newton.span.as_ref(), message));
        if newton.iterations == 0 {
            return wrong("0 iterations, expected at least 1".into());
        }
        params.most_iterations = newton.iterations as usize;
        if let Some(tolerance) = newton.tolerance {
            if !(tolerance > 0.0 && tolerance < 1.0) {
                return wrong(format!("the tolerance is {tolerance}, expected a number above 0 and below 1"));
            }
            params.tolerance = tolerance;
        }
        if let Some(tangent) = newton.tangent {
            params.tangent = match tangent {
                Tangent::Exact => crate::integrator::Tangent::Exact,
                Tangent::Projected => crate::integrator::Tangent::Projected,
                Tangent::ExactFirst => crate::integrator::Tangent::ExactFirst,
            };
        }
        params.line_search = newton.line_search.unwrap_or(params.line_search);
        let is_backward_euler = self.scheme.value == Scheme::BackwardEuler;
        params.must_converge = newton.must_converge.unwrap_or(!is_backward_euler || newton.tolerance.is_some());
        if newton.damping.is_some() && self.scheme.value == Scheme::Static {
            return wrong("`damping` is not for statics, and would do nothing".into());
        }
        Ok(())
    }
}
