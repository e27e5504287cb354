//! Shared measurements: stepping until the end or an explosion, fitting of exponents, timing.

use std::time::Instant;

use pliant::integrator::StepError;
use pliant::material::{Law, LawVisitor, MooneyRivlin, YoungPoisson};
use pliant::math::Matrix;
use pliant::model::{Assembly, Model};
use pliant::simulation::Stepper;
use pliant::solver::{SolveError, SolverParams};
use pliant::system::State;

use crate::{Page, Stopped};

/// Displacement relative to the size of a body beyond which it has exploded.
const FAR: f64 = 100.0;

/// Outcome of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// All steps were taken.
    Finished,
    /// A vertex moved too far, or a step failed.
    Exploded {
        /// Time of the explosion \[s\].
        time: f64,
        /// Cause.
        why: String,
    },
}

impl Outcome {
    /// Returns true if all steps were taken.
    pub fn is_finished(&self) -> bool {
        *self == Self::Finished
    }
}

/// Advances a model by `steps` steps with the default solver, calling `look` after each, until the end or an explosion.
#[allow(clippy::too_many_arguments, reason = "the names of the parameters are clear")]
pub fn march(
    page: &Page<'_>,
    what: &str,
    assembly: &mut Assembly,
    stepper: &mut Stepper,
    state: &mut State,
    dt: f64,
    steps: usize,
    look: impl FnMut(&Model, &State),
) -> Result<Outcome, Stopped> {
    march_with(page, what, SolverParams::default(), assembly, stepper, state, dt, steps, look)
}

/// Advances a model like [`march`], with the given solver.
#[allow(clippy::too_many_arguments, reason = "the names of the parameters are clear")]
pub fn march_with(
    page: &Page<'_>,
    what: &str,
    solver: SolverParams,
    assembly: &mut Assembly,
    stepper: &mut Stepper,
    state: &mut State,
    dt: f64,
    steps: usize,
    mut look: impl FnMut(&Model, &State),
) -> Result<Outcome, Stopped> {
    let mut solver = solver.build();
    let far = FAR * assembly.model().extent();
    for step in 0..steps {
        page.now(format_args!("{what}: step {} of {steps}", step + 1))?;
        match stepper.step(assembly, &mut *solver, state, dt) {
            Ok(_) => {}
            Err(StepError::Solve { source: SolveError::Stopped, .. }) => return Err(Stopped),
            Err(error) => return Ok(Outcome::Exploded { time: state.time, why: error.to_string() }),
        }
        if let Some(x) = state.q.iter().copied().find(|x| x.abs() > far) {
            let why = format!("a vertex has moved by {:.1e} m", x.abs());
            return Ok(Outcome::Exploded { time: state.time, why });
        }
        look(assembly.model(), state);
    }
    Ok(Outcome::Finished)
}

/// Returns the exponent `p` of `y = c xᵖ` by a least-squares fit of the logarithms.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mean_x, mean_y) = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (xy, xx) =
        logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + (x - mean_x) * (y - mean_y), b + (x - mean_x).powi(2)));
    xy / xx
}

/// Returns the minimum time of `work` over `rounds` rounds \[s\].
pub fn min_seconds(rounds: usize, mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64()
    };
    (0..rounds.max(1)).map(time).fold(f64::INFINITY, f64::min)
}

/// Runs `work` on a pool of `threads` threads.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(work))
}

/// Formats a number with `count` significant digits, in plain notation where that is short.
pub fn digits(x: f64, count: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let after = count.saturating_sub(1);
    let rounded: f64 = format!("{x:.after$e}").parse().unwrap_or(x);
    let plain = (1e-3..1e6).contains(&rounded.abs());
    if plain { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// Describes the Mooney–Rivlin law with its coefficients, which the moduli alone do not determine.
pub fn mooney_rivlin_in_words(moduli: YoungPoisson) -> String {
    let MooneyRivlin { mu01, mu10, v1 } = MooneyRivlin::from_moduli(moduli);
    let [mu01, mu10, v1] = [mu01, mu10, v1].map(|coefficient| digits(coefficient, 4));
    format!(
        "The Mooney–Rivlin law is `μ₁₀(J^(−2/3) I₁ − 3) + μ₀₁(J^(−4/3) I₂ − 3) + v₁(J − 1)²` with `μ₁₀` = {mu10} Pa, `μ₀₁` = {mu01} Pa and `v₁` = {v1} Pa."
    )
}

/// Visitor that returns energy density and stress of a law in uniaxial strain, `F = diag(s, 1, 1)`.
pub struct AtStretch(pub f64);

impl LawVisitor for AtStretch {
    type Output = (f64, f64);

    fn visit<L: Law + 'static>(self, law: &L) -> (f64, f64) {
        let mut f = Matrix::<f64>::identity();
        f.0[0][0] = self.0;
        (law.energy(&f), law.stress(&f).0[0][0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 5.0, 9.0].map(|x: f64| (x, 3.0 * x.powf(1.5))).to_vec();
        assert!((exponent(&points) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        assert_eq!(digits(0.012_345, 3), "0.0123");
        assert_eq!(digits(1.234_5e7, 2), "1.2e7");
        assert_eq!(digits(f64::NAN, 2), "NaN");
    }
}
