//! `pliant view`: scenes, meshes and runs in the browser.

use std::io::{self, IsTerminal, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::{Args, ValueHint};
use pliant_scene::run::Run;
use pliant_scene::scene::quantity::Time;
use pliant_viewer::{Live, Page, Playback, ServerParams, Show, Viewer, ViewerError};

use crate::Done;
use crate::default_scene::{self, BodyArgs, Purpose};
use crate::run::{is_stopped, listen, read_files, set_reduced, set_threads};

/// Simulate interactively in the browser.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct View {
    /// A scene (.toml, or VegaFEM's .config), meshes and surfaces, which are dropped on the ground, or the folder of a
    /// run, which is played back.
    #[arg(value_name = "SCENE|MESH|RUN", required = true, value_hint = ValueHint::AnyPath)]
    files: Vec<PathBuf>,
    /// Override the time step, in s, as a fraction such as 1/60, or with a unit, as in "5 ms".
    #[arg(long, value_name = "TIME")]
    step: Option<Time>,
    /// Simulate with this reduced model, built from the scene by `pliant reduce`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    reduced: Option<PathBuf>,
    /// Start paused.
    #[arg(long)]
    paused: bool,
    /// Port to listen on; 0 chooses a free one [default: 8490, or a free port if that is taken].
    #[arg(long)]
    port: Option<u16>,
    /// Address to listen on. With another than the default, other machines can connect: the printed address then
    /// contains the access key.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    listen: IpAddr,
    /// Host name besides localhost under which browsers may connect. May be given several times.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Do not open a browser.
    #[arg(long)]
    no_browser: bool,
    /// Number of threads [default: all cores].
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    #[command(flatten)]
    bodies: BodyArgs,
}

/// Default port.
const PORT: u16 = 8490;

impl View {
    pub fn run(&self) -> anyhow::Result<Done> {
        set_threads(self.threads)?;
        let page = there(Page::embedded())?;
        let viewer = if let Some(folder) = self.files.iter().find(|path| path.is_dir()) {
            if self.files.len() > 1 {
                bail!("{}: a run is played back alone, without other files", folder.display());
            }
            if let Some(option) = [("--step", self.step.is_some()), ("--reduced", self.reduced.is_some())]
                .into_iter()
                .find_map(|(name, is_given)| is_given.then_some(name))
            {
                bail!("{option} applies to scenes, but {} is a finished run", folder.display());
            }
            if let Some(option) = self.bodies.given() {
                bail!("{option} applies to meshes and surfaces, but {} is a finished run", folder.display());
            }
            let playback = Playback::new(Run::open(folder)?)?;
            crate::show_notes(playback.notes());
            self.start(page, || if self.paused { playback.paused() } else { playback })?
        } else {
            let mut notes = Vec::new();
            let mut file = read_files(&self.files, &self.bodies, Purpose::View, &mut notes)?;
            if let Some(step) = self.step {
                file.scene.set_step(step.si);
            }
            if let Some(reduced) = &self.reduced {
                set_reduced(&mut file, reduced)?;
            }
            file.notes.append(&mut notes);
            let speed = default_scene::play_speed(&file);
            let live = Live::new(file)?.at_speed(speed);
            // The page shows the notes too.
            crate::show_notes(live.notes());
            self.start(page, || if self.paused { live.paused() } else { live })?
        };
        listen();
        self.announce(&viewer)?;
        while !is_stopped() {
            if viewer.has_ended() {
                bail!("the simulation ended unexpectedly, which is a bug in Pliant; please report the message above");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(Done::text(String::new()))
    }

    fn start<S: Show>(&self, page: Page, show: impl FnOnce() -> S) -> anyhow::Result<Viewer> {
        let params = ServerParams { listen: self.listen, port: self.port.unwrap_or(PORT), names: self.name.clone() };
        // The default port may be taken by another viewer; a port that was given may not.
        let listener = match (Viewer::listen(&params), self.port) {
            (Err(ViewerError::Listen { cause, .. }), None) if cause.kind() == io::ErrorKind::AddrInUse => {
                Viewer::listen(&ServerParams { port: 0, ..params.clone() })
            }
            (listener, _) => listener,
        };
        Ok(Viewer::start(listener?, &params, page, show())?)
    }

    fn announce(&self, viewer: &Viewer) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", viewer.address())?;
        out.flush()?;
        if !self.listen.is_loopback() {
            let warning = "other machines can connect; anyone with the full address can watch and interact";
            writeln!(anstream::stderr(), "{}note:{:#} {warning}", crate::table::NOTE, crate::table::NOTE)?;
        }
        let has_screen = cfg!(not(target_os = "linux"))
            || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
        if out.is_terminal() {
            writeln!(anstream::stderr(), "Press Ctrl-C to stop.")?;
        }
        if !self.no_browser && has_screen && out.is_terminal() {
            // Without a browser, the user still has the address.
            drop(open::that_detached(viewer.address()));
        }
        Ok(())
    }
}

/// Returns the page, or an error that explains how to build it.
fn there(page: Option<Page>) -> anyhow::Result<Page> {
    page.ok_or_else(|| {
        anyhow!(
            "this pliant was built without the viewer's page. In the source, `make page` builds it (with Node.js 20.19 or later), and \
             `cargo build --release` then puts it into the command; `make` does both"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_page_the_command_says_how_to_build_it() {
        let error = there(None).unwrap_err().to_string();
        assert!(error.contains("`make page`") && error.contains("Node.js"), "{error}");
        assert!(there(Some(Page::default())).is_ok());
    }
}
