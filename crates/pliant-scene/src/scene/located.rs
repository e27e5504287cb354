//! Source locations in a scene file, and errors that refer to them.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use pliant::files::Files;

/// Value with its location in the scene file.
#[derive(Debug, Clone, Default)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Byte range in the text of a [`Source`], or `None` for a value that is not from a file.
    pub span: Option<Range<usize>>,
}

impl<T> Located<T> {
    /// Creates a value without a location.
    pub fn new(value: T) -> Self {
        Self { value, span: None }
    }

    /// Creates a value at a location.
    pub fn at(value: T, span: Range<usize>) -> Self {
        Self { value, span: Some(span) }
    }
}

impl<T> From<T> for Located<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: PartialEq> PartialEq for Located<T> {
    /// Returns true if the values are equal. Locations are ignored.
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T> Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<T>::deserialize(deserializer)?;
        let span = spanned.span();
        Ok(Self { value: spanned.into_inner(), span: Some(span) })
    }
}

impl<T: Serialize> Serialize for Located<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Source file of a scene, with the files that it includes.
///
/// Locations are byte ranges in a text that consists of all files: this one at its start, then the included ones.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path of the file.
    pub path: PathBuf,
    /// Content of the file.
    pub text: Arc<str>,
    /// Folder that relative file names refer to.
    pub folder: PathBuf,
    /// Meaning of byte ranges of the text.
    pub locations: Locations,
    /// Files that the scene includes, in the order in which they were read.
    pub included: Vec<Included>,
}

/// File that a scene includes.
#[derive(Debug, Clone)]
pub struct Included {
    /// Path of the file.
    pub path: PathBuf,
    /// Folder of the file relative to that of the scene.
    pub folder: PathBuf,
    /// Content of the file.
    pub text: Arc<str>,
    /// Start of the content in the text of all files.
    start: usize,
}

impl Included {
    pub(super) fn new(path: PathBuf, folder: PathBuf, text: Arc<str>) -> Self {
        Self { path, folder, text, start: 0 }
    }
}

/// Meaning of the locations of a scene, in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locations {
    /// Lines of a file.
    Lines,
    /// Keys of values that a program gave, as in `object[0].mesh`.
    Keys,
    /// Nothing: a program built the scene. The path names its results.
    Nothing,
}

impl Source {
    /// Creates a source from a path and a text. Relative file names refer to the folder of the path.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Self {
        let path = path.into();
        Self {
            folder: path.parent().unwrap_or(Path::new("")).into(),
            path,
            text: text.into(),
            locations: Locations::Lines,
            included: Vec::new(),
        }
    }

    /// Returns the source of a scene built by a program: `name` names its results, and errors cite no location.
    pub fn generated(name: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), locations: Locations::Nothing, ..Self::new(name, "") }
    }

    /// Returns the source of values of a program, whose locations are ranges of `keys`.
    pub(super) fn keys(keys: String, folder: impl Into<PathBuf>) -> Self {
        Self { text: keys.into(), locations: Locations::Keys, ..Self::generated("", folder) }
    }

    /// Returns the source of a scene built by a program, without a name.
    pub fn none() -> Self {
        Self::generated("", "")
    }

    /// Reads a scene file.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, SceneError> {
        let error = |message| SceneError { path: path.into(), place: None, message };
        Ok(Self::new(path, read_text(files, path).map_err(error)?))
    }

    /// Adds an included file, and returns the start of its content in the text of all files.
    pub(super) fn add(&mut self, file: Included) -> usize {
        let end = self.included.last().map_or(self.text.len(), |last| last.start + last.text.len());
        // A location at the end of a file differs from one at the start of the next.
        let start = end + 1;
        self.included.push(Included { start, ..file });
        start
    }

    /// Returns the included file that contains a location, or `None` if it is in the scene itself.
    pub(super) fn included_at(&self, span: &Range<usize>) -> Option<&Included> {
        self.included.iter().rev().find(|file| file.start <= span.start)
    }

    /// Returns a location as text: file and line, or the key of a value.
    pub(super) fn place(&self, span: &Range<usize>) -> String {
        let error = self.error(Some(span), "");
        match &error.place {
            Some(place) => format!("{}:{}", error.path.display(), place.line),
            None => "the values of the scene".into(),
        }
    }

    /// Creates an error that refers to a part of the text.
    pub fn error(&self, span: Option<&Range<usize>>, message: impl Into<String>) -> SceneError {
        let message = with_short_numbers(&message.into());
        let of_program = |message| SceneError { path: PathBuf::new(), place: None, message };
        if let Some(span) = span
            && let Some(file) = self.included_at(span)
        {
            let place = Excerpt::of(&file.text, &(span.start - file.start..span.end.saturating_sub(file.start)));
            return SceneError { path: file.path.clone(), place: Some(place), message };
        }
        match (self.locations, span) {
            (Locations::Lines, _) => {
                let place = span.map(|span| Excerpt::of(&self.text, span));
                SceneError { path: self.path.clone(), place, message }
            }
            (Locations::Keys, Some(key)) if !key.is_empty() => {
                of_program(format!("{}: {message}", &self.text[key.clone()]))
            }
            (Locations::Keys | Locations::Nothing, _) => of_program(message),
        }
    }
}

/// Reads the text of a scene. The message of an error does not name the file.
pub(super) fn read_text(files: &dyn Files, path: &Path) -> Result<String, String> {
    let bytes = files.read(path).map_err(|cause| {
        let (whole, name) = (cause.to_string(), format!("{}: ", path.display()));
        whole.strip_prefix(&name).unwrap_or(&whole).to_owned()
    })?;
    if bytes.len() > MAX_SCENE {
        return Err(format!("{} bytes, expected a scene of at most {MAX_SCENE}", bytes.len()));
    }
    String::from_utf8(bytes).map_err(|cause| {
        let valid = &cause.as_bytes()[..cause.utf8_error().valid_up_to()];
        let line = String::from_utf8_lossy(valid).matches('\n').count() + 1;
        format!("line {line}: expected text in UTF-8")
    })
}

/// Rewrites numbers with dozens of digits, as `Display` prints them, with an exponent.
fn with_short_numbers(text: &str) -> String {
    /// Maximum number of digits that are not rewritten.
    const MAX_DIGITS: usize = 40;
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_digit) {
        let (before, from) = rest.split_at(start);
        let (digits, after) = from.split_at(from.find(|c| !is_digit(c)).unwrap_or(from.len()));
        out += before;
        match digits.parse::<f64>() {
            Ok(number) if digits.len() > MAX_DIGITS => out += &format!("{number:e}"),
            _ => out += digits,
        }
        rest = after;
    }
    out + rest
}

/// Error in a scene, with its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneError {
    /// Path of the scene file.
    pub path: PathBuf,
    /// Location in the file, if known.
    pub place: Option<Excerpt>,
    /// Description of the error.
    pub message: String,
}

/// Line of a file with a marked part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Line number, from 1.
    pub line: usize,
    /// First marked column, in characters from 1.
    pub column: usize,
    /// Number of marked characters.
    pub width: usize,
    /// Text of the line, truncated if it is long.
    pub text: String,
}

/// Maximum size of a scene file in bytes.
pub(super) const MAX_SCENE: usize = 64 << 20;

/// Maximum length of an excerpt: longer lines are truncated around the marked part.
const MAX_LINE: usize = 120;

impl Excerpt {
    fn of(text: &str, span: &Range<usize>) -> Self {
        let start = floor_boundary(text, span.start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = floor_boundary(text, span.end).clamp(start, line_end);
        let (column, width) = (text[line_start..start].chars().count(), text[start..end].chars().count().max(1));
        let shown_from = column.saturating_sub(MAX_LINE / 2);
        let shown: String = text[line_start..line_end].trim_end().chars().skip(shown_from).take(MAX_LINE).collect();
        Self {
            line: before.matches('\n').count() + 1,
            column: column + 1,
            width: width.min(MAX_LINE - (column - shown_from)),
            text: if shown_from > 0 { format!("…{shown}") } else { shown },
        }
    }

    /// Returns the number of displayed characters before the marked part.
    fn indent(&self) -> usize {
        let column = self.column - 1;
        if column > MAX_LINE / 2 { 1 + MAX_LINE / 2 } else { column }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let place = match &self.place {
            // The scene was built by a program: there is no file.
            None if self.path.as_os_str().is_empty() => return f.write_str(&self.message),
            None => return write!(f, "{path}: {}", self.message),
            Some(place) => place,
        };
        writeln!(f, "{path}:{}:{}: {}", place.line, place.column, self.message)?;
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", place.text)?;
        // Tabs are kept, so that the marker is aligned.
        let under: String =
            place.text.chars().take(place.indent()).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        write!(f, "{margin} | {under}{}", "^".repeat(place.width))
    }
}

impl std::error::Error for SceneError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_the_line_and_marks_the_place() {
        let source = Source::new("a.toml", "first = 1\n\tyuong = \"1 MPa\" # é\nlast = 2");
        let start = source.text.find("yuong").unwrap();
        let error = source.error(Some(&(start..start + 5)), "unknown key");
        assert_eq!(error.to_string(), "a.toml:2:2: unknown key\n  |\n2 | \tyuong = \"1 MPa\" # é\n  | \t^^^^^");
        assert_eq!(source.error(None, "empty").to_string(), "a.toml: empty");
    }

    #[test]
    fn numbers_of_hundreds_of_digits_are_written_with_an_exponent() {
        let error = |number: f64| Source::none().error(None, format!("it is {number} m, expected 1.")).to_string();
        assert_eq!(error(-1e300), "it is -1e300 m, expected 1.");
        assert_eq!(error(1.5e-300), "it is 1.5e-300 m, expected 1.");
        assert_eq!(error(1234.5), "it is 1234.5 m, expected 1.");
    }

    #[test]
    fn errors_in_a_scene_that_a_program_built_cite_no_file() {
        let source = Source::generated("ball.obj", "models");
        assert_eq!(source.error(Some(&(0..4)), "it is too large").to_string(), "it is too large");
    }

    #[test]
    fn any_span_of_any_text_can_be_shown() {
        for text in ["", "\n", "é", "x = \"é\"\r\n", &"long ".repeat(100), &"é".repeat(300)] {
            let source = Source::new("a.toml", text);
            for start in 0..text.len() + 3 {
                for end in [start, start + 1, start + 500, 0] {
                    let shown = source.error(Some(&(start..end)), "m").to_string();
                    assert!(shown.lines().all(|line| line.chars().count() < 300), "{shown}");
                }
            }
        }
    }
}
