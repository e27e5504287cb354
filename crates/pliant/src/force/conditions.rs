//! Conditions under which forces are evaluated.

use crate::contact::StepMotion;

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
    /// Fraction of the motion of [colliders](crate::contact::Collider) over the step that has been made, from 0 to 1.
    /// Newton's method moves them together with the bodies, so that nothing passes through them.
    pub progress: f64,
    /// Motion of the step, on which friction of contacts depends. Without it there is no such friction.
    pub motion: Option<StepMotion<'a>>,
}

impl Conditions<'static> {
    /// Conditions at time zero, with full loads and without history.
    pub const START: Self = Self { time: 0.0, dt: 0.0, load_factor: 1.0, history: &[], progress: 1.0, motion: None };

    /// Returns the conditions at a time \[s\], with full loads and without history.
    pub const fn at(time: f64) -> Self {
        Self { time, ..Self::START }
    }
}

impl<'a> Conditions<'a> {
    /// Returns the conditions with these history variables.
    #[must_use]
    pub const fn with_history<'b>(self, history: &'b [f64]) -> Conditions<'b>
    where
        'a: 'b,
    {
        Conditions { history, ..self }
    }

    /// Returns the conditions at another time \[s\].
    #[must_use]
    pub const fn with_time(self, time: f64) -> Self {
        Self { time, ..self }
    }

    /// Returns the conditions without motion, in which contacts have no friction.
    #[must_use]
    pub const fn without_motion(self) -> Self {
        Self { motion: None, ..self }
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
