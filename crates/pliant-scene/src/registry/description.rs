//! Descriptions of types: the prose of their documentation, and the example at its end.

/// First line of an example.
const START: &str = "```toml";

/// Splits documentation into its prose, in one line, and the TOML of the code block after it.
pub fn described(documentation: &str) -> (String, Option<String>) {
    let is_start = |line: &&str| line.trim() == START;
    let mut lines = documentation.lines();
    let prose: Vec<&str> = lines.by_ref().take_while(|line| !is_start(line)).collect();
    let example: Vec<&str> = lines.take_while(|line| line.trim() != "```").collect();
    let example = documentation.lines().any(|line| is_start(&line)).then(|| example.join("\n"));
    (prose.join(" ").trim_end().to_owned(), example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_prose_in_one_line_and_the_example_after_it() {
        let documentation = "Rayleigh\ndamping.\n\n```toml\n[damping]\nmass = 1\n```";
        assert_eq!(described(documentation), ("Rayleigh damping.".into(), Some("[damping]\nmass = 1".into())));
        assert_eq!(described("Rayleigh\ndamping."), ("Rayleigh damping.".into(), None));
        assert_eq!(described(""), (String::new(), None));
    }
}
