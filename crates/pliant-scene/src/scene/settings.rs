//! Time steps and integrator: `[simulation]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Time;
use super::{Located, SceneError, Source, bounds};
use pliant::integrator::regularized::{self, Moduli};
use pliant::integrator::{
    BackwardEuler, CentralDifferences, ExplicitEuler, Fallback, Halving, Integrator, LinearizedBackwardEuler,
    NewtonParams, QuasiStatic, Static, StaticParams, SymplecticEuler,
};
use pliant::material::YoungPoisson;
use pliant::model::Model;
use pliant::reduced::{ExactModes, ReducedModel};
use pliant::solver::{AutoParams, CgParams, SolverParams, StaleFactorParams};
use pliant::system::{Definiteness, System};

/// Time steps and the integrator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Time step.
    #[schemars(transform = bounds::positive)]
    pub step: Located<Time>,
    /// Simulated time; the last step ends at or just after it.
    #[schemars(transform = bounds::not_negative)]
    pub duration: Located<Time>,
    /// Time integrator.
    #[serde(default)]
    pub integrator: Located<IntegratorKind>,
    /// Maximum number of times that a failed step is halved.
    #[serde(default = "default_halvings")]
    pub halvings: u32,
    /// Tangent of the linearized integrator; by default its projection onto the positive semi-definite matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tangent: Option<Located<NewtonTangent>>,
    /// Settings of the Newton iteration, for implicit integrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newton: Option<Located<Newton>>,
    /// Parameters of the Newmark integrator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newmark: Option<Located<Newmark>>,
    /// Parameters of the regularized integrator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regularized: Option<Located<Regularized>>,
    /// Linear solver.
    #[serde(default)]
    pub solver: Solver,
    /// Tolerance of iterative solvers: residual relative to the right-hand side; by default 1e-6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::fraction)]
    pub solver_tolerance: Option<Located<f64>>,
    /// Maximum number of iterations of an iterative solver per linear system; by default 5000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub solver_iterations: Option<Located<u32>>,
    /// Mass matrix.
    #[serde(default)]
    pub mass: Mass,
    /// Number of steps after which solvers discard their state, so that a run resumed there gives bitwise identical
    /// results.
    #[serde(default = "default_restart")]
    #[schemars(range(min = 1))]
    pub restart_every: Located<u32>,
}

fn default_halvings() -> u32 {
    Settings::HALVINGS
}

fn default_restart() -> Located<u32> {
    Located::new(Settings::RESTART_EVERY)
}

/// Time integrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IntegratorKind {
    /// Backward Euler with Newton iterations and a line search: stable for any step and any law, first order,
    /// dissipates energy. Steps in which energy rises without work are split. Rolling bodies gain and lose up to a few
    /// percent of their kinetic energy from step to step. Takes one or two iterations per step in smooth motion, more
    /// in contact.
    #[default]
    BackwardEuler,
    /// Backward Euler linearized once per step, without a line search: for smooth motion, moderate steps and
    /// comparisons. Stiff contact, fast impacts and large rotations per step can make its energy grow without bound.
    LinearizedBackwardEuler,
    /// Newmark's method: second order, conserves energy.
    Newmark,
    /// Central differences, explicit: small steps, which need no linear solve if the mass is lumped.
    CentralDifferences,
    /// Symplectic Euler, explicit.
    SymplecticEuler,
    /// Forward (explicit) Euler: stable only with damping.
    ExplicitEuler,
    /// Stepper of Servin et al. for stiff, rigid and incompressible bodies of tetrahedra. Has a built-in material law.
    Regularized,
    /// Static equilibrium at the end of every step: no inertia, time is only a parameter of loads and motions.
    Static,
    /// Closed-form solution of each mode of a reduced model with fixed vertices: exact for any step with a linear law
    /// and constant loads, explicit for everything else.
    ExactModes,
}

impl IntegratorKind {
    /// Returns true if steps use the forces at their start, not those at their end.
    pub(super) fn is_explicit(self) -> bool {
        matches!(self, Self::CentralDifferences | Self::SymplecticEuler | Self::ExplicitEuler | Self::ExactModes)
    }
}

/// Newton iteration for the balance of forces in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Newton {
    /// Maximum number of iterations.
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// Residual at which iterations end, relative to the forces. By default 1e-3 for backward Euler, which makes at
    /// least one iteration per step, and 1e-9 for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::fraction)]
    pub tolerance: Option<f64>,
    /// Tangent stiffness; by default the one that suits the integrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tangent: Option<NewtonTangent>,
    /// True to shorten Newton steps until the energy decreases; by default where the integrator has such an energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_search: Option<bool>,
    /// True if it is an error when the iterations end before the residual is below the tolerance. By default it is,
    /// except for backward Euler without a `tolerance`, whose line search keeps unconverged steps stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_converge: Option<bool>,
    /// State at which stiffness-proportional damping `βK` is evaluated; by default `start` for backward Euler, and
    /// `iterate` for Newmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<DampingState>,
}

/// State at which stiffness-proportional damping `βK` is evaluated in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DampingState {
    /// Start of the step, with `K` projected onto the positive semi-definite matrices: damping never adds energy.
    Start,
    /// Each Newton iterate, with the exact `K`, as in VegaFEM. The step then has no energy to minimize, and there is no
    /// line search.
    Iterate,
}

impl Default for Newton {
    fn default() -> Self {
        Self {
            iterations: NewtonParams::default().max_iterations as u32,
            tolerance: None,
            tangent: None,
            line_search: None,
            must_converge: None,
            damping: None,
        }
    }
}

/// Tangent stiffness matrix: the derivative of the forces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NewtonTangent {
    /// Exact derivative.
    Exact,
    /// Projection of the derivative onto the positive semi-definite matrices.
    Projected,
    /// Exact derivative while it is positive definite enough to make progress, else its projection.
    ExactFirst,
}

/// Parameters of the Newmark integrator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Newmark {
    /// Parameter `β`.
    #[schemars(transform = bounds::positive)]
    pub beta: f64,
    /// Parameter `γ`; ½ gives second order, larger values dissipate energy.
    #[schemars(transform = bounds::not_negative)]
    pub gamma: f64,
}

impl Default for Newmark {
    fn default() -> Self {
        Self { beta: 0.25, gamma: 0.5 }
    }
}

/// Parameters of the regularized integrator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Regularized {
    /// Decay time of strains; by default two steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::not_negative)]
    pub damping_time: Option<Time>,
    /// Strain measure that is kept small.
    pub strain: Strain,
    /// Elimination in which the linear system is solved.
    pub form: Elimination,
}

/// Strain measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Strain {
    /// Green strain, valid for any rotation.
    #[default]
    Nonlinear,
    /// Linear strain, valid for small rotations.
    Linear,
}

/// Elimination of the regularized linear system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Elimination {
    /// Multipliers are eliminated: by far the fastest.
    #[default]
    Condensed,
    /// Velocities are eliminated; needs a lumped mass.
    Schur,
    /// No unknowns are eliminated (saddle-point system).
    Saddle,
}

/// Linear solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Automatic choice for each matrix.
    #[default]
    Auto,
    /// Factorization of every matrix in double precision.
    Direct,
    /// Factorization of every matrix in single precision, corrected by conjugate gradients.
    DirectSingle,
    /// Conjugate gradients preconditioned by the inverses of the diagonal blocks.
    BlockJacobi,
    /// Conjugate gradients preconditioned by an incomplete Cholesky factor.
    IncompleteCholesky,
    /// Conjugate gradients preconditioned by a stale factor, co-rotated with the body.
    StaleFactor,
}

impl Solver {
    /// Returns the parameters of the solver, with `cg` for conjugate gradients if it uses them.
    pub fn params(self, cg: CgParams) -> SolverParams {
        match self {
            Self::Auto => SolverParams::Auto(AutoParams { cg, ..AutoParams::default() }),
            Self::Direct => SolverParams::Direct,
            Self::DirectSingle => SolverParams::DirectSingle(cg),
            Self::BlockJacobi => SolverParams::BlockJacobi(cg),
            Self::IncompleteCholesky => SolverParams::IncompleteCholesky(cg),
            Self::StaleFactor => SolverParams::StaleFactor(StaleFactorParams { cg, ..StaleFactorParams::default() }),
        }
    }
}

/// Mass matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mass {
    /// Consistent: distributed over the elements.
    #[default]
    Consistent,
    /// Lumped: concentrated at the vertices.
    Lumped,
}

/// Maximum number of steps; more would take years.
const MAX_STEPS: f64 = 1e12;

impl Settings {
    /// Default maximum number of halvings of a step.
    pub(super) const HALVINGS: u32 = 6;
    /// Default number of steps after which solvers discard their state.
    pub(super) const RESTART_EVERY: u32 = 100;

    /// Returns the number of steps.
    pub fn step_count(&self, source: &Source) -> Result<u64, SceneError> {
        let (step, duration) = (self.step.si, self.duration.si);
        if !(step > 0.0 && step.is_finite()) {
            let message = format!("the time step is {step} s, expected a positive time");
            return Err(source.error(self.step.span.as_ref(), message));
        }
        if !(duration >= 0.0 && duration.is_finite()) {
            let message = format!("the duration is {duration} s, expected a non-negative time");
            return Err(source.error(self.duration.span.as_ref(), message));
        }
        // A duration that is a whole number of steps up to rounding has exactly that number.
        let steps = (duration / step * (1.0 - 1e-12)).ceil();
        if steps > MAX_STEPS {
            let message = format!("{duration} s is {steps:e} steps of {step} s, expected at most {MAX_STEPS:e}");
            return Err(source.error(self.duration.span.as_ref(), message));
        }
        Ok(steps as u64)
    }

    /// Returns the parameters of the linear solver.
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
            cg.max_iterations = iterations.value as usize;
        }
        Ok(self.solver.params(cg))
    }

    /// Returns the integrator. `moduli` are those of the regions of bodies without elasticity.
    pub fn integrator(
        &self,
        source: &Source,
        model: &Model,
        moduli: Vec<YoungPoisson>,
    ) -> Result<Box<dyn Integrator<Model>>, SceneError> {
        self.check_options(source)?;
        let wrong = |message: String| source.error(self.integrator.span.as_ref(), message);
        match self.integrator.value {
            IntegratorKind::Regularized => {
                let Regularized { damping_time, strain, form } =
                    self.regularized.as_ref().map_or(Regularized::default(), |own| own.value.clone());
                let params = regularized::RegularizedParams {
                    moduli: Moduli::PerRegion(moduli),
                    damping_time: damping_time.map(|time| time.si),
                    strain: match strain {
                        Strain::Nonlinear => regularized::Strain::Nonlinear,
                        Strain::Linear => regularized::Strain::Linear,
                    },
                    form: match form {
                        Elimination::Condensed => regularized::Elimination::Condensed,
                        Elimination::Schur => regularized::Elimination::Schur,
                        Elimination::Saddle => regularized::Elimination::Saddle,
                    },
                };
                let integrator = pliant::integrator::Regularized::new(model, &params);
                Ok(Box::new(integrator.map_err(|error| wrong(error.to_string()))?))
            }
            IntegratorKind::ExactModes => {
                Err(wrong("`exact-modes` is for reduced models: see the key `reduced`".into()))
            }
            _ => self.common_integrator(source),
        }
    }

    /// Returns the integrator for a reduced model.
    pub fn reduced_integrator(
        &self,
        source: &Source,
        model: &ReducedModel,
    ) -> Result<Box<dyn Integrator<ReducedModel>>, SceneError> {
        self.check_options(source)?;
        let wrong = |message: &str| Err(source.error(self.integrator.span.as_ref(), message));
        let tolerance = self.solver_tolerance.as_ref().map(|own| &own.span);
        let iterations = self.solver_iterations.as_ref().map(|own| &own.span);
        let solver = (self.solver != Solver::Auto).then_some(&None);
        for (name, given) in [("solver", solver), ("solver_tolerance", tolerance), ("solver_iterations", iterations)] {
            if let Some(span) = given {
                let message = format!("`{name}` has no effect on reduced models, whose matrices are small and dense");
                return Err(source.error(span.as_ref(), message));
            }
        }
        match self.integrator.value {
            IntegratorKind::Regularized => {
                wrong("`regularized` has a built-in material law and does not support reduced models")
            }
            IntegratorKind::ExactModes if model.placement().is_some() => {
                wrong("`exact-modes` needs fixed vertices; this body is free")
            }
            IntegratorKind::Static if model.placement().is_some() => {
                wrong("`static` needs fixed vertices; this reduced body is free")
            }
            IntegratorKind::ExactModes => Ok(Box::new(ExactModes::default())),
            _ => self.common_integrator(source),
        }
    }

    /// Returns the integrator, if it supports any system.
    fn common_integrator<S: System + 'static>(&self, source: &Source) -> Result<Box<dyn Integrator<S>>, SceneError> {
        let halvings = self.halvings as usize;
        Ok(match self.integrator.value {
            IntegratorKind::LinearizedBackwardEuler => {
                let exact = || LinearizedBackwardEuler::new(Definiteness::Exact);
                let projected = || LinearizedBackwardEuler::new(Definiteness::Projected);
                match self.tangent.as_ref().map_or(NewtonTangent::Projected, |own| own.value) {
                    NewtonTangent::Exact => Box::new(Halving::new(exact(), halvings)),
                    NewtonTangent::Projected => Box::new(Halving::new(projected(), halvings)),
                    NewtonTangent::ExactFirst => Box::new(Halving::new(Fallback::new(exact(), projected()), halvings)),
                }
            }
            IntegratorKind::BackwardEuler => {
                let mut integrator = BackwardEuler::for_animation();
                // Far fewer iterations where a body is bent and twisted: a twelfth for a beam twisted by a full turn.
                integrator.params.tangent = pliant::integrator::NewtonTangent::ExactFirst;
                self.set_newton(&mut integrator.params, source)?;
                if let Some(newton) = &self.newton {
                    integrator.damping_follows = newton.damping == Some(DampingState::Iterate);
                    if integrator.damping_follows && newton.line_search == Some(true) {
                        let message =
                            "`damping = \"iterate\"` has no energy for a line search to decrease; remove `line_search`";
                        return Err(source.error(newton.span.as_ref(), message));
                    }
                    integrator.params.line_search &= !integrator.damping_follows;
                }
                Box::new(Halving::new(integrator, halvings))
            }
            IntegratorKind::Newmark => {
                let mut params = pliant::integrator::Newmark::default().params;
                self.set_newton(&mut params, source)?;
                let damping = self.newton.as_ref().and_then(|newton| newton.damping);
                let Newmark { beta, gamma } = self.newmark.as_ref().map_or(Newmark::default(), |own| own.value.clone());
                let span = self.newmark.as_ref().and_then(|own| own.span.as_ref());
                let mut integrator = pliant::integrator::Newmark::new(beta, gamma, params)
                    .map_err(|error| source.error(span, error.to_string()))?;
                integrator.set_damping_follows(damping != Some(DampingState::Start));
                Box::new(Halving::new(integrator, halvings))
            }
            IntegratorKind::CentralDifferences => Box::new(CentralDifferences::default()),
            IntegratorKind::SymplecticEuler => Box::new(SymplecticEuler::default()),
            IntegratorKind::ExplicitEuler => Box::new(ExplicitEuler::default()),
            IntegratorKind::Static => {
                let mut params = StaticParams::default();
                self.set_newton(&mut params.newton, source)?;
                Box::new(QuasiStatic(Static::new(params)))
            }
            IntegratorKind::Regularized | IntegratorKind::ExactModes => {
                return Err(
                    source.error(self.integrator.span.as_ref(), "this integrator does not support this kind of model")
                );
            }
        })
    }

    /// Returns an error if parameters of an integrator other than the chosen one are given, because they have no
    /// effect.
    pub fn check_options(&self, source: &Source) -> Result<(), SceneError> {
        let integrator = self.integrator.value;
        let iterates =
            matches!(integrator, IntegratorKind::BackwardEuler | IntegratorKind::Newmark | IntegratorKind::Static);
        let linearized = integrator == IntegratorKind::LinearizedBackwardEuler;
        let options = [
            ("tangent", self.tangent.as_ref().map(|own| &own.span), linearized),
            ("newton", self.newton.as_ref().map(|own| &own.span), iterates),
            ("newmark", self.newmark.as_ref().map(|own| &own.span), integrator == IntegratorKind::Newmark),
            ("regularized", self.regularized.as_ref().map(|own| &own.span), integrator == IntegratorKind::Regularized),
        ];
        for (name, given, applies) in options {
            if let (Some(span), false) = (given, applies) {
                let message = format!("`{name}` has no effect with the chosen integrator");
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
        params.max_iterations = newton.iterations as usize;
        if let Some(tolerance) = newton.tolerance {
            if !(tolerance > 0.0 && tolerance < 1.0) {
                return wrong(format!("the tolerance is {tolerance}, expected a number above 0 and below 1"));
            }
            params.tolerance = tolerance;
        }
        if let Some(tangent) = newton.tangent {
            params.tangent = match tangent {
                NewtonTangent::Exact => pliant::integrator::NewtonTangent::Exact,
                NewtonTangent::Projected => pliant::integrator::NewtonTangent::Projected,
                NewtonTangent::ExactFirst => pliant::integrator::NewtonTangent::ExactFirst,
            };
        }
        params.line_search = newton.line_search.unwrap_or(params.line_search);
        let is_backward_euler = self.integrator.value == IntegratorKind::BackwardEuler;
        params.must_converge = newton.must_converge.unwrap_or(!is_backward_euler || newton.tolerance.is_some());
        if newton.damping.is_some() && self.integrator.value == IntegratorKind::Static {
            return wrong("`damping` has no effect in static analyses".into());
        }
        Ok(())
    }
}
