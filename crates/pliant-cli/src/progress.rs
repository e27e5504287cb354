//! Progress of a run: a bar on a terminal, or JSON records.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant_scene::run::{Progress, Run};
use serde_json::json;

/// Returns a progress bar for work of `length` parts, on a terminal.
pub fn bar(length: u64, what: &'static str, show: bool) -> ProgressBar {
    if !(show && std::io::stderr().is_terminal()) {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{msg} {wide_bar:.cyan/dim} {pos}/{len} {eta} left");
    // The template is valid.
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.with_message(what)
}

/// Display of the progress.
pub struct Display {
    kind: Kind,
}

enum Kind {
    Bar(ProgressBar),
    Json { columns: Vec<String> },
    Nothing,
}

impl Display {
    pub fn new(run: &Run, quiet: bool, json: bool) -> Self {
        let built = run.built();
        let first = built.simulation.steps_done();
        let kind = if json {
            Kind::Json { columns: built.recorder.columns() }
        } else if !quiet && std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(built.steps), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{msg}\n{wide_bar:.cyan/dim} {pos}/{len} {per_sec} {eta} left");
            // The template is valid.
            if let Ok(style) = style {
                bar.set_style(style);
            }
            bar.set_position(first);
            bar.reset_eta();
            Kind::Bar(bar)
        } else {
            Kind::Nothing
        };
        Self { kind }
    }

    pub fn step(&mut self, progress: &Progress<'_>) {
        let health = |progress: &Progress<'_>| {
            let info = progress.info;
            let halved = if info.substeps > 1 { format!(", in {} parts", info.substeps) } else { String::new() };
            format!(
                "t = {:.4} s, {} Newton, {} linear iterations ({}), residual {:.0e}{halved}",
                progress.time, info.newton_iterations, info.linear_iterations, info.solve.method, info.solve.residual
            )
        };
        match &mut self.kind {
            Kind::Bar(bar) => {
                bar.set_position(progress.step);
                bar.set_message(health(progress));
            }
            Kind::Json { columns } => {
                let info = progress.info;
                let mut record = json!({
                    "step": progress.step,
                    "time": progress.time,
                    "newton_iterations": info.newton_iterations,
                    "linear_iterations": info.linear_iterations,
                    "factorizations": info.factorizations,
                    "method": info.solve.method.to_string(),
                    "residual": info.solve.residual,
                    "substeps": info.substeps,
                    "assembling_seconds": info.assembling.as_secs_f64(),
                    "solving_seconds": info.solving.as_secs_f64(),
                });
                if let Some(gain) = progress.energy_gain {
                    record["energy_gain"] = json!(gain.gained);
                }
                if let Some(row) = progress.row {
                    for (name, value) in columns.iter().zip(row) {
                        // The record already has the time and the work.
                        if record.get(name).is_none() {
                            record[name] = json!(value);
                        }
                    }
                }
                drop(writeln!(std::io::stdout(), "{record}"));
            }
            Kind::Nothing => {}
        }
    }

    /// Writes lasting text to the terminal, above the bar.
    pub fn interrupt(&self, write: impl FnOnce()) {
        match &self.kind {
            Kind::Bar(bar) => bar.suspend(write),
            _ => write(),
        }
    }

    pub fn end(&self) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }
}
