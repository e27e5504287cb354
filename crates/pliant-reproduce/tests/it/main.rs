//! Integration tests of the experiments: one binary, so that it is linked once.

mod command;
mod findings;
mod pages;
