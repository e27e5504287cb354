//! The command as a process.

use std::path::Path;
use std::process::{Command, Output};

/// Exit status and output of the command.
pub struct Finished {
    pub status: i32,
    pub out: String,
    pub err: String,
}

/// Returns the command in a folder.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
    command.args(args).current_dir(folder);
    command
}

/// Runs the command in a folder.
pub fn pliant(folder: &Path, args: &[&str]) -> Finished {
    let Output { status, stdout, stderr } = command(folder, args).output().unwrap();
    Finished {
        status: status.code().expect("the command ended by itself"),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// Runs the command in a folder, and checks that it succeeds.
pub fn ok(folder: &Path, args: &[&str]) -> Finished {
    let run = pliant(folder, args);
    assert_eq!(run.status, 0, "{args:?}: {}", run.err);
    run
}
