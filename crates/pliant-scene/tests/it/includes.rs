//! Scenes of several files, default values, and the version of the format.

use std::fmt::Write as _;
use std::path::Path;

use pliant::files::{Disk, Files, Memory};
use pliant_scene::run::{Run, RunParams, Status};
use pliant_scene::scene::{FormatVersion, Scene, SceneFile, Source, schema};
use serde_json::json;

const MAIN: &str = r#"
version = 1
include = ["materials.toml", "parts/ground.toml"]

[[object]]
mesh = { box = { size = [1, 0.1, 0.1], cells = [4, 1, 1] } }
material = "rubber"

[simulation]
step = "10 ms"
duration = "30 ms"
"#;

const MATERIALS: &str = r#"
[material.rubber]
young = "1 MPa"
poisson = 0.4
density = 1000

[material.steel]
young = "200 GPa"
poisson = 0.3
density = 7800
"#;

const GROUND: &str = r"
[[obstacle]]
shape.plane = { point = [0, -1, 0] }
friction = 0.4
";

/// Returns a store with files; `a.toml` is the scene.
fn store(files: &[(&str, &str)]) -> Memory {
    files.iter().fold(Memory::default(), |store, (path, text)| store.and(*path, *text))
}

fn read(files: &[(&str, &str)]) -> Result<SceneFile, String> {
    SceneFile::read(&store(files), Path::new("a.toml")).map_err(|error| error.to_string())
}

fn scene(files: &[(&str, &str)]) -> Scene {
    read(files).unwrap_or_else(|error| panic!("{error}")).scene
}

/// Returns the first line of the error, with the file and the line.
fn error(files: &[(&str, &str)]) -> String {
    let error = read(files).map(|file| file.scene.to_toml()).unwrap_err();
    error.lines().next().unwrap_or_default().to_owned()
}

/// Scene with an object and time steps, and more lines before or after it.
fn with(before: &str, after: &str) -> String {
    format!(
        "{before}\n[[object]]\nname = \"own\"\nmesh = {{ box = {{ size = [1, 1, 1], cells = [1, 1, 1] }} }}\n\
         material = {{ young = 1e6, poisson = 0.4, density = 1000 }}\n[simulation]\nstep = 0.01\nduration = 1\n{after}"
    )
}

#[test]
fn a_scene_of_several_files_is_that_of_one_file_with_their_content() {
    let merged = scene(&[("a.toml", MAIN), ("materials.toml", MATERIALS), ("parts/ground.toml", GROUND)]);
    let text = MAIN.lines().filter(|line| !line.starts_with("include")).collect::<Vec<_>>().join("\n");
    assert_eq!(merged, scene(&[("a.toml", &format!("{text}\n{MATERIALS}\n{GROUND}"))]));
    assert_eq!((merged.obstacles.len(), merged.materials.len()), (1, 2));
    let again = SceneFile::parse(Source::new("b.toml", merged.to_toml())).unwrap().scene;
    assert_eq!(again, merged);
}

#[test]
fn lists_are_appended_with_those_of_included_files_first() {
    let object = |name: &str| format!("[[object]]\nname = \"{name}\"\nmesh = \"{name}.veg\"\n");
    let main = with("include = [\"b.toml\", \"c.toml\"]", "");
    let b = format!("include = [\"d.toml\"]\n{}", object("b"));
    let merged = scene(&[("a.toml", &main), ("b.toml", &b), ("c.toml", &object("c")), ("d.toml", &object("d"))]);
    let names: Vec<_> = merged.objects.iter().map(|object| object.name.as_ref().unwrap().value.clone()).collect();
    assert_eq!(names, ["d", "b", "c", "own"]);
}

#[test]
fn tables_are_merged_key_by_key_and_the_including_file_wins() {
    let main = with(
        "include = [\"b.toml\"]",
        "integrator = { newmark = {} }\n[output.picture]\ncolor = \"speed\"\n[material.rubber]\ndensity = 1100\n",
    );
    let b = "[simulation]\nstep = \"1 ms\"\nhalvings = 3\nintegrator = { backward-euler = { newton = {} } }\n\
             [output]\nframe_rate = 60\n[output.picture]\ncolor = \"energy\"\nedges = false\n\
             [material.rubber]\nyoung = 2e6\ndensity = 900\n";
    let merged = scene(&[("a.toml", &main), ("b.toml", b)]);
    let settings = &merged.simulation.value;
    assert_eq!((settings.step.si, settings.halvings, settings.integrator.name()), (0.01, 3, "newmark"));
    assert_eq!(merged.output.frame_rate.as_ref().unwrap().si, 60.0);
    assert_eq!((merged.output.picture.color.name, merged.output.picture.edges), ("speed", false));
    let rubber = &merged.materials["rubber"];
    assert_eq!(rubber.density.as_ref().unwrap().si, 1100.0);
    assert_eq!(rubber.young.as_ref().unwrap().si, 2e6);
}

#[test]
fn unrelated_files_with_the_same_key_are_an_error_that_names_both_unless_a_file_that_includes_both_gives_it() {
    let (b, c) = ("gravity = [0, 0, 0]\n", "# second\ngravity = [0, 0, -1]\n");
    let including = with("include = [\"b.toml\", \"c.toml\"]", "");
    let conflict = error(&[("a.toml", &including), ("b.toml", b), ("c.toml", c)]);
    assert!(conflict.starts_with("c.toml:2:1: `gravity` is also given in b.toml:1"), "{conflict}");
    let resolved = with("include = [\"b.toml\", \"c.toml\"]\ngravity = [0, -1, 0]", "");
    assert_eq!(scene(&[("a.toml", &resolved), ("b.toml", b), ("c.toml", c)]).gravity().y, -1.0);
    // One of them includes the other.
    let c = "include = [\"b.toml\"]\ngravity = [0, 0, -1]\n";
    for order in ["include = [\"b.toml\", \"c.toml\"]", "include = [\"c.toml\", \"b.toml\"]"] {
        assert_eq!(scene(&[("a.toml", &with(order, "")), ("b.toml", b), ("c.toml", c)]).gravity().z, -1.0);
    }
    // A material is a whole.
    let (b, c) = ("[material.m]\nyoung = 1e6\n", "[material.m]\npoisson = 0.4\n");
    let conflict = error(&[("a.toml", &including), ("b.toml", b), ("c.toml", c)]);
    assert!(
        conflict.starts_with("c.toml:1:") && conflict.contains("`material.m` is also given in b.toml:1"),
        "{conflict}"
    );
}

#[test]
fn a_file_that_is_included_twice_is_read_once() {
    let main = with("include = [\"b.toml\", \"parts/c.toml\"]", "");
    let files = [
        ("a.toml", main.as_str()),
        ("b.toml", "include = [\"parts/ground.toml\"]"),
        ("parts/c.toml", "include = [\"./../parts/ground.toml\"]"),
        ("parts/ground.toml", GROUND),
    ];
    assert_eq!(scene(&files).obstacles.len(), 1);
}

#[test]
fn file_names_in_an_included_file_are_relative_to_it() {
    let main = with("include = [\"parts/b.toml\"]", "[[fixed]]\nvertices = { file = \"own.bou\" }\n");
    let b = "include = [\"deep/c.toml\"]\n[[object]]\nname = \"b\"\nmesh = \"b.veg\"\n[defaults.probe]\n\
             vertices = { any = [{ file = \"b.bou\" }] }\n[output]\ndirectory = \"out\"\n";
    let c = "[[object]]\nname = \"c\"\nmesh = { filled = { of = \"../c.obj\" } }\nskin = { mesh = \"/far/c.obj\" }\n\
             [[probe]]\nname = \"tip\"\n";
    let mut merged = scene(&[("a.toml", &main), ("parts/b.toml", b), ("parts/deep/c.toml", c)]);
    let mut names = Vec::new();
    merged.for_each_file(|name| names.push(name.clone()));
    names.sort();
    assert_eq!(names, ["/far/c.obj", "own.bou", "parts/b.bou", "parts/b.veg", "parts/deep/../c.obj"]);
    assert_eq!(merged.output.directory.as_ref().unwrap().value, "parts/out");
}

#[test]
fn errors_have_the_file_and_the_line_of_the_key() {
    let main = |include: &str| with(&format!("include = [\"{include}\"]"), "");
    for (text, message) in [
        (
            "\n[[obstacle]]\nshape.plane = {}\nfricton = 1\n",
            "parts/b.toml:4:1: there is no key `fricton` here; did you mean `friction`?",
        ),
        ("[[load]]\nkind.force = [1, 2, \"3 kg\"]\n", "parts/b.toml:2:"),
        ("[output]\nframe_rate = \"x\"\n", "parts/b.toml:2:14: "),
        ("x = = 1\n", "parts/b.toml:1:5: "),
        ("gravity = [1, 2, 3, 4]\n", "parts/b.toml:1:11: `gravity` has 4 entries, expected 3"),
        ("[obstacle]\nshape.plane = {}\n", "parts/b.toml:1:1: `obstacle` is a list: expected `[[obstacle]]`"),
        ("simulation = 3\n", "parts/b.toml:1:14: invalid type: integer `3`, expected a table"),
        ("material.m = 3\n", "parts/b.toml:1:14: invalid type: integer `3`, expected a table"),
        (
            "[simulation]\nintegrator = \"newmrk\"\n",
            "parts/b.toml:2:14: there is no value `newmrk` here; did you mean `newmark`?",
        ),
        ("version = 2\n", "parts/b.toml:1:11: the scene is in version 2 of the format"),
        // These values are replaced by those of the scene, and checked nevertheless.
        ("[simulation]\nstep = \"1 kg\"\n", "parts/b.toml:2:8: `kg` does not measure a time"),
        ("include = 3\n", "parts/b.toml:1:11: "),
        ("include = [3]\n", "parts/b.toml:1:12: "),
        ("incldue = [\"c.toml\"]\n", "parts/b.toml:1:1: there is no key `incldue` here; did you mean `include`?"),
    ] {
        let found = error(&[("a.toml", &main("parts/b.toml")), ("parts/b.toml", text)]);
        assert!(found.starts_with(message), "{text}: {found}");
    }
    // Errors of building a scene, too.
    let files = store(&[
        ("a.toml", &main("b.toml")),
        ("b.toml", "\n[[load]]\nvertices = \"nowhere\"\nkind.force = [1, 0, 0]\n"),
    ]);
    let file = SceneFile::read(&files, Path::new("a.toml")).unwrap();
    let found = file.build(&files).unwrap_err().to_string();
    assert!(found.starts_with("b.toml:3:12: ") && found.contains("3 | vertices = \"nowhere\""), "{found}");
}

#[test]
fn missing_files_cycles_and_other_formats_are_errors_that_show_the_chain() {
    let main = with("include = [\"b.toml\"]", "");
    let to = |name: &str| format!("# start\ninclude = [\"{name}\"]\n");
    let found = error(&[("a.toml", &main)]);
    assert!(found.starts_with("a.toml:1:12: b.toml: "), "{found}");
    let found = error(&[("a.toml", &main), ("b.toml", &to("c.toml"))]);
    assert!(
        found.starts_with("b.toml:2:12: c.toml: ") && found.ends_with("included by a.toml → b.toml → c.toml"),
        "{found}"
    );
    let found = error(&[("a.toml", &main), ("b.toml", &to("x/../c.toml")), ("c.toml", &to("b.toml"))]);
    assert!(found.contains("a file includes itself: b.toml → x/../c.toml → x/../b.toml"), "{found}");
    let found = error(&[("a.toml", &with("include = [\"./a.toml\"]", ""))]);
    assert!(found.starts_with("a.toml:1:12: a file includes itself: a.toml → ./a.toml"), "{found}");
    let found = error(&[("a.toml", &with("include = [\"b.config\"]", "")), ("b.config", "")]);
    assert!(found.contains("VegaFEM") && found.contains("pliant scene convert"), "{found}");
    let files = Memory::with("a.toml", main.as_str()).and("b.toml", b"# ok\n\xff".as_slice());
    let found = SceneFile::read(&files, Path::new("a.toml")).unwrap_err().to_string();
    assert!(found.starts_with("a.toml:1:12: b.toml: line 2: expected text in UTF-8"), "{found}");
    let found = SceneFile::parse(Source::new("a.toml", main)).unwrap_err().to_string();
    assert!(found.starts_with("a.toml:1:12: cannot include `b.toml`"), "{found}");
}

#[test]
fn files_that_are_too_many_too_deep_or_too_large_are_errors() {
    // Depth.
    let deep = |levels: usize| {
        let files = (0..levels).fold(Memory::default(), |files, level| {
            let next = format!("include = [\"{}.toml\"]", level + 1);
            let text = if level == 0 { with(&next, "") } else { next };
            files.and(if level == 0 { "a.toml".into() } else { format!("{level}.toml") }, text)
        });
        let files = files.and(format!("{levels}.toml"), "");
        SceneFile::read(&files, Path::new("a.toml")).map_err(|error| error.to_string())
    };
    deep(8).unwrap();
    let found = deep(9).unwrap_err();
    assert!(found.starts_with("8.toml:1:12: more than 8 files include one another: a.toml → 1.toml → "), "{found}");
    // Number.
    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("\"{n}.toml\"")).collect();
        let main = with(&format!("include = [{}]", names.join(", ")), "");
        let files = (0..count).fold(Memory::with("a.toml", main), |files, n| files.and(format!("{n}.toml"), ""));
        SceneFile::read(&files, Path::new("a.toml")).map_err(|error| error.to_string())
    };
    many(99).unwrap();
    assert!(many(100).unwrap_err().contains("more than 100 files"));
    // Size.
    let half = format!("#{}\n", " ".repeat(33 << 20));
    let main = with("include = [\"b.toml\", \"c.toml\"]", "");
    let found = error(&[("a.toml", &main), ("b.toml", &half), ("c.toml", &half)]);
    assert!(found.starts_with("a.toml:1:22: ") && found.contains("bytes in all files, expected at most"), "{found}");
}

#[test]
fn default_values_fill_tables_and_given_keys_win() {
    let text = with(
        "",
        r#"
        [defaults.object]
        translate = [0, 1, 0]
        material = { young = 1, poisson = 0, density = 1 }
        [defaults.obstacle]
        friction = 0.4
        damping = 5
        [defaults.icy.obstacle]
        friction = 0.02
        [[obstacle]]
        shape.plane = {}
        [[obstacle]]
        class = "icy"
        shape.plane = {}
        [[obstacle]]
        class = "icy"
        friction = 0
        shape.plane = {}
        "#,
    );
    let merged = scene(&[("a.toml", &text)]);
    assert_eq!(merged.objects[0].translate[1].si, 1.0);
    assert!(merged.to_toml().contains("young = 1000000.0"), "{}", merged.to_toml());
    let friction: Vec<f64> = merged.obstacles.iter().filter_map(|obstacle| obstacle.friction).collect();
    assert_eq!(friction, [0.4, 0.02, 0.0]);
    assert!(merged.obstacles.iter().all(|obstacle| obstacle.damping.unwrap().si == 5.0));
    // Defaults of an included file are those of all files.
    let defaults = "[defaults.obstacle]\nfriction = 0.3\n";
    let main = with("include = [\"b.toml\"]", "[[obstacle]]\nshape.plane = {}\n");
    assert_eq!(scene(&[("a.toml", &main), ("b.toml", defaults)]).obstacles[0].friction, Some(0.3));
    let main = main + "[defaults.obstacle]\ndamping = 1\n";
    let merged = scene(&[("a.toml", &main), ("b.toml", defaults)]);
    assert_eq!(
        (merged.obstacles[0].friction, merged.obstacles[0].damping.map(|damping| damping.si)),
        (Some(0.3), Some(1.0))
    );
    // Unrelated files give different keys of them.
    let main = with("include = [\"b.toml\", \"c.toml\"]", "[[obstacle]]\nshape.plane = {}\n");
    let merged = scene(&[("a.toml", &main), ("b.toml", defaults), ("c.toml", "[defaults.obstacle]\ndamping = 1\n")]);
    assert_eq!(
        (merged.obstacles[0].friction, merged.obstacles[0].damping.map(|damping| damping.si)),
        (Some(0.3), Some(1.0))
    );
    // Those of the including file win, and the others are checked nevertheless.
    let main = with(
        "include = [\"b.toml\"]",
        "[defaults.obstacle]\nfriction = 0.5\n[defaults.x.obstacle]\ndamping = 2\n[[obstacle]]\nclass = \"x\"\nshape.plane = {}\n",
    );
    let b = "[defaults.x.obstacle]\ndamping = 1\n[defaults.obstacle]\nfriction = 0.3\n";
    let merged = scene(&[("a.toml", &main), ("b.toml", b)]);
    assert_eq!(
        (merged.obstacles[0].friction, merged.obstacles[0].damping.map(|damping| damping.si)),
        (Some(0.5), Some(2.0))
    );
    for (b, place) in [
        ("[defaults.x.obstacle]\ndamping = \"1 m\"\n", "b.toml:2:11: "),
        ("[defaults.obstacle]\nfriction = \"1 m\"\n", "b.toml:2:12: "),
    ] {
        let found = error(&[("a.toml", &main), ("b.toml", b)]);
        assert!(found.starts_with(place), "{found}");
    }
}

#[test]
fn types_of_default_values_are_checked_used_or_not_at_their_own_line() {
    for (lines, message) in [
        ("[defaults.obstacle]\nfricton = 1\n", "a.toml:10:1: there is no key `fricton` here; did you mean `friction`?"),
        ("[defaults.obstacle]\nfriction = \"high\"\n", "a.toml:10:12: "),
        ("[defaults.x.obstacle]\nfriction = \"high\"\n", "a.toml:10:12: "),
        ("[defaults.object]\nmesh = { bax = {} }\n", "a.toml:10:10: there is no value `bax` here; did you mean `box`?"),
        ("[defaults.load]\nkind.force = [1, 2]\n", "a.toml:10:"),
        ("[defaults.spring]\nfrom = { box = { from = [0, 0, 0] } }\n", "a.toml:10:16: the key `to` is missing"),
        ("[defaults]\nobstacle = 3\n", "a.toml:10:12: invalid type: integer `3`, expected a table"),
        (
            "[defaults.obstacl]\nfriction = 1\n",
            "a.toml:10:1: there are no default values of `friction` in the class `obstacl`; did you mean `obstacle`?",
        ),
        ("[defaults.soft.obstacl]\nfriction = 1\n", "a.toml:9:"),
        ("[defaults.obstacle]\nclass = \"x\"\n", "a.toml:10:1: default values cannot have a class"),
        ("[[obstacle]]\nclass = \"x\"\nshape.plane = {}\n", "a.toml:10:9: there is no class `x`. There are no classes"),
        ("[[obstacle]]\nclass = 3\nshape.plane = {}\n", "a.toml:10:9: invalid type: integer `3`, expected a string"),
        ("[[obstacle]]\nclass = \"obstacle\"\n[defaults.obstacle]\nfriction = 1\n", "a.toml:10:9: there is no class"),
        (
            "[[obstacle]]\nclass = \"x\"\nshape.plane = {}\n[defaults.x.object]\nrefine = 1\n",
            "a.toml:10:9: the class `x` has no `[defaults.x.obstacle]`",
        ),
        (
            "[[obstacle]]\nclss = \"x\"\nshape.plane = {}\n",
            "a.toml:10:1: there is no key `clss` here; did you mean `class`?",
        ),
        ("[defaults.expect]\nquantity = \"x\"\n[[expect]]\nvalu = 1\n", "a.toml:12:1: there is no key `valu` here"),
    ] {
        let found = error(&[("a.toml", &with("", lines))]);
        assert!(found.starts_with(message), "{lines}: {found}");
    }
    // An error of building a scene refers to the default value that causes it.
    let text = with("", "[defaults.obstacle]\nfriction = -1\n[[obstacle]]\nshape.plane = {}\n");
    let built = SceneFile::parse(Source::new("a.toml", text)).unwrap().build(&Disk);
    assert!(built.is_err());
}

#[test]
fn default_values_that_multiply_beyond_bounds_are_an_error() {
    let mut text = with("", "[defaults.probe]\nvertices = { indices = [");
    (0..100_000).for_each(|n| write!(text, "{n}, ").unwrap());
    text += "] }\n";
    (0..2_000).for_each(|n| write!(text, "[[probe]]\nname = \"p{n}\"\n").unwrap());
    let found = error(&[("a.toml", &text)]);
    assert!(found.contains("default values add more than"), "{found}");
}

#[test]
fn a_greater_version_is_the_first_error_and_says_what_to_do() {
    for (version, message) in [
        ("2", "the scene is in version 2 of the format, but Pliant "),
        ("0", "there is no version 0 of the format, expected 1"),
        ("-1", "there is no version -1 of the format, expected 1"),
        ("\"1\"", "invalid type: string \"1\", expected an integer"),
        ("1.5", "invalid type: floating point `1.5`, expected an integer"),
    ] {
        let found = error(&[("a.toml", &with(&format!("version = {version}\nunknown = 1"), ""))]);
        assert!(found.starts_with(&format!("a.toml:1:11: {message}")), "{found}");
    }
    let found = error(&[("a.toml", &with("version = 2", ""))]);
    assert!(found.ends_with("reads versions up to 1; use a newer version of Pliant"), "{found}");
    let written = scene(&[("a.toml", &with("", ""))]).to_toml();
    assert!(written.starts_with(&format!("version = {}\n", FormatVersion::NUMBER)), "{written}");
    assert_eq!(schema()["properties"]["version"]["maximum"], FormatVersion::NUMBER);
}

#[test]
fn scenes_of_programs_include_files_and_have_default_values() {
    let files = store(&[("parts/ground.toml", GROUND), ("parts/bad.toml", "[[obstacle]]\nplan = {}\n")]);
    let value = |include: &str| {
        json!({
            "version": 1,
            "include": [include],
            "defaults": { "object": { "material": { "young": 1e6, "poisson": 0.4, "density": 1000 } } },
            "object": [{ "mesh": { "box": { "size": [1, 1, 1], "cells": [1, 1, 1] } } }],
            "simulation": { "step": 0.01, "duration": 1 },
        })
    };
    let read =
        |include: &str| SceneFile::from_value(&files, value(include), "parts").map_err(|error| error.to_string());
    let file = read("ground.toml").unwrap();
    assert_eq!(file.scene.obstacles[0].friction, Some(0.4));
    file.build(&files).unwrap();
    assert!(read("bad.toml").unwrap_err().starts_with("parts/bad.toml:2:1: there is no key `plan` here"));
    assert!(read("none.toml").unwrap_err().starts_with("include[0]: parts/none.toml: "));
    let mut wrong = value("ground.toml");
    wrong["defaults"]["object"]["material"]["young"] = json!("1 m");
    let error = SceneFile::from_value(&files, wrong, "parts").unwrap_err().to_string();
    assert!(error.starts_with("defaults.object.material.young: "), "{error}");
}

#[test]
fn a_run_keeps_its_own_copy_of_all_files_and_resumes_after_they_have_changed() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        Disk.write(&path, text.as_bytes()).unwrap();
        path
    };
    let scene = write("a.toml", MAIN);
    let materials = write("materials.toml", MATERIALS);
    write("parts/ground.toml", GROUND);
    let out = home.path().join("out");
    let file = SceneFile::read(&Disk, &scene).unwrap();
    let whole = file.scene.clone();
    let mut run = Run::create(file, &out).unwrap();
    let stopped = run.go(&RunParams::default(), &mut |progress| match progress.step {
        2 => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    });
    assert_eq!(stopped.unwrap().status, Status::Stopped);
    drop(run);
    let manifest = std::fs::read_to_string(out.join("run.json")).unwrap();
    assert!(manifest.contains("materials.toml") && manifest.contains("ground.toml"), "{manifest}");
    let copy = std::fs::read_to_string(out.join("scene.toml")).unwrap();
    assert!(copy.starts_with("# Merged from several files:\n") && copy.contains("materials.toml"), "{copy}");
    // The run depends on its own copy only.
    std::fs::remove_file(materials).unwrap();
    let mut run = Run::resume(&out).unwrap();
    assert_eq!(run.file.scene, whole);
    assert_eq!(
        run.go(&RunParams::default(), &mut |_| std::ops::ControlFlow::Continue(())).unwrap().status,
        Status::Done
    );
    assert_eq!(Run::open(&out).unwrap().frames_done(), run.frame_count());
}

#[test]
fn any_bytes_in_any_file_give_a_scene_that_can_be_written_or_an_error() {
    let seed = include_bytes!("../../../../fuzz/corpus/toml/includes.toml");
    let pieces: [&[u8]; 12] = [
        b"include = [\"b.toml\"]\n",
        b"[defaults.object]\n",
        b"class = \"icy\"\n",
        b"[[object]]\n",
        b"version = 2\n",
        b"\"",
        b"]",
        b"\xff",
        b"1e400",
        b"nan",
        b"= {}\n",
        b"[a.b.c]\n",
    ];
    // A linear congruential generator gives the same bytes everywhere.
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut read = 0;
    for _ in 0..4000 {
        let mut bytes = seed.to_vec();
        for _ in 0..=random(2) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = random(256) as u8,
                1 => drop(bytes.drain(at..(at + random(20)).min(bytes.len()))),
                _ => drop(bytes.splice(at..at, pieces[random(pieces.len())].iter().copied()).count()),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let files = ["a.toml", "b.toml", "parts/c.toml"].iter().zip(text.split("#---\n"));
        let files = files.fold(Memory::default(), |files, (name, text)| files.and(*name, text));
        if let Ok(file) = SceneFile::read(&files, Path::new("a.toml")) {
            read += 1;
            let written = file.scene.to_toml();
            let again = SceneFile::parse(Source::new("a.toml", written.as_str()));
            assert!(again.is_ok(), "{written}\n{}", again.unwrap_err());
        }
    }
    assert!(read > 20, "only {read} scenes were valid");
}
