//! Checks of the input and the results of steps.

use super::{Stability, StepError};
use crate::system::{State, System};

/// Checks the arguments of a step.
pub(crate) fn check<S: System>(system: &S, state: &State, dt: f64) -> Result<(), StepError> {
    if !(dt > 0.0 && dt.is_finite()) {
        return Err(StepError::TimeStep { dt });
    }
    check_state(system, state)
}

pub(super) fn check_state<S: System>(system: &S, state: &State) -> Result<(), StepError> {
    let expected = system.dim();
    for found in [state.q.len(), state.v.len(), state.a.as_ref().map_or(expected, Vec::len)] {
        if found != expected {
            return Err(StepError::Length { found, expected });
        }
    }
    let (found, expected) = (state.history.len(), system.history_len());
    if found != expected {
        return Err(StepError::History { found, expected });
    }
    match state.defect() {
        Some((what, i)) => Err(StepError::State { what, place: system.place(i), time: state.time }),
        None => Ok(()),
    }
}

/// Checks that the results of a step from `time` are finite.
pub(crate) fn check_finite<S: System>(
    system: &S,
    time: f64,
    what: &'static str,
    numbers: &[f64],
    stability: Option<Stability>,
) -> Result<(), StepError> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(StepError::NotFinite { what, place: system.place(i), time, stability }),
        None => Ok(()),
    }
}

/// Checks that the forces at `q` are finite, and reports an inverted element if that is the cause.
pub(super) fn check_force<S: System>(
    system: &S,
    time: f64,
    q: &[f64],
    force: &[f64],
    stability: Option<Stability>,
) -> Result<(), StepError> {
    let finite = check_finite(system, time, "the force", force, stability);
    match finite.is_err().then(|| system.find_inverted(q)).flatten() {
        Some(cause) => Err(StepError::Inverted { time, cause: Box::new(cause), searched: false }),
        None => finite,
    }
}

/// Checks that no element is inverted at the end of a step where its law is undefined, so that the next step can start.
pub(super) fn check_defined<S: System>(system: &S, time: f64, q: &[f64]) -> Result<(), StepError> {
    match system.find_inverted(q) {
        Some(cause) => Err(StepError::Inverted { time, cause: Box::new(cause), searched: false }),
        None => Ok(()),
    }
}
