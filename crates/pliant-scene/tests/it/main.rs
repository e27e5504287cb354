//! Tests of scenes and runs, in one binary.

mod branching;
mod contact_and_loads;
mod contact_results;
mod energy_balance;
mod examples;
mod includes;
mod runs;
mod scene;
#[path = "../../../pliant/tests/support/mod.rs"]
mod support;
mod vega_config;
