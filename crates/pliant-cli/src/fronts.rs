//! Test that entries which a program adds to registries are in all fronts.

use std::path::Path;

use clap::{CommandFactory, Parser};
use pliant::files::Memory;
use pliant_scene::output::{AnimationFormat, COLOR_FIELDS, ColorField, FORMATS};
use pliant_scene::registry::Entry;
use pliant_scene::scene::generator::Beam;
use pliant_scene::scene::integrator::BackwardEuler;
use pliant_scene::scene::load::Force;
use pliant_scene::scene::obstacle::Ball;
use pliant_scene::scene::solid::Capsule;
use pliant_scene::scene::solver::Direct;
use pliant_scene::scene::{
    GENERATORS, INTEGRATORS, LOADS, OBSTACLE_SHAPES, SOLIDS, SOLVERS, SceneFile, Source, choices, part_from_value,
    reference, schema,
};
use serde_json::{Value, json};

const SCENE: &str = r#"
[[object]]
mesh = { own-body = { length = 1, height = 1, width = 1, across = 1 } }
material = { young = "1 MPa", poisson = 0.3, density = 1000 }

[[object]]
mesh = { filled = { of = { own-solid = { start = [0, 10, 0], end = [1, 10, 0], radius = 0.5 } }, cells = 4 } }
material = { young = "1 MPa", poisson = 0.3, density = 1000 }

[[load]]
vertices = "end"
kind = { own-load = [1, 0, 0] }

[[obstacle]]
shape = { own-shape = { center = [0, -10, 0], radius = 1 } }

[simulation]
step = 0.01
duration = 0.01
integrator = "own-integrator"
solver = "own-solver"

[output]
formats = ["own-format"]
picture = { color = "own-color" }
"#;

/// Kinds of registries with a custom entry and one of its options, if it has any.
const OWN: [(&str, &str, Option<&str>); 8] = [
    ("generator", "own-body", Some("length")),
    ("solid", "own-solid", Some("radius")),
    ("integrator", "own-integrator", Some("damping")),
    ("solver", "own-solver", None),
    ("obstacle shape", "own-shape", Some("radius")),
    ("load", "own-load", Some("value")),
    ("animation format", "own-format", None),
    ("color field", "own-color", None),
];

fn add_own() {
    INTEGRATORS.add(Entry::new::<BackwardEuler>("own-integrator")).unwrap();
    SOLVERS.add(Entry::new::<Direct>("own-solver")).unwrap();
    OBSTACLE_SHAPES.add(Entry::new::<Ball>("own-shape")).unwrap();
    GENERATORS.add(Entry::new::<Beam>("own-body")).unwrap();
    SOLIDS.add(Entry::new::<Capsule>("own-solid")).unwrap();
    LOADS.add(Entry::new::<Force>("own-load").with_main("value")).unwrap();
    let format = AnimationFormat::new("own-format", "Own", &["own"], "Own animations", |path, geometry, options| {
        AnimationFormat::of(Path::new("a.glb")).unwrap().start(path, geometry, options)
    });
    FORMATS.add(format).unwrap();
    COLOR_FIELDS.add(ColorField::of_vectors("own-color", "Own vectors", "own", "m", |frame| &frame.u)).unwrap();
}

#[test]
fn an_entry_that_a_program_adds_is_in_scenes_schema_reference_help_and_lists() {
    add_own();
    let file = SceneFile::parse(Source::new("a.toml", SCENE)).unwrap();
    let mut built = file.build(&Memory::default()).unwrap();
    built.simulation.step().unwrap();
    assert!(built.simulation.observe().momentum.x > 0.0);
    assert_eq!(built.simulation.model().obstacles_at(0.0).len(), 1);
    assert!(SceneFile::parse(Source::new("a.toml", file.scene.to_toml())).unwrap().scene == file.scene);

    let (schema, page) = (schema().to_string(), reference());
    for (kind, name, option) in OWN {
        assert!(schema.contains(&format!("\"{name}\"")), "schema: {name}");
        assert!(
            page.contains(&format!("`\"{name}\"`")) || page.contains(&format!("`{{ {name} = … }}`")),
            "page: {name}"
        );
        // The list from which functions and stubs of the Python package follow.
        let entries = choices(kind).unwrap();
        let own = entries.iter().find(|entry| entry.name == name).unwrap_or_else(|| panic!("{kind}: {entries:?}"));
        assert!(own.about.ends_with('.'), "{own:?}");
        assert_eq!(option.is_some(), own.options.iter().any(|own| Some(own.name.as_str()) == option), "{own:?}");
    }

    let mut command = crate::Cli::command();
    let help = |command: &mut clap::Command| command.render_long_help().to_string();
    let run = help(command.find_subcommand_mut("run").unwrap());
    for listed in ["- own-integrator:", "- own-solver:", "--own-format"] {
        assert!(run.contains(listed), "{listed}: {run}");
    }
    assert!(help(command.find_subcommand_mut("render").unwrap()).contains("- own-color:"));

    let generate = help(command.find_subcommand_mut("mesh").unwrap().find_subcommand_mut("generate").unwrap());
    assert!(generate.contains("  own-body "), "{generate}");
    let length = "--length=2 m";
    let made = crate::Cli::try_parse_from([
        "pliant",
        "mesh",
        "generate",
        "own-body",
        length,
        "--height=1",
        "--width=1",
        "-o",
        "a.veg",
    ]);
    assert!(format!("{made:?}").contains("Beam { length: Quantity { si: 2.0,"), "{made:?}");

    let unknown = |value: Value| part_from_value::<pliant_scene::scene::LoadChoice>(value, "kind").unwrap_err().message;
    assert!(unknown(json!("own-laod")).contains("did you mean `own-load`?"));
}
