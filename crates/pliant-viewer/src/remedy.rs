//! Remedies of a failed step: changes that were tried from the state before it, each offered as a button.

use std::collections::VecDeque;

use pliant::files::Disk;
use pliant::system::State;
use pliant_scene::scene::{Built, IntegratorChoice, Inverted, MaterialSettings, SceneFile};
use serde_json::json;

use crate::changes::{Changes, name_of};
use crate::live::Live;
use crate::protocol::Remedy;
use crate::snapshot::{Choice, Failure};

/// Number of steps that must succeed with a remedy before it is offered.
const TRIAL_STEPS: usize = 5;

/// States to look back to for one that a remedy can continue from: numbers of remembered states before the last.
const EARLIER: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// Time steps to try instead, relative to the one that failed.
const SMALLER: [f64; 6] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015_625];

/// Failed step: the report for pages, and the remedies that have not been tried yet.
#[derive(Debug)]
pub struct FailedStep {
    pub shown: Failure,
    untried: VecDeque<Vec<Remedy>>,
}

impl FailedStep {
    /// Creates a failure with remedies to try. At most one remedy of each list is offered: the first that works.
    pub fn new(number: u64, message: String, step: f64, remedies: impl IntoIterator<Item = Vec<Remedy>>) -> Self {
        let untried: VecDeque<_> = remedies.into_iter().collect();
        let is_trying = !untried.is_empty();
        Self { shown: Failure { number, message, is_gain: false, step, choices: Vec::new(), is_trying }, untried }
    }

    /// Marks the failure as a step that succeeded, but increased the energy.
    #[must_use]
    pub fn of_gain(mut self) -> Self {
        self.shown.is_gain = true;
        self
    }

    /// Returns true if there are remedies to try.
    pub fn is_trying(&self) -> bool {
        !self.untried.is_empty()
    }

    /// Takes the next remedies to try.
    pub fn next(&mut self) -> Option<Vec<Remedy>> {
        self.untried.pop_front()
    }

    /// Adds a remedy that works, or none.
    pub fn offer(&mut self, remedy: Option<Remedy>, now: f64) {
        self.shown.choices.extend(remedy.map(|remedy| choice(&remedy, now)));
        self.shown.is_trying = self.is_trying();
    }
}

/// Returns the button for a remedy, at a simulated time \[s\].
pub fn choice(remedy: &Remedy, now: f64) -> Choice {
    let what = match remedy {
        Remedy { law: Some(law), .. } => format!("Use the law {law}"),
        Remedy { inversion: Some(inversion), .. } => format!("Use inversion = \"{}\"", name_of(inversion)),
        Remedy { integrator: Some(integrator), .. } => format!("Use the integrator {integrator}"),
        Remedy { step: Some(step), .. } => format!("Use a step of {}", seconds(*step)),
        _ => "Continue".into(),
    };
    let label = match remedy.from {
        Some(from) => format!("{what}, from {} before", seconds(now - from)),
        None => what,
    };
    let mut command = json!(remedy);
    command["do"] = "remedy".into();
    Choice { label, command }
}

/// Formats a time, such as `2.5 ms`.
fn seconds(time: f64) -> String {
    let (value, unit) = match time.abs() {
        t if t >= 1.0 => (time, "s"),
        t if t >= 1e-3 => (1e3 * time, "ms"),
        _ => (1e6 * time, "µs"),
    };
    // Four significant digits, without trailing zeros.
    let digits = (3.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 9.0);
    let factor = 10_f64.powf(digits);
    format!("{} {unit}", (value * factor).round() / factor)
}

impl Live {
    /// Lists the changes that may end a failure of the present scene, likelier ones first.
    pub(crate) fn remedies(&self) -> Vec<Vec<Remedy>> {
        let mut remedies = self.other_materials();
        remedies.extend(self.other_steps());
        remedies
    }

    /// Lists changes of materials: another law, other handling of inverted elements.
    fn other_materials(&self) -> Vec<Vec<Remedy>> {
        let mut remedies = Vec::new();
        let can_change_materials = self.reduction.is_none() && !self.simulation.is_regularized();
        if can_change_materials && self.regions_to_change(|law, _| law != MaterialSettings::USUAL_LAW).next().is_some()
        {
            remedies.push(vec![Remedy { law: Some(MaterialSettings::USUAL_LAW.into()), ..Remedy::default() }]);
        }
        if can_change_materials && self.regions_to_change(|_, inversion| inversion == Inverted::None).next().is_some() {
            remedies.push(vec![Remedy { inversion: Some(Inverted::Clamp), ..Remedy::default() }]);
        }
        remedies
    }

    /// Lists changes of the integrator and of its step.
    pub(crate) fn other_steps(&self) -> Vec<Vec<Remedy>> {
        let mut remedies = Vec::new();
        let settings = &self.applied_changes.applied(&self.file.scene, &self.made_of).simulation;
        let integrator = IntegratorChoice::default();
        if settings.integrator.name() != integrator.name() {
            remedies.push(vec![Remedy { integrator: Some(integrator.name().to_owned()), ..Remedy::default() }]);
        }
        let dt = self.simulation.dt();
        remedies.push(SMALLER.map(|part| Remedy { step: Some(part * dt), ..Remedy::default() }).into());
        remedies
    }

    /// Returns the regions whose law and treatment of inverted elements are as wanted, among those that can be changed.
    fn regions_to_change(&self, is_wanted: impl Fn(&str, Inverted) -> bool) -> impl Iterator<Item = usize> {
        self.made_of.iter().enumerate().filter_map(move |(index, region)| {
            let law = self.applied_changes.law(index, region)?;
            (region.moduli.is_some() && is_wanted(&law, self.applied_changes.inversion(index, region))).then_some(index)
        })
    }

    /// Returns the changes with a remedy, or the reason why it does not apply.
    pub(crate) fn changes_with(&self, remedy: &Remedy) -> Result<Changes, String> {
        let mut changes = self.changes.clone();
        let mut change = |index: usize, edit: &dyn Fn(&mut crate::changes::MaterialChange)| {
            edit(changes.materials.entry(index).or_default());
        };
        if let Some(law) = &remedy.law {
            for index in self.regions_to_change(|own, _| own != law) {
                change(index, &|change| change.law = Some(law.clone()));
            }
        }
        if let Some(inversion) = remedy.inversion {
            for index in self.regions_to_change(|_, own| own != inversion) {
                change(index, &|change| change.inversion = Some(inversion));
            }
        }
        changes.steer(&crate::protocol::Steering {
            step: remedy.step.map(pliant_scene::scene::quantity::Time::new),
            integrator: remedy.integrator.clone(),
            ..Default::default()
        })?;
        Ok(changes)
    }

    /// Tries remedies in turn. Returns the first with which steps succeed, from the present state or from an earlier
    /// one.
    pub(crate) fn first_that_works(&self, remedies: Vec<Remedy>) -> Option<Remedy> {
        remedies.into_iter().find_map(|remedy| self.tried(remedy))
    }

    fn tried(&self, remedy: Remedy) -> Option<Remedy> {
        let changes = self.changes_with(&remedy).ok()?;
        let mut trial = self.build(&changes).ok()?.simulation;
        self.touch.add_to(&mut trial).ok()?;
        let steps = (TRIAL_STEPS as f64 * (self.simulation.dt() / trial.dt()).max(1.0)).ceil() as usize;
        let mut succeeds = |state: &State| {
            self.touch.begin(&mut trial, state).is_ok()
                && (0..steps).all(|_| trial.step().is_ok())
                && trial.take_energy_gain().is_none()
        };
        // After a gain of energy, the present state is wrong.
        let is_gain = self.failure.as_ref().is_some_and(|failure| failure.shown.is_gain);
        if !is_gain && succeeds(self.simulation.state()) {
            return Some(remedy);
        }
        let mut earlier = EARLIER.iter().map_while(|&count| self.history.before_last(count));
        let past = earlier.find(|past| succeeds(&past.state));
        match past {
            Some(past) => Some(Remedy { from: Some(past.state.time), ..remedy }),
            None => (is_gain && succeeds(self.simulation.state())).then_some(remedy),
        }
    }

    /// Builds the scene with changes, at its start and without pulls, balls and pins.
    pub(crate) fn build(&self, changes: &Changes) -> Result<Built, String> {
        let scene = changes.applied(&self.file.scene, &self.made_of);
        let file = SceneFile { scene, ..self.file.clone() };
        let built = file.build_with(&Disk, self.reduction.clone()).map_err(|error| error.to_string())?;
        if built.simulation.state().q.len() != self.simulation.state().q.len() {
            return Err("the meshes have changed since the start of the viewer; restart it".into());
        }
        Ok(built)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_say_what_they_do_and_carry_the_command() {
        let of = |remedy: Remedy| choice(&remedy, 2.0);
        let law = of(Remedy { law: Some("stable-neo-hookean".into()), ..Remedy::default() });
        assert_eq!(law.label, "Use the law stable-neo-hookean");
        assert_eq!(law.command, json!({ "do": "remedy", "law": "stable-neo-hookean" }));
        let step = of(Remedy { step: Some(1.0 / 480.0), from: Some(1.75), ..Remedy::default() });
        assert_eq!(step.label, "Use a step of 2.083 ms, from 250 ms before");
        let inversion = of(Remedy { inversion: Some(Inverted::Extrapolate), ..Remedy::default() });
        assert_eq!(inversion.label, "Use inversion = \"extrapolate\"");
        assert_eq!(seconds(1.5), "1.5 s");
        assert_eq!(seconds(2.5e-5), "25 µs");
    }
}
