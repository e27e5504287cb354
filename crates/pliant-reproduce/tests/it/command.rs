//! The command as a user runs it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use pliant_reproduce::EXPERIMENTS;
use tempfile::TempDir;

fn reproduce(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_pliant-reproduce")).args(args).current_dir(folder).output().unwrap();
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (status.code().expect("the command ended by itself"), out, err)
}

#[test]
fn all_experiments_are_listed_and_names_are_checked() {
    let folder = TempDir::new().unwrap();
    let (status, out, _) = reproduce(folder.path(), &[]);
    assert_eq!(status, 0);
    for experiment in EXPERIMENTS {
        assert!(out.contains(experiment.name) && out.contains(experiment.title), "{} is missing", experiment.name);
    }
    let (status, _, err) = reproduce(folder.path(), &["figure-99"]);
    assert_eq!(status, 1);
    assert!(
        err.contains("unknown experiment `figure-99`; expected one of ") && err.contains("course-energies"),
        "{err}"
    );
    let (status, _, err) = reproduce(folder.path(), &["all", "servin-cube"]);
    assert_eq!(status, 1);
    assert!(err.contains("`all` selects every experiment"), "{err}");
}

#[test]
fn an_experiment_leaves_a_page_with_figures_and_data() {
    let folder = TempDir::new().unwrap();
    let (status, out, err) = reproduce(folder.path(), &["course-energies", "--fast"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("findings agree") && out.contains("wrote out/reproduce/course-energies/README.md"), "{out}");
    let at = folder.path().join("out/reproduce/course-energies");
    let page = std::fs::read_to_string(at.join("README.md")).unwrap();
    for words in [
        "](energies.svg)",
        "[data](energies.csv)",
        "| agrees |",
        "`pliant-reproduce course-energies --fast`",
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
        let (status, _, err) = reproduce(folder.path(), &["--summary", "docs"]);
        assert!(status == 1 && err.contains(words), "{words} is missing in {err}");
        assert!(!folder.path().join("docs/reproduction.md").exists());
    };
    let first = EXPERIMENTS[0].name;
    refused("run `cargo run --release -p pliant-reproduce -- -o out/reproduce all`");
    let at = folder.path().join("out/reproduce").join(first);
    std::fs::create_dir_all(&at).unwrap();
    std::fs::write(at.join("page.json"), "{ \"name\": 3").unwrap();
    refused("line 1");
    let (status, _, _) = reproduce(folder.path(), &[first, "--fast"]);
    assert_eq!(status, 0);
    refused("its page is from the fast variant");
    let fast = std::fs::read_to_string(at.join("page.json")).unwrap();
    let full = fast.replace("\"Fast\"", "\"Full\"");
    std::fs::write(at.join("page.json"), full.replace("\"is_finished\": true", "\"is_finished\": false")).unwrap();
    refused("from an unfinished run");
    let file = |text: &str| {
        text.find(".svg\"").or_else(|| text.find(".png\"")).map(|end| text[..end].rfind('"').unwrap() + 1).unwrap()
    };
    let (before, after) = full.split_at(file(&full));
    std::fs::write(at.join("page.json"), format!("{before}../../{after}")).unwrap();
    refused("expected a file in the same folder");
}

#[test]
fn all_missing_runs_are_told_before_the_work() {
    let folder = TempDir::new().unwrap();
    let [first, second, others @ ..] = EXPERIMENTS else { panic!("there are more than two experiments") };
    let (status, _, _) = reproduce(folder.path(), &[second.name, "--fast"]);
    assert_eq!(status, 0);
    let (status, out, err) = reproduce(folder.path(), &[first.name, "--summary", "docs"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(!folder.path().join("out/reproduce").join(first.name).exists(), "the work was begun");
    assert!(err.contains(&format!("{}: its page is from the fast variant", second.name)), "{err}");
    for experiment in others {
        assert!(err.contains(&format!("{}: not run yet", experiment.name)), "{err}");
    }
    assert!(!err.contains(&format!("{}: ", first.name)), "{err}");
    assert_eq!(err.matches("out/reproduce").count(), 1, "{err}");
}

/// Starts experiments and sends Ctrl-C once the first has started. Returns the text on standard error.
fn interrupt(folder: &Path, name: &str) -> String {
    let child = Command::new(env!("CARGO_BIN_EXE_pliant-reproduce"))
        .arg(name)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let part = folder.join("out/reproduce").join(format!("{}.part", EXPERIMENTS[0].name));
    let began = Instant::now();
    while !part.exists() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn ctrl_c_keeps_what_was_done() {
    let folder = TempDir::new().unwrap();
    let err = interrupt(folder.path(), "all");
    let first = EXPERIMENTS[0].name;
    assert!(err.contains(&format!("stopped; partial results are in out/reproduce/{first}\n")), "{err}");
    let runs = folder.path().join("out/reproduce");
    let page = std::fs::read_to_string(runs.join(first).join("README.md")).unwrap();
    assert!(page.contains("**Not finished**: stopped"), "{page}");
    assert!(!runs.join(format!("{first}.part")).exists());
}

#[test]
fn ctrl_c_leaves_an_earlier_page_that_was_finished() {
    let folder = TempDir::new().unwrap();
    let first = EXPERIMENTS[0].name;
    let finish = || assert_eq!(reproduce(folder.path(), &[first, "--fast"]).0, 0);
    finish();
    let runs = folder.path().join("out/reproduce");
    let [at, part] = [first.to_owned(), format!("{first}.part")].map(|name| runs.join(name));
    let contents = || -> BTreeMap<PathBuf, Vec<u8>> {
        let files = std::fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path());
        files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    };
    let finished = contents();
    let err = interrupt(folder.path(), first);
    assert!(err.contains(&format!("partial results are in out/reproduce/{first}.part; ")), "{err}");
    assert!(contents() == finished, "the page of the earlier run has changed");
    let page = std::fs::read_to_string(part.join("README.md")).unwrap();
    assert!(page.contains("**Not finished**: stopped"), "{page}");

    // The next run that finishes writes both folders. It deletes files that only the earlier page had, and keeps files
    // of others.
    let record = String::from_utf8(finished[&at.join("page.json")].clone()).unwrap();
    std::fs::write(at.join("page.json"), record.replace("\"frames.csv\"", "\"figure-of-old.csv\"")).unwrap();
    std::fs::write(at.join("figure-of-old.csv"), "").unwrap();
    std::fs::write(at.join("notes.txt"), "mine").unwrap();
    finish();
    assert!(!part.exists() && !at.join("figure-of-old.csv").exists() && at.join("notes.txt").exists());
    assert_eq!(contents().len(), finished.len() + 1);
}
