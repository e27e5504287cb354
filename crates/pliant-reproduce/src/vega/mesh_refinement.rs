//! Cantilever on successively finer meshes, compared with beam theory.

use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::Cells;
use pliant::model::Assembly;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use super::beam::{self, kind_name};
use crate::bodies::DENSITY;
use crate::measure::{digits, exponent};
use crate::picture::{PosedSurface, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-mesh-refinement",
    paper: &paper::VEGA,
    part: "figure 9",
    title: "A cantilever under mesh refinement",
    reports: "Coarse meshes are too stiff. With refinement the deflection converges. For a slender beam with large deflection but small \
              strain, St. Venant–Kirchhoff and corotational elasticity converge to nearly the same shape.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.3 };
/// Length of the beam \[m\].
const LENGTH: f64 = 1.0;
/// Side of the square cross section \[m\].
const WIDTH: f64 = 0.1;
/// Forces on the end, times `L²/(Y I)`: one for small and one for large deflections.
const FORCES: [f64; 2] = [0.03, 3.0];
const LAWS: [&str; 2] = ["stvk", "corotational"];

/// Bent beam on one mesh.
struct Bent {
    kind: Cells,
    across: usize,
    vertices: usize,
    law: &'static str,
    /// Displacement of the end under each force \[m\].
    tips: [Vec3; 2],
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let sizes: &[usize] = page.pick(&[1, 2, 4, 8], &[1, 2, 4]);
    page.text(format!(
        "A beam of {LENGTH} × {WIDTH} × {WIDTH} m, clamped at one end, with `Y` = {} Pa and `ν` = {}, consists of 5 tetrahedra per cell or of hexahedra, with {} \
         cells across. The force on its end is {} `Y I/L²` for a small and {} `Y I/L²` for a large deflection. Theory is the Timoshenko beam \
         for the small force, and for the large one the elastica, which neglects stretch and shear.",
        digits(MODULI.young, 2), MODULI.poisson, sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), FORCES[0], FORCES[1]
    ));
    let mut all: Vec<Bent> = Vec::new();
    let mut surfaces = Vec::new();
    for kind in [Cells::Tet5, Cells::Hex] {
        for law in LAWS {
            for &across in sizes {
                let (bent, surface) = bend(page, kind, across, law)?;
                if law == "stvk" {
                    surfaces.push(surface);
                }
                all.push(bent);
            }
        }
    }
    let theory = [Vec3::Y * timoshenko(FORCES[0]), elastica(FORCES[1])];
    let families: Vec<&[Bent]> = all.chunks(sizes.len()).collect();
    let limits = limits(&families);
    let name = |family: &[Bent]| format!("{}, {}", kind_name(family[0].kind), family[0].law);
    let panel = |i: usize, title: &str| {
        let points = |family: &[Bent]| family.iter().map(|b| (b.cell(), b.excess(i, &limits))).collect();
        let series = families
            .iter()
            .map(|family| Series { style: Style::LineAndMarkers, ..Series::new(name(family), points(family)) });
        Plot {
            title: title.into(),
            x_label: "cell size, m".into(),
            y_label: "excess stiffness".into(),
            series: series.collect(),
            x_scale: Scale::Logarithmic,
            y_scale: Scale::Logarithmic,
        }
    };
    let panels = vec![panel(0, "small force"), panel(1, "large force")];
    let caption = "Relative excess stiffness against the cell size: the limit of the deflection of hexahedra, divided by the deflection of \
                   the mesh, minus 1";
    page.figure("convergence", caption, Figure { panels, ..Figure::default() })?;
    let image = draw(&surfaces, "", [1200, 560])?;
    page.picture(
        "bent",
        &format!(
            "Shapes under the large force, St. Venant–Kirchhoff: tets above and hexes below, from left to right with {} cells across",
            sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
        &image,
    )?;
    let mut rows: Vec<Vec<String>> = all.iter().map(Bent::row).collect();
    let cells = |x: Vec3| vec![digits(-x.x, 4), digits(x.y, 4)];
    rows.push([vec!["beam theory".into(), "–".into(), "–".into(), digits(theory[0].y, 4)], cells(theory[1])].concat());
    let heading = [
        "mesh",
        "law",
        "vertices",
        "small force: transverse, m",
        "large force: axial, m",
        "large force: transverse, m",
    ];
    page.table("tips", "Displacement of the end", &heading, rows)?;
    find(page, &families, limits, theory);
    Ok(())
}

impl Bent {
    /// Returns the edge of a cell \[m\].
    fn cell(&self) -> f64 {
        WIDTH / self.across as f64
    }

    /// Returns the relative excess stiffness of the beam.
    ///
    /// It is proportional to the square of the cell size also on coarse meshes, where the error of the deflection,
    /// which is at most 1, no longer is.
    fn excess(&self, force: usize, limits: &[Vec3; 2]) -> f64 {
        (limits[force].y / self.tips[force].y - 1.0).abs()
    }

    fn row(&self) -> Vec<String> {
        vec![
            format!("{}, {} across", kind_name(self.kind), self.across),
            self.law.to_owned(),
            self.vertices.to_string(),
            digits(self.tips[0].y, 4),
            digits(-self.tips[1].x, 4),
            digits(self.tips[1].y, 4),
        ]
    }
}

fn bend(page: &Page<'_>, kind: Cells, across: usize, law: &'static str) -> anyhow::Result<(Bent, PosedSurface)> {
    let mesh = beam::mesh(LENGTH, WIDTH, across, kind)?;
    let end = beam::set(&mesh, beam::FREE)?.to_vec();
    let mut assembly = Assembly::new(beam::clamped(mesh.clone(), beam::bare_law(law, MODULI)?, DENSITY)?);
    let mut state = assembly.rest_state();
    let mut tips = [Vec3::ZERO; 2];
    for (tip, force) in tips.iter_mut().zip(FORCES) {
        let push = force * rigidity() / (LENGTH * LENGTH);
        assembly.model_mut().loads_mut().copy_from_slice(&beam::end_force(&mesh, Vec3::Y * push)?);
        let what = format!("{}, {across} across, {law}, force {force}", kind_name(kind));
        beam::settle(page, &what, &mut assembly, &mut state)?;
        *tip = beam::mean_displacement(&state, &end);
    }
    // Side by side, so that no beam hides another.
    let column = f64::from(across.ilog2());
    let row = if kind == Cells::Hex { 1.0 } else { 0.0 };
    let surface = PosedSurface::new(assembly.model(), &state, LENGTH * Vec3::new(1.1 * column, -0.95 * row, 0.0));
    Ok((Bent { kind, across, vertices: mesh.vertex_count(), law, tips }, surface))
}

/// Returns the bending rigidity `Y I` \[N m²\].
fn rigidity() -> f64 {
    MODULI.young * WIDTH.powi(4) / 12.0
}

/// Returns the limits of the small and the large deflection \[m\], extrapolated from the finest two meshes of hexahedra
/// to cell size zero, as the mean of both laws.
fn limits(families: &[&[Bent]]) -> [Vec3; 2] {
    let hexes = families.iter().filter(|family| family[0].kind == Cells::Hex);
    let ends: Vec<[Vec3; 2]> = hexes
        .map(|family| {
            let [.., coarse, fine] = family else { return [Vec3::NAN; 2] };
            // Richardson extrapolation, since halving the cells divides the error by four.
            std::array::from_fn(|i| (4.0 * fine.tips[i] - coarse.tips[i]) / 3.0)
        })
        .collect();
    std::array::from_fn(|i| ends.iter().map(|end| end[i]).sum::<Vec3>() / ends.len() as f64)
}

/// Returns the Timoshenko deflection \[m\] under a force times `L²/(Y I)`, with Cowper's shear coefficient.
fn timoshenko(force: f64) -> f64 {
    let nu = MODULI.poisson;
    let shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu) * MODULI.mu() * WIDTH * WIDTH;
    force * (LENGTH / 3.0 + rigidity() / (LENGTH * shear))
}

/// Returns the displacement of the end of an elastica \[m\] under a force times `L²/(Y I)`.
///
/// It solves `θ″ = −f cos θ` with `θ = 0` at the clamped end and `θ′ = 0` at the free end.
fn elastica(force: f64) -> Vec3 {
    let steps = 2000;
    let h = 1.0 / f64::from(steps);
    let integrate = |bend: f64| {
        let (mut angle, mut bend, mut place) = (0.0_f64, bend, Vec3::ZERO);
        for _ in 0..steps {
            // Midpoint rule.
            let middle = angle + 0.5 * h * bend;
            let middle_bend = bend - 0.5 * h * force * angle.cos();
            angle += h * middle_bend;
            bend -= h * force * middle.cos();
            place += h * Vec3::new(middle.cos() - 1.0, middle.sin(), 0.0);
        }
        (bend, LENGTH * place)
    };
    let (mut low, mut high) = (0.0, force);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if integrate(middle).0 < 0.0 { low = middle } else { high = middle }
    }
    integrate(low).1
}

fn find(page: &mut Page<'_>, families: &[&[Bent]], limits: [Vec3; 2], theory: [Vec3; 2]) {
    let name = |family: &[Bent]| format!("{}, {}", kind_name(family[0].kind), family[0].law);
    let grows = |family: &[Bent], i: usize| family.windows(2).all(|w| w[1].tips[i].y > w[0].tips[i].y);
    let too_stiff = families.iter().all(|family| (0..2).all(|i| grows(family, i) && family[0].tips[i].y < limits[i].y));
    let coarse = |i: usize| {
        let all = families.iter().filter(|family| family[0].law == "stvk");
        all.map(|f| format!("{} {} %", kind_name(f[0].kind), digits(100.0 * f[0].tips[i].y / limits[i].y, 3)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    page.finding(
        "coarse meshes are too stiff: every refinement increases the deflection",
        too_stiff,
        format!(
            "with one cell across {} of the limit under the small force, {} under the large one",
            coarse(0),
            coarse(1)
        ),
    );
    // The finest mesh of hexahedra is excluded, since it determined the limit.
    let own = |family: &&[Bent]| family.len() - usize::from(family[0].kind == Cells::Hex);
    let slope = |family: &&[Bent], error: &dyn Fn(&Bent) -> f64| {
        exponent(&family[..own(family)].iter().map(|bent| (bent.cell(), error(bent))).collect::<Vec<_>>())
    };
    let excesses: Vec<f64> = families.iter().map(|family| slope(family, &|bent| bent.excess(0, &limits))).collect();
    let errors: Vec<f64> = families.iter().map(|f| slope(f, &|bent| 1.0 - bent.tips[0].y / limits[0].y)).collect();
    page.finding(
        "the excess stiffness is proportional to the square of the cell size",
        excesses.iter().all(|power| (power - 2.0).abs() < 0.2),
        families
            .iter()
            .zip(excesses.iter().zip(&errors))
            .map(|(f, (excess, e))| {
                format!("{}: power {} (error of the deflection: {})", name(f), digits(*excess, 3), digits(*e, 3))
            })
            .collect::<Vec<_>>()
            .join("; "),
    );
    let finest = |family: &[Bent], i: usize| family[family.len() - 1].tips[i];
    let apart = |a: &[Bent], b: &[Bent], i: usize| (finest(a, i) - finest(b, i)).length() / finest(b, i).length();
    let [tets, hexes] = [apart(families[0], families[1], 1), apart(families[2], families[3], 1)];
    page.finding(
        "for a slender beam with large deflection, St. Venant–Kirchhoff and corotational elasticity give nearly the same shape",
        tets < 0.02 && hexes < 0.02,
        format!(
            "the end positions differ by {} % (tets) and {} % (hexes) of their displacement on the finest meshes",
            digits(100.0 * tets, 2),
            digits(100.0 * hexes, 2)
        ),
    );
    let off: [f64; 2] = std::array::from_fn(|i| (limits[i] - theory[i]).length() / theory[i].length());
    page.finding(
        "the limit agrees with beam theory: the Timoshenko beam for the small force, the elastica for the large one",
        off[0] < 0.02 && off[1] < 0.02,
        format!("differences of {} % and {} %", digits(100.0 * off[0], 2), digits(100.0 * off[1], 2)),
    );
}
