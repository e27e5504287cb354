//! What an experiment leaves behind: a page with tables, figures, data, and what was found.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use pliant::io::{Disk, Files};
use pliant_pictures::{Figure, Image};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Effort, Experiment, Machine};

/// Pixels for each unit of a figure.
const PIXELS: f64 = 1.5;

/// The file of a [`Record`].
pub const RECORD: &str = "page.json";

/// The user wants to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("stopped")]
pub struct Stopped;

/// Told what is being done now; breaks off if the user wants to stop.
pub type Watch<'a> = &'a dyn Fn(&str) -> ControlFlow<()>;

/// The page of an experiment while it runs. Files are written as they come, so that what was done before a failure is kept.
pub struct Page<'a> {
    folder: PathBuf,
    effort: Effort,
    watch: Watch<'a>,
    record: Record,
    written: BTreeSet<String>,
}

/// All that a page says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Of the experiment.
    pub name: String,
    /// How it was run.
    pub effort: Effort,
    /// Where and with what.
    pub machine: Machine,
    /// From the top.
    pub pieces: Vec<Piece>,
    /// What came out.
    pub findings: Vec<Finding>,
    /// How long it took, in s.
    pub seconds: f64,
    /// Whether it came to its end.
    pub is_finished: bool,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Piece {
    /// Markdown.
    Text(String),
    /// Rows under a heading, also as CSV in a file.
    Table {
        /// What it shows.
        caption: String,
        /// The CSV file.
        file: String,
        /// What the columns are, with units.
        heading: Vec<String>,
        /// As many cells as the heading has.
        rows: Vec<Vec<String>>,
    },
    /// A picture in a file.
    Picture {
        /// What it shows.
        caption: String,
        /// The picture: SVG if there is one, otherwise PNG.
        file: String,
        /// Its numbers as CSV, if it is a plot.
        data: Option<String>,
    },
}

/// Something that a paper reports, and whether it is so here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What the paper reports or theory says, or what is otherwise here.
    pub claim: String,
    /// What came out here, with numbers.
    pub measured: String,
    /// Whether that bears the claim out.
    pub holds: bool,
    /// Whether it depends on a clock, and so on the machine and on what else it does. Tests do not look at those.
    pub by_clock: bool,
    /// Whether the claim is not the paper's but against it.
    #[serde(default)]
    pub against: bool,
}

impl Finding {
    /// Whether it is here as the paper has it.
    pub fn agrees(&self) -> bool {
        self.holds && !self.against
    }
}

impl<'a> Page<'a> {
    /// An empty page in `folder`, which is made.
    pub fn new(experiment: &Experiment, effort: Effort, folder: &Path, watch: Watch<'a>) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let record = Record {
            name: experiment.name.into(),
            effort,
            machine: Machine::here(),
            pieces: Vec::new(),
            findings: Vec::new(),
            seconds: 0.0,
            is_finished: false,
        };
        Ok(Self { folder: folder.to_owned(), effort, watch, record, written: BTreeSet::new() })
    }

    /// Whether this is the short variant, for tests.
    pub fn is_fast(&self) -> bool {
        self.effort == Effort::Fast
    }

    /// `full`, or `fast` in the short variant.
    pub fn pick<T>(&self, full: T, fast: T) -> T {
        if self.is_fast() { fast } else { full }
    }

    /// Say what is done next; fails if the user wants to stop.
    pub fn now(&self, what: impl Display) -> Result<(), Stopped> {
        match (self.watch)(&what.to_string()) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stopped),
        }
    }

    /// A paragraph.
    pub fn text(&mut self, text: impl Into<String>) {
        self.record.pieces.push(Piece::Text(text.into()));
    }

    /// Rows under a heading, and the same in `NAME.csv`. Units belong into the heading.
    ///
    /// # Panics
    /// If a row has not as many cells as the heading.
    pub fn table(&mut self, name: &str, caption: &str, heading: &[&str], rows: Vec<Vec<String>>) -> anyhow::Result<()> {
        assert!(rows.iter().all(|row| row.len() == heading.len()), "{name}: rows as wide as the heading");
        let file = format!("{name}.csv");
        let lines = rows.iter().map(|row| csv_line(row.iter().map(String::as_str)));
        let text: String = std::iter::once(csv_line(heading.iter().copied())).chain(lines).collect();
        self.write(&file, text.as_bytes())?;
        let heading = heading.iter().map(|&cell| cell.to_owned()).collect();
        self.record.pieces.push(Piece::Table { caption: caption.into(), file, heading, rows });
        Ok(())
    }

    /// Plots, as `NAME.svg` and `NAME.png`, with their numbers in `NAME.csv`.
    pub fn figure(&mut self, name: &str, caption: &str, figure: impl Into<Figure>) -> anyhow::Result<()> {
        let figure = figure.into();
        self.figure_with_data(name, caption, &figure, &figure)
    }

    /// The same where not all numbers can be drawn as they are; `data` has all.
    pub fn figure_with_data(
        &mut self,
        name: &str,
        caption: &str,
        figure: &Figure,
        data: &Figure,
    ) -> anyhow::Result<()> {
        let numbers = series_csv(data);
        let [svg, data] = ["svg", "csv"].map(|extension| format!("{name}.{extension}"));
        self.write(&svg, figure.svg()?.as_bytes())?;
        self.write(&format!("{name}.png"), &figure.image(PIXELS)?.png()?)?;
        self.write(&data, numbers.as_bytes())?;
        self.record.pieces.push(Piece::Picture { caption: caption.into(), file: svg, data: Some(data) });
        Ok(())
    }

    /// A picture, as `NAME.png`.
    pub fn picture(&mut self, name: &str, caption: &str, image: &Image) -> anyhow::Result<()> {
        let file = format!("{name}.png");
        self.write(&file, &image.png()?)?;
        self.record.pieces.push(Piece::Picture { caption: caption.into(), file, data: None });
        Ok(())
    }

    /// Whether what a paper reports is so here, with the numbers that say so. The tests fail if it is not.
    pub fn finding(&mut self, claim: impl Into<String>, holds: bool, measured: impl Into<String>) {
        let (claim, measured) = (claim.into(), measured.into());
        self.record.findings.push(Finding { claim, measured, holds, by_clock: false, against: false });
    }

    /// The same for what depends on a clock, which tests do not look at.
    pub fn finding_by_clock(&mut self, claim: impl Into<String>, holds: bool, measured: impl Into<String>) {
        let (claim, measured) = (claim.into(), measured.into());
        self.record.findings.push(Finding { claim, measured, holds, by_clock: true, against: false });
    }

    /// How it is here, if that is not as the paper has it. The tests fail if it is otherwise: then there is something to find out.
    pub fn difference(&mut self, claim: impl Into<String>, holds: bool, measured: impl Into<String>) {
        let (claim, measured) = (claim.into(), measured.into());
        self.record.findings.push(Finding { claim, measured, holds, by_clock: false, against: true });
    }

    /// Write the page itself, and its record for the page of all experiments.
    pub fn finish(mut self, experiment: &Experiment, seconds: f64, error: Option<&str>) -> anyhow::Result<Record> {
        self.record.seconds = seconds;
        self.record.is_finished = error.is_none();
        if let Some(error) = error {
            self.text(format!("**Not finished**: {error}. What there was before is above."));
        }
        let text = format!("# {}\n\n{}", experiment.title, self.record.markdown(experiment, "", true));
        self.write("README.md", text.as_bytes())?;
        let record = serde_json::to_string_pretty(&self.record)?;
        self.write(RECORD, record.as_bytes())?;
        Ok(self.record)
    }

    fn write(&mut self, file: &str, bytes: &[u8]) -> anyhow::Result<()> {
        ensure!(self.written.insert(file.to_owned()), "two pieces of the page have the file {file}");
        Ok(Disk.write(&self.folder.join(file), bytes)?)
    }
}

impl Record {
    /// That of the page in a folder.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        Ok(serde_json::from_slice(&Disk.read(&folder.join(RECORD))?)?)
    }

    /// All files that tables and figures have.
    pub fn files(&self) -> Vec<String> {
        let of_piece = |piece: &Piece| match piece {
            Piece::Text(_) => vec![],
            Piece::Table { file, .. } => vec![file.clone()],
            Piece::Picture { file, data, .. } => {
                let image = file.strip_suffix(".svg").map(|name| format!("{name}.png"));
                [Some(file.clone()), image, data.clone()].into_iter().flatten().collect()
            }
        };
        self.pieces.iter().flat_map(of_piece).collect()
    }

    /// The page without its title; pictures are in the folder `at`, which ends in `/` or is empty, and data beside them if `with_data`.
    pub fn markdown(&self, experiment: &Experiment, at: &str, with_data: bool) -> String {
        let mut text = format!("{}, {}. {}\n", experiment.paper.citation, experiment.part, experiment.reports);
        for piece in &self.pieces {
            text += &piece.markdown(at, with_data);
        }
        text += "\n| what is reported, or follows from theory | here | |\n|---|---|---|\n";
        for finding in &self.findings {
            let verdict = if finding.agrees() { "agrees" } else { "**differs**" };
            let clock = if finding.by_clock { ", by the clock" } else { "" };
            text += &format!("| {} | {} | {verdict}{clock} |\n", cell(&finding.claim), cell(&finding.measured));
        }
        let Machine { cpu, cores, lanes, threads, version, build } = &self.machine;
        let short = if self.effort == Effort::Fast { " --fast" } else { "" };
        text += &format!(
            "\n`pliant reproduce {}{short}`: {:.0} s with Pliant {version} ({build}), {threads} threads on {cores} cores of {cpu}, {lanes} doubles a register.\n",
            self.name, self.seconds
        );
        text
    }
}

impl Piece {
    /// The file that it shows, if it shows one.
    pub fn picture(&self) -> Option<&String> {
        match self {
            Self::Picture { file, .. } => Some(file),
            Self::Text(_) | Self::Table { .. } => None,
        }
    }

    fn markdown(&self, at: &str, with_data: bool) -> String {
        let data = |file: &str| if with_data { format!(" ([data]({at}{file}))") } else { String::new() };
        match self {
            Self::Text(text) => format!("\n{text}\n"),
            Self::Table { caption, file, heading, rows } => {
                let line = |cells: &[String]| {
                    format!("| {} |\n", cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | "))
                };
                let starts_number =
                    |text: &String| text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '–');
                let is_number = |column: usize| rows.iter().all(|row| row.get(column).is_some_and(starts_number));
                let rule: String =
                    (0..heading.len()).map(|column| if is_number(column) { "---:|" } else { "---|" }).collect();
                let rows: String = rows.iter().map(|row| line(row)).collect();
                format!("\n{caption}{}\n\n{}|{rule}\n{rows}", data(file), line(heading))
            }
            Self::Picture { caption, file, data: numbers } => {
                let numbers = numbers.as_deref().map_or(String::new(), data);
                format!("\n![{caption}]({at}{file})\n\n*{caption}*{numbers}\n")
            }
        }
    }
}

/// Text in a cell of a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn csv_line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let quoted = |cell: &str| {
        let plain = !cell.contains([',', '"', '\n']);
        if plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// Every point of every curve, in the long form that pandas and R like.
fn series_csv(figure: &Figure) -> String {
    let mut text = csv_line(["panel", "series", "x", "y"].into_iter());
    for panel in &figure.panels {
        text += &format!("# x: {}; y: {}\n", panel.x_label, panel.y_label);
        let title = if panel.title.is_empty() { &panel.y_label } else { &panel.title };
        for series in &panel.series {
            for (x, y) in &series.points {
                text += &csv_line([title.as_str(), &series.name, &x.to_string(), &y.to_string()].into_iter());
            }
        }
    }
    text
}
