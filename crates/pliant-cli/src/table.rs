//! Human-readable text: aligned columns, numbers with few digits, and colors on terminals only.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

pub const HEADING: Style = AnsiColor::Green.on_default().bold();
pub const LITERAL: Style = AnsiColor::Cyan.on_default();
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const NOTE: Style = AnsiColor::Yellow.on_default();

/// Table of names and values.
#[derive(Default)]
pub struct Listing(String);

impl Listing {
    /// Appends a title line.
    pub fn title(&mut self, text: &str, detail: &str) {
        let (text, detail) = (printable(text), printable(detail));
        put(&mut self.0, format_args!("{HEADING}{text}{HEADING:#}  {detail}\n"));
    }

    /// Appends a row.
    pub fn row(&mut self, name: &str, value: impl AsRef<str>) {
        put(&mut self.0, format_args!("  {LITERAL}{name:<16}{LITERAL:#}  {}\n", printable(value.as_ref())));
    }

    /// Appends columns under a heading; columns of numbers are right-aligned.
    pub fn columns(&mut self, heading: &[&str], rows: &[Vec<String>]) {
        let rows: Vec<Vec<Cow<'_, str>>> =
            rows.iter().map(|row| row.iter().map(|cell| printable(cell)).collect()).collect();
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..heading.len()).map(width).collect();
        let is_number = |column: usize| rows.iter().all(|row| row[column].parse::<f64>().is_ok());
        let numbers: Vec<bool> = (0..heading.len()).map(is_number).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut line = String::new();
            for (column, cell) in cells.enumerate() {
                let (width, gap) = (widths[column], if column == 0 { "" } else { "  " });
                if numbers[column] {
                    put(&mut line, format_args!("{gap}{cell:>width$}"));
                } else {
                    put(&mut line, format_args!("{gap}{cell:<width$}"));
                }
            }
            line.trim_end().to_owned()
        };
        let head = line(&mut heading.iter().copied());
        put(&mut self.0, format_args!("\n  {LITERAL}{head}{LITERAL:#}\n"));
        for row in &rows {
            put(&mut self.0, format_args!("  {}\n", line(&mut row.iter().map(AsRef::as_ref))));
        }
    }

    pub fn into_text(self) -> String {
        self.0
    }
}

/// Replaces control characters, which could move the cursor or recolor the terminal, by their escapes. Keeps line
/// breaks and tabs.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_control) {
        return text.into();
    }
    text.chars().map(|c| if is_control(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Makes text printable, except for the styles of this module.
pub fn styled(text: &str) -> String {
    let styles = [HEADING, LITERAL, ERROR, NOTE].map(|style| style.render().to_string());
    let reset = HEADING.render_reset().to_string();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, after) = rest.split_at(at);
        out += &printable(before);
        let style = styles.iter().chain([&reset]).find(|style| after.starts_with(style.as_str()));
        let length = style.map_or(1, String::len);
        out += &style.map_or_else(|| printable(&after[..1]), Into::into);
        rest = &after[length..];
    }
    out + &printable(rest)
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a string does not fail");
}

/// Formats a number with five significant digits, without exponent where that is short.
pub fn number(x: f64) -> String {
    number_to(x, 4)
}

/// Formats a number with the given number of digits after the first.
pub fn number_to(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let rounded: f64 = format!("{x:.digits$e}").parse().unwrap_or(x);
    if (1e-3..1e6).contains(&rounded.abs()) || (digits > 4 && rounded.abs() < 1e15 && rounded.abs() >= 1.0) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

/// Formats a vector as `(x, y, z)`.
pub fn vector(v: impl Into<[f64; 3]>, scale: f64) -> String {
    let [x, y, z] = v.into().map(|x| number(clean(x, scale)));
    format!("({x}, {y}, {z})")
}

/// Returns `x`, or zero if it is only round-off relative to `scale`.
pub fn clean(x: f64, scale: f64) -> f64 {
    if x.abs() < 1e-13 * scale { 0.0 } else { x }
}

/// Returns a bar chart in one line of text.
pub fn sparkline(counts: &[usize]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let max = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &usize| if count == 0 { ' ' } else { BARS[(count * BARS.len()).div_ceil(max) - 1] };
    counts.iter().map(bar).collect()
}

/// Formats a number with its noun, as in `1 vertex` and `2 vertices`.
pub fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Serializes a value as JSON, for programs.
pub fn to_json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_plain() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-0.123_456_7, "-0.12346"),
            (1234.56, "1234.6"),
            (999_999.9, "1e6"),
            (1e-7, "1e-7"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn control_characters_of_names_never_reach_the_terminal() {
        let mut listing = Listing::default();
        listing.title("a\u{1b}[2Jb", "\u{7}c");
        listing.row("name", "\u{9b}31m\rd");
        listing.columns(&["x"], &[vec!["\u{1b}]0;title\u{7}".into()]]);
        let text = styled(&listing.into_text());
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert!(plain.contains("a\\u{1b}[2Jb  \\u{7}c") && plain.contains("\\u{9b}31m\\rd"), "{plain}");
        assert!(plain.chars().all(|c| !c.is_control() || c == '\n'), "{plain:?}");
        // Text that is not part of a fact keeps only the styles of this module.
        assert_eq!(styled("\u{1b}[2J\u{1b}[36mx\u{1b}[0m"), "\\u{1b}[2J\u{1b}[36mx\u{1b}[0m");
    }

    #[test]
    fn the_highest_bar_is_full_and_empty_bins_are_blank() {
        assert_eq!(sparkline(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(sparkline(&[0, 0]), "  ");
    }
}
