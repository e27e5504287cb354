//! The scenes that come with Pliant do what they say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

use tempfile::TempDir;

/// Number of scenes that run at a time, each on a separate thread.
const AT_A_TIME: usize = 2;

/// Returns all scenes, sorted by name.
fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut scenes: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    scenes.sort();
    assert!(scenes.len() >= 10, "only {} scenes in {}", scenes.len(), folder.display());
    scenes
}

fn name(scene: &Path) -> String {
    scene.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Returns the output of a failed command, or `None`.
fn failure(output: &Output) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (!output.status.success()).then(|| format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr)))
}

#[test]
fn every_scene_produces_what_it_says_it_must() {
    let out = TempDir::new().unwrap();
    // Taken from the end: the order of names again.
    let left = Mutex::new(scenes().into_iter().rev().collect::<Vec<_>>());
    let failures = Mutex::new(Vec::new());
    let next = || left.lock().unwrap().pop();
    let work = || {
        while let Some(scene) = next() {
            let output = Command::new(env!("CARGO_BIN_EXE_pliant"))
                .arg("run")
                .arg(&scene)
                .args(["--check", "--quiet", "--no-formats", "--threads", "1", "-o"])
                .arg(out.path().join(name(&scene)))
                .output()
                .unwrap();
            if let Some(what) = failure(&output) {
                failures.lock().unwrap().push(format!("{}: {what}", name(&scene)));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} scenes failed\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_scene_has_a_title_and_words_about_it_and_says_what_must_come_out() {
    for scene in scenes() {
        let text = fs::read_to_string(&scene).unwrap();
        let starting = |words: &str| text.lines().filter(|line| line.starts_with(words)).count();
        assert!(text.starts_with("# "), "{}: no comment at its head", name(&scene));
        for key in ["title = \"", "about = \""] {
            assert_eq!(starting(key), 1, "{}: {key}", name(&scene));
        }
        assert!(starting("[[expect]]") >= 2, "{}: it expects too little", name(&scene));
        assert_eq!(starting("because = \""), starting("[[expect]]"), "{}: not all numbers say why", name(&scene));
    }
}

#[test]
fn every_scene_is_accepted_by_scene_check() {
    for scene in scenes() {
        let output = Command::new(env!("CARGO_BIN_EXE_pliant")).args(["scene", "check"]).arg(&scene).output().unwrap();
        if let Some(what) = failure(&output) {
            panic!("{}: {what}", name(&scene));
        }
    }
}

#[test]
fn every_scene_is_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let table = fs::read_to_string(folder.join("README.md")).unwrap();
    for scene in scenes() {
        let cell = format!("| [`{0}`]({0}.toml) |", name(&scene));
        assert!(table.contains(&cell), "{cell} is missing in scenes/README.md");
    }
}

#[test]
fn every_scene_that_is_written_again_can_be_built() {
    for scene in scenes() {
        let file = pliant_scene::scene::SceneFile::read(&pliant::files::Disk, &scene).unwrap();
        let text = file.scene.to_toml();
        let again = pliant_scene::scene::SceneFile::parse(pliant_scene::scene::Source::new(&scene, text));
        let again = again.unwrap_or_else(|error| panic!("{}: {error}", name(&scene)));
        assert_eq!(again.scene, file.scene, "{}", name(&scene));
        again.build(&pliant::files::Disk).unwrap_or_else(|error| panic!("{}: {error}", name(&scene)));
    }
}

/// Returns a line without the parts that depend on the machine: numbers, the spaces that align them, and bars of text.
fn stable(line: &str) -> String {
    let line: String = line.chars().filter(|c| !('\u{2580}'..='\u{259f}').contains(c)).collect();
    let mut out = String::new();
    for word in line.split_whitespace() {
        let mut rest = word;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let end = rest[start..].find(|c: char| !(c.is_ascii_digit() || ".e-+".contains(c)));
            out += rest[..start].trim_end_matches('-');
            out.push('#');
            rest = &rest[end.map_or(rest.len(), |end| start + end)..];
        }
        out += rest;
        out.push(' ');
    }
    out
}

#[test]
fn the_transcripts_of_the_readme_print_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let folder = TempDir::new().unwrap();
    for entry in root.join("examples").read_dir().unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let scene = fs::read_to_string(root.join("examples/beam.toml")).unwrap();
    assert!(readme.contains(&format!("```toml\n{scene}```")), "the scene in README.md is not examples/beam.toml");
    let mut transcripts = 0;
    for block in readme.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        for transcript in block.split("$ pliant ").skip(1) {
            let (command, expected) = transcript.split_once('\n').unwrap();
            let output = Command::new(env!("CARGO_BIN_EXE_pliant"))
                .args(command.split(' '))
                .current_dir(folder.path())
                .output()
                .unwrap();
            let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            // Notes may change; everything else must be equal.
            let found: Vec<&str> = printed.lines().filter(|line| !line.starts_with("note: ")).collect();
            let expected: Vec<&str> = expected.lines().collect();
            assert_eq!(found.len(), expected.len(), "pliant {command} printed\n{printed}");
            for (found, expected) in found.iter().zip(expected) {
                let (found, expected) = (stable(found), stable(expected));
                // Omissions are dots.
                let is_same = match expected.trim_end().strip_suffix('…') {
                    Some(start) => found.starts_with(start.trim_end()),
                    None => found == expected,
                };
                assert!(is_same, "pliant {command} printed\n{found}\ninstead of\n{expected}");
            }
            transcripts += 1;
        }
    }
    assert!(transcripts >= 10, "only {transcripts} transcripts in README.md");
}
