//! Fast variants of all experiments, with assertions of their findings.

use std::ops::ControlFlow;

use pliant_reproduce::{EXPERIMENTS, Effort, Experiment};

/// Runs an experiment and asserts its findings.
fn assert_findings(name: &str) {
    let experiment = Experiment::find(name).unwrap_or_else(|| panic!("no experiment {name}"));
    let folder = tempfile::tempdir().unwrap();
    let record = experiment.run(Effort::Fast, folder.path(), &|_| ControlFlow::Continue(())).unwrap();
    assert!(record.findings.iter().any(|finding| !finding.is_timing), "{name} has no testable findings");
    let differing: Vec<String> = record
        .findings
        .iter()
        .filter(|finding| !finding.is_timing && !finding.holds)
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
    integrators_factor_as_often_as_they_must => "vega-integrators",
    factors_need_more_memory_than_iterations => "vega-solvers",
    threads_change_no_bit => "vega-threads",
    iterations_grow_with_the_root_of_stiffness => "vega-stiffness",
    stvk_stretches_least_and_neo_hookean_most => "vega-stretching",
    laws_that_handle_inversion_recover => "vega-recovery",
    orders_of_integrators_are_those_of_theory => "vega-step-refinement",
    tetrahedra_lock_near_incompressibility => "vega-locking",
    cantilevers_converge_to_the_theory_of_beams => "vega-mesh-refinement",
    explicit_steps_are_limited_by_the_highest_frequency => "vega-largest-step",
    swinging_cubes_explode_or_slow_down_with_others_but_not_with_constraints => "servin-cube",
    a_twisted_beam_swells_without_the_quadratic_strain => "servin-twist",
    a_supported_beam_carries_many_times_its_weight => "servin-support",
    pull_and_twist_converge_to_theory => "servin-theory",
    energy_falls_less_with_smaller_steps_and_never_grows => "servin-energy",
    work_of_a_step_grows_linearly_with_the_length_of_a_bar => "servin-scaling",
    a_line_search_keeps_what_is_let_go_from_inverting => "neo-hookean-release",
    linearized_steps_jump_over_barriers_at_an_impact => "neo-hookean-drop",
    modal_derivatives_follow_what_modes_cannot => "subspace",
    forces_go_element_by_element_in_any_order => "course-forces",
    laws_differ_in_compression => "course-energies",
}
