//! Integration tests of the command: one binary, so that it is linked once.

mod cli;
mod command;
mod interruptions;
mod runs;
mod scenes;
mod surfaces;
mod view;
