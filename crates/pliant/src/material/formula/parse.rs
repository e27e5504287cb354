//! Parser from text to a program.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = ("-" | "+") signed | power
//! power   = primary [ "^" signed ]
//! primary = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```

use std::collections::HashMap;

use super::error::{FormulaError, TextPosition};
use super::program::{Builder, EqualParts, Operation, Program, Value};

/// Maximum length of a formula \[bytes\]. It is far more than any energy needs, and bounds time and memory for hostile
/// text.
pub(super) const MAX_BYTES: usize = 4096;

/// Maximum nesting depth, so that hostile text cannot overflow the stack.
const MAX_NESTED: usize = 100;

/// Kind of the variables of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variables {
    /// `I1`, `I2` and `J`.
    Invariants,
    /// `l1`, `l2` and `l3`.
    Stretches,
}

const VARIABLES: [&str; 7] = ["I1", "I2", "I3", "J", "l1", "l2", "l3"];
const PI: &str = "pi";

/// Function of a formula: name, number of arguments, and constructor. A function of one argument ignores the second.
type Function = (&'static str, usize, fn(&mut Builder, [Value; 2]) -> Value);

const FUNCTIONS: [Function; 8] = [
    ("ln", 1, |builder, [x, _]| builder.unary(Operation::Ln, x)),
    ("exp", 1, |builder, [x, _]| builder.unary(Operation::Exp, x)),
    ("sqrt", 1, |builder, [x, _]| builder.unary(Operation::Sqrt, x)),
    ("cbrt", 1, |builder, [x, _]| builder.unary(Operation::Cbrt, x)),
    ("abs", 1, |builder, [x, _]| builder.unary(Operation::Abs, x)),
    ("min", 2, |builder, [x, y]| builder.binary(Operation::Min, x, y)),
    ("max", 2, |builder, [x, y]| builder.binary(Operation::Max, x, y)),
    ("pow", 2, |builder, [x, y]| builder.power(x, y)),
];

/// Returns the program that computes `text` and the kind of its variables, if it has any.
pub(super) fn parse(text: &str, parameters: &[(&str, f64)]) -> Result<(Program, Option<Variables>), FormulaError> {
    match parse_with(EqualParts::Shared, text, parameters) {
        Err(FormulaError::TooComplex { .. }) => parse_with(EqualParts::Repeated, text, parameters),
        other => other,
    }
}

fn parse_with(
    equal_parts: EqualParts,
    text: &str,
    parameters: &[(&str, f64)],
) -> Result<(Program, Option<Variables>), FormulaError> {
    if text.len() > MAX_BYTES {
        return Err(FormulaError::TooLong { bytes: text.len(), limit: MAX_BYTES });
    }
    let mut parser = Parser {
        text,
        token: Token::End,
        start: 0,
        end: 0,
        depth: 0,
        parameters: checked(parameters)?,
        variables: None,
        builder: Builder::new(equal_parts),
    };
    parser.advance()?;
    let value = parser.sum()?;
    if parser.token != Token::End {
        return Err(parser.expected("an operator or the end"));
    }
    if let Some((name, _)) = parameters.iter().find(|(name, _)| !parser.parameters[name].used) {
        return Err(FormulaError::UnusedParameter { name: quoted(name) });
    }
    Ok((parser.builder.finish(value)?, parser.variables.map(|(_, variables)| variables)))
}

struct Parameter {
    value: f64,
    used: bool,
}

fn checked<'a>(parameters: &[(&'a str, f64)]) -> Result<HashMap<&'a str, Parameter>, FormulaError> {
    let mut known = HashMap::new();
    for &(name, value) in parameters {
        let taken = variable(name).is_some() || name == PI || FUNCTIONS.iter().any(|function| function.0 == name);
        if taken || name.is_empty() || name_length(name) < name.len() {
            return Err(FormulaError::ParameterName { name: quoted(name) });
        }
        if !value.is_finite() {
            return Err(FormulaError::ParameterValue { name: quoted(name), value });
        }
        if known.insert(name, Parameter { value, used: false }).is_some() {
            return Err(FormulaError::ParameterTwice { name: quoted(name) });
        }
    }
    Ok(known)
}

/// Returns the kind and index of the variable `name`. The index is 3 for `I3`, which is `J²`.
fn variable(name: &str) -> Option<(Variables, usize)> {
    Some(match name {
        "I1" => (Variables::Invariants, 0),
        "I2" => (Variables::Invariants, 1),
        "J" => (Variables::Invariants, 2),
        "I3" => (Variables::Invariants, 3),
        "l1" | "λ1" | "λ₁" => (Variables::Stretches, 0),
        "l2" | "λ2" | "λ₂" => (Variables::Stretches, 1),
        "l3" | "λ3" | "λ₃" => (Variables::Stretches, 2),
        _ => return None,
    })
}

/// Returns the length of the name at the start of `text` \[bytes\].
fn name_length(text: &str) -> usize {
    let superscript = |c| matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹');
    let inside = |c: char| c == '_' || (c.is_alphanumeric() && !superscript(c));
    match text.chars().next() {
        Some(first) if first == '_' || first.is_alphabetic() => text.find(|c| !inside(c)).unwrap_or(text.len()),
        _ => 0,
    }
}

/// Quotes a name for a message.
fn quoted(name: &str) -> String {
    format!("`{}`", shortened(name))
}

fn shortened(name: &str) -> String {
    const SHOWN: usize = 40;
    let escaped = name.chars().flat_map(char::escape_debug);
    let mut shown: String = escaped.take(SHOWN).collect();
    if name.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns `did you mean …?` if one of `known` is similar.
fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    /// Maximum length of names that are compared, as the cost is the product of the lengths.
    const COMPARED: usize = 40;
    let length = name.chars().count();
    let near = known
        .filter(|other| length.max(other.chars().count()) <= COMPARED)
        .map(|other| (distance(&name.to_lowercase(), &other.to_lowercase()), other))
        // At most half of the longer name differs.
        .filter(|(distance, other)| 2 * distance <= length.max(other.chars().count()));
    near.min().map(|(_, nearest)| format!("did you mean `{nearest}`?"))
}

/// Returns the Levenshtein distance: the number of insertions, deletions and substitutions that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(c != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Symbol(char),
    End,
}

struct Parser<'a, 'b> {
    text: &'a str,
    /// Current token and its position.
    token: Token<'a>,
    start: usize,
    end: usize,
    depth: usize,
    parameters: HashMap<&'b str, Parameter>,
    /// First variable and its kind.
    variables: Option<(&'a str, Variables)>,
    builder: Builder,
}

impl<'a> Parser<'a, '_> {
    fn text_position(&self, at: usize) -> TextPosition {
        TextPosition::new(self.text, at)
    }

    /// Returns the error that something else was expected here.
    fn expected(&self, expected: &'static str) -> FormulaError {
        let found = match self.token {
            Token::End => "the end".into(),
            Token::Number(_) | Token::Name(_) => quoted(&self.text[self.start..self.end]),
            Token::Symbol(c) => format!("`{}`", c.escape_debug()),
        };
        FormulaError::Syntax { expected, found, text_position: self.text_position(self.start) }
    }

    /// Advances to the next token.
    fn advance(&mut self) -> Result<(), FormulaError> {
        let rest = self.text[self.end..].trim_start();
        self.start = self.text.len() - rest.len();
        let name = name_length(rest);
        let number = number_length(rest);
        let length;
        (self.token, length) = if name > 0 {
            (Token::Name(&rest[..name]), name)
        } else if number > 0 {
            let value = rest[..number].parse().unwrap_or(f64::NAN);
            (Token::Number(value), number)
        } else if let Some(c) = rest.chars().next() {
            // Symbols as printed in books, mapped to those typed.
            let typed = match c {
                '−' => '-',
                '·' | '×' => '*',
                other => other,
            };
            (Token::Symbol(typed), c.len_utf8())
        } else {
            (Token::End, 0)
        };
        self.end = self.start + length;
        match self.token {
            Token::Number(value) if !value.is_finite() => Err(self.expected("a number that is not too large")),
            _ => Ok(()),
        }
    }

    /// Skips `symbol` if it is next.
    fn skip(&mut self, symbol: char) -> Result<bool, FormulaError> {
        let next = self.token == Token::Symbol(symbol);
        if next {
            self.advance()?;
        }
        Ok(next)
    }

    /// Returns `value`, built at byte `at`, unless it is a constant that is not finite.
    fn finite(&self, value: Value, at: usize) -> Result<Value, FormulaError> {
        match self.builder.constant_of(value) {
            Some(value) if !value.is_finite() => {
                Err(FormulaError::Constant { value, text_position: self.text_position(at) })
            }
            _ => Ok(value),
        }
    }

    fn sum(&mut self) -> Result<Value, FormulaError> {
        let mut value = self.product()?;
        loop {
            let at = self.start;
            let operation = match self.token {
                Token::Symbol('+') => Operation::Add,
                Token::Symbol('-') => Operation::Subtract,
                _ => return Ok(value),
            };
            self.advance()?;
            let other = self.product()?;
            let built = self.builder.binary(operation, value, other);
            value = self.finite(built, at)?;
        }
    }

    fn product(&mut self) -> Result<Value, FormulaError> {
        let mut value = self.signed()?;
        loop {
            let at = self.start;
            let operation = match self.token {
                Token::Symbol('*') => Operation::Multiply,
                Token::Symbol('/') => Operation::Divide,
                _ => return Ok(value),
            };
            self.advance()?;
            let other = self.signed()?;
            let built = self.builder.binary(operation, value, other);
            value = self.finite(built, at)?;
        }
    }

    /// Parses a signed power. All recursion passes through here.
    fn signed(&mut self) -> Result<Value, FormulaError> {
        if self.depth == MAX_NESTED {
            return Err(FormulaError::TooDeep { limit: MAX_NESTED, text_position: self.text_position(self.start) });
        }
        self.depth += 1;
        let value = if self.skip('-')? {
            let value = self.signed()?;
            self.builder.scaled(value, -1.0)
        } else if self.skip('+')? {
            self.signed()?
        } else {
            self.power()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<Value, FormulaError> {
        let base = self.primary()?;
        let at = self.start;
        if !self.skip('^')? {
            return Ok(base);
        }
        let exponent = self.signed()?;
        let built = self.builder.power(base, exponent);
        self.finite(built, at)
    }

    fn primary(&mut self) -> Result<Value, FormulaError> {
        let at = self.start;
        match self.token {
            Token::Number(value) => {
                self.advance()?;
                Ok(self.builder.constant(value))
            }
            Token::Name(name) => {
                self.advance()?;
                if self.token == Token::Symbol('(') && !self.parameters.contains_key(name) && variable(name).is_none() {
                    self.call(name, at)
                } else {
                    self.name(name, at)
                }
            }
            Token::Symbol('(') => {
                self.advance()?;
                let value = self.sum()?;
                if self.skip(')')? { Ok(value) } else { Err(self.expected("an operator or `)`")) }
            }
            _ => Err(self.expected("a number, a name or `(`")),
        }
    }

    fn name(&mut self, name: &'a str, at: usize) -> Result<Value, FormulaError> {
        if let Some(parameter) = self.parameters.get_mut(name) {
            parameter.used = true;
            return Ok(self.builder.constant(parameter.value));
        }
        if name == PI {
            return Ok(self.builder.constant(std::f64::consts::PI));
        }
        let Some((kind, number)) = variable(name) else {
            if FUNCTIONS.iter().any(|function| function.0 == name) {
                return Err(self.expected("`(` after the name of a function"));
            }
            return Err(self.unknown_name(name, at));
        };
        let &mut (first, first_kind) = self.variables.get_or_insert((name, kind));
        if kind != first_kind {
            let (first, second) = (first.into(), name.into());
            return Err(FormulaError::Mixed { first, second, text_position: self.text_position(at) });
        }
        if number < 3 {
            return Ok(Builder::variable(number));
        }
        Ok(self.builder.unary(Operation::Square, Builder::variable(2)))
    }

    fn unknown_name(&self, name: &str, at: usize) -> FormulaError {
        // Sorted, because the order of the table is random.
        let mut parameters: Vec<&str> = self.parameters.keys().copied().collect();
        parameters.sort_unstable();
        let known = VARIABLES.into_iter().chain([PI]).chain(parameters);
        let hint = did_you_mean(name, known).unwrap_or_else(|| "give it a value as a parameter".into());
        FormulaError::UnknownName { name: shortened(name), hint, text_position: self.text_position(at) }
    }

    fn call(&mut self, name: &str, at: usize) -> Result<Value, FormulaError> {
        let Some((function, count, build)) = FUNCTIONS.into_iter().find(|function| function.0 == name) else {
            // The two names of the logarithm are not similar.
            let meant = if name == "log" { "ln" } else { name };
            let names = FUNCTIONS.map(|function| function.0);
            let hint =
                did_you_mean(meant, names.into_iter()).unwrap_or_else(|| format!("there are {}", names.join(", ")));
            return Err(FormulaError::UnknownFunction {
                name: shortened(name),
                hint,
                text_position: self.text_position(at),
            });
        };
        let mut arguments = [Builder::variable(0); 2];
        let mut found = 0;
        loop {
            // The opening parenthesis or a comma.
            self.advance()?;
            let value = self.sum()?;
            if let Some(argument) = arguments.get_mut(found) {
                *argument = value;
            }
            found += 1;
            if self.token != Token::Symbol(',') {
                break;
            }
        }
        if !self.skip(')')? {
            return Err(self.expected("an operator, `,` or `)`"));
        }
        if found != count {
            return Err(FormulaError::Arguments {
                function,
                expected: count,
                found,
                text_position: self.text_position(at),
            });
        }
        let built = build(&mut self.builder, arguments);
        self.finite(built, at)
    }
}

/// Returns the length of the number at the start of `text` \[bytes\], such as `2`, `0.5`, `.5` or `1e-6`.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    let mut length = whole;
    if text[whole..].starts_with('.') {
        let decimals = digits(whole + 1);
        if whole + decimals == 0 {
            return 0;
        }
        length += 1 + decimals;
    }
    if length > 0 && text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
