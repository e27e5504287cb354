//! The experiments of the papers that Pliant builds on, run again.
//!
//! An [`Experiment`] is a file: what the paper reports, in our words, and a function that does it here and fills a [`Page`] with tables, figures
//! and [`Finding`]s. Each has a fast variant, which the tests run and whose findings they assert; only those that need a clock are not.
//!
//! Meshes are generated or made by Pliant's mesher, of the sizes that the papers have, in shapes of our own.

mod bodies;
mod course;
mod machine;
mod measure;
mod neo_hookean;
mod page;
mod paper;
mod picture;
mod place;
mod servin;
mod subspace;
mod summary;
mod vega;

use std::path::Path;
use std::time::Instant;

use place::Place;
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
    vega::largest_step::EXPERIMENT,
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

/// An experiment of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Where it is from.
    pub paper: &'static Paper,
    /// Which part of it: `figure 4`.
    pub part: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// What the paper reports, in our words.
    pub reports: &'static str,
    /// Does it.
    pub run: fn(&mut Page<'_>) -> anyhow::Result<()>,
}

/// How much an experiment does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effort {
    /// All that the page shows.
    Full,
    /// As little as shows the same findings, for tests.
    Fast,
}

impl Experiment {
    /// The one with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|experiment| experiment.name == name)
    }

    /// Run it, and write its page into `folder`. An earlier page is there until this one is complete. If it fails or is stopped, the error says where
    /// what was done before is: in `folder` too, unless an earlier page that was finished is there, and then beside it, in a folder with the ending `.part`.
    pub fn run(&self, effort: Effort, folder: &Path, watch: Watch<'_>) -> anyhow::Result<Record> {
        let began = Instant::now();
        let place = Place::new(folder)?;
        let mut page = Page::new(self, effort, place.part(), watch)?;
        let outcome = (self.run)(&mut page);
        let error = outcome.as_ref().err().map(|error| format!("{error:#}"));
        let record = page.finish(self, began.elapsed().as_secs_f64(), error.as_deref())?;
        let kept = place.settle(&record)?;
        match outcome {
            Ok(()) => Ok(record),
            Err(error) => Err(error.context(format!("what was done before is in {kept}"))),
        }
    }
}
