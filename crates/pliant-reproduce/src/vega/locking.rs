//! Deflection and volume of a beam for Poisson's ratios up to the incompressible limit.

use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::Cells;
use pliant::model::Assembly;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use super::beam::{self, kind_name};
use crate::bodies::DENSITY;
use crate::measure::{digits, exponent};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-locking",
    paper: &paper::VEGA,
    part: "figures 8 and 10",
    title: "Locking and volume against Poisson's ratio",
    reports: "Bodies of linear elements lock: under a given load their deflection decreases as Poisson's ratio approaches ½, although it should not. \
              Finer meshes lock less. The volume is preserved better as the ratio approaches ½, and with a negative ratio a stretched body becomes \
              thicker.",
    run,
};

/// Young's modulus \[Pa\].
const YOUNG: f64 = 1e6;
/// Length of the beam \[m\].
const LENGTH: f64 = 1.0;
/// Side of the square cross section \[m\].
const WIDTH: f64 = 0.2;
/// Theoretical deflection of the tip \[m\].
const DEFLECTION: f64 = 0.01;
/// Theoretical strain of the stretched beam.
const STRAIN: f64 = 0.01;
const RATIOS: &[f64] = &[-0.5, -0.25, 0.0, 0.2, 0.3, 0.4, 0.45, 0.49, 0.499, 0.4999];
/// Poisson's ratio without locking.
const PLAIN: f64 = 0.0;
/// Poisson's ratio at which finer meshes still lock less.
const HIGH: f64 = 0.49;
const EXTREME: f64 = 0.4999;
const KINDS: [Cells; 3] = [Cells::Tet5, Cells::Tet6, Cells::Hex];

/// Results of a mesh for each ratio in [`RATIOS`].
struct Mesh {
    kind: Cells,
    across: usize,
    elements: usize,
    /// Deflection relative to theory.
    deflections: Vec<f64>,
    /// Relative change of volume when stretched, divided by the strain.
    swellings: Vec<f64>,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let sizes: &[usize] = page.pick(&[2, 4, 8], &[2, 4]);
    page.text(format!(
        "A beam of {LENGTH} × {WIDTH} × {WIDTH} m is clamped at one end. It consists of 5 tetrahedra per cell in alternating orientation, of 6 per cell, or of hexahedra with 2×2×2 Gauss points, \
         with {} cells across. The law is neo-Hookean (Bonet–Wood) with `Y` = {} Pa. The end is loaded either by a transverse force \
         with a deflection of {DEFLECTION} m in Timoshenko's theory, or by an axial force with a theoretical strain of {} %.",
        sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), digits(YOUNG, 2), digits(100.0 * STRAIN, 2)
    ));
    let mut meshes = Vec::new();
    for kind in KINDS {
        for &across in sizes {
            meshes.push(Mesh::new(page, kind, across)?);
        }
    }
    let plot = |kind: Cells, y_label: &str, numbers: fn(&Mesh) -> &[f64]| Plot {
        title: kind_name(kind).into(),
        x_label: "1 − 2ν".into(),
        y_label: y_label.into(),
        x_scale: Scale::Logarithmic,
        series: meshes.iter().filter(|mesh| mesh.kind == kind).map(|mesh| mesh.series(numbers(mesh))).collect(),
        ..Plot::default()
    };
    let panels = KINDS.map(|kind| plot(kind, "deflection / theory", |mesh| &mesh.deflections));
    let figure = |panels: [Plot; 3]| Figure { panels: panels.to_vec(), panel_height: 260, ..Figure::default() };
    page.figure("deflection", "Deflection of the bent beam; incompressible to the left", figure(panels))?;
    let panels = KINDS.map(|kind| Plot {
        y_scale: Scale::Logarithmic,
        ..plot(kind, "volume gained / (volume × strain)", |mesh| &mesh.swellings)
    });
    page.figure("volume", "Volume of the stretched beam; incompressible to the left", figure(panels))?;
    let heading: Vec<String> =
        std::iter::once("mesh".into()).chain(RATIOS.iter().map(|nu| format!("ν = {nu}"))).collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let rows = |numbers: fn(&Mesh) -> &[f64]| {
        let row = |mesh: &Mesh| [vec![mesh.name()], numbers(mesh).iter().map(|x| digits(*x, 3)).collect()].concat();
        meshes.iter().map(row).collect()
    };
    page.table("deflections", "Deflection relative to theory", &heading, rows(|mesh| &mesh.deflections))?;
    page.table(
        "volumes",
        "Relative change of volume when stretched, divided by the strain; 1 − 2ν in theory",
        &heading,
        rows(|mesh| &mesh.swellings),
    )?;
    find(page, &meshes);
    Ok(())
}

impl Mesh {
    fn new(page: &Page<'_>, kind: Cells, across: usize) -> anyhow::Result<Self> {
        let mesh = beam::mesh(LENGTH, WIDTH, across, kind)?;
        let mut all = Self { kind, across, elements: mesh.element_count(), deflections: vec![], swellings: vec![] };
        let end = beam::set(&mesh, beam::FREE)?;
        let at_rest = mesh.volume();
        for &poisson in RATIOS {
            let moduli = YoungPoisson { young: YOUNG, poisson };
            let model = beam::clamped(mesh.clone(), beam::bare_law("neo-hookean", moduli)?, DENSITY)?;
            let mut assembly = Assembly::new(model);
            let what = format!("{}, ν = {poisson}", all.name());
            let mut state = assembly.rest_state();
            let push = DEFLECTION / compliance(moduli);
            assembly.model_mut().loads_mut().copy_from_slice(&beam::end_force(&mesh, Vec3::Y * push)?);
            beam::settle(page, &what, &mut assembly, &mut state)?;
            all.deflections.push(beam::mean_displacement(&state, end).y / DEFLECTION);
            let mut state = assembly.rest_state();
            assembly
                .model_mut()
                .loads_mut()
                .copy_from_slice(&beam::end_force(&mesh, Vec3::X * (STRAIN * YOUNG * WIDTH * WIDTH))?);
            beam::settle(page, &what, &mut assembly, &mut state)?;
            all.swellings.push((assembly.model().bodies()[0].volume(&state.q) / at_rest - 1.0) / STRAIN);
        }
        Ok(all)
    }

    fn name(&self) -> String {
        format!("{} {}, {} across", self.elements, kind_name(self.kind), self.across)
    }

    fn series(&self, numbers: &[f64]) -> Series {
        let points = RATIOS.iter().zip(numbers).map(|(poisson, number)| (1.0 - 2.0 * poisson, *number));
        Series { style: Style::LineAndMarkers, ..Series::new(self.name(), points.collect()) }
    }

    /// Returns the number for a ratio.
    fn at(numbers: &[f64], ratio: f64) -> f64 {
        RATIOS.iter().position(|nu| *nu == ratio).map_or(f64::NAN, |i| numbers[i])
    }

    /// Returns the deflection at a ratio relative to that without locking.
    fn left(&self, ratio: f64) -> f64 {
        Self::at(&self.deflections, ratio) / Self::at(&self.deflections, PLAIN)
    }
}

/// Returns the tip deflection per force \[m/N\] of Timoshenko's theory: bending, and shear with Cowper's coefficient.
fn compliance(moduli: YoungPoisson) -> f64 {
    let nu = moduli.poisson;
    let (area, inertia) = (WIDTH * WIDTH, WIDTH.powi(4) / 12.0);
    let shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
    LENGTH.powi(3) / (3.0 * moduli.young * inertia) + LENGTH / (shear * moduli.mu() * area)
}

fn find(page: &mut Page<'_>, meshes: &[Mesh]) {
    let [fives, sixes, hexes] = KINDS.map(|kind| meshes.iter().filter(|mesh| mesh.kind == kind).collect::<Vec<_>>());
    let list = |meshes: &[&Mesh], ratio: f64| {
        meshes.iter().map(|mesh| format!("{} %", digits(100.0 * mesh.left(ratio), 3))).collect::<Vec<_>>().join(", ")
    };
    page.finding(
        format!(
            "tetrahedra lock: at ν = {EXTREME} a mesh with 6 per cell bends far less than at ν = {PLAIN}, under loads with the same theoretical deflection"
        ),
        sixes.iter().all(|mesh| mesh.left(EXTREME) < 0.3),
        format!("{} of that deflection, from coarse to fine", list(&sixes, EXTREME)),
    );
    let less = |ratio: f64| sixes.iter().zip(&hexes).all(|(tets, hexes)| hexes.left(ratio) > tets.left(ratio));
    page.finding(
        "hexahedra also lock, but less than 6 tetrahedra per cell with the same vertices",
        less(HIGH) && less(EXTREME) && hexes.iter().all(|mesh| mesh.left(EXTREME) < 0.6),
        format!("{} at ν = {HIGH}, {} at ν = {EXTREME}", list(&hexes, HIGH), list(&hexes, EXTREME)),
    );
    let improves = |meshes: &[&Mesh]| meshes.windows(2).all(|w| w[1].left(HIGH) > w[0].left(HIGH));
    page.finding(
        format!("refinement reduces locking: at ν = {HIGH} finer meshes lose less of their deflection"),
        improves(&sixes) && improves(&hexes),
        format!("6 tets per cell: {}; hexes: {}", list(&sixes, HIGH), list(&hexes, HIGH)),
    );
    page.finding(
        "the split of a cell matters: 5 tetrahedra per cell in alternating orientation hardly lock",
        fives.iter().all(|mesh| mesh.left(EXTREME) > 0.7),
        format!("{} at ν = {EXTREME}", list(&fives, EXTREME)),
    );
    let finest = [fives[fives.len() - 1], sixes[sixes.len() - 1], hexes[hexes.len() - 1]];
    let plain = finest.map(|mesh| Mesh::at(&mesh.deflections, PLAIN));
    page.finding(
        "far from ½, fine meshes agree with beam theory",
        plain.iter().all(|d| (0.8..1.05).contains(d)),
        format!("{} times the theoretical deflection at ν = {PLAIN}", plain.map(|part| digits(part, 3)).join(", ")),
    );
    let to_the_limit = |mesh: &Mesh| {
        let points = RATIOS.iter().zip(&mesh.swellings).filter(|(nu, _)| **nu >= 0.4);
        exponent(&points.map(|(nu, v)| (1.0 - 2.0 * nu, *v)).collect::<Vec<_>>())
    };
    let powers = finest.map(to_the_limit);
    page.finding(
        "the change of volume vanishes like 1 − 2ν",
        powers.iter().all(|power| (power - 1.0).abs() < 0.15),
        format!("with the powers {} of 1 − 2ν on the finest meshes", powers.map(|power| digits(power, 3)).join(", ")),
    );
    let auxetic = finest.map(|mesh| Mesh::at(&mesh.swellings, -0.5));
    page.finding(
        "with a negative ratio a stretched body becomes thicker: its volume grows by more than its length",
        auxetic.iter().all(|swelling| (1.7..2.1).contains(swelling)),
        format!(
            "by {} times the strain at ν = −0.5, 2 in theory",
            auxetic.map(|swelling| digits(swelling, 3)).join(", ")
        ),
    );
}
