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
use crate::table::{Facts, count};

/// Run experiments of papers again.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// Which experiments, or `all`; without any, they are listed.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// A short variant: the same findings from less work.
    #[arg(long)]
    fast: bool,
    /// The folder to write to, a folder in it for each experiment.
    #[arg(short, long, value_name = "FOLDER", default_value = "out/reproduce", value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Then put the pages of all experiments, also of those that were run before, into one: reproduction.md in this folder.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with = "fast")]
    summary: Option<PathBuf>,
    /// How many threads to compute with [default: as many as there are cores].
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
                    // One after the other: all of them take a while.
                    let text = report(&record);
                    drop(writeln!(anstream::stdout(), "{text}wrote {}", folder.join("README.md").display()));
                    if record.findings.iter().any(|finding| !finding.holds && !finding.by_clock) {
                        done.exit = 1;
                    }
                }
                Err(error) if error.is::<Stopped>() || is_stopped() => {
                    // It says where what was done is.
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
            bail!("`all` stands alone, as it is every experiment; leave out the other names");
        }
        let known = || EXPERIMENTS.iter().map(|experiment| experiment.name).collect::<Vec<_>>().join(", ");
        let find = |name: &String| {
            Experiment::find(name)
                .with_context(|| format!("there is no experiment `{name}`; there are {}, or `all`", known()))
        };
        self.names.iter().map(find).collect()
    }
}

fn list() -> String {
    let mut facts = Facts::default();
    facts.title("pliant reproduce", "NAME, or all");
    for group in EXPERIMENTS.chunk_by(|a, b| a.paper == b.paper) {
        facts.title(&format!("\n{}", group[0].paper.citation.replace('*', "")), "");
        for experiment in group {
            facts.row(&format!("{:<22}", experiment.name), format!("{} ({})", experiment.title, experiment.part));
        }
    }
    facts.into_text()
}

fn report(record: &Record) -> String {
    let mut facts = Facts::default();
    let agree = record.findings.iter().filter(|finding| finding.agrees()).count();
    let detail =
        format!("{agree} of {} agree, {:.1} s", count(record.findings.len(), "finding", "findings"), record.seconds);
    facts.title(&record.name, &detail);
    for finding in &record.findings {
        let verdict = match (finding.agrees(), finding.by_clock) {
            (true, _) => "agrees",
            (false, true) => "differs, clock",
            (false, false) => "differs",
        };
        facts.row(verdict, format!("{}: {}", finding.claim, finding.measured));
    }
    facts.into_text()
}

/// What is being done, on a terminal.
struct Display(ProgressBar);

impl Display {
    fn new(name: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        // The template is ours, and right.
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
