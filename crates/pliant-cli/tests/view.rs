//! `pliant view` as a user starts it. The viewer itself is tested in `pliant-viewer`, and with a browser in `web`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pliant_viewer::Page;
use tempfile::TempDir;

fn view(folder: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
    command.arg("view").args(args).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn notes_are_printed_before_the_address() {
    if Page::embedded().is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    make(folder.path(), &["mesh", "generate", "ball", "--across", "3", "-o", "ball.obj"]);
    // Both streams in one, in the order in which they are written.
    let mut child = Command::new("sh")
        .args(["-c", "exec \"$0\" view ball.obj --port 0 --no-browser --paused 2>&1", env!("CARGO_BIN_EXE_pliant")])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let before: Vec<String> = lines.take_while(|line| !line.starts_with("http://")).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(before.iter().any(|line| line.contains("the file gives no density")), "{before:?}");
}

/// Returns the exit status and the text on standard error.
fn end(mut child: Child) -> (Option<i32>, String) {
    let mut output = String::new();
    child.stderr.take().unwrap().read_to_string(&mut output).unwrap();
    (child.wait().unwrap().code(), output)
}

fn make(folder: &Path, args: &[&str]) {
    assert!(
        Command::new(env!("CARGO_BIN_EXE_pliant")).args(args).current_dir(folder).output().unwrap().status.success()
    );
}

#[test]
fn it_prints_an_address_serves_it_and_ends_with_ctrl_c() {
    let folder = TempDir::new().unwrap();
    make(folder.path(), &["mesh", "generate", "beam", "-o", "beam.veg"]);
    make(folder.path(), &["run", "beam.veg", "--duration", "0.1", "-o", "run", "--quiet"]);
    for what in ["beam.veg", "run"] {
        let mut child = view(folder.path(), &[what, "--port", "0", "--no-browser"]);
        if Page::embedded().is_none() {
            let (status, output) = end(child);
            assert!(status == Some(1) && output.contains("make page"), "{output}");
            continue;
        }
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap();
        let (host, path) = address.split_once('/').unwrap();
        assert!(host.starts_with("127.0.0.1:"), "{line}");
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<html"), "{answer}");
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupt.success());
        let (status, output) = end(child);
        assert_eq!(status, Some(0), "{output}");
    }
}

#[test]
fn what_cannot_be_shown_is_an_error_that_says_why() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("broken.toml"), "[[object]]\nmesh = 3\n").unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    for (what, more, words) in [
        ("missing.toml", &[][..], "missing.toml"),
        ("broken.toml", &[], "broken.toml"),
        ("empty", &[], "not a run of Pliant"),
        ("empty", &["--step", "0.1"], "--step applies to scenes"),
    ] {
        let args = [&[what, "--port", "0", "--no-browser"], more].concat();
        let (status, output) = end(view(folder.path(), &args));
        let expected = if Page::embedded().is_some() { words } else { "make page" };
        assert!(status == Some(1) && output.contains(expected), "{what}: {output}");
    }
}
