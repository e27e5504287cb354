//! Expected results of a scene: `[[expect]]`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Time;
use super::{Located, SceneError, Source, hint, renamed};
use pliant::simulation::Table;

/// An expected result of the scene, checked by `pliant run --check`.
///
/// ```toml
/// [[probe]]
/// name = "tip"
/// vertices = "end"
///
/// [[expect]]
/// quantity = "tip.y"
/// over = "min"
/// from = "0.5 s"
/// value = -0.25
/// tolerance = 0.01
/// because = "Euler-Bernoulli beam theory"
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Column of the table of probes, such as `total_energy`, `dissipated_energy` or `tip.y`.
    pub quantity: Located<String>,
    /// Statistic of the column.
    #[serde(default)]
    pub over: Over,
    /// Start of the time range; by default the start of the simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// End of the time range; by default the end of the simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Expected value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Located<f64>>,
    /// Absolute tolerance of `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Tolerance relative to `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Source or reason of the expected value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// Statistic of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Last value.
    #[default]
    Final,
    /// First value.
    First,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Mean over all rows.
    Mean,
    /// Maximum minus minimum.
    Range,
    /// Last value minus first value.
    Change,
    /// Last value divided by first value.
    Ratio,
    /// Mean time between upward crossings of the mean, in s.
    Period,
}

/// Result of checking an expectation.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Name of the checked quantity.
    pub what: String,
    /// Value found, or `None` if the column has no such value.
    pub found: Option<f64>,
    /// Expected value or bounds, as text.
    pub expected: String,
    /// Reason given in the scene, if any.
    pub because: Option<String>,
    /// True if the expectation is met.
    pub holds: bool,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.holds { "ok" } else { "FAILED" };
        let found = self.found.map_or("nothing".into(), |found| format!("{found:.9e}"));
        write!(f, "{mark}: {} is {found}, expected {}", self.what, self.expected)?;
        match &self.because {
            Some(because) if !self.holds => write!(f, " ({because})"),
            _ => Ok(()),
        }
    }
}

impl Located<Expect> {
    /// Checks that the expectation is complete and refers to one of these columns.
    pub fn check(&self, columns: &[String], source: &Source) -> Result<(), SceneError> {
        if !columns.contains(&self.quantity.value) {
            let known = || columns.iter().map(String::as_str);
            let hint = renamed::column(&self.quantity, known())
                .map_or_else(|| hint(&self.quantity, known()), |new| format!("; it is called `{new}` now."));
            let message =
                format!("there is no column `{}`{hint} There are {}", self.quantity.value, columns.join(", "));
            return Err(source.error(self.quantity.span.as_ref(), message));
        }
        let wrong = |message: &str| Err(source.error(self.span.as_ref(), message));
        let tolerances = usize::from(self.tolerance.is_some()) + usize::from(self.relative.is_some());
        match (&self.value.value, self.min.is_some() || self.max.is_some()) {
            (Some(_), _) if tolerances != 1 => wrong("with `value`, give one of `tolerance` and `relative`"),
            (None, _) if tolerances > 0 => wrong("a tolerance needs a `value`"),
            (None, false) => wrong("nothing is expected: give `value`, `min` or `max`"),
            _ => Ok(()),
        }
    }

    /// Checks the expectation against the recorded values.
    pub fn judge(&self, table: &Table) -> Verdict {
        let mut expected = Vec::new();
        let mut holds = true;
        let found = self.measure(table);
        let value = found.unwrap_or(f64::NAN);
        if let Some(target) = &self.value.value {
            let tolerance = self.tolerance.or(self.relative.map(|part| part * target.value.abs())).unwrap_or(0.0);
            expected.push(format!("{} ± {tolerance:.2e}", target.value));
            holds &= (value - target.value).abs() <= tolerance;
        }
        if let Some(min) = self.min {
            expected.push(format!("at least {min}"));
            holds &= value >= min;
        }
        if let Some(max) = self.max {
            expected.push(format!("at most {max}"));
            holds &= value <= max;
        }
        let over = serde_json::to_value(self.over).ok().and_then(|name| Some(name.as_str()?.to_owned()));
        let mut what = format!("{} {}", over.unwrap_or_default(), self.quantity.value);
        if let Some(from) = self.from {
            what += &format!(" from {} s", from.si);
        }
        if let Some(until) = self.until {
            what += &format!(" until {} s", until.si);
        }
        Verdict { what, found, expected: expected.join(", "), because: self.because.clone(), holds }
    }

    fn measure(&self, table: &Table) -> Option<f64> {
        let column = table.columns.iter().position(|name| *name == self.quantity.value)?;
        // The times of rows are rounded.
        let slack = 1e-9 * table.rows.last().map_or(0.0, |row| row[0].abs());
        let (from, until) =
            (self.from.map_or(0.0, |t| t.si - slack), self.until.map_or(f64::INFINITY, |t| t.si + slack));
        let rows = table.rows.iter().filter(|row| row[0] >= from && row[0] <= until);
        let rows: Vec<(f64, f64)> = rows.map(|row| (row[0], row[column])).collect();
        let (first, last) = (rows.first()?.1, rows.last()?.1);
        let values = || rows.iter().map(|row| row.1);
        let (min, max) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let mean = values().sum::<f64>() / rows.len() as f64;
        // A column with non-finite values never meets an expectation.
        values().all(f64::is_finite).then_some(())?;
        Some(match self.over {
            Over::Final => last,
            Over::First => first,
            Over::Min => min,
            Over::Max => max,
            Over::Mean => mean,
            Over::Range => max - min,
            Over::Change => last - first,
            Over::Ratio => last / first,
            Over::Period => period(&rows, mean)?,
        })
    }
}

/// Returns the mean time between upward crossings of a level.
fn period(rows: &[(f64, f64)], level: f64) -> Option<f64> {
    let rises: Vec<f64> = rows
        .windows(2)
        .filter(|pair| pair[0].1 < level && pair[1].1 >= level)
        .map(|pair| pair[0].0 + (level - pair[0].1) / (pair[1].1 - pair[0].1) * (pair[1].0 - pair[0].0))
        .collect();
    let count = rises.len().checked_sub(1).filter(|count| *count > 0)?;
    Some((rises[count] - rises[0]) / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str, rows: Vec<Vec<f64>>) -> Verdict {
        #[derive(Deserialize)]
        struct File {
            expect: Located<Expect>,
        }
        let file: File = toml::from_str(&format!("[expect]\nquantity = \"y\"\n{text}")).unwrap();
        let table = Table { columns: vec!["time".into(), "y".into()], rows };
        file.expect.check(&table.columns, &Source::new("a.toml", "")).unwrap();
        file.expect.judge(&table)
    }

    #[test]
    fn numbers_of_a_column_are_found_and_judged() {
        let rows = || (0..=100).map(|i| vec![0.1 * f64::from(i), (f64::from(i) * 0.2).sin() + 1.0]).collect::<Vec<_>>();
        let check = |text: &str, holds: bool| {
            let verdict = judge(text, rows());
            assert_eq!(verdict.holds, holds, "{text}: {verdict}");
        };
        check("value = 1.0\ntolerance = 0.0\nover = \"first\"", true);
        check("value = 1.9129\ntolerance = 1e-4", true);
        check("value = 1.9129\nrelative = 1e-6", false);
        check("max = 2.0\nmin = 1.9\nover = \"max\"", true);
        check("max = 1.9\nover = \"max\"", false);
        check("min = 0\nover = \"min\"", true);
        check("value = 3.1416\nrelative = 1e-3\nover = \"period\"", true);
        check("value = 1.8415\ntolerance = 1e-4\nuntil = 0.5", true);
        check("value = 1.8415\ntolerance = 1e-4\nfrom = 0.5\nover = \"first\"", true);
        check("value = 0.9129\ntolerance = 1e-4\nover = \"change\"", true);
        check("value = 1.9129\ntolerance = 1e-4\nover = \"ratio\"", true);
        check("min = 1.99\nmax = 2\nover = \"range\"", true);
    }

    #[test]
    fn nothing_and_what_is_not_finite_fail() {
        assert!(!judge("max = 1", vec![]).holds);
        assert!(!judge("max = 1", vec![vec![0.0, f64::NAN], vec![1.0, 0.0]]).holds);
        assert!(!judge("max = 1\nover = \"period\"", vec![vec![0.0, 0.0], vec![1.0, 0.0]]).holds);
    }
}
