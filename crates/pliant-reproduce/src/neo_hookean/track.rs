//! What is followed through time, for each of the laws.

use pliant::integrator::{BackwardEuler, Integrator, LinearizedBackwardEuler};
use pliant::model::Model;
use pliant::system::State;
use pliant_pictures::{Figure, Plot, Series};

use crate::Page;
use crate::measure::{Outcome, digits, march};

/// The three laws, from the oldest.
pub const LAWS: [&str; 3] = ["neo-hookean-bower", "neo-hookean", "stable-neo-hookean"];

/// Which backward Euler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stepper {
    /// One linear system a step, and nothing that looks where it leads.
    Linearised,
    /// Newton's method with a line search on the energy.
    Full,
    /// The same, after one iteration: as cheap as if linearised.
    OneIteration,
}

impl Stepper {
    /// Iterations of Newton's method in a step at most. What is left then is left: every one has lowered the energy.
    pub const ITERATIONS: usize = 20;

    pub fn build(self) -> Box<dyn Integrator<Model>> {
        match self {
            Self::Linearised => Box::<LinearizedBackwardEuler>::default(),
            Self::Full => Box::new(BackwardEuler::with_iterations(Self::ITERATIONS)),
            Self::OneIteration => Box::new(BackwardEuler::with_iterations(1)),
        }
    }
}

/// How a body fared.
#[derive(Debug, Clone)]
pub struct Track {
    pub name: String,
    /// Time and volume, as a part of that at rest.
    pub volume: Vec<(f64, f64)>,
    /// Time and the least `det F` of any element.
    pub worst: Vec<(f64, f64)>,
    /// Time and height of the centre of mass, in m.
    pub height: Vec<(f64, f64)>,
    pub outcome: Outcome,
}

impl Track {
    pub fn new(name: impl Into<String>) -> Self {
        let [volume, worst, height] = [const { Vec::new() }; 3];
        Self { name: name.into(), volume, worst, height, outcome: Outcome::Finished }
    }

    /// Go on for so many steps, if nothing has gone wrong so far.
    pub fn go_on(
        &mut self,
        page: &Page<'_>,
        model: &mut Model,
        scheme: &mut dyn Integrator<Model>,
        state: &mut State,
        dt: f64,
        steps: usize,
    ) -> anyhow::Result<()> {
        if !self.outcome.is_finished() {
            return Ok(());
        }
        let what = self.name.clone();
        let at_rest = model.bodies()[0].mesh().volume();
        self.outcome = march(page, &what, model, scheme, state, dt, steps, |model, state| {
            let now = model.observe(state);
            self.volume.push((state.time, now.volume / at_rest));
            self.worst.push((state.time, least_volume_ratio(model, state)));
            self.height.push((state.time, now.centre_of_mass.y));
        })?;
        Ok(())
    }

    /// The least `det F` of all time.
    pub fn least(&self) -> f64 {
        self.worst.iter().map(|(_, j)| *j).fold(f64::INFINITY, f64::min)
    }

    /// The least `det F` at the end.
    pub fn last_worst(&self) -> f64 {
        self.worst.last().map_or(f64::NAN, |(_, j)| *j)
    }

    /// The volume at a time, as a part of that at rest.
    pub fn volume_at(&self, time: f64) -> f64 {
        let before = self.volume.iter().take_while(|(t, _)| *t < time + 1e-9);
        before.last().map_or(f64::NAN, |(_, volume)| *volume)
    }

    /// The largest change of volume, as a part of that at rest.
    pub fn volume_change(&self) -> f64 {
        self.volume.iter().map(|(_, v)| (v - 1.0).abs()).fold(0.0, f64::max)
    }

    /// `to the end`, or what happened when.
    pub fn ending(&self) -> String {
        match &self.outcome {
            Outcome::Finished => "to the end".into(),
            Outcome::Exploded { time, why } => format!("fails at {} s: {why}", digits(*time, 3)),
        }
    }
}

fn least_volume_ratio(model: &Model, state: &State) -> f64 {
    let elastic = model.bodies().iter().filter_map(|body| body.elastic());
    let states = elastic.flat_map(|elastic| elastic.element_states(&state.q));
    states.map(|element| element.volume_ratio).fold(f64::INFINITY, f64::min)
}

/// What a panel shows of a track, and what that is.
pub type Curve = (&'static str, fn(&Track) -> &Vec<(f64, f64)>);

/// What is below would squeeze all the rest.
const LOWEST: f64 = -3.0;

/// A figure with a panel for each of some curves of all tracks. What is too low is drawn at the lowest, and the caption says so; the data has all.
pub fn draw_panels(
    page: &mut Page<'_>,
    name: &str,
    caption: &str,
    tracks: &[Track],
    curves: &[Curve],
) -> anyhow::Result<()> {
    let figure = |lowest: f64| {
        let points = |all: &[(f64, f64)]| all.iter().map(|&(x, y)| (x, if y < lowest { lowest } else { y })).collect();
        let panel = |(y_label, curve): &Curve| Plot {
            x_label: "time in s".into(),
            y_label: (*y_label).into(),
            series: tracks.iter().map(|track| Series::new(&*track.name, points(curve(track)))).collect(),
            ..Plot::default()
        };
        Figure { panels: curves.iter().map(panel).collect(), ..Figure::default() }
    };
    let least = curves.iter().flat_map(|(_, curve)| tracks.iter().flat_map(curve)).map(|(_, y)| *y);
    let least = least.fold(f64::INFINITY, f64::min);
    let caption = if least < LOWEST {
        format!("{caption}; what is below {LOWEST} is drawn at {LOWEST}, the lowest is {}", digits(least, 3))
    } else {
        caption.to_owned()
    };
    page.figure_with_data(name, &caption, &figure(LOWEST), &figure(f64::NEG_INFINITY))
}
