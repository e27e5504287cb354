//! Parameters of contact.

use thiserror::Error;

use super::Friction;

/// Parameters of contact. All have defaults, and most defaults follow from the bodies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContactParams {
    /// Gap from which on surfaces interact \[m\]. By default a thousandth of the size of a body, and at most a tenth of
    /// the shortest edge at a vertex.
    pub range: Option<f64>,
    /// Scale of the contact pressure \[Pa\]. By default a tenth of Young's modulus.
    pub pressure: Option<f64>,
    /// Young's modulus of bodies without a law \[Pa\], such as networks of springs; by default the greatest of the
    /// other bodies.
    pub young: Option<f64>,
    /// Distance that surfaces keep, in addition to the gap \[m\].
    pub thickness: f64,
    /// Friction of all pairs of bodies that do not have their own.
    pub friction: Friction,
    /// Pairs of bodies and colliders with their own friction, or that do not collide.
    pub pairs: Vec<PairRule>,
}

/// Rule for the contact of two bodies or colliders, or of a body with itself if both names are the same.
#[derive(Debug, Clone, PartialEq)]
pub struct PairRule {
    /// Names of the bodies or colliders.
    pub bodies: [String; 2],
    /// Behavior of their contact.
    pub rule: PairBehavior,
}

/// Behavior of the contact of a pair of bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum PairBehavior {
    /// They have this friction.
    Friction(Friction),
    /// They do not collide.
    Ignored,
}

/// Error in the parameters of contact.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum ContactParamsError {
    #[error("{what} is {value}, expected a positive number")]
    NotPositive { what: &'static str, value: f64 },
    #[error("{what} is {value}, expected a finite number that is not negative")]
    Negative { what: &'static str, value: f64 },
    #[error(
        "the kinetic coefficient of friction is {kinetic_coefficient}, expected at most the static one, {static_coefficient}"
    )]
    Kinetic { static_coefficient: f64, kinetic_coefficient: f64 },
    #[error("a rule of contact is for `{name}`, which is no body and no collider; there are {known}")]
    Unknown { name: String, known: String },
}

impl ContactParams {
    /// Returns an error if a number is not valid.
    pub(crate) fn check(&self) -> Result<(), ContactParamsError> {
        let positive = [
            ("the contact range", self.range),
            ("the contact pressure", self.pressure),
            ("Young's modulus of bodies without a law", self.young),
        ];
        for (what, value) in positive {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(ContactParamsError::NotPositive { what, value });
            }
        }
        check_not_negative("the contact thickness", self.thickness)?;
        self.friction.check()?;
        self.pairs.iter().try_for_each(|pair| match &pair.rule {
            PairBehavior::Friction(friction) => friction.check(),
            PairBehavior::Ignored => Ok(()),
        })
    }
}

impl Friction {
    /// Returns an error if a number is not valid.
    pub(crate) fn check(&self) -> Result<(), ContactParamsError> {
        check_not_negative("the static coefficient of friction", self.static_coefficient)?;
        check_not_negative("the kinetic coefficient of friction", self.kinetic_coefficient)?;
        let &Self { static_coefficient, kinetic_coefficient, speed } = self;
        if kinetic_coefficient > static_coefficient {
            return Err(ContactParamsError::Kinetic { static_coefficient, kinetic_coefficient });
        }
        if speed > 0.0 && speed.is_finite() {
            Ok(())
        } else {
            Err(ContactParamsError::NotPositive { what: "the sliding speed of friction", value: speed })
        }
    }
}

fn check_not_negative(what: &'static str, value: f64) -> Result<(), ContactParamsError> {
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(ContactParamsError::Negative { what, value }) }
}
