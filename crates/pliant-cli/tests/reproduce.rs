//! `pliant reproduce` as a user runs it.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use pliant_reproduce::EXPERIMENTS;
use tempfile::TempDir;

fn pliant(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_pliant")).arg("reproduce").args(args).current_dir(folder).output().unwrap();
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (status.code().expect("the command ended by itself"), out, err)
}

#[test]
fn all_experiments_are_listed_and_names_are_checked() {
    let folder = TempDir::new().unwrap();
    let (status, out, _) = pliant(folder.path(), &[]);
    assert_eq!(status, 0);
    for experiment in EXPERIMENTS {
        assert!(out.contains(experiment.name) && out.contains(experiment.title), "{} is missing", experiment.name);
    }
    let (status, _, err) = pliant(folder.path(), &["figure-99"]);
    assert_eq!(status, 1);
    assert!(err.contains("no experiment `figure-99`; there are ") && err.contains("course-energies"), "{err}");
}

#[test]
fn an_experiment_leaves_a_page_with_figures_and_data() {
    let folder = TempDir::new().unwrap();
    let (status, out, err) = pliant(folder.path(), &["course-energies", "--fast"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("findings agree") && out.contains("wrote out/reproduce/course-energies/README.md"), "{out}");
    let at = folder.path().join("out/reproduce/course-energies");
    let page = std::fs::read_to_string(at.join("README.md")).unwrap();
    for words in [
        "](energies.svg)",
        "[data](energies.csv)",
        "| agrees |",
        "`pliant reproduce course-energies --fast`",
        " threads on ",
    ] {
        assert!(page.contains(words), "{words} is missing in {page}");
    }
    let data = std::fs::read_to_string(at.join("energies.csv")).unwrap();
    assert!(data.starts_with("panel,series,x,y\n") && data.contains("stvk,1"), "{}", &data[..200]);
    assert!(std::fs::read(at.join("energies.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn the_page_of_all_wants_whole_runs_of_all() {
    let folder = TempDir::new().unwrap();
    let refused = |words: &str| {
        let (status, _, err) = pliant(folder.path(), &["--summary", "docs"]);
        assert!(status == 1 && err.contains(words), "{words} is missing in {err}");
        assert!(!folder.path().join("docs/reproduction.md").exists());
    };
    let first = EXPERIMENTS[0].name;
    refused(&format!("out/reproduce/{first}/page.json: run `pliant reproduce {first}`"));
    let at = folder.path().join("out/reproduce").join(first);
    std::fs::create_dir_all(&at).unwrap();
    std::fs::write(at.join("page.json"), "{ \"name\": 3").unwrap();
    refused("line 1");
    let (status, _, _) = pliant(folder.path(), &[first, "--fast"]);
    assert_eq!(status, 0);
    refused("of the fast variant");
    let fast = std::fs::read_to_string(at.join("page.json")).unwrap();
    let full = fast.replace("\"Fast\"", "\"Full\"");
    std::fs::write(at.join("page.json"), full.replace("\"is_finished\": true", "\"is_finished\": false")).unwrap();
    refused("not finished");
    let file = |text: &str| {
        text.find(".svg\"").or_else(|| text.find(".png\"")).map(|end| text[..end].rfind('"').unwrap() + 1).unwrap()
    };
    let (before, after) = full.split_at(file(&full));
    std::fs::write(at.join("page.json"), format!("{before}../../{after}")).unwrap();
    refused("expected one beside it");
}

#[test]
fn ctrl_c_keeps_what_was_done() {
    let folder = TempDir::new().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["reproduce", "all"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let first = folder.path().join("out/reproduce").join(EXPERIMENTS[0].name);
    let began = Instant::now();
    while !first.exists() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let page = std::fs::read_to_string(first.join("README.md")).unwrap();
    assert!(page.contains("**Not finished**: stopped"), "{page}");
}
