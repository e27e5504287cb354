//! Unique names within the limits of a format.

use std::collections::{HashMap, HashSet};

/// Unique names: the names in use, and how to find an unused one.
#[derive(Debug, Default)]
pub struct Names {
    /// True if names that differ only in case are the same.
    ignore_case: bool,
    taken: HashSet<String>,
    /// Last number appended to a name, so that many equal names do not try all numbers again.
    last: HashMap<String, u64>,
}

impl Names {
    /// Creates an empty set of names for formats in which `A` and `a` are one name.
    pub fn ignoring_case() -> Self {
        Self { ignore_case: true, ..Self::default() }
    }

    /// Returns `wanted`, or `wanted_2` and so on if that is in use, and marks the result as used.
    pub fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.taken.insert(self.key(&name)) {
            let last = self.last.entry(self.key(wanted)).or_insert(1);
            *last += 1;
            name = format!("{wanted}_{last}");
        }
        name
    }

    fn key(&self, name: &str) -> String {
        if self.ignore_case { name.to_ascii_uppercase() } else { name.into() }
    }
}

/// Returns the first few of many names, for a message.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const LISTED: usize = 10;
    let mut names = names.into_iter();
    let first: Vec<&str> = names.by_ref().take(LISTED).collect();
    match names.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_names_get_numbers_that_are_free() {
        let mut names = Names::default();
        let given = ["a", "a_2", "a", "a", "A"].map(|name| names.take(name));
        assert_eq!(given, ["a", "a_2", "a_3", "a_4", "A"]);
        let mut names = Names::ignoring_case();
        assert_eq!(["a", "A"].map(|name| names.take(name)), ["a", "A_2"]);
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(["a", "b"]), "a, b");
        assert_eq!(listed(["x"; 1000]), "x, x, x, x, x, x, x, x, x, x and 990 more");
    }
}
