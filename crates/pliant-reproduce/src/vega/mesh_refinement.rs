//! A cantilever on finer and finer meshes, beside the theory of beams.

use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant::mesh::Cells;
use pliant_pictures::plot::{Scale, Style};
use pliant_pictures::{Figure, Plot, Series};

use super::beam::{self, kind_name};
use crate::measure::{digits, exponent};
use crate::picture::{Shot, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-mesh-refinement",
    paper: &paper::VEGA,
    part: "figure 9",
    title: "A cantilever under refinement of the mesh",
    reports: "Coarse meshes are too stiff. With refinement the deflection converges, and for a slender beam, which bends far without \
              much strain, St. Venant–Kirchhoff and corotational elasticity arrive at nearly the same shape.",
    run,
};

const MODULI: YoungPoisson = YoungPoisson { young: 1e6, poisson: 0.3 };
/// In kg/m³, and of no matter in equilibrium.
const DENSITY: f64 = 1000.0;
/// In m.
const LENGTH: f64 = 1.0;
/// Of the square section, in m.
const WIDTH: f64 = 0.1;
/// Forces at the end, times `L²/(Y I)`: one for small deflections and one for large.
const FORCES: [f64; 2] = [0.03, 3.0];
const LAWS: [&str; 2] = ["stvk", "corotational"];

/// The beam on one mesh.
struct Bent {
    kind: Cells,
    across: usize,
    vertices: usize,
    law: &'static str,
    /// How far the end has moved, in m, under each force.
    tips: [Vec3; 2],
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let sizes: &[usize] = page.pick(&[1, 2, 4, 8], &[1, 2, 4]);
    page.text(format!(
        "A beam of {LENGTH} × {WIDTH} × {WIDTH} m, clamped at one end, `Y` = {} Pa, `ν` = {}, of 5 tetrahedra a cell or of hexahedra, with {} \
         cells across. Its end is pushed by a force of {} `Y I/L²`, which bends it little, and of {} `Y I/L²`, which bends it far. Theory is Timoshenko's \
         for the small force; for the large one it is the elastica, which knows bending alone, with no stretch and no shear.",
        digits(MODULI.young, 2), MODULI.poisson, sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), FORCES[0], FORCES[1]
    ));
    let mut all: Vec<Bent> = Vec::new();
    let mut shots = Vec::new();
    for kind in [Cells::Tet5, Cells::Hex] {
        for law in LAWS {
            for &across in sizes {
                let (bent, shot) = bend(page, kind, across, law)?;
                if law == "stvk" {
                    shots.push(shot);
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
            x_label: "size of a cell, m".into(),
            y_label: "excess of stiffness".into(),
            series: series.collect(),
            x_scale: Scale::Logarithmic,
            y_scale: Scale::Logarithmic,
        }
    };
    let panels = vec![panel(0, "small force"), panel(1, "large force")];
    let caption = "By what part the beam is too stiff, against the size of cells: the deflection that the finest hexahedra converge to, divided by that of \
                   the mesh, minus 1";
    page.figure("convergence", caption, Figure { panels, ..Figure::default() })?;
    let image = draw(&shots, "", [1200, 560])?;
    page.picture(
        "bent",
        &format!(
            "Under the large force, St. Venant–Kirchhoff: tets above and hexes below, from the left with {} cells across",
            sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
        &image,
    )?;
    let mut rows: Vec<Vec<String>> = all.iter().map(Bent::row).collect();
    let cells = |x: Vec3| vec![digits(-x.x, 4), digits(x.y, 4)];
    rows.push(
        [vec!["theory of beams".into(), "–".into(), "–".into(), digits(theory[0].y, 4)], cells(theory[1])].concat(),
    );
    let heading =
        ["mesh", "law", "vertices", "small force: sideways, m", "large force: back, m", "large force: sideways, m"];
    page.table("tips", "How far the end moves", &heading, rows)?;
    find(page, &families, limits, theory);
    Ok(())
}

impl Bent {
    /// The edge of a cell, in m.
    fn cell(&self) -> f64 {
        WIDTH / self.across as f64
    }

    /// By what part the beam is too stiff. Cells that cannot bend add stiffness in proportion to the square of their size also where
    /// the error of the deflection, which cannot be more than all of it, no longer grows so.
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

fn bend(page: &Page<'_>, kind: Cells, across: usize, law: &'static str) -> anyhow::Result<(Bent, Shot)> {
    let mesh = beam::mesh(LENGTH, WIDTH, across, kind)?;
    let end = beam::set(&mesh, beam::FREE)?.to_vec();
    let mut model = beam::clamped(mesh.clone(), beam::bare_law(law, MODULI)?, DENSITY)?;
    let mut state = model.rest_state();
    let mut tips = [Vec3::ZERO; 2];
    for (tip, force) in tips.iter_mut().zip(FORCES) {
        let push = force * rigidity() / (LENGTH * LENGTH);
        model.loads_mut().copy_from_slice(&beam::end_force(&mesh, Vec3::Y * push)?);
        let what = format!("{}, {across} across, {law}, force {force}", kind_name(kind));
        beam::settle(page, &what, &mut model, &mut state)?;
        *tip = beam::mean_displacement(&state, &end);
    }
    // Side by side, so that none hides another.
    let column = f64::from(across.ilog2());
    let row = if kind == Cells::Hex { 1.0 } else { 0.0 };
    let shot = Shot::new(&model, &state, LENGTH * Vec3::new(1.1 * column, -0.95 * row, 0.0));
    Ok((Bent { kind, across, vertices: mesh.vertex_count(), law, tips }, shot))
}

/// `Y I`, in N m².
fn rigidity() -> f64 {
    MODULI.young * WIDTH.powi(4) / 12.0
}

/// What the small and the large deflection converge to: the finest two meshes of hexahedra, of both laws, extrapolated to cells of no size.
fn limits(families: &[&[Bent]]) -> [Vec3; 2] {
    let hexes = families.iter().filter(|family| family[0].kind == Cells::Hex);
    let ends: Vec<[Vec3; 2]> = hexes
        .map(|family| {
            let [.., coarse, fine] = family else { return [Vec3::NAN; 2] };
            // The error falls to a quarter.
            std::array::from_fn(|i| (4.0 * fine.tips[i] - coarse.tips[i]) / 3.0)
        })
        .collect();
    std::array::from_fn(|i| ends.iter().map(|end| end[i]).sum::<Vec3>() / ends.len() as f64)
}

/// The deflection under a force times `L²/(Y I)`, in m: bending and shear, with Cowper's coefficient.
fn timoshenko(force: f64) -> f64 {
    let nu = MODULI.poisson;
    let shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu) * MODULI.mu() * WIDTH * WIDTH;
    force * (LENGTH / 3.0 + rigidity() / (LENGTH * shear))
}

/// How far the end of an elastica moves under a force times `L²/(Y I)`: `θ″ = −f cos θ` with `θ = 0` where it is held and `θ′ = 0` at the end.
fn elastica(force: f64) -> Vec3 {
    let steps = 2000;
    let h = 1.0 / f64::from(steps);
    let shoot = |bend: f64| {
        let (mut angle, mut bend, mut place) = (0.0_f64, bend, Vec3::ZERO);
        for _ in 0..steps {
            // The midpoint rule.
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
        if shoot(middle).0 < 0.0 { low = middle } else { high = middle }
    }
    shoot(low).1
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
        "coarse meshes are too stiff: every refinement bends further",
        too_stiff,
        format!(
            "with one cell across {} of the limit under the small force, {} under the large one",
            coarse(0),
            coarse(1)
        ),
    );
    // Of hexahedra without the finest mesh, which is what the limit was found with.
    let own = |family: &&[Bent]| family.len() - usize::from(family[0].kind == Cells::Hex);
    let slope = |family: &&[Bent], error: &dyn Fn(&Bent) -> f64| {
        exponent(&family[..own(family)].iter().map(|bent| (bent.cell(), error(bent))).collect::<Vec<_>>())
    };
    let excesses: Vec<f64> = families.iter().map(|family| slope(family, &|bent| bent.excess(0, &limits))).collect();
    let errors: Vec<f64> = families.iter().map(|f| slope(f, &|bent| 1.0 - bent.tips[0].y / limits[0].y)).collect();
    page.finding(
        "beams are too stiff in proportion to the square of the size of cells",
        excesses.iter().all(|power| (power - 2.0).abs() < 0.2),
        families
            .iter()
            .zip(excesses.iter().zip(&errors))
            .map(|(f, (excess, e))| {
                format!("{}: power {} (of the deflection {})", name(f), digits(*excess, 3), digits(*e, 3))
            })
            .collect::<Vec<_>>()
            .join("; "),
    );
    let finest = |family: &[Bent], i: usize| family[family.len() - 1].tips[i];
    let apart = |a: &[Bent], b: &[Bent], i: usize| (finest(a, i) - finest(b, i)).length() / finest(b, i).length();
    let [tets, hexes] = [apart(families[0], families[1], 1), apart(families[2], families[3], 1)];
    page.finding(
        "of a slender beam that bends far, St. Venant–Kirchhoff and corotational elasticity make nearly the same shape",
        tets < 0.02 && hexes < 0.02,
        format!(
            "the ends are {} % (tets) and {} % (hexes) of their ways apart on the finest meshes",
            digits(100.0 * tets, 2),
            digits(100.0 * hexes, 2)
        ),
    );
    let off: [f64; 2] = std::array::from_fn(|i| (limits[i] - theory[i]).length() / theory[i].length());
    page.finding(
        "what meshes converge to is what the theory of beams says: Timoshenko's for the small force, the elastica for the large one",
        off[0] < 0.02 && off[1] < 0.02,
        format!("{} % and {} % from it", digits(100.0 * off[0], 2), digits(100.0 * off[1], 2)),
    );
}
