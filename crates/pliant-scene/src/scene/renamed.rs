//! Keys and values of earlier versions, whose errors name the new ones.

/// Renamed keys and values: old and new name.
const RENAMED: &[(&str, &str)] = &[
    ("hold", "fixed"),
    ("scheme", "integrator"),
    ("colour", "color"),
    ("centre", "center"),
    ("old-factor", "stale-factor"),
];

/// Returns the new name of a key or a value of an earlier version, if it is one of the names known in its place.
pub(super) fn current<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let (_, new) = RENAMED.iter().find(|(old, _)| *old == name)?;
    known.into_iter().any(|known| known == *new).then_some(*new)
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
            "colour" | "color" => vec![format!("output.picture.{name} = \"speed\"\n")],
            "centre" | "center" => vec![
                format!("[[obstacle]]\nball = {ball}\n"),
                format!("[[obstacle]]\nhollow_ball = {ball}\n"),
                format!("[[fixed]]\nvertices = {{ sphere = {ball} }}\n"),
                format!(
                    "[[fixed]]\nvertices = \"all\"\nmotion = {{ {name} = [0, 0, 0], keyframes = [{{ time = 0 }}] }}\n"
                ),
                format!("object = [{{ mesh = {{ filled = {{ of = {{ ball = {ball} }} }} }} }}]\n"),
            ],
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
    fn an_old_name_is_not_suggested_where_the_new_one_is_unknown() {
        assert_eq!(current("scheme", ["young", "law"]), None);
        assert_eq!(current("young", ["young", "law"]), None);
    }
}
