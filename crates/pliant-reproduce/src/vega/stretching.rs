//! Beams of several laws, stretched by a force on the end and by a body force.

use anyhow::Context;
use pliant::force::{SpringCoefficients, Springs};
use pliant::material::{AnyLaw, Law, LawVisitor, YoungPoisson};
use pliant::math::{Matrix, Vec3};
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::system::State;
use pliant_pictures::{Figure, Plot, Series};

use super::beam;
use crate::bodies::DENSITY;
use crate::measure::{digits, mooney_rivlin_in_words};
use crate::picture::{PosedSurface, draw};
use crate::{Experiment, Page, paper};

pub const EXPERIMENT: Experiment = Experiment {
    name: "vega-stretching",
    paper: &paper::VEGA,
    part: "figure 4",
    title: "Stretched beams of several laws",
    reports: "Under the same load, on the end or distributed over the volume, laws that agree for small loads stretch by very \
              different amounts: St. Venant–Kirchhoff stiffens, and neo-Hookean and Mooney–Rivlin soften.",
    run,
};

/// Small-strain moduli of all laws.
const MODULI: YoungPoisson = YoungPoisson { young: 1e5, poisson: 0.3 };
/// Length of the beam \[m\].
const LENGTH: f64 = 1.0;
/// Side of the square cross section \[m\].
const WIDTH: f64 = 0.2;
/// Stresses at the fixed end, relative to Young's modulus. The first is small enough for Hooke's law.
const STRESSES: &[f64] = &[0.001, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
/// Factor of the force on a single vertex, since few elements carry all of it.
const AT_ONE_VERTEX: f64 = 0.25;
/// Name of the spring network, which is not a law.
const SPRINGS: &str = "mass-spring";
const LAWS: [&str; 6] = ["linear", "corotational", "stvk", "neo-hookean", "mooney-rivlin", SPRINGS];

/// Load on a beam.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    /// Force distributed over the free end.
    End,
    /// Force on the vertex in the middle of the free end.
    Vertex,
    /// Body force along the beam.
    Volume,
}

/// Beam with its equilibrium under each load.
struct Beam {
    assembly: Assembly,
    states: Vec<State>,
}

fn run(page: &mut Page<'_>) -> anyhow::Result<()> {
    let across = page.pick(4, 2);
    let mesh = generate::block([LENGTH, WIDTH, WIDTH], [5 * across, across, across], Cells::Hex)?;
    page.text(format!(
        "A beam of {LENGTH} × {WIDTH} × {WIDTH} m has {} hexahedra ({} vertices), `Y` = {} Pa, `ν` = {}, `ρ` = {DENSITY} kg/m³. Its left end is fixed \
         axially but free to contract laterally, so that every law has a closed form under a force distributed over the right \
         end. Equilibria are found by Newton's method, starting from the state under the previous load. The springs (28 per hexahedron, with equal \
         stiffness) are calibrated to stretch like the laws under the smallest load. {}",
        mesh.element_count(), mesh.vertex_count(), digits(MODULI.young, 2), MODULI.poisson, mooney_rivlin_in_words(MODULI)
    ));
    let loads = [Load::End, Load::Vertex, Load::Volume];
    let mut beams = Vec::new();
    for load in loads {
        let row = LAWS.iter().map(|law| Beam::stretched(page, &mesh, law, load));
        beams.push(row.collect::<Result<Vec<_>, _>>()?);
    }
    let panels = loads.iter().zip(&beams).map(|(load, row)| {
        let series = LAWS.iter().zip(row).map(|(law, beam)| Series::new(*law, beam.lengths(*load)));
        Plot {
            title: load.title().into(),
            x_label: load.axis().into(),
            y_label: "length, m".into(),
            series: series.collect(),
            ..Plot::default()
        }
    });
    let figure = Figure { panels: panels.collect(), ..Figure::default() };
    page.figure("length-against-load", "Length of the beam against load", figure)?;
    draw_beams(page, &loads, &beams)?;
    let profile = |beam: &Beam| beam.local_stretch(beam.states.len() - 1);
    let series = LAWS.iter().zip(&beams[2]).map(|(law, beam)| Series::new(*law, profile(beam)));
    page.figure(
        "stretch-along-the-beam",
        "Stretch of each slice of the beam under the largest volumetric load",
        Plot {
            x_label: "distance from the fixed end at rest, m".into(),
            y_label: "stretch".into(),
            series: series.collect(),
            ..Plot::default()
        },
    )?;
    table(page, &beams)?;
    find(page, &beams)
}

impl Load {
    fn title(self) -> &'static str {
        match self {
            Self::End => "force spread over the end",
            Self::Vertex => "force on one vertex",
            Self::Volume => "force on the volume",
        }
    }

    fn axis(self) -> &'static str {
        match self {
            Self::End | Self::Vertex => "force / (Y × area)",
            Self::Volume => "ρ g L / Y",
        }
    }

    /// Returns the load for a stress, relative to Young's modulus times the cross section.
    fn strength(self, stress: f64) -> f64 {
        if self == Self::Vertex { AT_ONE_VERTEX * stress } else { stress }
    }
}

impl Beam {
    fn stretched(page: &Page<'_>, mesh: &VolumeMesh, law: &str, load: Load) -> anyhow::Result<Self> {
        let mut beam = Self { assembly: Assembly::new(model(page, mesh, law)?), states: Vec::new() };
        let mut state = beam.assembly.rest_state();
        for &stress in STRESSES {
            let what = format!("{}, {law}, {stress} of Young's modulus", load.title());
            beam.apply(mesh, load, load.strength(stress))?;
            beam::settle(page, &what, &mut beam.assembly, &mut state)?;
            beam.states.push(state.clone());
        }
        Ok(beam)
    }

    fn apply(&mut self, mesh: &VolumeMesh, load: Load, strength: f64) -> anyhow::Result<()> {
        let force = strength * MODULI.young * WIDTH * WIDTH;
        match load {
            Load::End => {
                self.assembly.model_mut().loads_mut().copy_from_slice(&beam::end_force(mesh, Vec3::X * force)?);
            }
            Load::Vertex => {
                let middle = Vec3::new(LENGTH, 0.5 * WIDTH, 0.5 * WIDTH);
                self.assembly.model_mut().loads_mut()[3 * vertex_at(mesh, middle)?] = force;
            }
            Load::Volume => {
                self.assembly.model_mut().set_gravity(Vec3::X * (strength * MODULI.young / (DENSITY * LENGTH)))?;
            }
        }
        Ok(())
    }

    /// Returns the length of the beam under each load \[m\], up to the loaded vertex or the mean of the end.
    fn lengths(&self, load: Load) -> Vec<(f64, f64)> {
        let strengths = STRESSES.iter().map(|&stress| load.strength(stress));
        strengths.zip((0..self.states.len()).map(|i| self.length(i, load))).collect()
    }

    fn length(&self, i: usize, load: Load) -> f64 {
        let state = &self.states[i];
        let end = |vertex: &usize| self.assembly.model().rest()[*vertex].x == LENGTH;
        let places = (0..self.assembly.model().node_count()).filter(end).map(|vertex| LENGTH + state.q[3 * vertex]);
        if load == Load::Vertex {
            places.fold(0.0, f64::max)
        } else {
            places.clone().sum::<f64>() / places.count() as f64
        }
    }

    /// Returns the stretch of slices of the beam against their centers at rest.
    fn local_stretch(&self, i: usize) -> Vec<(f64, f64)> {
        let positions = self.assembly.model().positions(&self.states[i]);
        let mut slices: Vec<(f64, f64, f64)> = Vec::new();
        for (rest, now) in self.assembly.model().rest().iter().zip(&positions) {
            match slices.iter_mut().find(|slice| (slice.0 - rest.x).abs() < 1e-9) {
                Some(slice) => (slice.1, slice.2) = (slice.1 + now.x, slice.2 + 1.0),
                None => slices.push((rest.x, now.x, 1.0)),
            }
        }
        slices.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mean = |slice: (f64, f64, f64)| slice.1 / slice.2;
        let pair = |w: &[(f64, f64, f64)]| (0.5 * (w[0].0 + w[1].0), (mean(w[1]) - mean(w[0])) / (w[1].0 - w[0].0));
        slices.windows(2).map(pair).collect()
    }
}

/// Creates a beam whose end may slide in its plane. Vertices on which symmetric loads exert no lateral force fix its
/// rotation.
fn model(page: &Page<'_>, mesh: &VolumeMesh, law: &str) -> anyhow::Result<Model> {
    let build = |body: Body, springs: Option<Springs>| -> anyhow::Result<Model> {
        let center = vertex_at(mesh, Vec3::new(0.0, 0.5 * WIDTH, 0.5 * WIDTH))? as u32;
        let side = vertex_at(mesh, Vec3::new(0.0, WIDTH, 0.5 * WIDTH))? as u32;
        let mut builder = Model::builder()
            .body(body)
            .fix(Fixed::new(beam::set(mesh, beam::FIXED)?.to_vec()).along([true, false, false]))
            .fix(Fixed::new([center]))
            .fix(Fixed::new([side]).along([false, false, true]));
        if let Some(springs) = springs {
            builder = builder.force(springs);
        }
        Ok(builder.build()?)
    };
    if law != SPRINGS {
        return build(Body::new(mesh.clone(), beam::bare_law(law, MODULI)?, DENSITY), None);
    }
    let of_stiffness = |stiffness: f64| {
        let springs = Springs::from_mesh(mesh, &SpringCoefficients::new(stiffness))?;
        build(Body::without_elasticity(mesh.clone(), DENSITY), Some(springs))
    };
    // The first guess is the stiffness of a bar with the cross section of a cell. A small load gives the correction.
    let guess = MODULI.young * WIDTH / 4.0;
    let mut beam = Beam { assembly: Assembly::new(of_stiffness(guess)?), states: Vec::new() };
    let mut state = beam.assembly.rest_state();
    beam.apply(mesh, Load::End, STRESSES[0])?;
    beam::settle(page, "calibrating springs", &mut beam.assembly, &mut state)?;
    beam.states.push(state);
    of_stiffness(guess * (beam.length(0, Load::End) - LENGTH) / (STRESSES[0] * LENGTH))
}

fn vertex_at(mesh: &VolumeMesh, place: Vec3) -> anyhow::Result<usize> {
    mesh.vertices().iter().position(|x| x.distance(place) < 1e-9).with_context(|| format!("no vertex at {place}"))
}

fn draw_beams(page: &mut Page<'_>, loads: &[Load], beams: &[Vec<Beam>]) -> anyhow::Result<()> {
    for (load, row) in loads.iter().zip(beams) {
        let place = |number: usize| Vec3::Y * (-2.5 * WIDTH * number as f64);
        let surfaces = row.iter().enumerate().filter_map(|(number, beam)| {
            Some(PosedSurface::new(beam.assembly.model(), beam.states.last()?, place(number)))
        });
        let name = load.title().replace(' ', "-");
        let strength = load.strength(STRESSES[STRESSES.len() - 1]);
        let caption = format!("{}, {} = {}", load.title(), load.axis(), digits(strength, 2));
        let image = draw(&surfaces.collect::<Vec<_>>(), &caption, [960, 720])?;
        page.picture(&name, &format!("From the top: {}; {caption}", LAWS.join(", ")), &image)?;
    }
    Ok(())
}

fn table(page: &mut Page<'_>, beams: &[Vec<Beam>]) -> anyhow::Result<()> {
    let last = STRESSES.len() - 1;
    let mut rows = Vec::new();
    for (number, law) in LAWS.iter().enumerate() {
        let stress = STRESSES[last];
        let theory =
            |load| if *law == SPRINGS { Ok("–".to_owned()) } else { theory(law, load, stress).map(|l| digits(l, 4)) };
        rows.push(vec![
            (*law).to_owned(),
            digits(beams[0][number].length(last, Load::End), 4),
            theory(Load::End)?,
            digits(beams[2][number].length(last, Load::Volume), 4),
            theory(Load::Volume)?,
            digits(beams[1][number].length(last, Load::Vertex), 4),
        ]);
    }
    let heading =
        ["law", "force on the end, m", "theory, m", "force on the volume, m", "theory, m", "force on one vertex, m"];
    page.table(
        "lengths",
        "Length under the largest loads; theory is a bar with uniform stress across its section",
        &heading,
        rows,
    )
}

fn find(page: &mut Page<'_>, beams: &[Vec<Beam>]) -> anyhow::Result<()> {
    let last = STRESSES.len() - 1;
    let stretch = |load: Load, row: usize, i: usize| -> Vec<f64> {
        beams[row].iter().map(|beam| beam.length(i, load) - LENGTH).collect()
    };
    let [end, volume] = [(Load::End, 0), (Load::Volume, 2)].map(|(load, row)| stretch(load, row, 0));
    let off = |found: &[f64], hooke: f64| found.iter().map(|u| (u / hooke - 1.0).abs()).fold(0.0, f64::max);
    let off = [off(&end, STRESSES[0] * LENGTH), off(&volume[..5], 0.5 * STRESSES[0] * LENGTH)];
    page.finding(
        "for small loads all laws stretch by F L / (Y A), and by ρ g L²/(2Y) under a body force",
        off.iter().all(|off| *off < 5e-3),
        format!("within {} % and {} %", digits(100.0 * off[0], 2), digits(100.0 * off[1], 2)),
    );
    let mut worst = [0.0_f64; 2];
    for (number, law) in LAWS.iter().enumerate().filter(|(_, law)| **law != SPRINGS) {
        for (i, &stress) in STRESSES.iter().enumerate() {
            for (worst, (load, row)) in worst.iter_mut().zip([(Load::End, 0), (Load::Volume, 2)]) {
                let expected = theory(law, load, stress)? - LENGTH;
                *worst = worst.max(((beams[row][number].length(i, load) - LENGTH) / expected - 1.0).abs());
            }
        }
    }
    page.finding(
        "under a force distributed over the end the stretch is the closed form of each law, and under a body force that of a thin bar",
        worst[0] < 1e-6 && worst[1] < 0.02,
        format!("within {} and {} % at all loads", digits(worst[0], 1), digits(100.0 * worst[1], 2)),
    );
    for (claim, load, row) in [("a force on the end", Load::End, 0), ("a force on the volume", Load::Volume, 2)] {
        let u = stretch(load, row, last);
        let [linear, corotational, stvk, neo, mooney] = [u[0], u[1], u[2], u[3], u[4]];
        page.finding(
            format!(
                "under {claim}, St. Venant–Kirchhoff stretches less than the linear and the corotational law, and neo-Hookean and Mooney–Rivlin more"
            ),
            1.2 * stvk < linear && (corotational / linear - 1.0).abs() < 0.01 && neo.min(mooney) > 1.2 * linear,
            LAWS.iter().zip(&u).map(|(law, u)| format!("{law} {} m", digits(*u, 3))).collect::<Vec<_>>().join(", "),
        );
    }
    let steepest = |profile: &[(f64, f64)]| profile.windows(2).all(|w| w[1].1 < w[0].1 + 1e-6);
    let profiles: Vec<_> = beams[2].iter().map(|beam| beam.local_stretch(last)).collect();
    let ends = |p: &[(f64, f64)]| p.first().zip(p.last()).map_or((0.0, 0.0), |(a, b)| (a.1, b.1));
    let neo = ends(&profiles[3]);
    page.finding(
        "a body force stretches the fixed end most, and the free end hardly",
        profiles.iter().all(|profile| steepest(profile) && ends(profile).0 > 1.2 && ends(profile).1 < 1.1),
        format!("neo-Hookean: {} at the fixed end, {} at the free end", digits(neo.0, 3), digits(neo.1, 3)),
    );
    let spike = |beam: &Beam| {
        let profile = beam.local_stretch(last);
        let middle = profile[profile.len() / 2].1 - 1.0;
        let tip = beam.length(last, Load::Vertex) - LENGTH;
        tip / (middle * LENGTH)
    };
    let spikes: Vec<f64> = beams[1].iter().map(spike).collect();
    let named = |law: &str| LAWS.iter().position(|other| *other == law).map_or(f64::NAN, |i| spikes[i]);
    page.finding(
        "a force on one vertex pulls out a spike: the vertex moves by more than the elongation of the beam, among the elastic laws least for St. Venant–Kirchhoff",
        spikes.iter().all(|spike| *spike > 1.1) && LAWS[..5].iter().all(|law| named("stvk") <= named(law)),
        LAWS.iter().zip(&spikes).map(|(law, s)| format!("{law} {} times", digits(*s, 3))).collect::<Vec<_>>().join(", "),
    );
    Ok(())
}

/// Returns the length of a bar with uniform stress across its section \[m\].
fn theory(law: &str, load: Load, strength: f64) -> anyhow::Result<f64> {
    let law = AnyLaw::new(law, MODULI)?;
    let at = |stress: f64| law.visit(StretchUnder(stress * MODULI.young));
    Ok(match load {
        Load::End | Load::Vertex => LENGTH * at(strength),
        Load::Volume => {
            // Midpoint rule over slices. Each slice carries the load beyond it.
            let slices = 200;
            let carried = (0..slices).map(|i| strength * (f64::from(i) + 0.5) / f64::from(slices));
            LENGTH * carried.map(at).sum::<f64>() / f64::from(slices)
        }
    })
}

/// Visitor that returns the stretch of a bar with free sides under a nominal stress \[Pa\].
struct StretchUnder(f64);

impl LawVisitor for StretchUnder {
    type Output = f64;

    fn visit<L: Law + 'static>(self, law: &L) -> f64 {
        let stress = |along: f64, across: f64| {
            let mut f = Matrix::<f64>::identity();
            (f.0[0][0], f.0[1][1], f.0[2][2]) = (along, across, across);
            law.stress(&f)
        };
        // The lateral stress is positive if the sides are too wide, and negative if they are too narrow.
        let across = |along: f64| bisect(0.2, 1.5, |across| stress(along, across).0[1][1]);
        bisect(0.5, 8.0, |along| stress(along, across(along)).0[0][0] - self.0)
    }
}

/// Returns the zero of an increasing function by bisection.
fn bisect(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if function(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
