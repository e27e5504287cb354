//! Output of an experiment: a page with tables, figures, data and findings.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use pliant::files::{Disk, Files};
use pliant_pictures::{Figure, Image};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Effort, Experiment, Machine};

/// Pixels per unit of a figure.
const PIXELS: f64 = 1.5;

/// File name of a [`Record`].
pub const RECORD: &str = "page.json";

/// Error of an experiment that the user stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("stopped")]
pub struct Stopped;

/// Callback for progress messages, which breaks off if the user wants to stop.
pub type Watch<'a> = &'a dyn Fn(&str) -> ControlFlow<()>;

/// Page of a running experiment. Files are written as they are created, so that partial results survive a failure.
pub struct Page<'a> {
    folder: PathBuf,
    effort: Effort,
    watch: Watch<'a>,
    record: Record,
    written: BTreeSet<String>,
}

/// Content of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the experiment.
    pub name: String,
    /// Extent of the run.
    pub effort: Effort,
    /// Machine and build.
    pub machine: Machine,
    /// Pieces of the page, from the top.
    pub pieces: Vec<Piece>,
    /// Findings.
    pub findings: Vec<Finding>,
    /// Wall time \[s\].
    pub seconds: f64,
    /// True if the run was completed.
    pub is_finished: bool,
}

/// Piece of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Piece {
    /// Paragraph in Markdown.
    Text(String),
    /// Table, which is also written as CSV.
    Table {
        /// Caption.
        caption: String,
        /// Name of the CSV file.
        file: String,
        /// Column headings with units.
        heading: Vec<String>,
        /// Rows with one cell per column.
        rows: Vec<Vec<String>>,
    },
    /// Picture in a file.
    Picture {
        /// Caption.
        caption: String,
        /// Name of the picture file: SVG if available, otherwise PNG.
        file: String,
        /// Name of the CSV file with the data of a plot.
        data: Option<String>,
    },
}

/// Claim of a paper, with the result obtained here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Claim of the paper or of theory, or the result here if it differs.
    pub claim: String,
    /// Result obtained here, with numbers.
    pub measured: String,
    /// True if the result supports the claim.
    pub holds: bool,
    /// True if the result is a timing, which depends on the machine and its load. Tests ignore timings.
    pub is_timing: bool,
    /// True if the claim contradicts the paper.
    #[serde(default)]
    pub contradicts_paper: bool,
}

impl Finding {
    /// Returns true if the result agrees with the paper.
    pub fn agrees(&self) -> bool {
        self.holds && !self.contradicts_paper
    }
}

impl<'a> Page<'a> {
    /// Creates an empty page in `folder`, which is created if needed.
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

    /// Returns true for the fast variant, which tests run.
    pub fn is_fast(&self) -> bool {
        self.effort == Effort::Fast
    }

    /// Returns `full`, or `fast` in the fast variant.
    pub fn pick<T>(&self, full: T, fast: T) -> T {
        if self.is_fast() { fast } else { full }
    }

    /// Reports what is done next. Returns an error if the user wants to stop.
    pub fn now(&self, what: impl Display) -> Result<(), Stopped> {
        match (self.watch)(&what.to_string()) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stopped),
        }
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: impl Into<String>) {
        self.record.pieces.push(Piece::Text(text.into()));
    }

    /// Adds a table, and writes it as `NAME.csv`. Units belong into the heading.
    ///
    /// # Panics
    /// Panics if the number of cells of a row differs from that of the heading.
    pub fn table(&mut self, name: &str, caption: &str, heading: &[&str], rows: Vec<Vec<String>>) -> anyhow::Result<()> {
        assert!(
            rows.iter().all(|row| row.len() == heading.len()),
            "{name}: rows must have as many cells as the heading"
        );
        let file = format!("{name}.csv");
        let lines = rows.iter().map(|row| csv_line(row.iter().map(String::as_str)));
        let text: String = std::iter::once(csv_line(heading.iter().copied())).chain(lines).collect();
        self.write(&file, text.as_bytes())?;
        let heading = heading.iter().map(|&cell| cell.to_owned()).collect();
        self.record.pieces.push(Piece::Table { caption: caption.into(), file, heading, rows });
        Ok(())
    }

    /// Adds plots as `NAME.svg` and `NAME.png`, and writes their data to `NAME.csv`.
    pub fn figure(&mut self, name: &str, caption: &str, figure: impl Into<Figure>) -> anyhow::Result<()> {
        let figure = figure.into();
        self.figure_with_data(name, caption, &figure, &figure)
    }

    /// Adds plots that cannot show all numbers as they are; `data` has all of them.
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

    /// Adds a picture as `NAME.png`.
    pub fn picture(&mut self, name: &str, caption: &str, image: &Image) -> anyhow::Result<()> {
        let file = format!("{name}.png");
        self.write(&file, &image.png()?)?;
        self.record.pieces.push(Piece::Picture { caption: caption.into(), file, data: None });
        Ok(())
    }

    /// Adds a claim of a paper with the numbers that support it. The tests fail if it does not hold.
    pub fn finding(&mut self, claim: impl Into<String>, holds: bool, measured: impl Into<String>) {
        let (claim, measured) = (claim.into(), measured.into());
        self.record.findings.push(Finding { claim, measured, holds, is_timing: false, contradicts_paper: false });
    }

    /// Adds a claim about timings, which the tests ignore.
    pub fn timing_finding(&mut self, claim: impl Into<String>, holds: bool, measured: impl Into<String>) {
        let (claim, measured) = (claim.into(), measured.into());
        self.record.findings.push(Finding { claim, measured, holds, is_timing: true, contradicts_paper: false });
    }

    /// Adds a result that differs from the paper. The tests fail if it does not hold, since the difference is then
    /// unexplained.
    pub fn difference(&mut self, claim: impl Into<String>, holds: bool, measured: impl Into<String>) {
        let (claim, measured) = (claim.into(), measured.into());
        self.record.findings.push(Finding { claim, measured, holds, is_timing: false, contradicts_paper: true });
    }

    /// Writes the page, and its record for the summary of all experiments.
    pub fn finish(mut self, experiment: &Experiment, seconds: f64, error: Option<&str>) -> anyhow::Result<Record> {
        self.record.seconds = seconds;
        self.record.is_finished = error.is_none();
        if let Some(error) = error {
            self.text(format!("**Not finished**: {error}. Partial results are above."));
        }
        let text = format!("# {}\n\n{}", experiment.title, self.record.markdown(experiment, "", true));
        self.write("README.md", text.as_bytes())?;
        let record = serde_json::to_string_pretty(&self.record)?;
        self.write(RECORD, record.as_bytes())?;
        Ok(self.record)
    }

    fn write(&mut self, file: &str, bytes: &[u8]) -> anyhow::Result<()> {
        ensure!(self.written.insert(file.to_owned()), "file {file}: written by two pieces of the page");
        Ok(Disk.write(&self.folder.join(file), bytes)?)
    }
}

impl Record {
    /// Reads the record of the page in a folder.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        Ok(serde_json::from_slice(&Disk.read(&folder.join(RECORD))?)?)
    }

    /// Returns the names of all files of tables and figures.
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

    /// Returns the page without its title as Markdown. Pictures are in the folder `at`, which ends in `/` or is empty.
    /// Links to data are added if `with_data`.
    pub fn markdown(&self, experiment: &Experiment, at: &str, with_data: bool) -> String {
        let mut text = format!("{}, {}. {}\n", experiment.paper.citation, experiment.part, experiment.reports);
        for piece in &self.pieces {
            text += &piece.markdown(at, with_data);
        }
        text += "\n| claim of the paper or of theory | result here | |\n|---|---|---|\n";
        for finding in &self.findings {
            let verdict = if finding.agrees() { "agrees" } else { "**differs**" };
            let clock = if finding.is_timing { ", timing" } else { "" };
            text += &format!("| {} | {} | {verdict}{clock} |\n", cell(&finding.claim), cell(&finding.measured));
        }
        let Machine { cpu, cores, lanes, threads, version, build } = &self.machine;
        let short = if self.effort == Effort::Fast { " --fast" } else { "" };
        text += &format!(
            "\n`pliant-reproduce {}{short}`: {:.0} s with Pliant {version} ({build}), {threads} threads on {cores} cores of {cpu}, {lanes} doubles per register.\n",
            self.name, self.seconds
        );
        text
    }
}

impl Piece {
    /// Returns the name of its picture file, or `None`.
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

/// Escapes text for a cell of a Markdown table.
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

/// Returns all points of all curves as CSV in long format, as pandas and R expect.
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
