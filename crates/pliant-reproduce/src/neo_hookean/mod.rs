//! Three neo-Hookean laws compared: that of Bower, that of Bonet and Wood, and the stable one.

mod crash;
pub mod drop;
mod laws;
pub mod release;
mod track;
