//! Pages and metadata of experiments.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pliant_reproduce::{EXPERIMENTS, Effort, Experiment, Page};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_paper_is_in_the_references() {
    let references = std::fs::read_to_string(root().join("references.bib")).unwrap();
    for experiment in EXPERIMENTS {
        assert!(references.contains(&format!("{{{},", experiment.paper.key)), "{} is missing", experiment.paper.key);
    }
}

#[test]
fn every_citation_names_the_authors() {
    for experiment in EXPERIMENTS {
        for name in experiment.paper.authors.split("; ") {
            assert!(experiment.paper.citation.contains(name), "{name} is missing in {}", experiment.paper.citation);
        }
    }
}

#[test]
fn the_page_of_all_has_every_experiment_and_its_files() {
    let docs = root().join("docs");
    let page = std::fs::read_to_string(docs.join("reproduction.md")).unwrap();
    for experiment in EXPERIMENTS {
        let title = format!("\n## {}\n", experiment.name);
        assert!(page.contains(&title), "{} is missing: run `make reproduce`", experiment.name);
        assert!(page.contains(experiment.reports), "{} is out of date: run `make reproduce`", experiment.name);
    }
    let links = page.match_indices("](images/").map(|(at, _)| &page[at + 2..]);
    let mut count = 0;
    for link in links.filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
        assert!(docs.join(link).is_file(), "{link} is missing: run `make reproduce`");
        count += 1;
    }
    assert!(count > EXPERIMENTS.len(), "{count} links");
    assert!(!page.contains("--fast"), "the page has fast variants");
}

#[test]
fn what_is_not_as_the_paper_has_it_differs_though_it_is_as_expected() {
    fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
        page.finding("as reported", true, "1");
        page.difference("otherwise", true, "2");
        Ok(())
    }
    let experiment = Experiment { run, ..EXPERIMENTS[0] };
    let folder = tempfile::tempdir().unwrap();
    let record = experiment.run(Effort::Fast, folder.path(), &|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(
        record.findings.iter().map(|finding| (finding.agrees(), finding.holds)).collect::<Vec<_>>(),
        [(true, true), (false, true)]
    );
    let page = std::fs::read_to_string(folder.path().join("README.md")).unwrap();
    assert!(
        page.contains("| as reported | 1 | agrees |") && page.contains("| otherwise | 2 | **differs** |"),
        "{page}"
    );
}
