//! Reproduction of the experiments of the papers that Pliant builds on.
//!
//! An [`Experiment`] is one file: a summary of what the paper reports, and a function that repeats it and fills a
//! [`Page`] with tables, figures and [`Finding`]s. Each has a fast variant for the tests, which assert all findings
//! except timings.
//!
//! Meshes are generated, or created by Pliant's mesher. They have the sizes of the papers' meshes, in other shapes.

mod bodies;
mod course;
mod machine;
mod measure;
mod neo_hookean;
mod output_folder;
mod page;
mod paper;
mod picture;
mod servin;
mod subspace;
mod summary;
mod vega;

use std::path::Path;
use std::time::Instant;

use output_folder::OutputFolder;
use serde::{Deserialize, Serialize};

pub use machine::Machine;
pub use page::{Finding, Page, Piece, Record, Stopped, Watch};
pub use paper::Paper;
pub use summary::{Summary, check_runs, summarize};

/// All experiments, in the order in which they are listed and run.
pub const EXPERIMENTS: &[Experiment] = &[
    vega::frame_budget::EXPERIMENT,
    vega::laws::EXPERIMENT,
    vega::integrators::EXPERIMENT,
    vega::solvers::EXPERIMENT,
    vega::threads::EXPERIMENT,
    vega::stiffness::EXPERIMENT,
    vega::stretching::EXPERIMENT,
    vega::recovery::EXPERIMENT,
    vega::step_refinement::EXPERIMENT,
    vega::locking::EXPERIMENT,
    vega::mesh_refinement::EXPERIMENT,
    vega::max_step::EXPERIMENT,
    servin::cube::EXPERIMENT,
    servin::twist::EXPERIMENT,
    servin::support::EXPERIMENT,
    servin::theory::EXPERIMENT,
    servin::energy::EXPERIMENT,
    servin::scaling::EXPERIMENT,
    neo_hookean::release::EXPERIMENT,
    neo_hookean::drop::EXPERIMENT,
    subspace::EXPERIMENT,
    course::forces::EXPERIMENT,
    course::energies::EXPERIMENT,
];

/// Experiment of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// Name on the command line.
    pub name: &'static str,
    /// Paper that reports it.
    pub paper: &'static Paper,
    /// Part of the paper: `figure 4`.
    pub part: &'static str,
    /// Short title.
    pub title: &'static str,
    /// Summary of what the paper reports.
    pub reports: &'static str,
    /// Function that runs the experiment.
    pub run: fn(&mut Page<'_>) -> anyhow::Result<()>,
}

/// Extent of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effort {
    /// Everything that the page shows.
    Full,
    /// Minimum that shows the same findings, for tests.
    Fast,
}

impl Experiment {
    /// Returns the experiment with this name, or `None`.
    pub fn find(name: &str) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|experiment| experiment.name == name)
    }

    /// Runs the experiment and writes its page into `folder`.
    ///
    /// An earlier page stays until this one is complete. If the experiment fails or is stopped, the error names the
    /// folder with the partial results: `folder`, or the folder next to it with the suffix `.part` if `folder` has a
    /// finished page.
    pub fn run(&self, effort: Effort, folder: &Path, watch: Watch<'_>) -> anyhow::Result<Record> {
        let began = Instant::now();
        let output_folder = OutputFolder::new(folder)?;
        let mut page = Page::new(self, effort, output_folder.part(), watch)?;
        let outcome = (self.run)(&mut page);
        let error = outcome.as_ref().err().map(|error| format!("{error:#}"));
        let record = page.finish(self, began.elapsed().as_secs_f64(), error.as_deref())?;
        let kept = output_folder.commit(&record)?;
        match outcome {
            Ok(()) => Ok(record),
            Err(error) => Err(error.context(format!("partial results are in {kept}"))),
        }
    }
}
