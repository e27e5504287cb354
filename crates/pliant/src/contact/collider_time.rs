//! Where colliders are in a step.

/// Part of the way of colliders from where they are at one time of their motion to where they are at another.
///
/// Between both, points move along straight lines, so that collision detection is exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColliderTime {
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) progress: f64,
}

impl ColliderTime {
    /// Creates the place at a fraction `progress` of the way between two times \[s\].
    pub fn new(start: f64, end: f64, progress: f64) -> Self {
        if progress >= 1.0 || start == end {
            return end.into();
        }
        if progress <= 0.0 {
            return start.into();
        }
        Self { start, end, progress }
    }

    /// Returns the interpolated value of a function of time.
    pub(super) fn blend<T>(self, at: impl Fn(f64) -> T, lerp: impl Fn(T, T, f64) -> T) -> T {
        if self.start == self.end {
            return at(self.end);
        }
        lerp(at(self.start), at(self.end), self.progress)
    }
}

impl From<f64> for ColliderTime {
    fn from(time: f64) -> Self {
        Self { start: time, end: time, progress: 1.0 }
    }
}
