//! States of the last seconds, to which users can go back.

use std::collections::VecDeque;

use pliant::system::State;

/// Simulated time that is kept \[s\].
const SPAN: f64 = 10.0;

/// Maximum number of states.
const MAX_STATES: usize = 600;

/// Maximum memory, in bytes.
const MEMORY: usize = 256 << 20;

/// State with the number of steps before it.
#[derive(Debug, Clone)]
pub struct Past {
    pub step: u64,
    pub state: State,
}

/// Stored states, ordered by time.
#[derive(Debug, Default)]
pub struct History {
    past: VecDeque<Past>,
}

impl History {
    /// Discards the states from a time on. Returns true if a state of this time is to be stored, as it is not too close
    /// to the last one.
    pub fn go_on(&mut self, time: f64) -> bool {
        while self.past.back().is_some_and(|last| last.state.time >= time) {
            self.past.pop_back();
        }
        let is_soon = |last: &Past| time - last.state.time < SPAN / MAX_STATES as f64;
        // The first state allows the return to the start.
        self.past.len() < 2 || !self.past.back().is_some_and(is_soon)
    }

    /// Stores a state, unless it is too close to the last one. Later states are discarded.
    pub fn remember(&mut self, step: u64, state: &State) {
        if !self.go_on(state.time) {
            return;
        }
        self.past.push_back(Past { step, state: state.clone() });
        let max = (MEMORY / size(state)).clamp(2, MAX_STATES);
        while self.past.len() > max || state.time - self.past[0].state.time > SPAN {
            self.past.pop_front();
        }
    }

    pub fn clear(&mut self) {
        self.past.clear();
    }

    /// Returns the first and last stored time \[s\], or `None` if no state is stored.
    pub fn span(&self) -> Option<[f64; 2]> {
        Some([self.past.front()?.state.time, self.past.back()?.state.time])
    }

    /// Returns the state `count` states before the last, if there is one.
    pub fn before_last(&self, count: usize) -> Option<&Past> {
        self.past.get(self.past.len().checked_sub(count + 1)?)
    }

    /// Returns the state nearest to a time.
    pub fn nearest(&self, time: f64) -> Option<&Past> {
        let [from, to] = self.span()?;
        let time = time.clamp(from, to);
        let distance = |past: &&Past| (past.state.time - time).abs();
        self.past.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

fn size(state: &State) -> usize {
    size_of::<f64>() * (state.q.len() + state.v.len() + state.a.as_ref().map_or(0, Vec::len)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: f64, dim: usize) -> State {
        State { time, ..State::new(dim) }
    }

    #[test]
    fn the_last_ten_seconds_are_kept_and_no_more_than_the_memory_holds() {
        let mut history = History::default();
        for step in 0..3000 {
            history.remember(step, &at(0.01 * step as f64, 3));
        }
        let [from, to] = history.span().unwrap();
        assert!((29.9..30.0).contains(&to) && (to - from - 10.0).abs() < 0.05, "{from} to {to}");
        assert!(history.past.len() <= MAX_STATES);
        let mut history = History::default();
        for step in 0..20 {
            history.remember(step, &at(step as f64, 1 << 20));
        }
        assert!(history.past.len() <= 16, "{}", history.past.len());
    }

    #[test]
    fn going_on_from_an_earlier_time_forgets_what_came_after() {
        let mut history = History::default();
        (0..100).for_each(|step| history.remember(step, &at(0.02 * step as f64, 3)));
        let past = history.nearest(1.004).unwrap().clone();
        assert_eq!((past.step, past.state.time), (50, 1.0));
        history.remember(51, &at(1.01, 3));
        assert!(history.span().unwrap()[1] <= 1.01);
        assert_eq!(history.nearest(5.0).unwrap().step, 50);
    }
}
