//! Plots of the time series of a run.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use pliant::io::{Disk, Files};
use pliant::simulation::{COLUMNS, Table};
use pliant_pictures::{Figure, Plot as Panel, Series};
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

/// Pixels per unit of a figure.
const PIXELS: f64 = 1.5;

impl Plot {
    pub fn run(&self) -> anyhow::Result<Done> {
        let run = Run::open(&self.folder)?;
        let table = run.table()?;
        let panels = if self.columns.is_empty() { panels(&table) } else { self.chosen(&table)? };
        let figure = Figure { panels, ..Figure::default() };
        let files = match &self.output {
            None => write_both(&run, &figure)?,
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

/// Writes the plots of a run, as SVG and PNG.
pub fn write(run: &Run) -> anyhow::Result<Vec<PathBuf>> {
    write_both(run, &Figure { panels: panels(&run.table()?), ..Figure::default() })
}

fn write_both(run: &Run, figure: &Figure) -> anyhow::Result<Vec<PathBuf>> {
    let [svg, png] = ["svg", "png"].map(|extension| run.folder().join(format!("plots.{extension}")));
    Disk.write(&svg, figure.svg()?.as_bytes())?;
    Disk.write(&png, &figure.image(PIXELS)?.png()?)?;
    Ok(vec![svg, png])
}

/// Returns the panels: energies, volume, and one per probe.
fn panels(table: &Table) -> Vec<Panel> {
    let energies = ["kinetic_energy", "elastic_energy", "gravitational_energy", "other_energy", "total_energy"];
    let is_there = |name: &&str| {
        let column = table.columns.iter().position(|own| own == name);
        column.is_some_and(|column| table.rows.iter().any(|row| row[column] != 0.0))
    };
    let energies: Vec<&str> = energies.into_iter().filter(is_there).collect();
    let mut panels = vec![
        Panel { y_label: "energy, J".into(), ..panel_of(table, "_energy", &energies) },
        Panel { y_label: "volume, m³".into(), ..panel_of(table, "", &["volume"]) },
    ];
    let probes: Vec<&str> = table.columns.iter().map(String::as_str).filter(|name| !COLUMNS.contains(name)).collect();
    // `tip.x` and `tip.y` share a panel.
    let probe_of = |column: &&str| column.rsplit_once('.').map_or(*column, |(name, _)| name).to_owned();
    for group in probes.chunk_by(|a, b| probe_of(a) == probe_of(b)) {
        panels.push(Panel { y_label: probe_of(&group[0]), ..panel_of(table, "", group) });
    }
    panels
}

fn panel_of(table: &Table, ending: &str, columns: &[&str]) -> Panel {
    let series = columns.iter().filter_map(|name| {
        let column = table.columns.iter().position(|own| own == name)?;
        let points = table.rows.iter().map(|row| (row[0], row[column])).collect();
        Some(Series::new(name.strip_suffix(ending).unwrap_or(name), points))
    });
    Panel { x_label: "time, s".into(), series: series.collect(), ..Panel::default() }
}
