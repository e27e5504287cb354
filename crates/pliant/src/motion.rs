//! Prescribed motions and amplitudes: keyframes and functions of time.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::math::{Mat3, Vec3};

/// Rigid displacement: a rotation about a center, then a translation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pose {
    /// Translation \[m\].
    pub translation: Vec3,
    /// Axis of the rotation times its angle \[rad\], which may exceed one turn.
    pub rotation: Vec3,
}

/// Prescribed motion as a function of time.
#[derive(Clone, Default)]
pub enum Motion {
    /// No motion.
    #[default]
    Still,
    /// Linear interpolation between poses at given times, at rest before the first and after the last.
    Keyframes(Keyframes),
    /// Displacement \[m\] as a function of time \[s\] and rest position \[m\].
    Function(Arc<dyn Fn(f64, Vec3) -> Vec3 + Send + Sync>),
}

/// Poses at given times.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyframes {
    center: Vec3,
    frames: Vec<(f64, Pose)>,
}

/// Error for invalid keyframes.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum KeyframesError {
    #[error("no keyframe, expected at least one")]
    Empty,
    #[error("keyframe {number} is at {time} s, expected a time after that of the keyframe before it")]
    Order { number: usize, time: f64 },
    #[error("keyframe {number} has numbers that are not finite")]
    NotFinite { number: usize },
}

/// Error for a motion or an amplitude that is not finite at some time.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{what} is {value} at {time} s, expected a finite value")]
pub struct NotFinite {
    /// Name of the motion or amplitude, such as "the amplitude of load 3".
    pub what: String,
    /// Its value.
    pub value: String,
    /// Time \[s\].
    pub time: f64,
}

impl NotFinite {
    /// Returns an error with the name of a motion or amplitude if its value is not finite.
    pub(crate) fn check(value: Vec3, time: f64, what: impl FnOnce() -> String) -> Result<(), Self> {
        if value.is_finite() { Ok(()) } else { Err(Self { what: what(), value: value.to_string(), time }) }
    }
}

impl Keyframes {
    /// Creates keyframes from poses with their times \[s\], rotating about `center`.
    pub fn new(center: Vec3, frames: Vec<(f64, Pose)>) -> Result<Self, KeyframesError> {
        if frames.is_empty() {
            return Err(KeyframesError::Empty);
        }
        for (number, (time, pose)) in frames.iter().enumerate() {
            if !(time.is_finite() && pose.translation.is_finite() && pose.rotation.is_finite() && center.is_finite()) {
                return Err(KeyframesError::NotFinite { number });
            }
            if number > 0 && *time <= frames[number - 1].0 {
                return Err(KeyframesError::Order { number, time: *time });
            }
        }
        Ok(Self { center, frames })
    }

    /// Creates keyframes of pure translations.
    pub fn translations(frames: impl IntoIterator<Item = (f64, Vec3)>) -> Result<Self, KeyframesError> {
        let pose = |translation| Pose { translation, rotation: Vec3::ZERO };
        Self::new(Vec3::ZERO, frames.into_iter().map(|(time, translation)| (time, pose(translation))).collect())
    }

    /// Returns the pose at a time \[s\].
    pub fn pose(&self, time: f64) -> Pose {
        let after = self.frames.partition_point(|(t, _)| *t <= time);
        if after == 0 {
            return self.frames[0].1;
        }
        let (start, from) = self.frames[after - 1];
        let Some(&(end, to)) = self.frames.get(after) else { return from };
        let s = (time - start) / (end - start);
        Pose { translation: from.translation.lerp(to.translation, s), rotation: from.rotation.lerp(to.rotation, s) }
    }

    fn displacement(&self, time: f64, rest: Vec3) -> Vec3 {
        let pose = self.pose(time);
        let angle = pose.rotation.length();
        let arm = rest - self.center;
        let turned = if angle > 0.0 { Mat3::from_axis_angle(pose.rotation / angle, angle) * arm } else { arm };
        turned - arm + pose.translation
    }
}

impl Motion {
    /// Returns the displacement \[m\] of the point at rest position `rest`.
    pub fn displacement(&self, time: f64, rest: Vec3) -> Vec3 {
        match self {
            Self::Still => Vec3::ZERO,
            Self::Keyframes(keyframes) => keyframes.displacement(time, rest),
            Self::Function(function) => function(time, rest),
        }
    }

    /// Returns the velocity \[m/s\] by a central difference over a microsecond, because functions come without
    /// derivatives.
    pub fn velocity(&self, time: f64, rest: Vec3) -> Vec3 {
        const HALF: f64 = 0.5e-6;
        match self {
            Self::Still => Vec3::ZERO,
            _ => (self.displacement(time + HALF, rest) - self.displacement(time - HALF, rest)) / (2.0 * HALF),
        }
    }
}

impl From<Keyframes> for Motion {
    fn from(keyframes: Keyframes) -> Self {
        Self::Keyframes(keyframes)
    }
}

impl fmt::Debug for Motion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Still => f.write_str("Still"),
            Self::Keyframes(keyframes) => keyframes.fmt(f),
            Self::Function(_) => f.write_str("Function"),
        }
    }
}

/// Scalar factor as a function of time.
#[derive(Clone, Default)]
pub struct Amplitude(Schedule);

#[derive(Clone, Default)]
enum Schedule {
    #[default]
    Always,
    /// Nonempty, in ascending order of time.
    Keyframes(Vec<(f64, f64)>),
    Function(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
}

impl Amplitude {
    /// Creates an amplitude from factors at given times \[s\]: linear between them, constant before the first and after
    /// the last.
    pub fn keyframes(frames: impl IntoIterator<Item = (f64, f64)>) -> Result<Self, KeyframesError> {
        let frames: Vec<(f64, f64)> = frames.into_iter().collect();
        if frames.is_empty() {
            return Err(KeyframesError::Empty);
        }
        for (number, &(time, factor)) in frames.iter().enumerate() {
            if !(time.is_finite() && factor.is_finite()) {
                return Err(KeyframesError::NotFinite { number });
            }
            if number > 0 && time <= frames[number - 1].0 {
                return Err(KeyframesError::Order { number, time });
            }
        }
        Ok(Self(Schedule::Keyframes(frames)))
    }

    /// Creates an amplitude from a function of time \[s\].
    pub fn function(function: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self(Schedule::Function(Arc::new(function)))
    }

    /// Returns an error with the name of the amplitude if its factor at a time \[s\] is not finite.
    pub(crate) fn check(&self, time: f64, what: impl FnOnce() -> String) -> Result<(), NotFinite> {
        let factor = self.factor(time);
        if factor.is_finite() { Ok(()) } else { Err(NotFinite { what: what(), value: factor.to_string(), time }) }
    }

    /// Returns the factor at a time \[s\], 1 by default.
    pub fn factor(&self, time: f64) -> f64 {
        let frames = match &self.0 {
            Schedule::Always => return 1.0,
            Schedule::Function(function) => return function(time),
            Schedule::Keyframes(frames) => frames,
        };
        let after = frames.partition_point(|(t, _)| *t <= time);
        if after == 0 {
            return frames[0].1;
        }
        let (start, from) = frames[after - 1];
        let Some(&(end, to)) = frames.get(after) else { return from };
        from + (to - from) * ((time - start) / (end - start))
    }
}

impl fmt::Debug for Amplitude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Schedule::Always => f.write_str("Always"),
            Schedule::Keyframes(frames) => f.debug_tuple("Keyframes").field(frames).finish(),
            Schedule::Function(_) => f.write_str("Function"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn keyframes_go_straight_from_pose_to_pose_and_stay_at_the_ends() {
        let up = Keyframes::translations([(1.0, Vec3::ZERO), (2.0, Vec3::Y), (4.0, Vec3::new(2.0, 1.0, 0.0))]).unwrap();
        let up = Motion::from(up);
        let at = |time| up.displacement(time, Vec3::splat(7.0));
        assert_eq!((at(0.0), at(1.5), at(2.0)), (Vec3::ZERO, 0.5 * Vec3::Y, Vec3::Y));
        assert_eq!((at(3.0), at(9.0)), (Vec3::new(1.0, 1.0, 0.0), Vec3::new(2.0, 1.0, 0.0)));
        assert!((up.velocity(3.0, Vec3::ZERO) - Vec3::X).length() < 1e-8);
        assert_eq!(up.velocity(5.0, Vec3::ZERO), Vec3::ZERO);
    }

    #[test]
    fn rotations_turn_about_the_center_also_more_than_once() {
        let turn = Pose { rotation: Vec3::new(0.0, 0.0, 4.0 * PI), translation: Vec3::ZERO };
        let twice = Keyframes::new(Vec3::X, vec![(0.0, Pose::default()), (8.0, turn)]).unwrap();
        let at =
            |time| Vec3::new(3.0, 0.0, 1.0) + Motion::from(twice.clone()).displacement(time, Vec3::new(3.0, 0.0, 1.0));
        assert!((at(1.0) - Vec3::new(1.0, 2.0, 1.0)).length() < 1e-14, "a quarter of a turn");
        assert!((at(6.0) - Vec3::new(-1.0, 0.0, 1.0)).length() < 1e-14, "a turn and a half");
    }

    #[test]
    fn amplitudes_go_straight_from_factor_to_factor_and_stay_at_the_ends() {
        let amplitude = Amplitude::keyframes([(1.0, 2.0), (3.0, 6.0), (4.0, 0.0)]).unwrap();
        let factors = [0.0, 1.0, 2.0, 3.0, 3.5, 4.0, 9.0].map(|time| amplitude.factor(time));
        assert_eq!(factors, [2.0, 2.0, 4.0, 6.0, 3.0, 0.0, 0.0]);
        assert_eq!(Amplitude::default().factor(5.0), 1.0);
        assert_eq!(Amplitude::function(|time| 2.0 * time).factor(5.0), 10.0);
        assert_eq!(Amplitude::keyframes([]).unwrap_err(), KeyframesError::Empty);
        let order = Amplitude::keyframes([(2.0, 1.0), (1.0, 1.0)]).unwrap_err();
        assert_eq!(order, KeyframesError::Order { number: 1, time: 1.0 });
        assert_eq!(Amplitude::keyframes([(0.0, f64::NAN)]).unwrap_err(), KeyframesError::NotFinite { number: 0 });
    }

    #[test]
    fn keyframes_that_make_no_motion_are_named() {
        let error = |times: &[f64]| {
            let frames = times.iter().map(|&time| (time, Vec3::ZERO));
            Keyframes::translations(frames).unwrap_err().to_string()
        };
        assert_eq!(error(&[]), "no keyframe, expected at least one");
        let wrong = "keyframe 1 is at 1 s, expected a time after that of the keyframe before it";
        assert_eq!(error(&[1.0, 1.0]), wrong);
        assert_eq!(error(&[f64::NAN]), "keyframe 0 has numbers that are not finite");
    }
}
