//! Values of a scene with their locations, before they get types.
//!
//! A file in TOML and the nested tables of a program become the same [`Node`], in which other files and default values
//! are merged. Its deserializer gives errors and [`Located`](super::Located) values their locations.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::ops::Range;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
    value,
};
use serde::forward_to_deserialize_any;
use serde_json::Value as Json;
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Byte range in the text of a [`Source`](super::Source).
pub(super) type Span = Range<usize>;

/// Value with its location.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub span: Span,
    pub content: Content,
}

/// Content of a [`Node`].
#[derive(Debug, Clone)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// Date or time of TOML, which no value of a scene is.
    Datetime,
    /// Number that does not fit, with the reason.
    Overflow(&'static str),
    List(Vec<Node>),
    Table(Table),
}

/// Keys with their values.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub entries: BTreeMap<String, Entry>,
    /// Keys that were valid here, but have been processed and removed.
    pub processed: &'static [&'static str],
    /// True if missing keys are no error.
    pub is_partial: bool,
}

/// Value of a table with the location of its key.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub key: Span,
    pub node: Node,
}

impl Table {
    pub fn of(entries: impl IntoIterator<Item = (String, Entry)>) -> Self {
        Self { entries: entries.into_iter().collect(), ..Self::default() }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.get(key).map(|entry| &entry.node)
    }

    pub fn remove(&mut self, key: &str) -> Option<Node> {
        self.entries.remove(key).map(|entry| entry.node)
    }
}

impl Node {
    /// Parses TOML. Locations are relative to a text in which this one starts at `start`.
    pub fn of_toml(text: &str, start: usize) -> Result<Self, NodeError> {
        let root = DeTable::parse(text).map_err(|error| NodeError {
            span: error.span().map(|span| shifted(&span, start)),
            ..NodeError::new(error.message())
        })?;
        let span = shifted(&root.span(), start);
        Ok(Self { span, content: Content::Table(table_of_toml(root.into_inner(), start)) })
    }

    /// Converts the values of a program. Each location is the range of the key in `keys`, such as `object[0].mesh`.
    pub fn of_json(value: Json, key: &str, keys: &mut String) -> Self {
        let start = keys.len();
        keys.push_str(key);
        let span = start..keys.len();
        let content = match value {
            Json::Null => Content::Null,
            Json::Bool(value) => Content::Bool(value),
            Json::Number(number) => {
                let integer = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
                integer.map_or(Content::Float(number.as_f64().unwrap_or(f64::NAN)), Content::Integer)
            }
            Json::String(text) => Content::Text(text),
            Json::Array(list) => {
                let item = |(n, value)| Self::of_json(value, &format!("{key}[{n}]"), keys);
                Content::List(list.into_iter().enumerate().map(item).collect())
            }
            // An error of a key names the table.
            Json::Object(table) => Content::Table(Table::of(table.into_iter().map(|(name, value)| {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                let node = Self::of_json(value, &key, keys);
                (name, Entry { key: span.clone(), node })
            }))),
        };
        Self { span, content }
    }

    /// Returns the table, or an error if the value is something else.
    pub fn table(&self) -> Result<&Table, NodeError> {
        match &self.content {
            Content::Table(table) => Ok(table),
            _ => Err(self.unexpected("a table")),
        }
    }

    /// Returns the table, or an error if the value is something else.
    pub fn table_mut(&mut self) -> Result<&mut Table, NodeError> {
        if !matches!(self.content, Content::Table(_)) {
            return Err(self.unexpected("a table"));
        }
        match &mut self.content {
            Content::Table(table) => Ok(table),
            _ => unreachable!("checked above"),
        }
    }

    /// Returns the items of the list; none if the value is something else.
    pub fn items(&self) -> &[Self] {
        if let Content::List(list) = &self.content { list } else { &[] }
    }

    /// Returns the error of a value of the wrong type.
    fn unexpected(&self, expected: &str) -> NodeError {
        let error: NodeError = de::Error::invalid_type(self.kind(), &expected);
        error.at(&self.span)
    }

    fn kind(&self) -> Unexpected<'_> {
        match &self.content {
            Content::Null => Unexpected::Unit,
            Content::Bool(value) => Unexpected::Bool(*value),
            Content::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => Unexpected::Signed(value),
                (_, Ok(value)) => Unexpected::Unsigned(value),
                _ => Unexpected::Other("integer"),
            },
            Content::Float(value) => Unexpected::Float(*value),
            Content::Text(text) => Unexpected::Str(text),
            Content::Datetime => Unexpected::Other("date or time"),
            Content::Overflow(_) => Unexpected::Other("number out of range"),
            Content::List(_) => Unexpected::Seq,
            Content::Table(_) => Unexpected::Map,
        }
    }

    /// Returns the memory that a copy takes, in units of about a byte.
    pub fn size(&self) -> usize {
        size_of::<Self>()
            + match &self.content {
                Content::Text(text) => text.len(),
                Content::List(list) => list.iter().map(Self::size).sum(),
                Content::Table(table) => {
                    table.entries.iter().map(|(key, entry)| key.len() + entry.node.size()).sum::<usize>()
                }
                _ => 0,
            }
    }
}

fn shifted(span: &Span, by: usize) -> Span {
    span.start + by..span.end + by
}

fn table_of_toml(table: DeTable<'_>, start: usize) -> Table {
    Table::of(table.into_iter().map(|(key, value)| {
        let span = shifted(&key.span(), start);
        (key.into_inner().into_owned(), Entry { key: span, node: of_toml(value, start) })
    }))
}

fn of_toml(value: Spanned<DeValue<'_>>, start: usize) -> Node {
    let span = shifted(&value.span(), start);
    let content = match value.into_inner() {
        DeValue::String(text) => Content::Text(text.into_owned()),
        DeValue::Integer(digits) => i128::from_str_radix(digits.as_str(), digits.radix())
            .map_or(Content::Overflow("integer number overflowed"), Content::Integer),
        DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
            Ok(value) if !value.is_infinite() || digits.as_str().contains("inf") => Content::Float(value),
            _ => Content::Overflow("floating-point number overflowed"),
        },
        DeValue::Boolean(value) => Content::Bool(value),
        DeValue::Datetime(_) => Content::Datetime,
        DeValue::Array(list) => Content::List(list.into_iter().map(|item| of_toml(item, start)).collect()),
        DeValue::Table(table) => Content::Table(table_of_toml(table, start)),
    };
    Node { span, content }
}

/// Error of parsing a value, with its location if it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeError {
    pub span: Option<Span>,
    pub message: String,
    /// True if a key is missing in a table without a location yet.
    is_missing: bool,
    /// True if a key is missing in a partial table, which is no error.
    pub is_tolerated: bool,
}

/// Separates the location from the message where an error passes through a trait object, which keeps only its text.
const SEPARATOR: char = '\u{1f}';

impl NodeError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { span: None, message: message.into(), is_missing: false, is_tolerated: false }
    }

    /// Returns the error with a location, unless it has one.
    pub fn at(mut self, span: &Span) -> Self {
        self.is_missing = false;
        self.span.get_or_insert_with(|| span.clone());
        self
    }

    /// Lists more keys in the message for an unknown one.
    fn with_known(mut self, keys: &[&str]) -> Self {
        if self.span.is_none() && self.message.starts_with("unknown field ") {
            self.message.extend(keys.iter().map(|key| format!(", `{key}`")));
        }
        self
    }
}

impl de::Error for NodeError {
    fn custom<T: Display>(message: T) -> Self {
        let text = message.to_string();
        let located = text.split_once(SEPARATOR).and_then(|(span, message)| {
            let (start, end) = span.split_once("..")?;
            Some(Self { span: Some(start.parse().ok()?..end.parse().ok()?), ..Self::new(message) })
        });
        located.unwrap_or_else(|| Self::new(text))
    }

    fn missing_field(field: &'static str) -> Self {
        Self { is_missing: true, ..Self::new(format!("missing field `{field}`")) }
    }
}

impl Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(span) = &self.span {
            write!(f, "{}..{}{SEPARATOR}", span.start, span.end)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for NodeError {}

/// Entries of a table that are being read.
struct Entries<'de> {
    rest: std::collections::btree_map::Iter<'de, String, Entry>,
    value: Option<&'de Node>,
    processed: &'static [&'static str],
}

impl<'de> Entries<'de> {
    fn of(table: &'de Table) -> Self {
        Self { rest: table.entries.iter(), value: None, processed: table.processed }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = NodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, NodeError> {
        let Some((key, entry)) = self.rest.next() else { return Ok(None) };
        self.value = Some(&entry.node);
        let read = seed.deserialize(BorrowedStrDeserializer::new(key));
        read.map(Some).map_err(|error: NodeError| error.with_known(self.processed).at(&entry.key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, NodeError> {
        let node = self.value.take().ok_or_else(|| NodeError::new("a value without a key"))?;
        seed.deserialize(node).map_err(|error| error.at(&node.span))
    }
}

/// Items of a list that are being read. Those that the visitor leaves are reported after parsing.
struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = NodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, NodeError> {
        let Some(node) = self.0.next() else { return Ok(None) };
        seed.deserialize(node).map(Some).map_err(|error| error.at(&node.span))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<'de> IntoDeserializer<'de, NodeError> for &'de Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl Node {
    /// Returns the error of reading this value with its location.
    fn located(&self, error: NodeError) -> NodeError {
        if let Content::Table(table) = &self.content
            && table.is_partial
            && error.is_missing
        {
            return NodeError { is_tolerated: true, ..error.at(&self.span) };
        }
        error.at(&self.span)
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = NodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        let visited = match &self.content {
            Content::Null => visitor.visit_unit(),
            Content::Bool(value) => visitor.visit_bool(*value),
            Content::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_i64(value),
                (_, Ok(value)) => visitor.visit_u64(value),
                _ => visitor.visit_i128(*value),
            },
            Content::Float(value) => visitor.visit_f64(*value),
            Content::Text(text) => visitor.visit_borrowed_str(text),
            Content::Datetime => Err(de::Error::invalid_type(self.kind(), &visitor)),
            Content::Overflow(why) => Err(NodeError::new(*why)),
            Content::List(list) => visitor.visit_seq(Items(list.iter())),
            Content::Table(table) => visitor.visit_map(Entries::of(table)),
        };
        visited.map_err(|error| self.located(error))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NodeError> {
        if matches!(self.content, Content::Null) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, NodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        if !is_spanned(name) {
            return self.deserialize_any(visitor);
        }
        visitor.visit_map(SpannedDeserializer::new(self, self.span.clone()))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NodeError> {
        let visited = match &self.content {
            Content::Text(text) => {
                let text: value::StrDeserializer<'_, NodeError> = text.as_str().into_deserializer();
                visitor.visit_enum(text)
            }
            Content::Table(table) if table.entries.len() == 1 => {
                MapAccessDeserializer::new(Entries::of(table)).deserialize_enum(name, variants, visitor)
            }
            Content::Table(table) => Err(NodeError::new(format!("{} keys, expected exactly one", table.entries.len()))),
            _ => Err(de::Error::invalid_type(self.kind(), &"text or a table with one key")),
        };
        visited.map_err(|error: NodeError| self.located(error))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// Parses a value of a scene.
pub(super) fn parse<'de, T: Deserialize<'de>>(node: &'de Node) -> Result<T, NodeError> {
    T::deserialize(node).map_err(|error| node.located(error))
}
