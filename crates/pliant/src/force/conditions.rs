//! Conditions under which forces are evaluated.

/// Time, load factor and history variables that a force depends on, besides displacements and velocities.
///
/// They are constant during a step: an implicit integrator evaluates forces at many displacements under the same
/// conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions<'a> {
    /// Time \[s\] of moving and scheduled loads, obstacles and boundary conditions.
    pub time: f64,
    /// Length of the step \[s\] since the history variables were updated; 0 for an instantaneous response.
    pub dt: f64,
    /// Fraction of the external loads that is applied, from 0 to 1, for incremental loading in statics.
    pub load_factor: f64,
    /// History variables at the start of the step; see [`Force::history_len`](super::Force::history_len).
    pub history: &'a [f64],
}

impl Conditions<'static> {
    /// Conditions at time zero, with full loads and without history.
    pub const START: Self = Self { time: 0.0, dt: 0.0, load_factor: 1.0, history: &[] };

    /// Returns the conditions at a time \[s\], with full loads and without history.
    pub const fn at(time: f64) -> Self {
        Self { time, ..Self::START }
    }
}

impl<'a> Conditions<'a> {
    /// Returns the conditions with these history variables.
    #[must_use]
    pub const fn with_history(self, history: &[f64]) -> Conditions<'_> {
        Conditions { time: self.time, dt: self.dt, load_factor: self.load_factor, history }
    }

    /// Returns the conditions at another time \[s\].
    #[must_use]
    pub const fn with_time(self, time: f64) -> Self {
        Self { time, ..self }
    }

    /// Returns the conditions of one force out of many, with its range of the history variables.
    ///
    /// # Panics
    /// If there are fewer history variables.
    #[must_use]
    pub fn of_part(&self, range: std::ops::Range<usize>) -> Conditions<'a> {
        Conditions { history: &self.history[range], ..*self }
    }
}

impl Default for Conditions<'_> {
    fn default() -> Self {
        Conditions::START
    }
}
