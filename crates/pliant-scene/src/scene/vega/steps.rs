//! Time steps: the integrators of VegaFEM and their parameters.

use super::translation::{DURATION, Translation};
use crate::scene::integrator::{
    BackwardEuler, CentralDifferences, DampingState, ExplicitEuler, LinearizedBackwardEuler, Newmark, Newton,
    NewtonTangent, SymplecticEuler,
};
use crate::scene::quantity::Time;
use crate::scene::{IntegratorChoice, Located, Mass, SceneError, Settings};

/// Settings of `[simulation]`, and the time steps of loads.
pub(super) struct Steps {
    pub settings: Settings,
    /// `timestep` \[s\], for which each column of loads acts.
    pub interval: f64,
    substeps: i64,
}

impl Steps {
    pub fn has_substeps(&self) -> bool {
        self.substeps > 1
    }
}

/// Integrators of VegaFEM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Newmark,
    BackwardEuler,
    Euler,
    SymplecticEuler,
    CentralDifferences,
}

/// Implicit integrators, as named by `implicitSolverMethod`.
const IMPLICIT: &[(&str, Method)] =
    &[("implicitNewmark", Method::Newmark), ("implicitBackwardEuler", Method::BackwardEuler)];

const INTEGRATORS: &[(&str, Method)] = &[
    IMPLICIT[0],
    IMPLICIT[1],
    ("Euler", Method::Euler),
    ("symplecticEuler", Method::SymplecticEuler),
    ("centralDifferences", Method::CentralDifferences),
];

/// VegaFEM's default `epsilon`.
const TOLERANCE: f64 = 1e-6;
/// Maximum number of Newton iterations per step.
const MAX_ITERATIONS: i64 = 1_000_000;

impl Translation<'_> {
    pub(super) fn steps(&mut self, has_springs: bool) -> Result<Steps, SceneError> {
        let interval = self.entries.required_number("timestep")?;
        let substeps = self.entries.integer("substepsPerTimeStep")?.map_or(1, |own| own.value.max(1));
        let method = self.method()?;
        let integrator = match method.value {
            Method::Newmark | Method::BackwardEuler => self.implicit(&method)?,
            Method::Euler => IntegratorChoice::of(ExplicitEuler::default()),
            Method::SymplecticEuler => IntegratorChoice::of(SymplecticEuler::default()),
            Method::CentralDifferences => IntegratorChoice::of(CentralDifferences::default()),
        };
        let settings = Settings {
            step: Located { value: Time::new(interval.value / substeps as f64), span: interval.span.clone() },
            duration: Located { value: Time::new(DURATION), span: interval.span },
            // Particles have masses, elements a mass matrix.
            mass: if has_springs { Mass::Lumped } else { Mass::Consistent },
            integrator: Located { value: integrator, span: method.span },
            ..Settings::new(Time::default(), Time::default())
        };
        Ok(Steps { settings, interval: interval.value, substeps })
    }

    /// Returns Newmark's method or backward Euler, with the Newton iterations of VegaFEM.
    fn implicit(&mut self, method: &Located<Method>) -> Result<IntegratorChoice, SceneError> {
        let iterations = self.entries.integer("maxIterations")?;
        let count = iterations.as_ref().map_or(1, |own| own.value.clamp(1, MAX_ITERATIONS)) as u32;
        // VegaFEM uses the exact tangent, which can be singular.
        let tangent = NewtonTangent::ExactFirst;
        if method.value == Method::BackwardEuler && count == 1 {
            return Ok(IntegratorChoice::of(LinearizedBackwardEuler { tangent }));
        }
        let tolerance = self.entries.number_or("epsilon", TOLERANCE)?;
        let newton = Newton {
            iterations: count,
            tolerance: (count > 1).then_some(tolerance.value),
            tangent: Some(tangent),
            line_search: Some(false),
            must_converge: Some(false),
        };
        let span = tolerance.span.or(iterations.and_then(|own| own.span)).or(method.span.clone());
        let newton = Some(Located { value: newton, span });
        let damping = DampingState::Iterate;
        Ok(match method.value {
            Method::BackwardEuler => {
                IntegratorChoice::of(BackwardEuler { newton, damping: Some(Located::new(damping)) })
            }
            _ => IntegratorChoice::of(Newmark { newton, damping: Some(damping), ..self.newmark()? }),
        })
    }

    fn method(&mut self) -> Result<Located<Method>, SceneError> {
        let obsolete = self.entries.choice("implicitSolverMethod", IMPLICIT);
        let method = match self.entries.choice("solver", INTEGRATORS)? {
            Some(method) => method,
            None => match obsolete? {
                Some(method) => {
                    self.notes.push(
                        "`implicitSolverMethod` is obsolete: VegaFEM 4 uses implicitNewmark instead; give `*solver`"
                            .into(),
                    );
                    method
                }
                None => Located::new(Method::Newmark),
            },
        };
        let update = self.entries.integer("centralDifferencesTangentialDampingUpdateMode")?;
        if method.value == Method::CentralDifferences && update.is_some_and(|own| own.value != 1) {
            self.notes.push(
                "`centralDifferencesTangentialDampingUpdateMode`: Pliant updates the damping matrix in every step"
                    .into(),
            );
        }
        Ok(method)
    }

    /// Returns the Newmark parameters as VegaFEM's window links them when it opens; they may differ from the file.
    fn newmark(&mut self) -> Result<Newmark, SceneError> {
        let usual = Newmark::default();
        let beta = self.entries.number_or("newmarkBeta", usual.beta)?;
        let gamma = self.entries.number_or("newmarkGamma", usual.gamma)?;
        let linked = linked(beta.value);
        if (linked.beta - beta.value).abs() > 1e-6 || (linked.gamma - gamma.value).abs() > 1e-6 {
            self.notes.push(format!(
                "`newmarkBeta` and `newmarkGamma` are linked, as in VegaFEM's simulator: β = {}, γ = {}",
                linked.beta, linked.gamma
            ));
        }
        Ok(linked)
    }
}

/// Returns the member of the family `β = (γ + ½)² / 4` that VegaFEM chooses for a `β`.
fn linked(beta: f64) -> Newmark {
    let gamma = if beta > 0.25 { (4.0 * beta.min(0.5)).sqrt() - 0.5 } else { 0.5 };
    Newmark { beta: 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma, ..Newmark::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newmarks_coefficients_are_linked_as_the_window_links_them() {
        assert_eq!(linked(0.25), Newmark::default());
        assert_eq!(linked(-3.0), Newmark::default());
        let dissipative = linked(0.36);
        assert!((dissipative.beta - 0.36).abs() < 1e-15 && (dissipative.gamma - 0.7).abs() < 1e-15);
        assert!((linked(7.0).beta - 0.5).abs() < 1e-15);
    }
}
