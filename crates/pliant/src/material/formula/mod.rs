//! Laws given as text.

mod error;
mod law;
mod parse;
mod program;
#[cfg(test)]
mod tests;

pub use error::{FormulaError, TextPosition};
pub use law::Formula;
