//! Syntax of VegaFEM's configuration files: `*key` on a line, its value on the next.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::scene::{Located, SceneError, Source, nearest};
use pliant::files::quote;

/// Keys with their values and the positions of these.
pub(super) struct Entries<'a> {
    source: &'a Source,
    values: BTreeMap<&'static str, Located<&'a str>>,
    /// Notes on the syntax of the file.
    pub notes: Vec<String>,
}

/// Line at which reading of a file ends.
const END: &str = "**EOF";
/// Text that stands for an absent value in VegaFEM.
const NOTHING: &str = "__none";

impl<'a> Entries<'a> {
    /// Reads a file with the given known keys, whose case is ignored.
    pub fn read(source: &'a Source, known: &[&'static str]) -> Result<Self, SceneError> {
        let by_case: BTreeMap<String, &'static str> =
            known.iter().map(|&key| (key.to_ascii_lowercase(), key)).collect();
        let mut entries = Self { source, values: BTreeMap::new(), notes: Vec::new() };
        // Key whose value may follow, with its position and whether a value was found.
        let mut open: Option<(&'static str, Range<usize>, bool)> = None;
        for (line, span) in lines(&source.text) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line == END {
                break;
            }
            let Some(key) = line.strip_prefix('*') else {
                let Some((key, _, has_value)) = &mut open else {
                    let message =
                        format!("a value without a key, expected a line such as `*timestep` before {}", shown(line));
                    return Err(source.error(Some(&span), message));
                };
                *has_value = true;
                entries.put(key, Located::at(line, span));
                continue;
            };
            check_value(source, open.as_ref())?;
            let key = key.trim();
            let Some(&name) = by_case.get(&key.to_ascii_lowercase()) else {
                return Err(source.error(Some(&span), unknown(key, known)));
            };
            open = Some((name, span, false));
        }
        check_value(source, open.as_ref())?;
        Ok(entries)
    }

    fn put(&mut self, key: &'static str, value: Located<&'a str>) {
        if self.values.insert(key, value).is_some() {
            let note = format!("`{key}` has several values; the last one is used, as in VegaFEM");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Returns the subset of `keys` that the file has.
    pub fn given(&self, keys: &[&'static str]) -> Vec<&'static str> {
        keys.iter().copied().filter(|key| self.values.contains_key(key)).collect()
    }

    /// Returns the text of a key.
    pub fn text(&self, key: &str) -> Option<Located<String>> {
        let value = self.values.get(key).filter(|value| value.value != NOTHING)?;
        Some(Located { value: value.value.to_owned(), span: value.span.clone() })
    }

    /// Returns the text of a required key.
    pub fn required_text(&self, key: &str) -> Result<Located<String>, SceneError> {
        self.text(key).ok_or_else(|| self.missing(key))
    }

    /// Returns the finite number of a key.
    pub fn number(&self, key: &str) -> Result<Option<Located<f64>>, SceneError> {
        self.parsed(key, "a number", |word| word.parse().ok().filter(|number: &f64| number.is_finite()))
    }

    /// Returns the number of a key, or a default.
    pub fn number_or(&self, key: &str, usual: f64) -> Result<Located<f64>, SceneError> {
        Ok(self.number(key)?.unwrap_or(Located::new(usual)))
    }

    /// Returns the number of a key that is required, as in VegaFEM.
    pub fn required_number(&self, key: &str) -> Result<Located<f64>, SceneError> {
        self.number(key)?.ok_or_else(|| self.missing(key))
    }

    /// Returns the integer of a key.
    pub fn integer(&self, key: &str) -> Result<Option<Located<i64>>, SceneError> {
        self.parsed(key, "a whole number", |word| word.parse().ok())
    }

    /// Returns the Boolean of a key: false for 0, true for any other integer.
    pub fn flag(&self, key: &str) -> Result<Option<Located<bool>>, SceneError> {
        self.parsed(key, "0 or 1", |word| match word {
            "true" => Some(true),
            "false" => Some(false),
            _ => word.parse::<i64>().ok().map(|number| number != 0),
        })
    }

    /// Returns the value that belongs to the name of a key, which must be among `names`.
    pub fn choice<T: Copy>(&self, key: &str, names: &[(&str, T)]) -> Result<Option<Located<T>>, SceneError> {
        let Some(found) = self.text(key) else { return Ok(None) };
        if let Some((_, value)) = names.iter().find(|(name, _)| *name == found.value) {
            return Ok(Some(Located { value: *value, span: found.span }));
        }
        let hint = nearest(&found, names.iter().map(|(name, _)| *name));
        let hint = hint.map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"));
        let list = names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let message = format!("`{key}` is {}, expected one of {list}{hint}", shown(&found));
        Err(self.source.error(found.span.as_ref(), message))
    }

    fn parsed<T>(
        &self,
        key: &str,
        what: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<Located<T>>, SceneError> {
        let Some(found) = self.values.get(key) else { return Ok(None) };
        let mut words = found.value.split_whitespace();
        let value = words.next().and_then(parse);
        // VegaFEM ignores what follows the number; here it must be a comment.
        match (value, words.next()) {
            (Some(value), rest) if rest.is_none_or(|rest| rest.starts_with('#')) => {
                Ok(Some(Located { value, span: found.span.clone() }))
            }
            _ => {
                let message = format!("`{key}` is {}, expected {what}", shown(found.value));
                Err(self.source.error(found.span.as_ref(), message))
            }
        }
    }

    fn missing(&self, key: &str) -> SceneError {
        self.source.error(None, format!("the key `*{key}` is missing"))
    }
}

/// Returns the trimmed lines, each with its position.
fn lines(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut next = 0;
    text.split_inclusive('\n').map(move |whole| {
        let start = next;
        next += whole.len();
        let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
        let line = whole.trim_start_matches(is_blank);
        let start = start + whole.len() - line.len();
        let line = line.trim_end();
        (line, start..start + line.len())
    })
}

fn check_value(source: &Source, open: Option<&(&'static str, Range<usize>, bool)>) -> Result<(), SceneError> {
    match open {
        Some((key, span, false)) => {
            Err(source.error(Some(span), format!("`*{key}` has no value, expected one on the next line")))
        }
        _ => Ok(()),
    }
}

fn unknown(found: &str, known: &[&'static str]) -> String {
    if found.is_empty() {
        return "a `*` without a key, expected a line such as `*timestep`".into();
    }
    let hint =
        nearest(found, known.iter().copied()).map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"));
    format!("there is no key {}{hint} (VegaFEM ignores unknown keys, Pliant does not)", shown(found))
}

fn shown(text: &str) -> String {
    quote(text.as_bytes())
}
