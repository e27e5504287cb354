//! Time steps: the integrators of VegaFEM and their parameters.

use super::{DURATION, Translation};
use crate::scene::quantity::Time;
use crate::scene::{
    DampingState, IntegratorKind, Located, Mass, Newmark, Newton, NewtonTangent, SceneError, Settings, Solver,
};

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

/// Implicit integrators, as named by `implicitSolverMethod`.
const IMPLICIT: &[(&str, IntegratorKind)] =
    &[("implicitNewmark", IntegratorKind::Newmark), ("implicitBackwardEuler", IntegratorKind::BackwardEuler)];

const INTEGRATORS: &[(&str, IntegratorKind)] = &[
    IMPLICIT[0],
    IMPLICIT[1],
    ("Euler", IntegratorKind::ExplicitEuler),
    ("symplecticEuler", IntegratorKind::SymplecticEuler),
    ("centralDifferences", IntegratorKind::CentralDifferences),
];

/// VegaFEM's default `epsilon`.
const TOLERANCE: f64 = 1e-6;
/// Maximum number of Newton iterations per step.
const MAX_ITERATIONS: i64 = 1_000_000;

impl Translation<'_> {
    pub(super) fn steps(&mut self, has_springs: bool) -> Result<Steps, SceneError> {
        let interval = self.entries.required_number("timestep")?;
        let substeps = self.entries.integer("substepsPerTimeStep")?.map_or(1, |own| own.value.max(1));
        let iterations = self.entries.integer("maxIterations")?;
        let count = iterations.as_ref().map_or(1, |own| own.value.clamp(1, MAX_ITERATIONS)) as u32;
        let mut integrator = self.integrator()?;
        if integrator.value == IntegratorKind::BackwardEuler && count == 1 {
            integrator.value = IntegratorKind::LinearizedBackwardEuler;
        }
        // VegaFEM uses the exact tangent, which can be singular.
        let tangent = NewtonTangent::ExactFirst;
        let is_linearized = integrator.value == IntegratorKind::LinearizedBackwardEuler;
        let is_newmark = integrator.value == IntegratorKind::Newmark;
        let newton = match integrator.value {
            IntegratorKind::Newmark | IntegratorKind::BackwardEuler => {
                let tolerance = self.entries.number_or("epsilon", TOLERANCE)?;
                let newton = Newton {
                    iterations: count,
                    tolerance: (count > 1).then_some(tolerance.value),
                    tangent: Some(tangent),
                    line_search: Some(false),
                    must_converge: Some(false),
                    damping: Some(DampingState::Iterate),
                };
                let place = tolerance.span.or(iterations.and_then(|own| own.span)).or(integrator.span.clone());
                Some(Located { value: newton, span: place })
            }
            _ => None,
        };
        let settings = Settings {
            step: Located { value: Time::new(interval.value / substeps as f64), span: interval.span.clone() },
            duration: Located { value: Time::new(DURATION), span: interval.span },
            newmark: if is_newmark { Some(self.newmark()?) } else { None },
            tangent: is_linearized.then(|| Located { value: tangent, span: integrator.span.clone() }),
            newton,
            // Particles have masses, elements a mass matrix.
            mass: if has_springs { Mass::Lumped } else { Mass::Consistent },
            integrator,
            halvings: Settings::HALVINGS,
            regularized: None,
            solver: Solver::Auto,
            solver_tolerance: None,
            solver_iterations: None,
            restart_every: Located::new(Settings::RESTART_EVERY),
        };
        Ok(Steps { settings, interval: interval.value, substeps })
    }

    fn integrator(&mut self) -> Result<Located<IntegratorKind>, SceneError> {
        let obsolete = self.entries.choice("implicitSolverMethod", IMPLICIT);
        let integrator = match self.entries.choice("solver", INTEGRATORS)? {
            Some(integrator) => integrator,
            None => match obsolete? {
                Some(integrator) => {
                    self.notes.push(
                        "`implicitSolverMethod` is obsolete: VegaFEM 4 uses implicitNewmark instead; give `*solver`"
                            .into(),
                    );
                    integrator
                }
                None => Located::new(IntegratorKind::Newmark),
            },
        };
        let update = self.entries.integer("centralDifferencesTangentialDampingUpdateMode")?;
        if integrator.value == IntegratorKind::CentralDifferences && update.is_some_and(|own| own.value != 1) {
            self.notes.push(
                "`centralDifferencesTangentialDampingUpdateMode`: Pliant updates the damping matrix in every step"
                    .into(),
            );
        }
        Ok(integrator)
    }

    /// Returns the Newmark parameters as VegaFEM's window links them when it opens; they may differ from the file.
    fn newmark(&mut self) -> Result<Located<Newmark>, SceneError> {
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
        Ok(Located { value: linked, span: beta.span.or(gamma.span) })
    }
}

/// Returns the member of the family `β = (γ + ½)² / 4` that VegaFEM chooses for a `β`.
fn linked(beta: f64) -> Newmark {
    let gamma = if beta > 0.25 { (4.0 * beta.min(0.5)).sqrt() - 0.5 } else { 0.5 };
    Newmark { beta: 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newmarks_coefficients_are_linked_as_the_window_links_them() {
        assert_eq!(linked(0.25), Newmark { beta: 0.25, gamma: 0.5 });
        assert_eq!(linked(-3.0), Newmark { beta: 0.25, gamma: 0.5 });
        let dissipative = linked(0.36);
        assert!((dissipative.beta - 0.36).abs() < 1e-15 && (dissipative.gamma - 0.7).abs() < 1e-15);
        assert!((linked(7.0).beta - 0.5).abs() < 1e-15);
    }
}
