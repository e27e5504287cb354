//! The fast variant of every experiment: what papers report, and whether it is still so here.

use std::ops::ControlFlow;

use pliant_reproduce::{EXPERIMENTS, Effort, Experiment};

/// Run an experiment and assert its findings.
fn assert_findings(name: &str) {
    let experiment = Experiment::find(name).unwrap_or_else(|| panic!("there is no experiment {name}"));
    let folder = tempfile::tempdir().unwrap();
    let record = experiment.run(Effort::Fast, folder.path(), &|_| ControlFlow::Continue(())).unwrap();
    assert!(record.findings.iter().any(|finding| !finding.by_clock), "{name} finds nothing that can be tested");
    let differing: Vec<String> = record
        .findings
        .iter()
        .filter(|finding| !finding.by_clock && !finding.holds)
        .map(|finding| format!("{}: {}", finding.claim, finding.measured))
        .collect();
    assert!(differing.is_empty(), "{name}: {}", differing.join("; "));
    assert!(folder.path().join("README.md").exists() && folder.path().join("page.json").exists());
}

macro_rules! experiments {
    ($($test:ident => $name:literal,)*) => {
        $(#[test] fn $test() { assert_findings($name); })*

        #[test]
        fn every_experiment_is_tested() {
            let tested = [$($name),*];
            let listed: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
            assert_eq!(tested[..], listed[..]);
        }
    };
}

experiments! {
    surfaces_follow_the_meshes_that_carry_them => "vega-frame-budget",
    forces_are_the_same_with_and_without_stiffness => "vega-laws",
    schemes_factor_as_often_as_they_must => "vega-integrators",
    factors_need_more_memory_than_iterations => "vega-solvers",
    threads_change_no_bit => "vega-threads",
    iterations_grow_with_the_root_of_stiffness => "vega-stiffness",
    laws_differ_in_compression => "course-energies",
}
