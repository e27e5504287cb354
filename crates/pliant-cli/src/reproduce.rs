//! `pliant reproduce`: the experiments of papers.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant_reproduce::{EXPERIMENTS, Effort, Experiment, Record, Stopped, check_runs, summarize};

use crate::Done;
use crate::run::{is_stopped, listen, set_threads};
use crate::table::{Listing, count};

/// Reproduce experiments of papers.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// Names of experiments, or `all`; without any, they are listed.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Run a short variant, with the same findings from less work.
    #[arg(long)]
    fast: bool,
    /// Folder to write to, with one subfolder per experiment.
    #[arg(short, long, value_name = "FOLDER", default_value = "out/reproduce", value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Combine the pages of all experiments, including those of earlier runs, into reproduction.md in this folder.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with = "fast")]
    summary: Option<PathBuf>,
    /// Number of threads [default: all cores].
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
}

impl Reproduce {
    pub fn run(&self) -> anyhow::Result<Done> {
        if self.names.is_empty() && self.summary.is_none() {
            return Ok(Done::text(list()));
        }
        let experiments = self.experiments()?;
        if self.summary.is_some() {
            check_runs(&self.output, &experiments)?;
        }
        set_threads(self.threads)?;
        listen();
        let effort = if self.fast { Effort::Fast } else { Effort::Full };
        let mut done = Done::text(String::new());
        for experiment in experiments {
            let folder = self.output.join(experiment.name);
            let display = Display::new(experiment.name);
            let outcome = experiment.run(effort, &folder, &|what| {
                display.show(what);
                if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            display.end();
            match outcome {
                Ok(record) => {
                    // Printed one after the other, since all of them take a while.
                    let text = report(&record);
                    drop(writeln!(anstream::stdout(), "{text}wrote {}", folder.join("README.md").display()));
                    if record.findings.iter().any(|finding| !finding.holds && !finding.is_timing) {
                        done.exit = 1;
                    }
                }
                Err(error) if error.is::<Stopped>() || is_stopped() => {
                    // The error says where the results are.
                    done.notes.push(format!("stopped; {error}"));
                    done.exit = 130;
                    return Ok(done);
                }
                Err(error) => return Err(error.context(experiment.name)),
            }
        }
        if let Some(docs) = &self.summary {
            let summary = summarize(&self.output, docs)?;
            done.text =
                format!("wrote {}: {} of {} findings agree\n", summary.page.display(), summary.agree, summary.findings);
        }
        Ok(done)
    }

    fn experiments(&self) -> anyhow::Result<Vec<&'static Experiment>> {
        if self.names == ["all"] {
            return Ok(EXPERIMENTS.iter().collect());
        }
        if self.names.iter().any(|name| name == "all") {
            bail!("`all` selects every experiment; remove the other names");
        }
        let known = || EXPERIMENTS.iter().map(|experiment| experiment.name).collect::<Vec<_>>().join(", ");
        let find = |name: &String| {
            Experiment::find(name)
                .with_context(|| format!("unknown experiment `{name}`; expected one of {}, or `all`", known()))
        };
        self.names.iter().map(find).collect()
    }
}

fn list() -> String {
    let mut listing = Listing::default();
    listing.title("pliant reproduce", "NAME, or all");
    for group in EXPERIMENTS.chunk_by(|a, b| a.paper == b.paper) {
        listing.title(&format!("\n{}", group[0].paper.citation.replace('*', "")), "");
        for experiment in group {
            listing.row(&format!("{:<22}", experiment.name), format!("{} ({})", experiment.title, experiment.part));
        }
    }
    listing.into_text()
}

fn report(record: &Record) -> String {
    let mut listing = Listing::default();
    let agree = record.findings.iter().filter(|finding| finding.agrees()).count();
    let detail =
        format!("{agree} of {} agree, {:.1} s", count(record.findings.len(), "finding", "findings"), record.seconds);
    listing.title(&record.name, &detail);
    for finding in &record.findings {
        let verdict = match (finding.agrees(), finding.is_timing) {
            (true, _) => "agrees",
            (false, true) => "differs, clock",
            (false, false) => "differs",
        };
        listing.row(verdict, format!("{}: {}", finding.claim, finding.measured));
    }
    listing.into_text()
}

/// Display of the current task, on a terminal.
struct Display(ProgressBar);

impl Display {
    fn new(name: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        // The template is valid.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg} {elapsed}") {
            bar.set_style(style);
        }
        Self(bar.with_prefix(name))
    }

    fn show(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.tick();
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}
