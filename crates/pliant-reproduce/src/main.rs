//! Command that runs the experiments of the papers.
//!
//! Exit status: 0 success; 1 failure, or a finding that does not hold; 2 invalid command line; 130 stopped by Ctrl-C.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use clap::{Parser, ValueHint};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant::meshing::stoppable;
use pliant_reproduce::{EXPERIMENTS, Effort, Experiment, Record, Stopped, check_runs, summarize};

/// Reproduce experiments of papers, with tables and figures.
#[derive(Debug, Parser)]
#[command(version)]
struct Reproduce {
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
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Set by Ctrl-C and by requests to terminate.
static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let command = Reproduce::parse();
    match stoppable(is_stopped, || command.run()) {
        Ok(exit) => exit,
        Err(_) if is_stopped() => {
            print_error("note: stopped");
            ExitCode::from(130)
        }
        Err(error) => {
            print_error(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

impl Reproduce {
    fn run(&self) -> anyhow::Result<ExitCode> {
        if self.names.is_empty() && self.summary.is_none() {
            print(&list());
            return Ok(ExitCode::SUCCESS);
        }
        let experiments = self.experiments()?;
        if self.summary.is_some() {
            check_runs(&self.output, &experiments)?;
        }
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global().context("--threads")?;
        }
        listen()?;
        let effort = if self.fast { Effort::Fast } else { Effort::Full };
        let mut exit = ExitCode::SUCCESS;
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
                    print(&format!("{}wrote {}\n", report(&record), folder.join("README.md").display()));
                    if record.findings.iter().any(|finding| !finding.holds && !finding.is_timing) {
                        exit = ExitCode::FAILURE;
                    }
                }
                Err(error) if error.is::<Stopped>() || is_stopped() => {
                    // The error names the folder of the results.
                    print_error(&format!("note: stopped; {error}"));
                    return Ok(ExitCode::from(130));
                }
                Err(error) => return Err(error.context(experiment.name)),
            }
        }
        if let Some(docs) = &self.summary {
            let summary = summarize(&self.output, docs)?;
            let (page, agree, findings) = (summary.page.display(), summary.agree, summary.findings);
            print(&format!("wrote {page}: {agree} of {findings} findings agree\n"));
        }
        Ok(exit)
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

/// Makes Ctrl-C let the current computation stop and keep its results. A second one ends the program at once.
fn listen() -> anyhow::Result<()> {
    let handler = || {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).context("Ctrl-C")
}

/// Returns true if the user has asked to stop.
fn is_stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Prints text on standard output. A closed pipe does not stop an experiment, which writes files.
fn print(text: &str) {
    drop(std::io::stdout().write_all(text.as_bytes()));
}

fn print_error(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}

fn list() -> String {
    let mut text = String::from("pliant-reproduce  NAME, or all\n");
    for group in EXPERIMENTS.chunk_by(|a, b| a.paper == b.paper) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n{}", group[0].paper.citation.replace('*', ""));
        for experiment in group {
            let _ = writeln!(text, "  {:<22}  {} ({})", experiment.name, experiment.title, experiment.part);
        }
    }
    text
}

fn report(record: &Record) -> String {
    let agree = record.findings.iter().filter(|finding| finding.agrees()).count();
    let noun = if record.findings.len() == 1 { "finding" } else { "findings" };
    let mut text =
        format!("{}  {agree} of {} {noun} agree, {:.1} s\n", record.name, record.findings.len(), record.seconds);
    for finding in &record.findings {
        let verdict = match (finding.agrees(), finding.is_timing) {
            (true, _) => "agrees",
            (false, true) => "differs, clock",
            (false, false) => "differs",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {verdict:<16}  {}: {}", finding.claim, finding.measured);
    }
    text
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
