//! Plots of the time series of a run.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use pliant::files::{Disk, Files};
use pliant::simulation::Table;
use pliant_pictures::{Figure, Plot as Panel};
use pliant_scene::plots::{self, PIXELS, panel_of, panels};
use pliant_scene::run::Run;

use crate::Done;

/// Plot energies, volume and probes of a run.
#[derive(Debug, Args)]
pub struct Plot {
    /// Folder of the run.
    #[arg(value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// Columns of probes.csv to plot instead, each group in a separate panel.
    #[arg(long, value_name = "COLUMN,COLUMN…")]
    columns: Vec<String>,
    /// File to write, .svg or .png [default: plots.svg and plots.png in the folder].
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

impl Plot {
    pub fn run(&self) -> anyhow::Result<Done> {
        let run = Run::open(&self.folder)?;
        let table = run.table()?;
        let panels = if self.columns.is_empty() { panels(&table) } else { self.chosen(&table)? };
        let figure = Figure { panels, ..Figure::default() };
        let files = match &self.output {
            None => plots::write(&figure, run.folder())?.into(),
            Some(path) => {
                let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
                let bytes = match extension.as_deref() {
                    Some("png") => figure.image(PIXELS)?.png()?,
                    Some("svg") => figure.svg()?.into_bytes(),
                    _ => anyhow::bail!("{}: expected a name ending in .svg or .png", path.display()),
                };
                Disk.write(path, &bytes)?;
                vec![path.clone()]
            }
        };
        Ok(Done::text(files.iter().map(|file| format!("wrote {}\n", file.display())).collect()))
    }

    fn chosen(&self, table: &Table) -> anyhow::Result<Vec<Panel>> {
        let panel = |group: &String| {
            let names: Vec<&str> = group.split(',').collect();
            let missing = names.iter().find(|name| table.columns.iter().all(|own| own != *name));
            match missing {
                Some(name) => Err(anyhow::anyhow!(
                    "--columns: unknown column `{name}`; expected one of {}",
                    table.columns.join(", ")
                )),
                None => Ok(Panel { y_label: names.join(", "), ..panel_of(table, "", &names) }),
            }
        };
        self.columns.iter().map(panel).collect()
    }
}
