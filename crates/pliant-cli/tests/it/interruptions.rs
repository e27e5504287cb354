//! Runs that are interrupted: by Ctrl-C, by being killed, and by a full disk.
#![cfg(unix)]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{command, ok};
use crate::runs::{assert_same, results, with_scene};

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([name, &child.id().to_string()]).stderr(Stdio::null()).status().unwrap();
    assert!(done.success());
}

/// Waits until a run has written `count` frames.
fn wait_for_frames(folder: &Path, count: usize) {
    let start = Instant::now();
    while folder.join("frames").read_dir().map_or(0, Iterator::count) < count {
        assert!(start.elapsed() < Duration::from_secs(60), "no frames in {}", folder.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn ctrl_c_finishes_the_step_and_says_how_to_go_on() {
    let folder = with_scene(3000);
    let mut child = command(folder.path(), &["run", "jelly.toml", "-o", "a"]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_frames(&folder.path().join("a"), 3);
    signal(&child, "-INT");
    let status = child.wait().unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(status.code(), Some(130), "{err}");
    assert!(err.contains("stopped after step ") && err.contains("`pliant resume a` continues from step "), "{err}");
    ok(folder.path(), &["resume", "a", "--quiet"]);
    ok(folder.path(), &["run", "jelly.toml", "--quiet", "-o", "b"]);
    assert_same(&folder.path().join("b"), &folder.path().join("a"));
    let again = ok(folder.path(), &["resume", "a"]);
    assert!(again.out.contains("already complete (3000 steps)"), "{}", again.out);
}

#[test]
fn a_run_that_is_killed_twenty_times_ends_as_if_it_had_never_been() {
    let folder = with_scene(3000);
    ok(folder.path(), &["run", "jelly.toml", "--quiet", "-o", "whole"]);
    let whole = results(&folder.path().join("whole"));
    let killed = folder.path().join("killed");
    let mut random = 7_u64;
    let mut begun = false;
    for _ in 0..20 {
        let args: &[&str] = if begun { &["resume", "killed"] } else { &["run", "jelly.toml", "-o", "killed"] };
        let args: Vec<&str> = args.iter().copied().chain(["--quiet", "--vtu", "--checkpoint", "0"]).collect();
        // A resumed run takes its formats from the scene.
        let args: Vec<&str> = args.into_iter().filter(|arg| !(begun && *arg == "--vtu")).collect();
        let mut child = command(folder.path(), &args).spawn().unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(5 + (random >> 33) % 60));
        signal_if_alive(&mut child);
        // Existing files are complete and correct.
        for (name, bytes) in killed.join("frames").is_dir().then(|| results(&killed)).into_iter().flatten() {
            if name.starts_with('.') {
                continue;
            }
            match name.as_str() {
                "probes.csv" => {
                    let complete = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
                    assert!(whole[&name].starts_with(&bytes[..complete]), "numbers differ");
                }
                _ => assert!(whole[&name] == bytes, "{name} is not complete"),
            }
        }
        begun = killed.join("checkpoint.bin").is_file();
    }
    let last: &[&str] =
        if begun { &["resume", "killed", "--quiet"] } else { &["run", "jelly.toml", "--quiet", "-o", "killed"] };
    ok(folder.path(), last);
    // Temporary files of the killed may be left.
    for entry in killed.join("frames").read_dir().unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with('.') {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    assert_same(&folder.path().join("whole"), &killed);
}

fn signal_if_alive(child: &mut Child) {
    if child.try_wait().unwrap().is_none() {
        child.kill().unwrap();
    }
    child.wait().unwrap();
}

/// Files cannot grow beyond a limit, which is to the program what a full disk is: an error of a write.
#[test]
fn a_full_disk_is_an_error_that_names_the_file_and_leaves_the_rest() {
    let folder = with_scene(2000);
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" run jelly.toml --quiet -o full";
    let run = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_pliant")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let err = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(1), "{err}");
    assert!(err.contains("probes.csv") && err.contains("earlier results are in full"), "{err}");
    let resumed = ok(folder.path(), &["resume", "full"]);
    assert!(resumed.out.contains("steps"), "{}", resumed.out);
    ok(folder.path(), &["run", "jelly.toml", "--quiet", "-o", "whole"]);
    assert_same(&folder.path().join("whole"), &folder.path().join("full"));
}
