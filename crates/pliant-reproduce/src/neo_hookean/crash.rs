//! Releases that are too violent for linearized steps.

use pliant::material::{AnyLaw, Inversion, Material, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::VolumeMesh;

use super::release::{CURVES, Case, SOFT, STIFF, release};
use super::track::{LAWS, Stepper, Track, draw_panels};
use crate::Page;
use crate::picture::{PosedSurface, draw};

/// Minimum `det F` above which a bar has recovered its shape.
const HOME: f64 = 0.9;
/// Stretch and relative Young's modulus, with respect to the soft bar, of the bar that curves and pictures show.
const SHOWN: (f64, f64) = (5.5, 1.0);

/// Remedy for laws that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    None,
    /// `inversion = "clamp"`.
    Clamp,
    /// Line search in the single iteration of a step.
    LineSearch,
}

impl Remedy {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Clamp => "stretches clamped at 0.1",
            Self::LineSearch => "line search",
        }
    }
}

/// Number of bars per outcome.
#[derive(Debug, Clone, Default)]
struct Count {
    home: usize,
    inverted: usize,
    failed: usize,
    why: String,
}

impl Count {
    fn add(&mut self, track: &Track) {
        match track.last_worst() {
            _ if !track.outcome.is_finished() => {
                self.failed += 1;
                self.why = track.ending();
            }
            worst if worst > HOME => self.home += 1,
            worst if worst < 0.0 => self.inverted += 1,
            _ => {}
        }
    }
}

/// Releases bars of slightly different stiffness from several lengths, since the outcome of a single one is random.
pub fn show(page: &mut Page<'_>, mesh: &VolumeMesh) -> anyhow::Result<()> {
    let stretches: &[f64] = page.pick(&[5.0, SHOWN.0, 6.0], &[5.0, SHOWN.0]);
    let factors = [0.97, SHOWN.1, 1.03];
    let bars = stretches.len() * factors.len();
    let kinds = [
        (LAWS[0], SOFT.poisson, Remedy::None),
        (LAWS[1], SOFT.poisson, Remedy::None),
        (LAWS[2], SOFT.poisson, Remedy::None),
        (LAWS[0], SOFT.poisson, Remedy::Clamp),
        (LAWS[1], SOFT.poisson, Remedy::Clamp),
        (LAWS[1], SOFT.poisson, Remedy::LineSearch),
        (LAWS[2], STIFF.poisson, Remedy::None),
        (LAWS[2], STIFF.poisson, Remedy::LineSearch),
    ];
    let (mut rows, mut counts, mut curves, mut surfaces) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (law, poisson, remedy) in kinds {
        let mut count = Count::default();
        for (&stretch, factor) in stretches.iter().flat_map(|stretch| factors.map(|factor| (stretch, factor))) {
            let moduli = YoungPoisson { young: factor * SOFT.young, poisson };
            let (track, surface) = crash(page, mesh, law, moduli, remedy, stretch)?;
            count.add(&track);
            if (stretch, factor) == SHOWN && curves.len() < 5 {
                curves.push(track);
                surfaces.push(surface);
            }
        }
        let numbers = [count.home, count.inverted, count.failed].map(|count| count.to_string());
        let names = vec![law.to_owned(), poisson.to_string(), remedy.name().to_owned()];
        rows.push([names, numbers.to_vec(), vec![count.why.clone()]].concat());
        counts.push(count);
    }
    draw_panels(
        page,
        "violent",
        "Soft bar, stretched to 5.5 times its length: bare laws, and two of them with stretches clamped",
        &curves,
        &CURVES,
    )?;
    let surfaces: Vec<PosedSurface> = [0, 2, 3]
        .into_iter()
        .zip(0..)
        .map(|(kind, row)| surfaces[kind].clone().moved(-0.5 * f64::from(row) * Vec3::Y))
        .collect();
    page.picture(
        "violent-end",
        "Final shapes, from the top: the law of Bower, the stable law, and the law of Bower with stretches clamped",
        &draw(&surfaces, "", [800, 640])?,
    )?;
    let heading = ["law", "ν", "remedy", "recover", "stay inverted", "fail", "failure"];
    let caption = format!(
        "Outcomes of {bars} soft bars with `Y` of 0.097, 0.1 and 0.103 MPa, stretched to {} times their length and released, with linearized steps. Bars in none of the three columns have elements that are compressed but not inverted",
        stretches.iter().map(f64::to_string).collect::<Vec<_>>().join(", "),
    );
    page.table("violent-at", &caption, &heading, rows)?;
    findings(page, bars, &counts)
}

fn findings(page: &mut Page<'_>, bars: usize, counts: &[Count]) -> anyhow::Result<()> {
    let [bower, bonet_wood, stable, clamped_bower, clamped, searched, stable_nearer, searched_nearer] = counts else {
        anyhow::bail!("expected eight cases")
    };
    page.finding(
        "after a release from five times the length or more, linearized steps jump over the barrier of Bonet and Wood, beyond which the law has no force",
        bonet_wood.failed == bars,
        format!("{} of {bars} fail", bonet_wood.failed),
    );
    page.finding(
        "they also jump over the barrier of Bower, beyond which the law is undefined: no bar is left with inverted elements",
        bower.failed > 0 && bower.inverted == 0,
        format!("{} of {bars} fail, {} recover, {} stay inverted", bower.failed, bower.home, bower.inverted),
    );
    page.finding(
        format!(
            "at ν = {} the stable law recovers more often than the other two, though linearized steps may also leave inverted elements in it",
            SOFT.poisson
        ),
        stable.home > bower.home.max(bonet_wood.home),
        format!("{} of {bars} recover, {} stay inverted, {} fail", stable.home, stable.inverted, stable.failed),
    );
    page.finding(
        format!(
            "closer to incompressibility, at ν = {}, bars explode with linearized steps and the stable law; all recover with a line search",
            STIFF.poisson
        ),
        stable_nearer.failed > stable.failed && searched_nearer.home == bars,
        format!(
            "{} of {bars} fail, {} recover and {} stay inverted; with a line search {} recover",
            stable_nearer.failed, stable_nearer.home, stable_nearer.inverted, searched_nearer.home
        ),
    );
    page.finding(
        "the bare laws recover with Pliant's remedies: clamped stretches for both, or a line search for the law of Bonet and Wood",
        clamped_bower.home.min(clamped.home).min(searched.home) > bars / 2,
        format!(
            "{} and {} of {bars} with clamped stretches, {} with a line search",
            clamped_bower.home, clamped.home, searched.home
        ),
    );
    Ok(())
}

/// Releases a bar. Returns its history and its final shape.
fn crash(
    page: &Page<'_>,
    mesh: &VolumeMesh,
    law: &str,
    moduli: YoungPoisson,
    remedy: Remedy,
    stretch: f64,
) -> anyhow::Result<(Track, PosedSurface)> {
    let mut material: Material = AnyLaw::new(law, moduli)?.into();
    if remedy == Remedy::Clamp {
        material = material.with_inversion(Inversion::Clamp { threshold: Inversion::DEFAULT_THRESHOLD })?;
    }
    let stepper = if remedy == Remedy::LineSearch { Stepper::OneIteration } else { Stepper::Linearized };
    let name = match remedy {
        Remedy::None => law.to_owned(),
        Remedy::Clamp => format!("{law}, clamped"),
        Remedy::LineSearch => format!("{law}, line search"),
    };
    let case = Case { stepper, stretch, turns: 0.0, dt: 0.01, end: page.pick(3.0, 2.5) };
    let (track, model, state) = release(page, &name, mesh, material, case)?;
    Ok((track, PosedSurface::new(&model, &state, Vec3::ZERO)))
}
