//! Plots of the time series of a run.

use std::path::{Path, PathBuf};

use pliant::files::{Disk, Files};
use pliant::simulation::{COLUMNS, Table};
use pliant_pictures::{Figure, Plot as Panel, Series};

use crate::output::ImageError;

/// Pixels per unit of a figure.
pub const PIXELS: f64 = 1.5;

/// Returns the files of the plots of a run in its folder.
pub fn files(folder: &Path) -> [PathBuf; 2] {
    ["svg", "png"].map(|extension| folder.join(format!("plots.{extension}")))
}

/// Writes a figure to a folder, as SVG and PNG. Returns the files.
pub fn write(figure: &Figure, folder: &Path) -> Result<[PathBuf; 2], ImageError> {
    let [svg, png] = files(folder);
    Disk.write(&svg, figure.svg()?.as_bytes())?;
    Disk.write(&png, &figure.image(PIXELS)?.png()?)?;
    Ok([svg, png])
}

/// Returns the figure with the [standard panels](panels).
pub fn figure(table: &Table) -> Figure {
    Figure { panels: panels(table), ..Figure::default() }
}

/// Returns the standard panels: energies, volume, and one per probe.
pub fn panels(table: &Table) -> Vec<Panel> {
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

/// Returns a panel with a curve per column, without the end of its name.
///
/// Unknown columns are left out.
pub fn panel_of(table: &Table, ending: &str, columns: &[&str]) -> Panel {
    let series = columns.iter().filter_map(|name| {
        let column = table.columns.iter().position(|own| own == name)?;
        let points = table.rows.iter().map(|row| (row[0], row[column])).collect();
        Some(Series::new(name.strip_suffix(ending).unwrap_or(name), points))
    });
    Panel { x_label: "time, s".into(), series: series.collect(), ..Panel::default() }
}
