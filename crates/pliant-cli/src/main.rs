//! The `pliant` command. It is implemented in the library next to it, which tests can call.

use std::process::ExitCode;

fn main() -> ExitCode {
    pliant_cli::run(std::env::args_os())
}
