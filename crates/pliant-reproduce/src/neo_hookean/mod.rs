//! Comparison of three neo-Hookean laws: Bower, Bonet and Wood, and stable.

mod crash;
pub mod drop;
mod laws;
pub mod release;
mod track;
