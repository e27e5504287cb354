//! Runs in folders: their files, and independence of interruptions.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use pliant_scene::run::{Outcome, Run, RunError, RunParams, Status};
use pliant_scene::scene::{SceneFile, Source};
use tempfile::TempDir;

const NOW: RunParams = RunParams { checkpoint_interval: Duration::ZERO };

/// Returns a scene of a soft block that falls on the ground, is fixed at an edge and pulled at a corner.
fn scene(settings: &str, material: &str) -> SceneFile {
    let text = format!(
        r#"
[[object]]
mesh = {{ box = {{ size = [0.4, 0.2, 0.2], cells = [3, 2, 2] }} }}
material = {{ {material} density = 1000 }}
velocity = [0, -1, 0]

[[fixed]]
vertices = {{ every = ["x-min", "y-max"] }}

[[handle]]
vertices = {{ nearest = [0.4, 0, 0] }}
stiffness = 50
motion = {{ keyframes = [{{ time = 0 }}, {{ time = 0.2, translate = [0.1, 0, 0] }}] }}

[[obstacle]]
shape.plane = {{ point = [0, -0.02, 0] }}
stiffness = 2000
friction = 0.3
damping = 1

[damping]
mass = 0.1
stiffness = 0.001

[[probe]]
name = "corner"
vertices = {{ nearest = [0.4, 0, 0] }}

[[probe]]
name = "support"
vertices = {{ every = ["x-min", "y-max"] }}
measure = "reaction"

[simulation]
restart_every = 7
{settings}

[output]
frame_rate = 100
record_every = 2
"#
    );
    SceneFile::parse(Source::new("block.toml", text)).unwrap()
}

const SOFT: &str = "young = 2e4, poisson = 0.4,";

fn go(run: &mut Run, stop_after: u64) -> Result<Outcome, RunError> {
    run.go(&NOW, &mut |progress| {
        if progress.step >= stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// Returns the bytes of all results.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in folder.join("frames").read_dir().unwrap().chain(folder.read_dir().unwrap()) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_file() && !["run.json", "checkpoint.bin"].contains(&name.as_str()) {
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn a_run_that_is_stopped_and_resumed_is_the_same_to_the_last_bit_with_every_integrator_and_solver() {
    let implicit = "step = 0.005\nduration = 0.15\n";
    let explicit = "step = 0.0005\nduration = 0.02\n";
    let mut cases = Vec::new();
    for solver in ["auto", "direct", "direct-single", "block-jacobi", "incomplete-cholesky", "stale-factor"] {
        for integrator in ["linearized-backward-euler", "backward-euler", "newmark"] {
            cases.push((format!("{implicit}integrator = \"{integrator}\"\nsolver = \"{solver}\"\n"), SOFT));
        }
    }
    for integrator in ["central-differences", "symplectic-euler", "explicit-euler"] {
        for mass in ["consistent", "lumped"] {
            cases.push((format!("{explicit}integrator = \"{integrator}\"\nmass = \"{mass}\"\n"), SOFT));
        }
    }
    cases.push((format!("{implicit}integrator = \"static\"\n"), SOFT));
    cases.push((format!("{implicit}integrator = \"regularized\"\n"), SOFT));
    cases.push((format!("{implicit}integrator = {{ regularized = {{ strain = \"linear\" }} }}\n"), SOFT));
    for (settings, material) in cases {
        let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
        let whole = go(&mut Run::create(scene(&settings, material), folders[0].path()).unwrap(), u64::MAX).unwrap();
        assert_eq!(whole.status, Status::Done, "{settings}");
        let stopped = go(&mut Run::create(scene(&settings, material), folders[1].path()).unwrap(), 10).unwrap();
        assert_eq!((stopped.status, stopped.step, stopped.resumable_from), (Status::Stopped, 10, 7), "{settings}");
        let mut run = Run::resume(folders[1].path()).unwrap();
        assert_eq!(run.built().simulation.steps_done(), 7);
        go(&mut run, 13).unwrap();
        drop(run);
        assert_eq!(Run::open(folders[1].path()).unwrap().status(), Status::Stopped);
        go(&mut Run::resume(folders[1].path()).unwrap(), u64::MAX).unwrap();
        let [expected, found] = folders.map(|folder| results(folder.path()));
        assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
        for (name, bytes) in &expected {
            assert!(found[name] == *bytes, "{name} differs after being resumed with\n{settings}");
        }
    }
}

/// Checks reduced models: fixed, with a law of each kind, or free, in a floating frame.
#[test]
fn a_reduced_run_that_is_stopped_and_resumed_is_the_same_to_the_last_bit() {
    let scene = |integrator: &str, law: &str, fixed: &str| {
        let text = format!(
            r#"
reduced = {{ size = 8 }}

[[object]]
mesh = {{ box = {{ size = [0.4, 0.1, 0.1], cells = [6, 2, 2] }} }}
material = {{ law = "{law}", young = 2e4, poisson = 0.4, density = 1000 }}
velocity = [0, -1, 0]
spin = [0, 1, 3]
{fixed}
[[handle]]
vertices = {{ nearest = [0.4, 0, 0] }}
stiffness = 50
motion = {{ keyframes = [{{ time = 0 }}, {{ time = 0.2, translate = [0.1, 0, 0] }}] }}

[[obstacle]]
shape.plane = {{ point = [0, -0.02, 0] }}
stiffness = 2000
friction = 0.3

[damping]
mass = 0.1
stiffness = 0.001

[simulation]
restart_every = 7
step = 0.002
duration = 0.1
integrator = "{integrator}"

[output]
frame_rate = 100
record_every = 2
"#
        );
        SceneFile::parse(Source::new("block.toml", text)).unwrap()
    };
    let fixed = "[[fixed]]\nvertices = \"x-min\"\n";
    for (integrator, law, fixed) in [
        ("linearized-backward-euler", "stvk", fixed),
        ("newmark", "stvk", fixed),
        ("backward-euler", "neo-hookean", fixed),
        ("central-differences", "stvk", fixed),
        ("exact-modes", "linear", fixed),
        ("static", "stvk", fixed),
        ("linearized-backward-euler", "stvk", ""),
        ("newmark", "stvk", ""),
        ("backward-euler", "stable-neo-hookean", ""),
    ] {
        let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
        let whole = go(&mut Run::create(scene(integrator, law, fixed), folders[0].path()).unwrap(), u64::MAX).unwrap();
        assert_eq!((whole.status, whole.step), (Status::Done, 50), "{integrator} {law}");
        let stopped = go(&mut Run::create(scene(integrator, law, fixed), folders[1].path()).unwrap(), 10).unwrap();
        assert_eq!((stopped.status, stopped.resumable_from), (Status::Stopped, 7));
        go(&mut Run::resume(folders[1].path()).unwrap(), u64::MAX).unwrap();
        let [expected, found] = folders.map(|folder| results(folder.path()));
        for (name, bytes) in &expected {
            assert!(found[name] == *bytes, "{name} differs after being resumed with {integrator} of {law}, {fixed}");
        }
    }
}

#[test]
fn frames_numbers_and_formats_are_there_and_can_be_read_again() {
    let folder = TempDir::new().unwrap();
    let mut file = scene("step = 0.005\nduration = 0.1\n", SOFT);
    let formats = toml_formats("[\"vtu\", \"obj\", \"ply\", \"glb\", \"pc2\", \"mdd\"]");
    file.scene.output.value.formats = formats;
    let mut run = Run::create(file, folder.path()).unwrap();
    let outcome = go(&mut run, u64::MAX).unwrap();
    let names: Vec<String> =
        outcome.files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(names, ["block.pvd", "block_000000.obj", "block_000000.ply", "block.glb", "block.pc2", "block.mdd"]);
    assert!(outcome.files.iter().all(|file| file.is_file()), "{names:?}");
    let run = Run::open(folder.path()).unwrap();
    assert_eq!((run.frame_count(), run.frames_done(), run.status()), (11, 11, Status::Done));
    let last = run.frame(10, true).unwrap();
    assert!((last.time - 0.1).abs() < 1e-15 && last.fields.is_some());
    let table = run.table().unwrap();
    assert_eq!(table.rows.len(), 11);
    let corner = table.columns.iter().position(|name| name == "corner.x").unwrap();
    let vertex =
        run.geometry().bodies()[0].mesh().vertices().iter().position(|x| (x.x, x.y, x.z) == (0.4, 0.0, 0.0)).unwrap();
    assert_eq!(table.rows[10][corner], 0.4 + last.u[3 * vertex]);
    assert!(folder.path().join("vtu/block_000010.vtu").is_file());
    let list = std::fs::read_to_string(folder.path().join("vtu/block.pvd")).unwrap();
    assert_eq!(list.matches("block_0000").count(), 11);
}

fn toml_formats(list: &str) -> Vec<pliant_scene::scene::Located<pliant_scene::scene::Animation>> {
    let text = format!("[[object]]\nmesh = \"a\"\n[simulation]\nstep = 1\nduration = 1\n[output]\nformats = {list}\n");
    SceneFile::parse(Source::new("a.toml", text)).unwrap().scene.output.value.formats
}

#[test]
fn a_run_of_the_library_writes_the_pictures_and_plots_that_its_scene_requests() {
    let folder = TempDir::new().unwrap();
    let mut file = scene("step = 0.005\nduration = 0.02\n", SOFT);
    let output = &mut file.scene.output.value;
    output.formats = toml_formats("[\"png\", \"gif\", \"plot\", \"glb\", \"gif\"]");
    output.picture.value.size = [64, 48];
    let mut run = Run::create(file, folder.path()).unwrap();
    let outcome = go(&mut run, u64::MAX).unwrap();
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let made: Vec<_> = outcome.files.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
    let expected = ["block.glb", "plots.svg", "plots.png", "png/block_000000.png", "block.gif"];
    assert_eq!(made, expected.map(Path::new));
    let starts = |name: &str, bytes: &[u8]| {
        let content = std::fs::read(folder.path().join(name)).unwrap();
        assert!(content.starts_with(bytes), "{name}");
    };
    for number in 0..run.frame_count() {
        starts(&format!("png/block_{number:06}.png"), b"\x89PNG");
    }
    starts("plots.png", b"\x89PNG");
    starts("block.gif", b"GIF89a");
    assert!(run.finish().files.is_empty(), "existing outputs are not made again");
    std::fs::remove_file(folder.path().join("png/block_000002.png")).unwrap();
    let again = run.finish_formats(&run.formats(), &mut |done, _| match done {
        1 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(again.is_stopped() && again.files.is_empty());
    assert_eq!(run.finish().files, [folder.path().join("png/block_000000.png")]);
    assert!(folder.path().join("png/block_000002.png").is_file());
}

#[test]
fn a_resumed_series_lists_the_frames_from_before() {
    let folder = TempDir::new().unwrap();
    let mut file = scene("step = 0.005\nduration = 0.1\n", SOFT);
    file.scene.output.value.formats = toml_formats("[\"vtu\"]");
    go(&mut Run::create(file, folder.path()).unwrap(), 9).unwrap();
    go(&mut Run::resume(folder.path()).unwrap(), u64::MAX).unwrap();
    let list = std::fs::read_to_string(folder.path().join("vtu/block.pvd")).unwrap();
    assert_eq!(list.matches("block_0000").count(), 11);
}

#[test]
fn a_step_that_fails_leaves_what_was_before_it() {
    // A law undefined for inverted elements, and a prescribed motion that inverts elements.
    let folder = TempDir::new().unwrap();
    let text = r#"
gravity = [0, 0, 0]
[[object]]
mesh = { box = { size = [1, 1, 1], cells = [2, 2, 2] } }
material = { law = "neo-hookean", young = 1e5, poisson = 0.4, density = 1000 }
[[fixed]]
vertices = "x-min"
[[fixed]]
vertices = "x-max"
motion = { keyframes = [{ time = 0.1 }, { time = 0.2, translate = [-3, 0, 0] }] }
[simulation]
integrator = "backward-euler"
step = 0.01
duration = 1
halvings = 2
restart_every = 5
"#;
    let file = SceneFile::parse(Source::new("crush.toml", text)).unwrap();
    let error = go(&mut Run::create(file, folder.path()).unwrap(), u64::MAX).unwrap_err();
    assert!(matches!(error, RunError::Step { step: 10.., .. }), "{error}");
    let run = Run::resume(folder.path()).unwrap();
    assert_eq!(run.status(), Status::Failed);
    assert!(run.built().simulation.steps_done() >= 10);
    assert!(run.frames_done() >= 4);
    assert!(run.table().unwrap().rows.len() > 10);
}

#[test]
fn folders_that_are_no_runs_and_runs_that_were_tampered_with_are_errors() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let error = |result: Result<Run, RunError>| result.map(drop).unwrap_err().to_string();
    assert!(error(Run::open(path)).contains("not a run of Pliant"));
    go(&mut Run::create(scene("step = 0.005\nduration = 0.1\n", SOFT), path).unwrap(), 9).unwrap();
    let checkpoint = std::fs::read(path.join("checkpoint.bin")).unwrap();
    std::fs::write(path.join("checkpoint.bin"), &checkpoint[..100]).unwrap();
    assert!(error(Run::resume(path)).contains("incomplete or damaged checkpoint"));
    std::fs::write(path.join("checkpoint.bin"), &checkpoint).unwrap();
    let scene = std::fs::read_to_string(path.join("scene.toml")).unwrap();
    std::fs::write(path.join("scene.toml"), scene.replace("cells = [3, 2, 2]", "cells = [2, 2, 2]")).unwrap();
    assert!(error(Run::resume(path)).contains("the scene has changed since the run began"));
    std::fs::write(path.join("scene.toml"), &scene).unwrap();
    let manifest = std::fs::read_to_string(path.join("run.json")).unwrap();
    std::fs::write(path.join("run.json"), manifest.replace("\"block\"", "\"../block\"")).unwrap();
    assert!(error(Run::open(path)).contains("expected a file name"));
    std::fs::write(path.join("run.json"), &manifest).unwrap();
    let frame = path.join("frames/000001.npy");
    std::fs::write(&frame, &std::fs::read(&frame).unwrap()[..90]).unwrap();
    assert!(Run::open(path).unwrap().frame(1, false).unwrap_err().to_string().contains("000001.npy"));
    let table = std::fs::read_to_string(path.join("probes.csv")).unwrap();
    std::fs::write(path.join("probes.csv"), table.lines().next().unwrap()).unwrap();
    let error = go(&mut Run::resume(path).unwrap(), u64::MAX).unwrap_err().to_string();
    assert!(error.contains("probes.csv") && error.contains("complete lines, expected"), "{error}");
    std::fs::write(path.join("run.json"), "{").unwrap();
    assert!(Run::open(path).map(drop).unwrap_err().to_string().contains("run.json"));
}

#[test]
fn a_new_run_in_the_folder_of_an_old_one_has_nothing_of_it() {
    let folder = TempDir::new().unwrap();
    go(&mut Run::create(scene("step = 0.005\nduration = 0.1\n", SOFT), folder.path()).unwrap(), u64::MAX).unwrap();
    std::fs::write(folder.path().join("mine.txt"), "kept").unwrap();
    let run = Run::create(scene("step = 0.005\nduration = 0.05\n", SOFT), folder.path()).unwrap();
    assert_eq!(run.frames_done(), 0);
    assert!(folder.path().join("mine.txt").is_file());
}

#[test]
fn two_runs_cannot_write_to_one_folder() {
    let folder = TempDir::new().unwrap();
    let first = Run::create(scene("step = 0.005\nduration = 0.1\n", SOFT), folder.path()).unwrap();
    let second = Run::create(scene("step = 0.005\nduration = 0.1\n", SOFT), folder.path());
    let owner = format!("process {} is writing to this folder", std::process::id());
    assert!(second.map(drop).unwrap_err().to_string().contains(&owner));
    // Opening it for reading is allowed.
    assert_eq!(Run::open(folder.path()).unwrap().status(), Status::Running);
    drop(first);
    Run::create(scene("step = 0.005\nduration = 0.1\n", SOFT), folder.path()).unwrap();
}

#[test]
fn a_folder_stays_locked_after_the_last_step_until_the_run_is_dropped() {
    let folder = TempDir::new().unwrap();
    let again = || Run::create(scene("step = 0.005\nduration = 0.05\n", SOFT), folder.path());
    let mut run = again().unwrap();
    assert_eq!(go(&mut run, u64::MAX).unwrap().status, Status::Done);
    let before = results(folder.path());
    for other in [again(), Run::lock(folder.path()), Run::resume(folder.path())] {
        assert!(matches!(other, Err(RunError::Locked { process: Some(id), .. }) if id == std::process::id()));
    }
    assert!(results(folder.path()) == before, "nothing is touched");
    drop(run);
    again().unwrap();
    // A folder without a run stays unchanged.
    let other = TempDir::new().unwrap();
    assert!(matches!(Run::lock(other.path()), Err(RunError::NotARun { .. })));
    assert_eq!(other.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_frame_that_is_missing_is_an_error_when_a_run_is_resumed_or_shown() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    go(&mut Run::create(scene("step = 0.005\nduration = 0.1\n", SOFT), path).unwrap(), 15).unwrap();
    assert!(Run::open(path).unwrap().check_frames().is_ok());
    let frame = path.join("frames/000003.npy");
    let bytes = std::fs::read(&frame).unwrap();
    std::fs::remove_file(&frame).unwrap();
    let is_frame_3 = |error: RunError| error.to_string().contains("000003.npy: this frame is missing");
    assert!(is_frame_3(Run::resume(path).map(drop).unwrap_err()));
    assert!(is_frame_3(Run::open(path).unwrap().check_frames().unwrap_err()));
    std::fs::write(&frame, bytes).unwrap();
    let outcome = go(&mut Run::resume(path).unwrap(), u64::MAX).unwrap();
    assert_eq!((outcome.status, outcome.failures.len()), (Status::Done, 0));
}

#[test]
fn an_output_that_fails_leaves_a_complete_run_whose_other_outputs_are_made_later() {
    let folder = TempDir::new().unwrap();
    let mut file = scene("step = 0.005\nduration = 0.05\n", SOFT);
    file.scene.output.value.formats = toml_formats("[\"glb\", \"mdd\"]");
    let mut run = Run::create(file, folder.path()).unwrap();
    // A folder has the name of the output file.
    std::fs::create_dir(folder.path().join("block.glb")).unwrap();
    let error = go(&mut run, u64::MAX).map(drop).unwrap_err();
    assert!(error.to_string().contains("block.glb"), "{error}");
    std::fs::remove_dir(folder.path().join("block.glb")).unwrap();
    let outcome = go(&mut run, u64::MAX).unwrap();
    assert!(outcome.failures.is_empty() && outcome.files.len() == 2, "{outcome:?}");
    // Only missing files are written.
    std::fs::write(folder.path().join("block.glb"), "kept").unwrap();
    std::fs::remove_file(folder.path().join("block.mdd")).unwrap();
    let outputs = run.finish();
    assert_eq!(outputs.files, [folder.path().join("block.mdd")]);
    assert_eq!(std::fs::read(folder.path().join("block.glb")).unwrap(), b"kept");
    // A missing frame makes them fail, but the run stays complete.
    std::fs::remove_file(folder.path().join("block.mdd")).unwrap();
    std::fs::remove_file(folder.path().join("frames/000002.npy")).unwrap();
    assert_eq!(run.finish().failures.len(), 1);
    assert_eq!(Run::open(folder.path()).unwrap().status(), Status::Done);
}

#[test]
fn the_scene_in_the_folder_can_be_run_from_anywhere() {
    let [home, out] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let mesh = pliant::mesh::generate::block([0.4, 0.2, 0.2], [3, 2, 2], pliant::mesh::Cells::Tet5).unwrap();
    std::fs::create_dir(home.path().join("meshes")).unwrap();
    pliant::io::write(home.path().join("meshes/a\"b.veg"), &mesh, &pliant::io::WriteOptions::default()).unwrap();
    let text = "# A comment that stays.\n[[object]]\nmesh = 'meshes/a\"b.veg' # here\n\
                material = { young = 2e4, poisson = 0.4, density = 1000 }\n[simulation]\nstep = 0.005\nduration = 0.05\n";
    std::fs::write(home.path().join("a.toml"), text).unwrap();
    let read = || SceneFile::read(&pliant::files::Disk, &home.path().join("a.toml")).unwrap();
    let mut shorter = read();
    shorter.scene.simulation.value.duration = pliant_scene::scene::Quantity::new(0.02).into();
    for (file, keeps_comments) in [(read(), true), (shorter, false)] {
        go(&mut Run::create(file, out.path()).unwrap(), u64::MAX).unwrap();
        let copy = out.path().join("scene.toml");
        let text = std::fs::read_to_string(&copy).unwrap();
        assert_eq!(text.contains("# A comment that stays.") && text.contains("# here"), keeps_comments, "{text}");
        let again = TempDir::new().unwrap();
        let file = SceneFile::read(&pliant::files::Disk, &copy).unwrap();
        go(&mut Run::create(file, again.path()).unwrap(), u64::MAX).unwrap();
        let frames =
            |folder: &Path| results(folder).into_iter().filter(|(name, _)| name.contains("0000")).collect::<Vec<_>>();
        assert!(frames(out.path()) == frames(again.path()) && !frames(out.path()).is_empty());
    }
}

#[test]
fn a_run_that_is_resumed_at_its_end_has_its_last_row_and_frame() {
    let folder = TempDir::new().unwrap();
    let mut file = scene("step = 0.005\nduration = 0.14\n", SOFT);
    file.scene.output.value.formats = toml_formats("[\"vtu\"]");
    file.scene.output.value.record_every = Some(pliant_scene::scene::Located::new(3));
    file.scene.output.value.frame_rate = Some(pliant_scene::scene::Quantity::new(67.0).into());
    // Restarts every 7 of 28 steps: the last checkpoint is at the end.
    go(&mut Run::create(file, folder.path()).unwrap(), u64::MAX).unwrap();
    let list = || std::fs::read_to_string(folder.path().join("vtu/block.pvd")).unwrap();
    let before = (results(folder.path()), list());
    go(&mut Run::resume(folder.path()).unwrap(), u64::MAX).unwrap();
    assert!(before == (results(folder.path()), list()));
}
