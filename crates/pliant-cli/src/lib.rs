//! The command line of Pliant.
//!
//! Exit status: 0 success; 1 failure, or a mesh that cannot be simulated; 2 invalid command line; 130 stopped by
//! Ctrl-C.

mod default_scene;
mod doctor;
mod fill;
mod formats;
#[cfg(test)]
mod fronts;
mod generate;
mod laws;
mod material;
mod matrices;
mod mesh;
mod modes;
mod pictures;
mod plot;
mod progress;
mod reduce;
mod report;
mod run;
mod scene;
mod statics;
mod table;
mod view;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{CommandFactory, Parser, Subcommand};
use pliant::meshing::stoppable;

const STYLES: clap::builder::Styles = clap::builder::Styles::styled()
    .header(table::HEADING)
    .usage(table::HEADING)
    .literal(table::LITERAL)
    .error(table::ERROR);

const AFTER_HELP: &str = "\
Try it:
  pliant run scenes/twisting-beam.toml --gif  simulate and animate a scene
  pliant view ring.veg                        pull on a mesh with the mouse
  pliant run ring.veg --glb                   drop a mesh on the ground, for Blender
  pliant modes ring.veg --gif                 animate its natural modes
  pliant mesh generate torus -o ring.veg      generate a mesh
  pliant mesh info ring.veg                   print a table about any mesh file
  pliant mesh convert ring.veg ring.vtu       open it in ParaView
  pliant mesh check ring.veg && echo fine     can it be simulated?
  pliant matrices ring.veg --law stvk --young 1e6 --poisson 0.45 --density 1000 -o ring
                                              stiffness, mass and damping for SciPy

Exit status: 0 success; 1 failure, or a mesh that cannot be simulated;
2 invalid command line; 130 stopped by Ctrl-C.";

/// Simulate 3D deformable solids with finite elements.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, styles = STYLES, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scene, or drop a mesh on the ground; writes animations, plots and tables.
    ///
    /// The output folder contains probes.csv with energies, volume, momentum and the probes of the scene; frames/ with
    /// displacements and velocities for NumPy; and the formats that the scene or options such as --vtu, --glb and --gif
    /// request. Ctrl-C stops after the current step, and `pliant resume` continues the run.
    Run(run::RunCommand),
    /// Simulate interactively in the browser, or play back a run.
    ///
    /// Prints the address of the page, and opens it if there is a display. Only this machine can reach it, unless
    /// --listen is given. From elsewhere: `ssh -L 8490:127.0.0.1:8490 HOST`, then open the address. Ctrl-C stops the
    /// viewer.
    View(view::View),
    /// Resume a run that was stopped or killed. The result is bitwise identical to that of an uninterrupted run.
    Resume(run::Resume),
    /// Check and convert scenes without running them, and describe their format.
    #[command(subcommand, arg_required_else_help = true)]
    Scene(scene::SceneCommand),
    /// Solve for the static equilibrium of a mesh under loads, without a scene.
    ///
    /// WHERE chooses vertices: a vertex set of the mesh (`pliant mesh info` lists them), `all` or `surface`; a
    /// half-space such as "x<0.1" or "y>2 cm"; indices such as 3,7,12, from 0; or a .bou file. X, Y and Z are the
    /// components of a vector. Numbers are in SI units, or have a unit, as in "1 MPa". Example: pliant static beam.veg
    /// --fix "x<0" --force "x>1" 0 -10 0
    Static(statics::Static),
    /// Compute the natural frequencies and modes of a scene or a mesh, and animate them.
    Modes(modes::ModesCommand),
    /// Build a reduced model of a scene, with few degrees of freedom and thousands of steps per second.
    ///
    /// The basis is built from modes and modal derivatives, from snapshots of runs, from both, or is given. To use it,
    /// put `reduced = "FILE"` into the scene, or run it with --reduced FILE.
    Reduce(reduce::Reduce),
    /// Plot energies, volume and probes of a run.
    Plot(plot::Plot),
    /// Render images and videos of a run, or export it in other formats.
    Render(pictures::Render),
    /// Refer to the command that reproduces experiments of papers.
    #[command(hide = true, disable_help_flag = true)]
    Reproduce {
        /// Arguments, which are not read.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Inspect, check, convert and generate meshes.
    #[command(subcommand, arg_required_else_help = true)]
    Mesh(mesh::MeshCommand),
    /// Export the stiffness, mass and damping matrices and the elastic force of a body for other programs.
    ///
    /// Files in the folder: K, M and D as Matrix Market .mtx and as .npz for SciPy's `load_npz`; force as .mtx and
    /// .npy; energy and sizes in summary.json. Matrices have three rows per vertex, in SI units. The force is the
    /// gradient of the energy.
    Matrices(matrices::Matrices),
    /// Print the capabilities of this build and this machine.
    Doctor,
    /// List the elastic laws with formulas, coefficients, options and uses.
    Laws,
    /// Print a shell completion script.
    ///
    /// For bash: pliant completions bash > ~/.local/share/bash-completion/completions/pliant
    Completions {
        /// Shell to generate the script for.
        shell: clap_complete::Shell,
    },
    /// Write manual pages for `man`, one per command.
    Man {
        /// Folder to write to.
        #[arg(value_hint = clap::ValueHint::DirPath)]
        folder: std::path::PathBuf,
    },
}

/// Runs the command line `args`, which starts with the name of the program.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(status(args))
}

/// Runs the command line `args` and returns the exit status, for programs that embed the command. It may be called once
/// per process, since it takes over Ctrl-C.
pub fn status(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap, but not to the user. Failing to print is ignored: the terminal is
            // gone.
            drop(error.print());
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    let done = run::take_over_interrupts().and_then(|()| stoppable(run::is_stopped, || execute(cli.command)));
    match done {
        Ok(done) => print(&done),
        Err(_) if run::is_stopped() => {
            // Failing to print is ignored, as above.
            drop(writeln!(anstream::stderr(), "{}note:{:#} stopped", table::NOTE, table::NOTE));
            130
        }
        Err(error) => {
            show_error(&error);
            1
        }
    }
}

/// Prints an error on standard error.
fn show_error(error: &anyhow::Error) {
    // Failing to print is ignored: the terminal is gone.
    let message = message(error);
    drop(writeln!(anstream::stderr(), "{}error:{:#} {}", table::ERROR, table::ERROR, table::printable(&message)));
}

/// Returns an error with its causes, except for causes that its text already contains.
fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text += &format!(": {cause}");
        }
    }
    text
}

/// Result of a command that succeeded, or of a check.
struct Done {
    /// Summary for standard output.
    text: String,
    /// Notes and warnings, printed on standard error after the summary.
    notes: Vec<String>,
    exit: u8,
}

impl Done {
    fn text(text: String) -> Self {
        Self { text, notes: Vec::new(), exit: 0 }
    }
}

fn execute(command: Command) -> anyhow::Result<Done> {
    match command {
        Command::Run(command) => command.run(),
        Command::View(command) => command.run(),
        Command::Resume(command) => command.run(),
        Command::Scene(command) => command.run(),
        Command::Static(command) => command.run(),
        Command::Modes(command) => command.run(),
        Command::Reduce(command) => command.run(),
        Command::Plot(command) => command.run(),
        Command::Render(command) => command.run(),
        Command::Reproduce { .. } => bail!(
            "`pliant reproduce` is a separate command now: in the repository, run `cargo run --release -p \
             pliant-reproduce -- NAME`"
        ),
        Command::Doctor => Ok(Done::text(doctor::report())),
        Command::Man { folder } => {
            clap_mangen::generate_to(Cli::command(), &folder).with_context(|| folder.display().to_string())?;
            Ok(Done::text(format!("wrote manual pages to {}\n", folder.display())))
        }
        Command::Mesh(command) => command.run(),
        Command::Matrices(matrices) => matrices.run(),
        Command::Laws => Ok(Done::text(laws::list())),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "pliant", &mut script);
            Ok(Done::text(String::from_utf8_lossy(&script).into_owned()))
        }
    }
}

fn print(done: &Done) -> u8 {
    let mut out = anstream::stdout().lock();
    let written = out.write_all(table::styled(&done.text).as_bytes()).and_then(|()| out.flush());
    show_notes(&done.notes);
    match written {
        // A closed pipe, as with `head`, is not an error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            drop(writeln!(anstream::stderr(), "{}error:{:#} standard output: {error}", table::ERROR, table::ERROR));
            1
        }
        _ => done.exit,
    }
}

/// Prints notes and warnings on standard error. Commands that compute call it before they start, and repeat the notes
/// in [`Done`].
fn show_notes(notes: &[String]) {
    let mut err = anstream::stderr().lock();
    for note in notes {
        // Failing to print is ignored: the terminal is gone.
        drop(writeln!(err, "{}note:{:#} {}", table::NOTE, table::NOTE, table::printable(note)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Placeholders that the help of their argument explains.
    const PLAIN: &[&str] = &[
        "ADDRESS", "COUNT", "FILE", "FOLDER", "HEIGHT", "LENGTH", "MESH", "NAME", "NUMBER", "PRESSURE", "RATE",
        "RATIO", "RUN", "SCENE", "SECONDS", "SYSTEM", "TIME", "TIMES", "WIDTH", "bou", "mtx",
    ];

    #[test]
    fn every_argument_is_explained_and_so_is_every_name_of_a_value() {
        fn visit(mut command: clap::Command) {
            let name = command.get_name().to_owned();
            let help = command.render_long_help().to_string();
            for argument in command.get_arguments() {
                let id = argument.get_id().as_str();
                let words = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!words.is_empty(), "{name}: {id} has no help");
                for value in argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string) {
                    // The name of the argument itself, in capitals.
                    let is_own = value.eq_ignore_ascii_case(id)
                        || value.split(['|', ',', '.', '=', '…']).all(|part| {
                            part.is_empty() || PLAIN.contains(&part) || words.to_uppercase().contains(part)
                        });
                    // It must be explained somewhere, not only named by the argument.
                    let is_explained = help.contains(&format!("{value} ")) || help.contains(&format!("{value},"));
                    let is_axis = value.trim_start_matches('N').len() == 1;
                    assert!(
                        is_own || is_axis || is_explained,
                        "{name}: {id} has a value {value} that is not explained"
                    );
                }
            }
            command.get_subcommands().cloned().for_each(visit);
        }
        visit(Cli::command());
    }

    #[test]
    fn the_help_of_static_says_how_to_choose_vertices() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("static").unwrap().render_long_help().to_string();
        for words in ["WHERE chooses vertices", "vertex set", "surface", "x<0.1", "3,7,12", ".bou"] {
            assert!(help.contains(words), "{words}: {help}");
        }
    }
}
