//! The `pliant` command; everything it does is in the library beside it, where tests can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    pliant_cli::run(std::env::args_os())
}
