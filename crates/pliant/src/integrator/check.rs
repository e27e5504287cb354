//! Checks of the input and the results of steps.

use super::vectors::sized;
use super::{Stability, StepError};
use crate::system::{State, System};

/// Checks the arguments of a step, and the motions and amplitudes of forces at its end.
pub(crate) fn check<S: System>(system: &S, state: &State, dt: f64) -> Result<(), StepError> {
    if !(dt > 0.0 && dt.is_finite()) {
        return Err(StepError::TimeStep { dt });
    }
    check_state(system, state)?;
    check_time(system, state, dt)
}

/// Checks the arguments of a step, and gives work vectors the size of the system. Returns that size.
pub(super) fn begin<S: System, const N: usize>(
    system: &S,
    state: &State,
    dt: f64,
    vectors: [&mut Vec<f64>; N],
) -> Result<usize, StepError> {
    check(system, state, dt)?;
    let n = system.dim();
    vectors.into_iter().for_each(|vector| sized(vector, n));
    Ok(n)
}

/// Checks the motions and amplitudes of forces at the time `h` after a state.
/// Returns an error if bodies are in contact, for integrators that would let them pass through each other.
pub(super) fn check_unlimited<S: System>(system: &S, integrator: &'static str) -> Result<(), StepError> {
    if system.limits_steps() { Err(StepError::Contact { integrator }) } else { Ok(()) }
}

pub(super) fn check_time<S: System>(system: &S, state: &State, h: f64) -> Result<(), StepError> {
    system.check_time(state.time + h).map_err(|cause| StepError::Undefined { time: state.time, cause })
}

/// Sets the fixed coordinates to their prescribed values at the time `h` after a state.
pub(super) fn prescribe<S: System>(system: &S, state: &State, h: f64, q: &mut [f64]) -> Result<(), StepError> {
    system.prescribe(state.time + h, q).map_err(|cause| StepError::Undefined { time: state.time, cause })
}

pub(super) fn check_state<S: System>(system: &S, state: &State) -> Result<(), StepError> {
    let expected = system.dim();
    let previous = state.previous.as_ref().map_or([expected; 2], |previous| [previous.dq.len(), previous.dv.len()]);
    let accelerations = state.a.as_ref().map_or(expected, Vec::len);
    for found in [state.q.len(), state.v.len(), accelerations].into_iter().chain(previous) {
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

/// Sets the fixed coordinates to their prescribed values at the end of a step `h`, and their velocities to the mean
/// ones.
pub(super) fn prescribe_motion<S: System>(
    system: &S,
    state: &State,
    h: f64,
    q: &mut [f64],
    v: &mut [f64],
) -> Result<(), StepError> {
    prescribe(system, state, h, q)?;
    for (i, fixed) in system.fixed_mask().iter().enumerate() {
        if *fixed {
            v[i] = (q[i] - state.q[i]) / h;
        }
    }
    Ok(())
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
