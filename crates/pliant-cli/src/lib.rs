//! The command line of Pliant.
//!
//! Exit status: 0 done; 1 it could not be done, or a mesh cannot be simulated; 2 the command line was not understood; 130 stopped by
//! Ctrl-C.

mod default_scene;
mod doctor;
mod fill;
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
mod reproduce;
mod run;
mod scene;
mod statics;
mod table;
mod view;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use pliant::meshing::stoppable;

const STYLES: clap::builder::Styles = clap::builder::Styles::styled()
    .header(table::HEADING)
    .usage(table::HEADING)
    .literal(table::LITERAL)
    .error(table::ERROR);

const AFTER_HELP: &str = "\
Try it:
  pliant run scenes/twisting-beam.toml --gif  simulate a scene, and see it
  pliant view ring.veg                        pull on a mesh with the mouse
  pliant run ring.veg --glb                   drop a mesh on the ground, for Blender
  pliant modes ring.veg --gif                 how it likes to vibrate
  pliant mesh generate torus -o ring.veg      make a mesh
  pliant mesh info ring.veg                   a table about any mesh file
  pliant mesh convert ring.veg ring.vtu       open it in ParaView
  pliant mesh check ring.veg && echo fine     can it be simulated?
  pliant matrices ring.veg --law stvk --young 1e6 --poisson 0.45 --density 1000 -o ring
                                              stiffness, mass and damping for SciPy

Exit status: 0 done; 1 it could not be done, or a mesh cannot be simulated;
2 the command line was not understood; 130 stopped by Ctrl-C.";

/// Simulate 3D deformable solids with finite elements.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, styles = STYLES, after_help = AFTER_HELP, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scene, or drop a mesh on the ground: an animation, plots and numbers.
    ///
    /// In the folder: probes.csv with energies, volume, momentum and what the scene asks for; frames/ with displacements and velocities for
    /// NumPy; and what --vtu, --glb, --gif and the others or the scene ask for. Ctrl-C stops after the step, and `pliant resume`
    /// goes on.
    Run(run::RunCommand),
    /// Simulate in real time and pull on it with the mouse, in the browser; or play back a run.
    ///
    /// Prints the address of the page, and opens it if there is a screen. Only this machine can reach it, unless --listen says otherwise. From elsewhere: `ssh -L
    /// 8490:127.0.0.1:8490 HOST`, then open the address. Ctrl-C ends it.
    View(view::View),
    /// Go on with a run that was stopped or killed. The result is the same to the last bit.
    Resume(run::Resume),
    /// Look at scenes without running them, and describe their format.
    #[command(subcommand, arg_required_else_help = true)]
    Scene(scene::SceneCommand),
    /// Find how a mesh deforms under loads, without a scene.
    ///
    /// WHERE chooses vertices: a vertex set of the mesh (`pliant mesh info` lists them), `all` or `surface`; a side such as "x<0.1" or
    /// "y>2 cm"; indices such as 3,7,12, from 0; or a .bou file. X, Y and Z are the components of a vector. Numbers are in SI units, or have a
    /// unit, as in "1 MPa". Example: pliant static beam.veg --fix "x<0" --force "x>1" 0 -10 0
    Static(statics::Static),
    /// Find the natural frequencies and modes of a scene or a mesh, and show them.
    Modes(modes::ModesCommand),
    /// Make a reduced model of a scene: a few directions in which it moves, and thousands of steps a second.
    ///
    /// The basis is made of modes and their derivatives, of snapshots of a run, of both, or given. Then put `reduced = "FILE"` into the scene, or run it with
    /// --reduced FILE.
    Reduce(reduce::Reduce),
    /// Plot energies, volume and probes of a run.
    Plot(plot::Plot),
    /// Make pictures and films of a run, or write it in other formats.
    Render(pictures::Render),
    /// Run experiments of the papers again, with tables and figures; lists them if none is named.
    Reproduce(reproduce::Reproduce),
    /// Look at, check, convert and make meshes.
    #[command(subcommand, arg_required_else_help = true)]
    Mesh(mesh::MeshCommand),
    /// Write stiffness, mass and damping of a body as sparse matrices, and the elastic force, for other programs.
    ///
    /// Files in the folder: K, M and D as Matrix Market .mtx and as .npz for SciPy's `load_npz`; force as .mtx and .npy; energy and
    /// sizes in summary.json. Three rows for each vertex, in SI units; the force is the gradient of the energy.
    Matrices(matrices::Matrices),
    /// Say what this build of Pliant and this machine have.
    Doctor,
    /// List the elastic laws: formula, coefficients, options, what each is good for.
    Laws,
    /// Print a script that completes commands in your shell.
    ///
    /// For bash: pliant completions bash > ~/.local/share/bash-completion/completions/pliant
    Completions {
        /// The shell to complete in.
        shell: clap_complete::Shell,
    },
    /// Write manual pages, one for each command, for `man`.
    Man {
        /// The folder to write to.
        #[arg(value_hint = clap::ValueHint::DirPath)]
        folder: std::path::PathBuf,
    },
}

/// Run the command line `args`, the name of the program first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(status(args))
}

/// The same, for programs that have the command inside, once in a process: it takes over Ctrl-C. Returns the exit status.
pub fn status(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap, but not to the user. If the terminal is gone there is nobody to tell.
            drop(error.print());
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    let done = run::take_over_interrupts().and_then(|()| stoppable(run::is_stopped, || execute(cli.command)));
    match done {
        Ok(done) => print(&done),
        Err(_) if run::is_stopped() => {
            // As above.
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
    // If the terminal is gone there is nobody to tell.
    let message = message(error);
    drop(writeln!(anstream::stderr(), "{}error:{:#} {}", table::ERROR, table::ERROR, table::printable(&message)));
}

/// An error with its causes, but for those that its text has told already.
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

/// Result of a command that succeeded or gave a verdict.
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
        Command::Reproduce(command) => command.run(),
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
        // A reader that has seen enough, like `head`, is no fault.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            drop(writeln!(anstream::stderr(), "{}error:{:#} standard output: {error}", table::ERROR, table::ERROR));
            1
        }
        _ => done.exit,
    }
}

/// Prints notes and warnings on standard error. Commands that compute call this first, and repeat the notes in [`Done`].
fn show_notes(notes: &[String]) {
    let mut err = anstream::stderr().lock();
    for note in notes {
        // If the terminal is gone there is nobody to read them.
        drop(writeln!(err, "{}note:{:#} {}", table::NOTE, table::NOTE, table::printable(note)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of values that need no words but those of their argument.
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
                    // Once with the argument is not enough: somewhere it must be said what it is.
                    let is_explained = help.contains(&format!("{value} ")) || help.contains(&format!("{value},"));
                    let is_axis = value.trim_start_matches('N').len() == 1;
                    assert!(
                        is_own || is_axis || is_explained,
                        "{name}: {id} has a value {value} that is nowhere explained"
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
