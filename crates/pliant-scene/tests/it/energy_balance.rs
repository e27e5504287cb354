//! Energy balance of simulations: external work, dissipated energy, and spurious energy.

use pliant::files::Disk;
use pliant::material::AnyLaw;
use pliant::simulation::Simulation;
use pliant_scene::scene::{SceneFile, Source};

fn build(text: &str) -> Simulation {
    let file = SceneFile::parse(Source::new("test.toml", text)).unwrap_or_else(|error| panic!("{error}"));
    file.build(&Disk).unwrap_or_else(|error| panic!("{error}")).simulation
}

/// Scene of a soft block of 16 g without gravity.
const BLOCK: &str = "gravity = [0, 0, 0]\n[[object]]\nmesh = { box = { size = [0.04, 0.02, 0.02], cells = [4, 2, 2] } }\n\
                     material = { young = \"50 kPa\", poisson = 0.3, density = 1000 }\n";

/// Simulation settings with the trapezoidal rule, which conserves energy on linear systems.
const NEWMARK: &str = "[simulation]\nstep = \"0.1 ms\"\nduration = 1\nintegrator = \"newmark\"\n";

/// External loads and prescribed motions of a body, one of each kind.
const DRIVEN: [(&str, &str); 6] = [
    (
        "prescribed motion",
        "[[fixed]]\nvertices = \"x-min\"\nmotion = { keyframes = [{ time = 0 }, { time = 0.01, translate = [0.01, 0.01, 0] }, { time = 0.05 }] }\n",
    ),
    (
        "a load that changes in time",
        "[[load]]\nvertices = \"x-max\"\nkind.force = [0.3, 0, 0]\nschedule = [[0, 0], [0.02, 1], [0.05, -1]]\n",
    ),
    (
        "a constant load",
        "[[fixed]]\nvertices = \"x-min\"\n[[load]]\nvertices = \"x-max\"\nkind.force = [0.3, 0.1, 0]\n",
    ),
    ("pressure that follows a face", "[[load]]\nvertices = \"x-max\"\nkind.pressure = \"500 Pa\"\n"),
    (
        "a handle that moves",
        "[[handle]]\nvertices = \"x-max\"\nstiffness = 20\nmotion = { keyframes = [{ time = 0 }, { time = 0.05, translate = [0.05, 0, 0.02] }] }\n",
    ),
    (
        "a plane that pushes",
        "[[obstacle]]\nshape.plane = { point = [-0.001, 0, 0], normal = [1, 0, 0] }\nmotion = { keyframes = [{ time = 0 }, { time = 0.05, translate = [0.05, 0, 0] }] }\n",
    ),
];

#[test]
fn the_work_put_in_is_the_energy_gained_where_nothing_dissipates() {
    for (name, drive) in DRIVEN {
        let mut simulation = build(&format!("{BLOCK}{drive}{NEWMARK}"));
        let start = simulation.observe().total_energy();
        let mut largest: f64 = 0.0;
        for _ in 0..500 {
            simulation.step().unwrap();
            assert_eq!(simulation.take_energy_gain(), None, "{name}");
            let gained = simulation.observe().total_energy() - start;
            largest = largest.max(gained.abs()).max(simulation.observe().kinetic_energy);
            let balance = simulation.energy_balance().unwrap();
            // An identity, exact up to rounding.
            let rest = gained - (balance.external_work() - balance.dissipated());
            assert!(rest.abs() <= 1e-9 * largest, "{name}: {rest} of {largest} J");
        }
        let balance = simulation.energy_balance().unwrap();
        // Half of the work of a jump of a prescribed velocity is lost, and contact loses energy when it begins.
        let tolerance = if matches!(name, "prescribed motion" | "a plane that pushes") { 0.1 } else { 1e-5 };
        assert!(balance.dissipated().abs() < tolerance * largest, "{name}: {balance:?}, {largest} J");
        let does_work = name != "a constant load";
        assert_eq!(balance.external_work().abs() > 0.1 * largest, does_work, "{name}: {balance:?}, {largest} J");
    }
}

#[test]
fn damping_dissipates_the_integral_of_its_power() {
    let damped = format!("{BLOCK}velocity = [1, 0, 0]\n[damping]\nmass = 10\n{NEWMARK}");
    let mut simulation = build(&damped);
    let start = simulation.observe().kinetic_energy;
    for _ in 0..1000 {
        simulation.step().unwrap();
    }
    // v = v₀ exp(−α t).
    let expected = start * (1.0 - (-20.0 * 0.1_f64).exp());
    let balance = simulation.energy_balance().unwrap();
    assert!((balance.dissipated() / expected - 1.0).abs() < 1e-4, "{balance:?}, expected {expected}");
    assert_eq!(balance.external_work(), 0.0);
}

/// Returns a simulation of a ball thrown at the ground.
fn thrown(law: &str, speed: f64, settings: &str) -> Simulation {
    build(&format!(
        "[[object]]\nmesh = {{ ball = {{ radius = 0.1 }} }}\ntranslate = [0, 0.15, 0]\nvelocity = [0, -{speed}, 0]\n\
         material = {{ law = \"{law}\", young = \"1 MPa\", poisson = 0.4, density = 1000 }}\n[[obstacle]]\nshape.plane = {{}}\n\
         [simulation]\nduration = 1\n{settings}\n"
    ))
}

#[test]
fn a_linearized_throw_that_gains_energy_is_reported_when_it_does() {
    let mut simulation =
        thrown("stable-neo-hookean", 20.0, "step = \"1/60 s\"\nintegrator = \"linearized-backward-euler\"");
    let start = simulation.observe().total_energy();
    let mut reported = None;
    for _ in 0..20 {
        if simulation.step().is_err() {
            break;
        }
        reported = reported.or(simulation.take_energy_gain());
        let energy = simulation.observe().total_energy();
        assert!(reported.is_some() || energy < 1.3 * start, "from {start} J to {energy} J without a word");
    }
    let gain = reported.expect("energy appears").to_string();
    assert!(gain.contains("energy appeared without work being done") && gain.contains("`backward-euler`"), "{gain}");
}

/// Checks a ball that penetrates the ground in one step: later steps dissipate the stored energy.
#[test]
fn energy_that_appears_in_a_single_step_is_reported_also_if_it_goes_again() {
    let soft = "[[object]]\nmesh = { ball = { radius = 0.1 } }\ntranslate = [0, 0.3, 0]\nvelocity = [0, -20, 0]\n\
                material = { young = \"100 kPa\", poisson = 0.4, density = 1000 }\n[[obstacle]]\nshape.plane = {}\n\
                [simulation]\nduration = 1\nstep = \"1/60 s\"\nintegrator = \"linearized-backward-euler\"\n";
    let mut simulation = build(soft);
    let start = simulation.observe().total_energy();
    simulation.step().unwrap();
    assert!(simulation.observe().total_energy() > 3.0 * start);
    assert!(simulation.take_energy_gain().is_some());
}

/// Checks a body at rest: its energy is rounding, at most 1e-32 J, also after a first step in which nothing moves.
#[test]
fn rounding_of_a_body_at_rest_is_no_energy_gain() {
    for settings in ["", "integrator = \"newmark\"\n"] {
        let mut simulation = build(&format!(
            "gravity = [0, 0, 0]\n[[object]]\nmesh = {{ beam = {{ length = 0.6, height = 0.1, width = 0.1, across = 3 }} }}\n\
             material = {{ young = \"1 MPa\", poisson = 0.4, density = 1000 }}\n[simulation]\nstep = 0.01\nduration = 1\n{settings}"
        ));
        let mut largest: f64 = 0.0;
        for _ in 0..20 {
            let info = simulation.step().unwrap();
            assert_eq!(simulation.take_energy_gain(), None);
            assert_eq!(info.substeps, 0, "nor is it a reason to split a step");
            largest = largest.max(simulation.observe().total_energy());
        }
        assert!(largest < 1e-12, "{largest} J");
        assert!(largest > 0.0 || !settings.is_empty(), "there is some rounding");
    }
}

/// Checks Newmark's integrator, which continues the previous acceleration: a reversed load still acts for half a step.
#[test]
fn loads_that_change_by_hand_are_no_energy_gain() {
    let mut simulation = build(&format!("{BLOCK}[[fixed]]\nvertices = \"x-min\"\n{NEWMARK}"));
    let last = simulation.model().dim() - 2;
    for step in 0..200 {
        simulation.model_mut().loads_mut()[last] = if step / 20 % 2 == 0 { 0.1 } else { -0.1 };
        simulation.step().unwrap();
        assert_eq!(simulation.take_energy_gain(), None, "step {step}");
    }
}

#[test]
fn the_default_integrator_gains_no_energy_in_throws_and_pulls() {
    for law in AnyLaw::ALL {
        let mut simulation = thrown(law.name, 20.0, "step = \"1/60 s\"");
        for _ in 0..20 {
            simulation.step().unwrap();
            assert_eq!(simulation.take_energy_gain(), None, "{}", law.name);
        }
        assert!(simulation.energy_balance().unwrap().dissipated() > 0.0, "{}", law.name);
    }
    for (name, drive) in DRIVEN {
        let mut simulation = build(&format!("{BLOCK}{drive}[simulation]\nstep = \"1/60 s\"\nduration = 1\n"));
        for _ in 0..30 {
            simulation.step().unwrap();
            assert_eq!(simulation.take_energy_gain(), None, "{name}");
        }
    }
}

#[test]
fn a_simulation_that_is_resumed_has_the_same_balance() {
    let text = format!("{BLOCK}{}{NEWMARK}restart_every = 10\n", DRIVEN[0].1);
    let mut whole = build(&text);
    let mut checkpoint = None;
    for _ in 0..40 {
        if whole.steps_done() == 20 {
            checkpoint = whole.checkpoint();
        }
        whole.step().unwrap();
    }
    let mut resumed = build(&text);
    resumed.resume(checkpoint.unwrap()).unwrap();
    for _ in 0..20 {
        resumed.step().unwrap();
    }
    assert_eq!(resumed.energy_balance(), whole.energy_balance());
}

#[test]
fn statics_have_no_balance() {
    let statics = "[simulation]\nstep = 0.1\nduration = 1\nintegrator = \"static\"\n";
    let mut simulation = build(&format!("{BLOCK}{}{statics}", DRIVEN[0].1));
    simulation.step().unwrap();
    assert_eq!(simulation.energy_balance(), None);
}
