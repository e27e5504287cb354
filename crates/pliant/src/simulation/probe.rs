//! Probes: quantities recorded at each step.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::contact::PointContact;
use crate::files::{Files, ReadError};
use crate::force::StressState;
use crate::integrator::StepInfo;
use crate::math::Vec3;
use crate::model::{Model, ModelBody, Observation};
use crate::system::State;

use super::EnergyBalance;

/// Columns that every scene records, in SI units.
///
/// Solver counters are since the previous row. Quantities of [`EnergyBalance`] are since the start, and NaN without an
/// energy balance.
pub const COLUMNS: &[&str] = &[
    "time",
    "kinetic_energy",
    "elastic_energy",
    "gravitational_energy",
    "other_energy",
    "total_energy",
    "external_work",
    "dissipated_energy",
    "volume",
    "center_of_mass.x",
    "center_of_mass.y",
    "center_of_mass.z",
    "momentum.x",
    "momentum.y",
    "momentum.z",
    "angular_momentum.x",
    "angular_momentum.y",
    "angular_momentum.z",
    "newton_iterations",
    "linear_iterations",
    "factorizations",
];

/// Quantity recorded in addition to [`COLUMNS`].
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Prefix of the column names.
    pub name: String,
    /// Measured quantity.
    pub what: Quantities,
}

/// Quantity that a probe measures, on nodes by their indices in the model, or on bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantities {
    /// Mean position \[m\].
    Position(Vec<u32>),
    /// Mean displacement \[m\].
    Displacement(Vec<u32>),
    /// Mean velocity \[m/s\].
    Velocity(Vec<u32>),
    /// Total reaction force of fixed vertices \[N\].
    Reaction(Vec<u32>),
    /// Volume \[m³\].
    Volume(Vec<usize>),
    /// Minimum, mean and maximum volume of elements relative to the rest volume.
    VolumeRatio(Vec<usize>),
    /// Maximum of the von Mises stress recovered at vertices \[Pa\].
    VonMises(Vec<usize>),
    /// Contact force on a body or collider by another, or by all others \[N\]. As for all quantities of contact, bodies
    /// are numbers of the [`ContactEnergy`](crate::contact::ContactEnergy), and values are NaN without barrier contact.
    ContactForce {
        /// Body that the force acts on.
        on: usize,
        /// Body that exerts it.
        by: Option<usize>,
    },
    /// Number of contacts.
    ContactCount(ContactBodies),
    /// Smallest gap \[m\]; infinite if none is within range.
    ContactGap(ContactBodies),
    /// Power that friction of all contacts dissipates \[W\].
    FrictionPower,
}

/// Contacts that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContactBodies {
    /// All contacts.
    #[default]
    All,
    /// Contacts of a body or collider.
    Of(usize),
    /// Contacts between two bodies or colliders, or of one with itself.
    Between(usize, usize),
}

impl ContactBodies {
    fn include(&self, contact: &PointContact) -> bool {
        match *self {
            Self::All => true,
            Self::Of(body) => contact.bodies.contains(&body),
            Self::Between(a, b) => contact.bodies == [a.min(b), a.max(b)],
        }
    }
}

impl Probe {
    fn columns(&self) -> Vec<String> {
        let with = |ends: &[&str]| ends.iter().map(|end| format!("{}.{end}", self.name)).collect();
        match self.what {
            Quantities::Volume(_)
            | Quantities::VonMises(_)
            | Quantities::ContactCount(_)
            | Quantities::ContactGap(_)
            | Quantities::FrictionPower => vec![self.name.clone()],
            Quantities::VolumeRatio(_) => with(&["min", "mean", "max"]),
            _ => with(&["x", "y", "z"]),
        }
    }

    fn measure(&self, model: &Model, state: &State, row: &mut Vec<f64>) {
        let mean = |vertices: &[u32], of: &dyn Fn(usize) -> Vec3| {
            vertices.iter().map(|&vertex| of(vertex as usize)).sum::<Vec3>() / vertices.len() as f64
        };
        let at = |numbers: &[f64], vertex: usize| Vec3::from_slice(&numbers[3 * vertex..]);
        let states = |model: &Model, bodies: &[usize]| -> Vec<StressState> {
            bodies.iter().filter_map(|&body| model.bodies()[body].element_states(&state.q)).flatten().collect()
        };
        match &self.what {
            Quantities::Position(vertices) => {
                let rest = model.rest();
                row.extend(mean(vertices, &|vertex| rest[vertex] + at(&state.q, vertex)).to_array());
            }
            Quantities::Displacement(vertices) => row.extend(mean(vertices, &|vertex| at(&state.q, vertex)).to_array()),
            Quantities::Velocity(vertices) => row.extend(mean(vertices, &|vertex| at(&state.v, vertex)).to_array()),
            Quantities::Reaction(vertices) => {
                let reactions = model.reactions(state);
                row.extend(vertices.iter().map(|&vertex| at(&reactions, vertex as usize)).sum::<Vec3>().to_array());
            }
            Quantities::Volume(bodies) => {
                row.push(bodies.iter().map(|&body| ModelBody::volume(&model.bodies()[body], &state.q)).sum());
            }
            Quantities::VolumeRatio(bodies) => {
                let ratios: Vec<f64> = states(model, bodies).iter().map(|state| state.volume_ratio).collect();
                row.push(ratios.iter().copied().fold(f64::INFINITY, f64::min));
                row.push(ratios.iter().sum::<f64>() / ratios.len() as f64);
                row.push(ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            }
            Quantities::VonMises(bodies) => {
                let nodal = bodies.iter().filter_map(|&body| model.bodies()[body].nodal_states(&state.q));
                let states = nodal.flat_map(|nodal| nodal.dominant());
                row.push(states.map(|state| state.von_mises()).fold(0.0, f64::max));
            }
            Quantities::ContactForce { on, by } => {
                let force = model.contact_report(state).map_or(Vec3::NAN, |report| {
                    let acting = |([a, b], force): &([usize; 2], Vec3)| match (*a == *on, *b == *on) {
                        (true, _) if by.is_none_or(|by| by == *b) => Some(*force),
                        (_, true) if by.is_none_or(|by| by == *a) => Some(-*force),
                        _ => None,
                    };
                    report.forces.iter().filter_map(acting).sum()
                });
                row.extend(force.to_array());
            }
            Quantities::ContactCount(bodies) => {
                let count = |all: Vec<PointContact>| all.iter().filter(|contact| bodies.include(contact)).count();
                row.push(model.point_contacts(state).map_or(f64::NAN, |all| count(all) as f64));
            }
            Quantities::ContactGap(bodies) => {
                let gap = |all: Vec<PointContact>| {
                    let own = all.iter().filter(|contact| bodies.include(contact));
                    own.map(|contact| contact.gap).fold(f64::INFINITY, f64::min)
                };
                row.push(model.point_contacts(state).map_or(f64::NAN, gap));
            }
            Quantities::FrictionPower => {
                row.push(model.contact_report(state).map_or(f64::NAN, |report| report.friction_power));
            }
        }
    }
}

/// Recorder of table rows.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    probes: Vec<Probe>,
    work: [u64; 3],
}

impl Recorder {
    /// Creates a recorder of [`COLUMNS`] and of these probes.
    pub fn new(probes: Vec<Probe>) -> Self {
        Self { probes, work: [0; 3] }
    }

    /// Returns the column names.
    pub fn columns(&self) -> Vec<String> {
        let own = COLUMNS.iter().map(|&name| name.to_owned());
        own.chain(self.probes.iter().flat_map(Probe::columns)).collect()
    }

    /// Adds the solver counters of a step.
    pub fn count(&mut self, info: &StepInfo) {
        let work = [info.newton_iterations, info.linear_iterations, info.factorizations];
        self.work.iter_mut().zip(work).for_each(|(sum, own)| *sum += own as u64);
    }

    /// Returns the solver counters since the last row, for a [`Checkpoint`](super::Checkpoint).
    pub fn work(&self) -> [u64; 3] {
        self.work
    }

    /// Sets the solver counters, to resume from a checkpoint.
    pub fn set_work(&mut self, work: [u64; 3]) {
        self.work = work;
    }

    /// Returns a row for the current state, given the observables of the model.
    pub fn record(
        &mut self,
        seen: &Observation,
        balance: Option<&EnergyBalance>,
        model: &Model,
        state: &State,
    ) -> Vec<f64> {
        let mut row = vec![
            seen.time,
            seen.kinetic_energy,
            seen.elastic_energy,
            seen.gravitational_energy,
            seen.other_energy,
            seen.total_energy(),
            balance.map_or(f64::NAN, EnergyBalance::external_work),
            balance.map_or(f64::NAN, EnergyBalance::dissipated),
            seen.volume,
        ];
        for vector in [seen.center_of_mass, seen.momentum, seen.angular_momentum] {
            row.extend(vector.to_array());
        }
        row.extend(std::mem::take(&mut self.work).map(|count| count as f64));
        for probe in &self.probes {
            probe.measure(model, state, &mut row);
        }
        row
    }
}

/// Table of recorded values, with the time in its first column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows of values.
    pub rows: Vec<Vec<f64>>,
}

/// Error of reading a table.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum TableError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{}, line {line}: expected {expected}, found {found}", path.display())]
    Line { path: PathBuf, line: usize, expected: String, found: String },
}

impl Table {
    /// Returns a line of CSV, from which the values are read back exactly.
    pub fn line(row: &[f64]) -> String {
        let numbers: Vec<String> = row.iter().map(|number| format!("{number:?}")).collect();
        numbers.join(",") + "\n"
    }

    /// Reads a table in CSV. A last line without a line end may be incomplete and is ignored.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, TableError> {
        let bytes = files.read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let wrong = |line: usize, expected: String, found: &str| TableError::Line {
            path: path.into(),
            line: line + 1,
            expected,
            found: crate::files::quote(found.as_bytes()),
        };
        let mut lines = whole.lines().enumerate();
        let columns: Vec<String> = match lines.next() {
            Some((_, line)) if line.starts_with("time") => line.split(',').map(str::to_owned).collect(),
            other => {
                return Err(wrong(0, "column names, `time` first".into(), other.map_or("", |line| line.1)));
            }
        };
        let mut rows = Vec::new();
        for (number, line) in lines {
            let row = line.split(',').map(|word| word.parse().map_err(|_| wrong(number, "a number".into(), word)));
            let row = row.collect::<Result<Vec<f64>, _>>()?;
            if row.len() != columns.len() {
                return Err(wrong(number, format!("{} numbers", columns.len()), &row.len().to_string()));
            }
            rows.push(row);
        }
        Ok(Self { columns, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    #[test]
    fn a_table_survives_and_what_is_not_one_is_named() {
        let read = |text: &str| Table::read(&Memory::with("t.csv", text), Path::new("t.csv"));
        let row = [0.1 + 0.2, -1e-300, f64::NAN];
        let table = read(&format!("time,a,b\n{}1,2", Table::line(&row))).unwrap();
        assert_eq!(table.columns, ["time", "a", "b"]);
        assert_eq!(table.rows.len(), 1, "the last line has no end");
        assert_eq!(table.rows[0][..2], row[..2]);
        assert!(table.rows[0][2].is_nan());
        let error = |text| read(text).unwrap_err().to_string();
        assert!(error("").starts_with("t.csv, line 1: expected column names"));
        assert!(error("time,a\n1\n").contains("line 2: expected 2 numbers"));
        assert!(error("time,a\n1,x\n").contains("line 2: expected a number, found `x`"));
    }
}
