//! Errors of steps, and changes that help.

use std::fmt;

use thiserror::Error;

use super::Stability;
use crate::motion::NotFinite;
use crate::solver::SolveError;
use crate::system::{Coordinate, Inverted};

/// Error of a step.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum StepError {
    #[error("the time step is {dt} s, expected a positive number")]
    TimeStep { dt: f64 },
    #[error("the state has {found} coordinates, expected {expected}")]
    Length { found: usize, expected: usize },
    #[error("the state has {found} history variables, expected {expected}")]
    History { found: usize, expected: usize },
    #[error("{what} is not finite at {place} before the step from {time} s")]
    State { what: &'static str, place: Coordinate, time: f64 },
    #[error("in the step from {time} s: {cause}")]
    Undefined { time: f64, cause: NotFinite },
    #[error("{what} is not finite at {place} in the step from {time} s.{}", Stability::hint(*stability))]
    NotFinite { what: &'static str, place: Coordinate, time: f64, stability: Option<Stability> },
    #[error(
        "the energy is {energy} J at the start of the step from {time} s: this law is undefined for inverted elements"
    )]
    Energy { energy: f64, time: f64 },
    #[error("{cause} in the step from {time} s; {}", Remedy::list(&self.remedies()))]
    Inverted {
        time: f64,
        cause: Box<Inverted>,
        /// True if the step had a line search, so that a prescribed motion or a load is too large for it.
        searched: bool,
    },
    #[error(
        "no balance of forces at {time} s after {iterations} iterations: the residual is {residual:.1e} of the forces, expected \
         {tolerance:.1e}; it is largest at {worst}{}. A smaller step helps",
        energy.map_or(String::new(), |energy| format!("; the energy is {energy:.6e} J"))
    )]
    NotConverged { time: f64, iterations: usize, residual: f64, tolerance: f64, worst: Coordinate, energy: Option<f64> },
    #[error(
        "no shorter Newton step lowers the energy at {time} s, iteration {iterations}: the residual is {residual:.1e} of the \
         forces, largest at {worst}. A projected tangent or a smaller step helps"
    )]
    LineSearch { time: f64, iterations: usize, residual: f64, worst: Coordinate },
    #[error(
        "a prescribed motion is blocked in the step to {time} s{}: {}. Let it yield, or make it shorter",
        between.as_ref().map_or(String::new(), |[a, b]| format!(" by the contact of `{a}` and `{b}`")),
        remaining_motion(*remaining, *progress)
    )]
    Blocked {
        time: f64,
        /// Names of the bodies or colliders that meet.
        between: Option<[String; 2]>,
        /// Longest remaining displacement of a fixed coordinate \[m\].
        remaining: f64,
        /// Fraction of the motion of colliders over the step that was made.
        progress: f64,
    },
    #[error(
        "bodies are in contact, which {integrator} does not support: it would let them pass through each other; use \
         `backward-euler`, `bdf2`, `newmark` or `static`, or penalty contact"
    )]
    Contact { integrator: &'static str },
    #[error("in the step from {time} s: {source}")]
    Solve { time: f64, source: SolveError },
    #[error(
        "in the step from {time} s: elimination breaks down at the strains of tetrahedron {tet} of body `{body}`. A smaller step, or a \
         lower stiffness, helps"
    )]
    Strain { time: f64, body: String, tet: usize },
    #[error("no equilibrium can be computed: the integrator has a built-in law")]
    BuiltInLaw,
    #[error("{method} require fixed vertices; this body is free")]
    Free { method: &'static str },
    #[error("in statics, with {:.3} % of the load: {source}", 100.0 * load_factor)]
    Static { load_factor: f64, source: Box<StepError> },
    #[error("after {halvings} halvings of the step, to {dt:.3e} s: {source}")]
    Halving { halvings: usize, dt: f64, source: Box<StepError> },
}

fn remaining_motion(remaining: f64, progress: f64) -> String {
    let colliders = (progress < 1.0).then(|| format!("colliders have made {:.1} % of their motion", 100.0 * progress));
    let vertices = (remaining > 0.0).then(|| format!("fixed vertices are up to {remaining:.3e} m behind"));
    [vertices, colliders].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Change to a simulation that lets a failed step succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Use of this integrator, by its name in scenes.
    Integrator(&'static str),
    /// Use of this law, by its name in scenes.
    Law(&'static str),
    /// Use of this `inversion` of the material, by its name in scenes.
    Inversion(&'static str),
    /// Smaller steps.
    SmallerStep,
}

impl Remedy {
    /// Joins remedies into the end of a sentence.
    fn list(remedies: &[Self]) -> String {
        let texts: Vec<String> = remedies.iter().map(ToString::to_string).collect();
        texts.join(", or ")
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integrator(name) => write!(f, "use the integrator `{name}`"),
            Self::Law(name) => write!(f, "use the law `{name}`"),
            Self::Inversion(name) => write!(f, "set `inversion = \"{name}\"`"),
            Self::SmallerStep => write!(f, "use a smaller step"),
        }
    }
}

impl StepError {
    /// Returns the changes that may let the step succeed, the most likely first. Empty if none is known.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Inverted { cause, searched, .. } => {
                let steps = if *searched { Remedy::SmallerStep } else { Remedy::Integrator("backward-euler") };
                let mut remedies = vec![steps, Remedy::Law("stable-neo-hookean")];
                remedies.extend(cause.is_isotropic.then_some(Remedy::Inversion("clamp")));
                remedies
            }
            Self::Energy { .. } => vec![Remedy::Law("stable-neo-hookean")],
            Self::NotFinite { .. } | Self::NotConverged { .. } | Self::LineSearch { .. } => {
                vec![Remedy::SmallerStep, Remedy::Integrator("backward-euler")]
            }
            Self::Solve { .. } | Self::Strain { .. } | Self::Blocked { .. } => vec![Remedy::SmallerStep],
            Self::Static { source, .. } | Self::Halving { source, .. } => source.remedies(),
            Self::Contact { .. } => vec![Remedy::Integrator("backward-euler")],
            Self::TimeStep { .. }
            | Self::Length { .. }
            | Self::History { .. }
            | Self::State { .. }
            | Self::Undefined { .. }
            | Self::BuiltInLaw
            | Self::Free { .. } => Vec::new(),
        }
    }

    /// Returns true if the solver was stopped on request, so that no retry makes sense.
    pub(super) fn is_stop(&self) -> bool {
        matches!(self, Self::Solve { source: SolveError::Stopped, .. })
    }
}
