//! Reduced models \[BarbicJames2005\].

mod cost;
mod experiment;
mod swing;

pub use experiment::EXPERIMENT;
