//! Time histories of a body with each of the laws.

use pliant::integrator::{BackwardEuler, Integrator, LinearizedBackwardEuler};
use pliant::model::Model;
use pliant::system::State;
use pliant_pictures::{Figure, Plot, Series};

use crate::Page;
use crate::measure::{Outcome, digits, march};

/// Three laws, from the oldest to the newest.
pub const LAWS: [&str; 3] = ["neo-hookean-bower", "neo-hookean", "stable-neo-hookean"];

/// Variant of backward Euler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stepper {
    /// Single linear system per step, without a line search.
    Linearized,
    /// Newton's method with a line search on the energy.
    Full,
    /// Single Newton iteration with a line search, as cheap as a linearized step.
    OneIteration,
}

impl Stepper {
    /// Maximum number of Newton iterations per step. A remaining residual is accepted, since every iteration has
    /// lowered the energy.
    pub const ITERATIONS: usize = 20;

    pub fn build(self) -> Box<dyn Integrator<Model>> {
        match self {
            Self::Linearized => Box::<LinearizedBackwardEuler>::default(),
            Self::Full => Box::new(BackwardEuler::with_iterations(Self::ITERATIONS)),
            Self::OneIteration => Box::new(BackwardEuler::with_iterations(1)),
        }
    }
}

/// Time history of a body.
#[derive(Debug, Clone)]
pub struct Track {
    pub name: String,
    /// Time \[s\] and volume relative to rest.
    pub volume: Vec<(f64, f64)>,
    /// Time \[s\] and minimum `det F` over all elements.
    pub worst: Vec<(f64, f64)>,
    /// Time \[s\] and height of the center of mass \[m\].
    pub height: Vec<(f64, f64)>,
    pub outcome: Outcome,
}

impl Track {
    pub fn new(name: impl Into<String>) -> Self {
        let [volume, worst, height] = [const { Vec::new() }; 3];
        Self { name: name.into(), volume, worst, height, outcome: Outcome::Finished }
    }

    /// Continues for `steps` steps, unless an earlier step failed.
    pub fn advance(
        &mut self,
        page: &Page<'_>,
        model: &mut Model,
        integrator: &mut dyn Integrator<Model>,
        state: &mut State,
        dt: f64,
        steps: usize,
    ) -> anyhow::Result<()> {
        if !self.outcome.is_finished() {
            return Ok(());
        }
        let what = self.name.clone();
        let at_rest = model.bodies()[0].mesh().volume();
        self.outcome = march(page, &what, model, integrator, state, dt, steps, |model, state| {
            let now = model.observe(state);
            self.volume.push((state.time, now.volume / at_rest));
            self.worst.push((state.time, min_volume_ratio(model, state)));
            self.height.push((state.time, now.center_of_mass.y));
        })?;
        Ok(())
    }

    /// Returns the minimum `det F` over all time.
    pub fn min_det(&self) -> f64 {
        self.worst.iter().map(|(_, j)| *j).fold(f64::INFINITY, f64::min)
    }

    /// Returns the minimum `det F` at the end.
    pub fn last_worst(&self) -> f64 {
        self.worst.last().map_or(f64::NAN, |(_, j)| *j)
    }

    /// Returns the volume at `time` \[s\], relative to rest.
    pub fn volume_at(&self, time: f64) -> f64 {
        let before = self.volume.iter().take_while(|(t, _)| *t < time + 1e-9);
        before.last().map_or(f64::NAN, |(_, volume)| *volume)
    }

    /// Returns the maximum change of volume, relative to rest.
    pub fn volume_change(&self) -> f64 {
        self.volume.iter().map(|(_, v)| (v - 1.0).abs()).fold(0.0, f64::max)
    }

    /// Returns `finished`, or the time and reason of the failure.
    pub fn ending(&self) -> String {
        match &self.outcome {
            Outcome::Finished => "finished".into(),
            Outcome::Exploded { time, why } => format!("fails at {} s: {why}", digits(*time, 3)),
        }
    }
}

fn min_volume_ratio(model: &Model, state: &State) -> f64 {
    let elastic = model.bodies().iter().filter_map(|body| body.elastic());
    let states = elastic.flat_map(|elastic| elastic.element_states(&state.q));
    states.map(|element| element.volume_ratio).fold(f64::INFINITY, f64::min)
}

/// Label and data of a panel.
pub type Curve = (&'static str, fn(&Track) -> &Vec<(f64, f64)>);

/// Minimum that is drawn: lower values would flatten the other curves.
const MIN_VALUE: f64 = -3.0;

/// Adds a figure with one panel per curve, for all tracks. Values below [`MIN_VALUE`] are drawn at that level, as the
/// caption states; the data has all values.
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
    let min = curves.iter().flat_map(|(_, curve)| tracks.iter().flat_map(curve)).map(|(_, y)| *y);
    let min = min.fold(f64::INFINITY, f64::min);
    let caption = if min < MIN_VALUE {
        format!("{caption}; values below {MIN_VALUE} are drawn at {MIN_VALUE}; the minimum is {}", digits(min, 3))
    } else {
        caption.to_owned()
    };
    page.figure_with_data(name, &caption, &figure(MIN_VALUE), &figure(f64::NEG_INFINITY))
}
