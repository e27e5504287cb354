//! Errors of a formula, with their position in the text.

use std::fmt;

use thiserror::Error;

/// Position in the text of a formula, displayed as its line with a caret below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPosition {
    /// Line number, starting at 1.
    pub line: usize,
    /// Column in characters, starting at 1.
    pub column: usize,
    /// Line, or the part of a long line near the position.
    excerpt: String,
    /// Number of characters of the excerpt before the position.
    before: usize,
}

/// Number of characters of a long line shown on either side of the position.
const CONTEXT: usize = 50;

impl TextPosition {
    /// Returns the position of byte `at`.
    pub(super) fn new(text: &str, at: usize) -> Self {
        let (head, tail) = text.split_at(at);
        let start = head.rfind('\n').map_or(0, |newline| newline + 1);
        let column = head[start..].chars().count();
        let skipped = column.saturating_sub(CONTEXT);
        let rest = tail.split('\n').next().unwrap_or_default();
        let mut excerpt: String = if skipped > 0 { "…".into() } else { String::new() };
        let before = column - skipped + usize::from(skipped > 0);
        excerpt.extend(head[start..].chars().skip(skipped).chain(rest.chars().take(CONTEXT)).map(printable));
        if rest.chars().nth(CONTEXT).is_some() {
            excerpt.push('…');
        }
        let line = 1 + head.matches('\n').count();
        Self { line, column: column + 1, excerpt: excerpt.trim_end().into(), before }
    }
}

/// Replaces control and whitespace characters, which could move the caret or the cursor of a terminal, by spaces.
fn printable(c: char) -> char {
    if c.is_control() || c.is_whitespace() { ' ' } else { c }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 1 {
            write!(f, "line {}, ", self.line)?;
        }
        write!(f, "column {}\n  {}\n  {}^", self.column, self.excerpt, " ".repeat(self.before))
    }
}

/// Error in the formula of a law.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum FormulaError {
    #[error("the formula has {bytes} bytes, expected at most {limit}")]
    TooLong { bytes: usize, limit: usize },
    #[error("expected {expected}, found {found}, at {text_position}")]
    Syntax { expected: &'static str, found: String, text_position: TextPosition },
    #[error("nested more than {limit} deep at {text_position}")]
    TooDeep { limit: usize, text_position: TextPosition },
    #[error("`{name}` is neither a variable nor a parameter, at {text_position}\n{hint}")]
    UnknownName { name: String, hint: String, text_position: TextPosition },
    #[error("there is no function `{name}`, at {text_position}\n{hint}")]
    UnknownFunction { name: String, hint: String, text_position: TextPosition },
    #[error("`{function}` takes {expected} arguments, found {found}, at {text_position}")]
    Arguments { function: &'static str, expected: usize, found: usize, text_position: TextPosition },
    #[error(
        "`{second}` after `{first}`: a formula is either of the invariants I1, I2, I3, J or of the stretches l1, l2, l3, at {text_position}"
    )]
    Mixed { first: String, second: String, text_position: TextPosition },
    #[error("this is {value} for every deformation, at {text_position}")]
    Constant { value: f64, text_position: TextPosition },
    #[error("the formula has more than {limit} intermediate results at a time")]
    TooComplex { limit: usize },
    #[error(
        "a parameter cannot be called {name}, expected letters, digits and _, and no name of a variable or function"
    )]
    ParameterName { name: String },
    #[error("the parameter {name} is given twice")]
    ParameterTwice { name: String },
    #[error("the parameter {name} is {value}, expected a finite number")]
    ParameterValue { name: String, value: f64 },
    #[error("the parameter {name} does not occur in the formula")]
    UnusedParameter { name: String },
    #[error("the {what} at rest is {value}, expected a finite number")]
    NotFinite { what: &'static str, value: f64 },
    #[error("the stress at rest is {stress} Pa, so the rest shape would not be in equilibrium")]
    RestStress { stress: f64 },
    #[error(
        "the energy is not symmetric in the stretches: at {stretches:?} it is {energy} J/m³, at {exchanged:?} {other} J/m³"
    )]
    Asymmetric { stretches: [f64; 3], energy: f64, exchanged: [f64; 3], other: f64 },
    #[error(
        "at small strains the shear modulus is {shear} Pa and the bulk modulus {bulk} Pa, expected both to be positive"
    )]
    Moduli { shear: f64, bulk: f64 },
}
