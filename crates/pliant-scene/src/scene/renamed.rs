//! Keys and values of earlier versions, whose errors name the new ones.

/// Renamed keys and values: old and new name.
const RENAMED: &[(&str, &str)] = &[
    ("hold", "fixed"),
    ("scheme", "integrator"),
    ("colour", "color"),
    ("centre", "center"),
    ("old-factor", "stale-factor"),
    ("least", "min"),
    ("most", "max"),
    ("greatest", "max"),
    ("hollow_ball", "hollow-ball"),
    ("rounded_box", "rounded-box"),
];

/// Renamed ends of the names of columns: old and new.
const COLUMNS: &[(&str, &str)] = &[(".least", ".min"), (".largest", ".max")];

/// Keys whose values have moved: the table that they were in, named by a key that it still has, the key, and where its
/// value is given now.
const MOVED: &[(&str, &str, &str)] = &[
    ("integrator", "newton", "integrator = { newmark = { newton = { … } } }"),
    ("integrator", "newmark", "integrator = { newmark = { … } }"),
    ("integrator", "regularized", "integrator = { regularized = { … } }"),
    ("integrator", "tangent", "integrator = { linearized-backward-euler = { tangent = … } }"),
    ("integrator", "solver_tolerance", "solver = { auto = { tolerance = … } }"),
    ("integrator", "solver_iterations", "solver = { auto = { iterations = … } }"),
    ("must_converge", "damping", "integrator = { newmark = { damping = … } }"),
    ("schedule", "force", "kind = { force = […] }"),
    ("schedule", "traction", "kind = { traction = […] }"),
    ("schedule", "pressure", "kind = { pressure = … }"),
    ("schedule", "follower", "kind = { pressure = { value = …, follower = … } }"),
    ("schedule", "impulse", "kind = { impulse = […] }"),
    ("schedule", "steps", "kind = { steps = … }"),
    ("schedule", "interval", "kind = { steps = { file = …, interval = … } }"),
    ("friction_speed", "plane", "shape = { plane = { … } }"),
    ("friction_speed", "ball", "shape = { ball = { … } }"),
    ("friction_speed", "hollow_ball", "shape = { hollow-ball = { … } }"),
];

/// Returns where the value of a key of an earlier version is given now, if `known` are the keys of its table.
pub(super) fn moved<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let mut known = known.into_iter();
    let at = |(beside, old, _): &&(&str, &str, &str)| *old == name && known.any(|known| known == *beside);
    MOVED.iter().find(at).map(|(_, _, new)| *new)
}

/// Returns the new name of a key or a value of an earlier version, if it is one of the names known in its place.
pub(super) fn current<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let (_, new) = RENAMED.iter().find(|(old, _)| *old == name)?;
    known.into_iter().any(|known| known == *new).then_some(*new)
}

/// Returns the new name of a column of an earlier version, if it is one of the known columns.
pub(super) fn column<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let new = COLUMNS.iter().find_map(|(old, new)| Some(format!("{}{new}", name.strip_suffix(old)?)))?;
    known.into_iter().find(|known| *known == new)
}

#[cfg(test)]
mod tests {
    use super::super::{SceneFile, Source};
    use super::*;

    /// Returns examples with a name in every place that takes it.
    fn scenes(name: &str) -> Vec<String> {
        let ball = format!("{{ {name} = [0, 0, 0], radius = 1 }}");
        match name {
            "hold" | "fixed" => vec![format!("[[{name}]]\nvertices = \"all\"\n")],
            "scheme" | "integrator" => vec![format!("simulation.{name} = \"newmark\"\n")],
            "old-factor" | "stale-factor" => vec![format!("simulation.solver = \"{name}\"\n")],
            "hollow_ball" | "hollow-ball" => {
                vec![format!("[[obstacle]]\nshape.{name} = {{ center = [0, 0, 0], radius = 1 }}\n")]
            }
            "rounded_box" | "rounded-box" => {
                vec![format!(
                    "object = [{{ mesh = {{ filled = {{ of = {{ {name} = {{ size = [1, 1, 1] }} }} }} }} }}]\n"
                )]
            }
            "colour" | "color" => vec![format!("output.picture.{name} = \"speed\"\n")],
            "centre" | "center" => vec![
                format!("[[obstacle]]\nshape.ball = {ball}\n"),
                format!("[[obstacle]]\nshape.hollow-ball = {ball}\n"),
                format!("[[fixed]]\nvertices = {{ sphere = {ball} }}\n"),
                format!(
                    "[[fixed]]\nvertices = \"all\"\nmotion = {{ {name} = [0, 0, 0], keyframes = [{{ time = 0 }}] }}\n"
                ),
                format!("object = [{{ mesh = {{ filled = {{ of = {{ ball = {ball} }} }} }} }}]\n"),
            ],
            // The new names are keys and statistics.
            "least" | "min" | "most" | "max" | "greatest" => {
                let mut examples = vec![format!("[[expect]]\nquantity = \"time\"\nvalue = 1\nover = \"{name}\"\n")];
                if name != "greatest" {
                    examples.insert(0, format!("[[expect]]\nquantity = \"time\"\n{name} = 1\n"));
                }
                examples
            }
            other => panic!("no example of `{other}`"),
        }
    }

    fn parse(example: &str) -> Result<SceneFile, String> {
        let object = if example.contains("object =") { "" } else { "object = [{ mesh = \"a.veg\" }]\n" };
        let (before, tables) = if example.starts_with('[') { ("", example) } else { (example, "") };
        let text = format!("{before}{object}simulation.step = 0.1\nsimulation.duration = 1\n{tables}");
        SceneFile::parse(Source::new("a.toml", text)).map_err(|error| error.to_string())
    }

    #[test]
    fn every_name_of_an_earlier_version_gives_an_error_with_its_line_and_the_new_name() {
        for (old, new) in RENAMED {
            for (with_old, with_new) in scenes(old).iter().zip(scenes(new)) {
                assert!(parse(&with_new).is_ok(), "{with_new}: {:?}", parse(&with_new).err());
                let error = parse(with_old).unwrap_err();
                let line = error.lines().find(|line| line.contains(" | ")).unwrap_or_else(|| panic!("{error}"));
                assert!(line.contains(old), "{error}");
                assert!(error.contains(&format!("`{old}` here; it is called `{new}` now.")), "{error}");
            }
        }
    }

    #[test]
    fn every_key_that_has_moved_gives_an_error_with_its_line_and_the_new_place() {
        for (beside, old, new) in MOVED {
            let line = match *beside {
                "integrator" => format!("simulation.{old} = 1\n"),
                "must_converge" => format!("simulation.integrator.newmark.newton.{old} = 1\n"),
                "schedule" => format!("[[load]]\n{old} = 1\n"),
                "friction_speed" => format!("[[obstacle]]\n{old} = {{}}\n"),
                other => panic!("no example of the table with `{other}`"),
            };
            let error = parse(&line).unwrap_err();
            assert!(error.contains(&format!("there is no key `{old}` here; it is given as `{new}` now")), "{error}");
            assert!(error.contains(" | "), "{error}");
        }
    }

    #[test]
    fn a_column_of_an_earlier_version_is_named_by_its_new_name() {
        let columns = ["time", "ring.min", "ring.mean", "ring.max", "a.largest"];
        assert_eq!(column("ring.least", columns), Some("ring.min"));
        assert_eq!(column("ring.largest", columns), Some("ring.max"));
        assert_eq!((column("rung.least", columns), column("ring.mean", columns)), (None, None));
    }

    #[test]
    fn an_old_name_is_not_suggested_where_the_new_one_is_unknown() {
        assert_eq!(current("scheme", ["young", "law"]), None);
        assert_eq!(current("young", ["young", "law"]), None);
    }
}
