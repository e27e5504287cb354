//! One page of all experiments, made of what their runs have left.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use pliant::io::{Disk, Files};

use crate::page::RECORD;
use crate::{EXPERIMENTS, Effort, Experiment, Piece, Record};

/// The folder of figures, beside the page.
const FIGURES: &str = "images/reproduction";

/// What went into the page of all experiments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The page.
    pub page: PathBuf,
    /// How many findings agree.
    pub agree: usize,
    /// Of how many.
    pub findings: usize,
}

/// Put the pages of all experiments under `runs` into one, `reproduction.md` in the folder `docs`, with its figures beside it. Data stays with the runs.
pub fn summarize(runs: &Path, docs: &Path) -> anyhow::Result<Summary> {
    check_runs(runs, &[])?;
    let records = EXPERIMENTS.iter().map(|experiment| read(runs, experiment)).collect::<Result<Vec<_>, _>>()?;
    let figures = docs.join(FIGURES);
    std::fs::create_dir_all(&figures).with_context(|| figures.display().to_string())?;
    let mut text = String::from(INTRODUCTION);
    text += "\n| experiment | from | what | agrees |\n|---|---|---|---|\n";
    for (experiment, record) in EXPERIMENTS.iter().zip(&records) {
        let (agree, all) = agreement(record);
        let Experiment { name, part, title, paper, .. } = experiment;
        writeln!(text, "| [{name}](#{name}) | {}: {part} | {title} | {agree} of {all} |", paper.authors)?;
    }
    for (experiment, record) in EXPERIMENTS.iter().zip(&records) {
        let at = format!("{FIGURES}/{}/", experiment.name);
        copy_pictures(&runs.join(experiment.name), &docs.join(&at), record)?;
        write!(
            text,
            "\n## {}\n\n**{}.** {}",
            experiment.name,
            experiment.title,
            record.markdown(experiment, &at, false)
        )?;
    }
    let page = docs.join("reproduction.md");
    Disk.write(&page, text.as_bytes())?;
    let (agree, findings) = records.iter().map(agreement).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    Ok(Summary { page, agree, findings })
}

const INTRODUCTION: &str = "\
# The papers, reproduced

Made by `make reproduce`, which runs every experiment again and writes this page; `pliant reproduce` lists them, `pliant reproduce NAME` runs one and leaves its numbers as CSV too. Meshes are generated or
made by Pliant's own mesher, at the sizes of the papers, in shapes of our own. What a paper reports is told in our words, beside what came out here and whether
that agrees; a fast variant of every experiment runs in `make test`, which fails if a finding ceases to hold, unless it depends on a clock. The wording and the limits of findings are
ours: they compare with closed forms, with theory, with what the papers are known for, and where it is said with VegaFEM 4.0 as measured on another machine, not with the numbers that the papers print for
machines of their time. Where something holds for some bodies, steps or laws only, the finding says for which. Where it is not as a paper has it, the finding says
how it is here, and differs.
";

/// Whether there is a whole run under `runs` of every experiment, but for those that are `to_run`. The error names all that are not there.
pub fn check_runs(runs: &Path, to_run: &[&Experiment]) -> anyhow::Result<()> {
    let others = EXPERIMENTS.iter().filter(|experiment| to_run.iter().all(|other| other.name != experiment.name));
    let missing: Vec<(&str, String)> = others
        .filter_map(|experiment| read(runs, experiment).err().map(|error| (experiment.name, format!("{error:#}"))))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let reasons: String = missing.iter().map(|(name, reason)| format!("\n  {name}: {reason}")).collect();
    let all = missing.len() == EXPERIMENTS.len();
    let names = if all { "all".into() } else { missing.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ") };
    bail!(
        "the page of all experiments is made of whole runs of each, and some are missing:{reasons}\nfirst run `pliant reproduce -o {} {names}`",
        runs.display()
    )
}

/// What a whole run has left; the error says why it has not.
fn read(runs: &Path, experiment: &Experiment) -> anyhow::Result<Record> {
    let folder = runs.join(experiment.name);
    if !folder.join(RECORD).exists() {
        bail!("was not run");
    }
    let record = Record::read(&folder).context("has a page that cannot be read")?;
    if record.effort == Effort::Fast {
        bail!("has a page of the fast variant");
    }
    if !record.is_finished {
        bail!("has a page of a run that was not finished");
    }
    // The page comes from a file: what it names is in its own folder, or nothing.
    let outside =
        record.pieces.iter().filter_map(Piece::picture).find(|file| Path::new(file).file_name() != Some(file.as_ref()));
    if let Some(file) = outside {
        bail!("has a page that names the file `{file}`, expected one beside it");
    }
    Ok(record)
}

fn agreement(record: &Record) -> (usize, usize) {
    (record.findings.iter().filter(|finding| finding.agrees()).count(), record.findings.len())
}

/// The figures that a page shows.
fn copy_pictures(from: &Path, to: &Path, record: &Record) -> anyhow::Result<()> {
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for file in record.pieces.iter().filter_map(Piece::picture) {
        let bytes = Disk.read(&from.join(file))?;
        Disk.write(&to.join(file), &bytes)?;
    }
    Ok(())
}
