//! Scenes run as a user runs them: files, pictures, signals, kills, full disks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::command::{Finished, command, ok, pliant};

/// Returns the scene of a swinging jelly: small, but long enough to be interrupted.
fn scene(steps: u32) -> String {
    format!(
        r#"title = "Jelly"

[[object]]
mesh = {{ box = {{ size = [0.4, 0.2, 0.2], cells = [6, 3, 3] }} }}
material = {{ young = "20 kPa", poisson = 0.4, density = 1000 }}

[[fixed]]
vertices = "x-min"

[[probe]]
name = "tip"
vertices = {{ nearest = [0.4, 0.2, 0.2] }}

[simulation]
step = "5 ms"
duration = {}
restart_every = 20

[output]
frame_rate = 20

[[expect]]
quantity = "tip.y"
over = "min"
max = 0.15
"#,
        0.005 * f64::from(steps)
    )
}

pub fn with_scene(steps: u32) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("jelly.toml"), scene(steps)).unwrap();
    folder
}

/// Returns the results of a run, by name.
pub fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in folder.join("frames").read_dir().unwrap().flatten() {
        files.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).unwrap());
    }
    for name in ["probes.csv", "probes.npy"] {
        if let Ok(bytes) = fs::read(folder.join(name)) {
            files.insert(name.into(), bytes);
        }
    }
    files
}

pub fn assert_same(expected: &Path, found: &Path) {
    let [expected, found] = [expected, found].map(results);
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, bytes) in &expected {
        assert!(found[name] == *bytes, "{name} differs");
    }
}

#[test]
fn a_scene_becomes_an_animation_pictures_plots_and_numbers() {
    let folder = with_scene(40);
    let formats = ["--vtu", "--obj", "--ply", "--glb", "--pc2", "--mdd", "--png", "--gif", "--plot"];
    let mut args = vec!["run", "jelly.toml", "--check"];
    args.extend(formats);
    let run = ok(folder.path(), &args);
    assert!(run.out.contains("Jelly: 40 steps, 0.2 s simulated"), "{}", run.out);
    assert!(run.out.contains("ok: min tip.y is"), "{}", run.out);
    let out = folder.path().join("out/jelly");
    for file in [
        "run.json",
        "scene.toml",
        "probes.csv",
        "probes.npy",
        "frames/000004.npy",
        "vtu/jelly.pvd",
        "vtu/jelly_000004.vtu",
        "obj/jelly_000004.obj",
        "ply/jelly_000004.ply",
        "png/jelly_000004.png",
        "jelly.glb",
        "jelly.pc2",
        "jelly.mdd",
        "jelly.gif",
        "plots.svg",
        "plots.png",
    ] {
        assert!(fs::metadata(out.join(file)).is_ok_and(|file| file.len() > 100), "{file}");
    }
    let starts = |file: &str, magic: &[u8]| assert!(fs::read(out.join(file)).unwrap().starts_with(magic), "{file}");
    starts("jelly.gif", b"GIF89a");
    starts("jelly.glb", b"glTF");
    starts("plots.png", b"\x89PNG");
    let leftovers = walk(&out).into_iter().filter(|name| name.starts_with(".pliant-")).count();
    assert_eq!(leftovers, 0);
}

fn walk(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in folder.read_dir().unwrap().flatten() {
        names.push(entry.file_name().to_string_lossy().into_owned());
        if entry.path().is_dir() {
            names.extend(walk(&entry.path()));
        }
    }
    names
}

#[test]
fn an_expectation_that_is_not_met_is_said_and_exits_with_1() {
    let folder = with_scene(10);
    let run = pliant(folder.path(), &["run", "jelly.toml", "--check"]);
    assert_eq!(run.status, 1);
    assert!(run.out.contains("FAILED: min tip.y is"), "{}", run.out);
    assert!(run.out.contains("1 of 1 expectations failed"), "{}", run.out);
}

#[test]
fn quiet_is_silent_json_is_a_record_a_step_and_a_pipe_sees_no_bar() {
    let folder = with_scene(40);
    let quiet = ok(folder.path(), &["run", "jelly.toml", "--quiet"]);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
    let json = ok(folder.path(), &["run", "jelly.toml", "--json"]);
    let records: Vec<serde_json::Value> = json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 40);
    assert_eq!(records[39]["step"], 40);
    assert!(records[39]["tip.y"].is_f64() && records[39]["linear_iterations"].is_u64());
    let piped = ok(folder.path(), &["run", "jelly.toml"]);
    assert!(!piped.err.contains('\r') && !piped.err.contains('\u{1b}'), "{}", piped.err);
}

/// Two tetrahedra, the second with the wrong winding, which is worth a note.
const TURNED: &str = "*VERTICES\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n*ELEMENTS\nTET\n2 4 0\n1 1 2 3 4\n2 3 2 4 5\n\
    *MATERIAL m\nENU, 1000, 1E6, 0.3\n*REGION\nallElements, m\n";

/// Returns both streams of a command, in the order of writing.
#[cfg(unix)]
fn interleaved(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" 2>&1", env!("CARGO_BIN_EXE_pliant")]).args(args).current_dir(folder);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
#[cfg(unix)]
fn notes_are_printed_before_the_work_and_again_with_the_summary() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("turned.veg"), TURNED).unwrap();
    let note = "note: 1 element had the wrong winding and was flipped (1)";
    let commands: [(&[&str], &str); 5] = [
        (&["run", "turned.veg", "--duration", "0.05", "-o", "a"], "of real time"),
        (&["resume", "a"], "already complete"),
        (&["static", "turned.veg", "--fix", "0,1,2", "--force", "4", "0", "-1", "0"], "in equilibrium"),
        (&["modes", "turned.veg", "-n", "2"], "frequency Hz"),
        (&["reduce", "turned.veg", "-r", "3"], "reduced in"),
    ];
    for (args, summary) in commands {
        let output = interleaved(folder.path(), args);
        let (at, rest) = (output.find(note), output.find(summary));
        assert!(at.is_some() && at < rest, "{args:?}: {output}");
        assert!(output.rfind(note) > rest && output.matches(note).count() == 2, "{args:?}: {output}");
    }
    // Records are for programs: the notes go before them, once.
    let output = interleaved(folder.path(), &["run", "turned.veg", "--duration", "0.05", "-o", "b", "--json"]);
    assert!(output.starts_with("note: ") && output.matches(note).count() == 1, "{output}");
    let quiet = ok(folder.path(), &["run", "turned.veg", "--duration", "0.05", "-o", "b", "--quiet"]);
    assert!(quiet.out.is_empty() && quiet.err.matches(note).count() == 1, "{}", quiet.err);
    let check = ok(folder.path(), &["scene", "check", "turned.veg"]);
    assert!(check.err.contains(note), "{}", check.err);
}

#[test]
fn energy_that_appears_is_reported_at_once_and_in_the_records() {
    let folder = TempDir::new().unwrap();
    let thrown = "[[object]]\nmesh = { ball = { radius = 0.1 } }\ntranslate = [0, 0.15, 0]\nvelocity = [0, -20, 0]\n\
                  material = { young = \"1 MPa\", poisson = 0.4, density = 1000 }\n[[obstacle]]\nshape.plane = {}\n\
                  [simulation]\nstep = \"1/60 s\"\nduration = 0.2\n";
    fs::write(folder.path().join("default.toml"), thrown).unwrap();
    let linearized = format!("{thrown}integrator = \"linearized-backward-euler\"\n");
    fs::write(folder.path().join("linearized.toml"), linearized).unwrap();
    let default = ok(folder.path(), &["run", "default.toml"]);
    assert!(!default.err.contains("energy appeared"), "{}", default.err);
    let dissipated = column(&folder.path().join("out/default"), "dissipated_energy");
    assert!(
        dissipated.windows(2).all(|pair| pair[1] >= pair[0]) && dissipated[dissipated.len() - 1] > 100.0,
        "{dissipated:?}"
    );
    // Whether the run gets to its end or not.
    let text = pliant(folder.path(), &["run", "linearized.toml"]).err;
    let note = text.lines().find(|line| line.contains("energy appeared")).unwrap_or_else(|| panic!("{text}"));
    assert!(note.starts_with("note: 0.0") && note.contains("`backward-euler`"), "{note}");
    let dissipated = column(&folder.path().join("out/linearized"), "dissipated_energy");
    assert!(dissipated.iter().any(|energy| *energy < -100.0), "{dissipated:?}");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = with_scene(60);
    for threads in ["1", "2", "3"] {
        ok(folder.path(), &["run", "jelly.toml", "--quiet", "--threads", threads, "-o", threads]);
    }
    assert_same(&folder.path().join("1"), &folder.path().join("2"));
    assert_same(&folder.path().join("1"), &folder.path().join("3"));
}

#[test]
fn a_mesh_without_a_scene_is_dropped_on_the_ground() {
    let folder = TempDir::new().unwrap();
    ok(folder.path(), &["mesh", "generate", "ball", "--across", "4", "-o", "ball.msh"]);
    let run = ok(folder.path(), &["run", "ball.msh", "--duration", "1", "-o", "out"]);
    assert!(run.err.contains("the file gives no isotropic stiffness"), "{}", run.err);
    let scene = fs::read_to_string(folder.path().join("out/scene.toml")).unwrap();
    assert!(scene.contains("ball.msh\"") && scene.contains("plane"), "{scene}");
    let table = fs::read_to_string(folder.path().join("out/probes.csv")).unwrap();
    let height = table.lines().next().unwrap().split(',').position(|name| name == "center_of_mass.y").unwrap();
    let heights: Vec<f64> =
        table.lines().skip(1).map(|line| line.split(',').nth(height).unwrap().parse().unwrap()).collect();
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    // It falls by half its size, is squashed a little, and comes up again.
    assert!(lowest < -0.4 && lowest > -0.8, "{lowest}");
    assert!(heights.last().unwrap() > &(lowest + 0.01), "{heights:?}");
    ok(folder.path(), &["mesh", "generate", "ball", "--across", "4", "-o", "shell.obj"]);
    let surface = ok(folder.path(), &["run", "shell.obj", "--duration", "0.05", "-o", "shell"]);
    assert!(surface.err.contains("the file is a surface: it is embedded in a cage"), "{}", surface.err);
}

#[test]
fn scenes_are_checked_converted_and_described() {
    let folder = with_scene(40);
    let check = ok(folder.path(), &["scene", "check", "jelly.toml"]);
    for words in ["can be simulated", "112, 16 of them fixed", "270 tetrahedra", "backward-euler, 40 steps", "memory"] {
        assert!(check.out.contains(words), "{words}: {}", check.out);
    }
    let explicit = scene(40).replace("step = \"5 ms\"", "step = \"5 ms\"\nintegrator = \"central-differences\"");
    fs::write(folder.path().join("explicit.toml"), explicit).unwrap();
    let check = ok(folder.path(), &["scene", "check", "explicit.toml"]);
    assert!(check.err.contains("is NOT stable: the maximum is"), "{}", check.err);
    let wrong = scene(40).replace("young", "yuong");
    fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    for args in [&["scene", "check", "wrong.toml"], &["run", "wrong.toml", "--quiet"]] {
        let run = pliant(folder.path(), args);
        assert_eq!(run.status, 1);
        let expected = "wrong.toml:5:14: there is no key `yuong` here; did you mean `young`?";
        assert!(run.err.contains(expected) && run.err.contains("^^^^^"), "{}", run.err);
    }
    ok(folder.path(), &["scene", "convert", "jelly.toml", "-o", "full.toml"]);
    ok(folder.path(), &["scene", "check", "full.toml"]);
    let schema: serde_json::Value = serde_json::from_str(&ok(folder.path(), &["scene", "schema"]).out).unwrap();
    assert!(schema["properties"]["object"].is_object());
    let reference =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene-format.md")).unwrap();
    assert!(ok(folder.path(), &["scene", "reference"]).out == reference, "docs/scene-format.md is out of date");
}

#[test]
fn a_scene_of_several_files_is_checked_converted_run_and_rendered() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("parts")).unwrap();
    write("a.toml", &format!("include = [\"parts/ground.toml\"]\n{}", scene(4)));
    write(
        "parts/ground.toml",
        "[[obstacle]]\nshape.plane = { point = [0, -1, 0] }\n[defaults.obstacle]\nfriction = 0.375\n",
    );
    let check = ok(folder.path(), &["scene", "check", "a.toml"]);
    assert!(check.out.contains("parts/ground.toml"), "{}", check.out);
    let whole = ok(folder.path(), &["scene", "convert", "a.toml"]).out;
    assert!(whole.starts_with("version = 1\n") && whole.contains("friction = 0.375"), "{whole}");
    assert!(!whole.contains("include") && !whole.contains("defaults"), "{whole}");
    ok(folder.path(), &["run", "a.toml", "--quiet", "-o", "out"]);
    fs::remove_dir_all(folder.path().join("parts")).unwrap();
    ok(folder.path(), &["render", "out", "--frame", "0", "a.png"]);
    let run = pliant(folder.path(), &["run", "a.toml", "--quiet"]);
    assert!(run.status == 1 && run.err.contains("a.toml:1:12: parts/ground.toml: "), "{}", run.err);
}

#[test]
fn statics_of_a_bar_are_those_of_the_closed_form() {
    let folder = TempDir::new().unwrap();
    let size = ["--size", "2", "0.1", "0.1", "--cells", "8", "2", "2"];
    let mut args = vec!["mesh", "generate", "box", "-o", "bar.msh"];
    args.extend(size);
    ok(folder.path(), &args);
    let pull = ["static", "bar.msh", "--fix", "x<0", "--force", "x>2", "100", "0", "0", "--json"];
    let material = ["--law", "linear", "--young", "1 MPa", "--poisson", "0"];
    let args: Vec<&str> = pull.iter().chain(&material).chain(&["-o", "bar.vtu"]).copied().collect();
    let answer: serde_json::Value = serde_json::from_str(&ok(folder.path(), &args).out).unwrap();
    // F L / (E A).
    assert!((answer["displacement"][0].as_f64().unwrap() - 0.02).abs() < 1e-9, "{answer}");
    assert!((answer["reaction"][0].as_f64().unwrap() + 100.0).abs() < 1e-6, "{answer}");
    assert!((answer["max_von_mises"].as_f64().unwrap() / 1e4 - 1.0).abs() < 1e-5, "{answer}");
    let file = fs::read_to_string(folder.path().join("bar.vtu")).unwrap();
    let (_, point_data) = file.split_once("<PointData>").unwrap();
    for name in ["displacement", "velocity", "reaction", "stress", "strain", "von_mises"] {
        assert!(point_data.contains(&format!("Name=\"{name}\"")), "{name}");
    }
    // The points are those at rest.
    let sizes = ["bar.vtu", "bar.msh"].map(|name| {
        let info = ok(folder.path(), &["mesh", "info", "--json", name]).out;
        serde_json::from_str::<serde_json::Value>(&info).unwrap()["bounds"].clone()
    });
    assert_eq!(sizes[0], sizes[1]);
    ok(folder.path(), &["mesh", "info", "bar.vtu"]);
    let moved = ["static", "bar.msh", "--fix", "x-min", "--displace", "x-max", "1 cm", "0", "0", "-o", "bar.npy"];
    let args: Vec<&str> = moved.iter().chain(&material).copied().collect();
    let table = ok(folder.path(), &args);
    assert!(table.out.contains("at most 0.01 m") && table.out.contains("wrote bar.npy"), "{}", table.out);
    // Positive pressure pushes onto the end: −p L/E, exactly, as a dead load, and as a follower load because ν = 0.
    for dead in [&["--dead"][..], &[]] {
        let push = ["static", "bar.msh", "--fix", "x-min", "--pressure", "x-max", "10 kPa", "--json"];
        let args: Vec<&str> = push.iter().chain(&material).chain(dead).copied().collect();
        let answer: serde_json::Value = serde_json::from_str(&ok(folder.path(), &args).out).unwrap();
        assert!((answer["displacement"][0].as_f64().unwrap() + 0.02).abs() < 1e-9, "{answer}");
        assert!((answer["reaction"][0].as_f64().unwrap() - 100.0).abs() < 1e-6, "{answer}");
    }
    let wrong = pliant(folder.path(), &["static", "bar.msh", "--fix", "left", "--young", "1", "--poisson", "0"]);
    assert!(wrong.status == 1 && wrong.err.contains("there is no vertex set `left`"), "{}", wrong.err);
}

#[test]
fn bodies_that_lock_are_named_by_static_run_and_scene_check() {
    let folder = TempDir::new().unwrap();
    ok(folder.path(), &["mesh", "generate", "box", "-o", "bar.msh", "--size", "2", "1", "1", "--cells", "2", "1", "1"]);
    let bar =
        ["static", "bar.msh", "--fix", "x<0", "--gravity", "0", "-9.81", "0", "--density", "1000", "--young", "1 MPa"];
    let soft = ok(folder.path(), &[&bar[..], &["--poisson", "0.44"]].concat());
    assert!(!soft.err.contains("lock"), "{}", soft.err);
    let locked = ok(folder.path(), &[&bar[..], &["--poisson", "0.49"]].concat());
    let expected =
        "linear tetrahedra lock at ν = 0.49: up to 3.4 times too stiff in bending (a beam four cells high of six-";
    assert!(locked.err.contains(expected), "{}", locked.err);
    // Coefficients of a law have a Poisson's ratio too.
    let scene = "[simulation]\nstep = 0.01\nduration = 0.02\n[[object]]\nname = \"jelly\"\n\
                 mesh = { box = { size = [1, 1, 1], cells = [2, 1, 1] } }\n\
                 material = { law = \"neo-hookean\", coefficients = { mu = 1e5, lambda = 1e7 }, density = 1000 }\n";
    fs::write(folder.path().join("jelly.toml"), scene).unwrap();
    for command in [&["scene", "check", "jelly.toml"][..], &["run", "jelly.toml", "-o", "a"]] {
        let done = ok(folder.path(), command);
        let count = done.err.matches("body `jelly`: linear tetrahedra lock at ν = 0.495").count();
        assert!(count >= 1, "{}", done.err);
    }
}

#[test]
fn finished_runs_are_plotted_and_drawn() {
    let folder = with_scene(40);
    ok(folder.path(), &["run", "jelly.toml", "--quiet", "-o", "a"]);
    let plots = ok(folder.path(), &["plot", "a", "--columns", "tip.x,tip.y", "--columns", "volume", "-o", "tip.svg"]);
    assert_eq!(plots.out, "wrote tip.svg\n");
    assert!(fs::read_to_string(folder.path().join("tip.svg")).unwrap().starts_with("<svg"));
    let wrong = pliant(folder.path(), &["plot", "a", "--columns", "tip.q"]);
    assert!(wrong.status == 1 && wrong.err.contains("unknown column `tip.q`"), "{}", wrong.err);
    let render = ["render", "a", "--frame", "0", "first.png", "--frame", "4", "last.png", "--size", "320", "240"];
    ok(folder.path(), &[&render[..], &["--color", "von-mises", "--gif", "--glb"]].concat());
    let [first, last] = ["first.png", "last.png"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(first.starts_with(b"\x89PNG") && first != last);
    assert!(folder.path().join("a/jelly.gif").is_file() && folder.path().join("a/jelly.glb").is_file());
    let beyond = pliant(folder.path(), &["render", "a", "--frame", "5", "x.png"]);
    let jpeg = pliant(folder.path(), &["render", "a", "--frame", "0", "x.jpg"]);
    assert!(jpeg.status == 1 && jpeg.err.contains("expected a name ending in .png"), "{}", jpeg.err);
    assert!(beyond.err.contains("expected a frame from 0 to 4, found 5"), "{}", beyond.err);
    assert_eq!(pliant(folder.path(), &["render", "a"]).status, 1);
    fs::remove_file(folder.path().join("a/frames/000002.npy")).unwrap();
    let damaged = pliant(folder.path(), &["render", "a", "--gif"]);
    assert!(damaged.status == 1 && damaged.err.contains("000002.npy: this frame is missing"), "{}", damaged.err);
    assert!(pliant(folder.path(), &["plot", "nowhere"]).err.contains("not a run of Pliant"));
}

#[test]
fn doctor_and_manual_pages_know_what_there_is() {
    let folder = TempDir::new().unwrap();
    let doctor = ok(folder.path(), &["doctor"]).out;
    for words in ["cores", "vector unit", "stable-neo-hookean", "glb", "mp4"] {
        assert!(doctor.contains(words), "{doctor}");
    }
    ok(folder.path(), &["man", "."]);
    let page = fs::read_to_string(folder.path().join("pliant-run.1")).unwrap();
    assert!(page.contains("Simulate a scene"));
}

#[test]
fn what_others_have_in_a_folder_is_not_written_over() {
    let folder = with_scene(10);
    fs::rename(folder.path().join("jelly.toml"), folder.path().join("scene.toml")).unwrap();
    let before = fs::read(folder.path().join("scene.toml")).unwrap();
    let run = pliant(folder.path(), &["run", "scene.toml", "-o", ".", "--quiet"]);
    assert!(run.status == 1 && run.err.contains("the folder contains `scene.toml`"), "{}", run.err);
    assert!(fs::read(folder.path().join("scene.toml")).unwrap() == before);
}

#[test]
fn a_done_run_that_is_resumed_gets_what_is_missing_and_is_checked() {
    let folder = with_scene(40);
    ok(folder.path(), &["run", "jelly.toml", "--quiet", "--glb", "--gif", "-o", "a"]);
    for file in ["a/jelly.glb", "a/jelly.gif"] {
        fs::remove_file(folder.path().join(file)).unwrap();
    }
    let again = ok(folder.path(), &["resume", "a", "--check"]);
    assert!(again.out.contains("already complete (40 steps)") && again.out.contains("ok: min tip.y"), "{}", again.out);
    assert!(folder.path().join("a/jelly.glb").is_file() && folder.path().join("a/jelly.gif").is_file());
    // A shorter run deletes all files of a longer one.
    ok(folder.path(), &["run", "jelly.toml", "--quiet", "--png", "-o", "a"]);
    ok(folder.path(), &["run", "jelly.toml", "--quiet", "--png", "--duration", "0.05", "-o", "a"]);
    let frames = |name: &str| folder.path().join("a").join(name).read_dir().unwrap().count();
    assert_eq!((frames("png"), frames("frames")), (2, 2));
    let wrong = pliant(folder.path(), &["run", "jelly.toml", "--checkpoint", "1e300"]);
    assert!(wrong.status == 1 && wrong.err.contains("--checkpoint"), "{}", wrong.err);
}

/// A cantilever of St. Venant–Kirchhoff.
const BEAM: &str = r#"title = "Beam"

[[object]]
mesh = { box = { size = [1, 0.1, 0.1], cells = [12, 2, 2] } }
material = { law = "stvk", young = "4 MPa", poisson = 0.3, density = 1000 }

[[fixed]]
vertices = "x-min"

[[probe]]
name = "tip"
vertices = "x-max"
measure = "displacement"

[simulation]
step = "5 ms"
duration = "0.4 s"
integrator = "newmark"

[output]
record_every = 1
"#;

/// Returns the numbers of a column of the table of a run.
fn column(folder: &Path, name: &str) -> Vec<f64> {
    let text = fs::read_to_string(folder.join("probes.csv")).unwrap();
    let at = text.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

#[test]
fn modes_are_listed_written_and_animated() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("beam.toml"), BEAM).unwrap();
    let listed = ok(folder.path(), &["modes", "beam.toml", "-n", "4"]);
    assert!(listed.out.contains("rigid-body modes  none: it is fixed"), "{}", listed.out);
    assert!(listed.out.lines().any(|line| line.trim_start().starts_with("4 ")), "{}", listed.out);
    assert!(walk(folder.path()).len() == 1, "nothing is written unless asked for");
    let args = ["modes", "beam.toml", "-n", "2", "-o", "modes", "--glb", "--vtu", "--gif"];
    let written = ok(folder.path(), &args);
    let files = walk(&folder.path().join("modes"));
    for name in ["frequencies.csv", "modes.npy", "mode_1.glb", "mode_2.gif", "mode_1.pvd", "mode_2_000029.vtu"] {
        assert!(files.iter().any(|file| file == name), "{name} is not in {files:?}");
    }
    assert!(written.out.contains("mode_2.gif"), "{}", written.out);
    let csv = fs::read_to_string(folder.path().join("modes/frequencies.csv")).unwrap();
    let first: f64 = csv.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().unwrap();
    // √(E I / ρ A) 1.8751² / 2π L² of a slender beam is 1.02 Hz; so few tetrahedra are stiffer.
    assert!((1.0..1.5).contains(&first), "{first} Hz");
    let json = ok(folder.path(), &["modes", "beam.toml", "-n", "2", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(rows[1]["mode"], 2);
    assert!((rows[0]["frequency_hz"].as_f64().unwrap() / first - 1.0).abs() < 1e-9);
    // A mesh alone is free.
    ok(folder.path(), &["mesh", "generate", "ball", "-o", "ball.veg"]);
    let free = ok(folder.path(), &["modes", "ball.veg", "-n", "5"]);
    assert!(free.out.contains("6, not listed: it is free"), "{}", free.out);
    let none = pliant(folder.path(), &["modes", "beam.toml", "-n", "0"]);
    assert!(none.status == 1 && none.err.contains("0 modes, expected at least 1"), "{}", none.err);
    let many = pliant(folder.path(), &["modes", "beam.toml", "-n", "100000"]);
    assert!(many.status == 1 && many.err.contains("at most the 324 that the model has"), "{}", many.err);
}

#[test]
fn a_scene_is_reduced_and_runs_as_the_whole_one_does() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("beam.toml"), BEAM).unwrap();
    let made =
        ok(folder.path(), &["reduce", "beam.toml", "-r", "16", "-o", "model.pliant", "--write-basis", "basis.npy"]);
    assert!(made.out.contains("16 coordinates") && made.out.contains("7 modes, 28 derivatives"), "{}", made.out);
    assert!(made.out.contains("forces            polynomial"), "{}", made.out);
    ok(folder.path(), &["run", "beam.toml", "-o", "whole", "--quiet"]);
    ok(folder.path(), &["run", "beam.toml", "-o", "few", "--quiet", "--reduced", "model.pliant"]);
    fs::write(path("reduced.toml"), format!("reduced = \"model.pliant\"\n{BEAM}")).unwrap();
    ok(folder.path(), &["run", "reduced.toml", "-o", "same", "--quiet"]);
    assert_eq!(fs::read(path("few/probes.csv")).unwrap(), fs::read(path("same/probes.csv")).unwrap());
    let (whole, few) = (column(&path("whole"), "tip.y"), column(&path("few"), "tip.y"));
    assert_eq!(whole.len(), few.len());
    let farthest = whole.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    assert!(farthest > 0.1);
    assert!(whole.iter().zip(&few).all(|(a, b)| (a - b).abs() < 0.02 * farthest));
    let checked = ok(folder.path(), &["scene", "check", "reduced.toml"]);
    assert!(checked.out.contains("to 16 basis vectors, forces by polynomial"), "{}", checked.out);
    // The same from the basis that was written, from what the whole run has shown, and from both.
    ok(folder.path(), &["reduce", "beam.toml", "--basis", "basis.npy", "-o", "again.pliant"]);
    let seen = ok(folder.path(), &["reduce", "beam.toml", "-r", "6", "--snapshots", "whole", "--only-snapshots"]);
    assert!(seen.out.contains("27 snapshots") && path("beam.pliant").is_file(), "{}", seen.out);
    let mixed = ok(folder.path(), &["reduce", "beam.toml", "-r", "12", "--snapshots", "whole", "--forces", "cubature"]);
    assert!(mixed.out.contains("5 modes, 15 derivatives, 27 snapshots"), "{}", mixed.out);
    assert!(mixed.out.contains("cubature with"), "{}", mixed.out);
    for model in ["again.pliant", "beam.pliant"] {
        ok(folder.path(), &["run", "beam.toml", "-o", "other", "--quiet", "--reduced", model]);
        let other = column(&path("other"), "tip.y");
        assert!(whole.iter().zip(&other).all(|(a, b)| (a - b).abs() < 0.05 * farthest), "{model}");
    }
    // Another material, another mesh, a file that is cut, none at all.
    let fails = |scene: &str, model: &str, expected: &str| {
        fs::write(path("other.toml"), scene).unwrap();
        let run = pliant(folder.path(), &["run", "other.toml", "-o", "failed", "--reduced", model]);
        assert!(run.status == 1 && run.err.contains(expected), "{}", run.err);
    };
    fails(&BEAM.replace("4 MPa", "5 MPa"), "model.pliant", "for other materials");
    fails(&BEAM.replace("[12, 2, 2]", "[13, 2, 2]"), "model.pliant", "for another mesh");
    fails(&BEAM.replace("x-min", "x-max"), "model.pliant", "other fixed vertices");
    fails(
        &BEAM.replace("\"newmark\"", "\"newmark\"\nsolver = \"direct\""),
        "model.pliant",
        "has no effect on reduced models",
    );
    fs::write(path("exact.toml"), BEAM.replace("newmark", "exact-modes")).unwrap();
    let whole = pliant(folder.path(), &["run", "exact.toml", "-o", "failed"]);
    assert!(whole.status == 1 && whole.err.contains("`exact-modes` is for reduced models"), "{}", whole.err);
    let bytes = fs::read(path("model.pliant")).unwrap();
    fs::write(path("cut.pliant"), &bytes[..bytes.len() / 2]).unwrap();
    fails(BEAM, "cut.pliant", "its checksum does not match");
    fails(BEAM, "nothing.pliant", "nothing.pliant");
    fails(BEAM, "beam.toml", "does not begin with `PLIANTRM`");
    let size = pliant(folder.path(), &["reduce", "beam.toml", "-r", "0"]);
    assert!(size.status == 1 && size.err.contains("a basis of 0 vectors"), "{}", size.err);
}

/// A program that stands in for ffmpeg: it writes what it is given to the file that its last argument names.
#[cfg(unix)]
const ENCODES: &str = "#!/bin/sh\nfor last; do :; done\ncat > \"$last\"\n";

/// Creates a folder with a program `ffmpeg`, for the path.
#[cfg(unix)]
fn ffmpeg(folder: &Path, name: &str, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let programs = folder.join(name);
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("ffmpeg"), script).unwrap();
    fs::set_permissions(programs.join("ffmpeg"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", programs.display())
}

#[cfg(unix)]
fn with_path(folder: &Path, path: &str, args: &[&str]) -> Finished {
    let Output { status, stdout, stderr } = command(folder, args).env("PATH", path).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Finished { status: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}

#[test]
#[cfg(unix)]
fn a_film_that_cannot_be_made_is_an_error_before_the_first_step_and_can_be_skipped_and_made_later() {
    let folder = with_scene(20);
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("none")).unwrap();
    let none = at("none").display().to_string();
    let works = ffmpeg(folder.path(), "works", ENCODES);
    let refused = with_path(folder.path(), &none, &["run", "jelly.toml", "--mp4", "--gif", "-o", "a"]);
    assert!(refused.status == 1 && refused.err.contains("`ffmpeg`, which is not on the PATH"), "{}", refused.err);
    assert!(refused.err.contains("--skip-missing") && !at("a").exists(), "{}", refused.err);
    let modes = with_path(folder.path(), &none, &["modes", "jelly.toml", "--mp4", "-n", "1"]);
    assert!(modes.status == 1 && modes.err.contains("ffmpeg") && !at("out").exists(), "{}", modes.err);
    let args = ["run", "jelly.toml", "--mp4", "--gif", "-o", "a", "--skip-missing"];
    let skipped = with_path(folder.path(), &none, &args);
    assert!(skipped.status == 0 && skipped.err.contains("no video is made"), "{}", skipped.err);
    assert!(at("a/jelly.gif").is_file() && !at("a/jelly.mp4").exists());
    // The scene still asks for the film. Resuming makes it, and nothing else.
    fs::write(at("a/jelly.gif"), "kept").unwrap();
    let still = with_path(folder.path(), &none, &["resume", "a"]);
    assert!(still.status == 1 && still.err.contains("the simulation is complete"), "{}", still.err);
    assert!(still.err.contains("with --skip-missing all except for the video"), "{}", still.err);
    assert_eq!(with_path(folder.path(), &none, &["resume", "a", "--skip-missing"]).status, 0);
    let later = with_path(folder.path(), &works, &["resume", "a"]);
    assert!(
        later.status == 0 && later.out.contains("wrote a/jelly.mp4") && !later.out.contains("gif"),
        "{}",
        later.out
    );
    assert_eq!(fs::read(at("a/jelly.gif")).unwrap(), b"kept");
    assert!(fs::metadata(at("a/jelly.mp4")).unwrap().len() > 1000);
    // An encoder that works at first and fails later.
    let breaks = ffmpeg(
        folder.path(),
        "breaks",
        "#!/bin/sh\nfor last; do :; done\n[ -e tried ] && { echo out of luck >&2; exit 1; }\n: > tried\ncat > \"$last\"\n",
    );
    let broken = with_path(folder.path(), &breaks, &["run", "jelly.toml", "--mp4", "--gif", "-o", "b"]);
    assert!(broken.status == 1 && broken.err.contains("ffmpeg: out of luck"), "{}", broken.err);
    assert!(broken.out.contains("wrote b/jelly.gif") && broken.out.contains("20 steps"), "{}", broken.out);
    assert_same(&at("a"), &at("b"));
    assert_eq!(with_path(folder.path(), &works, &["resume", "b"]).status, 0);
    assert!(at("b/jelly.mp4").is_file());
    let useless = with_path(folder.path(), &breaks, &["run", "jelly.toml", "--mp4", "-o", "c"]);
    assert!(useless.status == 1 && useless.err.contains("out of luck") && !at("c").exists(), "{}", useless.err);
}

#[test]
#[cfg(unix)]
fn nobody_else_writes_to_the_folder_while_pictures_are_drawn() {
    let folder = with_scene(20);
    let at = |name: &str| folder.path().join(name);
    // The second video waits for a signal to continue.
    let script = "#!/bin/sh\nfor last; do :; done\nif [ -e tried ]; then : > drawing; cat go > \"$last\"; else : > tried; fi\ncat > \"$last\"\n";
    let path = ffmpeg(folder.path(), "waits", script);
    assert!(Command::new("mkfifo").arg(at("go")).status().unwrap().success());
    let mut args = command(folder.path(), &["run", "jelly.toml", "--mp4", "--quiet", "-o", "a"]);
    let mut child = args.env("PATH", &path).spawn().unwrap();
    while !at("drawing").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it drew");
        std::thread::yield_now();
    }
    let before = results(&at("a"));
    let owner = format!("process {} is writing to this folder", child.id());
    for args in [&["run", "jelly.toml", "-o", "a"][..], &["resume", "a"], &["render", "a", "--gif"]] {
        let other = pliant(folder.path(), args);
        assert!(other.status == 1 && other.err.contains(&owner), "{args:?}: {}", other.err);
    }
    ok(folder.path(), &["render", "a", "--frame", "0", "first.png"]);
    assert!(results(&at("a")) == before);
    fs::write(at("go"), "").unwrap();
    assert!(child.wait().unwrap().success() && at("a/jelly.mp4").is_file());
    ok(folder.path(), &["render", "a", "--glb"]);
}

#[test]
fn the_scene_in_the_folder_of_a_run_finds_its_mesh() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("turned.veg"), TURNED).unwrap();
    let expected = |name: &str| results(&folder.path().join(name)).remove("probes.csv").unwrap();
    ok(folder.path(), &["run", "turned.veg", "--duration", "0.1", "-q", "-o", "a"]);
    ok(folder.path(), &["run", "a/scene.toml", "-q", "-o", "b"]);
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    fs::rename(folder.path().join("b/scene.toml"), folder.path().join("elsewhere/moved.toml")).unwrap();
    ok(&folder.path().join("elsewhere"), &["run", "moved.toml", "-q", "-o", "../c"]);
    assert!(expected("a") == expected("b") && expected("a") == expected("c"));
}

#[test]
fn control_characters_in_a_title_do_not_reach_the_terminal() {
    let folder = TempDir::new().unwrap();
    let text = scene(2).replace("\"Jelly\"", "\"a\\u001b[2J\\u0007b\"");
    fs::write(folder.path().join("jelly.toml"), text).unwrap();
    for args in [&["run", "jelly.toml"][..], &["scene", "check", "jelly.toml"], &["modes", "jelly.toml", "-n", "1"]] {
        let output = command(folder.path(), args).env("CLICOLOR_FORCE", "1").output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && out.contains("a\\u{1b}[2J\\u{7}b"), "{out:?}");
        assert!(!out.contains("\u{1b}[2J") && !out.contains('\u{7}'), "{out:?}");
    }
}

#[test]
fn empty_folders_and_huge_numbers_are_short_errors() {
    let folder = TempDir::new().unwrap();
    let digits = "1".repeat(300);
    let text = scene(2);
    let fails = |old: &str, new: &str, expected: &str| {
        fs::write(folder.path().join("jelly.toml"), text.replace(old, new)).unwrap();
        let run = pliant(folder.path(), &["run", "jelly.toml"]);
        let message = run.err.lines().next().unwrap_or_default();
        assert!(run.status == 1 && message.contains(expected) && message.len() < 200, "{}", run.err);
        assert!(walk(folder.path()).len() == 1, "{:?}", walk(folder.path()));
    };
    fails(
        "frame_rate = 20",
        "directory = \"\"",
        "jelly.toml:20:13: `directory` is empty: expected the name of a folder",
    );
    fails("\"5 ms\"", &format!("-{digits}.0"), "the time step is -1.1111111111111112e299 s, expected a positive time");
    fails("\"5 ms\"", &digits, "integer out of range");
    fails("poisson = 0.4", &format!("poisson = {digits}.0"), "Poisson's ratio is 1.1111111111111112e299");
    fails(
        "poisson = 0.4",
        "poisson = 0.4, compression_resistance = 1e308",
        "the compression resistance is 1e308, expected a number from 0 to 1e9",
    );
    let empty = pliant(folder.path(), &["run", "jelly.toml", "-o", ""]);
    assert!(empty.status != 0 && empty.err.contains("--output"), "{}", empty.err);
}
