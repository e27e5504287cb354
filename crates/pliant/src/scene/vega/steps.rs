//! Steps in time: the schemes of VegaFEM and their parameters.

use super::{DURATION, Translation};
use crate::scene::quantity::Time;
use crate::scene::{At, DampingState, Mass, Newmark, Newton, SceneError, Scheme, Settings, Solver, Tangent};

/// Of `[simulation]`, and what of it loads need.
pub(super) struct Steps {
    pub settings: Settings,
    /// `timestep`, in s: so long a column of loads acts.
    pub interval: f64,
    substeps: i64,
}

impl Steps {
    pub fn has_substeps(&self) -> bool {
        self.substeps > 1
    }
}

/// Both implicit schemes, as `implicitSolverMethod` names them.
const IMPLICIT: &[(&str, Scheme)] =
    &[("implicitNewmark", Scheme::Newmark), ("implicitBackwardEuler", Scheme::BackwardEuler)];

const SCHEMES: &[(&str, Scheme)] = &[
    IMPLICIT[0],
    IMPLICIT[1],
    ("Euler", Scheme::ExplicitEuler),
    ("symplecticEuler", Scheme::SymplecticEuler),
    ("centralDifferences", Scheme::CentralDifferences),
];

/// VegaFEM's `epsilon` if none is given.
const TOLERANCE: f64 = 1e-6;
/// More iterations than anybody waits for.
const MOST_ITERATIONS: i64 = 1_000_000;

impl Translation<'_> {
    pub(super) fn steps(&mut self, has_springs: bool) -> Result<Steps, SceneError> {
        let interval = self.entries.required_number("timestep")?;
        let substeps = self.entries.integer("substepsPerTimeStep")?.map_or(1, |own| own.value.max(1));
        let iterations = self.entries.integer("maxIterations")?;
        let count = iterations.as_ref().map_or(1, |own| own.value.clamp(1, MOST_ITERATIONS)) as u32;
        let mut scheme = self.scheme()?;
        if scheme.value == Scheme::BackwardEuler && count == 1 {
            scheme.value = Scheme::LinearizedBackwardEuler;
        }
        // VegaFEM has the exact one, of which linear systems at times have no solution.
        let tangent = Tangent::ExactFirst;
        let is_linearized = scheme.value == Scheme::LinearizedBackwardEuler;
        let is_newmark = scheme.value == Scheme::Newmark;
        let newton = match scheme.value {
            Scheme::Newmark | Scheme::BackwardEuler => {
                let tolerance = self.entries.number_or("epsilon", TOLERANCE)?;
                let newton = Newton {
                    iterations: count,
                    tolerance: (count > 1).then_some(tolerance.value),
                    tangent: Some(tangent),
                    line_search: Some(false),
                    must_converge: Some(false),
                    damping: Some(DampingState::Iterate),
                };
                let place = tolerance.span.or(iterations.and_then(|own| own.span)).or(scheme.span.clone());
                Some(At { value: newton, span: place })
            }
            _ => None,
        };
        let settings = Settings {
            step: At { value: Time::new(interval.value / substeps as f64), span: interval.span.clone() },
            duration: At { value: Time::new(DURATION), span: interval.span },
            newmark: if is_newmark { Some(self.newmark()?) } else { None },
            tangent: is_linearized.then(|| At { value: tangent, span: scheme.span.clone() }),
            newton,
            // Particles have masses, elements a mass matrix.
            mass: if has_springs { Mass::Lumped } else { Mass::Consistent },
            scheme,
            halvings: Settings::HALVINGS,
            regularized: None,
            solver: Solver::Auto,
            solver_tolerance: None,
            solver_iterations: None,
            restart_every: At::new(Settings::RESTART_EVERY),
        };
        Ok(Steps { settings, interval: interval.value, substeps })
    }

    fn scheme(&mut self) -> Result<At<Scheme>, SceneError> {
        let obsolete = self.entries.choice("implicitSolverMethod", IMPLICIT);
        let scheme = match self.entries.choice("solver", SCHEMES)? {
            Some(scheme) => scheme,
            None => match obsolete? {
                Some(scheme) => {
                    self.notes.push(
                        "`implicitSolverMethod` is obsolete: VegaFEM 4 would take implicitNewmark; give `*solver`"
                            .into(),
                    );
                    scheme
                }
                None => At::new(Scheme::Newmark),
            },
        };
        let update = self.entries.integer("centralDifferencesTangentialDampingUpdateMode")?;
        if scheme.value == Scheme::CentralDifferences && update.is_some_and(|own| own.value != 1) {
            self.notes.push(
                "`centralDifferencesTangentialDampingUpdateMode`: the damping follows the stiffness in every step"
                    .into(),
            );
        }
        Ok(scheme)
    }

    /// VegaFEM's window links both when it opens, so that it does not run with what the file says.
    fn newmark(&mut self) -> Result<At<Newmark>, SceneError> {
        let usual = Newmark::default();
        let beta = self.entries.number_or("newmarkBeta", usual.beta)?;
        let gamma = self.entries.number_or("newmarkGamma", usual.gamma)?;
        let linked = linked(beta.value);
        if (linked.beta - beta.value).abs() > 1e-6 || (linked.gamma - gamma.value).abs() > 1e-6 {
            self.notes.push(format!(
                "`newmarkBeta` and `newmarkGamma`: VegaFEM's simulator links them, and goes with β = {} and γ = {}, as Pliant does",
                linked.beta, linked.gamma
            ));
        }
        Ok(At { value: linked, span: beta.span.or(gamma.span) })
    }
}

/// The member of the family `β = (γ + ½)² / 4` that VegaFEM makes of a `β`.
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
