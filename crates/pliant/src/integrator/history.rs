//! Ends of successful steps.

use crate::system::{Conditions, State, System};

/// Replaces the history variables of a state before a step of length `h` by those after it, at `q` and the progress
/// that colliders have made, and forgets the
/// previous step, which is none of an integrator of more than one step unless that records it afterwards. Call it when
/// nothing can fail any more, and before the time of the state changes.
pub fn update_history<S: System>(system: &mut S, state: &mut State, h: f64, progress: f64, q: &[f64]) {
    state.previous = None;
    let conditions = Conditions { dt: h, progress, ..Conditions::at(state.time + h) };
    update_history_at(system, &conditions, &mut state.history, q);
}

/// Replaces history variables by those at `q`, under conditions whose own history is ignored.
pub fn update_history_at<S: System>(system: &mut S, conditions: &Conditions<'_>, history: &mut [f64], q: &[f64]) {
    if history.is_empty() {
        return;
    }
    let start = history.to_vec();
    system.update_history(q, &conditions.with_history(&start), history);
}

/// Replaces the state at the start of the step by that at its end.
pub fn finish<S: System>(
    system: &mut S,
    state: &mut State,
    (h, progress): (f64, f64),
    q: &mut Vec<f64>,
    v: &mut Vec<f64>,
) {
    update_history(system, state, h, progress, q);
    let a = state.a.get_or_insert_with(|| vec![0.0; v.len()]);
    for i in 0..v.len() {
        a[i] = (v[i] - state.v[i]) / h;
    }
    std::mem::swap(&mut state.q, q);
    std::mem::swap(&mut state.v, v);
    state.time += h;
}
