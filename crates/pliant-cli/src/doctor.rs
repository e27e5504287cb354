//! `pliant doctor`: capabilities of this build and this machine.

use pliant::io::FORMATS;
use pliant::material::AnyLaw;
use pliant::math::lane_count;
use pliant_pictures::Size;
use pliant_scene::output::{AnimationFormat, FORMATS as ANIMATIONS};

use crate::table::Listing;

pub fn report() -> String {
    let mut listing = Listing::default();
    listing.title("pliant", env!("CARGO_PKG_VERSION"));
    let build = if cfg!(debug_assertions) { "with debug assertions, slower than a release build" } else { "release" };
    listing.row("build", build);
    listing.row("machine", format!("{} on {}", std::env::consts::ARCH, std::env::consts::OS));
    let cores = std::thread::available_parallelism().map_or("unknown".into(), |count| count.to_string());
    listing.row("cores", cores);
    listing.row("vector unit", format!("{} doubles wide", lane_count()));
    listing.row("memory", memory().unwrap_or_else(|| "unknown".into()));
    let names = |list: Vec<&str>| list.join(", ");
    listing.row("laws", names(AnyLaw::ALL.iter().map(|law| law.name).collect()) + ", custom formulas");
    listing.row("mesh files", names(FORMATS.iter().flat_map(|format| format.extensions).copied().collect()));
    // Some formats need other programs.
    let mut missing = Vec::new();
    let mut available = |format: &&AnimationFormat| {
        let trial = format.images().map_or(Ok(()), |images| Size::new(64, 64).and_then(|size| images.check(size)));
        trial.map_err(|error| missing.push(format!("{}: {error}", format.name))).is_ok()
    };
    let animations: Vec<&str> =
        ANIMATIONS.iter().filter(&mut available).flat_map(|format| format.extensions).copied().collect();
    listing.row("animations", names(animations));
    missing.into_iter().for_each(|format| listing.row("unavailable", format));
    listing.into_text()
}

/// Returns the total and free memory if the system reports them.
fn memory() -> Option<String> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = |name: &str| -> Option<f64> {
        text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
    };
    let [total, free] = [kilobytes("MemTotal:")?, kilobytes("MemAvailable:")?].map(|kilobytes| kilobytes / 1e6);
    Some(format!("{total:.1} GB, {free:.1} GB free"))
}
